"""`hyperloci install --client` and `uninstall --client`, as they are typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperloci.cli.main import app


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "RLM_MEMORY_DB", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mine" / ".gemini").mkdir(parents=True)
    (tmp_path / "mine" / ".codex").mkdir()
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "mine"


def type_command(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.output


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_installation_for_claude_code_names_the_others_and_one_for_all_wires_them(user: Path) -> None:
    told = type_command("install")
    assert "Found here too: Codex, Gemini CLI." in told and "--client all" in told
    assert not (user / ".gemini" / "settings.json").exists()
    told = type_command("install", "--client", "all")
    assert "approve them there with /hooks" in told
    assert files(user / ".codex") == ["config.toml", "hooks.json"]
    assert "Nothing to change" in type_command("install", "--client", "all")
    type_command("uninstall", "--client", "all")
    assert files(user / ".codex") == files(user / ".gemini") == []


def test_a_file_that_cannot_be_changed_safely_is_named_and_keeps_no_other_assistant_from_its_turn(user: Path) -> None:
    (user / ".cursor").mkdir()
    (user / ".claude").mkdir()
    broken = user / ".gemini" / "settings.json"
    for word, codex, cursor in (
        ("install", ["config.toml", "hooks.json"], ["hooks.json", "mcp.json"]),
        ("uninstall", [], []),
    ):
        broken.write_text("{")
        done = CliRunner().invoke(app, [word, "--client", "all"])
        assert done.exit_code == 3, done.output
        assert f"{broken} can't be changed safely" in done.stderr
        assert broken.read_text() == "{"
        assert files(user / ".codex") == codex and files(user / ".cursor") == cursor
        assert (user / ".claude" / "settings.json").exists() == bool(codex)
    assert CliRunner().invoke(app, ["uninstall", "--client", "gemini"]).exit_code == 1


def test_rules_that_cannot_be_changed_safely_keep_no_assistant_from_its_turn(user: Path) -> None:
    (user / ".claude").mkdir()
    rules = user.parent / "place" / "AGENTS.md"
    rules.write_bytes(b"caf\xe9\n<!-- hyperloci: begin -->\n<!-- hyperloci: end -->\n")
    before = rules.read_bytes()
    for words in (["install", "--client", "all", "--rules"], ["uninstall"], ["install", "--rules"]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 3 and f"{rules} can't be changed safely" in done.stderr, done.output
        assert (user / ".claude" / "settings.json").exists() == (words[0] == "install")
    assert rules.read_bytes() == before


def test_a_removal_asks_nothing_of_a_file_of_rules_that_has_none_of_ours(user: Path) -> None:
    (user.parent / "place" / "AGENTS.md").write_bytes(b"caf\xe9\n")
    type_command("install")
    assert "Removed" in type_command("uninstall")


def test_what_makes_facts_of_sessions_is_set_with_any_assistant_and_a_wrong_word_for_it_writes_nothing(
    user: Path,
) -> None:
    done = CliRunner().invoke(app, ["install", "--client", "codex", "--consolidation", "magic"])
    assert done.exit_code == 2 and "use one of heuristic" in done.output
    assert files(user / ".codex") == []
    told = type_command("install", "--client", "codex", "--consolidation", "claude", "--dry-run")
    assert '+consolidation = "claude"' in told and not (user / ".claude").exists()
    told = type_command("install", "--client", "codex", "--consolidation", "claude")
    assert (user / ".claude" / "hyperloci.toml").read_text() == 'consolidation = "claude"\n'
    assert "subscription" in told
    assert files(user / ".claude") == ["hyperloci.toml"]


def test_an_installation_of_a_command_that_is_not_on_the_path_says_what_to_write_in_its_place(
    user: Path, tmp_path: Path
) -> None:
    told = type_command("install")
    assert "not on your PATH. Write in its place:" in told
    assert str(Path(sys.executable).parent / "hyperloci") in told
    (tmp_path / "hyperloci").touch(0o700)
    type_command("uninstall")
    assert "not on your PATH" not in type_command("install")


def test_what_needs_no_change_is_named_beside_the_rules_that_were_written(user: Path) -> None:
    type_command("install")
    told = type_command("install", "--rules")
    assert "wrote" in told and f"in {user / '.claude.json'} and {user / '.claude' / 'settings.json'}." in told
    told = type_command("install", "--rules")
    assert "wrote" not in told and told.count("Nothing to change in ") == 2 and "AGENTS.md." in told


def test_a_dry_run_shows_the_change_and_writes_nothing(user: Path) -> None:
    told = type_command("install", "--client", "gemini", "--dry-run", "--rules")
    assert "--client gemini BeforeAgent" in told and "hyperloci: begin" in told
    assert files(user) == files(user.parent / "place") == []


def test_the_rules_come_with_an_installation_and_go_with_its_removal(user: Path) -> None:
    rules = user.parent / "place" / "AGENTS.md"
    rules.write_text("# Ours\n")
    type_command("install", "--client", "gemini", "--rules")
    assert "hyperloci: begin" in rules.read_text()
    type_command("uninstall", "--client", "gemini")
    assert rules.read_text() == "# Ours\n"


def test_trust_is_not_written_where_codex_cannot_be_asked(user: Path) -> None:
    told = type_command("install", "--client", "codex", "--trust")
    assert "could not be asked" in told
    assert "trusted_hash" not in (user / ".codex" / "config.toml").read_text()


def test_an_installation_into_a_project_is_shared_by_name(user: Path) -> None:
    type_command("install", "--client", "cursor", "--scope", "project")
    hooks = json.loads((user.parent / "place" / ".cursor" / "hooks.json").read_text())["hooks"]
    assert hooks["sessionStart"][0]["command"] == "hyperloci-hook --client cursor sessionStart"


def test_a_client_that_is_not_known_is_named_with_those_that_are(user: Path) -> None:
    done = CliRunner().invoke(app, ["install", "--client", "netscape"])
    assert done.exit_code != 0 and "opencode" in f"{done.output} {done.exception}"


def test_an_installation_for_all_says_where_no_other_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "alone"))
    monkeypatch.setenv("PATH", str(tmp_path))
    told = " ".join(type_command("install", "--client", "all").split())
    assert "No other assistant was found here: codex, gemini" in told
