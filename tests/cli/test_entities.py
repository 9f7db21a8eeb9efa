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
    assert "mentioned with: Redis (1)" in run("entity", "auth-service", *place)
    merge = json.loads(run("merge-entities", "Redis", "BigStore", *place, "--json"))
    assert "BigStore is Redis" in run("entities", "--merges", *place)
    assert "undone" in run("merge-entities", "--undo", str(merge["id"]), *place)
    run("entity", "nobody", *place, code=1)


@pytest.mark.req("D.07")
def test_facets_are_shown_and_set(project: Path) -> None:
    place = ("--project", str(project))
    id = json.loads(run("entity", "Redis", *place, "--json"))["facts"][0]["id"]
    assert json.loads(run("facets", id, *place, "--json"))["source_type"] == "fact"
    shown = run("facets", id, *place, "--set", "diataxis=reference", "--set", "domain_tags=auth,cache")
    assert "reference" in shown and "auth, cache" in shown
    run("facets", id, *place, "--set", "diataxis=poem", code=2)
    run("facets", id, *place, "--set", "diataxis", code=2)
