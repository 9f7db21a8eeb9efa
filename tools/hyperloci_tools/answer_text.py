"""Answer texts: the answers of tools as short texts, for clients that show a model only the text.

The text of a memory is always quoted under a line that names its id and source, so that it can't be mistaken for the
server's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hyperloci.clock import format_day, format_minute, from_iso
from hyperloci.text.cutting import cut_line, cut_text
from hyperloci_tools.answer_values import DATA, WITHHELD
from hyperloci_tools.schemas import (
    AffectedOut,
    ContextOut,
    ContradictionOut,
    ContradictionsOut,
    ExplanationOut,
    FactsOut,
    HitOut,
    IndexOut,
    RelatedItemOut,
    RelatedOut,
    RememberedOut,
    ReplOut,
    SearchOut,
    SourceOut,
)

MAX_PLACE_CHARS: Final = 200
"""Paths and headings are cut at this length; they only show where to look."""


def quote_text(text: str) -> str:
    """Return a text as a quotation, every line marked."""
    return "\n".join(f"> {line}" for line in text.splitlines())


def format_source(source: SourceOut) -> str:
    """Return a source in a few words, with its known parts."""
    lines = "-".join(str(source[key]) for key in ("line_start", "line_end") if key in source)
    path = source.get("path")
    shown = quote_name(path) if path else None
    parts = (
        f"{source['kind']} {quote_name(source['author'])}" if "author" in source else source["kind"],
        f"{shown}:{lines}" if shown and lines else shown,
        " > ".join(quote_name(heading) for heading in source.get("section_path", ())),
        quote_name(source["symbol"]) if "symbol" in source else None,
        source.get("cells"),
        f"commit {source['commit'][:12]}" if "commit" in source else None,
        f"session {source['session_id']}" if "session_id" in source else None,
    )
    return ", ".join(_one_line(part) for part in parts if part)


def quote_name(name: str) -> str:
    """Return a name from outside, quoted if it could be read as more than a name."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    line = " ".join(character for character in name.split() if character)
    shown = "".join(character for character in line if character.isprintable() and character not in "`<>")
    return json.dumps(cut_text(shown, MAX_PLACE_CHARS), ensure_ascii=False)


_PLAIN_NAME: Final = re.compile(r"[\w./@+~#:$()\[\]-]{1,120}")
"""Letters and the signs of paths and symbols, without a blank: it can only be a name."""


def _one_line(text: str) -> str:
    # File names and headings come from outside too: they must not start a new line.
    return cut_line(text, MAX_PLACE_CHARS)


def render_memory(hit: HitOut, number: int | None = None) -> str:
    """Return one memory: a line about it, its text quoted, its warnings."""
    kind = "/".join(part for part in (hit["type"], hit.get("subtype")) if part)
    facts = (
        kind,
        f"score {hit['score']}" if "score" in hit else None,
        f"confidence {hit['confidence']}",
        hit["scope"] if hit["scope"] == "global" else None,
        # When it was so: of a commit or a turn the day that it happened, not the day that it was stored.
        format_day(from_iso(hit["valid_from"])),
        format_source(hit["source"]),
    )
    head = f"{'' if number is None else f'{number}. '}id {hit['id']} ({'; '.join(fact for fact in facts if fact)})"
    notes = [f"! {note}" for note in hit.get("notes", ())]
    scores = [f"scores: {_format_counts(hit['explain'])}"] if "explain" in hit else []
    return "\n".join([head, quote_text(hit["content"]), *notes, *scores])


def render_memories(found: Sequence[HitOut]) -> str:
    """Return several memories, numbered."""
    return "\n\n".join(render_memory(hit, number) for number, hit in enumerate(found, 1))


