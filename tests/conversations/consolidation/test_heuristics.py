"""What rules find in real talk, and what they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation import heuristics, turn_view
from hyperloci.conversations.consolidation.causes.causal_links import infer_causes
from hyperloci.conversations.consolidation.findings import (
    MAX_CONTENT_CHARS,
    ExtractedFinding,
    FindingKind,
    read_payload,
)
from hyperloci.conversations.consolidation.heuristics import extract, extract_findings
from hyperloci.conversations.consolidation.statement_features import split_words
from hyperloci.conversations.consolidation.statement_scorer import ScorerWeights
from hyperloci.conversations.consolidation.text_similarity import Said, repeats, says_same, why_ungrounded
from hyperloci.conversations.consolidation.turn_view import TurnView, read_sentences
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


@pytest.mark.req("B.17")
def test_a_figure_that_the_assistant_then_writes_is_kept_though_little_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heuristics, "KEEP", 0.9)
    monkeypatch.setattr(heuristics, "KEEP_BINDING", {})
    said = [(ASSISTANT, "The step is 8 degrees. Lower it?"), (USER, "6, I'd say.")]
    written = (TOOL, "Edit qc/step.sql: +1 -1 lines: `> 8.0` became `> 6.0`")
    other = (TOOL, "Edit qc/step.sql: +1 -1 lines: `> 8.0` became `> 7.0`")
    answer = (ASSISTANT, "Changed.")
    assert [text for _, text in found(*said, written, answer)] == ["6, I'd say."]
    assert not found(*said, other, answer)


@pytest.mark.req("B.17")
def test_what_the_assistant_objects_to_is_not_decided_yet() -> None:
    said = (USER, "From now on the tests use an in-memory database.")
    assert [text for _, text in found(said, (ASSISTANT, "Noted: tests run in memory."))] == [said[1]]
    assert not found(said, (ASSISTANT, "That failed before: each connection saw its own. Shall I do it anyway?"))


EXPIRY = "Edit src/ExpiryJob.kt: +1 -1 lines: `const val EXPIRY_MONTHS = 12L` became `const val EXPIRY_MONTHS = 18L`"


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "said", ["make that eighteen from now on", "18 then, please. Legal asked for it.", "nimm ab jetzt achtzehn"]
)
def test_what_only_says_how_much_is_told_with_the_line_that_it_was_written_into(said: str) -> None:
    talk = [(USER, "how many are in there right now"), (ASSISTANT, "Twelve."), (USER, said), (TOOL, EXPIRY)]
    (finding,) = findings(*talk, (ASSISTANT, "Changed."))
    assert finding.statement == f"ExpiryJob.kt: `const val EXPIRY_MONTHS = 18L` → {said}"
    assert (finding.sources, finding.explained_by) == ((2,), (3,))


LISTED = "Where do the sessions live?\n1. Redis\n2. Postgres"


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("reply", "said", "edits", "statement"),
    [
        (LISTED, "2", ["`POOL = 5` became `POOL = 2`"], "Where do the sessions live? … Postgres → 2"),
        (
            "Set the retention?",
            "yes, 30 days",
            ["`ROWS = 3` became `ROWS = 30`"],
            "Set the retention? → yes, 30 days",
        ),
        ("Twelve.", "Points expire after eighteen months from now on.", ["`AGE = 12` became `AGE = 18`"], None),
        ("Twelve.", "always `retries=5` please, from now on", ["`WORKERS = 3` became `WORKERS = 5`"], None),
        (
            "Noted.",
            "timeout is 30 seconds from now on, always",
            ["`RETENTION_DAYS = 3` became `RETENTION_DAYS = 30`", "`TIMEOUT_S = 3` became `TIMEOUT_S = 30`"],
            None,
        ),
    ],
)  # fmt: skip
def test_what_names_its_subject_or_chooses_is_told_without_the_line(
    reply: str, said: str, edits: list[str], statement: str | None
) -> None:
    done = [(TOOL, f"Edit src/a.py: +1 -1 lines: {edit}") for edit in edits]
    (finding,) = findings((ASSISTANT, reply), (USER, said), *done, (ASSISTANT, "Changed."))
    assert finding.statement == (statement or said)


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "text",
    [
        "i run a bakery and wrote this at night, two years of php. why is it slow",
        "I'm Marta, I taught Latin for nineteen years before this. Where is the config read?",
    ],
)
def test_who_the_user_is_is_kept_though_it_is_said_on_the_way_to_a_request(text: str) -> None:
    kept = found((USER, text), (ASSISTANT, "Let me look at the code."))
    assert [kind for kind, _ in kept] == [FindingKind.USER_INFO]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("kind", "probability", "is_kept"),
    [
        (FindingKind.DEADLINE, 0.26, True),
        (FindingKind.DEADLINE, 0.2, False),
        (FindingKind.CONSTRAINT, 0.41, True),
        (FindingKind.CONSTRAINT, 0.39, False),
        (FindingKind.DECISION, 0.49, False),
    ],
)
def test_what_binds_is_kept_though_it_is_less_sure(
    monkeypatch: pytest.MonkeyPatch, kind: FindingKind, probability: float, is_kept: bool
) -> None:
    class Unsure:
        def score(self, features: object) -> float:
            return probability

        def weigh_kinds(self, features: object) -> dict[FindingKind, float]:
            return {each: 0.5 if each is kind else 0.1 for each in FindingKind}

        def choose_kind(self, features: object, besides: object = ()) -> FindingKind:
            return kind

    monkeypatch.setattr(heuristics, "load_weights", Unsure)
    said = "The pilot of the bakery starts on the third of April."
    assert (said in [text for _, text in found((USER, said), (ASSISTANT, "Noted."))]) is is_kept


@pytest.mark.parametrize(
    "text",
    [
        "I'm off to lunch, run it again.",
        "i am so glad that works",
        "Customer wrote: I am a teacher and I run three classes. answer him",
    ],
)
def test_what_the_user_is_for_the_moment_is_not_kept(text: str) -> None:
    assert not found((USER, text), (ASSISTANT, "Done."))


USERS_WORDS = [
    "Let's go with PostgreSQL instead of SQLite because writers block each other.",
    "We decided to keep the REST API and drop GraphQL.",
    "I'll use Pico CSS so that there is nothing to build.",
    "Мы решили хранить счета в PostgreSQL, потому что SQLite блокируется.",
    "I prefer composition over inheritance in this codebase.",
    "Always run the linter before you commit anything.",
    "From now on write commit messages in English.",
    "Я предпочитаю маленькие коммиты и короткие сообщения.",
    "The service must start in under two seconds.",
    "Don't touch the files under vendor/, they are generated.",
    "We have to support Python 3.9 until the end of the year.",
    "The deadline for the release is April 5, 2027.",
    "My name is Ines and I maintain the billing service.",
    "I'm a backend developer who mostly writes Go.",
    "Меня зовут Олег, я отвечаю за биллинг.",
    "I tried caching the tokens in Redis but it didn't help at all.",
    "Пробовал кэшировать в Redis, но это не помогло.",
    "Before you deploy, run `make migrate` and tell the on-call engineer.",
    "Turns out the flaky test depends on the time zone of the machine.",
    "Our staging server runs on port 8443 behind Caddy.",
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize("sentence", USERS_WORDS, ids=[text[:30] for text in USERS_WORDS])
def test_what_a_user_says_for_later_is_kept_word_for_word(sentence: str) -> None:
    assert [content for _, content in found((USER, sentence))] == [sentence]


KINDS = [
    ("decision", "We decided to keep the REST API and drop GraphQL."),
    ("constraint", "The service must start in under two seconds."),
    ("deadline", "The deadline for the release is April 5, 2027."),
    ("user_info", "My name is Ines and I maintain the billing service."),
    ("dead_end", "tried the alpine image last month, dns timeouts everywhere, went back"),
    ("procedure", "Before you deploy, run `make migrate` and tell the on-call engineer."),
]


@pytest.mark.parametrize(("kind", "sentence"), KINDS)
def test_a_statement_has_the_kind_that_its_words_tell(kind: str, sentence: str) -> None:
    assert found((USER, sentence)) == [(kind, sentence)]


NEGATIONS = [
    "no new dependencies, legal reviews every single one",
    "No more than 3 retries, the partner blocks us after that.",
    "No force pushes to main.",
    "stop using moment, we agreed on date-fns",
    "never touch `__version__.py` by hand, `_send_handling_retries` reads it",
]


@pytest.mark.parametrize("sentence", NEGATIONS)
def test_nothing_of_what_was_said_is_cut_off_or_changed(sentence: str) -> None:
    (item,) = findings((ASSISTANT, "I'd add a small helper package for that."), (USER, sentence), (ASSISTANT, "Noted."))
    assert sentence in item.content


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


def test_of_a_long_report_of_the_assistants_only_what_is_very_sure_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = "The lock is taken twice because the pool reopens the file."
    report = f"Both tests pass now. I moved the call. {cause} The docs are updated."
    monkeypatch.setattr(ScorerWeights, "score", lambda *_: 0.7)

    assert [text for _, text in found((ASSISTANT, cause))] == [cause]
    assert found((ASSISTANT, report)) == []
    monkeypatch.setattr(ScorerWeights, "score", lambda *_: 0.85)
    assert len(found((ASSISTANT, report))) == 1


def test_files_that_are_only_pointed_at_are_no_statement_however_sure_the_scorer_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ScorerWeights, "score", lambda *_: 0.9)

    assert found((USER, r"@c:\project\terminals\1.txt:406-410 @src/app.py")) == []
    assert found((USER, "And @docs/plan.md and @docs/rules.md")) == []
    assert found((USER, "@src/app.py stays as it is."))


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
    (item,) = findings(
        (USER, "We decided to drop the queue. The reason is that nobody reads it."), (ASSISTANT, "Noted.")
    )
    assert item.content == "We decided to drop the queue. The reason is that nobody reads it."


OFFER = "Three ways:\n\n1. **Redis** with a lock per tenant\n2. an advisory lock in Postgres\n3. nothing, and retry"

ANSWERS = [
    (
        "Should the tokens live in Redis or in PostgreSQL?",
        "PostgreSQL",
        "Should the tokens live in Redis or in PostgreSQL?",
    ),
    (OFFER, "2, we have no redis and get none", "an advisory lock in Postgres"),
    (OFFER, "the second. no redis here", "an advisory lock in Postgres"),
    (
        "Either (a) keep the raw bytes, or (b) normalise them on write. Which one?",
        "(b), always",
        "normalise them on write. Which one?",
    ),
]


@pytest.mark.parametrize(("offer", "answer", "about"), ANSWERS)
def test_a_short_answer_is_kept_with_what_it_answers(offer: str, answer: str, about: str) -> None:
    (item,) = findings((ASSISTANT, offer), (USER, answer))
    assert (item.content, item.about, item.sources) == (answer, about, (0, 1))
    assert item.statement == f"{about} → {answer}"


def test_a_figure_alone_is_kept_with_what_it_answers_or_not_at_all() -> None:
    offer = "What does a subscription for the season cost?"
    (item,) = findings((USER, "build the shop"), (ASSISTANT, offer), (USER, "4.99"), (ASSISTANT, "4.99 €."))
    assert (item.content, item.about) == ("4.99", offer)
    assert findings((USER, "4.99"), (ASSISTANT, "4.99 €.")) == ()


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("said", "kind", "due"),
    [
        (
            "Listen. I'm off from tomorrow until 10 April 2027. Till then Ana signs off what goes into db/migration.",
            "semantic",
            None,
        ),
        ("We have until 30 April 2027 to hand in the paper.", "deadline", "2027-04-30"),
        (
            "The upgrade has to be finished by 24 April 2027. And until 20 March 2027 we only run it with one list.",
            "deadline",
            "2027-04-24",
        ),
    ],
)
def test_what_holds_until_a_day_is_no_deadline_unless_it_may_be_missed(said: str, kind: str, due: str | None) -> None:
    (item,) = findings((USER, said), (ASSISTANT, "Noted."))
    assert (item.kind, item.due and item.due[:10]) == (kind, due)


def test_a_deadline_carries_its_day() -> None:
    (item,) = findings((USER, "The deadline for the release is April 5, 2027."), (ASSISTANT, "Noted."))
    assert item.due == "2027-04-05"


def test_a_deadline_s_day_is_not_that_of_another_sentence() -> None:
    said = "tomorrow: the api, caching, and the deploy to the pi. the demo for Marit is on 11 December 2027"
    (item,) = findings((USER, said), (ASSISTANT, "Noted."))
    assert (item.kind, item.due) == ("deadline", "2027-12-11")
    (item,) = findings((USER, "Draft due 20 November 2027. Camera ready 15 December 2027."), (ASSISTANT, "Noted."))
    assert item.due == "2027-11-20"


def test_what_the_user_was_asked_by_a_tool_is_a_decision() -> None:
    (item,) = findings((TOOL, 'Asked: "Which database should hold the tokens?" -> "PostgreSQL"'))
    assert (item.kind.value, item.statement) == ("decision", "Which database should hold the tokens? → PostgreSQL")


def test_what_is_said_twice_is_found_once_with_both_turns() -> None:
    (item,) = findings(
        (USER, "Orders are never deleted, only cancelled; the auditors insist."),
        (ASSISTANT, "Understood."),
        (USER, "Again: orders are never deleted, only cancelled; the auditors insist."),
        (ASSISTANT, "Understood."),
    )
    assert item.sources == (0, 2)


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
        assert item.content in turns[item.sources[-1]].content
        assert item.about is None or item.about in turns[item.sources[0]].content


@given(st.text(max_size=2_000))
@hypothesis_settings(max_examples=examples(100))
def test_sentences_come_out_of_any_text_word_for_word(text: str) -> None:
    for sentence in read_sentences(text):
        assert sentence.text == text[sentence.start : sentence.end] and sentence.text.strip() == sentence.text


def test_a_megabyte_without_a_full_stop_is_no_trouble() -> None:
    text = "a we decided to " * 70_000
    assert found((USER, text)) == []
    assert read_sentences("<b>" * 30_000) == []


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


@pytest.mark.parametrize(
    ("said", "other", "same"),
    [
        (Said("we use Postgres"), Said("Postgres or MySQL, which do we use? → MySQL", "MySQL"), False),
        (Said("we use MySQL"), Said("Postgres or MySQL, which do we use? → MySQL", "MySQL"), True),
        (Said("Postgres or MySQL? → Postgres", "Postgres"), Said("Postgres or MySQL? → MySQL", "MySQL"), False),
        (Said("Postgres or MySQL? → MySQL then", "MySQL then"), Said("Postgres or MySQL? → MySQL", "MySQL"), True),
        (Said("Retry 3 or 5 times? → 5", "5"), Said("Retry 3 or 5 times? → 3", "3"), False),
        (Said("Not the cache, right? → yes", "yes"), Said("Not the cache, right? → no", "no"), False),
        (Said("Not the cache, right? → yes", "yes"), Said("Not the cache, right? → yes", "yes"), True),
    ],
)
def test_an_answer_repeats_another_only_if_it_gives_the_same_answer(said: Said, other: Said, same: bool) -> None:
    assert repeats(said, other) is same


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


def test_code_between_two_sentences_parts_them() -> None:
    text = "We decided to keep the REST API.\n\n```\nx = 1\n```\n\nFrom now on write commit messages in English."
    assert all("x = 1" not in content for _, content in found((USER, text)))


def test_what_the_assistant_found_out_is_looked_at_again_with_the_answer_to_it() -> None:
    said = "I kept the pool at 5 connections because the database allows 20 in all."
    earlier = [turn(0, USER, "the export is slow, find out why"), turn(1, ASSISTANT, said)]
    answer = turn(2, USER, "that explains it, good catch!")
    assert [(item.content, item.sources) for item in extract([answer], earlier).findings] == [(said, (1,))]
    assert extract([turn(2, ASSISTANT, "Done.")], earlier).findings == ()


def test_what_is_not_sure_enough_is_yielded_only_as_tentative(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [turn(0, USER, "The release deadline moved, it is April 25 now.")]
    (sure,) = extract(turns, tentative=True).findings
    monkeypatch.setattr(heuristics, "KEEP_UNANSWERED", 1.0)
    assert extract(turns).findings == ()
    (unsure,) = extract(turns, tentative=True).findings
    assert (sure.is_tentative, unsure.is_tentative) == (False, True)
    assert unsure.content == sure.content


def test_what_is_less_sure_still_is_only_said_in_passing(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [turn(0, USER, "The release deadline moved, it is April 25 now.")]
    monkeypatch.setattr(heuristics, "KEEP_UNANSWERED", 1.0)
    (unsure,) = extract(turns, tentative=True).findings
    monkeypatch.setattr(heuristics, "TENTATIVE", 1.0)
    (passing,) = extract(turns, tentative=True).findings
    assert (unsure.is_passing, passing.is_passing, passing.is_tentative) == (False, True, True)


def test_what_is_less_sure_joins_no_surer_statement_that_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*sure: bool) -> list[tuple[bool, tuple[int, ...]]]:
        kinds = iter(sure)
        yielded = [
            ExtractedFinding(
                kind=FindingKind.DECISION, content="Orders are never deleted", sources=(seq,), is_tentative=not kept
            )
            for seq, kept in enumerate(kinds)
        ]
        monkeypatch.setattr(heuristics, "extract_findings", lambda *_, **__: iter(yielded))
        return [(item.is_tentative, item.sources) for item in extract([], tentative=True).findings]

    assert found(True, False) == [(False, (0,)), (True, (1,))]
    assert found(False, True) == [(True, (0,)), (False, (1,))]
    assert found(True, False, True, False) == [(False, (0, 2)), (True, (1, 3))]


def test_two_answers_in_the_same_words_are_two_where_they_answer_different_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yielded = [
        ExtractedFinding(kind=FindingKind.DECISION, content="as environment variables", about=about, sources=(seq,))
        for seq, about in enumerate(
            ["How do the workers get the tokens?", "Where does the port of the proxy come from?"]
        )
    ]
    monkeypatch.setattr(heuristics, "extract_findings", lambda *_, **__: iter(yielded))
    assert [item.sources for item in extract([]).findings] == [(0,), (1,)]


def test_a_mere_question_is_not_even_tentative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics, "KEEP_UNANSWERED", 1.0)
    assert extract([turn(0, USER, "Is the release deadline April 25 now?")], tentative=True).findings == ()


def test_a_fact_that_is_not_sure_enough_is_yielded_as_tentative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics, "KEEP_FACT", 1.0)
    said = [turn(0, USER, "The staging database is called harbour_staging.")]
    assert extract(said).findings == ()
    (finding,) = extract(said, tentative=True).findings
    assert finding.is_tentative


def test_signs_in_code_tell_nothing_of_the_sentence_around_it() -> None:
    assert "!" not in split_words("the line `#![warn(missing_docs)]` stands on top")
    assert split_words("at `12:30`, on top!") == ["at", "`", "#", "`", "on", "top", "!"]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("asked", "explained", "then"),
    [
        (
            "how do i make my list of orders faster in django, it is one query per row",
            "The N+1 problem occurs because the ORM loads each related customer lazily. You must call `select_related` "
            "for foreign keys, since it joins them in one statement. Never call `.count()` inside a template loop.",
            "great, thanks! and what about pagination?",
        ),
        (
            "I get CORS errors when I call my API from the React app on port 3000",
            "The cause is that the browser blocks cross-origin responses without `Access-Control-Allow-Origin`. "
            "The fix is to add the `cors` middleware before your routes. Never use `*` together with credentials.",
            "where exactly do I put it?",
        ),
        (
            "Explain p-values to me like I'm a biologist",
            "The p-value is the probability of data at least as extreme, given that the null hypothesis is true. You "
            "must never read it as the probability that the hypothesis is wrong.",
            "and what's a confidence interval then?",
        ),
    ],
)
def test_what_an_assistant_explains_is_no_finding_however_sure_it_sounds(asked: str, explained: str, then: str) -> None:
    views = [
        TurnView(0, turn_view.USER, asked),
        TurnView(1, turn_view.ASSISTANT, explained),
        TurnView(2, turn_view.USER, then),
    ]
    assert [finding.content for finding in extract_findings(views) if 1 in finding.sources] == []
