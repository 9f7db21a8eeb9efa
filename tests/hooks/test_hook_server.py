"""What a server answers hooks, and when."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from pathlib import Path
from typing import cast

import pytest

from hyperloci.config import Settings
from hyperloci.errors import StoreBusyError
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureRecord
from hyperloci_hooks import client, consolidation_lane, hook_server
from hyperloci_hooks.hook_server import HookServer, HookVisitor
from hyperloci_hooks.spool import list_waiting_files
from tests.embedder.helpers import wait_for

SOON = 60
"""Seconds that anything here may take on a busy machine."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no sockets of this kind")


def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str], Settings]:
    """Return a project's folder, the environment of its hooks, and the settings under it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    environ = {
        "HOME": str(tmp_path),
        "RLM_MEMORY_DB": str(tmp_path / "memory.db"),
        "HYPERLOCI_EMBEDDER": "false",
        "HYPERLOCI_STATE_DIR": str(tmp_path / "state"),
        "HYPERLOCI_RUNTIME_DIR": str(tmp_path / "run"),
    }
    return project, environ, Settings.from_env(environ, project)


def make_stop(project: Path, environ: dict[str, str], session: str, event: str = "Stop") -> bytes:
    """Return the frame of the end of a turn, or of a session, whose transcript has one turn."""
    turn = {"type": "user", "message": {"role": "user", "content": f"We deploy in {session}"}, "uuid": session}
    transcript = project / f"{session}.jsonl"
    transcript.write_text(json.dumps(turn | {"sessionId": session}) + "\n", encoding="utf-8")
    told = {"session_id": session, "cwd": str(project), "transcript_path": str(transcript)}
    database = Settings.from_env(environ, project).installation_paths.database
    return client.pack_event(event, json.dumps(told).encode(), database, session, environ)


def test_hooks_are_let_go_once_their_records_wait_in_the_spool_where_a_transcript_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, environ, settings = make_project(tmp_path, monkeypatch)
    may_go_on, seen_to = threading.Event(), threading.Semaphore(0)
    keep = Memory.keep

    def keep_later(memory: Memory, record: CaptureRecord) -> int:
        assert may_go_on.wait(SOON)
        return keep(memory, record)

    monkeypatch.setattr(Memory, "keep", keep_later)
    monkeypatch.setattr(hook_server, "HANDOVER_SECONDS", 0.01)
    server = HookServer(settings, seen_to.release)
    server.open()
    try:
        where = settings.installation_paths
        for session in ("May", "June"):
            outcome, line = client.call_server(
                (where.runtime_dir, where.sockets), make_stop(project, environ, session), time.monotonic() + SOON
            )
            assert outcome == client.ANSWERED and line is not None and json.loads(line.answer) == {}
            line.close()
        assert len(list_waiting_files(settings.spool_dir)) == 2
        may_go_on.set()
        assert seen_to.acquire(timeout=SOON) and seen_to.acquire(timeout=SOON)
    finally:
        may_go_on.set()
        server.close()
    assert not list_waiting_files(settings.spool_dir)
    with Memory.open(settings, project) as memory:
        turns = {turn.content for turn in memory.store.nodes.query_nodes("experience")}
    assert turns == {"We deploy in May", "We deploy in June"}


def test_a_server_listens_anew_where_the_folder_of_its_socket_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, environ, settings = make_project(tmp_path, monkeypatch)
    where = settings.installation_paths
    server = HookServer(settings)
    server.open()
    try:
        shutil.rmtree(where.runtime_dir)
        assert not server.is_listening
        os.write(server._nudge, b".")
        wait_for(lambda: server.is_listening, SOON)
        outcome, line = client.call_server(
            (where.runtime_dir, where.sockets), make_stop(project, environ, "May"), time.monotonic() + SOON
        )
        assert outcome == client.ANSWERED and line is not None
        line.close()
    finally:
        server.close()
    wait_for(lambda: not list(Path(where.sockets).iterdir()), SOON)


def test_a_server_that_is_closed_while_it_listens_anew_leaves_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, settings = make_project(tmp_path, monkeypatch)
    where = settings.installation_paths
    server = HookServer(settings)
    server.open()
    make = server._make_listener

    def make_late() -> socket.socket:
        server.close()
        return make()

    monkeypatch.setattr(server, "_make_listener", make_late)
    os.unlink(server._address)
    os.write(server._nudge, b".")
    wait_for(lambda: all(thread.name != "hook-desk" for thread in threading.enumerate()), SOON)
    assert list(Path(where.sockets).iterdir()) == []


def test_turns_are_stored_while_those_before_them_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that reads them is waited for; the next prompt may come meanwhile, and must not stand before them."""
    project, environ, settings = make_project(tmp_path, monkeypatch)
    is_reading, may_go_on, read = threading.Event(), threading.Event(), list[str]()

    def read_slowly(memory: Memory, record: CaptureRecord) -> None:
        is_reading.set()
        assert may_go_on.wait(SOON)
        read.append(record.session_id)

    monkeypatch.setattr(Memory, "consolidate_record", read_slowly)
    monkeypatch.setattr(hook_server, "HANDOVER_SECONDS", SOON)
    monkeypatch.setattr(consolidation_lane, "CLOSE_SECONDS", SOON)
    server = HookServer(settings)
    server.open()

    def call(session: str, event: str = "Stop") -> None:
        where = settings.installation_paths
        frame = make_stop(project, environ, session, event)
        outcome, line = client.call_server((where.runtime_dir, where.sockets), frame, time.monotonic() + SOON)
        assert outcome == client.ANSWERED and line is not None
        line.close()

    try:
        call("May")
        assert is_reading.wait(SOON)
        for _ in range(3):
            call("June")
        assert not list_waiting_files(settings.spool_dir) and read == []
        with Memory.open(settings, project) as memory:
            turns = {turn.content for turn in memory.store.nodes.query_nodes("experience")}
        assert turns == {"We deploy in May", "We deploy in June"}
        call("June", "SessionEnd")
        assert read == []
    finally:
        may_go_on.set()
        server.close()
    assert read == ["May", "June", "June"], "of a session's waiting ends of turns the last one, and its own end"


