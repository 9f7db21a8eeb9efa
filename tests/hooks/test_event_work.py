"""What an event is answered, whatever becomes of the work for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY, OFFSET_VARIABLE, read_clock
from hyperloci.config import Settings
from hyperloci.errors import StoreBusyError
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureRecord
from hyperloci_hooks import outcome_log
from hyperloci_hooks.event_work import EventWork


@contextmanager
def lend(settings: Settings, place: Path, project_id: str) -> Iterator[Memory]:
    with Memory.open(settings, place) as memory:
        yield memory


def make_place(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return a project's folder, and the environment of a hook there."""
    project = tmp_path / "project"
    project.mkdir()
    return project, {"HOME": str(tmp_path), "RLM_MEMORY_DB": str(tmp_path / "memory.db"), "HYPERLOCI_EMBEDDER": "false"}


def refuse(memory: Memory, record: CaptureRecord) -> None:
    raise StoreBusyError("somebody else writes")


def test_a_session_gets_its_context_even_if_turns_cannot_be_consolidated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, environ = make_place(tmp_path)
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        memory.remember_fact("We deploy on Tuesdays", category="decision")
    monkeypatch.setattr(Memory, "consolidate_record", refuse)

    work = EventWork("SessionStart", environ, cwd=str(project), lend=lend)
    answer = work.answer_event(json.dumps({"session_id": "s", "source": "startup"}).encode())

    assert "We deploy on Tuesdays" in answer["hookSpecificOutput"]["additionalContext"]
    assert not work.spooled and not work.is_lost


DEPLOYS = "Deploys of the shop happen on Tuesdays only, never on a Friday"


def submit(environ: dict[str, str], project: Path, name: str, mark: str, **told: str) -> str:
    work = EventWork(name, environ, cwd=str(project), mark=mark, lend=lend)
    answer = work.answer_event(json.dumps({"session_id": "s", **told}).encode())
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize("late", ["one", "", "another"])
def test_what_a_hook_had_no_time_to_hand_over_is_told_with_the_next_prompt(tmp_path: Path, late: str) -> None:
    project, environ = make_place(tmp_path)
    with Memory.open(settings := Settings.from_env(environ, project), project) as memory:
        memory.remember_fact(DEPLOYS, category="constraint")
    assert DEPLOYS in submit(environ, project, "SessionStart", "one", source="startup")
    if late:
        outcome_log.append_outcome(settings.installation_paths.spool, "SessionStart", outcome_log.LATE, mark=late)

    told = submit(environ, project, "UserPromptSubmit", "two", prompt="deploy the shop to production on friday please")

    assert (DEPLOYS in told) == (late == "one")
    again = submit(environ, project, "UserPromptSubmit", "three", prompt="then deploy the shop to production tomorrow")
    assert DEPLOYS not in again
    with Memory.open(settings, project) as memory:
        events = [one.event for one in memory.list_injections()]
    assert events == (["prompt"] if late == "one" else ["session start"])


def test_a_run_that_asks_a_second_time_gets_what_nobody_waited_for_the_first_time(tmp_path: Path) -> None:
    project, environ = make_place(tmp_path)
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        memory.remember_fact(DEPLOYS, category="constraint")
    submit(environ, project, "SessionStart", "start", source="fork")
    for _ in range(2):
        assert DEPLOYS in submit(environ, project, "UserPromptSubmit", "one", prompt="deploy the shop on friday please")


def test_what_came_too_late_is_told_again_in_a_session_that_goes_on_in_another_project(tmp_path: Path) -> None:
    project, environ = make_place(tmp_path)
    with Memory.open(settings := Settings.from_env(environ, project), project) as memory:
        memory.remember_fact(DEPLOYS, category="constraint")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    submit(environ, elsewhere, "SessionStart", "zero", source="startup")
    assert DEPLOYS in submit(environ, project, "SessionStart", "one", source="startup")
    outcome_log.append_outcome(settings.installation_paths.spool, "SessionStart", outcome_log.LATE, mark="one")
    assert DEPLOYS in submit(environ, project, "UserPromptSubmit", "two", prompt="deploy the shop on friday please")


