"""Statements: the sentences of a turn, without code, quotations and logs, and what a question presupposes."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from typing import Final

from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import alternatives, phrase_pattern

MAX_SENTENCE_CHARS: Final = 600
"""A longer one is a paste without full stops."""

MIN_WORDS: Final = 4
"""Fewer words say nothing without what they answer."""

MAX_CHARS: Final = 100_000
"""Of a text, what sentences are taken from: a turn that goes on holds a pasted file or log. It is stored whole."""

MAX_ELEMENT_CHARS: Final = 4_000
"""As far as the end of an element is looked for."""

_OPENED: Final = re.compile(r"<([a-zA-Z][\w-]{0,40}+)[^<>]{0,400}+>")
_CLOSED: Final = re.compile(r"</([a-zA-Z][\w-]{0,40}+)>")
_NOISE: Final = re.compile(
    r"^[ \t]*(?:[\w.]*(?:Error|Exception)\b|>|\||#|---|===|\$ |at .+:\d+|Traceback |File \"|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:ERROR|WARN|INFO"
    r"|DEBUG)\b|[+-]{3} |@@ )"
)
_CODE_LINE: Final = re.compile(
    r"[{};=]\s*$|^\s*(?:def|class|import|from|return|const|let|var|function|public|SELECT|<\w)\b.*[:;({>]"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order; what is code, a quotation, a table, a log or markup is left out."""
    plain = _without_elements(mask_code(text[:MAX_CHARS]))
    lines = ("" if _NOISE.match(line) or _CODE_LINE.search(line) else line for line in plain.splitlines())
    return [sentence for sentence in split_sentences("\n".join(lines)) if len(sentence) <= MAX_SENTENCE_CHARS]


def _without_elements(text: str) -> str:
    """Return a text without what stands between a tag and its end, if that is not too far behind it."""
    ends: dict[str, list[int]] = {}
    for match in _CLOSED.finditer(text):
        ends.setdefault(match[1], []).append(match.start())
    if not ends:
        return text
    kept: list[str] = []
    at = 0
    for opened in _OPENED.finditer(text):
        closings = ends.get(opened[1], ())
        next_one = bisect_left(closings, opened.end())
        if opened.start() >= at and next_one < len(closings) and closings[next_one] <= opened.end() + MAX_ELEMENT_CHARS:
            kept.append(text[at : opened.start()])
            at = closings[next_one] + len(f"</{opened[1]}>")
    return "\n".join((*kept, text[at:]))


def word_count(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split())


def statements(sentence: str) -> list[str]:
    """Return what a sentence states: itself, without the request in it; of a question, what it takes for granted."""
    asking = next((match for match in _request_pattern().finditer(sentence)), None)
    if asking is None:
        return [] if sentence.rstrip().endswith("?") and not _granted_pattern().search(sentence) else _worth([sentence])
    stated, asked = sentence[: asking.start()], sentence[asking.end() :]
    granted = _granted_pattern().search(asked)
    return _worth([stated, *(statements(asked[granted.end() :].rstrip(" ?")) if granted else ())])


def _worth(parts: list[str]) -> list[str]:
    cleaned = [part.strip(" ,;:—–-?").strip() for part in parts]
    return [part for part in cleaned if word_count(part) >= MIN_WORDS]


@functools.cache
def _request_pattern() -> re.Pattern[str]:
    """Return what is found where a request begins: at the beginning of a sentence or of a clause."""
    openers, joints = alternatives("consolidation.request_openers"), alternatives("consolidation.joints")
    begins = rf"(?:^|[,;:—–]\s*|\s-\s|,?\s{joints}\s)(?:{openers}\s+)?"
    return phrase_pattern("consolidation.requests", f"{begins}(?=@)")


def _granted_pattern() -> re.Pattern[str]:
    """Return what is found before something that a question takes for granted."""
    subjects = alternatives("consolidation.granted_subjects")
    return phrase_pattern("consolidation.granted", rf"\b@\s+(?={subjects}\b)")
