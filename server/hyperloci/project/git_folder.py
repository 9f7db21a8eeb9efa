"""Git folder: what Git keeps in plain files, read without starting Git: a repository's path, remotes, branch.

A hook has a fifth of a second in all, and `git` takes milliseconds to start. Git's own formats are followed as far as
an identity needs them (gitrepository-layout, git-config; `include` in a configuration is not followed). Only the walk
to a first commit is left to Git itself.

Stricter than Git in one thing: a folder belongs to a Git folder elsewhere only if that one names it too. The author of
an archive can write a `.git` that names another's repository, but cannot write into that repository. And a bare
repository inside a working tree is content of that tree.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from hyperloci.system.values import dataclass

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


class BrokenRepositoryError(Exception):
    """A `.git` that leads nowhere, or where it isn't known; the folder it stands in, and what is wrong."""

    def __init__(self, root: Path, problem: str) -> None:
        super().__init__(problem)
        self.root = root


def find_repository(folder: Path, never: Collection[Path]) -> Repository | None:
    """Find the repository that a folder is in; a bare one only where no working tree is around it.

    Args:
        folder: a real path.
        never: folders above which, and in which, no repository is looked for, unless `folder` is one of them.

    Raises:
        BrokenRepositoryError: there is a `.git`, but what it names is missing, can't be read, or knows nothing of it.
    """
    bare: Repository | None = None
    for place in (folder, *folder.parents):
        if place in never and place != folder:
            break
        if found := _open_working_tree(place):
            return found
        bare = bare or _open_bare(place)
    return bare


def open_repository(folder: Path) -> Repository | None:
    """Return the repository whose top is `folder`, with or without a working tree.

    Raises:
        BrokenRepositoryError: as for `find_repository`.
    """
    return _open_working_tree(folder) or _open_bare(folder)


def _open_working_tree(folder: Path) -> Repository | None:
    marker = folder / ".git"
    try:
        mode = os.lstat(marker).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(mode):
        return _follow_git_file(folder, marker)
    if not _is_git_dir(marker):
        if stat.S_ISDIR(mode) and not os.access(marker, os.R_OK | os.X_OK):
            raise BrokenRepositoryError(folder, f"{marker} can't be read")
        return None
    if stat.S_ISLNK(mode):
        return _open_claimed(folder, marker, Path(os.path.realpath(marker)))
    if os.path.lexists(marker / "commondir"):
        raise BrokenRepositoryError(folder, f"{marker} claims to be part of another Git folder, but is not")
    return Repository(root=folder, git_dir=marker, common_dir=marker)


def _open_bare(folder: Path) -> Repository | None:
    # A folder in `.git` is looked at too, but `.git` itself belongs to the working tree around it.
    if folder.name == ".git" or not _is_git_dir(folder) or os.path.lexists(folder / "commondir"):
        return None
    return Repository(root=folder, git_dir=folder, common_dir=folder)


def read_remotes(common_dir: Path) -> dict[str, str]:
    """Return the address of each remote by its name.

    Raises:
        OSError: the configuration can't be read.
    """
    remotes: dict[str, str] = {}
    for section, subsection, name, value in _parse_config(_read_limited(common_dir / "config")):
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
    return Head(None, None) if branch == ".invalid" else Head(branch, _resolve_reference(repository, reference))


BORROWS: Final = "the repository borrows objects from {place}, which may be another project's"
MAKE_COMPLETE: Final = "run `git repack -a -d`, then remove .git/objects/info/alternates"
"""What is said of external storage, and what a user can do about it."""


def find_external_storage(common_dir: Path) -> str | None:
    """Return the place outside of it that a Git folder takes objects or branches from, None if all are its own.

    What lies elsewhere may be another project's: its history must not be read as this one's.
    """
    real = Path(os.path.realpath(common_dir))
    for name in ("objects", "objects/pack", "objects/info", "refs", "refs/heads", "packed-refs", "HEAD"):
        target = Path(os.path.realpath(common_dir / name))
        if not target.is_relative_to(real):
            return str(target)
    for line in _read_or_empty(common_dir / "objects" / "info" / "alternates").splitlines():
        if line and not line.startswith("#"):
            target = Path(os.path.realpath(real / "objects" / line.strip('"')))
            if not target.is_relative_to(real):
                return str(target)
    return None


def is_shallow(common_dir: Path) -> bool:
    """Whether history was cut off: its first commits are then only where the cut happens to be."""
    return os.path.isfile(common_dir / "shallow")


_OBJECT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_OBJECT: Final = 64


