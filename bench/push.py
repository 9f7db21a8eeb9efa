"""What decides, unasked: is the memory that decides a request within the 2 KB that come with the prompt?

    python -m bench push [--sessions DIR] [--repos DIR ...] [--words] [--fit] [--json]

Three kinds of cases, each a prompt, memories, and those of them that it should not be answered without:
`push_cases.json` beside this file, five invented projects, and two in `push_cases_unseen.json`, invented later; DIR of
`--sessions`, recorded projects with gold labels (one JSON file each with `keep` and `prompts`), whose statements are
remembered as a good note-taker would write them; and `--repos`, clones of public repositories (`git clone URL`, whole
histories): of each symbol that was changed twice, the subject of the later commit is the
request and the newest earlier commit that tells a reason decides. With every set go prompts that need nothing.

`--words` measures without vectors. `--fit` prints weights for `data/weights.toml`, and how they do on projects that
were left out. `by search` is what the same memories give through `search_memory`'s floor for prompts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._shared import MarkdownTable, bench_settings, save_result
from bench.prompts import EVERYDAY
from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.conversations.capture.prompt_context import PROMPT_CHARS, PromptOccasion, build_prompt_context
from hyperloci.conversations.unasked.bearing import read_map
from hyperloci.conversations.unasked.code_reasons import tells_reason
from hyperloci.conversations.unasked.decisive import (
    MemoryCandidate,
    TermRarity,
    make_features,
    profile_memory,
    profile_prompt,
)
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.memory import Memory
from hyperloci.model.kinds import SUBTYPES, NodeKey, NodeType
from hyperloci.model.node import NewNode, Node
from hyperloci.retrieval.relevance import PROMPT_FLOOR, query_from_prompt, select_relevant
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.memories.traversal import OUTWARD

RIDGE: Final = 0.5
"""On all weights but the bias."""

CASES: Final = Path(__file__).parent / "push_cases.json"
UNSEEN: Final = Path(__file__).parent / "push_cases_unseen.json"
"""Written after tables and weights, which know nothing of them; only the floor of the first three was set with them."""

KINDS: Final = {"root_cause": "insight", "fact": "insight", "user": "user_info"}
"""Kinds of labels that the memory knows by another name."""

SEARCHED: Final = tuple(
    sorted(SUBTYPES[NodeType.FACT] | SUBTYPES[NodeType.DECISION] | SUBTYPES[NodeType.EXPERIENCE] - {"action"})
)
MAX_REQUESTS: Final = 60
"""Of one repository, spread over its symbols."""


@dataclass(frozen=True, slots=True)
class PushCase:
    """A prompt, and the places of the memories that decide it; none for a prompt that needs nothing."""

    project: str
    prompt: str
    memories: tuple[tuple[str, str], ...]
    decisive: frozenset[int]


@dataclass(slots=True)
class PushTally:
    """What prompts were given.

    Attributes:
        wanted, found: memories that decide, and those of them that were given.
        ranks: of those found, from 1.
        sizes: characters given with prompts that something decides.
        shown: memories given with them.
        quiet, false: prompts that need nothing, and those that were given something.
        searched: of the wanted, those that a search would have given.
    """

    wanted: int = 0
    found: int = 0
    searched: int = 0
    ranks: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    quiet: int = 0
    false: int = 0

    def add(self, wanted: Sequence[str], given: Sequence[str], text: str, searched: Sequence[str]) -> None:
        """Count one prompt: ids of the memories that decide, of those given, and of those a search gives."""
        if not wanted:
            self.quiet += 1
            self.false += bool(given)
            return
        self.wanted += len(wanted)
        self.found += len(set(wanted).intersection(given))
        self.searched += len(set(wanted).intersection(searched))
        self.ranks += [given.index(id) + 1 for id in wanted if id in given]
        self.sizes.append(len(text))
        self.shown.append(len(given))


def load_own_cases(path: Path = CASES) -> Iterator[PushCase]:
    """Yield the cases of a file that stands beside this one."""
    for project in json.loads(path.read_text("utf-8")):
        memories = tuple((KINDS.get(kind, kind), text) for kind, text in project["memories"])
        for prompt, decisive in [*project["prompts"], *([quiet, []] for quiet in project["quiet"])]:
            yield PushCase(project["project"], prompt, memories, frozenset(decisive))


def load_session_cases(folder: Path) -> Iterator[PushCase]:
    """Yield the cases of recorded projects: each prompt with what held when it was submitted."""
    for path in sorted(folder.glob("*.json")):
        gold = json.loads(path.read_text("utf-8"))
        for prompt in gold["prompts"]:
            held = [label for label in gold["keep"] if _holds_after(label, prompt["after"])]
            yield PushCase(
                gold["project"],
                prompt["prompt"],
                tuple((KINDS.get(label["kind"], label["kind"]), label["says"]) for label in held),
                frozenset(place for place, label in enumerate(held) if label["id"] in prompt["have"]),
            )


def _holds_after(label: Mapping[str, Any], session: str) -> bool:
    until = label.get("until")
    return _session_number(label["from"]) <= _session_number(session) and not (
        until and _session_number(until) <= _session_number(session)
    )


def _session_number(place: str) -> int:
    """Return the number of a session, `s2`, or of a turn's, `s2:14`."""
    return int(place.partition(":")[0][1:])


