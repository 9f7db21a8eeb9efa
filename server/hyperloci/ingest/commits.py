"""Git's history as memories: one node a commit, joined to the symbols that it changed.

A commit whose branch was rebased, amended or deleted away is in the history of nothing any more. Its node stays, with
`unreachable` in its metadata and an end to its validity, so that searches leave it out and questions about the past
still find it; should the commit come back (a reflog rescue, another clone), so does the node. Switching branches ends
nothing: commits are looked for under every branch, tag and working tree.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.graph.entities import EntityLinker
from hyperloci.ingest.annotate import annotate
from hyperloci.ingest.boundary import prepare, safe_name
from hyperloci.ingest.git import COMMIT_LIMIT, Git, GitError, never
from hyperloci.ingest.git_log import Commit
from hyperloci.ingest.project import Project
from hyperloci.ingest.project_git import BrokenRepositoryError, open_repository, read_head
from hyperloci.ingest.reading import hash_of, read_raw
from hyperloci.ingest.turns import Turns
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode
from hyperloci.store import Store

MAX_EFFECTS: Final = 50
"""Symbols joined to one commit; one that changed more is about the whole tree, not about any of them."""

MAX_BODY_CHARS: Final = 2_000
"""Of a commit's message; generated ones (dependency bumps with their changelogs) go on for pages."""

CHANGED: Final = "\n\nChanged: "
"""Between a commit's message and the names of its files."""

MAX_NAMED_FILES: Final = 20
"""Files named in a commit's text."""

SHORT_SHA: Final = 12
"""Digits that are unique in any repository there is."""

NAME_CONFIDENCE: Final = 0.8
"""Of an edge that rests on names in hunk headings: Git sees one function a hunk, and not always the right one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitReport:
    """What reading the history did; `problem` says why it could not, in words."""

    added: int = 0
    ended: int = 0
    revived: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Touched:
    """The snippets that a commit changed; `exact` if they were found by lines, not by names."""

    nodes: tuple[NodeKey, ...] = ()
    exact: bool = True


class CommitIndexer:
    """Keeps the commits of one project's repository as memories."""

    def __init__(
        self,
        store: Store,
        project: Project,
        scope_key: int,
        clock: Clock = system_clock,
        *,
        git: Git | None = None,
        limit: int = COMMIT_LIMIT,
        cancelled: Callable[[], bool] = never,
    ) -> None:
        self._store = store
        self._project = project
        self._scope_key = scope_key
        self._clock = clock
        self._git = git or Git(project.root)
        self._limit = limit
        self._cancelled = cancelled
        self._turns = Turns(store)
        self._linker = EntityLinker(store, sparing=True)

    def run(self) -> CommitReport:
        """Store the commits of HEAD that are new; end those that no branch leads to any more, revive those back.

        Files should be indexed before: a commit is joined to the symbols as they are now.
        """
        if self._project.common_dir is None:
            return CommitReport()
        try:
            known = self._store.files.commits(self._scope_key)
            commits = self._new_commits(known)
            lost = self._git.unreachable(known)
            back = self._git.existing(sha for sha, commit in known.items() if commit.ended and sha not in lost)
            branch = _branch(self._project.root)
        except (GitError, BrokenRepositoryError) as error:
            return CommitReport(problem=str(error))
        added = self._add_all(commits, branch)
        ended = [commit.node_id for sha, commit in known.items() if sha in lost and not commit.ended]
        revived = [known[sha].node_id for sha in back]
        self._mark(ended, self._clock())
        self._mark(revived, None)
        return CommitReport(added=added, ended=len(ended), revived=len(revived))

    def _new_commits(self, known: Iterable[str]) -> list[Commit]:
        shas = list(known)
        try:
            return list(self._git.log(shas, limit=self._limit, cancelled=self._cancelled))
        except GitError:
            # Contents of files may be missing (a partial clone); messages and names are worth having all the same.
            return list(self._git.log(shas, limit=self._limit, patches=False, cancelled=self._cancelled))

    def _add_all(self, commits: Sequence[Commit], branch: str | None) -> int:
        effects = _Effects(self._store, self._project, self._scope_key).of(commits) if commits else {}
        waiting, added = deque(commits), 0
        while waiting and not self._cancelled():
            with self._turns.turn() as deadline:
                while waiting and time.perf_counter() < deadline:
                    commit = waiting.popleft()
                    if not self._store.files.has_commit(self._scope_key, commit.sha):
                        self._add(commit, branch, effects[commit.sha])
                        added += 1
        return added

    def _add(self, commit: Commit, branch: str | None, touched: Touched) -> None:
        now = self._clock()
        date = min(max(commit.date_ms, 0), now)  # Anyone may write any date into a commit.
        text = prepare(commit_text(commit))
        metadata = {
            "sha": commit.sha,
            "author": prepare(commit.author).text,
            "branch": safe_name(branch) if branch else None,
            "flags": text.flags,
        }
        node = self._store.nodes.create_node(
            NewNode(
                type=NodeType.DECISION,
                subtype="commit",
                title="commit",
                content=text.text if text.text.strip() else f"Commit {commit.sha[:SHORT_SHA]}",
                tier=Tier.LONGTERM,
                confidence=1.0,
                decay_rate=0.0,
                provenance=f"git {commit.sha[:SHORT_SHA]}",
                origin=Origin.COMMIT,
                scope=self._project.id,
                event_time=date,
                valid_from=date,
                extra_terms=f"{commit.sha} {commit.sha[:SHORT_SHA]} {commit.sha[:7]} {metadata['author']}",
                metadata={name: value for name, value in metadata.items() if value},
            ),
            now=now,
            place=commit.sha,
        )
        self._store.files.put_commit(self._scope_key, commit.sha, node.key)
        message = text.text.partition(CHANGED)[0]
        author = prepare(commit.author).text or None
        annotate(self._store, node, now=now, linker=self._linker, text=message, author=author)
        if touched.nodes:
            self._store.edges.link(
                "changed",
                node.key,
                touched.nodes,
                now=now,
                confidence=1.0 if touched.exact else NAME_CONFIDENCE,
                automatic=True,
                evidence=f"git {commit.sha[:SHORT_SHA]}",
            )

    def _mark(self, node_ids: Sequence[str], ended_at: int | None) -> None:
        """End commits that no branch leads to any more, or take that back."""
        waiting = deque(node_ids)
        while waiting:
            with self._turns.turn() as deadline:
                while waiting and time.perf_counter() < deadline:
                    self._mark_one(waiting.popleft(), ended_at)

    def _mark_one(self, node_id: str, ended_at: int | None) -> None:
        node = self._store.nodes.get_node(node_id)
        if node is None or (ended_at is None and "unreachable" not in node.metadata):
            return
        metadata = {name: value for name, value in node.metadata.items() if name != "unreachable"}
        if ended_at is not None:
            metadata["unreachable"] = True
        self._store.nodes.update_node(node_id, now=self._clock(), valid_until=ended_at, metadata=metadata)


