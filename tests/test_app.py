"""The server's process: what it loads and when, what runs beside the tools, where it logs."""

from __future__ import annotations

import importlib.metadata
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from hyperloci.app import TRIED_SDK, _spare_unused_libraries, build_server
from hyperloci.config import Settings
from hyperloci.errors import NotReadyError
from hyperloci.log_file import configure_logging
from hyperloci.memory import Memory
from hyperloci.worker import CLOSING, make_memory_opener

SOON = 60

HEAVY = (
    *("torch", "transformers", "sentence_transformers", "sklearn", "numpy", "tree_sitter", "watchdog", "typer"),
    *("hyperloci.store", "hyperloci.memory", "hyperloci.model.answers", "hyperloci.model.search"),
)
"""What is never loaded before the client is answered; the first four never at all."""


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root, sdk = logging.getLogger(), logging.getLogger("mcp")
    handlers, level, sdk_level = root.handlers[:], root.level, sdk.level
    yield root
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    sdk.setLevel(sdk_level)


class FakeService:
    """A companion that notes what is asked of it."""

    name = "companion"

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.asked: list[str] = []

    def start(self) -> None:
        self.asked.append("start")
        if self.fault is not None:
            raise self.fault

    def ensure_running(self) -> None:
        self.asked.append("nudge")

    def stop(self) -> None:
        self.asked.append("stop")

    def status(self) -> Mapping[str, Any]:
        return {"running": self.fault is None and "start" in self.asked}


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(SOON):
        while not condition():
            await anyio.lowlevel.checkpoint()


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return {name for name in HEAVY if name in done.stdout.split()}


