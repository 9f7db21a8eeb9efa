"""Sentences of what was said: without code, quotations and logs, and what a question takes for granted."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from hyperloci.text.language.fences import mask_code
from hyperloci.text.language.sentences import split_sentences

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

_ASK: Final = (
    r"(?:can|could|would|will|do|did|does|should|shall|may) (?:you|u|i|we|it|this|that|there|they)\b"
    r"|(?:please )?(?:help|explain|show|tell|give|walk|provide|suggest|recommend|guide|advise) (?:me|us)\b"
    r"|(?:what|which|when|where|who|why|how)(?:'s|’s| (?:can|do|does|did|should|would|could|is|are|was|were"
    r"|will|might|much|many"
    r"|long|often|else|about|to|some|specific|kind|steps|tools))\b"
    r"|(?:is|are|was|were) (?:that|this|it|there|these|those|my|the)\b|any (?:tips|advice|ideas|suggestions"
    r"|thoughts|recommendations)\b"
    r"|i (?:want|need|would like|'d like) (?:you )?to (?:know|understand|make sure|ask|see if)\b|thank(?:s| you)\b"
    r"|(?:можешь|можете|мог бы|могли бы|подскажи|помоги|объясни|покажи|расскажи|как|что|какой|какие|почему"
    r"|зачем|где|когда) "
)
_AT_CLAUSE: Final = re.compile(
    rf"(?:^|[,;:—–]\s*|\s-\s|,?\s(?:so|and|but|а|и|но)\s)(?:(?:so|and|but|then|also)\s+)?(?={_ASK})", re.I
)
_GRANTED: Final = re.compile(
    r"\b(?:considering(?: that)?|given(?: that)?|especially (?:since|as|because|when|now that)|now that|because"
    r"|since|seeing (?:as|that)"
    r"|the fact that|remind me that|keeping in mind(?: that)?|knowing(?: that)?|so that|as|with|учитывая,? что"
    r"|поскольку|так как|раз)\s+"
    r"(?=(?:i|i'm|i’m|i've|i’ve|i'll|we|we're|we’re|we've|my|our|it's|it’s|the|this|я|мы|мой|моя|у меня|у нас|наш)\b)",
    re.IGNORECASE,
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
    asking = next((match for match in _AT_CLAUSE.finditer(sentence)), None)
    if asking is None:
        return [] if sentence.rstrip().endswith("?") and not _GRANTED.search(sentence) else _worth([sentence])
    stated, asked = sentence[: asking.start()], sentence[asking.end() :]
    granted = _GRANTED.search(asked)
    return _worth([stated, *(statements(asked[granted.end() :].rstrip(" ?")) if granted else ())])


def _worth(parts: list[str]) -> list[str]:
    cleaned = [part.strip(" ,;:—–-?").strip() for part in parts]
    return [part for part in cleaned if word_count(part) >= MIN_WORDS]
