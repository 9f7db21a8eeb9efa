"""File view: what the relation rules know of a file: its symbols, their bases, and the names it imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.relations.import_resolution import COMPONENTS, SCRIPT, ModuleIndex
from hyperloci.knowledge.relations.packages import (
    C_FAMILY,
    is_hidden,
    is_macro_test,
    is_override,
    read_declared,
    read_full_names,
    read_package,
    read_receiver,
)
from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.relation_queue import LinkableSnippet
from hyperloci.system.values import dataclass

Place = tuple[str, tuple[str, ...]]
"""A file, and the parts of a symbol in it; no parts are the file itself."""

CLASS_LIKE: Final = frozenset({"class", "other"})

_INDENTED: Final = re.compile(r"^[ \t]+(?:from|import)\b[^\n]*$", re.MULTILINE)
_FROM: Final = re.compile(r"^[ \t]*+from[ \t]++([\w.]++)[ \t]++import[ \t]++(\([^)]{0,4000}+\)|[^\n;]++)", re.MULTILINE)
_IMPORT: Final = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_ITEM: Final = re.compile(r"\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$")
_COMMENT: Final = re.compile(r"#[^\n]*")

_SCRIPT_IMPORT: Final = re.compile(
    r"\b(?:import|export)\s++(?:type\s++)?(?P<default>[\w$]++)?\s*+,?\s*+"
    r"(?:\{(?P<named>[^}]{0,4000}+)\}|\*\s++as\s++(?P<space>[\w$]++))?\s*+from\s*+[\"'](?P<source>(?:\.|[@~]/)[^\"']*+)[\"']"
)
_REQUIRE: Final = re.compile(
    r"\b(?:const|let|var)\s++(?:\{(?P<named>[^}]{0,4000}+)\}|(?P<default>[\w$]++))\s*+=\s*+require\(\s*+"
    r"[\"'](?P<source>(?:\.|[@~]/)[^\"']*+)[\"']"
)
_SCRIPT_STAR: Final = re.compile(r"\bexport\s++(?:type\s++)?\*\s*+from\s*+[\"'](?P<source>(?:\.|[@~]/)[^\"']*+)[\"']")
_SCRIPT_OWN: Final = re.compile(r"\bexport\s++(?:declare\s++)?(?:const|let|var)\s++([\w$]++)")
_SCRIPT_LIST: Final = re.compile(r"\bexport\s++(?:type\s++)?\{([^}]{0,4000}+)\}")
_PYTHON_OWN: Final = re.compile(r"^(\w++)[ \t]*+(?::[^=\n]*+)?=(?!=)", re.MULTILINE)
_SCRIPT_ITEM: Final = re.compile(r"\s*(?:type\s+)?([\w$]+)(?:\s*(?:\bas\b|:)\s*([\w$]+))?\s*$")
_RUST_MODULE: Final = re.compile(r"(?:pub(?:\([^)]{0,80}\))?\s+)?mod\b")
_RUST_TRAIT: Final = re.compile(r"(?:pub(?:\([^)]{0,80}\))?\s+)?(?:unsafe\s+)?trait\b")
_RUST_MOD: Final = re.compile(r"^[ \t]*+(?:pub(?:\([^)\n]{0,80}\))?[ \t]++)?mod[ \t]++(\w++);", re.MULTILINE)
MAX_BRACES: Final = 8
"""Braces inside braces of a `use` that are read."""

_GO_IMPORT: Final = re.compile(r"(?:\b(\w+)\s+)?\"([\w./~-]+)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file as others see it.

    Attributes:
        path, language: which file.
        symbols: the first snippet of each symbol.
        kinds: the kind of each symbol (`model.chunk.CodeFacts`).
        bases: what each class extends, as written.
        names: what each name that the file imports means, inside this project.
        modules: dotted modules that Python imports whole, by the name they bind.
        stars: files of which it imports (Python) or hands on (JavaScript, TypeScript) every name.
        package: the package that it says it belongs to; `full_names`: what it imports of others (`packages`).
        hidden: symbols that no other file sees (C: `static`, Java: `private`).
        overrides: methods that say that they stand for one from above.
        receivers: the types that extension functions of Kotlin are called on, with "" for a namesake that is none.
        tests: tests of GoogleTest, which no code calls.
        bodiless: methods that are declared and have no body: another stands for them where they are called.
        includes: files of this project that a file of C or C++ includes; `declares`: what a header may declare.
        bound: names that it gives a meaning of its own, found or not: no file of `stars` has a say in them.
        head: the snippet that stands for the file.
    """

    path: str
    language: str | None
    symbols: Mapping[str, NodeKey]
    kinds: Mapping[str, str]
    bases: Mapping[str, tuple[str, ...]]
    names: Mapping[str, Place]
    modules: Mapping[str, str]
    stars: tuple[str, ...]
    package: str
    full_names: tuple[tuple[str, str], ...]
    hidden: frozenset[str]
    overrides: frozenset[str]
    receivers: Mapping[str, frozenset[str]]
    tests: frozenset[str]
    bodiless: frozenset[str]
    includes: tuple[str, ...]
    declares: frozenset[str]
    bound: frozenset[str]
    head: NodeKey | None


