"""Entities and facets on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.cli.common import load_settings
from hyperloci.memory import Memory
from tests.cli.helpers import run


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "project"
    with Memory.open(load_settings(folder), folder) as memory:
        memory.remember_fact("AuthService keeps its tokens in Redis.")
        memory.remember_fact("The BigStore is backed up daily.")
    return folder


@pytest.mark.req("B.10", "B.15")
def test_entities_are_listed_shown_and_merged(project: Path) -> None:
    place = ("--project", str(project))
    assert {info["canonical_name"] for info in json.loads(run("entities", *place, "--json"))} == {
        "AuthService",
        "Redis",
        "BigStore",
    }
    assert "AuthService" in run("entities", *place)
    shown = run("entity", "auth-service", *place)
    assert "  1 memory\n" in shown and "mentioned with: Redis (1)" in shown
    merge = json.loads(run("merge-entities", "Redis", "BigStore", *place, "--json"))
    assert "BigStore is Redis" in run("entities", "--merges", *place)
    assert "undone" in run("merge-entities", "--undo", str(merge["id"]), *place)
    run("entity", "nobody", *place, code=1)


@pytest.mark.req("B.15", "B.18")
def test_what_a_fact_is_about_is_declared_and_merged_under_another_name(project: Path) -> None:
    place = ("--project", str(project))
    run("remember", "It is restarted after each update", "--entity", "the main database", *place)
    run("remember", "PostgreSQL listens on 5433", *place)
    run("merge-entities", "PostgreSQL", "the main database", *place)
    assert "the main database" in run("entity", "PostgreSQL", *place)


def test_what_is_known_of_an_entity_stands_under_the_name_of_its_kind(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "project"
    (folder / "guide.md").write_text("# GaugeReader\n\nGaugeReader reads the level of a gauge every ten minutes.\n")
    (folder / "gauge.py").write_text(
        "class GaugeReader:\n    def read(self, gauge: str) -> float:\n        return 1.0\n"
    )
    place = ("--project", str(folder))
    run("index", *place, "--no-wait")
    shown = run("entity", "GaugeReader", *place)
    assert "\ncode\n" in shown and "\ndocuments\n" in shown and "\nfacts\n" not in shown
    run("remember", "GaugeReader keeps no state.", *place)
    run("remember", "GaugeReader is rewritten in Rust.", "--category", "decision", *place)
    shown = run("entity", "GaugeReader", *place)
    assert "\nfacts\n" in shown and "\ndecisions\n" in shown and "\ncode\n" not in shown


@pytest.mark.req("D.07")
def test_facets_are_shown_and_set(project: Path) -> None:
    place = ("--project", str(project))
    id = json.loads(run("entity", "Redis", *place, "--json"))["facts"][0]["id"]
    assert json.loads(run("facets", id, *place, "--json"))["source_type"] == "fact"
    shown = run("facets", id, *place, "--set", "diataxis=reference", "--set", "domain_tags=auth,cache")
    assert "reference" in shown and "auth, cache" in shown
    run("facets", id, *place, "--set", "diataxis=poem", code=2)
    run("facets", id, *place, "--set", "diataxis", code=2)
