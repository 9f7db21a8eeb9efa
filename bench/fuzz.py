"""Inputs that nobody would send, in numbers: does anything crash, hang, or answer with a traceback?

    python -m bench fuzz [--examples 100000] [--only markdown,code,tools] [--seed 0] [--json]

Every parser, every hook and every tool gets so many inputs: one in ten is made by hypothesis, three hold a string that
is pumped as one of our patterns would take it longest, the others are the first one changed again and again. A target
may refuse an input with an error of ours; any other exception, and more than two seconds of processor time, is a
defect, which is shown with the smallest input that has it.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench._fuzz import FUZZED, Target, open_target, try_input
from bench._fuzz_mutants import make_mutants
from bench._fuzz_pumps import all_attacks, pump_input
from bench._fuzz_tools import TOOLS, arguments_of, run_server, target_of
from bench._pump import Attack
from bench._shared import MarkdownTable, save_result

MUTANTS = 6
PUMPED = 3
"""Of each drawn input."""

LINES = 40
LINE_CHARS = 300
"""Of a defect, what is printed; its input stands whole in the file of results."""


def examine(
    inputs: st.SearchStrategy[Any], target: Target, examples: int, number: int, tried: Sequence[Attack]
) -> dict[str, Any]:
    """Give a target so many inputs or a few more; return how many, in what time, and the defect that was found."""
    given_inputs = 0
    slowest = 0.0

    @seed(number)
    @given(inputs, st.integers(0, 2**32))
    @settings(
        max_examples=-(-examples // (1 + MUTANTS + PUMPED)),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    def some(drawn: Any, number: int) -> None:
        nonlocal given_inputs, slowest
        hard = (pump_input(drawn, number + place, tried) for place in range(PUMPED))
        for value in (drawn, *make_mutants(drawn, number, MUTANTS), *hard):
            given_inputs += 1
            started = time.process_time()
            try:
                try_input(target, value)
            except BaseException as error:
                error.add_note(f"given: {value!r}")
                raise
            finally:
                slowest = max(slowest, time.process_time() - started)

    started = time.perf_counter()
    defect = None
    try:
        some()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        # What was given stands whole in a note.
        defect = "".join(traceback.format_exception(error, limit=-4))
    seconds = round(time.perf_counter() - started, 1)
    return {"inputs": given_inputs, "seconds": seconds, "slowest_ms": round(1_000 * slowest, 1), "defect": defect}


def run(names: list[str], examples: int, number: int) -> dict[str, dict[str, Any]]:
    """Examine the named targets and tools, `tools` for all of these; tell on stderr what came of each."""
    answer: dict[str, dict[str, Any]] = {}
    tried = all_attacks()

    def note(name: str, row: dict[str, Any]) -> None:
        answer[name] = row
        print(f"{name}: {row['inputs']} in {row['seconds']} s", _short(row["defect"]), file=sys.stderr, flush=True)

    for name in names:
        if name in FUZZED:
            with open_target(FUZZED[name]) as target:
                note(name, examine(FUZZED[name].inputs, target, examples, number, tried))
    tools = [tool for tool in TOOLS if tool in names or "tools" in names]
    if tools:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, run_server(Path(folder)) as call:
            for tool in tools:
                note(f"tool {tool}", examine(arguments_of(tool), target_of(call, tool), examples, number, tried))
    return answer


def _short(defect: str | None) -> str:
    return "\n".join(line[:LINE_CHARS] for line in (defect or "").splitlines()[-LINES:])


def main() -> None:
    """Examine, print and judge."""
    parser = argparse.ArgumentParser(prog="python -m bench fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--only", default=",".join([*FUZZED, "tools"]))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # The server tells of each refusal; to write that takes longer than the call.
    logging.disable(logging.INFO)
    names = options.only.split(",")
    if unknown := sorted(set(names) - {*FUZZED, *TOOLS, "tools"}):
        parser.error(f"unknown targets {', '.join(unknown)}: use {', '.join([*FUZZED, *TOOLS, 'tools'])}")
    answer = run(names, options.examples, options.seed)
    if options.json:
        print(json.dumps(answer, indent=2))
    else:
        table = MarkdownTable("target", "inputs", "seconds", "slowest, ms", "defect")
        for name, row in answer.items():
            table.add(name, row["inputs"], row["seconds"], row["slowest_ms"], "YES" if row["defect"] else "none")
        table.print()
        for name, row in answer.items():
            if row["defect"]:
                print(f"\n{name}:\n{_short(row['defect'])}")
    save_result("fuzz", {"options": vars(options), "targets": answer})
    sys.exit(any(row["defect"] for row in answer.values()))


if __name__ == "__main__":
    main()
