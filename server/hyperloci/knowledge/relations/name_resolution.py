"""Name resolution: which symbol of a project a name in code means, through scopes, imports and packages (D.03).

A name is resolved as its language does it - the scopes around it, then what its file imports, followed through
re-exports - and only to a symbol that this project defines. One that could mean two things means nothing here: a wrong
edge costs more than a missing one.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from hyperloci.knowledge.relations.file_view import (
    CLASS_LIKE,
    FileView,
    Place,
    count_modules,
    read_imported_names,
    read_whole_modules,
)
from hyperloci.knowledge.relations.import_resolution import SCRIPT, ModuleIndex
from hyperloci.knowledge.relations.only_methods import NamedSymbols
from hyperloci.knowledge.relations.packages import (
    C_FAMILY,
    NEEDS_NEW,
    PACKAGED,
    join_names,
    list_full_names,
    same_language,
)
from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.system.values import dataclass

MAX_HOPS: Final = 5
"""Base classes followed one after another; longer chains are cycles."""

MAX_PLACES: Final = 500
"""Files in which one name is looked for at most, where one file hands on what others have."""

MAX_INCLUDED: Final = 300
"""Files that one file of C includes, through others, which are looked at; what includes more may see anything."""

MAX_NAMESAKES: Final = 20
"""Symbols of C of one name that are looked at: what one file includes tells which of them it means."""

MAX_DECLARED: Final = 20_000
"""Full names of which it is remembered at once what they mean: about 250 bytes each."""

OPEN_SCOPE: Final = frozenset({"python", *SCRIPT, "go", "lua", "php", "rust"})
"""Languages in which a method's bare call does not mean another method of its class."""

SEPARATOR: Final = re.compile(r"\.#?|::?|->")
"""What stands between the parts of a name."""

