"""Asking a project's memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.embedder.process.embedding_queue import read_encoder_inputs
from hyperloci.errors import BadRequestError, NotFoundError, QuerySyntaxError
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.search import Hit, Placement
from hyperloci.model.turn import Speaker, Turn
from hyperloci.queries.search_service import NOTHING_NEAR
from hyperloci.queries.starting_point import FORGOTTEN, OUTSIDE, UNKNOWN
from hyperloci.retrieval.order.hit_order import fold_said_twice
from hyperloci.retrieval.search import Searcher
from hyperloci.spaces.fingerprint import compute_fingerprints
from tests.support import FakeClock, FakeEncoder, add, sum_up


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


@pytest.mark.req("B.06")
@pytest.mark.parametrize(
    "line",
    [
        "about:zeppelin",
        "url:example.com",
        "module:zeppelin",
        "tier:archive",
        "verification:disputed",
        "as_of:2020-01-01",
        "scope:global",
    ],
)
def test_where_any_condition_leaves_nothing_fewer_are_advised(memory: Memory, line: str) -> None:
    memory.remember_fact("The gateway listens on 8443.")

    for asked in (line, f"gateway {line}"):
        answer = memory.search_by_query_line(asked)
        assert (answer.results, answer.hints) == ((), ("Nothing found; try other words or fewer conditions.",))


def test_where_nothing_is_related_fewer_conditions_are_advised(memory: Memory) -> None:
    alone = memory.remember_fact("The gateway listens on 8443.").id

    assert memory.search_by_query_line(f"related:{alone}").hints == (
        "Nothing found; try other words or fewer conditions.",
    )


@pytest.mark.req("D.08")
@pytest.mark.parametrize("words", ["", "gateway "])
@pytest.mark.parametrize("wrong", ["profile:nonsense", "strategy:nonsense"])
def test_a_wrong_name_is_refused_at_its_column_with_and_without_words(memory: Memory, words: str, wrong: str) -> None:
    id = memory.remember_fact("The gateway listens on 8443.").id

    line = f"{words}related:{id} {wrong}"
    with pytest.raises(QuerySyntaxError, match=f"{wrong} is unknown") as caught:
        memory.search_by_query_line(line)
    assert caught.value.column == line.index(wrong) + 1


def test_an_empty_answer_says_what_to_try(memory: Memory) -> None:
    memory.remember_fact("the gateway listens on 8443")

    assert memory.search("zeppelin").hints == ("Nothing found; try other words.",)
    assert memory.search("zeppelin", content_type="code").hints == (
        "Nothing found; try other words or fewer conditions.",
    )
    assert memory.search_by_query_line("type:decision").hints == (
        "Nothing found; try other words or fewer conditions.",
    )


@pytest.mark.req("B.09")
def test_an_answer_that_nothing_near_is_in_says_so(memory: Memory, encoder: FakeEncoder) -> None:
    id = memory.remember_fact("the gateway listens on 8443").id
    node = memory.store.nodes.get_node(id)
    assert node is not None
    with memory.store.transaction():
        model = memory.store.vectors.use_model(encoder.model_id, encoder.dimensions, now=0)
        (made,) = compute_fingerprints(read_encoder_inputs(memory.store, [node]), encoder)
        memory.store.vectors.put_fingerprint(node.key, model, made.columns, now=0)
    service = replace(memory._search_service, searcher=Searcher(memory.store, encoder))

    foreign = service.search("which harbour has a gateway for zeppelins?", limit=5)
    own = service.search("which gateway listens on 8443?", limit=5)

    assert [hit.id for hit in foreign.results] == [hit.id for hit in own.results] == [id]
    assert (foreign.hints, own.hints) == ((NOTHING_NEAR,), ())
    assert foreign.results[0].explain is None


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


def test_of_a_mind_that_changed_more_than_once_what_holds_now_stands_before_the_first_words(
    memory: Memory, clock: FakeClock
) -> None:
    turn = Turn(uuid="1", role=Speaker.USER, text="push the retry work to the branch retry-v2", timestamp_ms=clock())
    memory.add_turns("s", [turn])
    [said] = memory.search("retry-v2").results
    last = memory.remember_fact("push to the branch retry-v2").id
    memory.relate("derived_from", [{"id": last, "role": "subject"}, {"id": said.id, "role": "object"}])
    for words in ("pushes go to a fork", "work is sent as patches", "everything goes to main by merge request"):
        last = memory.correct_fact(last, words).id

    assert [hit.id for hit in memory.search("which branch retry-v2").results] == [last, said.id]


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


def test_a_turn_contradicts_by_itself_where_the_statement_made_of_it_is_withheld(
    memory: Memory, clock: FakeClock
) -> None:
    text = "the invoices are kept in MySQL"
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=text, timestamp_ms=clock())])
    [said] = memory.search("MySQL").results
    statement = memory.remember_fact(text, category="decision").id
    memory.relate("derived_from", [{"id": statement, "role": "subject"}, {"id": said.id, "role": "object"}])
    memory.withhold(statement)

    found = memory.find_contradictions("the invoices are not kept in MySQL").contradictions
    assert [item.id for item in found] == [said.id]


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


def test_what_is_said_on_the_subject_is_shown_though_nothing_says_that_it_contradicts(memory: Memory) -> None:
    old = memory.remember_fact("Jobs are handed out by the foreman process.", category="decision").id
    memory.remember_fact("The logo is green.")
    found = memory.find_contradictions("Jobs are handed out over a quorum of nodes.")
    assert [hit.id for hit in found.on_subject] == [old] or [item.id for item in found.contradictions] == [old]
    shown = {hit.id for hit in found.on_subject}, {item.id for item in found.contradictions}
    assert shown[0].isdisjoint(shown[1])

    memory.correct_fact(old, "Tickets are printed in the hall.")
    assert not memory.find_contradictions("Jobs are handed out over a quorum of nodes.").on_subject


def test_a_turn_contradicts_nothing_once_all_that_was_made_of_it_was_replaced(memory: Memory, clock: FakeClock) -> None:
    text = "the invoices are kept in MySQL. So fix the nightly build."
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=text, timestamp_ms=clock())])
    [said] = memory.search("MySQL").results
    statement = memory.remember_fact("the invoices are kept in MySQL", category="decision").id
    memory.relate("derived_from", [{"id": statement, "role": "subject"}, {"id": said.id, "role": "object"}])
    told = memory.remember_fact("the invoices are kept in PostgreSQL").id
    memory.relate("contradicts", [{"id": told, "role": "participant"}, {"id": said.id, "role": "participant"}])

    def notes() -> list[str]:
        return [note for hit in memory.search("invoices PostgreSQL").results if hit.id == told for note in hit.notes]

    found = memory.find_contradictions("the invoices are not kept in MySQL").contradictions
    assert said.id in [item.id for item in found]
    assert f"contradicted by {said.id}" in notes()
    assert [said.id in {side.id for side in one.memories} for one in memory.list_disputes("contradicts").disputes]

    memory.correct_fact(statement, "the invoices are kept in files")
    found = memory.find_contradictions("the invoices are not kept in MySQL").contradictions
    assert said.id not in [item.id for item in found]
    assert f"contradicted by {said.id}" not in notes()
    assert all(
        said.id not in {side.id for side in one.memories} for one in memory.list_disputes("contradicts").disputes
    )


def test_what_only_may_have_replaced_a_hit_comes_in_with_it(memory: Memory) -> None:
    old = memory.remember_fact("bucket names start with acme-prod").id
    new = memory.remember_fact("everything moves to Hetzner").id
    memory.relate("updates", [{"id": new, "role": "subject"}, {"id": old, "role": "object"}])

    assert [hit.id for hit in memory.search("bucket names acme-prod").results] == [new, old]


@pytest.mark.req("C.01")
def test_of_summaries_of_the_same_turns_one_is_a_hit(memory: Memory, clock: FakeClock) -> None:
    texts = [f"Turn {number}: we decided to paint shed {number} green" for number in range(50)]
    sum_up(memory, clock, texts)

    found = memory.search("which shed is painted green", limit=40).results
    of_any = [node for hit in found if (node := memory.store.nodes.get_node(hit.id)) is not None]
    minis = memory.search("which shed is painted green", where={"subtypes": ["chunk_mini"]}).results
    ranges = [
        (node.metadata["first_seq"], node.metadata["last_seq"])
        for node in of_any
        if (node.subtype or "").startswith("chunk")
    ]

    assert len(minis) == 2
    assert ranges
    assert all(one == other or one[1] < other[0] or other[1] < one[0] for one in ranges for other in ranges)


@pytest.mark.req("C.07")
def test_an_id_finds_its_memory_and_that_of_a_summary_what_it_covers(memory: Memory, clock: FakeClock) -> None:
    fact = memory.remember_fact("the gateway listens on 8443").id
    texts = [f"Turn {number}: we decided to paint shed {number} green" for number in range(30)]
    sum_up(memory, clock, texts)
    [mini] = memory.search("shed", where={"subtypes": ["chunk_mini"]}).results[:1]

    assert [hit.id for hit in memory.search(fact).results] == [fact]
    assert any("search for its id" in note for note in mini.notes)
    parts = memory.search(mini.id).results
    assert [hit.subtype for hit in parts] == ["chunk_micro", "chunk_micro", *["episode"] * 5]
    assert [hit.content for hit in memory.search(parts[0].id).results] == texts[:10]
    assert memory.search("0" * 8 + "-0000-0000-0000-" + "0" * 12).results == ()


@pytest.mark.parametrize("words", ["gateway", "deadbeef", "0123456789ab"])
def test_a_search_for_words_does_not_load_what_reads_summaries(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "hyperloci.conversations.pyramid.chunk_expansion", None)
    fact = memory.remember_fact(f"the gateway answers {words}").id

    assert [hit.id for hit in memory.search(words).results] == [fact]


@pytest.mark.req("B.06")
def test_an_id_may_be_written_as_lists_and_links_write_it(memory: Memory) -> None:
    fact = memory.remember_fact("the gateway listens on 8443").id

    for said in (fact[:8], fact.upper(), f"memory://node/{fact}", f" {fact} "):
        assert [hit.id for hit in memory.search(said).results] == [fact]


@pytest.mark.req("B.06")
def test_an_id_passes_over_no_condition(memory: Memory) -> None:
    fact = memory.remember_fact("the gateway listens on 8443").id
    other = memory.remember_fact("the proxy stands before the gateway").id
    outside: list[dict[str, Any]] = [
        {"content_type": "code"},
        {"after": "2100-01-01"},
        {"where": {"scope": "global"}},
        {"where": {"related_to": other}},
        {"where": {"as_of": "2020-01-01"}},
    ]
    for narrowed in outside:
        assert memory.search(fact, **narrowed).results == ()
    assert memory.search(fact, content_type="code").hints == (OUTSIDE,)
    assert [hit.id for hit in memory.search(fact, content_type="learning").results] == [fact]


def test_an_entity_of_an_id_meets_conditions_that_ask_for_no_kind(memory: Memory) -> None:
    entity = add(memory.store, "Valkey", type=NodeType.ENTITY, subtype="tool", scope=memory.project.id).id

    for narrowed in ({"after": "2020-01-01"}, {"where": {"as_of": "now"}}, {"where": {"types": ["entity"]}}):
        assert [hit.id for hit in memory.search(entity, **narrowed).results] == [entity]
    assert memory.search(entity, content_type="code").results == ()


def test_who_names_what_ended_by_its_id_is_shown_it(memory: Memory) -> None:
    old = memory.remember_fact("the gateway listens on 8443").id
    memory.correct_fact(old, "the gateway listens on 9443", reason="moved")

    assert [hit.id for hit in memory.search(old, content_type="learning").results] == [old]
    assert memory.search(old, where={"as_of": "2100-01-01"}).results == ()


@pytest.mark.req("E.16")
def test_the_id_of_a_forgotten_memory_finds_nothing_else_and_says_why(memory: Memory) -> None:
    fact = memory.remember_fact("the gateway listens on 8443").id
    memory.remember_fact(f"a note on what became of {fact[:8]} and {fact}")
    memory.forget(fact)

    for said in (fact, fact[:8]):
        answer = memory.search(said)
        assert answer.results == ()
        assert answer.hints == (FORGOTTEN,)
    memory.restore(fact)
    assert [hit.id for hit in memory.search(fact).results] == [fact]


def test_an_id_that_no_memory_has_and_one_of_another_project_are_told_alike(
    memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with Memory.open(settings, other) as elsewhere:
        living, gone = (elsewhere.remember_fact(text).id for text in ("the pool opens at nine", "the tower is high"))
        elsewhere.forget(gone)
    unknown = "0f0e0d0c-0b0a-4908-8706-050403020100"
    quoting = memory.remember_fact(f"the request {unknown} failed").id

    assert [hit.id for hit in memory.search(unknown).results] == [quoting]
    for said in (unknown, living, gone, f"memory://node/{living}"):
        assert UNKNOWN in memory.search(said).hints
    assert UNKNOWN not in memory.search(quoting).hints
    assert UNKNOWN not in memory.search(f"what became of {unknown}?").hints


def assert_in_order(hits: Sequence[Hit]) -> None:
    """Check that whatever doesn't say why it stands where it does is in the order of scores."""
    scores = [hit.score for hit in hits if hit.placed is None]
    assert scores == sorted(scores, reverse=True)


