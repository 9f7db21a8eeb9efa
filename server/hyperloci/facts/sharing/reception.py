"""Reception: how what others told becomes a memory here, whoever carried it: files in Git or the team's database.

A teammate's text is quoted and never obeyed: it is cleaned like any foreign text, flagged where it looks like an
instruction (then no session is shown it unasked), and believed no further than `TRUST[Origin.TEAMMATE]`. It does not
fade: it ends when somebody withdraws, replaces or forgets it, not because this machine hasn't asked for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.safe_arguments import safety_metadata
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import SHARED_KINDS, TRUST, NodeId, Origin, Tier
from hyperloci.model.node import MAX_NAME_CHARS, NewNode, Node
from hyperloci.store import Store
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

UNNAMED: Final = "somebody <unknown>"
"""Who is shown in place of an author whose name is none."""


def make_received_memory(
    *,
    id: str,
    kind: str,
    parts: Sequence[SanitizedText],
    author: str,
    provenance: str,
    scope: str,
    event_time: int,
    valid_from: int,
    agent: str | None = None,
    title: str = "",
    confidence: float = 1.0,
    origin: Origin = Origin.TEAMMATE,
    visibility: Visibility = Visibility.SHARED,
) -> NewNode:
    """Return a memory of what somebody told, as it may be stored.

    Args:
        id: the same on every machine.
        kind: one of `SHARED_KINDS`.
        parts: its text, then what else of it was sanitized.
        author, agent: who told it and through which assistant, as they may be shown.
        provenance: in words, whence it is.
        scope: the project's id.
        event_time, valid_from: in milliseconds.
        title: where it stands, in words.
        confidence: its author's, 0..1; it is believed no further than its origin.
        origin: `TEAMMATE` but for one's own words from another machine.
        visibility: private for what is only kept beside what holds.
    """
    return NewNode(
        id=NodeId(id),
        type=SHARED_KINDS[kind],
        subtype=kind,
        content=parts[0].text.strip(),
        title=title,
        tier=Tier.LONGTERM,
        confidence=min(max(confidence, 0.0), TRUST[origin]),
        decay_rate=0.0,
        provenance=provenance[:MAX_NAME_CHARS],
        origin=origin,
        scope=scope,
        event_time=event_time,
        valid_from=valid_from,
        metadata=safety_metadata(*parts),
        author=author[:MAX_NAME_CHARS],
        agent=agent,
        visibility=visibility,
    )


def is_plain_name(name: str) -> bool:
    """Return whether a person's or program's name may be shown: a sentence to an assistant, or a secret, is none."""
    prepared = sanitize(name)
    return not (prepared.flags or prepared.redactions or prepared.private_blocks)


def forget_received(store: Store, writer: MemoryWriter, node: Node, *, reason: str, now: int) -> None:
    """Forget a memory whose author took it back, restorable like any other; what it disputed is settled."""
    store.nodes.delete_node(node.id, now=now, reason=reason)
    writer.clear_traces(node)


def find_rivals(store: Store, old: Node, new: Node) -> list[Node]:
    """Return what else replaced a memory, told by who had not seen the newer word of it, and holds."""
    steps = store.traversal.find_steps([old.key], label="supersedes", direction="in")
    nodes = store.nodes.get_by_keys({step.target for step in steps} - {new.key})
    return [node for node in nodes.values() if node.holds]
