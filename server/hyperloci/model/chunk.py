"""Chunks: what a chunker makes of a file."""

from __future__ import annotations

from enum import StrEnum

from hyperloci.model.position import Position
from hyperloci.system.values import dataclass


class ChunkKind(StrEnum):
    """The kind of text in a chunk; also the snippet's subtype."""

    MARKDOWN = "markdown"
    CODE = "code"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFacts:
    """What the parse tree says of a piece of code.

    Attributes:
        kind: `module`, `class`, `function`, `method`, `block` (loose statements) or `other` (enum, interface, type...).
        name, qualname: bare and qualified name; empty for a module's own statements.
        signature: the definition's header on one line, without its body.
        docstring: docstring or the comment that leads the definition, without markers.
        calls: names called inside, as written (`client.fetch`), unique, in order of first use.
        imports: modules or names imported inside, unique, in order.
        bases: classes or interfaces it extends or implements.
        declared: whether it is a method without a body: of an interface, a trait, an abstract class.
    """

    kind: str
    name: str = ""
    qualname: str = ""
    signature: str = ""
    docstring: str = ""
    calls: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    declared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """A piece of a file that becomes one snippet.

    Attributes:
        text: the exact slice of the decoded file, `source[position.char_start:position.char_end]`.
        kind: what kind of text.
        breadcrumb: where it stands, outermost first: file stem or headings, or module, class, function.
            Indexed with the text, never stored in it (what that is worth: docs/benchmarks/structure.md, "Topologies").
        position: its place.
        section_type: inferred type of its section (`example`, `reference`, `installation`...; D.04), None for code.
        links: targets of the links in it (Markdown), as written.
        code: what the parse says, for code.
    """

    text: str
    kind: ChunkKind
    position: Position
    breadcrumb: tuple[str, ...] = ()
    section_type: str | None = None
    links: tuple[str, ...] = ()
    code: CodeFacts | None = None
