"""Nodes: every operation of SPEC-02.20 to .24, deduplication, forgetting and restoring, reinforcement."""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci.errors import BadRequestError, StoreError
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import SUBTYPES, NodeType, Origin, Tier
from hyperloci.model.node import RESTORE_DAYS, NewNode
from hyperloci.model.position import Position
from hyperloci.store import Store
from hyperloci.store.memories.node_rows import hash_content
from tests.support import NOW, FakeClock, add, examples


def change(store: Store, node_id: str, *, now: int = NOW + 1, **changes: Any) -> bool:
    with store.transaction():
        return store.nodes.update_node(node_id, now=now, **changes)


def forget(store: Store, node_id: str, now: int = NOW, reason: str | None = None) -> bool:
    with store.transaction():
        return store.nodes.delete_node(node_id, now=now, reason=reason)


def restore(store: Store, node_id: str, now: int = NOW) -> bool:
    with store.transaction():
        return store.nodes.restore_node(node_id, now=now)


@pytest.mark.req("SPEC-02.20", "SPEC-02.06", "SPEC-02.07", "SPEC-02.08", "SPEC-02.35")
def test_a_node_is_stored_with_everything_it_was_given(store: Store) -> None:
    with store.transaction():
        scope = store.scopes.ensure_scope("project", now=NOW)
        session = store.sessions.note_seen("session", scope, now=NOW)
    node = add(
        store,
        "Ünïcode \U0001f680 'quoted' \"text\"; DROP TABLE nodes; --",
        type=NodeType.FACT,
        subtype="constraint",
        title="a > b",
        tier=Tier.SESSION,
        confidence=0.75,
        decay_rate=0.02,
        provenance="said so",
        origin=Origin.USER_PROMPT,
        scope="project",
        session_id="session",
        session_key=session.key,
        seq=4,
        event_time=NOW - 5,
        valid_from=NOW - 6,
        metadata={"k": [1, {"ü": None}], "n": 0.5},
        position=Position(path="src/a.py", line_start=2),
    )
    assert store.nodes.get_node(node.id) == node == store.nodes.get_by_key(node.key)
    assert node.content == "Ünïcode \U0001f680 'quoted' \"text\"; DROP TABLE nodes; --"
    assert (node.type, node.subtype, node.title, node.tier) == (NodeType.FACT, "constraint", "a > b", Tier.SESSION)
    assert (node.confidence, node.decay_rate, node.provenance) == (0.75, 0.02, "said so")
    assert (node.origin, node.scope, node.session_id, node.seq) == (Origin.USER_PROMPT, "project", "session", 4)
    assert (node.event_time, node.valid_from, node.valid_until) == (NOW - 5, NOW - 6, None)
    assert (node.created_at, node.updated_at, node.last_accessed, node.access_count) == (NOW, NOW, NOW, 0)
    assert (node.deleted_at, node.seen_count) == (None, 1)
    assert node.metadata == {"k": [1, {"ü": None}], "n": 0.5}
    assert store.positions.get_positions([node.key])[node.key] == Position(path="src/a.py", line_start=2)
    assert store.vectors.list_pending(5) == [node.key]


@pytest.mark.req("SPEC-02.18", "B.14")
def test_what_is_not_said_is_filled_in(store: Store) -> None:
    node = add(store)
    assert (node.tier, node.scope, node.origin, node.confidence) == (Tier.TASK, "global", Origin.TOOL, 0.5)
    assert node.event_time == node.created_at == node.valid_from == NOW


@pytest.mark.req("SPEC-02.09")
def test_an_id_is_a_random_uuid(store: Store) -> None:
    parsed = [uuid.UUID(add(store, f"{number}").id) for number in range(5)]
    assert {identifier.version for identifier in parsed} == {4}
    assert len(set(parsed)) == 5


