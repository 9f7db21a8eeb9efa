"""Session outcomes: which sentences tell what a session did, found out and left."""

from __future__ import annotations

import pytest

from bench import train_outcomes
from hyperloci.conversations.session_outcomes import (
    OutcomeKind,
    SessionTurn,
    ToldOutcome,
    load_outcome_weights,
    read_answers,
    read_outcome_features,
    score_outcomes,
)
from hyperloci.model.turn import Speaker


def ask(text: str) -> SessionTurn:
    return SessionTurn(Speaker.USER, text)


def answer(text: str) -> SessionTurn:
    return SessionTurn(Speaker.ASSISTANT, text)


def act(line: str) -> SessionTurn:
    return SessionTurn(None, line)


def score(*turns: SessionTurn) -> dict[str, ToldOutcome]:
    return {one.text: one for one in score_outcomes(turns)}


@pytest.mark.parametrize(
    ("request_", "plan", "done"),
    [
        ("the export is slow", "I'll cache the list.", "Cached the list; the export takes 2 s instead of 40 now."),
        (
            "Der Export ist langsam",
            "Ich schaue mir die Liste an.",
            "Die Liste liegt jetzt im Cache, der Export läuft in 2 s.",
        ),
        ("экспорт тормозит", "Сейчас посмотрю.", "Кэш добавлен, экспорт занимает 2 с, 14 тестов зелёные."),
        ("导出太慢了", "我先看一下。", "已加上缓存，导出现在只要 2 秒。"),
    ],
)
def test_what_was_done_is_told_from_what_was_only_planned(request_: str, plan: str, done: str) -> None:
    told = score(ask(request_), answer(plan), act("Edit src/export.py: +9 -2 lines"), answer(done))
    assert told[plan].told < 0.2 < 0.45 < told[done].told


def test_what_was_found_is_told_from_what_was_done() -> None:
    cause = "The pool was exhausted because every retry opened a connection of its own."
    done = "Retries share one connection now."
    told = score(
        ask("requests hang at night"),
        act("Bash: psql -c 'select 1'"),
        answer(cause),
        ask("fix it"),
        act("Edit pool.py: +3 -1 lines"),
        answer(done),
    )
    assert told[cause].kind is OutcomeKind.FOUND
    assert told[done].kind is OutcomeKind.DONE


def test_the_same_sentence_tells_less_where_nothing_was_done_before_it() -> None:
    text = "The index is built at start-up."
    acted = score(ask("when is the index built?"), act("Edit index.py: +9 -2 lines"), answer(text))
    talked = score(ask("hi"), act("Bash: ls"), answer("Hello."), ask("when is the index built?"), answer(text))
    assert talked[text].told < acted[text].told


def test_shares_of_a_sentence_are_no_more_than_one() -> None:
    for one in score(ask("go"), answer("Fixed the reader. What is still missing: the writer. Shall I?")).values():
        assert all(0 <= share <= 1 for share in one.shares.values())
        assert sum(one.shares.values()) <= 1


def test_a_turn_without_words_has_no_sentences() -> None:
    assert score(ask("go"), answer("```\nx = 1\n```"), answer("")) == {}


def test_features_tell_what_was_done_around_an_answer() -> None:
    turns = [
        ask("go"),
        act("Bash: make (exit 2): no rule"),
        answer("It fails."),
        act("Edit Makefile: +1 -0 lines"),
        answer("Done."),
    ]
    first, last = read_answers(turns)
    assert {"acted", "failed", "goes on"} <= first.signs and "edited" not in first.signs
    assert {"acted", "edited", "closes", "last answer"} <= last.signs
    assert {"alone", "brief", "^done"} <= read_outcome_features(last, 0)


def test_the_weights_of_the_package_are_what_its_training_gives() -> None:
    assert train_outcomes.train(list(train_outcomes.read_sentences())).packed == load_outcome_weights().packed
