"""Answers to writes, in a module of their own so that a hook need not load the other answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.model.answers import Contradiction
    from hyperloci.model.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedMemory:
    """A living memory on the subject of what was told: when it was stored, and the call that replaces it.

    `date` is an ISO date, `author` who told it, if somebody else did.
    """

    id: str
    content: str
    date: str
    replace_by: str
    author: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementCheck:
    """What memory holds against a statement, and what else it says on its subject."""

    contradictions: tuple[Contradiction, ...] = ()
    affected: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedFact:
    """A stored fact, of a project or of all (`scope`). `duplicate_of` is the id it was already known by; nothing new
    was stored then.

    `until` is the last day on which it holds by its own words, as ISO 8601, of a deadline the last that it names.
    `sharing` says what teammates don't know yet of a shared memory that it replaces, and the command that tells them.
    `withheld` is set where somebody keeps the known memory from searches and sessions: told again, it stays so.
    """

    id: str
    scope: str
    duplicate_of: str | None = None
    contradictions: tuple[Contradiction, ...] = ()
    affected: tuple[AffectedMemory, ...] = ()
    redactions: int = 0
    supersedes: str | None = None
    flags: tuple[str, ...] = ()
    until: str | None = None
    sharing: str | None = None
    withheld: bool = False

    @property
    def holds_everywhere(self) -> bool:
        """Whether it holds in all projects."""
        return self.scope == GLOBAL_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenFact:
    """A forgotten memory, and until when it can be restored.

    `sharing` says who else forgets it, where it was shared.
    """

    id: str
    restorable_until: str
    sharing: str | None = None
