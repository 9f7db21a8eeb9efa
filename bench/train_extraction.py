"""Train the statement scorer on labelled sessions, and say how well it does on writers that it did not see.

    python -m bench train_extraction [--write] [--write-kinds] [--unchecked]

Features that fewer than `--projects` projects have say who wrote, not what: they are left out. `--write` puts the
weights into `data/worth_keeping.txt` beside the scorer's module, `--write-kinds` into `data/statement_kinds.txt`, which
the judge of changed minds reads too: train it again with them. `python -m bench weights` shows them. The same data
gives the same files.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from bench._labelled_sessions import (
    FOLDER,
    PUBLISHED,
    KeptStatement,
    LabelledProject,
    LabelledTurn,
    is_quoted,
    read_projects,
)
from bench._shared import MarkdownTable
from hyperloci.conversations.consolidation.heuristics import KEEP
from hyperloci.conversations.consolidation.statement_features import read_features, read_kind_features
from hyperloci.conversations.consolidation.statement_scorer import KIND_WEIGHTS, WORTH_WEIGHTS, ScorerWeights
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, Sentence, TurnView
from hyperloci.knowledge.weight_table import WeightTable

KINDS = {"user": "user_info", "fact": "semantic", "root_cause": "insight"}
"""Labels whose kind has another name in the memory."""

LOOKALIKE_WEIGHT = 5.0
"""How much more than another a sentence counts that only looks like one to keep: a wrong memory does more harm than a
missing one. With 8, at the gate that keeps as many look-alikes, fewer statements are found."""

KIND_STRENGTH = 0.5
"""Inverse strength of regularisation for kinds."""

LONE_WEIGHT = 0.5
"""How much a statement on its own counts for kinds beside one of a session: a fifth of them are dead ends, of a
session's 4 %, and of what was taken for one half was none (0.5: 36 of 65 right, 1.0: 39 of 83; 62 are dead ends)."""

INTRODUCTIONS = "lone/introductions"
INTRODUCTION_WEIGHT = 0.1
"""The same for introductions, which are many: with twice as much the other kinds, by which changed minds are judged
too, are told otherwise, and the timeout of a gateway is marked as replacing that of a worker."""

_KIND_WEIGHTS = {INTRODUCTIONS: INTRODUCTION_WEIGHT}

TERSE = "lone/terse"
"""Statements on their own with a writer: terse ones (`use pnpm not npm`). Kinds are not learned from them: the judge of
changed minds reads kinds, and trained anew beside them it is worse (docs/benchmarks/extraction.md, "Terse rules")."""

ANSWERED = "lone/answered"
"""Statements with the assistant's answer, which tells of half of them whether they are to be kept: who is refused
has decided nothing. Kinds are not learned from them either."""

ANSWERED_WEIGHT = 1.0
ANSWERED_LOOKALIKE_WEIGHT = 2.5
"""How much these count: of 300 by a writer who was left out .72 are kept, not .70 and .68, and .16 and .06 of their
look-alikes, not .17 and .08; with 1.0 for look-alikes .17 and .09 of them, with 2 and 5 .16 and .08."""

EXPLAINED = "lone/explained"
"""Answers of an assistant's that explain, advise or draft, with what was asked before and said after. Few of their
sentences are to be kept: those that the user confirms or adopts. Kinds are not learned from them."""

EXPLAINED_WEIGHT = 1.0
"""How much each of their sentences counts. With 3.0 as many of those left out are kept, and fewer findings of
sessions."""

AGENTIC_WRITERS = "wxyz"
"""Who wrote sessions in which an agent works by itself; the published ones are such too."""

AGENTIC_WEIGHT = 3.0
"""How much a sentence counts of sessions in which an agent works by itself, with long answers and pasted documents, as
most are today: they are a tenth of all. Kinds are not
learned from them: the judge of changed minds reads kinds, and with them three more past statements of 53 still hold
(F and I, nothing learned from either). Of two writers of such, each left out, 13 of 20 of the assistant's kept
sentences are right, without them 13 of 48; of the user's 92 of 150 and 109 of 216 (docs/benchmarks/extraction.md,
"Agents at work")."""

PUBLISHED_WEIGHT = 1.5
"""How much one counts of what users said in published sessions. Left out, a project of theirs is told better (average
precision .273 instead of .240, .559 instead of .482), and so are two of eleven writers of sessions (y .754 instead of
.729, z); with 3.0 eight of them are told worse (docs/benchmarks/extraction.md, "Published sessions")."""

ASSISTANT_STRENGTH = 0.3
"""Inverse strength of regularisation for the assistant's sentences, of which one in fifty is to be kept."""

