"""Lines that tell: finds values that look made in lines of cookies and authorizations, and in prose on passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.literals import find_literal
from hyperloci.text.sanitize.secrets.randomness import looks_generated
from hyperloci.text.sanitize.secrets.value_checks import (
    SecretCandidate,
    SecretJudgement,
    is_generated_password,
    is_secret,
)


def find_header_secrets(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the random values in lines of cookies and authorizations, whatever their names and schemes."""
    for name in _HEADERS:
        done = 0
        for at in find_literal(lowered, name):
            if at < done or not _header_end_pattern().match(text, at + len(name)):
                continue
            done = min(len(text), at + MAX_HEADER)
            for match in _header_value_pattern().finditer(text, at + len(name), done):
                if match["end"]:
                    done = match.start()
                    break
                if is_secret(SecretJudgement.LOOSE_RANDOM, SecretCandidate(value=match["value"], quoted=True)):
                    yield match.span("value")


MAX_HEADER: Final = 4096
"""Characters of a header that are looked at: as many as servers take."""
_HEADERS: Final = ("cookie", "authorization")


@cache
def _header_end_pattern() -> re.Pattern[str]:
    return re.compile(r"s?[\\\"'\])]{0,4}[ \t]{0,2}[:=,]")


@cache
def _header_value_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![\w%.~+/-])(?P<value>[\w%.~+/-]{16,2048}={0,2})|(?P<end>\n)")


def find_prose_passwords(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the words that look made in a line of prose that speaks of a password."""
    done = 0
    for name in _PROSE_NAMES:
        for at in find_literal(lowered, name):
            start = find_line_start(text, at, MAX_PROSE)
            end = text.find("\n", at, at + MAX_PROSE)
            end = min(len(text), at + MAX_PROSE) if end < 0 else end
            line = text[start:end]
            if at >= done and not _code_pattern().search(line):
                for match in _prose_word_pattern().finditer(line):
                    if looks_generated(match.group()) and is_generated_password(match.group()):
                        yield start + match.start(), start + match.end()
                done = end
        done = 0


MAX_PROSE: Final = 300
"""Characters of a line on either side of a name that may be one sentence with it."""
_PROSE_NAMES: Final = ("passw", "passphrase", "парол", "contraseña", "mot de passe", "kennwort")


@cache
def _code_pattern() -> re.Pattern[str]:
    return re.compile(r"[={}<>]|\w\(|\(\)|;$|::|://|[\"']\]")


@cache
def _prose_word_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![^\s\"'`“„«*(])[^\s\"'`“”„«»<>()]{8,64}(?<![.,;:!?*])(?=[\s\"'`”»*).,;:!?]|\Z)")


def find_line_start(text: str, at: int, reach: int) -> int:
    """Return where the line of `at` begins, but no more than `reach` characters before it."""
    first = max(0, at - reach)
    return max(first, text.rfind("\n", first, at) + 1)
