"""Storing what waits in a process apart: what holds the interpreter there costs nobody else anything."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.memory import Memory
from hyperloci.project.identity import identify_project
from hyperloci_hooks.drain import drain_in_subprocess
from hyperloci_hooks.spool import has_work, list_set_aside, save_record

SOON = 100

HANGS_AT_ONE = """
import re, signal, sys
from pathlib import Path
from hyperloci.memory import Memory
from hyperloci_hooks import drain
real = Memory.keep
def hang():
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < left <= drain.BATCH_SECONDS, "no timer runs"
    signal.setitimer(signal.ITIMER_REAL, 0.2)  # Nobody waits for the rest of it.
    re.match(r"(a+)+$", "a" * 100 + "b")
Memory.keep = lambda self, record: hang() if record.text == "poison" else real(self, record)
sys.exit(drain.main(Path(sys.argv[1])))
"""


def leave(settings: Settings, project: Path, *prompts: str) -> None:
    """Leave prompts in the spool."""
    for number, prompt in enumerate(prompts):
        record = RecordFactory(identify_project(project), "s1", now=1_800_000_000_000 + number).record_prompt(prompt)
        assert record is not None
        save_record(settings, record)


@pytest.mark.skipif(sys.platform == "win32", reason="the kernel's timer is POSIX's")
@pytest.mark.req("SPEC-02.04")
def test_a_record_that_holds_the_interpreter_is_ended_by_the_kernel_and_put_aside_in_the_end(
    settings: Settings, project: Path
) -> None:
    leave(settings, project, "before", "poison", "after")
    environ = {
        "HOME": str(project.parent),
        "RLM_MEMORY_DB": str(settings.database),
        "HYPERLOCI_STATE_DIR": str(settings.state_dir),
        "HYPERLOCI_RUNTIME_DIR": str(settings.runtime_dir),
        "HYPERLOCI_EMBEDDER": "0",
    }
    codes: list[int] = []
    while has_work(settings) and len(codes) < 10:
        command = [sys.executable, "-c", HANGS_AT_ONE, str(project)]
        codes.append(subprocess.run(command, env=environ, timeout=SOON, check=False, capture_output=True).returncode)
    assert codes == [-signal.SIGALRM, -signal.SIGALRM, 0]
    with Memory.open(settings, project) as memory:
        kept = [node.content for node in memory.store.nodes.query_nodes("experience")]
    assert sorted(kept) == ["after", "before"]
    assert [reason for _, reason in list_set_aside(settings.spool_dir)] == ["the process that stored it died 2 times"]


def test_how_many_were_stored_is_told_and_what_went_wrong(settings: Settings, project: Path) -> None:
    leave(settings, project, "one", "two")
    assert drain_in_subprocess(settings, project) == (2, "")
    leave(settings, project, "three")
    settings.database.write_bytes(b"this is no database at all" * 1_000)
    stored, fault = drain_in_subprocess(settings, project)
    assert stored == 0 and str(settings.database) in fault
    assert has_work(settings)
