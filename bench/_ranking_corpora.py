"""What `bench train_ranking` learns from: texts with questions whose answers are known, under free licences.

- talks: labelled sessions of `bench/data/sessions`, with questions of our own (`bench/data/ranking_questions.jsonl`),
  stored as turns and told as facts; the later ones of these are measured with only;
- documents: the Markdown sections of got, gin and ripgrep at the commits of `bench questions`, and of this repository
  at a commit of its own, with the texts of their links to other sections; and the same with one sentence cut out of a
  section, which is asked for.

None of it is part of an evaluation set: httpx, whose pages are in mddocs, is left out.
"""

from __future__ import annotations

import json
import posixpath
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench._question_cases import load_cases
from bench.quality import EvaluationCorpus, EvaluationDocument, EvaluationQuestion

SEED: Final = 7
DATA: Final = Path(__file__).parent / "data"

TALKS: Final = (("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"), tuple(f"i{n}" for n in range(1, 10)))
"""Projects that are stored together: work on programs, and everything else."""

LATER_TALKS: Final = (
    ("b3", "c4", "d5", "e6", "f7", "g8", "h9", "j1", "k1", "l1", "m1", "m5"),
    *(tuple(f"{writer}{n}" for n in half) for writer in "norstu" for half in (range(1, 7), range(7, 13))),
)
"""Projects of later writers, to measure with: one of each early hand, then each writer's twelve in two halves. Two
thirds of the questions about them have several answers, and share few words with them. Weights learned from them order
such questions better and LoCoMo's worse (docs/benchmarks/ranking.md, "Reranking")."""

CLONES: Final = ("got", "gin", "ripgrep")
OWN_COMMIT: Final = "567700fc"
"""Of this repository: its pages go on changing."""

TITLES: Final = 25
"""Links of a repository whose text is the very title they lead to."""

CLOZES: Final = 70

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_MARKUP: Final = re.compile(r"[`*]")
_LINK: Final = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)")


