"""Log file: where every process of an installation logs, and in which form."""

from __future__ import annotations

import copy
import io
import logging
import sys
from logging.handlers import RotatingFileHandler
from typing import Final

from hyperloci.config import Settings
from hyperloci.system.own_folders import make_own_folders, open_own_file

_log = logging.getLogger(__name__)

LOG_BYTES: Final = 2_000_000
LOG_FILES: Final = 2
"""Enough to look back over some weeks of warnings; a log is never worth a user's disk."""


class RedactingFormatter(logging.Formatter):
    """Records without secrets: an error may quote what it failed on, and a path may hold a token."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, its traceback too, with every secret replaced."""
        from hyperloci.text.sanitize.redaction import (
            redact_secrets,  # at the first record: the client waits for what loads before it
        )

        return redact_secrets(super().format(record)).text


class _OneLineFormatter(RedactingFormatter):
    """Records without tracebacks.

    The file has those. A client that never empties our stderr would stop us once the pipe is full: the less, the later.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's one line."""
        bare = copy.copy(record)
        bare.exc_info = bare.exc_text = bare.stack_info = None
        return super().format(bare)


class _OwnFileHandler(RotatingFileHandler):
    """A log that nobody else may read: it names projects, sessions and files."""

    def _open(self) -> io.TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=open_own_file)

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop a record that the disk does not take: each would print its traceback on stderr, which has its line."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def configure_logging(settings: Settings) -> None:
    """Log to the installation's file, and warnings to stderr too; stdout belongs to the protocol."""
    short = logging.StreamHandler(sys.stderr)
    short.setLevel(logging.WARNING)
    short.setFormatter(_OneLineFormatter("hyperloci: %(levelname)s: %(message)s"))
    handlers: list[logging.Handler] = [short]
    try:
        make_own_folders(settings.state_dir)
        whole = _OwnFileHandler(
            settings.log_file, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", delay=True
        )
        whole.setFormatter(RedactingFormatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
        handlers.append(whole)
    except OSError as error:
        _log.debug("cannot write a log file: %s", error)
    logging.basicConfig(
        level=settings.log_level.upper(),
        handlers=handlers,
        force=True,
    )
    # The SDK logs refused arguments at INFO, and those quote what the user said.
    logging.getLogger("mcp").setLevel(logging.WARNING)
