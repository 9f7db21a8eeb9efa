"""Native threads: what numpy's matrix library may start, before it is loaded, and how many a model may use."""

from __future__ import annotations

import os
from typing import Final

MAX_MODEL_THREADS: Final = 8
"""More threads gain little for a model of this size and slow down everything else on the machine."""

_CGROUP_QUOTA: Final = "/sys/fs/cgroup/cpu.max"


def limit_matrix_threads() -> None:
    """Keep numpy's OpenBLAS to the calling thread.

    Its threads spin while they wait for each other. A question's matrices are small: on two busy cores it takes 20 ms
    with one thread and 330 with two.
    """
    os.putenv("OPENBLAS_NUM_THREADS", "1")  # Read by the library when it is loaded; Python code reads none of it.


def count_usable_cores() -> int:
    """Return how many cores this process may use: those of its affinity, less where a control group has a quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open(_CGROUP_QUOTA, encoding="ascii") as file:
            quota, period = file.read().split()[:2]
        return cores if quota == "max" else min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores
