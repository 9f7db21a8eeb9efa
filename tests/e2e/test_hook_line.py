"""Hooks and the servers of their database: who answers, what is kept, and that nothing crosses or is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hyperloci.model.node import Node
from hyperloci_hooks import client
from hyperloci_hooks.outcome_statistics import HookStatistics
from hyperloci_hooks.spool import drain_spool, list_waiting_files
from tests.e2e.conftest import House, Server
from tests.e2e.house import AS_USUAL, PATIENT
from tests.embedder.helpers import wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="hooks reach servers over Unix sockets")

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LAUNCHER = Path(__file__).resolve().parents[2] / "hooks" / "launch.py"
FIFTY = 50


def hook(
    house: House,
    event: str,
    *,
    environ: Mapping[str, str] | None = None,
    data: bytes | None = None,
    program: str = PATIENT,
    **told: Any,
) -> dict[str, Any]:
    """Run a hook on what Claude Code would tell; it must exit with 0 and answer one JSON object.

    It has the time of the busiest machine, unless `program` says that it is `AS_USUAL`.
    """
    fields = {"session_id": "s1", "cwd": str(house.project), **told}
    done = subprocess.run(
        [sys.executable, "-c", program, event],
        input=json.dumps(fields).encode() if data is None else data,
        env={**house.environment, **(environ or {})},
        cwd=house.project,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def outcomes(house: House) -> dict[str, int]:
    """Return what became of the events of the house's database, as it was counted."""
    with house.memory() as memory:
        return dict(HookStatistics.read_log(memory.settings.installation_paths.spool).outcomes)


def kept(house: House) -> list[Node]:
    """Return what is stored."""
    with house.memory() as memory:
        return memory.store.nodes.query_nodes("experience", subtypes=("episode", "action"), limit=1_000)


def texts(house: House) -> list[str]:
    return sorted(node.content for node in kept(house))


def settled(house: House) -> list[str]:
    """Return the texts that are stored once nothing is under way, and nothing waits, any more."""
    with house.memory() as memory:
        spool = memory.settings.spool_dir

        def quiet() -> bool:
            # In this order: what a hook spools between two looks is not overlooked.
            if HookStatistics.read_log(str(spool)).under_way:
                return False
            drain_spool(memory)
            return not list_waiting_files(spool)

        wait_for(quiet, seconds=100)
    return texts(house)


@contextlib.contextmanager
def serving(house: House) -> Iterator[Server]:
    """Run a server that listens to hooks."""
    with house.server() as server:
        server.shake_hands()
        server.until(lambda stats: bool(stats["hooks"]["listening"]))
        yield server


def sockets(house: House) -> list[Path]:
    return sorted((house.root / "run").glob(f"*/*{client.SUFFIX}"))


@pytest.mark.req("B.01", "B.02", "W3")
def test_a_running_server_sees_to_every_event_of_a_session(house: House) -> None:
    with serving(house) as server:
        server.call("remember_fact", fact="The edge gateway listens on TLS port 8443", category="decision")
        context = hook(house, "SessionStart", source="startup")["hookSpecificOutput"]["additionalContext"]
        assert "8443" in context
        hook(house, "UserPromptSubmit", prompt=f"Release it with {SECRET}", prompt_id="p1")
        hook(house, "PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t1")
        hook(house, "Stop", last_assistant_message="Released.", prompt_id="p1")
        hook(house, "SessionEnd", reason="other")
        assert outcomes(house) == {"served": 5}
        assert server.end() == 0
    assert [text.replace("[redacted:github-token]", "TOKEN") for text in texts(house)] == [
        "Bash: make",
        "Release it with TOKEN",
        "Released.",
    ]
    assert not any(SECRET.encode() in path.read_bytes() for path in house.root.rglob("*") if path.is_file())
    assert sockets(house) == []


@pytest.mark.req("SPEC-02.04")
def test_fifty_hooks_at_once_are_fifty_records_kept_by_a_server(house: House) -> None:
    with serving(house):
        burst(house)
        assert settled(house) == sorted(f"prompt {number}" for number in range(FIFTY))
        found = outcomes(house)
        assert found["served"] + found.get("late", 0) == FIFTY and "dropped" not in found


