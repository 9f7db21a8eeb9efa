"""Hooks that are late, or killed: what they answered for is kept, and what they couldn't store is stored later."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.house import AS_USUAL, PROCESS_SECONDS, House, assistant
from tests.embedder.helpers import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc; signals as POSIX has them")

SLOW_DISK = f"""
import os, threading
from hyperloci_hooks import budget
budget.PATIENCE_SECONDS = {PROCESS_SECONDS / 2}
real, slow = os.fsync, iter([True] * int(os.environ["SLOW"]))
os.fsync = lambda descriptor: threading.Event().wait() if next(slow, False) else real(descriptor)
{AS_USUAL}
"""
"""The first calls of fsync never come back; the hook waits for its record as long as a busy machine takes."""

SLOW_START = f"""
import os, threading
from hyperloci_hooks import budget, finisher as finish
budget.PATIENCE_SECONDS = float(os.environ.get("PATIENCE", budget.PATIENCE_SECONDS))
finish.KNOWN_SHARE = float(os.environ.get("KNOWN_SHARE", finish.KNOWN_SHARE))
from hyperloci.project import identity as project
real = project.identify_project
wait = threading.Event().wait
project.identify_project = lambda *places, **more: wait(float(os.environ["SLOW"])) or real(*places, **more)
{AS_USUAL}
"""
"""It takes that many seconds until the hook knows which project it is in."""

USED = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@contextmanager
def begun(house: House, event: str, program: str = AS_USUAL, **fields: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a hook and tell it what Claude Code would."""
    told = {"session_id": "s1", "transcript_path": str(house.transcript), "cwd": str(house.project), **fields}
    with subprocess.Popen(
        [sys.executable, "-c", program, event],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=house.environ,
        cwd=house.project,
    ) as process:
        assert process.stdin
        process.stdin.write(json.dumps(told).encode())
        process.stdin.close()
        yield process
        process.kill()


def answer_of(process: subprocess.Popen[bytes]) -> bytes:
    """Return what a hook says that ends by itself."""
    assert process.stdout
    said = process.stdout.read()
    assert process.wait(PROCESS_SECONDS) == 0
    return said


def is_at(process: subprocess.Popen[bytes], database: Path) -> bool:
    """Tell whether the process that sees to a hook's event has the database open, or the hook has ended."""
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        opened = [entry for pid in children for entry in Path(f"/proc/{pid}/fd").iterdir()]
        return process.poll() is not None or any(os.readlink(entry) == str(database) for entry in opened)
    except (FileNotFoundError, ProcessLookupError):
        return False  # It closed a file, or ended, while we looked: the next look tells.


@contextmanager
def locked(database: Path) -> Iterator[None]:
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield
        writer.execute("ROLLBACK")


@pytest.mark.req("B.01", "SPEC-02.04")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hook_that_is_told_to_end_while_it_waits_for_the_database_leaves_its_record(
    house: House, ending: signal.Signals
) -> None:
    house.hook("SessionStart", source="startup")
    with (
        locked(house.settings.database),
        begun(house, "UserPromptSubmit", prompt="Make it green", prompt_id="p1") as hook,
    ):
        wait_for(lambda: is_at(hook, house.settings.database))
        hook.send_signal(ending)
        assert json.loads(answer_of(hook)) == {}
        # It waits for its record for half a second; on a busy machine that takes longer.
        wait_for(lambda: len(house.spooled()) == 1)
    house.hook("Stop", last_assistant_message="It is green.", prompt_id="p1")
    assert house.spooled() == []
    assert house.texts() == ["Make it green", "It is green."]


@pytest.mark.req("B.01")
def test_what_a_killed_hook_neither_stored_nor_answered_is_read_from_the_transcript(house: House) -> None:
    house.hook("SessionStart", source="startup")
    with (
        locked(house.settings.database),
        begun(house, "UserPromptSubmit", prompt="Make it green", prompt_id="p1") as hook,
    ):
        wait_for(lambda: is_at(hook, house.settings.database))
        hook.kill()
        assert hook.stdout and hook.stdout.read() in {b"", b"{}\n"}
    prompt = {"type": "user", "uuid": "u1", "promptId": "p1", "message": {"role": "user", "content": "Make it green"}}
    house.transcript.write_text(json.dumps(prompt, separators=(",", ":")) + "\n" + assistant("a1", "It is."), "utf-8")
    house.hook("Stop", last_assistant_message="It is.", prompt_id="p1")
    assert house.texts() == ["Make it green", "It is."]


@pytest.mark.req("B.02")
def test_a_hook_on_a_slow_disk_answers_once_its_record_is_safe(house: House) -> None:
    house.environ["SLOW"] = "1"
    with begun(house, "PostToolUse", SLOW_DISK, **USED) as hook:
        assert json.loads(answer_of(hook)) == {}
    assert len(house.spooled()) == 1
    assert house.texts() == ["Bash: make"]


@pytest.mark.req("B.02")
def test_a_hook_whose_record_never_gets_safe_does_not_answer_and_leaves_it_whole(house: House) -> None:
    house.environ["SLOW"] = "2"
    with begun(house, "PostToolUse", SLOW_DISK, **USED) as hook:
        wait_for(lambda: len(unfinished(house)) == 2)
        hook.kill()
        assert hook.stdout and hook.stdout.read() == b""
    for path in unfinished(house):
        os.utime(path, (0, 0))  # Left a minute ago, as far as anybody can see.
    assert house.texts() == ["Bash: make"]


@pytest.mark.req("B.02")
def test_a_hook_that_is_late_before_it_knows_what_to_keep_takes_its_time(house: House) -> None:
    house.environ |= {"SLOW": "3", "PATIENCE": str(PROCESS_SECONDS / 2)}
    with begun(house, "PostToolUse", SLOW_START, **USED) as hook:
        assert json.loads(answer_of(hook)) == {}
    assert "ran out of time" in house.log()
    assert house.texts() == ["Bash: make"]


def test_a_hook_that_never_knows_what_to_keep_ends_with_an_answer(house: House) -> None:
    # Long before the kernel ends the process, which is at 30 s.
    house.environ |= {"SLOW": str(PROCESS_SECONDS), "KNOWN_SHARE": "0.1"}
    with begun(house, "PostToolUse", SLOW_START, tool_name="Bash", tool_input={"command": "make"}) as hook:
        assert json.loads(answer_of(hook)) == {}
    # It is counted last of all.
    wait_for(lambda: house.outcomes() == {"late": 1, "began": 1, "dropped": 1})
    assert "ran out of time before its record was made" in house.log()


def unfinished(house: House) -> list[Path]:
    return [path for path in house.settings.spool_dir.glob("*.tmp") if path.stat().st_size]