MIN_TEXTS = 3
"""Statements that must have a feature of kinds."""

KINDS_FILE = FOLDER.parent / "statement_kinds.jsonl"
"""Statements of every kind, on their own: dead ends are rare in sessions."""

INTRODUCTIONS_FILE = FOLDER.parent / "introductions.jsonl"
"""Statements of who somebody is, for kinds alone: told that all of them are worth keeping, the scorer kept fewer other
statements of writers it had not read (364 of 508 by weight, 377 without)."""

REPLIES_FILE = FOLDER.parent / "statement_replies.jsonl"
"""Statements and look-alikes of a user's with what the assistant answered."""

EXPLANATIONS_FILE = FOLDER.parent / "explanations.jsonl"
"""Questions, an assistant's answers and what was said to them."""

LOOKALIKES_FILE = FOLDER.parent / "statement_lookalikes.jsonl"
"""Statements on their own that only look like one to keep: meant for once, thought of, in jest, of other things."""

SEED = 17

EARLY_WRITERS = "a-m"
"""The first 112 projects, as one writer."""

PLAIN_WEIGHT = 3.5
"""How much a statement on its own counts beside a sentence of a session: who says a thing that plainly means it. With
1.0 the sentences of sessions are told better (average precision .834, not .822), and what is said plainly is missed."""

SILENT_WEIGHT = 1.0
"""How much a sentence counts once more, as if the assistant had not answered. Without that, .79 of what is labelled is
kept where everybody answers, .62 if nobody did; with 0.3, .80 and .68 (six writers, each left out)."""

HEARD = ("reply", "echo=", "number echoed", "number ignored", "name echoed")
"""Features of the user's sentences that need an answer."""

LONE_OTHERS = 3
"""Sentences that are not to be kept for each statement on its own: about as many as in the turns that say something."""

NEIGHBOURS = 1 / 3
"""How often a statement on its own gets a sentence before it, and after it, in its turn."""

MIN_WEIGHT = 0.05
"""Smaller weights change nothing (with 0.02 kept and look-alikes are the same to a thousandth), and make the file half
as long again."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence: its features, its label (None: not to be kept), its project and turn; whether its answer is left
    out."""

    features: frozenset[str]
    label: KeptStatement | None
    is_lookalike: bool
    project: str
    turn: str
    is_silent: bool = False


def read_samples(projects: Iterable[LabelledProject]) -> list[Sample]:
    """Return every sentence of some projects, with its label; of weak ones nothing is learned."""
    samples = []
    for project in projects:
        for session_number, session in enumerate(project.sessions):
            views = [turn.view for turn in session]
            for at, turn in enumerate(session):
                if turn.view.speaker == ACTION:
                    continue
                for number, sentence in enumerate(turn.view.sentences):
                    label = find_label(turn, sentence)
                    if label is None and any(is_quoted(sentence, turn.view, quote) for quote in turn.weak):
                        continue
                    features = frozenset(read_features(views, at, number))
                    place = f"{project.name}/{session_number}/{at}"
                    samples.append(Sample(features, label, is_lookalike(turn, sentence), project.name, place))
    return samples


