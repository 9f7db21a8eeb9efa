"""The pyramid of conversations: `python -m bench pyramid DATA_DIR [--transcripts DIR] [--parts tokens,windows,...]`.

DATA_DIR holds the evaluation sets `beam` and `locomo`; `--transcripts` names a folder of Claude Code's transcripts.
Parts: `tokens` (CTF against the JSON of the same turns), `windows` (contexts of 100 turns at two fifths of their
tokens: how many of the turns that bear an answer are in them), `disk` (bytes of 1,000 turns, by stage and by table),
`recall` (how well turns are found before and after their pyramid is there), `expand` (how long a search and an
expansion take).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench._shared import MarkdownTable, bench_settings
from bench.quality import EvaluationQuestion as Asked
from bench.quality import evaluate_ranking, read_rows
from hyperloci.clock import from_iso, system_clock, to_iso
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.memory import Memory
from hyperloci.model import compact_turn_format
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.text.tokens import count_tokens

WINDOW = 100
SHARE = 0.4
START = from_iso("2026-03-02T09:00:00")


@dataclass
class PyramidTalk:
    """A conversation: its turns, and questions with the places of the turns that answer them."""

    name: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[tuple[str, frozenset[int]]] = field(default_factory=list)


def read_talks(data: Path, name: str) -> list[PyramidTalk]:
    """Read the conversations of a set."""
    beam = name == "beam"
    found: dict[str, PyramidTalk] = {}
    places: dict[tuple[str, str], int] = {}
    for row in read_rows(data / name / ("docs_100K.jsonl" if beam else "docs.jsonl")):
        talk = found.setdefault(row["conv"], PyramidTalk(row["conv"]))
        places[row["conv"], str(row["id"])] = len(talk.turns)
        text = row["text"] if beam else f"{row['speaker']}: {row['text']}"
        role = Speaker(row["role"]) if beam else Speaker.USER
        uuid = f"7c9e6679-7425-40de-944b-{len(talk.turns):012x}"
        talk.turns.append(Turn(uuid=uuid, role=role, text=text, timestamp_ms=START + 61_337 * len(talk.turns)))
    for row in read_rows(data / name / ("probes.jsonl" if beam else "qa.jsonl")):
        if row["conv"] in found and (beam or row["category"] != 5):
            wanted = {places.get((row["conv"], str(id))) for id in row["source_ids" if beam else "evidence"]} - {None}
            if wanted:
                found[row["conv"]].questions.append((row["question"], frozenset(w for w in wanted if w is not None)))
    return list(found.values())


def read_transcripts(folder: Path) -> list[PyramidTalk]:
    """Read Claude Code's transcripts."""
    from hyperloci.conversations.capture.transcript import read_batch

    found = []
    for path in sorted(folder.rglob("*.jsonl")):
        talk, mark = PyramidTalk(path.stem), None
        while (reading := read_batch(path, mark)) is not None:
            talk.turns += reading.turns
            mark = reading.mark
        if talk.turns:
            found.append(talk)
    return found


def as_json(turn: Turn, *, whole: bool) -> dict[str, Any]:
    """Return a turn as RFC-013 writes it in JSON, or with all that is known of it."""
    at = None if turn.timestamp_ms is None else to_iso(turn.timestamp_ms)
    plain = {"role": turn.role.value, "content": turn.text, "timestamp": at}
    return {"uuid": turn.uuid, "kind": turn.kind.value, "path": turn.path, **plain} if whole else plain


def measure_tokens(corpora: dict[str, list[PyramidTalk]]) -> None:
    """Print what CTF saves."""
    table = MarkdownTable("corpus", "turns", "tokens a turn", "JSON", "CTF", "saved", "with ids: JSON", "CTF", "saved")
    for name, found in corpora.items():
        counted = np.zeros(4)
        turns = [turn for talk in found for turn in talk.turns]
        for start in range(0, len(turns), 10):
            part = turns[start : start + 10]
            for place, text in enumerate(
                (
                    json.dumps([as_json(turn, whole=False) for turn in part], ensure_ascii=False),
                    compact_turn_format.encode_turns(part, compact_turn_format.TOLD_FIELDS),
                    json.dumps([as_json(turn, whole=True) for turn in part], ensure_ascii=False),
                    compact_turn_format.encode_turns(part),
                )
            ):
                counted[place] += count_tokens(text)
        plain = sum(count_tokens(turn.text) for turn in turns) / len(turns)
        saved = [f"{1 - counted[k + 1] / counted[k]:.0%}" for k in (0, 2)]
        short, told, whole, all_told = (f"{int(value):,}" for value in counted)
        table.add(name, len(turns), f"{plain:.0f}", short, told, saved[0], whole, all_told, saved[1])
    table.print()


