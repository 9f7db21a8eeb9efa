"""Safe arguments: what callers say, sanitized before anything of it is stored, and what that left to note."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from hyperloci.errors import BadRequestError
from hyperloci.model.node import MAX_CONTENT_CHARS, MAX_NAME_CHARS, MAX_REASON_CHARS
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

MAX_ENTITIES: Final = 50
"""Things that one fact may name."""

_SHOWN: Final = 20
"""Characters shown of a text that is refused."""


def sanitize_argument(argument: str, text: str) -> SanitizedText:
    """Return a caller's text as it may be stored: private parts out, cleaned, secrets redacted.

    Raises:
        BadRequestError: nothing is left of it, it has no word, or it is too long; the message names the argument.
    """
    if len(text) > MAX_CONTENT_CHARS:
        raise BadRequestError(
            f"{argument} has {len(text)} characters; at most {MAX_CONTENT_CHARS} are kept. "
            "Split it, or put it in a file and index that."
        )
    prepared = sanitize(text)
    if not prepared.text.strip() or prepared.text.strip() == "[private]":
        raise BadRequestError(f"{argument} is empty, or all of it is private: give a text.")
    if not any(map(_says_something, prepared.text)):
        raise BadRequestError(f"{argument} has no word, only {prepared.text.strip()[:_SHOWN]!r}: give a text.")
    return prepared


def _says_something(character: str) -> bool:
    """Tell whether it is a letter, a digit or a picture or sign (`→`, `€`), no punctuation or space."""
    category = unicodedata.category(character)
    return category[0] in "LNM" or category == "So" or (category[0] == "S" and not character.isascii())


def sanitize_reason(reason: str | None) -> str | None:
    """Return why something is done as it may be logged: cleaned, secrets redacted; None if nothing is left of it.

    Raises:
        BadRequestError: it is too long.
    """
    if reason is None:
        return None
    if len(reason) > MAX_REASON_CHARS:
        raise BadRequestError(
            f"reason has {len(reason)} characters; at most {MAX_REASON_CHARS} are kept. "
            "Give the reason in a sentence or two, and remember the rest as a fact."
        )
    return sanitize(reason).text.strip() or None


def sanitize_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of things as they may be stored: cleaned, secrets redacted, each once.

    Raises:
        BadRequestError: an empty or overlong name, or too many of them.
    """
    if len(names) > MAX_ENTITIES:
        raise BadRequestError(f"entities has {len(names)} names; at most {MAX_ENTITIES} are kept.")
    labels: dict[str, None] = {}
    for name in names:
        if len(name) > MAX_NAME_CHARS:
            raise BadRequestError(
                f"entities has a name of {len(name)} characters ({name[:40]!r}...); "
                f"at most {MAX_NAME_CHARS} are kept. Give only the name, and put the rest in the fact."
            )
        label = sanitize(name).text.strip()
        if not label:
            raise BadRequestError(f"entities has {name!r}: give non-empty names.")
        labels[label] = None
    return tuple(labels)


def collect_flags(*texts: SanitizedText) -> tuple[str, ...]:
    """Return what made any of the texts suspicious, each once."""
    return tuple(dict.fromkeys(flag for text in texts for flag in text.flags))


def safety_metadata(*texts: SanitizedText) -> dict[str, Any]:
    """Return what is noted of a memory made of some texts: what is suspicious, how many secrets were redacted."""
    redactions = sum(len(text.redactions) for text in texts)
    found = {"flags": list(collect_flags(*texts)), "redactions": redactions}
    return {name: value for name, value in found.items() if value}
