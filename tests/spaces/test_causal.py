"""Cause and effect clauses, and which side a question gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.spaces.causal import MAX_CLAUSE_CHARS, MAX_PAIRS, CausalSide, find_asked_side, find_causal_pairs
from tests.support import examples

STATED = [
    ("The build failed because the key ignored the lockfile.", "the key ignored the lockfile", "The build failed"),
    ("Because the disk was full, the backup never ran.", "the disk was full", "the backup never ran"),
    ("The cache was stale. As a result, the build failed.", "The cache was stale", "the build failed"),
    ("We pinned numpy to 1.26, so the wheel builds again.", "We pinned numpy to 1.26", "the wheel builds again"),
    ("The root cause of the outage was an expired certificate.", "an expired certificate", "the outage"),
    ("The reason for the slow start is the import of torch.", "the import of torch", "the slow start"),
    ("Upgrading Redis to 7 broke the session store.", "Upgrading Redis to 7", "the session store"),
    ("Use WAL mode. This makes readers never block.", "Use WAL mode", "readers never block"),
    ("Deploys time out due to the health check's limit", "the health check's limit", "Deploys time out"),
    ("A leak caused by listeners nobody removed", "listeners nobody removed", "A leak"),
    ("After we upgraded Node, the tests began to fail.", "we upgraded Node", "the tests began to fail"),
    ("If the lock file is deleted, the server restarts.", "the lock file is deleted", "the server restarts"),
    ("Dropping the index led to slow queries.", "Dropping the index", "slow queries"),
    ("- Retries were endless, which caused a storm of requests", "Retries were endless", "a storm of requests"),
    ("Retries are off, since the queue keeps order.", "the queue keeps order", "Retries are off"),
    ("Nothing is cached. The reason: keys are never equal.", "keys are never equal", "Nothing is cached"),
    ("Сборка упала, потому что кэш устарел.", "кэш устарел", "Сборка упала"),
    ("Из-за старого кэша сборка упала на CI.", "старого кэша", "сборка упала на CI"),
    ("Если удалить файл блокировки, то сервер перезапустится.", "удалить файл блокировки", "сервер перезапустится"),
    ("Обновление драйвера привело к падению тестов.", "Обновление драйвера", "падению тестов"),
    ("Причина падения — нехватка памяти.", "нехватка памяти", "падения"),
    ("Диск был полон, поэтому копия не создалась.", "Диск был полон", "копия не создалась"),
]


@pytest.mark.req("E.01")
@pytest.mark.parametrize(("text", "cause", "effect"), STATED)
def test_a_sentence_is_cut_at_its_cue(text: str, cause: str, effect: str) -> None:
    (pair,) = find_causal_pairs(text)
    assert (pair.cause, pair.effect) == (cause, effect)


@pytest.mark.parametrize(
    "text",
    [
        "Tests run in parallel.",
        "Since 2020 we use Rust.",
        "I like it so much.",
        "The tests are green again, since yesterday.",
        "It is in the API, since version 3.",
        "It is slower than one made by hand.",
        "Why did the build fail because of the cache?",
        "```python\nraise Error  # because the disk is full here\n```",
        "",
    ],
)
def test_what_states_no_cause_has_none(text: str) -> None:
    assert find_causal_pairs(text) == []


ASKED = [
    ("why does the deploy fail on Fridays?", CausalSide.EFFECT, "the deploy fail on Fridays"),
    ("What caused the outage", CausalSide.EFFECT, "the outage"),
    ("What caused this: the queue is empty?", CausalSide.EFFECT, "the queue is empty"),
    ("What happened because the disk was full?", CausalSide.CAUSE, "the disk was full"),
    ("what broke the session store?", CausalSide.EFFECT, "the session store"),
    ("What is the reason for the slow start?", CausalSide.EFFECT, "the slow start"),
    ("почему падает сборка?", CausalSide.EFFECT, "падает сборка"),
    ("Из-за чего упал сервер?", CausalSide.EFFECT, "упал сервер"),
    ("what happens if the disk is full?", CausalSide.CAUSE, "the disk is full"),
    ("What breaks when I upgrade Node?", CausalSide.CAUSE, "I upgrade Node"),
    ("What did the Redis upgrade break?", CausalSide.CAUSE, "the Redis upgrade"),
    ("what does a stale cache cause", CausalSide.CAUSE, "a stale cache"),
    ("What are the consequences of disabling WAL?", CausalSide.CAUSE, "disabling WAL"),
    ("что будет, если удалить lock-файл?", CausalSide.CAUSE, "удалить lock-файл"),
    ("к чему привело обновление драйвера?", CausalSide.CAUSE, "обновление драйвера"),
]


@pytest.mark.req("E.05")
@pytest.mark.parametrize(("question", "side", "known"), ASKED)
def test_a_question_gives_one_side_and_asks_for_the_other(question: str, side: CausalSide, known: str) -> None:
    assert find_asked_side(question) == (side, known)


@pytest.mark.parametrize("question", ["how do I deploy?", "who owns the deploy", "deploy because disk", ""])
def test_a_question_without_direction_gives_none(question: str) -> None:
    assert find_asked_side(question) is None


CUES = st.lists(st.sampled_from(("because", "so", "if", "after", ",", ".", "the", "a", "b", ""))).map(" ".join)


@hypothesis_settings(max_examples=examples(100))
@given(st.text(max_size=400) | CUES)
def test_any_text_gives_bounded_clauses_of_its_own_words(text: str) -> None:
    found = find_causal_pairs(text)
    assert len(found) <= MAX_PAIRS
    for pair in found:
        assert 0 < len(pair.cause) <= MAX_CLAUSE_CHARS and 0 < len(pair.effect) <= MAX_CLAUSE_CHARS
    question = find_asked_side(text)
    assert question is None or question[0] in CausalSide


def test_a_long_text_without_an_end_is_read_quickly() -> None:
    assert len(find_causal_pairs("because " * 3_000 + "x" * 10_000)) <= MAX_PAIRS
