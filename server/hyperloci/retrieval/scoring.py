"""Scoring: what a memory's score is made of, and how much each space counts.

A score is `w * meaning + (1 - w) * words + bonuses`, times what the memory's kind and speaker are worth:

- meaning: the cosine of E1, joined by the other views of meaning (E10, E12) and, for code, lifted by E7; a view that
  does not apply to a memory leaves its weight to E1;
- words: the BM25 of E6 as a share of a perfect answer's, or what E13 and E9 make of the words, if that is more;
- bonuses: the spaces that see a relation, a direction or a time, each only where the question speaks to it.

All parts mean the same in every search, so a score says how good a hit is and not only that it is the best there was.
`w` follows from the kind and length of what a search found. Against equal-weight reciprocal ranks this is worth 3 to
9 points of recall@10 on every development set, and unlike them it never loses to its own best list
(docs/benchmarks/ranking.md, "Fusion").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.adjacent_turns import score_neighbours
from hyperloci.retrieval.sources.content_kind import ContentKind, tell_content_kind
from hyperloci.retrieval.space_weights import BONUS, PERSPECTIVES, Perspective
from hyperloci.retrieval.speakers import TargetSpeaker
from hyperloci.system.values import dataclass

SpaceScores = Mapping[str, Mapping[NodeKey, float]]
"""Score by memory by space; a memory that a space does not see is left out."""

_CountedSpace = tuple[str, float, Mapping[NodeKey, float]]
"""A space, what it counts, and its scores."""

UNSURE_CODE_WEIGHT: Final = 0.6
SURE_CODE_WEIGHT: Final = 0.8
UNSURE_COSINE: Final = 0.55
SURE_COSINE: Final = 0.65
"""Code: 0.6 is best on pycode, whose best cosines are 0.57 in the median, 0.8 on CoSQA, where they are 0.65: the surer
E1 is of its best hit, the more it counts, evenly between the two (docs/benchmarks/ranking.md, "Code"). Cosines of the
bundled model; another one's only move the weight within its bounds."""

OTHER_WEIGHT: Final = 0.5
"""Documents and abstracts: best on mddocs, within 0.2 points of the best on SciFact."""

SHORT_TURN_WEIGHT: Final = 0.5
LONG_TURN_WEIGHT: Final = 0.7
SHORT_TURN_CHARS: Final = 300
LONG_TURN_CHARS: Final = 1_000
"""What was said: names and dates decide among short turns (LoCoMo), meaning among long ones (BEAM), where every
word stands somewhere; between the two lengths the weight moves evenly."""

CODE_VIEW_WEIGHTS: Final[Mapping[str, float]] = {"e12": 0.5}
SAID_VIEW_WEIGHTS: Final[Mapping[str, float]] = {"e12": 2.0}
OTHER_VIEW_WEIGHTS: Final[Mapping[str, float]] = {}
"""What other views of meaning count beside E1's 1: for code, for what was said, for all else. E12 is worth a point on
LoCoMo's turns, 3.5 on the same texts told as facts, and costs documents up to a point; E10 (0.2, 0.5) helps no set, it
speaks through profile `intent`."""

CODE_LIFT: Final = 0.5
"""How far E7 lifts code that it sees nearer than E1 does. As a view like the others it costs code that a docstring
explains (CoSQA 2 points of recall@10) what it is worth to code without one (pycode); lifting, it costs the former
nothing (docs/benchmarks/ranking.md, "Code")."""

WORD_SPACE_WEIGHTS: Final[Mapping[str, float]] = {"e6": 1.0, "e13": 0.6, "e9": 0.5}
"""What words count by how they were found: as they stand, as other words for the same (E13), misspelled (E9, which is
asked only where a word stands nowhere). The best of the three counts: added up, E13 costs LoCoMo a point."""

COMMON_NAME_SHARPNESS: Final = 4.0
SAME_NAME_WEIGHT: Final = 0.8
"""What a question names says the less, the more candidates name it too: E11's bonus fades to nothing when a quarter of
them do. Without that it costs every development set (CoSQA 2 points of recall@10, LoCoMo 1 of MRR), and without the
bonus an alias is not found (docs/benchmarks/ranking.md, "Names"). Code has none: what it names are its imports and
itself, and its words say so (0.4 points of recall@10 on CoSQA and on pycode, a point of MRR)."""

ADJACENT_TURN_WEIGHT: Final = 0.15
"""What the turn before or after adds to a turn: recall@10 0.735 to 0.744 on LoCoMo, 0.632 to 0.644 on BEAM; with 0.3
a little more on LoCoMo and less on BEAM. What was told as a fact right before or after adds as much: 0.697 to 0.720 on
LoCoMo told turn by turn as facts (docs/benchmarks/quality.md, "Told as facts")."""

SPEAKER_FACTOR: Final = 1.25
"""Factor of a turn of the one whose words are asked for; 1.2 and 1.3 are within half a point (`retrieval.speakers`)."""

EXPLICIT_FACTOR: Final = 1.5
ACTION_FACTOR: Final = 0.8
"""Factors of a score: what was remembered on purpose comes before a turn or a document that says as much (and
before the user's own turn, 1.25), a line about a tool's use after it. Every evaluation set holds one kind only, so no
figure there moves; chosen on the demonstration, where a decision lost to the page that quotes it."""