def test_what_can_not_be_read_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, environ, settings = make_project(tmp_path, monkeypatch)
    errors = iter([StoreBusyError("busy"), ZeroDivisionError()])

    def fail(memory: Memory, record: CaptureRecord) -> None:
        if (error := next(errors, None)) is not None:
            raise error

    monkeypatch.setattr(Memory, "consolidate_record", fail)
    server = HookServer(settings)
    server.open()
    try:
        where = settings.installation_paths
        for session in ("May", "June", "July"):
            frame = make_stop(project, environ, session, "SessionEnd")
            outcome, line = client.call_server((where.runtime_dir, where.sockets), frame, time.monotonic() + SOON)
            assert outcome == client.ANSWERED and line is not None
            line.close()
    finally:
        server.close()
    assert next(errors, None) is None


class TwoAnswers:
    """A hook's end of a connection through which a second thread answers while the first one does."""

    def __init__(self) -> None:
        self.sent = b""
        self.is_closed = False
        self.visitor: HookVisitor | None = None

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def sendall(self, answer: bytes) -> None:
        assert not self.is_closed
        if self.visitor is not None:
            other = threading.Thread(target=self.visitor.send_answer, args=(b"A{}",))
            self.visitor = None
            other.start()
            other.join()
        self.sent += answer

    def close(self) -> None:
        self.is_closed = True


def test_a_hook_gets_one_answer_where_its_record_is_saved_ahead_just_as_it_is_stored() -> None:
    line = TwoAnswers()
    visitor = line.visitor = HookVisitor(cast(socket.socket, line))

    visitor.send_answer(b'A{"systemMessage": "stored"}')

    assert line.sent == b'A{"systemMessage": "stored"}\n'


def test_a_hook_takes_the_first_of_two_answers() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b'TA{"first": 1}\nA{"second": 2}\n')
        line = client.ServerConnection(ours, b"")

        assert line.wait_for_answer(time.monotonic() + 5) == client.ANSWERED
        assert line.answer == b'{"first": 1}\n'
