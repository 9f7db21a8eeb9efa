"""Findings: the one schema of what consolidation finds in a session, by rules, a model or the assistant (B.17).

The input is checked item by item: each is accepted or rejected alone, and a rejected one is reported with its place and
the reason. The JSON form is that of the tool `save_consolidation`::

    {"facts": [{"content": "...", "kind": "decision", "sources": [3, 4], "confidence": 0.9}],
     "procedures": [{"content": "...", "sources": [7]}], "opinions": [{"content": "...", "sources": [7]}],
     "entities": [{"name": "...", "type": "tool", "aliases": ["..."]}],
     "causes": [{"cause": 3, "effect": 5, "evidence": "..."}],
     "conflicts": [{"old": "<id of a memory>", "new": "facts[0]", "reason": "..."}],
     "through": 12}

`sources`, `cause` and `effect` are the numbers of turns of the session; `through` is the number of the first turn that
was not read, if that is not the session's end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import IntEnum, StrEnum
from typing import Any, Final, TypeVar

from hyperloci.conversations.consolidation.text_similarity import Said
from hyperloci.model.kinds import SUBTYPES, NodeType
from hyperloci.model.node import MAX_NAME_CHARS
from hyperloci.system.values import dataclass

HEURISTIC_STRATEGY: Final = "heuristic"
"""The name of what rules find; the other strategies ask a model or the assistant."""

MAX_ITEMS: Final = 200
"""Of each list: a session of a day's work has some fifty."""

MAX_CONTENT_CHARS: Final = 2_000
"""A fact is a statement or two; more is a document."""

MAX_SOURCES: Final = 20
MAX_EVIDENCE_CHARS: Final = 1_000

DEFAULT_CONFIDENCE: Final = 0.8
"""Of an item that gives none; the trust in its sources bounds it anyway."""

T = TypeVar("T")


class FindingKind(StrEnum):
    """What a finding is; the subtypes of section F that a conversation can yield."""

    SEMANTIC = "semantic"
    USER_INFO = "user_info"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    DEADLINE = "deadline"
    INSIGHT = "insight"
    DECISION = "decision"
    DEAD_END = "dead_end"
    PROCEDURE = "procedure"
    OPINION = "opinion"


NODE_TYPES: Final[Mapping[FindingKind, NodeType]] = {
    FindingKind.DECISION: NodeType.DECISION,
    FindingKind.DEAD_END: NodeType.EXPERIENCE,
}
"""Every other kind is a fact."""


class Sureness(IntEnum):
    """How sure it is that a finding is worth keeping: by itself, only if it changes what holds, or not even then."""

    PASSING = 0
    TENTATIVE = 1
    KEPT = 2


FACT_KINDS: Final = tuple(kind for kind in FindingKind if kind not in (FindingKind.PROCEDURE, FindingKind.OPINION))
"""What `kind` of a fact may be; procedures and opinions have lists of their own."""

LISTS: Final = ("facts", "procedures", "opinions", "entities", "causes", "conflicts")

