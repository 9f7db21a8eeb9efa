"""Every writing system call of every use of the store fails: nothing acknowledged goes, nothing stays by halves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

USES = (
    "remember", "checkpoint", "reopen", "create", "back_up", "schedule", "restore", "export", "take_in",
    "spool", "index", "embed",
)  # fmt: skip

FAULTS = [("EIO", "once"), ("ENOSPC", "always")]
"""A sector that can't be written, and a disk that is full from then on."""


STRIDE = 7
"""In every run each seventh call; all of them with 1, which takes minutes."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build what makes system calls fail."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    built = tmp_path_factory.mktemp("faulty") / "faulty.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", built, HERE / "faulty_calls.c", "-ldl"], check=True)
    return built


@pytest.mark.req("SPEC-02.04")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("error", "how"), FAULTS)
@pytest.mark.parametrize("use", USES)
def test_whichever_call_fails_nothing_acknowledged_goes(
    library: Path, tmp_path: Path, use: str, error: str, how: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.database.faulty_run", str(tmp_path), use, error, how, str(STRIDE)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 0, "no call was made to fail"