def measure_cases(cases: Sequence[PushCase], *, words_only: bool = False) -> PushTally:
    """Store each project's memories, submit its prompts and count what they are given."""
    tally = PushTally()
    for memories, group in groupby(cases, key=lambda case: case.memories):
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            root = Path(folder) / "project"
            root.mkdir()
            settings = bench_settings(Path(folder), embedder=not words_only)
            with Memory.open(settings, root) as memory:
                ids = [_remember(memory, kind, text).id for kind, text in memories]
                if words_only:
                    _submit_cases(memory, list(group), ids, tally)
                    continue
                memory.embed_pending()
                with memory.keep_embedder_running():
                    _submit_cases(memory, list(group), ids, tally)
    return tally


def _remember(memory: Memory, kind: str, text: str) -> Node:
    type = next(type for type, subtypes in SUBTYPES.items() if kind in subtypes)
    new = NewNode(type=type, subtype=kind, content=text, scope=memory.project.id)
    with memory.store.transaction():
        return MemoryWriter(memory.store).write_statement(new, memory.project.id, now=system_clock() - MS_PER_DAY)


def _submit_cases(memory: Memory, cases: Sequence[PushCase], ids: Sequence[str], tally: PushTally) -> None:
    for case in cases:
        wanted = [ids[place] for place in sorted(case.decisive)]
        text, given = submit_prompt(memory, case.prompt)
        tally.add(wanted, given, text, search_prompt(memory, case.prompt) if wanted else ())


def submit_prompt(memory: Memory, prompt: str, unknown: frozenset[str] = frozenset()) -> tuple[str, tuple[str, ...]]:
    """Return what a prompt is given, and the ids in it; `unknown` are memories that do not exist yet."""
    occasion = PromptOccasion(
        prompt=prompt, scope=memory.project.id, session_id="bench", seen=unknown, now=system_clock()
    )
    context = build_prompt_context(memory.store, occasion, memory)
    return context.text, context.ids


