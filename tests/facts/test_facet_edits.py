"""Facets through the façade: told as memories are written, corrected by hand, found together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.model.search import SearchFilter
from hyperloci.store.search.filters import compile_where
from tests.support import FakeClock


@pytest.fixture
def memory(settings: Settings, tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "cache.md").write_text(
        "# Caching\n\nWords about the cache and what it is there for. " + "It is a good thing to have. " * 5 + "\n\n"
        "## Tutorial\n\nIn this lesson you will learn about the cache, step by step. " + "Look here. " * 12 + "\n\n"
        "## API reference\n\nThe cache takes parameters and returns values. " + "All of them. " * 12 + "\n"
    )
    (root / "cache.py").write_text("def cache_value(x):\n    return x\n")
    with Memory.open(settings, root, clock=clock) as opened:
        opened.index_path()
        yield opened


def found(memory: Memory, **where: object) -> list[str]:
    return sorted(hit.content.splitlines()[0] for hit in memory.search("cache", where=where, limit=20).results)


@pytest.mark.req("D.07")
def test_facets_are_told_as_files_are_indexed(memory: Memory) -> None:
    assert found(memory, diataxis="tutorial") == ["## Tutorial"]
    assert found(memory, diataxis="reference") == ["## API reference"]


@pytest.mark.req("D.07")
def test_the_source_types_that_are_given_are_applied(memory: Memory) -> None:
    memory.remember_fact("The cache holds 100 entries.")
    assert found(memory, source_types=["code"]) == ["def cache_value(x):"]
    assert found(memory, source_types=["fact"]) == ["The cache holds 100 entries."]
    assert len(found(memory, source_types=["docs", "fact"])) > len(found(memory, source_types=["docs"]))
    assert found(memory, source_types=["external"]) == []


@pytest.mark.req("D.07")
def test_all_facets_that_are_given_must_match(memory: Memory) -> None:
    assert found(memory, diataxis="tutorial", source_types=["docs"]) == ["## Tutorial"]
    assert found(memory, diataxis="tutorial", source_types=["code"]) == []
    assert found(memory, diataxis="tutorial", domain_tags=["performance"]) == ["## Tutorial"]
    assert found(memory, diataxis="tutorial", domain_tags=["performance", "git"]) == []


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("where", "index"),
    [
        (SearchFilter(diataxis="tutorial"), "idx_facets_diataxis"),
        (SearchFilter(persona="expert"), "idx_facets_persona"),
        (SearchFilter(verification=("verified",)), "idx_facets_verification"),
        (SearchFilter(source_types=("code",)), "idx_facets_source"),
    ],
)
def test_facets_are_found_by_index(memory: Memory, where: SearchFilter, index: str) -> None:
    condition, values = compile_where(where)
    plan = memory.store.connection.execute(f"EXPLAIN QUERY PLAN SELECT n.key FROM nodes n WHERE {condition}", values)
    assert any(index in row["detail"] for row in plan.fetchall())


@pytest.mark.req("D.07")
def test_what_was_corrected_by_hand_stays_when_the_text_changes(memory: Memory) -> None:
    (hit,) = memory.search("lesson", where={"diataxis": "tutorial"}).results
    after = memory.set_facets(hit.id, {"diataxis": "explanation", "domain_tags": "Cache, teaching"})
    assert (after["diataxis"], after["domain_tags"]) == ("explanation", ["cache", "teaching"])
    file = Path(memory.project.root) / "docs" / "cache.md"
    file.write_text(file.read_text().replace("step by step", "step by step and with pytest tests"))
    memory.index_path()
    again = memory.get_facets(hit.id)
    assert (again["diataxis"], again["domain_tags"]) == ("explanation", ["cache", "teaching"])
    assert any(line.operation == "facets" for line in memory.explain_fact(hit.id).log)


@pytest.mark.req("D.07")
def test_what_became_of_a_fact_shows_in_its_verification(memory: Memory) -> None:
    fact = memory.remember_fact("The cache holds 100 entries.")
    assert memory.get_facets(fact.id)["verification"] == "unverified"
    memory.confirm_fact(fact.id)
    assert memory.get_facets(fact.id)["verification"] == "verified"
    memory.correct_fact(fact.id, "The cache holds 200 entries.")
    assert memory.get_facets(fact.id)["verification"] == "outdated"


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "No facet is given"),
        ({"colour": "red"}, "facet 'colour' is unknown"),
        ({"diataxis": "poem"}, "diataxis='poem' is unknown: use one of tutorial"),
        ({"authority": "2"}, "authority='2' must be a number from 0 to 1"),
        ({"time_sensitive": "perhaps"}, "must be true or false"),
        ({"domain_tags": ["x" * 50]}, "at most 20 words"),
    ],
)
def test_a_facet_that_cannot_be_is_refused_in_words(memory: Memory, values: dict[str, object], message: str) -> None:
    fact = memory.remember_fact("The cache holds 100 entries.")
    with pytest.raises(BadRequestError, match=message):
        memory.set_facets(fact.id, values)


@pytest.mark.req("B.14")
def test_what_was_true_at_a_time_is_found_as_of_then(memory: Memory, clock: FakeClock) -> None:
    old = memory.remember_fact("The cache holds 100 entries.")
    then = clock()
    clock.advance(86_400_000)
    memory.correct_fact(old.id, "The cache holds 200 entries.")
    kind = {"types": ["fact"]}
    now_true = [hit.content for hit in memory.search("cache entries", where=kind).results]
    assert then == 1_800_000_000_000
    assert now_true == ["The cache holds 200 entries."]
    for time in ("2027-01-15T08:00:01", "2027-01-15"):
        then_true = memory.search("cache entries", where={**kind, "as_of": time}).results
        assert [hit.content for hit in then_true] == ["The cache holds 100 entries."]