@pytest.mark.req("SPEC-02.04")
def test_fifty_hooks_at_once_are_fifty_records_kept_without_a_server(house: House) -> None:
    burst(house)
    assert settled(house) == sorted(f"prompt {number}" for number in range(FIFTY))
    assert "dropped" not in outcomes(house)


def burst(house: House) -> None:
    # Without an id: only the event's own mark keeps one that is seen to twice from being stored twice.
    with ThreadPoolExecutor(FIFTY) as pool:
        running = [
            pool.submit(hook, house, "UserPromptSubmit", prompt=f"prompt {number}", session_id=f"s{number}")
            for number in range(FIFTY)
        ]
    assert [one.exception() for one in running] == [None] * FIFTY


@pytest.mark.req("B.02")
def test_what_a_server_was_told_that_is_killed_meanwhile_is_kept(house: House) -> None:
    with serving(house) as server, ThreadPoolExecutor(FIFTY) as pool:
        running = [
            pool.submit(hook, house, "UserPromptSubmit", prompt=f"prompt {number}", session_id=f"s{number}")
            for number in range(20)
        ]
        wait_for(lambda: bool(kept(house)))
        server.process.kill()
        assert [one.result() for one in running] == [{}] * 20
    assert settled(house) == sorted(f"prompt {number}" for number in range(20))


def test_what_a_stopped_server_does_not_answer_is_kept_once_it_is_killed(house: House) -> None:
    with serving(house) as server:
        server.process.send_signal(signal.SIGSTOP)
        assert hook(house, "UserPromptSubmit", prompt="Carry on", program=AS_USUAL) == {}
        server.process.kill()
    assert settled(house) == ["Carry on"]
    assert outcomes(house)["late"] == 1


def test_a_stopped_server_costs_hooks_little_where_another_runs(house: House) -> None:
    with serving(house), serving(house) as younger:
        for order in sockets(house):
            # The one that is stopped is tried first: the last one has all the time there is.
            os.utime(order, (0, order.name.startswith(f"{younger.process.pid}.")))
        older = next(path for path in sockets(house) if not path.name.startswith(f"{younger.process.pid}."))
        pid = int(older.stem)
        os.kill(pid, signal.SIGSTOP)
        try:
            hook(house, "UserPromptSubmit", prompt="Carry on")
            assert outcomes(house) == {"served": 1}
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.req("SPEC-02.02")
def test_two_databases_of_one_home_never_mix(house: House) -> None:
    other = {"RLM_MEMORY_DB": str(house.root / "client-b.db")}
    with serving(house):
        hook(house, "UserPromptSubmit", prompt="ours")
        hook(house, "UserPromptSubmit", prompt="of client b", environ=other)
        hook(house, "PostToolUse", tool_name="Bash", tool_input={"command": "theirs"}, environ=other)
    with house.server() as server:
        # Its spool is looked through when a server starts: what waits there for client b stays.
        server.shake_hands()
        server.until(lambda stats: bool(stats["hooks"]["listening"]))
    house.extra.update(other)
    theirs = settled(house)
    house.extra.clear()
    assert (settled(house), theirs) == (["ours"], ["Bash: theirs", "of client b"])


def test_a_hook_that_means_another_database_than_it_says_is_refused(house: House) -> None:
    with serving(house):
        [address] = sockets(house)
        environ = {**house.environment, "RLM_MEMORY_DB": str(house.root / "other.db")}
        said = client.pack_event(
            "UserPromptSubmit", b'{"session_id": "s", "prompt": "x"}', str(house.database), "m", environ
        )
        outcome, line = client.call_server((str(address.parent),), said, time.monotonic() + 100)
        assert (outcome, line) == (client.REFUSED, None)
        assert kept(house) == []


def test_the_socket_of_a_dead_server_is_removed_and_the_hook_works_by_itself(house: House) -> None:
    with serving(house) as server:
        [address] = sockets(house)
        server.process.kill()
        server.process.wait()
    assert address.exists()
    hook(house, "UserPromptSubmit", prompt="Carry on")
    assert not address.exists()
    assert settled(house) == ["Carry on"]


def test_a_folder_that_others_may_enter_and_one_behind_a_link_are_not_trusted(house: House) -> None:
    with serving(house):
        run = house.root / "run"
        run.chmod(0o755)
        hook(house, "UserPromptSubmit", prompt="open to others")
        run.chmod(0o700)
        run.rename(house.root / "moved")
        run.symlink_to(house.root / "moved")
        hook(house, "UserPromptSubmit", prompt="behind a link")
        assert "served" not in outcomes(house)
    assert settled(house) == ["behind a link", "open to others"]


