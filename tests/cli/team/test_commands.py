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
    token = run("team", "invite", "bob").splitlines()[1]

    use_another_machine(tmp_path, monkeypatch)
    assert "joined Engineers as bob" in run("team", "join", team, "--token", token, "--yes")
    assert "1 received" in run("team", "sync")
    assert "Deploys go out on Tuesdays" in run("query", "deploys")
    told = run("team", "status")
    assert "ada (admin), bob (member)" in told
    assert "left the team" in run("team", "leave")
    assert "joined no team" in invoke("team", "sync").stderr
    assert "Deploys go out on Tuesdays" in run("query", "deploys")


def test_statements_of_two_people_that_contradict_each_other_are_shown_to_both(
    team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(home, remember("The upload limit is 10 MB"))
    run("team", "sync")
    token = run("team", "invite", "bob").splitlines()[1]
    with monkeypatch.context() as patch:
        other = use_another_machine(tmp_path, patch)
        run("team", "join", team, "--token", token, "--yes")
        remember("The upload limit is 20 MB")
        told = run("team", "sync")
        assert "1 contradiction with what is held here" in told
        assert "The upload limit is 20 MB" in run("query", "is:contradicted")
        (id,) = (one["id"] for one in json.loads(run("list", "--json")) if "20 MB" in one["text"])
        share(other, id)
        run("team", "sync")
    assert "1 contradiction with what is held here" in run("team", "sync")
    shown = run("query", "is:contradicted")
    assert "The upload limit is 10 MB" in shown
    assert "The upload limit is 20 MB" in shown
    assert "contradiction" not in run("team", "sync")


def test_a_revoked_person_is_told_so(team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = run("team", "invite", "bob").splitlines()[1]
    assert "revoked 1" in run("team", "revoke", "bob")
    use_another_machine(tmp_path, monkeypatch)
    assert "revoked" in invoke("team", "join", team, "--token", token, "--yes").stderr


def test_the_databases_owner_upgrades_it_and_nobody_else(
    team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "0 steps taken, 0 large teams indexed" in run("team", "upgrade")
    token = run("team", "invite", "bob").splitlines()[1]
    use_another_machine(tmp_path, monkeypatch)
    run("team", "join", team, "--token", token, "--yes")
    assert "Only who ran `hyperloci team init`" in invoke("team", "upgrade").stderr


def test_a_token_is_asked_for_or_read_from_a_file_and_stands_in_no_command_line(
    team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, token = run("team", "invite", "bob").splitlines()
    assert line.startswith("hyperloci team join '") and token not in line
    use_another_machine(tmp_path, monkeypatch)
    (file := tmp_path / "token").write_text(f"{token}\n")
    assert "joined Engineers as bob" in run("team", "join", team, "--token-file", str(file), "--yes")
    run("team", "leave")
    asked = invoke("team", "join", team, "--yes", stdin=f"{token}\n")
    assert "joined Engineers as bob" in asked.stdout and token not in asked.stdout
    run("team", "leave")
    assert (
        "joined Engineers as bob"
        in invoke("team", "join", team, "--token-file", "-", "--yes", stdin=f"{token}\n").stdout
    )
    assert "give one of them" in invoke("team", "join", team, "--token", "x", "--token-file", str(file)).stderr


def test_a_second_team_is_refused_until_the_first_is_left(
    team: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = run("team", "invite", "bob").splitlines()[1]
    use_another_machine(tmp_path, monkeypatch)
    run("team", "init", team, "--name", "Others", "--as", "bob")
    assert "`hyperloci team leave` first" in invoke("team", "join", team, "--token", token, "--yes").stderr
    assert "Others at" in run("team", "status")


def test_who_said_no_is_told_that_no_project_takes_part_and_joins_again_with_the_same_address(
    team: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = run("team", "invite", "bob").splitlines()[1]
    use_another_machine(tmp_path, monkeypatch)
    said = invoke("team", "join", team, "--token", token, stdin="n\n")
    assert "this project takes no part" in said.stderr
    for command in ("sync", "status"):
        assert "no project of this machine takes part" in invoke("team", command).stderr
    assert "this project is" in run("team", "join", team, "--yes")
    (tmp_path / "further").mkdir()
    further = ("--project", str(tmp_path / "further"), "--yes")
    assert "joined Engineers as bob" in run("team", "join", team, "--token", token, *further)
    assert "no project" not in invoke("team", "status").stderr


def test_who_has_joined_no_team_is_not_asked_whether_to_take_part() -> None:
    found = invoke("team", "join")
    assert found.exit_code == 1 and "Take part" not in found.stderr
    assert "`hyperloci team join URL` does" in found.stderr


def test_a_project_takes_part_only_when_the_user_says_so(team: str) -> None:
    found = invoke("team", "join", "--as-project", "example.com/x", stdin="n\n")
    assert found.exit_code != 0
    assert "example.com/x" not in run("team", "status")


def test_a_reader_shares_nothing_until_it_is_made_a_member(
    team: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = run("team", "invite", "cleo", "--role", "reader").splitlines()[1]
    with monkeypatch.context() as patch:
        other = use_another_machine(tmp_path, patch)
        run("team", "join", team, "--token", token, "--yes")
        id = remember("Deploys go out on Tuesdays")
        refused = invoke("share", id, "--team")
        assert refused.exit_code == 2
        assert "cleo is a reader in the team Engineers" in refused.stderr
        share(other, id)  # As versions did that did not refuse it.
        assert "0 may have to be told" in run("team", "status")
    run("team", "invite", "cleo")
    use_other = {"HOME": other, "CLAUDE_CONFIG_DIR": other / ".claude", "RLM_MEMORY_DB": other / "memory.db"}
    for name, value in use_other.items():
        monkeypatch.setenv(name, str(value))
    run("team", "sync")
    assert "Others get it" in run("share", remember("Deploys need two reviews"), "--team")


def test_a_database_without_an_answer_is_told_in_one_line() -> None:
    found = invoke("team", "init", "postgresql:///x?host=/nonexistent-folder", "--as", "ada")
    assert found.exit_code == 1
    assert "did not answer" in found.stderr


def test_a_missing_driver_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'hyperloci[team]'" in invoke("team", "init", "postgresql://db/x", "--as", "ada").stderr
