"""Code relations: imports, calls, inheritance, overriding, and what a test tests (D.03).

A name is resolved as its language does it - the scopes around it, then the file's imports, followed through
re-exports - and only to a symbol that this project defines. A method is resolved where the receiver's class is plain
(`self`, a class by name, a parameter with a type), or by a name of several words that one method alone has. A name
that is assigned or a parameter in the same snippet, and one that could mean two things, means nothing here: a wrong
edge costs more than a missing one.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from hyperloci.knowledge.relations.file_view import CLASS_LIKE, FileView, Place, read_imported_names, read_whole_modules
from hyperloci.knowledge.relations.import_resolution import CLASS_FILES, SCRIPT, ModuleIndex
from hyperloci.knowledge.relations.local_names import is_bound, is_called_bare, read_made_types, read_parameter_types
from hyperloci.knowledge.relations.only_methods import ONLY, NamedSymbols, find_only_methods, split_words
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.store.projects.set_aside import note_failure_of
from hyperloci.system.values import dataclass

LABELS: Final = ("imports", "calls", "inherits", "overrides", "tests")
"""The labels of edges from code."""

MAX_OUT: Final = 50
"""Edges of one snippet at most, in the order of the text: D.02 keeps no more."""

MAX_HOPS: Final = 5
"""Base classes followed one after another; longer chains are cycles."""

MAX_PLACES: Final = 500
"""Files in which one name is looked for at most, where one file hands on what others have."""

SAME_FILE: Final = 0.95
IMPORTED: Final = 0.95
MODULE: Final = 0.9
OWN_METHOD: Final = 0.9
"""A subclass may override what `self.method()` means."""
INHERITED: Final = 0.85
TYPED: Final = 0.85
"""A parameter's type says what it is; what is passed may be a subclass."""
NAMED_AFTER: Final = 0.9

_SELF: Final = frozenset({"self", "cls", "this", "Self", "$this", "static"})
_SUPER: Final = {"php": "parent", "c_sharp": "base"}
"""What a method calls what it has from above by, where that is not `super`."""

_OPEN_SCOPE: Final = frozenset({"python", *SCRIPT, "go", "lua", "php", "rust"})
"""Languages in which a method's bare call does not mean another method of its class."""

_BUILTIN: Final = frozenset(dir(builtins))

