"""Position: where a memory stands in a file, a document or on the web (D.01)."""

from __future__ import annotations

from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a file, a document or on the web.

    Attributes:
        path: POSIX path relative to the project's root.
        line_start, line_end: first and last line, 1-based, inclusive.
        char_start, char_end: offsets into the decoded text (of a notebook: into its cells' sources, one below the
            other), 0-based, end exclusive.
        section_path: the headings above and of this place, outermost first.
        headings: headings of further sections that this place reaches into: short ones share a snippet.
        heading_level: level of the innermost heading, 1..6; None outside any.
        module, class_name, function_name: dotted module, enclosing class, enclosing function or method.
        symbol: qualified name inside the file (`Class.method`), None for plain text.
        scope_depth: nesting depth of the symbol, 0 at module level.
        language: name of the grammar that parsed it (`python`, `markdown`).
        url: address of the page that it is from: what was fetched, or what a document names as its source.
        anchor: the heading's GitHub slug.
    """

    path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    char_start: int | None = None
    char_end: int | None = None
    section_path: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    heading_level: int | None = None
    module: str | None = None
    class_name: str | None = None
    function_name: str | None = None
    symbol: str | None = None
    scope_depth: int = 0
    language: str | None = None
    url: str | None = None
    anchor: str | None = None
