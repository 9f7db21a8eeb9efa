"""Assembling a context within its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.search import Hit, HitSource
from hyperloci.retrieval.context_assembly import ContextLine, arrange_hits, assemble_context
from hyperloci.text.tokens import count_tokens
from tests.support import examples

ENTITIES = [ContextLine(f"entity-{number}", f"- [tool] name {number}: " + "word " * 30) for number in range(20)]
KINDS = ("fact", "decision", "entity", "experience", "snippet")


def hit(number: int, kind: str = "fact", content: str = "some words to remember", score: float = 0.9) -> Hit:
    return Hit(
        id=f"id-{number}", type=kind, subtype=None, content=content, score=score, confidence=1.0, tier="task",
        scope="global", created_at="2027-01-15T08:00:00.000+00:00", valid_from="2026-11-03T09:00:00.000+00:00",
        valid_until=None,
        source=HitSource(kind="tool"),
    )  # fmt: skip


@pytest.mark.req("B.09")
@given(
    hits=st.lists(
        st.tuples(st.sampled_from(KINDS), st.text("abc xyz", min_size=1, max_size=400), st.floats(0, 1)), max_size=30
    ),
    budget=st.integers(100, 2_000),
)
@settings(max_examples=examples(60))
def test_a_context_never_costs_more_than_its_budget(hits: list[tuple[str, str, float]], budget: int) -> None:
    context = assemble_context("q", arrange_hits([hit(number, *values) for number, values in enumerate(hits)]), budget)

    assert context.tokens == count_tokens(context.markdown) <= budget
    assert len(set(context.sources)) == len(context.sources)


@pytest.mark.req("B.09")
def test_facts_get_two_fifths_when_everything_is_scarce() -> None:
    hits = [hit(number, KINDS[number % 5], f"memory number {number} " + "word " * 30) for number in range(100)]

    context = assemble_context("q", arrange_hits(hits, ENTITIES), 2_000)

    shares = {section.title: section.tokens / 2_000 for section in context.sections}
    assert shares["Facts and decisions"] == pytest.approx(0.4, abs=0.05)
    assert shares["Entities"] == pytest.approx(0.25, abs=0.05)


def test_what_one_share_leaves_another_may_use() -> None:
    hits = [hit(number, "experience", f"turn {number} " + "word " * 30) for number in range(50)]

    context = assemble_context("q", arrange_hits(hits), 1_000)

    assert context.tokens > 800


def test_the_summary_of_a_conversation_is_read_as_what_happened() -> None:
    summary = replace(hit(1, "snippet", "They measured the queue"), subtype="chunk_macro")

    context = assemble_context("q", arrange_hits([summary, hit(2, "snippet", "def measure(queue)")]), 1_000)

    assert [section.title for section in context.sections if section.tokens] == [
        assemble_context("q", arrange_hits([hit(1, "experience")]), 1_000).sections[0].title,
        assemble_context("q", arrange_hits([hit(1, "snippet")]), 1_000).sections[0].title,
    ]


@pytest.mark.req("B.09")
@pytest.mark.parametrize("kind", ["fact", "experience", "snippet"])
def test_what_is_too_long_for_the_budget_is_told_of_with_the_budget_that_it_needs(kind: str) -> None:
    parts = arrange_hits([hit(1, kind, "word " * 200), hit(2, kind, "word " * 250)])

    context = assemble_context("q", parts, 100)

    assert "2 relevant memories found; none fits into 100 tokens" in context.markdown
    assert context.tokens == count_tokens(context.markdown) <= 100
    assert context.sources == ()
    assert context.sections == ()
    needed = int(context.markdown.rsplit(maxsplit=3)[1])
    assert assemble_context("q", parts, needed).sources == ("id-1",)
    assert "none fits" in assemble_context("q", parts, needed - 1).markdown


def test_what_is_too_long_for_the_budget_and_in_two_parts_is_counted_once() -> None:
    parts = arrange_hits([hit(1, "fact", "word " * 200)])

    assert "1 relevant memory found; none fits" in assemble_context("q", [*parts, *parts], 100).markdown


def test_a_long_memory_is_cut_with_its_id_beside_it() -> None:
    context = assemble_context("q", arrange_hits([hit(1, content="word " * 2_000)]), 2_000)

    assert "…" in context.markdown and "id-1" in context.markdown


@pytest.mark.req("B.09")
def test_a_memory_is_dated_by_when_it_was_so_not_by_when_it_was_stored() -> None:
    assert "(id id-1; tool, 2026-11-03)" in assemble_context("q", arrange_hits([hit(1)]), 500).markdown


def test_a_memory_of_a_context_shows_the_day_that_the_user_would_name(stand_in_zone: Callable[[str], None]) -> None:
    late = replace(hit(1), valid_from="2026-11-19T07:40:00.000+00:00")
    stand_in_zone("PST8")
    assert "tool, 2026-11-18" in assemble_context("q", arrange_hits([late]), 1_000).markdown
