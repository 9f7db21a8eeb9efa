"""Code relations: imports, calls, inheritance, overriding, and what a test tests (D.03).

What a name means, `name_resolution` says. A method is resolved where the receiver's class is plain (`self`, a class by
name, a parameter with a type), or by a name of several words that one method alone has. A name that is assigned or a
parameter in the same snippet means nothing here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.relations.file_view import CLASS_LIKE, FileView, Place, read_rust_use
from hyperloci.knowledge.relations.import_resolution import SCRIPT, is_below
from hyperloci.knowledge.relations.local_names import (
    TYPE_FIRST,
    is_bound,
    is_called_bare,
    is_made,
    read_declared_types,
    read_made_types,
    read_parameter_types,
)
from hyperloci.knowledge.relations.name_resolution import (
    OPEN_SCOPE,
    SEPARATOR,
    CodeContext,
    NameResolver,
    RelationTarget,
)
from hyperloci.knowledge.relations.only_methods import (
    ONLY,
    SymbolPlace,
    find_only_methods,
    has_several_words,
    split_words,
)
from hyperloci.knowledge.relations.packages import C_FAMILY, NEEDS_NEW, PACKAGED
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.store.projects.set_aside import note_failure_of

LABELS: Final = ("imports", "calls", "inherits", "overrides", "tests")
"""The labels of edges from code."""

MAX_OUT: Final = 50
"""Edges of one snippet at most, in the order of the text: D.02 keeps no more."""

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
_SUPER: Final = {"php": "parent", "c_sharp": "base", "rust": ""}
"""What a method calls what it has from above by, where that is not `super`."""

TEMPLATES: Final = frozenset({"astro", "svelte", "vue"})
"""Languages of files in which what is no script calls by names alone."""

_NEVER_OVERRIDDEN: Final = frozenset({"constructor", "operator="})

_OF_TYPE: Final = re.compile(r"(?<![\w$])\w++::\w++$")
"""A call that says whose it is: `Stub::run_it()` is no other type's; of `$stub::run_it()` nothing is known."""

_MACRO: Final = re.compile(r"^[ \t]*+#[ \t]*+define[ \t]++(\w++)\(", re.MULTILINE)
_TEST_STEM: Final = re.compile(r"^(?:test|tests|spec)[_-]?|[._-]?(?:tests?|specs?)$", re.IGNORECASE)