def search_prompt(memory: Memory, prompt: str, unknown: frozenset[str] = frozenset()) -> list[str]:
    """Return the ids of the five best hits above the floor for prompts."""
    query = query_from_prompt(prompt)
    if query is None:
        return []
    where = {"subtypes": list(SEARCHED)}
    answer = memory.search(query, limit=12, where=where, explain=True, reinforce=False, quick=True)
    hits = select_relevant(query, answer.results, PROMPT_FLOOR)
    return [hit.id for hit in hits if hit.id not in unknown][:5]


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A later change of a symbol; `unknown` are the commits that were not there when it was asked for."""

    prompt: str
    decisive: str
    unknown: frozenset[str]


def measure_repository(path: Path) -> PushTally:
    """Index a repository, ask for later changes of its symbols, and count what is given."""
    tally = PushTally()
    with (
        tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder,
        Memory.open(bench_settings(Path(folder), embedder=False), path) as memory,
    ):
        memory.index_path()
        for request in list_commit_requests(memory):
            text, given = submit_prompt(memory, request.prompt, request.unknown)
            tally.add([request.decisive], given, text, search_prompt(memory, request.prompt, request.unknown))
        for prompt in EVERYDAY.split("|"):
            tally.add((), submit_prompt(memory, " ".join(prompt.split()))[1], "", ())
    return tally


def list_commit_requests(memory: Memory) -> list[CommitRequest]:
    """Return requests made of the history: spread over symbols, each earlier reason once."""
    store = memory.store
    commits = sorted(
        store.nodes.query_nodes("decision", subtypes=("commit",), scopes=(memory.project.id,), limit=100_000),
        key=lambda node: node.event_time,
    )
    changed: dict[NodeKey, list[Node]] = {}
    for commit in commits:
        for step in store.traversal.find_steps([commit.key], label="changed", direction=OUTWARD):
            changed.setdefault(step.target, []).append(commit)
    places = store.positions.get_positions(changed)
    found: dict[str, CommitRequest] = {}
    for key, history in sorted(changed.items()):
        place = places.get(key)
        if place is None or not place.symbol or not place.path:
            continue
        request = _make_request(history, place.symbol, place.path)
        if request is not None:
            found.setdefault(request.decisive, request)
    return list(found.values())[:MAX_REQUESTS]


def _make_request(history: Sequence[Node], symbol: str, path: str) -> CommitRequest | None:
    """Return the last change of a symbol as a request, if an earlier one tells a reason."""
    later = history[-1]
    reasons = [commit for commit in history[:-1] if tells_reason(commit.content)]
    if not reasons:
        return None
    subject = later.content.partition("\n")[0]
    return CommitRequest(f"{subject}, in `{symbol}` of {path}", reasons[-1].id, frozenset({later.id}))


def fit_weights(cases: Sequence[PushCase], *, words_only: bool) -> dict[str, dict[str, float]]:
    """Return weights from all cases, and the share found and shown where each project was left out in its turn."""
    rows = _collect_features(cases, words_only=words_only)
    names = list(rows[0][1])
    features = np.array([[one[name] for name in names] for _, one, _ in rows])
    decides = np.array([float(decisive) for _, _, decisive in rows])
    projects = np.array([project for project, _, _ in rows])
    held_out = np.empty(len(rows))
    for project in sorted(set(projects)):
        rest = projects != project
        weights = fit_logistic(features[rest], decides[rest])
        held_out[~rest] = weights[0] + features[~rest] @ weights[1:]
    weights = fit_logistic(features, decides)
    floors = {
        f"floor {floor}": {
            "found": round(float(decides[held_out > floor].sum() / decides.sum()), 3),
            "decides": round(float(decides[held_out > floor].mean()), 3),
        }
        for floor in (-3.5, -3.0, -2.5, -2.0)
    }
    return {"weights": dict(zip(("bias", *names), weights.round(2).tolist(), strict=True)), **floors}


def _collect_features(cases: Sequence[PushCase], *, words_only: bool) -> list[tuple[str, Mapping[str, float], bool]]:
    """Return (project, features, whether it decides) of every memory of every prompt that is not quiet."""
    vectors = {} if words_only else encode_cases(cases)
    learned = read_map()
    rows = []
    for case in cases:
        prompt = profile_prompt(case.prompt)
        if prompt is None or prompt.is_quiet:
            continue
        profiles = [profile_memory(kind, " ".join(analyse_text(text))) for kind, text in case.memories]
        rarity = TermRarity(profiles)
        for place, (profile, (_, text)) in enumerate(zip(profiles, case.memories, strict=True)):
            cosine = float(vectors[case.prompt] @ vectors[text]) if vectors else None
            bearing = float(learned.move(vectors[case.prompt]) @ vectors[text]) if vectors else 0.0
            rows.append(
                (
                    case.project,
                    make_features(prompt, MemoryCandidate(profile, cosine, bearing=bearing), rarity),
                    place in case.decisive,
                )
            )
    return rows


def encode_cases(cases: Sequence[PushCase]) -> dict[str, NDArray[np.float32]]:
    from hyperloci.embedder.models.loader import load_bundled_stages

    texts = sorted({case.prompt for case in cases} | {text for case in cases for _, text in case.memories})
    encoder: Any = next(iter(load_bundled_stages("cpu"))).encoder
    return dict(zip(texts, encoder.encode(texts), strict=True))


def fit_logistic(features: NDArray[np.float64], decides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bias and the weights of a logistic regression (Newton's method)."""
    rows = np.c_[np.ones(len(features)), features]
    weights = np.zeros(rows.shape[1])
    penalty = np.diag([0.0, *(RIDGE for _ in range(features.shape[1]))])
    for _ in range(30):
        expected = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (decides - expected) - penalty @ weights
        bend = (rows * np.maximum(expected * (1 - expected), 1e-6)[:, None]).T @ rows + penalty
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def _summarise(tally: PushTally) -> tuple[object, ...]:
    """Return a row of the table."""
    return (
        f"{tally.found}/{tally.wanted} {tally.found / max(1, tally.wanted):.2f}",
        f"{tally.searched / max(1, tally.wanted):.2f}",
        round(statistics.fmean(tally.ranks), 1) if tally.ranks else "-",
        round(statistics.fmean(tally.shown), 1) if tally.shown else "-",
        round(statistics.fmean(tally.sizes)) if tally.sizes else "-",
        f"{tally.false}/{tally.quiet}",
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=Path, help="a folder of recorded projects with gold labels")
    parser.add_argument("--repos", type=Path, nargs="*", default=[], help="clones of public repositories")
    parser.add_argument("--words", action="store_true", help="without vectors")
    parser.add_argument("--fit", action="store_true", help="print weights, and how they do on projects left out")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    options = parser.parse_args()
    cases = {"invented projects": list(load_own_cases())}
    if options.sessions:
        cases["recorded projects"] = list(load_session_cases(options.sessions))
    if options.fit:
        every = [case for some in cases.values() for case in some]
        fits = {how: fit_weights(every, words_only=how == "words") for how in ("meaning", "words")}
        print(json.dumps(fits, indent=2))
        return
    cases["invented later"] = list(load_own_cases(UNSEEN))
    tallies = {name: measure_cases(some, words_only=options.words) for name, some in cases.items()}
    tallies |= {path.name: measure_repository(path) for path in options.repos}
    found = {name: asdict(tally) for name, tally in tallies.items()}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = MarkdownTable("", "found", "by search", "rank", "shown", f"of {PROMPT_CHARS} characters", "false")
    for name, tally in tallies.items():
        table.add(name, *_summarise(tally))
    table.print()
    save_result("push", found)


if __name__ == "__main__":
    main()
