"""A headless Chromium, spoken to over a pipe in its own protocol: pages, pictures, clicks, and what went wrong."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")

FULL_HEIGHT: Final = 4_000
"""No picture is higher: nobody looks at more of a page."""


class Browser:
    """One tab of a Chromium.

    Attributes:
        troubles: what no page should cause: errors on the console, exceptions, requests to elsewhere, dialogs.
    """

    def __init__(self, reading: int, writing: int, origin: str) -> None:
        self._reading = reading
        self._writing = writing
        self._origin = origin
        self._next = 0
        self._rest = b""
        self._session: str | None = None
        self._loaded = False
        self.troubles: list[str] = []

    def attach(self) -> Self:
        """Open the tab."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        return self

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer; events that come before it are noted."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._reading, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note_event(message.get("method", ""), message.get("params", {}))
        return message

    def _note_event(self, event: str, said: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            url = said["request"]["url"]
            if not url.startswith((self._origin, "data:", "about:")):
                self.troubles.append(f"request to {url}")
        elif event == "Runtime.exceptionThrown":
            self.troubles.append(f"exception: {said['exceptionDetails']['text']}")
        elif event == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.troubles.append(f"error: {said['entry']['text']} {said['entry'].get('url', '')}")
        elif event == "Page.javascriptDialogOpening":
            self.troubles.append(f"dialog: {said['message']}")

    def show_as(self, width: int, height: int, *, dark: bool) -> None:
        """Set the window's size and the user's colours."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        """Open an address, and wait until it is loaded and where it leads on to as well."""
        self._loaded = False
        self.send("Page.navigate", url=url)
        self.wait_for_page()

    def wait_for_page(self) -> None:
        """Wait until the page that is on its way is loaded."""
        while not self._loaded:
            self._receive()

    def run(self, script: str) -> Any:
        """Return what an expression is in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def click(self, script: str) -> None:
        """Click what an expression finds, with the mouse, and wait for the page that it leads to."""
        point = self.run(
            f"(() => {{ const found = {script}; found.closest('details')?.setAttribute('open', '');"
            " found.scrollIntoView({block: 'center'}); const box = found.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self._loaded = False
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=point[0], y=point[1], button="left", clickCount=1)
        self.wait_for_page()

    def take_picture(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        more: dict[str, Any] = {}
        if whole:
            width, height = self.run("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
            more["clip"] = {"x": 0, "y": 0, "width": width, "height": min(height, FULL_HEIGHT), "scale": 1}
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **more)
        path.write_bytes(base64.b64decode(shot["data"]))


def find_browser() -> str | None:
    """Return the program of a Chromium; None where none is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser(origin: str) -> Iterator[Browser]:
    """Start a Chromium without a window and yield a tab of it; every request that leaves `origin` is noted."""
    program = find_browser()
    if program is None:
        raise SystemExit("This needs Chromium: apt-get install chromium, or as your system has it.")
    to_read, to_answer = os.pipe()
    to_hear, to_write = os.pipe()
    options = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Its pipe is at 3 and 4; a shell puts the ends there.
        start = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        command = ["bash", "-c", start, "browser", program, *options, f"--user-data-dir={profile}"]
        with subprocess.Popen(command, pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL) as process:
            os.close(to_read)
            os.close(to_write)
            try:
                yield Browser(to_hear, to_answer, origin).attach()
            finally:
                process.terminate()
                time.sleep(0.2)
                process.kill()
                os.close(to_hear)
                os.close(to_answer)
