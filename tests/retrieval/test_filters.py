"""From a caller's words to conditions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.retrieval.filters import CONTENT_TYPES, WHERE_KEYS, build_conditions
from tests.support import NOW, examples

PROJECT = "project:1"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_a_search_looks_in_the_project_and_what_is_global() -> None:
    assert build_conditions(project=PROJECT, now=NOW).where.scopes == (PROJECT, GLOBAL_SCOPE)


@pytest.mark.parametrize(
    ("scope", "scopes"), [("project", (PROJECT, GLOBAL_SCOPE)), ("global", (GLOBAL_SCOPE,)), ("all", ())]
)
def test_a_scope_may_be_chosen(scope: str, scopes: tuple[str, ...]) -> None:
    assert build_conditions(project=PROJECT, now=NOW, where={"scope": scope}).where.scopes == scopes


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_every_content_type_becomes_conditions(content_type: str) -> None:
    where = build_conditions(project=PROJECT, now=NOW, content_type=content_type).where

    assert (content_type == "any") == (not where.types and not where.subtypes)


@pytest.mark.parametrize(
    ("content_type", "where", "types", "subtypes"),
    [
        ("learning", {"subtypes": ["constraint"]}, ("fact",), ("constraint",)),
        ("learning", {"types": []}, ("fact",), ()),
        ("docs", {"subtypes": ["code", "section"]}, (), ("section",)),
        ("decision", {"types": ["fact", "decision"]}, ("decision",), ("decision",)),
        ("any", {"types": ["decision"], "subtypes": ["commit"]}, ("decision",), ("commit",)),
    ],
)
def test_of_a_content_type_and_kinds_both_hold(
    content_type: str, where: dict[str, Any], types: tuple[str, ...], subtypes: tuple[str, ...]
) -> None:
    found = build_conditions(project=PROJECT, now=NOW, content_type=content_type, where=where).where

    assert (found.types, found.subtypes) == (types, subtypes)


@pytest.mark.parametrize(
    ("content_type", "where"),
    [
        ("learning", {"types": ["decision"]}),
        ("docs", {"subtypes": ["code"]}),
        ("code", {"types": ["fact"]}),
        ("any", {"types": ["fact"], "subtypes": ["code"]}),
    ],
)
def test_kinds_that_no_memory_has_at_once_are_refused(content_type: str, where: dict[str, Any]) -> None:
    with pytest.raises(BadRequestError, match=r"^where\..*no memory is both"):
        build_conditions(project=PROJECT, now=NOW, content_type=content_type, where=where)


@pytest.mark.req("B.07")
def test_time_bounds_are_read_as_people_write_them() -> None:
    where = build_conditions(project=PROJECT, now=NOW, after="2 days ago", before="2027-01-15").where

    assert where.after == NOW - 2 * 86_400_000
    assert where.before == NOW - NOW % 86_400_000


@pytest.mark.req("D.01")
@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("./docs/**", "docs/**"),
        ("././/docs", "docs"),
        (".", "**"),
        ("./", "**"),
        (".github/**", ".github/**"),
        ("docs/./a", "docs/./a"),
        ("../docs", "../docs"),
    ],
)
def test_a_path_may_begin_as_a_shell_writes_it(written: str, path: str) -> None:
    assert build_conditions(project=PROJECT, now=NOW, where={"path": written}).where.path == path


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(BadRequestError, match="after='2026-11-28' is not earlier than before='2020-01-01'"):
        build_conditions(project=PROJECT, now=NOW, after="2026-11-28", before="2020-01-01")


@pytest.mark.parametrize("where", [{"relation": "calls"}, {"depth": 2}, {"relation": "any", "depth": 3}])
def test_a_relation_from_nowhere_is_refused_not_passed_over(where: dict[str, Any]) -> None:
    with pytest.raises(BadRequestError, match=r"needs a memory to start from: give where\.related_to"):
        build_conditions(project=PROJECT, now=NOW, where=where)


def test_a_relation_from_nowhere_that_asks_nothing_is_passed_over() -> None:
    where = {"relation": "any", "depth": 1}

    assert build_conditions(project=PROJECT, now=NOW, where=where) == build_conditions(project=PROJECT, now=NOW)


def test_relations_become_a_walk_and_strategies_are_passed_on() -> None:
    conditions = build_conditions(
        project=PROJECT, now=NOW, where={"related_to": "abc", "relation": "causes", "depth": 2, "strategy": "e1_only"}
    )

    assert conditions.related_to is not None
    assert (conditions.related_to.node_id, conditions.related_to.relation, conditions.related_to.depth) == (
        "abc",
        "causes",
        2,
    )
    assert conditions.strategy == "e1_only"


@given(where=st.dictionaries(st.sampled_from(WHERE_KEYS) | st.text(max_size=10), json_values, max_size=4))
@settings(max_examples=examples(200))
def test_any_object_is_understood_or_refused_with_words(where: dict[str, object]) -> None:
    try:
        build_conditions(project=PROJECT, now=NOW, where=where)
    except BadRequestError as error:
        assert "where" in str(error)


def test_conditions_that_are_no_object_are_refused() -> None:
    with pytest.raises(BadRequestError, match="must be an object"):
        build_conditions(project=PROJECT, now=NOW, where=["types"])  # type: ignore[arg-type]
    assert build_conditions(project=PROJECT, now=NOW, where={"lines": [3, 3]}).where.lines == (3, 3)


@pytest.mark.parametrize(
    "where",
    [
        {"lines": [1, 10**30]},
        {"lines": [0, 3]},
        {"lines": [3, 2]},
        {"lines": [1, "2"]},
        {"lines": [True, 2]},
        {"domain_tags": ["a"] * 51},
        {"types": ["fact"] * 51},
    ],
)
def test_what_the_database_could_not_take_is_refused_before(where: dict[str, object]) -> None:
    with pytest.raises(BadRequestError, match=f"where.{next(iter(where))}"):
        build_conditions(project=PROJECT, now=NOW, where=where)


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ({"diataxis": "tutorail"}, "did you mean tutorial?"),
        ({"persona": "experts"}, "did you mean expert?"),
        ({"verification": ["verfied"]}, "did you mean verified?"),
        ({"confidence_level": "hi"}, "use high, low, moderate, uncertain"),
        ({"source_types": ["doc"]}, "did you mean docs?"),
        ({"section_contains": "x"}, "where.section"),
    ],
)
def test_a_value_that_no_facet_has_is_an_error_with_the_right_one(where: dict[str, Any], meant: str) -> None:
    with pytest.raises(BadRequestError) as raised:
        build_conditions(project="p", now=0, where=where)
    assert meant in str(raised.value)


def test_every_key_that_the_documents_have_is_told_what_it_is_called() -> None:
    where = {"file_pattern": "docs/**", "section_contains": "Design"}
    with pytest.raises(BadRequestError, match=r"'file_pattern' is .*; 'section_contains' is .*; it may have") as raised:
        build_conditions(project=PROJECT, now=NOW, where=where)
    assert "where.section" in str(raised.value)
