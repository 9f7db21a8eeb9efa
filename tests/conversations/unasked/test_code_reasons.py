"""What hangs on the code that a prompt names comes though it shares no word with the prompt."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.capture.prompt_context import PromptOccasion, build_prompt_context
from hyperloci.conversations.unasked.code_reasons import tells_reason
from hyperloci.memory import Memory

BODY = "def drain_queue(jobs):\n    for job in {}:\n        job.run()\n"


def commit(root: Path, code: str, message: str) -> None:
    (root / "worker.py").write_text(code)
    for command in (["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", message]):
        subprocess.run(["git", "-C", str(root), *command], check=True, capture_output=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "-C", str(root), "init", "-q", "-b", "main"], check=True)
    commit(root, BODY.format("jobs"), "Add the worker")
    commit(
        root,
        BODY.format("sorted(jobs)"),
        "Sort before running\n\nBecause the ledger rejects entries that come out of order.",
    )
    commit(root, BODY.format("sorted(jobs, key=id)"), "Sort by id")
    settings = Settings(
        database=tmp_path / "m.db", state_dir=tmp_path / "state", runtime_dir=tmp_path / "run", embedder=False
    )
    with Memory.open(settings, root) as opened:
        opened.index_path()
        yield opened


def ask(memory: Memory, prompt: str, *, seen: frozenset[str] = frozenset()) -> str:
    occasion = PromptOccasion(prompt=prompt, scope=memory.project.id, session_id="s", seen=seen, now=1_900_000_000_000)
    return build_prompt_context(memory.store, occasion, memory).text


@pytest.mark.parametrize("named", ["drain_queue", "`drain_queue`", "worker.py"])
def test_the_commit_that_tells_why_comes_with_the_name_of_the_code(memory: Memory, named: str) -> None:
    text = ask(memory, f"make {named} parallel")
    assert "ledger rejects entries" in text and "- commit " in text
    assert "Add the worker" not in text and "Changed:" not in text


def test_a_name_that_is_no_code_of_the_project_brings_nothing(memory: Memory) -> None:
    assert ask(memory, "make drain_pipe of plumbing.py parallel") == ""


def test_looking_at_code_brings_nothing(memory: Memory) -> None:
    assert ask(memory, "show me drain_queue in worker.py") == ""
    assert ask(memory, "what does drain_queue do") == ""


def test_a_commit_is_shown_once_a_session(memory: Memory) -> None:
    reasons = {node.id for node in memory.store.nodes.query_nodes("decision", subtypes=("commit",))}
    assert ask(memory, "make drain_queue parallel", seen=frozenset(reasons)) == ""


def test_a_dead_end_that_is_tied_to_a_symbol_comes_with_its_file(memory: Memory) -> None:
    fact = memory.remember_fact("Batches of ten made `drain_queue` starve the small tenants", category="constraint")
    memory.remember_fact("Ten tenants share one database", category="constraint")
    text = ask(memory, "let worker.py take several things at a time")
    assert fact.hit.id[:8] in text if hasattr(fact, "hit") else "starve" in text
    assert "share one database" not in text


@pytest.mark.parametrize(
    ("message", "tells"),
    [
        ("Sort by id", False),
        ("Bump version to 1.2\n\nChanged: because.py", False),
        ("Retry twice, otherwise the first call after a deploy fails", True),
        ("Keep the lock\n\nTwo writers would deadlock without it.", True),
    ],
)
def test_a_reason_is_told_by_the_message_alone(message: str, tells: bool) -> None:
    assert tells_reason(message) is tells


def test_a_withheld_commit_does_not_come_with_the_code_that_it_changed(memory: Memory) -> None:
    (reason,) = memory.search("ledger rejects entries out of order", limit=1, where={"subtypes": ["commit"]}).results
    assert "ledger" in ask(memory, "Make drain_queue faster please, it takes minutes")
    memory.withhold(reason.id)
    assert "ledger" not in ask(memory, "Make drain_queue faster please, it takes minutes")
