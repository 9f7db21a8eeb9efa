"""What is said beside a fact, why and of what, is bounded and made safe like the fact itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError
from hyperloci.facts.facts import MAX_ENTITIES, sanitize_names, sanitize_reason
from hyperloci.memory import Memory
from hyperloci.model.node import MAX_NAME_CHARS, MAX_REASON_CHARS, ONE_OCCASION_MS

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"


@pytest.fixture
def memory(settings: Settings, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(settings, tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("use_case", ["forget", "restore", "correct_fact"])
def test_a_reason_that_is_too_long_changes_nothing_and_is_told(memory: Memory, use_case: str) -> None:
    fact = memory.remember_fact("The mirror is in Oslo.").id
    if use_case == "restore":
        memory.forget(fact)
    before = memory.explain_fact(fact)
    arguments = ("The mirror is in Rome.",) if use_case == "correct_fact" else ()
    with pytest.raises(BadRequestError, match=f"reason has {MAX_REASON_CHARS + 1} characters; at most"):
        getattr(memory, use_case)(fact, *arguments, reason="x" * (MAX_REASON_CHARS + 1))
    assert memory.explain_fact(fact) == before


@pytest.mark.req("SPEC-02.34")
@pytest.mark.parametrize("use_case", ["forget", "restore", "correct_fact"])
def test_a_secret_in_a_reason_is_nowhere_in_the_database(memory: Memory, use_case: str) -> None:
    fact = memory.remember_fact("The mirror is in Oslo.").id
    if use_case == "restore":
        memory.forget(fact)
    arguments = ("The mirror is in Rome.",) if use_case == "correct_fact" else ()
    getattr(memory, use_case)(fact, *arguments, reason=f"the token {SECRET} leaked")
    written = b"".join(path.read_bytes() for path in memory.settings.database.parent.glob("memory.db*"))
    assert b"leaked" in written
    assert SECRET.encode() not in written


def test_a_reason_of_nothing_is_none() -> None:
    assert sanitize_reason(None) is None
    assert sanitize_reason(" \u200b\n") is None
    assert sanitize_reason("x" * MAX_REASON_CHARS) == "x" * MAX_REASON_CHARS


def test_names_that_no_thing_has_are_refused_before_anything_is_stored(memory: Memory) -> None:
    for names, message in (
        (["a" * (MAX_NAME_CHARS + 1)], f"a name of {MAX_NAME_CHARS + 1} characters"),
        (["fine", " \u200b"], "give non-empty names"),
        ([str(number) for number in range(MAX_ENTITIES + 1)], f"at most {MAX_ENTITIES}"),
    ):
        with pytest.raises(BadRequestError, match=message):
            memory.remember_fact("The mirror is in Oslo.", entities=names)
    assert memory.stats()["nodes"] == 0


def test_a_name_is_kept_once_and_without_secrets() -> None:
    assert sanitize_names(["Oslo", " Oslo ", "a" * MAX_NAME_CHARS]) == ("Oslo", "a" * MAX_NAME_CHARS)
    assert SECRET not in "".join(sanitize_names([f"key {SECRET}"]))


def test_a_fact_is_found_by_the_words_of_the_fact_told_before_it_until_that_is_forgotten(memory: Memory) -> None:
    before = memory.remember_fact("The mirror stands in Oslo.").id
    after = memory.remember_fact("Its lease ends in May.").id
    assert [hit.id for hit in memory.search("Oslo").results] == [before, after]

    memory.forget(before)

    assert memory.search("Oslo").results == ()


def test_what_was_told_long_ago_or_elsewhere_helps_to_find_nothing(memory: Memory) -> None:
    memory.remember_fact("The mirror stands in Oslo.", scope="global")
    memory.remember_fact("Its lease ends in May.")
    with memory.store.transaction():
        memory.store.connection.execute("UPDATE nodes SET created_at = created_at - ?", (ONE_OCCASION_MS + 1,))
    memory.remember_fact("Rent is paid in crowns.")

    assert len(memory.search("Oslo").results) == len(memory.search("lease").results) == 1
