"""`hyperloci projects`, `link` and `unlink`, and what `doctor` and `stats` say of a place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.helpers import invoke, remember, run
from tests.test_crossing import REMOTE, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two clones of one remote, each with a memory of its own; commands run in the second."""
    first, second = (repository(tmp_path / name, name, REMOTE) for name in ("rocket", "second"))
    remember("We deploy on Tuesdays", "--project", str(first))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(second))
    remember("The sandbox has no network")
    return first, second


def test_projects_are_listed_with_their_folders_and_this_one_is_marked(clones: tuple[Path, Path]) -> None:
    first, second = clones
    lines = run("projects").splitlines()
    # A folder that is longer than its column goes on in the next line.
    rows = [line for line in lines if "rocket" in line.split()[:2]]
    assert sorted(row[0] for row in rows) == [" ", "*"]
    assert [row.split()[-4:] for row in rows] == [["1", "0", "just", "now"]] * 2
    assert "* this folder, known by its path" in lines
    told = json.loads(run("projects", "--json"))
    assert {project["root"] for project in told["projects"]} == {str(first), str(second)}
    assert [alike["root"] for alike in told["here"]["alike"]] == [str(first)]


def test_what_was_indexed_of_a_project_is_counted_beside_its_memories(clones: tuple[Path, Path]) -> None:
    _, second = clones
    (second / "guide.md").write_text("# Guide\n\nThe sandbox has no network.\n", encoding="utf-8")
    run("index", str(second / "guide.md"))
    told = {project["root"]: project for project in json.loads(run("projects", "--json"))["projects"]}
    assert told[str(second)]["memories"] == 1 and told[str(second)]["indexed"] >= 1


def test_a_link_is_made_listed_and_undone(clones: tuple[Path, Path]) -> None:
    first, second = clones
    assert f"linked {second} to rocket" in run("link", "--yes")
    found = run("query", "deploy")
    assert "We deploy on Tuesdays" in found
    assert str(second) in run("link", "--list")
    (listed,) = json.loads(run("link", "--list", "--json"))
    assert (listed["root"], listed["unlinked_at"]) == (str(second), None)
    assert "already has the memory of rocket" in invoke("link", "--yes", str(first)).stderr
    assert f"{second} has its own memory again" in run("unlink")
    assert "We deploy on Tuesdays" not in run("query", "deploy", code=0)
    assert run("unlink", code=1) == ""
    assert json.loads(run("link", str(first), "--yes", "--json"))["project"]["root"] == str(first)


def test_without_a_terminal_a_link_needs_the_word_of_a_script(clones: tuple[Path, Path]) -> None:
    refused = invoke("link", stdin="y\n")
    assert (refused.exit_code, "add --yes" in refused.stderr) == (2, True)
    assert "We deploy on Tuesdays" not in run("query", "deploy")


def test_a_person_is_shown_what_a_link_joins_and_asked(
    clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hyperloci.cli import projects

    monkeypatch.setattr(projects, "_is_interactive", lambda: True)
    refused = invoke("link", stdin="n\n")
    assert refused.exit_code == 1
    assert "rocket (project:" in refused.stderr and f"at {clones[0]}: 1 memory" in refused.stderr
    assert "We deploy on Tuesdays" not in run("query", "deploy")
    assert invoke("link", stdin="y\n").exit_code == 0
    assert "We deploy on Tuesdays" in run("query", "deploy")


def test_doctor_and_stats_say_which_project_this_is_why_and_what_looks_like_it(clones: tuple[Path, Path]) -> None:
    first, second = clones
    found = json.loads(invoke("doctor", "--json").stdout)
    about = [finding for finding in found if finding["subject"] == "project"]
    assert f"at {second}, known by its path" in about[0]["message"]
    assert "looks like rocket (project:" in about[1]["message"] and str(first) in about[1]["message"]
    assert about[1]["mend"].startswith("if they belong together: hyperloci link project:")
    run("remember", "We deploy on Fridays")
    assert "  by project    " in run("stats")
    stats = json.loads(run("stats", "--json"))["project"]
    assert (stats["reason"], [alike["root"] for alike in stats["alike"]]) == ("place", [str(first)])
    run("link", "--yes")
    assert json.loads(run("stats", "--json"))["project"]["why"] == "because you linked it"


def unplaced(export: Path, scope: str) -> list[dict[str, object]]:
    report = json.loads(run("import", "--json", str(export)))
    return [one for one in report["without_folder"] if one["scope"] == scope]


def test_an_import_says_how_a_folder_gets_the_memories_of_a_project_that_lay_elsewhere(
    clones: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = clones
    export, other = tmp_path / "all.jsonl", repository(tmp_path / "other", "other", "")
    run("export", str(export))
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "new.db"))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(other))
    told = " ".join(invoke("import", str(export)).stderr.split())
    (scope,) = (one["scope"] for one in json.loads(run("projects", "--json"))["projects"] if one["root"] == str(first))
    mend = f"hyperloci link {scope}"
    assert (
        f"1 memory of rocket, which lay in {first}: no folder here has them yet. In the one that should: {mend}" in told
    )
    named = unplaced(export, scope)[0]
    assert (named["name"], named["root"], named["memories"]) == ("rocket", str(first), 1)
    assert (named["mend"], named["alike"]) == (mend, None)
    (noted,) = (found for found in json.loads(invoke("doctor", "--json").stdout) if mend in found["mend"])
    assert noted["message"] == f"1 memory of rocket, which lay in {first}: no folder here has them yet"
    assert "We deploy on Tuesdays" not in run("list")
    run(*mend.split()[1:], "--yes")
    assert "We deploy on Tuesdays" in run("list")
    assert scope not in invoke("import", str(export)).stderr
    assert scope not in str([found["mend"] for found in json.loads(invoke("doctor", "--json").stdout)])
    assert unplaced(export, scope) == []


def test_an_import_says_of_a_clone_that_it_looks_like_a_project_of_the_export(
    clones: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export, clone = tmp_path / "all.jsonl", repository(tmp_path / "third", "third", REMOTE)
    run("export", str(export))
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "new.db"))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(clone))
    told = " ".join(invoke("import", str(export)).stderr.split())
    assert told.count("This one looks like it (it claims the same remote") == 2
    named = json.loads(run("import", "--json", str(export)))["without_folder"]
    assert all(one["alike"].startswith("it claims the same remote") for one in named)
    notes = [found["mend"] for found in json.loads(invoke("doctor", "--json").stdout) if found["subject"] == "project"]
    assert all(sum(one["mend"] in note for note in notes) == 1 for one in named), notes
