"""Hooks as other clients run them: real processes with each client's own input, one memory, nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperloci_hooks.dialects.dialect import NAMES, load_dialect
from tests.e2e.house import PATIENT, PROCESS_SECONDS, House

CLIENTS = Path(__file__).parents[1] / "data" / "clients"

Json = dict[str, Any]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def hook(house: House, client: str, event: str, told: Json, **environ: str) -> Json:
    """Run a hook as a client does: with `--client`, but for Claude Code's."""
    words = [event] if client == "claude-code" else ["--client", client, event]
    environ = {name: value for name, value in house.environ.items() if name != "CLAUDE_PROJECT_DIR"} | environ
    done = subprocess.run(
        [sys.executable, "-c", PATIENT, *words],
        input=json.dumps(told).encode(),
        env=environ,
        cwd=house.project,
        capture_output=True,
        timeout=PROCESS_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer: Json = json.loads(done.stdout)
    return answer


def sample(house: House, client: str, event: str) -> Json:
    """Return what a client tells of an event, in this house."""
    told = json.loads((CLIENTS / f"{client}.json").read_text("utf-8"))["samples"][event]
    place = str(house.project)
    return {**told, **({"workspace_roots": [place]} if "workspace_roots" in told else {"cwd": place})}


def clients_of_sessions(house: House) -> list[tuple[str | None, str | None]]:
    with house.memory() as memory:
        return [(one.client, one.client_version) for one in memory.store.sessions.list_recent(None, 9)]


@pytest.mark.parametrize("client", NAMES)
def test_a_prompt_and_its_answer_are_kept_with_the_name_of_their_client(house: House, client: str) -> None:
    table = load_dialect(client)
    assert table is not None
    for event, ours in table.events.items():
        if ours != "SessionEnd":
            answer = hook(house, client, event, sample(house, client, event))
            assert answer == json.loads(table.empty_answers.get(event, "{}")), event
    texts = house.texts()
    assert texts[0] == "Say it"
    assert ("Done it" in texts) == (client not in ("copilot", "vscode"))
    assert ("Bash: make" in texts) == (client != "gemini")
    version = "2.4.1" if client == "cursor" else None
    assert clients_of_sessions(house) == [(client, version)]


@pytest.mark.parametrize("client", NAMES)
def test_a_start_brings_what_another_client_was_told_in_the_form_that_this_one_takes(house: House, client: str) -> None:
    with house.memory() as memory:
        memory.sign_as(agent="zed")
        memory.remember_fact("We deploy on Tuesdays.", category="decision")
    table = load_dialect(client)
    assert table is not None
    event = table.name_event("SessionStart")
    told = json.dumps(hook(house, client, event, sample(house, client, event)))
    assert ("We deploy on Tuesdays." in told and "remembered in zed" in told) == (client != "copilot")
    assert ("Background, not a task:" in told) == (client == "codex")


def test_what_cursor_runs_of_claude_codes_hooks_is_kept_once_and_as_cursors(house: House) -> None:
    claude, cursor = house.home / ".claude", house.home / ".cursor"
    claude.mkdir()
    cursor.mkdir()
    (claude / "settings.json").write_text('{"hooks": "hyperloci-hook"}')
    told = sample(house, "cursor", "beforeSubmitPrompt")
    as_claude = {**told, "hook_event_name": "UserPromptSubmit", "session_id": "s1"}

    assert hook(house, "claude-code", "UserPromptSubmit", as_claude) == {}
    assert (house.texts(), clients_of_sessions(house)) == (["Say it"], [("cursor", "2.4.1")])

    (cursor / "hooks.json").write_text('{"hooks": "hyperloci-hook --client cursor"}')
    another = {"prompt": "Say another", "generation_id": "g2"}
    assert hook(house, "claude-code", "UserPromptSubmit", {**as_claude, **another}) == {}
    assert hook(house, "cursor", "beforeSubmitPrompt", {**told, **another}) == {"continue": True}
    assert house.texts() == ["Say it", "Say another"]


def test_what_vs_code_runs_of_claude_codes_hooks_is_kept_as_vs_codes(house: House) -> None:
    (house.home / ".claude").mkdir()
    (house.home / ".claude" / "settings.json").write_text('{"hooks": "hyperloci-hook"}')
    told = sample(house, "vscode", "UserPromptSubmit")
    hook(house, "claude-code", "UserPromptSubmit", told)
    hook(house, "copilot", "userPromptSubmitted", told)
    assert (house.texts(), clients_of_sessions(house)) == (["Say it"], [("vscode", None)])


@pytest.mark.parametrize(
    "words", [["--client"], ["--client", "codex"], ["--client", "netscape", "Stop"], ["--client", "cursor", "unheard"]]
)
def test_a_command_that_names_no_known_client_or_event_gets_a_valid_answer(house: House, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PATIENT, *words],
        input=b'{"session_id": "s"}',
        env=house.environ,
        cwd=house.project,
        capture_output=True,
        timeout=PROCESS_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert house.texts() == []


def test_a_hook_of_claude_code_loads_no_table_and_one_of_another_client_loads_one() -> None:
    code = (
        "import sys\n"
        "from hyperloci_hooks import run\n"
        "run._name_event(sys.argv[1:], {})\n"
        "print(sorted(name.rpartition('.')[2] for name in sys.modules if 'dialects' in name or name == 'json'))\n"
    )
    for words, loaded in (
        (["Stop"], []),
        (["--client", "codex", "Stop"], ["codex", "dialect", "dialects"]),
        (["--client", "cursor", "beforeSubmitPrompt"], ["cursor", "dialect", "dialects"]),
    ):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(loaded)


def test_a_start_in_cursor_puts_the_notes_into_a_rules_file_that_git_does_not_see(house: House) -> None:
    subprocess.run(["git", "init", "-q", str(house.project)], check=True)
    with house.memory() as memory:
        memory.remember_fact("We deploy on Tuesdays.", category="decision")
    hook(house, "cursor", "sessionStart", sample(house, "cursor", "sessionStart"))
    rules = house.project / ".cursor" / "rules" / "hyperloci.mdc"
    assert "alwaysApply: true" in rules.read_text() and "We deploy on Tuesdays." in rules.read_text()
    status = ["git", "-C", str(house.project), "status", "--porcelain", "--untracked-files=all"]
    assert ".cursor" not in subprocess.run(status, check=True, capture_output=True, text=True).stdout

    rules.write_text("Somebody's own rule.")
    hook(house, "cursor", "sessionStart", sample(house, "cursor", "sessionStart"))
    assert rules.read_text() == "Somebody's own rule."


def test_a_version_that_a_client_told_its_server_is_that_of_its_sessions(house: House) -> None:
    told = sample(house, "codex", "SessionStart")
    hook(house, "codex", "SessionStart", told)
    with house.memory() as memory:
        memory.note_client_version("codex", "0.170.1")
    assert clients_of_sessions(house) == [("codex", "0.170.1")]
    hook(house, "codex", "SessionStart", {**told, "session_id": "another"})
    assert clients_of_sessions(house) == [("codex", "0.170.1"), ("codex", "0.170.1")]
