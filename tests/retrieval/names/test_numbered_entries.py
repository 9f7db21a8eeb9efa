"""A changelog's entry leads to the commits that bear its number."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.retrieval.names.numbered_entries import find_numbered_commits, names_number
from tests.working_tree import WorkingTree

CHANGELOG = """# Changelog

## 0.3

* Uploads of empty files are accepted again. (#41)
* The `timeout` argument of downloads takes
  a tuple too ([#42](https://example.org/pull/42)).

## 0.2

* Nothing else. (#7)
"""


@pytest.fixture
def asked(settings: Settings, tree: WorkingTree) -> Iterator[Memory]:
    tree.git("init", "-q")
    tree.commit("Begin", other_py="X = 1\n")
    tree.commit("Skip length check on zero (#41)", upload_py="def send(data):\n    return data\n")
    tree.commit("Allow pairs (#42)", download_py="def fetch(url):\n    return url\n")
    tree.commit("Accept empty strings of files in uploads (#141)", more_py="Y = 2\n")
    tree.commit("Release 0.3", CHANGELOG_md=CHANGELOG)
    with Memory.open(settings, tree.root) as memory:
        memory.index_path()
        yield memory


@pytest.mark.req("B.05", "E.02")
@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("why are uploads of empty files accepted again?", "Skip length check on zero (#41)"),
        ("why does the timeout of downloads take a tuple?", "Allow pairs (#42)"),
    ],
)
def test_who_asks_in_the_words_of_the_changelog_gets_the_commit(asked: Memory, question: str, subject: str) -> None:
    assert asked.search(question).results[0].content.startswith(subject)


def test_an_entry_that_says_a_small_part_of_the_question_leads_nowhere(asked: Memory) -> None:
    scopes = [scope.id for scope in asked.store.scopes.list_scopes()]

    assert find_numbered_commits(asked.store, scopes, "why do uploads hang behind a proxy with a certificate?") == {}
    assert find_numbered_commits(asked.store, scopes, "") == {}


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Fix it (#41)", True),
        ("Merge pull request #41 from x/y", True),
        ("See https://example.org/o/r/pull/41.", True),
        ("Closes GH-41", True),
        ("Fix it (#141)", False),
        ("Fix it (#410)", False),
        ("41 files", False),
        ("&#41;", False),
    ],
)
def test_a_number_is_named_with_its_sign(text: str, is_named: bool) -> None:
    assert names_number(text, "41") is is_named
