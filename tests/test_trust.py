"""What docs/trust.md promises, as far as no other test shows it; and that the tests it names exist."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "trust.md"
SOURCES = [path for folder in ("server", "tools", "hooks") for path in (ROOT / folder).rglob("*.py")]


def named_tests() -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE.read_text(encoding="utf-8"))


def test_the_page_names_a_test_for_every_promise() -> None:
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "---" not in line
    ]
    promises = [row for row in rows if row != "| promise | shown by |"]
    assert len(promises) > 15
    assert [row for row in promises if "::test_" not in row] == []


@pytest.mark.parametrize("name", named_tests())
def test_a_test_that_the_page_names_exists(name: str) -> None:
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert function in defined


def test_only_purge_deletes_memories() -> None:
    deleting = re.compile(
        r"DELETE\s+FROM\s+nodes\b|(?:REPLACE|OR REPLACE)\s+INTO\s+nodes\b|DROP\s+TABLE\s+nodes\b", re.I
    )
    found = {path.name for path in SOURCES if deleting.search(path.read_text(encoding="utf-8"))}
    assert found == {"purge.py"}
    tools = [
        path for path in (ROOT / "tools").rglob("*.py") if re.search(r"\bpurge\b", path.read_text(encoding="utf-8"))
    ]
    assert tools == [], "a model can't purge"


USES = """
import sys
def refuse(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request") or (
        event == "socket.connect" and isinstance(arguments[1], tuple)
    ):
        raise RuntimeError(f"the network was asked for: {event} {arguments[1:]}")
sys.addaudithook(refuse)

from pathlib import Path
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.memory import Memory
root = Path(sys.argv[1])
settings = Settings(database=root / "memory.db", state_dir=root / "state", runtime_dir=root / "run", watch=False)
with Memory.open(settings, root) as memory:
    id = memory.remember_fact("The mirror is at https://example.org/mirror.", entities=["example.org"]).id
    (root / "notes.md").write_text("# Notes\\n\\nSee [the mirror](https://example.org/mirror).\\n" * 3)
    memory.index_path()
    memory.search("mirror", explain=True)
    memory.get_context("where is the mirror?")
    memory.find_contradictions("The mirror is at https://example.com/mirror.")
    record = RecordFactory(memory.project, "s1", now=1).record_prompt("Fetch https://example.org/mirror, please.")
    memory.keep(record)
    memory.get_context_for_record(record)
    memory.stats()
    memory.purge([id])
print("done")
"""


def test_no_use_of_the_memory_asks_for_the_network(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", USES, str(tmp_path)], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


MODEL = """
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.embedder.models.profile_models import load_profile_stages
root = Path(sys.argv[1])
settings = Settings(database=root / "memory.db", state_dir=root, runtime_dir=root, device="cpu")
for stage in load_profile_stages(settings):
    assert stage.encoder.encode(["a text"]).shape == (1, 384)
print("done")
"""


@pytest.mark.model
def test_the_models_that_ship_are_loaded_and_used_without_the_network(tmp_path: Path) -> None:
    guard, _, _ = USES.partition("from pathlib import Path")
    done = subprocess.run(
        [sys.executable, "-c", guard + MODEL, str(tmp_path)], capture_output=True, text=True, timeout=100
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
