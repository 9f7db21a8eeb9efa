"""Here-documents: finds the values that a command writes into a file of secrets, such as `.env`.

The name of the file says that its values are secrets, so that a name like `DB_PASS` needs no random value there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.secret_files import is_secret_file
from hyperloci.text.sanitize.secrets.randomness import looks_generated
from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret

MAX_COMMAND: Final = 300
"""Characters of the line that begins a here-document."""
MAX_LINES: Final = 200
MAX_LINE: Final = 1_000
"""Lines of a here-document, and characters of each, that are looked at."""

_Span = tuple[int, int]


@cache
def _target_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:>{1,2}[ \t]{0,4}|\btee[ \t]{1,4}(?:-a[ \t]{1,4})?)[\"']?(?P<path>[^\s\"'<>|;&]{1,200})")


@cache
def _terminator_pattern() -> re.Pattern[str]:
    return re.compile(r"<<-?[ \t]{0,4}[\"'\\]?(?P<word>\w{1,40})")


@cache
def _assignment_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[ \t]{0,16}(?:export[ \t]{1,4})?(?P<name>[A-Za-z_][\w.-]{0,80})[ \t]?=[ \t]?[\"']?(?P<value>[^\s\"']{4,512})"
    )


@cache
def _echo_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?[\"']?(?=[A-Za-z_][\w.-]{0,80}=)")


@cache
def _secret_name_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?i:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|salt|credentials?|psk|pin)(?:_?[0-9]{1,2})?\Z"
    )


def find_written_secrets(text: str) -> Iterator[_Span]:
    """Yield start and end of the values that `text` shows being written into a file of secrets."""
    if "<<" in text:
        yield from _find_in_documents(text)
    for match in _echo_pattern().finditer(text) if "echo" in text or "printf" in text else ():
        end = _line_end(text, match.end())
        if _writes_secret_file(text[match.end() : end]):
            yield from _find_value(text, match.end(), end)


def _find_in_documents(text: str) -> Iterator[_Span]:
    done = 0
    for match in _terminator_pattern().finditer(text):
        if match.start() < done:
            continue
        start = text.rfind("\n", max(0, match.start() - MAX_COMMAND), match.start()) + 1
        start = max(start, match.start() - MAX_COMMAND)
        done = _line_end(text, match.end())
        if _writes_secret_file(text[start:done]):
            for at, end in _lines_until(text, done + 1, match["word"]):
                yield from _find_value(text, at, end)
                done = end


def _writes_secret_file(command: str) -> bool:
    return any(is_secret_file(match["path"].rpartition("/")[2]) for match in _target_pattern().finditer(command))


def _line_end(text: str, at: int) -> int:
    last = min(len(text), at + MAX_LINE)
    end = text.find("\n", at, last)
    return last if end < 0 else end


def _lines_until(text: str, at: int, word: str) -> Iterator[_Span]:
    for _ in range(MAX_LINES):
        end = _line_end(text, at)
        if at >= len(text) or text[at:end].strip() == word:
            return
        yield at, end
        at = end + 1


def _find_value(text: str, start: int, end: int) -> Iterator[_Span]:
    match = _assignment_pattern().match(text, start, end)
    if match and _is_written_secret(match["name"], match["value"]):
        yield match.span("value")


def _is_written_secret(name: str, value: str) -> bool:
    if _secret_name_pattern().search(name):
        return is_secret(SecretJudgement.ARGUMENT, SecretCandidate(value=value, quoted=True))
    return looks_generated(value)
