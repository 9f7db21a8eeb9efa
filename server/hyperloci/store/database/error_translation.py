"""Error translation: turns SQLite's errors into Hyperloci's, for one error, a block, or a whole class."""

from __future__ import annotations

import contextlib
import functools
import logging
import sqlite3
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from hyperloci.errors import (
    BACKUP_ADVICE,
    BadRequestError,
    HyperlociError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreReadOnlyError,
)

logger = logging.getLogger(__name__)

C = TypeVar("C", bound=type)
P = ParamSpec("P")
R = TypeVar("R")

_FAULTS: Final[tuple[tuple[frozenset[int], type[StoreError]], ...]] = (
    # PROTOCOL: too many processes raced to open the write-ahead log; the next try is likely to win.
    (frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}), StoreBusyError),
    # IOERR_SHMSIZE: the index of the write-ahead log could not grow.
    (frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}), StoreFullError),
    (
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}),
        StoreReadOnlyError,
    ),
    (frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}), StoreCorruptError),
    # What the index of the log tells of isn't in the log: that was deleted while another session had it open.
    (frozenset({sqlite3.SQLITE_IOERR_SHORT_READ}), StoreMovedError),
)

_PRIMARY_CODE_MASK: Final = 0xFF
"""SQLite's extended result codes keep the primary one in the low byte."""


def translate_error(error: Exception, path: object = None) -> StoreError:
    """Return our error for one of SQLite's, with a message that says what to do."""
    where = f" Database: {path}." if path is not None else ""
    kind = _error_class_for(error)
    if kind is StoreError:
        name = getattr(error, "sqlite_errorname", "")
        return StoreError(f"The database operation failed: {error}{f' ({name})' if name else ''}.{where}")
    logger.debug("SQLite said: %s", error)
    advice = f" {BACKUP_ADVICE}" if kind is StoreCorruptError else ""
    return kind(f"{(kind.__doc__ or '').strip()}{advice}{where}")


def _error_class_for(error: Exception) -> type[StoreError]:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        for codes, kind in _FAULTS:
            if code in codes or code & _PRIMARY_CODE_MASK in codes:
                return kind
    return StoreError


def describe_error(error: BaseException) -> str:
    """Return what to tell of any error: our words for SQLite's, its own for ours, with its type for others."""
    if isinstance(error, sqlite3.Error):
        return str(translate_error(error))
    if isinstance(error, HyperlociError | OSError):
        return str(error) or type(error).__name__
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def translate_block_errors(path: object = None) -> Iterator[None]:
    """Raise SQLite's errors as ours."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise translate_error(error, path) from error


_LENIENT: Final = functools.partial(str, encoding="utf-8", errors="replace")
"""Reads text that is not UTF-8, at half the speed."""


def read_leniently(connection: sqlite3.Connection, error: Exception) -> bool:
    """From now on read bytes that are not UTF-8 as U+FFFD; return whether that is what the error is about.

    No program of ours writes such a text, but a damaged disk or another program may.
    """
    said = str(error.__cause__ if isinstance(error, StoreError) else error)
    if connection.text_factory is not str or not said.startswith("Could not decode to UTF-8"):
        return False
    logger.warning("the database holds text that is not UTF-8; what can't be read of it is shown as U+FFFD")
    connection.text_factory = _LENIENT
    return True


def translate_errors(service: C) -> C:
    """Make every public method of a class with a `store` raise SQLite's errors as ours (a class decorator).

    It takes the class as a whole, so that a method that is added later can't be forgotten.
    """
    for name, method in list(vars(service).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(service, name, _guard_method(method))
    return service


def _guard_method(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    @functools.wraps(method)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with translate_block_errors(self.store.path):
                try:
                    return method(self, *args, **kwargs)
                except (sqlite3.OperationalError, StoreError) as error:
                    if not read_leniently(self.store.connection, error):
                        raise
                # Its transaction was taken back whole.
                return method(self, *args, **kwargs)
        except UnicodeEncodeError as error:
            # From a command line that is not UTF-8, or JSON with half of a surrogate pair.
            raise BadRequestError(
                f"{error.object!r:.80} cannot be written as UTF-8: give complete characters."
            ) from error

    return run
