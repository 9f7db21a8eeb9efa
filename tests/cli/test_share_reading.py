"""What `hyperloci share --read` says of what it took in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from hyperloci.cli.sharing.share_commands import describe_reading
from hyperloci.facts.sharing.intake_report import IntakeReport
from tests.cli.helpers import invoke, remember, run


def test_only_what_happened_is_said_in_the_number_that_it_has() -> None:
    assert describe_reading(IntakeReport()) == "nothing new"
    assert describe_reading(IntakeReport(taken=2)) == "2 memories taken in"
    told = describe_reading(IntakeReport(taken=1, ended=2, withdrawn=1, disputes=1))
    assert (
        told == "1 memory taken in, 2 memories no longer valid, 1 memory forgotten as withdrawn, 1 contradiction found"
    )


def test_sharing_names_what_contradicts_and_holds(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    one = remember("The API listens on port 8080.", "--category", "constraint")
    assert "contradict" not in invoke("share", one).stderr
    other = remember("The API listens on port 9090.", "--category", "constraint")
    private = remember("The queue keeps 10 days of mail.", "--category", "constraint")
    remember("The queue keeps 20 days of mail.", "--category", "constraint")

    shown = invoke("share", other).stderr
    assert "port 8080" in shown and "port 9090" in shown and "days of mail" not in shown
    assert "days of mail" in invoke("share", private, "--dry-run").stderr
    assert "port 8080" in invoke("share", "--read").stderr
    (pair,) = json.loads(run("share", "--read", "--json"))["contradictions"]
    assert {item["id"] for item in pair} == {one, other}

    run("forget", one)
    assert "contradict" not in invoke("share", "--read").stderr


def test_sharing_says_what_takes_it_to_others_and_what_is_in_the_way(tmp_path: Path) -> None:
    project = tmp_path / "project"
    told = "The API listens on port 8080."
    assert "is no Git repository" in invoke("share", remember(told, "--category", "constraint")).stderr
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    id = remember(told, "--category", "constraint")
    assert "with your next commit of .hyperloci/shared" in run("share", id)
    (project / ".gitignore").write_text(".*\n")
    ignored = invoke("share", id)
    assert "next commit" not in ignored.stdout
    assert "Git ignores it" in ignored.stderr and "`git add -f .hyperloci/shared`" in ignored.stderr
