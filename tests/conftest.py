"""Fixtures that every test may ask for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from tests.support import SLOW_IS_FINE, USUAL_EXAMPLES, FakeClock, FakeEncoder
from tests.working_tree import WorkingTree

# Days are those of the machine's time zone: tests stand in UTC, wherever they run.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# Two runs of the suite do the same. `make fuzz` draws anew, and thirty times as much.
hypothesis_settings.register_profile(
    "same", max_examples=USUAL_EXAMPLES, deadline=None, derandomize=True, suppress_health_check=SLOW_IS_FINE
)
hypothesis_settings.register_profile(
    "long",
    max_examples=30 * USUAL_EXAMPLES,
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=SLOW_IS_FINE,
)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture
def stand_in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return what moves this process to a time zone (`PST8`, `JST-9`), for one test."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system does not let a process choose its time zone")

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    move("UTC")


@pytest.fixture(autouse=True)
def closes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server in the test's own process close, however busy the machine is.

    Its limit is for a process that ends, and whose threads end with it; here they would answer to a loop that has gone.
    """
    monkeypatch.setattr("hyperloci.app.CLOSE_SECONDS", 100.0)


@pytest.fixture(autouse=True)
def takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what runs in the test's own process take longer than a person would wait, on a machine that is busy.

    What these limits do has tests that set them.
    """
    monkeypatch.setattr("hyperloci.memory.SHARED_SECONDS", 100.0)
    monkeypatch.setattr("hyperloci.project.author_lookup.LOOKUP_SECONDS", 100.0)
    defaults = identify_project.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "git_timeout", 100.0)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still until it is moved."""
    return FakeClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that touch nothing outside the test's own folder."""
    return Settings(
        database=tmp_path / "memory.db",
        state_dir=tmp_path / "state",
        runtime_dir=tmp_path / "run",
        embedder=False,
        watch=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder."""
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project."""
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def memory(settings: Settings, project: Path, clock: FakeClock) -> Iterator[Memory]:
    """The memory of `project`, empty."""
    with Memory.open(settings, project, clock=clock) as opened:
        yield opened


@pytest.fixture
def store(settings: Settings, clock: FakeClock) -> Iterator[Store]:
    """An open, empty database on a real file."""
    with Store.open(settings.database, backup_dir=settings.backup_dir, clock=clock) as opened:
        yield opened


@pytest.fixture
def encoder() -> FakeEncoder:
    """An encoder without a model."""
    return FakeEncoder()


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """An empty project folder."""
    return WorkingTree(tmp_path / "project")
