"""Outgoing: tells the team what changed here, page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

from hyperloci.errors import TeamRefusedError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import MEANING_DIMENSIONS, OutgoingRevision, SharedPayload
from hyperloci.store.team.team_rows import TeamProject, TeamRow
from hyperloci.system.values import dataclass
from hyperloci.team.payload import PayloadBuilder

PAGE_CHANGES: Final = 200
"""Entries of the outbox in one transaction of the truth: it holds the project's row for some 100 ms."""

PAGE_VECTORS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What one read of the outbox gives: its ids, and what is to be told of them, by project."""

    last: int
    ids: tuple[str, ...]
    told: dict[str, list[OutgoingRevision]]
    rows: dict[str, TeamRow]


@dataclass(slots=True)
class OutgoingChanges:
    """Tells what waits in the outbox of one store."""

    store: Store
    truth: SharedTruth
    client: str
    yield_to_others: Callable[[], None]
    sent: int = 0
    diverged: int = 0
    refused: list[str] = field(default_factory=list)

    def send_all(self, projects: Sequence[TeamProject]) -> None:
        """Tell everything that waits.

        Raises:
            TeamUnreachableError: what was not told stays in the outbox.
        """
        by_scope = {project.scope_id: project.project for project in projects}
        while True:
            page = self._read_page(by_scope)
            if not page.ids:
                return
            self._send_page(page)
            self.yield_to_others()

    def _read_page(self, by_scope: dict[str, str]) -> _Page:
        """Read the next page on one state of the database, so that no half of a change is told."""
        with self.store.snapshot():
            last, ids = self.store.team.read_outbox(PAGE_CHANGES)
            builder = PayloadBuilder(self.store)
            nodes = {id: self.store.nodes.get_node(id) for id in ids}
            successors = builder.find_successors([node for node in nodes.values() if node is not None])
            nodes.update({node.id: node for node in successors})
            rows = self.store.team.get_rows(nodes)
            told: dict[str, list[OutgoingRevision]] = {}
            for id, node in nodes.items():
                row = rows.get(id)
                project = row.project if row is not None else by_scope.get(node.scope if node is not None else "")
                payload = None if project is None else builder.build_payload(node, row)
                if project is not None and payload is not None and (row is None or row.digest != payload.digest):
                    told.setdefault(project, []).append(self._make_revision(node, row, payload))
        return _Page(last=last, ids=tuple(ids), told=told, rows=rows)

    def _make_revision(self, node: Node | None, row: TeamRow | None, payload: SharedPayload) -> OutgoingRevision:
        base, id = 0 if row is None else row.revision, node.id if node is not None else row.node_id if row else ""
        model, vector = (None, None) if node is None or not payload.content else self._load_vector(node.key)
        keywords = tuple(analyse_text(f"{payload.title}\n{payload.content}"))
        return OutgoingRevision.make(self.client, id, base, payload, keywords=keywords, model=model, vector=vector)

    def _load_vector(self, key: NodeKey) -> tuple[str | None, tuple[float, ...] | None]:
        found = load_vectors(self.store, [key]).get(key)
        return (None, None) if found is None else (find_meaning_model(self.store), found)

    def _send_page(self, page: _Page) -> None:
        for project, revisions in page.told.items():
            self._send_revisions(project, revisions, page.rows)
        with self.store.transaction():
            self.store.team.clear_outbox(page.ids, page.last)

    def _send_revisions(self, project: str, revisions: list[OutgoingRevision], rows: dict[str, TeamRow]) -> None:
        """Store revisions there and note so here; if a page is refused, one by one, so that one holds none up."""
        try:
            stored = self.truth.store_revisions(project, revisions)
        except TeamRefusedError as error:
            if len(revisions) == 1:
                self.refused.append(f"{revisions[0].id}: {error}")
                return
            for revision in revisions:
                self._send_revisions(project, [revision], rows)
            return
        with self.store.transaction():
            for revision, known in zip(revisions, stored, strict=True):
                row = rows.get(revision.id)
                self.store.team.put_row(
                    TeamRow(
                        node_id=revision.id,
                        project=project,
                        # Behind what it diverged from: that is still to be taken in.
                        revision=revision.base if known.diverged else known.revision,
                        digest=revision.payload.digest,
                        is_mine=row is None or row.is_mine,
                        has_vector=revision.vector is not None,
                    )
                )
        self.sent += len(stored)
        self.diverged += sum(item.diverged for item in stored)

    def send_vectors(self, project: TeamProject) -> int:
        """Add vectors that were made since their memories were told; return how many."""
        count, after, model = 0, "", find_meaning_model(self.store)
        # Page by page in the order of ids: each page would else read past all that were told before.
        while model is not None and (
            waiting := self.store.team.list_without_vector(project.project, after, PAGE_VECTORS)
        ):
            after = waiting[-1][1]
            found = load_vectors(self.store, [key for key, _, _ in waiting])
            vectors = {id: (revision, found[key]) for key, id, revision in waiting if key in found}
            if vectors:
                self.truth.put_vectors(model, vectors)
                with self.store.transaction():
                    self.store.team.note_vectors(list(vectors))
            count += len(vectors)
            self.yield_to_others()
        return count


def find_meaning_model(store: Store) -> str | None:
    """Return the id of the model that sees E1 here, None before the first."""
    from hyperloci.store.vectors.fingerprints import meaning_model_of

    model = store.vectors.get_model_in_use()
    return None if model is None else meaning_model_of(model)


def load_vectors(store: Store, keys: Sequence[NodeKey]) -> dict[NodeKey, tuple[float, ...]]:
    """Return the vectors in E1 that the model in use made, where they are of the size that the truth keeps."""
    from hyperloci.store.vectors import float16

    model = store.vectors.get_model_in_use()
    model_key = None if model is None else store.vectors.find_model(model)
    if model_key is None:
        return {}
    blobs = {key: row[0] for key, row in store.vectors.get_rows(keys, ["e1"], model_key=model_key).items()}
    right = {key: blob for key, blob in blobs.items() if blob is not None and len(blob) == 2 * MEANING_DIMENSIONS}
    if not right:
        return {}
    vectors = float16.unpack_half(list(right.values()))
    return {key: tuple(vector.tolist()) for key, vector in zip(right, vectors, strict=True)}
