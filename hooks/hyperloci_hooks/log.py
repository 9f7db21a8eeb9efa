"""Hook log: lines in Hyperloci's log file, in its format.

It does not use `logging`, whose import takes a tenth of a hook's time, as hooks log only when something is wrong.
"""

from __future__ import annotations

import os
import time

from hyperloci.system.own_folders import make_own_folders

MAX_MESSAGE_CHARS = 4_000


def append_to_log(path: str, message: str, *, level: str = "WARNING", who: str = "hyperloci_hooks") -> None:
    """Append a message, on one line. If the log can't be written, the message is dropped."""
    line = " | ".join(part for part in message.splitlines() if part.strip())[:MAX_MESSAGE_CHARS]
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    data = f"{stamp} {os.getpid()} {level} {who}: {line}\n".encode("utf-8", "replace")
    try:
        make_own_folders(os.path.dirname(path))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError:
        return


def log_error(error: BaseException, environ: dict[str, str]) -> None:
    """Write an error of this program to the log file of an environment, if that can be found."""
    import traceback

    from hyperloci.system.data_paths import find_paths

    try:
        path = find_paths(environ).log
    except (ValueError, TypeError, OSError, ImportError):
        return
    append_to_log(path, "".join(traceback.format_exception(type(error), error, error.__traceback__)), level="ERROR")
