"""Taking a memory, or a part of it, elsewhere."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperloci.cli.data import describe_replaced
from tests.cli.helpers import invoke, remember, run

posix = pytest.mark.skipif(os.name != "posix", reason="pipes with a name, and links that anybody may make")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return another project, with a memory that is nobody else's."""
    folder = tmp_path / "other"
    folder.mkdir()
    remember("The secret launch of Zeppelin is in May", "--category", "decision", "-p", str(folder))
    return folder


def healthy(monkeypatch: pytest.MonkeyPatch, database: Path) -> bool:
    """Tell whether the doctor finds nothing wrong with a database."""
    monkeypatch.setenv("RLM_MEMORY_DB", str(database))
    findings = json.loads(invoke("doctor", "--json").stdout)
    return not [one for one in findings if one["subject"] == "database" and one["level"] in ("warning", "error")]


def test_an_export_of_a_project_has_all_of_it_and_nothing_of_another(
    tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "a.py").write_text("def invoice_total():\n    return 42\n")
    run("index", "--no-wait")
    old = remember("Invoices are kept in PostgreSQL", "--category", "decision")
    new = remember("Invoices are kept in MySQL", "--category", "decision", "--replaces", old)
    file = tmp_path / "mine.jsonl"

    run("export", str(file), "--project", str(tmp_path / "project"))

    assert "Zeppelin" not in file.read_text("utf-8") and str(other) not in file.read_text("utf-8")
    assert healthy(monkeypatch, tmp_path / "new.db")
    run("import", str(file))
    assert healthy(monkeypatch, tmp_path / "new.db")
    assert json.loads(run("query", "invoice total", "--type", "code", "--json"))["results"]
    assert f"replaced {old[:8]}" in run("history", new)
    assert "nothing new" in run("import", str(file))
    again = tmp_path / "again.jsonl"
    run("export", str(again))
    assert sorted(again.read_text("utf-8").splitlines()) and run("list", "--json") != "[]"


def test_an_export_is_narrowed_by_kind_and_time_and_whole_for_an_import(
    tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "a.py").write_text("def invoice_total():\n    return 42\n")
    run("index", "--no-wait")
    remember("Invoices are kept in PostgreSQL", "--category", "decision")
    remember("Use tabs", "--category", "preference")
    file = tmp_path / "some.jsonl"

    run("export", str(file), "--type", "decision", "--since", "yesterday")
    assert "Zeppelin" in file.read_text("utf-8") and "tabs" not in file.read_text("utf-8")
    assert '"table": "files"' not in file.read_text("utf-8")
    assert healthy(monkeypatch, tmp_path / "new.db")
    run("import", str(file))
    assert healthy(monkeypatch, tmp_path / "new.db")
    assert [row["text"] for row in json.loads(run("list", "--json"))] == ["Invoices are kept in PostgreSQL"]

    run("export", str(file), "--since", "2099-01-01")
    assert '"table"' not in file.read_text("utf-8")
    assert "--type 'gossip' is unknown" in invoke("export", "-", "--type", "gossip").stderr


def test_standard_output_gets_the_lines_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    remember("Use tabs", "--category", "preference")

    lines = run("export", "-").splitlines()

    assert all(json.loads(line) for line in lines) and "Use tabs" in "".join(lines)
    assert not (tmp_path / "-").exists()


def test_markdown_is_for_people_and_has_what_holds(tmp_path: Path, other: Path) -> None:
    old = remember("The port is 8000", "--category", "decision")
    remember("The port is 9000", "--category", "decision", "--replaces", old)
    run("dead-end", "Caching in Redis", "evictions logged users out")

    text = run("export", "-", "--markdown", "--project", str(tmp_path / "project"))

    assert text.startswith("<!-- exported by Hyperloci -->\n# project\n\n## Decisions\n\n- The port is 9000 (20")
    assert "## Dead ends\n\n- Dead end: Caching in Redis\n  Why it failed: evictions" in text
    assert "8000" not in text and "Zeppelin" not in text
    run("export", str(tmp_path / "all.md"))
    assert "# other\n" in (tmp_path / "all.md").read_text("utf-8")
    assert json.loads(run("import", str(tmp_path / "all.md"), "--dry-run", "--json"))["added"]["facts"] == 3


def test_an_export_in_a_project_is_no_document_of_it(tmp_path: Path, other: Path) -> None:
    remember("The port is 9000", "--category", "decision")
    for name in ("all.md", "all.json"):
        run("export", str(tmp_path / "project" / name))
    redirected = tmp_path / "project" / "redirected.md"
    redirected.write_text((tmp_path / "project" / "all.md").read_text(encoding="utf-8"), encoding="utf-16")

    assert "all.md: exported by Hyperloci" in run("index", "--no-wait")
    assert "Zeppelin" not in run("query", "The launch of Zeppelin")
    assert "all.json: exported by Hyperloci" in run("index", "--no-wait")
    assert "redirected.md: exported by Hyperloci" in run("index", "--no-wait")


