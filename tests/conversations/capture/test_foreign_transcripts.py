"""Transcripts of Codex and Gemini CLI, in lines as their programs wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperloci.conversations.capture.foreign_transcripts import strip_attached
from hyperloci.conversations.capture.transcript import read_batch
from hyperloci.conversations.transcript_import import find_transcripts

Json = dict[str, Any]

CODEX_META: Json = {
    "id": "01a2074f-87b3-7d33-b1dd-fc84df090905",
    "timestamp": "2026-11-23T07:29:42.463Z",
    "cwd": "/home/me/shop",
    "cli_version": "0.169.0",
    "originator": "codex_exec",
}


def codex_line(type: str, /, **payload: Any) -> str:
    return json.dumps({"timestamp": "2026-11-23T07:29:43.729Z", "ordinal": 1, "type": type, "payload": payload}) + "\n"


def message(role: str, text: str, id: str) -> str:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_line("response_item", type="message", role=role, id=id, content=[{"type": kind, "text": text}])


CODEX = "".join(
    [
        codex_line("session_meta", **CODEX_META),
        message("developer", "<skills_instructions>\n## Skills", "m1"),
        message("user", "<environment_context>\n  <cwd>/home/me/shop</cwd>", "m2"),
        message("user", "# AGENTS.md instructions for /home/me/shop\n\nUse tabs.", "m3"),
        message("developer", "Background, not a task:\n<hyperloci-memory>", "m4"),
        message("user", "Number the invoices.", "m5"),
        codex_line("event_msg", type="item_completed", item={"type": "UserMessage", "id": "x"}),
        codex_line(
            "response_item",
            type="function_call",
            name="exec_command",
            call_id="c1",
            arguments=json.dumps({"cmd": "make test"}),
        ),
        codex_line(
            "response_item",
            type="function_call_output",
            call_id="c1",
            output="Chunk ID: 1\nProcess exited with code 2\nOutput:\nno rule to make target",
        ),
        codex_line(
            "response_item",
            type="custom_tool_call",
            name="apply_patch",
            call_id="c2",
            input="*** Begin Patch\n*** Update File: billing.py\n@@\n-old\n+new\n+more\n*** End Patch",
        ),
        codex_line("response_item", type="custom_tool_call_output", call_id="c2", output="Exit code: 0\nSuccess."),
        codex_line(
            "response_item",
            type="function_call",
            namespace="mcp__hyperloci",
            name="remember_fact",
            call_id="c3",
            arguments='{"fact": "Stored already"}',
        ),
        codex_line("response_item", type="function_call_output", call_id="c3", output="{}"),
        message("assistant", "Done: one sequence for each tenant.", "m6"),
    ]
)

GEMINI_META: Json = {
    "sessionId": "a71686c2-2204-4204-9079-13502e65768c",
    "projectHash": "1a4d",
    "startTime": "2026-11-23T07:30:12.263Z",
    "lastUpdated": "2026-11-23T07:30:12.263Z",
    "kind": "main",
}

GEMINI: list[Json] = [
    {
        "id": "u0",
        "timestamp": "2026-11-23T07:30:12.263Z",
        "type": "user",
        "content": [{"text": "<session_context>\nThis is the Gemini CLI."}],
    },
    {
        "id": "u1",
        "timestamp": "2026-11-23T07:30:17.183Z",
        "type": "user",
        "content": [
            {"text": "<hook_context>&lt;hyperloci-memory&gt;</hook_context>\n\nNumber the invoices."},
            {"text": '<hook_context>&lt;hyperloci-memory kind="prompt"&gt;\nNotes</hook_context>'},
        ],
    },
    {
        "id": "g1",
        "timestamp": "2026-11-23T07:30:18.642Z",
        "type": "gemini",
        "content": "Done: one sequence for each tenant.",
        "toolCalls": [
            {
                "id": "t1",
                "name": "run_shell_command",
                "args": {"command": "make test"},
                "status": "error",
                "resultDisplay": "no rule to make target",
                "timestamp": "2026-11-23T07:30:18.000Z",
            },
            {
                "id": "t2",
                "name": "write_file",
                "args": {"file_path": "/home/me/shop/billing.py", "content": "a\nb\n"},
                "status": "success",
            },
            {"id": "t5", "name": "mcp_hyperloci_search_memory", "args": {"query": "a"}, "status": "success"},
            {"id": "t3", "name": "read_file", "args": {"file_path": "a"}, "status": "success"},
            {"id": "t4", "name": "run_shell_command", "args": {"command": "wait"}, "status": "executing"},
        ],
    },
    {"id": "i1", "timestamp": "2026-11-23T07:30:19.000Z", "type": "info", "content": "Request cancelled."},
]


def texts(path: Path, root: str = "/home/me/shop") -> list[tuple[str, str]]:
    batch = read_batch(path, root=root)
    assert batch is not None and batch.failed == ()
    return [(str(turn.role), turn.text) for turn in batch.turns]


def test_of_a_codex_session_what_was_said_and_done_is_kept_and_nothing_that_codex_put_in(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-11-23T07-29-42-01a2074f.jsonl"
    path.write_text(CODEX)
    assert texts(path) == [
        ("user", "Number the invoices."),
        ("assistant", "Bash: make test (exit 2): no rule to make target"),
        ("assistant", "Edit billing.py: +2 -1 lines"),
        ("assistant", "Done: one sequence for each tenant."),
    ]
    [file] = find_transcripts(tmp_path)
    assert (file.session_id, str(file.folder), file.client, file.client_version) == (
        CODEX_META["id"],
        "/home/me/shop",
        "codex",
        "0.169.0",
    )


STATE = "# Context from my IDE setup:\n\n## Active file: src/a.ts\n\n## Open tabs:\n- a.ts: src/a.ts"


@pytest.mark.req("C.10")
@pytest.mark.parametrize("begins", ["## My request for Codex:", "## My request:"])
@pytest.mark.parametrize(
    "state",
    [
        STATE,
        f"{STATE}\n\n# Selected text:\n## My request:\nNever mock it.",
        "\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png",
        '<in-app-browser-context source="ambient-ui-state">\n# In app browser:\n- a tab\n</in-app-browser-context>',
    ],
)
def test_of_a_prompt_in_an_editor_what_the_user_wrote_is_kept_not_what_the_editor_shows(
    tmp_path: Path, state: str, begins: str
) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(message("user", f"{state}\n\n{begins}\nNumber the invoices.\n", "m1"))
    assert texts(path) == [("user", "Number the invoices.")]


@pytest.mark.req("C.10")
@pytest.mark.parametrize("more", [["Z = 1\n--- End of content ---\nX = 1\n", "\n--- End of content ---"], []])
def test_of_a_prompt_that_names_files_the_files_are_not_kept_as_the_users_words(
    tmp_path: Path, more: list[str]
) -> None:
    path = tmp_path / "session-1.jsonl"
    files = ["\n--- Content from referenced files ---", "\nContent from @src/a.py:\n", "# Never mock it.\n", *more]
    parts = ["Review @src/a.py, please.", *files]
    line = {"id": "u1", "timestamp": "x", "type": "user", "content": [{"text": part} for part in parts]}
    path.write_text(json.dumps(line) + "\n")
    assert texts(path) == [("user", parts[0])]
    assert strip_attached("".join(parts)) == parts[0]


@pytest.mark.parametrize(
    "told",
    [
        "Why does it say `--- Content from referenced files ---`?\n## My request for Codex: none",
        "# Invoices\n\nThey have no numbers.\n\n## My request:\nNumber them.",
        "# Browser comments:\n\n## Comment 1\nComment:\nMake it wider\n\n## My request for Codex:\n",
    ],
)
def test_who_writes_of_these_marks_is_kept_whole(told: str) -> None:
    assert strip_attached(told) == told


def test_of_a_gemini_session_what_was_said_and_done_is_kept_line_by_line_or_from_one_document(tmp_path: Path) -> None:
    chats = tmp_path / "shop" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "shop" / ".project_root").write_text("/home/me/shop")
    lines = [GEMINI_META, {"$set": {"messages": GEMINI[:1]}}, *GEMINI, {"$set": {"lastUpdated": "x"}}, GEMINI[2]]
    (chats / "session-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (chats / "session-0.json").write_text(
        json.dumps({**GEMINI_META, "sessionId": "older", "messages": GEMINI}, indent=2)
    )
    said = [
        ("user", "Number the invoices."),
        ("assistant", "Done: one sequence for each tenant."),
        ("assistant", "Bash: make test (failed): no rule to make target"),
        ("assistant", "Write billing.py: 2 lines"),
    ]
    # A message is written again when it has grown: its turns have the same ids.
    assert texts(chats / "session-1.jsonl") == said + said[1:]
    assert texts(chats / "session-0.json") == said
    read = read_batch(chats / "session-0.json")
    assert read is not None and read_batch(chats / "session-0.json", read.mark) is None
    assert {file.session_id: (str(file.folder), file.client) for file in find_transcripts(tmp_path)} == {
        GEMINI_META["sessionId"]: ("/home/me/shop", "gemini"),
        "older": ("/home/me/shop", "gemini"),
    }


def test_a_gemini_session_in_one_long_document_is_found(tmp_path: Path) -> None:
    chats = tmp_path / "shop" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "shop" / ".project_root").write_text("/home/me/shop")
    shown = {"id": "g0", "type": "info", "content": "a page that was read. " * 250_000}
    document = json.dumps({**GEMINI_META, "messages": [shown, *GEMINI]})
    (chats / "session-0.json").write_text(document)
    (file,) = find_transcripts(tmp_path)
    assert file.client == "gemini" and texts(file.path)


def test_a_gemini_session_of_a_folder_that_nothing_names_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "session-1.jsonl").write_text(json.dumps(GEMINI_META) + "\n")
    assert find_transcripts(tmp_path) == []


def test_lines_of_any_other_shape_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    broken = [
        '{"type": "response_item"}',
        '{"type": "response_item", "payload": {"type": "message", "role": "user", "content": 5}}',
        '{"type": "response_item", "payload": {"type": "function_call_output", "call_id": "never called"}}',
        '{"type": "gemini", "id": "g", "content": null, "toolCalls": [5]}',
        '{"type": "gemini"}',
    ]
    path.write_text("\n".join(broken) + "\n" + message("user", "Still here.", "m9"))
    assert texts(path) == [("user", "Still here.")]


def test_a_prompt_that_begins_with_a_tag_of_its_own_is_kept(tmp_path: Path) -> None:
    asked = ["<div> inside <p> is invalid here: we use spans.", "<b>all</b> headings are bold from today"]
    lines = [codex_line("session_meta", **CODEX_META), *[message("user", text, text[:5]) for text in asked]]
    lines.append(message("user", "<instructions>\nUse tabs.\n</instructions>\n", "m9"))
    (tmp_path / "rollout.jsonl").write_text("".join(lines), "utf-8")
    assert texts(tmp_path / "rollout.jsonl") == [("user", text) for text in asked]