def commit_text(commit: Commit) -> str:
    """Return what is remembered of a commit: its message and the names of its files."""
    body = commit.body if len(commit.body) <= MAX_BODY_CHARS else commit.body[:MAX_BODY_CHARS] + "…"
    paths = [file.path for file in commit.files]
    named = ", ".join(paths[:MAX_NAMED_FILES])
    more = "+" if commit.truncated else ""
    rest = f" and {len(paths) - MAX_NAMED_FILES}{more} more" if len(paths) > MAX_NAMED_FILES else ""
    return "\n\n".join(part for part in (commit.subject, body, f"Changed: {named}{rest}" if paths else "") if part)


class _Effects:
    """Finds the snippets of the symbols that commits changed, as they are now."""

    def __init__(self, store: Store, project: Project, scope_key: int) -> None:
        self._store = store
        self._root = project.root
        self._scope_key = scope_key
        self._files = store.files.all(scope_key)
        self._cut_off = _shallow_commits(project.common_dir)
        self._blobs: dict[tuple[str, int], str | None] = {}
        self._symbols: dict[str, dict[str, list[NodeKey]]] = {}

    def of(self, commits: Sequence[Commit]) -> dict[str, Touched]:
        """Return what each commit touched, found from the newest back, so that renames on the way are followed."""
        present: dict[str, str] = {}
        found: dict[str, Touched] = {}
        for commit in reversed(commits):
            found[commit.sha] = self._of_commit(commit, present)
            for file in commit.files:
                if file.old_path is not None:
                    present[file.old_path] = present.get(file.path, file.path)
        return found

    def _of_commit(self, commit: Commit, present: Mapping[str, str]) -> Touched:
        # A shallow clone shows its oldest commit as if it had added every file.
        if commit.truncated or commit.sha in self._cut_off:
            return Touched()
        nodes: dict[NodeKey, None] = {}
        exact = True
        for file in commit.files:
            path = present.get(file.path, file.path)
            if path in self._files and len(nodes) < MAX_EFFECTS:
                same = file.blob == self._blob(path, len(file.blob))
                touched = self._at_hunks(path, file.hunks) if same else self._named(path, file.names)
                exact = exact and (same or not touched)
                nodes.update(dict.fromkeys(touched))
        return Touched(tuple(nodes)[:MAX_EFFECTS], exact)

    def _at_hunks(self, path: str, hunks: Sequence[tuple[int, int]]) -> list[NodeKey]:
        return [
            node
            for start, length in hunks
            for node in self._store.files.nodes_at_lines(self._scope_key, path, start, start + max(length, 1) - 1)
        ]

    def _named(self, path: str, names: Sequence[str]) -> list[NodeKey]:
        """Return the snippets of those names that only one symbol of the file bears."""
        if path not in self._symbols:
            by_name: dict[str, dict[str, list[NodeKey]]] = {}
            key = self._files[path].key
            for chunk in self._store.files.chunks([key]).get(key, ()):
                if chunk.symbol:
                    symbols = by_name.setdefault(chunk.symbol.rpartition(".")[2], {})
                    symbols.setdefault(chunk.symbol, []).append(chunk.node_key)
            self._symbols[path] = {
                name: next(iter(symbols.values())) for name, symbols in by_name.items() if len(symbols) == 1
            }
        return [node for name in names for node in self._symbols[path].get(name, ())]

    def _blob(self, path: str, digits: int) -> str | None:
        """Return Git's id of a file's indexed content, None if the file on disk is another by now."""
        if (path, digits) not in self._blobs:
            try:
                data = read_raw(self._root / path).data
            except OSError:
                data = b""
            same = hash_of(data) == self._files[path].content_hash
            self._blobs[path, digits] = blob_id(data, digits) if same else None
        return self._blobs[path, digits]


def blob_id(data: bytes, digits: int = 40) -> str:
    """Return the id that Git gives a content: SHA-1, or SHA-256 in repositories whose ids have 64 digits."""
    digest = hashlib.sha256 if digits == 64 else hashlib.sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _branch(root: Path) -> str | None:
    repository = open_repository(root)
    return read_head(repository).branch if repository else None


def _shallow_commits(common_dir: Path | None) -> frozenset[str]:
    try:
        return frozenset((common_dir / "shallow").read_text().split()) if common_dir else frozenset()
    except OSError:
        return frozenset()