@pytest.mark.parametrize("name", ["all.md", "all.jsonl"])
def test_an_export_replaces_an_older_one_and_nothing_else(tmp_path: Path, name: str) -> None:
    remember("The port is 9000")
    run("export", str(tmp_path / name))
    remember("The port is free")
    run("export", str(tmp_path / name))
    assert "The port is free" in (tmp_path / name).read_text("utf-8")

    (tmp_path / name).write_text("# Precious notes\n")
    refused = invoke("export", str(tmp_path / name))
    assert refused.exit_code == 2 and "is no export: give another file" in refused.stderr
    assert (tmp_path / name).read_text() == "# Precious notes\n"


@posix
def test_an_export_into_a_pipe_is_written_into_it_and_the_pipe_stays(tmp_path: Path) -> None:
    remember("The port is 9000")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)

    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text, "utf-8")
        done = invoke("export", str(pipe))
        if not stat.S_ISFIFO(os.lstat(pipe).st_mode):
            pytest.fail("the pipe was replaced")
        lines = read.result().splitlines()

    assert all(json.loads(line) for line in lines) and "The port is 9000" in "".join(lines)
    assert (done.exit_code, done.stdout) == (0, "") and f"wrote 1 memory (insight: 1) to {pipe}" in done.stderr
    assert stat.S_IMODE(os.lstat(pipe).st_mode) == 0o644


@posix
def test_an_export_by_a_link_is_where_it_leads_and_the_link_stays(tmp_path: Path) -> None:
    remember("The port is 9000")
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "link.jsonl", tmp_path / "elsewhere" / "memory.jsonl"
    link.symlink_to(target)

    for _ in range(2):
        run("export", str(link))

    assert link.is_symlink() and "The port is 9000" in target.read_text("utf-8")
    assert [file.name for file in target.parent.iterdir()] == ["memory.jsonl"]


@pytest.mark.parametrize("command", ["export", "backup"])
@pytest.mark.parametrize("folder", [".", "/", "folder"])
def test_a_folder_is_no_file_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, folder: str
) -> None:
    remember("The port is 9000")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)

    refused = invoke(command, folder)

    assert refused.exit_code == 2 and f"{folder} is a folder: give a file" in refused.stderr


@pytest.mark.parametrize("command", ["export", "backup"])
def test_what_a_killed_export_left_of_the_same_place_is_removed_after_a_day(tmp_path: Path, command: str) -> None:
    remember("The port is 9000")
    folder = tmp_path / "copies"
    folder.mkdir()
    left = [folder / f"copy.partial-0123456789ab{ending}" for ending in ("", "-journal")]
    foreign = [
        folder / name
        for name in ("films.tar.partial-0123456789ab", "copy.partial-of-mine", "copy2.partial-0123456789ab")
    ]
    fresh, linked = folder / "copy.partial-ba9876543210", folder / "copy.partial-cccccccccccc"
    for file in (*left, *foreign, fresh, linked):
        file.touch()
    os.link(linked, tmp_path / "kept")
    for file in (*left, *foreign, linked):
        os.utime(file, (1_000_000_000, 1_000_000_000))

    run(command, str(folder / "copy"))

    assert sorted(folder.iterdir()) == sorted([*foreign, fresh, linked, folder / "copy"])


def test_a_backup_says_what_it_replaced_whatever_time_stands_beside_it() -> None:
    assert describe_replaced(None) == ""
    assert describe_replaced(1_700_000_000) == ", in place of a file of 2023-11-14 22:13"
    assert describe_replaced(9e11) == ", in place of another file"


def test_an_export_comes_in_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("The CI runs on Python 3.11")
    exported = run("export", "-")
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "new.db"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()

    assert json.loads(run("import", "-", "--json", stdin=exported))["files"] == ["-"]

    assert "CI runs" in run("query", "CI") and "nothing new" in run("import", "-", stdin=exported)
    for other in ("", "- notes\n"):
        assert "only what `hyperloci export` writes" in invoke("import", "-", stdin=other).stderr
    assert [*(tmp_path / "kept").iterdir()] == []


@posix
def test_an_export_comes_in_through_a_pipe_with_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("The CI runs on Python 3.11")
    exported = run("export", "-")
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "new.db"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(pipe.write_text, exported, "utf-8")
        assert "added" in run("import", str(pipe))
        writing.result()