SHOWN_AS_IT_IS: Final = 0.7
"""Up to here a score is shown as it is. Factors and bonuses lift some beyond 1: what is above is drawn together, so
that those stay below 1 and apart."""

MEANING: Final = "meaning"
"""Not a profile that callers choose: strategy `e1_only`, where nothing but the cosine counts."""

_MEANING_ONLY: Final = Perspective(meaning=1.0, views={})


WRITTEN: Final = "commits"
NEARBY: Final = "nearby_code"
CALLED: Final = "called_code"
"""The parts of a score that no space brings: the commits that wrote the lines of a piece of code, what stands near it
(`sources.nearby_code`) and what calls it (`sources.called_code`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One memory's scores in one search.

    Attributes:
        spaces: its score in each space that saw it, 0..1 (E1 may be below 0).
        parts: what each space added to the total, before the factor; `graph` what a relation that was followed did.
        total: what the memory is ranked by.
        factor: what its kind of source and its speaker are worth; part of the total.
        learned: what each feature added to the log-odds by which it was put in order (`retrieval.reranking`).
    """

    spaces: Mapping[str, float]
    parts: Mapping[str, float]
    total: float
    factor: float = 1.0
    learned: Mapping[str, float] = field(default_factory=dict)

    @property
    def cosine(self) -> float | None:
        """The cosine of the meanings; None without a vector (yet)."""
        return self.spaces.get("e1")

    def dominant(self) -> str:
        """Return the space that speaks most for this memory."""
        speaking = (name for name in self.parts if name not in (WRITTEN, NEARBY, CALLED))
        return max(speaking, key=lambda space: self.parts[space], default="e6")


def show_score(total: float) -> float:
    """Return a score as it is shown, 0..1, in the same order."""
    if total <= SHOWN_AS_IT_IS:
        return max(0.0, total)
    room = 1.0 - SHOWN_AS_IT_IS
    return SHOWN_AS_IT_IS + room * (1.0 - math.exp((SHOWN_AS_IT_IS - total) / room))


Ranking = tuple[dict[NodeKey, SearchCandidate], dict[NodeKey, Scores]]
"""Candidates of a question, and what each of them scores."""


def combine_scores(
    spaces: SpaceScores,
    nodes: Mapping[NodeKey, SearchCandidate],
    *,
    profile: str,
    target_speaker: TargetSpeaker | None = None,
    source_factors: Mapping[NodeKey, float] = MappingProxyType({}),
    line_commits: Mapping[NodeKey, float] = MappingProxyType({}),
) -> dict[NodeKey, Scores]:
    """Return the scores of every candidate.

    Args:
        spaces: scores by space; without vectors only E6.
        nodes: the candidates.
        profile: a key of PERSPECTIVES, or MEANING.
        target_speaker: whose words the question is after.
        source_factors: what the kinds of source that the question asks for are worth, where not 1.
        line_commits: what the commits that wrote the lines of a piece of code add to it, where they do.
    """
    perspective = _MEANING_ONLY if profile == MEANING else PERSPECTIVES[profile]
    best = max(spaces.get("e1", {}).values(), default=0.0)
    weight = choose_dense_weight(nodes.values(), perspective, best) if "e1" in spaces else 0.0
    weighing = _SpaceWeights(spaces, perspective, weight, _space_bonuses(spaces, nodes, perspective))
    parts = {key: weighing.score_parts(key, node) for key, node in nodes.items()}
    for key, added in line_commits.items():
        parts[key][WRITTEN] = added
    own = {key: sum(found.values()) for key, found in parts.items()}
    if profile == MEANING:
        return {key: Scores(spaces={"e1": spaces["e1"][key]}, parts=parts[key], total=own[key]) for key in nodes}
    near = score_neighbours(nodes.values(), own)
    factors = {key: _kind_factor(node, target_speaker) * source_factors.get(key, 1.0) for key, node in nodes.items()}
    return {
        key: Scores(
            spaces={space: found[key] for space, found in spaces.items() if key in found},
            parts=parts[key],
            total=factors[key] * (own[key] + ADJACENT_TURN_WEIGHT * near.get(key, 0.0)),
            factor=factors[key],
        )
        for key in nodes
    }


def can_change_score(space: str, kind: ContentKind, profile: str) -> bool:
    """Return whether a space (not E1 or E6) can change the score of such a memory: what can't needn't be looked at."""
    perspective = PERSPECTIVES[profile]
    lifts = space == "e7" and perspective.views is None and kind is ContentKind.CODE
    scored = (WORD_SPACE_WEIGHTS, BONUS, perspective.bonus, _view_weights(kind, perspective))
    return lifts or any(space in counted for counted in scored)


def _space_bonuses(
    spaces: SpaceScores, nodes: Mapping[NodeKey, SearchCandidate], perspective: Perspective
) -> dict[str, float]:
    """Return what each space adds at most; a name that many candidates bear adds little."""
    named = spaces.get("e11", {})
    share = sum(named.get(key, 0.0) > SAME_NAME_WEIGHT for key in nodes) / max(1, len(nodes))
    return {**BONUS, "e11": BONUS["e11"] * max(0.0, 1 - COMMON_NAME_SHARPNESS * share), **perspective.bonus}


