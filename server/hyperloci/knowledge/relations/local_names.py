"""Local names: what a snippet itself says of a name - that it is called, given a value, or of which class it is."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from hyperloci.knowledge.relations.packages import is_macro_test
from hyperloci.store.memories.relation_queue import LinkableSnippet

TYPE_FIRST: Final = frozenset({"java", "c_sharp", "cpp", "c", "php"})

_OPENS: Final = frozenset("(<`!")
_BEFORE: Final = frozenset("._$:>)]")

_GIVEN: Final = (" =", ":", ",", " in ", " of ", " :=", ")")
"""What stands behind a name that a snippet gives a value: looked for first, since the patterns below take longer."""

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_PARAMETER: Final = re.compile(r"[(,]\s*[*&]*([A-Za-z_$][\w$]*)\s*(?=[:,=)?])")
_TYPED: Final = re.compile(r"\b(\w+)\??:\s*(?:&\s*(?:'\w+\s+)?(?:mut\s+)?|[\"'])?([A-Za-z_][\w.]*)")
_GO_TYPED: Final = re.compile(r"[(,]\s{0,9}(\w+)\s{1,9}(?:\.\.\.)?[*&]?([A-Za-z_]\w*(?:\.\w+)?)\s{0,9}(?=[,)])")
_TYPED_FIRST: Final = re.compile(
    r"[(,]\s{0,9}(?:final\s{1,9}|const\s{1,9}|\?)?([A-Z]\w*)(?:<[^<>()]{0,200}>)?\??[*&]?\s{1,9}[*&]?\$?(\w+)\s{0,9}(?=[,)=])"
)
_DECLARED_TYPE_FIRST: Final = re.compile(
    r"^[ \t]*+(?:[a-z]++[ \t]++){0,6}\??([A-Z]\w*+)(?:<[^<>;\n]{0,200}>)?\??[*&]?[ \t]++"
    r"[*&]?\$?(\w++)[ \t]*+(?=[;={,)\n])",
    re.MULTILINE,
)
_DECLARED: Final = re.compile(
    r"^[ \t]*+(?:[\w()@]++[ \t]++){0,6}(\w++)[?!]?:[ \t]*+(?:&[ \t]*+(?:'\w++[ \t]++)?)?([A-Z][\w.]*+)(?!\()",
    re.MULTILINE,
)
_CONSTRUCTED: Final = re.compile(
    r"(?<![\w.])(\w{1,80})[ \t]{0,9}(?::[^=\n]{0,80})?:?=[ \t]{0,9}(?:await[ \t]+)?(?:new[ \t]+)?&?"
    r"((?:[A-Za-z_]\w{0,80}\.){0,3}[A-Z]\w{0,80})[ \t]{0,9}[({]"
)
_OPENED: Final = re.compile(
    r"\bwith[ \t]+((?:[A-Za-z_]\w{0,80}\.){0,3}[A-Z]\w{0,80})\([^\n]{0,200}?\)[ \t]+as[ \t]+(\w{1,80})[ \t]*[:,)]"
)
"""What a snippet makes for itself has the class that it is made of."""

_NO_TARGET: Final = re.compile(r"[.\[\]{}'\"#=]")
_BINDINGS: Final = (
    re.compile(r"\b(\w+)\s*:="),
    re.compile(
        r"\bfor\s++\(?\s{0,9}+(?:(?:const|let|var)\s++)?([\w$,()][\w$, \t()]{0,200}?)(?<=\S)\s{1,40}+(?:in|of)\b"
    ),
    re.compile(r"\bas\s+(\w+)\s*[,:)]"),
    re.compile(r"\blambda\s++([\w,*][\w, *]{0,200}+):"),
)


def is_called_bare(text: str, name: str) -> bool:
    """Say whether a name is called on its own, or shown (`<Card />`): of `get().run()` only the last name is known."""
    end = 0
    while (start := text.find(name, end)) >= 0:
        end = start + len(name)
        before, after = text[start - 1 : start], text[end : end + 2].lstrip(" ")[:1]
        after = "<" if text.startswith("::<", end) else after
        # `i<size` is a comparison.
        if (
            (before == "<" and name[0].isupper())
            or is_made(text[max(start - 5, 0) : end + 1], name)
            or (after in _OPENS and not (before.isalnum() or before in _BEFORE))
        ):
            return True
    return False


def is_made(text: str, name: str) -> bool:
    """Say whether an object of a class is made (`new Card { ... }`)."""
    end = 0
    while (start := text.find(f"new {name}", end)) >= 0:
        end = start + len(name) + 4
        if not text[end : end + 1].isalnum() and text[end : end + 1] not in {"_", ".", "\\"}:
            return True
    return False


def is_bound(row: LinkableSnippet, name: str) -> bool:
    """Say whether a name is a parameter, or given a value, in a snippet."""
    # What stands between the parentheses of `TEST(Suite, Name)` is its name, mostly that of what it tests.
    if name in _parameter_names(str(row.facts.get("signature", ""))) and not is_macro_test(row):
        return True
    text = row.content
    return any(name + sign in text for sign in _GIVEN) and name in _bound_names(text)


@functools.lru_cache(maxsize=8)
def _parameter_names(signature: str) -> frozenset[str]:
    return frozenset(match[1] for match in _PARAMETER.finditer(signature))


@functools.lru_cache(maxsize=8)
def _bound_names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for line in text.split("\n"):
        # Without spaces it is mostly an argument by name on a line of its own.
        given, assigned, _ = line.partition(" = ")
        if assigned and not _NO_TARGET.search(given):
            found.update(_NAME.findall(given.partition(":")[0]))
    for pattern in _BINDINGS:
        for match in pattern.finditer(text):
            found.update(_NAME.findall(match[1]))
    return frozenset(found)


@functools.lru_cache(maxsize=8)
def read_parameter_types(signature: str, language: str | None) -> Mapping[str, str]:
    """Return what a signature says its parameters are, a Go method's receiver too."""
    if language == "go":
        return {match[1]: match[2] for match in _GO_TYPED.finditer(signature)}
    if language in TYPE_FIRST:
        return {match[2]: match[1] for match in _TYPED_FIRST.finditer(signature)}
    return {match[1]: match[2] for match in _TYPED.finditer(signature)}


