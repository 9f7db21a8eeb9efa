"""Functions: the memory functions that a program may call (SPEC-02.27 to .31): checked and bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Protocol

from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, SYMMETRIC_LABELS, EdgeType, Role
from hyperloci.model.search import Hit, SearchAnswer
from hyperloci.model.write_answers import RememberedFact

MAX_LIMIT: Final = 50
"""Memories that one call returns at most, as with the tools."""

Function = Callable[..., Any]


class ProgramMemory(Protocol):
    """`Memory`, as far as programs may use it."""

    def search(self, query: str, *, limit: int, reinforce: bool) -> SearchAnswer:
        """Find memories."""
        ...

    def latest(self, limit: int) -> Sequence[Hit]:
        """Return what was learnt or used last."""
        ...

    def remember_fact(self, fact: str, *, confidence: float) -> RememberedFact:
        """Store a fact."""
        ...

    def add_experience(self, content: str, outcome: str, *, success: bool) -> RememberedFact:
        """Store an experience."""
        ...

    def relate(self, label: str, members: Sequence[Mapping[str, str]]) -> str:
        """Join memories."""
        ...


def functions_of(memory: ProgramMemory) -> Mapping[str, Function]:
    """Return the functions by name, over one memory.

    Arguments come from a program, so each is checked for what it is. Reading reinforces nothing: a program looks
    through many memories to return a few.
    """

    def memory_query(query: object, limit: object) -> list[dict[str, Any]]:
        wanted = _checked_count("limit", limit)
        return [
            _drop_empty(hit)
            for hit in memory.search(_checked_text("query", query), limit=wanted, reinforce=False).results
        ]

    def memory_get_context(limit: object) -> list[dict[str, Any]]:
        return [_drop_empty(hit) for hit in memory.latest(_checked_count("limit", limit))]

    def memory_add_fact(content: object, confidence: object) -> str:
        return memory.remember_fact(
            _checked_text("content", content), confidence=_checked_share("confidence", confidence)
        ).id

    def memory_add_experience(content: object, outcome: object, success: object) -> str:
        if not isinstance(success, bool):
            raise BadRequestError(f"success={success!r:.80} must be True or False.")
        return memory.add_experience(
            _checked_text("content", content), _checked_text("outcome", outcome), success=success
        ).id

    def memory_relate(label: object, subject_id: object, object_id: object) -> str:
        word = _checked_text("label", label)
        ids = (_checked_text("subject_id", subject_id), _checked_text("object_id", object_id))
        return memory.relate(word, [{"id": id, "role": role} for id, role in zip(ids, _roles_of(word), strict=True)])

    found: tuple[Function, ...] = (
        memory_query,
        memory_get_context,
        memory_add_fact,
        memory_add_experience,
        memory_relate,
    )
    return {function.__name__: function for function in found}


def _drop_empty(hit: Hit) -> dict[str, Any]:
    """Return a memory without the fields that say nothing."""
    fields = {**asdict(hit), "source": {name: value for name, value in asdict(hit.source).items() if value}}
    fields.update(score=round(hit.score, 3), confidence=round(hit.confidence, 3))
    return {name: value for name, value in fields.items() if value not in (None, (), [], {})}


def _checked_text(argument: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadRequestError(f"{argument}={value!r:.80} must be a non-empty text.")
    return value


def _checked_count(argument: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_LIMIT:
        raise BadRequestError(f"{argument}={value!r:.80} must be a whole number from 1 to {MAX_LIMIT}.")
    return value


def _checked_share(argument: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadRequestError(f"{argument}={value!r:.80} must be a number from 0 to 1.")
    return float(value)


def _roles_of(label: str) -> tuple[Role, Role]:
    if label in SYMMETRIC_LABELS:
        return Role.PARTICIPANT, Role.PARTICIPANT
    if EDGE_TYPE_OF_LABEL.get(label) is EdgeType.CAUSATION:
        return Role.CAUSE, Role.EFFECT
    return Role.SUBJECT, Role.OBJECT
