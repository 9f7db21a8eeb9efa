"""Indexing a real project: `python -m bench indexing FOLDER [--no-embed] [--json]`.

Copies the folder, indexes it, embeds it, indexes it again unchanged, edits one function and indexes once more.
Prints files, chunks, seconds to searchable by words, seconds to fully embedded, and the peak memory of the indexing
process and of the embedder.
"""

from __future__ import annotations

import argparse
import ast
import json
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.memory import Memory


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


def measure_folder(source: Path, *, embed: bool) -> dict[str, Any]:
    """Return what one folder takes."""
    with tempfile.TemporaryDirectory(prefix="hl-") as name:
        folder = Path(name)
        root = folder / "project"
        shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__"))
        with Memory.open(bench_settings(folder, project=source.name), root) as memory:
            first = memory.index_path()
            answer: dict[str, Any] = {
                "files": first.files,
                "chunks": first.chunks,
                "searchable_s": first.seconds,
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
