"""Table secrets: finds secrets in the columns of tables by their headings: CSV, Markdown, and SQL's INSERT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret

MAX_ROWS: Final = 500
MAX_ROW: Final = 2_000
"""Rows below one head, and characters of a row, that are looked at."""


@cache
def _header_cell_pattern() -> re.Pattern[str]:
    return re.compile(
        r"\A[\s\"'`*]*+(?:[\w.]{1,24}[ _-])?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|passwort"
        r"|kennwort"
        r"|пароль"
        r"|mot de passe|contraseña)[\s\"'`*]*\Z",
        re.IGNORECASE,
    )


@cache
def _plain_cell_pattern() -> re.Pattern[str]:
    return re.compile(r"\A[\s\"'`*]*+(?:[\w./-][\w./ -]{0,39})?[\s\"'`*]*+\Z")


_NAMES: Final = ("pass", "pwd", "secret", "token", "api", "kennwort", "пароль", "contraseña")
_DELIMITERS: Final = ("|", "\t", ",", ";")


@cache
def _insert_pattern() -> re.Pattern[str]:
    return re.compile(
        r"insert\s{1,4}(?:ignore\s{1,4})?into\s{1,4}[\w.\"`\[\]]{1,120}\s{0,4}\("
        r"(?P<columns>[^()]{1,1000})\)\s{0,4}values\s{0,4}",
        re.IGNORECASE,
    )


@cache
def _row_value_pattern() -> re.Pattern[str]:
    return re.compile(r"'(?>(?:[^'\n]++|'')*)'|[^,()'\n]++|(?P<next>,)|(?P<close>\))|(?P<open>\()|'|\n")


_Span = tuple[int, int]


def find_table_secrets(text: str, lowered: str) -> Iterator[_Span]:
    """Yield start and end of the cells of `text` that a head names a secret and that look like one."""
    done = 0
    for start, end in _find_header_lines(text, lowered):
        # The rows of one table are read once, though each of them may look like a head.
        if start >= done and end - start <= MAX_ROW:
            for cell_start, cell_end in _find_secret_columns(text, start, end):
                done = max(done, cell_end)
                if cell_start < cell_end:
                    yield cell_start, cell_end


def _find_header_lines(text: str, lowered: str) -> list[_Span]:
    """Return start and end of the lines that name a secret, in their order."""
    lines: set[_Span] = set()
    for name in _NAMES:
        at = lowered.find(name)
        while at >= 0:
            end = text.find("\n", at)
            if end < 0:
                break
            lines.add((text.rfind("\n", 0, at) + 1, end))
            at = lowered.find(name, end)
    return sorted(lines)


def find_insert_secrets(text: str, lowered: str) -> Iterator[_Span]:
    """Yield start and end of the values that an INSERT puts into columns of secrets."""
    if "insert" not in lowered:
        return
    for match in _insert_pattern().finditer(text):
        columns = [bool(_header_cell_pattern().match(name)) for name in match["columns"].split(",")]
        if any(columns):
            yield from _find_inserted_values(text, match.end(), columns)


def _find_secret_columns(text: str, start: int, end: int) -> Iterator[_Span]:
    head = text[start:end]
    for delimiter in _DELIMITERS:
        cells = head.split(delimiter)
        if len(cells) > 1 and all(_plain_cell_pattern().match(cell) for cell in cells):
            secret = [place for place, cell in enumerate(cells) if _header_cell_pattern().match(cell)]
            if secret:
                yield from _find_row_secrets(text, end + 1, delimiter, len(cells), secret)
            return


_RULE_CHARS: Final = "-+=|: \t\r"
"""A line of these is a rule between the head of a table and its rows: `-----+------` of psql, `+---+---+` of MySQL."""


def _find_row_secrets(text: str, at: int, delimiter: str, width: int, secret: list[int]) -> Iterator[_Span]:
    for _ in range(MAX_ROWS):
        yield at, at  # so far this table goes
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        row = text[at:end]
        if row and not row.strip(_RULE_CHARS):
            at = end + 1
            continue
        cells = row.split(delimiter)
        if at >= len(text) or end - at > MAX_ROW or len(cells) < width:
            return
        place = at
        for number, cell in enumerate(cells):
            if number in secret:
                # The last column of a CSV may hold the delimiter.
                whole = row[place - at :] if number == width - 1 and delimiter == "," else cell
                yield from _strip_cell(text, place, place + len(whole))
            place += len(cell) + len(delimiter)
        at = end + 1


def _strip_cell(text: str, start: int, end: int) -> Iterator[_Span]:
    while start < end and text[start] in " \t\"'`*":
        start += 1
    while end > start and text[end - 1] in " \t\"'`*\r":
        end -= 1
    if is_secret(SecretJudgement.LOOSE_PASSWORD, SecretCandidate(value=text[start:end], quoted=True)):
        yield start, end


def _find_inserted_values(text: str, at: int, columns: list[bool]) -> Iterator[_Span]:
    column = 0
    for match in _row_value_pattern().finditer(text, at, at + MAX_ROW * 10):
        if match["open"]:
            column = 0
        elif match["next"]:
            column += 1
        elif match.group().startswith("'") and column < len(columns) and columns[column]:
            yield from _strip_cell(text, match.start(), match.end())
        elif match.group() == ";":
            return
