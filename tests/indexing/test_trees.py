"""Two worktrees of one repository: one project, one tree shown at a time, and who is in the other one is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    main, side = tmp_path / "main", tmp_path / "side"
    main.mkdir()
    (main / "guide.md").write_text("# Brewing\n\nWater for green tea has 75 degrees.\n")
    git(main, "init", "-q")
    git(main, "add", ".")
    git(main, "commit", "-qm", "Begin")
    git(main, "worktree", "add", "-q", "-b", "side", str(side))
    (side / "guide.md").write_text("# Brewing\n\nWater for white tea has 80 degrees.\n")
    (side / "only.md").write_text("# Grinding\n\nEspresso beans are ground finely.\n")
    return main, side


def test_the_tree_that_was_indexed_last_is_shown_and_the_other_session_is_told(
    settings: Settings, trees: tuple[Path, Path]
) -> None:
    main, side = trees
    with Memory.open(settings, main) as here, Memory.open(settings, side) as there:
        assert here.project.id == there.project.id
        here.index_path()
        first = here.search("green tea water")
        assert (first.results[0].source.path, first.hints) == ("guide.md", ())
        told = there.search("green tea water").hints
        assert any(str(main) in hint and "hyperloci index" in hint for hint in told)

        there.index_path()
        assert there.search("espresso beans").hints == ()
        assert any(str(side) in hint for hint in here.search("espresso beans").hints)


def test_what_the_other_tree_lacks_comes_back_with_its_ids(settings: Settings, trees: tuple[Path, Path]) -> None:
    main, side = trees
    with Memory.open(settings, main) as here, Memory.open(settings, side) as there:
        there.index_path()
        [only] = [hit.id for hit in there.search("espresso beans").results if hit.source.path == "only.md"]
        here.index_path()
        assert not [hit for hit in here.search("espresso beans").results if hit.source.path == "only.md"]
        there.index_path()
        assert [hit.id for hit in there.search("espresso beans").results if hit.source.path == "only.md"] == [only]


def test_facts_are_shared_and_need_no_hint(settings: Settings, trees: tuple[Path, Path]) -> None:
    main, side = trees
    with Memory.open(settings, main) as here, Memory.open(settings, side) as there:
        fact = here.remember_fact("The mirror is in Oslo.")
        here.index_path()
        answer = there.search("mirror oslo", content_type="learning")
        assert [hit.id for hit in answer.results][:1] == [fact.id]
        assert answer.hints == ()


def test_indexing_again_writes_nothing(settings: Settings, trees: tuple[Path, Path]) -> None:
    with Memory.open(settings, trees[0]) as memory:
        memory.index_path()
        before = memory.store.connection.total_changes
        memory.index_path()
        assert memory.store.connection.total_changes == before
