"""What replaced a hit, before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeId
from hyperloci.model.node import Node
from hyperloci.model.search import Hit
from hyperloci.model.turn import Speaker, Turn
from hyperloci.retrieval.order.hit_order import arrange_hits
from hyperloci.retrieval.order.newer_first import put_newer_first
from hyperloci.retrieval.presentation import PARTLY_PAST, PAST
from tests.support import FakeClock

QUERY = "preStop sleep seconds"
TOLD = "preStop sleep 20 seconds"
ECHO = "`preStop.sleep.seconds: 20` is in the chart."


def say(memory: Memory, clock: FakeClock, *texts: tuple[Speaker, str]) -> list[Node]:
    """Have a session in which these are said; return its turns."""
    memory.add_turns(
        "s",
        [
            Turn(uuid=str(number), role=role, text=text, timestamp_ms=clock() + number)
            for number, (role, text) in enumerate(texts)
        ],
    )
    progress = memory.store.consolidations.get_progress("s")
    assert progress is not None
    return memory.store.consolidations.list_turns(progress.session_key, 0, 99)


def told_by(memory: Memory, turn: Node, text: str) -> str:
    """Remember what a turn says, made of it."""
    id = memory.remember_fact(text).id
    memory.relate("derived_from", [{"id": id, "role": "subject"}, {"id": turn.id, "role": "object"}])
    return id


def mark(memory: Memory, new: str, old: str, confidence: float, label: str = "outdates") -> None:
    """Note that one may take the place of another."""
    newer, older = memory.store.nodes.get_node(new), memory.store.nodes.get_node(old)
    assert newer is not None and older is not None
    with memory.store.transaction():
        memory.store.edges.link_nodes(label, newer.key, [older.key], now=0, confidence=confidence, automatic=True)


def ids(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.id for hit in hits]


@pytest.mark.req("B.12")
def test_what_replaced_a_statement_stands_before_the_answer_that_repeats_it(memory: Memory, clock: FakeClock) -> None:
    prompt, answer = say(memory, clock, (Speaker.USER, TOLD), (Speaker.ASSISTANT, ECHO))
    new = memory.correct_fact(told_by(memory, prompt, TOLD), "the graph shows a tail: 45 now").id

    found = ids(memory.search(QUERY, content_type="any").results)

    assert {prompt.id, answer.id} <= set(found)
    assert found[0] == new


@pytest.mark.req("B.12")
def test_a_turn_says_that_what_was_made_of_it_was_replaced(memory: Memory, clock: FakeClock) -> None:
    prompt, _ = say(memory, clock, (Speaker.USER, f"{TOLD}, and the chart is ours"), (Speaker.ASSISTANT, ECHO))
    told = told_by(memory, prompt, TOLD)

    def notes() -> tuple[str, ...]:
        found = memory.search(QUERY, content_type="any", limit=20).results
        return next(hit.notes for hit in found if hit.id == prompt.id)

    assert notes() == ()
    other = told_by(memory, prompt, "the chart is ours")
    memory.correct_fact(told, "the graph shows a tail: 45 now")
    assert notes() == (PARTLY_PAST,)
    memory.correct_fact(other, "the chart is the platform team's")
    assert notes() == (PAST,)


def test_what_another_project_has_in_a_statements_place_is_not_shown_here(
    memory: Memory, clock: FakeClock, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    prompt, _ = say(memory, clock, (Speaker.USER, TOLD), (Speaker.ASSISTANT, ECHO))
    old = memory.remember_fact(TOLD, scope="global").id
    memory.relate("derived_from", [{"id": old, "role": "subject"}, {"id": prompt.id, "role": "object"}])
    with Memory.open(memory.settings, tmp_path / "other", clock=clock) as other:
        new = other.remember_fact("preStop sleep 45 seconds for our client", scope="project", replaces=old).id
        assert new in ids(other.search(QUERY).results)

    assert prompt.id in ids(memory.search(QUERY).results)
    assert new not in ids(memory.search(QUERY).results)
    assert new in ids(memory.search(QUERY, where={"scope": "all"}).results)


def test_what_was_proposed_and_accepted_stands_behind_what_replaced_it_too(memory: Memory, clock: FakeClock) -> None:
    offer, prompt = say(
        memory, clock, (Speaker.ASSISTANT, "Then a preStop sleep of 20 seconds covers it."), (Speaker.USER, TOLD)
    )
    new = memory.correct_fact(told_by(memory, prompt, TOLD), "the graph shows a tail: 45 now").id

    found = ids(memory.search(QUERY).results)

    assert found.index(new) < min(found.index(offer.id), found.index(prompt.id))


def count_statements(memory: Memory, hits: list[Node]) -> int:
    """Return how many statements of SQL putting hits in order takes."""
    said: list[str] = []
    memory.store.connection.set_trace_callback(said.append)
    put_newer_first(memory.store, QUERY, hits, limit=20)
    memory.store.connection.set_trace_callback(None)
    return len(said)


@pytest.mark.req("B.12")
def test_what_replaced_many_hits_is_asked_for_at_once(memory: Memory, clock: FakeClock) -> None:
    subjects = ("drain", "retry", "cache", "lease", "queue", "probe")
    turns = say(memory, clock, *((Speaker.USER, f"the {subject} lasts 20 seconds") for subject in subjects))
    for turn in turns:
        memory.correct_fact(told_by(memory, turn, turn.content), turn.content.replace("20", "45"))

    assert count_statements(memory, turns) == count_statements(memory, turns[:1])


def test_an_answer_that_speaks_of_something_else_brings_nothing_in(memory: Memory, clock: FakeClock) -> None:
    prompt, answer = say(
        memory, clock, (Speaker.USER, "keep the drain at 20"), (Speaker.ASSISTANT, "preStop sleep is a hook in seconds")
    )
    new = memory.correct_fact(told_by(memory, prompt, "keep the drain at 20"), "the graph shows a tail: 45 now").id

    found = ids(memory.search(QUERY).results)

    assert answer.id in found and new not in found


@pytest.mark.req("B.12", "B.17")
def test_what_only_may_have_replaced_a_hit_comes_in_where_it_speaks_of_what_was_asked(memory: Memory) -> None:
    old = memory.remember_fact("addresses of cancelled customers are kept for 30 days").id
    pence = memory.remember_fact("money travels as strings, in pence").id
    longer = memory.remember_fact("keep their addresses for 90 days").id
    query = "how long do we keep addresses of cancelled customers"
    mark(memory, pence, old, 0.5, "updates")
    assert arrange(memory, old, query=query) == [old]
    mark(memory, longer, old, 0.5, "updates")
    assert arrange(memory, old, query=query) == [longer, old]
    assert sorted(arrange(memory, old, pence, query=query)[:2]) == sorted([pence, longer])


def settle(memory: Memory, clock: FakeClock, proposal: str, decision: str) -> tuple[Node, str]:
    """Have the user propose something, and decide once the assistant has answered; return both."""
    prompt, _, turn = say(
        memory, clock, (Speaker.USER, proposal), (Speaker.ASSISTANT, "It takes memory."), (Speaker.USER, decision)
    )
    id = told_by(memory, turn, decision)
    with memory.store.transaction():
        memory.store.nodes.update_node(NodeId(id), now=0, reason="test", metadata={"turn": turn.seq})
    return prompt, id


PROPOSAL = "let me add a redis for rate limiting"
DECISION = "nah forget redis. slowapi with its in-memory counter will do"


def arrange(memory: Memory, *found: str, limit: int = 9, query: str = "how do we rate limit") -> list[str]:
    """Return the order in which hits are shown that a search found in this one."""
    nodes = [memory.store.nodes.get_node(id) for id in found]
    arranged = arrange_hits(memory.store, query, [node for node in nodes if node], limit=limit)
    return [node.id for node in arranged.nodes]


@pytest.mark.req("B.17")
def test_what_the_user_settled_next_stands_before_the_proposal_where_it_is_found(
    memory: Memory, clock: FakeClock
) -> None:
    prompt, decision = settle(memory, clock, PROPOSAL, DECISION)

    assert arrange(memory, prompt.id, decision) == [decision, prompt.id]
    assert arrange(memory, prompt.id, decision, limit=1) == [decision]
    assert arrange(memory, prompt.id) == [prompt.id]


def test_what_replaced_the_settled_statement_stands_before_the_proposal_where_it_is_found(
    memory: Memory, clock: FakeClock
) -> None:
    prompt, decision = settle(memory, clock, PROPOSAL, DECISION)
    progress = memory.store.consolidations.get_progress("s")
    assert progress is not None
    said = memory.store.consolidations.list_turns(progress.session_key, 0, 9)[-1]
    proxy = memory.correct_fact(decision, "the proxy limits the rate").id

    assert arrange(memory, prompt.id, said.id, proxy) == [proxy, prompt.id, said.id]
    assert proxy not in arrange(memory, prompt.id)


def test_a_prompt_of_which_something_was_kept_stays_before_what_was_said_next(memory: Memory, clock: FakeClock) -> None:
    prompt, decision = settle(memory, clock, PROPOSAL, DECISION)
    told_by(memory, prompt, "redis counts requests")

    assert arrange(memory, prompt.id, decision) == [prompt.id, decision]


def test_what_was_said_next_of_something_else_stays_behind_the_prompt(memory: Memory, clock: FakeClock) -> None:
    prompt, rule = settle(
        memory, clock, "prod postgres listens on port 6433", "always use pnpm in the frontend folder, never npm or yarn"
    )

    assert arrange(memory, prompt.id, rule) == [prompt.id, rule]
    assert arrange(memory, prompt.id, rule, limit=1) == [prompt.id]


def test_a_prompt_that_tells_more_than_what_was_said_next_stays_before_it(memory: Memory, clock: FakeClock) -> None:
    rooms = "a room per job looks silly, Hassan had forty of those rooms on Friday; one room per crew, as they sit"
    prompt, decision = settle(memory, clock, rooms, "wipe the rooms of the jobs")

    assert arrange(memory, prompt.id, decision) == [prompt.id, decision]


@pytest.mark.req("B.12")
def test_what_likely_replaced_what_a_turn_said_in_passing_comes_in_before_it_and_is_told(
    memory: Memory, clock: FakeClock
) -> None:
    (turn,) = say(memory, clock, (Speaker.USER, TOLD))
    new = memory.remember_fact("the graph shows a tail: 45 now").id
    mark(memory, new, turn.id, 0.4)

    first, second = memory.search(QUERY).results

    assert (first.id, second.id) == (new, turn.id)
    assert f"possibly replaced by {new}" in second.notes


def test_what_is_joined_to_a_turn_surely_and_unsurely_comes_in(memory: Memory, clock: FakeClock) -> None:
    (turn,) = say(memory, clock, (Speaker.USER, f"{TOLD}, and that is a long enough pause for every one of the pods"))
    old = told_by(memory, turn, TOLD)
    new = memory.remember_fact("the graph shows a tail: 45 now").id
    mark(memory, new, turn.id, 0.15)
    mark(memory, new, old, 0.4)
    turn_alone = memory.store.nodes.get_by_keys([turn.key])[turn.key]

    arranged = put_newer_first(memory.store, "", [turn_alone], limit=5)

    assert [node.id for node in arranged.nodes] == [new, turn.id]


def test_what_replaced_an_unsure_successor_does_not_come_in_either(memory: Memory, clock: FakeClock) -> None:
    (turn,) = say(memory, clock, (Speaker.USER, TOLD))
    between = memory.remember_fact("the graph shows a tail").id
    mark(memory, between, turn.id, 0.15)
    memory.correct_fact(between, "the graph shows none")

    assert ids(memory.search(QUERY).results) == [turn.id]


def test_of_two_hits_the_newer_comes_first_where_it_hardly_replaced_the_older_one(
    memory: Memory, clock: FakeClock
) -> None:
    old = memory.remember_fact("preStop sleep 20 seconds").id
    near = memory.remember_fact("preStop hooks wait 45 seconds").id
    clock.advance(MS_PER_DAY)
    far = memory.remember_fact("the graph shows a tail").id
    assert ids(memory.search(QUERY).results)[0] == old

    mark(memory, near, old, 0.15)
    mark(memory, far, old, 0.15)

    found = memory.search(QUERY).results
    assert ids(found) == [near, old]
    assert not any(note.startswith("possibly replaced") for hit in found for note in hit.notes)


def test_a_turn_that_says_what_replaced_a_hit_moves_before_it_and_is_not_shown_twice(
    memory: Memory, clock: FakeClock
) -> None:
    said = "the graph shows a tail until 38 s, and so the hook of preStop is 45 from now on, as the others are"
    (turn,) = say(memory, clock, (Speaker.USER, said))
    old = memory.remember_fact(TOLD).id
    clock.advance(MS_PER_DAY)
    new = memory.remember_fact("it is 45 now").id
    memory.relate("derived_from", [{"id": new, "role": "subject"}, {"id": turn.id, "role": "object"}])
    node = memory.store.nodes.get_node(new)
    assert node is not None
    with memory.store.transaction():
        memory.store.nodes.update_node(node.id, now=0, reason="test", metadata={"turn": turn.seq})
    mark(memory, new, old, 0.4)

    assert ids(memory.search(QUERY).results) == [turn.id, old]


def test_where_nothing_was_replaced_hits_stay_as_they_are(memory: Memory, clock: FakeClock) -> None:
    turns = say(memory, clock, (Speaker.USER, TOLD), (Speaker.ASSISTANT, ECHO), (Speaker.USER, "no, 45 seconds of it"))
    backwards = tuple(reversed(turns))

    for limit in (2, 3):
        arranged = put_newer_first(memory.store, "", backwards, limit=limit)
        assert (arranged.nodes, arranged.placed) == (backwards[:limit], {})


def test_who_asks_for_what_was_at_first_is_not_led_to_what_came_after_it(memory: Memory, clock: FakeClock) -> None:
    (turn,) = say(memory, clock, (Speaker.USER, TOLD))
    clock.advance(MS_PER_DAY)
    new = memory.remember_fact("the graph shows a tail: 45 now").id
    mark(memory, new, turn.id, 0.4)

    assert ids(memory.search("how many seconds was the preStop sleep at first?").results) == [turn.id]
