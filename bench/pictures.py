"""The viewer in a real browser: `python -m bench pictures [--n 10,10000] [--cache FOLDER] [--out FOLDER]`.

Opens each page of the projects that `bench.viewer` builds in a headless Chromium: light and dark, wide and narrow. A
page wider than its window, an error on the console, a request to elsewhere or a dialog is named; the exit code is then
1. With `--out` the pictures are kept there. Two more ways, which look at no other page:

    python -m bench pictures --clicks   corrects, forgets, restores and settles with the mouse, `<script>` in what is
                                        typed, and asks as strangers would (it changes what is in the cache)
    python -m bench pictures --docs     remakes the documentation's pictures: the small project, with vectors, today
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx2

from bench._browser import Browser, open_browser
from bench._shared import bench_settings
from bench.viewer import STORY_AT, build_project, list_pages
from hyperloci.clock import OFFSET_VARIABLE, system_clock
from hyperloci.memory import Memory
from tests.support import FakeClock
from tests.viewer.story import DAY, SESSIONS, tell_story

WINDOWS: Final = {"light": (1_280, 900, False), "dark": (1_280, 900, True), "narrow": (390, 844, False)}

IMAGES: Final = Path(__file__).parent.parent / "docs" / "images"

QUESTION: Final = "why no queue between checkout and tax?"

MOST_SEARCHES: Final = 60
AT_REST_MS: Final = 60
"""The first search after a start loads what the others find loaded, and a busy machine keeps any of them waiting: the
picture shows the first that took less, or the last of so many."""


@contextmanager
def look_at(folder: Path, *, now: int, vectors: bool = False) -> Iterator[tuple[Browser, str]]:
    """Start the viewer of a project as if it were `now`; yield a browser that it has admitted, and the address."""
    environment = os.environ | {
        "RLM_MEMORY_DB": str(folder / "memory.db"),
        "HYPERLOCI_STATE_DIR": str(folder / "state"),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
        "HYPERLOCI_EMBEDDER": str(int(vectors)),
        OFFSET_VARIABLE: str((now - system_clock()) / 1_000),
    }
    command = [sys.executable, "-m", "hyperloci", "view", "--no-browser", "--project", str(folder / "shop")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        entry = process.stdout.readline().decode().strip()
        root = entry.partition("/enter")[0]
        try:
            with open_browser(root.rpartition("/")[0]) as browser:
                browser.open(entry)
                browser.open(f"{root}/")
                yield browser, entry
        finally:
            process.terminate()


def draw_pages(browser: Browser, root: str, pages: Mapping[str, str], out: Path | None, name: str) -> list[str]:
    """Look at each page in each window, and return what is wrong with it."""
    wrong = []
    for window, (width, height, dark) in WINDOWS.items():
        browser.show_as(width, height, dark=dark)
        for page, path in pages.items():
            browser.open(f"{root}{path}")
            shown = browser.run("document.documentElement.scrollWidth")
            if shown > width:
                wrong.append(f"{name}, {page}, {window}: {shown} pixels wide in a window of {width}")
            if out is not None:
                file = f"{name}-{page.replace(': ', '-').replace(', ', '-').replace(' ', '-')}-{window}.png"
                browser.take_picture(out / file, whole=True)
    return wrong


def click_through(browser: Browser, root: str, ids: Mapping[str, str]) -> list[str]:
    """Correct, forget, restore and settle with the mouse, and return what did not come of it."""
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    wrong = []

    def expect(words: str) -> None:
        if words not in str(browser.run("document.body.innerText")):
            wrong.append(f"{browser.run('location.pathname').rpartition('/')[0][-20:]}: {words!r} is not there")

    def press(button: str) -> None:
        browser.click(f"[...document.querySelectorAll('main button')].find(one => one.innerText == '{button}')")

    browser.show_as(*WINDOWS["light"][:2], dark=False)
    browser.open(f"{root}/memory/{ids['port']}")
    browser.run("document.querySelector('details.edit').open = true")
    browser.run(f"document.querySelector('#text').value = 'The staging database has port 7000. {evil}'")
    browser.run(f"document.querySelector('#reason').value = '{evil}'")
    press("Save the correction")
    expect("has port 7000. <script>alert(1)</script>")
    browser.open(f"{root}/?q={quote(evil)}")
    expect("has port 7000. <script>alert(1)</script>")
    browser.open(f"{root}/memory/{ids['quiet']}")
    for button, words in (
        ("Forget", "Restore"),
        ("Restore", "Forget"),
        ("Never recall", "Recall again"),
        ("Pin", "pinned"),
    ):
        press(button)
        expect(words)
    browser.open(f"{root}/review?tab=contradictions")
    press("This one holds")
    expect("Settled.")
    browser.open(f"{root}/review?tab=quarantine")
    press("It is harmless")
    expect("Nothing")
    return wrong


def attack(entry: str, root: str, cookie: str) -> list[str]:
    """Ask as strangers would, and return what was answered that should not have been."""
    origin = root.rpartition("/")[0]
    own, path = {"cookie": cookie}, f"{root}/"
    asked: dict[str, tuple[str, str, dict[str, str], int]] = {
        "no cookie": ("GET", path, {}, 403),
        "another cookie": ("GET", path, {"cookie": "hyperloci=guess"}, 403),
        "a replayed token": ("GET", entry, {}, 403),
        "a foreign Host": ("GET", path, own | {"host": "evil.example"}, 421),
        "localhost as Host": (
            "GET",
            path,
            own | {"host": origin.partition("//")[2].replace("127.0.0.1", "localhost")},
            421,
        ),
        "outside of the secret path": ("GET", f"{origin}/", own, 404),
        "a foreign Origin": ("POST", f"{root}/forget/x", own | {"origin": "http://evil.example"}, 403),
        "Origin null": ("POST", f"{root}/forget/x", own | {"origin": "null"}, 403),
        "no Origin": ("POST", f"{root}/forget/x", own, 403),
        "no key of the form": ("POST", f"{root}/forget/x", own | {"origin": origin}, 400),
        "PUT": ("PUT", path, own, 405),
    }
    wrong = []
    for name, (method, url, headers, status) in asked.items():
        data = {"key": "guess"} if method == "POST" else None
        answer = httpx2.request(method, url, headers=headers, data=data, timeout=60)
        if answer.status_code != status:
            wrong.append(f"{name}: {answer.status_code} instead of {status}")
    print(f"{len(asked)} attacks, {len(asked) - len(wrong)} refused as they should be")
    return wrong


def draw_for_docs(folder: Path) -> None:
    """Remake the two pictures of the documentation: the end of a search's first hit and of a session must fit."""
    project = folder / "shop"
    project.mkdir()
    clock = FakeClock(system_clock() - 13 * DAY)
    with Memory.open(bench_settings(folder, embedder=True), project, clock=clock) as memory:
        tell_story(memory, clock, project)
        with memory.keep_embedder_running():
            memory.embed_pending()
    with look_at(folder, now=system_clock(), vectors=True) as (browser, entry):
        root = entry.partition("/enter")[0]
        browser.show_as(1_180, 760, dark=False)
        for _ in range(MOST_SEARCHES):
            browser.open(f"{root}/?q={quote(QUESTION)}")
            took = browser.run("document.querySelector('.found').innerText.match(/(\\d+) ms$/)[1]")
            if int(took) < AT_REST_MS:
                break
        browser.run("document.querySelector('details.why').open = true; document.activeElement.blur()")
        browser.take_picture(IMAGES / "viewer-search.png")
        browser.show_as(1_180, 1_010, dark=False)
        browser.open(f"{root}/session/{SESSIONS[0]}")
        browser.run("document.querySelectorAll('details').forEach(one => one.open = one.className == 'injected')")
        browser.take_picture(IMAGES / "viewer-session.png")


def main() -> None:
    """Look at the viewer."""
    parser = argparse.ArgumentParser(description="The viewer in a real browser.")
    parser.add_argument("--n", default="10,10000")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--clicks", action="store_true")
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        if given.docs:
            draw_for_docs(Path(spare))
            return
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
        wrong, count = [], 0
        for size in (int(size) for size in given.n.split(",")):
            folder = (given.cache or Path(spare)) / f"viewer-{size}"
            ids = build_project(folder, size)
            pages = list_pages(ids)
            with look_at(folder, now=STORY_AT + 14 * DAY) as (browser, entry):
                root = entry.partition("/enter")[0]
                if given.clicks:
                    cookie = browser.send("Network.getCookies", urls=[f"{root}/"])["cookies"][0]
                    wrong += attack(entry, root, f"{cookie['name']}={cookie['value']}")
                    wrong += click_through(browser, root, ids)
                else:
                    wrong += draw_pages(browser, root, pages, given.out, str(size))
                wrong += [f"{size}: {trouble}" for trouble in browser.troubles]
            count += 0 if given.clicks else len(pages) * len(WINDOWS)
    print("\n".join([*wrong, f"{count} pages looked at, {len(wrong)} things wrong"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
