"""Train the judge of contradictions, and show how well it does on pairs of a writer it has not read.

    python -m bench train_contradictions [--write] [--folds 6] [--test PAIRS.jsonl]

Reads `bench/data/statement_pairs.jsonl` (three writers, 560 pairs each), `statement_contrasts.jsonl` (56 writers, some
newer statements to each old one), the tuned and held-out pairs of developers' statements in the tests, and statements
that hold side by side in one project (`changed_minds.jsonl`), besides pairs drawn by chance, which have nothing to do
with each other. The writers are dealt into folds, and each fold is judged by
trees that have not read its writers: what they score together gives the gates. `--write` replaces the trees of
`knowledge/contradictions/data`; the same data give the same trees. `--test` measures the written trees on other pairs:
one JSON object a line with `old`, `new`, `label` and `kind`. `statement_contrasts_unread.jsonl` (eight writers) is for
that, and nothing was chosen on it.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from bench._shared import MarkdownTable
from hyperloci.knowledge.contradictions import pair_judge, rules
from hyperloci.knowledge.contradictions.forest import Forest, Tree, pack_trees
from hyperloci.knowledge.contradictions.pair_features import measure_pair
from hyperloci.knowledge.contradictions.statement_profile import profile_statement
from hyperloci.text.language.vocabulary import vocabulary
from tests.knowledge.contradictions.data.developer_pairs import HELD_OUT, TUNED

DATA: Final = tuple(
    Path(__file__).parent / "data" / name for name in ("statement_pairs.jsonl", "statement_contrasts.jsonl")
)
FIRST_WRITERS: Final = ("a", "b", "c")
NEWEST_NAME: Final = 2
"""Writers that came last have names of two characters. They are shown apart, so that the others can be compared with
what was measured before."""

LEARNING_RATE: Final = 0.03
TREE_COUNT: Final = 1_000
"""Of pairs of unread writers, 200 trees at 0.05 order .772 rightly, these .790; more or deeper ones no more."""

TREES: Final = Path(pair_judge.__file__).parent / "data" / "pair_trees.json"
CHANCE_WEIGHT: Final = 0.5
"""Pairs drawn by chance are easy: they count half."""

PROJECTS: Final = Path(__file__).parent / "data" / "changed_minds.jsonl"
UNREAD_PROJECT: Final = 6
"""Every sixth project is not learned from: its statements show what is alarmed about where nothing is wrong."""

TOGETHER_WEIGHT: Final = 1.0
"""What holds side by side in one project and shares a word is what a memory compares all day. With 2 (.6 for longer
ones), of what holds together in projects never read 1.5 % is called a contradiction instead of 2.1 %, and of unread
pairs one in a hundred less is found."""

LONGER_WEIGHT: Final = 0.3
"""The same of statements of two sentences, made of two. Contradictions lengthened so as well find no more."""

FORM_WEIGHT: Final = 0.5
"""Short forms, filled with names of tools and numbers, are many and alike."""

CLASHING_FORMS: Final = (
    ("We use {a}.", "We use {b}."),
    ("{a} is our {family}.", "Our {family} is {b}."),
    ("We use {a}.", "We're switching from {a} to {b}."),
    ("Our {family} is {a}.", "We moved to {b}."),
    ("we went with {a}", "{a} is gone, {b} now"),
    ("We use {a} as {family}.", "Let's drop {a}."),
    ("Everything runs on {a}.", "We no longer use {a}."),
    ("At most {n} {thing}.", "Make it {m} {thing}."),
    ("The limit is {n} {thing}.", "The limit is {m} {thing}."),
    ("The {thing} are done in {symbol}.", "{symbol} is gone."),
    ("Let's write {symbol} for the {thing}.", "{symbol} was a mistake, delete it."),
    ("We use {unit} {n} for the {thing}.", "We use {unit} {m} for the {thing}."),
    ("The {thing} are in {unit} {n}.", "The {thing} are in {unit} {m}."),
    ("{unit} {n} has {n} {thing}.", "{unit} {n} has {m} {thing}."),
)
AGREEING_FORMS: Final = (
    ("We use {a}.", "{a} is what we use."),
    ("We use {a}.", "We chose {a} over {b} last year."),
    ("We use {a}.", "We used {b} before."),
    ("We use {a}.", "Should we try {b} instead?"),
    ("We use {a}.", "The backups of {a} run at night."),
    ("We use {a} as {family}.", "We use {c} as {other}."),
    ("We moved to {b}.", "Our {family} is {b}."),
    ("At most {n} {thing}.", "At most {n} {thing} per request."),
    ("The limit is {n} {thing}.", "We log the {thing} after {m} seconds."),
    ("The {thing} are done in {symbol}.", "{symbol} does the {thing}."),
    ("{symbol} is gone.", "We deleted {symbol} last week."),
    ("{unit} {n} has {n} {thing}.", "{unit} {m} has {m} {thing}."),
    ("{unit} {n} is for the {thing}.", "{unit} {m} is for the {other}."),
    ("{unit} {n} needs the {thing}.", "{unit} {m} needs no {thing}."),
)
THINGS: Final = ("retries", "workers", "connections", "approvals", "replicas", "uploads", "reviewers", "sessions")
UNITS: Final = ("shelf", "track", "zone", "gate", "batch", "lane", "floor", "chapter", "desk", "level")
SYMBOLS: Final = ("RetryTransport", "UserCache", "parse_header", "QueueWorker", "SessionStore", "build_index")

DEVELOPER_WEIGHT: Final = 2.0
"""The pairs of developers' statements are few, and the rules' own."""

ALARMS: Final = 0.08
"""False alarms allowed."""

SURE_ALARMS: Final = 0.04
"""The same of what is stored."""


@dataclass(frozen=True, slots=True)
class StatementPair:
    """An old and a new statement, whether they contradict each other, what kind of pair they are, and by whom."""

    old: str
    new: str
    contradicts: bool
    kind: str
    writer: str
    weight: float = 1.0


def load_statement_pairs(path: Path) -> list[StatementPair]:
    """Read labelled pairs of statements."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        StatementPair(row["old"], row["new"], row["label"] == "contradiction", row["kind"], row.get("writer", ""))
        for row in rows
    ]


