"""Real processes: started once, restarted after a crash, never left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.startup_config import StartupConfig
from hyperloci.embedder.supervisor import EmbedderSupervisor, SupervisionPolicy
from hyperloci.embedder.transport import LOOPBACK
from hyperloci.errors import ConfigurationError, EmbedderError, NotReadyError
from tests.embedder.conftest import ROOT
from tests.embedder.helpers import SOON, alive, command, hang, wait_for

QUICK = SupervisionPolicy(
    check_every=0.2, check_timeout=0.5, checks_missed=300, first_delay=0.01, longest_delay=0.05, crashes=3
)
"""Starts again at once, and waits for a child that a busy machine is slow to start: a look at it takes 0.2 s then."""

STRICT = replace(QUICK, checks_missed=2, stuck_after=0.1)
"""For a child that is up: one that has just been started would be killed for not being there yet."""


def owner_of(settings: Settings, policy: SupervisionPolicy = QUICK, stages: str = "stages") -> EmbedderSupervisor:
    return EmbedderSupervisor(settings, command=command(stages), policy=policy)


def started(owner: EmbedderSupervisor, client: EmbedderClient) -> int:
    """Wait until the owner's embedder answers; return its process id."""
    assert owner.ensure_running()
    assert client.wait_until_ready(SOON)
    status = client.status(SOON)
    assert status is not None and status.pid == owner.pid
    return status.pid


@contextmanager
def strictly(owner: EmbedderSupervisor) -> Iterator[None]:
    """Have an owner mind that its child hangs, until it has killed it; the next one starts in peace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "_policy", STRICT)
        yield


@pytest.mark.parametrize("transport", [None, LOOPBACK])
def test_an_embedder_is_started_serves_and_ends_with_its_owner(settings: Settings, transport: str | None) -> None:
    client = EmbedderClient(settings, transport=transport, insistent=True)
    with EmbedderSupervisor(settings, transport=transport, command=command()) as owner:
        with pytest.raises(NotReadyError):
            client.embed(["a"])
        pid = started(owner, client)
        assert client.embed(["a"], SOON).shape == (1, 8)
    assert not alive(pid)
    assert not client.is_ready(1)
    assert not owner.ensure_running()


def test_asking_again_starts_no_second_one(settings: Settings) -> None:
    with owner_of(settings) as owner:
        askers = [threading.Thread(target=owner.ensure_running) for _ in range(8)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        pid = started(owner, EmbedderClient(settings, insistent=True))
        assert owner.ensure_running()
        assert owner.pid == pid
        assert children(os.getpid()) == [pid]


def test_another_session_uses_the_one_that_runs_and_takes_over_when_its_owner_closes(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as second:
        with owner_of(settings) as first:
            pid = started(first, client)
            assert second.ensure_running()
            assert second.pid is None
        assert not alive(pid)
        assert started(second, client) != pid


def test_a_killed_embedder_is_an_error_at_once_and_is_started_again(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as owner:
        pid = started(owner, client)
        asked = time.monotonic()
        with pytest.raises(EmbedderError):
            client.embed(["die"], 500)
        assert time.monotonic() - asked < 100
        wait_for(lambda: (status := client.status()) and status.pid != pid)
        assert client.embed(["a"], SOON).shape == (1, 8)


def test_where_the_folder_of_its_socket_was_removed_the_next_one_gets_a_new_folder(settings: Settings) -> None:
    with owner_of(settings, replace(QUICK, longest_delay=600.0)) as owner:
        first = started(owner, EmbedderClient(settings, insistent=True))
        shutil.rmtree(settings.runtime_dir)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: owner._keeper is None)
        assert started(owner, EmbedderClient(settings, insistent=True)) != first


@pytest.mark.parametrize("transport", [None, LOOPBACK])
def test_an_embedder_whose_folder_was_removed_ends_though_another_session_has_one(
    settings: Settings, transport: str | None
) -> None:
    """It answers nobody any more, and the other's answers must not pass for its own."""
    client = EmbedderClient(settings, transport=transport, insistent=True)
    first, second = (
        EmbedderSupervisor(settings, transport=transport, command=command(), policy=QUICK) for _ in range(2)
    )
    with first, second:
        lost = started(first, client)
        shutil.rmtree(settings.runtime_dir)
        pid = started(second, client)
        wait_for(lambda: not alive(lost))
        wait_for(lambda: first._keeper is None)
        assert first.ensure_running() and first.pid is None
        status = client.status(SOON)
        assert status is not None and status.pid == pid


