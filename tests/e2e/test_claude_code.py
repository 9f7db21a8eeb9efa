"""The real Claude Code with what `hyperloci install` wrote, offline: one session remembers, the next one knows.

CLAUDE_E2E names its program; it is proprietary, so it is neither shipped nor fetched here. The model is a script
(`scripted_api.py`). Where the system allows it, the two are alone in a network namespace with nothing but loopback.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest

from hyperloci.clock import system_clock
from hyperloci.text.sanitize.cleaning import INJECTED_TAG
from hyperloci_hooks.spool import drain_spool
from tests.e2e.conftest import House

CLAUDE = os.environ.get("CLAUDE_E2E", "")

pytestmark = [
    pytest.mark.skipif(not CLAUDE, reason="CLAUDE_E2E does not name a Claude Code program"),
    pytest.mark.skipif(sys.platform == "win32", reason="process groups as POSIX has them"),
]

SESSION_SECONDS = 90
"""For a session that takes three when the machine is idle; a hang is a failure, slowness is not."""

QUIET = {
    "ANTHROPIC_API_KEY": "sk-ant-none-needed-offline",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_BUG_COMMAND": "1",
    "DISABLE_COST_WARNINGS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
}
"""Nothing of it is wanted in a test, and some of it would ask the network."""

ALONE = 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"'
"""Run in a new network namespace, whose loopback is down at first."""

DECISION = "Invoices are numbered by a PostgreSQL sequence, one for each tenant."
APPROACH = "Numbering invoices with max(id) + 1"
REASON = "Two requests at once got the same number."

Json = dict[str, Any]


def say(text: str) -> Json:
    return {"type": "text", "text": text}


def use(tool: str, **arguments: Any) -> Json:
    return {"type": "tool_use", "name": tool, "input": arguments}


@cache
def namespace() -> list[str]:
    """Return what starts a command without a network, nothing where that is not allowed."""
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        alone = [*prefix, "sh", "-c", ALONE, "sh"]
        if (
            shutil.which("unshare")
            and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
        ):
            return alone
    return []


class Offline:
    """A command beside the scripted model, and nothing else.

    Attributes:
        requests: what the model was asked in conversations, in order.
        asides: what it was asked without tools.
    """

    def __init__(
        self, house: House, name: str, answers: Sequence[list[Json]] = (), asides: Sequence[list[Json]] = ()
    ) -> None:
        self._house = house
        self._folder: Path = house.root / name
        self._folder.mkdir()
        (self._folder / "script.json").write_text(json.dumps({"answers": list(answers), "asides": list(asides)}))
        self.requests: list[Json] = []
        self.asides: list[Json] = []

    @contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command, which must end well before the block does; it may be spoken to meanwhile."""
        temporary = {"TMPDIR": str(self._folder), "CLAUDE_CODE_TMPDIR": str(self._folder)}
        # A project's files name commands alone: whoever opens it has them on the PATH.
        found = f"{Path(self._house.command[0]).parent}{os.pathsep}{os.environ['PATH']}"
        stand_in = [sys.executable, str(Path(__file__).with_name("scripted_api.py"))]
        record = self._folder / "record.jsonl"
        with (self._folder / "complaints").open("w+b") as complaints:
            process = subprocess.Popen(
                [*namespace(), *stand_in, str(self._folder / "script.json"), str(record), "--", *command],
                env={**self._house.environment, **QUIET, **temporary, "PATH": found},
                cwd=self._house.project,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
            timer = threading.Timer(SESSION_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            try:
                yield process
                output, _ = process.communicate()
            finally:
                timer.cancel()
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
            complaints.seek(0)
            assert process.returncode == 0, (output, complaints.read())
        asked = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
        self.requests = [request for request in asked if request.get("tools")]
        self.asides = [request for request in asked if not request.get("tools")]


class Session(Offline):
    """One run of `claude -p`, from start to end, with one prompt after the other.

    Attributes:
        result: its own account of how it ended.
    """

    def __init__(self, house: House, name: str, prompts: str | Sequence[str], answers: list[list[Json]]) -> None:
        super().__init__(house, name, answers)
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        with self.running(CLAUDE, "-p", *streams, "--allowedTools", "mcp__hyperloci", "Bash(echo:*)") as process:
            for prompt in [prompts] if isinstance(prompts, str) else prompts:
                self.result = self._say(process, prompt)

    def _say(self, process: subprocess.Popen[bytes], prompt: str) -> Json:
        assert process.stdin is not None and process.stdout is not None
        told = {"type": "user", "message": {"role": "user", "content": prompt}}
        process.stdin.write(json.dumps(told).encode() + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            heard: Json = json.loads(line)
            if heard["type"] == "result":
                return heard
        raise AssertionError("the session ended without an answer")

    def notes(self, kind: str) -> list[str]:
        """Return what hooks of ours put before the model in its first request."""
        texts: list[str] = []
        for message in self.requests[0]["messages"]:
            content = message["content"]
            blocks = [say(content)] if isinstance(content, str) else content
            texts += [block["text"] for block in blocks if block["type"] == "text"]
        element = rf'<{INJECTED_TAG} kind="{kind}">.*?</{INJECTED_TAG}>'
        return re.findall(element, "\n".join(texts), re.DOTALL)

    def results(self) -> list[str]:
        """Return what each tool call gave the model, in order."""
        found: dict[str, str] = {}
        for message in self.requests[-1]["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result":
                    assert not block.get("is_error"), block
                    content = block["content"]
                    text = content if isinstance(content, str) else "\n".join(part["text"] for part in content)
                    found[block["tool_use_id"]] = text
        return list(found.values())


def install(house: House, scope: str, *options: str) -> None:
    program = house.command[0]
    subprocess.run(
        [program, "install", "--scope", scope, *options],
        env=house.environment,
        cwd=house.project,
        check=True,
        capture_output=True,
    )


def ours(house: House) -> list[psutil.Process]:
    """Return the processes that were started in this house and still run."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("RLM_MEMORY_DB") == str(house.database):
                found.append(process)
    return found


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.req("B.01", "B.16", "D.09", "E.10")
def test_what_one_session_decides_and_gives_up_the_next_one_is_told_and_finds(house: House, scope: str) -> None:
    install(house, scope)
    first = Session(
        house,
        "first",
        "Settle how we number invoices.",
        [
            [
                say("I will note both."),
                use("mcp__hyperloci__remember_fact", fact=DECISION, category="decision"),
                use("mcp__hyperloci__mark_dead_end", approach=APPROACH, reason=REASON),
            ],
            [use("Bash", command="echo numbered", description="Say so")],
            [say("It is settled: one sequence for each tenant.")],
        ],
    )
    assert first.notes("session-start") == []
    decided, given_up = (json.loads(text) for text in first.results()[:2])

    second = Session(
        house,
        "second",
        "Carry on.",
        [
            [use("mcp__hyperloci__search_memory", query="how are invoices numbered")],
            [say("By a sequence, not by max(id) + 1.")],
        ],
    )
    [told] = second.notes("session-start")
    assert DECISION in told
    assert APPROACH in told and REASON in told
    assert "Settle how we number invoices." in told and "It is settled: one sequence for each tenant." in told
    [found] = (json.loads(text)["results"] for text in second.results())
    assert {decided["id"], given_up["id"]} <= {hit["id"] for hit in found}
    assert second.result["result"] == "By a sequence, not by max(id) + 1."

    assert psutil.wait_procs(ours(house), timeout=20)[1] == []

    with house.memory() as memory:
        drain_spool(memory)  # The last hook only leaves a note there; the next session would take it in.
        assert [session["status"] for session in memory.list_recent_sessions()] == ["completed", "completed"]
        kept = memory.store.nodes.query_nodes("experience", subtypes=("episode", "action"), limit=100)
        said = {
            session.result["session_id"]: [
                node.content
                for node in sorted(kept, key=lambda node: node.seq or 0)
                if node.session_id == session.result["session_id"]
            ]
            for session in (first, second)
        }
    assert said == {
        first.result["session_id"]: [
            "Settle how we number invoices.",
            "Bash: echo numbered",
            "I will note both.",
            "It is settled: one sequence for each tenant.",
        ],
        second.result["session_id"]: ["Carry on.", "By a sequence, not by max(id) + 1."],
    }


PROMPTS = (
    "Have a look at the payments module, please.",
    "We decided to take Stripe for the payments.",
    "I changed my mind: we take Adyen for the payments instead of Stripe, its fees in Brazil are half as high.",
)


@pytest.mark.req("B.16", "B.17")
def test_what_the_user_decided_anew_the_next_session_is_told_and_what_it_replaced_it_is_not(house: House) -> None:
    install(house, "user")
    Session(house, "first", PROMPTS, [[say("I looked at it.")], [say("Fine.")], [say("Understood.")]])
    second = Session(house, "second", "Carry on.", [[say("With Adyen, then.")]])
    [told] = second.notes("session-start")
    assert "Adyen" in told
    assert PROMPTS[1] not in told


@pytest.mark.req("B.16", "E.10")
def test_what_the_assistant_remembers_is_of_its_session_though_another_window_spoke_last(house: House) -> None:
    install(house, "user")
    with house.memory() as memory, memory.store.transaction():
        scope_key = memory.store.scopes.ensure_scope(memory.project.id, now=system_clock())
        memory.store.sessions.note_seen("other", scope_key, now=system_clock() + 30_000)
    remembered = [use("mcp__hyperloci__remember_fact", fact=DECISION, category="decision")]
    session = Session(house, "own", "Settle how we number invoices.", [remembered, [say("Noted.")]])
    [told] = (json.loads(text) for text in session.results())
    with house.memory() as memory:
        kept = memory.store.nodes.get_node(told["id"])
        assert kept is not None and kept.session_id == session.result["session_id"]


FINDING = {"content": "Payments go through Adyen, its fees in Brazil are half as high.", "kind": "decision"}


def consolidate(house: House, name: str) -> Offline:
    """Run all maintenance, with a model that has found one thing."""
    with house.memory() as memory:
        drain_spool(memory)  # The last hook only leaves a note there; the next session would take it in.
    found = {"facts": [{**FINDING, "sources": [4]}]}
    run = Offline(house, name, asides=[[say(f"```json\n{json.dumps(found)}\n```")]])
    with run.running(house.command[0], "upkeep"):
        pass
    return run


def files_of_claude(house: House) -> set[str]:
    """Return what Claude Code keeps of its conversations."""
    return {str(path) for path in (house.home / ".claude" / "projects").rglob("*") if path.is_file()}


@pytest.mark.req("B.17")
def test_the_users_own_claude_code_makes_memories_of_a_session_unseen_by_hooks_and_within_its_bounds(
    house: House,
) -> None:
    (house.home / ".claude").mkdir()
    settings = f'claude_program = "{CLAUDE}"\nclaude_calls_per_day = 1\n'
    (house.home / ".claude" / "hyperloci.toml").write_text(settings)
    (house.home / ".claude" / "CLAUDE.md").write_text("Answer in rhymes.")
    install(house, "user", "--consolidation", "claude")
    answers = [[say("I looked at it.")], [say("Fine.")], [say("Understood.")]]
    first = Session(house, "first", PROMPTS, answers)
    kept = files_of_claude(house)

    run = consolidate(house, "upkeep")
    [asked] = run.asides
    assert run.requests == []
    assert "haiku" in asked["model"] and asked["tools"] == []
    text = json.dumps(asked["messages"])
    assert all(prompt in text for prompt in PROMPTS)
    assert "Answer in rhymes." not in text
    assert "You turn the record of a session into lasting memory" in json.dumps(asked["system"])
    with house.memory() as memory:
        assert [session["id"] for session in memory.list_recent_sessions()] == [first.result["session_id"]]
        [node] = [
            node
            for node in memory.store.nodes.query_nodes("decision", subtypes=("decision",), limit=10)
            if node.metadata.get("strategy") == "claude"
        ]
        assert node.content == FINDING["content"]
        assert list(memory.store.consolidations.list_pending(9)) == []
    assert files_of_claude(house) == kept

    second = Session(house, "second", PROMPTS[0], answers)
    again = consolidate(house, "again")
    assert again.asides == []
    with house.memory() as memory:
        waiting = memory.store.consolidations.list_pending(9)
        assert [progress.session_id for progress in waiting] == [second.result["session_id"]]


def test_even_where_claude_code_runs_our_hooks_in_such_a_run_they_keep_nothing(house: House) -> None:
    install(house, "user")
    house.extra["HYPERLOCI_HOOKS"] = "off"
    Session(house, "first", PROMPTS[0], [[say("I looked at it.")]])
    with house.memory() as memory:
        drain_spool(memory)
        assert memory.list_recent_sessions() == []
