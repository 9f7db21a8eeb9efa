"""Contracts: what each client sends is understood, and what it gets is what its schema allows.

The schemas lie beside the clients' versions in `tests/data/clients`, each with where it was taken from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from hyperloci_hooks.budget import SECONDS
from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, NAMES, Dialect, load_dialect
from hyperloci_hooks.dialects.translation import recognise_client, shape_answer, translate_payload
from hyperloci_hooks.dialects.wiring import CaptureState, find_capture_state, is_captured_elsewhere
from hyperloci_hooks.events import EVENTS

CLIENTS = Path(__file__).parents[1] / "data" / "clients"

Json = dict[str, Any]


def contract(name: str) -> Json:
    found: Json = json.loads((CLIENTS / f"{name}.json").read_text("utf-8"))
    return found


def table(name: str) -> Dialect:
    found = load_dialect(name)
    assert found is not None
    return found


CASES = [(name, event) for name in NAMES for event in table(name).events]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_was_read_from_the_version_that_its_schema_is_of(name: str) -> None:
    assert (contract(name)["client"], contract(name)["version"]) == (name, table(name).version)
    assert set(table(name).events) == set(contract(name)["samples"])
    assert set(table(name).events.values()) <= set(EVENTS) & set(SECONDS)


@pytest.mark.parametrize(("name", "event"), CASES)
def test_what_a_client_sends_is_told_in_our_names(name: str, event: str) -> None:
    sample = contract(name)["samples"][event]
    jsonschema.validate(sample, contract(name)["schemas"][f"{event}.input"])
    told = translate_payload(table(name), sample)
    assert (told["session_id"], told["cwd"]) == ("s1", "/p")
    ours = table(name).events[event]
    if ours == "SessionStart":
        assert told.get("source") in ("startup", None)
    if ours == "UserPromptSubmit":
        assert told["prompt"] == "Say it"
    if ours in ("PostToolUse", "PostToolUseFailure"):
        assert (told["tool_name"], told["tool_input"]) == ("Bash", {"command": "make"})
    if ours == "PostToolUseFailure":
        assert told["error"] == "no rule"
    if ours == "Stop" and name not in ("copilot", "vscode"):
        assert told["last_assistant_message"] == "Done it"


@pytest.mark.parametrize("context", ["", "Remember this."])
@pytest.mark.parametrize("notice", ["", "Something is wrong."])
@pytest.mark.parametrize(("name", "event"), CASES)
def test_every_answer_is_one_that_the_client_takes(name: str, event: str, notice: str, context: str) -> None:
    given = table(name)
    answer = shape_answer(given, given.events[event], context, notice)
    jsonschema.validate(answer, contract(name)["schemas"][f"{event}.output"])
    brings = given.events[event] in given.context_events and bool(context)
    assert ("Remember this." in json.dumps(answer)) == brings
    jsonschema.validate(json.loads(given.empty_answers.get(event, "{}")), contract(name)["schemas"][f"{event}.output"])


def test_context_for_codex_says_first_that_it_is_no_task() -> None:
    answer = shape_answer(table("codex"), "UserPromptSubmit", "Notes")
    assert answer["hookSpecificOutput"]["additionalContext"] == "Background, not a task:\nNotes"


@pytest.mark.parametrize(
    ("wired", "payload", "environ", "client"),
    [
        (CLAUDE_CODE, {"hook_event_name": "Stop"}, {}, CLAUDE_CODE),
        (CLAUDE_CODE, {"hook_event_name": "Stop", "cursor_version": "2.4"}, {}, "cursor"),
        (CLAUDE_CODE, {"hook_event_name": "Stop"}, {"CURSOR_VERSION": "2.4"}, "cursor"),
        (CLAUDE_CODE, {"hookEventName": "Stop", "sessionId": "s"}, {}, "vscode"),
        (CLAUDE_CODE, {"hook_event_name": "SessionStart"}, {"GEMINI_SESSION_ID": "s"}, "gemini"),
        ("copilot", {"sessionId": "s", "cwd": "/p"}, {}, "copilot"),
        ("copilot", {"hookEventName": "Stop"}, {}, "vscode"),
        ("codex", {"hook_event_name": "Stop"}, {"CURSOR_VERSION": "2.4"}, "codex"),
    ],
)
def test_who_runs_a_hook_is_told_by_what_only_that_client_sends(
    wired: str, payload: Json, environ: dict[str, str], client: str
) -> None:
    assert recognise_client(wired, payload, environ) == client


def test_of_two_wirings_that_one_client_runs_one_counts(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    claude, cursor = home / ".claude" / "settings.json", home / ".cursor" / "hooks.json"
    for path in (claude, cursor):
        path.parent.mkdir(parents=True)
    project.mkdir()

    def is_elsewhere(client: str, wired: str) -> bool:
        return is_captured_elsewhere(client, wired, home=home, project=project)

    claude.write_text('{"hooks": {"Stop": [{"hooks": [{"command": "hyperloci-hook"}]}]}}')
    assert not is_elsewhere("cursor", CLAUDE_CODE)
    cursor.write_text('{"version": 1, "hooks": {}}')
    assert not is_elsewhere("cursor", CLAUDE_CODE)
    cursor.write_text('{"version": 1, "hooks": {"stop": [{"command": "hyperloci-hook --client cursor stop"}]}}')
    assert is_elsewhere("cursor", CLAUDE_CODE)
    assert not is_elsewhere("cursor", "cursor")
    assert not is_elsewhere("vscode", CLAUDE_CODE)
    assert is_elsewhere("vscode", "copilot")


def test_what_gemini_puts_around_a_prompt_is_no_part_of_it() -> None:
    prompt = "<hook_context>&lt;hyperloci-memory&gt;\nNotes</hook_context>\n\nSay it"
    files = "\n--- Content from referenced files ---\nContent from @a.py:\nX = 1\n--- End of content ---"
    for told in (prompt, prompt + files):
        assert translate_payload(table("gemini"), {"session_id": "s", "prompt": told})["prompt"] == "Say it"


def test_what_codex_puts_before_a_prompt_in_an_editor_is_no_part_of_it() -> None:
    prompt = "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nSay it\n"
    assert translate_payload(table("codex"), {"session_id": "s", "prompt": prompt})["prompt"] == "Say it"


@pytest.mark.parametrize("value", [None, 1, [], "{", '{"a"', {"command": ["make", "all"]}])
def test_arguments_of_any_shape_do_no_harm(value: Any) -> None:
    told = translate_payload(table("codex"), {"session_id": "s", "tool_name": "shell", "tool_input": value})
    assert isinstance(told["tool_input"], dict)
    assert told["tool_input"].get("command") in (None, "make all")


def test_what_is_captured_of_a_client_is_told_by_its_files(tmp_path: Path) -> None:
    home, project = tmp_path / "user", tmp_path / "place"

    def state(client: str | None) -> CaptureState:
        return find_capture_state(client, home=home, project=project)

    def write(name: str, text: str) -> None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)

    assert state("zed") is state(None) is state("gemini") is state("codex") is CaptureState.NOTHING
    assert state(CLAUDE_CODE) is CaptureState.WHOLE
    write(".gemini/settings.json", '{"hooks": "hyperloci-hook --client gemini"}')
    assert state("gemini") is CaptureState.WHOLE
    write(".copilot/hooks/hyperloci.json", "hyperloci-hook --client copilot")
    assert state("copilot") is CaptureState.KEPT
    write(".codex/hooks.json", "hyperloci-hook --client codex")
    assert state("codex") is CaptureState.NOTHING
    write(".codex/config.toml", f'[hooks.state."{home}/.codex/hooks.json:user_prompt_submit:0:0"]')
    assert state("codex") is CaptureState.WHOLE


def test_our_server_and_its_tools_in_a_file_are_no_hooks(tmp_path: Path) -> None:
    home, project = tmp_path / "user", tmp_path / "place"
    gemini, claude = home / ".gemini" / "settings.json", home / ".claude" / "settings.json"
    for path in (gemini, claude):
        path.parent.mkdir(parents=True)
    gemini.write_text('{"mcpServers": {"hyperloci": {"command": "hyperloci", "args": ["serve"]}}, "hooks": {}}')
    claude.write_text('{"permissions": {"allow": ["mcp__hyperloci__search_memory"]}, "hooks": {}}')
    for client in ("gemini", "vscode", "cursor"):
        assert find_capture_state(client, home=home, project=project) is CaptureState.NOTHING
    # Copilot's hooks, which VS Code runs, are then the only ones: to do nothing would lose its sessions.
    copilot = home / ".copilot" / "hooks" / "hyperloci.json"
    copilot.parent.mkdir(parents=True)
    copilot.write_text("hyperloci-hook --client copilot")
    assert not is_captured_elsewhere("vscode", "copilot", home=home, project=project)


@pytest.mark.parametrize(
    "said",
    [
        '{"permissions": {"allow": ["mcp__hyperloci"]}, "hooks": {"Stop": [{"command": "~/.claude/my-hook.sh"}]}}',
        '{"permissions": {"allow": ["mcp__hyperloci", "Bash(pre-commit run --hook-stage push)"]}}',
        '{"permissions": {"allow": ["mcp__hyperloci"]}, "statusLine": {"command": "C:\\\\hook\\\\line.exe"}}',
        '{"mcpServers": {"hyperloci": {"command": "uvx", "args": ["hyperloci@latest", "serve"]}}}',
        '{"enabledPlugins": {"hyperloci@hyperloci": false}}',
    ],
)
def test_our_server_beside_the_hooks_of_others_is_no_hook(tmp_path: Path, said: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(said)
    state = find_capture_state("vscode", home=tmp_path, project=tmp_path / "place")
    assert state is CaptureState.NOTHING


@pytest.mark.parametrize(
    "said",
    [
        '{"command": "/opt/my tools/hyperloci-hook", "args": ["Stop"]}',
        '{"command": "C:\\\\bin\\\\hyperloci-hook.exe", "args": ["Stop"]}',
        '{"command": "hyperloci", "args": ["hook", "Stop"]}',
        '{"command": "hyperloci hook Stop"}',
        '{"command": "uvx --from hyperloci==0.1.0 hyperloci-hook Stop"}',
        '{"args": ["hook", "Stop"], "command": "C:\\\\bin\\\\hyperloci.exe"}',
        '{"command": "\\"C:\\\\my bin\\\\hyperloci.exe\\" hook Stop"}',
        '{"enabledPlugins": {"hyperloci@hyperloci": true}}',
        '{"enabledPlugins": {"hyperloci@acme-tools" : true}}',
        '{"command": "python3 -m hyperloci_hooks.run Stop"}',
    ],
)
def test_a_hook_of_ours_is_known_however_it_is_written(tmp_path: Path, said: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(said)
    state = find_capture_state("vscode", home=tmp_path, project=tmp_path / "place")
    assert state is CaptureState.KEPT


def test_files_that_a_variable_moves_are_looked_for_where_it_says(tmp_path: Path) -> None:
    home, project, codex = tmp_path / "home", tmp_path / "place", tmp_path / "elsewhere"
    codex.mkdir()
    (codex / "hooks.json").write_text("hyperloci-hook --client codex Stop")
    (codex / "config.toml").write_text('["x:user_prompt_submit:0:0"]\n')
    environ = {"CODEX_HOME": str(codex)}
    assert find_capture_state("codex", home=home, project=project) == CaptureState.NOTHING
    assert find_capture_state("codex", home=home, project=project, environ=environ) == CaptureState.WHOLE
    assert is_captured_elsewhere("codex", CLAUDE_CODE, home=home, project=project, environ=environ)
    claude = {"CLAUDE_CONFIG_DIR": str(codex)}
    (codex / "settings.json").write_text("hyperloci-hook Stop")
    assert is_captured_elsewhere("cursor", "cursor", home=home, project=project, environ=claude)
