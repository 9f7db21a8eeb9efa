"""Sharing as two people live it: real clones, the installed command, real hooks and real servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import house as hooks
from tests.e2e.conftest import SOON, House
from tests.support import call

DECISION = "We deploy with Kamal, because Kubernetes took a week to upgrade."


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def clone(origin: Path, folder: Path, name: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    git(origin, "clone", "-q", str(origin), str(folder))
    git(folder, "config", "user.name", name)
    git(folder, "config", "user.email", f"{name.lower()}@example.com")


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    origin = tmp_path / "origin"
    subprocess.run(["git", "init", "-q", "-b", "main", str(origin)], check=True)
    git(origin, "commit", "-q", "--allow-empty", "-m", "begin")
    git(origin, "config", "receive.denyCurrentBranch", "ignore")
    return origin


def command(house: House, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "hyperloci"
    return subprocess.run(
        [str(program), *arguments],
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=3 * SOON,
        check=False,
    )


@pytest.mark.anyio
async def test_a_decision_shared_in_one_clone_is_in_the_opening_and_the_search_of_the_other(
    origin: Path, tmp_path: Path
) -> None:
    clone(origin, tmp_path / "a" / "project", "Ada")
    ada = House(tmp_path / "a")
    async with ada.client() as client:
        id = (await call(client, "remember_fact", fact=DECISION, category="decision"))["id"]
    done = command(ada, "share", id)
    assert done.returncode == 0, done.stderr
    assert command(ada, "share", "--check").returncode == 0
    git(ada.project, "add", "-A")
    git(ada.project, "commit", "-q", "-m", "share")
    git(ada.project, "push", "-q", "origin", "main")

    (tmp_path / "b").mkdir()
    bob = hooks.House(tmp_path / "b")
    bob.project.rmdir()
    clone(origin, bob.project, "Bob")
    opening = bob.context("SessionStart", source="startup")
    assert DECISION in opening
    assert 'teammate "Ada"' in opening

    server = House(tmp_path / "server", extra=dict(bob.environ) | {"RLM_MEMORY_DB": str(bob.settings.database)})
    server.extra["CLAUDE_PROJECT_DIR"] = str(bob.project)
    async with server.client() as client:
        answer = await call(client, "search_memory", query="How do we deploy?")
        (hit,) = [hit for hit in answer["results"] if hit["id"] == id]
        assert hit["source"]["kind"] == "teammate"
        assert hit["source"]["author"] == "Ada <ada@example.com>"


@pytest.mark.anyio
async def test_texts_of_two_people_that_contradict_are_shown_to_both_by_their_servers(
    origin: Path, tmp_path: Path
) -> None:
    told = {"a": ("Ada", "The API listens on port 8080."), "b": ("Bob", "The API listens on port 9090.")}
    houses = {}
    for folder, (name, text) in told.items():
        clone(origin, tmp_path / folder / "project", name)
        house = houses[folder] = House(tmp_path / folder)
        async with house.client() as client:
            id = (await call(client, "remember_fact", fact=text, category="constraint"))["id"]
        assert command(house, "share", id).returncode == 0
        git(house.project, "add", "-A")
        git(house.project, "commit", "-q", "-m", "share")
    for mine, other in (("a", "b"), ("b", "a")):
        git(houses[mine].project, "pull", "-q", "--no-rebase", "--no-edit", str(houses[other].project), "main")
    for mine, other in (("a", "b"), ("b", "a")):
        house, (name, text) = houses[mine], told[other]
        assert command(house, "share", "--read").returncode == 0
        async with house.client() as client:
            answer = await call(client, "search_memory", query="Which port does the API listen on?")
            found = {hit["content"]: hit for hit in answer["results"]}
            assert {text, told[mine][1]} <= set(found)
            assert found[text]["source"]["author"] == f"{name} <{name.lower()}@example.com>"
            theirs, own = found[text], found[told[mine][1]]
            for one, rival in ((theirs, own), (own, theirs)):
                assert f"contradicted by {rival['id']}" in json.dumps(one)


@pytest.mark.anyio
async def test_who_corrects_a_shared_memory_is_told_what_others_do_not_know_yet(origin: Path, tmp_path: Path) -> None:
    clone(origin, tmp_path / "a" / "project", "Ada")
    ada = House(tmp_path / "a")
    async with ada.client() as client:
        id = (await call(client, "remember_fact", fact=DECISION, category="decision"))["id"]
        assert command(ada, "share", id).returncode == 0
        done = await call(client, "correct_fact", id=id, fact="We deploy with Nomad since the merger.")
        assert f"hyperloci share {done['id'][:8]}" in done["sharing"]
    checked = command(ada, "share", "--check")
    assert checked.returncode == 0 and f"hyperloci share {done['id'][:8]}" in " ".join(checked.stderr.split())
    assert f"hyperloci share {done['id'][:8]}" in " ".join(command(ada, "doctor").stdout.split())


def test_the_check_fails_in_ci_on_what_a_reader_would_leave_out(origin: Path, tmp_path: Path) -> None:
    house = House(tmp_path / "ci")
    folder = house.project / ".hyperloci" / "shared"
    folder.mkdir(parents=True)
    (folder / "one.json").write_text("<<<<<<< HEAD\n")
    done = command(house, "share", "--check", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"][0]["line"] == 1
    assert not house.database.exists()