class _SpaceWeights:
    """What every space that scored anything adds to a memory's score; looked up once a search, used for all of it."""

    def __init__(
        self, spaces: SpaceScores, perspective: Perspective, weight: float, bonuses: Mapping[str, float]
    ) -> None:
        meaning_only = perspective is _MEANING_ONLY
        self._perspective = perspective
        self._weight = weight
        self._spaces = spaces
        self._cosines = spaces.get("e1", {})
        self._words = () if meaning_only else self._counted_spaces(WORD_SPACE_WEIGHTS)
        self._bonuses = () if meaning_only else self._counted_spaces(bonuses)
        unnamed = {space: bonus for space, bonus in bonuses.items() if space != "e11" or space in perspective.bonus}
        self._bonuses_of_code = () if meaning_only else self._counted_spaces(unnamed)
        self._lift = {} if perspective.views is not None else spaces.get("e7", {})
        self._views: dict[ContentKind, tuple[_CountedSpace, ...]] = {}

    def _counted_spaces(self, counts: Mapping[str, float]) -> tuple[_CountedSpace, ...]:
        return tuple((space, count, self._spaces[space]) for space, count in counts.items() if space in self._spaces)

    def score_parts(self, key: NodeKey, node: SearchCandidate) -> dict[str, float]:
        """Return what each space adds to one memory's score."""
        cosine = self._cosines.get(key)
        # What was stored a moment ago has no vector yet: its words stand in for its meaning, or the newest would come
        # last.
        own = 0.0 if cosine is None else self._weight
        parts = {} if cosine is None else self._score_meaning(key, cosine, node)
        best, by = 0.0, ""
        for space, share, scores in self._words:
            if key in scores and (not by or share * scores[key] > best):
                best, by = share * scores[key], space
        if by:
            parts[by] = (1 - own) * best
        for space, bonus, scores in self._bonuses_of_code if node.subtype == "code" else self._bonuses:
            if bonus and key in scores:
                parts[space] = bonus * scores[key]
        return parts

    def _score_meaning(self, key: NodeKey, cosine: float, node: SearchCandidate) -> dict[str, float]:
        kind = tell_content_kind(node)
        views = self._views.get(kind)
        if views is None:
            views = self._views[kind] = self._counted_spaces(_view_weights(kind, self._perspective))
        seen = [(space, count, max(0.0, scores[key])) for space, count, scores in views if key in scores]
        weight = self._weight / (1.0 + sum(count for _, count, _ in seen))
        parts = {"e1": weight * max(0.0, cosine), **{space: weight * count * score for space, count, score in seen}}
        if kind is ContentKind.CODE and self._lift.get(key, 0.0) > max(0.0, cosine):
            parts["e7"] = weight * CODE_LIFT * (self._lift[key] - max(0.0, cosine))
        return parts


def _view_weights(kind: ContentKind, perspective: Perspective) -> Mapping[str, float]:
    if perspective.views is not None:
        return perspective.views
    return {ContentKind.CODE: CODE_VIEW_WEIGHTS, ContentKind.SAID: SAID_VIEW_WEIGHTS}.get(kind, OTHER_VIEW_WEIGHTS)


def _kind_factor(node: SearchCandidate, target_speaker: TargetSpeaker | None) -> float:
    if node.subtype == "action":
        return ACTION_FACTOR
    if target_speaker is not None and target_speaker.is_speaker_of(node):
        return SPEAKER_FACTOR
    on_purpose = node.origin == Origin.TOOL and node.type != NodeType.ENTITY
    return EXPLICIT_FACTOR if on_purpose else 1.0


def choose_dense_weight(nodes: Iterable[SearchCandidate], perspective: Perspective, best: float) -> float:
    """Return how much meaning counts against exact words in a search that found these.

    Args:
        nodes: the candidates.
        perspective: which spaces count how much.
        best: the highest cosine among them.
    """
    if perspective.meaning is not None:
        return perspective.meaning
    wanted = [_dense_weight_of(node, best) for node in nodes]
    return sum(wanted) / len(wanted) if wanted else OTHER_WEIGHT


def _dense_weight_of(node: SearchCandidate, best: float) -> float:
    kind = tell_content_kind(node)
    if kind is ContentKind.CODE:
        return _interpolate(best, UNSURE_COSINE, SURE_COSINE, UNSURE_CODE_WEIGHT, SURE_CODE_WEIGHT)
    if kind is not ContentKind.SAID:
        return OTHER_WEIGHT
    return _interpolate(len(node.content), SHORT_TURN_CHARS, LONG_TURN_CHARS, SHORT_TURN_WEIGHT, LONG_TURN_WEIGHT)


def _interpolate(value: float, first: float, last: float, low: float, high: float) -> float:
    """Return what moves evenly from `low` at `first` to `high` at `last`, and no further."""
    return low + min(1.0, max(0.0, (value - first) / (last - first))) * (high - low)
