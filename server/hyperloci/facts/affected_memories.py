"""Affected memories: what a write answers of older memories that it may change, with the call that replaces them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hyperloci.clock import format_day
from hyperloci.model.author import name_other
from hyperloci.model.write_answers import AffectedMemory, RememberedFact, StatementCheck

REPLACE_BY_REMEMBERING: Final = 'remember_fact(fact=<the same text>, replaces="{id}")'
REPLACE_BY_CORRECTING: Final = 'correct_fact(id="{id}", fact=<what holds now>)'
"""The calls that replace an affected memory by what was just told, or by something else."""

NOTHING_AFFECTED: Final = StatementCheck()


def name_affected(stored: RememberedFact, check: StatementCheck, call: str, *, asker: str | None) -> RememberedFact:
    """Return the answer with what contradicts the statement and what else it may affect; nothing of itself."""
    own = {stored.id, stored.supersedes}
    if stored.duplicate_of is not None:
        return stored
    return replace(
        stored,
        contradictions=tuple(item for item in check.contradictions if item.id not in own),
        affected=tuple(
            AffectedMemory(
                id=node.id,
                content=node.content,
                date=format_day(node.valid_from),
                replace_by=call.replace("{id}", node.id),
                author=name_other(node.author, node.origin, asker),
            )
            for node in check.affected
            if node.id not in own
        ),
    )
