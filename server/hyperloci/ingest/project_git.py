"""What Git keeps in plain files, read without starting Git: where a repository lies, its remotes, its branch.

A hook has a fifth of a second in all, and `git` takes milliseconds to start. Git's own formats are followed as far as
an identity needs them (gitrepository-layout, git-config; `include` in a configuration is not followed). Only the walk
to a first commit is left to Git itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""`packed-refs` of the largest public repositories has tens of megabytes; anything beyond is not what it says it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A place in a repository.

    Attributes:
        root: top of the working tree, or the repository itself where it has none.
        git_dir: this working tree's own Git folder (its HEAD is there).
        common_dir: what all working trees share (configuration, objects, branches).
    """

    root: Path
    git_dir: Path
    common_dir: Path


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out: `branch` is None when detached, `commit` when there is none yet."""

    branch: str | None
    commit: str | None


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What Git said, or why it said nothing."""

    value: str | None
    problem: str | None = None


class BrokenRepositoryError(Exception):
    """A `.git` that leads nowhere; the first argument is the folder it stands in, the second says what is wrong."""

    def __init__(self, root: Path, problem: str) -> None:
        super().__init__(problem)
        self.root = root


def find_repository(folder: Path, never: Collection[Path]) -> Repository | None:
    """Find the repository that a folder is in.

    Args:
        folder: a real path.
        never: folders above which, and in which, no repository is looked for, unless `folder` is one of them.

    Raises:
        BrokenRepositoryError: there is a `.git`, but what it names is missing or can't be read.
    """
    for place in (folder, *folder.parents):
        if place in never and place != folder:
            return None
        if found := open_repository(place):
            return found
    return None


def open_repository(folder: Path) -> Repository | None:
    """Return the repository whose top is `folder`, with or without a working tree.

    Raises:
        BrokenRepositoryError: as for `find_repository`.
    """
    marker = folder / ".git"
    if os.path.isfile(marker):
        return _linked(folder, marker)
    if os.path.isdir(marker):
        if _is_git_dir(marker):
            return _repository(folder, Path(os.path.realpath(marker)))
        if not os.access(marker, os.R_OK | os.X_OK):
            raise BrokenRepositoryError(folder, f"{marker} can't be read")
    # A folder in `.git` is looked at too, but `.git` itself belongs to the working tree around it.
    if folder.name != ".git" and _is_git_dir(folder):
        return _repository(folder, folder)
    return None


def read_remotes(common_dir: Path) -> dict[str, str]:
    """Return the address of each remote by its name.

    Raises:
        OSError: the configuration can't be read.
    """
    remotes: dict[str, str] = {}
    for section, subsection, name, value in _config_entries(_read(common_dir / "config")):
        if section == "remote" and subsection and name == "url" and value:
            # Of several addresses Git fetches from the first.
            remotes.setdefault(subsection, value)
    return remotes


def read_head(repository: Repository) -> Head:
    """Return what is checked out, as far as plain files say it."""
    text = _read_or_empty(repository.git_dir / "HEAD").strip()
    if not text.startswith("ref:"):
        return Head(None, text if _OBJECT.fullmatch(text) else None)
    reference = text.removeprefix("ref:").strip()
    # With the reftable format HEAD names a branch that can't exist, and the truth is in a binary file.
    branch = reference.removeprefix("refs/heads/")
    return Head(None, None) if branch == ".invalid" else Head(branch, _resolve(repository, reference))


