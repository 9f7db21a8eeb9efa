"""Markdown export: what is stated, for people to read, by project and kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, TextIO

from hyperloci.clock import format_day
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.node import Node
from hyperloci.queries.recent import STATEMENTS
from hyperloci.store import Store
from hyperloci.store.export import MARKDOWN_MARK
from hyperloci.store.export_selection import ExportChoice

MOST: Final = 1_000_000

_PLURALS: Final = {
    "decision": "Decisions",
    "dead_end": "Dead ends",
    "constraint": "Constraints",
    "preference": "Preferences",
    "procedure": "Procedures",
    "deadline": "Deadlines",
    "opinion": "Opinions",
    "outcome": "Outcomes",
    "user_info": "About the user",
    "insight": "Insights",
    "semantic": "Facts",
}


def write_markdown(store: Store, out: TextIO, choice: ExportChoice) -> Counter[str]:
    """Write a memory as Markdown to read; return how many memories of each kind that are."""
    kinds: Counter[str] = Counter()
    out.writelines(f"{line}\n" for line in _render_memory(store, choice, kinds))
    return kinds


def _render_memory(store: Store, choice: ExportChoice, kinds: Counter[str]) -> Iterator[str]:
    """Yield the lines of a memory: what holds now, by project and kind, the latest first; count the kinds."""
    yield MARKDOWN_MARK
    for scope in store.scopes.list_scopes():
        if choice.scope not in (None, scope.id):
            continue
        nodes = store.node_lists.list_memories(choice.kinds or STATEMENTS, (scope.id,), since=choice.since, limit=MOST)
        if nodes:
            yield f"# {'Everywhere' if scope.id == GLOBAL_SCOPE else scope.name}"
            kinds.update(node.subtype or node.type for node in nodes)
            yield from _render_kinds(nodes)


def _render_kinds(nodes: Sequence[Node]) -> Iterator[str]:
    for kind, some in groupby(sorted(nodes, key=_rank_kind), key=lambda node: node.subtype or node.type):
        yield f"\n## {_PLURALS.get(kind, kind.replace('_', ' ').capitalize())}\n"
        for node in some:
            text = node.content.strip().replace("\n", "\n  ")
            yield f"- {text} ({format_day(node.event_time)})"
    yield ""


def _rank_kind(node: Node) -> tuple[int, str]:
    kind = node.subtype or node.type
    order = [*_PLURALS]
    return (order.index(kind) if kind in order else len(order), kind)
