"""Importing the sessions that Claude Code has kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import invoke, run

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def write_session(home: Path, folder: Path, name: str, *texts: str, day: str = "2026-03-02") -> Path:
    """Write a transcript of a session, the user and the assistant in turns, a minute apart."""
    place = home / ".claude" / "projects" / str(folder).replace("/", "-")
    place.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "another session", "leafUuid": "x"}]
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        content: Any = [{"type": "text", "text": text}] if number % 2 else text
        lines.append(
            {
                "type": role,
                "isSidechain": False,
                "cwd": str(folder),
                "sessionId": name,
                "uuid": f"{name}-{number}",
                "timestamp": f"{day}T10:{number:02}:00.000Z",
                "message": {"role": role, "content": content},
            }
        )
    file = place / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), "utf-8")
    return file


def report_of(*options: str, code: int = 0) -> dict[str, Any]:
    """Import, and return what was added."""
    return dict(json.loads(run("import", "--claude-code", "--json", *options, code=code))["report"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def test_the_sessions_of_a_project_are_remembered_at_their_own_times_and_once(home: Path, project: Path) -> None:
    write_session(home, project, "later", "We'll use MariaDB instead of Postgres.", "Fine.", day="2026-03-09")
    write_session(home, project, "first", "We decided to keep invoices in Postgres.", f"Done with {SECRET}.")
    write_session(home, home / "elsewhere", "other", "We decided to use Oracle.", "Fine.")
    write_session(home, project, "agent-7", "You are an agent.", "Yes.")

    first, second = report_of(), report_of()

    assert (first["sessions"], first["turns"], first["failed"]) == (2, 4, []) and first["facts"] > 0
    assert (second["sessions"], second["unchanged"], second["turns"], second["facts"]) == (0, 2, 0, 0)
    sessions = json.loads(run("sessions", "--json"))
    assert [(one["id"], one["status"], one["started_at"][:16], one["ended_at"][:16]) for one in sessions] == [
        ("later", "completed", "2026-03-09T10:00", "2026-03-09T10:01"),
        ("first", "completed", "2026-03-02T10:00", "2026-03-02T10:01"),
    ]
    told = run("timeline", "--session", "first")
    assert "2026-03-02" in told and SECRET not in told and "redacted" in told
    assert "Oracle" not in run("query", "database")


def test_where_no_session_is_found_what_to_try_is_told_once(home: Path) -> None:
    shown = run("import", "--claude-code")
    assert f"No session was found in {home / '.claude' / 'projects'} of this project; --all looks for" in shown
    assert (
        run("import", "--claude-code", "--all", "--dry-run")
        == f"No session was found in {home / '.claude' / 'projects'}.\n"
    )


def test_where_a_project_was_moved_the_folder_that_is_gone_is_named(home: Path) -> None:
    for number in range(5):
        write_session(
            home, home / f"old {number}", f"s{number}", "We use Oracle.", "Fine.", day=f"2026-03-0{number + 1}"
        )
    (home / "old 4").mkdir()

    shown = run("import", "--claude-code")

    calls = [f"   hyperloci import --claude-code --from '{home}/old {number}'" for number in (3, 2, 1)]
    assert shown.splitlines()[-4:] == [*calls, "and 1 more; --all names them"]
    elsewhere = run("import", "--claude-code", str(home / ".claude"))
    assert f"--claude-code {home / '.claude'} --from" in elsewhere
    assert "2 turns" in run("import", "--claude-code", "--from", str(home / "old 3"))


def test_a_folder_that_cannot_be_looked_at_is_not_called_gone(home: Path) -> None:
    transcript = write_session(home, home / "old", "s", "We use Oracle.", "Fine.")
    transcript.write_text(transcript.read_text().replace(f"{home}/old", f"{home}/{'old' * 100}"))
    assert "gone" not in run("import", "--claude-code")


def test_a_session_that_goes_on_is_read_from_where_it_was_left(home: Path, project: Path) -> None:
    write_session(home, project, "s", "We decided to keep invoices in Postgres.", "Done.")
    report_of()
    write_session(home, project, "s", "We decided to keep invoices in Postgres.", "Done.", "Never use Redis.", "Ok.")

    assert report_of()["turns"] == 2
    assert json.loads(run("sessions", "--json"))[0]["status"] == "completed"


def test_all_projects_are_read_each_into_its_own_memory_and_one_that_is_gone_is_named(
    home: Path, project: Path, tmp_path: Path
) -> None:
    other, gone = tmp_path / "other", tmp_path / "gone"
    other.mkdir()
    for number, folder in enumerate((project, other, gone)):
        write_session(home, folder, f"s{number}", f"We decided on plan number {number} for the invoices.", "Ok.")

    report = report_of("--all", code=3)

    assert report["sessions"] == 2
    assert f"its project lay in {gone}, which is gone" in report["failed"][0]
    assert [one["id"] for one in json.loads(run("sessions", "--json"))] == ["s0"]
    assert [one["id"] for one in json.loads(run("sessions", "--json", "-p", str(other)))] == ["s1"]
    assert report_of("--from", str(gone))["sessions"] == 1


def test_what_is_there_is_shown_before_it_is_read(home: Path, project: Path) -> None:
    write_session(home, project, "s", "We decided to keep invoices in Postgres.", "Done.")

    assert "1 session, 2026-03-02 to 2026-03-02" in run("import", "--claude-code", "--dry-run")
    assert json.loads(run("sessions", "--json")) == []
    assert "hyperloci import --claude-code" in run("install")
    assert "give a FILE, or --claude-code" in " ".join(invoke("import").output.split())


def test_a_session_that_hooks_report_on_is_left_to_them(home: Path, project: Path) -> None:
    from hyperloci.cli.common import open_memory
    from hyperloci.clock import system_clock
    from hyperloci.conversations.capture.records import RecordFactory

    with open_memory(project) as memory:
        memory.keep(RecordFactory(memory.project, "s", now=system_clock()).record_start("startup"))
    write_session(home, project, "s", "We decided to keep invoices in Postgres.", "Done.")

    assert report_of()["turns"] == 2
    assert json.loads(run("sessions", "--json"))[0]["status"] == "active"


@pytest.mark.model
@pytest.mark.req("E.10", "B.17")
def test_what_words_do_not_tell_is_read_by_the_model_that_an_import_starts(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_session(home, project, "one", "Postgres 16 it is, no mysql", "Done")
    write_session(home, project, "two", "Postgres 16 it is, no mysql", "Done", day="2026-03-03")
    two = home / ".claude" / "projects" / str(project).replace("/", "-") / "two.jsonl"
    kept = two.read_text("utf-8")
    two.unlink()
    assert report_of()["facts"] == 0
    two.write_text(kept, "utf-8")
    monkeypatch.setenv("HYPERLOCI_EMBEDDER", "true")
    assert report_of()["facts"] == 1
