"""Conditions on memories: each by itself, together, under attack; and the bitmaps that are kept."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from wcmatch import glob

from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.search.filters import MAX_KEPT, MAX_PATTERN_CHARS, Filters, compile_where, path_matches
from hyperloci.store.vectors import bits
from tests.support import NOW, SHARED_FIXTURE, add, examples

FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX


def found(store: Store, **conditions: Any) -> set[int]:
    bitmap = store.filters.select_allowed(SearchFilter(**conditions))
    assert bitmap.dtype == np.bool_
    return {int(key) for key in np.flatnonzero(bitmap)}


def facets(store: Store, key: NodeKey, **values: object) -> None:
    with store.transaction():
        store.connection.execute("INSERT INTO facets(node_key) VALUES (?)", (key,))
        for name, value in values.items():
            store.connection.execute(f"UPDATE facets SET {name} = ? WHERE node_key = ?", (value, key))


def test_without_conditions_everything_that_lives_is_found(store: Store) -> None:
    assert found(store) == set()
    keys = {add(store, f"{number}").key for number in range(3)}
    assert found(store) == keys
    with store.transaction():
        store.nodes.delete_node(store.nodes.query_nodes()[0].id, now=NOW)
    assert found(store) == keys - {3}


@pytest.mark.req("D.07", "D.08")
@pytest.mark.parametrize(
    ("condition", "value", "yes", "no"),
    [
        ("types", ("fact", "decision"), {"type": NodeType.DECISION}, {"type": NodeType.SNIPPET}),
        ("subtypes", ("insight",), {"subtype": "insight"}, {"subtype": "opinion"}),
        ("subtypes", ("insight",), {"subtype": "insight"}, {}),
        ("tiers", ("session", "longterm"), {"tier": Tier.SESSION}, {"tier": Tier.TASK}),
        ("origins", ("commit",), {"origin": Origin.COMMIT}, {"origin": Origin.TOOL}),
        ("scopes", ("p", "q", "unknown"), {"scope": "q"}, {"scope": "global"}),
        ("after", NOW, {"event_time": NOW}, {"event_time": NOW - 1}),
        ("before", NOW, {"event_time": NOW - 1}, {"event_time": NOW}),
        ("min_confidence", 0.5, {"confidence": 0.5}, {"confidence": 0.4999}),
        ("as_of", NOW, {"valid_from": NOW}, {"valid_from": NOW + 1}),
    ],
)
def test_a_condition_lets_through_what_meets_it(
    store: Store, condition: str, value: Any, yes: dict[str, Any], no: dict[str, Any]
) -> None:
    wanted, other = add(store, "yes", **yes), add(store, "no", **no)
    assert found(store, **{condition: value}) == {wanted.key}
    assert other.key in found(store)


@pytest.mark.req("D.01")
@pytest.mark.parametrize(
    ("condition", "value", "yes", "no"),
    [
        ("path", "src/**/*.py", {"path": "src/a/b.py"}, {"path": "src/a/b.md"}),
        ("path", "src", {"path": "src/a/b.py"}, {"path": "src2/a.py"}),
        ("path", "src/", {"path": "src/a.py"}, {"path": "lib/src/a.py"}),
        ("path", "src/a.py", {"path": "src/a.py"}, {"path": "src/a.pyi"}),
        ("path", "**/{a,b}.py", {"path": "x/b.py"}, {"path": "x/c.py"}),
        ("path", "[ab].py", {"path": "b.py"}, {"path": "c.py"}),
        ("path", "**", {"path": ".hidden/x"}, {}),
        ("path", "Ä/*", {"path": "Ä/ß"}, {"path": "A/s"}),
        ("lines", (5, 9), {"line_start": 1, "line_end": 5}, {"line_start": 1, "line_end": 4}),
        ("lines", (5, 9), {"line_start": 9, "line_end": 20}, {"line_start": 10, "line_end": 20}),
        ("lines", (5, 9), {"line_start": 1, "line_end": 99}, {}),
        ("lines", (7, 7), {"line_start": 7, "line_end": 7}, {"line_start": 8, "line_end": 8}),
        ("section", " INSTALLATION", {"section_path": ("Guide", "Installation")}, {"section_path": ("Install",)}),
        ("section", "übersicht", {"section_path": ("ÜBERSICHT", "x")}, {"section_path": ()}),
        ("section", "Часто  задаваемые", {"section_path": ("часто задаваемые",)}, {"section_path": ("часто",)}),
        ("section", "limit", {"section_path": ("Guide", "Known limitations")}, {"section_path": ("Guide",)}),
        ("section", "faq", {"section_path": ("Guide",), "headings": ("Usage", "FAQ")}, {"headings": ("Usage",)}),
        ("section", "design > cach", {"section_path": ("Design", "Caching")}, {"section_path": ("Caching", "Design")}),
        (
            "section",
            "design > limit",
            {"section_path": ("Design",), "headings": ("Caching", "Limitations")},
            {"section_path": ("Guide",), "headings": ("Limitations", "Design")},
        ),
        (
            "section",
            "design > limit",
            {"section_path": ("Design", "Data Flow"), "headings": ("Limitations",)},
            {"section_path": ("Limitations",), "headings": ("Design",)},
        ),
        (
            "section",
            "sign > caching > red",
            {"section_path": ("Design",), "headings": ("Limits", "Caching", "Redis")},
            {"section_path": ("Design",), "headings": ("Caching (old)", "Redis")},
        ),
        ("section", "a > c", {"section_path": ("A", "B"), "headings": ("C",)}, {"section_path": ("A", "B", "C")}),
        (
            "section",
            "faq > usage",
            {"section_path": ("G",), "headings": ("FAQ", "Usage")},
            {"section_path": ("G", "Usage"), "headings": ("FAQ",)},
        ),
        ("section", 'say "hi"', {"section_path": ('Say "hi" twice',)}, {"section_path": ("say hi",)}),
        ("heading_level_max", 2, {"heading_level": 2}, {"heading_level": 3}),
        ("heading_level_max", 2, {"heading_level": 1}, {}),
        ("module", "app.core", {"module": "app.core"}, {"module": "app.corex"}),
        ("module", "app.core.", {"module": "app.core.db"}, {"module": "app"}),
        ("module", "a_b", {"module": "a_b.c"}, {"module": "axb.c"}),
        ("class_name", "C", {"class_name": "C"}, {"class_name": "c"}),
        ("function_name", "f", {"function_name": "f"}, {"function_name": "g"}),
        ("function_name", "C.f", {"function_name": "f", "symbol": "C.f"}, {"function_name": "f", "symbol": "D.f"}),
        ("function_name", "C", {"function_name": "C"}, {"class_name": "C", "symbol": "C"}),
        ("url", "https://x/y", {"url": "https://x/y/z"}, {"url": "https://x/z"}),
        ("url", "Docs.Python.org", {"url": "https://docs.python.org/3/"}, {}),
    ],
)
def test_a_place_is_asked_for_in_any_way_it_is_known(
    store: Store, condition: str, value: Any, yes: dict[str, Any], no: dict[str, Any]
) -> None:
    wanted = add(store, "yes", position=Position(**yes))
    add(store, "no", position=Position(**no))
    add(store, "nowhere")
    assert found(store, **{condition: value}) == {wanted.key}


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("condition", "value", "column", "yes", "no"),
    [
        ("diataxis", "tutorial", "diataxis", "tutorial", "reference"),
        ("persona", "operator", "persona", "operator", None),
        ("confidence_level", "high", "confidence_level", "high", "low"),
        ("verification", ("tested", "reviewed"), "verification", "reviewed", "none"),
        ("source_types", ("official",), "source_type", "official", "blog"),
    ],
)
def test_facets_are_asked_for(store: Store, condition: str, value: Any, column: str, yes: object, no: object) -> None:
    wanted, other, _ = (add(store, name) for name in ("yes", "no", "without"))
    facets(store, wanted.key, **{column: yes})
    facets(store, other.key, **{column: no})
    assert found(store, **{condition: value}) == {wanted.key}


@pytest.mark.req("D.07")
def test_all_domain_tags_must_be_there(store: Store) -> None:
    both, one = add(store, "both"), add(store, "one")
    with store.transaction():
        store.connection.executemany(
            "INSERT INTO domain_tags(tag, node_key) VALUES (?, ?)",
            [("sql", both.key), ("web", both.key), ("sql", one.key)],
        )
    assert found(store, domain_tags=("SQL",)) == {both.key, one.key}
    assert found(store, domain_tags=("sql", "Web")) == {both.key}
    assert found(store, domain_tags=("sql", "rust")) == set()


def test_memories_are_asked_for_by_session(store: Store) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s", store.scopes.ensure_scope("p", now=NOW), now=NOW)
    said = add(store, "said", session_key=session.key)
    add(store, "elsewhere")
    assert found(store, session_id="s") == {said.key}
    assert found(store, session_id="unknown") == set()


@pytest.mark.req("B.10")
def test_memories_are_asked_for_by_any_name_of_an_entity(store: Store) -> None:
    thing, speaks, _ = add(store, "NYC", type=NodeType.ENTITY, subtype="place"), add(store, "speaks"), add(store)
    with store.transaction():
        store.entities.register_entity(thing.key, "New  York", now=NOW)
        store.entities.add_alias(thing.key, "STRASSE")
        store.entities.add_mention(speaks.key, thing.key, now=NOW)
    for name in ("new york", " New  York ", "straße"):
        assert found(store, entity=name) == {speaks.key}
    assert found(store, entity="york") == set()


@pytest.mark.req("B.14")
def test_what_was_true_at_a_time_is_asked_for_instead_of_what_is(store: Store) -> None:
    old, new = (add(store, name, valid_from=NOW + start) for name, start in (("old", 0), ("new", 10)))
    with store.transaction():
        store.nodes.update_node(old.id, now=NOW, valid_until=NOW + 10)
    assert found(store) == {new.key}
    assert [found(store, as_of=NOW + at) for at in (-1, 0, 9, 10, 99)] == [
        set(),
        {old.key},
        {old.key},
        {new.key},
        {new.key},
    ]


@pytest.mark.req("D.08")
def test_all_conditions_hold_together(store: Store) -> None:
    place = Position(path="docs/a.md", line_start=1, line_end=9, section_path=("Top",), heading_level=1, module="m")
    wanted = add(store, "all", scope="p", confidence=0.9, tier=Tier.SESSION, position=place)
    facets(store, wanted.key, diataxis="tutorial")
    conditions: dict[str, Any] = {
        "scopes": ("p",),
        "types": ("fact",),
        "tiers": ("session",),
        "after": NOW,
        "before": NOW + 1,
        "min_confidence": 0.9,
        "path": "docs/*.md",
        "lines": (2, 3),
        "section": "top",
        "heading_level_max": 1,
        "module": "m",
        "diataxis": "tutorial",
    }
    assert found(store, **conditions) == {wanted.key}
    for name, other in (
        ("scopes", ("q",)),
        ("after", NOW + 1),
        ("path", "src/*"),
        ("lines", (10, 11)),
        ("module", "n"),
    ):
        assert found(store, **(conditions | {name: other})) == set()


@pytest.mark.parametrize("lines", [(0, 5), (-1, 5), (6, 5)])
def test_lines_that_are_no_range_are_refused(store: Store, lines: tuple[int, int]) -> None:
    with pytest.raises(BadRequestError, match="not a range"):
        found(store, lines=lines)


@pytest.mark.parametrize("path", ["", "x" * (MAX_PATTERN_CHARS + 1), "{" + "a,b" * 20 + "}" * 3 + "{1..5000}"])
def test_a_path_that_is_no_glob_is_refused(store: Store, path: str) -> None:
    with pytest.raises(BadRequestError, match="glob"):
        found(store, path=path)


NAMES = st.sampled_from(["a", "b", "src", "docs", ".git", "x.py", "y.md", "A", "a b", "ü", "[x]", "{a}"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(
    ["**", "*", "a", "src", "*.py", "?", "[ab]", "[!a]", "{a,b}", "x.{py,md}", ".*", "a*", "ü", "[x]"]
)
PATTERNS = st.lists(PIECES, min_size=1, max_size=4).map("/".join)


@pytest.mark.req("D.01")
@hypothesis_settings(max_examples=examples(300))
@given(PATTERNS, PATHS)
def test_a_glob_means_what_wcmatch_says_it_means(pattern: str, path: str) -> None:
    literal = pattern.replace("[", "[[]")
    patterns = [pattern, literal, *([] if any(char in pattern for char in "*?{") else [f"{literal}/**"])]
    assert path_matches(pattern, path) is glob.globmatch(path, patterns, flags=FLAGS)


@pytest.mark.req("D.01")
@pytest.mark.parametrize(
    ("pattern", "is_found"),
    [
        ("app/[id]/page.tsx", True),
        ("app/[id]", True),
        ("app/[id]/", True),
        ("app/[id]/*.tsx", True),
        ("app/[[]id]/page.tsx", True),
        ("**/[id]/**", True),
        ("app/[name]/page.tsx", False),
    ],
)
def test_brackets_in_a_path_may_be_those_of_its_name(store: Store, pattern: str, is_found: bool) -> None:
    page = add(store, "page", position=Position(path="app/[id]/page.tsx")).key
    add(store, "another page", position=Position(path="app/x/page.tsx"))
    assert found(store, path=pattern) == ({page} if is_found else set())


@pytest.mark.req("D.01")
@hypothesis_settings(max_examples=examples(30))
@given(st.sets(PATHS, min_size=1, max_size=20), st.lists(PATTERNS, min_size=1, max_size=5))
def test_a_glob_finds_exactly_its_files_in_any_tree(paths: set[str], patterns: list[str]) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        with store.transaction():
            by_path = {path: add(store, path, position=Position(path=path)).key for path in sorted(paths)}
        for pattern in patterns:
            expected = {key for path, key in by_path.items() if path_matches(pattern, path)}
            assert found(store, path=pattern) == expected


@pytest.mark.req("D.08")
def test_what_nothing_that_holds_contradicts_can_be_asked_for(store: Store) -> None:
    decided, denied, gone, replaced, quiet = (add(store, f"memory {number}").key for number in range(5))
    with store.transaction():
        store.edges.link_nodes("contradicts", decided, [denied], now=NOW)
        store.edges.link_nodes("contradicts", gone, [quiet], now=NOW)
        store.edges.link_nodes("supports", replaced, [quiet], now=NOW)
    assert found(store, contradicted=True) == {decided, denied, gone, quiet}
    assert found(store, contradicted=False) == {replaced}
    forgotten, ended = store.nodes.get_by_key(gone), store.nodes.get_by_key(denied)
    assert forgotten is not None and ended is not None
    with store.transaction():
        store.nodes.delete_node(forgotten.id, now=NOW)
        store.nodes.update_node(ended.id, now=NOW, valid_until=NOW)
    assert found(store, contradicted=True) == set()
    assert found(store, contradicted=False) == {decided, replaced, quiet}


def test_what_is_left_out_is_all_that_is_not_found_otherwise(store: Store) -> None:
    nodes = [add(store, f"memory {number}") for number in range(4)]
    kept, gone, ended, quiet = (node.key for node in nodes)
    assert found(store) == {kept, gone, ended, quiet}
    assert found(store, left_out=True) == set()
    with store.transaction():
        store.nodes.delete_node(nodes[1].id, now=NOW)
        store.nodes.update_node(nodes[2].id, now=NOW, valid_until=NOW)
        assert store.withheld.withhold(quiet, now=NOW)
        assert not store.withheld.withhold(quiet, now=NOW)
    assert found(store) == {kept}
    assert found(store, left_out=True) == {gone, ended, quiet}
    assert store.withheld.select_withheld([kept, quiet]) == {quiet}
    with store.transaction():
        assert store.withheld.release(quiet)
        assert not store.withheld.release(quiet)
    assert found(store) == {kept, quiet}


def test_no_path_matches_nothing() -> None:
    assert path_matches("**", None) is False


EVIL = ["' OR 1=1 --", '") OR 1=1 --', "x'; DROP TABLE nodes; --", "%", "_", "\\", '"]', "?1", "{", "[", "a\0b", "ß"]


@pytest.mark.req("SPEC-02.33")
@pytest.mark.parametrize("evil", EVIL)
def test_no_value_is_ever_sql(store: Store, evil: str) -> None:
    add(store, "harmless", position=Position(path="a.py", section_path=("x",), module="m"))
    for name in _TEXT_FIELDS:
        assert found(store, **{name: evil}) == set(), name
    for name in _TUPLE_FIELDS:
        assert found(store, **{name: (evil,)}) == set(), name
    condition, values = compile_where(SearchFilter(section=evil, path="**", scopes=(evil,)))
    assert condition.count("?") == len(values)
    assert evil not in condition or evil == "?1" or len(evil) == 1
    assert store.count_everything()["nodes"] == 1


_TEXT_FIELDS = [
    "entity",
    "path",
    "section",
    "module",
    "class_name",
    "function_name",
    "url",
    "diataxis",
    "persona",
    "confidence_level",
    "session_id",
]
_TUPLE_FIELDS = ["scopes", "types", "subtypes", "tiers", "origins", "verification", "domain_tags", "source_types"]


def test_every_condition_there_is_stands_in_these_tests() -> None:
    numbers = {
        "after",
        "before",
        "as_of",
        "min_confidence",
        "lines",
        "heading_level_max",
        "contradicted",
        "left_out",
        "ended",
    }
    assert {field.name for field in fields(SearchFilter)} == {*_TEXT_FIELDS, *_TUPLE_FIELDS, *numbers}


@hypothesis_settings(max_examples=examples(50))
@given(st.data())
def test_every_set_of_conditions_is_one_statement_with_bound_values(data: st.DataObject) -> None:
    drawn: dict[str, Any] = {}
    for name in data.draw(st.sets(st.sampled_from(_TEXT_FIELDS))):
        drawn[name] = data.draw(st.sampled_from(["a", *EVIL]))
    for name in data.draw(st.sets(st.sampled_from(_TUPLE_FIELDS))):
        drawn[name] = tuple(data.draw(st.lists(st.sampled_from(EVIL), max_size=3)))
    condition, values = compile_where(SearchFilter(**drawn))
    assert condition.count("?") == len(values)
    assert not any(value in condition for value in EVIL if len(value) > 3)


def test_a_kept_bitmap_is_the_same_object_until_something_changes(store: Store) -> None:
    add(store, "one")
    first = store.filters.select_allowed(SearchFilter())
    assert store.filters.select_allowed(SearchFilter()) is first
    with store.snapshot():
        assert store.filters.select_allowed(SearchFilter()) is first
    add(store, "two")
    assert store.filters.select_allowed(SearchFilter()).sum() == 2


def test_what_another_connection_writes_makes_a_bitmap_anew(store: Store) -> None:
    add(store, "one")
    assert store.filters.select_allowed(SearchFilter()).sum() == 1
    with Store.open(store.path) as other:
        node = add(other, "two")
        assert store.filters.select_allowed(SearchFilter()).sum() == 2
        with other.transaction():
            other.nodes.delete_node(node.id, now=NOW)
        assert store.filters.select_allowed(SearchFilter()).sum() == 1
        assert other.filters.select_allowed(SearchFilter()).sum() == 1


def test_a_snapshot_keeps_to_its_state_and_the_next_one_is_new(store: Store) -> None:
    add(store, "one")
    with Store.open(store.path) as other:
        with store.snapshot():
            assert store.filters.select_allowed(SearchFilter()).sum() == 1
            add(other, "two")
            assert store.filters.select_allowed(SearchFilter()).sum() == 1
        assert store.filters.select_allowed(SearchFilter()).sum() == 2


def test_what_is_seen_inside_a_transaction_is_not_kept(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():
        add(store, "never")
        assert store.filters.select_allowed(SearchFilter()).sum() == 1
        raise ZeroDivisionError
    assert store.filters.select_allowed(SearchFilter()).sum() == 0


def test_only_so_many_bitmaps_are_kept(store: Store) -> None:
    for number in range(MAX_KEPT * 2 + 3):
        store.filters.select_allowed(SearchFilter(after=number))
    assert len(store.filters._kept) <= MAX_KEPT


def test_a_bitmap_covers_every_key_whatever_is_deleted(store: Store) -> None:
    nodes = [add(store, f"{number}") for number in range(5)]
    with store.transaction():
        store.connection.execute("DELETE FROM nodes WHERE key IN (1, 5)")
    bitmap = store.filters.select_allowed(SearchFilter())
    assert len(bitmap) == 5 and set(np.flatnonzero(bitmap)) == {2, 3, 4}
    with store.transaction():
        store.connection.execute("DELETE FROM nodes")
    assert store.filters.select_allowed(SearchFilter()).sum() == 0
    # A key is never used twice.
    assert add(store, "new").key == len(nodes) + 1


@pytest.mark.parametrize("keys", [[], [1], [3, 1, 2], list(range(1_000, 5_000))])
def test_keys_come_over_as_text(keys: list[int]) -> None:
    text = ",".join(map(str, keys)) or None
    assert bits.parse_keys(text).tolist() == keys == json.loads(f"[{text or ''}]")


@hypothesis_settings(max_examples=examples(60), suppress_health_check=SHARED_FIXTURE)
@given(st.lists(st.tuples(st.sampled_from(["add", "forget", "end", "tier", "recall", "drop"]), st.integers(0, 5))))
def test_what_was_kept_is_what_a_fresh_look_finds(store: Store, steps: list[tuple[str, int]]) -> None:
    asked = (
        SearchFilter(),
        SearchFilter(tiers=("task",)),
        SearchFilter(min_confidence=0.6),
        SearchFilter(as_of=NOW),
        SearchFilter(scopes=("git:1",)),
    )
    with store.transaction():
        store.connection.execute("DELETE FROM nodes")
    for what, number in steps:
        nodes = [row[0] for row in store.connection.execute("SELECT id FROM nodes ORDER BY key").fetchall()]
        with store.transaction():
            if what == "add":
                store.nodes.create_node(
                    NewNode(
                        type=NodeType.FACT, content=f"{number} {len(nodes)}", scope=("global", "git:1")[number % 2]
                    ),
                    now=NOW,
                )
            elif nodes:
                node = store.nodes.get_node(nodes[number % len(nodes)])
                assert node is not None
                _change(store, node, what)
        for where in asked:
            known = store.filters.select_allowed(where)
            fresh = Filters(store.connection).select_allowed(where)
            assert np.flatnonzero(known).tolist() == np.flatnonzero(fresh).tolist()


def _change(store: Store, node: Node, what: str) -> None:
    if what == "forget":
        store.nodes.delete_node(node.id, now=NOW)
    elif what == "end":
        store.nodes.update_node(node.id, now=NOW, valid_until=NOW)
    elif what == "tier":
        store.nodes.update_node(node.id, now=NOW, tier="longterm")
    elif what == "recall":
        store.nodes.reinforce_nodes([node.key] * 3, now=NOW)
    else:
        store.connection.execute("DELETE FROM nodes WHERE key = ?", (node.key,))


def test_another_connections_changes_are_seen(store: Store) -> None:
    first = add(store, "one")
    assert store.filters.select_allowed(SearchFilter())[first.key]
    with Store.open(store.path) as other:
        second = add(other, "two")
        with other.transaction():
            other.nodes.delete_node(first.id, now=NOW)
    allowed = store.filters.select_allowed(SearchFilter())
    assert (bool(allowed[first.key]), bool(allowed[second.key])) == (False, True)


def test_a_recall_does_not_move_what_is_kept(store: Store) -> None:
    node = add(store, "one", confidence=1.0)
    before = store.filters.select_allowed(SearchFilter())
    with store.transaction():
        store.nodes.reinforce_nodes([node.key], now=NOW)
    assert store.filters.select_allowed(SearchFilter()) is before


def test_more_changes_than_are_kept_are_a_look_at_everything(store: Store) -> None:
    add(store, "one")
    store.filters.select_allowed(SearchFilter())
    with store.transaction():
        for number in range(3):
            store.nodes.create_node(NewNode(type=NodeType.FACT, content=f"n{number}"), now=NOW)
        store.connection.execute("DELETE FROM node_changes")
    assert store.filters.select_allowed(SearchFilter()).sum() == 4