def test_building_the_server_loads_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from hyperloci.app import build_server
from hyperloci.config import Settings
home = Path({str(tmp_path)!r})
build_server(Settings(database=home / "m.db", state_dir=home, runtime_dir=home, tools="all"), home)
assert not (home / "m.db").exists()
"""
    assert loaded_by(code) == set()


def test_the_process_module_itself_loads_not_even_the_sdk() -> None:
    script = "import sys, hyperloci.app; print('mcp' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]


def test_a_session_over_stdio_loads_no_library_that_only_other_uses_of_the_sdk_need(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
import anyio
from hyperloci.app import OTHER_USES, serve_stdio_session
from hyperloci.config import Settings
home = Path({str(tmp_path)!r})
anyio.run = lambda *arguments: print(
    *{{*OTHER_USES, "uvicorn", "click", "rich", "mcp.client.client"}}.intersection(sys.modules),
    *(name for name, module in list(sys.modules.items()) for value in vars(module).values() if is_stand_in(value)),
)
def is_stand_in(value):
    return type(value).__name__ == "_StandInType" and value.__module__ != "hyperloci.system.late_libraries"
serve_stdio_session(Settings(database=home / "m.db", state_dir=home, runtime_dir=home), home)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    of_sdk = ("request_state", "transport_security", "lowlevel.server", "mcpserver.server")
    assert set(done.stdout.split()) == {f"mcp.server.{name}" for name in of_sdk}


def test_an_sdk_that_was_not_tried_loads_all_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.4.0")
    finders = list(sys.meta_path)
    with _spare_unused_libraries():
        assert sys.meta_path == finders
    monkeypatch.setattr(importlib.metadata, "version", lambda name: TRIED_SDK + "1")
    with _spare_unused_libraries():
        assert sys.meta_path != finders


@pytest.mark.anyio
async def test_the_memory_is_opened_after_the_handshake_without_being_asked(settings: Settings, tmp_path: Path) -> None:
    opened: list[Memory] = []
    opener = make_memory_opener(settings, tmp_path)

    def counted() -> Memory:
        opened.append(opener())
        return opened[-1]

    server = build_server(settings, tmp_path, open_memory=counted)
    async with Client(server, mode="legacy"):
        await until(lambda: len(opened) == 1)


@pytest.mark.anyio
async def test_companions_start_after_the_handshake_and_stop_with_the_server(
    settings: Settings, tmp_path: Path
) -> None:
    companion = FakeService()
    server = build_server(settings, tmp_path, companions=[companion])
    async with Client(server, mode="legacy") as client:
        await until(lambda: "start" in companion.asked)
        stats = await client.call_tool("memory_stats", {})
        assert stats.structured_content is not None
        assert stats.structured_content["companion"] == {"running": True}
        # A tool was called: it may have gone idle since it was started.
        await until(lambda: "nudge" in companion.asked)
    assert companion.asked == ["start", "nudge", "stop"]


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [OSError("no descriptors left"), ValueError("unplanned")])
async def test_a_companion_that_cannot_start_leaves_the_tools_alone(
    settings: Settings, tmp_path: Path, fault: Exception
) -> None:
    broken, sound = FakeService(fault), FakeService()
    server = build_server(settings, tmp_path, companions=[broken, sound])
    async with Client(server, mode="legacy") as client:
        await until(lambda: "start" in sound.asked)
        answer = await client.call_tool("search_memory", {"query": "anything"})
        assert not answer.is_error


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [OSError("no descriptors left"), ValueError("unplanned")])
async def test_a_memory_that_cannot_be_opened_at_first_leaves_the_server_running(
    settings: Settings, tmp_path: Path, fault: Exception
) -> None:
    tries: list[int] = []
    opener = make_memory_opener(settings, tmp_path)

    def second_time() -> Memory:
        tries.append(1)
        if len(tries) == 1:
            raise fault
        return opener()

    server = build_server(settings, tmp_path, open_memory=second_time)
    async with Client(server, mode="legacy") as client:
        await until(lambda: len(tries) == 1)
        answer = await client.call_tool("search_memory", {"query": "anything"})
        assert not answer.is_error


@pytest.mark.anyio
async def test_a_session_that_ends_while_the_memory_is_opened_is_no_reason_to_warn(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[int] = []

    def closing() -> Memory:
        tries.append(1)
        raise NotReadyError(CLOSING)

    companion = FakeService()
    server = build_server(settings, tmp_path, open_memory=closing, companions=[companion])
    async with Client(server, mode="legacy"):
        await until(lambda: bool(tries))
    assert caplog.records == []
    assert companion.asked == ["stop"]


@pytest.mark.usefixtures("root_logger")
def test_warnings_go_to_stderr_in_one_line_and_everything_to_the_file(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(settings)
    log = logging.getLogger("hyperloci.test")
    log.info("quiet")
    try:
        raise ValueError("the cause")
    except ValueError:
        log.exception("loud")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "hyperloci: ERROR: loud\n"
    written = settings.log_file.read_text(encoding="utf-8")
    assert "quiet" in written
    assert "ValueError: the cause" in written


@pytest.mark.usefixtures("root_logger")
def test_a_log_that_cannot_be_written_stops_nothing(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    configure_logging(settings)
    logging.getLogger("hyperloci.test").warning("still heard")
    assert capsys.readouterr().err == "hyperloci: WARNING: still heard\n"


@pytest.mark.usefixtures("root_logger")
def test_a_log_that_the_disk_no_longer_takes_costs_no_traceback_a_record(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(settings)
    settings.log_file.mkdir()  # Opened at the first record; a disk that became read-only fails there as well.
    logging.getLogger("hyperloci.test").warning("still heard")
    logging.getLogger("hyperloci.test").info("for the file alone")
    assert capsys.readouterr().err == "hyperloci: WARNING: still heard\n"


@pytest.mark.usefixtures("root_logger")
def test_a_log_level_may_be_in_lower_case(settings: Settings, root_logger: logging.Logger) -> None:
    from dataclasses import replace

    configure_logging(replace(settings, log_level="debug"))
    assert root_logger.level == logging.DEBUG


def test_a_secret_in_an_error_is_not_in_the_log(root_logger: logging.Logger, settings: Settings) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    configure_logging(settings)
    try:
        raise ValueError(f"cannot read https://{token}@github.com/o/r.git")
    except ValueError:
        root_logger.exception("reading %s failed", f"/srv/{token}.txt")
    for handler in root_logger.handlers:
        handler.flush()
    text = settings.log_file.read_text(encoding="utf-8")
    assert token not in text
    assert text.count("[redacted:github-token]") >= 2
