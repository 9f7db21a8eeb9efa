"""Outline: parses a source file into its definitions and code facts, in characters (D.06)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

import tree_sitter
from tree_sitter import Node, Parser, Query, QueryCursor

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.code_facts import base_name, callee_name, comment_text, docstring_text, import_name
from hyperloci.text.chunking.definitions import Definition, LeadingNode, find_definitions, share_parsed
from hyperloci.text.chunking.programming_languages import Language
from hyperloci.text.chunking.source_text import SourceText, SpanNesting

MIN_PARSED_SHARE = 0.5
"""A file of which less was understood is cut at lines: its tree says more of the grammar than of the file."""

MAX_PARSE_SECONDS = 5.0
"""A file is given up after so long: thirty times what the largest one takes."""

_BYTES_PER_REPORT: Final = 10
_FREE_REPORTS: Final = 100
"""The parser reports its progress every hundred steps: once in 25 to 250 bytes, measured on 100 MB of sources and on
broken ones. So a file that takes more than this is one on which the parser runs in circles."""

_READ_BYTES: Final = 65_536
"""What the parser is handed at a time."""

_SHORT_CALLEE: Final = 64
"""Bytes of a callee that is kept at hand; longer ones are expressions and seldom come again."""

_EXPORT_MACRO: Final = re.compile(
    rb"\b(?:class|struct)\s{1,9}([A-Z][A-Z0-9_]{1,63})(?=\s{1,9}(?!final\b)\w{1,200}\s{0,9}(?:final\s{0,9})?[:{])"
)
"""`API` in `class API Thing {`: C++'s grammar has no macros, and would take the class for a function."""

Fact = tuple[int, str]
"""Something said at a character offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A parsed source file.

    Attributes:
        source: the file.
        root: the syntax tree's root; its offsets are bytes.
        definitions: all of them, nested ones too, outer before inner.
        calls, imports: facts in order.
        bases: what each definition extends, by its index.
        docs: docstring or leading comment of each definition, by its index; of the module under None.
    """

    source: SourceText
    root: Node
    definitions: tuple[Definition, ...]
    calls: tuple[Fact, ...]
    imports: tuple[Fact, ...]
    bases: Mapping[int | None, tuple[str, ...]]
    docs: Mapping[int | None, str]


MAX_SIGNS: Final = 2_000
"""Signs in one node, most of what it holds, from which a file is read as lines."""

_SAMPLES: Final = 32
"""Places of a tree that are looked at: a node that takes long has a good part of the tree."""

MAX_CONTINUATIONS: Final = 2_000
"""Lines of a Python file that end in a backslash: its grammar reads back over them, in the square of their number (a
tenth of a second for so many). More of them are data."""

_HIGH_PLANES: Final = re.compile(rb"[\xf1-\xf4][\x80-\xbf]{3}")
_LETTER: Final = "\U00010000".encode()
"""A character from U+40000 on, where no language has a letter, and what a parser is shown in its place: one as long.
Bash's grammar reads behind its tables there and takes the process with it (`impl {` and U+10FFFF; found by fuzzing)."""


def parse_outline(language: Language, text: str) -> Outline | None:
    """Parse a source file. None if its grammar is missing, gives up, or understands less than half; never raises."""
    grammar = language.load_grammar()
    if grammar is None:
        return None
    source = SourceText.from_text(text)
    if language.name == "python" and source.data.count(b"\\\n") > MAX_CONTINUATIONS:
        return None
    root = _parse_tree(grammar, _hide_export_macros(source.data) if language.name == "cpp" else source.data)
    if root is None or _is_token_heap(root):
        return None
    found = QueryCursor(_compile_query(language, "facts")).captures(root)
    leads = sorted(
        (
            _make_lead(source, node, is_comment=name == "comment")
            for name in ("comment", "lead")
            for node in found.get(name, ())
        ),
        key=lambda lead: lead.start,
    )
    definitions = find_definitions(source, language, _compile_query(language, "definitions"), root, leads)
    errors = [source.span_of(node) for node in found.get("error", ())]
    if share_parsed(definitions, errors, len(text)) < MIN_PARSED_SHARE:
        return None
    nesting = SpanNesting.from_spans([(item.start, item.end) for item in definitions])
    return Outline(
        source=source,
        root=root,
        definitions=definitions,
        calls=_collect_facts(source, found, {"call": _read_callee, "invocation": _read_invocation}),
        imports=_collect_facts(source, found, {"import": _read_import, "member": _read_member}),
        bases=_group_by_definition(nesting, _collect_facts(source, found, {"base": _read_base})),
        docs=_collect_docs(source, nesting, definitions, leads, found.get("doc", ())),
    )


def _hide_export_macros(data: bytes) -> bytes:
    return _EXPORT_MACRO.sub(lambda match: match[0][: match.start(1) - match.start()] + b" " * len(match[1]), data)


