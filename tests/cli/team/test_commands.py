"""The team's commands, from making one to leaving it."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import invoke, remember, run


@pytest.fixture
def team(database_url: str) -> str:
    """A team that this machine has made; returns its address."""
    run("team", "init", database_url, "--name", "Engineers", "--as", "ada")
    return database_url


def share(home: Path, id: str) -> None:
    with sqlite3.connect(home / "memory.db") as connection:
        connection.execute("UPDATE nodes SET visibility = 'shared' WHERE id = ?", (id,))


def use_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "other"
    home.mkdir()
    for name, value in {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "RLM_MEMORY_DB": home / "memory.db",
    }.items():
        monkeypatch.setenv(name, str(value))
    return home


def test_a_team_is_made_joined_exchanged_with_and_left(
    team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(home, remember("Deploys go out on Tuesdays"))
    assert json.loads(run("team", "sync", "--json"))["sent"] == 1
    invitation = run("team", "invite", "bob")
    token = invitation.split("--token ")[1].strip()

    use_another_machine(tmp_path, monkeypatch)
    assert "joined Engineers as bob" in run("team", "join", team, "--token", token, "--yes")
    assert "1 received" in run("team", "sync")
    assert "Deploys go out on Tuesdays" in run("query", "deploys")
    told = run("team", "status")
    assert "ada (admin), bob (member)" in told
    assert "left the team" in run("team", "leave")
    assert "joined no team" in invoke("team", "sync").stderr
    assert "Deploys go out on Tuesdays" in run("query", "deploys")


def test_a_revoked_person_is_told_so(team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = run("team", "invite", "bob").split("--token ")[1].strip()
    assert "revoked 1" in run("team", "revoke", "bob")
    use_another_machine(tmp_path, monkeypatch)
    assert "revoked" in invoke("team", "join", team, "--token", token, "--yes").stderr


def test_a_second_team_is_refused_until_the_first_is_left(team: str) -> None:
    assert "`hyperloci team leave` first" in invoke("team", "join", team, "--token", "x", "--yes").stderr


def test_a_project_takes_part_only_when_the_user_says_so(team: str) -> None:
    found = invoke("team", "join", "--as-project", "example.com/x", stdin="n\n")
    assert found.exit_code != 0
    assert "example.com/x" not in run("team", "status")


def test_a_database_without_an_answer_is_told_in_one_line() -> None:
    found = invoke("team", "init", "postgresql:///x?host=/nonexistent-folder", "--as", "ada")
    assert found.exit_code == 1
    assert "did not answer" in found.stderr


def test_a_missing_driver_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'hyperloci[team]'" in invoke("team", "init", "postgresql://db/x", "--as", "ada").stderr
