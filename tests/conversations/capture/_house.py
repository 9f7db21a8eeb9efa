"""A store with memories in it, and the sessions that start over it."""

from __future__ import annotations

from hyperloci.config import Settings
from hyperloci.conversations.capture.session_events import Capture
from hyperloci.conversations.capture.sessions import NewTurn, add_turn
from hyperloci.facts.facts import Facts
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import NewNode, Node
from hyperloci.model.record import CLAUDE_CODE, CaptureKind, CaptureRecord
from hyperloci.model.turn import Speaker, TurnKind
from hyperloci.store import Store

NOW = 1_795_000_000_000
PROJECT = "project:0123456789abcdef"
TYPES = {"decision": NodeType.DECISION, "dead_end": NodeType.EXPERIENCE, "outcome": NodeType.EXPERIENCE}


class House:
    """A store with memories in it, and the sessions that start over it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.capture = Capture(store, settings, lambda: NOW)
        self._records = 0

    def add(
        self,
        subtype: str,
        text: str,
        scope: str = PROJECT,
        at: int = NOW,
        origin: Origin = Origin.TOOL,
        **changes: object,
    ) -> Node:
        new = NewNode(
            type=TYPES.get(subtype, NodeType.FACT),
            subtype=subtype,
            content=text,
            scope=scope,
            confidence=float(str(changes.pop("confidence", 1.0))),
            decay_rate=0.0,
            origin=origin,
            agent=None if (agent := changes.pop("agent", None)) is None else str(agent),
            metadata=changes,
        )
        with self.store.transaction():
            return self.store.nodes.create_node(new, now=at)

    def say(self, subtype: str, text: str, *, at: int = NOW, speaker: str = "user", **changes: object) -> Node:
        """Keep what somebody said, as consolidation does."""
        return self.add(subtype, text, PROJECT, at, Origin.EXTRACTION, speaker=speaker, **changes)

    def remember(self, category: str, text: str) -> None:
        """Keep what was told on purpose, as the tools do."""
        facts = Facts(self.store, PROJECT, lambda: NOW)
        facts.remember_fact(sanitize_argument("fact", text), category=category, confidence=1.0, scope=PROJECT)

    def join(self, label: str, newer: Node, older: Node, reason: str = "") -> None:
        with self.store.transaction():
            self.store.edges.link_nodes(
                label, newer.key, [older.key], now=NOW, confidence=0.6, automatic=True, evidence=reason or None
            )

    def end(self, node: Node) -> None:
        """Let a memory hold no longer."""
        with self.store.transaction():
            self.store.nodes.update_node(node.id, now=NOW, valid_until=NOW)

    def prompt(self, text: str, session: str) -> Node:
        """Keep what the user said, and return its turn."""
        turn = NewTurn(role=Speaker.USER, text=text, at=NOW, kind=TurnKind.TEXT, uuid=f"{session}:{text}")
        with self.store.transaction():
            node = add_turn(self.store, session, PROJECT, turn, now=NOW)
        assert node is not None
        return node

    def act(self, line: str, session: str, *, at: int, path: str | None = None) -> None:
        """Keep what a tool did."""
        done = NewTurn(
            role=Speaker.ASSISTANT, text=line, at=at, kind=TurnKind.ACTION, uuid=f"{session}:{at}", path=path
        )
        with self.store.transaction():
            add_turn(self.store, session, PROJECT, done, now=at)

    def tell(
        self, kind: CaptureKind, text: str, session: str, at: int = NOW, client: str = CLAUDE_CODE
    ) -> CaptureRecord:
        self._records += 1
        record = CaptureRecord(
            id=f"r{self._records}",
            kind=kind,
            session_id=session,
            project_id=PROJECT,
            project_name="demo",
            project_root="/demo",
            at=at,
            text=text,
            client=client,
        )
        self.capture.store_record(record)
        return record

    def start(self, source: str = "startup", session: str = "s1", at: int = NOW, client: str = CLAUDE_CODE) -> str:
        return self.capture.context_after(self.tell(CaptureKind.STARTED, source, session, at, client))
