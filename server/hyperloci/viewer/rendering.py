"""Rendering: pages as HTML, with every value escaped, and the words in which times and kinds are told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from hyperloci.clock import format_age, format_day, format_minute, from_iso
from hyperloci.model.search import Hit, HitSource
from hyperloci.retrieval.presentation import WITHHELD
from hyperloci.text.cutting import cut_text

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

EVENT_WORDS: Final[Mapping[str, str]] = {
    "create": "stored",
    "extract": "extracted",
    "receive": "received",
    "update": "changed",
    "supersede": "replaced",
    "tier": "moved",
    "confirm": "confirmed",
    "tell": "remembered on purpose",
    "forget": "forgotten",
    "prune": "faded away",
    "expire": "its time was over",
    "restore": "restored",
    "dispute": "disputed",
    "diverge": "changed by two at once",
    "settle": "settled",
    "share": "shared",
    "unshare": "no longer shared",
    "withhold": "never to be recalled",
    "release": "recalled again",
    "clear": "cleared of suspicion",
    "facets": "facets corrected",
}
"""What happened to a memory, by the log's word for it; of a replacement both sides have the same."""

OUTCOME_WORDS: Final[Mapping[str, str]] = {
    "served": "answered by a server",
    "own": "answered without a server",
    "late": "out of time",
    "spooled": "waiting to be stored",
    "aside": "set aside",
    "dropped": "lost",
}
"""What became of a hook's events; that they were handed on and stored is how it should be."""

_UUID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CODE: Final = re.compile(r"(?<!`)`(?!`)([^`\n]+)`(?!`)")
"""Code in a line of text, as Markdown marks it."""

_MARKED: Final = re.compile(rf"(session |id )?({_UUID})|{_CODE.pattern}|\b(\d{{4}}-\d\d-\d\d)\b")
"""In a sentence of ours: the id of a session or of a memory, code, or a day."""

_DOUBT: Final = re.compile(rf"(.+ )({_UUID})")
"""A note that ends with the id of another memory."""


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
        day=lambda at: format_day(from_iso(at)),
        minute=lambda at: format_minute(from_iso(at)),
        clock=lambda at: format_minute(from_iso(at))[-5:],
        kind=name_kind,
        origin=lambda kind: ORIGIN_WORDS.get(kind, kind),
        event=lambda operation: EVENT_WORDS.get(operation, operation.replace("_", " ")),
        place=describe_place,
        excerpt=cut_excerpt,
        state=name_state,
        warnings=list_warnings,
        line=join_lines,
        outcomes=name_outcomes,
        upper_first=lambda text: text[:1].upper() + text[1:],
        sentence=split_sentence,
        prose=split_code,
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


def name_outcomes(outcomes: Mapping[str, int]) -> list[str]:
    """Return in words what became of how many events."""
    return [f"{outcomes[name]:,} {words}" for name, words in OUTCOME_WORDS.items() if outcomes.get(name)]


def name_state(memory: Hit) -> str:
    """Return whether a memory holds: `holds`, `forgotten`, `replaced` or `withheld`."""
    if "forgotten" in memory.notes:
        return "forgotten"
    if memory.valid_until is not None:
        return "replaced"
    return "withheld" if WITHHELD in memory.notes else "holds"


def list_warnings(memory: Hit) -> list[str]:
    """Return the notes of a memory that its state does not tell, one for all that say the same of several memories.

    Who contradicts a forgotten one is no matter.
    """
    told = ("forgotten", "no longer valid", WITHHELD)
    doubts = ("contradicted by", "possibly replaced by") if "forgotten" in memory.notes else ()
    ids_by_words: dict[str, list[str]] = {}
    for note in memory.notes:
        if note not in told and not note.startswith(doubts):
            doubt = _DOUBT.fullmatch(note)
            ids = ids_by_words.setdefault(doubt[1] if doubt else note, [])
            ids += [doubt[2]] if doubt else []
    return [words + ", ".join(ids) for words, ids in ids_by_words.items()]


def split_sentence(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield a sentence of ours in parts: words, what they are (`session`, `memory`, `code`, `day`, ''), and an id."""
    end = 0
    for found in _MARKED.finditer(text):
        before, id, code, day = found.groups()
        yield text[end : found.start()], "", ""
        if id is None:
            yield code or day, "code" if code else "day", ""
        elif before == "session ":
            yield f"{before}{id[:8]}", "session", id
        else:
            yield id[:8], "memory", id
        end = found.end()
    yield text[end:], "", ""


def split_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield a memory's text in parts, and of each whether it is code in a line."""
    for number, part in enumerate(_CODE.split(text)):
        yield part, number % 2 == 1


def describe_place(source: HitSource) -> str:
    """Return the place in files or history that a memory came from, '' for none."""
    if source.commit:
        return f"commit {source.commit[:10]}"
    if source.author:
        return f"from {source.author}, as claimed"
    if not source.path:
        return ""
    lines = "" if source.line_start is None else f":{source.line_start}"
    name = ", ".join(filter(None, (source.cells, source.symbol or " > ".join(source.section_path))))
    return f"{source.path}{lines}" + (f" · {name}" if name else "")


def cut_excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """Return the beginning of a text, with `…` where it was cut."""
    return cut_text(text, limit)


def join_lines(text: str, limit: int = EXCERPT_CHARS) -> str:
    """Return the beginning of a text as one line."""
    return cut_excerpt(" · ".join(filter(None, map(str.strip, text[: 2 * limit].splitlines()))), limit)


_FOR_TOOLS: Final = re.compile(r"^\w+='[^']*': |; search_memory \(`hyperloci query`\) gives ids(?=\.$)")
"""What an error tells those who call with arguments, and who look for ids."""


def explain_error(message: str) -> str:
    """Return an error's message as a page tells it."""
    told = _FOR_TOOLS.sub("", message)
    return told[:1].upper() + told[1:]


def render_page(environment: Environment, name: str, values: Mapping[str, Any]) -> str:
    """Return a page as HTML."""
    return environment.get_template(f"{name}.html").render(values)
