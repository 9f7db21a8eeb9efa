"""Indexing a real project: `python -m bench indexing FOLDER [--no-embed] [--json]`.

Copies the folder, indexes it, embeds it, indexes it again unchanged, edits one function and indexes once more.
Prints files, chunks, seconds until all can be found by words, seconds until relations are found too, seconds to fully
embedded, and the peak memory of the indexing process. Beside them the processor's seconds of both processes that work
at it, this one and the one that parses, and how many times they are what parsing the same files with tree-sitter takes,
and cutting them into chunks; and the same of the seconds that somebody waits.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import resource
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.memory import Memory
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.programming_languages import language_of


def edit_one_function(root: Path) -> str:
    """Change the body of one function of a Python file and return its path."""
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and len(node.body) > 2]
        if functions:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            last = functions[0].body[-1]
            lines.insert(last.lineno - 1, " " * last.col_offset + "edited_by_the_benchmark = True\n")
            path.write_text("".join(lines), encoding="utf-8")
            return path.relative_to(root).as_posix()
    raise RuntimeError("no function to edit")


def measure_parsing(root: Path) -> tuple[float, float]:
    """Return the processor's seconds for parsing the files of a folder that have a grammar, and for cutting all."""
    import tree_sitter

    texts: list[tuple[str, str]] = []
    for path in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in (".py", ".md", ".rst")):
        with contextlib.suppress(UnicodeDecodeError):
            texts.append((path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")))
    for name, text in texts[:2]:
        chunk_file(name, text)  # Loads the grammars.
    started = time.process_time()
    for name, text in texts:
        language = language_of(name, text)
        grammar = None if language is None else language.load_grammar()
        if grammar is not None:
            tree_sitter.Parser(grammar).parse(text.encode())
    parsed = time.process_time() - started
    for name, text in texts:
        chunk_file(name, text)
    return parsed, time.process_time() - started - parsed


def spent_seconds() -> float:
    """Return the processor's seconds of this process and of its children, also of those that still run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = [psutil.Process().cpu_times(), *(child.cpu_times() for child in psutil.Process().children(recursive=True))]
    return ended.ru_utime + ended.ru_stime + sum(one.user + one.system for one in times)


@dataclass(slots=True)
class Stopwatch:
    """Notes when the last file was written: from then on all of it can be found by words."""

    started: float = field(default_factory=time.perf_counter)
    spent: float = field(default_factory=spent_seconds)
    waited: float = 0.0
    worked: float = 0.0

    def note_progress(self, done: int, total: int, what: str) -> None:
        """Take a report of `Memory.index_path`."""
        if done == total and not self.waited:
            self.waited = time.perf_counter() - self.started
            self.worked = spent_seconds() - self.spent


def measure_folder(source: Path, *, embed: bool) -> dict[str, Any]:
    """Return what one folder takes."""
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        folder = Path(name)
        root = folder / "project"
        shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__"))
        with Memory.open(bench_settings(folder, project=source.name), root) as memory:
            parsed, cut = measure_parsing(root)
            watch = Stopwatch()
            first = memory.index_path(progress=watch.note_progress)
            answer: dict[str, Any] = {
                "files": first.files,
                "chunks": first.chunks,
                "parsing_s": round(parsed, 2),
                "searchable_s": round(watch.waited, 2),
                "searchable_cpu_s": round(watch.worked, 2),
                "waited_times_parsing": round(watch.waited / parsed, 1),
                "times_parsing": round(watch.worked / parsed, 1),
                "times_cutting": round(watch.worked / cut, 1),
                "with_relations_s": first.seconds,
                "skipped": len(first.skipped),
            }
            if embed:
                with memory.keep_embedder_running():
                    started = time.perf_counter()
                    left = memory.embed_pending()
                    answer["embedded_s"] = round(first.seconds + time.perf_counter() - started, 1)
                    answer["without_vector"] = left
                    status = memory.stats()["embedder"]
                    answer["embedder"] = {key: status.get(key) for key in ("model", "device", "dtype", "backend")}
            second = memory.index_path()
            answer["again"] = {
                "touched": second.added + second.changed + second.moved + second.removed,
                "seconds": second.seconds,
            }
            edited = edit_one_function(root)
            third = memory.index_path()
            answer["edit"] = {
                "file": edited,
                "changed": third.changed,
                "added": third.added,
                "removed": third.removed,
                "to_embed": memory.stats()["fingerprints_pending"],
            }
            answer["database_bytes_per_chunk"] = round(memory.stats()["database_bytes"] / max(1, first.chunks))
    answer["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return answer


def main() -> None:
    """Parse the arguments, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench indexing", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-embed", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    answer = measure_folder(options.folder.resolve(), embed=not options.no_embed)
    if options.save:
        save_result(f"indexing-{options.folder.name}", answer)
    if options.json:
        print(json.dumps(answer, indent=2))
        return
    table = MarkdownTable("what", "value")
    for key, value in answer.items():
        table.add(key.replace("_", " "), value)
    table.print()


if __name__ == "__main__":
    main()