class PyramidHouse:
    """A memory in a folder of its own."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.settings = bench_settings(folder, project="bench", **changes)
        root = folder / "project"
        root.mkdir(exist_ok=True)
        self.memory = Memory.open(self.settings, root)

    def store_turns(self, session: str, turns: Sequence[Turn]) -> None:
        """Store turns of a session."""
        self.memory.add_turns(session, turns)

    def build_pyramids(self, clock: Any = system_clock) -> None:
        """Build every pyramid, with vectors if the embedder runs."""
        client = self.memory._client
        context = MaintenanceContext(store=self.memory.store, settings=self.settings, clock=clock, client=client)
        make_builder(context).advance_all()


def windows_of(talk: PyramidTalk) -> Iterator[PyramidTalk]:
    """Cut a conversation into windows of 100 turns, with the questions whose answers lie in them."""
    for start in range(0, len(talk.turns) - WINDOW + 1, WINDOW):
        inside = [
            (question, frozenset(place - start for place in wanted))
            for question, wanted in talk.questions
            if all(start <= place < start + WINDOW for place in wanted)
        ]
        if inside:
            yield PyramidTalk(f"{talk.name}-{start}", talk.turns[start : start + WINDOW], inside)


def measure_windows(corpora: dict[str, list[PyramidTalk]], limit: int, *, vectors: bool) -> None:
    """Print which share of the turns that bear an answer is in contexts of equal cost."""
    table = MarkdownTable(
        "corpus", "windows", "questions", "context", "tokens of raw", "answer-bearing turns in it", "ms"
    )
    for name, found in corpora.items():
        windows = [window for talk in found for window in windows_of(talk)][:limit]
        if not windows:
            continue
        kept: dict[str, list[float]] = {}
        costs: dict[str, list[float]] = {}
        times: list[float] = []
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            house = PyramidHouse(Path(folder), embedder=vectors)
            with house.memory as memory:
                for window in windows:
                    house.store_turns(window.name, window.turns)
                if vectors:
                    memory.embed_pending()
                    with memory.keep_embedder_running():
                        house.build_pyramids()
                        memory.embed_pending()
                        for window in windows:
                            _ask_window(memory, window, kept, costs, times)
                else:
                    house.build_pyramids()
                    for window in windows:
                        _ask_window(memory, window, kept, costs, times)
        for context, shares in kept.items():
            ms = f"{np.percentile(times, 50):.0f}" if context.startswith("pyramid, ask") else ""
            cost = f"{np.mean(costs[context]):.1%}"
            table.add(name, len(windows), len(shares), context, cost, f"{np.mean(shares):.1%}", ms)
    table.print()


def _ask_window(
    memory: Memory, window: PyramidTalk, kept: dict[str, list[float]], costs: dict[str, list[float]], times: list[float]
) -> None:
    places = {turn.id: turn.seq for turn in memory.store.chunks.list_turns(_session_of(memory, window.name), 0, 10**9)}
    tokens = [count_tokens(turn.text) for turn in window.turns]
    raw = sum(tokens)
    plain = memory.get_context_window(int(SHARE * raw), session_id=window.name)
    for question, wanted in window.questions:
        started = time.perf_counter()
        asked = memory.get_context_window(int(SHARE * raw), question, session_id=window.name)
        times.append(1_000 * (time.perf_counter() - started))
        if asked.tokens > SHARE * raw or plain.tokens > SHARE * raw:
            raise RuntimeError("over budget")
        for context, found, cost in (
            ("pyramid, asked", _given_places(asked.parts, places), asked.tokens),
            ("pyramid, not asked", _given_places(plain.parts, places), plain.tokens),
            ("the latest turns", _fitting_turns(tokens, SHARE * raw, latest=True), SHARE * raw),
            ("cut off behind the first", _fitting_turns(tokens, SHARE * raw, latest=False), SHARE * raw),
        ):
            kept.setdefault(context, []).append(len(wanted & found) / len(wanted))
            costs.setdefault(context, []).append(cost / raw)


def _session_of(memory: Memory, name: str) -> int:
    session = memory.store.sessions.get_session(name)
    assert session is not None
    return session.key


def _given_places(parts: Sequence[Any], places: dict[Any, Any]) -> set[int]:
    """Return the places of the turns that stand in a window word for word."""
    return {places[id] for part in parts if part.kind != "summary" for id in part.ids}


def _fitting_turns(tokens: Sequence[int], budget: float, *, latest: bool) -> set[int]:
    found: set[int] = set()
    order = range(len(tokens) - 1, -1, -1) if latest else range(len(tokens))
    for place in order:
        if tokens[place] > budget:
            break
        budget -= tokens[place]
        found.add(place)
    return found


def measure_disk(corpora: dict[str, list[PyramidTalk]]) -> None:
    """Print what 1,000 turns take."""
    table = MarkdownTable(
        "corpus", "raw KB", "hot", "warm", "cold", "archive", "texts in all", "KB", "whole database, KB"
    )
    for name, found in corpora.items():
        turns = [turn for talk in found for turn in talk.turns][:1_000]
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            house = PyramidHouse(Path(folder), embedder=False)
            with house.memory as memory:
                for start in range(0, len(turns), 250):
                    house.store_turns(f"session-{start}", turns[start : start + 250])
                before = _disk_bytes(memory, Path(folder))
                house.build_pyramids()
                after = _disk_bytes(memory, Path(folder))
                print(f"{name}: {len(turns)} turns, as they came: {before}\n  packed: {after}")
                raw = sum(len(turn.text.encode()) for turn in turns)
                texts = _text_bytes(memory)
                archived = Archive.for_database(memory.store.path).measure_usage().bytes
                whole = sum(texts.values()) + archived
                kb = [f"{texts[stage] / 1_000:.0f}" for stage in ("hot", "warm", "cold")]
                table.add(
                    name, f"{raw / 1_000:.0f}", *kb, f"{archived / 1_000:.0f}", f"{whole / raw:.0%} of raw",
                    f"{whole / 1_000:.0f}", f"{after['database'] / 1_000:.0f}",
                )  # fmt: skip
    table.print()


def _text_bytes(memory: Memory) -> dict[str, int]:
    """Return the bytes of turns' texts, and of chunks with their summaries, by the stage of their micro-chunk."""
    found = {"hot": 0, "warm": 0, "cold": 0}
    for stage, size in memory.store.connection.execute(
        "SELECT coalesce(c.stage, 'hot'), sum(length(CAST(n.content AS BLOB))) FROM nodes n"
        " LEFT JOIN chunk_turns q ON q.node_key = n.key LEFT JOIN chunks c ON c.key = q.chunk_key"
        " WHERE n.type = 'experience' GROUP BY 1"
    ):
        found[stage] += size
    for stage, size in memory.store.connection.execute(
        "SELECT c.stage, sum(coalesce(length(c.ctf), 0) + length(c.key_facts) + length(c.themes)"
        " + coalesce(length(n.content), 0)) FROM chunks c LEFT JOIN nodes n ON n.key = c.node_key GROUP BY 1"
    ):
        found[stage] += size
    return found