def render_search(answer: SearchOut) -> str:
    """Return the answer of a search."""
    found = answer["results"]
    how = f"{answer['mode']} search, intent {answer['intent']}, strategy {answer['strategy']}"
    count = _count_of(len(found), "memory", "memories")
    head = f"{count} for {answer['query']!r} ({how}). {DATA if found else ''}".strip()
    how_far = "Searched" if answer["mode"] == "hybrid" else "By words only"
    degraded = [f"{how_far}: {answer['degraded']}"] if "degraded" in answer else []
    hints = [f"Hint: {hint}" for hint in answer.get("hints", ())]
    return "\n\n".join([part for part in (head, *degraded, render_memories(found), *hints) if part])


def render_user_facts(answer: FactsOut) -> str:
    """Return what is known of the user."""
    if not answer["facts"]:
        return "Nothing is known about the user yet."
    return f"{answer.get('note', DATA)}\n\n{render_memories(answer['facts'])}"


def render_context(answer: ContextOut) -> str:
    """Return an assembled context; its Markdown names the sources."""
    return answer["markdown"] or "Nothing relevant in memory."


def render_contradictions(answer: ContradictionsOut) -> str:
    """Return the contradictions of a statement."""
    found = answer["contradictions"]
    compared = f"{_count_of(answer['checked'], 'memory', 'memories')} compared"
    named = f"{_count_of(len(found), 'contradiction')} ({compared})."
    parts = [named if found else f"Nothing in memory surely contradicts this ({compared}).", list_contradictions(found)]
    if "on_subject" in answer:
        parts.append(f"On the same subject, for you to judge:\n\n{render_memories(answer['on_subject'])}")
    return "\n\n".join(part for part in (*parts, answer.get("note", "")) if part)


def list_contradictions(found: Iterable[ContradictionOut]) -> str:
    """Return contradictions, each with its reason."""
    return "\n\n".join(
        f"id {item['id']} ({item['kind']}; score {item['score']}; {format_source(item['source'])}): {item['reason']}\n"
        f"{quote_text(item['content'])}"
        for item in found
    )


def render_related(answer: RelatedOut) -> str:
    """Return the memories related to a memory, and which relations it has where none was asked for that it has."""
    items = "\n\n".join(
        f"id {item['id']} ({item['relation']} {item['direction']}; {_format_place(item)}distance {item['distance']}; "
        f"confidence {item['confidence']}{'; found automatically' if item['automatic'] else ''})\n"
        f"{quote_text(item['content'])}"
        for item in answer["related"]
    )
    head = (
        f"{_count_of(len(answer['related']), 'memory', 'memories')} related to this ({_one_line(answer['started'])}):"
    )
    has = f"Its relations: {', '.join(answer['relations'])}." if answer["relations"] else "It has no relations."
    return "\n\n".join(part for part in (f"{head}\n{render_memory(answer['node'])}", items, has, DATA) if part)


def _format_place(item: RelatedItemOut) -> str:
    where = f"{quote_name(item['path'])}:{item.get('line', 1)}" if "path" in item else ""
    name = quote_name(item["symbol"]) if "symbol" in item else ""
    author = f"by {quote_name(item['author'])}" if "author" in item else ""
    return "".join(f"{part}; " for part in (where, name, author) if part)


def render_remembered(answer: RememberedOut, verb: str) -> str:
    """Return the result of remembering a fact."""
    known = "duplicate_of" in answer
    lines = [f"Already known as id {answer['id']}; counted again." if known else f"{verb} as id {answer['id']}."]
    if "scope" in answer:
        lines.append("It holds in all projects.")
    if "until" in answer:
        lines.append(f"Its last day is {answer['until']}; it ends then by itself.")
    if "supersedes" in answer:
        lines.append(f"It replaces id {answer['supersedes']}, which is kept as history.")
    if "sharing" in answer:
        lines.append(answer["sharing"])
    if "redactions" in answer:
        lines.append(f"{_count_of(answer['redactions'], 'secret')} redacted before storing.")
    if WITHHELD in answer.get("flags", ()):
        lines.append("The user withholds it: no search finds it and no session is shown it; only they can end that.")
    elif "flags" in answer:
        lines.append(f"Stored with a warning: {', '.join(answer['flags'])}.")
    if "contradictions" in answer:
        lines.append(f"It contradicts earlier memories:\n\n{list_contradictions(answer['contradictions'])}")
    if "affected" in answer:
        lines.append(f"On the same subject, if it no longer holds:\n\n{list_affected(answer['affected'])}")
    return "\n".join(lines)


