"""TOML tables: adds a table to a TOML file, and takes it out, as text; every other line keeps its bytes.

A parser tells whether an edited text says what it should: a line may be part of a longer text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperloci.errors import ConfigurationError

TomlValues = Mapping[str, str | Sequence[str]]

_HEADER: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_REMARK_APART: Final = re.compile(r"^[ \t]*+#[^\r\n]*+\r?\n[ \t]*+\r?\n", re.MULTILINE)
_LINE_END: Final = re.compile(r"\r?\n")
_EMPTY_LINE_AT_END: Final = re.compile(r"[^\r\n]\r?\n(\r?\n)\Z")


def with_table(text: str, path: Sequence[str], values: TomlValues) -> str:
    """Return a TOML text with a table that has the values; other keys that the table has stay.

    Raises:
        ConfigurationError: the text is not TOML, or has something else where the table belongs.
    """
    old = parse_toml(text)
    table = _table_at(old, path)
    wanted = _with_values(old, path, {**(table or {}), **{name: _plain(value) for name, value in values.items()}})
    if old == wanted:
        return text
    edited = _replace_lines(text, path, values) if table is not None else _append_table(text, path, values)
    for candidate in edited:
        if _parse_or_none(candidate) == wanted:
            return candidate
    raise ConfigurationError(f"write the table [{_join_path(path)}] into it by hand")


def find_table(text: str, path: Sequence[str]) -> Mapping[str, Any] | None:
    """Return what a table of a TOML text says, None where there is none.

    Raises:
        ConfigurationError: the text is not TOML, or has something else where the table belongs.
    """
    return _table_at(parse_toml(text), path)


def without_table(text: str, path: Sequence[str]) -> str:
    """Return a TOML text without a table and the tables in it; the same text where it has none.

    Raises:
        ConfigurationError: the text is not TOML, or the table can't be taken out of it line by line.
    """
    old = parse_toml(text)
    if _table_at(old, path) is None:
        return text
    wanted = _without_path(old, path)
    # What looks like a header may be a line of a longer text: then one block alone is the table.
    alone = ([block] for block in _find_blocks(text, path))
    for chosen in (list(_find_blocks(text, path, inner=True)), *alone):
        for gap in (True, False):
            candidate = _cut_blocks(text, chosen, gap=gap)
            left = _parse_or_none(candidate)
            # A table above ours may have a header of its own, which stays.
            if left is not None and _without_empty(left, path[:-1]) == wanted:
                return candidate
    raise ConfigurationError(f"take the table [{_join_path(path)}] out of it by hand")


def _cut_blocks(text: str, blocks: Sequence[tuple[int, int]], *, gap: bool) -> str:
    """Return a text without some blocks; with a `gap` also without the empty line that stands before each."""
    for start, end in reversed(blocks):
        head = text[:start]
        if gap and (found := _EMPTY_LINE_AT_END.search(head, max(0, start - 5))):
            head = head[: found.start(1)]
        text = head + text[end:]
    return text


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        ConfigurationError: it is not TOML; the message says where.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"it is not TOML ({error})") from error


def _parse_or_none(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _plain(value: str | Sequence[str]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)


def _table_at(document: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any] | None:
    found: Any = document
    for name in path:
        if not isinstance(found, dict):
            raise ConfigurationError(f"{name} stands in something that is no table")
        found = found.get(name)
        if found is None:
            return None
    if not isinstance(found, dict):
        raise ConfigurationError(f"{_join_path(path)} is no table")
    return found


def _with_values(document: Mapping[str, Any], path: Sequence[str], table: Mapping[str, Any]) -> dict[str, Any]:
    if not path:
        return dict(table)
    inner = document.get(path[0], {})
    return {**document, path[0]: _with_values(inner, path[1:], table)}


def _without_path(document: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    left = {name: value for name, value in document.items() if name != path[0]}
    if len(path) > 1 and (inner := _without_path(document[path[0]], path[1:])):
        return {name: inner if name == path[0] else value for name, value in document.items()}
    return left


def _without_empty(document: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    """Return a document without those tables along a path that hold nothing."""
    if not path or not isinstance(document.get(path[0]), dict):
        return document
    inner = _without_empty(document[path[0]], path[1:])
    left = {name: value for name, value in document.items() if name != path[0]}
    return {**left, path[0]: inner} if inner else left


def _append_table(text: str, path: Sequence[str], values: TomlValues) -> Iterator[str]:
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{_join_path(path)}]", *_render_values(values)]
    gap = "" if not text else end if text.endswith("\n") else end * 2
    yield text + gap + end.join(lines) + end


def _replace_lines(text: str, path: Sequence[str], values: TomlValues) -> Iterator[str]:
    for start, end in _find_blocks(text, path):
        block = text[start:end]
        for name, value in values.items():
            rendered = f"{name} = {json.dumps(_plain(value), ensure_ascii=False)}"
            if found := _compile_line(name).search(block):
                block = block[: found.end(1)] + rendered + block[_find_value_end(block, found) :]
            else:
                head, newline, rest = block.partition("\n")
                block = f"{head}{newline}{rendered}{newline}{rest}"
        yield text[:start] + block + text[end:]


def _find_value_end(block: str, line: re.Match[str]) -> int:
    """Return where the value that begins in a line ends: there, or some lines on, as that of a long array does."""
    ends = (found.start() for found in _LINE_END.finditer(block, line.end()))
    whole = (end for end in (*ends, len(block)) if _parse_or_none(block[line.start() : end]) is not None)
    return next(whole, line.end())


def _compile_line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^([ \t]*+){re.escape(name)}[ \t]*+=[^\r\n]*+", re.MULTILINE)


def _render_values(values: TomlValues) -> list[str]:
    return [f"{name} = {json.dumps(_plain(value), ensure_ascii=False)}" for name, value in values.items()]


def _find_blocks(text: str, path: Sequence[str], *, inner: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where a table may begin and end: from its header to the last line before the next that says something.

    Args:
        text: of a TOML file.
        path: the table's.
        inner: whether the tables in it are meant too; those that follow each other are one block, with what is
            remarked on the later one right above it.
    """
    opened, closed = (r"\[{1,2}", r"[.\]]") if inner else (r"\[", r"\]")
    ours = re.compile(rf"(?<![ \t])[ \t]*+{opened}[ \t]*+{re.escape(_join_path(path))}[ \t]*+{closed}")
    begun: int | None = None
    for header in (found.start() for found in _HEADER.finditer(text)):
        is_ours = ours.match(text, header) is not None
        if begun is not None:
            end = _find_end(text, begun, header)
            if is_ours and inner and not _REMARK_APART.search(text, end, header):
                continue
            yield begun, end
        begun = header if is_ours else None
    if begun is not None:
        end = _find_end(text, begun, len(text))
        yield begun, end if text[end:].strip() else len(text)


def _find_end(text: str, start: int, following: int) -> int:
    """Return where a block ends: the remarks between it and what follows are not its own."""
    end = following
    while end > start:
        line = text[text.rfind("\n", start, end - 1) + 1 or start : end]
        if line.strip() and not line.lstrip().startswith("#"):
            break
        end -= len(line)
    return end


def _join_path(path: Sequence[str]) -> str:
    return ".".join(name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in path)