@pytest.mark.req("B.11")
@pytest.mark.parametrize("kind", list(NodeType))
def test_only_what_was_concluded_fades_by_itself(store: Store, kind: NodeType) -> None:
    assert add(store, type=kind).decay_rate == (0.1 if kind is NodeType.FACT else 0.0)
    assert add(store, type=kind, decay_rate=0.3).decay_rate == 0.3


@pytest.mark.req("SPEC-02.05", "SPEC-02.17", "SPEC-02.36")
def test_the_database_itself_knows_the_closed_sets(store: Store) -> None:
    node = add(store)
    for column, value in (("type", "idea"), ("tier", "forever"), ("confidence", 1.01), ("confidence", -0.01)):
        with pytest.raises(StoreError, match="CHECK"), store.transaction():
            store.connection.execute(f"UPDATE nodes SET {column} = ? WHERE key = ?", (value, node.key))
    for kind in NodeType:
        for subtype in sorted(SUBTYPES[kind]):
            assert add(store, type=kind, subtype=subtype).subtype == subtype


@pytest.mark.req("SPEC-02.10", "SPEC-02.36")
@hypothesis_settings(max_examples=examples(60))
@given(confidence=st.floats())
def test_confidence_lies_between_nought_and_one(confidence: float) -> None:
    if 0.0 <= confidence <= 1.0:
        assert NewNode(type=NodeType.FACT, content="x", confidence=confidence).confidence == confidence
    else:
        with pytest.raises(BadRequestError, match="confidence"):
            NewNode(type=NodeType.FACT, content="x", confidence=confidence)


@pytest.mark.parametrize("confidence", [0.0, 1e-300, 0.5, 1.0 - 2**-53, 1.0])
def test_confidence_at_its_bounds_is_kept_exactly(store: Store, confidence: float) -> None:
    node = add(store, confidence=confidence)
    assert node.confidence == confidence
    assert change(store, node.id, confidence=1.0 - confidence)
    found = store.nodes.get_node(node.id)
    assert found is not None and found.confidence == 1.0 - confidence


@pytest.mark.parametrize("content", ["", " \n\t", "\u2003"])
def test_nothing_is_no_memory(store: Store, content: str) -> None:
    with pytest.raises(BadRequestError, match="content is empty"):
        NewNode(type=NodeType.FACT, content=content)
    node = add(store)
    with pytest.raises(BadRequestError, match="content is empty"):
        change(store, node.id, content=content)


@pytest.mark.parametrize("metadata", [{"a": math.nan}, {"a": math.inf}, {"a": object()}, {"a": {1, 2}}])
def test_metadata_that_is_not_json_is_refused(store: Store, metadata: dict[str, Any]) -> None:
    with pytest.raises(BadRequestError, match="metadata"):
        add(store, metadata=metadata)
    node = add(store)
    with pytest.raises(BadRequestError, match="metadata"):
        change(store, node.id, metadata=metadata)


@pytest.mark.req("SPEC-02.21")
def test_an_unknown_node_is_none(store: Store) -> None:
    add(store)
    assert store.nodes.get_node("nobody") is None
    assert store.nodes.get_by_key(99) is None
    assert store.nodes.get_by_keys([98, 99]) == {}


def test_many_nodes_are_read_at_once(store: Store) -> None:
    nodes = [add(store, f"{number}") for number in range(5)]
    wanted = nodes[1:4]
    assert store.nodes.get_by_keys([node.key for node in wanted] + [1_000]) == {node.key: node for node in wanted}


def test_an_id_is_completed_from_its_beginning(store: Store) -> None:
    nodes = [add(store, f"{number}") for number in range(40)]
    prefix = nodes[0].id[:1]
    same = sorted(node.id for node in nodes if node.id.startswith(prefix))
    assert store.nodes.ids_like(prefix, limit=50) == same
    assert store.nodes.ids_like(prefix, limit=1) == same[:1]
    assert store.nodes.ids_like(nodes[3].id) == [nodes[3].id]
    assert store.nodes.ids_like("") == store.nodes.ids_like("zz") == store.nodes.ids_like("%") == []


