"""Asking a project's memory."""

from __future__ import annotations

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from tests.support import FakeClock


@pytest.mark.req("B.12")
def test_only_a_search_that_says_so_notes_what_it_recalled(memory: Memory) -> None:
    id = memory.remember_fact("the gateway listens on 8443").id

    memory.search("gateway", reinforce=False)
    unnoted = memory.store.nodes.get_node(id)
    memory.search("gateway")
    noted = memory.store.nodes.get_node(id)

    assert unnoted is not None and noted is not None
    assert (unnoted.access_count, noted.access_count) == (0, 1)


def test_a_topic_is_an_id_its_beginning_or_words(memory: Memory) -> None:
    id = memory.remember_fact("the gateway listens on 8443").id

    assert {memory.find_related(topic).node.id for topic in (id, id[:8], "gateway port 8443")} == {id}


def test_a_topic_that_nothing_is_about_is_named(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="topic='zeppelin'"):
        memory.find_related("zeppelin")
    with pytest.raises(BadRequestError, match="topic is empty"):
        memory.find_related(" ")


def test_an_empty_answer_says_what_to_try(memory: Memory) -> None:
    memory.remember_fact("the gateway listens on 8443")

    assert memory.search("zeppelin").hints == ("Nothing found; try other words.",)
    assert memory.search("zeppelin", content_type="code").hints == (
        "Nothing found; try other words or fewer conditions.",
    )
    assert memory.search_by_query_line("type:decision").hints == (
        "Nothing found; try other words or fewer conditions.",
    )


def test_what_may_have_been_replaced_stands_behind_what_may_replace_it(memory: Memory) -> None:
    old = memory.remember_fact("webhook retries: 3 attempts, exponential from 2 s").id
    memory.remember_fact("webhook payloads are signed")
    new = memory.remember_fact("webhook retries after the maintenance window").id
    query = "webhook retries 3 attempts exponential"
    assert [hit.id for hit in memory.search(query).results].index(old) == 0

    memory.relate("updates", [{"id": new, "role": "subject"}, {"id": old, "role": "object"}])

    found = memory.search(query).results
    ids = [hit.id for hit in found]
    assert ids.index(old) == ids.index(new) + 1
    assert any(note == f"possibly replaced by {new}" for note in found[ids.index(old)].notes)


def test_what_replaced_a_statement_stands_before_the_turn_that_said_it(memory: Memory, clock: FakeClock) -> None:
    turn = Turn(uuid="1", role=Speaker.USER, text="push the retry work to the branch retry-v2", timestamp_ms=clock())
    memory.add_turns("s", [turn])
    [said] = memory.search("retry-v2").results
    old = memory.remember_fact("push to the branch retry-v2").id
    memory.relate("derived_from", [{"id": old, "role": "subject"}, {"id": said.id, "role": "object"}])
    new = memory.correct_fact(old, "everything goes to main by merge request").id

    query = "which branch retry-v2"
    assert [hit.id for hit in memory.search(query).results] == [new, said.id]
    assert [hit.id for hit in memory.search(query, limit=1).results] == [new]
    assert [hit.id for hit in memory.search(query, content_type="conversation").results] == [said.id]


def test_a_turn_of_which_a_hit_says_all_is_not_shown_beside_it(memory: Memory, clock: FakeClock) -> None:
    texts = ("push the retry work to retry-v2", "retry-v2 is red since the rebase, and the nightly build of it as well")
    memory.add_turns(
        "s", [Turn(uuid=str(n), role=Speaker.USER, text=text, timestamp_ms=clock() + n) for n, text in enumerate(texts)]
    )
    turns = {hit.content: hit.id for hit in memory.search("retry-v2").results}
    whole = memory.remember_fact(texts[0][:30]).id
    part = memory.remember_fact("the nightly build is red").id
    for statement, text in ((whole, texts[0]), (part, texts[1])):
        members = [{"id": statement, "role": "subject"}, {"id": turns[text], "role": "object"}]
        memory.relate("derived_from", members)

    assert {hit.id for hit in memory.search("retry-v2 nightly build").results} == {whole, part, turns[texts[1]]}


def test_a_turn_and_the_statement_made_of_it_contradict_once_and_not_after_the_statement_has_ended(
    memory: Memory, clock: FakeClock
) -> None:
    text = "the invoices are kept in MySQL"
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=text, timestamp_ms=clock())])
    [said] = memory.search("MySQL").results
    statement = memory.remember_fact(text, category="decision").id
    memory.relate("derived_from", [{"id": statement, "role": "subject"}, {"id": said.id, "role": "object"}])

    found = memory.find_contradictions("the invoices are not kept in MySQL").contradictions
    assert [item.id for item in found] == [statement]

    memory.correct_fact(statement, "the invoices are kept in PostgreSQL")
    found = memory.find_contradictions("the invoices are kept in PostgreSQL").contradictions
    assert said.id not in [item.id for item in found]


def test_what_only_may_have_replaced_a_hit_comes_in_with_it(memory: Memory) -> None:
    old = memory.remember_fact("bucket names start with acme-prod").id
    new = memory.remember_fact("everything moves to Hetzner").id
    memory.relate("updates", [{"id": new, "role": "subject"}, {"id": old, "role": "object"}])

    assert [hit.id for hit in memory.search("bucket names acme-prod").results] == [new, old]


@pytest.mark.req("C.07")
def test_an_id_finds_its_memory_and_that_of_a_summary_what_it_covers(memory: Memory, clock: FakeClock) -> None:
    fact = memory.remember_fact("the gateway listens on 8443").id
    texts = [f"Turn {number}: we decided to paint shed {number} green" for number in range(30)]
    memory.add_turns(
        "s", [Turn(uuid=str(n), role=Speaker.USER, text=text, timestamp_ms=clock() + n) for n, text in enumerate(texts)]
    )
    clock.advance(3 * MS_PER_DAY)
    memory.catch_up()
    clock.advance(2 * MS_PER_DAY)
    memory.run_maintenance()
    [mini] = memory.search("shed", where={"subtypes": ["chunk_mini"]}).results[:1]

    assert [hit.id for hit in memory.search(fact).results] == [fact]
    assert any("search for its id" in note for note in mini.notes)
    parts = memory.search(mini.id).results
    assert [hit.subtype for hit in parts] == ["chunk_micro", "chunk_micro", *["episode"] * 5]
    assert [hit.content for hit in memory.search(parts[0].id).results] == texts[:10]
    assert memory.search("0" * 8 + "-0000-0000-0000-" + "0" * 12).results == ()
