"""Tests of what is read of a sentence: limits to a time, and how the assistant took it."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation import statement_features
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView


def read_features(*said: tuple[str, str]) -> set[str]:
    """Return the features of the first sentence of the first turn."""
    turns = [TurnView(number, who, text) for number, (who, text) in enumerate(said)]
    return statement_features.read_features(turns, 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "for tonight only set the cap to 2",
        "For this Friday alone skip the pilot step.",
        "Tomorrow only, let the farm irrigate at noon.",
        "Call his colleague until Monday.",
        "Nur an dem Tag zeigen wir Bilder.",
        "Только сегодня без тестов.",
    ],
)
def test_a_limit_beside_a_time_is_read_as_once(text: str) -> None:
    assert "once" in read_features((USER, text))


@pytest.mark.parametrize(
    "text", ["Managers see only their own gym.", "The release is on Friday.", "Use only one queue."]
)
def test_a_limit_without_a_time_and_a_time_without_a_limit_are_not_once(text: str) -> None:
    assert "once" not in read_features((USER, text))


def test_what_the_assistant_answers_first_is_read() -> None:
    found = read_features((USER, "skip the pilot step"), (ASSISTANT, "Only this Friday. The rest is as it was."))
    assert {"reply once", "reply w:friday", "reply^only", "reply len=7-12"} <= found
    assert "reply w:rest" not in found


def test_that_something_was_done_before_the_answer_is_read() -> None:
    done = ((USER, "run the tests once"), (ACTION, "Bash: pytest"), (ASSISTANT, "211 pass."))
    assert "reply acted" in read_features(*done)
    assert "reply acted" not in read_features(done[0], done[2])


def test_an_answer_to_the_question_behind_a_statement_says_nothing_of_the_statement() -> None:
    answer = (ASSISTANT, "You could load less at once.")
    asked = read_features((USER, "The bundle has to stay below 250 kB. What else could we trim?"), answer)
    told = read_features((USER, "The bundle has to stay below 250 kB. We measured it."), answer)
    assert "reply w:less" not in asked
    assert "reply w:less" in told


def test_how_it_is_answered_is_not_read_of_the_assistants_own_words() -> None:
    found = read_features((ASSISTANT, "The job reads the wrong file."), (USER, "Noted."), (ASSISTANT, "Good."))
    assert not [name for name in found if name.startswith("reply")]


@pytest.mark.req("B.17")
def test_what_holds_for_one_evening_is_not_kept_and_what_holds_on_is() -> None:
    tonight = [
        TurnView(0, USER, "bump the lag alert to 200k for tonight, tonight only, they migrate a park"),
        TurnView(1, ASSISTANT, "200k until eight tomorrow."),
    ]
    lasting = [
        TurnView(0, USER, "the lag alert goes to 200k from now on, parks are bigger"),
        TurnView(1, ASSISTANT, "200k it is."),
    ]
    assert list(extract_findings(tonight)) == []
    assert [finding.content for finding in extract_findings(lasting)] == [lasting[0].text]
