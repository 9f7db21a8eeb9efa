"""Files of settings are cut into their tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.text.chunking.lines import WINDOW_CHARS
from hyperloci.text.chunking.settings import MAX_BLOCKS, cut_settings
from tests.support import examples

TOML = """\
title = "example"
# what the linter looks for
[tool.ruff.lint]
select = ["E", "F"]

[[tool.mypy.overrides]]
module = "tests.*"
"""
JSON = """\
{
  "name": "example",
  "version": "1.0.0",
  "description": "Long enough that the settings of one line are a chunk of their own",
  "scripts": {
    "test": "ava"
  },
  "engines": {
    "node": ">=20"
  }
}
"""
YAML = """\
name: CI
on:
- push
jobs:
  test:
    runs-on: ubuntu-latest
"""
MAKEFILE = """\
.PHONY: test
test:
\tpytest

.PHONY: lint
lint:
\truff check
"""


@pytest.mark.req("D.05")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TOML, ["tool.ruff.lint", "tool.mypy.overrides"]),
        (JSON, ["", "scripts", "engines"]),
        (YAML, ["on", "jobs"]),
        (MAKEFILE, ["test", "lint"]),
        ("pytest==8.0\nruff==0.5\nmypy\n", [""]),
        ("", []),
    ],
)
def test_a_block_goes_by_the_name_of_its_table_or_key(text: str, names: list[str]) -> None:
    assert [block.name for block in cut_settings(text)] == names


def test_a_comment_stands_with_what_it_explains() -> None:
    lint = cut_settings(TOML)[0]

    assert "# what the linter looks for\n[tool.ruff.lint]" in TOML[slice(*lint.span)]


def test_a_file_of_very_many_blocks_is_data_and_cut_by_lines() -> None:
    text = "".join(f"[table_{number}]\nvalue = {number}\n" for number in range(MAX_BLOCKS + 1))

    assert {block.name for block in cut_settings(text)} == {""}


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from(["[a]\n", "k = 1\n", "  k: 1\n", "{\n", "}\n", "# c\n", "\n", "x:\n", "- y\n", "z" * 999]))
)
def test_blocks_are_the_whole_text_in_pieces_that_fit(lines: list[str]) -> None:
    text = "".join(lines)
    blocks = cut_settings(text)

    assert "".join(text[slice(*block.span)] for block in blocks) == text
    assert all(0 < block.span[1] - block.span[0] <= WINDOW_CHARS for block in blocks)
