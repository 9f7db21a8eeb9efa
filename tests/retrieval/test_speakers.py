"""Whose words a question is after."""

from __future__ import annotations

import pytest

from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.scoring import SPEAKER_FACTOR, combine_scores
from hyperloci.retrieval.speakers import find_target_speaker
from hyperloci.store import Store
from tests.support import add, candidates


def turn(store: Store, text: str, role: str = "user") -> SearchCandidate:
    node = add(
        store, text, type=NodeType.EXPERIENCE, subtype="episode", origin=Origin.USER_PROMPT, metadata={"role": role}
    )
    return candidates(store, node)[node.key]


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("what did I say about the gateway?", "user"),
        ("which port is my gateway on", "user"),
        ("what does the user prefer", "user"),
        ("что я говорил про порт?", "user"),
        ("what did you recommend for caching?", "assistant"),
        ("what did you tell me about caching?", "user"),
        ("which port does the gateway use", None),
        ("Is it in the US?", None),
    ],
)
def test_first_person_asks_for_the_users_words_and_second_for_the_assistants(question: str, role: str | None) -> None:
    assert find_target_speaker(question).role == role


def test_the_role_decides_where_a_question_says_i(store: Store) -> None:
    mine, yours = turn(store, "the port is 8443"), turn(store, "the port is 8443!", "assistant")

    asked = find_target_speaker("which port did I choose?")

    assert asked.is_speaker_of(mine)
    assert not asked.is_speaker_of(yours)


def test_in_a_chat_of_several_a_name_decides(store: Store) -> None:
    caroline, melanie = turn(store, "Caroline: I went hiking"), turn(store, "Melanie: I went hiking")

    asked = find_target_speaker("Where did Caroline go?")

    assert asked.is_speaker_of(caroline)
    assert not asked.is_speaker_of(melanie)


def test_what_is_no_turn_has_no_speaker(store: Store) -> None:
    note = add(store, "Note: it is late")

    assert not find_target_speaker("what did I note about it?").is_speaker_of(candidates(store, note)[note.key])


def test_a_turn_of_the_one_who_is_asked_about_counts_more(store: Store) -> None:
    caroline, melanie = turn(store, "Caroline: hiking"), turn(store, "Melanie: hiking")
    nodes = {node.key: node for node in (caroline, melanie)}

    scores = combine_scores(
        {"e6": dict.fromkeys(nodes, 0.4)}, nodes, profile="auto", target_speaker=find_target_speaker("Caroline hiking")
    )

    assert scores[caroline.key].total == pytest.approx(SPEAKER_FACTOR * scores[melanie.key].total)
