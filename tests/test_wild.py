"""`python -m bench wild`: trees in processes of their own, and what is told when one of them ends badly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import wild
from bench.wild import TreeLimits, choose_files, copy_files, examine_tree, run_trees, summarise_trees, tree_problems

QUICK = TreeLimits(seconds=60, stall=30, history=5)

BEGINS = """
import os, sys
from pathlib import Path
from bench._wild_tree import TreeJournal
journal = TreeJournal(Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
journal.note_measures(skipped={"binary": 2})
journal.note_phase("files", "odd/file.md", stalls=True)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository with something of each kind."""
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "one.py").write_text("def first():\n    return second()\n\n\ndef second():\n    return 2\n")
    (root / "README.md").write_text("# A tree\n\nSee [one](src/one.py).\n")
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.hooksPath="]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Begin"], check=True)
    return root


@pytest.mark.req("W2")
def test_a_tree_is_measured_from_its_walk_to_its_plain_parse(tree: Path) -> None:
    row = examine_tree("tree", tree, QUICK)
    assert row["done"] and tree_problems(row) == []
    assert (row["files"], row["commits"], row["again"], row["set_aside"]) == (2, 1, 0, [])
    assert row["chunks"] >= 3 and row["peak_mb"] > 0 and row["asks"] == 10
    assert sum(row["skipped"].values()) == 2
    assert {
        "index_s",
        "files_s",
        "index_cpu_s",
        "files_cpu_s",
        "grep_cpu_s",
        "parse_cpu_s",
        "slow",
        "slowest",
        "history",
    } <= set(row)


@pytest.mark.req("W1")
def test_a_hang_is_ended_and_told_with_the_file_at_hand(tmp_path: Path) -> None:
    stuck = f"{BEGINS}\ndef never_ends():\n    while True: pass\nnever_ends()"
    row = examine_tree("tree", tmp_path, TreeLimits(seconds=60, stall=1, history=1), ("-c", stuck))
    assert (row["end"], row["at_hand"], row["skipped"]) == ("HANG", "files odd/file.md", {"binary": 2})
    assert "never_ends" in row["stack"]
    assert (
        summarise_trees([row])["unhandled"] == tree_problems(row)
        and "HANG at 'files odd/file.md'" in tree_problems(row)[0]
    )


@pytest.mark.req("W1")
def test_a_tree_that_takes_too_long_in_all_is_told_apart_from_a_hang(tmp_path: Path) -> None:
    row = examine_tree(
        "tree", tmp_path, TreeLimits(seconds=1, stall=60, history=1), ("-c", f"{BEGINS}\nwhile True: pass")
    )
    assert (row["end"], row["at_hand"]) == ("TIME-OUT", "files odd/file.md")


@pytest.mark.req("W2")
@pytest.mark.parametrize(
    ("death", "end"), [("os.kill(os.getpid(), 11)", "CRASH by signal 11"), ("raise KeyError('it')", "CRASH")]
)
def test_a_crash_is_told_with_what_was_at_hand(tmp_path: Path, death: str, end: str) -> None:
    row = examine_tree("tree", tmp_path, QUICK, ("-c", f"{BEGINS}\n{death}"))
    assert (row["end"], row["at_hand"]) == (end, "files odd/file.md")
    assert tree_problems(row)


def test_the_same_files_are_chosen_each_time_and_copied_out_of_what_is_never_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    for number in range(30):
        file = folder / f"p{number % 3}" / "__pycache__" / "x.pyc" if number == 0 else folder / f"p{number}" / "a.py"
        file.parent.mkdir(parents=True)
        file.write_text(f"a = {number}\n")
    picked = choose_files([folder], 20)
    assert len(picked) == 20 and picked == choose_files([folder], 20) and picked == choose_files([folder], 29)[:20]
    monkeypatch.setattr(wild, "TREE_FILES", 8)
    trees = copy_files(picked, tmp_path / "copies")
    assert [sum(path.is_file() for path in tree.rglob("*")) for tree in trees] == [8, 8, 4]
    assert not [path for tree in trees for path in tree.rglob("*") if path.name in ("site-packages", "__pycache__")]


def test_a_tree_with_a_result_is_not_indexed_again(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "results"
    first = run_trees([tree], QUICK, 1, results)
    monkeypatch.setattr(wild, "examine_tree", lambda *_: pytest.fail("it is known already"))
    assert run_trees([tree], QUICK, 1, results) == first
    total = summarise_trees(first)
    assert (total["trees"], total["files"], total["unhandled"]) == (1, 2, [])
