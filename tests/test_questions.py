"""The cases of `bench questions`: they parse, and an answer is the block of lines that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench._changelog_cases import load_changelog
from bench._question_cases import (
    CASES,
    KINDS,
    LONGEST_BLOCK,
    Answer,
    RepositoryCases,
    find_answer,
    list_repository_names,
    list_tuning_names,
    load_cases,
)
from bench.questions import find_place
from hyperloci.model.search import Hit, HitSource
from tests.working_tree import WorkingTree

PYTHON = """\
import os


class Upload:
    size = 3

    def send(
        self,
    ) -> None:
        post(self.size)

        wait()

    def stop(self) -> None: ...


LIMIT = 5
"""

PAGE = """\
# Uploads

They are sent.

## Limits

At most five.
"""


def show(path: str, first: int, last: int) -> Hit:
    """Return a hit that shows lines of a file."""
    return Hit(
        id="x",
        type="snippet",
        subtype="code",
        content="",
        score=1.0,
        confidence=1.0,
        tier="longterm",
        scope="p",
        created_at="",
        valid_from="",
        valid_until=None,
        source=HitSource(kind="code", path=path, line_start=first, line_end=last),
    )


@pytest.mark.parametrize("name", list_repository_names(held_out=False))
def test_every_repository_has_sixty_questions_of_every_kind(name: str) -> None:
    wanted = load_cases(name)

    assert wanted.repository.startswith("https://") and len(wanted.commit) == 40
    assert len(wanted.cases) >= 60
    assert {case.kind for case in wanted.cases} == set(KINDS)
    assert len({case.question for case in wanted.cases}) == len(wanted.cases)
    for case in wanted.cases:
        assert len(case.words) == 3 and case.answers, case.question
        assert all("::" in answer or answer.startswith("commit:") for answer in case.answers), case.question
    held_out = sum(case.is_held_out for case in wanted.cases)
    assert 0.45 < held_out / len(wanted.cases) <= 0.5


def test_there_are_four_repositories_and_two_held_out() -> None:
    names, held_out = list_repository_names(held_out=False), list_repository_names(held_out=True)

    assert len(names) >= 4 and len(held_out) >= 2
    assert len(list(CASES.glob("*.jsonl"))) == len(names) + len(held_out) + len(list_tuning_names())


@pytest.mark.parametrize("name", list_repository_names(held_out=True))
def test_of_a_repository_that_is_held_out_all_questions_are(name: str) -> None:
    wanted = load_cases(name)

    assert len(wanted.cases) >= 15 and all(case.is_held_out for case in wanted.cases)
    assert {"where", "why", "configured"} <= {case.kind for case in wanted.cases} <= set(KINDS)


@pytest.mark.parametrize("name", list_tuning_names())
def test_of_a_repository_for_tuning_no_question_is_held_out_and_none_counts_in_a_goal(name: str) -> None:
    wanted = load_cases(name)

    assert len(wanted.cases) >= 20 and not any(case.is_held_out for case in wanted.cases)
    assert {"where", "why", "configured"} <= {case.kind for case in wanted.cases} <= set(KINDS)
    assert name not in list_repository_names(held_out=False)


def test_an_entry_of_a_changelog_is_answered_by_the_commits_with_its_number(tree: WorkingTree) -> None:
    tree.git("init", "-q")
    tree.commit("Split labels at commas\n\nCloses #12", tags_py="LIMIT = 1\n")
    tree.commit("Take blanks away (#13)", tags_py="LIMIT = 2\n")
    entries = "# 1.0\n\n* [BUG #12](https://example.org/12):\n  Labels are split at commas.\n- Too short (#13)\n"
    tree.commit("changelog: #12 and #13", CHANGELOG_md=entries)
    empty = RepositoryCases(name="x", repository="", commit="", is_held_out=False, cases=())

    (case,) = load_changelog(empty, tree.root, 10).cases

    assert (case.kind, case.question) == ("why", "why: Labels are split at commas")
    assert case.answers == (f"commit:{tree.git('rev-parse', 'HEAD~2').strip()}",)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("up.py::def send(", (7, 12)),
        ("up.py::LIMIT", (17, 17)),
        ("up.py::class Upload", (4, 14)),
        ("up.py::size = 3\n\n    def", (5, 5)),
        ("up.md::# Uploads", (1, 4)),
        ("up.md::At most", (7, 7)),
    ],
)
def test_an_answer_is_the_block_that_its_text_begins(written: str, lines: tuple[int, int], tmp_path: Path) -> None:
    (tmp_path / "up.py").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "up.md").write_text(PAGE, encoding="utf-8")

    answer = find_answer(tmp_path, written)

    assert (answer.first, answer.last) == lines


def test_of_a_long_block_the_beginning_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "up.py").write_text("class Upload:\n" + "    size = 3\n" * 100, encoding="utf-8")

    assert find_answer(tmp_path, "up.py::class Upload").last == 1 + LONGEST_BLOCK


def test_an_answer_that_the_tree_does_not_hold_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "up.py").write_text(PYTHON, encoding="utf-8")

    with pytest.raises(ValueError, match="check out the commit"):
        find_answer(tmp_path, "up.py::def receive(")


def test_a_hit_shows_an_answer_where_its_lines_meet_it() -> None:
    answers = (Answer(path="up.py", first=7, last=12), Answer(commit="abc123"))

    assert find_place([show("up.py", 1, 6), show("up.py", 12, 40)], answers) == 2
    assert find_place([show("other.py", 7, 12)], answers) == 0
    assert Answer(commit="abc123").is_shown_by(HitSource(kind="commit", commit="abc123def"))
