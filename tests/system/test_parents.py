"""Parents name the processes above this one, so that two children of one client find each other."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hyperloci.system.parents import NEAREST, list_parents

PRINT_PARENTS = "from hyperloci.system.parents import list_parents; print(*list_parents())"


def print_parents(*before: str) -> list[str]:
    done = subprocess.run([*before, sys.executable, "-c", PRINT_PARENTS], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_children_of_one_process_name_the_same_parent() -> None:
    first, second = print_parents(), print_parents()
    assert first[0] == second[0]
    assert first[0].partition(".")[0] == str(os.getpid())


def test_this_process_is_no_parent_of_its_own() -> None:
    found = list_parents()
    assert 0 < len(found) <= NEAREST
    assert str(os.getpid()) not in {parent.partition(".")[0] for parent in found}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux tells what is further up")
def test_a_shell_between_is_told_with_what_started_it() -> None:
    direct, below = print_parents(), print_parents("sh", "-c", '"$@"; true', "sh")
    assert below[1] == direct[0]
    assert below[0] not in direct
