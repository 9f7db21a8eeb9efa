"""Names: `python -m bench names CLONE [CLONE ...] [--names 50] [--functions 10] [--seed 1] [--misses] [--json]`.

Each CLONE is a work tree of a Python repository. It is indexed without vectors; then names drawn from it by Python's
own parser are given to `Memory.find_related`:

- starts: classes, functions and methods, as they are called in their file (`Client.send`). Right is a start whose lines
  begin a definition with this name; where several files have it, in code where any does.
- callers: functions with a name of several words that nothing else in the repository has, and two callers or more.
  Found is a caller (file and symbol) among the items, its line right if a call stands on it. "Given" are all items, and
  how many of them call it; beside it what `grep -w NAME` gives: lines of Python, and how many of them call it.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench._shared import MarkdownTable, bench_settings
from hyperloci.memory import Memory
from hyperloci.text.chunking.programming_languages import is_test_path

LIMIT: Final = 50
MIN_NAME: Final = 4
MIN_CALLERS: Final = 2
MAX_CALLERS: Final = 40
"""Of a function, so that all fit into one answer."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A definition: where, called what in its file, on which lines."""

    path: str
    symbol: str
    line_start: int
    line_end: int
    is_function: bool


@dataclass(frozen=True, slots=True)
class CalledName:
    """A call by a bare or a dotted name: where it stands, and in which definition."""

    path: str
    inside: str
    line: int
    name: str


