"""Statistics text: what a memory holds and its state, for people (`hyperloci stats`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperloci.cli.layout import count_things, describe_age
from hyperloci.model.kinds import SUBTYPES, NodeType

Rows = tuple[tuple[str, str], ...]

_KINDS: Final = (
    ("facts", tuple(sorted(SUBTYPES[NodeType.FACT]))),
    ("decisions", ("decision",)),
    ("dead ends", ("dead_end",)),
    ("outcomes", ("outcome",)),
    ("conversation", ("episode", "action")),
    ("summaries", ("chunk_micro", "chunk_mini", "chunk_macro")),
    ("code", ("code",)),
    ("documents", ("markdown", "text", "section")),
    ("commits", ("commit",)),
    ("entities", tuple(sorted(SUBTYPES[NodeType.ENTITY]))),
)
"""What people call the kinds of memory, and the subtypes that each of them is."""

NAMED: Final = 3
"""Parts of a kind that are named, the largest."""


def describe_stats(stats: Mapping[str, Any]) -> Iterator[tuple[str, Rows]]:
    """Yield the sections of an account of `Memory.stats`: a title, and rows of a name and a value."""
    yield "The memory, of all projects", _describe_contents(stats)
    yield f"This project: {stats['project']['name']}, known {stats['project']['why']}", _describe_project(stats)
    yield "State", _describe_state(stats)


def _describe_contents(stats: Mapping[str, Any]) -> Rows:
    counts: Mapping[str, int] = stats["nodes_by_subtype"]
    kinds = ((name, {kind: counts[kind] for kind in subtypes if kind in counts}) for name, subtypes in _KINDS)
    rows = [(name, _describe_parts(parts)) for name, parts in kinds if parts]
    rows.append(("relations", _describe_parts(stats["edges_by_label"])))
    rows.append(("topics", f"{stats['topics']:,}"))
    sessions = stats["sessions"]
    rows.append(("sessions", _describe_parts(sessions)))
    if len(stats["nodes_by_scope"]) > 1:
        rows.append(("by project", _describe_parts(stats["nodes_by_scope"])))
    return tuple(rows)


def _describe_parts(parts: Mapping[str, int]) -> str:
    """Return the sum of a kind's parts, and the largest parts where there are several."""
    total = f"{sum(parts.values()):,}"
    if len(parts) < 2:
        return total
    ranked = sorted(parts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{name.replace('_', ' ')} {count:,}" for name, count in ranked[:NAMED]]
    return f"{total} ({', '.join(named)}{', ...' if len(ranked) > NAMED else ''})"


def _describe_project(stats: Mapping[str, Any]) -> Rows:
    history, reach = stats["history"], stats["by_meaning"]
    unread = history["waiting"] + history["older"]
    older = f", {unread:,} older ones not read" if unread else ""
    rows = [("by meaning", f"{reach['embedded']:,} of {reach['total']:,} memories and names; all of them by words")]
    if history["is_known"]:
        rows.insert(0, ("history", f"{count_things(history['stored'], 'commit')}{older}"))
    return tuple(rows)


def _describe_embedder(embedder: Mapping[str, Any]) -> str:
    if not embedder["enabled"]:
        return "switched off"
    state = "running" if embedder["warm"] else "loading" if "model" in embedder else "not running; a session starts it"
    if "error" in embedder:
        return f"{state if embedder['warm'] else 'none can be used'}: {embedder['error']}"
    return state


def _describe_state(stats: Mapping[str, Any]) -> Rows:
    rows = [
        ("database", stats["database"]),
        ("size", f"{stats['database_bytes'] / 1e6:.1f} MB"),
        ("embedder", _describe_embedder(stats["embedder"])),
        ("maintenance", f"last {describe_age(stats['last_upkeep'])}" if stats["last_upkeep"] else "never yet"),
    ]
    if stats["forgotten"]:
        rows.append(("forgotten", f"{stats['forgotten']:,}, restorable for 30 days"))
    if stats["set_aside"]:
        rows.append(("set aside", f"{_describe_parts(stats['set_aside'])}; hyperloci set-aside lists them"))
    return tuple(rows)
