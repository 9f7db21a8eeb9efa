"""The log of hooks: lines in the file that all of Hyperloci logs to, in the same form.

Not `logging`: it is a tenth of a hook's time to load, and hooks have something to say only when something is wrong.
"""

from __future__ import annotations

import os
import time

MAX_MESSAGE_CHARS = 4_000


def append_to_log(path: str, message: str, *, level: str = "WARNING", who: str = "hyperloci_hooks") -> None:
    """Append a message, on one line. A log that can't be written is no reason to fail, and there is nobody to tell."""
    line = " | ".join(part for part in message.splitlines() if part.strip())[:MAX_MESSAGE_CHARS]
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    data = f"{stamp} {os.getpid()} {level} {who}: {line}\n".encode("utf-8", "replace")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError:
        return


def log_error(error: BaseException, environ: dict[str, str]) -> None:
    """Write an error of this program to the log that an environment leads to, if it can be told where that is."""
    import traceback

    from hyperloci.system.data_paths import find_paths

    try:
        path = find_paths(environ).log
    except (ValueError, TypeError, OSError, ImportError):
        return
    append_to_log(path, "".join(traceback.format_exception(type(error), error, error.__traceback__)), level="ERROR")