@pytest.mark.req("SPEC-02.22")
def test_every_field_that_may_change_changes(store: Store) -> None:
    node = add(store)
    changes: dict[str, Any] = {
        "content": "new words",
        "title": "new title",
        "tier": Tier.LONGTERM,
        "confidence": 0.9,
        "decay_rate": 0.0,
        "provenance": "elsewhere",
        "valid_until": NOW + 10,
        "last_accessed": NOW + 11,
        "access_count": 12,
        "metadata": {"a": 1},
        "type": NodeType.DECISION,
        "subtype": "insight",
        "event_time": NOW - 13,
    }
    assert change(store, node.id, **changes)
    found = store.nodes.get_node(node.id)
    assert found is not None
    assert {name: getattr(found, name) for name in changes} == changes
    assert found.updated_at == NOW + 1 and found.created_at == NOW


@pytest.mark.parametrize("name", ["id", "key", "created_at", "deleted_at", "scope_key", "content_hash", "nonsense"])
def test_no_other_field_may_change(store: Store, name: str) -> None:
    node = add(store)
    with pytest.raises(BadRequestError, match=f"{name} cannot be changed; these can: access_count"):
        change(store, node.id, now=NOW + 1, **{name: 1})
    assert store.nodes.get_node(node.id) == node


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tier", "forever"),
        ("confidence", 1.5),
        ("confidence", math.nan),
        ("decay_rate", -0.1),
        ("decay_rate", math.inf),
    ],
)
def test_a_value_that_a_field_can_not_have_is_named(store: Store, name: str, value: object) -> None:
    node = add(store)
    with pytest.raises(BadRequestError, match=name):
        change(store, node.id, now=NOW + 1, **{name: value})
    assert store.nodes.get_node(node.id) == node


def test_a_node_with_a_rate_that_grows_is_refused(store: Store) -> None:
    with pytest.raises(BadRequestError, match="decay_rate"):
        add(store, decay_rate=-1.0)


def test_changing_what_is_not_there_changes_nothing(store: Store) -> None:
    assert change(store, "nobody", content="x") is False


def test_changing_nothing_is_no_change(store: Store) -> None:
    node = add(store)
    assert change(store, node.id)
    assert store.nodes.get_node(node.id) == node


def search(store: Store, words: str) -> list[int]:
    from hyperloci.model.search import SearchFilter
    from hyperloci.store.keywords.analysis import analyse_query

    return list(
        store.keyword_search.rank_by_bm25(analyse_query(words), store.filters.select_allowed(SearchFilter()), 10)
    )


@pytest.mark.parametrize("changes", [{"content": "violet umbrella"}, {"title": "violet umbrella"}])
def test_new_words_are_found_and_wait_for_new_vectors(store: Store, changes: dict[str, str]) -> None:
    node = add(store, "green bicycle", title="shed", extra_terms="rain")
    with store.transaction():
        model = store.vectors.use_model("m", 64, now=NOW)
        store.vectors.put_fingerprint(node.key, model, {}, now=NOW)
    assert store.vectors.list_pending(5) == []
    change(store, node.id, now=NOW + 1, **changes)
    assert search(store, "umbrella") == search(store, "rain") == [node.key]
    assert search(store, "bicycle") == ([] if "content" in changes else [node.key])
    assert search(store, "shed") == ([] if "title" in changes else [node.key])
    assert store.vectors.list_pending(5) == [node.key]
    found = store.nodes.get_node(node.id)
    assert found is not None
    assert store.nodes.find_duplicate(found.content, "global") == found


def test_other_changes_need_no_new_vectors(store: Store) -> None:
    node = add(store)
    with store.transaction():
        store.vectors.put_fingerprint(node.key, store.vectors.use_model("m", 64, now=NOW), {}, now=NOW)
    change(store, node.id, confidence=0.1, tier="session")
    assert store.vectors.list_pending(5) == []


