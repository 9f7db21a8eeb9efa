"""Component chunker: cuts the scripts in a Vue, Svelte or Astro component by their syntax, and the rest at lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hyperloci.model.chunk import TextChunk
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.code import chunk_lines, chunk_source, move_chunk
from hyperloci.text.chunking.file_kinds import language_of_plain_file
from hyperloci.text.chunking.lines import LineIndex, Span, is_blank
from hyperloci.text.chunking.programming_languages import BY_NAME, Language

_LANGUAGES: Final = frozenset({"astro", "svelte", "vue"})

_SCRIPT: Final = re.compile(r"<script\b([^<>]{0,500})>", re.IGNORECASE)
_SCRIPT_END: Final = re.compile(r"</script\s{0,9}>", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"\blang\s{0,9}=\s{0,9}[\"']?(\w{1,20})")
_SCRIPT_LANGUAGES: Final = {"ts": "typescript", "typescript": "typescript", "tsx": "tsx"}
_FENCE: Final = re.compile(r"\s*+---[ \t]*+\n")
_FENCE_END: Final = re.compile(r"^---[ \t]*+$", re.MULTILINE)


_TAG: Final = re.compile(r"<([A-Z][\w.]*+|[a-z]\w*+(?:-\w+)+)")
_EXPRESSION: Final = re.compile(
    r"\{([^{}]{1,2000})\}|(?<=\s)(?:v-|[:@#])[\w.:-]{1,80}+=(?:\"([^\"]{1,2000})\"|'([^']{1,2000})')"
)
_HANDLER: Final = re.compile(
    r"(?<=\s)(?:@|v-on:|on:?)[\w.:-]{1,80}+=[\"'{]\s{0,20}([A-Za-z_$][\w$]{0,80}+)\s{0,20}[\"'}]"
)
_CALLED: Final = re.compile(r"(?<![\w$.])([A-Za-z_$][\w$]*+)\(")
_STYLE: Final = re.compile(r"<style\b", re.IGNORECASE)


def is_component(path: str) -> bool:
    """Say whether a file is a component, by its name."""
    return language_of_plain_file(path) in _LANGUAGES


def chunk_component(path: str, text: str) -> list[TextChunk]:
    """Cut a component into chunks, in order; a script's tags go with it. Never raises.

    Args:
        path: POSIX path relative to the project's root.
        text: the decoded file.
    """
    lines = LineIndex.from_text(text)
    chunks: list[TextChunk] = []
    behind = 0
    for script in _find_scripts(path, text):
        chunks += _cut_rest(path, text, lines, (behind, script.start))
        chunks += _cut_script(path, text, lines, script)
        behind = script.end
    return chunks + _cut_rest(path, text, lines, (behind, len(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """A script with its tags, and where its code begins and ends."""

    start: int
    code_start: int
    code_end: int
    end: int
    language: Language


def _find_scripts(path: str, text: str) -> Iterator[_Script]:
    """Yield the scripts in order. One that is not closed ends with the text."""
    behind = 0
    if language_of_plain_file(path) == "astro" and (fence := _FENCE.match(text)):
        close = _FENCE_END.search(text, fence.end())
        code_end, behind = close.span() if close else (len(text), len(text))
        yield _Script(start=0, code_start=fence.end(), code_end=code_end, end=behind, language=BY_NAME["typescript"])
    while tag := _SCRIPT.search(text, behind):
        close = _SCRIPT_END.search(text, tag.end())
        code_end, behind = close.span() if close else (len(text), len(text))
        said = _LANGUAGE.search(tag[1])
        language = BY_NAME[_SCRIPT_LANGUAGES.get(said[1].lower() if said else "", "javascript")]
        yield _Script(start=tag.start(), code_start=tag.end(), code_end=code_end, end=behind, language=language)


def _cut_script(path: str, text: str, lines: LineIndex, script: _Script) -> list[TextChunk]:
    """Cut a script; its parser sees blanks in place of the tags."""
    blank = " " * (script.code_start - script.start), " " * (script.end - script.code_end)
    readable = text[script.code_start : script.code_end].join(blank)
    if is_blank(readable):
        return _cut_rest(path, text, lines, (script.start, script.end))
    return [move_chunk(chunk, text, lines, script.start) for chunk in chunk_source(path, readable, script.language)]


def _cut_rest(path: str, text: str, lines: LineIndex, span: Span) -> list[TextChunk]:
    cut = chunk_lines(path, text[span[0] : span[1]], language_of_plain_file(path))
    return [move_chunk(_note_calls(chunk), text, lines, span[0]) for chunk in cut]


def _note_calls(chunk: TextChunk) -> TextChunk:
    """Add what a template shows and calls: `<user-card>` is `UserCard`, `@click="save"` calls `save`."""
    style = _STYLE.search(chunk.text)
    text = chunk.text[: style.start()] if style else chunk.text
    shown = ("".join(part[:1].upper() + part[1:] for part in match[1].split("-")) for match in _TAG.finditer(text))
    handlers = (match[1] for match in _HANDLER.finditer(text))
    said = (next(filter(None, match.groups())) for match in _EXPRESSION.finditer(text))
    called = (match[1] for expression in said for match in _CALLED.finditer(expression))
    calls = tuple(dict.fromkeys([*shown, *handlers, *called]))
    return replace(chunk, code=replace(chunk.code, calls=calls)) if chunk.code and calls else chunk
