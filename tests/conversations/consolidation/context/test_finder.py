"""Which words a statement is told with, and when it is told alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.context.finder import MAX_CONTEXT_CHARS, Context, find_context
from hyperloci.conversations.consolidation.context.scorer import Statement
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView
from tests.support import examples

LISTED = "Three ways:\n\n1. Redis with a lock per tenant\n2. an advisory lock in Postgres\n3. nothing, and retry"
LOCKING = "Ways to lock:\n\n1. Redis\n2. an advisory lock"
STORE = "Where do sessions live?"
QUESTION = "The tokens need a place. Should they live in Redis or in PostgreSQL?"
EDIT = "Edit src/expiry.py: +1 -1 lines: `EXPIRY_MONTHS = 12` became `EXPIRY_MONTHS = 18`"


def find(
    said: str, *before: tuple[str, str], after: str = "", quote: str = "", with_lines: bool = True
) -> Context | None:
    talk = [*before, (USER, said), *([(ACTION, after)] if after else [])]
    turns = [TurnView(seq, speaker, text) for seq, (speaker, text) in enumerate(talk)]
    start = said.index(quote or said)
    return find_context(Statement(turns, len(before), start, start + len(quote or said)), with_lines=with_lines)


def text_of(answer: str, reply: str) -> str | None:
    context = find(answer, (ASSISTANT, reply))
    return context.text if context is not None else None


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("answer", "reply", "about"),
    [
        ("PostgreSQL", QUESTION, "Should they live in Redis or in PostgreSQL?"),
        ("never", "Done. The same for redemptions?", "Done. The same for redemptions?"),
        ("sixty seconds, or the app flattens it", "And the balance endpoint?", "And the balance endpoint?"),
        ("im Frühjahr", "Wann wird der Dienst umgestellt?", "Wann wird der Dienst umgestellt?"),
        ("только ночью", "Когда запускать резервное копирование?", "Когда запускать резервное копирование?"),
    ],
)
def test_an_answer_is_told_with_its_question(answer: str, reply: str, about: str) -> None:
    assert text_of(answer, reply) == about


@pytest.mark.req("B.17")
def test_an_assent_is_told_with_all_of_the_proposal_that_it_takes() -> None:
    proposal = "Pi-hole can only do that per client. AdGuard Home has lists per network. Shall I put it in its place?"
    assert text_of("Yes, do that.", proposal) == proposal
    assert text_of("yes", "Does it hang? Shall I restart the worker?") == "Does it hang? Shall I restart the worker?"
    assert text_of("yes, AdGuard", proposal) != proposal


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("answer", "reply", "about"),
    [
        ("2", f"How do we lock? {LISTED}", "an advisory lock in Postgres"),
        ("2", LOCKING, "Ways to lock: … an advisory lock"),
        ("b", "Where do sessions live?\na) Redis\nb) Postgres", "Where do sessions live? … Postgres"),
        ("b", "a) Redis\nb) Postgres\n\nWhere do sessions live?", "Where do sessions live? … Postgres"),
        ("(a)", "Keep the raw bytes? (a) yes, (b) no", "Keep the raw bytes? … yes,"),
        ("b", "Do you know it? Keep the raw bytes? (a) yes, (b) no\n\nDo the tests run?", "Keep the raw bytes? … no"),
        ("3", f"{STORE}\n1. Redis. Do you run one?\n2. Postgres\n3. a cookie", f"{STORE} … a cookie"),
        ("2", f"1. Redis\n2. Postgres\n\n{STORE} Shall I rename the worker class?", f"{STORE} … Postgres"),
    ],
)  # fmt: skip
def test_an_option_is_told_behind_what_introduces_the_list_or_asks(answer: str, reply: str, about: str) -> None:
    assert text_of(answer, reply) == about


@pytest.mark.parametrize(("reply", "about"), [(LISTED, None), (f"{LISTED}\n\nHow often?", "How often?")])
@pytest.mark.parametrize("answer", ["7", "(7)", "12."])
def test_a_number_that_no_option_has_answers_a_question_or_nothing(answer: str, reply: str, about: str | None) -> None:
    assert text_of(answer, reply) == about


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("answer", "reply", "about"),
    [
        (
            "3",
            "Polling each minute empties the batteries. Keep it?",
            "Polling each minute empties the batteries. Keep it?",
        ),
        ("no, assets", "Fonts go into `public`. OK?", "Fonts go into `public`. OK?"),
        ("14", "Files stay for ten days. Or 14 for safety?", "Files stay for ten days. Or 14 for safety?"),
        ("Postgres 16", "The index is rebuilt. Which database server do you run?", "Which database server do you run?"),
        ("no", "The worker takes the lock:\n```\nlock(row)\n```\nOK?", "The worker takes the lock:"),
    ],
)
def test_a_question_that_names_nothing_comes_with_the_sentence_before_it(answer: str, reply: str, about: str) -> None:
    assert text_of(answer, reply) == about


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("sops hatten wir. der age key stand im CI log, im klartext. nie wieder", "SOPS with age would be lighter."),
        ("btw the release is on May 3, the customer asked for it again yesterday", "I'd cache the parsed headers."),
        ("the mart of the board is due on the 27th now, Priya moved the closing", "Great to hear. What is next?"),
        (
            "you never run migrations on production, the pipeline of tobias does that",
            "Understood. The column is there.",
        ),
    ],
)
def test_what_names_its_subject_is_not_put_behind_what_was_only_said(said: str, reply: str) -> None:
    assert text_of(said, reply) is None


def test_what_leans_is_told_with_what_names_its_subject_though_nothing_asks() -> None:
    context = find("make it 12", (USER, "The nightly export times out."), (ASSISTANT, "Noted."))
    assert context is not None
    assert (context.text, context.turn.seq) == ("The nightly export times out.", 0)


@pytest.mark.req("B.17")
@pytest.mark.parametrize("filler", ["What next?", "OK?"])
def test_a_question_that_names_nothing_is_no_subject(filler: str) -> None:
    talk = [(USER, "The nightly export times out after a while."), (ASSISTANT, f"Noted. {filler}")]
    context = find("make it 12", *talk)
    assert context is not None
    assert context.text != filler
    alone = find("make it 12", (ASSISTANT, "What next?"))
    assert alone is None
    written = find("make it eighteen", (ASSISTANT, f"Twelve. {filler}"), after=EDIT)
    assert written is not None
    assert written.is_written


def test_nothing_is_told_of_what_was_suspicious() -> None:
    turns = [TurnView(0, ASSISTANT, QUESTION, is_flagged=True), TurnView(1, USER, "PostgreSQL")]
    assert find_context(Statement(turns, 1, 0, 10), with_lines=True) is None


def test_what_stands_before_it_in_its_turn_may_tell_what_a_statement_is_about() -> None:
    said = "The nightly export times out. Make it 12."
    context = find(said, (ASSISTANT, "Noted."), quote="Make it 12.")
    assert context is not None
    assert context.text == "The nightly export times out."


@pytest.mark.req("B.17")
def test_the_line_that_was_written_tells_what_a_figure_is_of() -> None:
    context = find("make it eighteen", (ASSISTANT, "Twelve."), after=EDIT)
    assert context is not None
    assert (context.text, context.is_written) == ("expiry.py: `EXPIRY_MONTHS = 18`", True)
    assert find("make it eighteen", (ASSISTANT, "Twelve."), after=EDIT, with_lines=False) is None


def test_a_question_that_names_something_tells_more_than_the_line_that_was_written() -> None:
    context = find("18", (ASSISTANT, "After how many months do points expire?"), after=EDIT)
    assert context is not None
    assert context.text == "After how many months do points expire?"


def test_nothing_was_said_and_nothing_is_told_with_it() -> None:
    assert text_of("yes", "```\nx = 1\n```") is None
    assert find("yes") is None


def test_a_long_question_is_cut_at_a_word() -> None:
    question = f"Shall I {'really ' * 60}delete it?"
    about = text_of("yes", question)
    assert about is not None
    assert len(about) <= MAX_CONTEXT_CHARS
    assert question.startswith(f"{about} ")


@given(st.text(max_size=80), st.text(max_size=500))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_what_is_told_with_it_was_said(answer: str, reply: str) -> None:
    about = text_of(answer, reply)
    assert about is None or len(about) <= MAX_CONTEXT_CHARS
    assert all(part in reply for part in (about or "").split(" … "))
