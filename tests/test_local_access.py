"""Files that a project keeps out of its memory, and files that lie outside of it: not a word of either gets in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.memory import Memory
from hyperloci_tools.server import TOOL_SPECS

KEPT_OUT = "zqxkeptout"
LET_IN = "zqxletin"


def house(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path / "home"),
        "RLM_MEMORY_DB": str(tmp_path / "memory.db"),
        "HYPERLOCI_RUNTIME_DIR": str(tmp_path / "run"),
        "HYPERLOCI_EMBEDDER": "0",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "letters").mkdir(parents=True)
    (folder / "notes.md").write_text(f"# Notes\n\nThe {LET_IN} is blue.\n")
    (folder / "letters" / "to-ada.md").write_text(f"# Dear Ada\n\nThe {KEPT_OUT} is red.\n")
    (folder / "draft.md").write_text(f"# Draft\n\nThe {KEPT_OUT} is green.\n")
    return folder


def written(tmp_path: Path) -> bytes:
    return b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*")).lower()


def test_what_a_project_excludes_is_nowhere_in_the_database(tmp_path: Path, project: Path) -> None:
    (project / ".hyperloci.toml").write_text('exclude = ["letters/", "draft.md"]\n')
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for arguments in (["add", "."], [*identity, "commit", "-qm", "Begin"]):
        subprocess.run(["git", "-C", str(project), *arguments], check=True)
    with Memory.open(Settings.from_env(house(tmp_path), project), project) as memory:
        memory.index_path()
        for path in ("letters", "letters/to-ada.md", "draft.md"):
            assert memory.index_path(path).files == 0
        assert memory.search(LET_IN).results
    assert LET_IN.encode() in written(tmp_path)
    assert KEPT_OUT.encode() not in written(tmp_path)


def test_a_file_that_is_excluded_later_is_not_found_any_more(tmp_path: Path, project: Path) -> None:
    with Memory.open(Settings.from_env(house(tmp_path), project), project) as memory:
        memory.index_path()
        assert len(memory.search(KEPT_OUT).results) == 2
    (project / ".hyperloci.toml").write_text('exclude = ["letters/", "draft.md"]\n')
    with Memory.open(Settings.from_env(house(tmp_path), project), project) as memory:
        memory.index_path()
        assert [hit for hit in memory.search(KEPT_OUT).results if KEPT_OUT in hit.content] == []


def test_nothing_outside_the_project_is_read_by_link_or_by_path(tmp_path: Path, project: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(f"# Secret\n\nThe {KEPT_OUT} is white.\n")
    for path in (project / "letters" / "to-ada.md", project / "draft.md"):
        path.unlink()
    os.symlink(outside, project / "folder")
    os.symlink(outside / "secret.md", project / "file.md")
    os.symlink("../outside/secret.md", project / "relative.md")
    os.symlink("loop.md", project / "loop.md")
    with Memory.open(Settings.from_env(house(tmp_path), project), project) as memory:
        memory.index_path()
        for named in (
            "../outside",
            "../outside/secret.md",
            "folder/../../outside/secret.md",
            str(outside / "secret.md"),
            "folder",
            "folder/secret.md",
            "file.md",
            "relative.md",
            "loop.md",
            "letters/../../outside/secret.md",
            "a\x00b",
            "~/secret.md",
            "file:///etc/passwd",
        ):
            try:
                report = memory.index_path(named)
            except HyperlociError as error:
                assert str(error).strip()
            else:
                assert report.files == 0, named
    assert KEPT_OUT.encode() not in written(tmp_path)


def test_no_tool_that_takes_a_path_reads_beyond_the_project() -> None:
    # They are few: a new one must be looked at, and then named here.
    taking = {
        offer.run.__name__: sorted({"path", "file"} & set(offer.build_tool().parameters.get("properties", {})))
        for offer in TOOL_SPECS
    }
    assert {name for name, arguments in taking.items() if arguments} <= {"index_path", "outline", "file_outline"}
