"""One line on what a tool did."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.conversations.capture.tool_use import (
    MAX_LINE_CHARS,
    MAX_RAW_CHARS,
    MAX_REASON_CHARS,
    READ_ONLY_TOOLS,
    clip_line,
    describe_tool_use,
)
from hyperloci.conversations.capture.turn_text import prepare_turn_text
from hyperloci.model.turn import TurnKind
from tests.support import examples

ROOT = "/home/mira/demo"
PATCH = [{"lines": [" one", "-two = 2", "+two = 3", "+four"]}]


PAY = {"old_string": "pay = 41", "new_string": "pay = 45"}
PRIVATE = "<private>\npay = 41\n</private>\n"
IN_PRIVATE = [{"lines": [" <private>", "-pay = 41", "+pay = 45"]}]
BELOW_PRIVATE = [{"lines": ["-pay = 41", "+pay = 45", " </private>"]}]
FAR_BELOW = [{"lines": ["-pay = 41", "+pay = 45"]}]


@pytest.mark.parametrize(
    ("name", "arguments", "response"),
    [
        ("Edit", {"old_string": PRIVATE, "new_string": PRIVATE.replace("41", "45")}, None),
        ("MultiEdit", {"edits": [{"old_string": PRIVATE, "new_string": PRIVATE.replace("41", "45")}]}, None),
        ("Edit", {}, {"structuredPatch": IN_PRIVATE}),
        ("Edit", {}, {"structuredPatch": BELOW_PRIVATE}),
        ("Edit", {}, {"structuredPatch": FAR_BELOW, "originalFile": PRIVATE}),
        ("Edit", {}, {"structuredPatch": FAR_BELOW, "originalFile": PRIVATE.replace("pri", "pri\u200b")}),
        ("Edit", PAY, {"filediff": {"before": PRIVATE}}),
        ("Edit", PAY, [{"type": "text", "text": PRIVATE}]),
        ("Edit", PAY, PRIVATE),
        ("Write", {"content": PRIVATE.replace("41", "45")}, {"structuredPatch": FAR_BELOW}),
    ],
)
def test_of_a_file_with_a_private_part_no_changed_line_is_kept(
    name: str, arguments: dict[str, Any], response: object
) -> None:
    use = describe_tool_use(name, {"file_path": "notes.md", **arguments}, response)
    assert use is not None and "pay" not in use.line and use.line.startswith(f"{name} notes.md: ")


def test_of_a_patch_that_shows_a_private_part_no_changed_line_is_kept() -> None:
    lines = ["*** Begin Patch", "*** Update File: notes.md", " <private>", "-pay = 41", "+pay = 45", "*** End Patch"]
    use = describe_tool_use("apply_patch", {"command": "\n".join(lines)})
    assert use is not None and use.line == "Edit notes.md: +1 -1 lines"


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("patch -p0 <<E\n-pay = 41\n+pay = 45\n </private>\n+more = 2\nE", "Bash: [private] +more = 2 E"),
        ("cat >a <<E\n<private>pay = 41</private>\nmore = 2\nE", "Bash: cat >a <<E [private] more = 2 E"),
        ("git commit -m 'Tell of `<private>` parts'", "Bash: git commit -m 'Tell of `[private]"),
    ],
)
def test_of_a_command_what_a_private_block_ends_is_not_kept(command: str, kept: str) -> None:
    use = describe_tool_use("Bash", {"command": command})
    prepared = None if use is None else prepare_turn_text(use.line, TurnKind.ACTION)
    assert prepared is not None and prepared.text == kept


def test_a_private_member_is_no_private_part() -> None:
    edit = {"file_path": "A.java", "old_string": "private int days = 3;", "new_string": "private int days = 5;"}
    use = describe_tool_use("Edit", edit)
    assert use is not None and use.line.endswith("`private int days = 3;` became `private int days = 5;`")


@pytest.mark.parametrize(
    ("name", "arguments", "response", "line"),
    [
        ("Bash", {"command": "pytest -q"}, {"stdout": "..."}, "Bash: pytest -q"),
        ("Bash", {"command": "cat <<E\na\nE"}, None, "Bash: cat <<E a E"),
        ("Bash", {"command": "sleep 9"}, {"interrupted": True}, "Bash: sleep 9 (interrupted)"),
        ("Bash", {"command": "serve"}, {"backgroundTaskId": "b1"}, "Bash: serve (in the background)"),
        (
            "Edit",
            {"file_path": f"{ROOT}/src/a.py"},
            {"structuredPatch": PATCH},
            "Edit src/a.py: +2 -1 lines: `two = 2` became `two = 3 four`",
        ),
        (
            "Edit",
            {"file_path": "/etc/x", "old_string": "a\nb", "new_string": "c"},
            None,
            "Edit /etc/x: +1 -2 lines",
        ),
        (
            "MultiEdit",
            {"file_path": f"{ROOT}/a", "edits": [{"old_string": "a", "new_string": "b\nc"}, 5]},
            None,
            "MultiEdit a: +2 -1 lines",
        ),
        (
            "Edit",
            {"file_path": ".env", "old_string": "LIMIT=3", "new_string": "LIMIT=5"},
            None,
            "Edit .env: +1 -1 lines",
        ),
        (
            "Write",
            {"file_path": "a.py", "content": "T = 5\n"},
            {"type": "update", "structuredPatch": [{"lines": ["-T = 3", "+T = 5"]}]},
            "Write a.py: 1 lines: `T = 3` became `T = 5`",
        ),
        ("Write", {"file_path": f"{ROOT}/a", "content": "1\n2\n"}, {"type": "create"}, "Write a: 2 lines, new file"),
        ("Write", {"file_path": f"{ROOT}/a", "content": ""}, {"type": "update"}, "Write a: 0 lines"),
        (
            "NotebookEdit",
            {"notebook_path": f"{ROOT}/n.ipynb", "new_source": "x"},
            None,
            "NotebookEdit n.ipynb: replace a cell, 1 lines",
        ),
        ("Agent", {"subagent_type": "Explore", "description": "find it"}, None, "Agent Explore: find it"),
        ("Task", {"prompt": "find\nit"}, None, "Task general-purpose: find it"),
        ("ExitPlanMode", {"plan": "# Plan\n1. Test"}, None, "Plan: # Plan 1. Test"),
        (
            "AskUserQuestion",
            {"questions": [{"question": "Tabs?"}]},
            {"answers": {"Tabs?": "Yes"}},
            'Asked: "Tabs?" -> "Yes"',
        ),
        ("AskUserQuestion", {"questions": [{"question": "Tabs?"}]}, None, 'Asked: "Tabs?"'),
        ("WebFetch", {"url": "https://example.org", "prompt": "?"}, None, "WebFetch: https://example.org"),
        ("mcp__github__merge", {"pr": 7, "body": "x" * 500}, None, 'mcp__github__merge {"pr": 7}'),
        ("mcp__github__list", {}, None, "mcp__github__list"),
    ],
)
def test_a_line_says_what_was_done(name: str, arguments: dict[str, Any], response: Any, line: str) -> None:
    use = describe_tool_use(name, arguments, response, root=ROOT)
    assert use is not None and use.line == line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("Exit code 1\nhi", "Bash: make (exit 1): hi"),
        ("Error: Exit code 2\n", "Bash: make (exit 2)"),
        ("Exit code 1\n3 failed\n  \nE  assert False\n\n", "Bash: make (exit 1): E assert False"),
        ("The user doesn't want to proceed", "Bash: make (failed): The user doesn't want to proceed"),
        ("", "Bash: make (failed)"),
        ("Exit code 1\n" + "x " * 999, "Bash: make (exit 1): " + "x " * (MAX_REASON_CHARS // 2 - 1) + "x"),
        ("Exit code 1\n" + "x" * 9_999, "Bash: make (exit 1)"),
        ("Exit code 1\npassword:\nWinterO6Ome0!", "Bash: make (exit 1): [redacted:password]"),
    ],
)
def test_a_failure_is_told_with_its_code_and_its_last_line(error: str, line: str) -> None:
    use = describe_tool_use("Bash", {"command": "make"}, error=error)
    assert use is not None and use.line == line


@pytest.mark.parametrize(
    "name", [*sorted(READ_ONLY_TOOLS), "", "mcp__hyperloci__search_memory", "mcp__plugin_hyperloci_hyperloci__forget"]
)
def test_looking_and_our_own_tools_are_not_told(name: str) -> None:
    assert describe_tool_use(name, {"file_path": "/a"}) is None


def test_an_edit_that_failed_is_not_told() -> None:
    assert describe_tool_use("Edit", {"file_path": "/a"}, error="String to replace not found") is None


@given(
    st.sampled_from(["Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "Agent", "AskUserQuestion", "Other"]),
    st.dictionaries(
        st.sampled_from(["command", "file_path", "edits", "content", "questions", "answers", "plan", "x"]),
        st.recursive(
            st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
        ),
    ),
    st.none()
    | st.text()
    | st.dictionaries(
        st.sampled_from(["structuredPatch", "answers", "type"]), st.none() | st.text() | st.lists(st.integers())
    ),
)
@settings(max_examples=examples(100))
def test_whatever_a_tool_is_given_the_line_is_one_short_line(
    name: str, arguments: dict[str, Any], response: Any
) -> None:
    use = describe_tool_use(name, arguments, response, root=ROOT)
    assert use is None or (len(use.line) <= MAX_RAW_CHARS + MAX_REASON_CHARS + 30 and len(use.line.splitlines()) <= 1)


def test_of_a_long_line_the_beginning_and_the_end_are_kept() -> None:
    line = clip_line("start " + "x" * 5_000 + " (exit 1): no such file")
    assert len(line) <= MAX_LINE_CHARS
    assert line.startswith("start x") and " … " in line and line.endswith("x (exit 1): no such file")
    assert clip_line("short") == "short"
