"""Labelled sessions: coding sessions with what a good note-taker keeps of them, written for training or published.

`bench/data/sessions/README.md` describes the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, Sentence, TurnView

FOLDER = Path(__file__).parent / "data" / "sessions"
PUBLISHED = FOLDER.with_name("sessions_published")
"""Sessions that people had with their agents and published; the name of a part ends in a number."""

SPEAKERS = {"U": USER, "A": ASSISTANT, "T": ACTION}


OVERLAP = 0.5
"""A sentence is one that a label quotes if half of it, or half of the quotation, is in the other."""


@dataclass(frozen=True, slots=True)
class KeptStatement:
    """Something to keep: `quote` stands in its turn, `about` in an earlier one; `old` is what it affects, and how."""

    name: str
    kind: str
    importance: int
    quote: str
    about: str | None = None
    old: tuple[str, str] | None = None


@dataclass(slots=True)
class LabelledTurn:
    """A turn with its labels: what to keep of it, quotes that look like it and are not to be kept, and weak ones."""

    view: TurnView
    kept: list[KeptStatement] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LabelledProject:
    """The sessions of one project, in order."""

    name: str
    sessions: list[list[LabelledTurn]]


def read_projects(folder: Path = FOLDER) -> Iterator[LabelledProject]:
    """Yield the labelled projects of a folder, by name."""
    for path in sorted(folder.glob("*.txt")):
        yield LabelledProject(path.stem, read_sessions(path.read_text(encoding="utf-8")))


def read_sessions(text: str) -> list[list[LabelledTurn]]:
    """Return the sessions in a file's text.

    Raises:
        ValueError: a line is none of the format's, or a label quotes what was not said.
    """
    sessions: list[list[LabelledTurn]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("# "):
            continue
        if line.startswith("## session"):
            sessions.append([])
        elif line[0] in SPEAKERS and line[1:3] == ": ":
            turns = sessions[-1]
            turns.append(LabelledTurn(TurnView(len(turns), SPEAKERS[line[0]], line[3:].replace("\\n", "\n"))))
        else:
            _add_label(sessions, line, number)
    return sessions


def is_quoted(sentence: Sentence, turn: TurnView, quote: str) -> bool:
    """Return whether a sentence of a turn is one that a label quotes."""
    start = turn.text.find(quote)
    end = start + len(quote)
    shared = min(end, sentence.end) - max(start, sentence.start)
    return start >= 0 and shared > 0 and shared >= OVERLAP * min(sentence.end - sentence.start, end - start)


def _add_label(sessions: list[list[LabelledTurn]], line: str, number: int) -> None:
    sign, _, rest = line.partition(" ")
    parts = [part.strip().replace("\\n", "\n") for part in rest.split(" | ")]
    turn = sessions[-1][-1]
    if sign == "+":
        kept = _read_kept(parts)
        turn.kept.append(kept)
        quote = kept.quote
    elif sign in {"-", "~"}:
        quote = rest.partition(" | ")[2].strip().replace("\\n", "\n")
        (turn.never if sign == "-" else turn.weak).append(quote)
    else:
        raise ValueError(f"line {number}: neither a turn nor a label: {line!r:.80}")
    if quote not in turn.view.text:
        raise ValueError(f"line {number}: the turn does not say {quote!r:.80}")


def _read_kept(parts: list[str]) -> KeptStatement:
    name, kind, importance = parts[0].split()
    fields = {key: value.strip() for key, _, value in (part.partition(":") for part in parts[2:])}
    about, old = fields.get("about", "-"), fields.get("old", "-")
    return KeptStatement(
        name,
        kind,
        int(importance),
        parts[1],
        about=None if about == "-" else about,
        old=None if old == "-" else (old.split()[0], old.split()[1]),
    )