_SEPARATOR: Final = re.compile(r"\.#?|::?|->")
_TEST_STEM: Final = re.compile(r"^(?:test|tests|spec)[_-]?|[._-]?(?:tests?|specs?)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RelationTarget:
    """A snippet that a name was found to mean."""

    path: str
    symbol: str
    key: NodeKey


class CodeContext(NamedSymbols, Protocol):
    """What the rules need to know about the project."""

    @property
    def modules(self) -> ModuleIndex:
        """The project's files."""
        ...

    def view(self, path: str) -> FileView | None:
        """Return what is known of a file, None if it is not indexed."""
        ...

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests."""
        ...


class CodeRules:
    """The rules, over one file of a project."""

    def __init__(self, world: CodeContext, view: FileView, rows: Sequence[LinkableSnippet]) -> None:
        self._world = world
        self._view = view
        self._is_test = world.is_test(view.path)
        # Names that a function imports for itself hold in all its pieces.
        self.failed: dict[NodeKey, str] = {}
        """Snippets with a relation that could not be found, and why."""
        self._climbed: list[tuple[str, str, str]] = []
        """The methods of bases that are being looked for, each on behalf of the one before it."""
        self._own: dict[str, dict[str, Place]] = {}
        self._own_modules: dict[str, dict[str, str]] = {}
        for row in rows:
            if row.symbol is not None and row.facts.get("imports"):
                self._own.setdefault(row.symbol, {}).update(read_imported_names(view.path, row, world.modules))
                self._own_modules.setdefault(row.symbol, {}).update(read_whole_modules(row))
        imported = {part for row in rows for said in row.facts.get("imports", ()) for part in _SEPARATOR.split(said)}
        self._from_elsewhere = imported - view.names.keys()

    def links(self, row: LinkableSnippet) -> list[WantedRelation]:
        """Return the relations that one snippet states, each once, in the order of the text."""
        found: dict[tuple[str, NodeKey], WantedRelation] = {}
        for rule in (self._find_imports, self._find_bases, self._find_overridden, self._find_calls):
            with note_failure_of(self.failed, row.key):
                for link in rule(row):
                    known = found.get((link.label, link.target))
                    if link.target != row.key and (known is None or known.confidence < link.confidence):
                        found[(link.label, link.target)] = link
        return list(found.values())[:MAX_OUT]

    # -- rules -------------------------------------------------------------------------------------------------------

    def _find_imports(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        for said in row.facts.get("imports", ()):
            for target in self._resolve_import(row, said):
                of_module = not target.symbol
                words = f"imports `{said}`"
                yield WantedRelation("imports", target.key, MODULE if of_module else IMPORTED, words)
                if self._is_test and row.key == self._view.head and self._is_test_of(target.path):
                    head = self._world.view(target.path)
                    if head is not None and head.head is not None:
                        yield WantedRelation(
                            "tests", head.head, NAMED_AFTER, f"is named after {target.path} and imports it"
                        )

    def _resolve_import(self, row: LinkableSnippet, said: str) -> Iterator[RelationTarget]:
        place = self._locate_import(row, said)
        if place is None:
            return
        target = self._find_at_place(place)
        if target is not None:
            yield target
            return
        # A constant, or a name made at run time: the file itself is what is imported.
        view = self._world.view(place[0])
        if view is not None and view.head is not None and len(place[1]) <= 1:
            yield RelationTarget(view.path, "", view.head)

    def _locate_import(self, row: LinkableSnippet, said: str) -> Place | None:
        if row.language == "python":
            return self._world.modules.resolve_python(self._view.path, said)
        if row.language in SCRIPT:
            file = self._world.modules.resolve_script(self._view.path, said)
            return None if file is None else (file, ())
        if row.language in CLASS_FILES:
            name = said.rsplit(".", 1)[-1]
            return self._view.names.get(name)
        return None

    def _find_bases(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        for said in row.facts.get("bases", ()):
            target = self._resolve_name(self._view, row.symbol or "", said.split("."))
            if target is not None and self._kind_of_target(target) in CLASS_LIKE:
                sure = SAME_FILE if target.path == self._view.path else IMPORTED
                yield WantedRelation("inherits", target.key, sure, f"extends `{said}`")

    def _find_overridden(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        if row.facts.get("kind") != "method" or row.symbol is None or not row.facts.get("signature"):
            return
        owner, _, name = row.symbol.rpartition(".")
        if not owner or (name.startswith("__") and name.endswith("__")) or name == "constructor":
            return
        target = self._find_inherited_method(self._view, owner, name)
        if target is not None:
            yield WantedRelation("overrides", target.key, OWN_METHOD, f"overrides `{target.symbol}`")

    def _find_calls(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        calls = row.facts.get("calls", ())
        only = find_only_methods(self._world, [_SEPARATOR.split(said)[-1] for said in calls])
        for said in calls:
            found = self._resolve_call(row, said) or self._find_only_method(row, said, only)
            if found is None:
                continue
            target, sure = found
            if self._is_test and not self._world.is_test(target.path) and self._find_tested(row, target):
                yield WantedRelation("tests", target.key, min(sure, NAMED_AFTER), f"a test that calls `{said}`")
            else:
                yield WantedRelation("calls", target.key, sure, f"calls `{said}`")

    def _find_tested(self, row: LinkableSnippet, target: RelationTarget) -> bool:
        """Say whether a test is of what it calls: its file is named after that one's, or it after the symbol."""
        wanted = split_words(target.symbol.rpartition(".")[2])
        return self._is_test_of(target.path) or bool(wanted and wanted <= split_words(row.function_name or ""))

    def _is_test_of(self, path: str) -> bool:
        stem = _TEST_STEM.sub("", _file_stem(self._view.path))
        return bool(stem) and _file_stem(path) == stem and not self._world.is_test(path)

    # -- names -------------------------------------------------------------------------------------------------------

    def _resolve_call(self, row: LinkableSnippet, said: str) -> tuple[RelationTarget, float] | None:
        *receivers, name = _SEPARATOR.split(said)
        parts = [*(receiver.rstrip("?!") for receiver in receivers), name]
        if not all(parts):
            return None
        if parts[0] in _SELF:
            return self._find_own_method(row, name) if len(parts) == 2 else None
        if parts[0] == _SUPER.get(row.language or "", "super") and len(parts) == 2:
            return self._find_method_above(row, name)
        target = self._resolve_name(self._view, row.symbol or "", parts, row)
        if target is not None:
            if is_bound(row, parts[0]):
                return None
            if len(parts) == 1 and not is_called_bare(row.content, said):
                return None
            return target, SAME_FILE if target.path == self._view.path else IMPORTED
        if len(parts) == 1 and row.language not in _OPEN_SCOPE and is_called_bare(row.content, said):
            return None if is_bound(row, said) else self._find_method_above(row, said)
        return self._find_typed_method(row, parts) if len(parts) == 2 else None

    def _find_own_method(self, row: LinkableSnippet, name: str) -> tuple[RelationTarget, float] | None:
        owner = self._enclosing_class(self._view, row.symbol or "")
        if owner is None:
            return None
        own = self._find_symbol(self._view, f"{owner}.{name}")
        return (own, OWN_METHOD) if own is not None else self._find_method_above(row, name)

    def _find_method_above(self, row: LinkableSnippet, name: str) -> tuple[RelationTarget, float] | None:
        owner = self._enclosing_class(self._view, row.symbol or "")
        inherited = None if owner is None else self._find_inherited_method(self._view, owner, name)
        return None if inherited is None else (inherited, INHERITED)

    def _find_only_method(
        self, row: LinkableSnippet, said: str, only: Mapping[str, tuple[str, str]]
    ) -> tuple[RelationTarget, float] | None:
        """Resolve `editor.edit_files`, of whose receiver nothing is known, where one method alone has that name."""
        parts = _SEPARATOR.split(said)
        # Of `get().run_it()` only the last name is known.
        on_something = parts[0] not in self._from_elsewhere if len(parts) > 1 else not is_called_bare(row.content, said)
        place = only.get(parts[-1]) if on_something else None
        view = None if place is None else self._world.view(place[0])
        if place is None or view is None or view.language != row.language:
            return None
        owner = place[1].rpartition(".")[0]
        target = self._find_symbol(view, place[1]) if view.kinds.get(owner) in CLASS_LIKE else None
        return None if target is None else (target, ONLY)

    def _find_typed_method(self, row: LinkableSnippet, parts: Sequence[str]) -> tuple[RelationTarget, float] | None:
        """Resolve `memory.search` where the signature says `memory: Memory`, or the snippet `memory = Memory()`."""
        types = read_parameter_types(str(row.facts.get("signature", "")), row.language)
        name = parts[0].lstrip("$")
        said = (types.get(name) or read_made_types(row.content).get(name, "")).split(".")
        owner = self._resolve_name(self._view, row.symbol or "", said, row) if said[0] else None
        if owner is None or self._kind_of_target(owner) not in CLASS_LIKE:
            return None
        view = self._world.view(owner.path)
        method = None if view is None else self._find_symbol(view, f"{owner.symbol}.{parts[1]}")
        if method is None and view is not None:
            method = self._find_inherited_method(view, owner.symbol, parts[1])
        return None if method is None else (method, TYPED)

    def _resolve_name(
        self, view: FileView, scope: str, parts: Sequence[str], row: LinkableSnippet | None = None
    ) -> RelationTarget | None:
        """Return what a dotted name means in a scope of a file."""
        dotted = ".".join(parts)
        for around in _enclosing_scopes(scope):
            if around and around != scope and view.language in _OPEN_SCOPE and view.kinds.get(around) in CLASS_LIKE:
                continue
            found = self._find_symbol(view, f"{around}.{dotted}" if around else dotted)
            if found is not None:
                return found
            if around == "" and view.kinds.get(parts[0]) in CLASS_LIKE and len(parts) == 2:
                return self._find_inherited_method(view, parts[0], parts[1])
        place = self._find_imported_name(view, scope, parts)
        if place is not None:
            return self._find_at_place(place) or self._find_in_package(place)
        if view.language == "python":
            return self._find_starred(view, parts)
        return self._find_sibling(view, dotted) if view.language == "go" and len(parts) == 1 else None

    def _find_starred(self, view: FileView, parts: Sequence[str]) -> RelationTarget | None:
        """Return what a name means that `import *` brings; nothing where it may mean something else too."""
        elsewhere = view.bound | self._from_elsewhere if view is self._view else view.bound
        if parts[0].startswith("_") or parts[0] in _BUILTIN or parts[0] in elsewhere:
            return None
        places = ((file, tuple(parts)) for file in view.stars)
        found = {target for place in places if (target := self._find_at_place(place)) is not None}
        return found.pop() if len(found) == 1 else None

    def _find_imported_name(self, view: FileView, scope: str, parts: Sequence[str]) -> Place | None:
        """Return the place that a file's imports say a name is at."""
        own = self._own if view is self._view else {}
        own_modules = self._own_modules if view is self._view else {}
        for around in (*_enclosing_scopes(scope), ""):
            names = own.get(around, {}) if around else view.names
            if parts[0] in names:
                path, inner = names[parts[0]]
                return path, (*inner, *parts[1:])
            whole = own_modules.get(around, {}) if around else view.modules
            if parts[0] in whole and len(parts) > 1:
                return self._world.modules.resolve_python(view.path, ".".join((whole[parts[0]], *parts[1:])))
        return None

    def _find_at_place(self, place: Place) -> RelationTarget | None:
        """Return the snippet at a place, following what its file imports from elsewhere."""
        places, seen = [place], {place}
        for path, parts in places:
            view = self._world.view(path)
            if view is None:
                continue
            if not parts:
                return None if view.head is None else RelationTarget(path, "", view.head)
            found = self._find_symbol(view, ".".join(parts))
            if found is not None:
                return found
            if len(parts) == 2 and view.kinds.get(parts[0]) in CLASS_LIKE:
                return self._find_inherited_method(view, parts[0], parts[1])
            if parts[0] in view.names:
                further, inner = view.names[parts[0]]
                onward = [(further, (*inner, *parts[1:]))]
            else:
                onward = [(other, parts) for other in view.stars if parts[0] not in view.bound]
            unseen = [one for one in onward if one not in seen][: MAX_PLACES - len(seen)]
            places += unseen
            seen |= {*unseen}
        return None

    def _find_in_package(self, place: Place) -> RelationTarget | None:
        """Look in a Go package's other files too."""
        path, parts = place
        files = self._world.modules.find_go_siblings(path) if path.endswith(".go") else ()
        return self._find_unique(files, ".".join(parts)) if parts else None

    def _find_sibling(self, view: FileView, symbol: str) -> RelationTarget | None:
        return self._find_unique(self._world.modules.find_go_siblings(view.path), symbol)

    def _find_unique(self, files: Sequence[str], symbol: str) -> RelationTarget | None:
        views = (self._world.view(path) for path in files)
        found = [target for view in views if view is not None and (target := self._find_symbol(view, symbol))]
        return found[0] if len(found) == 1 else None

    def _find_symbol(self, view: FileView, symbol: str) -> RelationTarget | None:
        key = view.symbols.get(symbol)
        return None if key is None else RelationTarget(view.path, symbol, key)

    def _kind_of_target(self, target: RelationTarget) -> str:
        view = self._world.view(target.path)
        return view.kinds.get(target.symbol, "") if view is not None else ""

    def _enclosing_class(self, view: FileView, symbol: str) -> str | None:
        around = next((around for around in _enclosing_scopes(symbol) if view.kinds.get(around) in CLASS_LIKE), None)
        # The class of a method that is written outside of it may stand in another file, or be a table.
        return around or (symbol.rpartition(".")[0] if view.kinds.get(symbol) == "method" else "") or None

    def _find_inherited_method(self, view: FileView, owner: str, name: str) -> RelationTarget | None:
        """Return the method that a class has from the nearest of its bases in this project."""
        sought = (view.path, owner, name)
        if len(self._climbed) > MAX_HOPS or sought in self._climbed:
            return None
        # To find what a base is called may mean to look for what another class inherits.
        self._climbed.append(sought)
        try:
            return self._climb_to_method(view, owner, name)
        finally:
            self._climbed.pop()

    def _climb_to_method(self, view: FileView, owner: str, name: str) -> RelationTarget | None:
        for said in view.bases.get(owner, ()):
            base = self._resolve_name(view, owner.rpartition(".")[0], said.split("."))
            above = None if base is None else self._world.view(base.path)
            if base is None or above is None or (base.path, base.symbol) == (view.path, owner):
                continue
            found = self._find_symbol(above, f"{base.symbol}.{name}")
            found = found or self._find_inherited_method(above, base.symbol, name)
            if found is not None:
                return found
        return None


def _enclosing_scopes(symbol: str) -> Iterator[str]:
    """Yield a symbol and what it stands in, innermost first, the file (empty) last."""
    while symbol:
        yield symbol
        symbol = symbol.rpartition(".")[0]
    yield ""


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
