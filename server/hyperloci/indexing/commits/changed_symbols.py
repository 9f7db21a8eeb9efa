"""Changed symbols: the present symbols that commits changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.indexing.file_reader import hash_bytes, read_file
from hyperloci.model.kinds import NodeKey
from hyperloci.project.git_log import Commit
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.system.values import dataclass

MAX_EFFECTS: Final = 50
"""Symbols joined to one commit; one that changed more is about the whole tree, not about any of them."""


MAX_NAMESAKES: Final = 3
"""Symbols of a file with one name of which a commit may have changed any: `send` of a client and of its asynchronous
twin; `__init__` of ten classes says nothing."""


@dataclass(frozen=True, slots=True)
class TouchedNodes:
    """The snippets that a commit changed; `exact` if they were found by lines, not by names.

    `namesakes` are those of which only the name is known, which another symbol of the file has too.
    """

    nodes: tuple[NodeKey, ...] = ()
    exact: bool = True
    namesakes: tuple[NodeKey, ...] = ()


class CommitEffects:
    """Finds the snippets of the symbols that commits changed, as they are now."""

    def __init__(self, store: Store, project: Project, scope_key: int) -> None:
        self._store = store
        self._root = project.root
        self._scope_key = scope_key
        self._files = store.files.list_files(scope_key)
        self._blobs: dict[tuple[str, int], tuple[str, ...]] = {}
        self._symbols: dict[str, dict[str, list[list[NodeKey]]]] = {}
        self._present: dict[str, str] = {}
        self._noted: dict[str, str] = {}
        self._resumed = False

    def find_touched(self, commits: Sequence[Commit]) -> dict[str, TouchedNodes]:
        """Return what each commit touched; they come from the newest back, so that renames on the way are followed."""
        found: dict[str, TouchedNodes] = {}
        for commit in commits:
            found[commit.sha] = self._touched_by_commit(commit, self._present)
            for file in commit.files:
                if file.old_path is not None:
                    self._present[file.old_path] = self._present.get(file.path, file.path)
        return found

    def load_renames(self) -> None:
        """Take over the renames that an earlier run met on its way to here."""
        if not self._resumed:
            self._resumed = True
            before = self._store.history.get_renames(self._scope_key)
            self._present |= {old: self._present.get(new, new) for old, new in before.items()}
            self._noted |= before

    def new_renames(self) -> dict[str, str]:
        """Return the renames that were met since this was last asked."""
        new = {old: path for old, path in self._present.items() if self._noted.get(old) != path}
        self._noted |= new
        return new

    def _touched_by_commit(self, commit: Commit, present: Mapping[str, str]) -> TouchedNodes:
        if commit.truncated:
            return TouchedNodes()
        nodes: dict[NodeKey, None] = {}
        namesakes: dict[NodeKey, None] = {}
        exact = True
        for file in commit.files:
            path = present.get(file.path, file.path)
            if path in self._files and len(nodes) < MAX_EFFECTS:
                same = file.blob in self._blobs_of_file(path, len(file.blob))
                touched = self._nodes_at_hunks(path, file.hunks) if same else self._nodes_named(path, file.names)
                exact = exact and (same or not touched)
                nodes.update(dict.fromkeys(touched))
                namesakes.update({} if same else dict.fromkeys(self._namesakes_of(path, file.names)))
        return TouchedNodes(tuple(nodes)[:MAX_EFFECTS], exact, tuple(namesakes)[:MAX_EFFECTS])

    def _nodes_at_hunks(self, path: str, hunks: Sequence[tuple[int, int]]) -> list[NodeKey]:
        return [
            node
            for start, length in hunks
            for node in self._store.files.find_nodes_at_lines(self._scope_key, path, start, start + max(length, 1) - 1)
        ]

    def _nodes_named(self, path: str, names: Sequence[str]) -> list[NodeKey]:
        """Return the snippets of those names that only one symbol of the file has."""
        return [node for name in names for nodes in self._bearers_of(path, name, 1, 1) for node in nodes]

    def _namesakes_of(self, path: str, names: Sequence[str]) -> list[NodeKey]:
        """Return the first snippets of those names that a few symbols of the file share."""
        return [nodes[0] for name in names for nodes in self._bearers_of(path, name, 2, MAX_NAMESAKES)]

    def _bearers_of(self, path: str, name: str, least: int, most: int) -> list[list[NodeKey]]:
        """Return the snippets of each symbol of a file with a name, where so many have it."""
        if path not in self._symbols:
            by_name: dict[str, dict[str, list[NodeKey]]] = {}
            key = self._files[path].key
            for chunk in self._store.files.list_chunks([key]).get(key, ()):
                if chunk.symbol:
                    symbols = by_name.setdefault(chunk.symbol.rpartition(".")[2], {})
                    symbols.setdefault(chunk.symbol, []).append(chunk.node_key)
            self._symbols[path] = {name: list(symbols.values()) for name, symbols in by_name.items()}
        found = self._symbols[path].get(name, [])
        return found if least <= len(found) <= most else []

    def _blobs_of_file(self, path: str, digits: int) -> tuple[str, ...]:
        """Return the ids that Git may have for a file's indexed content, none if the file on disk is another by now."""
        if (path, digits) not in self._blobs:
            try:
                data = read_file(self._root / path).data
            except OSError:
                data = b""
            same = hash_bytes(data) == self._files[path].content_hash
            self._blobs[path, digits] = possible_blobs(data, digits) if same else ()
        return self._blobs[path, digits]


def possible_blobs(data: bytes, digits: int = 40) -> tuple[str, ...]:
    """Return the ids that Git may have for the content of a file on disk.

    Where `core.autocrlf` or an attribute has Git write Windows line ends, which it does by default on Windows, what is
    committed has none.
    """
    plain = data.replace(b"\r\n", b"\n")
    return (blob_id(data, digits), *([blob_id(plain, digits)] if len(plain) < len(data) else ()))


def blob_id(data: bytes, digits: int = 40) -> str:
    """Return the id that Git gives a content: SHA-1, or SHA-256 in repositories whose ids have 64 digits."""
    digest = hashlib.sha256 if digits == 64 else hashlib.sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
