"""Sanitizer: every text passes through here before it is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.cleaning import clean_text, strip_injected_context, strip_private_blocks
from hyperloci.text.sanitize.order_scorer import reads_like_order
from hyperloci.text.sanitize.prompt_injection import READS_LIKE_ORDER, find_injection_flags
from hyperloci.text.sanitize.redaction import Redaction, redact_secrets

MIN_SECRET_NAME: Final = 12
"""Characters of the shortest name that can hold a recognisable secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedText:
    """A text that may be stored.

    Attributes:
        text: without hidden characters, private blocks, injected context and secrets.
        redactions: the secrets that were replaced.
        flags: what is suspicious about it; `prompt_injection.FLAG_REASONS` explains each.
        private_blocks: how many `<private>` blocks were replaced.
    """

    text: str
    redactions: tuple[Redaction, ...] = ()
    flags: tuple[str, ...] = ()
    private_blocks: int = 0


def sanitize(text: str, *, is_cut: bool = False, is_file: bool = False) -> SanitizedText:
    """Make `text` safe to store (SPEC-02.34); sanitizing a sanitized text changes nothing.

    The order matters. Cleaning comes first, so that no invisible character splits a `<private>` tag, a token or a
    phrase; then our own injected context and private blocks are removed, then secrets. Flags come last, for the text
    that stays and for what was hidden in the original.

    Args:
        text: what came in.
        is_cut: whether it is the beginning of a longer text, and a private block may end in what is missing.
        is_file: whether it is a file, which quotes the tags of private blocks and shows samples of injected context.
    """
    if not text:
        return SanitizedText(text=text)
    cleaned = strip_injected_context(clean_text(text), is_file=is_file)
    public, private_blocks = strip_private_blocks(cleaned, is_cut=is_cut, is_file=is_file)
    redacted = redact_secrets(public)
    return SanitizedText(
        text=redacted.text,
        redactions=redacted.redactions,
        flags=find_injection_flags(text, redacted.text),
        private_blocks=private_blocks,
    )


def flag_orders(prepared: SanitizedText) -> SanitizedText:
    """Return what somebody else shares with a flag more where it reads like an order to an assistant.

    Not for one's own words: most procedures are orders.
    """
    if not reads_like_order(prepared.text):
        return prepared
    return replace(prepared, flags=(*prepared.flags, READS_LIKE_ORDER))


def sanitize_name(name: str) -> str:
    """Return the name of a file, a branch, a project or a path without secrets, as it may be stored and shown.

    Short names and names without a digit are returned at once, as a tree has tens of thousands of names.
    """
    if len(name) < MIN_SECRET_NAME or not any(character.isdigit() for character in name):
        return name
    return redact_secrets(name).text
