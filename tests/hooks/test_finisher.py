"""The process that handles an event by itself: what it loads, and when its answer is given."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory

HANDLED = """
import json, os, sys
from hyperloci_hooks.finisher_launch import HookInput
from hyperloci_hooks.run import _finish_event
event = HookInput(sys.argv[1], sys.stdin.buffer.read(), dict(os.environ), "0123456789abcdef")
def watch_close():
    from hyperloci.memory import Memory
    close = Memory.close
    def closing(self):
        os.write(1, b"closing\\n")
        close(self)
    Memory.close = closing
if sys.argv[2:]:
    watch_close()
_finish_event(event, None, 1)
os.write(1, f"loaded {sorted({'inspect', 'ast', 'numpy'}.intersection(sys.modules))}".encode())
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there hooks wait for it to end")


def handle(settings: Settings, project: Path, event: str, told: Mapping[str, str], *watch: str) -> list[str]:
    """Handle an event in a process of its own; return the lines that it wrote."""
    environ = {
        "HOME": str(project.parent),
        "CLAUDE_PROJECT_DIR": str(project),
        "RLM_MEMORY_DB": str(settings.database),
        "HYPERLOCI_STATE_DIR": str(settings.state_dir),
        "HYPERLOCI_RUNTIME_DIR": str(settings.runtime_dir),
        "HYPERLOCI_EMBEDDER": "0",
        "PYTHONPATH": ":".join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", HANDLED, event, *watch],
        input=json.dumps({"session_id": "s1", "cwd": str(project), **told}).encode(),
        env=environ,
        capture_output=True,
        check=True,
        timeout=100,
    )
    return done.stdout.decode().splitlines()


def test_the_answer_is_given_before_the_memory_is_closed(settings: Settings, project: Path) -> None:
    with Memory.open(settings, project) as memory:
        memory.remember_fact("Deploys of the gateway never run on Fridays", category="constraint")
    prompt = {"prompt": "when do deploys of the gateway run?"}
    safe, answer, closing, _ = handle(settings, project, "UserPromptSubmit", prompt, "watch")
    assert (safe, closing) == ("safe", "closing")
    assert "never run on Fridays" in json.loads(answer)["hookSpecificOutput"]["additionalContext"]


def test_what_needs_no_search_loads_neither_numpy_nor_what_reads_python(settings: Settings, project: Path) -> None:
    Memory.open(settings, project).close()
    told = {"last_assistant_message": "All 12 tests pass."}
    assert handle(settings, project, "Stop", told)[-1] == "loaded []"
