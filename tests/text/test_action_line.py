"""Action line: what is written of an action is read again."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.conversations.capture.tool_use import EDITING_TOOLS, clip_line, describe_tool_use
from hyperloci.text.action_line import EDITORS, EditedFile, read_action_line

CHANGE = {"old_string": "RETRIES = 3", "new_string": "RETRIES = 5"}


def write_line(name: str, arguments: dict[str, Any], response: Any = None, error: str | None = None) -> str:
    """Return the line of an action as it is stored."""
    use = describe_tool_use(name, arguments, response, error=error)
    assert use is not None
    return clip_line(use.line)


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("error", "response", "failed", "interrupted"),
    [
        (None, None, False, False),
        ("Exit code 2\nno rule", None, True, False),
        ("Exit code -9", None, True, False),
        ("The user said no", None, True, False),
        (None, {"interrupted": True}, False, True),
        (None, {"backgroundTaskId": "b1"}, False, False),
    ],
    ids=["well", "with a code", "killed", "refused", "interrupted", "in the background"],
)
def test_a_line_says_how_a_command_ended(error: str | None, response: Any, failed: bool, interrupted: bool) -> None:
    action = read_action_line(write_line("Bash", {"command": "make all"}, response, error))
    assert (action.has_failed, action.was_interrupted) == (failed, interrupted)
    assert action.has_ended_badly is (failed or interrupted)
    if not interrupted and response is None:
        assert action.called == "Bash: make all"


@pytest.mark.parametrize("shell", ["Bash", "PowerShell"])
def test_a_line_says_what_a_shell_was_told_to_do(shell: str) -> None:
    assert read_action_line(write_line(shell, {"command": "rm -r: x"})).command == "rm -r: x"
    assert read_action_line(write_line("ExitPlanMode", {"plan": "rm: x"})).command is None


@pytest.mark.parametrize(
    ("name", "arguments", "edited"),
    [
        ("Edit", {"file_path": "C:/a b.rs"} | CHANGE, EditedFile("C:/a b.rs", (("RETRIES = 3", "RETRIES = 5"),))),
        ("MultiEdit", {"file_path": "a", "edits": [CHANGE]}, EditedFile("a", (("RETRIES = 3", "RETRIES = 5"),))),
        ("Write", {"file_path": "a.py", "content": "x"}, EditedFile("a.py", ())),
        (
            "apply_patch",
            {"command": "*** Begin Patch\n*** Update File: a\n-T = 3\n+T = 5\n*** Add File: b\n+x"},
            EditedFile("a", (), is_one_of_several=True),
        ),
        ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x"}, None),
    ],
    ids=["an edit", "several edits", "a whole file", "a patch of two files", "a notebook's cell"],
)
def test_a_line_says_what_became_what_in_which_file(
    name: str, arguments: dict[str, Any], edited: EditedFile | None
) -> None:
    action = read_action_line(write_line(name, arguments))
    assert action.is_edit
    assert action.edited == edited


@pytest.mark.parametrize(
    ("name", "arguments", "tool", "told"),
    [
        ("Bash", {"command": "echo '`a` became `b`'"}, "Bash", "echo '`a` became `b`'"),
        (
            "Agent",
            {"subagent_type": "Explore", "description": "Edit a.py: 3 lines"},
            "Agent",
            "Explore: Edit a.py: 3 lines",
        ),
        ("mcp__github__list", {}, "mcp__github__list", ""),
        ("mcp__github__merge", {"pr": 7}, "mcp__github__merge", '{"pr": 7}'),
        ("ExitPlanMode", {"plan": "Test"}, "Plan", "Test"),
    ],
)
def test_what_changes_no_file_is_no_edit(name: str, arguments: dict[str, Any], tool: str, told: str) -> None:
    action = read_action_line(write_line(name, arguments))
    assert (action.tool, action.told, action.is_edit, action.edited) == (tool, told, False, None)


def test_a_line_says_which_page_was_fetched() -> None:
    fetched = read_action_line(write_line("WebFetch", {"url": "https://example.org/a", "prompt": "?"}, error="404"))
    assert fetched.address == "https://example.org/a"
    assert read_action_line(write_line("WebSearch", {"query": "https://example.org"})).address is None


def test_every_editing_tool_is_told_as_an_edit() -> None:
    told = {read_action_line(write_line(name, {"file_path": "a", "command": ""})).tool for name in EDITING_TOOLS}
    assert told == EDITORS
