"""Relations and structure on the command line: query, graph, outline, confirm, prune, stats (D.11)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from tests.cli import helpers
from tests.cli.helpers import invoke
from tests.test_topology import CODE, CTF, ROWS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {"docs/ctf.md": CTF, "app/cache.py": CODE, "app/rows.py": ROWS}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(project: Path, *arguments: str, code: int = 0) -> str:
    return helpers.run(*arguments, "--project", str(project), code=code)


@pytest.mark.req("D.11")
def test_the_command_line_asks_draws_outlines_confirms_and_counts(project: Path) -> None:
    run(project, "index", "--json")
    assert "docs/ctf.md" in run(project, "query", "caching section:Design")
    listed = json.loads(run(project, "query", "class:RowCache function:fetch", "--json"))
    (hit,) = listed["results"]
    drawn = run(project, "graph", hit["id"][:8], "--depth", "1")
    assert "-> calls" in drawn and "decode_row" in drawn and "~0.95" in drawn
    answer = json.loads(run(project, "graph", hit["id"], "--json"))
    edge = next(edge for edge in answer["edges"] if edge["label"] == "calls")
    assert "confirmed" in run(project, "confirm", edge["id"][:8])
    assert "-.->|" in run(project, "graph", hit["id"], "--mermaid")
    assert 'label="calls"' in run(project, "graph", hit["id"], "--dot", "--relation", "calls")
    assert "Limitations  limitations, lines" in run(project, "outline", "docs/ctf.md")
    assert "RowCache" in run(project, "outline", "app/cache.py")
    assert "docs/ctf.md" in run(project, "outline", "--title", "limitation", "--fuzzy")
    assert json.loads(run(project, "stats", "--json"))["graph"]["confirmed_edges"] == 1


@pytest.mark.req("D.11")
def test_an_outline_of_no_indexed_file_says_whether_there_is_one_and_what_is_meant(project: Path) -> None:
    run(project, "index", "--json")
    (project / "late.py").write_text("x = 1")

    def said(path: str) -> str:
        return invoke("outline", path, "--project", str(project)).stderr

    assert "there is no such file; did you mean docs/ctf.md?" in said("ctf.md")
    assert "there is no such file; did you mean app/cache.py?" in said("app/cahce.py")
    assert "there is no such file in this project." in said("zzzzzzzz.qqq")
    assert "this is a folder; name a file." in said("docs")
    assert "this file is not indexed in this project; `hyperloci index` indexes it" in said("late.py")
    assert "is not a valid path" in said(str(project / ("a" * 300)))


@pytest.mark.req("D.02", "D.11")
def test_the_command_line_prunes_relations_that_faded(project: Path) -> None:
    first, second = (json.loads(run(project, "remember", text, "--json"))["id"] for text in ("One.", "Two."))
    with Memory.open(Settings.from_env(dict(os.environ)), project) as memory, memory.store.transaction():
        keys = [node.key for id in (first, second) if (node := memory.store.nodes.get_node(id))]
        memory.store.edges.link_nodes("supports", keys[0], keys[1:], now=1, confidence=0.5, automatic=True)
    assert "1 relations would be removed" in run(project, "prune", "--edges", "--dry-run")
    assert json.loads(run(project, "prune", "--edges", "--json")) == {"faded": 1, "crowded": 0, "dry_run": False}
    assert "0 relations removed" in run(project, "prune", "--edges")


@pytest.mark.req("D.11")
def test_the_command_line_points_at_the_column_of_a_mistake(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = invoke("query", "cache sectoin:Design", "--project", str(project))
    assert result.exit_code == 2
    said = result.output + capfd.readouterr().err
    assert "column 7: sectoin: is not a condition; did you mean section:? Use one of" in said
    assert "\n        ^" in said
    said = invoke("query", "lang:ruby", "--project", str(project)).stderr
    assert "lang: is not a condition. Use one of" in said


@pytest.mark.req("D.11", "B.10")
def test_what_mentions_an_entity_is_drawn(project: Path) -> None:
    run(project, "remember", "Sessions are kept in Redis, for they must be shared")

    drawn = " ".join(run(project, "graph", "Redis").split())

    assert "<- mentions" in drawn and "Sessions are kept in Redis" in drawn and "[" not in drawn.split("mentions")[1]
    assert "-.->|mentions|" in run(project, "graph", "Redis", "--mermaid")


@pytest.mark.req("D.11")
def test_what_a_method_calls_is_drawn_as_called_and_not_as_of_the_same_class(project: Path) -> None:
    filling = "\n".join(f"        self.rows.append({number})" for number in range(40))
    methods = "".join(
        f"    def {name}(self):\n{body}\n\n"
        for name, body in (
            ("push", f"{filling}\n        self.grow()"),
            ("grow", filling),
            ("shrink", filling),
        )
    )
    (project / "app/queue.py").write_text(f"class Queue:\n{methods}", encoding="utf-8")
    run(project, "index", "--json")

    drawn = run(project, "graph", "Queue.push", "--depth", "1").splitlines()

    (called,) = [line for line in drawn if "Queue.grow" in line]
    assert "-> calls" in called
    (caller,) = [
        line for line in run(project, "graph", "Queue.grow", "--depth", "1").splitlines() if "Queue.push" in line
    ]
    assert "<- calls" in caller
