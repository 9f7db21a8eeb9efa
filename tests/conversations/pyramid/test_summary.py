"""Summaries are made of what was said, and of what matters in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.conversations.pyramid.summary import MAX_FACTS, SUMMARY_TOKENS, ExtractiveSummariser
from hyperloci.conversations.pyramid.turn_sentences import MAX_CHARS, MAX_SENTENCES, extract_sentences
from hyperloci.model.pyramid import Digest
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.text.tokens import count_tokens
from tests.support import examples


def said(text: str, role: Speaker = Speaker.USER, kind: TurnKind = TurnKind.TEXT) -> Turn:
    return Turn(uuid="", role=role, text=text, timestamp_ms=None, kind=kind)


HEURISTIC = ExtractiveSummariser(lambda term: 1.0)

TALK = [
    said("Hey, good morning! How are you today?"),
    said("Hello! I am fine, thanks. What can I do for you?", Speaker.ASSISTANT),
    said("The invoice numbers collide when two requests come at once."),
    said(
        "Two requests read the same maximum. A PostgreSQL sequence would give each invoice its own number.",
        Speaker.ASSISTANT,
    ),
    said("Edit: src/billing/invoices.py", Speaker.ASSISTANT, TurnKind.ACTION),
    said("We decided to use one PostgreSQL sequence for each tenant, because invoices must be numbered by tenant."),
    said("Great, thanks!"),
    said("The invoice test passes now: the sequence gives each invoice a number of its own.", Speaker.ASSISTANT),
    said("ok"),
    said("Cool."),
]


@pytest.mark.req("C.05")
def test_a_summary_tells_the_matter_and_not_the_greetings() -> None:
    digest = HEURISTIC(PyramidLevel.MICRO, TALK, [])
    assert "We decided to use one PostgreSQL sequence for each tenant" in digest.summary
    assert "good morning" not in digest.summary and "Cool" not in digest.summary
    assert digest.summary.startswith(("user: ", "assistant: "))
    assert any("We decided to use one PostgreSQL sequence" in fact for fact in digest.key_facts)
    assert any("invoice" in theme or "sequence" in theme for theme in digest.themes)


@pytest.mark.req("C.05")
def test_it_is_not_just_the_first_sentence() -> None:
    first = said("Let me tell you about something else entirely before we begin with the work of today.")
    digest = HEURISTIC(PyramidLevel.MICRO, [first, *TALK], [])
    assert "something else entirely" not in digest.summary


def test_russian_is_summed_up_too() -> None:
    talk = [
        said("Привет! Как дела?"),
        said("Мы решили хранить счета в PostgreSQL, потому что номера не должны повторяться."),
        said("Хорошо, тогда номера счетов выдаёт последовательность PostgreSQL.", Speaker.ASSISTANT),
    ]
    digest = HEURISTIC(PyramidLevel.MICRO, talk * 3, [])
    assert "решили хранить счета в PostgreSQL" in digest.summary and digest.key_facts


@pytest.mark.req("C.05")
def test_a_macro_is_made_of_what_its_minis_say() -> None:
    parts = [
        Digest("user: We decided to deploy version 4.2 on Friday.", ("user: The budget is 900 euros.",), ()),
        Digest("assistant: The deployment of version 4.2 failed because the disk was full.", (), ()),
    ]
    digest = HEURISTIC(PyramidLevel.MACRO, TALK * 10, parts)
    assert "4.2" in digest.summary and "invoice" not in digest.summary
    assert all(line.startswith(("user: ", "assistant: ")) for line in digest.summary.splitlines())


@pytest.mark.req("C.05")
def test_meaning_joins_what_words_keep_apart() -> None:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        about_cats = np.array([any(word in text for word in ("cat", "kitten", "feline")) for text in texts])
        return np.stack([about_cats, ~about_cats], axis=1).astype(np.float32)

    talk = [
        said("A kitten slept on the warm windowsill yesterday afternoon here."),
        said("Felines such as this feline purr loudly whenever somebody strokes them."),
        said("The cat ate every crumb of breakfast before anybody woke."),
        said("Quarterly taxation spreadsheets require seventeen additional columns urgently."),
    ]
    ranked = ExtractiveSummariser(lambda term: 1.0, embed)(PyramidLevel.MICRO, talk * 2, []).summary
    assert "taxation" not in ranked.splitlines()[0]


@given(
    st.lists(
        st.builds(said, st.text(max_size=200), st.sampled_from(Speaker), st.sampled_from(TurnKind)),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(PyramidLevel),
)
@settings(max_examples=examples(100))
def test_of_any_turns_there_is_a_summary_that_is_short_and_says_something(
    turns: list[Turn], level: PyramidLevel
) -> None:
    digest = HEURISTIC(level, turns, [])
    assert digest.summary.strip()
    assert len(digest.key_facts) <= MAX_FACTS[level] and len(digest.themes) <= 5


def test_long_talk_stays_within_the_budget() -> None:
    turns = [
        said(f"We must finish part {n} of the {word} module by day {n}. " * 5) for n in range(100) for word in "abc"
    ]
    for level in PyramidLevel:
        assert count_tokens(HEURISTIC(level, turns, []).summary) <= SUMMARY_TOKENS[level] + 30


def test_code_tables_and_repetitions_are_no_sentences() -> None:
    text = (
        "# The plan of the day\n- First we write the parser of dates.\n- First we write the parser of dates.\n"
        "```python\ndef parse(text): return text.split()\n```\n| a | b | c |\n|---|---|---|\n"
        "See e.g. the module of dates. It was made by Dr. Smith of the team!"
    )
    assert [sentence.text for sentence in extract_sentences([said(text)])] == [
        "First we write the parser of dates.",
        "See e.g. the module of dates.",
        "It was made by Dr. Smith of the team!",
    ]


def test_pasted_logs_are_cut_in_length_and_number() -> None:
    found = extract_sentences(
        [said("word and another thing " * 100), said("\n".join(f"line {n} of that log file" for n in range(999)))]
    )
    assert len(found) <= MAX_SENTENCES and all(len(sentence.text) <= MAX_CHARS + 6 for sentence in found)


def test_identifiers_stay_as_they_were_said() -> None:
    talk = [
        said("Retry in `_send_handling_retries`, we decided against a wrapper because `__version__.py` imports it."),
        said("Both _private and other_ names of the module must stay as they are in 2.0.", Speaker.ASSISTANT),
    ]
    told = HEURISTIC(PyramidLevel.MICRO, talk * 3, []).summary
    assert "`_send_handling_retries`" in told and "`__version__.py`" in told


def test_what_the_user_decided_comes_before_advice_and_announcements() -> None:
    talk = [
        said("Make it 6 attempts with a base of 60s, their maintenance window is 20 minutes."),
        said("I'll look at the queue and its options first, then at the worker and the retries.", Speaker.ASSISTANT),
        said("You could also consider a dead-letter queue for the attempts of the worker.", Speaker.ASSISTANT),
        said("Done: 6 attempts, exponential, 60 s base.", Speaker.ASSISTANT),
        said("should we sign the payloads of the worker btw"),
    ] * 2
    told = HEURISTIC(PyramidLevel.MICRO, talk, []).summary
    assert "Make it 6 attempts" in told and "Done: 6 attempts" in told
    assert "I'll look" not in told and "could also" not in told and "should we sign" not in told


def test_themes_are_names_and_noun_phrases_or_there_are_none() -> None:
    talk = [
        said("Feel free to keep using the nightly delete in `worker.ts`, that sure works."),
        said("The nightly delete is slow, feel free to look. Sure, keep using worker.ts."),
    ]
    assert set(HEURISTIC(PyramidLevel.MICRO, talk, []).themes) == {"nightly delete", "worker.ts"}
    assert HEURISTIC(PyramidLevel.MICRO, [said("Sure, feel free to keep using that code")] * 3, []).themes == ()