def _disk_bytes(memory: Memory, folder: Path) -> dict[str, int]:
    connection = memory.store.connection
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sizes = dict(
        connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 6").fetchall()
    )
    return {"database": os.path.getsize(folder / "memory.db"), **sizes}


def measure_recall(corpora: dict[str, list[PyramidTalk]], limit: int) -> None:
    """Print how well turns are found with and without summaries beside them."""
    table = MarkdownTable("corpus", "questions", "pyramid", "R@5", "R@10", "MRR@10", "chunks in the first 10")
    for name, found in corpora.items():
        scores: dict[str, list[list[float]]] = {"none": [], "built": []}
        chunks: list[int] = []
        for talk in found[:limit]:
            with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
                house = PyramidHouse(Path(folder))
                with house.memory as memory:
                    house.store_turns("s", talk.turns)
                    places = {
                        str(t.id): str(t.seq)
                        for t in memory.store.chunks.list_turns(_session_of(memory, "s"), 0, 10**9)
                    }
                    memory.embed_pending()
                    with memory.keep_embedder_running():
                        for state in ("none", "built"):
                            if state == "built":
                                house.build_pyramids()
                                memory.embed_pending()
                            for question, wanted in talk.questions:
                                hits = memory.search(
                                    question, content_type="conversation", limit=10, reinforce=False
                                ).results
                                ranking = [places.get(hit.id, hit.id) for hit in hits]
                                scores[state].append(
                                    evaluate_ranking(ranking, Asked(question, frozenset(map(str, wanted))))
                                )
                                if state == "built":
                                    chunks.append(sum((hit.subtype or "").startswith("chunk") for hit in hits))
        for state, values in scores.items():
            _, r5, r10, mrr, _ = np.mean(np.array(values), axis=0)
            shown = f"{np.mean(chunks):.2f}" if state == "built" else ""
            table.add(name, len(values), state, f"{r5:.3f}", f"{r10:.3f}", f"{mrr:.3f}", shown)
    table.print()


