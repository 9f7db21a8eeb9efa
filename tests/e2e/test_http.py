"""The installed `hyperloci serve --http`: a token from the command line, the SDK's client, an end by signal."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.conftest import House, running_command
from tests.e2e.test_claude_code import CLAUDE, Offline, say, use


@contextmanager
def serving(house: House, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the server on a free port, and yield its process and the address that it prints."""
    with running_command(house, "serve", "--http", "--port", "0", *arguments) as started:
        yield started


pytestmark = pytest.mark.timeout(600)

SECONDS = 90
"""For a command that takes one when the machine is idle; a hang is a failure, slowness is not."""


def run(house: House, *arguments: str) -> str:
    done = subprocess.run(
        [house.command[0], *arguments],
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.anyio
async def test_a_token_from_the_command_line_opens_the_memory_until_it_is_revoked(tmp_path: Path) -> None:
    house = House(tmp_path)
    token = run(house, "token", "create", "laptop")
    with serving(house) as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address)
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=SECONDS) as http,
            streamable_http_client(address, http_client=http) as (incoming, outgoing, *_),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            await session.call_tool("mark_dead_end", {"approach": "Sharding by tenant", "reason": "Reports span them."})
            found = await session.call_tool("search_memory", {"query": "sharding"})
        assert "Reports span them" in str(found.content)
        listed = run(house, "token", "list")
        assert "laptop" in listed
        assert token not in listed
        assert "mark_dead_end" in run(house, "audit")
        run(house, "token", "revoke", listed.splitlines()[-1].split()[0])
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=SECONDS) as http:
            assert (await http.post(address, json={})).status_code == 401
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)


def test_a_server_for_other_machines_without_tls_is_refused_in_words(tmp_path: Path) -> None:
    house = House(tmp_path)
    done = subprocess.run(
        [house.command[0], "serve", "--http", "--host", "0.0.0.0", "--port", "0"],
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert "--tls-cert" in done.stderr


BESIDE = """
import json, pathlib, subprocess, sys
program, claude, token, config = sys.argv[1:]
serve = [program, "serve", "--http", "--common", "acme", "--port", "0"]
with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
    entry = {"type": "http", "url": server.stdout.readline().strip(), "headers": {"Authorization": "Bearer " + token}}
    pathlib.Path(config).write_text(json.dumps({"mcpServers": {"acme": entry}}))
    options = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__acme"]
    done = subprocess.run([claude, "-p", "Note how we deploy.", "--output-format", "json", *options])
    server.terminate()
sys.exit(done.returncode)
"""
"""A server and the client of it, in one network of their own."""


@pytest.mark.skipif(not CLAUDE, reason="CLAUDE_E2E does not name a Claude Code program")
def test_claude_code_with_a_token_remembers_and_finds_over_http(tmp_path: Path) -> None:
    house = House(tmp_path)
    token = run(house, "token", "create", "Ada <ada@example.org>", "--common", "acme")
    session = Offline(
        house,
        "session",
        [
            [use("mcp__acme__remember_fact", fact="We deploy with Nomad.", category="decision")],
            [use("mcp__acme__search_memory", query="deploy")],
            [say("Noted.")],
        ],
    )
    command = [sys.executable, "-c", BESIDE, house.command[0], CLAUDE, token, str(tmp_path / "mcp.json")]
    with session.running(*command) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.read())["result"] == "Noted."
    results = [block for message in session.requests[-1]["messages"] for block in message["content"]]
    assert "We deploy with Nomad." in json.dumps(results)
    calls = json.loads(run(house, "audit", "--common", "acme", "--json"))
    assert [(call["person"], call["tool"]) for call in reversed(calls)] == [
        ("Ada <ada@example.org>", "remember_fact"),
        ("Ada <ada@example.org>", "search_memory"),
    ]
    assert calls[0]["client"].startswith("claude-code")