@pytest.mark.req("SPEC-02.19")
def test_every_move_between_tiers_is_logged_with_its_reason(store: Store) -> None:
    node = add(store)
    for number, tier in enumerate((Tier.SESSION, Tier.LONGTERM, Tier.ARCHIVE, Tier.TASK)):
        change(store, node.id, now=NOW + number, tier=tier, reason=f"because {number}")
    change(store, node.id, tier=Tier.TASK, reason="no move")
    entries = store.log.list_of_node(node.id)
    assert [(entry.operation, entry.from_tier, entry.to_tier, entry.reasoning) for entry in entries] == [
        ("tier", "task", "session", "because 0"),
        ("tier", "session", "longterm", "because 1"),
        ("tier", "longterm", "archive", "because 2"),
        ("tier", "archive", "task", "because 3"),
    ]
    assert [entry.timestamp for entry in entries] == [NOW, NOW + 1, NOW + 2, NOW + 3]
    assert {entry.node_ids for entry in entries} == {(node.id,)}


@pytest.mark.req("SPEC-02.23", "E.16")
def test_a_forgotten_node_is_archived_and_comes_back_as_it_was(store: Store) -> None:
    node = add(store, tier=Tier.LONGTERM, metadata={"a": 1})
    assert forget(store, node.id, NOW + 5, "no longer true")
    gone = store.nodes.get_node(node.id)
    assert gone is not None
    assert (gone.tier, gone.deleted_at) == (Tier.ARCHIVE, NOW + 5)
    assert store.nodes.query_nodes() == [] == search(store, "fact")
    assert forget(store, node.id) is False
    assert restore(store, node.id, NOW + 6)
    back = store.nodes.get_node(node.id)
    assert back is not None
    assert (back.tier, back.deleted_at, back.metadata, back.content) == (Tier.LONGTERM, None, {"a": 1}, node.content)
    assert search(store, "fact") == [node.key]
    assert [(entry.operation, entry.from_tier, entry.to_tier) for entry in store.log.list_of_node(node.id)] == [
        ("forget", "longterm", "archive"),
        ("restore", "archive", "longterm"),
    ]


@pytest.mark.req("E.16")
@pytest.mark.parametrize(("days", "possible"), [(0, True), (29.9, True), (30, True), (30.001, False), (400, False)])
def test_thirty_days_are_there_to_change_ones_mind(store: Store, clock: FakeClock, days: float, possible: bool) -> None:
    node = add(store)
    forget(store, node.id, clock())
    assert restore(store, node.id, clock.advance(int(days * MS_PER_DAY))) is possible
    assert (store.nodes.query_nodes() != []) is possible
    assert RESTORE_DAYS == 30


def test_a_clock_that_went_back_does_not_keep_a_node_forgotten(store: Store, clock: FakeClock) -> None:
    node = add(store)
    forget(store, node.id, clock())
    assert restore(store, node.id, clock.advance(-90 * MS_PER_DAY))


def test_what_is_not_forgotten_can_not_be_restored(store: Store) -> None:
    node = add(store)
    assert restore(store, node.id) is restore(store, "nobody") is forget(store, "nobody") is False
    assert store.nodes.get_node(node.id) == node


@pytest.mark.req("SPEC-02.24")
def test_nodes_are_asked_for_by_any_of_four_filters(store: Store) -> None:
    wanted: dict[str, tuple[NodeType, Tier, float]] = {}
    for kind in (NodeType.FACT, NodeType.DECISION):
        for tier in (Tier.TASK, Tier.LONGTERM):
            for confidence in (0.2, 0.8):
                node = add(store, now=NOW + len(wanted), type=kind, tier=tier, confidence=confidence)
                wanted[node.id] = (kind, tier, confidence)

    def expected(**given: Any) -> list[str]:
        keep = [
            node_id
            for node_id, (kind, tier, confidence) in wanted.items()
            if given.get("type") in (None, kind)
            and given.get("tier") in (None, tier)
            and confidence >= (given.get("min_confidence") or 0)
        ]
        return keep[::-1]

    for a_kind in (None, "fact", "decision", "snippet"):
        for a_tier in (None, "task", "archive"):
            for least in (None, 0.0, 0.8, 1.0):
                given_: dict[str, Any] = {"type": a_kind, "tier": a_tier, "min_confidence": least}
                assert [node.id for node in store.nodes.query_nodes(**given_)] == expected(**given_)
    assert [node.id for node in store.nodes.query_nodes(limit=3)] == expected()[:3]
    assert store.nodes.query_nodes(limit=0) == []