def list_affected(found: Iterable[AffectedOut]) -> str:
    """Return memories on the same subject, each with the call that replaces it."""
    return "\n\n".join(
        f"{item['date']}{'; ' + quote_name(item['author']) if 'author' in item else ''}; {item['replace_by']}\n"
        f"{quote_text(item['content'])}"
        for item in found
    )


def render_explanation(answer: ExplanationOut) -> str:
    """Return a memory's history."""
    parts = [DATA, render_memory(answer["node"]), " ".join(answer["account"])]
    if "superseded_by" in answer:
        parts.append(f"Superseded by:\n{render_memory(answer['superseded_by'])}")
    if "supersedes" in answer:
        parts.append(f"Supersedes:\n{render_memories(answer['supersedes'])}")
    if "supersedes_more" in answer:
        parts.append(f"and {answer['supersedes_more']} older ones")
    if "sources" in answer:
        parts.append(f"Derived from:\n{render_memories(answer['sources'])}")
    if "sources_more" in answer:
        parts.append(f"and {answer['sources_more']} more")
    if "entities" in answer:
        parts.append(f"Mentions: {', '.join(answer['entities'])}")
    lines = [
        f"{format_minute(from_iso(line['time']))} {line['operation']} {line.get('reason', '')}".rstrip()
        for line in answer.get("log", ())
    ]
    return "\n\n".join([*parts, *(["\n".join(["Log:", *lines])] if lines else [])])


def render_index_report(answer: IndexOut) -> str:
    """Return what indexing did."""
    if answer["status"] == "running":
        return "Indexing continues in the background; memory_stats shows the progress."
    counts = ", ".join(
        f"{answer.get(key, 0)} {key}" for key in ("chunks", "added", "changed", "moved", "removed", "commits")
    )
    head = f"Indexed {_count_of(answer.get('files', 0), 'file')} in {answer.get('seconds', 0)} s: {counts}."
    waiting = answer.get("commits_waiting", 0)
    older = (
        [f"{_count_of(waiting, 'older commit')} {_is_or_are(waiting)} not stored yet; they follow, newest first."]
        if waiting
        else []
    )
    skipped = [f"skipped {item['path']}: {item['reason']}" for item in answer.get("skipped", ())]
    more = [f"and {answer['skipped_more']} more skipped"] if "skipped_more" in answer else []
    count = answer.get("set_aside", 0)
    aside = [f"{_count_of(count, 'thing')} set aside; `hyperloci set-aside` lists them"] if count else []
    return "\n".join([head, *older, *aside, *skipped, *more])


def render_repl(answer: ReplOut) -> str:
    """Return the result of a program; its output and values are quoted, as they may come from memories."""
    parts = [f"Ran with {_count_of(answer['calls'], 'call')} of memory functions. {DATA}"]
    if "output" in answer:
        parts.append(f"Printed:\n{quote_text(answer['output'])}")
    if answer["result"] is not None:
        parts.append(f"Result:\n{quote_text(json.dumps(answer['result'], ensure_ascii=False))}")
    if "error" in answer:
        error = answer["error"]
        where = f" in line {error['line']}" if "line" in error else ""
        parts.append(f"It ended{where} with {error['type']}:\n{quote_text(error['message'])}")
    if "names_not_kept" in answer:
        parts.append(f"The next program won't know {', '.join(answer['names_not_kept'])}.")
    return "\n\n".join(parts)


def render_stats(answer: Mapping[str, Any]) -> str:
    """Return counts, one subject per line."""
    return "\n".join(f"{name}: {_format_counts(value)}" for name, value in answer.items())


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _format_counts(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_format_nested(item)}" for key, item in value.items()) or "none"
    return str(value)


def _format_nested(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(_format_nested, value)) or "none"
    return f"({_format_counts(value)})" if isinstance(value, Mapping) else str(value)


def _count_of(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
