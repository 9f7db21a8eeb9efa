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
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest

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


class Session:
    """One run of `claude -p`, from start to end.

    Attributes:
        result: its own account of how it ended.
        requests: what the model was asked, in order.
    """

    def __init__(self, house: House, name: str, prompt: str, answers: list[list[Json]]) -> None:
        folder: Path = house.root / name
        folder.mkdir()
        (folder / "script.json").write_text(json.dumps(answers))
        temporary = {"TMPDIR": str(folder), "CLAUDE_CODE_TMPDIR": str(folder)}
        stand_in = [sys.executable, str(Path(__file__).with_name("scripted_api.py"))]
        files = [str(folder / "script.json"), str(folder / "record.jsonl")]
        claude = [CLAUDE, "-p", "--output-format", "json", "--allowedTools", "mcp__hyperloci", "Bash(echo:*)"]
        process = subprocess.Popen(
            [*namespace(), *stand_in, *files, "--", *claude, "--", prompt],
            env={**house.environment, **QUIET, **temporary},
            cwd=house.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, complaints = process.communicate(timeout=SESSION_SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        assert process.returncode == 0, (output, complaints)
        self.result: Json = json.loads(output)
        self.requests: list[Json] = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]

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


def install(house: House, scope: str) -> None:
    program = house.command[0]
    subprocess.run(
        [program, "install", "--scope", scope],
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
