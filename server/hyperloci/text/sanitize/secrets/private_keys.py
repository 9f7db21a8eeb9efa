"""Private keys: finds PEM and PGP blocks, whole or cut off at either end, and PuTTY's key files.

They are found step by step: a pattern from BEGIN to END would take quadratic time on a text full of unfinished blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.system.late_patterns import compile_late
from hyperloci.text.sanitize.secrets.randomness import looks_random

_BEGIN: Final = compile_late(
    r"-{4,5} ?BEGIN [A-Za-z0-9 ]{0,40}(?:PRIVATE|Static) (?:KEY|key)(?: BLOCK| V[0-9])? ?-{4,5}"
)
_END: Final = compile_late(r"-{4,5} ?END [A-Za-z0-9 ]{0,40}(?:PRIVATE|Static) (?:KEY|key)(?: BLOCK| V[0-9])? ?-{4,5}")
_MARGIN: Final = r"[\s>|#*\"',+]|\\{1,3}[nrt]|-(?!-)|(?<=\n)[ \t]{0,6}[0-9]{1,6}[\t:|]"
"""What quotes, comments, string literals, JSON, differences and line numbers put round the lines."""
_BODY: Final = compile_late(rf"(?>(?:{_MARGIN}|[A-Z][A-Za-z-]{{2,30}}: [^\n\\]{{1,100}}|[A-Za-z0-9+/=]++)*)")
_UNFINISHED_BODY: Final = compile_late(
    rf"(?:(?>(?:{_MARGIN})*)(?:[A-Z][A-Za-z-]{{2,30}}: [^\n\\]{{1,100}}|[A-Za-z0-9+/=]{{20,}}+))+"
)
_LINE: Final = compile_late(r"[ \t>|#*\"']*+[A-Za-z0-9+/=]{1,128}[ \t\"',+\\nr]*+\Z")
_LAST_WORDS: Final = compile_late(r"(?<!\S)(?P<word>[A-Za-z0-9+/=]{20,128})(?:\s{1,4}[A-Za-z0-9+/=]{1,19})?\s{0,4}\Z")
"""Two words of a key at most whose lines were joined, as Git joins those of a subject; only the last one is short."""
_MAX_WORDS: Final = 160
"""Characters that they have at most."""
_PUTTY: Final = compile_late(r"^Private-Lines: \d{1,3}\n(?>(?:[A-Za-z0-9+/=]{1,80}\n?)+)", re.MULTILINE)


_HEADLESS: Final = compile_late(
    r"(?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjE|MII[A-Z][A-Za-z0-9+/]{2}IBA[AD])(?=[A-Za-z0-9+/])"
)
"""How the body of a key begins: OpenSSH's magic word, or a sequence whose first number is 0, as in PKCS #1 and #8. A
certificate and a public key begin otherwise."""


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every private key in `text`, in no particular order; spans may touch but not overlap."""
    blocks: list[tuple[int, int]] = []
    if "PRIVATE KEY" in text or "Static key" in text:
        blocks = list(_find_blocks(text))
        yield from blocks
    if "b3BlbnNzaC1r" in text or "IBA" in text:
        yield from _find_bodies(text, blocks)
    if "Private-Lines: " in text:
        yield from (match.span() for match in _PUTTY.finditer(text))


def _find_blocks(text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        if end := _find_block_end(text, begin.end()):
            yield begin.start(), end
            done = end
    for end_line in _END.finditer(text):
        start = _find_tail_start(text, end_line.start())
        if start < end_line.start():
            yield start, end_line.end()


def _find_bodies(text: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the bodies of keys that stand without their first line, between the blocks that were found."""
    done = 0
    for start, end in (*sorted(blocks), (len(text), len(text))):
        while begin := _HEADLESS.search(text, done, start):
            body = _UNFINISHED_BODY.match(text, begin.start(), start)
            done = body.end() if body else begin.end()
            if body:
                yield body.span()
        done = max(done, end)


def _find_block_end(text: str, begin: int) -> int | None:
    """Return where the key that begins before `begin` ends; None where only its first line is quoted."""
    body = _BODY.match(text, begin)
    if body and (end := _END.match(text, body.end())) and body.group().strip():
        return end.end()
    unfinished = _UNFINISHED_BODY.match(text, begin)
    return unfinished.end() if unfinished else None


def _find_tail_start(text: str, end: int) -> int:
    """Return where the key material that stands right before `end` starts, in lines or words, or `end`."""
    start = end
    while start > 0:
        line = text.rfind("\n", 0, start - 1) + 1
        if not _LINE.match(text[line : start - 1]):
            break
        start = line
    while words := _LAST_WORDS.search(text, max(0, start - _MAX_WORDS), start):
        if not looks_random(words["word"]):
            break
        start = words.start()
    return start
