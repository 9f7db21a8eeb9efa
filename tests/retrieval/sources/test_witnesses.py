"""Tests, commits and documents speak for code that does not say what it is for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.search import SearchAnswer
from hyperloci.retrieval.scoring import WITNESSED
from tests.working_tree import WorkingTree

MASK = (
    "def scrub(lines):\n    kept = []\n    for line in lines:\n        head, _, _ = line.partition(':')\n"
    "        kept.append(f'{head}: ***' if head in SECRET else line)\n    return kept\n"
)
TEST = (
    "from dump import scrub\n\n\ndef test_authorization_headers_are_masked_before_they_are_logged():\n    scrub([])\n"
)
LOGGED = "def logged(headers):\n    # headers are logged\n    return [str(header) for header in headers]\n"
QUESTION = "where are authorization headers masked before they get logged?"


@pytest.fixture
def asked(settings: Settings, tree: WorkingTree) -> Iterator[Memory]:
    tree.git("init", "-q")
    tree.commit("Begin", other_py=LOGGED)
    tree.commit("Dump requests", dump_py=f"SECRET = {{'x'}}\n\n\n{MASK}", tests__test_dump_py=TEST)
    with Memory.open(settings, tree.root) as memory:
        memory.index_path()
        yield memory


def symbols(answer: SearchAnswer) -> list[str | None]:
    return [hit.source.symbol for hit in answer.results]


@pytest.mark.req("B.05", "D.02")
def test_code_is_found_by_the_words_of_the_test_that_checks_it(asked: Memory) -> None:
    found = asked.search(QUESTION, explain=True)

    assert "scrub" in symbols(found)[:2] and "logged" not in symbols(found)[:2]
    explained = found.results[symbols(found).index("scrub")].explain
    assert explained is not None and set(explained["parts"]) == {WITNESSED}


def test_who_asks_for_the_test_gets_the_test(asked: Memory) -> None:
    found = asked.search("is there a test that authorization headers are masked before they get logged?")

    assert symbols(found)[0] == "test_authorization_headers_are_masked_before_they_are_logged"


def test_what_the_conditions_leave_out_is_spoken_for_by_nobody(asked: Memory) -> None:
    found = asked.search(QUESTION, where={"path": "other.py"})

    assert set(symbols(found)) == {"logged"}


def test_a_commit_that_changed_much_says_little_of_each(asked: Memory, tree: WorkingTree) -> None:
    many = "".join(f"def part_{number}(value):\n    return [value, {number}]\n\n\n" for number in range(8))
    tree.commit("Count the bytes of an upload before it is sent", wide_py=many)
    tree.commit("Guess how long a download of the bytes will take", narrow_py="def guess(size):\n    return size / 9\n")
    asked.index_path()

    narrow = asked.search("where do we guess how long a download takes?", explain=True)
    wide = asked.search("where do we count the bytes of an upload?", explain=True)

    assert symbols(narrow)[0] == "guess"
    told = [hit.explain["parts"].get(WITNESSED, 0.0) for hit in wide.results if hit.explain]
    assert narrow.results[0].explain is not None
    assert narrow.results[0].explain["parts"][WITNESSED] > 2 * max(told)
