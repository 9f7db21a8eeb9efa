"""RFC-014's own questions and failure cases, on real files, through the façade and the command line (D.01-D.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError, QuerySyntaxError
from hyperloci.memory import Memory
from hyperloci.model.search import SearchAnswer
from tests.support import FakeClock

LONG = "The words that follow only make the section long enough to be a snippet of its own, and say nothing more. " * 2

CTF = f"""# The CTF format

CTF is a compact text format for turns.

## Design

CTF rows hold one turn each; caching of decoded rows keeps the CTF format quick. {LONG}

## Limitations

CTF cannot hold binary attachments. {LONG}

## Features

What CTF does well: it is small, and a limit of the format is no problem in practice. {LONG}
"""

CLI_TUTORIAL = f"""# Command line tutorial

A tutorial for beginners: step by step, your first command in the terminal with the CLI. {LONG}
"""

CONFIG = f"""# Settings

## Reference

Every configuration key: `cache_size` is the configuration of the cache. {LONG}

## Background

Why configuration is read once. {LONG}
"""

CODE = '''"""The cache of decoded rows, which is the part of the program that this file is about and nothing else."""

from app.rows import decode_row


class RowCache:
    """Keeps rows."""

    def lookup(self, key):
        return self.fetch(key)

    def fetch(self, key):
        return decode_row(key)
'''

ROWS = "def decode_row(key):\n    return key\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {
        "docs/ctf.md": CTF,
        "docs/guide/cli.md": CLI_TUTORIAL,
        "docs/settings.md": CONFIG,
        "notes/settings.md": CONFIG,
        "app/cache.py": CODE,
        "app/rows.py": ROWS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def memory(settings: Settings, project: Path, clock: FakeClock) -> Iterator[Memory]:
    with Memory.open(settings, project, clock=clock) as opened:
        opened.index_path()
        yield opened


def places(answer: SearchAnswer) -> list[tuple[str | None, str]]:
    return [(hit.source.path, hit.source.section_path[-1]) for hit in answer.results if hit.source.section_path]


# The five examples of the document


@pytest.mark.req("D.01", "D.08")
def test_what_did_we_say_about_caching_in_the_design_section(memory: Memory) -> None:
    assert places(memory.search_by_query_line("caching section:Design")) == [("docs/ctf.md", "Design")]


@pytest.mark.req("D.02", "D.10")
def test_what_contradicts_our_decision_about_the_format(memory: Memory) -> None:
    decided = memory.remember_fact("We store turns in the CTF format.", category="decision")
    against = memory.remember_fact("Turns should be plain JSON lines, nothing else.", category="insight")
    memory.relate("contradicts", [{"id": decided.id}, {"id": against.id}], evidence="they exclude each other")
    found = memory.find_related(decided.id, relationship="contradicts")
    assert [(item.id, item.direction) for item in found.related] == [(against.id, "both")]
    assert against.id in [
        hit.id for hit in memory.search_by_query_line(f"related:{decided.id[:8]} relation:contradicts").results
    ]


@pytest.mark.req("D.04")
def test_all_content_under_limitations_headings(memory: Memory) -> None:
    answer = memory.search_by_query_line("section:Limitations", limit=50)
    assert answer.mode == "list"
    assert places(answer) == [("docs/ctf.md", "Limitations")]


@pytest.mark.req("D.08")
@pytest.mark.parametrize("condition", ["in:docs/**", "type:docs", "source:docs level:2"])
def test_a_list_that_its_limit_cuts_says_how_many_more_there_are(memory: Memory, condition: str) -> None:
    whole = memory.search_by_query_line(condition, limit=50)
    assert len(whole.results) > 1
    assert whole.hints == ()
    cut = memory.search_by_query_line(f"{condition} limit:1")
    assert [hit.id for hit in cut.results] == [whole.results[0].id]
    assert cut.hints == (f"{len(whole.results) - 1} more meet these conditions; `limit:` lists 50 at most.",)
    assert memory.search_by_query_line(condition, limit=len(whole.results)).hints == ()


@pytest.mark.req("D.07", "D.08")
def test_conditions_of_every_kind_narrow_one_search(memory: Memory) -> None:
    answer = memory.search_by_query_line(
        "configuration in:docs/*.md section:Reference type:docs after:last_year level:2"
    )
    assert places(answer) == [("docs/settings.md", "Reference")]
    assert places(memory.search_by_query_line("configuration in:**/settings.md section:Reference", limit=9)) != places(
        answer
    )


@pytest.mark.req("D.08")
def test_what_nothing_contradicts_can_be_asked_for(memory: Memory) -> None:
    one = memory.remember_fact("Redis caching is on.", category="decision")
    other = memory.remember_fact("The caching layer logs its misses.", category="decision")
    objection = memory.remember_fact("Nothing of the kind is allowed here.", category="constraint")
    memory.relate("contradicts", [{"id": one.id}, {"id": objection.id}])
    held = [hit.id for hit in memory.search_by_query_line("caching type:decision not:contradicted").results]
    assert other.id in held and one.id not in held
    memory.forget(objection.id)
    assert one.id in [hit.id for hit in memory.search_by_query_line("caching type:decision not:contradicted").results]


# Its failure cases


@pytest.mark.req("D.04", "D.08")
def test_limitations_of_the_format_come_from_the_section_that_is_about_them(memory: Memory) -> None:
    answer = memory.search_by_query_line("what are the limitations of the CTF format in:docs/**")
    assert places(answer)[0] == ("docs/ctf.md", "Limitations")


@pytest.mark.req("D.01")
def test_a_glob_with_two_stars_crosses_folders_and_one_does_not(memory: Memory) -> None:
    assert {place[0] for place in places(memory.search_by_query_line("in:docs/**", limit=50))} == {
        "docs/ctf.md",
        "docs/guide/cli.md",
        "docs/settings.md",
    }
    assert {place[0] for place in places(memory.search_by_query_line("in:docs/*", limit=50))} == {
        "docs/ctf.md",
        "docs/settings.md",
    }


@pytest.mark.req("D.08")
@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("cache limit:0", 7, "limit:0 is outside 1..50"),
        ("limit:0", 1, "limit:0 is outside 1..50"),
        ("cache tag:nope", 7, "tag: has 'nope', which no memory has"),
        ("tag:cli tag:nope,cli", 9, "tag: has 'nope'"),
        ("related:zzzz", 1, "related:zzzz: no memory has this id"),
        ("profile:x foo", 1, "profile:x is unknown"),
        ("foo strategy:x", 5, "strategy:x is unknown"),
        ("related:abcd depth:9", 14, "depth:9 must be a whole number"),
        ("x before:yesterday after:today", 20, "after:today is not earlier than before:yesterday"),
    ],
)
def test_an_error_of_the_search_names_the_column_in_the_words_of_the_line(
    memory: Memory, line: str, column: int, words: str
) -> None:
    with pytest.raises(QuerySyntaxError, match=f"^column {column}: {re.escape(words)}") as caught:
        memory.search_by_query_line(line)
    assert caught.value.column == column


@pytest.mark.req("D.08")
@pytest.mark.parametrize("words", ["", "caching "])
def test_an_unknown_relation_is_named_by_its_column_and_to_a_program_by_its_argument(
    memory: Memory, words: str
) -> None:
    start = memory.remember_fact("We cache in the CTF format.", category="decision").id
    line = f"{words}related:{start} "
    with pytest.raises(QuerySyntaxError, match=f"^column {len(line) + 1}: relation:knows is unknown"):
        memory.search_by_query_line(f"{line}relation:knows")
    with pytest.raises(BadRequestError, match=r"^where\.relation='knows' is unknown"):
        memory.search("caching", where={"related_to": start, "relation": "knows"})
    with pytest.raises(BadRequestError, match=r"^relationship='knows' is unknown"):
        memory.find_related(start, relationship="knows")


def test_an_error_about_an_option_of_the_command_is_not_told_of_the_line(memory: Memory) -> None:
    with pytest.raises(BadRequestError, match=r"^after='soon' is not a time"):
        memory.search_by_query_line("cache tag:cli", after="soon")


@pytest.mark.req("D.01")
def test_a_glob_in_full_finds_files_of_the_project_and_nothing_for_files_elsewhere(
    memory: Memory,
) -> None:
    root = memory.project.root.as_posix()
    memory.remember_fact("The cache holds decoded rows")
    for words in ("", " cache"):
        assert memory.search_by_query_line("in:/etc/**" + words, limit=50).results == ()
    inside = memory.search_by_query_line(f"in:{root}/docs/**", limit=50)
    assert places(inside) == places(memory.search_by_query_line("in:docs/**", limit=50)) != []
    everything = memory.search_by_query_line(f"in:{root}", limit=50)
    assert {place[0] for place in places(everything)} > {"docs/ctf.md", "notes/settings.md"}
    found = memory.search("cache", where={"path": f"{root}/app"}, limit=50)
    assert {hit.source.path for hit in found.results} == {"app/cache.py"}
    link = memory.project.root.parent / "link to it"
    link.symlink_to(memory.project.root.parent)
    linked = f'"{link}/{memory.project.root.name}'
    assert places(memory.search_by_query_line(f'in:{linked}/docs/**"', limit=50)) == places(inside)
    assert places(memory.search_by_query_line(f'in:{linked}"', limit=50)) == places(everything)


@pytest.mark.req("D.01")
def test_code_is_found_by_its_class_function_module_and_lines(memory: Memory) -> None:
    def symbols(line: str) -> list[str | None]:
        return [hit.source.symbol for hit in memory.search_by_query_line(line, limit=50).results]

    assert symbols("class:RowCache function:fetch") == ["RowCache.fetch"]
    assert set(symbols("module:app.cache")) == {None, "RowCache", "RowCache.lookup", "RowCache.fetch"}
    assert symbols("in:app/rows.py lines:1-2") == ["decode_row"]
    assert symbols("in:app/rows.py lines:7-9") == []


# Relations and structure through the façade


@pytest.mark.req("D.02", "D.03")
def test_relations_of_code_are_walked_confirmed_and_drawn(memory: Memory) -> None:
    (fetch,) = memory.search_by_query_line("class:RowCache function:fetch").results
    (decode,) = memory.search_by_query_line("function:decode_row").results
    path = memory.path_between(fetch.id, decode.id, relationship="calls", direction="out")
    assert path is not None and [node.id for node in path.nodes] == [fetch.id, decode.id]
    (edge,) = path.edges
    assert (edge.label, edge.automatic, edge.confirmed) == ("calls", True, False)
    confirmed = memory.confirm_link(edge.id[:8])
    assert confirmed.confirmed and confirmed.confidence == 1.0
    with pytest.raises(NotFoundError, match="no relation has this id"):
        memory.confirm_link("00000000")
    drawn = memory.get_subgraph(fetch.id, depth=1)
    assert drawn.nodes[0].id == fetch.id and edge.id in [other.id for other in drawn.edges]
    (lookup,) = memory.search_by_query_line("class:RowCache function:lookup").results
    assert {node.id for node in memory.get_neighbourhood(fetch.id, depth=1, relationship="calls")} == {
        fetch.id,
        decode.id,
        lookup.id,
    }


@pytest.mark.req("D.02")
def test_dependencies_over_many_steps_are_told_with_their_circles(memory: Memory) -> None:
    ids = [memory.remember_fact(f"Part {name} of the plan.").id for name in ("alpha", "beta", "gamma")]
    for source, target in ((0, 1), (1, 2), (2, 0)):
        memory.relate("depends_on", [{"id": ids[source], "role": "subject"}, {"id": ids[target], "role": "object"}])
    answer = memory.get_dependencies(ids[0])
    assert [(node.id, node.distance) for node in answer.dependencies] == [(ids[1], 1), (ids[2], 2)]
    assert answer.cycles == (tuple(ids),)
    assert answer.complete
    assert memory.graph_stats()["by_label"]["depends_on"] == 3
    assert memory.path_between(ids[0], memory.remember_fact("Alone.").id) is None


def test_the_beginning_of_an_id_is_enough_if_it_is_the_only_one(memory: Memory) -> None:
    fact = memory.remember_fact("The launch is on Tuesday.")
    assert memory.find_related(fact.id[:8]).node.id == fact.id
    with pytest.raises(QuerySyntaxError, match="column 1: related:ffffffffff: no memory"):
        memory.search_by_query_line("related:ffffffffff")
    with pytest.raises(QuerySyntaxError, match="column 1"):
        memory.search_by_query_line("sectoin:x")
    with pytest.raises(BadRequestError, match="limit"):
        memory.search_by_query_line("section:Design", limit=0)