def test_late_marks_are_read_of_the_latest_events_alone(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert outcome_log.find_late_marks(folder) == frozenset()
    outcome_log.append_outcome(folder, "SessionStart", outcome_log.LATE, mark="old")
    for _ in range(1_000):
        outcome_log.append_outcome(folder, "PostToolUse", outcome_log.SERVED, mark="served")
    outcome_log.append_outcome(folder, "UserPromptSubmit", outcome_log.LATE, mark="new")
    assert outcome_log.find_late_marks(folder) == {"new"}


def test_an_event_is_dated_by_the_clock_of_its_hook_and_not_of_the_server_that_sees_to_it(tmp_path: Path) -> None:
    project, environ = make_place(tmp_path)
    environ |= {OFFSET_VARIABLE: str(-30 * MS_PER_DAY // 1_000)}
    before = read_clock(environ)
    EventWork("UserPromptSubmit", environ, cwd=str(project), lend=lend).answer_event(
        json.dumps({"session_id": "s", "prompt": "We deploy on Tuesdays, whatever happens."}).encode()
    )
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        (turn,) = memory.store.nodes.query_nodes(subtypes=("episode",))
    assert before <= turn.event_time <= read_clock(environ)


def test_a_setting_that_is_wrong_has_its_default_and_the_user_is_told_at_a_sessions_start(tmp_path: Path) -> None:
    project, environ = make_place(tmp_path)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "hyperloci.toml").write_text('inject_chars = 12000\nsynchronous = "full"\n')
    wrong = {**environ, "HYPERLOCI_LOG_LEVEL": "WARN", "HYPERLOCI_PROFILE": "nope"}
    start = EventWork("SessionStart", wrong, cwd=str(project), lend=lend).answer_event(
        json.dumps({"session_id": "s", "source": "startup"}).encode()
    )
    lines = start["systemMessage"].splitlines()
    assert [line.startswith("Hyperloci: a setting is wrong, so its default holds: ") for line in lines] == [True] * 3
    assert "hyperloci.toml: inject_chars=12000 must be between 0 and 9500." in lines[0]
    assert "log_level='WARN'" in lines[1] and "profile='nope' is unknown" in lines[2]
    told = EventWork("UserPromptSubmit", wrong, cwd=str(project), lend=lend).answer_event(
        json.dumps({"session_id": "s", "prompt": "We deploy on Tuesdays, whatever happens."}).encode()
    )
    assert "systemMessage" not in told
    (tmp_path / ".claude" / "hyperloci.toml").unlink()
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        assert [turn.content for turn in memory.store.nodes.query_nodes(subtypes=("episode",))] == [
            "We deploy on Tuesdays, whatever happens."
        ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"RLM_MEMORY_DB": "~no_such_user_at_all/memory.db"},
        {"HYPERLOCI_STATE_DIR": "~no_such_user_at_all/state"},
        {"HYPERLOCI_CONFIG": "broken.toml"},
        {"HYPERLOCI_CONFIG": "misspelt.toml"},
    ],
    ids=lambda wrong: next(iter(wrong.values())),
)
def test_where_a_setting_does_not_say_whose_memory_it_is_nothing_is_kept_in_anothers(
    tmp_path: Path, wrong: dict[str, str]
) -> None:
    project, environ = make_place(tmp_path)
    (tmp_path / "broken.toml").write_text("database = \n")
    (tmp_path / "misspelt.toml").write_text('databse = "/somewhere/else.db"\n')
    wrong = {name: str(tmp_path / value) if value.endswith("toml") else value for name, value in wrong.items()}
    work = EventWork("SessionStart", {**environ, **wrong}, cwd=str(project), lend=lend)
    answer = work.answer_event(json.dumps({"session_id": "s", "source": "startup"}).encode())
    assert answer["systemMessage"].startswith("Hyperloci: nothing is kept, as a setting is wrong: ")
    assert not list(tmp_path.rglob("*.db"))


def test_a_start_whose_record_cannot_be_stored_in_time_has_what_was_rendered_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, environ = make_place(tmp_path)
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        memory.remember_fact("We deploy on Tuesdays", category="decision")
        memory.prepare_opening()
    monkeypatch.setattr(Memory, "keep", refuse)

    work = EventWork("SessionStart", environ, cwd=str(project), lend=lend)
    assert work.make_ready_answer() is None
    work.answer_event(json.dumps({"session_id": "s", "source": "startup"}).encode())

    ready = work.make_ready_answer()
    assert ready is not None and "We deploy on Tuesdays" in ready["hookSpecificOutput"]["additionalContext"]