def test_what_stands_before_what_it_may_have_replaced_says_why(memory: Memory) -> None:
    old = memory.remember_fact("webhook retries: 3 attempts, exponential from 2 s").id
    memory.remember_fact("webhook payloads are signed")
    new = memory.remember_fact("webhook retries after the maintenance window").id
    memory.relate("updates", [{"id": new, "role": "subject"}, {"id": old, "role": "object"}])
    found = memory.search("webhook retries 3 attempts exponential").results
    assert {hit.id: hit.placed for hit in found if hit.placed} == {new: Placement.NEWER}
    assert_in_order(found)


def test_what_stands_before_a_hit_that_is_one_too_many_has_its_score(memory: Memory, clock: FakeClock) -> None:
    asked = "which store shall keep the pages"
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=asked, timestamp_ms=clock())])
    [turn] = memory.search(asked).results
    settled = memory.remember_fact("Redis it is").id
    memory.relate("outdates", [{"id": settled, "role": "subject"}, {"id": turn.id, "role": "object"}])

    both, alone = (memory.search("store of pages", limit=limit).results for limit in (2, 1))
    assert [hit.id for hit in both] == [settled, turn.id]
    assert [(hit.id, hit.score) for hit in alone] == [(settled, both[1].score)]


def test_a_statement_in_the_place_of_a_better_turn_says_why(memory: Memory, clock: FakeClock) -> None:
    text = "push the retry work to the branch retry-v2"
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=text, timestamp_ms=clock())])
    [hit] = memory.search("retry-v2").results
    said = memory.remember_fact(text).id
    memory.relate("derived_from", [{"id": said, "role": "subject"}, {"id": hit.id, "role": "object"}])
    statement, turn = (memory.store.nodes.get_node(id) for id in (said, hit.id))
    assert statement is not None and turn is not None
    behind = fold_said_twice(memory.store, [turn, statement])
    before = fold_said_twice(memory.store, [statement, turn])
    assert [node.id for node in behind.nodes] == [node.id for node in before.nodes] == [said]
    assert (behind.placed, before.placed) == ({statement.key: Placement.SAID}, {})


def test_what_a_question_names_says_that_it_leads(memory: Memory) -> None:
    (memory.project.root / "retry.py").write_text("def retry_policy():\n    return 3\n", "utf-8")
    memory.index_path()
    memory.remember_fact("The retry policy is what the platform team decided.")
    found = memory.search("retry_policy").results
    assert found[0].placed is Placement.NAMED
    assert_in_order(found)
