"""The real Codex, Gemini CLI and OpenCode with what `hyperloci install` wrote, offline: one memory for all of them.

CODEX_E2E, GEMINI_E2E and OPENCODE_E2E name their programs (npm: @openai/codex, @google/gemini-cli, opencode-ai), which
are neither shipped nor fetched here. The models are a script (`scripted_models.py`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hyperloci.cli.install.json_edit import parse_lenient
from hyperloci_hooks.spool import drain_spool
from tests.e2e.conftest import House

PROGRAMS = {name: os.environ.get(f"{name.upper()}_E2E", "") for name in ("codex", "gemini", "opencode")}

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="process groups as POSIX has them"),
    # Several sessions of real programs in one test.
    pytest.mark.timeout(900),
]

SESSION_SECONDS = 180
"""For a session that takes five when the machine is idle; a hang is a failure, slowness is not."""

DECISION = "Invoices are numbered by a PostgreSQL sequence, one for each tenant."
SAID = "We decided to send the invoices on Tuesdays, in batches of 500."
ANSWER = {"text": "Understood: on Tuesdays."}

Json = dict[str, Any]

QUIET_OPENCODE = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}
OPENCODE = {
    "provider": {
        "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "@URL@/v1", "apiKey": "none-needed-offline"},
            "models": {"scripted": {"limit": {"context": 100_000, "output": 1_000}}},
        }
    },
    "autoupdate": False,
    "share": "disabled",
}
GEMINI_SETTINGS = """\
{
  // No account, no news.
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false }, "general": { "disableAutoUpdate": true }
}
"""


def needs(*names: str) -> pytest.MarkDecorator:
    """Return the mark that skips a test, in words, where a program is not named."""
    missing = [f"{name.upper()}_E2E" for name in names if not PROGRAMS[name]]
    return pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} name no program")


@pytest.fixture
def clients(house: House) -> Iterator[House]:
    """A house with all three installed and a server that answers hooks at once."""
    (house.home / ".gemini").mkdir()
    (house.home / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS)
    subprocess.run(["git", "init", "-q"], cwd=house.project, check=True)
    (house.home / ".claude").mkdir()
    (house.home / ".claude" / "hyperloci.toml").write_text("embedder = false\nwatch = false\n")
    # Codex starts servers without these variables, so the memory lies where it does by default.
    house.extra["RLM_MEMORY_DB"] = ""
    house.extra["CLAUDE_CONFIG_DIR"] = ""
    house.extra["CLAUDE_PROJECT_DIR"] = ""
    house.extra["HYPERLOCI_RUNTIME_DIR"] = ""
    for name in ("codex", "gemini", "opencode"):
        run(house, "install", "--client", name)
    yield house


def run(house: House, *arguments: str) -> str:
    program = house.command[0]
    folders = [str(Path(program).parent), *{str(Path(path).parent) for path in PROGRAMS.values() if path}]
    done = subprocess.run(
        [program, *arguments],
        env={**house.environment, "PATH": os.pathsep.join([*folders, os.environ["PATH"]])},
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=SESSION_SECONDS,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


@contextmanager
def awake(house: House) -> Iterator[None]:
    """Keep a server running: hooks are answered at once, as in a session that has begun."""
    with house.server() as server:
        server.shake_hands()
        server.call("memory_stats")
        yield


def hold(house: House, client: str, prompt: str, *answers: Json) -> list[Json]:
    """Hold one session of a client with one prompt; return what its model was asked."""
    folder = house.root / f"run{len(list(house.root.glob('run*')))}"
    folder.mkdir()
    (folder / "script.json").write_text(json.dumps(list(answers)))
    record = folder / "record.jsonl"
    stand_in = [sys.executable, str(Path(__file__).with_name("scripted_models.py"))]
    program = PROGRAMS[client]
    environ = {**house.environment, "PATH": os.environ["PATH"]}
    if client == "codex":
        provider = 'model_providers.scripted={name="Scripted",base_url="@URL@/v1",wire_api="responses"}'
        options = ["-c", provider, "-c", "model_provider=scripted", "-m", "scripted"]
        # Without this the first prompt does not wait for the server's tools.
        options += ["-c", "mcp_servers.hyperloci.required=true", "--dangerously-bypass-approvals-and-sandbox"]
        command = [program, "exec", "--skip-git-repo-check", *options, prompt]
    elif client == "gemini":
        environ |= {"GEMINI_API_KEY": "none-needed-offline", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        command = [program, "-m", "gemini-2.5-flash", "--yolo", "-p", prompt]
    else:
        environ |= {**QUIET_OPENCODE, "OPENCODE_CONFIG_CONTENT": json.dumps(OPENCODE)}
        command = [program, "run", "-m", "scripted/scripted", prompt]
    with (folder / "output").open("w+b") as output:
        process = subprocess.Popen(
            [*stand_in, str(folder / "script.json"), str(record), "--", *command],
            env=environ,
            cwd=house.project,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        timer = threading.Timer(SESSION_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            code = process.wait()
        finally:
            timer.cancel()
        output.seek(0)
        assert code == 0, output.read().decode(errors="replace")
    return [json.loads(line) for line in record.read_text("utf-8").splitlines()] if record.exists() else []


def said_in(house: House) -> dict[str, list[str]]:
    """Return what was said, by the client that it was said in."""
    with house.memory() as memory:
        drain_spool(memory)
        clients = {one.id: str(one.client) for one in memory.store.sessions.list_recent(None, 50)}
        kept = memory.store.nodes.query_nodes("experience", subtypes=("episode",), limit=100)
    said: dict[str, list[str]] = {}
    for node in sorted(kept, key=lambda node: (node.event_time, node.seq or 0)):
        said.setdefault(clients[str(node.session_id)], []).append(node.content)
    return said


def done_in(house: House) -> list[str]:
    """Return what tools did, in any client."""
    with house.memory() as memory:
        drain_spool(memory)
        actions = memory.store.nodes.query_nodes("experience", subtypes=("action",), limit=100)
    return [node.content for node in actions]


def tell_trust(house: House) -> str:
    """Return what doctor says of Codex's trust."""
    return "\n".join(line for line in run(house, "doctor").splitlines() if "codex: " in line and "trusted" in line)


