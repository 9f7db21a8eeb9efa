"""File events: file-system events of one tree, through watchdog: what to watch, and what to pass on.

Linux watches folder by folder and has a limit of them, so big ignored folders (`node_modules`, virtual environments,
build output) are not watched. Where there are no events (the limit is reached, the tree is on a network
file system) `FileWatch.start` says so and the caller polls.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

Watch = tuple[Path, bool]
"""A folder, and whether everything below it is watched too."""

HEAVY_FOLDERS: Final = 64
"""An ignored folder with more folders in it than this is left out; a smaller one is not worth a watch of its own."""

MAX_WATCHES: Final = 128
"""Separate watches; each has a thread. A tree that needs more is polled."""

EVENTS: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
"""Openings and closings are left out: indexing itself opens every file."""

NETWORK_TYPES: Final = frozenset(
    """nfs nfs4 cifs smb3 smbfs 9p afs ceph glusterfs lustre beegfs davfs drvfs virtiofs vboxsf prl_fs fuse.sshfs
    fuse.rclone fuse.s3fs fuse.gcsfuse fuse.vmhgfs-fuse""".split()  # noqa: SIM905 - twenty literals read worse
)
"""File systems whose changes by others come without an event."""

_MOUNTS: Final = Path("/proc/mounts")


class FileWatch:
    """Watches folders and passes the paths of what happened to a callback, from threads of its own."""

    def __init__(self, seen: Callable[[str], None], *, observer: Callable[[], Any] = Observer) -> None:
        self._handler = _ChangeHandler(seen)
        self._make_observer = observer
        self._observer: Any = None
        self._watches: dict[Watch, tuple[Any, tuple[int, int] | None]] = {}

    def watch_folders(self, wanted: Iterable[Watch], canary: Path) -> None:
        """Watch these folders from now on, and no others.

        Args:
            wanted: the folders.
            canary: a folder outside of them. Watchdog keeps silent when the system's limit stops it in the middle of
                a tree, but not when it cannot watch one folder.

        Raises:
            OSError: the system's limit is reached or a folder is gone; nothing is watched then.
        """
        if not self._is_alive():
            self.stop()
        try:
            if self._observer is None:
                # Of folders made in quick succession watchdog may watch one twice, says so, and nothing is wrong.
                warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
                self._observer = self._make_observer()
                self._observer.start()
            self._schedule_watches({*wanted, (canary, False)})
        except BaseException:
            self.stop()
            raise

    def _is_alive(self) -> bool:
        """Whether events still come: an error in one of watchdog's threads ends it silently."""
        reader = getattr(self._observer, "_inotify_fd", None)
        return self._observer is not None and self._observer.is_alive() and (reader is None or reader.is_alive())

    def _schedule_watches(self, wanted: set[Watch]) -> None:
        # A watch ends when its folder is deleted and goes with it when it is moved; another folder may be there now.
        ended = {emitter.watch for emitter in self._observer.emitters if not emitter.is_alive()}
        for watch, (given, identity) in list(self._watches.items()):
            if watch not in wanted or given in ended or identity != _identity_of_folder(watch[0]):
                self._observer.unschedule(given)
                del self._watches[watch]
        for folder, recursive in sorted(wanted - set(self._watches), key=lambda watch: (watch[1], str(watch[0]))):
            identity = _identity_of_folder(folder)
            given = self._observer.schedule(self._handler, str(folder), recursive=recursive, event_filter=EVENTS)
            self._watches[folder, recursive] = given, identity

    def stop(self) -> None:
        """Watch nothing; the threads are gone afterwards."""
        observer, self._observer = self._observer, None
        self._watches.clear()
        if observer is not None and observer.is_alive():
            observer.stop()
            observer.join()


def _identity_of_folder(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _ChangeHandler(FileSystemEventHandler):
    """Takes both ends of every event: a file saved by renaming is new at its name, a moved one gone from its old."""

    def __init__(self, seen: Callable[[str], None]) -> None:
        self._seen = seen

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._seen(os.fsdecode(path))


def plan_watches(root: Path, is_ignored: Callable[[Path], bool], platform: str = sys.platform) -> list[Watch]:
    """Return the folders to watch so that heavy ignored ones stay out (Linux; elsewhere one watch has it all).

    Args:
        root: top of the tree.
        is_ignored: whether a folder is left out of the index.
        platform: as in `sys.platform`.
    """
    if not platform.startswith("linux"):
        return [(root, True)]
    return _plan_folder(root, is_ignored)[0]


def _plan_folder(folder: Path, is_ignored: Callable[[Path], bool]) -> tuple[list[Watch], bool]:
    """Return the watches for a folder, and whether one with all below it will do."""
    parts: list[list[Watch]] = []
    whole = True
    for child in _list_folders(folder):
        if is_ignored(child):
            whole = whole and not _is_heavy(child)
        else:
            watches, child_whole = _plan_folder(child, is_ignored)
            parts.append(watches)
            whole = whole and child_whole
    if whole:
        return [(folder, True)], True
    return [(folder, False), *(watch for watches in parts for watch in watches)], False


def _is_heavy(folder: Path) -> bool:
    waiting, seen = [folder], 0
    while waiting:
        children = _list_folders(waiting.pop())
        seen += len(children)
        if seen > HEAVY_FOLDERS:
            return True
        waiting.extend(children)
    return False


def _list_folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def is_on_network(path: Path, mounts: str | None = None) -> bool:
    """Whether a path lies on a file system that others may change without an event here (as far as Linux tells).

    Args:
        path: an absolute, real path.
        mounts: text in the form of `/proc/mounts`; read from there by default.
    """
    best, kind = -1, ""
    for place, type_ in _parse_mounts(_read_mounts(_MOUNTS) if mounts is None else mounts):
        if path.is_relative_to(place) and len(place.parts) >= best:
            best, kind = len(place.parts), type_
    return kind in NETWORK_TYPES


def _parse_mounts(mounts: str) -> Iterator[tuple[Path, str]]:
    for line in mounts.splitlines():
        fields: Sequence[str] = line.split(" ")
        if len(fields) > 2:
            # Spaces in paths are written \040.
            yield (
                Path(fields[1].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")),
                fields[2],
            )


def _read_mounts(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
