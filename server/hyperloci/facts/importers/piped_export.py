"""Piped export: what comes through a pipe, kept as a file for as long as it is read, since an import reads it twice."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from hyperloci.errors import BadRequestError, StoreError
from hyperloci.store.export import JSON_MARK


@contextlib.contextmanager
def keep_piped(source: Path) -> Iterator[Path]:
    """Yield a file to import: the source itself, or a private copy of what comes from a pipe; `-` is standard input.

    Raises:
        BadRequestError: standard input is closed, or no export comes: memories of other programs name their file.
        StoreError: what comes can't be read or kept.
    """
    is_input = str(source) == "-"
    if not is_input and not source.is_fifo():
        yield source
        return
    if is_input and sys.stdin is None:
        raise BadRequestError("standard input is closed: give a FILE.")
    with tempfile.TemporaryDirectory(prefix="hyperloci-") as folder:
        copy = Path(folder) / "export.jsonl"
        try:
            with contextlib.nullcontext(sys.stdin.buffer) if is_input else source.open("rb") as pipe:
                _copy_export(pipe, copy)
        except OSError as error:
            raise StoreError(f"what comes through the pipe cannot be kept in {folder}: {error.strerror}.") from error
        yield copy


def _copy_export(pipe: BinaryIO, copy: Path) -> None:
    head = pipe.read(len(JSON_MARK))
    if head != JSON_MARK.encode():
        raise BadRequestError("only what `hyperloci export` writes can come through a pipe: give a FILE.")
    with copy.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(pipe, file)