def measure_expand(corpora: dict[str, list[PyramidTalk]]) -> None:
    """Print how long reading takes once everything is packed."""
    table = MarkdownTable(
        "corpus", "turns", "search before, ms p50 / p95", "search after", "expand micro", "mini", "macro"
    )
    for name, found in corpora.items():
        turns = [turn for talk in found for turn in talk.turns][:2_000]
        questions = [question for talk in found for question, _ in talk.questions][:100]
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            house = PyramidHouse(Path(folder), embedder=False)
            with house.memory as memory:
                for start in range(0, len(turns), 500):
                    house.store_turns(f"session-{start}", turns[start : start + 500])
                before = _search_times(memory, questions)
                house.build_pyramids()
                after = _search_times(memory, questions)
                expanded = []
                for level in PyramidLevel:
                    times = []
                    for chunk in memory.store.chunks.list_of_session(1, level):
                        started = time.perf_counter()
                        memory.expand_chunk(chunk.id)
                        times.append(1_000 * (time.perf_counter() - started))
                    expanded.append(f"{np.median(times):.1f}")
                table.add(name, len(turns), before, after, *expanded)
    table.print()


def _search_times(memory: Memory, questions: Sequence[str]) -> str:
    times = []
    for question in questions:
        started = time.perf_counter()
        memory.search(question, content_type="conversation", reinforce=False)
        times.append(1_000 * (time.perf_counter() - started))
    return f"{np.percentile(times, 50):.1f} / {np.percentile(times, 95):.1f}"


def main() -> None:
    """Parse the arguments and run the parts."""
    parser = argparse.ArgumentParser(prog="python -m bench pyramid", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--transcripts", type=Path)
    parser.add_argument("--parts", default="tokens,windows,disk,expand,recall")
    parser.add_argument("--sets", default="locomo,beam")
    parser.add_argument("--limit", type=int, default=8, help="windows, and conversations of `recall`, of a set")
    parser.add_argument("--no-vectors", action="store_true", help="windows by words alone")
    options = parser.parse_args()
    corpora = {name: read_talks(options.data, name) for name in options.sets.split(",") if name}
    with_transcripts = dict(corpora)
    if options.transcripts is not None:
        with_transcripts["transcripts"] = read_transcripts(options.transcripts)
    parts = options.parts.split(",")
    if "tokens" in parts:
        measure_tokens(with_transcripts)
    if "windows" in parts:
        measure_windows(corpora, options.limit, vectors=not options.no_vectors)
    if "disk" in parts:
        measure_disk(with_transcripts)
    if "expand" in parts:
        measure_expand(corpora)
    if "recall" in parts:
        measure_recall(corpora, options.limit)


if __name__ == "__main__":
    main()
