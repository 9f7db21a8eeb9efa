"""`python -m bench NAME ...` runs one benchmark; without a name, it lists them."""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path

from hyperloci.system.native_threads import limit_matrix_threads


def benchmark_names() -> list[str]:
    """Return the benchmarks there are."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main() -> None:
    """Run the benchmark named by the first argument."""
    if len(sys.argv) < 2 or sys.argv[1] not in benchmark_names():
        print("usage: python -m bench NAME [arguments]\nbenchmarks: " + ", ".join(benchmark_names()))
        sys.exit(2)
    name = sys.argv.pop(1)
    # Days are those of the machine's time zone, figures and trained weights everybody's.
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()
    # As in the product, and before numpy is loaded: threads of matrix products would wait for one another.
    limit_matrix_threads()
    runpy.run_module(f"bench.{name}", run_name="__main__", alter_sys=True)


main()
