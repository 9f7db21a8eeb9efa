"""Edited lines: what an edit made of what, in a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.edited_lines import (
    MAX_ALL_CHARS,
    MAX_CHANGES,
    MAX_CHARS,
    MAX_WORD_CHARS,
    describe_edited_lines,
    find_changes,
    find_patched_changes,
)
from hyperloci.text.action_line import read_action_line
from tests.support import examples

LINES = st.lists(st.text(alphabet="ab `=3\t", max_size=MAX_CHARS + 5), max_size=5)


def describe(old: str, new: str) -> str:
    return describe_edited_lines(find_changes(old.splitlines(), new.splitlines()))


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a\nRETRIES = 3\nb", "a\nRETRIES = 5\nb", "`RETRIES = 3` became `RETRIES = 5`"),
        ("x = 1\nkeep\ny = 2", "x = 3\nkeep\ny = 4", "`x = 1` became `x = 3`, `y = 2` became `y = 4`"),
        ("lr: 1e-3\nend", "lr: 3e-4\n\twarmup: 500\nend", "`lr: 1e-3` became `lr: 3e-4 warmup: 500`"),
    ],
    ids=["the lines around it stay out", "each line on its own", "one line becomes two"],
)
def test_an_edit_of_a_line_or_two_says_what_became_what(old: str, new: str, told: str) -> None:
    assert describe(old, new) == told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "new line"),
        ("old line", ""),
        ("x = 1", "x = 1"),
        ("{", "}"),
        ("x", "`x`"),
        ("x", "y " * MAX_CHARS),
        ("key", "k" * (MAX_WORD_CHARS + 1)),
        ("\n".join("abcd"), "\n".join("efgh")),
        ("a\nb\nc\nd", "e"),
    ],
    ids=[
        "added",
        "removed",
        "the same",
        "no word",
        "marked as code",
        "long",
        "no word of a person's",
        "many",
        "a block",
    ],
)
def test_what_sets_no_value_is_not_told(old: str, new: str) -> None:
    assert describe(old, new) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('PASSWORD = "hunter2"', 'PASSWORD = "hunter3!x"'),
        ("secret: hunter2", "secret: correct horse"),
        ("DB_PASS=letmein", "DB_PASS=swordfish"),
        ("url: postgres://bob:n3w@db/x", "url: postgres://bob:0ld@db/x"),
        ("the password is swordfish", "the password is marlin"),
        ("auth: bob:letmein", "auth: none"),
        ('"pin": "4711"', '"pin": "0815"'),
        ("apiKey: 'x1'", "apiKey: process.env.KEY"),
        ("hunter2", "hunter4"),
        ("  - 'hunter2!'", "  - 'hunter4!'"),
        ("  value: old", "  value: Falcon5xZOXq!"),
        ('  default = "hunter2"', '  default = "hunter4"'),
    ],
)
def test_a_line_that_holds_a_secret_or_may_is_not_told(old: str, new: str) -> None:
    assert describe(old, new) == ""
    assert describe(f"a = 1\nb\n{old}", f"a = 2\nb\n{new}") == "`a = 1` became `a = 2`"


def test_a_figure_is_no_secret_though_its_name_sounds_like_one() -> None:
    assert describe("MAX_TOKENS = 20", "MAX_TOKENS = 30") == "`MAX_TOKENS = 20` became `MAX_TOKENS = 30`"


def test_of_changes_too_long_together_none_is_told() -> None:
    line = "word " * (MAX_CHARS // 5 - 1)
    assert MAX_CHANGES * 2 * len(line) > MAX_ALL_CHARS
    assert (
        describe("\n".join(f"{line}{n}" for n in range(MAX_CHANGES)), "\n".join(f"{line}x{n}" for n in range(3))) == ""
    )


def test_a_patch_is_read_by_its_signs() -> None:
    patch = [" a", "-T = 3", "+T = 5", "+U = 1", " b", "-gone", " c", "+came", "-V = 1", "+V = 2"]
    assert describe_edited_lines(find_patched_changes(patch)) == "`T = 3` became `T = 5 U = 1`, `V = 1` became `V = 2`"


@given(LINES, LINES)
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_edited_the_line_is_short_and_says_only_what_stands_in_it(old: list[str], new: list[str]) -> None:
    told = describe("\n".join(old), "\n".join(new))
    assert len(told) <= MAX_ALL_CHARS
    edited = read_action_line(f"Edit a.py: +1 -1 lines: {told}").edited
    assert edited is not None and edited.path == "a.py"
    for before, after in edited.changes:
        assert "".join(before.split()) in "".join("".join(old).split())
        assert "".join(after.split()) in "".join("".join(new).split())
