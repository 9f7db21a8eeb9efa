"""The log of hooks: lines in the file that all of Hyperloci logs to, in the same form.

Not `logging`: it is a tenth of a hook's time to load, and hooks have something to say only when something is wrong.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

MAX_MESSAGE_CHARS: Final = 4_000


def log(path: Path, message: str, *, level: str = "WARNING", who: str = "hyperloci_hooks") -> None:
    """Append a message, on one line. A log that can't be written is no reason to fail, and there is nobody to tell."""
    line = " | ".join(part for part in message.splitlines() if part.strip())[:MAX_MESSAGE_CHARS]
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    data = f"{stamp} {os.getpid()} {level} {who}: {line}\n".encode("utf-8", "replace")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
