"""The meeting place is private, and each end makes sure of the other."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.embedder import protocol
from hyperloci.embedder.transport import (
    LOOPBACK,
    UNIX,
    admit_visitor,
    connect_to_embedder,
    find_address_fault,
    find_embedder_address,
    listen_for_sessions,
    make_private_folder,
)
from hyperloci.errors import ConfigurationError, EmbedderError, NotReadyError
from tests.embedder.helpers import SOON

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


def soon() -> float:
    return protocol.deadline_after(SOON)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@contextmanager
def attended(listener: socket.socket, secret: bytes) -> Iterator[list[bool]]:
    """Attend to one visitor meanwhile; afterwards the list tells whether it was admitted."""
    admitted: list[bool] = []

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            admitted.append(admit_visitor(connection, secret, deadline=soon()))

    attendant = threading.Thread(target=answer)
    attendant.start()
    try:
        yield admitted
    finally:
        attendant.join()
        listener.close()


def visit(settings: Settings, transport: str) -> tuple[bool, socket.socket | None]:
    """Listen and connect; return whether the visitor was admitted, and its connection."""
    place = find_embedder_address(settings, transport)
    with attended(*listen_for_sessions(place)) as admitted:
        return_to = connect_to_embedder(place, deadline=soon())
    return admitted[0], return_to


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_a_visitor_of_the_same_user_is_admitted(settings: Settings, transport: str) -> None:
    admitted, connection = visit(settings, transport)
    assert admitted and connection is not None
    connection.close()


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_folder_and_address_are_open_to_nobody_else(settings: Settings, transport: str) -> None:
    place = find_embedder_address(settings, transport)
    listener, _ = listen_for_sessions(place)
    listener.close()
    assert (mode(place.folder), mode(place.path)) == (0o700, 0o600)


def test_a_folder_left_open_is_closed(settings: Settings) -> None:
    settings.runtime_dir.mkdir(mode=0o755)
    make_private_folder(settings.runtime_dir)
    assert mode(settings.runtime_dir) == 0o700


def test_a_folder_of_other_files_that_is_open_to_others_is_refused_and_stays_as_it_is(settings: Settings) -> None:
    settings.runtime_dir.mkdir(mode=0o755)
    (settings.runtime_dir / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="HYPERLOCI_RUNTIME_DIR"):
        make_private_folder(settings.runtime_dir)
    place = find_embedder_address(settings, UNIX)
    assert "open to others" in (find_address_fault(place) or "")
    with pytest.raises(ConfigurationError, match="open to others"):
        connect_to_embedder(place, deadline=soon())
    assert mode(settings.runtime_dir) == 0o755
    settings.runtime_dir.chmod(0o700)
    make_private_folder(settings.runtime_dir)


def test_a_link_in_place_of_the_folder_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.runtime_dir.symlink_to(tmp_path)
    with pytest.raises(ConfigurationError, match="is a link"):
        make_private_folder(settings.runtime_dir)


def test_a_file_in_place_of_the_folder_is_refused(settings: Settings) -> None:
    settings.runtime_dir.write_text("")
    with pytest.raises(ConfigurationError, match="cannot be created"):
        make_private_folder(settings.runtime_dir)


@needs_root
def test_a_folder_of_another_user_is_refused_at_both_ends(settings: Settings) -> None:
    place = find_embedder_address(settings)
    listener, _ = listen_for_sessions(place)
    os.chown(place.folder, 65_534, 65_534)
    with listener, pytest.raises(ConfigurationError, match="belongs to user 65534"):
        connect_to_embedder(place, deadline=soon())
    with pytest.raises(ConfigurationError, match="belongs to user 65534"):
        make_private_folder(place.folder)


@needs_root
def test_a_process_of_another_user_is_turned_away_even_if_it_reaches_the_socket(settings: Settings) -> None:
    place = find_embedder_address(settings)
    listener, secret = listen_for_sessions(place)
    for path in (place.folder.parent, place.folder, place.path):
        path.chmod(0o777)
    stranger = (
        "import os, socket, sys; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
        "s.connect(sys.argv[1]); s.recv(1)"
    )
    with listener, subprocess.Popen([sys.executable, "-c", stranger, str(place.path)]):
        connection, _ = listener.accept()
        with connection:
            assert not admit_visitor(connection, secret, deadline=soon())


def test_a_path_too_long_for_a_socket_is_refused_with_the_remedy(settings: Settings) -> None:
    deep = replace(settings, runtime_dir=settings.runtime_dir / ("d" * 100))
    place = find_embedder_address(deep, UNIX)
    with pytest.raises(ConfigurationError, match="HYPERLOCI_RUNTIME_DIR"):
        listen_for_sessions(place)
    with pytest.raises(ConfigurationError, match="HYPERLOCI_RUNTIME_DIR"):
        connect_to_embedder(place, deadline=soon())
    assert "HYPERLOCI_RUNTIME_DIR" in (find_address_fault(place) or "")
    assert find_address_fault(find_embedder_address(deep, LOOPBACK)) is None
    assert find_address_fault(find_embedder_address(settings)) is None
    assert not settings.runtime_dir.exists()


def test_models_devices_and_profiles_meet_at_places_of_their_own(settings: Settings) -> None:
    others = [
        settings,
        replace(settings, model="x"),
        replace(settings, profile="x"),
        replace(settings, profile="x", profiles={"x": {"e12": "m"}}),
        replace(settings, profile="x", profiles={"x": {"e13": "m"}}),
        replace(settings, device="cpu"),
    ]
    assert len({find_embedder_address(other).path for other in others}) == len(others)
    unused = {"x": {"e12": "m"}}
    assert find_embedder_address(replace(settings, log_level="DEBUG", profiles=unused)) == find_embedder_address(
        settings
    )


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_nobody_there_is_not_ready(settings: Settings, transport: str) -> None:
    with pytest.raises(NotReadyError, match="No embedder is running"):
        connect_to_embedder(find_embedder_address(settings, transport), deadline=soon())


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_what_a_dead_embedder_left_behind_is_no_embedder(settings: Settings, transport: str) -> None:
    place = find_embedder_address(settings, transport)
    listen_for_sessions(place)[0].close()
    with pytest.raises(NotReadyError):
        connect_to_embedder(place, deadline=soon())


@pytest.mark.parametrize("transport", [UNIX, LOOPBACK])
def test_a_new_listener_takes_the_address_over(settings: Settings, transport: str) -> None:
    listen_for_sessions(find_embedder_address(settings, transport))[0].close()
    admitted, connection = visit(settings, transport)
    assert admitted and connection is not None
    connection.close()


def test_a_full_backlog_is_not_waited_for(settings: Settings) -> None:
    place = find_embedder_address(settings)
    listener, _ = listen_for_sessions(place)
    waiting: list[socket.socket] = []
    with listener, pytest.raises(NotReadyError, match="cannot be reached"):
        while True:
            waiting.append(connect_to_embedder(place, deadline=soon()))
    for connection in waiting:
        connection.close()


def test_a_visitor_without_the_secret_is_turned_away_and_so_is_the_stranger_it_met(settings: Settings) -> None:
    place = find_embedder_address(settings, LOOPBACK)
    listener, secret = listen_for_sessions(place)
    note = json.loads(place.path.read_text())
    place.path.write_text(json.dumps({**note, "secret": "00" * 32}))
    with attended(listener, secret) as admitted, pytest.raises(EmbedderError, match="belongs to another program"):
        connect_to_embedder(place, deadline=soon())
    assert admitted == [False]


@pytest.mark.parametrize("note", ["", "{}", "[]", '{"port": "x", "secret": ""}', '{"port": 1, "secret": "zz"}'])
def test_a_damaged_note_is_no_embedder(settings: Settings, note: str) -> None:
    place = find_embedder_address(settings, LOOPBACK)
    make_private_folder(place.folder)
    place.path.write_text(note)
    with pytest.raises(NotReadyError):
        connect_to_embedder(place, deadline=soon())
