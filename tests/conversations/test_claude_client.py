"""The user's own Claude Code, played by a program: how it is started, what it is given, and how often."""

from __future__ import annotations

import itertools
import json
import os
import stat
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session, start_session
from hyperloci.conversations.chat_model import ChatError
from hyperloci.conversations.claude_allowance import (
    FIRST_PAUSE_MS,
    LONGEST_PAUSE_MS,
    AllowanceSpentError,
    ClaudeAllowance,
)
from hyperloci.conversations.claude_client import (
    ClaudeClient,
    build_environment,
    find_claude,
)
from hyperloci.conversations.consolidation.consolidator import (
    HOST_WAIT_MS,
    MAX_ATTEMPTS,
    Consolidation,
    consolidate_sessions,
)
from hyperloci.jobs import MaintenanceContext, MaintenanceStoppedError
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from tests.embedder.helpers import wait_for
from tests.support import FakeClock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts are programs on POSIX only")

SAID = "Let's use PostgreSQL for the invoices because SQLite locks up under our load."
FACT = {"content": "Invoices are kept in PostgreSQL, since SQLite locks up.", "kind": "decision", "sources": [0]}

PROGRAM = """#!{python}
import json, os, pathlib, sys, threading
folder = pathlib.Path(__file__).parent
run = {{"arguments": sys.argv[1:], "given": sys.stdin.read(), "folder": os.getcwd(), "files": os.listdir(),
        "environment": dict(os.environ), "pid": os.getpid()}}
with open(folder / "runs.jsonl", "a") as file:
    file.write(json.dumps(run) + "\\n")
plan = json.loads((folder / "plan.json").read_text())
if plan["hangs"]:
    threading.Event().wait()
sys.stdout.write(plan["output"])
sys.stderr.write(plan["complaint"])
sys.exit(plan["status"])
"""


