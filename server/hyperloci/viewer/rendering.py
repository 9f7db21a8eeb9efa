"""Rendering: pages as HTML, with every value escaped, and the words in which times and kinds are told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from hyperloci.clock import format_age, from_iso
from hyperloci.model.search import Hit, HitSource
from hyperloci.retrieval.presentation import WITHHELD

EXCERPT_CHARS: Final = 1_200
"""Of a memory in a list; its own page has all of it."""

KIND_WORDS: Final[Mapping[str, str]] = {
    "dead_end": "dead end",
    "user_info": "about you",
    "semantic": "fact",
    "markdown": "document",
    "chunk_micro": "summary",
    "chunk_mini": "summary",
    "chunk_macro": "summary",
}
"""Kinds whose names say nothing to a person."""

ORIGIN_WORDS: Final[Mapping[str, str]] = {
    "user_prompt": "you said it",
    "tool": "remembered on purpose",
    "claude_response": "the assistant said it",
    "hook": "a tool's use",
    "extraction": "extracted from a session",
    "commit": "a commit",
    "markdown": "a document",
    "code": "code",
    "import": "imported",
}

_ID: Final = re.compile(r"(session )?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
"""An id in a sentence of ours: of a session, or of a memory."""


def make_environment() -> Environment:
    """Return the templates; each value that they show is escaped, and a name that they misspell is an error."""
    environment = Environment(
        loader=PackageLoader("hyperloci.viewer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        age=lambda at, now: format_age(from_iso(at), now),
        day=lambda at: at[:10],
        minute=lambda at: f"{at[:10]} {at[11:16]}",
        clock=lambda at: at[11:16],
        kind=name_kind,
        origin=lambda kind: ORIGIN_WORDS.get(kind, kind),
        place=describe_place,
        excerpt=cut_excerpt,
        state=name_state,
        warnings=list_warnings,
        linked=split_ids,
    )
    for name in environment.list_templates(extensions=["html"]):
        # Compiled now, not while somebody waits for the first of each.
        environment.get_template(name)
    return environment


def name_kind(memory: Hit) -> str:
    """Return in a word what a memory is."""
    if memory.subtype == "episode":
        return "prompt" if memory.source.kind == "user_prompt" else "answer"
    kind = memory.subtype or memory.type
    return KIND_WORDS.get(kind, kind.replace("_", " "))


def name_state(memory: Hit) -> str:
    """Return whether a memory holds: `holds`, `forgotten`, `replaced` or `withheld`."""
    if "forgotten" in memory.notes:
        return "forgotten"
    if memory.valid_until is not None:
        return "replaced"
    return "withheld" if WITHHELD in memory.notes else "holds"


def list_warnings(memory: Hit) -> list[str]:
    """Return the notes of a memory that its state does not tell; who contradicts a forgotten one is no matter."""
    told = ("forgotten", "no longer valid", WITHHELD)
    doubts = ("contradicted by", "possibly replaced by") if "forgotten" in memory.notes else ()
    return [note for note in memory.notes if note not in told and not note.startswith(doubts)]


def split_ids(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield a sentence in parts: words, and the kind (`session`, `memory`, '') and id of what they lead to."""
    end = 0
    for found in _ID.finditer(text):
        yield text[end : found.start()], "", ""
        yield f"{found[1] or ''}{found[2][:8]}", "session" if found[1] else "memory", found[2]
        end = found.end()
    yield text[end:], "", ""


def describe_place(source: HitSource) -> str:
    """Return the place in files or history that a memory came from, '' for none."""
    if source.commit:
        return f"commit {source.commit[:10]}"
    if source.author:
        return f"from {source.author}, as claimed"
    if not source.path:
        return ""
    lines = "" if source.line_start is None else f":{source.line_start}"
    name = source.symbol or " > ".join(source.section_path)
    return f"{source.path}{lines}" + (f" · {name}" if name else "")


def cut_excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """Return the beginning of a text, with `…` where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def render_page(environment: Environment, name: str, values: Mapping[str, Any]) -> str:
    """Return a page as HTML."""
    return environment.get_template(f"{name}.html").render(values)