def test_a_hung_embedder_is_an_error_at_the_deadline_and_is_replaced(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as owner:
        pid = started(owner, client)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(EmbedderError, match="did not answer in time"):
            client.embed(["a"], 0.2)
        with strictly(owner):
            wait_for(lambda: not alive(pid))
        wait_for(lambda: client.status() is not None)


def test_a_stuck_model_is_replaced(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as owner:
        pid = started(owner, client)
        hang(client)
        with strictly(owner):
            wait_for(lambda: not alive(pid))
        wait_for(lambda: (status := client.status()) and status.pid != pid)


def test_an_embedder_that_keeps_crashing_is_given_up_for_a_while(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    policy = replace(QUICK, longest_delay=0.5)
    with owner_of(settings, policy, stages="fatal_stages") as owner:
        assert owner.ensure_running()
        wait_for(lambda: "ended 3 times in a row (status 3)" in caplog.text)
        wait_for(lambda: not owner.ensure_running())
        wait_for(owner.ensure_running)


def test_an_owner_that_gave_up_leaves_the_lock_to_others(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with owner_of(settings, stages="fatal_stages") as unlucky, owner_of(settings) as other:
        assert unlucky.ensure_running()
        wait_for(lambda: "ended 3 times in a row" in caplog.text)
        wait_for(lambda: other.ensure_running() and other.pid)
        started(other, EmbedderClient(settings, insistent=True))


def test_an_idle_embedder_ends_and_is_started_again_on_demand(settings: Settings) -> None:
    short = replace(settings, embedder_idle_seconds=1)
    client = EmbedderClient(short, insistent=True)
    with owner_of(short) as owner:
        # It may have gone idle again before it is asked anything.
        assert owner.ensure_running()
        wait_for(lambda: owner.pid)
        pid = owner.pid
        assert pid is not None
        wait_for(lambda: not alive(pid))
        wait_for(lambda: owner.pid is None)
        wait_for(lambda: owner.ensure_running() and client.is_ready(1))
        assert owner.pid != pid


def test_stopping_it_is_no_crash(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as owner:
        started(owner, client)
        wait_for(lambda: client.stop_embedder() or owner.pid is None)
        wait_for(lambda: owner.pid is None)
        assert not client.is_ready(1)
    assert "starting it again" not in caplog.text


def test_the_parents_own_database_is_drained_from_the_start(settings: Settings) -> None:
    settings.database.write_text("one\ntwo\n")
    with owner_of(settings) as owner:
        assert owner.ensure_running()
        wait_for(lambda: not settings.database.read_text())


def test_switched_off_means_none(settings: Settings) -> None:
    with owner_of(replace(settings, embedder=False)) as owner:
        assert not owner.ensure_running()
    assert not settings.runtime_dir.exists()


def test_a_runtime_folder_of_somebody_else_is_refused_with_the_remedy(settings: Settings, tmp_path: Path) -> None:
    settings.runtime_dir.symlink_to(tmp_path)
    with owner_of(settings) as owner, pytest.raises(ConfigurationError, match="HYPERLOCI_RUNTIME_DIR"):
        owner.ensure_running()


def test_modules_in_the_working_folder_are_not_imported(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('a project ran code in the embedder')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('a project ran code in the embedder')")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with owner_of(settings) as owner:
            started(owner, EmbedderClient(settings, insistent=True))
    finally:
        os.chdir(before)


def test_what_the_child_says_goes_to_the_log_file(settings: Settings, capfd: pytest.CaptureFixture[str]) -> None:
    with owner_of(settings) as owner:
        started(owner, EmbedderClient(settings, insistent=True))
    assert "obedient@0/8 ready on cpu" in settings.log_file.read_text()
    assert capfd.readouterr().out == ""


def test_an_embedder_runs_though_the_log_file_cannot_be_written(settings: Settings) -> None:
    settings.log_file.mkdir(parents=True)
    with owner_of(settings) as owner:
        started(owner, EmbedderClient(settings, insistent=True))


# -- no orphan, whatever happens to the parent ----------------------------------------------------------------------

PARENT = """
import sys, threading
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.embedder.startup_config import StartupConfig
from hyperloci.embedder.supervisor import EmbedderSupervisor
from tests.embedder.helpers import command

folder = Path(sys.argv[1])
settings = Settings(database=folder / "memory.db", state_dir=folder / "state", runtime_dir=folder / "run")
EmbedderSupervisor(settings, command=command()).ensure_running()
threading.Event().wait()
"""


@contextmanager
def session(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Run a session of its own that owns an embedder."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(settings.database.parent)], cwd=ROOT)
    try:
        yield parent
    finally:
        parent.kill()
        parent.wait()


def test_an_embedder_dies_with_a_parent_that_is_killed_and_the_next_session_starts_its_own(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with session(settings) as parent, owner_of(settings) as heir:
        assert client.wait_until_ready(SOON)
        status = client.status(SOON)
        assert status is not None and children(parent.pid) == [status.pid]
        assert heir.ensure_running() and heir.pid is None
        parent.kill()
        parent.wait()
        wait_for(lambda: not alive(status.pid))
        wait_for(lambda: heir.ensure_running() and heir.pid)
        started(heir, client)


def test_it_dies_with_its_parent_in_the_middle_of_a_batch_too(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with session(settings) as parent:
        assert client.wait_until_ready(SOON)
        pid = hang(client).pid
        parent.kill()
        parent.wait()
        wait_for(lambda: not alive(pid))


@contextmanager
def bare_child(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Start an embedder directly: this process lives on, so that nothing but the pipe can end the child."""
    settings.runtime_dir.mkdir(mode=0o700)
    child = subprocess.Popen(command(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=settings.runtime_dir)
    assert child.stdin is not None
    try:
        yield child
    finally:
        child.stdin.close()
        child.kill()
        child.wait()


def test_the_end_of_the_pipe_alone_ends_the_child(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with bare_child(settings) as child:
        assert child.stdin is not None
        child.stdin.write(StartupConfig(settings=settings).to_line())
        child.stdin.flush()
        assert client.wait_until_ready(SOON)
        hang(client)
        child.stdin.close()
        assert child.wait(SOON) == 0


def test_a_parent_that_dies_before_it_has_said_anything_leaves_no_child(settings: Settings) -> None:
    with bare_child(settings) as child:
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(SOON) == 0


@pytest.mark.parametrize("line", [b"{}\n", b"hello\n", b'{"settings": {"databse": 1}}\n'])
def test_what_is_no_handover_ends_the_child_with_an_error(settings: Settings, line: bytes) -> None:
    with bare_child(settings) as child:
        assert child.stdin is not None
        child.stdin.write(line)
        child.stdin.flush()
        assert child.wait(SOON) == 1


def test_a_child_of_the_session_does_not_keep_the_pipe_open(settings: Settings) -> None:
    client = EmbedderClient(settings, insistent=True)
    with owner_of(settings) as owner:
        pid = started(owner, client)
        bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
        owner.close()
        assert not alive(pid)
        assert bystander.poll() is None
        bystander.kill()
        bystander.communicate()


def test_settings_survive_the_handover(settings: Settings) -> None:
    full = replace(settings, exclude=("*.log", "ünïcode"), model="a/b", rrf_weight_graph=0.5)
    sent = StartupConfig(settings=full, transport=LOOPBACK)
    line = sent.to_line()
    assert StartupConfig.from_line(line) == sent
    assert line.count(b"\n") == 1
    assert json.loads(line)["settings"]["exclude"] == ["*.log", "ünïcode"]


def children(pid: int) -> list[int]:
    """Return the embedder processes that are children of `pid`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            arguments = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid and b"tests.embedder.child" in arguments and alive(int(folder.name)):
            found.append(int(folder.name))
    return found
