"""Shared folder: `.hyperloci/shared` in a project's tree, one file for each version of a memory.

A file is written once and never changed, so that Git merges two diverged folders without a conflict: it only ever adds
files, or removes those of a memory that was withdrawn. Readers take any file with one memory a line, whatever a merge,
an editor or a crash has made of it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from hyperloci.errors import StoreError
from hyperloci.facts.sharing.shared_version import SharedLineError, SharedVersion
from hyperloci.system.values import dataclass

FOLDER: Final = Path(".hyperloci") / "shared"

NAME_HASH_CHARS: Final = 8
"""Of a version's hash in its file's name: enough to tell the versions of one memory apart."""

WITHDRAWN: Final = "withdrawn"
"""In the name of the file that says that a memory is no longer shared."""

MAX_FILES: Final = 50_000
MAX_FILE_BYTES: Final = 5_000_000
"""Of one file; a project that joins its memories into one can have ten thousand of five hundred bytes."""

MAX_FOLDER_BYTES: Final = 100_000_000

_MARKERS: Final = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
"""Lines that Git puts between the two sides of a conflict."""


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory in a file. `original` is the hash in the file's name: another than its own tells that it was edited."""

    memory: SharedVersion
    file: str
    line: int
    original: str | None

    @property
    def is_edited(self) -> bool:
        """Whether the text was changed in the file, instead of by a new version."""
        return self.original not in (None, self.memory.digest.hex()[:NAME_HASH_CHARS])


class FileEntry(NamedTuple):
    """A file of the folder: its name, and when it was last changed, in milliseconds."""

    name: str
    changed_at: int


def is_never_known(entry: FileEntry) -> bool:
    """Return False: no file is known."""
    return False


@dataclass(frozen=True, slots=True)
class FolderProblem:
    """Something in the folder that is no shared memory: where, and why."""

    file: str
    line: int
    reason: str


def name_file(memory: SharedVersion) -> str:
    """Return the name of the file of one version."""
    version = memory.digest.hex()[:NAME_HASH_CHARS]
    # Two machines may withdraw the same memory, and one may do so twice: no two write into one file.
    return f"{memory.id}.{WITHDRAWN}.{version}.json" if memory.withdrawn else f"{memory.id}.{version}.json"


def read_stamp(root: Path) -> str | None:
    """Return what tells by one look whether files came or went since; None where there is no folder.

    Git, and whoever replaces files instead of writing into them, changes it with every change.
    """
    try:
        status = os.lstat(root / FOLDER)
    except (OSError, ValueError):
        return None
    return f"{status.st_ino}:{status.st_mtime_ns}" if stat.S_ISDIR(status.st_mode) and _is_inside(root) else None


def _is_inside(root: Path) -> bool:
    """Whether the folder is the project's own: a link would lead reading, and writing, elsewhere."""
    return not (root / FOLDER.parent).is_symlink() and not (root / FOLDER).is_symlink()


def read_folder(
    root: Path, is_known: Callable[[FileEntry], bool] = is_never_known
) -> Iterator[FoundMemory | FolderProblem]:
    """Give every memory in the folder, and what of it can't be read, by name of file.

    Args:
        root: the project's root.
        is_known: tells of a file whether it needs no reading.
    """
    if read_stamp(root) is None:
        return
    files = sorted(_list_files(root / FOLDER))
    room = MAX_FOLDER_BYTES
    for entry in files[:MAX_FILES]:
        if is_known(entry):
            continue
        name = entry.name
        try:
            content = _read_file(root / FOLDER / name)
        except OSError as error:
            yield FolderProblem(name, 0, f"cannot be read ({error.strerror or error})")
            continue
        room -= len(content)
        if room < 0:
            yield FolderProblem(name, 0, f"the folder has more than {MAX_FOLDER_BYTES:,} bytes")
            return
        yield from _read_lines(name, content)
    if len(files) > MAX_FILES:
        yield FolderProblem(files[MAX_FILES].name, 0, f"the folder has more than {MAX_FILES:,} files")


def _list_files(folder: Path) -> Iterator[FileEntry]:
    for entry in os.scandir(folder):
        if entry.name.endswith((".json", ".jsonl")) and not entry.name.startswith("."):
            with contextlib.suppress(OSError):
                yield FileEntry(entry.name, entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000)


def _read_file(path: Path) -> bytes:
    # Neither a link nor a pipe: one leads elsewhere, the other keeps its reader waiting.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            raise OSError(0, f"no file of at most {MAX_FILE_BYTES:,} bytes")
        return file.read(MAX_FILE_BYTES)


def _read_lines(name: str, content: bytes) -> Iterator[FoundMemory | FolderProblem]:
    original = _read_version(name)
    for number, line in enumerate(content.split(b"\n"), start=1):
        line = line.strip()
        if not line:
            continue
        if line.startswith(_MARKERS):
            yield FolderProblem(name, number, "a conflict that Git left; both sides are taken")
            continue
        try:
            yield FoundMemory(SharedVersion.from_line(line), name, number, original)
        except SharedLineError as error:
            yield FolderProblem(name, number, str(error))


def _read_version(name: str) -> str | None:
    """Return the hash in a file's name, None where it has none."""
    parts = name.split(".")
    is_version = len(parts) == 3 and len(parts[1]) == NAME_HASH_CHARS and parts[1] != WITHDRAWN
    return parts[1] if is_version else None


def write_memory(root: Path, memory: SharedVersion) -> Path:
    """Put a version into the folder, whole or not at all, and return its file; one that is there stays as it is.

    Raises:
        StoreError: it can't be written.
    """
    folder = root / FOLDER
    if not _is_inside(root):
        raise StoreError(f"{folder} is a link: sharing writes into the project only. Replace it by a folder.")
    target = folder / name_file(memory)
    partial = folder / f".{target.name}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_plain_file(target):
            # A repository may hold a link of either name: it is replaced, never written through.
            partial.unlink(missing_ok=True)
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as out:
                out.write(f"{memory.to_line()}\n".encode())
            partial.replace(target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return target


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def find_version(root: Path, id: str, hash: bytes) -> SharedVersion | None:
    """Return a version by its file; None where the tree has none of that name, or it was changed."""
    if read_stamp(root) is None:
        return None
    name = f"{id}.{hash.hex()[:NAME_HASH_CHARS]}.json"
    try:
        found = [
            item.memory for item in _read_lines(name, _read_file(root / FOLDER / name)) if isinstance(item, FoundMemory)
        ]
    except OSError:
        return None
    return next((memory for memory in found if memory.digest == hash), None)


def remove_versions(root: Path, id: str) -> int:
    """Remove every file of a memory but the one that says it was withdrawn; return how many.

    Raises:
        StoreError: one can't be removed.
    """
    removed = 0
    if read_stamp(root) is None:
        return 0
    for entry in list(os.scandir(root / FOLDER)):
        if entry.name.startswith(f"{id}.") and not entry.name.startswith(f"{id}.{WITHDRAWN}."):
            try:
                os.unlink(entry.path)
            except OSError as error:
                raise StoreError(f"{entry.path} cannot be removed: {error.strerror}.") from error
            removed += 1
    return removed