def load_peaceful_pairs(*, unread: bool) -> list[StatementPair]:
    """Return statements that share a word and hold side by side in one project, also of two sentences.

    Args:
        unread: whether of the projects that are not learned from.
    """
    draw = random.Random(0)
    pairs = []
    for number, line in enumerate(PROJECTS.read_text(encoding="utf-8").splitlines()):
        if (number % UNREAD_PROJECT == 0) != unread:
            continue
        project = json.loads(line)
        living = project["living"]
        calm = [*living, *(told["text"] for told in project["new"] if told["how"] == "none")]
        pairs += [(old, new, "together") for old in living for new in calm if old != new]
        for old, new in itertools.permutations(living, 2):
            third = draw.choice(living)
            if third not in (old, new):
                pairs.append((old, join_sentences(third, new), "together, longer"))
                pairs.append((join_sentences(third, old), new, "together, longer"))
    return [
        StatementPair(old, new, False, kind, "", TOGETHER_WEIGHT if kind == "together" else LONGER_WEIGHT)
        for old, new, kind in pairs
        if _share_word(old, new)
    ]


def _share_word(old: str, new: str) -> bool:
    return not profile_statement(old).stems.isdisjoint(profile_statement(new).stems)


def join_sentences(first: str, second: str) -> str:
    """Return two statements as one of two sentences."""
    return f"{first.rstrip('.')}. {second[:1].upper()}{second[1:]}"


def draw_training_pairs(pairs: Sequence[StatementPair]) -> list[StatementPair]:
    """Return what is learned from: some pairs, as many drawn by chance, and those of developers' statements."""
    draw = random.Random(0)
    drawn = ((pair, draw.choice(pairs)) for pair in pairs)
    chance = [StatementPair(a.old, b.new, False, "chance", "", CHANCE_WEIGHT) for a, b in drawn if a.old != b.old]
    told = [StatementPair(a, b, kind is not None, "told", "", DEVELOPER_WEIGHT) for kind, a, b in (*TUNED, *HELD_OUT)]
    return [*pairs, *chance, *told, *fill_forms(), *load_peaceful_pairs(unread=False)]


