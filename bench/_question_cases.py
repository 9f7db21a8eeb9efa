"""Cases of `bench questions`: what developers ask of a public repository, and where the answers stand.

`bench/data/questions/NAME.jsonl` holds those of one repository: its address and commit first, then a question a line
with its kind, three words that somebody would grep for, and its answers, any of which will do. An answer is
`path::text`, the block of lines that begins where `text` first stands in the file, or `commit:id`. A head that says
`tuning` is of questions that constants were chosen on and that count in no goal; without words of their own they have
their three longest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyperloci.model.search import HitSource

CASES: Final = Path(__file__).parent / "data" / "questions"

KINDS: Final = ("where", "why", "configured", "related", "vague")

LONGEST_BLOCK: Final = 40
"""Lines of an answer at most: who is shown the end of a long class was not shown where it is."""

_COMMIT: Final = "commit:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Where an answer stands: lines of a file, both counted, or a commit by the beginning of its id."""

    path: str = ""
    first: int = 0
    last: int = 0
    commit: str = ""

    def is_shown_by(self, source: HitSource) -> bool:
        """Return whether a memory from this source shows the answer."""
        if self.commit:
            return source.commit is not None and source.commit.startswith(self.commit)
        if source.path != self.path or source.line_start is None or source.line_end is None:
            return False
        return source.line_start <= self.last and self.first <= source.line_end


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCase:
    """A question, three words to grep for, and its answers as they are written in the file of cases.

    Attributes:
        is_held_out: every second question of a kind, and all of a repository whose head says `held_out`: constants are
            chosen on the others alone.
    """

    kind: str
    question: str
    words: tuple[str, ...]
    answers: tuple[str, ...]
    is_held_out: bool

    def find_answers(self, root: Path) -> tuple[Answer, ...]:
        """Return where the answers stand in a work tree.

        Raises:
            ValueError: a file lacks the text that an answer names.
        """
        return tuple(find_answer(root, written) for written in self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCases:
    """The questions asked of one repository at one commit.

    Attributes:
        is_held_out: whether no constant may be chosen on any of them.
        is_tuning: whether all of them are there to choose constants on, and for nothing else.
    """

    name: str
    repository: str
    commit: str
    is_held_out: bool
    cases: tuple[QuestionCase, ...]
    is_tuning: bool = False


def list_repository_names(*, held_out: bool) -> list[str]:
    """Return the repositories that goals are for: those held out as a whole, or those of which half is."""
    found = {path.stem: load_cases(path.stem) for path in sorted(CASES.glob("*.jsonl"))}
    return [name for name, cases in found.items() if cases.is_held_out is held_out and not cases.is_tuning]


def list_tuning_names() -> list[str]:
    """Return the repositories whose questions are all there to choose constants on."""
    return [path.stem for path in sorted(CASES.glob("*.jsonl")) if load_cases(path.stem).is_tuning]


def load_cases(name: str) -> RepositoryCases:
    """Read the questions of one repository."""
    head, *rows = map(json.loads, (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return RepositoryCases(
        name=name,
        repository=head["repository"],
        commit=head["commit"],
        is_held_out=(is_held_out := head.get("held_out", False)),
        is_tuning=(is_tuning := head.get("tuning", False)),
        cases=tuple(_make_cases(rows, held_out=is_held_out if is_held_out or is_tuning else None)),
    )


def _make_cases(rows: Sequence[dict[str, object]], *, held_out: bool | None) -> Iterator[QuestionCase]:
    """Yield the questions; `held_out`: whether all of them are, None for every second of a kind."""
    seen = dict.fromkeys(KINDS, 0)
    for row in rows:
        kind = str(row["kind"])
        seen[kind] += 1
        words, answers = row["grep"], row["answers"]
        assert isinstance(words, list) and isinstance(answers, list)
        yield QuestionCase(
            kind=kind,
            question=str(row["question"]),
            words=tuple(words),
            answers=tuple(answers),
            is_held_out=seen[kind] % 2 == 0 if held_out is None else held_out,
        )


def find_answer(root: Path, written: str) -> Answer:
    """Return where one answer stands.

    Raises:
        ValueError: the file lacks its text.
    """
    if written.startswith(_COMMIT):
        return Answer(commit=written.removeprefix(_COMMIT))
    path, _, fragment = written.partition("::")
    text = (root / path).read_text(encoding="utf-8")
    place = text.find(fragment)
    if not fragment or place < 0:
        raise ValueError(f"{path} lacks {fragment!r}: check out the commit that the cases name.")
    first = text.count("\n", 0, place)
    lines = text.splitlines()
    last = _end_of_section(lines, first) if path.endswith(".md") else _end_of_block(lines, first)
    return Answer(path=path, first=first + 1, last=min(last, first + LONGEST_BLOCK) + 1)


def _end_of_section(lines: Sequence[str], first: int) -> int:
    """Return the last line, from 0, before the next heading."""
    after = (number for number in range(first + 1, len(lines)) if lines[number].startswith("#"))
    return next(after, len(lines)) - 1


def _end_of_block(lines: Sequence[str], first: int) -> int:
    """Return the last line, from 0, that is indented deeper than the first one or closes its brackets."""
    depth, last = _indentation(lines[first]), first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if line.strip() and _indentation(line) <= depth and line.strip()[0] not in ")]}":
            break
        if line.strip():
            last = number
    return last


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
