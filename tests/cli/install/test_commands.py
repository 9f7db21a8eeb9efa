"""How the commands of an installation are started by another program."""

from __future__ import annotations

import json
import os
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from hyperloci import __version__
from hyperloci.cli.install import commands
from hyperloci.cli.install.commands import CommandLine, InstalledCommands, locate_commands
from hyperloci.cli.install.config_entries import hook_entries, with_hooks, without_hooks
from hyperloci.errors import ConfigurationError


def make_commands(folder: Path, suffix: str = "") -> Path:
    """Put the two commands into a folder, and return the Python beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("hyperloci", "hyperloci-hook"):
        (folder / f"{name}{suffix}").touch()
    return folder / "python"


@pytest.fixture
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put uvx and pipx on the PATH; return their folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("uvx", "pipx"):
        (folder / name).touch(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def told_origin(monkeypatch: pytest.MonkeyPatch, origin: dict[str, object] | None) -> None:
    """Have the program believe that it was installed from somewhere."""

    class Installed(Distribution):
        version = __version__

        def read_text(self, filename: str) -> str | None:
            return None if origin is None else json.dumps(origin)

        def locate_file(self, path: os.PathLike[str] | str) -> Path:
            raise NotImplementedError

    monkeypatch.setattr(commands, "distribution", lambda name: Installed())


@pytest.mark.parametrize(("windows", "suffix"), [(False, ""), (True, ".exe")])
def test_the_commands_beside_the_interpreter_are_found(tmp_path: Path, windows: bool, suffix: str) -> None:
    found = locate_commands(make_commands(tmp_path, suffix), windows=windows)
    paths = (str(tmp_path / f"{name}{suffix}") for name in ("hyperloci", "hyperloci-hook"))
    assert found == InstalledCommands(*map(CommandLine, paths))


def test_a_projects_entries_name_no_folder_of_this_machine(tmp_path: Path) -> None:
    found = locate_commands(make_commands(tmp_path), portable=True, windows=False)
    assert found == InstalledCommands(CommandLine("hyperloci"), CommandLine("hyperloci-hook"))


def test_missing_commands_say_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="uv tool install hyperloci"):
        locate_commands(tmp_path / "python")


def test_a_path_that_no_json_file_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not valid UTF-8"):
        locate_commands(make_commands(tmp_path / os.fsdecode(b"\xff")), windows=False)


@pytest.mark.parametrize(
    ("folder", "runner", "options"),
    [
        ("cache/uv/archive-v0/abc/bin", "uvx", ("--from",)),
        (".cache/pipx/1f2e/bin", "pipx", ("run", "--spec")),
        (".local/pipx/.cache/1f/bin", "pipx", ("run", "--spec")),
    ],
)
def test_what_runs_from_a_temporary_environment_is_run_so_again(
    tmp_path: Path, runners: Path, monkeypatch: pytest.MonkeyPatch, folder: str, runner: str, options: tuple[str, ...]
) -> None:
    told_origin(monkeypatch, None)
    python = make_commands(tmp_path / folder)
    first = (*options, f"hyperloci=={__version__}")

    found = locate_commands(python, windows=False)
    assert found.server == CommandLine(str(runners / runner), (*first, "hyperloci"))
    assert found.hook == CommandLine(str(runners / runner), (*first, "hyperloci-hook"))
    assert locate_commands(python, portable=True, windows=False).server.program == runner

    entries = hook_entries(found.hook.program, *found.hook.arguments)
    assert entries["Stop"][0]["hooks"][0]["args"][-2:] == ["hyperloci-hook", "Stop"]
    assert without_hooks(with_hooks({}, entries)) == {}
    foreign = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "uvx", "args": ["black"]}]}]}}
    assert without_hooks(foreign) == foreign


@pytest.mark.parametrize(
    ("origin", "requirement", "shared"),
    [
        ({"url": "file:///w/h.whl", "archive_info": {}}, "hyperloci @ file:///w/h.whl", f"hyperloci=={__version__}"),
        (
            {"url": "https://example.org/h.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}},
            "hyperloci @ git+https://example.org/h.git@1a2b",
            "hyperloci @ git+https://example.org/h.git@1a2b",
        ),
    ],
)
def test_what_was_run_from_a_file_or_a_repository_is_run_from_there_again(
    tmp_path: Path,
    runners: Path,
    monkeypatch: pytest.MonkeyPatch,
    origin: dict[str, object],
    requirement: str,
    shared: str,
) -> None:
    told_origin(monkeypatch, origin)
    python = make_commands(tmp_path / "archive-v0" / "abc" / "bin")

    assert locate_commands(python, windows=False).server.arguments == ("--from", requirement, "hyperloci")
    assert locate_commands(python, portable=True, windows=False).server.arguments[1] == shared


def test_a_temporary_environment_without_its_program_is_not_installed_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="uvx is not on the PATH: install Hyperloci"):
        locate_commands(make_commands(tmp_path / "archive-v0" / "abc" / "bin"), windows=False)
