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


def without_table(text: str, path: Sequence[str]) -> str:
    """Return a TOML text without a table; the same text where it has none.

    Raises:
        ConfigurationError: the text is not TOML, or the table can't be taken out of it line by line.
    """
    old = parse_toml(text)
    if _table_at(old, path) is None:
        return text
    wanted = _without_path(old, path)
    for start, end in _find_blocks(text, path):
        # An empty line stands before a table that was added at the end.
        head = text[:start]
        before = head[: -len(found[1])] if (found := re.search(r"[^\r\n](?:\r?\n)((?:\r?\n))\Z", head)) else head
        for candidate in (before + text[end:], head + text[end:]):
            if _parse_or_none(candidate) == wanted:
                return candidate
    raise ConfigurationError(f"take the table [{_join_path(path)}] out of it by hand")


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


def _append_table(text: str, path: Sequence[str], values: TomlValues) -> Iterator[str]:
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{_join_path(path)}]", *_render_values(values)]
    gap = "" if not text else end if text.endswith("\n") else end * 2
    yield text + gap + end.join(lines) + end


def _replace_lines(text: str, path: Sequence[str], values: TomlValues) -> Iterator[str]:
    for start, end in _find_blocks(text, path):
        block = text[start:end]
        for name, value in values.items():
            line = _compile_line(name)
            rendered = f"{name} = {json.dumps(_plain(value), ensure_ascii=False)}"
            if line.search(block):
                block = line.sub(lambda found, rendered=rendered: found[1] + rendered, block, count=1)  # type: ignore[misc]
            else:
                head, newline, rest = block.partition("\n")
                block = f"{head}{newline}{rendered}{newline}{rest}"
        yield text[:start] + block + text[end:]


def _compile_line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^([ \t]*+){re.escape(name)}[ \t]*+=[^\r\n]*+", re.MULTILINE)


def _render_values(values: TomlValues) -> list[str]:
    return [f"{name} = {json.dumps(_plain(value), ensure_ascii=False)}" for name, value in values.items()]


def _find_blocks(text: str, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where a table may begin and end: from its header to the next one, or to the last line that is not empty."""
    for found in re.finditer(
        rf"^[ \t]*\[[ \t]*{re.escape(_join_path(path))}[ \t]*\][^\r\n]*\r?\n?", text, re.MULTILINE
    ):
        following = _HEADER.search(text, found.end())
        if following is None:
            yield found.start(), len(text)
            continue
        block = text[found.start() : following.start()]
        lines = [f"{line}\n" for line in block.split("\n")[:-1]]
        while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
            lines.pop()
        yield found.start(), found.start() + len("".join(lines))


def _join_path(path: Sequence[str]) -> str:
    return ".".join(name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in path)