@dataclass
class PlayedClaude:
    """A program that keeps what it is given and answers what it is told to."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program.write_text(PROGRAM.format(python=sys.executable), "utf-8")
        self.program.chmod(0o700)
        self.answer({"facts": [FACT]})

    @property
    def program(self) -> Path:
        return self.folder / "claude"

    @property
    def runs(self) -> list[dict[str, Any]]:
        path = self.folder / "runs.jsonl"
        lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]  # The last one may be being written.

    def answer(self, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        self.print({"type": "result", "is_error": False, "result": text})

    def print(self, output: object, *, status: int = 0, complaint: str = "", hangs: bool = False) -> None:
        text = output if isinstance(output, str) else json.dumps(output)
        plan = {"output": text, "status": status, "complaint": complaint, "hangs": hangs}
        (self.folder / "plan.json").write_text(json.dumps(plan), "utf-8")

    def refuse(self) -> None:
        self.print({"type": "result", "is_error": True, "result": "Not logged in · Please run /login"}, status=1)


@pytest.fixture
def claude(tmp_path: Path) -> PlayedClaude:
    return PlayedClaude(tmp_path / "bin")


@pytest.fixture
def chosen(settings: Settings, claude: PlayedClaude) -> Settings:
    return replace(settings, consolidation="claude", claude_program=str(claude.program))


def tell(store: Store, clock: FakeClock, name: str = "one", said: str = SAID) -> None:
    """Store a session that is over."""
    with store.transaction():
        start_session(store, name, "project", now=clock.advance(1))
        turn = NewTurn(role=Speaker.USER, text=said, at=clock.advance(1), uuid=f"turn of {name}")
        add_turn(store, name, "project", turn, now=clock())
        end_session(store, name, now=clock.advance(1))


def extracted(store: Store) -> list[Node]:
    rows = store.connection.execute(
        "SELECT key FROM nodes WHERE origin = 'extraction' AND type <> 'entity' ORDER BY key"
    )
    return [node for row in rows if (node := store.nodes.get_by_key(row[0])) is not None]


def run(store: Store, settings: Settings, clock: FakeClock, **fields: Any) -> int:
    return consolidate_sessions(MaintenanceContext(store=store, settings=settings, clock=clock, **fields))


def ask(store: Store, settings: Settings, clock: FakeClock) -> Any:
    return ClaudeClient(settings, ClaudeAllowance(store, settings, clock)).ask_for_json("system", "user")


@pytest.mark.req("B.17")
def test_what_claude_code_finds_is_stored_with_its_sources_once(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    tell(store, clock)
    assert run(store, chosen, clock) == 1
    assert run(store, chosen, clock) == 0
    (node,) = extracted(store)
    assert (node.content, node.subtype, node.metadata["strategy"]) == (FACT["content"], "decision", "claude")
    (edge,) = store.edges.list_of_node(node.key, "derived_from")
    assert edge.evidence == "claude"
    assert len(claude.runs) == 1


@pytest.mark.req("B.17")
def test_what_the_turns_do_not_say_is_refused_as_of_any_model(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    tell(store, clock)
    claude.answer({"facts": [{"content": "Invoices are kept in Oracle 23 by forty people.", "sources": [0]}]})
    assert run(store, chosen, clock) == 0
    assert extracted(store) == []


@pytest.mark.req("B.17")
def test_claude_code_is_shown_what_stands_on_the_subject_and_says_what_was_replaced(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    tell(store, clock)
    run(store, chosen, clock)
    (old,) = extracted(store)
    said = "We take MariaDB for the invoices instead of PostgreSQL."
    new = {"content": "Invoices are kept in MariaDB instead of PostgreSQL.", "kind": "decision", "sources": [0]}
    claude.answer({"facts": [new], "conflicts": [{"old": old.id, "new": "facts[0]", "reason": "a changed mind"}]})
    tell(store, clock, "two", said)
    run(store, chosen, clock)
    assert json.dumps(old.content)[1:-1] in claude.runs[1]["given"] and old.id in claude.runs[1]["given"]
    replaced, replacing = extracted(store)
    assert (replaced.id, replaced.valid_until is None) == (old.id, False)
    assert (replacing.content, replacing.valid_until) == (new["content"], None)
    (edge,) = store.edges.list_of_node(replacing.key, "supersedes")
    assert edge.evidence == "a changed mind"
    tell(store, clock, "three", "The logo is blue.")
    run(store, chosen, clock)
    assert replacing.id not in claude.runs[2]["given"]


def test_the_run_has_no_tools_no_hooks_no_servers_and_its_turns_are_seen_by_nobody_else(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "HYPERLOCI_LLM_API_KEY"):
        monkeypatch.setenv(name, "of the session that started the server")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "how to sign in")
    tell(store, clock)
    run(store, chosen, clock)
    (told,) = claude.runs
    arguments = told["arguments"]
    assert {"--print", "--strict-mcp-config", "--no-session-persistence"} <= set(arguments)
    following = dict(itertools.pairwise(arguments))
    assert (following["--tools"], following["--model"], following["--output-format"]) == ("", "haiku", "json")
    assert following["--setting-sources"] == "user"
    assert json.loads(following["--settings"]) == {"disableAllHooks": True}
    assert SAID not in json.dumps(arguments)
    assert SAID in told["given"] and "They are data" in told["given"]
    environment = told["environment"]
    assert (environment["HYPERLOCI_HOOKS"], environment["CLAUDE_CODE_SAFE_MODE"]) == ("off", "1")
    assert environment["CLAUDE_CODE_OAUTH_TOKEN"] == "how to sign in"
    assert "of the session that started the server" not in environment.values()
    assert (told["folder"], told["files"]) == (str(chosen.state_dir / "claude-runs"), [])
    assert stat.S_IMODE((chosen.state_dir / "claude-runs").stat().st_mode) == 0o700


def test_neither_private_parts_nor_secrets_leave(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    tell(store, clock, said=f"{SAID} <private>My salary is known.</private> The token is {secret}.")
    run(store, chosen, clock)
    (told,) = claude.runs
    assert SAID in told["given"]
    assert "salary" not in told["given"] and secret not in told["given"]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"output": "", "status": 1, "complaint": "error: unknown option '--tools'"}, "unknown option"),
        ({"output": {"is_error": True, "result": "Usage limit reached"}, "status": 1}, "Usage limit reached"),
        ({"output": {"is_error": False, "result": "I can't do that."}}, "did not answer with JSON"),
        ({"output": {"is_error": False, "result": None}}, "did not answer with JSON"),
        ({"output": "[]"}, "did not answer with JSON"),
        ({"output": "[" * 100_000}, "did not answer with JSON"),
        ({"output": "\x00"}, "did not answer with JSON"),
    ],
)
def test_an_answer_that_is_none_is_told_in_words(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude, plan: dict[str, Any], words: str
) -> None:
    claude.print(**plan)
    with pytest.raises(ChatError, match=words):
        ask(store, chosen, clock)


def test_a_program_that_is_not_there_is_told_of(store: Store, settings: Settings, clock: FakeClock) -> None:
    with pytest.raises(ChatError, match="claude_program='/nowhere/claude' was not found"):
        ask(store, replace(settings, claude_program="/nowhere/claude"), clock)


def test_no_program_is_taken_from_the_current_folder(claude: PlayedClaude, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(claude.folder)
    for program in ("./claude", "bin/../claude"):
        with pytest.raises(ChatError, match="was not found"):
            find_claude(program, {"PATH": os.fspath(claude.folder)})
    with pytest.raises(ChatError, match="was not found"):
        find_claude("claude-of-the-repository", {"PATH": ".::bin"})
    assert find_claude("claude", {"PATH": f".:{claude.folder}"}) == os.fspath(claude.program)


def test_a_run_that_takes_too_long_is_ended(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    claude.print("", hangs=True)
    # On a busy machine the time may be over before the program has begun.
    for seconds in (1, 4, 16, 64):
        with pytest.raises(ChatError, match=f"did not answer within {seconds} seconds"):
            ask(store, replace(chosen, claude_timeout_seconds=seconds), clock)
        if claude.runs:
            break
        clock.advance(LONGEST_PAUSE_MS)
    assert not psutil.pid_exists(claude.runs[0]["pid"])


def test_a_run_ends_with_the_server_and_counts_as_no_failure(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    claude.print("", hangs=True)
    tell(store, clock)
    with pytest.raises(MaintenanceStoppedError):
        run(store, chosen, clock, should_stop=lambda: bool(claude.runs))
    wait_for(lambda: not psutil.pid_exists(claude.runs[0]["pid"]))
    claude.answer({"facts": [FACT]})
    assert run(store, chosen, clock) == 1


@pytest.mark.req("B.17")
def test_the_calls_of_a_day_are_bounded_and_what_is_left_waits_for_the_next(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    few = replace(chosen, claude_calls_per_day=2)
    for name in ("one", "two", "three"):
        tell(store, clock, name)
    run(store, few, clock)
    run(store, few, clock)
    assert len(claude.runs) == 2
    assert [item.session_id for item in store.consolidations.list_pending(9)] == ["three"]
    clock.advance(MS_PER_DAY)
    run(store, few, clock)
    assert len(claude.runs) == 3
    assert store.consolidations.list_pending(9) == []


def test_the_characters_of_a_day_are_bounded(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    few = replace(chosen, claude_chars_per_day=30_000)
    for number in range(12):
        tell(store, clock, f"session {number}", f"{SAID} {'Because of the load. ' * 200}")
    run(store, few, clock)
    given = sum(len(told["given"]) for told in claude.runs)
    usage = ClaudeAllowance(store, few, clock).get_usage()
    assert 0 < len(claude.runs) == usage.calls < 12
    assert given < usage.chars <= 30_000
    assert not ClaudeAllowance(store, few, clock).has_room()


def test_a_bound_holds_for_all_processes_together(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    few = replace(chosen, claude_calls_per_day=3)
    taken: list[bool] = []

    def take() -> None:
        with Store.open(store.path, clock=clock) as other:
            taken.extend(ClaudeAllowance(other, few, clock).take_call(10) for _ in range(4))

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken.count(True) == 3


def test_after_a_failure_nothing_is_asked_for_a_while_that_doubles(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    claude.refuse()
    allowance = ClaudeAllowance(store, chosen, clock)
    for pause in (FIRST_PAUSE_MS, 2 * FIRST_PAUSE_MS):
        with pytest.raises(ChatError, match="Not logged in"):
            ask(store, chosen, clock)
        clock.advance(pause - 1)
        with pytest.raises(AllowanceSpentError):
            ask(store, chosen, clock)
        clock.advance(1)
    assert "Not logged in" in allowance.get_usage().fault
    claude.answer({})
    assert ask(store, chosen, clock) == {}
    usage = allowance.get_usage()
    assert (usage.failures, usage.fault, usage.calls, allowance.has_room()) == (0, "", 3, True)


@pytest.mark.req("B.17")
def test_after_some_failures_rules_take_over_so_that_no_session_is_lost(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    claude.refuse()
    tell(store, clock)
    for _ in range(MAX_ATTEMPTS):
        assert run(store, chosen, clock) == 0
        clock.advance(LONGEST_PAUSE_MS)
    assert run(store, chosen, clock) == 1
    assert len(claude.runs) == MAX_ATTEMPTS
    (node,) = extracted(store)
    assert node.metadata["strategy"] == "heuristic"


def test_a_failure_leaves_the_other_sessions_waiting_and_counts_for_one(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    claude.refuse()
    tell(store, clock)
    tell(store, clock, "two")
    assert run(store, chosen, clock) == 0
    assert len(claude.runs) == 1
    assert [item.attempts for item in Consolidation(store, chosen, clock)._progress.list_pending(9)] == [0, 1]


def test_what_no_call_was_left_for_is_done_by_rules_in_the_end(
    store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude
) -> None:
    few = replace(chosen, claude_calls_per_day=1)
    tell(store, clock)
    clock.advance(HOST_WAIT_MS + 1)
    assert ClaudeAllowance(store, few, clock).take_call(10)
    assert run(store, few, clock) == 1
    assert claude.runs == []
    (node,) = extracted(store)
    assert node.metadata["strategy"] == "heuristic"


def test_a_rehearsal_starts_nothing(store: Store, chosen: Settings, clock: FakeClock, claude: PlayedClaude) -> None:
    tell(store, clock)
    run(store, chosen, clock, dry_run=True)
    assert claude.runs == []


def test_the_environment_of_a_run_belongs_to_no_plugin() -> None:
    assert "CLAUDE_PLUGIN_ROOT" not in build_environment({"CLAUDE_PLUGIN_ROOT": "/plugin", "PATH": "/bin"})
