"""Shared memory: one line of JSON, the form in which a memory goes to others and comes from them.

Whoever can write to the repository can write such a line: nothing in it is believed beyond what it says. Every field is
checked, unknown ones are ignored, and sizes are bounded before anything is parsed.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any, Final, Self

from hyperloci.clock import from_iso, to_iso
from hyperloci.errors import BadRequestError
from hyperloci.model.author import MAX_AUTHOR_CHARS, parse_author
from hyperloci.model.kinds import SHARED_KINDS
from hyperloci.model.node import MAX_CONTENT_CHARS
from hyperloci.system.values import dataclass

FORMAT_VERSION: Final = 1

MAX_LINE_BYTES: Final = 100_000
"""A text of `MAX_CONTENT_CHARS` takes at most four bytes a character, and the rest of the line some hundred."""

MAX_SUPERSEDED: Final = 50
"""Memories that one may replace."""

MAX_AGENT_CHARS: Final = 60
_AGENT: Final = re.compile(rf"[A-Za-z0-9 ._/+-]{{1,{MAX_AGENT_CHARS}}}")

_HIDDEN: Final = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


class SharedLineError(ValueError):
    """A line that is no shared memory; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedVersion:
    """One version of a memory that is shared, or the mark that it no longer is.

    Attributes:
        id: the memory's, the same on every machine.
        author: who says so, as claimed; `agent`: through which assistant.
        at: when it was said, or withdrawn, in milliseconds.
        kind, text: what it is and says; empty of a withdrawal.
        until: when it ceased to hold, None while it does.
        again: when it was shared anew after it had been withdrawn; None where it never was.
        supersedes: ids of what it replaced.
        withdrawn: whether the memory is to be forgotten.
    """

    id: str
    author: str
    at: int
    agent: str | None = None
    kind: str = ""
    text: str = ""
    until: int | None = None
    again: int | None = None
    supersedes: tuple[str, ...] = ()
    withdrawn: bool = False

    def to_line(self) -> str:
        """Return the line, without its end. Equal memories give equal lines."""
        values: dict[str, Any] = {"at": to_iso(self.at), "author": self.author, "id": self.id, "v": FORMAT_VERSION}
        if self.withdrawn:
            values["withdrawn"] = True
        else:
            values |= {"kind": self.kind, "text": self.text}
        for name, value in (
            ("agent", self.agent),
            ("until", None if self.until is None else to_iso(self.until)),
            ("again", None if self.again is None else to_iso(self.again)),
            ("supersedes", sorted(self.supersedes)),
        ):
            if value:
                values[name] = value
        return json.dumps(values, ensure_ascii=False, sort_keys=True)

    @property
    def told_at(self) -> int:
        """When it was withdrawn, or shared anew; 0 of any other version. The later word counts."""
        return self.at if self.withdrawn else (self.again or 0)

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the line: two versions of one memory differ in it."""
        return hashlib.sha256(self.to_line().encode("utf-8", "surrogatepass")).digest()

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line.

        Raises:
            SharedLineError: it is not a shared memory; the message says why.
        """
        if len(line) > MAX_LINE_BYTES:
            raise SharedLineError(f"longer than {MAX_LINE_BYTES:,} bytes")
        try:
            values = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise SharedLineError(f"not JSON ({type(error).__name__})") from error
        if not isinstance(values, dict):
            raise SharedLineError("not a JSON object")
        if values.get("v") != FORMAT_VERSION:
            raise SharedLineError(f"of another format than {FORMAT_VERSION}")
        return cls._from_values(values)

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        id, author = _read_id(values.get("id")), _read_author(values.get("author"))
        at = _read_time("at", values.get("at"))
        if values.get("withdrawn") is True:
            return cls(id=id, author=author, at=at, withdrawn=True)
        kind, text = values.get("kind"), values.get("text")
        if not isinstance(kind, str) or kind not in SHARED_KINDS:
            raise SharedLineError(f"kind is none of {', '.join(SHARED_KINDS)}")
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_CONTENT_CHARS:
            raise SharedLineError(f"text is empty, no text, or longer than {MAX_CONTENT_CHARS:,} characters")
        replaced = values.get("supersedes", [])
        if not isinstance(replaced, list) or len(replaced) > MAX_SUPERSEDED:
            raise SharedLineError(f"supersedes is no list of at most {MAX_SUPERSEDED} ids")
        until, again = values.get("until"), values.get("again")
        return cls(
            id=id,
            author=author,
            at=at,
            kind=kind,
            text=text,
            agent=_read_agent(values.get("agent")),
            until=None if until is None else _read_time("until", until),
            again=None if again is None else _read_time("again", again),
            supersedes=tuple(_read_id(id) for id in replaced),
        )


def _read_id(value: object) -> str:
    try:
        found = str(uuid.UUID(value)) if isinstance(value, str) and len(value) == 36 else ""
    except ValueError:
        found = ""
    if not found:
        raise SharedLineError("id is no UUID")
    return found


def _read_author(value: object) -> str:
    if not isinstance(value, str) or len(value) > 2 * MAX_AUTHOR_CHARS:
        raise SharedLineError("author is no name")
    try:
        return str(parse_author(_HIDDEN.sub(" ", value)))
    except ValueError as error:
        raise SharedLineError("author is no name") from error


def _read_agent(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _AGENT.fullmatch(value):
        raise SharedLineError("agent is no name of a program")
    return value


def _read_time(name: str, value: object) -> int:
    try:
        if not isinstance(value, str) or len(value) > 40:
            raise ValueError(name)
        return from_iso(value)
    except (ValueError, OverflowError, BadRequestError) as error:
        raise SharedLineError(f"{name} is no time in ISO 8601") from error