def _follow_git_file(folder: Path, marker: Path) -> Repository:
    """Follow the `.git` file of a linked working tree, a submodule or a separate Git folder."""
    text = _read_or_empty(marker).strip()
    git_dir = _resolve_path(folder / text.removeprefix("gitdir:").strip())
    if not text.startswith("gitdir:") or git_dir is None or not _is_git_dir(git_dir):
        raise BrokenRepositoryError(folder, f"{marker} does not name an existing Git folder")
    shared = _read_or_empty(git_dir / "commondir").strip()
    if not shared:
        return _open_claimed(folder, marker, git_dir)
    common_dir = _resolve_path(git_dir / shared)
    back = _resolve_path((git_dir / _read_or_empty(git_dir / "gitdir").strip()).parent)
    if common_dir is None or git_dir.parent != common_dir / "worktrees" or not _is_git_dir(common_dir):
        raise BrokenRepositoryError(folder, f"{marker} names {git_dir}, which is not the Git folder of a working tree")
    if back is None or not _is_same_folder(back, folder):
        problem = f"{git_dir} does not name this working tree; if it is yours, run `git worktree repair` in it"
        raise BrokenRepositoryError(folder, problem)
    return Repository(root=folder, git_dir=git_dir, common_dir=common_dir)


def _open_claimed(folder: Path, marker: Path, git_dir: Path) -> Repository:
    """Return the repository in a Git folder elsewhere if that names `folder` as its working tree."""
    own = git_dir.parent == folder and git_dir.name.startswith(".") and git_dir.name != ".git"
    if not os.path.lexists(git_dir / "commondir") and (own or _claims_tree(git_dir, folder)):
        return Repository(root=folder, git_dir=git_dir, common_dir=git_dir)
    problem = f"{marker} names {git_dir}, which does not name this folder"
    raise BrokenRepositoryError(folder, f"{problem}; if it is yours, run `git config core.worktree '{folder}'` in it")


def _claims_tree(git_dir: Path, folder: Path) -> bool:
    for file in ("config", "config.worktree"):
        for section, _, name, value in _parse_config(_read_or_empty(git_dir / file)):
            if (section, name) == ("core", "worktree") and value:
                tree = _resolve_path(git_dir / value)
                return tree is not None and _is_same_folder(tree, folder)
    return False


def _is_same_folder(first: Path, second: Path) -> bool:
    """Whether two real paths are one folder: where names have no case, one folder has many spellings."""
    try:
        return first == second or os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def _resolve_path(path: Path) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _is_git_dir(folder: Path) -> bool:
    return os.path.isfile(folder / "HEAD") and (
        os.path.isdir(folder / "objects") or os.path.isfile(folder / "commondir")
    )


def _resolve_reference(repository: Repository, reference: str) -> str | None:
    if ".." in reference:
        return None
    for folder in (repository.git_dir, repository.common_dir):
        text = _read_or_empty(folder / reference).strip()
        if _OBJECT.fullmatch(text):
            return text
    return _read_packed_reference(repository.common_dir / "packed-refs", reference)


def _read_packed_reference(path: Path, reference: str) -> str | None:
    # Searched as bytes: of a hundred thousand lines one is wanted.
    content = _bytes_or_empty(path)
    end = content.find(b" " + os.fsencode(reference) + b"\n")
    line = content[max(0, end - _LONGEST_OBJECT) : max(0, end)].rpartition(b"\n")[2].decode("ascii", "replace")
    return line if _OBJECT.fullmatch(line) else None


def _read_limited(path: Path) -> str:
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


_SECTION: Final = re.compile(r'\s*+\[\s*+([A-Za-z0-9.-]++)\s*+(?:"((?>(?:[^"\\]++|\\.)*))"\s*+)?\]')
_ENTRY: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)", re.DOTALL)
_PIECE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"?|\\(.)|([#;].*)|([^"\\#;]+)', re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b"}


def _parse_config(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, subsection, name and value of each entry of a Git configuration; what isn't one is skipped."""
    section = subsection = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        if matched := _SECTION.match(line):
            section, subsection = matched[1].lower(), re.sub(r"\\(.)", r"\1", matched[2] or "")
            line = line[matched.end() :]  # An entry may stand on the same line.
        if entry := _ENTRY.match(line):
            yield section, subsection, entry[1].lower(), _parse_config_value(entry[2])


def _parse_config_value(text: str) -> str:
    value = ""
    for quoted, escaped, comment, plain in _PIECE.findall(text.strip()):
        if comment:
            break
        value += re.sub(r"\\(.)", _unescape_value, quoted) + _ESCAPES.get(escaped, escaped) + plain
    return value.strip()


def _unescape_value(matched: re.Match[str]) -> str:
    return _ESCAPES.get(matched[1], matched[1])