class CodeRules:
    """The rules, over one file of a project."""

    def __init__(self, world: CodeContext, view: FileView, rows: Sequence[LinkableSnippet]) -> None:
        self._world = world
        self._view = view
        self._is_test = world.is_test(view.path)
        self._names = NameResolver(world, view, rows)
        self._written: dict[str, list[LinkableSnippet]] = {}
        for row in rows:
            self._written.setdefault(row.symbol or "", []).append(row)
        self._fields: dict[str, Mapping[str, str]] = {}
        """The types of the fields of each class, as written."""
        self.failed: dict[NodeKey, str] = {}
        """Snippets with a relation that could not be found, and why."""

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
        if row.language in PACKAGED - C_FAMILY:
            declared = self._names.find_declared(said.rpartition(" ")[2].replace("\\", "."), row.language)
            yield from declared if len(declared) == 1 else ()
            return
        for place in self._locate_import(row, said):
            yield from self._find_imported(place)

    def _find_imported(self, place: Place) -> Iterator[RelationTarget]:
        target = self._names.find_at_place(place)
        if target is not None:
            yield target
            return
        # A constant, or a name made at run time: the file itself is what is imported.
        view = self._world.view(place[0])
        if view is not None and view.head is not None and len(place[1]) <= 1:
            yield RelationTarget(view.path, "", view.head)

    def _locate_import(self, row: LinkableSnippet, said: str) -> Iterator[Place]:
        modules, path = self._world.modules, self._view.path
        if row.language == "rust":
            yield from (place for _, place in read_rust_use(path, row, said, modules))
        elif row.language == "python" and (place := modules.resolve_python(path, said)):
            yield place
        elif row.language in SCRIPT or row.language in C_FAMILY:
            find_file = modules.resolve_script if row.language in SCRIPT else modules.resolve_include
            if file := find_file(path, said):
                yield file, ()

    def _find_bases(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        for said in row.facts.get("bases", ()):
            target = self._names.resolve_name(self._view, row.symbol or "", SEPARATOR.split(said))
            if target is not None and self._names.kind_of(target) in CLASS_LIKE:
                sure = SAME_FILE if target.path == self._view.path else IMPORTED
                yield WantedRelation("inherits", target.key, sure, f"extends `{said}`")

    def _find_overridden(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        if row.facts.get("kind") != "method" or row.symbol is None or not row.facts.get("signature"):
            return
        owner, _, name = row.symbol.rpartition(".")
        if not owner or (name.startswith("__") and name.endswith("__")) or name in _NEVER_OVERRIDDEN:
            return
        target = self._names.find_inherited_method(self._view, owner, name)
        if target is not None:
            yield WantedRelation("overrides", target.key, OWN_METHOD, f"overrides `{target.symbol}`")

    def _find_calls(self, row: LinkableSnippet) -> Iterator[WantedRelation]:
        calls = row.facts.get("calls", ())
        only = find_only_methods(self._world, [SEPARATOR.split(said)[-1] for said in calls], self._narrow_namesakes)
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
        *receivers, name = SEPARATOR.split(said)
        parts = [*(receiver.rstrip("?!") for receiver in receivers), name]
        if not all(parts):
            return None
        if parts[0] in _SELF:
            if len(parts) == 3:
                return self._find_method_of_type(row, self._read_field_type(row, parts[1]), name)
            return self._find_own_method(row, name) if len(parts) == 2 else None
        if parts[0] == _SUPER.get(row.language or "", "super") and len(parts) == 2:
            return self._find_method_above(row, name)
        target = self._names.resolve_name(self._view, row.symbol or "", parts, row)
        if target is not None:
            if is_bound(row, parts[0]):
                return None
            if len(parts) == 1 and row.language not in TEMPLATES and not is_called_bare(row.content, said):
                return None
            if row.language == "rust" and not self._is_called_in_rust(row, said, target):
                return None
            if (
                row.language in NEEDS_NEW
                and self._names.kind_of(target) in CLASS_LIKE
                and not is_made(row.content, said)
            ):
                return None
            if row.language in C_FAMILY and not self._names.is_included(target):
                return (target, ONLY) if has_several_words(name) and name not in self._macros else None
            if len(parts) == 1 and not self._is_called_on_this(row, target):
                # It may be one on what a lambda is of: `with(path) { commonResolve() }`.
                return (target, ONLY) if find_only_methods(self._world, [name], self._narrow_namesakes) else None
            return target, SAME_FILE if target.path == self._view.path else IMPORTED
        if len(parts) == 1 and row.language not in OPEN_SCOPE | TEMPLATES and is_called_bare(row.content, said):
            return None if is_bound(row, said) else self._find_method_above(row, said)
        return self._find_typed_method(row, parts) if len(parts) == 2 else None

    def _is_called_in_rust(self, row: LinkableSnippet, said: str, target: RelationTarget) -> bool:
        """Say whether a call may mean a target: no module is called, and no function by what calls a macro."""
        text = row.content.replace(f"{said}!", "") if self._names.kind_of(target) == "function" else row.content
        return bool(target.symbol) and (SEPARATOR.search(said) is not None or is_called_bare(text, said))

    @functools.cached_property
    def _macros(self) -> frozenset[str]:
        """The macros with parameters that a file of C or C++ has itself: a short one is no symbol."""
        return frozenset(
            name for rows in self._written.values() for row in rows for name in _MACRO.findall(row.content)
        )

    def _is_called_on_this(self, row: LinkableSnippet, target: RelationTarget) -> bool:
        """Say whether a bare call of an extension function of Kotlin may be one on the object that the caller is of."""
        view, symbol = self._world.view(target.path), row.symbol or ""
        types = view.receivers.get(target.symbol) if view is not None else None
        if not types or "" in types or not types.isdisjoint(symbol.split(".")):
            return True
        own = {*self._view.receivers.get(symbol, ()), self._names.enclosing_class(self._view, symbol) or ""}
        return any(self._names.is_kind_of(self._view, said, types) for said in own if said)

    def _narrow_namesakes(self, places: Sequence[SymbolPlace]) -> Sequence[SymbolPlace]:
        """Return of things with one name the one with a body, or the one method that all others stand for."""
        called = [place for place in places if not self._is_macro_test(*place)]
        if len(called) < 2:
            return called
        declared = [place for place in called if self._has_no_body(*place)]
        written = [place for place in called if place not in declared]
        if len(written) == 1:
            return written
        return declared if len(declared) == 1 and self._stand_for(written, declared[0]) else called

    def _has_no_body(self, path: str, symbol: str) -> bool:
        view = self._world.view(path)
        return view is not None and symbol in view.bodiless

    def _stand_for(self, places: Sequence[SymbolPlace], declared: SymbolPlace) -> bool:
        """Say whether each of some methods overrides a declared one; in Go nothing says so."""
        for path, symbol in places:
            view, (owner, _, name) = self._world.view(path), symbol.rpartition(".")
            above = self._names.find_inherited_method(view, owner, name) if view and owner else None
            if above is None or (above.path, above.symbol) != declared:
                return False
        return True

    def _is_macro_test(self, path: str, symbol: str) -> bool:
        """Say whether a symbol is a test of GoogleTest: many are named after what they test."""
        if self._view.language not in C_FAMILY or not self._world.is_test(path):
            return False
        view = self._world.view(path)
        return view is not None and symbol in view.tests

    def _find_own_method(self, row: LinkableSnippet, name: str) -> tuple[RelationTarget, float] | None:
        owner = self._names.enclosing_class(self._view, row.symbol or "")
        if owner is None:
            return None
        own = self._names.find_symbol(self._view, f"{owner}.{name}")
        return (own, OWN_METHOD) if own is not None else self._find_method_above(row, name)

    def _find_method_above(self, row: LinkableSnippet, name: str) -> tuple[RelationTarget, float] | None:
        owner = self._names.enclosing_class(self._view, row.symbol or "")
        inherited = None if owner is None else self._names.find_inherited_method(self._view, owner, name)
        return None if inherited is None else (inherited, INHERITED)

    def _find_only_method(
        self, row: LinkableSnippet, said: str, only: Mapping[str, SymbolPlace]
    ) -> tuple[RelationTarget, float] | None:
        """Resolve `editor.edit_files`, of whose receiver nothing is known, where one method alone has that name."""
        parts = SEPARATOR.split(said)
        if row.language in TEMPLATES:
            return None
        if row.language in NEEDS_NEW and _read_type(row, parts[0]) in self._names.from_elsewhere:
            return None
        # Of `get().run_it()` only the last name is known.
        on_something = (
            parts[0] not in self._names.from_elsewhere if len(parts) > 1 else not is_called_bare(row.content, said)
        )
        place = only.get(parts[-1]) if on_something else None
        view = None if place is None else self._world.view(place[0])
        if place is None or view is None or view.language != row.language:
            return None
        symbol = place[1]
        if _OF_TYPE.search(said) and parts[-2] not in _SELF and symbol.split(".")[-2:-1] != parts[-2:-1]:
            return None
        target = self._names.find_symbol(view, symbol)
        return (target, ONLY) if target is not None and self._is_callable_on(view, symbol) else None

    def _is_callable_on(self, view: FileView, symbol: str) -> bool:
        """Say whether this file may call a symbol of another on a receiver of which nothing is known."""
        owner = symbol.rpartition(".")[0]
        is_extension, is_member = symbol in view.receivers, view.kinds.get(owner) in CLASS_LIKE
        is_near = view.path == self._view.path or (view.language == "rust" and is_below(self._view.path, view.path))
        if not is_near and (symbol in view.hidden or (is_member and is_extension)):
            return False
        # What stands for a method of another project's class is called wherever that class is known.
        if symbol in view.overrides and not self._names.has_only_own_bases(view, owner):
            return False
        return is_member or is_extension

    def _find_typed_method(self, row: LinkableSnippet, parts: Sequence[str]) -> tuple[RelationTarget, float] | None:
        """Resolve `memory.search` where the signature says `memory: Memory`, or the snippet `memory = Memory()`."""
        said = _read_type(row, parts[0])
        if not said and row.language not in OPEN_SCOPE and not is_bound(row, parts[0]):
            said = self._read_field_type(row, parts[0])
        return self._find_method_of_type(row, said, parts[1])

    def _find_method_of_type(self, row: LinkableSnippet, said: str, name: str) -> tuple[RelationTarget, float] | None:
        owner = self._names.resolve_name(self._view, row.symbol or "", SEPARATOR.split(said), row) if said else None
        if owner is None or self._names.kind_of(owner) not in CLASS_LIKE:
            return None
        method = self._names.find_method(owner, name)
        return None if method is None else (method, TYPED)

    def _read_field_type(self, row: LinkableSnippet, name: str) -> str:
        """Return the type that the class around a snippet says a field has; nothing if it says none."""
        owner = self._names.enclosing_class(self._view, row.symbol or "")
        if owner is not None and owner not in self._fields:
            parts = [one for one in self._written.get(owner, ()) if one.facts.get("kind") != "method"]
            for maker in ("__construct", "constructor"):
                parts += self._written.get(f"{owner}.{maker}", ())
            text = "\n".join(one.content for one in parts)
            self._fields[owner] = read_declared_types(text, row.language)
        return self._fields[owner].get(name, "") if owner is not None else ""


def _read_type(row: LinkableSnippet, name: str) -> str:
    """Return the type that a snippet says a name has; nothing if it says none."""
    bare = name.lstrip("$")
    types = read_parameter_types(str(row.facts.get("signature", "")), row.language)
    said = types.get(bare) or read_made_types(row.content).get(bare, "")
    if not said and row.language in TYPE_FIRST:
        said = read_declared_types(row.content, row.language).get(bare, "")
    return said


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