@functools.lru_cache(maxsize=8)
def read_declared_types(text: str, language: str | None) -> Mapping[str, str]:
    """Return what a text says its fields and variables are, each on a line of its own; nothing of two in one name."""
    if language in TYPE_FIRST:
        found = [(match[2], match[1]) for match in _DECLARED_TYPE_FIRST.finditer(text)]
    else:
        lines = text.replace("(", "(\n").replace(", ", ",\n")
        found = [(match[1], match[2]) for match in _DECLARED.finditer(lines)]
    types: dict[str, str] = {}
    for name, said in found:
        types[name] = said if types.get(name, said) == said else ""
    return types


@functools.lru_cache(maxsize=8)
def read_made_types(text: str) -> Mapping[str, str]:
    """Return the class of each name that a snippet gives an object made there, and nothing else."""
    made: dict[str, set[str]] = {}
    count: Counter[str] = Counter()
    # Line by line, as it spans none: trying every word of the lines that give nothing a value takes four times as long.
    for line in text.split("\n"):
        for match in _CONSTRUCTED.finditer(line) if "=" in line else ():
            made.setdefault(match[1], set()).add(match[2])
            count[match[1]] += 1
    for match in _OPENED.finditer(text):
        made.setdefault(match[2], set()).add(match[1])
    return {
        name: next(iter(classes))
        for name, classes in made.items()
        if len(classes) == 1 and text.count(f"{name} = ") + text.count(f"{name} := ") <= count[name]
    }
