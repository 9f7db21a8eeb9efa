"""Rules file: notes in a file that a client reads by itself, for clients that may drop what a hook answers."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Final

MARK: Final = "<!-- hyperloci: written anew as each session starts -->"

GIT_SECONDS: Final = 2.0

_HEAD: Final = "---\ndescription: Notes of the long-term memory (Hyperloci)\nalwaysApply: true\n---\n"


def write_rules(project: Path, name: str, notes: str) -> bool:
    """Put notes into a client's rules file, or remove ours where there are none; return whether it holds them.

    Neither Git nor other users must see it: where Git can't be kept from it, and where the file is somebody else's or
    one that Git tracks, nothing is written.

    Args:
        project: the folder that the client has open.
        name: the file's path in it.
        notes: for the assistant.

    Raises:
        OSError: it can't be written.
    """
    path = project / name
    if not notes.strip():
        remove_rules(project, name)
        return False
    if project.resolve() == Path.home().resolve() or not _is_ours_to_write(project, path):
        return False
    if not _hide_from_git(project, name):
        return False
    content = f"{_HEAD}{MARK}\n\n{notes.strip()}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True


def remove_rules(project: Path, name: str) -> bool:
    """Remove our rules file, the folders that this empties, and its line in Git's list; return whether it was there.

    Raises:
        OSError: it can't be removed.
    """
    path = project / name
    if not path.is_file() or not _is_ours_to_write(project, path):
        return False
    path.unlink()
    for folder in path.parents:
        if folder == project:
            break
        with contextlib.suppress(OSError):
            folder.rmdir()
    exclude = _find_exclude(project)
    if exclude is not None and exclude.is_file():
        before = exclude.read_bytes()
        lines = [line for line in before.splitlines(keepends=True) if line.rstrip(b"\r\n") != _pattern(name)]
        if b"".join(lines) != before:
            exclude.write_bytes(b"".join(lines))
    return True


def _is_ours_to_write(project: Path, path: Path) -> bool:
    """Whether a file is absent or ours, and neither it nor a folder on the way to it leads elsewhere.

    One that Git tracks is not ours, whatever it says: what is written there goes out with the next commit.
    """
    if any(
        (project / part).is_symlink() for part in (path, *path.parents) if part != project and project in part.parents
    ):
        return False
    try:
        is_ours = MARK in path.read_text("utf-8", "replace")
    except FileNotFoundError:
        is_ours = True
    return is_ours and not _is_tracked(project, path)


def _is_tracked(project: Path, path: Path) -> bool:
    """Whether Git tracks a file; also where Git is there and doesn't tell."""
    from hyperloci.project.git import neutral_command, neutral_environment
    from hyperloci.project.identity import identify_project

    place = identify_project(project)
    if place.common_dir is None:
        return False
    try:
        done = subprocess.run(
            neutral_command(
                "git", place.root, ["ls-files", "--error-unmatch", "--", f":(icase,literal){path.resolve()}"]
            ),
            env=neutral_environment(place.root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False  # nobody commits here
    return done.returncode != 1


def _pattern(name: str) -> bytes:
    return f"**/{name}".encode()


def _hide_from_git(project: Path, name: str) -> bool:
    """Put the file onto the list of what this clone ignores; False where that is impossible."""
    exclude = _find_exclude(project)
    if exclude is None:
        return True
    try:
        before = exclude.read_bytes() if exclude.is_file() else b""
        if _pattern(name) not in before.splitlines():
            exclude.parent.mkdir(exist_ok=True)
            gap = b"\n" if before and not before.endswith(b"\n") else b""
            with exclude.open("ab") as file:
                file.write(gap + _pattern(name) + b"\n")
    except OSError:
        return False
    return True


def _find_exclude(project: Path) -> Path | None:
    """Return the list of what the repository around a folder ignores here; None outside of repositories."""
    from hyperloci.project.identity import identify_project

    common = identify_project(project).common_dir
    return None if common is None else common / "info" / "exclude"