def test_nodes_are_asked_for_by_subtype_and_scope(store: Store) -> None:
    for scope in ("global", "p"):
        for subtype in ("insight", "opinion", None):
            add(store, f"{scope} {subtype}", scope=scope, subtype=subtype)
    found = store.nodes.query_nodes(subtypes=["insight", "opinion"], scopes=["p"])
    assert {node.content for node in found} == {"p insight", "p opinion"}
    assert store.nodes.query_nodes(scopes=["nowhere"]) == []


def test_what_is_no_longer_valid_is_not_asked_for(store: Store) -> None:
    node = add(store)
    change(store, node.id, valid_until=NOW)
    assert store.nodes.query_nodes() == []


@pytest.mark.req("SPEC-02.33")
@pytest.mark.parametrize(
    "evil", ["' OR 1=1 --", '"; DROP TABLE nodes; --', "fact' UNION SELECT * FROM scopes --", "%", "*", "]["]
)
def test_no_argument_is_ever_sql(store: Store, evil: str) -> None:
    node = add(store, f"harmless {evil}", place=evil, provenance=evil, title=evil, scope=evil, metadata={evil: evil})
    assert store.nodes.get_node(node.id) == node
    assert store.nodes.query_nodes(type=evil) == store.nodes.query_nodes(tier=evil) == []
    assert store.nodes.query_nodes(scopes=[evil]) == [node]
    assert store.nodes.get_node(evil) is None
    assert store.nodes.ids_like(evil) == []
    assert store.nodes.find_duplicate(f"harmless {evil}", evil, evil) == node
    assert change(store, node.id, provenance=evil + evil)
    with pytest.raises(BadRequestError):
        change(store, node.id, **{"confidence = 1 --": 1})
    assert store.count_everything()["nodes"] == 1


def test_a_nul_in_a_text_is_kept_and_ends_nothing(store: Store) -> None:
    node = add(store, "before\0after", title="\0", provenance="a\0b", metadata={"\0": "\0"})
    assert store.nodes.get_node(node.id) == node
    assert store.nodes.find_duplicate("before\0after", "global") == node
    assert store.nodes.find_duplicate("before", "global") is None


@pytest.mark.req("E.03")
def test_the_same_content_is_the_same_memory_only_in_the_same_scope_and_place(store: Store) -> None:
    node = add(store, "same", scope="p", place="a.md")
    assert store.nodes.find_duplicate("same", "p", "a.md") == node
    assert store.nodes.find_duplicate("Same", "p", "a.md") is None
    assert store.nodes.find_duplicate("same", "p", "b.md") is None
    assert store.nodes.find_duplicate("same", "p") is None
    assert store.nodes.find_duplicate("same", "global", "a.md") is None
    assert store.nodes.find_duplicate("same", "nowhere", "a.md") is None
    with store.transaction():
        store.nodes.count_repetition(node.key, now=NOW + 9)
    again = store.nodes.get_by_key(node.key)
    assert again is not None and (again.seen_count, again.updated_at) == (2, NOW + 9)


def test_what_is_forgotten_or_invalid_is_no_duplicate(store: Store) -> None:
    first = add(store, "same")
    forget(store, first.id)
    assert store.nodes.find_duplicate("same", "global") is None
    second = add(store, "same")
    assert store.nodes.find_duplicate("same", "global") == second
    change(store, second.id, valid_until=NOW)
    assert store.nodes.find_duplicate("same", "global") is None


