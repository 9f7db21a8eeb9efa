"""Questions of developers: `python -m bench questions FOLDER [--repositories httpx,gin] [--misses] [--keep DIR]`.

FOLDER holds clones, with their whole history, of the repositories in `bench/data/questions`, each at the commit named
there. Every clone is indexed, all its history read and everything embedded, as `hyperloci index` would; every question
is asked through `Memory.search`. A hit@5 is a question of whose first five hits one shows an answer: the commit, or
lines of the block that it begins with.

Beside it stand, over the same memories in the same run: grep with three words that were written with the question (the
memories of files, of `why` those of commits, with the most of them, then with the most occurrences), FTS5's `bm25()`
over the question's words, and meaning alone (strategy `e1_only`).

Every second question of a kind is held out, and seven repositories are as a whole (`--repositories
thor,cjson,gson,requests,commander,jinja,sinatra`): constants of ranking were chosen on the others (`--half tuning`) and
on eleven repositories that count in no goal (`--repositories
fd,cobra,mux,ky,hyperfine,click,express,okio,hiredis,viper,bat`). `--changelog N` asks N entries of each `CHANGELOG.md`
as reasons instead, whose answer is the commit with their number; grep has their three longest words.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench._changelog_cases import load_changelog
from bench._question_cases import KINDS, Answer, QuestionCase, RepositoryCases, list_repository_names, load_cases
from bench._shared import MarkdownTable, ask_with_vectors, bench_settings, save_result
from hyperloci.memory import Memory
from hyperloci.model.search import Hit

DEPTH: Final = 5

METHODS: Final = ("hyperloci", "grep", "bm25", "e1")

HALVES: Final = ("all", "tuning", "held_out")

Ask = Callable[[QuestionCase], Sequence[Hit]]
"""One way to answer a question: the first hits, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """What came of one question asked in one way: the place of the first hit that shows an answer, 0 for none."""

    case: QuestionCase
    method: str
    place: int
    hits: tuple[Hit, ...]


class StoredTexts:
    """The texts of everything indexed, for the baselines."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        found = memory.store.connection.execute(
            "SELECT id, subtype, title, content FROM nodes WHERE type <> 'entity' AND deleted_at IS NULL ORDER BY key"
        )
        rows = [(row["id"], row["subtype"] == "commit", f"{row['title']}\n{row['content']}") for row in found]
        self._ids = [id for id, _, _ in rows]
        self._lowered = [(is_commit, text.lower()) for _, is_commit, text in rows]
        self._fts = sqlite3.connect(":memory:")
        self._fts.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize=unicode61)")
        self._fts.executemany("INSERT INTO t(body) VALUES (?)", [(text,) for _, _, text in rows])

    def grep(self, case: QuestionCase) -> Sequence[Hit]:
        """Return what has the most of three words, then the most occurrences of them: of `why` in the log."""
        words = [word.lower() for word in case.words]
        among = [
            (place, text) for place, (is_commit, text) in enumerate(self._lowered) if is_commit == (case.kind == "why")
        ]
        scored = [([text.count(word) for word in words], place) for place, text in among]
        ranked = sorted(scored, key=lambda item: (-sum(map(bool, item[0])), -sum(item[0]), item[1]))
        return self._memory.get_many([self._ids[place] for counts, place in ranked[:DEPTH] if any(counts)])

    def rank_bm25(self, case: QuestionCase) -> Sequence[Hit]:
        """Return what FTS5 ranks first."""
        words = "".join(character if character.isalnum() else " " for character in case.question).split()
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._fts.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return self._memory.get_many([self._ids[row[0] - 1] for row in found])


def find_place(hits: Sequence[Hit], answers: Sequence[Answer]) -> int:
    """Return the place, from 1, of the first hit that shows one of the answers; 0 if none does."""
    shown = (any(answer.is_shown_by(hit.source) for answer in answers) for hit in hits)
    return next((place for place, is_shown in enumerate(shown, start=1) if is_shown), 0)


def check_clone(root: Path, wanted: RepositoryCases) -> None:
    """Exit in words where a clone is missing or at another commit."""
    head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.stdout.strip() != wanted.commit:
        raise SystemExit(
            f"{root} is no clone at the commit that the questions were written for. Make it so:\n"
            f"git clone {wanted.repository} {root}\ngit -C {root} checkout {wanted.commit}"
        )


def _ask(memory: Memory, case: QuestionCase, **narrowed: Any) -> Sequence[Hit]:
    answer, _ = ask_with_vectors(memory, case.question, limit=DEPTH, **narrowed)
    return answer.results


def index_all(memory: Memory) -> None:
    """Index the files and all of the history, and wait until everything is embedded."""
    memory.index_path()
    memory.index_history()
    memory.embed_pending()


def run_repository(
    wanted: RepositoryCases, root: Path, folder: Path, half: str, profile: str
) -> Iterator[AskedQuestion]:
    """Ask every question of one repository in every way; what is indexed is kept in `folder`."""
    check_clone(root, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    with Memory.open(bench_settings(folder, project=wanted.name, profile=profile), root) as memory:
        index_all(memory)
        texts = StoredTexts(memory)
        ways: Mapping[str, Ask] = {
            "hyperloci": lambda case: _ask(memory, case),
            "grep": texts.grep,
            "bm25": texts.rank_bm25,
            "e1": lambda case: _ask(memory, case, where={"strategy": "e1_only"}),
        }
        with memory.keep_embedder_running():
            for case in wanted.cases:
                if half == "all" or case.is_held_out == (half == "held_out"):
                    yield from _ask_in_every_way(case, case.find_answers(root), ways)


def _ask_in_every_way(
    case: QuestionCase, answers: Sequence[Answer], ways: Mapping[str, Ask]
) -> Iterator[AskedQuestion]:
    for method, ask in ways.items():
        hits = tuple(ask(case))
        yield AskedQuestion(case=case, method=method, place=find_place(hits, answers), hits=hits)


def summarise(asked: Sequence[AskedQuestion]) -> dict[str, dict[str, dict[str, float]]]:
    """Return n, hit@1 and hit@5 by kind and method; kind `all` is over all questions."""
    answer: dict[str, dict[str, dict[str, float]]] = {}
    for kind in (*KINDS, "all"):
        for method in METHODS:
            places = [item.place for item in asked if item.method == method and kind in (item.case.kind, "all")]
            answer.setdefault(kind, {})[method] = {
                "n": len(places),
                "hit@1": round(sum(place == 1 for place in places) / max(1, len(places)), 3),
                "hit@5": round(sum(place > 0 for place in places) / max(1, len(places)), 3),
            }
    return answer


def print_summary(name: str, summary: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print one repository's table."""
    table = MarkdownTable(name, "n", *(f"{method} @1 / @5" for method in METHODS))
    for kind, methods in summary.items():
        cells = [f"{found['hit@1']:.2f} / {found['hit@5']:.2f}" for found in methods.values()]
        table.add(kind, int(methods["hyperloci"]["n"]), *cells)
    table.print()
    print()


