"""Hooks as Claude Code runs them: real processes over a real database, whatever state things are in."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.house import AS_USUAL, PATIENT, PROCESS_SECONDS, House, assistant
from tests.embedder.helpers import wait_for

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SessionEnd",
    "NeverHeardOf",
)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.req("B.01", "B.02", "C.10", "E.10")
def test_a_session_is_kept_from_its_start_to_its_end_each_thing_once(house: House) -> None:
    assert house.hook("SessionStart", source="startup") == {}
    assert house.hook("UserPromptSubmit", prompt="Make the build green", prompt_id="p1") == {}
    bash: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    house.hook("PostToolUseFailure", **bash, error="Exit code 2\nno rule", tool_use_id="toolu_1")
    house.hook("PostToolUse", **bash, tool_response={"stdout": "ok"}, tool_use_id="toolu_2")
    house.transcript.write_text(assistant("a1", "I will look at the Makefile."), "utf-8")
    house.hook("Stop", stop_hook_active=False, last_assistant_message="It is green now.", prompt_id="p1")
    with house.transcript.open("a", encoding="utf-8") as file:
        file.write(assistant("a2", "It is green now."))
    house.hook("PreCompact", trigger="auto", prompt_id="p1")
    house.hook("SessionEnd", reason="other")
    assert house.texts() == [
        "Make the build green",
        "Bash: make (exit 2): no rule",
        "Bash: make",
        "I will look at the Makefile.",
        "It is green now.",
    ]
    with house.memory() as memory:
        session = memory.store.sessions.get_session("s1")
        assert session is not None and session.status == "completed"
        assert session.scope == memory.project.id
    assert house.log() == ""


@pytest.mark.req("B.01", "E.10")
def test_what_an_interrupted_turn_said_stands_before_the_prompt_that_answers_it(house: House) -> None:
    house.hook("UserPromptSubmit", prompt="Make logins survive a restart", prompt_id="p1")
    house.transcript.write_text(assistant("a1", "I will move the sessions into Redis."), "utf-8")
    house.hook("UserPromptSubmit", prompt="No, they stay in Postgres", prompt_id="p2")
    with house.transcript.open("a", encoding="utf-8") as file:
        file.write(assistant("a2", "They stay there."))
    house.hook("Stop", last_assistant_message="They stay there.", prompt_id="p2")
    assert house.texts() == [
        "Make logins survive a restart",
        "I will move the sessions into Redis.",
        "No, they stay in Postgres",
        "They stay there.",
    ]


def test_a_prompt_is_kept_and_answered_where_its_transcript_is_a_folder(house: House) -> None:
    house.transcript.mkdir()
    assert house.hook("UserPromptSubmit", prompt="Make the build green", prompt_id="p1") == {}
    assert house.texts() == ["Make the build green"]
    assert house.log() == ""


def test_the_hooks_of_a_run_that_hyperloci_started_do_nothing(house: House) -> None:
    house.environ["HYPERLOCI_HOOKS"] = "off"
    for event in EVENTS:
        assert house.hook(event, source="startup", prompt="Make the build green", reason="other") == {}
    assert list(house.home.iterdir()) == []
    del house.environ["HYPERLOCI_HOOKS"]
    house.hook("UserPromptSubmit", prompt="Make the build green", prompt_id="p1")
    assert house.texts() == ["Make the build green"]


def test_the_next_session_knows_how_the_last_one_went_and_what_was_remembered(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("The gateway listens on 8443", category="decision")
    house.hook("SessionStart", source="startup")
    house.hook("UserPromptSubmit", prompt="Make the build green", prompt_id="p1")
    house.hook("Stop", last_assistant_message="The build is green again.")
    house.hook("SessionEnd", reason="other")
    context = house.context("SessionStart", "s2", source="startup")
    assert "The gateway listens on 8443" in context
    assert "Make the build green" in context and "The build is green again." in context


def extracted(house: House) -> list[str]:
    with house.memory() as memory:
        return sorted(node.content for node in memory.store.nodes.query_nodes() if node.origin == "extraction")


@pytest.mark.req("B.17")
def test_what_a_user_said_for_later_is_a_memory_when_the_turn_ends_or_the_next_session_begins(house: House) -> None:
    answered = "Releases go out on Tuesdays only, support is fully staffed then."
    left = "Orders are never deleted, only cancelled; the auditors insist."
    house.hook("SessionStart", source="startup")
    house.hook("UserPromptSubmit", prompt=answered, prompt_id="p1")
    house.hook("Stop", last_assistant_message="Understood.", prompt_id="p1")
    assert extracted(house) == [answered]
    house.hook("UserPromptSubmit", prompt=left, prompt_id="p2")
    house.hook("SessionEnd", reason="other")
    house.hook("SessionStart", "s2", source="startup")
    assert extracted(house) == sorted([answered, left])
    assert house.log() == ""


def test_a_prompt_brings_up_what_bears_on_it_once_and_an_everyday_one_nothing(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("The edge gateway listens on TLS port 8443 of the load balancer", category="insight")
    prompt = "Which TLS port does the edge gateway listen on?"
    assert "8443" in house.context("UserPromptSubmit", prompt=prompt, prompt_id="p1")
    assert house.context("UserPromptSubmit", prompt=prompt, prompt_id="p2") == ""
    for everyday in ("thanks", "run the tests", "fix the typo"):
        assert house.context("UserPromptSubmit", prompt=everyday) == ""


def test_a_person_is_told_in_one_line_what_a_prompt_brought_up_and_can_look_at_it(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("Deploy the release from staging only", category="constraint")
    answer = house.hook("UserPromptSubmit", prompt="deploy the release now", prompt_id="p1")
    assert answer["systemMessage"] == "Hyperloci recalled: 1 constraint"
    with house.memory() as memory:
        (injection,) = memory.list_injections()
    assert (injection.event, injection.session_id) == ("prompt", "s1")
    assert [hit.content for hit in injection.memories] == ["Deploy the release from staging only"]


def test_the_line_can_be_switched_off_and_an_everyday_prompt_has_none(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("Deploy the release from staging only", category="constraint")
    assert house.hook("UserPromptSubmit", prompt="thanks, looks good") == {}
    house.environ["HYPERLOCI_ANNOUNCE"] = "false"
    answer = house.hook("UserPromptSubmit", prompt="deploy the release now")
    assert list(answer) == ["hookSpecificOutput"]


def test_what_was_injected_is_not_captured_again(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact("The gateway listens on 8443", category="decision")
    context = house.context("SessionStart", source="startup")
    house.hook("UserPromptSubmit", prompt=f"{context}\nCarry on", prompt_id="p1")
    assert house.texts() == ["Carry on"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'{"session_id": "s1", "torn',
        b'{"session_id": 5, "prompt": {}, "tool_input": "x", "transcript_path": []}',
        b'{"session_id": "s1", "cwd": "/nowhere/at/all", "transcript_path": "/nowhere", "tool_name": 7, "new": [1]}',
        b'{"session_id": "s1", "cwd": "a\\u0000b", "prompt": "\\ud800 \\u0000", "tool_name": "Bash", "source": "new"}',
        b"\xff\xfe\xfd",
        b"[" * 100_000,
    ],
    ids=["nothing", "null", "array", "torn", "wrong kinds", "nowhere", "strange text", "no text", "deep"],
)
def test_any_input_gets_a_valid_answer(house: House, event: str, data: bytes) -> None:
    assert "decision" not in house.raw(event, data)


def test_a_huge_input_gets_a_valid_answer(house: House) -> None:
    assert house.raw("PostToolUse", b'{"session_id": "s1", "tool_response": "' + b"x" * (17 << 20) + b'"}') == {}


def test_without_an_event_the_answer_is_empty(house: House) -> None:
    assert house.raw("", b"{}") == {}


def test_input_that_never_ends_is_cut_off(house: House) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperloci_hooks.run", "Stop"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=house.environ,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(b'{"session_id": ')
    process.stdin.flush()
    assert process.wait(PROCESS_SECONDS) == 0
    assert (json.loads(process.stdout.read()), process.stderr.read()) == ({}, b"")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stdout.close()
    process.stderr.close()


def test_a_locked_database_costs_nothing_but_time(house: House) -> None:
    house.hook("SessionStart", source="startup")
    house.program = AS_USUAL
    writer = sqlite3.connect(house.settings.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert house.hook("UserPromptSubmit", prompt=f"Use {SECRET} for the release", prompt_id="p1") == {}
    assert house.hook("Stop", last_assistant_message="Released.") == {}
    # On a busy machine a hook answers before its record is there.
    wait_for(lambda: len(house.spooled()) == 2)
    spooled = house.spooled()
    assert os.name != "posix" or all(path.stat().st_mode & 0o777 == 0o600 for path in spooled)
    assert SECRET.encode() not in house.all_bytes()
    writer.execute("ROLLBACK")
    writer.close()
    house.program = PATIENT
    house.hook("Stop", last_assistant_message="Anything else?")
    assert house.spooled() == []
    assert [text.replace("[redacted:github-token]", "TOKEN") for text in house.texts()] == [
        "Use TOKEN for the release",
        "Released.",
        "Anything else?",
    ]


def test_secrets_are_nowhere_on_the_disk(house: House) -> None:
    house.hook("UserPromptSubmit", prompt=f"The key is {SECRET}")
    house.hook("PostToolUse", tool_name="Bash", tool_input={"command": f"curl -H 'Authorization: Bearer {SECRET}' x"})
    house.hook("PostToolUseFailure", tool_name="Bash", tool_input={"command": "x"}, error=f"Exit code 1\nbad {SECRET}")
    house.transcript.write_text(assistant("a1", f"I used {SECRET}."), "utf-8")
    house.hook("Stop", last_assistant_message=f"It was {SECRET}.")
    assert len(house.texts()) == 5
    assert SECRET.encode() not in house.all_bytes()


def break_with_garbage(database: Path) -> None:
    database.write_bytes(b"this is no database at all" * 1_000)


def break_with_a_folder(database: Path) -> None:
    database.mkdir()


def break_with_another_program(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE theirs(x)")
        connection.commit()


def break_with_a_newer_schema(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA application_id = 0x48594C43")
        connection.execute("PRAGMA user_version = 9999")


@pytest.mark.parametrize(
    "break_it",
    [break_with_garbage, break_with_a_folder, break_with_another_program, break_with_a_newer_schema],
)
def test_a_broken_database_breaks_nothing_and_the_person_is_told_once_a_session(house: House, break_it: Any) -> None:
    house.settings.database.parent.mkdir(parents=True)
    break_it(house.settings.database)
    assert house.hook("SessionStart", source="startup")["systemMessage"].startswith("Hyperloci: ")
    for event in EVENTS[1:]:
        assert house.hook(event, prompt="hello", tool_name="Bash", tool_input={"command": "make"}) == {}
    assert len(house.spooled()) >= 5
    assert str(house.settings.database) in house.log()


def test_a_wrong_setting_breaks_nothing_and_the_person_is_told(house: House) -> None:
    (house.home / ".claude").mkdir()
    (house.home / ".claude" / "hyperloci.toml").write_text("no_such_setting = 1\n")
    assert "no_such_setting" in house.hook("SessionStart", source="startup")["systemMessage"]
    assert house.hook("UserPromptSubmit", prompt="hello") == {}


def test_nowhere_to_write_at_all_breaks_nothing(house: House) -> None:
    (house.home / "file").write_text("")
    house.environ |= {
        "RLM_MEMORY_DB": str(house.home / "file" / "memory.db"),
        "HYPERLOCI_STATE_DIR": str(house.home / "file" / "state"),
    }
    for event in EVENTS[1:]:
        assert house.hook(event, prompt="hello", tool_name="Bash", tool_input={"command": "make"}) == {}


def test_what_sub_agents_do_is_kept_only_where_that_is_asked_for(house: House) -> None:
    used: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}, "agent_id": "a1"}
    used["agent_type"] = "Explore"
    house.hook("PostToolUse", **used)
    assert house.texts() == []
    house.environ["HYPERLOCI_CAPTURE_SUBAGENTS"] = "true"
    house.hook("PostToolUse", **used)
    assert house.texts() == ["Bash: make"]


@pytest.mark.parametrize("prompt", ["<task-notification>\n<task-id>a1</task-id>", "<private>all of it</private>", " "])
def test_notices_and_private_prompts_are_not_kept(house: House, prompt: str) -> None:
    assert house.hook("UserPromptSubmit", prompt=prompt) == {}
    assert house.texts() == [] and house.spooled() == []


@pytest.mark.parametrize("active", [False, True])
def test_stop_never_blocks_and_never_makes_the_assistant_go_on(house: House, active: bool) -> None:
    with house.memory() as memory:
        memory.remember_fact("The gateway listens on 8443", category="decision")
    assert house.hook("Stop", stop_hook_active=active, last_assistant_message="Done.") == {}
    assert house.texts() == ["Done."]


def test_an_event_that_two_installations_hear_is_kept_once(house: House) -> None:
    for _ in range(2):
        house.hook("UserPromptSubmit", prompt="continue", prompt_id="p1")
        house.hook("PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="toolu_1")
        house.hook("Stop", last_assistant_message="Done.", prompt_id="p1")
    house.hook("UserPromptSubmit", prompt="continue", prompt_id="p2")
    assert house.texts() == ["continue", "Bash: make", "Done.", "continue"]


@pytest.mark.req("SPEC-02.04")
def test_hooks_that_run_at_once_all_keep_what_they_are_told(house: House) -> None:
    with ThreadPoolExecutor(6) as pool:
        for index in range(12):
            pool.submit(house.hook, "UserPromptSubmit", prompt=f"prompt {index}", prompt_id=f"p{index}")
            pool.submit(
                house.hook,
                "PostToolUse",
                tool_name="Bash",
                tool_input={"command": f"step {index}"},
                tool_use_id=f"t{index}",
            )
    nodes = house.kept()
    assert sorted(node.content for node in nodes) == sorted(
        [f"prompt {index}" for index in range(12)] + [f"Bash: step {index}" for index in range(12)]
    )
    assert sorted(node.seq for node in nodes if node.seq is not None) == list(range(24))


def imported(house: House, *command: str, **fields: Any) -> set[str]:
    """Run a program on what a hook is told, and return the names of all modules that it asks for."""
    told = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}, "prompt": "thanks", **fields}
    return list_imports(house, "-m", *command, told=json.dumps(told).encode())


def list_imports(house: House, *arguments: str, told: bytes = b"") -> set[str]:
    """Run Python, and return the names of all modules that it asks for, whether or not they are there."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        input=told,
        env=house.environ,
        capture_output=True,
        timeout=PROCESS_SECONDS,
        check=True,
    )
    named = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if "|" in line}
    return named - {"imported package"}


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_itself_loads_next_to_nothing(house: House, event: str) -> None:
    loaded = imported(house, "hyperloci_hooks.run", event)
    ours = {name for name in loaded if name.startswith("hyperloci")}
    assert ours <= {
        "hyperloci",
        *("hyperloci." + name for name in ("system", "system.data_paths", "system.framing", "system.sockets")),
        "hyperloci.system.parents",
        "hyperloci.system.own_folders",  # Of the first event of all, which makes the folder.
        *("hyperloci_hooks" + name for name in ("", ".budget", ".client", ".finisher_launch", ".outcome_log")),
    }
    assert {name.partition(".")[0] for name in loaded - ours} <= {*sys.stdlib_module_names, *startup_modules(house)}
    assert not loaded & {"json", "typing", "dataclasses", "pathlib", "hashlib", "subprocess", "tempfile", "threading"}
    # Unless `python -m` itself does so: to define enumerations takes a hook longer than all that it does.
    assert "enum" not in loaded - list_imports(house, "-m", "hyperloci_hooks.budget")