def build_file_view(path: str, rows: Sequence[LinkableSnippet], modules: ModuleIndex) -> FileView:
    """Gather what a file's snippets say."""
    symbols: dict[str, NodeKey] = {}
    kinds: dict[str, str] = {}
    bases: dict[str, tuple[str, ...]] = {}
    names: dict[str, Place] = {}
    whole: dict[str, str] = {}
    stars: list[str] = []
    package = ""
    full_names: list[tuple[str, str]] = []
    bound: set[str] = set()
    language = next((row.language for row in rows if row.language), None)
    begun: set[str | None] = set()
    for row in rows:
        if row.symbol is None or row.language not in begun:
            # A short head has no snippet of its own: it stands at the top of the first definition's, which in a
            # component may follow on the template.
            top = row if row.symbol is None else replace(row, content=_INDENTED.sub("", row.content))
            names.update(read_imported_names(path, top, modules))
            whole.update(read_whole_modules(top))
            stars += _read_stars(path, top, modules)
            package = package or read_package(top)
            full_names += read_full_names(top)
            bound.update(_read_bound(top))
        begun.add(row.language)
        if row.symbol is not None and row.symbol not in symbols:
            symbols[row.symbol] = row.key
            kinds[row.symbol] = str(row.facts.get("kind", ""))
        if row.symbol is not None and row.facts.get("bases"):
            # Rust says beside a type, and C# in each part of a class, what it has from above.
            bases[row.symbol] = (*bases.get(row.symbol, ()), *row.facts["bases"])
    head = next((row.key for row in rows if row.symbol is None), rows[0].key if rows else None)
    return FileView(
        path=path,
        language=language,
        symbols=symbols,
        kinds=kinds,
        bases=bases,
        names=names,
        modules=whole,
        stars=tuple(dict.fromkeys(stars)),
        package=package,
        full_names=tuple(full_names),
        hidden=_list_hidden(path, rows),
        overrides=_find_symbols(rows, is_override),
        receivers=_list_receivers(rows),
        tests=_find_symbols(rows, is_macro_test),
        bodiless=_find_symbols(rows, lambda row: bool(row.facts.get("declared"))),
        includes=tuple(dict.fromkeys(file for row in rows for file in _read_includes(path, row, modules))),
        declares=frozenset(name for row in rows for name in read_declared(path, row)),
        bound=frozenset(bound) if stars else frozenset(),
        head=head,
    )


def _read_includes(path: str, row: LinkableSnippet, modules: ModuleIndex) -> Iterator[str]:
    for said in row.facts.get("imports", ()) if row.language in C_FAMILY else ():
        if file := modules.resolve_include(path, said):
            yield file