def print_misses(asked: Sequence[AskedQuestion]) -> None:
    """Print the questions whose answer is not the first hit, what was wanted and what came."""
    for item in asked:
        if item.method != "hyperloci" or item.place == 1:
            continue
        print(f"[{item.case.kind}] {item.case.question} (place {item.place})\n  wanted: {'; '.join(item.case.answers)}")
        for hit in item.hits:
            source = hit.source
            lines = f"{source.line_start}-{source.line_end}"
            where = f"commit {source.commit[:12]}" if source.commit else f"{source.path}:{lines} {source.symbol or ''}"
            print(f"  {hit.score:.2f} {where} | {' '.join(hit.content.split())[:80]}")


def main() -> None:
    """Parse the arguments, ask of every repository that FOLDER holds, and print the tables or JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m bench questions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with the clones, by name")
    parser.add_argument(
        "--repositories", default=",".join(list_repository_names(held_out=False)), help="which of them, by commas"
    )
    parser.add_argument("--half", choices=HALVES, default="all", help="only the questions for tuning, or the others")
    parser.add_argument("--changelog", type=int, default=0, metavar="N", help="ask N entries of each changelog instead")
    parser.add_argument("--misses", action="store_true", help="print what was not the first hit")
    parser.add_argument("--keep", type=Path, help="folder for the databases, to save time on a second run")
    parser.add_argument("--profile", default="bundled", help="which models see: `bundled`, `better`, `gpu`")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    answer: dict[str, Any] = {}
    everything: list[AskedQuestion] = []
    with contextlib.ExitStack() as stack:
        kept = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hyperloci-bench-")))
        for name in options.repositories.split(","):
            root = (options.folder / name).resolve()
            cases = load_cases(name)
            cases = load_changelog(cases, root, options.changelog) if options.changelog else cases
            asked = list(run_repository(cases, root, kept.resolve() / name, options.half, options.profile))
            everything += asked
            answer[name] = summarise(asked)
            if not options.json:
                print_summary(name, answer[name])
            if options.misses:
                print_misses(asked)
    answer["all"] = summarise(everything)
    print(json.dumps(answer, indent=2)) if options.json else print_summary("all", answer["all"])
    if options.save:
        save_result("questions", answer)


if __name__ == "__main__":
    main()