def startup_modules(house: House) -> set[str]:
    """Return what any Python here asks for, whatever it is told to do; Debian's asks for `apport_python_hook`."""
    return {name.partition(".")[0] for name in list_imports(house, "-c", "pass")} | {"sitecustomize", "usercustomize"}


BESIDE_PROMPTS = (
    *("dis", "tempfile", "hyperloci.project.git_log", "hyperloci.knowledge.names.resolver"),
    *("hyperloci.conversations.capture.foreign_transcripts", "hyperloci.conversations.edited_lines"),
)
"""What other events need, or texts that name code."""


def test_what_sees_to_an_event_loads_nothing_that_is_slow(house: House) -> None:
    slow = ("torch", "transformers", "sentence_transformers", "sklearn", "mcp", "pydantic", "rich", "typer", "asyncio")
    for event, also in (
        ("PostToolUse", ("numpy", "sqlite3")),
        ("SessionEnd", ("numpy", "sqlite3")),
        ("Stop", ("numpy",)),
        ("SessionStart", ("numpy",)),
        ("UserPromptSubmit", ("numpy", *BESIDE_PROMPTS)),
    ):
        loaded = imported(house, "hyperloci_hooks.finisher", event, "mark")
        assert "hyperloci_hooks.events" in loaded
        assert not loaded.intersection((*slow, *also)), event