@dataclass(slots=True)
class ParsedRepository:
    """What Python's parser says of a repository."""

    defined: list[DefinedName] = field(default_factory=list)
    called: list[CalledName] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def read(self, path: str, text: str) -> None:
        """Add a file; one that does not parse is left out."""
        self.texts.append(text)
        try:
            self._visit(path, ast.parse(text), "", "")
        except (SyntaxError, ValueError):
            return

    def _visit(self, path: str, node: ast.AST, scope: str, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Definition):
                name = f"{scope}.{child.name}" if scope else child.name
                first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
                is_class = isinstance(child, ast.ClassDef)
                if inside == "" or is_class:
                    self.defined.append(DefinedName(path, name, first, child.end_lineno or first, not is_class))
                self._visit(path, child, name, inside if is_class else inside or name)
                continue
            if isinstance(child, ast.Call) and (said := _called_name(child)):
                self.called.append(CalledName(path, inside or scope, child.func.end_lineno or child.lineno, said))
            self._visit(path, child, scope, inside)

    def sample_names(self, count: int, chance: random.Random) -> list[str]:
        """Return names of code, tests left out, drawn at random."""
        names = {
            item.symbol
            for item in self.defined
            if not is_test_path(item.path) and len(item.symbol) >= MIN_NAME and "__" not in item.symbol
        }
        return chance.sample(sorted(names), min(count, len(names)))

    def sample_functions(self, count: int, chance: random.Random) -> list[DefinedName]:
        """Return functions that alone have their name, with some callers but not too many, drawn at random."""
        bearers: dict[str, list[DefinedName]] = {}
        for item in self.defined:
            bearers.setdefault(item.symbol.rpartition(".")[2], []).append(item)
        # A name of one word is another library's too: `info`, `unquote`.
        alone = [items[0] for name, items in bearers.items() if len(items) == 1 and "_" in name.strip("_")]
        fit = [
            item
            for item in alone
            if item.is_function
            and not is_test_path(item.path)
            and MIN_CALLERS <= len(self.find_callers(item)) <= MAX_CALLERS
        ]
        return chance.sample(fit, min(count, len(fit)))

    def find_callers(self, item: DefinedName) -> dict[tuple[str, str], set[int]]:
        """Return who calls a function, by file and symbol, with the lines."""
        name = item.symbol.rpartition(".")[2]
        found: dict[tuple[str, str], set[int]] = {}
        for call in self.called:
            if call.name == name and (call.path, call.inside) != (item.path, item.symbol):
                found.setdefault((call.path, call.inside), set()).add(call.line)
        return found

    def grep(self, name: str) -> int:
        """Return on how many lines a name stands as a word."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return sum(bool(word.search(line)) for text in self.texts for line in text.splitlines() if name in line)


@dataclass(slots=True)
class NameCounts:
    """What came of it; `missed` in words."""

    names: int = 0
    right: int = 0
    callers: int = 0
    found: int = 0
    on_line: int = 0
    given: int = 0
    given_right: int = 0
    grep_lines: int = 0
    grep_right: int = 0
    missed: list[str] = field(default_factory=list)


def _called_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def parse_repository(root: Path) -> ParsedRepository:
    """Read all Python files of a work tree."""
    parsed = ParsedRepository()
    for path in sorted(root.rglob("*.py")):
        parsed.read(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace"))
    return parsed


def check_starts(memory: Memory, parsed: ParsedRepository, names: Sequence[str], counts: NameCounts) -> None:
    """Count the names of which `find_related` begins at a definition."""
    for name in names:
        meant = [item for item in parsed.defined if item.symbol == name]
        meant = [item for item in meant if not is_test_path(item.path)] or meant
        answer = memory.find_related(name, limit=1)
        place = answer.node.source
        is_right = any(
            place.path == item.path and place.symbol == name and (place.line_start or 0) <= item.line_end
            for item in meant
        )
        counts.names += 1
        counts.right += is_right
        if not is_right:
            counts.missed.append(f"{name}: {answer.started}")


def check_callers(
    memory: Memory, parsed: ParsedRepository, functions: Sequence[DefinedName], counts: NameCounts
) -> None:
    """Count the callers that `find_related` gives of each function, and the lines that are right."""
    for function in functions:
        wanted = parsed.find_callers(function)
        given: dict[tuple[str, str], set[int]] = {}
        for label in ("calls", "tests"):
            answer = memory.find_related(function.symbol, relationship=label, direction="in", limit=LIMIT)
            for item in answer.related:
                given.setdefault((item.path or "", item.symbol or ""), set()).add(item.line or 0)
        counts.callers += len(wanted)
        counts.given += len(given)
        counts.given_right += len(given.keys() & wanted.keys())
        counts.grep_lines += parsed.grep(function.symbol.rpartition(".")[2])
        counts.grep_right += len({(caller[0], line) for caller, lines in wanted.items() for line in lines})
        for caller, lines in wanted.items():
            counts.found += caller in given
            counts.on_line += bool(lines & given.get(caller, set()))
            if caller not in given:
                counts.missed.append(f"{function.symbol}: not called by {caller[1] or 'the file'} ({caller[0]})")


def run_clone(root: Path, names: int, functions: int, seed: int) -> NameCounts:
    """Index one work tree and ask."""
    parsed, chance, counts = parse_repository(root), random.Random(seed), NameCounts()
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
        settings = bench_settings(Path(folder), project=root.name, embedder=False)
        with Memory.open(settings, root) as memory:
            memory.index_path()
            check_starts(memory, parsed, parsed.sample_names(names, chance), counts)
            check_callers(memory, parsed, parsed.sample_functions(functions, chance), counts)
    return counts


def _rows(results: dict[str, NameCounts]) -> Iterator[tuple[str, ...]]:
    for name, counts in results.items():
        yield (
            name,
            f"{counts.right} of {counts.names}",
            f"{counts.found} of {counts.callers}",
            f"{counts.on_line} of {counts.callers}",
            f"{counts.given_right} of {counts.given}",
            f"{counts.grep_right} of {counts.grep_lines}",
        )


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench names", description=__doc__)
    parser.add_argument("clones", type=Path, nargs="+", help="work trees of Python repositories")
    parser.add_argument("--names", type=int, default=50, help="names of each")
    parser.add_argument("--functions", type=int, default=10, help="functions of each whose callers are counted")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn")
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    results = {root.name: run_clone(root.resolve(), given.names, given.functions, given.seed) for root in given.clones}
    if given.json:
        plain = {name: dataclasses.asdict(counts) for name, counts in results.items()}
        print(json.dumps(plain))
        return
    table = MarkdownTable(
        "repository", "right starts", "callers found", "on their line", "of those given", "of grep's lines"
    )
    for row in _rows(results):
        table.add(*row)
    table.print()
    if given.misses:
        print("\n".join(missed for counts in results.values() for missed in counts.missed))


if __name__ == "__main__":
    main()
