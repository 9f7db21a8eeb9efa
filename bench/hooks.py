"""How long each hook takes: wall time of the whole process, as Claude Code would see it.

    python -m bench hooks [--json] [--runs 20] [--memories 5000]
    python -m bench hooks --session [--json] [--prompts 100] [--busy 4]
    python -m bench hooks --first [--runs 4]

A warm database of generated memories; each event is run so often in turn, and the median stands against the budget of
the contract. The processor time beside it is steadier on a machine that has other things to do. `python` is the bare
interpreter, `import` what a hook loads before it has read a word. No server runs: each works by itself.

With `--session` a session of prompts, each followed by three tool uses, runs with a server and without, quiet and with
busy processes beside it (see `bench._hook_session`). With `--first` the hooks of the first prompts after a server's
start are timed, one row a start, while its embedder starts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench._hook_session import compare_sessions, time_first_prompts
from bench._shared import MarkdownTable, save_result
from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode

BUDGETS_MS: Mapping[str, int] = {
    "SessionStart": 300,
    "UserPromptSubmit": 200,
    "UserPromptSubmit (everyday)": 200,
    "PostToolUse": 100,
    "PreCompact": 300,
    "Stop": 300,
    "SessionEnd": 150,
}

WORDS = """gateway port cache index importer migration schema retry timeout worker queue token parser session branch
deploy metric alert login invoice webhook latency shard replica cursor batch stream backlog tenant ledger""".split()  # noqa: SIM905

KINDS = (
    (NodeType.FACT, "insight"),
    (NodeType.DECISION, "decision"),
    (NodeType.FACT, "constraint"),
    (NodeType.EXPERIENCE, "dead_end"),
    (NodeType.EXPERIENCE, "episode"),
)


def fill_memory(memory: Memory, count: int) -> None:
    """Store generated memories, the same in every run."""
    chance = random.Random(5)
    with memory.store.transaction():
        for index in range(count):
            kind, subtype = KINDS[index % len(KINDS)]
            text = f"The {chance.choice(WORDS)} of the {chance.choice(WORDS)}: " + " ".join(chance.choices(WORDS, k=25))
            node = NewNode(type=kind, subtype=subtype, content=text, scope=memory.project.id)
            memory.store.nodes.create_node(node, now=1_790_000_000_000 + index)


def event_payload(event: str, run: int, project: Path, transcript: Path) -> dict[str, Any]:
    """Return what Claude Code would tell."""
    common = {"session_id": "bench", "transcript_path": str(transcript), "cwd": str(project), "prompt_id": f"p{run}"}
    more: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": f"Why does the webhook of the ledger retry after a timeout in shard {run}?"},
        "UserPromptSubmit (everyday)": {"prompt": "run the tests"},
        "PostToolUse": {
            "tool_name": "Bash",
            "tool_input": {"command": f"pytest -q tests/test_{run}.py"},
            "tool_response": {"stdout": "ok\n" * 200},
            "tool_use_id": f"toolu_{run}",
        },
        "PreCompact": {"trigger": "auto"},
        "Stop": {"stop_hook_active": False, "last_assistant_message": f"All {run} tests pass."},
        "SessionEnd": {"reason": "other"},
    }
    return common | more[event]


def grow_transcript(transcript: Path, run: int) -> None:
    """Let the transcript gain what a turn adds: ten entries of which four are turns, and some request logs."""
    noise = {"type": "api-request-blob", "message": {"role": "system", "content": "x" * 4_000}}
    lines = [json.dumps(noise) for _ in range(6)]
    for part in range(4):
        content = [{"type": "text", "text": f"Answer {run}.{part}: the ledger's webhook was retried."}]
        entry = {"type": "assistant", "uuid": f"a{run}-{part}-{transcript.name}", "message": {"content": content}}
        lines.append(json.dumps(entry))
    with transcript.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def time_process(command: Sequence[str], stdin: bytes, environ: Mapping[str, str]) -> tuple[float, float]:
    """Return the wall time and the processor time of a process, in milliseconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=stdin, env=dict(environ), capture_output=True, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if stdin:
        json.loads(done.stdout)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1_000 * wall, 1_000 * spent


def measure_events(runs: int, memories: int) -> dict[str, dict[str, float]]:
    """Return wall and processor medians of each event."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = folder / "project"
        (project / ".git").mkdir(parents=True)
        keep = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "SYSTEMROOT") if key in os.environ}
        environ = keep | {"HOME": str(folder), "CLAUDE_PROJECT_DIR": str(project), "HYPERLOCI_EMBEDDER": "false"}
        with Memory.open(Settings.from_env(environ), project) as memory:
            fill_memory(memory, memories)
        hook = [sys.executable, "-m", "hyperloci_hooks.run"]
        bare = [sys.executable, "-c", "pass"]
        loaded = [sys.executable, "-c", "import hyperloci_hooks.run"]
        for label, command in (("python", bare), ("import", loaded)):
            found[label] = _summarise_times([time_process(command, b"", environ) for _ in range(runs)], None)
        for event, budget in BUDGETS_MS.items():
            transcript = folder / f"{event}.jsonl"
            times = []
            for run in range(runs + 1):
                grow_transcript(transcript, run)
                told = json.dumps(event_payload(event, run, project, transcript)).encode()
                times.append(time_process([*hook, event.split()[0]], told, environ))
            found[event] = _summarise_times(times[1:], budget)
    return found


def _summarise_times(times: Sequence[tuple[float, float]], budget: int | None) -> dict[str, float]:
    walls, cpus = sorted(wall for wall, _ in times), [cpu for _, cpu in times]
    summary = {
        "wall_ms": round(statistics.median(walls), 1),
        "fastest_ms": round(walls[0], 1),
        "slowest_ms": round(walls[-1], 1),
        "cpu_ms": round(statistics.median(cpus), 1),
    }
    return summary if budget is None else summary | {"budget_ms": budget}


def print_sessions(found: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Print what came of sessions."""
    if as_json:
        print(json.dumps(found, indent=2))
        return
    table = MarkdownTable("session", "kept", "injected", "hook", "p50 ms", "p95 ms", "p50 to bare", "p95 to bare")
    for label, row in found.items():
        for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
            times = row[event]
            kept, injected = f"{row['kept']}/{row['events']}", f"{row['injected']}/{row['due']}"
            table.add(label, kept, injected, event, *(times[name] for name in TIMES))
    table.print()
    save_result("hook_sessions", found)


TIMES = ("p50_ms", "p95_ms", "p50_ratio", "p95_ratio")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--session", action="store_true", help="a whole session, with a server and without")
    parser.add_argument("--prompts", type=int, default=100)
    parser.add_argument("--busy", type=int, default=4, help="processes that keep the machine busy")
    parser.add_argument("--first", action="store_true", help="the first prompts after a server's start")
    options = parser.parse_args()
    if options.first:
        for times in time_first_prompts(options.runs):
            print(*times)
        return
    if options.session:
        print_sessions(compare_sessions(options.prompts, options.busy), as_json=options.json)
        return
    found = measure_events(options.runs, options.memories)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = MarkdownTable("hook", "median ms", "budget", "fastest", "slowest", "processor ms")
    for name, row in found.items():
        table.add(name, row["wall_ms"], row.get("budget_ms", ""), row["fastest_ms"], row["slowest_ms"], row["cpu_ms"])
    table.print()
    save_result("hooks", found)


if __name__ == "__main__":
    main()