def _parse_tree(grammar: tree_sitter.Language, data: bytes) -> Node | None:
    """Return the tree's root, or None when the parser does not come to an end on broken code, as Kotlin's may."""
    data = _HIGH_PLANES.sub(_LETTER, data)
    allowed = _FREE_REPORTS + len(data) // _BYTES_PER_REPORT
    deadline = time.monotonic() + MAX_PARSE_SECONDS
    reports = 0

    def stop(offset: int, has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > allowed or time.monotonic() > deadline

    def read(offset: int, point: object) -> bytes:
        return data[offset : offset + _READ_BYTES]

    try:
        return Parser(grammar).parse(read, progress_callback=stop).root_node
    except ValueError:
        return None


def _is_token_heap(root: Node) -> bool:
    """Say whether much of a tree is one node with thousands of bare signs in it, as nothing but broken code has.

    A query asks of each sign whether a named node follows beside it: the time that takes grows with their square.
    """
    cursor = root.walk()
    nodes = root.descendant_count
    for sample in range(_SAMPLES):
        cursor.goto_descendant(sample * nodes // _SAMPLES)
        if cursor.goto_parent() and (node := cursor.node) is not None:
            signs = node.child_count - node.named_child_count
            if signs > MAX_SIGNS and signs > 0.75 * node.child_count:
                return True
    return False


@cache
def _compile_query(language: Language, which: str) -> Query:
    grammar = language.load_grammar()
    assert grammar is not None  # the caller has loaded it
    return Query(grammar, language.definitions if which == "definitions" else language.facts + "(ERROR) @error")


def _make_lead(source: SourceText, node: Node, *, is_comment: bool) -> LeadingNode:
    """Some grammars count the line's end as part of a line comment: it is not."""
    start, end = source.span_of(node)
    while end > start and source.text[end - 1] in "\r\n":
        end -= 1
    return LeadingNode(start, end, is_comment)


_Reader = Callable[[SourceText, Node], str]


def _collect_facts(
    source: SourceText, found: Mapping[str, list[Node]], readers: Mapping[str, _Reader]
) -> tuple[Fact, ...]:
    read = [
        (source.to_char(node.start_byte), reader(source, node))
        for capture, reader in readers.items()
        for node in found.get(capture, ())
    ]
    return tuple(sorted(fact for fact in read if fact[1]))


def _read_callee(source: SourceText, node: Node) -> str:
    called = source.data[node.start_byte : node.end_byte]
    return _callee_in(called) if len(called) <= _SHORT_CALLEE else callee_name(called.decode("utf-8", "replace"))


@lru_cache(maxsize=4_096)  # A project calls the same things again and again.
def _callee_in(called: bytes) -> str:
    return callee_name(called.decode("utf-8", "replace"))


def _read_invocation(source: SourceText, node: Node) -> str:
    """Read the callee of a call that has no node for it: what stands before its arguments or block."""
    stop = node.child_by_field_name("arguments") or node.child_by_field_name("block")
    return callee_name(source.text_between(node.start_byte, stop.start_byte if stop else node.end_byte).rstrip())


def _read_import(source: SourceText, node: Node) -> str:
    return import_name(source.text_of(node))


def _read_member(source: SourceText, node: Node) -> str:
    """Join a name to the module it is imported from: `from .x import y` imports `.x.y`."""
    statement = node.parent
    if statement is not None and statement.type == "aliased_import":
        statement = statement.parent
    module = statement.child_by_field_name("module_name") if statement is not None else None
    prefix = source.text_of(module) if module is not None else ""
    return prefix + ("" if prefix.endswith(".") else ".") + source.text_of(node)


def _read_base(source: SourceText, node: Node) -> str:
    return base_name(source.text_of(node))


def _group_by_definition(nesting: SpanNesting, facts: Sequence[Fact]) -> dict[int | None, tuple[str, ...]]:
    grouped: dict[int | None, dict[str, None]] = {}
    for offset, word in facts:
        grouped.setdefault(nesting.find_innermost(offset), {})[word] = None
    return {number: tuple(words) for number, words in grouped.items()}


def _collect_docs(
    source: SourceText,
    nesting: SpanNesting,
    definitions: Sequence[Definition],
    leads: Sequence[LeadingNode],
    nodes: Sequence[Node],
) -> dict[int | None, str]:
    docs: dict[int | None, str] = {number: item.comment for number, item in enumerate(definitions) if item.comment}
    for node in sorted(nodes, key=lambda node: node.start_byte, reverse=True):
        docs[nesting.find_innermost(source.to_char(node.start_byte))] = docstring_text(source.text_of(node))
    if None not in docs:
        docs[None] = _find_head_comment(source.text, definitions, leads)
    return docs


_BEFORE_HEAD: Final = ("", "<?php")


def _find_head_comment(text: str, definitions: Sequence[Definition], leads: Sequence[LeadingNode]) -> str:
    """Return what the comments above all code say, unless they are a definition's own or a licence."""
    own = {item.lead for item in definitions if item.lead != item.start}
    run: list[str] = []
    behind = 0
    for lead in leads:
        gap = text[behind : lead.start]
        if not lead.is_comment or gap.strip() not in _BEFORE_HEAD or lead.start in own:
            break
        if gap.count("\n") > 1 and comment_text(run):
            break
        if gap.count("\n") > 1:
            run.clear()
        run.append(text[lead.start : lead.end])
        behind = lead.end
    return comment_text(run)
