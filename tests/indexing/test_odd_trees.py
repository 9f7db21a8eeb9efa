"""Trees with everything in them that a file system can hold: what is text is indexed, the rest has its reason."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.capture.transcript import read_batch
from hyperloci.indexing.indexer import Indexer
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from tests.support import FakeClock
from tests.working_tree import WorkingTree

WORDS = "It has words enough to be a section that stands alone in an index, and then a few more of them.\n"

GOOD = {
    "plain.md": f"# Plain\n\n{WORDS}".encode(),
    "new\nline.md": f"# Newline\n\n{WORDS}".encode(),
    f"{'n' * 252}.md": f"# Long name\n\n{WORDS}".encode(),
    " spaces (1) .md": f"# Spaces\n\n{WORDS}".encode(),
    "-rf.md": f"# Dash\n\n{WORDS}".encode(),
    "müll 🧠.py": b"def think():\n    return 1\n",
    "bom.md": b"\xef\xbb\xbf# Bom\r\n\r\n" + WORDS.encode(),
    "wide.md": f"# Wide\n\n{WORDS}".encode("utf-16-le"),
    "sjis.txt": "設定を読み込みます。エラーの場合は例外を投げます。\n".encode("cp932") * 9,
    "one_line.txt": b"word " * 100_000,
    "lines.c": b"\n" * 50_000 + b"int main(void) { return 0; }\n",
    "nested.md": b">" * 3_000 + b" deep\n" + b"- " * 2_000 + b"x\n" + b"[" * 3_000 + b"](x)\n",
    "nested.py": b"x = [\n" * 3_000 + b"1" + b"]\n" * 3_000,
    "links.md": "# Links\n\n[a](http://[::1/a) [b](//[) [c](%zz) [d](#L{}) &#xD83D; http://[\n".format(
        "9" * 300
    ).encode(),
    "numbers.md": f"# Numbers\n\nIn {'9' * 5_000} days, on 99999-99-99, at 25:99 pm. {WORDS}".encode(),
}

SKIPPED = {
    "pipe.md": "not a regular file",
    "socket.md": "not a regular file",
    "nowhere.md": "a symbolic link that is broken",
    "round": "a symbolic link",
    "about": "a symbolic link",
    "up": "a symbolic link to a folder",
    "outside.md": "a symbolic link to a place outside the project",
    "nul.py": "binary",
    "late.md": "set aside: contains invalid text",
    "large.md": "1,000,001 bytes, above 1,000,000",
}


@pytest.fixture
def odd(tree: WorkingTree, tmp_path: Path) -> WorkingTree:
    root = tree.root
    for name, data in GOOD.items():
        tree.write(name, data)
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)  # The path of a socket is short.
        try:
            server.bind("socket.md")
        finally:
            os.chdir(here)
    (root / "nowhere.md").symlink_to("gone.md")
    (root / "round").symlink_to("about")
    (root / "about").symlink_to("round")
    (root / "up").symlink_to(".")
    (tmp_path / "secret.md").write_text(f"# Secret\n\n{WORDS}")
    (root / "outside.md").symlink_to(tmp_path / "secret.md")
    tree.write("nul.py", b"x = 1\0\0\n")
    tree.write("late.md", f"# Late\n\n{WORDS}".encode() + b"a" * 9_000 + b"\xff\x00\x01\x02" * 50)
    tree.write("large.md", b"x" * 1_000_001)
    return tree


def test_what_is_text_is_indexed_and_everything_else_has_its_reason(
    odd: WorkingTree, store: Store, settings: Settings, clock: FakeClock
) -> None:
    project = identify_project(odd.root)
    report = Indexer(store, settings, project, clock).index_tree()
    reasons = {item.path: item.reason for item in report.skipped}
    assert reasons.keys() == SKIPPED.keys()
    for path, reason in SKIPPED.items():
        assert reasons[path].startswith(reason), (path, reasons[path])
    scope = store.scopes.find_key(project.id)
    assert scope is not None
    assert set(GOOD) <= set(store.files.list_files(scope))
    assert store.relation_queue.list_waiting(scope) == {}
    again = Indexer(store, settings, project, clock).index_tree()
    assert (again.added, again.changed, again.moved, again.removed) == (0, 0, 0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="bytes as names are for POSIX")
def test_a_name_that_is_no_text_keeps_no_other_out(
    tree: WorkingTree, store: Store, settings: Settings, clock: FakeClock
) -> None:
    tree.write("good.md", f"# Good\n\n{WORDS}")
    try:
        (Path(os.fsdecode(os.fsencode(tree.root) + b"/caf\xe9.md"))).write_bytes(b"# Coffee\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    report = Indexer(store, settings, identify_project(tree.root), clock).index_tree()
    assert [item.reason for item in report.skipped] == ["its name is not valid text"]
    assert report.files == 1


def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        read_batch(tmp_path / "s.jsonl")
