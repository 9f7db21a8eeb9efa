"""Answers of a few words: which are read together with what they answer, and how much of that is told with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.context.assents import (
    MAX_PROPOSAL_CHARS,
    is_assent,
    is_brief_answer,
    names_nothing,
    quote_proposal,
)
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView
from tests.support import examples

pytestmark = pytest.mark.req("B.17")

PROPOSAL = (
    "Pi-hole can only do that per client. AdGuard Home has lists per network. Shall I put it in place of Pi-hole?"
)


def talk(answer: str, reply: str = PROPOSAL) -> tuple[list[TurnView], int]:
    return [TurnView(0, ASSISTANT, reply), TurnView(1, USER, answer)], 1


@pytest.mark.parametrize("answer", ["Yes, do that.", "y", "sold", "mach das", "please do, thanks", "no"])
def test_what_names_nothing_of_what_it_answers_is_an_assent_or_a_refusal(answer: str) -> None:
    assert is_brief_answer(*talk(answer))
    assert is_assent(*talk(answer))


@pytest.mark.parametrize("answer", ["yes, AdGuard Home in its place", "AdGuard, simplest"])
def test_what_names_it_again_is_brief_and_tells_itself_what_it_is_about(answer: str) -> None:
    assert is_brief_answer(*talk(answer))
    assert not is_assent(*talk(answer))
    assert names_nothing(*talk("yes please")) and not names_nothing(*talk("then AdGuard"))


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("yes, but for the third years only please", PROPOSAL),
        ("the teachers keep theirs, always", PROPOSAL),
        ("why?", PROPOSAL),
        ("30", "How many?"),
        ("use `uv`", PROPOSAL),
        ("b", "a) Redis\nb) Postgres\nWhich?"),
        ("make it eighteen", "Twelve."),
        ("", PROPOSAL),
        ("yes", "`"),
    ],
)
def test_what_says_more_asks_counts_or_names_an_option_is_no_brief_answer(answer: str, reply: str) -> None:
    assert not is_brief_answer(*talk(answer, reply))
    assert not is_assent(*talk(answer, reply))


def test_only_an_answer_to_the_assistant_is_brief() -> None:
    prompts = [TurnView(0, USER, "Look at the filter."), TurnView(1, USER, "please")]
    assert not is_brief_answer(prompts, 1)
    assert not is_brief_answer([TurnView(0, ASSISTANT, PROPOSAL), TurnView(1, ASSISTANT, "Yes.")], 1)


def test_the_end_of_a_proposal_is_quoted_in_whole_sentences() -> None:
    assert quote_proposal(TurnView(0, ASSISTANT, PROPOSAL)) == PROPOSAL
    story = " ".join(f"Step {number} of the move went well." for number in range(20))
    quote = quote_proposal(TurnView(0, ASSISTANT, f"{story} {PROPOSAL}"))
    assert quote.endswith(PROPOSAL) and quote.startswith("Step ") and len(quote) <= MAX_PROPOSAL_CHARS


def test_code_stands_in_no_quoted_proposal() -> None:
    reply = f"The file is:\n```\nfilter: pihole\n```\n{PROPOSAL}"
    assert quote_proposal(TurnView(0, ASSISTANT, reply)) == PROPOSAL


def test_of_one_long_sentence_its_last_words_are_quoted() -> None:
    sentence = f"I'd move {', '.join(f'table{number}' for number in range(60))} to Postgres, all of them"
    quote = quote_proposal(TurnView(0, ASSISTANT, sentence))
    assert sentence.endswith(f" {quote}") and MAX_PROPOSAL_CHARS - 10 < len(quote) <= MAX_PROPOSAL_CHARS


@given(st.text(max_size=40), st.text(min_size=1, max_size=700))
@hypothesis_settings(max_examples=examples(60))
def test_whatever_is_said_the_quotation_is_a_part_of_the_reply(answer: str, reply: str) -> None:
    turns, at = talk(answer, reply)
    if is_brief_answer(turns, at):
        assert quote_proposal(turns[0]) in reply
