"""What the doctor finds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperloci.cli.diagnostics import client_checks
from hyperloci.cli.diagnostics.diagnosis import Severity
from hyperloci.cli.diagnostics.doctor import run_checks
from hyperloci.cli.diagnostics.storage_checks import file_system_of
from hyperloci.cli.install.client_commands import find_folders
from hyperloci.cli.install.client_install import plan_client
from hyperloci.cli.install.codex_trust import CodexHook
from hyperloci.cli.install.commands import CommandLine, InstalledCommands
from hyperloci.cli.install.installer import InstallScope, apply_plan
from hyperloci.clock import MS_PER_DAY, system_clock, to_iso
from hyperloci.config import Settings
from hyperloci.conversations.claude_allowance import ClaudeAllowance
from hyperloci.maintenance.backups import ensure_backup
from hyperloci.memory import Memory
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci_hooks import outcome_log
from tests.support import NOW, add


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "memory.db"))
    monkeypatch.setenv("HYPERLOCI_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "memory.db"


def test_a_database_others_can_read_is_a_warning(database: Path, tmp_path: Path) -> None:
    Store.open(database).close()
    database.chmod(0o644)

    findings = run_checks(tmp_path)

    assert any(item.level is Severity.WARNING and "read by others" in item.message for item in findings)


def test_a_folder_in_which_no_embedder_can_listen_is_a_warning(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERLOCI_RUNTIME_DIR", str(tmp_path / ("d" * 100)))
    monkeypatch.setenv("HYPERLOCI_EMBEDDER", "1")
    [found] = [item for item in run_checks(tmp_path) if item.subject == "embedder"]
    assert found.level is Severity.WARNING and "socket" in found.message


def test_a_home_folder_is_no_project_and_no_fault(database: Path, tmp_path: Path) -> None:
    Store.open(database).close()
    [(level, message)] = [
        (item.level, item.message)
        for item in run_checks(tmp_path)
        if item.subject == "project" and "broad" in item.message
    ]
    assert level is Severity.NOTE and "open a folder inside it" in message
    assert not [item for item in run_checks(tmp_path) if item.level is Severity.ERROR]


def test_a_clone_that_borrows_objects_is_told_why_its_commits_are_not_remembered(
    database: Path, tmp_path: Path
) -> None:
    Store.open(database).close()
    for name in ("origin", "clone"):
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
    theirs = tmp_path / "origin" / ".git" / "objects"
    (tmp_path / "clone" / ".git" / "objects" / "info" / "alternates").write_text(f"{theirs}\n")
    [told] = [item for item in run_checks(tmp_path / "clone") if item.subject == "history"]
    assert told.level is Severity.WARNING and str(theirs) in told.message
    assert told.mend is not None and "git repack" in told.mend
    assert not [item for item in run_checks(tmp_path / "origin") if "borrows objects" in item.message]


def test_names_of_things_are_not_counted_as_memories(database: Path, tmp_path: Path) -> None:
    with Memory.open(Settings.from_env(dict(os.environ), tmp_path), tmp_path) as memory:
        memory.remember_fact("We keep invoices in Postgres, and sessions in Redis.")
    assert [
        item
        for item in run_checks(tmp_path)
        if item.subject == "database" and ", 1 memory and 2 names," in item.message
    ]


def test_the_users_own_claude_code_is_looked_at_where_it_was_asked_for(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> list[tuple[Severity, str]]:
        return [(item.level, item.message) for item in run_checks(tmp_path) if item.subject == "consolidation"]

    Store.open(database).close()
    assert said() == []
    monkeypatch.setenv("HYPERLOCI_CONSOLIDATION", "claude")
    monkeypatch.setenv("HYPERLOCI_CLAUDE_PROGRAM", str(tmp_path / "claude"))
    [(level, message)] = said()
    assert level is Severity.WARNING and "was not found" in message
    (tmp_path / "claude").touch(0o700)
    assert said() == [(Severity.OK, f"by {tmp_path / 'claude'}: 0 of 20 calls used today")]
    with Store.open(database) as store:
        ClaudeAllowance(store, Settings.from_env(dict(os.environ)), system_clock).note_failure("Not logged in")
    [(level, message)] = said()
    assert level is Severity.WARNING and "failed 1 times in a row: Not logged in" in message


def test_drift_is_found_and_repaired_from_the_rows_of_truth(database: Path, tmp_path: Path) -> None:

    with Store.open(database) as store:
        node = add(store, "alpha beta", now=NOW)
        with store.transaction():
            store.connection.execute("DELETE FROM keywords")
            store.connection.execute("DELETE FROM pending")

    before = [item for item in run_checks(tmp_path) if item.level is Severity.WARNING and item.subject == "database"]
    after = run_checks(tmp_path, repair=True)

    assert len(before) == 2
    assert not [item for item in after if item.level is Severity.WARNING and item.subject == "database"]
    with Store.open(database) as store:
        from hyperloci.model.search import SearchFilter

        found = store.keyword_search.rank_by_bm25(["alpha"], store.filters.select_allowed(SearchFilter()), 5)
        assert list(found) == [node.key]


def test_settings_that_do_not_parse_are_an_error_with_the_file_named(database: Path, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "hyperloci.toml").write_text("device = [")

    findings = run_checks(tmp_path)

    assert findings[-1].level is Severity.ERROR
    assert "hyperloci.toml" in findings[-1].message


def test_the_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("a / ext4 rw 0 0\nb /home nfs4 rw 0 0\nc /home/me ext4 rw 0 0\n")

    assert file_system_of(Path("/home/you/x.db"), mounts) == "nfs4"
    assert file_system_of(Path("/home/me/x.db"), mounts) == "ext4"
    assert file_system_of(Path("/x.db"), mounts) == "ext4"
    assert file_system_of(Path("/x.db"), tmp_path / "none") is None


def test_a_database_with_damaged_pages_is_an_error_with_the_newest_backup_as_its_mend(
    database: Path, tmp_path: Path
) -> None:
    backups = tmp_path / ".claude" / "hyperloci" / "backups"
    with Store.open(database) as store:
        add(store, "alpha beta", now=NOW)
        for name in ("old.db", "new.db"):
            backups.mkdir(parents=True, exist_ok=True)
            store.back_up(backups / name)
        root = store.connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'nodes'").fetchone()[0]
        page = store.connection.execute("PRAGMA page_size").fetchone()[0]
    os.utime(backups / "old.db", (1, 1))
    data = bytearray(database.read_bytes())
    data[(root - 1) * page : root * page] = b"\xa5" * page
    database.write_bytes(data)

    for repair in (False, True):
        errors = [item for item in run_checks(tmp_path, repair=repair) if item.level is Severity.ERROR]
        assert errors and all(item.subject == "database" for item in errors)
        assert any("new.db" in item.mend for item in errors)


def test_a_place_where_no_database_can_be_made_is_an_error(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "file" / "memory.db"))

    assert [item.mend for item in run_checks(tmp_path) if item.level is Severity.ERROR] == [
        "set RLM_MEMORY_DB to a file that you may write"
    ]


@pytest.mark.parametrize("variable", ["HYPERLOCI_STATE_DIR", "HYPERLOCI_RUNTIME_DIR"])
def test_a_folder_that_cannot_be_made_is_an_error(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(variable, str(tmp_path / "file" / "folder"))

    (error,) = [item for item in run_checks(tmp_path) if item.level is Severity.ERROR]

    assert str(tmp_path / "file" / "folder") in error.message
    assert variable in error.mend


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="no folder here that root can't write")
def test_a_folder_that_not_even_root_can_write_is_an_error(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERLOCI_STATE_DIR", "/proc/hyperloci")
    monkeypatch.setenv("RLM_MEMORY_DB", "/proc/hyperloci/memory.db")

    errors = [item.message for item in run_checks(tmp_path) if item.level is Severity.ERROR]

    assert errors == [
        "state_dir: /proc/hyperloci can't be made in /proc",
        "/proc/hyperloci/memory.db does not exist and can't be created: /proc is not writable",
    ]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HYPERLOCI_PROFILE", "nope"), ("HYPERLOCI_LOG_LEVEL", "LOUD"), ("HYPERLOCI_INJECT_CHARS", "20000")],
)
def test_an_unknown_value_of_a_setting_is_an_error(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    error = run_checks(tmp_path)[-1]

    assert error.level is Severity.ERROR and value in error.message


def test_a_file_that_cannot_be_written_is_not_answered_with_a_backup(database: Path, tmp_path: Path) -> None:
    database.mkdir()

    (error,) = [item for item in run_checks(tmp_path) if item.level is Severity.ERROR]

    assert "Is a directory" in error.message
    assert "restore-backup" not in error.mend


def test_the_last_backup_is_shown_and_a_late_one_is_a_warning(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> tuple[Severity, str]:
        [finding] = [item for item in run_checks(tmp_path) if item.subject == "backups"]
        return finding.level, finding.message

    with Store.open(database) as store:
        assert said()[0] is Severity.NOTE and "none yet" in said()[1]
        settings = Settings.from_env(os.environ, tmp_path)
        made = ensure_backup(store, settings, system_clock)
        assert made is not None
        assert said()[0] is Severity.OK and str(made.path) in said()[1]
        made.path.rename(made.path.with_name(made.path.name.replace(str(made.at), str(made.at - 8 * MS_PER_DAY))))
        assert said()[0] is Severity.WARNING and "1 week ago" in said()[1]
    for part in ("DAILY", "WEEKLY", "MONTHLY"):
        monkeypatch.setenv(f"HYPERLOCI_BACKUPS_{part}", "0")
    assert said()[0] is Severity.NOTE and "switched off" in said()[1]


def test_what_hooks_left_is_counted(database: Path, tmp_path: Path) -> None:
    spool = Settings.from_env(os.environ, tmp_path).spool_dir
    spool.mkdir(parents=True)
    (spool / "1.jsonl").touch()
    (spool / "2.bad").touch()
    (spool / "2.why").write_text("0.1\nit ended the process\n")
    (spool.parent / "3.jsonl").touch()

    said = [item.message for item in run_checks(tmp_path) if item.subject == "spool"]

    assert len(said) == 3 and "for no database" in said[2]
    assert "waiting to be stored" in said[0] and "it ended the process" in said[1]


def test_what_became_of_hooks_is_told_with_what_to_do_about_it(database: Path, tmp_path: Path) -> None:
    folder = str(Settings.from_env(os.environ, tmp_path).spool_dir)

    def said() -> list[tuple[Severity, str]]:
        return [(item.level, item.message) for item in run_checks(tmp_path) if item.subject == "hooks"]

    assert said() == []
    for took in range(1, 101):
        outcome_log.append_outcome(folder, "UserPromptSubmit", outcome_log.SERVED, took, "m")
    [(level, message)] = said()
    assert level is Severity.OK and "100 events" in message and "UserPromptSubmit 51/96" in message
    for outcome in (outcome_log.LATE, outcome_log.SPOOLED, outcome_log.DROPPED):
        outcome_log.append_outcome(folder, "Stop", outcome, 5, "m")
    levels, messages = zip(*said(), strict=True)
    assert levels == (Severity.WARNING, Severity.WARNING, Severity.WARNING, Severity.OK)
    assert "1 of 101 hooks" in messages[0] and "waited in the spool" in messages[1] and "got lost" in messages[2]


@pytest.mark.parametrize(("days", "told"), [("0", "kept for ever"), ("30", "deleted after 30 days")])
def test_the_doctor_tells_what_the_archive_holds_and_how_to_limit_it(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: str, told: str
) -> None:
    monkeypatch.setenv("HYPERLOCI_COLD_RETENTION_DAYS", days)
    Store.open(database).close()
    assert not [item for item in run_checks(tmp_path) if item.subject == "archive"]
    Archive.for_database(database).append_lines("2026-01-15", [{"chunk": "c", "turns": []}])

    [found] = [item for item in run_checks(tmp_path) if item.subject == "archive"]

    assert "since 2026-01-15" in found.message and told in found.message and "cold_retention_days" in found.message


def test_each_client_that_is_found_is_told_with_its_wiring_and_its_last_event(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(client: str) -> list[tuple[Severity, str]]:
        return [(item.level, item.message) for item in run_checks(tmp_path) if item.subject == client]

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert said("gemini") == said("codex") == []
    gemini = tmp_path / "gemini"
    gemini.write_text("#!/bin/sh\necho 0.99.0\n")
    gemini.chmod(0o755)
    (tmp_path / ".codex").mkdir()
    assert said("gemini") == [(Severity.NOTE, "Gemini CLI 0.99.0 (made for 0.61.0): not wired")]
    assert said("codex") == [(Severity.NOTE, "Codex without its command on the PATH: not wired")]
    folders = find_folders(tmp_path / "place")
    commands = InstalledCommands(CommandLine("hyperloci"), CommandLine("hyperloci-hook"))
    apply_plan(plan_client("gemini", folders, InstallScope.USER, commands))
    settings = tmp_path / ".gemini" / "settings.json"
    wired = f"Gemini CLI 0.99.0 (made for 0.61.0): wired in {settings}; last event: "
    assert said("gemini") == [(Severity.OK, f"{wired}none yet")]
    with Store.open(database) as store, store.transaction():
        store.sessions.note_seen("s", store.scopes.ensure_scope("p", now=NOW), now=NOW, client="gemini")
    assert said("gemini") == [(Severity.OK, f"{wired}{to_iso(NOW)[:16].replace('T', ' ')}")]
    settings.write_text("[")
    [(level, message)] = said("gemini")
    assert level is Severity.WARNING and "left unchanged" in message


def test_hooks_that_codex_does_not_trust_are_a_warning_that_says_what_to_do(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust = ["untrusted"]
    hook = {"key": "k", "currentHash": "sha256:1", "command": "hyperloci-hook"}
    (tmp_path / ".codex").mkdir()
    (tmp_path / "codex").write_text("#!/bin/sh\necho codex-cli 0.169.0\n")
    (tmp_path / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setattr(
        client_checks, "list_codex_hooks", lambda *_: [CodexHook(hook["key"], hook["currentHash"], trust[0])]
    )
    commands = InstalledCommands(CommandLine("hyperloci"), CommandLine("hyperloci-hook"))
    apply_plan(plan_client("codex", find_folders(tmp_path), InstallScope.USER, commands))

    def said() -> tuple[Severity, str, str]:
        [_, item] = [item for item in run_checks(tmp_path) if item.subject == "codex"]
        return item.level, item.message, item.mend

    level, message, mend = said()
    assert level is Severity.WARNING and "1 of 1 hooks are untrusted" in message and "--trust" in mend
    trust[0] = "trusted"
    assert said() == (Severity.OK, "all 1 hooks are trusted", "")
