"""Definitions: finds what a source file defines: names, extents, nesting, signatures, leading comments (D.06)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import Final

from tree_sitter import Node, Query, QueryCursor

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.code_facts import comment_text, name_parts, one_line_signature
from hyperloci.text.chunking.lines import Span
from hyperloci.text.chunking.programming_languages import INLINE_LINES, Language
from hyperloci.text.chunking.source_text import SourceText, SpanNesting

_MAX_WRAPPED: Final = 64
"""A wrapper of one definition has that, its decorators and a word or two; what has more children is a list."""

_KINDS: Final = ("class", "function", "other", "namespace")

_INTERFACE: Final = "interface_declaration"
"""One of TypeScript has methods, however few lines it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A named piece of a source file.

    Attributes:
        name, qualname: bare name; its path from the module down, with dots.
        owner: the class-like thing around it or named in front of it, empty if none.
        kind: `class`, `function`, `method` or `other`.
        is_class: whether it is class-like: it may own methods.
        start, end: characters, from its first decorator to its end.
        lead: where the comment right above it begins; `start` if there is none.
        parent: index of the definition it stands in.
        chunked: whether it may be a chunk of its own.
        part: whether it only declares or holds a value.
        declared: whether it is a method that has no body here.
        signature: its header on one line.
        comment: what the comment right above it says.
    """

    name: str
    qualname: str
    owner: str
    kind: str
    is_class: bool
    start: int
    end: int
    lead: int
    parent: int | None
    chunked: bool
    part: bool
    declared: bool
    signature: str
    comment: str


@dataclass(frozen=True, slots=True)
class LeadingNode:
    """A comment or attribute that may belong to the definition below it. Offsets are characters."""

    start: int
    end: int
    is_comment: bool


@dataclass(slots=True)
class _DefinitionMatch:
    """A definition as the query found it."""

    node: Node
    outer: Node
    capture: str
    pattern: int
    parts: tuple[str, ...]


def find_definitions(
    source: SourceText, language: Language, query: Query, root: Node, leads: Sequence[LeadingNode]
) -> tuple[Definition, ...]:
    """Return all definitions in the tree, nested ones too, outer before inner.

    Args:
        source: the file.
        language: its row; `query` is its `definitions`, compiled.
        root: the tree's root.
        leads: comments and attributes, in order.
    """
    found = _find_matches(source, language, query, root)
    matches = sorted(found, key=lambda match: (match.outer.start_byte, -match.outer.end_byte))
    spans = [source.span_of(match.outer) for match in matches]
    nesting = SpanNesting.from_spans(spans)
    lead_ends = [lead.end for lead in leads]
    built: list[Definition] = []
    for match, span, parent in zip(matches, spans, nesting.parents, strict=True):
        above = built[parent] if parent is not None else None
        own_leads = _leads_before(source, leads, lead_ends, span[0])
        built.append(_make_definition(source, language, match, span, parent, above, own_leads))
    return tuple(built)


def _make_definition(
    source: SourceText,
    language: Language,
    match: _DefinitionMatch,
    span: Span,
    parent: int | None,
    above: Definition | None,
    leads: Sequence[LeadingNode],
) -> Definition:
    kind, _, suffix = match.capture.partition(".")
    owner = match.parts[-2] if len(match.parts) > 1 else _owner_name(above)
    declared = suffix == "declared" and above is not None and above.is_class and above.chunked
    chunked = suffix == "" or declared or (suffix == "inline" and _count_lines(match.outer) >= INLINE_LINES)
    return Definition(
        name=match.parts[-1],
        qualname=".".join(((above.qualname,) if above else ()) + match.parts),
        owner=owner,
        kind="method" if kind == "function" and owner else "other" if kind == "namespace" else kind,
        is_class=kind == "class" or (kind == "other" and (not suffix or match.node.type == _INTERFACE)),
        start=span[0],
        end=span[1],
        lead=leads[0].start if leads else span[0],
        parent=parent,
        chunked=chunked,
        part=suffix == "part" or (suffix == "declared" and not declared),
        declared=declared,
        signature=_signature_of(source, language, match) if chunked else "",
        comment=comment_text([source.text[lead.start : lead.end] for lead in leads if lead.is_comment]),
    )


def _owner_name(above: Definition | None) -> str:
    """Return the class that a definition right inside `above` is a member of."""
    return above.name if above is not None and above.is_class else ""


def _count_lines(node: Node) -> int:
    return node.end_point.row - node.start_point.row + 1


def _find_matches(source: SourceText, language: Language, query: Query, root: Node) -> Iterator[_DefinitionMatch]:
    """Yield one match for each defined node: of several patterns the last, of several names the first."""
    best: dict[Span, _DefinitionMatch] = {}
    matches = [
        (pattern, captures, capture)
        for pattern, captures in QueryCursor(query).matches(root)
        if captures.get("name") and (capture := next((name for name in captures if _is_kind(name)), None))
    ]
    defined = {captures[capture][0].id for _, captures, capture in matches}
    for pattern, captures, capture in matches:
        node = captures[capture][0]
        outer = _find_wrapper(node, language, defined)
        held = best.get(outer.byte_range)
        if held is not None and held.pattern >= pattern:
            continue
        owners = [part for owner in captures.get("owner", ()) for part in name_parts(source.text_of(owner))]
        parts = (*owners, *name_parts(source.text_of(captures["name"][0])))
        if parts:
            best[outer.byte_range] = _DefinitionMatch(node, outer, capture, pattern, parts)
    yield from best.values()


def _is_kind(capture: str) -> bool:
    return capture.partition(".")[0] in _KINDS


def _find_wrapper(node: Node, language: Language, defined: Set[int]) -> Node:
    """Return the outermost wrapper that holds this definition and no other."""
    if not language.wrappers:
        return node
    outer = node
    while (parent := outer.parent) is not None and parent.type in language.wrappers:
        if parent.child_count > _MAX_WRAPPED:
            break
        if sum(child.type == outer.type or child.id in defined for child in parent.children) > 1:
            break
        outer = parent
    return outer


def _leads_before(
    source: SourceText, leads: Sequence[LeadingNode], ends: Sequence[int], start: int
) -> list[LeadingNode]:
    """Return the unbroken run of comments and attributes right above a definition, at its indentation."""
    text, lines = source.text, source.lines
    column = start - lines.start_of_line_at(start)
    found: list[LeadingNode] = []
    below = start
    number = bisect_right(ends, start) - 1
    while number >= 0:
        lead = leads[number]
        gap = text[lead.end : below]
        line = lines.start_of_line_at(lead.start)
        if gap.strip() or gap.count("\n") > 1 or lead.start - line != column or text[line : lead.start].strip():
            break
        found.insert(0, lead)
        below = lead.start
        number -= 1
    return found


# Signatures

_BODY_HOLDERS: Final = ("value", "right", "type", "definition")
"""Fields whose node has the body where the definition has none: `const f = () => ...`, `type T struct {...}`."""

_BODY_ENDINGS: Final = ("_body", "block", "declaration_list", "column_definitions", "create_query")


def _signature_of(source: SourceText, language: Language, match: _DefinitionMatch) -> str:
    start = _skip_attributes(match.outer, language)
    body = _find_body(match.node)
    if body is not None:
        return one_line_signature(source.text_between(start, body.start_byte))
    header = source.text_between(start, match.outer.end_byte)
    if match.capture.endswith(".declared"):
        return one_line_signature(header)
    brace = header.find("{")
    return one_line_signature(header[:brace] if brace > 0 else header.partition("\n")[0])


def _skip_attributes(node: Node, language: Language) -> int:
    """Return the byte at which a definition's header begins, behind its decorators and annotations."""
    skipped = node.start_byte
    for child in node.children:
        if child.type == "modifiers":
            return _skip_attributes(child, language)
        if child.type not in language.attributes and not child.type.endswith("comment"):
            return child.start_byte
        skipped = child.end_byte
    return skipped


def _find_body(node: Node) -> Node | None:
    if body := node.child_by_field_name("body"):
        return body
    for field in _BODY_HOLDERS:
        holder = node.child_by_field_name(field)
        if holder and (body := holder.child_by_field_name("body") or _find_body_child(holder)):
            return body
    return _find_body_child(node)


def _find_body_child(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type.endswith(_BODY_ENDINGS)), None)


def share_parsed(definitions: Sequence[Definition], errors: Sequence[Span], length: int) -> float:
    """Return which share of a file the parser understood: all but what it skipped outside of every definition."""
    whole = [item for item in definitions if not item.part]
    starts = [item.start for item in whole]
    skipped, behind = 0, 0
    for start, end in sorted(errors):
        cursor = max(start, behind)
        for item in islice(whole, bisect_left(starts, cursor), bisect_left(starts, end)):
            if item.start >= cursor:
                skipped += item.start - cursor
                cursor = min(item.end, end)
        skipped += max(0, end - cursor)
        behind = max(behind, end)
    return 1.0 - skipped / max(1, length)
