"""Screen recording: runs `hyperloci demo` in a terminal of its own and writes it as asciicast and as a picture.

    python -m bench screencast [PROJECT] [--cast docs/demo.cast] [--svg docs/demo.svg]

Pauses are cut to a second and a half; nothing else is changed. `asciinema play docs/demo.cast` plays it.
"""

from __future__ import annotations

import argparse
import codecs
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROWS, COLUMNS = 40, 80
LONGEST_PAUSE = 1.5
ERASE_LINE = "\x1b[2K"
FONT_FACE = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


def run_in_terminal(command: list[str]) -> Iterator[tuple[float, str]]:
    """Run a command in a terminal and yield what it writes, each with its second; fail if the command does."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
    begun = time.monotonic()
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=environ) as process:
        os.close(side)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := _read_some(main):
            yield time.monotonic() - begun, decoder.decode(data)
    os.close(main)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")


def _read_some(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # The other side is closed.
        return b""


def write_cast(path: Path, frames: list[tuple[float, str]]) -> None:
    """Write frames as an asciicast, pauses shortened."""
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "hyperloci demo"}
    lines, at, last = [json.dumps(header)], 0.0, 0.0
    for moment, text in frames:
        at, last = at + min(moment - last, LONGEST_PAUSE), moment
        lines.append(json.dumps([round(at, 3), "o", text], ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_picture(path: Path, frames: list[tuple[float, str]]) -> None:
    """Write what stands in the terminal in the end as an SVG that loads nothing from elsewhere."""
    output = "".join(text for _, text in frames).replace("\r\n", "\n")
    head, _, rest = output.partition("\n")
    shown = f"{head}\n{rest.rpartition(ERASE_LINE)[2]}"
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(f"$ hyperloci demo\n{shown}"))
    plain = FONT_FACE.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", "monospace")
    path.write_text(console.export_svg(title="hyperloci demo", code_format=plain), encoding="utf-8")


def main() -> None:
    """Record the demo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", nargs="?", default=".")
    parser.add_argument("--cast", type=Path, default=Path("docs/demo.cast"))
    parser.add_argument("--svg", type=Path, default=Path("docs/demo.svg"))
    options = parser.parse_args()
    frames = list(run_in_terminal([sys.executable, "-m", "hyperloci", "demo", "--project", options.project]))
    write_cast(options.cast, frames)
    write_picture(options.svg, frames)
    print(f"{options.cast}: {len(frames)} frames; {options.svg}")


if __name__ == "__main__":
    main()