def fill_forms() -> list[StatementPair]:
    """Return short pairs: each form filled with the names of each family of tools, with numbers and symbols."""
    members: dict[str, list[str]] = {}
    for known in vocabulary().names:
        if known.family:
            members.setdefault(known.family, []).append(known.name)
    families = sorted(family for family, names in members.items() if len(names) > 1)
    filled = []
    for number, family in enumerate(families):
        other = families[(number + 1) % len(families)]
        values = {"a": members[family][0], "b": members[family][1], "c": members[other][0], "family": family}
        values |= {"other": other, "n": str(number % 7 + 2), "m": str(number % 7 + 4)}
        values |= {"thing": THINGS[number % len(THINGS)], "symbol": SYMBOLS[number % len(SYMBOLS)]}
        values["unit"] = UNITS[number % len(UNITS)]
        for forms, contradicts in ((CLASHING_FORMS, True), (AGREEING_FORMS, False)):
            filled += [
                StatementPair(old.format(**values), new.format(**values), contradicts, "form", "", FORM_WEIGHT)
                for old, new in forms
            ]
    return filled


def compute_matrix(pairs: Sequence[StatementPair], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the features of pairs, one row each."""
    measured = [_measure_once(pair.old, pair.new) for pair in pairs]
    return np.array([[features[name] for name in names] for features in measured])


_measure_once = functools.cache(measure_pair)
"""Each pair is learned from in all folds but one."""


def fit_trees(pairs: Sequence[StatementPair], names: Sequence[str]) -> dict[str, Any]:
    """Return trees learned from pairs, as they are stored."""
    learned = draw_training_pairs(pairs)
    labels = np.array([pair.contradicts for pair in learned])
    weights = np.array([pair.weight for pair in learned])
    model = GradientBoostingClassifier(
        n_estimators=TREE_COUNT,
        max_depth=5,
        learning_rate=LEARNING_RATE,
        subsample=0.5,
        min_samples_leaf=20,
        max_features=0.1,
        random_state=0,
    ).fit(compute_matrix(learned, names), labels, sample_weight=weights)
    share = float((weights * labels).sum() / weights.sum())
    return {
        "about": "Log-odds of a contradiction: start, and the sum of the trees; bench train_contradictions makes them.",
        "features": list(names),
        "start": round(float(np.log(share / (1 - share))), 4),
        "trees": pack_trees([_read_tree(stage[0].tree_, 0, LEARNING_RATE) for stage in model.estimators_]),
    }


def _read_tree(tree: Any, node: int, rate: float) -> Tree:
    if tree.children_left[node] < 0:
        return round(rate * float(tree.value[node][0][0]), 4)
    below, above = (_read_tree(tree, side[node], rate) for side in (tree.children_left, tree.children_right))
    return [int(tree.feature[node]), round(float(tree.threshold[node]), 4), below, above]


def score_pairs(trees: dict[str, Any], pairs: Sequence[StatementPair]) -> NDArray[np.float64]:
    """Return the probability of a contradiction of each pair."""
    rows = compute_matrix(pairs, trees["features"])
    odds = trees["start"] + np.array(Forest(trees["trees"]).sum_leaves(rows.tolist()))
    return np.asarray(1 / (1 + np.exp(-odds)))


def score_unread_folds(
    pairs: Sequence[StatementPair], names: Sequence[str], folds: int
) -> tuple[list[StatementPair], NDArray[np.float64]]:
    """Return all pairs, fold by fold, and what trees make of them that have read none of their writers."""
    writers = sorted({pair.writer for pair in pairs})
    read: list[StatementPair] = []
    scores = []
    for fold in range(folds):
        held = set(writers[fold::folds])
        unread = [pair for pair in pairs if pair.writer in held]
        scores.append(score_pairs(fit_trees([pair for pair in pairs if pair.writer not in held], names), unread))
        read += unread
    return read, np.concatenate(scores)


def print_gates(pairs: Sequence[StatementPair], scores: NDArray[np.float64]) -> None:
    """Print the gates that give the false alarms allowed, of the judge and of the sure judge."""
    calm = ~np.array([pair.contradicts for pair in pairs])
    gate, sure = (np.quantile(scores[calm], 1 - allowed) for allowed in (ALARMS, SURE_ALARMS))
    print(f"gates: {gate:.3f} for {ALARMS:.0%} false alarms, {sure:.3f} for {SURE_ALARMS:.0%}")


def describe_scores(pairs: Sequence[StatementPair], scores: NDArray[np.float64], gate: float) -> list[str]:
    """Return precision, recall, F1 and false alarms at a gate, and the recall at the alarms allowed."""
    labels = np.array([pair.contradicts for pair in pairs])
    found = scores >= gate
    right = int((found & labels).sum())
    precision, recall = right / max(1, int(found.sum())), right / max(1, int(labels.sum()))
    allowed = float(np.quantile(scores[~labels], 1 - ALARMS))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    numbers = (precision, recall, f1, float(found[~labels].mean()), float((scores[labels] > allowed).mean()))
    return [f"{number:.2f}" for number in numbers]


def print_alarms(pairs: Sequence[StatementPair], scores: NDArray[np.float64], gate: float) -> None:
    """Print how many pairs of each kind are called contradictions."""
    called: Counter[str] = Counter()
    for pair, score in zip(pairs, scores, strict=True):
        called[pair.kind] += bool(score >= gate)
    total = Counter(pair.kind for pair in pairs)
    wrong = {pair.kind for pair in pairs if not pair.contradicts}
    for title, kinds in (("found", total.keys() - wrong), ("false alarms", wrong)):
        print(f"{title}: " + ", ".join(f"{kind} {called[kind]}/{total[kind]}" for kind in sorted(kinds)))


def measure_rules(pairs: Sequence[StatementPair]) -> NDArray[np.float64]:
    """Return the rules' verdicts as scores, for comparison."""
    return np.array([float(rules.find_verdict(pair.new, pair.old) is not None) for pair in pairs])


def add_writers(table: MarkdownTable, read: Sequence[StatementPair], scores: NDArray[np.float64], gate: float) -> None:
    """Add how well writers are judged by trees that have not read them, and by the rules."""
    known = sorted({pair.writer for pair in read})
    newest = [writer for writer in known if len(writer) == NEWEST_NAME]
    older = [writer for writer in known if writer not in (*FIRST_WRITERS, *newest)]
    groups = {**{f"writer {name}": [name] for name in FIRST_WRITERS}, f"{len(older)} more": older}
    for title, writers in {**groups, f"the newest {len(newest)}": newest, "all writers": known}.items():
        own = np.array([pair.writer in writers for pair in read])
        unread = [pair for pair in read if pair.writer in writers]
        table.add(title, "rules", *describe_scores(unread, measure_rules(unread), 0.5))
        table.add(f"{title}, unread", "judge", *describe_scores(unread, scores[own], gate))
    table.add("all writers, unread", "judge, sure", *describe_scores(read, scores, pair_judge.SURE_GATE))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Train the judge of contradictions.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folds", type=int, default=6, help="parts of cross-validation; 0 for none")
    parser.add_argument("--test", type=Path)
    arguments = parser.parse_args()
    pairs = [pair for path in DATA for pair in load_statement_pairs(path)]
    names = sorted(measure_pair(pairs[0].old, pairs[0].new))
    table = MarkdownTable("pairs", "method", "P", "R", "F1", "false alarms", f"R at {ALARMS:.0%}")
    gate, seen = pair_judge.CONTRADICTION_GATE, []
    if arguments.folds:
        seen.append(score_unread_folds(pairs, names, arguments.folds))
        add_writers(table, *seen[0], gate)
        print_gates(*seen[0])
    if arguments.write:
        TREES.write_text(json.dumps(fit_trees(pairs, names), separators=(",", ":")) + "\n", encoding="utf-8")
    if arguments.test is not None:
        unread = load_statement_pairs(arguments.test)
        started = time.process_time()
        scores = np.array([pair_judge.score_contradiction(pair.old, pair.new) for pair in unread])
        print(f"{1_000 * (time.process_time() - started) / len(unread):.2f} ms a pair")
        seen.append((unread, scores))
        table.add("test", "rules", *describe_scores(unread, measure_rules(unread), 0.5))
        table.add("test", "judge", *describe_scores(unread, scores, gate))
        table.add("test", "judge, sure", *describe_scores(unread, scores, pair_judge.SURE_GATE))
        peaceful = load_peaceful_pairs(unread=True)
        calm = np.array([pair_judge.score_contradiction(pair.old, pair.new) for pair in peaceful])
        for kind in ("together", "together, longer"):
            own = calm[[pair.kind == kind for pair in peaceful]]
            for title, bound in (("judge", gate), ("judge, sure", pair_judge.SURE_GATE)):
                table.add(f"{kind}, unread", title, "", "", "", f"{(own >= bound).mean():.3f}", "")
    table.print()
    for unread, scores in seen:
        print_alarms(unread, scores, gate)


if __name__ == "__main__":
    main()
