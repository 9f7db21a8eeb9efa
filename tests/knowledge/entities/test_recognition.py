"""Which things a text names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.entities.recognition import MAX_NAMES, extract_entities
from hyperloci.model.kinds import EntityKind
from hyperloci.store.memories.entities import squash_name
from tests.support import examples


def named(text: str, **more: str) -> dict[str, str]:
    return {found.name: str(found.kind) for found in extract_entities(text, **more)}


@pytest.mark.req("B.10")
@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Anna owns the billing part.", "Anna", EntityKind.PERSON),
        ("We asked Jane Doe about it.", "Jane Doe", EntityKind.PERSON),
        ("My name is Ivan Petrov.", "Ivan Petrov", EntityKind.PERSON),
        ("Fix it\n\nCo-authored-by: Xu Wei <xu@example.org>", "Xu Wei", EntityKind.PERSON),
        ("see https://github.com/anthropics/claude-code for it", "claude-code", EntityKind.PROJECT),
        ("see https://github.com/anthropics/claude-code for it", "anthropics", EntityKind.ORGANIZATION),
        ("She works at Acme Corp now.", "Acme Corp", EntityKind.ORGANIZATION),
        ("The servers are in Berlin.", "Berlin", EntityKind.PLACE),
        ("Our customers are in the USA.", "United States", EntityKind.PLACE),
        ("It runs on postgres and docker compose.", "PostgreSQL", EntityKind.TOOL),
        ("It runs on postgres and docker compose.", "Docker Compose", EntityKind.TOOL),
        ("Run `pip install httpx` first", "httpx", EntityKind.TOOL),
        ("Go is fast.", "Go", EntityKind.TOOL),
        ("The BillingService depends on it.", "BillingService", EntityKind.CONCEPT),
        ("call remember_fact before", "remember_fact", EntityKind.CONCEPT),
        ("`Memory.search` is slow", "Memory.search", EntityKind.CONCEPT),
        ("written in docs/why.md, I think", "docs/why.md", EntityKind.CONCEPT),
        ("see [it](../run/asgi.md) for that", "run/asgi.md", EntityKind.CONCEPT),
        ("fused by RRF with k = 60", "RRF", EntityKind.CONCEPT),
        ("Later the Hyperloci server stopped.", "Hyperloci", EntityKind.CONCEPT),
        ("Спросили Ивана и Анна сказала да", "Анна", EntityKind.PERSON),
    ],
)
def test_what_a_text_names_is_found_with_its_type(text: str, name: str, kind: EntityKind) -> None:
    assert named(text).get(name) == kind


@pytest.mark.req("B.10")
@pytest.mark.parametrize(
    "text",
    [
        "Make sure to go to the store.",
        "You MUST NOT do that. NEVER.",
        "# Getting Started",
        "The quick brown fox. It was nice. When did that happen?",
        "Spring is here, and the grass is green.",
        "On Monday in May we will see.",
        "We ship it on Fridays and on Thu mornings.",
        "for i in range(10): pass",
        "Der Cache bleibt, d.h. wir warten auf Frau Dr. Meier.",
        "we wait for Mrs. Jones, i.e. the board",
        "el cliente usa dos monedas, ela usa uma, lui usa la terza",
        "`self`, `None` and `args`",
        "I'd say it's fine; that's what I've heard.",
        "[REDACTED] and [private] parts",
        "",
    ],
)
def test_what_is_no_name_is_left_alone(text: str) -> None:
    assert named(text) == {}


@pytest.mark.req("B.10")
def test_the_longest_name_at_a_place_counts() -> None:
    assert list(named("We use Claude Code and VS Code.")) == ["Claude Code", "VS Code"]


@pytest.mark.req("B.10")
def test_code_in_fences_is_passed_over() -> None:
    assert named("Do this:\n\n```python\nclass AuthService: pass\n```\n") == {}


@pytest.mark.req("B.10")
def test_an_author_comes_first() -> None:
    assert next(iter(named("Fix the parser for SQLite", author="Ada Lovelace"))) == "Ada Lovelace"


def test_a_plain_word_in_code_is_only_linked_to_what_is_known() -> None:
    (found,) = extract_entities("the `limit` is five")
    assert (found.name, found.sure) == ("limit", False)


def test_a_list_of_a_hundred_identifiers_is_cut() -> None:
    assert len(extract_entities(" ".join(f"name_{n}_x" for n in range(100)))) == MAX_NAMES


@settings(max_examples=examples(80))
@given(st.text(max_size=300))
def test_any_text_is_read_and_each_name_stands_in_it_once(text: str) -> None:
    found = [squash_name(one.name) for one in extract_entities(text)]
    assert len(found) == len(set(found)) and all(found)


@pytest.mark.parametrize(
    "text",
    [
        "Then we looked at Unused imports and Regularly updated pins.",
        "We saw the Storage fill up at 8 kHz and 4 GiB.",
        "See Relationship Loading Styles for more, IN NO EVENT SHALL THE AUTHORS be liable.",
        "They wrote Decoding with a capital; the decoding is slow.",
    ],
)
def test_words_of_the_language_name_nothing_though_they_bear_a_capital(text: str) -> None:
    assert not [each.name for each in extract_entities(text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We measured it with Perfetto last week.", "Perfetto"),
        ("Since then Karpenter's nodes stay.", "Karpenter"),
        ("the transitions of Framer Motion are smooth", "Framer Motion"),
    ],
)
def test_a_word_that_stands_where_names_do_is_one(text: str, name: str) -> None:
    assert name in [each.name for each in extract_entities(text)]


def test_a_given_name_before_a_number_is_no_person() -> None:
    assert EntityKind.PERSON not in [each.kind for each in extract_entities("We run it with Claude Fable 5 now.")]


@pytest.mark.req("B.10")
def test_the_key_of_a_trailer_is_no_thing() -> None:
    text = (
        "Pool connections\n\nSigned-off-by: Ada Lovelace <ada@example.org>\nReviewed-by: Grace Hopper <g@example.org>"
    )

    assert [entity.name for entity in extract_entities(text)] == ["Ada Lovelace", "Grace Hopper"]