def read_silent_samples(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield the user's sentences of sessions once more, as if nobody had answered: the last turn has no answer yet."""
    for sample in samples:
        if "who=user" in sample.features and not _is_lone(sample):
            heard = frozenset(name for name in sample.features if not name.startswith(HEARD))
            yield replace(sample, features=heard, is_silent=True)


def read_lone_samples(projects: Sequence[LabelledProject]) -> Iterator[Sample]:
    """Yield statements on their own as sentences to keep, and others that are not, in the same surroundings.

    In sessions people rarely say things in plain words; where they do, it must not be lost. What is said around them is
    drawn from the sessions for all alike, so that only the words tell; but how the other one takes it tells too.
    """
    stage = _Stage(projects)
    for number, row in enumerate(read_rows(KINDS_FILE)):
        label = KeptStatement(f"lone{number}", row["kind"], 2, row["text"])
        speaker = row.get("speaker", USER)
        project = f"{TERSE if 'writer' in row else 'lone'}/{number % 40}"
        for text, found in ((row["text"], label), *((other, None) for other in stage.draw_others(speaker))):
            for features in stage.place_statement(speaker, text, is_found=found is not None):
                yield Sample(features, found, False, project, f"lone/{number}/{found is None}")
    for number, row in enumerate(read_rows(LOOKALIKES_FILE)):
        for features in stage.place_statement(row.get("speaker", USER), row["text"], is_found=False):
            yield Sample(features, None, True, f"lone/{number % 40}", f"lookalike/{number}")


def read_answered_samples(projects: Sequence[LabelledProject]) -> Iterator[Sample]:
    """Yield statements and look-alikes with the assistant's answers to them."""
    stage = _Stage(projects)
    for number, row in enumerate(read_rows(REPLIES_FILE)):
        label = KeptStatement(f"answered{number}", row["kind"], 2, row["text"]) if "kind" in row else None
        for features in stage.place_statement(USER, row["text"], is_found=label is not None, reply=row["reply"]):
            yield Sample(features, label, label is None, f"{ANSWERED}/{number % 40}", f"answered/{number}")


def read_explained_samples() -> Iterator[Sample]:
    """Yield the sentences of answers that explain: those of sessions act and find, others teach."""
    for number, row in enumerate(read_rows(EXPLANATIONS_FILE)):
        label = KeptStatement(f"explained{number}", row["kind"], 2, row["keep"]) if "keep" in row else None
        answer = TurnView(1, ASSISTANT, row["answer"])
        views = [TurnView(0, USER, row["asked"]), answer, TurnView(2, USER, row["then"])]
        for at, sentence in enumerate(answer.sentences):
            found = label if label is not None and is_quoted(sentence, answer, label.quote) else None
            features = frozenset(read_features(views, 1, at))
            yield Sample(features, found, False, f"{EXPLAINED}/{number % 40}", f"explained/{number}")


def _read_introductions() -> Iterator[Sample]:
    for number, row in enumerate(read_rows(INTRODUCTIONS_FILE)):
        label = KeptStatement(f"introduction{number}", "user", 2, row["text"])
        yield Sample(frozenset(), label, False, INTRODUCTIONS, "")


def read_rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class _Stage:
    """Turns and sentences of sessions, among which a statement is put."""

    def __init__(self, projects: Sequence[LabelledProject]) -> None:
        sessions = [session for project in projects for session in project.sessions]
        turns = [turn for session in sessions for turn in session]
        self._chance = random.Random(SEED)
        self._said = {who: [turn.view.text for turn in turns if turn.view.speaker == who] for who in (USER, ASSISTANT)}
        self._idle = {who: _idle_sentences(turns, who) for who in (USER, ASSISTANT)}
        self._replies = {
            (who, is_kept): [
                after.view.text
                for session in sessions
                for turn, after in pairwise(session)
                if turn.view.speaker == who and after.view.speaker == other and bool(turn.kept) == is_kept
            ]
            for who, other in ((USER, ASSISTANT), (ASSISTANT, USER))
            for is_kept in (True, False)
        }

    def draw_others(self, speaker: str) -> list[str]:
        """Return sentences that are not to be kept."""
        return self._chance.sample(self._idle[speaker], LONE_OTHERS)

    def place_statement(
        self, speaker: str, text: str, *, is_found: bool, reply: str | None = None
    ) -> Iterator[frozenset[str]]:
        """Yield the features of each sentence of a statement among others, in a turn among others.

        `reply` is what the other one says to it; None draws what somebody said to another turn.
        """
        other = USER if speaker == ASSISTANT else ASSISTANT
        lead = self._draw_neighbour(speaker)
        view = TurnView(1, speaker, f"{lead}{text} {self._draw_neighbour(speaker)}".strip())
        before = [TurnView(0, other, self._chance.choice(self._said[other]))][self._chance.randrange(2) :]
        replies = self._replies[speaker, is_found]
        after = [TurnView(2, other, self._chance.choice(replies)), TurnView(2, ACTION, "Bash: make")]
        follows = [self._chance.choice(after)][: self._chance.randrange(2)]
        views = [*before, view, *(follows if reply is None else [TurnView(2, other, reply)])]
        for number, sentence in enumerate(view.sentences):
            if len(lead) <= sentence.start and sentence.end <= len(lead) + len(text):
                yield frozenset(read_features(views, len(before), number))

    def _draw_neighbour(self, speaker: str) -> str:
        """Return a sentence to stand beside a statement in its turn, every third time."""
        return f"{self._chance.choice(self._idle[speaker])} " if self._chance.random() < NEIGHBOURS else ""


def _idle_sentences(turns: Iterable[LabelledTurn], speaker: str) -> list[str]:
    """Return the whole sentences of the turns of which nothing is kept."""
    idle = (turn.view for turn in turns if turn.view.speaker == speaker and not turn.kept)
    return [sentence.text for view in idle for sentence in view.sentences if sentence.text.endswith((".", "!", "?"))]


def find_label(turn: LabelledTurn, sentence: Sentence) -> KeptStatement | None:
    return next((kept for kept in turn.kept if is_quoted(sentence, turn.view, kept.quote)), None)


def is_lookalike(turn: LabelledTurn, sentence: Sentence) -> bool:
    return any(quote in sentence.text or sentence.text in quote for quote in turn.never)


def train(samples: Sequence[Sample], *, min_projects: int, strength: float) -> ScorerWeights:
    """Return what is learned from samples. `strength` is that of the user's sentences."""
    return ScorerWeights(
        worth=WeightTable.of_columns(
            {
                USER: _train_worth(samples, USER, min_projects=min_projects, strength=strength),
                ASSISTANT: _train_worth(samples, ASSISTANT, min_projects=min_projects, strength=ASSISTANT_STRENGTH),
            }
        ),
        kinds=train_kinds([*samples, *_read_introductions()]),
    )


def _train_worth(samples: Iterable[Sample], speaker: str, *, min_projects: int, strength: float) -> dict[str, float]:
    theirs = [sample for sample in samples if f"who={speaker}" in sample.features and _teaches(sample, speaker)]
    theirs += list(read_silent_samples(theirs))
    vectors, matrix = _vectorize(theirs, min_projects)
    truth = [sample.label is not None for sample in theirs]
    keep = LogisticRegression(C=strength, max_iter=5_000).fit(matrix, truth, [_stake(sample) for sample in theirs])
    return _weights(vectors.get_feature_names_out(), keep.intercept_[0], keep.coef_[0])


def is_agentic(project: str) -> bool:
    """Tell whether a project's sessions are those of an agent that works by itself."""
    return (project[0] in AGENTIC_WRITERS and project[1:].isdigit()) or is_published(project)


def is_published(project: str) -> bool:
    """Tell whether a project's sessions are published ones, by its name: `minsky-2`."""
    return not project.startswith("lone/") and project.rpartition("-")[2].isdigit() and "-" in project


def _teaches(sample: Sample, speaker: str) -> bool:
    """Tell whether something is learned from a sample: of published sessions, what users said."""
    return speaker == USER or not is_published(sample.project)


def _whole(project: str) -> str:
    """Return the project that a file's sessions are of: a published one has several files."""
    return read_writer(project) if is_published(project) else project


def _is_lone(sample: Sample) -> bool:
    return sample.project.startswith("lone/")


def _stake(sample: Sample) -> float:
    """Return how much a sample counts."""
    part = SILENT_WEIGHT if sample.is_silent else 1.0
    if is_published(sample.project):
        part *= PUBLISHED_WEIGHT
    elif is_agentic(sample.project):
        part *= AGENTIC_WEIGHT
    if sample.project.startswith(ANSWERED):
        return ANSWERED_LOOKALIKE_WEIGHT if sample.is_lookalike else ANSWERED_WEIGHT
    if sample.project.startswith(EXPLAINED):
        return EXPLAINED_WEIGHT
    if sample.is_lookalike:
        return LOOKALIKE_WEIGHT * part
    return PLAIN_WEIGHT if sample.label is not None and _is_lone(sample) else part


def train_kinds(samples: Sequence[Sample]) -> WeightTable:
    """Return the weights of kinds, trained on what is to be kept and on statements of every kind."""
    learned = [
        sample
        for sample in samples
        if not sample.project.startswith((TERSE, ANSWERED, EXPLAINED)) and not is_agentic(sample.project)
    ]
    kept = {(sample.project, sample.label.name): sample.label for sample in learned if sample.label is not None}
    weights = [_KIND_WEIGHTS.get(project, LONE_WEIGHT if project.startswith("lone/") else 1.0) for project, _ in kept]
    texts = [(label.quote, label.kind) for label in kept.values()]
    features = [set(read_kind_features(text)) for text, _ in texts]
    seen = Counter(name for names in features for name in names)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform([{name: 1.0 for name in found if seen[name] >= MIN_TEXTS} for found in features])
    truth = [KINDS.get(kind, kind) for _, kind in texts]
    model = LogisticRegression(C=KIND_STRENGTH, max_iter=5_000)
    model.fit(matrix, truth, weights)
    names = vectors.get_feature_names_out()
    return WeightTable.of_columns(
        {
            str(kind): _weights(names, intercept, weights)
            for kind, intercept, weights in zip(model.classes_, model.intercept_, model.coef_, strict=True)
        }
    )


def _vectorize(samples: Sequence[Sample], min_projects: int) -> tuple[DictVectorizer, Any]:
    seen = Counter(
        name for _, name in {(_whole(sample.project), name) for sample in samples for name in sample.features}
    )
    vectors = DictVectorizer()
    known = [{name: 1.0 for name in sample.features if seen[name] >= min_projects} for sample in samples]
    matrix = vectors.fit_transform(known)
    matrix.sort_indices()  # Whatever order its set has.
    return vectors, matrix


def _weights(names: Sequence[str], intercept: float, weights: Sequence[float]) -> dict[str, float]:
    rounded = {"": round(float(intercept), 3)}
    for name, weight in sorted(zip(names, weights, strict=True)):
        if abs(weight) >= MIN_WEIGHT:
            rounded[str(name)] = round(float(weight), 2)
    return rounded


def read_writer(project: str) -> str:
    """Return who wrote a project: the first letter of its name says it; those up to `m` are of one kind of writing."""
    if is_published(project):
        return project.rpartition("-")[0]
    return EARLY_WRITERS if project[0] <= EARLY_WRITERS[-1] else project[0]


def leave_writers_out(samples: Sequence[Sample], **how: Any) -> Iterator[tuple[str, list[Sample], list[float]]]:
    """Yield for each writer their samples, and each one's probability by a model that learned from the others.

    Random projects would not do: twelve projects of a writer are twelve voices, but one way of writing sessions.
    """
    of_sessions = [sample for sample in samples if not _is_lone(sample)]
    for writer in sorted({read_writer(sample.project) for sample in of_sessions}):
        others = [sample for sample in samples if _is_lone(sample) or read_writer(sample.project) != writer]
        model = train(others, **how)
        theirs = [sample for sample in of_sessions if read_writer(sample.project) == writer]
        yield writer, theirs, [model.score(sample.features) for sample in theirs]


def add_row(table: MarkdownTable, name: str, samples: Sequence[Sample], found: Sequence[float]) -> None:
    """Add how well a writer's sentences are told: the user's, and the assistant's average precision beside them."""
    told = list(zip(samples, found, strict=True))
    users = [(sample, value) for sample, value in told if "who=user" in sample.features]
    kept = [sample.label is not None for sample, value in users if value >= KEEP]
    labelled = sum(sample.label is not None for sample, _ in users)
    alike = [value >= KEEP for sample, value in users if sample.is_lookalike]
    table.add(
        name,
        f"{_average_precision(users):.3f}",
        f"{sum(kept) / labelled:.2f}",
        f"{sum(kept) / max(1, len(kept)):.2f}",
        f"{sum(alike) / max(1, len(alike)):.2f}",
        f"{_average_precision([one for one in told if 'who=user' not in one[0].features]):.3f}",
    )


def _average_precision(told: Sequence[tuple[Sample, float]]) -> float:
    truth, found = zip(*((sample.label is not None, value) for sample, value in told), strict=True)
    return float(average_precision_score(truth, found))


def main() -> None:
    """Train, and report on each writer by what was learned from the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="labelled sessions, beside the published ones")
    parser.add_argument("--unchecked", action="store_true", help="leave out the report on writers left out")
    parser.add_argument("--projects", type=int, default=4, help="projects that must have a feature")
    parser.add_argument("--strength", type=float, default=0.1, help="inverse strength of regularisation")
    parser.add_argument("--write", action="store_true", help="write the weights of what is kept into the package")
    parser.add_argument(
        "--write-kinds", action="store_true", help="write those of kinds: train_replacements reads them"
    )
    options = parser.parse_args()
    projects = list(read_projects(options.folder))
    samples = read_samples([*projects, *read_projects(PUBLISHED)])
    samples += [*read_lone_samples(projects), *read_answered_samples(projects), *read_explained_samples()]
    how = {"min_projects": options.projects, "strength": options.strength}
    if not options.unchecked:
        table = MarkdownTable(
            "writer left out", "average precision", "found", "of kept, labelled", "look-alikes", "assistant's"
        )
        everybody: list[tuple[Sample, float]] = []
        for writer, theirs, found in leave_writers_out(samples, **how):
            add_row(table, writer, theirs, found)
            if not is_published(theirs[0].project):
                everybody += zip(theirs, found, strict=True)
        add_row(table, "all written", *zip(*everybody, strict=True))
        table.print()
    if options.write or options.write_kinds:
        model = train(samples, **how)
        for path, weights, is_wanted in (
            (WORTH_WEIGHTS, model.worth, options.write),
            (KIND_WEIGHTS, model.kinds, options.write_kinds),
        ):
            if is_wanted:
                path.write_bytes(weights.packed)
                print(f"{path.name}: {len(samples)} sentences, {len(weights.packed):,} bytes")


if __name__ == "__main__":
    main()
