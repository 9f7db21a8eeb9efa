"""Memory writer: stores every new memory, however it arrives, with everything that belongs to its kind.

Every memory gets its row, its keywords and its place in the queue for a fingerprint (`store.memories.nodes`). What else
it gets depends on what it is:

| | log | anchors in code | entities and facets |
|---|---|---|---|
| a statement: remembered, extracted or imported | yes | yes: it holds until the code changes | yes |
| an event: a turn, a commit | no: it is its own record | no: it stays true when the code changes | yes |
| a summary of other memories | no | no | no: what it covers has them |

A statement whose text is changed later has what belongs to the new one (`MemoryWriter.renew_statement`).

Two kinds of nodes are made elsewhere: chunks of files, which follow their files (`indexing.file_writer`), and entities,
which annotation adds (`knowledge.entities.registry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hyperloci.knowledge.entities.registry import EntityLinker
from hyperloci.knowledge.exceptions import EXCEPTION_LABEL
from hyperloci.knowledge.facets import classify_facets
from hyperloci.knowledge.graph.anchors import anchor_fact, renew_anchors
from hyperloci.model.edge import Hyperedge
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import NewNode, Node
from hyperloci.store import Store
from hyperloci.text.action_line import read_action_line


class MemoryWriter:
    """Writes memories into one store, inside the caller's transactions.

    It caches which entities names mean: use one for a run, and make a new one after a transaction was rolled back.
    """

    def __init__(self, store: Store, *, sparing: bool = False) -> None:
        """Make a writer; a `sparing` one adds a concept only where it is defined, or at its second memory."""
        self._store = store
        self._linker = EntityLinker(store, sparing=sparing)

    def write_statement(
        self,
        new: NewNode,
        project: str,
        *,
        now: int,
        session_key: int | None = None,
        about: Sequence[NodeKey] = (),
        operation: str = "create",
        reason: str | None = None,
    ) -> Node:
        """Store a statement: logged, anchored to the code it names, and annotated.

        Args:
            new: the statement, of text that may be stored.
            project: the id of the project whose code is meant, also for a global statement that was stored from it.
            now: the time, in milliseconds.
            session_key: the session it was stated in.
            about: entities that it is about, even if its text doesn't name them.
            operation: the log entry's operation.
            reason: why it was made, for the log; its provenance, if none is given.
        """
        node = self._store.nodes.create_node(new, now=now, session_key=session_key)
        self._store.log.add_entry(operation, [node.id], now=now, to_tier=node.tier, reasoning=reason or new.provenance)
        self.anchor(node, project, now=now)
        annotate(self._store, node, now=now, linker=self._linker)
        self._store.entities.add_mentions(node.key, about, now=now)
        return node

    def renew_statement(self, old: Node, project: str, *, now: int) -> None:
        """Have a statement whose text was changed belong to the code and the entities that it names now.

        What a person declared it to be about it stays about, and what it contradicts is settled by nobody's new words;
        but nobody has verified those. Of an event and a summary nothing is done.

        Args:
            old: the statement as it was.
            project: the id of the project whose code is meant.
            now: the time, in milliseconds.
        """
        node = self._store.nodes.get_by_key(old.key)
        if node is None or node.content == old.content or not _is_statement(node):
            return
        renew_anchors(self._store, node, self._store.scopes.ensure_scope(project, now=now))
        # Before it mentions others: what is known in short of those that it mentioned may quote the old words.
        self._store.entities.drop_summaries_from(node.key)
        self._linker.relink_text(node.key, node.scope, node.content, before=old.content, now=now)
        facets = classify_facets(node.content, node.origin, confidence=node.confidence)
        known = self._store.facets.get_facets([node.key]).get(node.key)
        if known is not None and known.verification is not Verification.VERIFIED:
            facets = replace(facets, verification=known.verification)
        elif known is not None and self._find_rivals(node):
            facets = replace(facets, verification=Verification.DISPUTED)
        self._store.facets.put_facets(node.key, facets)

    def write_event(
        self,
        new: NewNode,
        *,
        now: int,
        place: str,
        session_key: int | None = None,
        text: str | None = None,
        author: str | None = None,
    ) -> Node:
        """Store an event, annotated.

        Args:
            new: the event, of text that may be stored.
            now: the time, in milliseconds.
            place: what makes equal contents different events: a turn's place in its session, a commit's hash.
            session_key: the session it happened in.
            text: the part that is prose, if not all is (a commit's message without its list of files).
            author: who wrote it, if that is known.
        """
        node = self._store.nodes.create_node(new, now=now, place=place, session_key=session_key)
        annotate(self._store, node, now=now, linker=self._linker, text=text, author=author)
        return node

    def write_summary(
        self, new: NewNode, covered: Iterable[NodeKey], *, now: int, place: str, session_key: int
    ) -> Node:
        """Store a summary of a session's memories, joined to what it covers."""
        node = self._store.nodes.create_node(new, now=now, place=place, session_key=session_key)
        if members := list(covered):
            self._store.edges.link_nodes("contains", node.key, members, now=now, automatic=True)
        return node

    def declare_entity(self, name: str, scope: str, *, now: int) -> NodeKey | None:
        """Return the entity with this name, added if need be; None if it was forgotten."""
        return self._linker.declare_entity(name, scope, now=now)

    def add_entity(self, new: NewNode, *, now: int) -> NodeKey:
        """Store a new entity, under its name and its other spellings."""
        return self._linker.add_entity(new, now=now)

    def anchor(self, node: Node, project: str, *, now: int) -> None:
        """Anchor a statement to the project's code as it is now."""
        anchor_fact(self._store, node, self._store.scopes.ensure_scope(project, now=now))

    def dispute(self, new: Node, old: Node, reason: str, *, confidence: float, now: int) -> None:
        """Join two statements that cannot both hold; each is disputed until one of them ends.

        Args:
            new, old: the statements.
            reason: why, for the relation.
            confidence: how sure that is, 0..1.
            now: the time, in milliseconds.
        """
        known = self._store.traversal.find_steps([new.key], label="contradicts")
        if any(step.target == old.key for step in known):
            return
        self._store.edges.link_nodes(
            "contradicts", new.key, [old.key], now=now, confidence=confidence, automatic=True, evidence=reason
        )
        for node in (new, old):
            self._store.facets.set_verification(node.key, Verification.DISPUTED)
        self._store.log.add_entry("dispute", [new.id, old.id], now=now, reasoning=reason)

    def add_exception(self, new: Node, old: Node, reason: str, *, confidence: float, now: int) -> None:
        """Join what a project says to what holds in all of them and it says otherwise; both stand.

        Args:
            new, old: the project's statement, and the one that holds in all projects.
            reason: why, for the relation.
            confidence: how sure that is, 0..1.
            now: the time, in milliseconds.
        """
        known = self._store.traversal.find_steps([new.key], label=EXCEPTION_LABEL)
        if not any(step.target == old.key for step in known):
            self._store.edges.link_nodes(
                # Not automatic: a review by meaning makes anew only what it found itself.
                EXCEPTION_LABEL,
                new.key,
                [old.key],
                now=now,
                confidence=confidence,
                automatic=False,
                evidence=reason,
            )

    def clear_traces(self, gone: Node) -> None:
        """Clear what a statement that ended or was forgotten left elsewhere: disputes, and summaries that may quote it.

        Upkeep sums up anew what is known of the entities that it mentions.
        """
        self._store.facets.settle_disputes(gone.key)
        self._store.entities.drop_summaries_from(gone.key)

    def withdraw_dispute(self, edge: Hyperedge, members: Sequence[Node], *, now: int, reason: str) -> None:
        """Remove the relation of statements that can all hold; who was disputed by nothing else no longer is.

        Args:
            edge: the relation.
            members: the statements in it that hold.
            now: the time, in milliseconds.
            reason: why, for the log.
        """
        self._store.edges.delete_edge(edge.id)
        for node in members:
            if not self._find_rivals(node):
                self._store.facets.replace_verification(node.key, Verification.DISPUTED, Verification.UNVERIFIED)
        self._store.log.add_entry("settle", [node.id for node in members], now=now, reasoning=reason)

    def _find_rivals(self, node: Node) -> list[Node]:
        """Return the statements that hold and contradict one."""
        steps = self._store.traversal.find_steps([node.key], label="contradicts")
        rivals = self._store.nodes.get_by_keys({step.target for step in steps})
        return [rival for rival in rivals.values() if rival.valid_until is None]

    def supersede(self, old: Node, new: Node, reason: str, *, now: int, until: int, automatic: bool = False) -> None:
        """End what an older statement says in favour of a newer one, and join the two.

        Where a person decided it, the newer one is about what the older one was declared to be about. However the
        clock was set, what held till now ends no earlier than it began.

        Args:
            old, new: the statements.
            reason: why, for the log and the relation.
            now: the time, in milliseconds.
            until: the time up to which the older one held.
            automatic: whether rules decided it, not a person.
        """
        if not automatic:
            self.carry_declared(old, new, now=now)
        self._end(old, now=now, until=max(until, old.valid_from) if old.valid_until is None else until)
        self._store.edges.link_nodes("supersedes", new.key, [old.key], now=now, automatic=automatic, evidence=reason)
        self._store.log.add_entry("supersede", [old.id, new.id], now=now, reasoning=reason)

    def carry_declared(self, old: Node, new: Node, *, now: int) -> None:
        """Have a statement be about what somebody declared an older one to be about, whether or not it names it."""
        self._store.entities.add_mentions(new.key, self._list_declared(old), now=now)

    def _list_declared(self, node: Node) -> list[NodeKey]:
        """Return the entities of a statement that somebody made known, or that its text doesn't name."""
        named = self._linker.find_named(node.scope, node.content)
        mentioned = [entity.node_key for entity in self._store.entities.list_of_node(node.key)]
        return [key for key in mentioned if key not in named or self._store.entities.was_declared(key)]

    def expire(self, old: Node, reason: str, *, now: int, until: int) -> None:
        """End what a statement says whose time is over; nothing takes its place.

        Args:
            old: the statement.
            reason: why, for the log.
            now: the time, in milliseconds.
            until: the time up to which it held.
        """
        self._end(old, now=now, until=until)
        self._store.log.add_entry("expire", [old.id], now=now, reasoning=reason)

    def _end(self, old: Node, *, now: int, until: int) -> None:
        self._store.nodes.update_node(old.id, now=now, valid_until=until)
        self._store.facets.set_verification(old.key, Verification.OUTDATED)
        self.clear_traces(old)


def _is_statement(node: Node) -> bool:
    """Tell whether somebody states something: it is no turn, action or commit, no piece of a file, and no summary."""
    if node.type is NodeType.EXPERIENCE:
        return node.subtype in ("dead_end", "outcome")
    return node.type is NodeType.FACT or (node.type is NodeType.DECISION and node.subtype != "commit")


def annotate(
    store: Store, node: Node, *, now: int, linker: EntityLinker, text: str | None = None, author: str | None = None
) -> None:
    """Join a memory in prose, or that text of it, to the entities it names, and store its facets."""
    said = node.content if text is None else text
    # An action's line begins with the assistant's own tool, which it is not about.
    about = read_action_line(said).told if node.subtype == "action" else said
    linker.link_text(node.key, node.scope, about, now=now, author=author)
    store.facets.add_facets(node.key, classify_facets(said, node.origin, confidence=node.confidence))
