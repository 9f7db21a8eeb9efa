"""Author: the person whose words a memory is, and the signature that every new memory is stored with.

A person is written as Git writes people: `Ada Lovelace <ada@example.com>`. What stands in brackets is the stable id;
the name is for reading and may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from hyperloci.model.kinds import NodeType, Origin
from hyperloci.system.values import dataclass

MAX_AUTHOR_CHARS: Final = 200
"""The longest author, name and id together."""

_IDENT: Final = re.compile(r"^(?P<name>[^<>]{0,200})<(?P<id>[^<>]{1,200})>$")


class Visibility(StrEnum):
    """Who may have a memory: its owner alone, or those who share the project's memories."""

    PRIVATE = "private"
    SHARED = "shared"


class Author(NamedTuple):
    """A person: `id` is the same on every machine (an address, else a login name), `name` is for reading."""

    id: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} <{self.id}>"


def make_author(name: str, id: str) -> Author:
    """Return a person of a name and an id, either of which may be empty but not both; brackets and lines are left out.

    Raises:
        ValueError: both are empty.
    """
    name, id = (
        " ".join(re.sub(r"[<>\x00-\x1f\x7f]", " ", part).split())[: MAX_AUTHOR_CHARS // 2] for part in (name, id)
    )
    if not (name or id):
        raise ValueError("an author needs a name or an id")
    return Author((id or name).lower(), name or id)


def parse_author(text: str) -> Author:
    """Read a person as Git writes people; a text without brackets is name and id in one.

    Raises:
        ValueError: the text is empty.
    """
    found = _IDENT.match(text.strip())
    return make_author(found["name"], found["id"]) if found else make_author(text, "")


def is_same_author(one: str | None, other: str | None) -> bool:
    """Tell whether two texts name one person; nobody is nobody's like."""
    return bool(one and other) and parse_author(one or "").id == parse_author(other or "").id


def name_other(author: str | None, origin: Origin, asker: str | None) -> str | None:
    """Return whose words a memory is, if they are somebody else's: a teammate's, or not those of who asks."""
    is_other = origin is Origin.TEAMMATE or (asker is not None and not is_same_author(author, asker))
    return author if is_other else None


def is_called(person: str, said: str) -> bool:
    """Tell whether a person is meant by these words: as it is written, or by the name or the id alone."""
    try:
        author = parse_author(person)
    except ValueError:
        return said == person  # Brackets alone, as a token's holder could once be called.
    return said.strip().casefold() in {part.casefold() for part in (person, str(author), *author)}


def nobody() -> str | None:
    """Return None: the person is not known."""
    return None


_OWN_ORIGINS: Final = frozenset(
    {Origin.USER_PROMPT, Origin.TOOL, Origin.CLAUDE_RESPONSE, Origin.HOOK, Origin.EXTRACTION, Origin.IMPORT}
)
"""Channels of what the person at this machine says or has said; files, commits and teammates have other authors."""

AGENT_ORIGINS: Final = frozenset({Origin.CLAUDE_RESPONSE, Origin.HOOK, Origin.EXTRACTION})
"""Channels of what an assistant said, did or let be concluded: its session says which assistant it was."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who writes, as seen by a store.

    Attributes:
        find_author: returns the person; asked only when something is written.
        agent: the assistant through which the person writes, None: none.
        asker: the person, where several have the memory in common and answers say whose what others told is; else None.
    """

    find_author: Callable[[], str | None] = nobody
    agent: str | None = None
    asker: str | None = None

    def author_of(self, type: NodeType, origin: Origin) -> str | None:
        """Return whose words a memory of this type and channel is; None if that is not the person's to say."""
        return self.find_author() if origin in _OWN_ORIGINS and type is not NodeType.ENTITY else None

    def agent_of(self, type: NodeType, origin: Origin) -> str | None:
        """Return the assistant through which a memory was told on purpose; a session's own is its client."""
        return self.agent if origin is Origin.TOOL and type is not NodeType.ENTITY else None
