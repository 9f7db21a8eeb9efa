"""Working off the queue of nodes without a fingerprint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.config import Settings
from hyperloci.embedder.batching import CHARS_PER_TOKEN
from hyperloci.embedder.process import embedding_queue
from hyperloci.embedder.process.embedding_queue import (
    BATCH,
    BATCH_TOKENS,
    FIRST_MS,
    RIVAL_MS,
    drain_queue,
    read_encoder_inputs,
)
from hyperloci.errors import StoreError
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.spaces.encoder import MAX_WINDOWS
from hyperloci.store import Store
from hyperloci.store.projects.places import ProjectPlace
from hyperloci.store.vectors import float16
from hyperloci.store.vectors.block_sizes import MAX_ATTEMPTS
from tests.support import NOW, FakeClock, FakeEncoder, add


def never() -> bool:
    return False


def always() -> bool:
    return True


class Choosy(FakeEncoder):
    """An encoder that refuses texts with `poison` in them."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise ValueError("indigestible")
        return super().encode(texts)


@pytest.mark.req("B.03", "E.01")
def test_every_queued_node_gets_its_fingerprint_a_batch_at_a_time(
    store: Store, settings: Settings, encoder: FakeEncoder
) -> None:
    for number in range(BATCH + 3):
        add(store, f"fact {number}")

    looked_at = [drain_queue(settings.database, encoder, always) for _ in range(3)]

    assert looked_at == [BATCH, 3, 0]
    assert store.vectors.count_pending() == 0
    assert store.vectors.count_fingerprints() == BATCH + 3


