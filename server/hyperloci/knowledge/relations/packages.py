"""Packages: what a name means where the path of a file says nothing of it, but a symbol's full name does (D.03).

In Java, Kotlin, Scala, C# and PHP a full name begins with the package that the file says it belongs to, in C and C++
with the namespaces around the symbol. A file sees what it imports by name, then its own package (C#, C++: those around
it too), then the packages that it opens (`import a.b.*`, `using A.B`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.store.memories.relation_queue import LinkableSnippet

_JVM: Final = frozenset({"java", "kotlin", "scala"})
C_FAMILY: Final = frozenset({"c", "cpp"})
PACKAGED: Final = _JVM | C_FAMILY | {"c_sharp", "php"}
_NESTED: Final = C_FAMILY | {"c_sharp"}
"""Languages in which a package sees what those around it have."""

NEEDS_NEW: Final = frozenset({"java", "c_sharp", "php"})
"""Languages in which a class is not called like a function."""

OPENED: Final = "*"
_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tpp")

_PACKAGE: Final = re.compile(r"^[ \t]*+(?:<\?php\s++)?(?:package|namespace)[ \t]++([\w.\\]++)[ \t]*+(;?)", re.MULTILINE)
_JVM_IMPORT: Final = re.compile(
    r"^[ \t]*+import[ \t]++(?:static[ \t]++)?([\w.]++)([*]|\{[^}\n]{0,2000}\})?(?:[ \t]++as[ \t]++(\w++))?",
    re.MULTILINE,
)
_PHP_USE: Final = re.compile(
    r"^use[ \t]++(?:function[ \t]++|const[ \t]++)?([\w\\]++)(\{[^}]{0,4000}\})?(?:[ \t]++as[ \t]++(\w++))?",
    re.MULTILINE,
)
_CPP_USING: Final = re.compile(r"^[ \t]*+using[ \t]++(namespace[ \t]++)?([\w:]++)[ \t]*+;", re.MULTILINE)
_PRIVATE: Final = _JVM | {"typescript", "tsx", "swift"}
"""Languages in which no other file sees what is private: a class, or a trait, is not written in several."""

_CALLABLE: Final = re.compile(r"\b(\w++)[ \t]*+\(")
_LEADING_WORDS: Final = re.compile(r"[a-z ]*+")
_OVERRIDE: Final = re.compile(r"@Override\b|\boverride\b|\boperator fun\b")
_EXTENSION: Final = re.compile(
    r"\bfun[ ]++(?:<[^()]{0,200}?>[ ]++)?([A-Z]\w*(?:\.[A-Z]\w*)*)(?:<[^()]{0,200}?>)?\??\.`?\w++`?[ ]*+\("
)
_ITEM: Final = re.compile(r"\s*(?:function\s+|const\s+)?([\w\\]+)(?:\s*(?:\bas\b|=>)\s*(\w+))?\s*$")


def read_package(row: LinkableSnippet) -> str:
    """Return the package that a file says it belongs to; nothing for a namespace in braces: its symbols name it."""
    match = _PACKAGE.search(row.content) if row.language in PACKAGED else None
    if match is None or not (match[2] or row.language in _JVM):
        return ""
    return match[1].replace("\\", ".")


def read_full_names(row: LinkableSnippet) -> Iterator[tuple[str, str]]:
    """Yield each name that a file imports with its full name, and each package that it opens as `OPENED`."""
    if row.language == "cpp":
        for match in _CPP_USING.finditer(row.content):
            full = match[2].replace("::", ".").strip(".")
            yield OPENED if match[1] else full.rpartition(".")[2], full
    elif row.language == "c_sharp":
        for said in row.facts.get("imports", ()):
            alias, given, full = said.rpartition(" = ")
            yield (alias, full) if given else (OPENED, full)
    elif row.language in PACKAGED and row.facts.get("imports"):
        pattern = _PHP_USE if row.language == "php" else _JVM_IMPORT
        for match in pattern.finditer(row.content):
            yield from _read_import(match[1].replace("\\", "."), match[2], match[3])


def _read_import(full: str, several: str | None, alias: str | None) -> Iterator[tuple[str, str]]:
    if several is None and not full.endswith("._"):
        yield alias or full.rpartition(".")[2], full
    elif several is None or several == "*":
        yield OPENED, full.removesuffix("_").rstrip(".")
    else:
        for item in several.strip("{}").split(","):
            if match := _ITEM.match(item):
                inner = match[1].replace("\\", ".")
                yield (
                    (OPENED, full.rstrip(".")) if inner == "_" else (match[2] or inner.rpartition(".")[2], full + inner)
                )


def is_hidden(path: str, row: LinkableSnippet) -> bool:
    """Say whether no other file sees a symbol; what a header of C or C++ has, who includes it sees."""
    signature, kind = str(row.facts.get("signature", "")), row.facts.get("kind")
    if row.language in C_FAMILY:
        return kind == "function" and signature.startswith("static ") and not path.endswith(_HEADERS)
    if row.language == "rust":
        # A trait's are called with it; those of an impl without `pub` are its own, or what a trait asks for.
        return kind == "method" and not signature.startswith("pub")
    if row.language in _PRIVATE:
        return not {"private", "fileprivate"}.isdisjoint(_LEADING_WORDS.findall(signature)[0].split())
    return False


def read_declared(path: str, row: LinkableSnippet) -> Iterator[str]:
    """Yield what a header of C or C++ may declare: all that stands before parentheses in it."""
    if row.language in C_FAMILY and path.endswith(_HEADERS):
        yield from _CALLABLE.findall(row.content)


def is_override(row: LinkableSnippet) -> bool:
    """Say whether a method says that it stands for one from above, or has a name that the language gave it."""
    head = row.content.partition("{")[0] if row.language == "java" else str(row.facts.get("signature", ""))
    return row.facts.get("kind") == "method" and _OVERRIDE.search(head) is not None


def is_macro_test(row: LinkableSnippet) -> bool:
    """Say whether a snippet of C or C++ is a test of GoogleTest: `TEST(Suite, Name)`."""
    macro = str(row.facts.get("signature", "")).partition("(")[0]
    return row.language in C_FAMILY and macro.isupper() and ("TEST" in macro or "BENCHMARK" in macro)


def read_receiver(row: LinkableSnippet) -> str:
    """Return the type that an extension function of Kotlin is called on; nothing of what is none."""
    match = _EXTENSION.search(str(row.facts.get("signature", ""))) if row.language == "kotlin" else None
    return match[1].rpartition(".")[2] if match else ""


def same_language(one: str | None, other: str | None) -> bool:
    """Say whether code in two languages may name each other's symbols."""
    return one == other or any(one in family and other in family for family in (_JVM, C_FAMILY))


def join_names(*parts: str) -> str:
    """Join the parts of a full name that are not empty."""
    return ".".join(part for part in parts if part)


def list_full_names(
    language: str, package: str, scope: str, imported: Sequence[tuple[str, str]], name: str
) -> Iterator[list[str]]:
    """Yield the full names that a name may have in a scope of a file: those of a later list only if none before is one.

    Args:
        language, package: the file's.
        scope: the symbol in which the name stands.
        imported: what `read_full_names` says of the file.
        name: the name, or its first part; PHP: with backslashes.
    """
    first, _, rest = name.replace("\\", ".").partition(".")
    if not first:
        yield [rest]
        return
    known = [join_names(full, rest) for alias, full in imported if alias == first]
    if known:
        yield known
        return
    around = package if language == "php" else join_names(package, scope)
    while True:
        yield [join_names(around, first, rest)]
        if around == "" or (around == package and language not in _NESTED):
            break
        around = around.rpartition(".")[0]
    yield [join_names(full, first, rest) for alias, full in imported if alias == OPENED]
