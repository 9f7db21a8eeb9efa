"""Sentences of what was said: without code, quotations and logs, and what a question takes for granted."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

MAX_SENTENCE_CHARS: Final = 600
"""A longer one is a paste without full stops."""

MIN_WORDS: Final = 4
"""Fewer words say nothing without what they answer."""

MAX_CHARS: Final = 100_000
"""Of a text, what sentences are taken from: a turn that goes on holds a pasted file or log. It is stored whole."""

MAX_ELEMENT_CHARS: Final = 4_000
"""As far as the end of an element is looked for."""

_FENCE: Final = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_OPENED: Final = re.compile(r"<([a-zA-Z][\w-]{0,40}+)[^<>]{0,400}+>")
_CLOSED: Final = re.compile(r"</([a-zA-Z][\w-]{0,40}+)>")
_NOISE: Final = re.compile(
    r"^[ \t]*(?:[\w.]*(?:Error|Exception)\b|>|\||#|---|===|\$ |at .+:\d+|Traceback |File \"|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:ERROR|WARN|INFO"
    r"|DEBUG)\b|[+-]{3} |@@ )"
)
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_END: Final = re.compile(r"(?<=[.!?…])[\"'”»)\]]*\s+(?=[\"'“«(\[`*]*[\w`])")
_SHORT: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|dr|mr|mrs|ms|prof|fig|inc|ltd|st|т\.е|т\.к|т\.д|т\.п)\.|\b[A-Z]\.)$", re.I
)
_SHORT_CHARS: Final = 16
"""No abbreviation is longer."""

_ABBREVIATED: Final = re.compile(r"(?:^|[\s(])\w\.$")
"""A dot after a single letter ends no sentence where the next one begins in lower case, as chats do."""

_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")

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
    plain = _without_elements(_FENCE.sub("\n", text[:MAX_CHARS]))
    found: list[str] = []
    for block in _blocks(plain):
        found += _split(block)
    return [sentence for sentence in found if len(sentence) <= MAX_SENTENCE_CHARS]


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


def _blocks(text: str) -> list[str]:
    """Return runs of lines that belong together: a paragraph, or an item of a list."""
    blocks: list[list[str]] = []
    open_block = False
    for line in text.splitlines():
        if not line.strip() or _NOISE.match(line) or _CODE_LINE.search(line):
            open_block = False
        elif _BULLET.match(line) or not open_block:
            blocks.append([_BULLET.sub("", line).strip()])
            open_block = True
        else:
            blocks[-1].append(line.strip())
    return [" ".join(lines) for lines in blocks]


def _split(block: str) -> list[str]:
    parts: list[list[str]] = []
    for piece in _END.split(_MARKUP.sub("", block)):
        before = parts[-1][-1][-_SHORT_CHARS:] if parts else ""
        if _SHORT.search(before) or (piece[:1].islower() and _ABBREVIATED.search(before)):
            parts[-1].append(piece)
        else:
            parts.append([piece])
    return [words for part in parts if (words := " ".join(" ".join(part).split()))]


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
