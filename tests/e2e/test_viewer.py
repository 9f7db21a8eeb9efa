"""The installed `hyperloci view`, walked through as a browser would."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from hyperloci.viewer.access import HOST
from tests.e2e.conftest import SOON, House, running_command

STRANGER = """
import os, sys, urllib.error, urllib.request
"x".encode("idna")  # loaded while the interpreter's own files can still be read
os.setgid(65534)
os.setuid(65534)
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=9).status)
    except urllib.error.HTTPError as error:
        print(error.code)
"""
"""A program that becomes nobody and asks for addresses."""


@contextmanager
def viewing(house: House, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the viewer, and yield its process and the address that it prints."""
    with running_command(house, "view", *arguments) as started:
        yield started


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_walk_from_the_address_to_a_forgotten_memory_and_back(house: House) -> None:
    with house.memory() as memory:
        id = memory.remember_fact("The staging database listens on port 5432.").id
    with viewing(house, "--no-browser") as (process, entry):
        root = entry.partition("/enter")[0]
        origin = root.rpartition("/")[0]
        with httpx2.Client(timeout=SOON) as browser:
            assert browser.get(f"{root}/").status_code == 403
            assert browser.get(entry).status_code == 200
            assert "staging database" in browser.get(f"{root}/", params={"q": "staging port"}).text
            page = browser.get(f"{root}/memory/{id}").text
            key = re.findall(r'name="key" value="([^"]+)"', page)[0]
            gone = browser.post(
                f"{root}/forget/{id}", data={"key": key}, headers={"origin": origin}, follow_redirects=True
            )
            assert "It can be restored" in gone.text
        with httpx2.Client(timeout=SOON) as stranger:
            assert stranger.get(entry).status_code == 403
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 0
    with house.memory() as memory:
        assert "forgotten" in memory.get(id).notes


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_pressed_twice_ends_it_without_a_traceback(house: House) -> None:
    with viewing(house, "--no-browser") as (process, _):
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_it_listens_on_this_machine_alone(house: House) -> None:
    with viewing(house, "--no-browser") as (_, entry):
        port = int(re.findall(r":(\d+)/", entry)[0])
        assert entry.startswith(f"http://{HOST}:")
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            # The whole of 127.0.0.0/8 is this machine; what listens everywhere listens there too.
            other.connect(("127.0.0.2", port))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")
def test_a_process_of_another_user_sees_nothing(house: House) -> None:
    with viewing(house, "--no-browser") as (process, entry):
        root = entry.partition("/enter")[0]
        command_line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert root.encode() not in command_line
        origin, paths = root.rpartition("/")[0], ["/", f"{root}/", f"{root}/enter", f"{root}/enter?token=guess"]
        urls = [path if path.startswith("http") else f"{origin}{path}" for path in paths]
        told = subprocess.run(
            [sys.executable, "-c", STRANGER, *urls], capture_output=True, text=True, check=True, timeout=SOON
        )
        assert told.stdout.split() == ["404", "403", "403", "403"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_the_browser_is_led_there_by_a_file_of_this_user_alone(house: House, tmp_path: Path) -> None:
    told = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ncp -p "${{1#file://}}" {told}.draft && mv {told}.draft {told}\n', encoding="utf-8")
    browser.chmod(0o755)
    house.extra["BROWSER"] = f"{browser} %s"
    with viewing(house) as (process, entry):
        root = entry.partition("/enter")[0]
        with httpx2.Client(timeout=SOON) as client:
            client.get(entry).raise_for_status()
            client.get(f"{root}/").raise_for_status()
        assert entry.replace("&", "&amp;") in told.read_text("utf-8")
        assert stat.S_IMODE(told.stat().st_mode) == 0o600
        process.send_signal(signal.SIGINT)
        process.wait(SOON)
    assert list((house.root / "run").glob("view-*")) == []


def test_it_ends_when_nobody_looks(house: House) -> None:
    with viewing(house, "--no-browser", "--idle", "0.01") as (process, _):
        assert process.wait(SOON) == 0


def test_a_port_that_is_taken_is_said_in_words(house: House) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with viewing(house, "--no-browser", "--port", str(taken.getsockname()[1])) as (process, said):
            assert said == ""
            assert process.wait(SOON) == 1
            assert process.stderr is not None
            assert "choose another with --port" in process.stderr.read()