def test_a_server_does_not_listen_in_a_folder_behind_a_link(house: House) -> None:
    run = house.root / "run"
    run.rename(house.root / "moved")
    run.symlink_to(house.root / "moved")
    with house.server() as server:
        server.shake_hands()
        stats = server.until(lambda stats: stats["hooks"].get("error") is not None)
        assert stats["hooks"]["listening"] is False
        assert "is a link" in stats["hooks"]["error"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b'{"session_id": "s1", "torn',
        b'{"session_id": 5, "prompt": {}}',
        b'{"session_id": "s1", "prompt": "\\ud83d \\u0000"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"session_id": "s1", "prompt": "x", "cwd": "a\\u0000b"}',
    ],
    ids=["nothing", "null", "torn", "wrong kinds", "half a pair", "no text", "deep", "no folder"],
)
def test_whatever_a_server_is_handed_it_answers_and_lives_on(house: House, data: bytes) -> None:
    with serving(house) as server:
        hook(house, "UserPromptSubmit", data=data)
        hook(house, "PostToolUse", data=data)
        hook(house, "Stop", data=data)
        hook(house, "UserPromptSubmit", prompt="still there")
        assert "still there" in texts(house)
        assert server.call("memory_stats")["structuredContent"]["hooks"]["listening"] is True


@pytest.mark.req("W3")
def test_sixteen_megabytes_are_served_and_more_is_counted_as_dropped(house: House) -> None:
    def used(size: int) -> bytes:
        head = b'{"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "'
        return head + b"x" * (size - len(head) - 2) + b'"}'

    with serving(house):
        hook(house, "PostToolUse", data=used(16 << 20), environ={})
        hook(house, "PostToolUse", data=used((16 << 20) + 1))
        assert settled(house) == ["Bash: make"]
        assert outcomes(house)["dropped"] == 1


@pytest.mark.parametrize(
    "said", [b"", b"HOOK", b"GET / HTTP/1.1\r\n\r\n", b"HOOK" + b"\xff" * 8 + b"x" * 100, b"HOOK\0\0\0\1\0\0\0\0x"]
)
def test_a_stranger_who_speaks_otherwise_costs_a_server_nothing(house: House, said: bytes) -> None:
    with serving(house):
        [address] = sockets(house)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
            stranger.connect(str(address))
            stranger.sendall(said)
            hook(house, "UserPromptSubmit", prompt="Carry on")
        assert outcomes(house) == {"served": 1}


def test_settings_of_the_hook_hold_not_those_of_the_server(house: House) -> None:
    used: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}, "agent_id": "a1"}
    with serving(house):
        hook(house, "PostToolUse", **used)
        hook(house, "PostToolUse", **used, environ={"HYPERLOCI_CAPTURE_SUBAGENTS": "true"})
        assert outcomes(house) == {"served": 2}
    assert texts(house) == ["Bash: make"]


def test_a_server_keeps_what_hooks_of_other_projects_tell_in_those_projects(house: House) -> None:
    there = house.root / "elsewhere"
    there.mkdir()
    with serving(house):
        hook(house, "UserPromptSubmit", prompt="here")
        hook(house, "UserPromptSubmit", prompt="there", environ={"CLAUDE_PROJECT_DIR": str(there)})
    scopes = {node.content: node.scope for node in kept(house)}
    assert scopes["here"] != scopes["there"]


