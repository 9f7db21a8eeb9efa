"""Set aside: one item that failed by itself while everything else went on."""

from __future__ import annotations

from enum import StrEnum

from hyperloci.system.values import dataclass


class SetAsideKind(StrEnum):
    """What was set aside. The values are what the database stores."""

    FILE = "file"
    """A file that could not be read as text or cut; `subject` is its path."""
    CHUNK = "chunk"
    """A part of a file that could not be stored; `subject` is `path#place`."""
    RELATIONS = "relations"
    """A snippet with a relation that could not be found; `subject` is its path, symbol and key."""
    COMMIT = "commit"
    """A commit; `subject` is its hash."""
    TRANSCRIPT_LINE = "transcript line"
    """A line of a session's transcript; `subject` is `session:byte`."""
    SHARED_MEMORY = "shared memory"
    """A version of a memory that somebody shares; `subject` is its file and line."""
    MEMORY = "memory"
    """A memory that background work failed on; `subject` is `step:id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """One item that was set aside.

    Attributes:
        scope: id of the project (or `global`).
        kind, subject: what it is.
        reason: why, in words; never text of the thing itself.
        content: the state that failed (a hash), empty for what never changes.
        program: the version that could not do it.
        first_at, last_at: when it failed first and last, in milliseconds.
        tries: how often it was tried.
    """

    scope: str
    kind: SetAsideKind
    subject: str
    reason: str
    content: str
    program: str
    first_at: int
    last_at: int
    tries: int
