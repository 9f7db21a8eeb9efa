"""Every error Hyperloci raises on purpose.

The tree, by what a caller can do about it::

    HyperlociError
    ├── BadRequestError          the caller passed something we can't use; change it and call again
    │   └── QuerySyntaxError     a query or pattern that doesn't parse; carries the column
    ├── NotFoundError            no such memory, session, entity or file
    ├── NotReadyError            not now: model loading, index building; says when to try again
    ├── ConfigurationError       a setting, file or environment variable is wrong; names it
    ├── EmbedderError            the embedder process could not answer
    └── StoreError               the database could not do it
        ├── StoreBusyError       another process held the write lock for too long
        ├── StoreFullError       no room left on the disk
        ├── StoreReadOnlyError   the file or its folder cannot be written
        ├── StoreCorruptError    the file is not a healthy SQLite database
        ├── StoreMovedError      another program moved, replaced or cut its files while they were open
        └── StoreVersionError    the schema is newer than this program knows

A class's docstring is its default message. Messages name the value that was wrong and what would be right.
"""

from __future__ import annotations


class HyperlociError(Exception):
    """Something went wrong in Hyperloci."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BadRequestError(HyperlociError):
    """The request cannot be used as it is."""


class QuerySyntaxError(BadRequestError):
    """The query does not parse."""

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message if column is None else f"{message} (column {column})")
        self.column = column


class NotFoundError(HyperlociError):
    """There is no such thing in this memory."""


class NotReadyError(HyperlociError):
    """Not ready yet; try again shortly."""


class ConfigurationError(HyperlociError):
    """A setting is wrong."""


class EmbedderError(HyperlociError):
    """The embedder could not answer."""


class StoreError(HyperlociError):
    """The database could not do it."""


class StoreBusyError(StoreError):
    """Another program is writing to the memory, and has been for too long. Nothing was written; try again shortly."""


class StoreFullError(StoreError):
    """No room left on the disk that holds the database. Nothing was written; free some space and try again."""


class StoreReadOnlyError(StoreError):
    """The database cannot be written: check the permissions of the file and of its folder."""


class StoreCorruptError(StoreError):
    """The file is not a healthy SQLite database. Run `hyperloci doctor`; a backup may lie beside it."""


class StoreMovedError(StoreError):
    """Another program has changed the database's files while they were in use. Nothing was written; try again."""

    event = 0
    """The same for all connections of a process that notice the same change."""


class StoreVersionError(StoreError):
    """The database was written by a newer Hyperloci. Upgrade: pip install -U hyperloci."""
