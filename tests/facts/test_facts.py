"""What is said beside a fact, why and of what, is bounded and made safe like the fact itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY, read_day_end
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError
from hyperloci.facts.safe_arguments import MAX_ENTITIES, sanitize_names, sanitize_reason
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import MAX_NAME_CHARS, MAX_REASON_CHARS, ONE_OCCASION_MS, NewNode
from tests.support import NOW, FakeClock

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"


@pytest.fixture
def memory(settings: Settings, tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    with Memory.open(settings, tmp_path, clock=clock) as opened:
        yield opened


@pytest.mark.parametrize("use_case", ["forget", "restore", "correct_fact"])
def test_a_reason_that_is_too_long_changes_nothing_and_is_told(memory: Memory, use_case: str) -> None:
    fact = memory.remember_fact("The mirror is in Oslo.").id
    if use_case == "restore":
        memory.forget(fact)
    before = memory.explain_fact(fact)
    arguments = ("The mirror is in Rome.",) if use_case == "correct_fact" else ()
    with pytest.raises(BadRequestError, match=f"reason has {MAX_REASON_CHARS + 1} characters; at most"):
        getattr(memory, use_case)(fact, *arguments, reason="x" * (MAX_REASON_CHARS + 1))
    assert memory.explain_fact(fact) == before


@pytest.mark.req("SPEC-02.34")
@pytest.mark.parametrize("use_case", ["forget", "restore", "correct_fact"])
def test_a_secret_in_a_reason_is_nowhere_in_the_database(memory: Memory, use_case: str) -> None:
    fact = memory.remember_fact("The mirror is in Oslo.").id
    if use_case == "restore":
        memory.forget(fact)
    arguments = ("The mirror is in Rome.",) if use_case == "correct_fact" else ()
    getattr(memory, use_case)(fact, *arguments, reason=f"the token {SECRET} leaked")
    written = b"".join(path.read_bytes() for path in memory.settings.database.parent.glob("memory.db*"))
    assert b"leaked" in written
    assert SECRET.encode() not in written


def test_a_reason_of_nothing_is_none() -> None:
    assert sanitize_reason(None) is None
    assert sanitize_reason(" \u200b\n") is None
    assert sanitize_reason("x" * MAX_REASON_CHARS) == "x" * MAX_REASON_CHARS


def test_names_that_no_thing_has_are_refused_before_anything_is_stored(memory: Memory) -> None:
    for names, message in (
        (["a" * (MAX_NAME_CHARS + 1)], f"a name of {MAX_NAME_CHARS + 1} characters"),
        (["fine", " \u200b"], "give non-empty names"),
        ([str(number) for number in range(MAX_ENTITIES + 1)], f"at most {MAX_ENTITIES}"),
    ):
        with pytest.raises(BadRequestError, match=message):
            memory.remember_fact("The mirror is in Oslo.", entities=names)
    assert memory.stats()["nodes"] == 0


def test_a_name_is_kept_once_and_without_secrets() -> None:
    assert sanitize_names(["Oslo", " Oslo ", "a" * MAX_NAME_CHARS]) == ("Oslo", "a" * MAX_NAME_CHARS)
    assert SECRET not in "".join(sanitize_names([f"key {SECRET}"]))


def test_a_fact_is_found_by_the_words_of_the_fact_told_before_it_until_that_is_forgotten(memory: Memory) -> None:
    before = memory.remember_fact("The mirror stands in Oslo.").id
    after = memory.remember_fact("Its lease ends in May.").id
    assert [hit.id for hit in memory.search("Oslo").results] == [before, after]

    memory.forget(before)

    assert memory.search("Oslo").results == ()


def test_a_fact_that_became_a_decision_keeps_no_word_of_one_that_is_forgotten(memory: Memory) -> None:
    before, after = memory.remember_fact("The mirror stands in Oslo.").id, "Its lease ends in May."
    memory.remember_fact(after)
    memory.remember_fact(after, category="decision")

    memory.forget(before)

    assert memory.search("Oslo").results == ()


def test_what_was_told_long_ago_or_elsewhere_helps_to_find_nothing(memory: Memory) -> None:
    memory.remember_fact("The mirror stands in Oslo.", scope="global")
    memory.remember_fact("Its lease ends in May.")
    with memory.store.transaction():
        memory.store.connection.execute("UPDATE nodes SET created_at = created_at - ?", (ONE_OCCASION_MS + 1,))
    memory.remember_fact("Rent is paid in crowns.")

    assert len(memory.search("Oslo").results) == len(memory.search("lease").results) == 1


# -- deadlines ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("D.09")
def test_a_hit_says_the_last_day_that_its_words_name_until_it_has_ended(memory: Memory) -> None:
    memory.remember_fact("The demo is due in two weeks", category="deadline")
    lasting = memory.remember_fact("No deploys until 15 January 2044", category="constraint").id
    notes = {hit.content: hit.notes for hit in memory.list_memories()}

    assert notes["No deploys until 15 January 2044"] == ("last day 2044-01-15",)
    assert notes["The demo is due in two weeks"][0].startswith("last day 20")

    memory.forget(lasting)
    (gone,) = (hit for hit in memory.list_memories(include_ended=True) if hit.id == lasting)
    assert "forgotten" in gone.notes


@pytest.mark.req("D.09")
def test_a_dead_end_told_as_a_fact_is_refused_with_what_to_call(memory: Memory) -> None:
    with pytest.raises(BadRequestError, match=r"mark_dead_end .`hyperloci dead-end APPROACH REASON`"):
        memory.remember_fact("Redis lost sessions", category="dead_end")


@pytest.mark.req("D.09")
def test_a_told_deadline_is_due_on_the_day_that_its_words_name(memory: Memory) -> None:
    told = memory.remember_fact("Draft due 20 November 2044, camera ready 15 December 2044", category="deadline")
    node = memory.get_node(told.id)
    assert node is not None
    assert (node.subtype, node.metadata["due"], node.metadata["until"]) == ("deadline", "2044-11-20", "2044-12-15")
    assert told.until == "2044-12-15"
    assert node.scope == memory.project.id


@pytest.mark.parametrize("fact", ["The demo is soon", "The demo was on 3 March 2001", "The demo is on 3/12"])
def test_a_told_deadline_without_a_day_ahead_is_refused_and_how_to_name_one_is_told(memory: Memory, fact: str) -> None:
    with pytest.raises(BadRequestError, match=r"no day that is ahead can be read in it; give one .* as a constraint"):
        memory.remember_fact(fact, category="deadline")
    assert memory.stats()["nodes"] == 0


def test_a_rule_that_was_told_until_a_day_has_that_day_and_others_have_none(memory: Memory) -> None:
    freeze = memory.remember_fact("No deploys until 15 January 2044", category="constraint")
    assert freeze.until == "2044-01-15"
    assert memory.remember_fact("The demo of 3 March 2044 is in Oslo").until is None


def test_a_corrected_deadline_is_due_on_the_day_of_the_new_words_or_else_as_before(memory: Memory) -> None:
    first = memory.remember_fact("The demo is due 11 December 2044", category="deadline").id
    moved = memory.correct_fact(first, "The demo is due 18 December 2044")
    assert moved.until == "2044-12-18"
    elsewhere = memory.correct_fact(moved.id, "The demo for Acme is in Oslo")
    assert elsewhere.until == "2044-12-18"
    with pytest.raises(BadRequestError, match="no day that is ahead"):
        memory.correct_fact(elsewhere.id, "The demo took place on 1 March 2001")


def test_an_overdue_deadline_is_not_corrected_without_a_day(memory: Memory, clock: FakeClock) -> None:
    told = memory.remember_fact("The release notes are due on Friday", category="deadline")
    clock.advance(10 * MS_PER_DAY)

    with pytest.raises(BadRequestError, match="no day that is ahead"):
        memory.correct_fact(told.id, "The release notes go to Anna")


@pytest.mark.parametrize(
    ("category", "fact", "later"),
    [("deadline", "The release notes are due on Friday", 7), ("constraint", "No deploys until the 20th", 31)],
)
def test_what_is_told_again_in_the_same_words_has_the_day_that_they_name_now(
    memory: Memory, clock: FakeClock, category: str, fact: str, later: int
) -> None:
    first = memory.remember_fact(fact, category=category)
    clock.advance(6 * MS_PER_DAY)
    again = memory.remember_fact(fact, category=category)

    assert again.duplicate_of == first.id
    assert first.until is not None and again.until is not None
    assert dt.date.fromisoformat(again.until) - dt.date.fromisoformat(first.until) == dt.timedelta(days=later)
    node = memory.get_node(first.id)
    assert node is not None and node.metadata["until"] == again.until


def test_a_deadline_in_the_words_of_a_memory_of_another_kind_is_refused(memory: Memory) -> None:
    memory.remember_fact("No deploys until 15 January 2044", category="constraint")

    with pytest.raises(BadRequestError, match=r"it is known already, as constraint .*; forget that one first"):
        memory.remember_fact("No deploys until 15 January 2044", category="deadline")


@pytest.mark.req("B.13", "B.14")
def test_what_is_told_again_as_another_kind_is_of_that_kind_from_then_on(memory: Memory) -> None:
    fact = "Invoices go out by the queue"
    first = memory.remember_fact(fact)

    assert memory.remember_fact(fact, category="decision").duplicate_of == first.id

    node = memory.get_node(first.id)
    assert node is not None
    # It does not fade any more, as a decision that is told in words of its own.
    assert (node.type, node.subtype, node.decay_rate) == (NodeType.DECISION, "decision", 0.0)
    memory.remember_fact(fact)
    assert memory.get_node(first.id) == replace(node, seen_count=3), "a kind that nobody named changes nothing"
    told = [line for line in memory.explain_fact(first.id).log if line.operation == "tell"]
    assert [line.reason for line in told] == ["as decision; it was kept as insight"]


@pytest.mark.req("B.12")
def test_what_is_told_again_does_not_fade_as_if_nobody_had_told_it(memory: Memory, clock: FakeClock) -> None:
    told, other = "The staging cluster lives in Frankfurt", "The old cluster lives in Dublin"
    kept, faded = memory.remember_fact(told).id, memory.remember_fact(other).id
    clock.advance(69 * MS_PER_DAY)
    assert memory.remember_fact(told).duplicate_of == kept
    clock.advance(2 * MS_PER_DAY)

    assert memory.prune_faded().ids == (faded,)


@pytest.mark.req("B.11", "B.13")
def test_the_correction_of_what_a_session_left_fades_as_what_is_told(memory: Memory) -> None:
    store = memory.store

    def extract(kind: NodeType, subtype: str, text: str) -> str:
        new = NewNode(
            type=kind,
            subtype=subtype,
            content=text,
            origin=Origin.EXTRACTION,
            decay_rate=0.1,
            scope=memory.project.id,
        )
        with store.transaction():
            return store.nodes.create_node(new, now=NOW).id

    old = [
        extract(NodeType.DECISION, "decision", "We deploy on Tuesdays"),
        extract(NodeType.FACT, "insight", "The limit is 30"),
    ]

    new = [memory.correct_fact(id, text).id for id, text in zip(old, ("We deploy on Fridays", "It is 40"), strict=True)]
    memory.confirm_fact(new[1])
    new.append(memory.correct_fact(new[1], "It is 50").id)

    nodes = [store.nodes.get_node(id) for id in new]
    assert [node and node.decay_rate for node in nodes] == [0.0, 0.0, 0.0]


def test_a_deadline_that_is_told_as_another_kind_is_refused(memory: Memory) -> None:
    fact = "The audit report is due on 15 January 2044"
    memory.remember_fact(fact, category="deadline")

    with pytest.raises(BadRequestError, match=r"it is known already, as deadline .*; forget that one first"):
        memory.remember_fact(fact, category="decision")


def test_what_was_replaced_already_is_not_replaced_again_beside_what_holds(memory: Memory, clock: FakeClock) -> None:
    first = memory.remember_fact("The port is 8000")
    clock.advance(MS_PER_DAY)
    second = memory.remember_fact("The port is 8080", replaces=first.id)
    ended = clock.now
    clock.advance(MS_PER_DAY)

    with pytest.raises(BadRequestError, match=f"was already replaced; name what holds in its place, {second.id[:8]}"):
        memory.remember_fact("The port is 9000", replaces=first.id)

    node = memory.get_node(first.id)
    assert node is not None and node.valid_until == ended
    assert [hit.id for hit in memory.search("port").results] == [second.id]
    # Who tells it once more, as after an answer that got lost, changes nothing.
    assert memory.remember_fact("The port is 8080", replaces=first.id).duplicate_of == second.id


@pytest.mark.req("B.14")
def test_what_ended_with_its_day_is_replaced_and_held_no_longer(memory: Memory, clock: FakeClock) -> None:
    old = memory.remember_fact("No deploys until 20 January 2027", category="constraint")
    end = read_day_end("2027-01-20")
    memory.store.nodes.update_node(old.id, now=clock.advance(30 * MS_PER_DAY), valid_until=end)
    new = memory.remember_fact("No deploys until 20 March 2027", category="constraint", replaces=old.id)

    node = memory.get_node(old.id)
    assert (new.supersedes, node and node.valid_until) == (old.id, end)
    for change in (lambda: memory.confirm_fact(old.id), lambda: memory.correct_fact(old.id, "No deploys ever")):
        with pytest.raises(BadRequestError, match=new.id[:8]):
            change()
    memory.forget(new.id)
    assert memory.confirm_fact(old.id).valid_until is None


@pytest.mark.req("B.13")
def test_what_was_replaced_is_not_confirmed_as_if_it_held(memory: Memory, clock: FakeClock) -> None:
    old = memory.remember_fact("The port is 8000")
    new = memory.remember_fact("The port is 8080", replaces=old.id)
    newest = memory.correct_fact(new.id, "The port is 9000").id[:8]

    with pytest.raises(BadRequestError, match=f"was replaced by {newest}; confirm that one, or .* replaces={newest}"):
        memory.confirm_fact(old.id)
    assert memory.get_facets(old.id)["verification"] == "outdated"

    again = memory.remember_fact("The port is 8000", replaces=newest)
    assert [hit.id for hit in memory.search("port").results] == [again.id]


@pytest.mark.req("B.13")
def test_what_is_replaced_with_the_clock_set_back_ends_no_earlier_than_it_began(
    memory: Memory, clock: FakeClock
) -> None:
    old = memory.remember_fact("The port is 8000")
    clock.advance(-MS_PER_DAY)
    memory.correct_fact(old.id, "The port is 8080")
    hit = memory.explain_fact(old.id).node
    assert hit.valid_until == hit.valid_from


def test_what_was_replaced_in_another_project_is_replaced_here_too(settings: Settings, tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    with Memory.open(settings, tmp_path / "here") as here, Memory.open(settings, tmp_path / "there") as there:
        old = here.remember_fact("Releases are tagged on Mondays", category="preference").id
        newer = there.remember_fact("Releases are tagged on Fridays", replaces=old).id
        with pytest.raises(BadRequestError, match="no longer holds; remember it anew"):
            here.confirm_fact(old)
        ours = here.remember_fact("Releases are tagged on Tuesdays", replaces=old).id
        for memory, other in ((here, ours), (there, newer)):
            with pytest.raises(BadRequestError, match=f"already replaced; .*{other[:8]}"):
                memory.remember_fact("Releases are tagged at night", replaces=old)


@pytest.mark.req("E.16", "B.13")
def test_a_restored_replacement_contradicts_what_replaced_the_same_meanwhile(memory: Memory) -> None:
    old = memory.remember_fact("The port is 8000").id
    first = memory.correct_fact(old, "The port is 8080").id
    first = memory.correct_fact(first, "The port is 8081").id
    memory.forget(first)
    second = memory.remember_fact("The port is 9000", replaces=old).id
    assert memory.restore(first).memory.notes == (f"contradicted by {second}",)
    (dispute,) = memory.list_disputes("contradicts").disputes
    assert {hit.id for hit in dispute.memories} == {first, second}
    memory.settle_dispute(dispute.id, holds=second)
    memory.forget(first)
    assert memory.restore(first).ended is not None
    assert memory.list_disputes("contradicts").disputes == ()


def test_what_was_replaced_twice_is_replaced_though_what_came_between_is_forgotten(memory: Memory) -> None:
    old = memory.remember_fact("The port is 8000").id
    between = memory.correct_fact(old, "The port is 8080").id
    newest = memory.correct_fact(between, "The port is 9000").id
    memory.forget(between)
    with pytest.raises(BadRequestError, match=f"already replaced; .*{newest[:8]}"):
        memory.remember_fact("The port is 9999", replaces=old)
