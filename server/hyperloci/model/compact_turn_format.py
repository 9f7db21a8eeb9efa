"""CTF v1, the Compact Turn Format: turns of a conversation as a header and tab-separated rows (C.03, C.04).

    #CTF v1 turns=2 fields=role,kind,time,content from=2026-01-15T10:00:00.000+00:00
    user<TAB>text<TAB>0<TAB>How do I use the CLI?
    assistant<TAB>text<TAB>1<TAB>Run it with --help.¶It lists all commands.

`-` stands for none. Times are seconds since `from`, to the millisecond. Any string comes back as it was: what would
break a row is written otherwise (`ESCAPES`), and so is a value that is itself `-`. A line break is a pilcrow, which
costs one token where JSON's costs two and spoils the word behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hyperloci.clock import from_iso, to_iso
from hyperloci.errors import BadRequestError
from hyperloci.model.turn import Speaker, Turn, TurnKind

FIELDS: Final = ("role", "kind", "time", "uuid", "path", "content")
"""Everything a turn has."""

TOLD_FIELDS: Final = ("role", "time", "content")
"""What an assistant needs of a turn: who, when, what."""

NONE: Final = "-"

ESCAPES: Final[Mapping[str, str]] = {"\\": "\\\\", "\n": "¶", "\t": "\\t", "\r": "\\r", "¶": "\\p"}
"""A literal pilcrow is the rare case that pays for every line break."""

_TO_ESCAPE: Final = re.compile(r"[\\\n\t\r¶]")
_ESCAPED: Final = re.compile(r"\\(.?)|¶", re.DOTALL)
_MEANINGS: Final[Mapping[str, str]] = {"\\": "\\", "t": "\t", "r": "\r", "p": "¶", "-": "-"}
_HEADER: Final = re.compile(r"#CTF v(\d{1,9}) turns=(\d{1,9}) fields=([a-z,]+)(?: from=(\S+))?")
_SECONDS: Final = re.compile(r"(-?)(\d{1,15})(?:\.(\d{1,3}))?", re.ASCII)


def encode_turns(turns: Sequence[Turn], fields: Sequence[str] = FIELDS) -> str:
    """Write turns as CTF v1; `decode_turns` gives back the fields that were written.

    Raises:
        BadRequestError: a field is unknown or named twice.
    """
    if not fields or set(fields) - set(FIELDS) or len(set(fields)) < len(fields):
        raise BadRequestError(f"fields={','.join(fields)} must be some of {','.join(FIELDS)}, each once.")
    start = next((turn.timestamp_ms for turn in turns if turn.timestamp_ms is not None), None)
    origin = f" from={to_iso(start)}" if start is not None and "time" in fields else ""
    header = f"#CTF v1 turns={len(turns)} fields={','.join(fields)}{origin}"
    rows = ("\t".join(_WRITERS[field](turn, start or 0) for field in fields) for turn in turns)
    return "\n".join((header, *rows))


def decode_turns(text: str) -> tuple[Turn, ...]:
    """Read CTF v1.

    Raises:
        BadRequestError: the text is damaged or no CTF; the message names the line.
    """
    lines = text.split("\n")
    header = _HEADER.fullmatch(lines[0])
    if header is None or header[1] != "1":
        raise BadRequestError(f"line 1: not a header of CTF v1: {lines[0]!r:.80}")
    fields = header[3].split(",")
    if set(fields) - set(FIELDS) or len(set(fields)) < len(fields):
        raise BadRequestError(f"line 1: fields={header[3]} are not some of {','.join(FIELDS)}, each once.")
    start = _parse_origin(header[4])
    if len(lines) - 1 != int(header[2]):
        raise BadRequestError(f"line {len(lines)}: the file ends after {len(lines) - 1} of {header[2]} turns.")
    return tuple(_parse_turn(number, line, fields, start) for number, line in enumerate(lines[1:], start=2))


def _parse_origin(origin: str | None) -> int | None:
    try:
        return None if origin is None else from_iso(origin)
    except (ValueError, OverflowError) as error:
        raise BadRequestError(f"line 1: from={origin!r:.40} is not a time.") from error


def _parse_turn(number: int, line: str, fields: Sequence[str], start: int | None) -> Turn:
    values = line.split("\t")
    if len(values) != len(fields):
        raise BadRequestError(f"line {number}: {len(values)} values instead of {len(fields)} ({','.join(fields)}).")
    try:
        given = {field: _READERS[field](value, start) for field, value in zip(fields, values, strict=True)}
        return Turn(
            uuid=given.get("uuid") or "",
            role=Speaker(given.get("role", Speaker.USER)),
            text=given.get("content") or "",
            timestamp_ms=given.get("time"),
            kind=TurnKind(given.get("kind", TurnKind.TEXT)),
            path=given.get("path"),
        )
    except ValueError as error:
        raise BadRequestError(f"line {number}: {error}") from error


def _escape_value(value: str) -> str:
    if value == NONE:
        return "\\-"
    return _TO_ESCAPE.sub(lambda found: ESCAPES[found[0]], value)


def _escape_optional(value: str | None) -> str:
    return NONE if value is None else _escape_value(value)


def _unescape_value(value: str) -> str:
    def meaning(found: re.Match[str]) -> str:
        if found[0] == "¶":
            return "\n"
        if found[1] not in _MEANINGS:
            raise ValueError(f"{found[0]!r} is not an escape; use one of \\\\ \\t \\r \\p \\-")
        return _MEANINGS[found[1]]

    return _ESCAPED.sub(meaning, value)


def _format_time(turn: Turn, start: int) -> str:
    if turn.timestamp_ms is None:
        return NONE
    seconds, rest = divmod(abs(turn.timestamp_ms - start), 1_000)
    sign = "-" if turn.timestamp_ms < start else ""
    return f"{sign}{seconds}.{rest:03}".rstrip("0") if rest else f"{sign}{seconds}"


def _parse_time(value: str, start: int | None) -> int | None:
    if value == NONE:
        return None
    found = _SECONDS.fullmatch(value)
    if found is None or start is None:
        raise ValueError(
            f"time {value!r:.40} is not a number of seconds" + ("" if start is not None else " after from=")
        )
    since = int(found[2]) * 1_000 + int((found[3] or "").ljust(3, "0"))
    return start - since if found[1] else start + since


def _whole_text(value: str, start: int | None) -> str:
    if value == NONE:
        raise ValueError("content is missing")
    return _unescape_value(value)


_WRITERS: Final[Mapping[str, Callable[[Turn, int], str]]] = {
    "role": lambda turn, _: turn.role.value,
    "kind": lambda turn, _: turn.kind.value,
    "time": _format_time,
    "uuid": lambda turn, _: _escape_value(turn.uuid),
    "path": lambda turn, _: _escape_optional(turn.path),
    "content": lambda turn, _: _escape_value(turn.text),
}
_READERS: Final[Mapping[str, Callable[[str, int | None], Any]]] = {
    "role": lambda value, _: Speaker(value),
    "kind": lambda value, _: TurnKind(value),
    "time": _parse_time,
    "uuid": lambda value, _: _unescape_value(value),
    "path": lambda value, _: None if value == NONE else _unescape_value(value),
    "content": _whole_text,
}
