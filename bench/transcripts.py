"""Import of transcripts: how long `hyperloci import --claude-code` takes, and what a second run finds.

    python -m bench transcripts FOLDER [--count 100]

FOLDER holds conversations: `beam/docs_100K.jsonl` (BEAM: conv, batch, role, text, time_anchor) and `sessions/*.json`
(projects with sessions of turns). They are written as Claude Code writes transcripts, into a home of their own, the
longer conversations of BEAM as two sessions each.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TURN_SECONDS = 90
BEAM_START = dt.datetime(2024, 3, 15, 9, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class SourceSession:
    """A conversation: when it began, and its turns, each with `who`, `text`, or of a tool `name`, `input`, `output`."""

    started: dt.datetime
    turns: Sequence[dict[str, Any]]


def read_sources(folder: Path) -> Iterator[SourceSession]:
    """Yield the conversations of a folder."""
    for path in sorted((folder / "sessions").glob("*.json")):
        for session in json.loads(path.read_text("utf-8"))["sessions"]:
            yield SourceSession(dt.datetime.fromisoformat(session["date"]), session["turns"])
    parts: dict[tuple[str, int], list[dict[str, Any]]] = {}
    with open(folder / "beam" / "docs_100K.jsonl", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            parts.setdefault((line["conv"], line["batch"]), []).append({"who": line["role"], "text": line["text"]})
    for number, turns in enumerate(parts.values()):
        half = len(turns) // 2 // 2 * 2
        for part, some in enumerate((turns[:half], turns[half:])):
            yield SourceSession(BEAM_START + dt.timedelta(days=2 * number + part), some)


def write_transcript(folder: Path, project: Path, source: SourceSession) -> None:
    """Write a conversation as a transcript of Claude Code."""
    session = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{source.started}{source.turns[0].get('text')}"))
    parent: str | None = None
    with open(folder / f"{session}.jsonl", "w", encoding="utf-8") as file:
        for number, entry in enumerate(entry for turn in source.turns for entry in _make_entries(turn)):
            at = source.started + dt.timedelta(seconds=TURN_SECONDS * number)
            base = {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": str(project),
                "sessionId": session,
                "version": "2.1.329",
                "gitBranch": "main",
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}{number}")),
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
            parent = str(base["uuid"])
            file.write(json.dumps(base | entry, ensure_ascii=False, separators=(",", ":")) + "\n")


def _make_entries(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match turn["who"]:
        case "user":
            yield {"type": "user", "message": {"role": "user", "content": turn["text"]}}
        case "assistant":
            yield _assistant_entry({"type": "text", "text": turn["text"]})
        case _:
            use = f"toolu_{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(turn, sort_keys=True)).hex}"
            yield _assistant_entry({"type": "tool_use", "id": use, "name": turn["name"], "input": turn["input"]})
            result = {"type": "tool_result", "tool_use_id": use, "content": turn.get("output", "")}
            result["is_error"] = bool(turn.get("error"))
            yield {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"stdout": ""}}


def _assistant_entry(block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "model", "content": [block]}
    return {"type": "assistant", "message": message}


def run_import(environ: dict[str, str], project: Path) -> dict[str, Any]:
    """Import as a person would, and return the answer with the seconds it took."""
    command = [sys.executable, "-m", "hyperloci", "import", "--claude-code", "--json"]
    begun = time.perf_counter()
    done = subprocess.run(command, env=environ, cwd=project, check=True, capture_output=True, text=True)
    return {"seconds": round(time.perf_counter() - begun, 1), **json.loads(done.stdout)["report"]}


def main() -> None:
    """Write transcripts, import them twice, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as place:
        home, project = Path(place) / "home", Path(place) / "shop"
        folder = home / ".claude" / "projects" / "-shop"
        folder.mkdir(parents=True)
        (project / ".git").mkdir(parents=True)
        for source in list(read_sources(options.folder))[: options.count]:
            write_transcript(folder, project, source)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{len(list(folder.iterdir()))} transcripts, {size / 1e6:.1f} MB")
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "HYPERLOCI_EMBEDDER": "false"}
        for name in ("first", "second"):
            print(name, json.dumps(run_import(environ, project)))


if __name__ == "__main__":
    main()