_BUILTIN: Final = frozenset(dir(builtins))


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

    @property
    def declared(self) -> dict[tuple[str, str | None], list[RelationTarget]]:
        """What full names were found to mean to code of a language."""
        ...

    def view(self, path: str) -> FileView | None:
        """Return what is known of a file, None if it is not indexed."""
        ...

    def files_with(self, symbol: str) -> Sequence[str]:
        """Return the files that have a symbol of exactly this name."""
        ...

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests."""
        ...


class NameResolver:
    """Resolves names for one file of a project.

    Attributes:
        from_elsewhere: what the file imports, part by part, that this project does not have.
    """

    def __init__(self, world: CodeContext, view: FileView, rows: Sequence[LinkableSnippet]) -> None:
        self._world = world
        self._view = view
        self._climbed: list[tuple[str, str, str]] = []
        """The methods of bases that are being looked for, each on behalf of the one before it."""
        # Names that a function imports for itself hold in all its pieces.
        self._own: dict[str, dict[str, Place]] = {}
        self._own_modules: dict[str, dict[str, str]] = {}
        for row in rows:
            if row.symbol is not None and row.facts.get("imports"):
                self._own.setdefault(row.symbol, {}).update(read_imported_names(view.path, row, world.modules))
                self._own_modules.setdefault(row.symbol, {}).update(read_whole_modules(row))
        imported = {part for row in rows for said in row.facts.get("imports", ()) for part in SEPARATOR.split(said)}
        if view.language == "go":
            imported.update(_name_go_package(said) for row in rows for said in row.facts.get("imports", ()))
        imported.update(name for name, _ in view.full_names)
        known = {name for name, full in view.full_names if self.find_declared(full, view.language)}
        self.from_elsewhere = imported - view.names.keys() - known

    def resolve_name(
        self, view: FileView, scope: str, parts: Sequence[str], row: LinkableSnippet | None = None
    ) -> RelationTarget | None:
        """Return what a dotted name means in a scope of a file."""
        dotted = ".".join(parts)
        for around in _enclosing_scopes(scope):
            if around and around != scope and view.language in OPEN_SCOPE and view.kinds.get(around) in CLASS_LIKE:
                continue
            found = self.find_symbol(view, f"{around}.{dotted}" if around else dotted)
            if found is not None:
                return found
            if around == "" and view.kinds.get(parts[0]) in CLASS_LIKE and len(parts) == 2:
                return self.find_inherited_method(view, parts[0], parts[1])
        place = self._find_imported_name(view, scope, parts)
        found = None if place is None else self.find_at_place(place) or self._find_in_package(place)
        if view.language == "rust" and found is None and len(parts) > 1:
            place = self._world.modules.resolve_rust(view.path, parts, count_modules(scope, view.kinds))
            found = None if place is None else self.find_at_place(place)
        if found is not None or place is not None:
            return found
        if view.language in {"python", "rust"}:
            return self._find_starred(view, parts)
        if view.language in PACKAGED:
            return self._find_in_packages(view, scope, parts)
        return self._find_sibling(view, dotted) if view.language == "go" and len(parts) == 1 else None

    def _find_starred(self, view: FileView, parts: Sequence[str]) -> RelationTarget | None:
        """Return what a name means that `import *` brings; nothing where it may mean something else too."""
        elsewhere = view.bound | self.from_elsewhere if view is self._view else view.bound
        if parts[0].startswith("_") or parts[0] in _BUILTIN or parts[0] in elsewhere:
            return None
        places = ((file, tuple(parts)) for file in view.stars)
        found = {target for place in places if (target := self.find_at_place(place)) is not None}
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

    def find_at_place(self, place: Place) -> RelationTarget | None:
        """Return the snippet at a place, following what its file imports from elsewhere."""
        places, seen = [place], {place}
        for path, parts in places:
            view = self._world.view(path)
            if view is None:
                continue
            if not parts:
                return None if view.head is None else RelationTarget(path, "", view.head)
            found = self.find_symbol(view, ".".join(parts))
            if found is not None:
                return found
            owner = ".".join(parts[:-1])
            if view.kinds.get(owner) in CLASS_LIKE:
                return self.find_inherited_method(view, owner, parts[-1])
            if parts[0] in view.names:
                further, inner = view.names[parts[0]]
                onward = [(further, (*inner, *parts[1:]))]
            else:
                onward = [(other, parts) for other in view.stars if parts[0] not in view.bound]
            unseen = [one for one in onward if one not in seen][: MAX_PLACES - len(seen)]
            places += unseen
            seen |= {*unseen}
        return None

    def _find_in_packages(self, view: FileView, scope: str, parts: Sequence[str]) -> RelationTarget | None:
        """Return what a name means in the packages that a file sees; nothing if it could be two things."""
        language = view.language or ""
        if len(parts) > 1 and parts[0][:1].islower() and language in NEEDS_NEW:
            return None
        for names in list_full_names(language, view.package, scope, view.full_names, parts[0]):
            found = {target for name in names for target in self.find_declared(name, language, parts[1:])}
            if len(found) > 1 and language in C_FAMILY:
                found = {target for target in found if self.is_included(target, only=False)}
            if found:
                return found.pop() if len(found) == 1 else None
        return None

    @functools.cached_property
    def _included(self) -> tuple[FileView, ...]:
        """What the file is and includes, through others too; nothing if that is too much to look at."""
        paths = [self._view.path]
        for path in paths:
            view = self._world.view(path)
            paths += [one for one in (view.includes if view else ()) if one not in paths]
            if len(paths) > MAX_INCLUDED:
                return ()
        return tuple(view for path in paths if (view := self._world.view(path)))

    def is_included(self, target: RelationTarget, *, only: bool = True) -> bool:
        """Say whether what a file of C or C++ includes has a symbol, is the header of its file, or declares it.

        A declaration that others may be meant by too counts for a file that includes it.
        """
        if not self._included:
            return True
        name, stem, own = target.symbol.rpartition(".")[2], _stem(target.path), self._world.view(target.path)
        includes = own.includes if own is not None else ()
        return any(
            view.path == target.path
            or (view.declares and _stem(view.path) == stem)
            or (name in view.declares and (only or view.path in includes))
            for view in self._included
        )

    def find_declared(self, full: str, language: str | None, inner: Sequence[str] = ()) -> list[RelationTarget]:
        """Return the symbols of a full name, or what they have inside, in whichever files they are written.

        Two at most are looked for, since more are no less ambiguous, but where includes may tell them apart.
        """
        whole = self._find_seen(join_names(full, *inner), language)
        if whole or not inner:
            return whole
        owners = [(target.path, target.symbol.split(".")) for target in self._find_written(full)]
        found = (self.find_at_place((path, (*parts, *inner))) for path, parts in owners)
        return [target for target in found if target is not None and self._is_seen(target, language)]

    def _find_seen(self, full: str, language: str | None) -> list[RelationTarget]:
        """Return at most two symbols of a full name, or a few of C, that code of a language in another file sees."""
        known = self._world.declared
        # Thousands of files may call what thousands of others have for themselves: it is looked for once.
        if (full, language) not in known:
            if len(known) >= MAX_DECLARED:
                known.clear()
            seen = (target for target in self._find_written(full) if self._is_seen(target, language))
            known[full, language] = list(itertools.islice(seen, MAX_NAMESAKES if language in C_FAMILY else 2))
        return known[full, language]

    def _find_written(self, full: str) -> Iterator[RelationTarget]:
        """Yield the symbols that have a full name, however much of it is the package."""
        package, rest = "", full
        while rest:
            for path in self._world.files_with(rest):
                view = self._world.view(path)
                if view and view.package == package and (found := self.find_symbol(view, rest)):
                    yield found
            first, _, rest = rest.partition(".")
            package = join_names(package, first)

    def _is_seen(self, target: RelationTarget, language: str | None) -> bool:
        """Say whether code of a language in another file sees a symbol."""
        view = self._world.view(target.path)
        return view is not None and same_language(view.language, language) and target.symbol not in view.hidden

    def find_method(self, owner: RelationTarget, name: str) -> RelationTarget | None:
        """Return a class's method: its own, in whichever file it is written, or what it has from above."""
        view = self._world.view(owner.path)
        if view is None:
            return None
        found = self.find_symbol(view, f"{owner.symbol}.{name}")
        if found is None and view.language in PACKAGED:
            declared = self.find_declared(join_names(view.package, owner.symbol, name), view.language)
            found = declared[0] if len(declared) == 1 else None
        return found or self.find_inherited_method(view, owner.symbol, name)

    def _find_in_package(self, place: Place) -> RelationTarget | None:
        """Look in a Go package's other files too."""
        path, parts = place
        files = self._world.modules.find_go_siblings(path) if path.endswith(".go") else ()
        return self._find_unique(files, ".".join(parts)) if parts else None

    def _find_sibling(self, view: FileView, symbol: str) -> RelationTarget | None:
        return self._find_unique(self._world.modules.find_go_siblings(view.path), symbol)

    def _find_unique(self, files: Sequence[str], symbol: str) -> RelationTarget | None:
        views = (self._world.view(path) for path in files)
        found = [target for view in views if view is not None and (target := self.find_symbol(view, symbol))]
        return found[0] if len(found) == 1 else None

    def find_symbol(self, view: FileView, symbol: str) -> RelationTarget | None:
        """Return the symbol of a file that has this qualified name."""
        key = view.symbols.get(symbol)
        return None if key is None or symbol in view.tests else RelationTarget(view.path, symbol, key)

    def kind_of(self, target: RelationTarget) -> str:
        """Return of which kind a symbol is, as `FileView.kinds` says it."""
        view = self._world.view(target.path)
        return view.kinds.get(target.symbol, "") if view is not None else ""

    def enclosing_class(self, view: FileView, symbol: str) -> str | None:
        """Return the class that a symbol is, or stands in."""
        around = next((around for around in _enclosing_scopes(symbol) if view.kinds.get(around) in CLASS_LIKE), None)
        # The class of a method that is written outside of it may stand in another file, or be a table.
        return around or (symbol.rpartition(".")[0] if view.kinds.get(symbol) == "method" else "") or None

    def has_only_own_bases(self, view: FileView, owner: str) -> bool:
        """Say whether a class has bases, and all of them are this project's."""
        scope, bases = owner.rpartition(".")[0], view.bases.get(owner, ())
        return bool(bases) and all(self.resolve_name(view, scope, SEPARATOR.split(said)) for said in bases)

    def is_kind_of(self, view: FileView, said: str, wanted: frozenset[str], hops: int = MAX_HOPS) -> bool:
        """Say whether a type as a file says it is one of some names, or has one from above."""
        if said.rpartition(".")[2] in wanted:
            return True
        found = self.resolve_name(view, "", SEPARATOR.split(said)) if hops else None
        above = self._world.view(found.path) if found else None
        bases = above.bases.get(found.symbol, ()) if found and above else ()
        return above is not None and any(self.is_kind_of(above, base, wanted, hops - 1) for base in bases)

    def find_inherited_method(self, view: FileView, owner: str, name: str) -> RelationTarget | None:
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
            base = self.resolve_name(view, owner.rpartition(".")[0], said.split("."))
            above = None if base is None else self._world.view(base.path)
            if base is None or above is None or (base.path, base.symbol) == (view.path, owner):
                continue
            found = self.find_symbol(above, f"{base.symbol}.{name}")
            found = found or self.find_inherited_method(above, base.symbol, name)
            if found is not None:
                return found
        return None


def _name_go_package(path: str) -> str:
    """Return what a package is likely called: `codec` of `github.com/ugorji/go/codec`, `yaml` of `x.org/go-yaml/v3`."""
    *folders, last = path.split("/")
    named = folders[-1] if folders and last[:1] == "v" and last[1:].isdigit() else last
    return named.partition(".")[0].removeprefix("go-")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _enclosing_scopes(symbol: str) -> Iterator[str]:
    """Yield a symbol and what it stands in, innermost first, the file (empty) last."""
    while symbol:
        yield symbol
        symbol = symbol.rpartition(".")[0]
    yield ""
