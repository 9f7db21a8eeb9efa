"""Looking at what is remembered: show, list, history; and the command line as one instrument."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.cli.common import open_memory
from hyperloci.cli.main import PANELS, app
from hyperloci.model.kinds import NodeId
from tests.cli.helpers import invoke, remember, run


def test_a_memory_is_shown_whole_by_any_beginning_of_its_id() -> None:
    fact = remember("We keep invoices in Postgres,\n" + "because billing needs row locks.\n" * 9)

    shown = run("show", fact[:4])
    assert shown.count("billing needs") == 9 and fact in shown and "just now  remembered" in shown
    assert json.loads(run("show", fact[:4], "--json"))[0]["id"] == fact
    assert "ID 'abc': no memory has this id; give at least 4 characters" in invoke("show", "abc").stderr


def test_of_a_possible_replacement_the_older_one_is_to_be_forgotten_whichever_is_shown() -> None:
    old, new = remember("The port is 8000"), remember("Visitors come in at 9000")
    with open_memory(Path(".")) as memory, memory.store.transaction():
        nodes = [memory.store.nodes.get_node(NodeId(id)) for id in (old, new)]
        keys = [node.key for node in nodes if node is not None]
        memory.store.edges.link_nodes("updates", keys[1], keys[:1], now=1_800_000_000_000, automatic=True)

    of_old, of_new = run("show", old), run("show", new)
    assert f"if this no longer holds: hyperloci forget {old[:8]}" in of_old
    assert f"if that no longer holds: hyperloci forget {old[:8]}" in of_new
    assert "this may have replaced:" in of_new and "this may have replaced:" not in of_old
    assert f"hyperloci forget {new[:8]}" not in of_old + of_new


def test_what_is_remembered_is_listed_the_latest_first_without_what_is_over() -> None:
    old = remember("The port is 8000", "--category", "decision")
    new = remember("The port is 9000", "--category", "decision", "--replaces", old[:4])
    run("dead-end", "Caching in Redis", "evictions logged users out")
    gone = remember("The port is blue")
    run("forget", gone)

    rows = json.loads(run("list", "--json"))
    assert [(row["kind"], row["current"], row["valid_until"]) for row in rows] == [
        ("dead_end", True, None),
        ("decision", True, None),
    ]
    assert rows[1]["id"] == new and rows[1]["text"] == "The port is 9000" and rows[1]["source"]["kind"] == "tool"
    assert rows[1].keys() == {"id", "kind", "text", "current", "valid_until", "source", "created"}
    every = json.loads(run("list", "--all", "--json"))
    assert {row["id"]: row["current"] for row in every}.items() >= {new: True, old: False, gone: False}.items()
    assert len(every) == 4 and next(row for row in every if row["id"] == old)["valid_until"] is not None


def test_a_list_is_narrowed_by_kind_source_and_time() -> None:
    remember("The port is 9000", "--category", "decision")
    remember("Use tabs", "--category", "preference")

    def listed(*options: str) -> list[str]:
        return [row["text"] for row in json.loads(run("list", "--json", *options))]

    assert listed("--type", "decision") == ["The port is 9000"]
    assert listed("--type", "decision", "--type", "preference", "-n", "1") == ["Use tabs"]
    assert listed("--origin", "commit") == [] and len(listed("--origin", "tool", "--since", "yesterday")) == 2
    assert listed("--since", "2099-01-01") == []
    assert "Nothing of this kind is remembered" in run("list", "--type", "commit")
    assert "--type lists turns, code and commits" in run("list", "--origin", "commit")
    for options in (["--origin", "tool"], ["--type", "commit", "--origin", "commit"], ["--since", "2099-01-01"]):
        assert "--type lists" not in run("list", *options)
    assert "--type 'gossip' is unknown" in invoke("list", "--type", "gossip").stderr
    assert "--since 'someday'" in invoke("list", "--since", "someday").stderr


def test_a_screen_is_listed_for_people_and_all_for_programs() -> None:
    for number in range(22):
        remember(f"Gate {number} listens on port {9000 + number}")

    shown = run("list")
    assert shown.count("listens on port") == 20 and "The latest 20; -n shows more, --json all." in shown
    assert len(json.loads(run("list", "--json"))) == 22
    assert run("list", "-n", "22").count("listens on port") == 22


def test_a_memorys_history_names_what_it_replaced() -> None:
    old = remember("The port is 8000")
    new = remember("The port is 9000", "--replaces", old)

    told = run("history", new[:4])
    assert "It was remembered on purpose" in told and f"replaced {old[:8]} (just now): The port is 8000" in told
    assert f"replaced by {new[:8]}" in run("history", old[:4])


def test_a_contradiction_is_told_with_its_text_and_what_to_do() -> None:
    old = remember("We keep invoices in Postgres", "--category", "decision")

    done = invoke("remember", "We keep invoices in MySQL", "--category", "decision")

    assert f"! contradicts {old[:8]}: We keep invoices in Postgres" in done.stderr
    assert f"hyperloci forget {old[:8]}" in done.stderr
    assert done.stdout.startswith("remembered as ") and len(done.stdout.split()) == 3


@pytest.mark.req("E.16")
def test_what_is_restored_says_what_replaced_it() -> None:
    old = remember("The port is 8000")
    new = remember("The port is 9000", "--replaces", old)
    run("forget", old)
    done = invoke("restore", old)
    assert f"{old[:8]} restored: The port is 8000" in done.stdout
    assert f"{new[:8]} replaced it" in done.stderr and "The port is 9000" in done.stderr
    run("forget", new)
    other = remember("The port is 9999", "--replaces", old)
    assert f"! contradicted by {other[:8]}" in invoke("restore", new).stderr


@pytest.mark.req("D.09")
def test_what_is_remembered_for_all_projects_says_so_and_how_it_is_remembered_for_one() -> None:
    done = invoke("remember", "Use tabs", "-c", "preference")
    assert "for all projects" in done.stdout and "--scope project" in done.stderr
    assert "for all projects" in invoke("remember", "Use tabs", "-c", "preference").stdout
    here = invoke("remember", "Invoices are kept for ten years", "-c", "preference", "--scope", "project")
    assert "project" not in here.output


def test_every_command_stands_in_one_group_of_the_help_those_of_every_day_first() -> None:
    listed = [name for names in PANELS.values() for name in names]
    commands = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]

    commands += [group.name or "" for group in app.registered_groups]

    assert set(commands) == set(listed) and len(listed) == len(set(listed))
    shown = run("--help")
    assert shown.index("Every day") < shown.index("Sessions") < shown.index("Set up")
    assert "Exit codes: 0 done" in shown


@pytest.mark.parametrize("command", [["list"], ["sessions"], ["projects"], ["stats"], ["entities"], ["weak"]])
def test_a_terminal_of_eighty_columns_is_enough(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    remember("PostgreSQL keeps the invoices")

    lines = [line for line in run(*command).splitlines() if "/" not in line]
    assert lines and max(map(len, lines)) <= 80


def test_an_empty_memory_says_what_would_fill_it(tmp_path: Path) -> None:
    for command in (("list",), ("query", "anything")):
        assert "Nothing is remembered here yet" in run(*command) and "hyperloci index" in run(*command)
    assert "hyperloci index" in run("entities")
    (tmp_path / "project" / "a.py").write_text("def answer():\n    return 42\n")
    run("index", "--no-wait")
    assert "No fact is remembered here yet" in run("list") and "Nothing of this kind" in run("list", "--since", "today")
    assert "No memory is weak" in run("weak")
    assert "Nothing was merged" in run("entities", "--merges")
    assert "No folder is joined" in run("link", "--list")


def test_what_stands_against_a_memory_is_shown_with_the_command_that_settles_it() -> None:
    first = remember("The port is 8000", "--category", "decision")
    second = remember("The port is 9000", "--category", "decision")
    shown = run("show", first)
    assert "The port is 9000" in shown and f"hyperloci forget {second[:8]}" in shown


def test_an_error_names_the_argument_that_was_given_the_value() -> None:
    assert "KEPT 'Redis'" in invoke("merge-entities", "Redis", "Valkey").stderr
    assert "--session ID" in invoke("timeline", "Redis", "--session", "s").stderr
    assert "standard output" in invoke("backup", "-").stderr


def test_a_hit_in_a_notebook_says_in_which_cell_it_is(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Gauges\n\n" + "Levels are centimetres above the zero of a gauge. " * 3},
        {"cell_type": "code", "source": "def read_level(gauge):\n    return gauge.level\n"},
    ]
    (tmp_path / "project" / "gauge.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    run("index", "--no-wait")
    assert "gauge.ipynb:1  cell 2, read_level" in run("query", "read_level")
    assert "gauge.ipynb:1  cell 1, Gauges" in run("query", "centimetres above the zero")


@pytest.mark.req("D.08")
@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["prune"], ["audit"]])
def test_a_number_that_no_database_takes_is_a_wrong_argument(command: list[str]) -> None:
    result = invoke(*command, "--limit", "9223372036854775808")
    assert (result.exit_code, "1000000000" in result.stderr) == (2, True)