def root_commit(root: Path, home: Path | None, timeout: float) -> GitAnswer:
    """Ask Git for the oldest commit without parents that HEAD descends from.

    `safe.directory` is respected: Git refuses in a stranger's folder, and then there is no answer.
    """
    import subprocess  # Hooks in a repository with a remote never get here, and the import takes milliseconds.

    command = ["git", "--no-pager", "-C", str(root), "rev-list", "--max-parents=0", "HEAD"]
    try:
        done = subprocess.run(
            command,
            env=_git_environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return GitAnswer(None, f"git took longer than {timeout:g} s to find the first commit")
    except OSError as error:
        return GitAnswer(None, f"git could not be started ({error.strerror or error})")
    if done.returncode != 0:
        return GitAnswer(None, f"git refused: {done.stderr.strip().partition(chr(10))[0]}")
    # Newest first: where histories were joined, the oldest root is the project's own.
    roots = done.stdout.split()
    return GitAnswer(roots[-1] if roots else None)


def is_shallow(common_dir: Path) -> bool:
    """Whether history was cut off: its first commits are then only where the cut happens to be."""
    return os.path.isfile(common_dir / "shallow")


_OBJECT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_OBJECT: Final = 64


def _linked(folder: Path, marker: Path) -> Repository:
    """Follow the `.git` file of a linked working tree, a submodule or a separate Git folder."""
    text = _read_or_empty(marker).strip()
    git_dir = Path(os.path.realpath(folder / text.removeprefix("gitdir:").strip()))
    if not text.startswith("gitdir:") or not _is_git_dir(git_dir):
        raise BrokenRepositoryError(folder, f"{marker} names no Git folder that is there")
    return _repository(folder, git_dir)


def _repository(root: Path, git_dir: Path) -> Repository:
    shared = _read_or_empty(git_dir / "commondir").strip()
    common_dir = Path(os.path.realpath(git_dir / shared)) if shared else git_dir
    return Repository(root=root, git_dir=git_dir, common_dir=common_dir)


def _is_git_dir(folder: Path) -> bool:
    return os.path.isfile(folder / "HEAD") and (
        os.path.isdir(folder / "objects") or os.path.isfile(folder / "commondir")
    )


def _resolve(repository: Repository, reference: str) -> str | None:
    if ".." in reference:
        return None
    for folder in (repository.git_dir, repository.common_dir):
        text = _read_or_empty(folder / reference).strip()
        if _OBJECT.fullmatch(text):
            return text
    return _packed(repository.common_dir / "packed-refs", reference)


def _packed(path: Path, reference: str) -> str | None:
    # Searched as bytes: of a hundred thousand lines one is wanted.
    content = _bytes_or_empty(path)
    end = content.find(b" " + os.fsencode(reference) + b"\n")
    line = content[max(0, end - _LONGEST_OBJECT) : max(0, end)].rpartition(b"\n")[2].decode("ascii", "replace")
    return line if _OBJECT.fullmatch(line) else None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES).decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _bytes_or_empty(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except (OSError, ValueError):
        return b""


def _read_or_empty(path: Path) -> str:
    return os.fsdecode(_bytes_or_empty(path))


_SECTION: Final = re.compile(r'\s*+\[\s*+([A-Za-z0-9.-]++)\s*+(?:"((?:[^"\\]|\\.)*+)"\s*+)?\]')
_ENTRY: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)", re.DOTALL)
_PIECE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"?|\\(.)|([#;].*)|([^"\\#;]+)', re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b"}


def _config_entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, subsection, name and value of each entry of a Git configuration; what isn't one is skipped."""
    section = subsection = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        if matched := _SECTION.match(line):
            section, subsection = matched[1].lower(), re.sub(r"\\(.)", r"\1", matched[2] or "")
            line = line[matched.end() :]  # An entry may stand on the same line.
        if entry := _ENTRY.match(line):
            yield section, subsection, entry[1].lower(), _config_value(entry[2])


def _config_value(text: str) -> str:
    value = ""
    for quoted, escaped, comment, plain in _PIECE.findall(text.strip()):
        if comment:
            break
        value += re.sub(r"\\(.)", _unescape, quoted) + _ESCAPES.get(escaped, escaped) + plain
    return value.strip()


def _unescape(matched: re.Match[str]) -> str:
    return _ESCAPES.get(matched[1], matched[1])


def _git_environment(home: Path | None) -> dict[str, str] | None:
    """Return a small environment for Git: a GIT_DIR left by a hook of Git's own would point it elsewhere."""
    if os.name != "posix":
        return None
    environment = {
        "PATH": os.pathsep.join(os.get_exec_path()),
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    return environment | ({"HOME": str(home)} if home else {})
