"""Topic report: topics as callers see them: current phases, examples, changes since the last run (E.09)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.errors import BadRequestError
from hyperloci.model.answers import Progress
from hyperloci.model.search import Present
from hyperloci.model.topic import MAX_AGREEMENT, TOPIC_WEIGHTS, Topic, TopicHit, TopicList
from hyperloci.store import Store
from hyperloci.store.ids import resolve_id, topic_ids
from hyperloci.topics.phase import phase_of

EXAMPLES: Final = 3
"""Members shown beside a topic in a list: enough to see what it is about."""

REFRESH_SECONDS: Final = 300.0
"""Ten thousand memories take the embedder half a minute on one core."""

LOOK_SECONDS: Final = 0.25

MAX_TOPICS: Final = 100
MAX_MEMBERS: Final = 50

DOMINANT: Final = 0.5
"""A space that alone would put half of the members into the topic is one it is known by; three at most are named."""

UNNAMED: Final = "(to be named)"
"""Of a topic whose words went with a purged memory; the next run names it anew."""


def refresh_topics(
    store: Store, scopes: Sequence[str], kick: Callable[[], None], *, now: int, progress: Progress | None = None
) -> bool:
    """Have the running embedder look for topics anew, and wait; False if it isn't done in five minutes."""
    with store.transaction():
        for scope in scopes:
            store.topics.request_run(store.scopes.ensure_scope(scope, now=now))
    deadline = time.monotonic() + REFRESH_SECONDS
    while time.monotonic() < deadline:
        wanted = sum(run.wanted for run in store.topics.list_runs(scopes))
        if not wanted:
            return True
        if progress is not None:
            progress(len(scopes) - wanted, len(scopes), _describe_wait(store.vectors.count_pending(scopes)))
        kick()
        threading.Event().wait(LOOK_SECONDS)
    return False


def _describe_wait(pending: int) -> str:
    return f"{pending:,} memories of this project embedded first" if pending else "looking for topics"


def list_topics(store: Store, scopes: Sequence[str], limit: int, *, now: int, present: Present) -> TopicList:
    """Return the topics of scopes, largest first, each with its most typical members.

    Raises:
        BadRequestError: `limit` is outside 1..100.
    """
    if not 1 <= limit <= MAX_TOPICS:
        raise BadRequestError(f"limit={limit} is outside 1..{MAX_TOPICS}.")
    topics = store.topics.list_of_scopes(scopes)
    run_at, memories = store.topics.get_latest_run(scopes)
    return TopicList(
        topics=tuple(present_topic(store, topic, EXAMPLES, now=now, present=present) for topic in topics[:limit]),
        total=len(topics),
        detected_at=None if run_at is None else to_iso(run_at),
        memories=memories,
        waiting=_latest_request(store, scopes),
    )


def load_topic(store: Store, topic_id: str, scopes: Sequence[str], *, now: int, present: Present) -> TopicHit:
    """Return the topic with an id, or the only one of some scopes whose id begins so, with its fifty typical members.

    Raises:
        NotFoundError: no such topic.
    """
    topic = resolve_id(topic_ids(store.topics, scopes=scopes), topic_id)
    return present_topic(store, topic, MAX_MEMBERS, now=now, present=present)


def present_topic(store: Store, topic: Topic, examples: int, *, now: int, present: Present) -> TopicHit:
    """Return a topic as callers see it."""
    keys = store.topics.list_members(topic.key, examples)
    nodes = store.nodes.get_by_keys(keys)
    return TopicHit(
        id=topic.id,
        name=topic.name or UNNAMED,
        scope=topic.scope,
        phase=phase_of(topic, now),
        confidence=round(topic.agreement / MAX_AGREEMENT, 4),
        weighted_agreement=round(topic.agreement, 2),
        dominant_spaces=dominant_spaces(topic),
        strengths=topic.strengths,
        terms=topic.terms,
        member_count=topic.member_count,
        created_at=to_iso(topic.created_at),
        merged_into=topic.merged_into,
        examples=tuple(present([nodes[key] for key in keys if key in nodes])),
    )


def dominant_spaces(topic: Topic) -> tuple[str, ...]:
    """Return the spaces that support a topic most, at most three."""
    ranked = sorted(topic.strengths.items(), key=lambda item: (-item[1] * TOPIC_WEIGHTS[item[0]], item[0]))
    return tuple(space for space, strength in ranked[:3] if strength >= DOMINANT)


def _latest_request(store: Store, scopes: Sequence[str]) -> str | None:
    if store.topics.get_latest_run(scopes)[0] is None:
        return (
            "No topics were looked for yet: an idle session does it once a dozen memories have vectors;"
            " `hyperloci topics --refresh` does it now."
        )
    if any(run.wanted for run in store.topics.list_runs(scopes)):
        return "A new run is queued; it starts when the embedder is idle."
    return None
