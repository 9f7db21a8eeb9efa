"""Relation linker: reads each file once, applies the relation rules, and replaces the edges of its snippets (D.03)."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.relations import code_relations, prose_relations
from hyperloci.knowledge.relations.code_relations import CodeRules
from hyperloci.knowledge.relations.file_view import FileView, build_file_view
from hyperloci.knowledge.relations.import_resolution import ModuleIndex
from hyperloci.knowledge.relations.name_resolution import RelationTarget
from hyperloci.knowledge.relations.prose_relations import ProseRules
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.store.projects.set_aside import note_failure_of

LABELS: Final = (*code_relations.LABELS, *prose_relations.LABELS)
"""The labels of the edges that this module keeps; snippets' automatic edges of other labels are left alone."""

CACHED_FILES: Final = 2_000
"""Files whose symbols are kept in memory at once: about 5 KB each."""

CACHED_TEXTS: Final = 64
"""Files whose snippets are kept, texts and all: some 50 KB each. What imports each other mostly lies together."""

_CRATE_NAME: Final = re.compile(r"^\[(?:package|lib)\][^\[]{0,2000}?^name[ \t]*=[ \t]*[\"']([\w-]+)", re.MULTILINE)
_ISSUE_IN_COMMIT: Final = re.compile(r"(?<![\w&/])(?:#|GH-)(\d{1,6})\b")


class RelationLinker:
    """Finds relations in one project. It caches what it read: create a new one after writes.

    Args:
        store: the open store.
        scope_key: the project's scope.
        is_test: whether a path is a test file's.
    """

    def __init__(self, store: Store, scope_key: int, is_test: Callable[[str], bool]) -> None:
        self._store = store
        self._scope_key = scope_key
        self.is_test = functools.lru_cache(maxsize=None)(is_test)
        self._views: dict[str, FileView | None] = {}
        self._rows: dict[str, Sequence[LinkableSnippet]] = {}
        self._named: dict[str, list[tuple[str, str]]] = {}
        self._files: dict[str, list[str]] = {}
        """The files of each symbol whose last part was looked up."""
        self.declared: dict[tuple[str, str | None], list[RelationTarget]] = {}
        """What full names were found to mean to code of a language."""
        self.failed: dict[NodeKey, str] = {}
        """Snippets with a relation that could not be found, and why."""

    @functools.cached_property
    def modules(self) -> ModuleIndex:
        """The project's files."""
        paths = self._store.relation_queue.list_paths(self._scope_key)
        manifests = [path for path in paths if posixpath.basename(path) == "Cargo.toml"]
        return ModuleIndex(paths, lambda: self._read_crates(manifests))

    def _read_crates(self, manifests: Sequence[str]) -> dict[str, str]:
        """Return the folders of Rust crates by the names that code calls them by."""
        folders: dict[str, str] = {}
        for path, text in self._store.relation_queue.list_texts(self._scope_key, manifests):
            if match := _CRATE_NAME.search(text):
                folders.setdefault(posixpath.dirname(path), match[1].replace("-", "_"))
        return {name: folder for folder, name in folders.items()}

    def view(self, path: str) -> FileView | None:
        """Return what is known of a file, None if it has no snippets."""
        if path not in self._views:
            if len(self._views) >= CACHED_FILES:
                self._views.clear()
            rows = self.rows(path) if path in self.modules else ()
            self._views[path] = None
            if rows:
                with note_failure_of(self.failed, rows[0].key):
                    self._views[path] = build_file_view(path, rows, self.modules)
        return self._views[path]

    def rows(self, path: str) -> Sequence[LinkableSnippet]:
        """Return a file's snippets; those of the last ones asked for are at hand."""
        found = self._rows.get(path)
        if found is None:
            if len(self._rows) >= CACHED_TEXTS:
                del self._rows[next(iter(self._rows))]
            found = self._rows[path] = self._store.relation_queue.list_snippets(self._scope_key, path)
        return found

    def symbols_named(self, names: Sequence[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the (path, symbol) of the project's symbols that are, or end in, each of these names."""
        # Each name is looked up once: thousands of files may name what has thousands of namesakes.
        if unknown := {name for name in names if name not in self._named}:
            self._named.update((name, []) for name in unknown)
            for path, symbol in self._store.positions.symbols_named(self._scope_key, unknown):
                last = symbol.rpartition(".")[2]
                for tail in {symbol, last} & unknown:
                    self._named[tail].append((path, symbol))
                if last in unknown:
                    self._files.setdefault(symbol, []).append(path)
        return {name: places for name in names if (places := self._named[name])}

    def files_with(self, symbol: str) -> Sequence[str]:
        """Return the files that have a symbol of exactly this name."""
        self.symbols_named([symbol.rpartition(".")[2]])
        return self._files.get(symbol, ())

    def commits_like(self, prefix: str) -> Sequence[NodeKey]:
        """Return at most two commits of the project whose hash begins so."""
        return self._store.relation_queue.find_commits(self._scope_key, prefix)

    def commits_of_issue(self, number: str) -> Sequence[NodeKey]:
        """Return the commits of the project whose message names an issue."""
        return self._commits_by_issue.get(number, ())

    @functools.cached_property
    def _commits_by_issue(self) -> dict[str, list[NodeKey]]:
        found: dict[str, list[NodeKey]] = {}
        for key, message in self._store.relation_queue.list_commit_messages(self._scope_key):
            for number in dict.fromkeys(_ISSUE_IN_COMMIT.findall(message)):
                found.setdefault(number, []).append(key)
        return found

    def find_relations(self, path: str, keys: Iterable[NodeKey]) -> dict[NodeKey, Sequence[WantedRelation]]:
        """Return the relations that some snippets of a file state; those that are gone state none.

        A snippet that fails does not affect the others: `failed` says which, and why.
        """
        rows = list(self.rows(path))
        wanted: dict[NodeKey, Sequence[WantedRelation]] = dict.fromkeys(keys, ())
        chosen = [row for row in rows if row.key in wanted]
        view = self.view(path)
        if view is None:
            return wanted
        code = [row for row in chosen if row.kind == "code"]
        if code:
            with note_failure_of(self.failed, code[0].key):
                rules = CodeRules(self, view, rows)
                wanted.update((row.key, rules.links(row)) for row in code)
                self.failed |= rules.failed
        prose = [row for row in chosen if row.kind != "code"]
        if prose:
            with note_failure_of(self.failed, prose[0].key):
                documents = ProseRules(self, path, rows)
                wanted.update((row.key, documents.links(row)) for row in prose)
                self.failed |= documents.failed
        return wanted

    def replace_edges(self, path: str, keys: Iterable[NodeKey], *, now: int) -> tuple[int, int]:
        """Replace the edges of some snippets of a file, inside the caller's transaction; return (added, removed).

        The snippets stay in the queue: `indexing.link_queue` takes them out once all files of a run are written.
        """
        return self._store.relation_queue.replace_relations_of_all(self.find_relations(path, keys), LABELS, now=now)
