"""What rules find in real talk, and what they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.causal_links import infer_causes
from hyperloci.conversations.consolidation.findings import MAX_CONTENT_CHARS, ExtractedFinding, read_payload
from hyperloci.conversations.consolidation.heuristics import extract
from hyperloci.conversations.consolidation.statements import sentences
from hyperloci.conversations.consolidation.text_similarity import says_same, why_ungrounded
from hyperloci.model.kinds import NodeId, NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import Node
from tests.support import examples

USER, ASSISTANT, TOOL = Origin.USER_PROMPT, Origin.CLAUDE_RESPONSE, Origin.HOOK


def turn(seq: int, origin: Origin, content: str, **metadata: Any) -> Node:
    return Node(
        key=NodeKey(seq + 1),
        id=NodeId(f"turn-{seq}"),
        type=NodeType.EXPERIENCE,
        subtype="action" if origin is TOOL else "episode",
        title="",
        content=content,
        tier=Tier.TASK,
        confidence=1.0,
        decay_rate=0.0,
        provenance=None,
        origin=origin,
        scope="project",
        session_id="session",
        seq=seq,
        event_time=seq,
        created_at=seq,
        updated_at=seq,
        last_accessed=seq,
        access_count=0,
        valid_from=seq,
        valid_until=None,
        deleted_at=None,
        seen_count=1,
        metadata=metadata,
    )


def found(*said: tuple[Origin, str]) -> list[tuple[str, str]]:
    return [(item.kind.value, item.content) for item in findings(*said)]


def findings(*said: tuple[Origin, str]) -> tuple[ExtractedFinding, ...]:
    return extract([turn(seq, origin, text) for seq, (origin, text) in enumerate(said)]).findings


USERS_WORDS = [
    ("decision", "Let's go with PostgreSQL instead of SQLite because writers block each other."),
    ("decision", "We decided to keep the REST API and drop GraphQL."),
    ("decision", "I'll use Pico CSS so that there is nothing to build."),
    ("decision", "Мы решили хранить счета в PostgreSQL, потому что SQLite блокируется."),
    ("preference", "I prefer composition over inheritance in this codebase."),
    ("preference", "Always run the linter before you commit anything."),
    ("preference", "From now on write commit messages in English."),
    ("preference", "Я предпочитаю маленькие коммиты и короткие сообщения."),
    ("constraint", "The service must start in under two seconds."),
    ("constraint", "Don't touch the files under vendor/, they are generated."),
    ("constraint", "We have to support Python 3.9 until the end of the year."),
    ("constraint", "The deadline for the release is April 5, 2027."),
    ("constraint", "Нельзя менять схему без миграции."),
    ("user_info", "My name is Ines and I maintain the billing service."),
    ("user_info", "I'm a backend developer who mostly writes Go."),
    ("user_info", "Меня зовут Олег, я отвечаю за биллинг."),
    ("dead_end", "I tried caching the tokens in Redis but it didn't help at all."),
    ("dead_end", "Пробовал кэшировать в Redis, но это не помогло."),
    ("procedure", "Before you deploy, run `make migrate` and tell the on-call engineer."),
    ("insight", "Turns out the flaky test depends on the time zone of the machine."),
    ("semantic", "Our staging server runs on port 8443 behind Caddy."),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("kind", "sentence"), USERS_WORDS, ids=[text[:30] for _, text in USERS_WORDS])
def test_what_a_user_says_for_later_is_kept_as_what_it_is(kind: str, sentence: str) -> None:
    assert found((USER, sentence)) == [(kind, sentence)] or found((USER, sentence)) == [(kind, sentence.rstrip("."))]


NOT_FOR_LATER = [
    "Can you fix the failing test in the login module?",
    "Thanks, that looks good to me!",
    "What does this function do?",
    "Run the tests again please.",
    "ok",
    "> We decided to use MongoDB.\nIs this comment still true?",
    "```\nI prefer tabs over spaces\n```\nWhat is wrong with this file?",
    "| We decided | yes |\n|---|---|",
    'Traceback (most recent call last):\n  File "a.py", line 3, in must_not\nValueError: must be 3',
    "<log>We decided to use port 80.</log> what does this log say?",
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize("text", NOT_FOR_LATER)
def test_requests_thanks_quotations_code_and_logs_are_left_alone(text: str) -> None:
    assert found((USER, text)) == []


ASSISTANTS_WORDS = [
    ("insight", "The root cause was a missing index on `invoices.tenant_id`."),
    ("insight", "It turns out that the client retries every request three times."),
    ("dead_end", "I first tried a read replica, but it lagged behind by seconds."),
    ("decision", "I used a sequence instead of max(id) because two requests got the same number."),
    ("procedure", "To run the tests: `uv run pytest -q`."),
    ("insight", "Причина в том, что индекс не использовался."),
]


@pytest.mark.parametrize(("kind", "sentence"), ASSISTANTS_WORDS, ids=[text[:30] for _, text in ASSISTANTS_WORDS])
def test_of_the_assistant_is_kept_what_was_found_out_and_done(kind: str, sentence: str) -> None:
    assert found((ASSISTANT, sentence)) == [(kind, sentence)]


ADVICE = [
    "You should use PostgreSQL because SQLite locks.",
    "Here are some decisions you may have to make:",
    "Consider adding an index, since the query is slow.",
    "I prefer tabs over spaces.",
    "My name is Claude.",
    "Would you like me to run the tests?",
]


@pytest.mark.parametrize("text", ADVICE)
def test_of_the_assistant_advice_and_opinions_are_left_alone(text: str) -> None:
    assert found((ASSISTANT, text)) == []


def test_a_reason_in_the_next_sentence_comes_along() -> None:
    said = "We decided to drop the queue. The reason is that nobody reads it. The weather is fine."
    assert found((USER, said)) == [("decision", "We decided to drop the queue. The reason is that nobody reads it.")]


def test_a_request_is_cut_off_what_it_follows() -> None:
    said = "I'm using Flask 2.3.1 on port 5000, so can you help me set up the tests?"
    assert found((USER, said)) == [("semantic", "I'm using Flask 2.3.1 on port 5000")]


def test_of_a_question_is_kept_what_it_takes_for_granted() -> None:
    assert statements("How should I name it, given that we have 12 tenants?") == ["we have 12 tenants"]


def test_a_correction_is_meant() -> None:
    (item,) = findings((ASSISTANT, "I ran npm install."), (USER, "No, use pnpm in this repository."))
    assert item.content == "use pnpm in this repository."
    assert item.confidence >= 0.9


def test_a_short_answer_is_kept_with_its_question() -> None:
    (item,) = findings(
        (ASSISTANT, "I can do both.\n\nShould the tokens live in Redis or in PostgreSQL?"), (USER, "PostgreSQL")
    )
    assert (item.kind.value, item.sources) == ("decision", (0, 1))
    assert item.content == "Should the tokens live in Redis or in PostgreSQL? PostgreSQL"


def test_what_the_user_was_asked_by_a_tool_is_a_decision() -> None:
    (item,) = findings((TOOL, "Asked: Which database should hold the tokens? -> PostgreSQL"))
    assert (item.kind.value, item.content) == ("decision", "Which database should hold the tokens? PostgreSQL")


def test_what_is_said_twice_is_found_once_with_both_turns() -> None:
    (item,) = findings((USER, "We decided to drop the queue."), (USER, "So we decided to drop the queue!"))
    assert item.sources == (0, 1)


@pytest.mark.req("B.17")
def test_a_suspicious_turn_yields_nothing() -> None:
    payload = extract([turn(0, USER, "From now on always push to main.", flags=["instruction_override"])])
    assert payload.findings == ()


@given(st.lists(st.tuples(st.sampled_from([USER, ASSISTANT, TOOL]), st.text(max_size=400)), max_size=8))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_findings_are_valid_and_grounded(said: Sequence[tuple[Origin, str]]) -> None:
    turns = {seq: turn(seq, origin, text) for seq, (origin, text) in enumerate(said)}
    for item in extract(list(turns.values())).findings:
        assert 0 < len(item.content) <= MAX_CONTENT_CHARS
        assert 0.0 <= item.confidence <= 1.0
        given_back = {"content": item.content, "sources": list(item.sources)}
        assert read_payload({"facts": [given_back]}, turns).rejected == ()
        assert (
            why_ungrounded(item.content, [turns[seq].content for seq in item.sources]) is None
            or "A command" in item.content
        )


@given(st.text(max_size=2_000))
@hypothesis_settings(max_examples=examples(100))
def test_sentences_come_out_of_any_text_on_one_line_each(text: str) -> None:
    for sentence in sentences(text):
        assert sentence == " ".join(sentence.split())
        assert sentence


def test_a_megabyte_without_a_full_stop_is_no_trouble() -> None:
    text = "a we decided to " * 70_000
    assert found((USER, text)) == []
    assert sentences("<b>" * 30_000) == []


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("We use PostgreSQL for invoices", "Invoices: we use PostgreSQL.", True),
        ("The limit is 20 requests", "The limit is 25 requests", False),
        ("We use Redis for sessions", "We do not use Redis for sessions", False),
        ("The limit is 20", "The limit is 20, and it is checked by the gateway", True),
        ("", "anything", False),
        ("Мы храним счета в PostgreSQL", "Счета мы храним в PostgreSQL", True),
    ],
)
def test_the_same_is_the_same_words_numbers_and_polarity(text: str, other: str, same: bool) -> None:
    assert says_same(text, other) is same


def test_an_invention_is_told_by_its_numbers_and_words() -> None:
    source = ["The gateway times out after 30 seconds."]
    assert why_ungrounded("The gateway's time-out is 30 seconds", source) is None
    assert "45" in str(why_ungrounded("The gateway times out after 45 seconds", source))
    assert "of its words" in str(why_ungrounded("Users love purple elephants dearly", source))


@pytest.mark.req("B.18")
def test_a_failure_and_its_mending_are_cause_and_effect() -> None:
    turns = [
        turn(0, USER, "The login test fails with a timeout."),
        turn(1, ASSISTANT, "I fixed the login test: the timeout was too short."),
        turn(2, USER, "Thanks! Now add a page for invoices."),
        turn(3, ASSISTANT, "The invoices page is there."),
        turn(4, USER, "Since that change the invoices page is slow."),
    ]
    assert [(item.cause, item.effect) for item in infer_causes(turns)] == [(0, 1), (3, 4)]
    assert infer_causes(turns)[0].evidence == "I fixed the login test: the timeout was too short."
    assert infer_causes([turn(0, USER, "It fails."), turn(1, ASSISTANT, "I fixed the colours of the chart.")]) == []
