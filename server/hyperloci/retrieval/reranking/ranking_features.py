"""Ranking features: what a reranker knows of a candidate: how every space sees it, and whether it can answer at all.

Every feature is at least 0, and 0 where there is nothing to say, so that a weighted sum can be multiplied by what a
kind of source or a speaker is worth.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import ONE_OCCASION_MS, SearchCandidate
from hyperloci.retrieval.adjacent_turns import find_adjacent
from hyperloci.retrieval.scoring import Scores, SpaceScores
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.system.values import dataclass

SCORED: Final = ("e1", "e6", "e12", "e13")
"""Spaces whose scores and ranks are features."""

FORMS: Final = ("number", "time", "person")
"""What a question may ask for by its form, tables of `data/answer_forms.toml`."""

BESIDE: Final = ("before", "after", "joint")
"""What was said right before and right after."""

FEATURES: Final = (
    "rule",
    *SCORED,
    *(f"{space}_rank" for space in SCORED),
    "title_asked",
    "title_named",
    "length",
    "nearby",
    *FORMS,
    *BESIDE,
)
"""The features, in the order of the columns:

- `rule`: the calibrated score before its factor;
- a space's score, and `_rank`: 1 for its best, 3/4 for the next, 0 for what it does not see;
- `title_asked`, `title_named`: the share of the question's terms in the last heading, and of that heading's terms in
  the question;
