"""Errors: every error that Hyperloci raises on purpose.

The tree, by what a caller can do about it; those that one module alone raises are defined there::

    HyperlociError
    ├── BadRequestError          the caller passed something we can't use; change it and call again
    │   └── QuerySyntaxError     a query that doesn't parse; carries the column
    ├── NotFoundError            no such memory, session, entity or file
    ├── NotReadyError            not now: model loading, index building; says when to try again
    │   ├── NoEmbedderError      no embedder runs
    │   ├── EmbedderSilentError  the embedder has not answered lately
    │   └── MaintenanceStoppedError  maintenance was interrupted; the rest is done the next time
    ├── ConfigurationError       a setting, file or environment variable is wrong; names it
    ├── ChatError                the language model did not answer, or not as it should
    │   └── AllowanceSpentError  today's calls are used up, or the last one failed a moment ago
    ├── EmbedderError            the embedder process could not answer
    │   ├── ProtocolError        its socket is answered by something else
    │   ├── ConnectionLostError  it went away before it had answered
    │   ├── DeadlineError        it did not answer in time
    │   └── RefusedTextError     an endpoint refuses these texts, and takes others
    ├── TeamError                the team's database refused or failed; says what
    │   ├── TeamRefusedError     it can't keep a value as it is
    │   └── TeamUnreachableError  it did not answer, or not in time; what waits is sent later
    └── StoreError               the database operation failed
        ├── StoreBusyError       another process held the write lock for too long
        ├── StoreFullError       no room left on the disk
        ├── StoreReadOnlyError   the file or its folder cannot be written
        ├── StoreCorruptError    the file is not a healthy SQLite database
        ├── StoreMovedError      another program moved, replaced or cut its files while they were open
        └── StoreVersionError    the schema is newer than this program knows

Raised and caught inside, never seen by a caller: GitError and BrokenRepositoryError (a repository can't be read),
ParsingCancelledError (an indexing run), LateReadingError (a turn waits for the embedder), Refused, Stopped and
CallFailed (a program in the sandbox), FrameError (the pipes of the parser and of the sandbox), and
CodexUnreachableError (Codex's app server, asked by installer and doctor).

A class's docstring is its default message. Messages name the value that was wrong and what would be right.
"""

from __future__ import annotations

from typing import Final

BACKUP_ADVICE: Final = "`hyperloci doctor` names the newest backup."
"""What a message on a damaged database adds; `doctor` itself leaves it out and names the backup."""


class HyperlociError(Exception):
    """Something went wrong in Hyperloci."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BadRequestError(HyperlociError):
    """The request cannot be used as it is."""


class QuerySyntaxError(BadRequestError):
    """A query that can't be read; `column` (from 1) is where."""

    def __init__(self, line: str, column: int, message: str) -> None:
        start = max(0, column - 1 - 60)
        shown = " ".join(line[start : column + 60].splitlines())
        super().__init__(f"column {column}: {message}\n  {shown}\n  {' ' * (column - 1 - start)}^")
        self.column = column


class NotFoundError(HyperlociError):
    """There is no such thing in this memory."""


class NotReadyError(HyperlociError):
    """Not ready yet; try again shortly."""


class NoEmbedderError(NotReadyError):
    """No embedder is running yet."""


class ConfigurationError(HyperlociError):
    """A setting is wrong."""


class EmbedderError(HyperlociError):
    """The embedder could not answer."""


class TeamError(HyperlociError):
    """The team's database failed."""


class TeamRefusedError(TeamError):
    """The team's database can't keep this memory as it is."""


class TeamUnreachableError(TeamError):
    """The team's database did not answer. What waits to be sent is kept."""


class StoreError(HyperlociError):
    """The database operation failed."""


class StoreBusyError(StoreError):
    """Another program is writing to the memory, and has been for too long: this write was not done; try again."""


class StoreFullError(StoreError):
    """No room left on the disk that holds the database: this write was not done; free some space and try again."""


class StoreReadOnlyError(StoreError):
    """The database cannot be written: check the permissions of the file and of its folder."""


class StoreCorruptError(StoreError):
    """The file is not a healthy SQLite database."""


class StoreMovedError(StoreError):
    """Another program has changed the database's files while they were in use: this write was not done; try again."""

    event = 0
    """The same for all connections of a process that notice the same change."""


class StoreVersionError(StoreError):
    """The database was written by a newer Hyperloci, which is to be installed."""
