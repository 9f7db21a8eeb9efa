"""Native threads: what numpy's matrix library may start. For the start of a process, before numpy is loaded."""

from __future__ import annotations

import os


def limit_matrix_threads() -> None:
    """Keep numpy's OpenBLAS to the calling thread.

    Its threads spin while they wait for each other. A question's matrices are small: on two busy cores it takes 20 ms
    with one thread and 330 with two.
    """
    os.putenv("OPENBLAS_NUM_THREADS", "1")  # Read by the library when it is loaded; Python code reads none of it.
