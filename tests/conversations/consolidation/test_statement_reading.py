"""Sentences that a model reads with what was said around them, beside the scorer of their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.statement_reading import (
    AFTER_CHARS,
    BEFORE_CHARS,
    NEIGHBOUR_CHARS,
    READ_FROM,
    READ_MOST,
    describe_sentence,
    read_statements,
)
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView
from hyperloci.embedder.models.cross_encoder import (
    REPLACEMENT_ADAPTER,
    STATEMENT_ADAPTER,
    CrossEncoder,
    load_cross_encoder,
)
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.store import Store
from tests.conversations.consolidation import conftest
from tests.conversations.consolidation.conftest import Talk, extracted
from tests.support import FakeClock

pytestmark = pytest.mark.req("B.17")

RULE = "Postgres 16 it is, no mysql"
ASKED = "Which database shall I set up?"
DONE = "Done, the compose file starts Postgres 16."


class Reader:
    """Says the same of all sentences, or raises; notes what it is asked."""

    def __init__(self, answer: float | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.asked += pairs
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer] * len(pairs)


class LocalReader:
    """The models that come along, in this process."""

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        return model(is_statement=False).score_pairs(pairs)

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        return model(is_statement=True).score_pairs(pairs)


@cache
def model(*, is_statement: bool) -> CrossEncoder:
    return load_cross_encoder(STATEMENT_ADAPTER if is_statement else REPLACEMENT_ADAPTER)


def talk_of(*texts: str) -> list[TurnView]:
    """Turns of the assistant's and the user's by turns, the assistant first."""
    return [TurnView(seq, (ASSISTANT, USER)[seq % 2], text) for seq, text in enumerate(texts)]


def test_a_sentence_is_read_with_what_was_said_before_it_and_the_answer() -> None:
    turns = talk_of("Shall I start?", "Wait a moment. Keep the old endpoint.", "I keep it.")
    assert describe_sentence(turns, 1, 1) == ("Shall I start? ‖ Wait a moment.", "Keep the old endpoint. → I keep it.")
    assert describe_sentence(turns[:2], 1, 0) == ("Shall I start? ‖ ", "Wait a moment.")
    assert describe_sentence([TurnView(0, USER, "Keep it.")], 0, 0) == (" ‖ ", "Keep it.")


def test_of_long_turns_their_ends_towards_the_sentence_are_read() -> None:
    turns = talk_of("a" * 999 + "b", f"{'c' * 500}d. Keep it.", "e" + "f" * 999)
    before, told = describe_sentence(turns, 1, 1)
    assert before == f"{'a' * (BEFORE_CHARS - 1)}b ‖ {'c' * (NEIGHBOUR_CHARS - 2)}d."
    assert told == f"Keep it. → e{'f' * (AFTER_CHARS - 1)}"


def test_what_a_model_says_of_a_sentence_counts_beside_its_words() -> None:
    turns = talk_of(ASKED, RULE, DONE)
    low, high = (read_statements(Reader(answer), turns, 1, [0.4])[0] for answer in (0.02, 0.98))
    assert low < 0.3 and 0.5 < high < 0.98
    assert read_statements(None, turns, 1, [0.4]) == [0.4]


def test_only_the_likeliest_sentences_of_a_turn_are_read() -> None:
    turns = talk_of("Go on.", " ".join(f"Rule {number} holds." for number in range(100)))
    scores = [number / 100 for number in range(100)]
    reader = Reader(0.98)
    joined = read_statements(reader, turns, 1, scores)
    assert [told for _, told in reader.asked] == [f"Rule {number} holds." for number in range(100 - READ_MOST, 100)]
    assert joined[: 100 - READ_MOST] == scores[: 100 - READ_MOST]
    assert read_statements(reader, turns, 1, [READ_FROM / 2] * 100) == [READ_FROM / 2] * 100
    assert len(reader.asked) == READ_MOST


@pytest.mark.parametrize("error", [NotReadyError("loading"), EmbedderError("gone"), BadRequestError("none")])
def test_where_no_model_can_be_asked_words_alone_tell(error: Exception) -> None:
    reader = Reader(error)
    assert read_statements(reader, talk_of(ASKED, RULE, DONE), 1, [0.4]) == [0.4]
    assert reader.asked


def test_what_the_assistant_says_is_not_read() -> None:
    reader = Reader(0.98)
    list(extract_findings(talk_of(ASKED, RULE, "The cause is the cache: it never expires."), reader=reader))
    assert [told.partition(" →")[0] for _, told in reader.asked] == [RULE]


@pytest.mark.model
def test_a_rule_that_words_do_not_tell_is_kept_where_the_model_can_be_asked(
    store: Store, settings: Settings, clock: FakeClock, talk: Talk
) -> None:
    said = [(conftest.USER, RULE), (conftest.ASSISTANT, "Done")]
    talk.session("one", *said)
    Consolidation(store, settings, clock).consolidate_now("one")
    assert extracted(store) == []
    talk.session("two", *said)
    Consolidation(store, settings, clock, scorer=LocalReader()).consolidate_now("two")
    assert [node.content for node in extracted(store)] == [RULE]
