"""The process dies anywhere in a demotion or while it archives: nothing is lost, and the next run goes on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.pyramid.chunk_expansion import expand_chunk
from hyperloci.model.pyramid import ChunkStage
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.store import Store
from hyperloci.store.integrity import check_integrity, count_violations
from tests.conversations.pyramid.conftest import Talk
from tests.support import FakeClock

KILLS = int(os.environ.get("HYPERLOCI_TEST_KILLS", "6"))
"""The long run asks for 200."""

SEED = 15
"""Of the moments at which the process dies."""

TURNS = 130
WORK_SECONDS = 0.6
"""About what the whole work takes on a quiet machine; a run that is done before it is killed counts as well."""

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on this system")


def killed_after(folder: Path, seconds: float) -> bool:
    """Build in another process and kill it so long after it began; return whether it died of that."""
    program = [sys.executable, str(Path(__file__).with_name("killed_worker.py")), str(folder)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "begins\n"
        timer = threading.Timer(seconds, worker.kill)
        timer.start()
        worker.wait()
        timer.cancel()
    assert worker.returncode in (0, -signal.SIGKILL)
    return worker.returncode != 0


@pytest.fixture
def conversation(tmp_path: Path, clock: FakeClock) -> Iterator[Path]:
    """A folder with a database of turns that are in no chunk yet."""
    folder = tmp_path / "start"
    settings = Settings(database=folder / "memory.db", state_dir=folder, runtime_dir=folder, embedder=False)
    with Store.open(settings.database, clock=clock) as store:
        Talk(store, settings, clock).say(TURNS)
    yield folder


@pytest.mark.timeout(1_200)
@pytest.mark.req("C.01", "C.07")
def test_no_turn_is_lost_however_often_the_process_dies(conversation: Path, tmp_path: Path, clock: FakeClock) -> None:
    chance = random.Random(SEED)
    settings = Settings(database=tmp_path / "x.db", state_dir=tmp_path, runtime_dir=tmp_path, embedder=False)
    with Store.open(conversation / "memory.db", clock=clock) as store:
        said = Talk(store, settings, clock).texts()
    died, round = 0, 0
    while died < KILLS:
        folder = tmp_path / f"round-{round}"
        shutil.copytree(conversation, folder)
        round += 1
        while killed_after(folder, chance.uniform(0, WORK_SECONDS)) and died < KILLS:
            died += 1
            with Store.open(folder / "memory.db", clock=clock) as store:
                assert Talk(store, settings, clock).texts() == said, died
                assert count_violations(store) == {} and check_integrity(store) == [], died
        with Store.open(folder / "memory.db", clock=clock) as store:
            talk = Talk(store, settings, clock)
            talk.build()
            assert talk.texts() == said, died
            assert talk.shape(PyramidLevel.MACRO) == [(0, 99, "cold")]
            assert [chunk.stage for chunk in talk.chunks(PyramidLevel.MICRO)][:10] == [ChunkStage.COLD] * 10
            assert all(
                turn.whole for chunk in store.chunks.list_of_session(1) for turn in expand_chunk(store, chunk.id).turns
            )
        shutil.rmtree(folder)
