"""Inputs that nobody would send, in numbers: does anything crash, hang, or answer with a traceback?

    python -m bench fuzz [--examples 100000] [--only markdown,code,tools] [--seed 0] [--json]

Every parser, every hook and every tool gets so many inputs made by hypothesis. A target may refuse an input with an
error of ours; any other exception, and more than two seconds of processor time, is a defect, which is shown with the
smallest input that has it. Tools get a tenth as many: a call goes through the whole server.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench._fuzz import FUZZED, Target, attempt, opened
from bench._fuzz_tools import TOOLS, arguments_of, server, target_of
from bench._shared import Table, save_result

TOOLS_SHARE = 0.1


def examine(inputs: st.SearchStrategy[Any], target: Target, examples: int, number: int) -> dict[str, Any]:
    """Give a target so many inputs; return how many it got, in what time, and the defect that was found."""
    given_inputs = 0
    slowest = 0.0

    @seed(number)
    @given(inputs)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    def one(value: Any) -> None:
        nonlocal given_inputs, slowest
        given_inputs += 1
        started = time.thread_time()
        try:
            attempt(target, value)
        finally:
            slowest = max(slowest, time.thread_time() - started)

    started = time.perf_counter()
    defect = None
    try:
        one()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        notes = "\n".join(getattr(error, "__notes__", ()))
        told = "".join(traceback.format_exception(error, limit=-4)) + notes
        defect = "\n".join(line[:300] for line in told.splitlines()[-40:])
    seconds = round(time.perf_counter() - started, 1)
    return {"inputs": given_inputs, "seconds": seconds, "slowest_ms": round(1_000 * slowest, 1), "defect": defect}


def run(names: list[str], examples: int, number: int) -> dict[str, dict[str, Any]]:
    """Examine the named targets, `tools` for all tools; tell on stderr what came of each."""
    answer: dict[str, dict[str, Any]] = {}

    def note(name: str, row: dict[str, Any]) -> None:
        answer[name] = row
        print(f"{name}: {row['inputs']} in {row['seconds']} s", row["defect"] or "", file=sys.stderr, flush=True)

    for name in names:
        if name in FUZZED:
            with opened(FUZZED[name]) as target:
                note(name, examine(FUZZED[name].inputs, target, examples, number))
    if "tools" in names:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, server(Path(folder)) as call:
            for tool in TOOLS:
                count = max(1, int(TOOLS_SHARE * examples))
                note(f"tool {tool}", examine(arguments_of(tool), target_of(call, tool), count, number))
    return answer


def main() -> None:
    """Examine, print and judge."""
    parser = argparse.ArgumentParser(prog="python -m bench fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--only", default=",".join([*FUZZED, "tools"]))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    answer = run(options.only.split(","), options.examples, options.seed)
    if options.json:
        print(json.dumps(answer, indent=2))
    else:
        table = Table("target", "inputs", "seconds", "slowest, ms", "defect")
        for name, row in answer.items():
            table.add(name, row["inputs"], row["seconds"], row["slowest_ms"], "YES" if row["defect"] else "none")
        table.print()
        for name, row in answer.items():
            if row["defect"]:
                print(f"\n{name}:\n{row['defect']}")
    save_result("fuzz", {"options": vars(options), "targets": answer})
    sys.exit(any(row["defect"] for row in answer.values()))


if __name__ == "__main__":
    main()