def make_talks(groups: Sequence[Sequence[str]] = TALKS, name: str = "talks") -> Iterator[EvaluationCorpus]:
    """Yield sessions with the questions about them, a corpus for each group of projects."""
    rows = [json.loads(line) for line in (DATA / "ranking_questions.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, projects in enumerate(groups):
        documents = [turn for project in projects for turn in _read_turns(project)]
        questions = [
            EvaluationQuestion(row["question"], frozenset(_find_turns(row["answers"], row["project"], documents)))
            for row in rows
            if row["project"] in projects
        ]
        yield EvaluationCorpus(f"{name}{number}", documents, questions, "conversation")


def _read_turns(name: str) -> Iterator[EvaluationDocument]:
    session = ""
    lines = (DATA / "sessions" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith("## session"):
            session = f"{name}-{line.split()[-1]}"
        elif line[:3] in ("U: ", "A: "):
            role = "user" if line.startswith("U") else "assistant"
            text = line[3:].replace("\\n", "\n")
            yield EvaluationDocument(id=f"{name}:{number}", text=text, session=session, role=role)


def _find_turns(answers: Sequence[str], project: str, documents: Sequence[EvaluationDocument]) -> Iterator[str]:
    turns = [document for document in documents if document.id.startswith(f"{project}:")]
    for answer in answers:
        begun = answer.replace("\\n", "\n")
        yield next(turn.id for turn in turns if turn.text.startswith(begun))


@dataclass(frozen=True, kw_only=True)
class _Section:
    id: str
    path: str
    headings: tuple[str, ...]
    text: str

    @property
    def anchor(self) -> str:
        title = _MARKUP.sub("", _LINK.sub(r"\1", self.headings[-1])).strip().lower()
        return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def make_documents(clones: Path) -> Iterator[EvaluationCorpus]:
    """Yield Markdown sections with the texts of links to them, then with a sentence of theirs.

    Args:
        clones: folder with the clones of `bench questions`.
    """
    rng = random.Random(SEED)
    own = Path(__file__).parents[1]
    for name, root, commit in (
        *((name, clones / name, load_cases(name).commit) for name in CLONES),
        ("own", own, OWN_COMMIT),
    ):
        sections = list(_read_sections(root, commit))
        links = list(_find_links(sections))
        titles = [question for question in links if question.kind == "title"]
        chosen = [question for question in links if question.kind == "link"]
        chosen += rng.sample(titles, min(TITLES, len(titles)))
        yield EvaluationCorpus(name, _as_documents(sections), chosen)
        cut = [_cut_sentence(section, rng) for section in rng.sample(sections, min(CLOZES, len(sections)))]
        missing = {section.id: section for section, _ in cut}
        asked = [EvaluationQuestion(sentence, frozenset([section.id])) for section, sentence in cut if sentence]
        yield EvaluationCorpus(f"{name}-cut", _as_documents([missing.get(one.id, one) for one in sections]), asked)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", errors="replace")


def _read_sections(root: Path, commit: str) -> Iterator[_Section]:
    listed = sorted(_git(root, "ls-tree", "-r", "--name-only", commit).splitlines())
    for path in (path for path in listed if path.endswith(".md") and "CHANGELOG" not in path):
        if path.startswith("bench/"):
            continue
        headings: list[str] = []
        body: list[str] = []
        fenced, number = False, 0
        for line in [*_git(root, "show", f"{commit}:{path}").splitlines(), "# "]:
            fenced ^= line.startswith("```")
            found = None if fenced else re.match(r"(#{1,6})\s(.*)", line)
            if found is None:
                body.append(line)
                continue
            if headings and (text := "\n".join(body).strip()):
                number += 1
                yield _Section(id=f"{path}:{number}", path=path, headings=tuple(headings), text=text)
            headings[len(found[1]) - 1 :] = [found[2].strip("# ")]
            body.clear()


def _find_links(sections: Sequence[_Section]) -> Iterator[EvaluationQuestion]:
    by_anchor: dict[tuple[str, str], _Section] = {}
    for section in sections:
        by_anchor.setdefault((section.path, section.anchor), section)
        by_anchor.setdefault((section.path, ""), section)
    seen = set()
    for section in sections:
        for text, target in _LINK.findall(section.text):
            page, _, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(section.path), page)) if page else section.path
            to, asked = by_anchor.get((path, anchor)), _MARKUP.sub("", text)
            if to is None or to is section or (asked.lower(), to.id) in seen or len(asked) <= 3:
                continue
            seen.add((asked.lower(), to.id))
            holding = frozenset(one.id for one in sections if f"[{text}](" in one.text and one is not to)
            kind = "title" if _MARKUP.sub("", to.headings[-1]).lower() == asked.lower() else "link"
            yield EvaluationQuestion(asked, frozenset([to.id]), holding, kind)


def _cut_sentence(section: _Section, rng: random.Random) -> tuple[_Section, str]:
    """Return a section without one of its sentences, and that; the section and nothing if it has too few."""
    prose = re.sub(r"```.*?```", "", section.text, flags=re.DOTALL)
    sentences = [one.strip() for one in _SENTENCE_END.split(prose)]
    sentences = [one for one in sentences if 6 <= len(one.split()) <= 30 and "|" not in one and one in section.text]
    if len(sentences) < 3:
        return section, ""
    chosen = rng.choice(sentences[1:])
    return replace(section, text=section.text.replace(chosen, "")), _MARKUP.sub("", _LINK.sub(r"\1", chosen))


def _as_documents(sections: Sequence[_Section]) -> list[EvaluationDocument]:
    found = []
    for number, section in enumerate(sections):
        heads = "\n".join(f"{'#' * min(6, level)} {title}" for level, title in enumerate(section.headings, start=1))
        text = f"{heads}\n\n{section.text}\n"
        found.append(EvaluationDocument(id=section.id, text=section.text, path=f"{number:05}.md", file_text=text))
    return found
