"""Chunk archive: cold chunks in one file per day, JSON lines compressed with zstd, beside the database (C.01, C.07).

A file is a sequence of zstd frames, one per chunk, so that one chunk is read without the others and `zstd -dc`
still prints the day. Appended chunks are synced and read back before their place is returned; the next append cuts off
an incomplete frame that a killed process left at the end. Text to be erased is blanked: the file is rewritten, and
every other chunk stays where it was.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.errors import NotFoundError, StoreBusyError, StoreCorruptError, StoreError, StoreFullError
from hyperloci.model.pyramid import ArchivePlace
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import zstandard

COLD_LEVEL: Final = 12
"""Of zstd: on chunks of ten turns 19 saves 1 % more and takes three times as long."""

LOCK_SECONDS: Final = 30.0
"""An append takes milliseconds; past this, something holds the lock and hangs."""

RESERVED_BYTES: Final = 24
"""Bytes kept free behind a chunk: what is left when a turn is blanked must fit, also if it packs a little worse."""

MAX_BYTES: Final = 256 << 20
"""What one chunk may come to: far above a micro-chunk of the longest turns, and no bomb."""

PIECE_BYTES: Final = 1 << 16

_FRAME: Final = b"\x28\xb5\x2f\xfd"
"""What a zstd frame begins with."""

_SKIPPABLE: Final = b"\x50\x2a\x4d\x18"
_SKIPPABLE_HEADER: Final = 8
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl\.zst")

ArchivedLine = Mapping[str, Any]
"""What is archived of one chunk, JSON."""


@dataclass(frozen=True, slots=True)
class ArchiveUsage:
    """What an archive takes: bytes, files (one a day), and the oldest day, None without any."""

    bytes: int
    days: int
    oldest: str | None


def describe_retention(days: int) -> str:
    """Return in words how long an archive is kept, and how to change that (`settings.cold_retention_days`)."""
    kept = f"deleted after {days} days" if days else "kept for ever"
    return f"{kept}; cold_retention_days sets the limit"


class Archive:
    """The archive files of one database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def for_database(cls, database: Path) -> Archive:
        """Return the archive that belongs to a database."""
        return cls(database.with_name(f"{database.stem}-archive"))

    def append_lines(self, day: str, lines: Sequence[ArchivedLine], *, known_end: int = 0) -> list[ArchivePlace]:
        """Add chunks to a day's file; when this returns they are on the disk, read back and found right.

        Args:
            day: `YYYY-MM-DD`.
            lines: one per chunk.
            known_end: where the last chunk that the database knows of ends.

        Raises:
            StoreError: it could not be written, or what was read back differs; nothing is to be dropped then.
        """
        frames = [_reserve_room(_pack_line(line)) for line in lines]
        with self._lock_folder(), _translate_os_errors(self._path_of_day(day)):
            offset = self._cut_torn_end(day, known_end)
            with open(self._prepare_file(day), "r+b") as file:
                file.seek(offset)
                file.write(b"".join(frames))
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            _sync_folder(self.folder)
        places = []
        for frame in frames:
            places.append(ArchivePlace(day, offset, len(frame)))
            offset += len(frame)
        for place, line in zip(places, lines, strict=True):
            if self.read_line(place) != json.loads(json.dumps(line)):
                raise StoreCorruptError(
                    f"{self._path_of_day(day)} does not hold what was written to it; nothing was moved."
                )
        return places

    def read_line(self, place: ArchivePlace) -> dict[str, Any]:
        """Return one chunk.

        Raises:
            NotFoundError: the day's file is gone.
            StoreCorruptError: it holds something else at that place.
        """
        try:
            with open(self._path_of_day(place.day), "rb") as file:
                file.seek(place.offset)
                line = json.loads(_unpack_frame(file.read(place.length)))
        except FileNotFoundError as error:
            raise NotFoundError(f"The archive of {place.day} is gone: {self._path_of_day(place.day)}.") from error
        except (OSError, ValueError) as error:
            raise StoreCorruptError(
                f"{self._path_of_day(place.day)} is damaged at byte {place.offset}: {error}."
            ) from error
        if not isinstance(line, dict):
            raise StoreCorruptError(f"{self._path_of_day(place.day)} is damaged at byte {place.offset}: not an object.")
        return line

    def blank_turns(self, node_ids: Collection[str]) -> int:
        """Take the texts of turns out of every file, also where no database knows of them (any more).

        The other turns stay, and every chunk stays where it was; one that is too damaged to be read is left as it is.
        Returns how many chunks were changed.

        Raises:
            StoreError: a file can't be written.
        """
        changed = 0
        for day in self.list_days():
            with self._lock_folder(), _translate_os_errors(self._path_of_day(day)):
                data = self._path_of_day(day).read_bytes()
                frames = {place: _blank_line(data, place, node_ids) for place in _iterate_frames(day, data)}
                found = {place: frame for place, frame in frames.items() if frame is not None}
                for place, frame in found.items():
                    data = data[: place.offset] + frame + data[place.offset + place.length :]
                if found:
                    self._replace_file(self._path_of_day(day), data)
                changed += len(found)
        return changed

    def list_days(self) -> list[str]:
        """Return the days that have a file, oldest first."""
        names = [path.name for path in self.folder.glob("*.jsonl.zst")] if self.folder.is_dir() else []
        return sorted(match[1] for name in names if (match := _DAY.fullmatch(name)))

    def drop_day(self, day: str) -> None:
        """Delete a day's file."""
        with self._lock_folder(), _translate_os_errors(self._path_of_day(day)):
            self._path_of_day(day).unlink(missing_ok=True)

    def measure_usage(self) -> ArchiveUsage:
        """Return what the archive takes on the disk."""
        days = self.list_days()
        sizes = [self._path_of_day(day).stat().st_size for day in days]
        return ArchiveUsage(bytes=sum(sizes), days=len(days), oldest=days[0] if days else None)

    def _path_of_day(self, day: str) -> Path:
        return self.folder / f"{day}.jsonl.zst"

    def _prepare_file(self, day: str) -> int:
        """Return a descriptor of a day's file, made where there is none, private to the user."""
        return os.open(self._path_of_day(day), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)

    @contextlib.contextmanager
    def _lock_folder(self) -> Iterator[None]:
        # Loaded only here: it is a tenth of what a hook may take.
        from filelock import FileLock, Timeout

        with _translate_os_errors(self.folder):
            make_own_folders(self.folder)
        try:
            with FileLock(self.folder / ".lock", timeout=LOCK_SECONDS, mode=0o600):
                yield
        except Timeout as error:
            raise StoreBusyError(f"Another process is writing to {self.folder}; try again in a minute.") from error

    def _cut_torn_end(self, day: str, known_end: int) -> int:
        """Return where the file's last whole frame ends; never before one that the database knows of."""
        path = self._path_of_day(day)
        if not path.exists():
            return 0
        size = path.stat().st_size
        if size == known_end:
            return size
        end = max((_end_of(place) for place in _iterate_frames(day, path.read_bytes())), default=0)
        return max(end, known_end) if known_end < size else end

    def _replace_file(self, path: Path, data: bytes) -> None:
        partial = path.with_suffix(".partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(self.folder)


def _pack_line(line: ArchivedLine) -> bytes:
    return compress_frame(json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n", COLD_LEVEL)


def _unpack_frame(frame: bytes) -> bytes:
    return decompress_frame(frame)


def _reserve_room(frame: bytes) -> bytes:
    return _pad_frame(frame, len(frame) + RESERVED_BYTES)


def _pad_frame(frame: bytes, length: int) -> bytes:
    """Return a frame with a frame to be skipped behind it, so long together."""
    rest = length - len(frame)
    if rest < _SKIPPABLE_HEADER:
        raise StoreError(f"A blanked chunk of {len(frame)} bytes does not fit into its {length} bytes.")
    return frame + _SKIPPABLE + (rest - _SKIPPABLE_HEADER).to_bytes(4, "little") + bytes(rest - _SKIPPABLE_HEADER)


def _iterate_frames(day: str, data: bytes) -> Iterator[ArchivePlace]:
    """Yield where the chunks of a file are: a frame and the room behind it.

    What a dying process left is none, nor is one that a disk has damaged: those behind it are.
    """
    position = 0
    while position >= 0:
        end = _find_end(data, position)
        if end is None:
            position = data.find(_FRAME, position + 1)
        else:
            yield ArchivePlace(day, position, end - position)
            position = end


def _find_end(data: bytes, position: int) -> int | None:
    """Return where the chunk ends that begins at a position, None where none does."""
    length = measure_frame(data, position)
    if not length:
        return None
    room = position + length
    following = data.find(_FRAME, room)
    if following >= 0:
        # Also where a disk has damaged the room between them: the chunk can be read, so a purge has to find it.
        return following
    header = data[room : room + _SKIPPABLE_HEADER]
    end = room + _SKIPPABLE_HEADER + int.from_bytes(header[len(_SKIPPABLE) :], "little")
    return end if header.startswith(_SKIPPABLE) and end <= len(data) else None


def _end_of(place: ArchivePlace) -> int:
    return place.offset + place.length


def _blank_line(data: bytes, place: ArchivePlace, node_ids: Collection[str]) -> bytes | None:
    """Return a frame of the same length without the turns of these ids; None where it holds none of them."""
    try:
        line = json.loads(_unpack_frame(data[place.offset : _end_of(place)]))
    except ValueError:
        return None  # Damaged so that nobody can read it here; it must not hold up the others.
    # Nothing of it stays but its place: without its id the frame is shorter by enough to be padded.
    kept = [None if turn is not None and turn["id"] in node_ids else turn for turn in line["turns"]]
    return None if kept == line["turns"] else _pad_frame(_pack_line(line | {"turns": kept}), place.length)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    """Turn the system's refusals into ours."""
    try:
        yield
    except OSError as error:
        import errno

        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"{path} cannot be written: {error.strerror}.") from error


def compress_frame(data: bytes, level: int) -> bytes:
    """Return one zstd frame, with its length and a checksum."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True)
    return compressor.compress(data)


@functools.cache
def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard

    return zstandard.ZstdDecompressor()


def decompress_frame(data: bytes) -> bytes:
    """Return what the first frame of `data` holds.

    Raises:
        ValueError: it is no whole frame.
    """
    import zstandard

    try:
        if zstandard.get_frame_parameters(data).content_size > MAX_BYTES:
            raise ValueError("larger than a chunk can be")
        return _decompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def measure_frame(data: bytes, start: int = 0) -> int:
    """Return how many bytes the frame takes that begins at `start`; 0 where it is torn or none."""
    import zstandard

    reader = _decompressor().decompressobj()
    position = start
    try:
        # By pieces: given all that follows, it would copy it for every frame.
        while position < len(data) and not reader.eof:
            reader.decompress(data[position : position + PIECE_BYTES])
            position += PIECE_BYTES
    except zstandard.ZstdError:
        return 0
    return min(position, len(data)) - len(reader.unused_data) - start if reader.eof else 0
