"""What runs beside the tools: when there is any, and what it says of itself."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.services import EmbedderService, WatchService, make_services
from tests.embedder.helpers import wait_for

SOON = 60


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, embedder=True, watch=True, upkeep=False)


@pytest.mark.parametrize(
    ("embedder", "watch", "names"),
    [
        (True, True, ["hooks", "embedder_process", "watchers"]),
        (True, False, ["hooks", "embedder_process"]),
        (False, True, ["hooks", "watchers"]),
        (False, False, ["hooks"]),
    ],
)
def test_settings_decide_what_runs(
    settings: Settings, tmp_path: Path, embedder: bool, watch: bool, names: list[str]
) -> None:
    chosen = replace(settings, embedder=embedder, watch=watch)
    assert [companion.name for companion in make_services(chosen, tmp_path)] == names
    with_upkeep = make_services(replace(chosen, upkeep=True), tmp_path)
    assert [companion.name for companion in with_upkeep] == [*names, "upkeep"]


def test_what_was_not_started_can_be_asked_nudged_and_stopped(settings: Settings, tmp_path: Path) -> None:
    for companion in make_services(replace(settings, upkeep=True), tmp_path):
        companion.ensure_running()
        assert not companion.status().get("pid")
        assert not companion.status().get("running")
        companion.stop()


def test_where_no_socket_can_be_a_memory_works_by_words_and_says_why(settings: Settings, tmp_path: Path) -> None:
    deep = replace(settings, runtime_dir=tmp_path / ("d" * 100))
    with Memory.open(deep, tmp_path) as memory:
        memory.remember_fact("The deploy script needs --eager on Fridays.")
        assert len(memory.search("deploy script").results) == 1
    companion = EmbedderService(deep)
    companion.start()
    assert "HYPERLOCI_RUNTIME_DIR" in str(companion.status()["error"])
    companion.stop()


def test_an_embedder_that_cannot_be_had_says_why_and_complains_once(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    companion = EmbedderService(settings)
    with caplog.at_level(logging.WARNING):
        companion.start()
        companion.ensure_running()
    assert companion.status()["pid"] is None
    assert str(tmp_path / "run") in str(companion.status()["error"])
    assert len(caplog.records) == 1
    companion.stop()


def test_watchers_index_the_project_and_tell_when_something_changed(settings: Settings, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "guide.md").write_text("# Brewing\n\nWater for green tea has 75 degrees.\n")
    with Memory.open(settings, project):
        pass
    changes: list[int] = []
    companion = WatchService(replace(settings, embedder=False), project, lambda: changes.append(1))
    companion.start()
    try:
        deadline = time.monotonic() + SOON
        while not changes and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert companion.status()["running"] is True
    finally:
        companion.stop()
    assert changes
    with Memory.open(replace(settings, embedder=False), project) as memory:
        [hit] = memory.search("how warm is water for green tea").results
        assert hit.source.path == "guide.md"


@pytest.mark.req("B.16")
def test_what_hooks_left_in_the_spool_is_stored_when_a_server_starts_and_later(
    settings: Settings, tmp_path: Path
) -> None:
    from hyperloci.conversations.capture.records import RecordFactory
    from hyperloci.project.identity import identify_project
    from hyperloci_hooks.spool import save_record

    settings = replace(settings, embedder=False, watch=False)
    records = RecordFactory(identify_project(tmp_path), "session-1", now=1_800_000_000_000)
    first, second = (
        records.record_prompt("Which queue carries the mails?"),
        records.record_prompt("And who restarts it?"),
    )
    assert first is not None and second is not None
    (companion,) = make_services(settings, tmp_path)
    save_record(settings, first)
    companion.start()
    try:
        wait_for(lambda: companion.status()["stored"] == 1, seconds=60)
        wait_for(lambda: companion.status()["caught_up"] is True, seconds=60)
        save_record(settings, second)
        companion.ensure_running()
        wait_for(lambda: companion.status()["stored"] == 2, seconds=60)
    finally:
        companion.stop()

    assert companion.status()["error"] is None
    with Memory.open(settings, tmp_path) as memory:
        assert memory.search("queue mails", content_type="conversation").results
        assert memory.search("restarts", content_type="conversation").results
