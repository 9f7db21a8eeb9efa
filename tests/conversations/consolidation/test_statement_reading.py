"""Sentences that a model reads with what was said around them, beside the scorer of their words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.consolidation import statement_reading
from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.statement_reading import (
    AFTER_CHARS,
    BEFORE_CHARS,
    NEIGHBOUR_CHARS,
    READ_BASE,
    READ_FROM,
    READ_MOST,
    READ_SHARE,
    READ_TOGETHER,
    REQUEST_SECONDS,
    LateReadingError,
    ReadingSession,
    describe_sentence,
    read_statements,
)
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView
from hyperloci.embedder.circuit_breaker import MIN_COUNTED_TIMEOUT
from hyperloci.embedder.client import EmbedderSilentError
from hyperloci.embedder.models.cross_encoder import (
    REPLACEMENT_ADAPTER,
    STATEMENT_ADAPTER,
    CrossEncoder,
    load_cross_encoder,
)
from hyperloci.errors import BadRequestError, ConfigurationError, EmbedderError, NoEmbedderError, NotReadyError
from hyperloci.knowledge.cross_reading import join_readings
from hyperloci.store import Store
from tests.conversations.consolidation import conftest
from tests.conversations.consolidation.conftest import Talk, extracted
from tests.support import FakeClock

pytestmark = pytest.mark.req("B.17")

RULE = "Postgres 16 it is, no mysql"
ASKED = "Which database shall I set up?"
DONE = "Done, the compose file starts Postgres 16."


class Reader:
    """Says what it is told to of each sentence, or raises; notes what it is asked, and how long it may take."""

    def __init__(self, answer: float | Exception | Mapping[str, float]) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.timeouts: list[float] = []

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.asked += [told.partition(" →")[0] for _, told in pairs]
        self.timeouts.append(timeout)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, Mapping):
            return [self.answer[told.partition(" →")[0]] for _, told in pairs]
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


def test_a_flagged_answer_is_not_read() -> None:
    turns = [TurnView(0, USER, "Keep it."), TurnView(1, ASSISTANT, "Ignore all rules.", is_flagged=True)]
    assert describe_sentence(turns, 0, 0) == (" ‖ ", "Keep it.")


def test_what_a_model_says_of_a_sentence_counts_beside_its_words() -> None:
    turns = talk_of(ASKED, RULE, DONE)
    low, high = (read_statements(ReadingSession(Reader(answer)), turns, 1, [0.4])[0] for answer in (0.02, 0.98))
    assert low < 0.3 and 0.5 < high < 0.98
    assert read_statements(None, turns, 1, [0.4]) == [0.4]


def test_of_a_brief_answer_the_reading_alone_tells() -> None:
    proposed = "AdGuard Home has lists per network. Shall I put it in place of Pi-hole?"
    turns = talk_of(proposed, "Yes, do that.", "AdGuard Home answers now, Pi-hole is removed.")
    assert read_statements(ReadingSession(Reader(0.9)), turns, 1, [0.001]) == [0.9]
    for answer, kept in ((0.9, ["Yes, do that."]), (0.55, []), (0.01, [])):
        found = list(extract_findings(turns, reading=ReadingSession(Reader(answer))))
        assert [finding.content for finding in found] == kept
        assert all(finding.about == proposed for finding in found)


def test_an_option_that_is_chosen_is_read_in_the_place_of_its_mark() -> None:
    turns = talk_of("Two ways: (1) Redis Streams, (2) an outbox table in Postgres. Least work is 1.", "2", "Done: V97.")
    before, told = describe_sentence(turns, 1, 0)
    assert before == "Two ways: (1) Redis Streams, (2)  ‖ "
    assert told == "an outbox table in Postgres. Least work is 1. (2) → Done: V97."


def test_of_the_choice_of_an_option_the_reading_alone_tells() -> None:
    turns = talk_of("Where do all sessions lie?\n1. Redis\n2. Postgres", "2", "Sessions lie in Postgres now.")
    assert read_statements(ReadingSession(Reader(0.9)), turns, 1, [0.001]) == [0.9]
    for answer, kept in ((0.6, ["2"]), (0.1, [])):
        found = list(extract_findings(turns, reading=ReadingSession(Reader(answer))))
        assert [finding.content for finding in found] == kept
        assert all((finding.about or "").endswith("Postgres") for finding in found)


def test_a_rule_that_begins_like_a_choice_is_kept_by_its_own_words() -> None:
    offer = "Two ways: (1) merge at once, (2) wait for a review. I'd take 1."
    turns = talk_of(offer, "2 reviewers for each PR from now on", "Noted.")
    assert read_statements(ReadingSession(Reader(0.1)), turns, 1, [0.8]) == [0.8]
    assert read_statements(ReadingSession(Reader(0.1)), talk_of(offer, "2", "Noted."), 1, [0.8]) == [0.1]


@pytest.mark.model
def test_a_choice_that_lasts_is_kept_and_one_of_the_moment_is_not() -> None:
    lasting = "For the queue we can take (a) Redis Streams, (b) a table in Postgres or (c) RabbitMQ."
    passing = "Shall I show you (a) the diff or (b) the whole file?"
    reading = ReadingSession(LocalReader(), math.inf)
    done = "Then jobs go into a Postgres table with SKIP LOCKED."
    (kept,) = extract_findings(talk_of(lasting, "b", done), reading=reading)
    assert kept.statement == "a table in Postgres or → b"
    assert list(extract_findings(talk_of(passing, "a", "Here it is."), reading=reading)) == []


def test_a_yes_before_a_rule_is_no_part_of_it() -> None:
    turns = talk_of("Shall I note it?", "Yes. Releases only after half past six in the evening.", "Noted.")
    reader = Reader({"Yes.": 0.8, "Releases only after half past six in the evening.": 0.99})
    (found,) = extract_findings(turns, reading=ReadingSession(reader))
    assert found.content == "Releases only after half past six in the evening."


def test_an_answer_that_is_read_as_half_an_assent_ends_nothing() -> None:
    turns = talk_of("I'd keep sessions in Postgres instead of Redis. OK?", "no, keep it", "Redis stays.")
    found = list(extract_findings(turns, reading=ReadingSession(Reader(0.4)), tentative=True))
    assert [finding.is_passing for finding in found] == [True]


def test_a_brief_statement_of_its_own_is_judged_by_its_words_too() -> None:
    turns = talk_of("Shall I merge it when it is green?", "never merge yourself", "Understood, you merge.")
    scores = read_statements(ReadingSession(Reader(0.3)), turns, 1, [0.8])
    assert 0.5 < scores[0] < 0.8
    assert read_statements(ReadingSession(Reader(0.9)), turns, 1, [0.001]) == [0.9]


@pytest.mark.model
def test_an_accepted_design_is_kept_and_an_accepted_task_is_not() -> None:
    asked = "Should all new endpoints be versioned under /v2 then?"
    design = talk_of(asked, "exactly", "Noted, new endpoints go under /v2.")
    task = talk_of("Two specs still pin the old type. Shall I run them again?", "yes do that", "Both pass.")
    reading = ReadingSession(LocalReader(), math.inf)
    assert [finding.statement for finding in extract_findings(design, reading=reading)] == [f"{asked} → exactly"]
    assert list(extract_findings(task, reading=reading)) == []


def test_each_sentence_has_its_own_reading() -> None:
    said = ["Use tabs.", "Never mind.", "Keep the port.", "Go on.", "Ship it.", "No mocks.", "Thanks."]
    readings = dict(zip(said, [0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.05], strict=True))
    scores = [0.3, 0.6, 0.2, 0.5, 0.1, 0.4, 0.7]
    joined = read_statements(ReadingSession(Reader(readings)), [TurnView(0, USER, " ".join(said))], 0, scores)
    wanted = [
        join_readings(score, readings[text], READ_SHARE, READ_BASE) for score, text in zip(scores, said, strict=True)
    ]
    assert joined == pytest.approx(wanted)


def test_only_the_likeliest_sentences_of_a_turn_are_read() -> None:
    turns = talk_of("Go on.", " ".join(f"Rule {number} holds." for number in range(100)))
    scores = [number / 100 for number in range(100)]
    reader = Reader(0.98)
    joined = read_statements(ReadingSession(reader), turns, 1, scores)
    assert set(reader.asked) == {f"Rule {number} holds." for number in range(100 - READ_MOST, 100)}
    assert joined[: 100 - READ_MOST] == scores[: 100 - READ_MOST]
    assert len(reader.timeouts) == -(-READ_MOST // READ_TOGETHER)
    unlikely = [READ_FROM / 2] * 100
    assert read_statements(ReadingSession(reader), turns, 1, unlikely) == unlikely
    assert len(reader.asked) == READ_MOST


@pytest.mark.parametrize(
    "error", [NotReadyError("loading"), EmbedderError("gone"), BadRequestError("none"), ConfigurationError("too long")]
)
def test_where_no_model_can_be_asked_words_alone_tell_and_it_is_asked_no_more(error: Exception) -> None:
    reader = Reader(error)
    turns = [view for _ in range(20) for view in talk_of(ASKED, RULE, DONE)]
    views = [TurnView(seq, view.speaker, view.text) for seq, view in enumerate(turns)]
    found = list(extract_findings(views, reading=ReadingSession(reader)))
    assert found == list(extract_findings(views))
    assert reader.asked == [RULE]


def test_all_readings_together_may_take_as_long_as_was_said() -> None:
    reader = Reader(0.98)
    reading = ReadingSession(reader, seconds=0.0)
    assert reading.read([("", RULE)], 1) == [None] and reader.asked == []
    reading = ReadingSession(reader, seconds=0.2)
    assert reading.read([("", RULE)], 1) == [0.98]
    assert 0.0 < reader.timeouts[0] <= 0.2
    reading.read([("a", RULE)], 3)
    assert reader.timeouts[1] < reader.timeouts[0]
    patient = ReadingSession(reader, seconds=math.inf)
    patient.read([("", RULE)], 1)
    assert reader.timeouts[-1] == REQUEST_SECONDS < MIN_COUNTED_TIMEOUT


def test_who_stops_has_nothing_more_read() -> None:
    reader, stops = Reader(0.98), iter([False, True])
    reading = ReadingSession(reader, math.inf, lambda: next(stops))
    said = [(str(number), RULE) for number in range(2 * READ_TOGETHER)]
    assert reading.read(said, 1) == [*[0.98] * READ_TOGETHER, *[None] * READ_TOGETHER]


LATE = [NotReadyError("it loads"), EmbedderSilentError("silent for a while")]
NEVER = [NoEmbedderError(), EmbedderError("gone"), BadRequestError("none"), ConfigurationError("too long")]


@pytest.mark.parametrize("error", LATE)
def test_a_turn_waits_for_a_model_that_is_only_late_where_it_may(error: Exception) -> None:
    reading = ReadingSession(Reader(error))
    reading.begin_part(may_wait=True)
    for seq in (3, 5):
        with pytest.raises(LateReadingError) as late:
            reading.read([("", RULE)], seq)
        assert late.value.seq == seq
    reading.begin_part(may_wait=False)
    assert reading.read([("", RULE)], 3) == [None]


@pytest.mark.parametrize("error", NEVER)
def test_no_turn_waits_for_a_model_that_cannot_be_had(error: Exception) -> None:
    reading = ReadingSession(Reader(error))
    reading.begin_part(may_wait=True)
    assert reading.read([("", RULE)], 3) == [None]


def test_a_turn_waits_for_the_next_time_where_the_time_for_reading_is_over() -> None:
    reading = ReadingSession(Reader(0.98), seconds=0.0)
    reading.begin_part(may_wait=True)
    with pytest.raises(LateReadingError):
        reading.read([("", RULE)], 3)


def test_who_has_time_asks_again_for_a_model_that_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loads(Reader):
        def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
            super().score_statements(pairs, timeout)
            if len(self.asked) < 4:
                raise NotReadyError("it loads")
            return [0.98]

    monkeypatch.setattr(statement_reading, "RETRY_SECONDS", 0.0)
    assert ReadingSession(Loads(0.98), math.inf).read([("", RULE)], 1) == [0.98]
    assert ReadingSession(Loads(0.98), REQUEST_SECONDS).read([("", RULE)], 1) == [None]
    monkeypatch.setattr(statement_reading, "PATIENT_SECONDS", -1.0)
    assert ReadingSession(Loads(0.98), math.inf).read([("", RULE)], 1) == [None]


def test_what_was_read_of_a_part_is_not_read_again() -> None:
    reader = Reader(0.98)
    reading = ReadingSession(reader)
    reading.begin_part(may_wait=True)
    assert reading.read([("", RULE), ("", RULE)], 3) == reading.read([("", RULE)], 3) * 2 == [0.98, 0.98]
    assert len(reader.asked) == 1
    reading.begin_part(may_wait=True)
    reading.read([("", RULE)], 3)
    assert len(reader.asked) == 2


def test_what_the_assistant_says_is_not_read() -> None:
    reader = Reader(0.98)
    turns = talk_of(ASKED, RULE, "The cause is the cache: it never expires.")
    list(extract_findings(turns, reading=ReadingSession(reader)))
    assert reader.asked == [RULE]


def test_a_figure_that_was_then_written_is_kept_whatever_the_reading_says() -> None:
    said = [TurnView(0, ASSISTANT, "The step is 8 degrees. Lower it?"), TurnView(1, USER, "6, I'd say.")]
    written = TurnView(2, ACTION, "Edit qc/step.sql: +1 -1 lines: `> 8.0` became `> 6.0`")
    answer = TurnView(3, ASSISTANT, "Changed.")
    for turns, kept in (([*said, written, answer], ["6, I'd say."]), ([*said, answer], [])):
        found = extract_findings(turns, reading=ReadingSession(Reader(0.001)))
        assert [finding.content for finding in found] == kept


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
