"""Team search: asks the team's database for what is not on this machine, and merges it with what is here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hyperloci.clock import to_iso
from hyperloci.config import Settings
from hyperloci.errors import EmbedderError, HyperlociError, NotReadyError, TeamError, TeamUnreachableError
from hyperloci.model.kinds import TRUST, Origin
from hyperloci.model.search import Hit, HitSource, SearchAnswer
from hyperloci.retrieval.scoring import OTHER_WEIGHT, show_score
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.team.postgres import connect
from hyperloci.store.team.shared_values import TeamHit
from hyperloci.store.team.truth_search import search_truth
from hyperloci.store.vectors.fingerprints import meaning_model_of
from hyperloci.team.membership import Membership, has_joined, load_membership
from hyperloci.team.merging import has_exact_name, merge_hits
from hyperloci.text.sanitize.sanitizer import flag_orders, sanitize

if TYPE_CHECKING:
    import psycopg

    from hyperloci.embedder.query_encoder import QueryEncoder

PATIENCE_SECONDS: Final = 2.0
"""What a search may wait for the team's database; the hits of this machine are shown without it then."""

FLOOR: Final = 0.25
"""Below this a memory of the team's has a word or two in common with the question, and no more: half of a perfect
match in words alone, or a cosine of 0.5 alone, is shown."""


class TeamSearch:
    """Searches of the team's database for one open memory; used by one thread at a time. It keeps its connection."""

    def __init__(self, store: Store, settings: Settings, encoder: QueryEncoder | None) -> None:
        self._store = store
        self._settings = settings
        self._encoder = encoder
        self._connection: psycopg.Connection[Any] | None = None

    def add_hits(self, answer: SearchAnswer, limit: int) -> SearchAnswer:
        """Return an answer with what the team's database adds, or a hint why it could not be asked."""
        if not has_joined(self._settings):
            hint = "scope='team': this machine has joined no team (`hyperloci team join`); these are its own memories."
            return replace(answer, hints=(*answer.hints, hint))
        try:
            found = self._find_hits(answer.query, limit)
        except TeamUnreachableError as error:
            return _with_hint(answer, f"The team was not asked: no answer within {PATIENCE_SECONDS:g} s ({error})")
        except HyperlociError as error:
            return _with_hint(answer, f"The team was not asked: {error}")
        known = {hit.id for hit in answer.results}
        added = [(score, hit) for score, hit in found if hit.memory.id not in known]
        named: list[Hit] = []
        others: list[Hit] = []
        for score, hit in added:
            is_named = has_exact_name(answer.query, answer.intent, hit)
            if is_named or score >= FLOOR:
                (named if is_named else others).append(_present_hit(hit, score))
        merged = merge_hits(answer.results, named, others, limit)
        remaining = tuple(
            hint for hint in answer.hints if not ((named or others) and hint.startswith(("Nothing found", "Weak")))
        )
        return replace(answer, results=merged, hints=remaining)

    def _find_hits(self, query: str, limit: int) -> list[tuple[float, TeamHit]]:
        membership = load_membership(self._settings)
        weights = self._weigh_terms(analyse_query(query))
        model, vector = self._encode_meaning(query)
        without = [project.project for project in self._store.team.list_projects()]
        found = self._ask(
            membership,
            terms=weights,
            model=model,
            vector=vector,
            without=without,
            limit=max(limit, 10),
            seconds=PATIENCE_SECONDS,
        )
        return sorted(((_score_hit(hit, weights), hit) for hit in found), key=lambda scored: -scored[0])

    def _ask(self, membership: Membership, **asked: Any) -> list[TeamHit]:
        """Ask over the connection that is kept; one that broke since it was used last is opened anew, once."""
        fresh = self._connection is None or self._connection.closed
        connection = connect(membership.url, timeout=PATIENCE_SECONDS) if fresh else self._connection
        assert connection is not None
        self._connection = connection
        try:
            return search_truth(connection, membership.token, membership.team, **asked)
        except TeamError:
            was_broken = connection.broken
            self.close()
            if fresh or not was_broken:
                raise
            return self._ask(membership, **asked)

    def _weigh_terms(self, terms: Sequence[str]) -> dict[str, float]:
        """Return how much each term tells, by how rare it is on this machine."""
        counts, size = self._store.keyword_search.count_frequencies(terms), self._store.keywords.count_texts()
        return {term: math.log(1 + (size + 1) / (counts.get(term, 0) + 0.5)) for term in terms}

    def _encode_meaning(self, query: str) -> tuple[str | None, list[float] | None]:
        if self._encoder is None:
            return None, None
        try:
            model, vector = self._encoder.embed_query(query)
        except (NotReadyError, EmbedderError):
            return None, None
        return meaning_model_of(model), vector.tolist()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _with_hint(answer: SearchAnswer, hint: str) -> SearchAnswer:
    return replace(answer, hints=(*answer.hints, hint))


def _score_hit(hit: TeamHit, weights: dict[str, float]) -> float:
    """Return a score as `retrieval.scoring` makes them: meaning and words, half each; words alone without a vector."""
    words = sum(weights[term] for term in hit.matched) / (sum(weights.values()) or 1.0)
    if hit.cosine is None:
        return words
    return OTHER_WEIGHT * max(0.0, hit.cosine) + (1 - OTHER_WEIGHT) * words


def _present_hit(hit: TeamHit, score: float) -> Hit:
    """Return a teammate's memory as a hit: its text cleaned here, and flagged like any foreign text."""
    memory, payload = hit.memory, hit.memory.payload
    text = flag_orders(sanitize(payload.content))
    notes = [f"by a teammate: {memory.author}, in {memory.project}; not on this machine"]
    if payload.valid_until is not None:
        notes.append("no longer valid")
    if text.flags:
        notes.append(f"suspicious: {', '.join(text.flags)}")
    return Hit(
        id=memory.id,
        type=payload.type,
        subtype=payload.subtype,
        content=text.text,
        score=round(show_score(score), 4),
        confidence=round(min(payload.confidence, TRUST[Origin.TEAMMATE]), 4),
        tier="longterm",
        scope=f"team:{memory.project}",
        created_at=to_iso(payload.event_time),
        valid_from=to_iso(payload.valid_from),
        valid_until=None if payload.valid_until is None else to_iso(payload.valid_until),
        source=HitSource(kind=str(Origin.TEAMMATE)),
        notes=tuple(notes),
    )
