"""Payload: what the team is told of a memory, redacted again on its way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from hyperloci.model.author import Visibility
from hyperloci.model.kinds import SHARED_KINDS, NodeKey, Origin
from hyperloci.model.node import MAX_NAME_CHARS, Node
from hyperloci.store import Store
from hyperloci.store.memories.decay import has_faded
from hyperloci.store.purge import was_deleted
from hyperloci.store.team.shared_values import SharedPayload, SharedState
from hyperloci.store.team.team_rows import TeamRow
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

MAX_TITLE_CHARS: Final = 2_000
"""Of where a memory stands, in words; the truth refuses longer ones."""

NOTHING: Final = SharedPayload(
    state=SharedState.PURGED,
    type="fact",
    subtype=None,
    title="",
    content="",
    agent=None,
    confidence=0.0,
    event_time=0,
    valid_from=0,
    valid_until=None,
)
"""What is told of a memory that was purged here."""

OUTLASTED: Final = replace(NOTHING, state=SharedState.FORGOTTEN)
"""What is told of one that was forgotten here unheard until its thirty days were over; others can restore it."""


@dataclass(frozen=True, slots=True)
class PayloadBuilder:
    """Makes payloads of memories of one store.

    Attributes:
        store: the open store.
        sanitize: as of `text.sanitize`; a run that has sanitized the same texts before may remember what came of them.
    """

    store: Store
    sanitize: Callable[[str], SanitizedText] = sanitize

    def build_payload(self, node: Node | None, row: TeamRow | None) -> SharedPayload | None:
        """Return what the team is told of a memory; None if it is not to be told.

        Args:
            node: the memory as it is here; None if it is gone for good.
            row: as it was exchanged last; None if it never was.
        """
        if node is None:
            return None if row is None else self._describe_gone(row)
        if row is None and not is_shareable(node):
            return None
        if node.visibility is not Visibility.SHARED:
            return _make_payload(node, SharedState.WITHDRAWN) if row is not None and row.is_mine else None
        if node.deleted_at is None:
            return self._describe(node, SharedState.LIVE)
        # What fades on one machine is nobody else's loss.
        return (
            None if row is None or has_faded(self.store.log, node.id) else self._describe(node, SharedState.FORGOTTEN)
        )

    def _describe_gone(self, row: TeamRow) -> SharedPayload | None:
        if not was_deleted(self.store, row.node_id):
            return NOTHING
        # To a truth that lost what it had, the end of a time here is no news: others may have restored it.
        return OUTLASTED if row.revision else None

    def _describe(self, node: Node, state: SharedState) -> SharedPayload | None:
        text = self.sanitize(node.content).text.strip()
        if not text:
            return None
        title = self.sanitize(node.title).text.strip()[:MAX_TITLE_CHARS]
        return _make_payload(node, state, title=title, content=text, supersedes=self._find_superseded(node.key))

    def _find_superseded(self, key: NodeKey) -> tuple[str, ...]:
        if not self.store.traversal.has_label("supersedes"):
            return ()
        steps = self.store.traversal.find_steps([key], label="supersedes", direction="out")
        nodes = self.store.nodes.get_by_keys({step.target for step in steps})
        return tuple(sorted(old.id for old in nodes.values() if old.visibility is Visibility.SHARED))

    def find_successors(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the shared memories that replaced some that have ended: what they replaced may be told only now."""
        ended = [node.key for node in nodes if node.valid_until is not None]
        if not ended or not self.store.traversal.has_label("supersedes"):
            return []
        steps = self.store.traversal.find_steps(ended, label="supersedes", direction="in")
        found = self.store.nodes.get_by_keys({step.target for step in steps})
        return [node for node in found.values() if node.visibility is Visibility.SHARED]


def is_shareable(node: Node) -> bool:
    """Tell whether a memory is a statement of this person's own that they share; never a turn, a file or a commit."""
    return (
        node.visibility is Visibility.SHARED
        and node.origin is not Origin.TEAMMATE
        and SHARED_KINDS.get(node.subtype or "") == node.type
    )


def _make_payload(
    node: Node, state: SharedState, *, title: str = "", content: str = "", supersedes: tuple[str, ...] = ()
) -> SharedPayload:
    return SharedPayload(
        state=state,
        type=str(node.type),
        subtype=node.subtype,
        title=_encodable(title),
        content=_encodable(content),
        agent=None if node.agent is None else _encodable(node.agent)[:MAX_NAME_CHARS],
        confidence=node.confidence,
        event_time=node.event_time,
        valid_from=node.valid_from,
        valid_until=node.valid_until,
        supersedes=supersedes,
    )


def _encodable(text: str) -> str:
    """Return a text as PostgreSQL keeps it: no half of a surrogate pair, no NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
