"""Runs: topics of stored memories, from their fingerprints to their names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, NodeType
from hyperloci.model.topic import Topic, TopicPhase
from hyperloci.store import Store
from hyperloci.store.purge import erase_memory
from hyperloci.topics.detect import DUE_CHANGE_SHARE, MIN_MEMORIES, REST_MS, detect_topics, is_due, sample_keys
from tests.support import NOW, FakeEncoder, add
from tests.topics.themes import THEMES, WordEncoder, embed, fill, model_of, sentence

EACH = 10


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


def topics_of(store: Store) -> list[Topic]:
    return store.topics.list_of_scopes([GLOBAL_SCOPE])


def by_theme(store: Store) -> dict[str, Topic]:
    """Return the topic named by each theme's words."""
    return {
        theme: topic
        for topic in topics_of(store)
        for theme, words in THEMES.items()
        if set(topic.name.split(", ")) <= set(words.split())
    }


def rerun(store: Store, now: int = NOW) -> None:
    scope = store.scopes.find_key(GLOBAL_SCOPE)
    assert scope is not None
    detect_topics(store, scope, model_of(store), now=now)


@pytest.mark.req("E.09")
def test_themes_become_topics_named_by_their_words(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    keys = fill(store, EACH)
    embed(settings, encoder)
    found = by_theme(store)
    assert set(found) == set(THEMES)
    for theme, topic in found.items():
        assert set(store.topics.list_members(topic.key)) == set(keys[theme])
        assert topic.agreement >= 2.5
        assert not {"e2", "e3", "e4"} & set(topic.strengths)


@pytest.mark.req("E.09")
def test_a_topic_keeps_its_id_from_run_to_run(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    before = {theme: topic.id for theme, topic in by_theme(store).items()}
    fill(store, 3, start=EACH)
    embed(settings, encoder)
    rerun(store, NOW + 2 * MS_PER_DAY)
    after = by_theme(store)
    assert {theme: topic.id for theme, topic in after.items()} == before
    assert all(topic.member_count == EACH + 3 for topic in after.values())


@pytest.mark.req("E.09")
def test_the_same_memories_give_the_same_topics(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    rerun(store)
    first = [(topic.id, topic.name, topic.agreement, topic.strengths) for topic in topics_of(store)]
    rerun(store)
    again = topics_of(store)
    assert [(topic.id, topic.name, topic.agreement, topic.strengths) for topic in again] == first
    assert all(topic.churn == 0 for topic in again)


@pytest.mark.req("E.09")
def test_a_new_memory_joins_its_topic_at_once(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    billing = by_theme(store)["billing"]
    new = add(store, " ".join(THEMES["billing"].split()))
    stranger = add(store, "violin sonata orchestra rehearsal tempo")
    embed(settings, encoder)
    assert new.key in store.topics.list_members(billing.key)
    assert all(stranger.key not in store.topics.list_members(topic.key) for topic in topics_of(store))
    run = store.topics.get_run(1)
    assert run is None or run.memories == EACH * len(THEMES)


def test_a_memory_whose_text_changed_moves(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    keys = fill(store, EACH)
    embed(settings, encoder)
    found = by_theme(store)
    moved = keys["billing"][0]
    node = store.nodes.get_by_key(moved)
    assert node is not None
    with store.transaction():
        store.nodes.update_node(node.id, now=NOW, content=" ".join(THEMES["deploy"].split()))
    embed(settings, encoder)
    assert moved in store.topics.list_members(found["deploy"].key)
    assert moved not in store.topics.list_members(found["billing"].key)


@pytest.mark.req("E.09")
def test_a_topic_whose_memories_are_gone_is_gone(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    keys = fill(store, EACH)
    embed(settings, encoder)
    with store.transaction():
        for key in keys["billing"]:
            node = store.nodes.get_by_key(key)
            assert node is not None
            store.nodes.delete_node(node.id, now=NOW)
    assert by_theme(store)["billing"].member_count == 0
    rerun(store)
    assert set(by_theme(store)) == set(THEMES) - {"billing"}


def test_few_memories_have_no_topics(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    for number in range(MIN_MEMORIES - 1):
        add(store, sentence("billing", number))
    embed(settings, encoder)
    assert topics_of(store) == []
    scope = store.scopes.find_key(GLOBAL_SCOPE)
    assert scope is not None
    assert not is_due(store, scope, model_of(store), now=NOW)


def test_things_and_notes_of_tool_use_make_no_topics(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    for number in range(20):
        add(store, sentence("billing", number), type=NodeType.EXPERIENCE, subtype="action", place=str(number))
        add(store, sentence("deploy", number), type=NodeType.ENTITY, subtype="tool", place=str(number))
    embed(settings, encoder)
    assert store.vectors.count_fingerprints() == 40
    assert topics_of(store) == []


def test_texts_that_have_nothing_in_common_make_no_topic(
    store: Store, settings: Settings, encoder: WordEncoder
) -> None:
    for number in range(40):
        add(store, f"alpha{number} beta{number} gamma{number}")
    embed(settings, encoder)
    assert topics_of(store) == []


def test_a_run_is_due_when_a_tenth_is_new_and_some_time_is_past(
    store: Store, settings: Settings, encoder: WordEncoder
) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    scope, model = store.scopes.find_key(GLOBAL_SCOPE), model_of(store)
    assert scope is not None
    rerun(store)
    assert not is_due(store, scope, model, now=NOW + REST_MS)
    for number in range(round(DUE_CHANGE_SHARE * EACH * len(THEMES)) + 1):
        add(store, sentence("billing", 100 + number), place=f"new{number}")
    embed(settings, encoder, lambda: NOW)
    assert not is_due(store, scope, model, now=NOW + REST_MS - 1)
    assert is_due(store, scope, model, now=NOW + REST_MS)
    assert is_due(store, scope, model, now=NOW - MS_PER_DAY), "the clock was set back"
    with store.transaction():
        store.topics.request_run(scope)
    assert is_due(store, scope, model, now=NOW)


@pytest.mark.req("E.09")
def test_a_topic_becomes_stable_and_says_so(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    store.connection.execute("DELETE FROM topics")
    rerun(store, NOW)
    assert {topic.phase for topic in topics_of(store)} == {TopicPhase.EMERGING}
    rerun(store, NOW + MS_PER_DAY)
    assert {topic.phase for topic in topics_of(store)} == {TopicPhase.STABLE}


@pytest.mark.req("E.09")
def test_a_topic_that_is_absorbed_says_by_which(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    keys = fill(store, EACH)
    embed(settings, encoder)
    billing = by_theme(store)["billing"]
    # An older run held two halves of a theme for two topics.
    other = keys["billing"][: EACH // 2 - 1]
    with store.transaction():
        store.connection.execute(
            "INSERT INTO topics(id, scope_key, name, phase, agreement, created_at, run_at, settled_at)"
            " SELECT 'half', scope_key, 'half', 'stable', 3, created_at, run_at, settled_at FROM topics WHERE key = ?",
            (billing.key,),
        )
        half = store.topics.get_topic("half")
        assert half is not None
        store.topics.add_members(half.key, dict.fromkeys(other, 0.5), now=half.run_at)
    rerun(store, NOW + MS_PER_DAY)
    merged = store.topics.get_topic("half")
    assert merged is not None
    assert (merged.phase, merged.merged_into, merged.member_count) == (TopicPhase.MERGING, billing.id, 0)
    rerun(store, NOW + 2 * MS_PER_DAY)
    assert store.topics.get_topic("half") is None


def test_a_purged_memory_leaves_no_word_in_its_topic(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    keys = fill(store, EACH)
    embed(settings, encoder)
    billing = by_theme(store)["billing"]
    node = store.nodes.get_by_key(keys["billing"][0])
    assert node is not None
    erase_memory(store, node.id, now=NOW)
    left = store.topics.get_topic(billing.id)
    assert left is not None
    assert (left.name, left.terms, left.member_count) == ("", (), EACH - 1)
    run = store.topics.list_runs([GLOBAL_SCOPE])[0]
    assert run.wanted
    rerun(store)
    assert by_theme(store)["billing"].id == billing.id


def test_another_model_sees_other_topics_and_no_old_centre(
    store: Store, settings: Settings, encoder: WordEncoder
) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    assert store.topics.list_centres(1, model_of(store)) or store.topics.list_centres(2, model_of(store))
    embed(settings, FakeEncoder(dimensions=32, model_id="other"))
    assert store.topics.list_centres(1, model_of(store)) == []


def test_of_very_many_memories_the_newest_and_a_choice_of_the_rest_are_clustered() -> None:
    keys = [NodeKey(number) for number in range(1, 1_001)]
    chosen = sample_keys(keys, 100)
    assert len(chosen) == len(set(chosen)) == 100
    assert chosen[-50:] == keys[-50:]
    assert chosen == sorted(chosen)
    assert np.ptp(np.diff(chosen[:50])) <= 1
    assert sample_keys(keys, 5_000) == keys


def test_weights_and_phases_survive_the_store(store: Store, settings: Settings, encoder: WordEncoder) -> None:
    fill(store, EACH)
    embed(settings, encoder)
    for topic in topics_of(store):
        assert store.topics.get_topic(topic.id) == topic
        assert replace(topic, name="") != topic