@pytest.mark.req("E.16", "W17")
def test_what_lives_is_not_found_among_the_forgotten(store: Store) -> None:
    node = add(store, "same")
    assert store.nodes.find_forgotten("same", "global") is None
    forget(store, node.id)
    found = store.nodes.find_forgotten("same", "global")
    assert found is not None and found.id == node.id
    assert store.nodes.find_forgotten("same", "project:elsewhere") is None


def test_a_content_hash_takes_any_text() -> None:
    assert len(hash_content("\ud800")) == len(hash_content("")) == 32
    assert hash_content("a") != hash_content("b")


def reinforced(store: Store, node_id: str) -> tuple[object, int, int]:
    node = store.nodes.get_node(node_id)
    assert node is not None
    return node.confidence, node.access_count, node.last_accessed


@pytest.mark.req("B.12")
def test_recalling_counts_dates_undoes_the_fading_and_makes_surer_by_the_formula(store: Store) -> None:
    node = add(store, confidence=0.5, decay_rate=0.1)
    expected, last = 0.5, NOW
    for count, days in enumerate((0, 0, 1, 7, 30), start=1):
        now = last + days * MS_PER_DAY
        with store.transaction():
            store.nodes.reinforce_nodes([node.key], now=now)
        expected = min(1.0, expected + 0.05 * math.log(1 + count / 20))
        assert reinforced(store, node.id) == (pytest.approx(expected), count, now)
        last = now


@pytest.mark.req("B.12", "B.17")
def test_recalling_makes_nothing_surer_than_its_sources(store: Store) -> None:
    node = add(store, confidence=0.6, metadata={"trust": 0.7})
    with store.transaction():
        for _ in range(50):
            store.nodes.reinforce_nodes([node.key], now=NOW)
    assert reinforced(store, node.id) == (0.7, 50, NOW)


@pytest.mark.req("B.12")
def test_nothing_is_surer_than_certain(store: Store) -> None:
    node = add(store, confidence=0.99, decay_rate=0.0)
    with store.transaction():
        for _ in range(50):
            store.nodes.reinforce_nodes([node.key], now=NOW)
    assert reinforced(store, node.id) == (1.0, 50, NOW)


def test_a_clock_that_goes_back_neither_decays_nor_forgets_the_last_access(store: Store) -> None:
    node = add(store, confidence=0.5, decay_rate=0.5)
    with store.transaction():
        store.nodes.reinforce_nodes([node.key], now=NOW - 400 * MS_PER_DAY)
    assert reinforced(store, node.id) == (pytest.approx(0.5 + 0.05 * math.log(1 + 1 / 20)), 1, NOW)


def test_recalling_nobody_changes_nobody(store: Store) -> None:
    node = add(store)
    with store.transaction():
        store.nodes.reinforce_nodes([], now=NOW + 1)
        store.nodes.reinforce_nodes([999], now=NOW + 1)
    assert store.nodes.get_node(node.id) == node


@pytest.mark.req("B.11")
@hypothesis_settings(max_examples=examples(80))
@given(rate=st.floats(0, 10), older=st.floats(-1e12, 1e12), younger=st.floats(-1e12, 1e12))
def test_decay_only_ever_takes_and_takes_more_with_age(rate: float, older: float, younger: float) -> None:
    older, younger = max(older, younger), min(older, younger)
    assert 0.0 <= decay_factor(rate, older) <= decay_factor(rate, younger) <= 1.0
    assert decay_factor(rate, 0) == decay_factor(rate, -5) == decay_factor(0.0, older) == 1.0
    assert decay_factor(rate, MS_PER_DAY) == pytest.approx(math.exp(-rate))


def test_queueing_again_forgives_former_failures(store: Store) -> None:
    node = add(store)
    with store.transaction():
        store.vectors.note_failures([node.key], "out of memory")
        store.nodes.queue_for_fingerprint([node.key], now=NOW + 1)
    row = store.connection.execute("SELECT node_key, queued_at, attempts, error FROM pending").fetchone()
    assert tuple(row) == (node.key, NOW + 1, 0, None)
