"""A home and a project of their own, and the hooks in them, run as Claude Code runs them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.node import Node
from hyperloci_hooks.outcome_statistics import HookStatistics
from hyperloci_hooks.spool import drain_spool, list_waiting_files

PROCESS_SECONDS = 60
"""Far above any deadline of a hook: past it, the hook hangs."""


AS_USUAL = "from hyperloci_hooks.run import main; main()"

PATIENT = f"""
from hyperloci_hooks import budget
budget.SECONDS.update(dict.fromkeys(budget.SECONDS, {PROCESS_SECONDS / 2}))
{AS_USUAL}
"""
"""With time enough on the busiest machine; what hooks do that are late has tests of its own."""


class House:
    """A home and a project of their own, and the hooks in them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.transcript = folder / "transcript.jsonl"
        self.program = PATIENT
        self.home.mkdir()
        self.project.mkdir()
        keep = {
            name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "COVERAGE_PROCESS_START") if name in os.environ
        }
        self.environ = keep | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "HYPERLOCI_EMBEDDER": "false",
            "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
        }

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.environ, self.project)

    def raw(self, event: str, data: bytes) -> dict[str, Any]:
        """Run a hook on any input; it must exit with 0, say nothing on stderr and answer one JSON object."""
        done = subprocess.run(
            [sys.executable, "-c", self.program, event],
            input=data,
            env=self.environ,
            cwd=self.project,
            capture_output=True,
            timeout=PROCESS_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer

    def hook(self, event: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
        """Run a hook on what Claude Code would tell."""
        told = {
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            **fields,
        }
        return self.raw(event, json.dumps(told).encode() + b"\n")

    def context(self, event: str, session: str = "s1", **fields: Any) -> str:
        """Run a hook and return what it injects."""
        specific = self.hook(event, session, **fields).get("hookSpecificOutput", {})
        assert specific == {} or specific["hookEventName"] == event
        return str(specific.get("additionalContext", ""))

    @contextlib.contextmanager
    def memory(self) -> Iterator[Memory]:
        """Open the memory, with all that hooks left in the spool."""
        with Memory.open(self.settings, self.project) as memory:
            drain_spool(memory)
            yield memory

    def kept(self) -> list[Node]:
        """Return every episode and action, in their order."""
        with self.memory() as memory:
            found = memory.store.nodes.query_nodes("experience", subtypes=("episode", "action"), limit=1_000)
        return sorted(found, key=lambda node: (node.session_id or "", node.seq or 0))

    def texts(self) -> list[str]:
        return [node.content for node in self.kept()]

    def spooled(self) -> list[Path]:
        return list_waiting_files(self.settings.spool_dir)

    def all_bytes(self) -> bytes:
        """Return everything that lies under the home folder."""
        return b"".join(path.read_bytes() for path in self.home.rglob("*") if path.is_file())

    def outcomes(self) -> dict[str, int]:
        """Return what became of the events, as it was counted."""
        return dict(HookStatistics.read_log(self.settings.installation_paths.spool).outcomes)

    def log(self) -> str:
        path = self.settings.log_file
        return path.read_text("utf-8") if path.exists() else ""


def assistant(uuid: str, text: str) -> str:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "uuid": uuid, "message": message}, separators=(",", ":")) + "\n"