- `length`: of the text, logarithmic, 1 from LONG_CHARS;
- `nearby`: how well other candidates score that were said near it;
- `number`, `time`, `person`: 1 if the question asks for such a thing and the text holds one;
- `before`, `after`: `rule` of what was said right before and right after;
- `joint`: the cosine of E1 with the candidate and those two as one text, about.
"""

RANK_STEP: Final = 3.0
"""Places after which a rank counts half."""

LONG_CHARS: Final = 1_000
"""As `scoring.LONG_TURN_CHARS`: what is longer says no more for it."""

_WHOLE_LENGTH: Final = math.log1p(LONG_CHARS)

SHARPNESS: Final = 8.0
"""A candidate that scores an eighth less than the best counts 1/e of it for those near it."""

REACH: Final = 5.0
"""Turns after which that falls to 1/e."""

LIKENESS: Final = 0.3
"""Cosine of turns that follow each other, about. Reading their vectors instead changes no set
(docs/benchmarks/ranking.md, "Reranking")."""

_FILE: Final = Path(__file__).parent / "data" / "answer_forms.toml"


_WORD: Final = re.compile(r"[^\W\d_]+")
_FIGURE: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"[a-zа-я0-9,;)] [A-ZА-Я][a-zа-я]")
"""A capital that begins no sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What a question may ask for: how it does, and by which words, figures or names a text holds it."""

    asked: re.Pattern[str]
    words: frozenset[str]
    figures: bool
    names: bool

    def is_held_by(self, text: str) -> bool:
        if (self.figures and _FIGURE.search(text)) or (self.names and _NAME.search(text)):
            return True
        return bool(self.words) and not self.words.isdisjoint(_WORD.findall(text.lower()))


@functools.cache
def _load_forms() -> dict[str, _Form]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        form: _Form(
            asked=re.compile("|".join(table["asked"]), re.IGNORECASE),
            words=frozenset(table["words"]),
            figures=table["figures"],
            names=table["names"],
        )
        for form, table in ((form, tables[form]) for form in FORMS)
    }


@functools.lru_cache(maxsize=4_096)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(analyse_query(title)) if title else frozenset()


def measure_candidates(
    text: str,
    spaces: SpaceScores,
    nodes: Mapping[NodeKey, SearchCandidate],
    scores: Mapping[NodeKey, Scores],
    *,
    rows: Iterable[int] | None = None,
) -> NDArray[np.float64]:
    """Return the features of candidates, a row each in the order of `nodes`, a column for each of FEATURES.

    Args:
        text: the question.
        spaces: scores by space.
        nodes: the candidates.
        scores: what the rule makes of them (`scoring.combine_scores`).
        rows: of which candidates the texts are read, ascending; of the others what needs no look at their text is
            measured.
    """
    found = np.zeros((len(nodes), len(FEATURES)))
    if not nodes:
        return found
    columns = {name: found[:, place] for place, name in enumerate(FEATURES)}
    columns["rule"][:] = [scores[key].total / scores[key].factor for key in nodes]
    for space in SCORED:
        seen = spaces.get(space, {})
        columns[space][:] = [seen.get(key, 0.0) for key in nodes]
        np.maximum(columns[space], 0.0, out=columns[space])
        columns[f"{space}_rank"][:] = _share_ranks(columns[space])
    listed = list(nodes.values())
    read = list(range(len(listed)) if rows is None else rows)
    _read_texts(columns, text, read, [listed[row] for row in read])
    columns["nearby"][:] = _weigh_nearby(listed, np.array([scores[key].total for key in nodes]))
    _look_beside(columns, nodes)
    return found


def _read_texts(
    columns: Mapping[str, NDArray[np.float64]], text: str, rows: list[int], nodes: Sequence[SearchCandidate]
) -> None:
    """Fill in what the texts of candidates say, which stand in these rows."""
    asked = frozenset(analyse_query(text))
    titles = [_title_terms(node.title.rpartition(" > ")[2]) for node in nodes]
    shared = [len(asked & title) for title in titles]
    columns["title_asked"][rows] = [count / max(1, len(asked)) for count in shared]
    columns["title_named"][rows] = [count / max(1, len(title)) for count, title in zip(shared, titles, strict=True)]
    columns["length"][rows] = [min(1.0, math.log1p(len(node.content)) / _WHOLE_LENGTH) for node in nodes]
    for name, form in _load_forms().items():
        if form.asked.search(text):
            columns[name][rows] = [form.is_held_by(node.content) for node in nodes]


def _look_beside(columns: Mapping[str, NDArray[np.float64]], nodes: Mapping[NodeKey, SearchCandidate]) -> None:
    """Fill in what stands right before and after each."""
    rows = {key: row for row, key in enumerate(nodes)}
    rule, cosines = columns["rule"].tolist(), columns["e1"].tolist()
    joint = list(cosines)
    for key, beside in find_adjacent(nodes.values()).items():
        row, count = rows[key], 1
        for name, other in zip(("before", "after"), beside, strict=True):
            if other is not None:
                columns[name][row] = rule[rows[other]]
                joint[row] += cosines[rows[other]]
                count += 1
        if count > 1:
            joint[row] /= math.sqrt(count * (1.0 + LIKENESS * (count - 1)))
    columns["joint"][:] = joint


def _share_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return np.where(values > 0, RANK_STEP / (RANK_STEP + ranks), 0.0)


def _weigh_nearby(nodes: Sequence[SearchCandidate], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each what was said near it: turns by their places in a session, facts told on one occasion."""
    sessions: dict[str, int] = {}
    placed: list[tuple[int, int, int]] = []
    for row, node in enumerate(nodes):
        if node.subtype == "episode" and node.session_id and node.seq is not None:
            placed.append((row, sessions.setdefault(node.session_id, len(sessions) + 1), node.seq))
        elif node.type == NodeType.FACT and node.origin == Origin.TOOL:
            placed.append((row, 0, node.key))
    found = np.zeros(len(nodes))
    if len(placed) < 2:
        return found
    rows, group, place = np.array(placed).T
    times = np.array([nodes[row].event_time for row in rows.tolist()])
    together = (group[:, None] == group) & ((group > 0)[:, None] | (np.abs(times[:, None] - times) <= ONE_OCCASION_MS))
    np.fill_diagonal(together, False)
    if not together.any():
        return found
    near = np.where(together, np.exp(-np.abs(place[:, None] - place) / REACH), 0.0)
    found[rows] = near @ np.exp(SHARPNESS * (totals[rows] - totals.max()))
    return found
