"""Order scorer: how much what somebody else shares reads like an order to the assistant that will be shown it.

Rules know an attack by what it names (`steering_features.py`); most orders name nothing of the kind, and say in words
of every day what nobody may ask of an assistant. So words are weighed too: a logistic regression over what a text is
made of. It is asked of teammates' memories alone: one's own procedures are orders as well, and meant. The weights are
data (`data/order_weights.json`), trained by `python -m bench train_orders` on lines written for it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

from hyperloci.system.late_patterns import compile_late
from hyperloci.text.sanitize.injection_score import match_features, name_mentioned_features

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "order_weights.json"

THRESHOLD: Final = 2.0
"""Log odds from which a line is flagged. In cross-validation 2 % of the harmless lines are that were written to look
like orders, 0.2 % of other harmless ones, and a fifth of the orders (`python -m bench train_orders`)."""

STEM_CHARS: Final = 6
"""Of a word that are read: its forms are one."""

LINE_CHARS: Final = 300
"""A longer text is weighed sentence by sentence: what is harmless in it hides nothing."""

MAX_LINES: Final = 400
"""Sentences, or pieces of long ones, of one text that are weighed."""

_TOKEN: Final = compile_late(
    r"(?P<url>\bhttps?://\S{1,200}|\b[\w-]{1,60}(?:\.[\w-]{1,60}){0,4}\.(?:com|org|net|io|dev|example)\b)"
    r"|(?P<mail>\b[\w.+-]{1,60}@[\w.-]{1,80}\w)|(?P<path>[~.]?/[\w./~-]{1,200}|\.[a-z]\w{1,30}|\b[\w-]{1,60}\.(?:md|py|json|txt"
    r"|ya?ml|toml|js|ts|cfg|sh|lock)\b)"
    r"|(?P<const>\b[A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,60}\b)|(?P<number>\d[\d.,:%]{0,40})"
    r"|(?P<sign>[!?:;`\"])|(?P<word>[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|[^\W\d_]{1,60}(?:['’][^\W\d_]{1,20})?)"
)
_SENTENCE_END: Final = compile_late(r"(?<=[.!?。！？])\s{1,9}|\n")
_LENGTHS: Final = (8, 16, 32)


def reads_like_order(text: str) -> bool:
    """Return whether some line of a text reads like an order to an assistant.

    Args:
        text: cleaned.
    """
    weights = load_weights()
    return any(score_line(line, weights) >= THRESHOLD for line in islice(_split_lines(text), MAX_LINES))


def _split_lines(text: str) -> Iterator[str]:
    """Yield what is weighed by itself: a short text, or the sentences of a long one, cut where they are long."""
    for sentence in [text] if len(text) <= LINE_CHARS else _SENTENCE_END.split(text):
        for start in range(0, len(sentence), LINE_CHARS):
            yield sentence[start : start + LINE_CHARS]


def score_line(line: str, weights: Mapping[str, float]) -> float:
    """Return the log odds that a line is an order."""
    return weights[""] + sum(weights.get(name, 0.0) for name in read_order_features(line))


def read_order_features(line: str) -> set[str]:
    """Return what a line is made of.

    `w:`, `b:`, `^`: words, pairs of neighbours, the first word; `f:` and `k:`: steering features that it has, and those
    of which it holds a literal; `up to`: how many words there are.
    """
    words = list(_split_words(line))
    found = {f"w:{word}" for word in words}
    found.update(f"b:{one} {other}" for one, other in pairwise(words))
    found.update(f"^{word}" for word in words[:1])
    found.update(f"f:{name}" for name in match_features(line))
    found.update(f"k:{name}" for name in name_mentioned_features(line))
    found.add(f"up to {next((most for most in _LENGTHS if len(words) < most), 'more')}")
    return found


def _split_words(line: str) -> Iterator[str]:
    for match in _TOKEN.finditer(line):
        kind = match.lastgroup
        yield match[0].lower().replace("’", "'")[:STEM_CHARS] if kind in ("word", "sign") else f"<{kind}>"


@functools.cache
def load_weights() -> Mapping[str, float]:
    """Return the trained weights; the intercept has no name."""
    weights: dict[str, float] = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights
