"""Which turns tell the cause of what others report."""

from __future__ import annotations

import itertools

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.conversations.consolidation.causes.causal_links import infer_causes
from hyperloci.conversations.consolidation.causes.debugging import find_chains
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import NewNode, Node
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store import Store
from tests.support import NOW, FakeClock

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
ORIGINS = {USER: Origin.USER_PROMPT, ASSISTANT: Origin.CLAUDE_RESPONSE, TOOL: Origin.HOOK}

SYMPTOM = (USER, "some customers get the receipt twice since monday")
LOOK = (TOOL, "Bash: grep receipt_771 worker.log")
DIAGNOSIS = (ASSISTANT, "The `mail_worker` acks after sending, so a restart in between sends the receipt again.")
CONFIRMED = (USER, "yep, that's it. ack before sending then")
EDIT = (TOOL, "Edit src/mail_worker.ts: +2 -2 lines")


def nodes(store: Store, *turns: tuple[str, str]) -> list[Node]:
    numbers = itertools.count()
    with store.transaction():
        return [
            store.nodes.create_node(
                NewNode(
                    type=NodeType.EXPERIENCE,
                    subtype="action" if who == TOOL else "episode",
                    content=text,
                    origin=ORIGINS[who],
                    seq=number,
                ),
                now=NOW,
                place=str(number),
            )
            for number, (who, text) in zip(numbers, turns, strict=False)
        ]


def test_a_symptom_a_confirmed_diagnosis_and_what_was_changed_make_a_chain(store: Store) -> None:
    turns = nodes(store, SYMPTOM, LOOK, DIAGNOSIS, CONFIRMED, EDIT)

    [chain] = find_chains(turns)

    assert (chain.symptom, chain.diagnosis, chain.fix) == (turns[0], turns[2], turns[4])
    assert chain.evidence == DIAGNOSIS[1]
    assert [(claim.cause, claim.effect) for claim in infer_causes(turns)] == [(2, 0), (2, 4)]


def test_a_diagnosis_that_nobody_confirms_is_a_guess(store: Store) -> None:
    assert find_chains(nodes(store, SYMPTOM, LOOK, DIAGNOSIS, (USER, "hm, what else could it be?"))) == []
    assert find_chains(nodes(store, SYMPTOM, LOOK, DIAGNOSIS)) == []


def test_a_command_that_passes_after_the_edit_bears_a_diagnosis_out(store: Store) -> None:
    failed, passed = (TOOL, "Bash: pnpm test:int (failed): expected 2 to be 1"), (TOOL, "Bash: pnpm test:int")
    diagnosis = (ASSISTANT, "The fixture has two different `event_seq`, so two sends are right.")

    [chain] = find_chains(nodes(store, failed, diagnosis, EDIT, passed))

    assert chain.symptom.content == failed[1] and chain.fix is not None
    assert find_chains(nodes(store, failed, (ASSISTANT, "Let me look at the fixture."), EDIT, failed)) == []


def test_another_command_that_passes_bears_nothing_out(store: Store) -> None:
    failed, other = (TOOL, "Bash: make (exit 2): no rule"), (TOOL, "Edit src/cmake.py: +1 -1 lines")
    diagnosis = (ASSISTANT, "The fixture has two different `event_seq`, so two sends are right.")
    assert find_chains(nodes(store, failed, diagnosis, EDIT, other)) == []


@pytest.mark.parametrize(
    "turns",
    [
        [
            (USER, "why is bf16 safer?"),
            (ASSISTANT, "It keeps the exponent of fp32, so the range is the same."),
            (USER, "ok"),
        ],
        [(USER, "the report is missing a column"), (ASSISTANT, "You could add it, or drop the report."), (USER, "yes")],
        [(USER, "rename the column"), LOOK, (ASSISTANT, "Renamed, because `id` was taken."), (USER, "right, thanks")],
    ],
)
def test_answers_advice_and_work_are_no_causes(store: Store, turns: list[tuple[str, str]]) -> None:
    assert infer_causes(nodes(store, *turns)) == []


def test_who_asks_why_finds_the_cause(memory: Memory, clock: FakeClock) -> None:
    said = [SYMPTOM, LOOK, DIAGNOSIS, CONFIRMED, EDIT]
    memory.add_turns(
        "s",
        [
            Turn(
                uuid=str(number),
                role=Speaker.USER if who == USER else Speaker.ASSISTANT,
                text=text,
                timestamp_ms=clock() + number,
                kind=TurnKind.ACTION if who == TOOL else TurnKind.TEXT,
            )
            for number, (who, text) in enumerate(said)
        ],
    )
    clock.advance(3 * MS_PER_DAY)
    memory.catch_up()
    clock.advance(2 * MS_PER_DAY)
    memory.run_maintenance()

    [effect] = [hit for hit in memory.search("customers receipt twice").results if hit.content == SYMPTOM[1]]
    found = memory.find_related(effect.id, relationship="causes", direction="in").related

    assert [each.content for each in found] == [DIAGNOSIS[1]]
    assert DIAGNOSIS[1] in [hit.content for hit in memory.search("why did customers get mail twice?").results]
    assert DIAGNOSIS[1] in memory.get_context("why did some customers get the receipt twice?").markdown
