"""E6, E9, E12: the letters matter: rare terms, misspelt words, one phrase among its near-twins."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Sequence

from bench.spots.material import real_paragraphs, real_sentences
from bench.spots.model import NoteKind, SpotCase, SpotNote, SpotSlice

CASES = 120

_RARE = re.compile(
    r"(?<![\w.])(?:[A-Z]{2,}[-_]?\d{2,}\w*|[A-Z]\d{3,}|v?\d+\.\d+\.\d+\w*|#\d{3,}|0x[0-9a-fA-F]{3,}|[A-Z]{2,}_[A-Z_]{3,}|"
    r"[a-z]+_[a-z_]{5,}|E[A-Z]{4,}|PEP \d+|RFC ?\d+)(?![\w])"
)
_ASKED = ("What do we know about {term}?", "{term}", "Where did {term} come up?", "notes on {term}")


def rare_terms() -> SpotSlice:
    """E6: real sentences that alone have an error code, an identifier or a version; the question has nothing else."""
    rng = random.Random(6)
    counts = Counter(term for line in real_sentences() for term in set(_RARE.findall(line)))
    holders = [(line, term) for line in real_sentences() for term in _RARE.findall(line)[:1] if counts[term] == 1]
    found = SpotSlice("e6")
    for number, (line, term) in enumerate(rng.sample(holders, CASES)):
        found.notes.append(SpotNote(id=f"e6-{number}", kind=NoteKind.FACT, text=line))
        form = _ASKED[number % len(_ASKED)]
        found.cases.append(SpotCase(query=form.format(term=term), wanted=frozenset({f"e6-{number}"})))
    return found


_SMALL = frozenset({"this", "that", "from", "will", "which", "when", "have", "into", "than", "then", "with", "can"})
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def typo_slice() -> SpotSlice:
    """E9: the content words of a real statement, each with one or two letters wrong."""
    rng = random.Random(9)
    lines = [line for line in real_sentences() if 9 <= len(line.split()) <= 18 and not _RARE.search(line)]
    found = SpotSlice("e9")
    for number, line in enumerate(rng.sample(lines, CASES)):
        words = [word for word in re.findall(r"[A-Za-z]{4,}", line) if word.lower() not in _SMALL]
        asked = " ".join(misspell_word(word.lower(), rng) for word in words[:6])
        found.notes.append(SpotNote(id=f"e9-{number}", kind=NoteKind.FACT, text=line))
        found.cases.append(SpotCase(query=asked, wanted=frozenset({f"e9-{number}"})))
    return found


def misspell_word(word: str, rng: random.Random) -> str:
    """Return a word with one edit, with two from eight letters on: a letter dropped, doubled, changed or swapped."""
    letters = list(word)
    for _ in range(1 if len(word) < 8 else 2):
        place = rng.randrange(1, len(letters) - 1)
        edit = rng.randrange(4)
        if edit == 0:
            del letters[place]
        elif edit == 1:
            letters.insert(place, letters[place])
        elif edit == 2:
            letters[place] = rng.choice(_LETTERS)
        else:
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


_TWINS = {
    "before": "after", "after": "before", "with": "without", "without": "with", "must": "may", "may": "must",
    "all": "some", "any": "no", "from": "to", "and": "or", "or": "and", "is": "is not", "are": "are not",
    "always": "never", "never": "always", "first": "last", "last": "first", "if": "unless", "only": "also",
    "can": "cannot", "will": "will not", "should": "should not", "more": "less", "less": "more", "true": "false",
    "one": "two", "two": "three", "same": "other", "each": "no", "every": "no", "into": "out of", "than": "as",
}  # fmt: skip
TWINS = 10
PARAGRAPHS = 24
ASKED_EACH = 5


def twin_slice() -> SpotSlice:
    """E12: a real paragraph ten times, differing in small words of one sentence; that sentence, word for word."""
    rng = random.Random(12)
    found = SpotSlice("e12")
    usable = [entry for entry in map(_twin_paragraph, real_paragraphs()) if entry is not None]
    for number, (before, variants, after) in enumerate(rng.sample(usable, PARAGRAPHS)):
        rng.shuffle(variants)
        for place, sentence in enumerate(variants[:TWINS]):
            id = f"e12-{number}-{place}"
            found.notes.append(SpotNote(id=id, kind=NoteKind.FACT, text=f"{before} {sentence} {after}".strip()))
            if place < ASKED_EACH:
                found.cases.append(SpotCase(query=sentence.rstrip("."), wanted=frozenset({id})))
    return found


def _twin_paragraph(paragraph: str) -> tuple[str, list[str], str] | None:
    """Return what stands before a sentence, its variants, and what stands after; None if it has too few."""
    parts = re.split(r"(?<=[a-z)])\.\s+(?=[A-Z])", paragraph)
    if len(parts) < 3 or len(paragraph.split()) < 60:
        return None
    place = max(range(len(parts)), key=lambda place: sum(word in _TWINS for word in parts[place].split()))
    words = parts[place].split()
    sites = [index for index, word in enumerate(words) if word in _TWINS][:4]
    if len(sites) < 4 or len(words) > 40:
        return None
    variants = []
    for chosen in itertools.product((False, True), repeat=4):
        changed = list(words)
        for site, change in zip(sites, chosen, strict=True):
            if change:
                changed[site] = _TWINS[changed[site]]
        variants.append(" ".join(changed) + ("" if changed[-1].endswith(".") else "."))
    return ". ".join([*parts[:place], ""]).strip(), variants, ". ".join(parts[place + 1 :])


def exact_slices() -> Sequence[SpotSlice]:
    """Return all three."""
    return (rare_terms(), typo_slice(), twin_slice())
