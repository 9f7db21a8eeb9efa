"""What is set aside, as a person sees it: counted where he looks, listed with reasons, tried again when he says so."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.helpers import invoke, run

LATE = b"# Late\n\nIt begins as a text.\n" + b"a" * 9_000 + b"\xff\x00\x01\x02" * 50


def test_what_is_set_aside_is_counted_listed_and_tried_again(tmp_path: Path) -> None:
    bad = tmp_path / "project" / "late.md"
    bad.write_bytes(LATE)
    (tmp_path / "project" / "good.md").write_text("# Good\n\nA text like any other, long enough for a section.\n")

    assert "1 set aside" in run("index")
    assert json.loads(run("index", "--json"))["report"]["set_aside"] == 1
    assert json.loads(run("stats", "--json"))["set_aside"] == {"file": 1}
    told = invoke("doctor").stdout
    assert "late.md (contains invalid text" in " ".join(told.split())

    assert "file late.md: contains invalid text" in run("set-aside")
    (listed,) = json.loads(run("set-aside", "--json"))
    assert (listed["kind"], listed["subject"], listed["tries"]) == ("file", "late.md", 1)

    assert "tried again" in run("set-aside", "--again")
    assert "nothing is set aside" in run("set-aside")
    assert json.loads(run("index", "--json"))["report"]["set_aside"] == 1
    bad.write_text("# Late\n\nA text to its end.\n")
    assert json.loads(run("index", "--json"))["report"]["set_aside"] == 0