@needs("codex", "gemini", "opencode")
def test_what_is_decided_in_one_client_the_others_are_told_and_find(clients: House) -> None:
    run(clients, "install", "--client", "codex", "--trust")
    with awake(clients):
        hold(
            clients,
            "codex",
            SAID,
            {"call": "mcp__hyperloci.remember_fact", "arguments": {"fact": DECISION, "category": "decision"}},
            {"call": "exec_command", "arguments": {"cmd": "echo numbered"}},
            ANSWER,
        )
        gemini = hold(
            clients,
            "gemini",
            "How do we number the invoices?",
            {"call": "mcp_hyperloci_search_memory", "arguments": {"query": "how are invoices numbered"}},
            {"text": "By a sequence."},
        )
        opencode = hold(clients, "opencode", "How do we number the invoices?", {"text": "By a sequence, too."})
        codex = hold(clients, "codex", "Carry on with the invoices.", {"text": "I will."})
    for name, requests in (("gemini", gemini), ("opencode", opencode), ("codex", codex)):
        told = json.dumps(requests[0])
        assert DECISION in told, name
        assert ("in Codex" in told) == (name != "codex"), name
    assert DECISION in json.dumps(gemini[-1]["contents"][-1])
    assert "Background, not a task:" in json.dumps(codex[0]["input"])
    said = said_in(clients)
    assert said["codex"] == [SAID, ANSWER["text"], "Carry on with the invoices.", "I will."]
    assert said["gemini"] == ["How do we number the invoices?", "By a sequence."]
    # `opencode run` itself puts the words of its command line into quotation marks.
    assert said["opencode"] == ['"How do we number the invoices?"', "By a sequence, too."]
    assert done_in(clients) == ["Bash: echo numbered"]
    # What hooks reported, the transcripts say again.
    assert "nothing new" in run(clients, "import", "--client", "codex")
    assert "nothing new" in run(clients, "import", "--client", "gemini")
    assert said_in(clients) == said
    assert done_in(clients) == ["Bash: echo numbered"]


@needs("codex")
def test_codex_skips_hooks_until_it_is_told_to_trust_them_and_its_transcript_says_what_was_missed(
    clients: House,
) -> None:
    assert "6 of 6 hooks are untrusted" in tell_trust(clients)
    hold(clients, "codex", SAID, ANSWER)
    assert said_in(clients) == {}
    assert "1 session remembered: 2 turns" in run(clients, "import", "--client", "codex")
    assert said_in(clients) == {"codex": [SAID, ANSWER["text"]]}
    run(clients, "install", "--client", "codex", "--trust")
    assert "all 6 hooks are trusted" in tell_trust(clients)
    hold(clients, "codex", "Carry on.", {"text": "I will."})
    assert said_in(clients)["codex"][2:] == ["Carry on.", "I will."]


@needs("gemini")
def test_gemini_keeps_a_tools_use_and_a_removed_installation_is_not_heard_any_more(clients: House) -> None:
    with awake(clients):
        call = {"call": "write_file", "arguments": {"file_path": str(clients.project / "a.txt"), "content": "a\nb\n"}}
        hold(clients, "gemini", "Write a file.", call, {"text": "Written."})
    assert done_in(clients) == ["Write a.txt: 2 lines"]
    # Gemini CLI lays its settings out anew as it starts; what it wrote stays, but for our entries.
    settings = clients.home / ".gemini" / "settings.json"
    before = parse_lenient(settings.read_text("utf-8"))
    run(clients, "uninstall", "--client", "gemini")
    assert "// No account, no news." in settings.read_text("utf-8")
    assert parse_lenient(settings.read_text("utf-8")) == {
        name: value for name, value in before.items() if name not in ("hooks", "mcpServers")
    }
    hold(clients, "gemini", "Not heard.", {"text": "By nobody."})
    assert "Not heard." not in said_in(clients)["gemini"]