@pytest.mark.req("SPEC-02.04")
def test_the_launcher_of_the_plugin_asks_a_server_without_a_second_python(house: House) -> None:
    # As `PATIENT` is: with time enough on the busiest machine. The launcher finds its packages by itself.
    program = f"""
import runpy, sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
from hyperloci_hooks import budget
del sys.path[0]
budget.SECONDS["UserPromptSubmit"] = 50
sys.argv = [{str(LAUNCHER)!r}, "hook", "UserPromptSubmit"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

    def launch() -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program],
            input=json.dumps({"session_id": "s1", "prompt": "By the plugin"}).encode(),
            env={**house.environment, "PATH": os.defpath},
            cwd=house.project,
            capture_output=True,
            timeout=100,
            check=True,
        )
        assert done.stderr == b""
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    with serving(house):
        assert launch() == {}
        assert texts(house) == ["By the plugin"] and outcomes(house) == {"served": 1}
    assert launch() == {}
    assert texts(house) == ["By the plugin"]


def test_where_processes_can_not_be_forked_the_event_is_seen_to_by_one_that_is_started(house: House) -> None:
    program = "import os; del os.fork; from hyperloci_hooks import budget; budget.SECONDS['UserPromptSubmit'] = 50\n"
    done = subprocess.run(
        [sys.executable, "-c", program + "from hyperloci_hooks.run import main; main('UserPromptSubmit')"],
        input=b'{"session_id": "s1", "prompt": "By a process that is started"}',
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        timeout=100,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"{}\n", b"")
    assert settled(house) == ["By a process that is started"]
    assert outcomes(house) == {"began": 1, "ended": 1, "own": 1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hook_that_is_told_to_end_at_any_moment_ends_with_an_answer_and_keeps_what_it_was_told(
    house: House, number: signal.Signals
) -> None:
    program = (
        "import hyperloci_hooks.run as r, os; b = r._open_signal_pipe; i = r.HookProcess._read_input\n"
        "r._open_signal_pipe = lambda: (b(), os.write(2, b'.'))[0]\n"
        "r.HookProcess._read_input = lambda self: (i(self), os.write(2, b'!'))[0]; r.main()"
    )
    for moment in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", program, "UserPromptSubmit"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=house.environment,
            cwd=house.project,
        ) as process:
            assert process.stdin and process.stdout and process.stderr
            process.stdin.write(json.dumps({"session_id": "s1", "prompt": f"prompt {moment}"}).encode())
            process.stdin.close()
            assert process.stderr.read(1) == b"."  # From here on, signals are heard.
            if moment:
                assert process.stderr.read(1) == b"!"  # It has read what it was told.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait((moment - 1) / 20)
            process.send_signal(number)
            assert json.loads(process.stdout.read()) == {}
            assert process.wait(100) == 0
    told = settled(house)
    # At the very first moment the hook may not have read what it was told yet.
    assert {f"prompt {moment}" for moment in range(1, 6)} <= set(told)


def test_a_server_whose_hooks_thread_holds_the_interpreter_ends_when_it_is_asked_to(house: House) -> None:
    program = """
import re, sys
from hyperloci_hooks import hook_server as desk
desk.EventWork.answer_event = lambda self, payload: re.match(r"(a+)+$", "a" * 100 + "b")
sys.argv = ["hyperloci", "serve"]
from hyperloci.cli import main
main()
"""
    house.program = [sys.executable, "-c", program]
    with serving(house) as server:
        assert hook(house, "UserPromptSubmit", prompt="Carry on", program=AS_USUAL) == {}
        server.process.terminate()
        assert server.process.wait(100) == -signal.SIGKILL
    assert settled(house) == ["Carry on"]


def test_a_hook_whose_work_holds_the_interpreter_answers_and_its_process_is_ended_by_the_kernel(house: House) -> None:
    program = """
import re, sys
from hyperloci_hooks import finisher as finish
finish.OWN_SECONDS = 2
finish.EventWork.answer_event = lambda self, payload: re.match(r"(a+)+$", "a" * 100 + "b")
from hyperloci_hooks.run import main
main("PostToolUse")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=b'{"session_id": "s1"}',
        env=house.environment,
        capture_output=True,
        timeout=100,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"{}\n", b"")
    with house.memory() as memory:
        folder = memory.settings.installation_paths.spool
    # On a busy machine the hook may have answered before the process has begun.
    wait_for(lambda: list((house.home / ".claude" / "hyperloci").glob("hooks-*.lock")))
    lock = next((house.home / ".claude" / "hyperloci").glob("hooks-*.lock"))
    wait_for(lambda: not holders(lock))
    later = 1_000_000 + int(time.time() * 1_000)
    account = HookStatistics.read_log(folder, now=later)
    assert account.lost == 1 and "got lost" in account.list_problems()[-1][0]


def holders(path: Path) -> list[str]:
    """Return the processes that have a file open."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(entry) == str(path):
                found.append(re.findall(r"\d+", str(entry))[0])
    return found