_ENTITY_TYPES: Final = tuple(sorted(SUBTYPES[NodeType.ENTITY]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFinding:
    """Something that a session showed.

    Attributes:
        kind: what it is.
        content: the statement, as it should be remembered.
        sources: the numbers of the turns that say so.
        confidence: how sure the finder is, 0..1.
        about: the words that tell what it is about, where it doesn't say so itself (`context.finder`).
        explained_by: the numbers of turns that say what it is about, and not it: the edit that was made for it.
        due: of a deadline, the day (`2026-09-18`).
        place: where it stood in the payload (`facts[2]`).
        is_tentative: whether it is only worth keeping if it changes what holds (`make it 6`).
        is_passing: whether it is not even then, but may be what a later statement replaces.
    """

    kind: FindingKind
    content: str
    sources: tuple[int, ...]
    confidence: float = DEFAULT_CONFIDENCE
    about: str | None = None
    explained_by: tuple[int, ...] = ()
    due: str | None = None
    place: str = ""
    is_tentative: bool = False
    is_passing: bool = False

    @property
    def sureness(self) -> Sureness:
        """How sure it is that this is worth keeping."""
        if self.is_passing:
            return Sureness.PASSING
        return Sureness.TENTATIVE if self.is_tentative else Sureness.KEPT

    @property
    def statement(self) -> str:
        """The statement with what it is about, as it is remembered."""
        return f"{self.about} → {self.content}" if self.about else self.content

    @property
    def said(self) -> Said:
        """The statement, and which of its words answer."""
        return Said(self.statement, self.content if self.about else "")


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the findings speak of."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CausalClaim:
    """A turn that brought about another, and why it is held so."""

    cause: int
    effect: int
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class DeclaredConflict:
    """A known memory (an id) that a finding (its place) replaces, and why."""

    old: str
    new: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RejectedItem:
    """An item that is not stored: its place in the payload, and the reason in words."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPayload:
    """What was found in a session, checked as far as it can be without looking at the turns."""

    findings: tuple[ExtractedFinding, ...] = ()
    entities: tuple[NamedEntity, ...] = ()
    causes: tuple[CausalClaim, ...] = ()
    conflicts: tuple[DeclaredConflict, ...] = ()
    rejected: tuple[RejectedItem, ...] = ()
    through: int | None = None


class _PayloadItemError(Exception):
    """An item can't be used; the message says why."""


def read_payload(given: object, turns: Collection[int]) -> ConsolidationPayload:
    """Check a payload, item by item.

    Args:
        given: the JSON value, of any type.
        turns: the numbers of the session's turns, which is what sources may name.
    """
    if not isinstance(given, Mapping):
        return ConsolidationPayload(
            rejected=(RejectedItem("payload", f"must be an object with the lists {', '.join(LISTS)}"),)
        )
    rejected = [
        RejectedItem(f"{name!s:.60}", f"is unknown: use {', '.join(LISTS)}")
        for name in given
        if name not in (*LISTS, "through")
    ][:MAX_ITEMS]
    reader = _PayloadReader(given, turns, rejected)
    findings = (
        *reader.read_items("facts", _read_fact),
        *reader.read_items("procedures", _finding_reader(FindingKind.PROCEDURE)),
        *reader.read_items("opinions", _finding_reader(FindingKind.OPINION)),
    )
    return ConsolidationPayload(
        findings=findings,
        entities=tuple(reader.read_items("entities", _read_entity)),
        causes=tuple(reader.read_items("causes", _read_cause)),
        conflicts=tuple(reader.read_items("conflicts", _read_conflict)),
        through=_read_through(given, rejected),
        rejected=tuple(rejected),
    )


def _read_through(given: Mapping[Any, Any], rejected: list[RejectedItem]) -> int | None:
    value = given.get("through")
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    rejected.append(RejectedItem("through", "must be the number of a turn"))
    return None


class _PayloadReader:
    def __init__(self, given: Mapping[Any, Any], turns: Collection[int], rejected: list[RejectedItem]) -> None:
        self._given = given
        self._turns = frozenset(turns)
        self._rejected = rejected

    def read_items(self, name: str, read: Callable[[Mapping[str, Any], str, frozenset[int]], T]) -> list[T]:
        listed = self._given.get(name)
        if listed is None:
            return []
        if not isinstance(listed, list):
            self._rejected.append(RejectedItem(name, "must be a list"))
            return []
        if len(listed) > MAX_ITEMS:
            rest = f"has {len(listed)} items; the first {MAX_ITEMS} were read"
            self._rejected.append(RejectedItem(name, rest))
        found: list[T] = []
        for number, item in enumerate(listed[:MAX_ITEMS]):
            place = f"{name}[{number}]"
            try:
                if not isinstance(item, Mapping):
                    raise _PayloadItemError("must be an object")
                found.append(read(item, place, self._turns))
            except _PayloadItemError as error:
                self._rejected.append(RejectedItem(place, str(error)))
        return found


def _read_fact(item: Mapping[str, Any], place: str, turns: frozenset[int]) -> ExtractedFinding:
    kind = item.get("kind", FindingKind.SEMANTIC)
    if not isinstance(kind, str) or kind not in FACT_KINDS:
        raise _PayloadItemError(f"kind={kind!r:.60} is unknown: use one of {', '.join(FACT_KINDS)}")
    return _read_finding(item, place, turns, FindingKind(kind))


def _finding_reader(kind: FindingKind) -> Callable[[Mapping[str, Any], str, frozenset[int]], ExtractedFinding]:
    return lambda item, place, turns: _read_finding(item, place, turns, kind)


def _read_finding(item: Mapping[str, Any], place: str, turns: frozenset[int], kind: FindingKind) -> ExtractedFinding:
    return ExtractedFinding(
        kind=kind,
        content=_read_text(item, "content", MAX_CONTENT_CHARS),
        sources=_read_sources(item, turns),
        confidence=_read_confidence(item),
        place=place,
    )


def _read_entity(item: Mapping[str, Any], place: str, turns: frozenset[int]) -> NamedEntity:
    kind = item.get("type", "concept")
    if not isinstance(kind, str) or kind not in _ENTITY_TYPES:
        raise _PayloadItemError(f"type={kind!r:.60} is unknown: use one of {', '.join(_ENTITY_TYPES)}")
    aliases = item.get("aliases", [])
    if not isinstance(aliases, list) or len(aliases) > MAX_SOURCES:
        raise _PayloadItemError(f"aliases must be a list of at most {MAX_SOURCES} names")
    names = tuple(_read_text({"alias": alias}, "alias", MAX_NAME_CHARS) for alias in aliases)
    return NamedEntity(_read_text(item, "name", MAX_NAME_CHARS), kind, names)


def _read_cause(item: Mapping[str, Any], place: str, turns: frozenset[int]) -> CausalClaim:
    cause, effect = (_read_turn(item.get(name), name, turns) for name in ("cause", "effect"))
    if cause >= effect:
        raise _PayloadItemError(f"cause={cause} does not come before effect={effect}: a cause must come first")
    evidence = _read_text(item, "evidence", MAX_EVIDENCE_CHARS) if item.get("evidence") else ""
    return CausalClaim(cause, effect, evidence)


def _read_conflict(item: Mapping[str, Any], place: str, turns: frozenset[int]) -> DeclaredConflict:
    reason = _read_text(item, "reason", MAX_EVIDENCE_CHARS) if item.get("reason") else ""
    return DeclaredConflict(_read_text(item, "old", MAX_NAME_CHARS), _read_text(item, "new", MAX_NAME_CHARS), reason)


def _read_text(item: Mapping[str, Any], name: str, limit: int) -> str:
    value = item.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _PayloadItemError(f"{name} must be a non-empty text")
    if len(value) > limit:
        raise _PayloadItemError(f"{name} has {len(value)} characters; at most {limit} are kept")
    return value.strip()


def _read_confidence(item: Mapping[str, Any]) -> float:
    value = item.get("confidence", DEFAULT_CONFIDENCE)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise _PayloadItemError(f"confidence={value!r:.60} must be a number from 0 to 1")
    return float(value)


def _read_sources(item: Mapping[str, Any], turns: frozenset[int]) -> tuple[int, ...]:
    given = item.get("sources")
    if not isinstance(given, list) or not given:
        raise _PayloadItemError("sources must be a list with the number of at least one turn that supports the item")
    if len(given) > MAX_SOURCES:
        raise _PayloadItemError(f"sources has {len(given)} turns; at most {MAX_SOURCES} are kept")
    return tuple(dict.fromkeys(_read_turn(value, "sources", turns) for value in given))


def _read_turn(value: object, name: str, turns: frozenset[int]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in turns:
        known = f"the turns shown are {min(turns)} to {max(turns)}" if turns else "the session has no turns"
        raise _PayloadItemError(f"{name}={value!r:.60}: the session has no such turn; {known}")
    return value