@pytest.mark.req("B.03")
def test_several_batches_are_done_while_a_database_is_open_and_nobody_waits(
    store: Store, settings: Settings, encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperloci.embedder.process.embedding_queue.OPEN_SECONDS", 600)
    for number in range(2 * BATCH + 3):
        add(store, f"fact {number}")

    assert drain_queue(settings.database, encoder, never) == 2 * BATCH + 3
    assert drain_queue(settings.database, encoder, never) == 0


@pytest.mark.req("B.03")
def test_long_texts_make_smaller_batches_so_that_the_queue_gets_shorter_in_sight(
    store: Store, settings: Settings, encoder: FakeEncoder
) -> None:
    tokens = encoder.max_tokens * MAX_WINDOWS
    fit = BATCH_TOKENS // tokens
    for number in range(fit + 2):
        add(store, f"{number} ".ljust(2 * tokens * CHARS_PER_TOKEN, "x"))

    looked_at = [drain_queue(settings.database, encoder, always) for _ in range(3)]

    assert looked_at == [fit, 2, 0]
    assert 1 < fit < BATCH
    assert store.vectors.count_pending() == 0


@pytest.mark.req("B.03")
def test_a_text_longer_than_a_batch_makes_one_of_its_own(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperloci.embedder.process.embedding_queue.BATCH_TOKENS", 10)
    add(store, "first " * 20)
    add(store, "second " * 20)

    assert [drain_queue(settings.database, FakeEncoder(), always) for _ in range(3)] == [1, 1, 0]


def test_a_text_the_model_cannot_take_does_not_hold_up_the_others(store: Store, settings: Settings) -> None:
    bad, good = add(store, "poison"), add(store, "food")

    for _ in range(MAX_ATTEMPTS + 1):
        drain_queue(settings.database, Choosy(), never)

    assert set(store.vectors.get_rows([bad.key, good.key], ["e1"])) == {good.key}
    assert store.vectors.count_pending() == 0
    reason = store.connection.execute("SELECT error FROM pending WHERE node_key = ?", (bad.key,)).fetchone()[0]
    assert "indigestible" in reason


def test_a_text_that_failed_is_tried_anew_when_it_changes(store: Store, settings: Settings) -> None:
    node = add(store, "poison")
    for _ in range(MAX_ATTEMPTS):
        drain_queue(settings.database, Choosy(), never)

    with store.transaction():
        store.nodes.update_node(node.id, now=NOW, content="food")
    drain_queue(settings.database, Choosy(), never)

    assert set(store.vectors.get_rows([node.key], ["e1"])) == {node.key}


@pytest.mark.req("D.13")
def test_another_model_sees_everything_again_and_can_be_stopped_half_way(store: Store, settings: Settings) -> None:
    for number in range(BATCH + 1):
        add(store, f"fact {number}")
    while drain_queue(settings.database, FakeEncoder(model_id="old"), never):
        pass

    newer = FakeEncoder(model_id="new")
    drain_queue(settings.database, newer, always)
    model = store.vectors.find_model("new")
    assert model is not None
    assert (store.vectors.count_fingerprints(model), store.vectors.count_pending()) == (BATCH, 1)

    while drain_queue(settings.database, newer, never):
        pass
    assert store.vectors.count_fingerprints(model) == BATCH + 1


@pytest.mark.req("D.13")
def test_two_embedders_with_different_models_do_not_take_a_database_from_each_other_in_turn(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_queue, "BATCH", 4)
    older, newer = FakeEncoder(model_id="older"), FakeEncoder(model_id="newer")
    for number in range(6):
        add(store, f"fact {number}")

    def drain(encoder: FakeEncoder) -> int:
        return drain_queue(settings.database, encoder, always)

    assert [drain(older), drain(older), drain(older)] == [4, 2, 0]
    assert [drain(newer), drain(older), drain(newer), drain(older), drain(newer)] == [4, 0, 2, 0, 0]
    add(store, "one more")
    assert (drain(older), store.vectors.get_model_in_use(), store.vectors.count_pending()) == (0, "newer", 1)
    # The newer one has gone, or has nothing to do.
    later = system_clock() + RIVAL_MS
    monkeypatch.setattr(embedding_queue, "system_clock", lambda: later)
    assert (drain(older), store.vectors.get_model_in_use()) == (4, "older")


@pytest.mark.req("D.13")
def test_an_embedder_that_took_a_database_over_and_died_before_its_first_vector_is_not_waited_for(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(FakeEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise MemoryError

    older = FakeEncoder(model_id="older")
    add(store, "fact")
    drain_queue(settings.database, older, always)
    with pytest.raises(MemoryError):
        drain_queue(settings.database, Dying(model_id="newer"), always)
    assert drain_queue(settings.database, older, always) == 0

    later = system_clock() + FIRST_MS
    monkeypatch.setattr(embedding_queue, "system_clock", lambda: later)
    assert (drain_queue(settings.database, older, always), store.vectors.get_model_in_use()) == (1, "older")


@pytest.mark.req("D.13")
def test_an_embedder_that_is_slow_to_make_its_first_vector_is_not_displaced_by_one_that_had_nothing_to_do(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = system_clock()
    monkeypatch.setattr(embedding_queue, "system_clock", lambda: now)
    older = FakeEncoder(model_id="older")

    class Slow(FakeEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            nonlocal now
            now += 120_000
            assert drain_queue(settings.database, older, always) == 0
            return super().encode(texts)

    add(store, "fact")
    drain_queue(settings.database, older, always)
    now += 2 * RIVAL_MS
    assert drain_queue(settings.database, Slow(model_id="newer"), always) == 1
    assert (drain_queue(settings.database, older, always), store.vectors.get_model_in_use()) == (0, "newer")


@pytest.mark.req("D.13")
def test_a_batch_that_was_on_its_way_when_another_embedder_took_over_is_left_to_that(
    store: Store, settings: Settings
) -> None:
    newer = FakeEncoder(model_id="newer")

    class Overtaken(FakeEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            while drain_queue(settings.database, newer, never):
                pass
            return super().encode(texts)

    for number in range(3):
        add(store, f"fact {number}")
    assert drain_queue(settings.database, Overtaken(model_id="older"), never) == 0
    model = store.vectors.find_model("newer")
    assert model is not None
    assert (store.vectors.count_fingerprints(model), store.vectors.count_pending()) == (3, 0)


@pytest.mark.req("D.13")
def test_an_embedder_that_takes_texts_one_at_a_time_is_at_work_too(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = FakeEncoder(model_id="older"), Choosy(model_id="newer")
    add(store, "fact")
    drain_queue(settings.database, older, always)
    add(store, "poison")
    later = system_clock() + RIVAL_MS
    monkeypatch.setattr(embedding_queue, "system_clock", lambda: later)
    drain_queue(settings.database, newer, always)
    assert (drain_queue(settings.database, older, always), store.vectors.get_model_in_use()) == (0, "newer")


def test_what_changed_while_it_was_embedded_is_embedded_again(store: Store, settings: Settings) -> None:
    node = add(store, "before")

    class Meddling(FakeEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if "before" in texts[0]:
                with store.transaction():
                    store.nodes.update_node(node.id, now=NOW, content="after")
            return super().encode(texts)

    encoder = Meddling()
    drain_queue(settings.database, encoder, always)
    assert store.vectors.get_rows([node.key], ["e1"]) == {}
    drain_queue(settings.database, encoder, never)

    stored = store.vectors.get_rows([node.key], ["e1"])[node.key][0]
    assert stored == float16.pack_half(FakeEncoder().encode(["after"])[0])


def test_the_place_is_embedded_with_the_text(store: Store, settings: Settings, encoder: FakeEncoder) -> None:
    node = add(store, "body", title="Guide > Caching")

    drain_queue(settings.database, encoder, never)

    assert store.vectors.get_rows([node.key], ["e1"])[node.key][0] == float16.pack_half(
        encoder.encode(["Guide > Caching\nbody"])[0]
    )


FULL = (
    "We want to keep `deploy_all` fast because k8s was slow.\n"
    "```python\ndef deploy_all(cluster):\n    return apply_manifest(cluster)\n```\nSee docs/deploy.md."
)


@pytest.mark.req("E.01")
@pytest.mark.parametrize("where", ["fingerprints", "code_blocks", "sparse_docs", "sparse_postings"])
def test_a_failure_in_the_middle_leaves_no_space_of_a_memory(store: Store, settings: Settings, where: str) -> None:
    node = add(store, FULL)
    # In the file and not temporary: the drain has a connection of its own.
    store.connection.execute(f"CREATE TRIGGER fail BEFORE INSERT ON {where} BEGIN SELECT RAISE(ABORT, 'injected'); END")

    with pytest.raises(StoreError):
        drain_queue(settings.database, FakeEncoder(), never)

    tables = ("fingerprints", "code_blocks", "sparse_docs", "sparse_postings", "sparse_terms")
    counts = [store.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
    assert counts == [0] * len(tables)
    assert store.vectors.count_pending() == 1
    store.connection.execute("DROP TRIGGER fail")
    drain_queue(settings.database, FakeEncoder(), never)
    assert store.vectors.get_rows([node.key], ["e1", "e7"])[node.key][1] is not None
    assert store.sparse_index.get_terms("e13", node.key)


def test_what_the_parse_and_the_graph_know_of_a_memory_is_seen(store: Store, settings: Settings) -> None:
    node = add(store, "def fetch_user(): ...")
    with store.transaction():
        store.positions.put_position(node.key, Position(path="app/users.py"))
        store.positions.put_code_facts(node.key, CodeFacts(kind="function", name="fetch_user", calls=("db.query_one",)))

    (sight,) = read_encoder_inputs(store, [node])
    assert (sight.path, sight.facts and sight.facts.calls) == ("app/users.py", ("db.query_one",))

    drain_queue(settings.database, FakeEncoder(), never)
    e7, outgoing, definition = store.vectors.get_rows([node.key], ["e7", "e8_out", "e8_in"])[node.key]
    assert e7 and outgoing and definition


@pytest.mark.req("D.13")
def test_new_spaces_are_made_once_and_search_by_meaning_goes_on_meanwhile(store: Store, settings: Settings) -> None:
    nodes = [add(store, f"fact {number}") for number in range(BATCH + 1)]
    while drain_queue(settings.database, FakeEncoder(model_id="m@1/384"), never):
        pass
    with store.transaction():
        model = store.vectors.use_model("m@1/384+1", 384, now=NOW)
    assert (store.vectors.count_fingerprints(model), store.vectors.count_pending()) == (BATCH + 1, BATCH + 1)
    allowed = np.ones(BATCH + 2, np.bool_)
    query = FakeEncoder().encode(["fact 3"])[0]
    assert store.vectors.find_nearest(query, allowed, model, 1)[0].tolist() == [nodes[3].key]
    assert store.vectors.get_rows([nodes[3].key], ["e9"])[nodes[3].key] == (None,)

    while drain_queue(settings.database, FakeEncoder(model_id="m@1/384+1"), never):
        pass
    with store.transaction():
        store.vectors.use_model("m@1/384+1", 384, now=NOW)
    assert store.vectors.count_pending() == 0
    assert store.vectors.get_rows([nodes[3].key], ["e9"])[nodes[3].key] != (None,)


def add_files(store: Store, scope: str) -> list[Node]:
    return [
        add(store, f"{scope} {number}", type=NodeType.SNIPPET, subtype="code", scope=scope)
        for number in range(BATCH + 3)
    ]


def opened_folder(scope: str, *, seen_at: int) -> ProjectPlace:
    return ProjectPlace(
        id=f"place of {scope}",
        scope=scope,
        path=f"/{scope}",
        root=f"/{scope}",
        token_hash=None,
        inode=None,
        remote=None,
        root_commit=None,
        claimed_name=None,
        reason="place",
        first_seen_at=NOW,
        last_seen_at=seen_at,
    )


@pytest.mark.req("B.03")
@pytest.mark.parametrize("how", ["its session goes on", "its folder was opened"])
def test_the_project_that_somebody_sits_at_waits_for_no_other_projects_vectors(
    store: Store, settings: Settings, encoder: FakeEncoder, how: str
) -> None:
    others, mine = add_files(store, "first"), add_files(store, "mine")
    said = add(store, "said elsewhere", scope="first")
    with store.transaction():
        first, at_hand = (store.scopes.ensure_scope(scope, now=NOW) for scope in ("first", "mine"))
        store.sessions.note_seen("over", first, now=NOW + 9)
        store.sessions.end_session("over", now=NOW + 9)
        store.sessions.note_seen("rests", first, now=NOW)
        if how == "its session goes on":
            store.sessions.note_seen("goes on", at_hand, now=NOW + 1)
        else:
            store.places.add_place(opened_folder("mine", seen_at=NOW + 1))

    assert drain_queue(settings.database, encoder, always, FakeClock(NOW + 10)) == BATCH
    waiting = [node.key for node in (*mine[BATCH - 1 :], *others)]
    assert store.vectors.list_pending(1_000, at_hand=at_hand) == waiting
    assert said.key not in waiting


@pytest.mark.req("B.03")
@pytest.mark.parametrize("what", ["session", "folder"])
def test_what_a_wrong_clock_dated_in_the_future_is_not_at_hand_until_then(store: Store, what: str) -> None:
    later = NOW + 30 * MS_PER_DAY
    with store.transaction():
        ahead, at_hand = (store.scopes.ensure_scope(scope, now=NOW) for scope in ("ahead", "mine"))
        if what == "session":
            store.sessions.note_seen("ahead of its time", ahead, now=later)
        else:
            store.places.add_place(opened_folder("ahead", seen_at=later))
        store.sessions.note_seen("goes on", at_hand, now=NOW)
    assert store.sessions.find_scope_at_hand(now=NOW + 1) == at_hand
    assert store.sessions.find_scope_at_hand(now=later) == ahead


@pytest.mark.req("B.03")
def test_where_nobody_sits_at_a_project_all_are_embedded(
    store: Store, settings: Settings, encoder: FakeEncoder
) -> None:
    add_files(store, "first")
    assert store.sessions.find_scope_at_hand(now=NOW) is None
    while drain_queue(settings.database, encoder, always):
        pass
    assert store.vectors.count_pending() == 0


def test_topics_that_somebody_waits_for_wait_for_no_other_projects_vectors(
    store: Store, settings: Settings, encoder: FakeEncoder
) -> None:
    for number in range(2 * BATCH):
        add(store, f"another's {number}", scope="other", place=f"other{number}")
    for number in range(3):
        add(store, f"mine {number}", scope="mine", place=f"mine{number}")
    with store.transaction():
        for scope in ("mine", "other"):
            store.topics.request_run(store.scopes.ensure_scope(scope, now=NOW))

    drain_queue(settings.database, encoder, always)

    assert store.vectors.count_pending(["mine"]) == 0 and store.vectors.count_pending() > 0
    assert [run.wanted for scope in ("mine", "other") for run in store.topics.list_runs([scope])] == [False, True]