def _list_hidden(path: str, rows: Sequence[LinkableSnippet]) -> frozenset[str]:
    """Return the symbols that no other file sees; whoever sees a trait of Rust sees all that it has."""
    traits = {row.symbol for row in rows if _RUST_TRAIT.match(str(row.facts.get("signature", "")))}
    hidden = _find_symbols(rows, lambda row: is_hidden(path, row))
    return frozenset(symbol for symbol in hidden if symbol.rpartition(".")[0] not in traits)


def _list_receivers(rows: Sequence[LinkableSnippet]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.symbol and row.language == "kotlin" and row.facts.get("signature"):
            found.setdefault(row.symbol, set()).add(read_receiver(row))
    return {symbol: frozenset(types) for symbol, types in found.items() if types != {""}}


def _find_symbols(rows: Sequence[LinkableSnippet], is_so: Callable[[LinkableSnippet], bool]) -> frozenset[str]:
    """Return the symbols of which every snippet is so: one overload may be private, and another not."""
    found: dict[str, bool] = {}
    for row in rows:
        if row.symbol:
            found[row.symbol] = found.get(row.symbol, True) and is_so(row)
    return frozenset(symbol for symbol, so in found.items() if so)


def read_imported_names(path: str, row: LinkableSnippet, modules: ModuleIndex) -> dict[str, Place]:
    """Return what the names mean that a snippet imports from this project."""
    said = row.facts.get("imports", ())
    if not said and row.language != "rust":
        return {}
    if row.language == "python":
        return _read_python_names(path, row, modules)
    if row.language in SCRIPT:
        return dict(_read_script_names(path, row.content, modules))
    if row.language == "rust":
        return {name: place for name, place in _read_rust_names(path, row, modules) if name != "*"}
    if row.language == "go":
        return dict(_read_go_names(row.content, said, modules))
    return {}


def read_whole_modules(row: LinkableSnippet) -> dict[str, str]:
    """Return the modules that Python imports whole, by the name they bind: `import a.b` binds `a`."""
    said = row.facts.get("imports")
    if row.language != "python" or not said or "import " not in row.content:
        return {}
    found: dict[str, str] = {}
    for match in _IMPORT.finditer(row.content):
        for name, alias in _split_import_items(match[1]):
            if name in said:
                found[alias or name.split(".")[0]] = name if alias else name.split(".")[0]
    return found


def _read_python_names(path: str, row: LinkableSnippet, modules: ModuleIndex) -> dict[str, Place]:
    said = frozenset(row.facts["imports"])
    found: dict[str, Place] = {}
    for match in _FROM.finditer(row.content.replace("\\\n", " ")):
        module = match[1]
        for name, alias in _split_import_items(match[2].strip("() \t")):
            dotted = module + ("" if module.endswith(".") else ".") + name
            # What a docstring shows is no import: the parse tree says which are.
            if dotted in said and (place := modules.resolve_python(path, dotted)):
                found[alias or name] = place
    return found


def _read_stars(path: str, row: LinkableSnippet, modules: ModuleIndex) -> Iterator[str]:
    """Yield the files of this project of which a snippet imports or hands on every name."""
    said = frozenset(row.facts.get("imports", ())) if "*" in row.content else frozenset()
    if row.language in SCRIPT:
        sources = (match["source"] for match in _SCRIPT_STAR.finditer(row.content) if match["source"] in said)
        yield from (file for source in sources if (file := modules.resolve_script(path, source)))
    if row.language == "rust":
        places = (place for name, place in _read_rust_names(path, row, modules) if name == "*")
        yield from (file for file, parts in places if not parts)
    if row.language != "python":
        return
    for match in _FROM.finditer(row.content):
        if match[2].strip("() \t") == "*" and match[1] in said and (place := modules.resolve_python(path, match[1])):
            yield place[0]


def _read_bound(row: LinkableSnippet) -> Iterator[str]:
    """Yield what a snippet assigns, or imports or hands on by name, from other projects too."""
    if row.language == "python":
        yield from (match[1] for match in _PYTHON_OWN.finditer(row.content))
        for match in _FROM.finditer(row.content.replace("\\\n", " ")):
            yield from (alias or name for name, alias in _split_import_items(match[2].strip("() \t")))
    elif row.language in SCRIPT:
        yield from (match[1] for match in _SCRIPT_OWN.finditer(row.content))
        for match in _SCRIPT_LIST.finditer(row.content):
            items = (_SCRIPT_ITEM.match(item) for item in match[1].split(","))
            yield from (item[2] or item[1] for item in items if item)


def _split_import_items(text: str) -> Iterator[tuple[str, str | None]]:
    for item in _COMMENT.sub("", text).split(","):
        if match := _ITEM.match(item):
            yield match[1], match[2]


def _read_script_names(path: str, text: str, modules: ModuleIndex) -> Iterator[tuple[str, Place]]:
    for pattern in (_SCRIPT_IMPORT, _REQUIRE):
        for match in pattern.finditer(text):
            file = modules.resolve_script(path, match["source"])
            if file is None:
                continue
            for item in (match["named"] or "").split(","):
                if named := _SCRIPT_ITEM.match(item):
                    name = named[2] or named[1]
                    yield name, (file, (name if named[1] == "default" else named[1],))
            if match["default"]:
                # What a default export is called in its own file is not said: its name here is the best guess.
                yield match["default"], (file, () if file.endswith(COMPONENTS) else (match["default"],))
            if pattern is _SCRIPT_IMPORT and match["space"]:
                yield match["space"], (file, ())


def count_modules(symbol: str, kinds: Mapping[str, str]) -> int:
    """Return how many of the things around a symbol of Rust are modules."""
    parts = symbol.split(".")
    around = ((".".join(parts[:number]), ".".join(parts[: number + 1])) for number in range(1, len(parts)))
    return sum(kinds.get(outer) == "other" and kinds.get(inner) != "method" for outer, inner in around)


def _read_rust_names(path: str, row: LinkableSnippet, modules: ModuleIndex) -> Iterator[tuple[str, Place]]:
    """Yield what `use` and `mod` bring; under `*` the places of which every name is brought."""
    if row.symbol is None:
        for match in _RUST_MOD.finditer(row.content):
            if place := modules.resolve_rust(path, [match[1]]):
                yield match[1], place
    # What is brought by `use` counts before a module of the same name: that one is found by its path.
    for said in row.facts.get("imports", ()):
        yield from read_rust_use(path, row, said, modules)


def read_rust_use(path: str, row: LinkableSnippet, said: str, modules: ModuleIndex) -> Iterator[tuple[str, Place]]:
    """Yield the names that one `use` brings from this project, with their places."""
    inner = (row.symbol or "").count(".") - (row.facts.get("kind") == "method")
    inner = max(inner, 0) + bool(_RUST_MODULE.match(str(row.facts.get("signature", ""))))
    for full, alias in _expand_use(said):
        parts = full.removesuffix("::self").split("::")
        name = parts.pop() if parts[-1] == "*" else alias or parts[-1]
        if place := modules.resolve_rust(path, parts, inner) if parts else None:
            yield name, place


def _expand_use(said: str, depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Yield each path that a `use` names, with its other name: `a::{b, c::d as e}` names two."""
    prefix, brace, rest = said.partition("{")
    if not brace:
        full, _, alias = said.partition(" as ")
        yield full.strip(), alias.strip() or None
    elif depth < MAX_BRACES:
        for item in _split_outside_braces(rest.rpartition("}")[0]):
            if item.strip():
                yield from _expand_use(prefix + item.strip(), depth + 1)


def _split_outside_braces(text: str) -> Iterator[str]:
    begin = depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and not depth:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _read_go_names(text: str, said: Sequence[str], modules: ModuleIndex) -> Iterator[tuple[str, Place]]:
    wanted = frozenset(said)
    for match in _GO_IMPORT.finditer(text):
        if match[2] in wanted and (files := modules.find_go_files(match[2])):
            name = match[1] if match[1] not in (None, "import") else match[2].rsplit("/", 1)[-1]
            yield name, (files[0], ())
