"""Which living memories a statement may affect."""

from __future__ import annotations

from hyperloci.knowledge.contradictions.affected import MAX_AFFECTED, select_affected
from hyperloci.knowledge.contradictions.detector import ContradictionCandidate
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import NewNode
from hyperloci.store import Store


def candidate(
    store: Store,
    content: str,
    similarity: float | None = None,
    *,
    subtype: str = "insight",
    origin: Origin = Origin.TOOL,
) -> ContradictionCandidate:
    kind = NodeType.EXPERIENCE if subtype in ("episode", "dead_end") else NodeType.FACT
    with store.transaction():
        new = NewNode(type=kind, subtype=subtype, content=content, scope="global", origin=origin)
        return ContradictionCandidate(store.nodes.create_node(new, now=1), similarity)


def test_at_most_three_are_named_nearest_first(store: Store) -> None:
    near = [candidate(store, f"The billing service retries {n} times", 0.5 + n / 10) for n in range(4)]
    found = select_affected("The billing service retries six times", near, {})
    assert [node.key for node in found] == [c.node.key for c in near[:0:-1]]
    assert len(found) == MAX_AFFECTED


def test_a_statement_without_a_neighbour_affects_nothing(store: Store) -> None:
    near = [candidate(store, "The billing service retries five times", 0.2), candidate(store, "Ana likes tea")]
    assert select_affected("Kayaks are red", near, {}) == []


def test_what_stands_for_a_secret_is_no_subject(store: Store) -> None:
    near = [candidate(store, "Ana signs in with [redacted:github-token]"), candidate(store, "The rest is [private]")]
    assert select_affected("The nightly build uses [redacted:github-token], [private]", near, {}) == []


def test_what_it_contradicts_is_named_whatever_it_shares_and_goes_before_what_is_about_as_near(store: Store) -> None:
    near, far = candidate(store, "Sessions live in Redis", 0.8), candidate(store, "No caches, ever", 0.1)
    nearer = candidate(store, "Sessions live long", 0.85)
    found = select_affected("Sessions live in Memcached", [nearer, near, far], {}, {far.node.id, near.node.id})
    assert [node.id for node in found] == [near.node.id, nearer.node.id, far.node.id]


def test_false_alarms_do_not_push_the_nearest_memory_out(store: Store) -> None:
    nearest = candidate(store, "Sessions live in Redis", 0.8)
    alarms = [candidate(store, f"Nothing lives in cache {n}", 0.3) for n in range(5)]
    found = select_affected("Memcached holds sessions", [*alarms, nearest], {}, {c.node.id for c in alarms})
    assert found[0].id == nearest.node.id
    assert len(found) == MAX_AFFECTED


def test_what_was_asked_or_answered_is_not_affected_but_dead_ends_are(store: Store) -> None:
    asked = candidate(store, "Sessions live in Redis?", 0.9, subtype="episode", origin=Origin.USER_PROMPT)
    answered = candidate(store, "Sessions live in Redis.", 0.9, origin=Origin.CLAUDE_RESPONSE)
    tried = candidate(store, "Dead end: sessions in Redis", 0.9, subtype="dead_end")
    assert [n.id for n in select_affected("Sessions live in Redis", [asked, answered, tried], {})] == [tried.node.id]
