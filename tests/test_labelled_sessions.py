"""The data that the scorers are trained on: every file parses, and its labels fit what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench._labelled_sessions import FOLDER, PUBLISHED, LabelledProject, read_projects, read_sessions
from bench.train_extraction import is_published, read_samples
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER

KINDS = {
    "decision",
    "constraint",
    "deadline",
    "preference",
    "procedure",
    "fact",
    "user",
    "root_cause",
    "dead_end",
}
EFFECTS = {"replaces", "refines", "withdraws"}
FILES = sorted(FOLDER.glob("*.txt"))
TONGUES = [FOLDER.parent / name for name in ("sessions_tongues", "sessions_tongues_unread")]


@pytest.fixture(scope="module")
def projects() -> list[LabelledProject]:
    return list(read_projects())


def test_every_labelled_file_is_read(projects: list[LabelledProject]) -> None:
    assert [project.name for project in projects] == [path.stem for path in FILES]
    assert len(projects) >= 70
    for project in projects:
        assert project.sessions and all(project.sessions), project.name
        assert any(turn.kept for session in project.sessions for turn in session), project.name


@pytest.mark.parametrize("folder", TONGUES, ids=lambda folder: folder.name)
def test_sessions_in_other_languages_have_what_is_to_be_kept_and_what_is_not(folder: Path) -> None:
    for project in read_projects(folder):
        turns = [turn for session in project.sessions for turn in session]
        assert {label.kind for turn in turns for label in turn.kept} <= KINDS, project.name
        assert sum(len(turn.kept) for turn in turns) >= 4, project.name
        assert sum(len(turn.never) for turn in turns) >= 3, project.name


def test_every_label_has_a_known_kind_and_a_name_of_its_own(projects: list[LabelledProject]) -> None:
    for project in projects:
        kept = [label for session in project.sessions for turn in session for label in turn.kept]
        assert {label.kind for label in kept} <= KINDS, project.name
        assert {label.importance for label in kept} <= {1, 2, 3}, project.name
        assert len({label.name for label in kept}) == len(kept), project.name


def test_what_a_label_answers_or_affects_was_said_before_it(projects: list[LabelledProject]) -> None:
    for project in projects:
        said, names = "", set[str]()
        for turn in (turn for session in project.sessions for turn in session):
            for label in turn.kept:
                place = f"{project.name} {label.name}"
                before = said + turn.view.text[: max(0, turn.view.text.find(label.quote))]
                assert label.about is None or label.about in before, place
                assert label.old is None or (label.old[0] in names and label.old[1] in EFFECTS), place
                names.add(label.name)
            said += f"{turn.view.text}\n"


def test_turns_and_labels_are_told_apart() -> None:
    ((user, action, assistant),) = read_sessions(
        "# project: a shop\n"
        "## session 2026-01-14\n"
        "U: rows then,\\nand never a map\n"
        "+ c1 decision 3 | rows then | about: - | old: -\n"
        "- once | and never a map\n"
        "T: Read | shop.py | 20 lines\n"
        "A: Rows it is.\n"
    )
    assert [turn.view.speaker for turn in (user, action, assistant)] == [USER, ACTION, ASSISTANT]
    assert user.view.text == "rows then,\nand never a map"
    assert [(label.name, label.quote, label.about, label.old) for label in user.kept] == [
        ("c1", "rows then", None, None)
    ]
    assert user.never == ["and never a map"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("+ c1 decision 3 | columns then | about: - | old: -", "line 3: the turn does not say 'columns then'"),
        ("- once | a map", "line 3: the turn does not say 'a map'"),
        ("? what is this", "line 3: neither a turn nor a label"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_with_its_line(line: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_sessions(f"## session 2026-01-14\nU: rows then\n{line}\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_statement_on_its_own_has_a_known_kind() -> None:
    for row in read_rows(FOLDER.parent / "statement_kinds.jsonl"):
        assert row["text"].strip() and row["kind"] in KINDS, row


def test_every_pair_of_statements_is_a_contradiction_or_none() -> None:
    for row in read_rows(FOLDER.parent / "statement_pairs.jsonl"):
        assert row["old"].strip() and row["new"].strip(), row
        assert row["label"] in {"contradiction", "compatible"} and row["kind"], row


CHANGED_MINDS = [f"changed_minds{kind}.jsonl" for kind in ("", "_answered", "_done", "_played", "_told")]


@pytest.mark.parametrize("name", CHANGED_MINDS)
def test_every_changed_mind_says_which_statements_it_ends(name: str) -> None:
    for row in read_rows(FOLDER.parent / name):
        for change in row["new"]:
            assert change["text"].strip() and change["how"] in {*EFFECTS, "none"}, change
            assert set(change["replaces"]) <= set(range(len(row["living"]))), change
            assert bool(change["replaces"]) == (change["how"] != "none"), change


def test_published_sessions_say_what_is_kept_what_is_weak_and_what_is_not() -> None:
    projects = list(read_projects(PUBLISHED))
    turns = [turn for project in projects for session in project.sessions for turn in session]

    assert all(is_published(project.name) for project in projects) and len(projects) >= 8
    assert {label.kind for turn in turns for label in turn.kept} <= KINDS
    assert all(
        sum(len(part) for part in parts) > 400
        for parts in zip(*((turn.kept, turn.never, turn.weak) for turn in turns), strict=True)
    )
    for project in projects:
        names = [label.name for session in project.sessions for turn in session for label in turn.kept]
        assert len(set(names)) == len(names), project.name


def test_of_a_weak_statement_nothing_is_learned() -> None:
    said = "U: Use bun here. Tests are slow.\n+ a constraint 2 | Use bun here. | about: - | old: -\n"
    sessions = read_sessions(f"## session 2026-01-01\n{said}~ b fact 1 | Tests are slow.\n")

    (sample,) = read_samples([LabelledProject("minsky-1", sessions)])

    assert sample.label is not None and sample.label.name == "a"
