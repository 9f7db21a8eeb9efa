"""Author lookup, with a real Git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.project import author_lookup
from hyperloci.project.author_lookup import find_author


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    author_lookup._find_by_git.cache_clear()
    yield home
    author_lookup._find_by_git.cache_clear()


def test_the_author_is_who_git_commits_as_in_that_folder(tmp_path: Path, own_home: Path) -> None:
    (own_home / ".gitconfig").write_text("[user]\n\tname = Ada Lovelace\n\temail = ada@home.example\n")
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    assert find_author(None, repository) == "Ada Lovelace <ada@home.example>"
    author_lookup._find_by_git.cache_clear()
    subprocess.run(["git", "-C", str(repository), "config", "user.email", "ada@work.example"], check=True)
    assert find_author(None, repository) == "Ada Lovelace <ada@work.example>"


def test_without_git_the_login_name_is_the_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert find_author(None, tmp_path) == "ada <ada>"


def test_the_setting_comes_before_everything(tmp_path: Path) -> None:
    assert find_author("Ada <ada@example.com>", tmp_path) == "Ada <ada@example.com>"


def test_a_git_that_does_not_answer_makes_nobody_the_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("git", 2)

    monkeypatch.setattr(subprocess, "run", hang)
    assert find_author(None, tmp_path) is None
