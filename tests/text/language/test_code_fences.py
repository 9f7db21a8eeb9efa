"""What stands in fences of code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperloci.text.language.code_fences import fenced_code, mask_code

FENCED = [
    ("a\n```python\nx = 1\n```\nb", ["x = 1\n"]),
    ("a\n  ~~~\n```\n  ~~~\nb", ["```\n"]),
    ("a\n````\n```\nx\n```\n````\nb", ["```\nx\n```\n"]),
    ("This is it: ```sql\nSELECT 1\n```\nb", ["SELECT 1\n"]),
    ("```\none\n```\nb\n```\nand never closed", ["one\n", "and never closed"]),
    ("Use ```x``` and ``` here.\nb", []),
    ("```\n```\nb", [""]),
    ("no code", []),
]


@pytest.mark.parametrize(("text", "code"), FENCED)
def test_a_fence_ends_at_its_like_or_with_the_text(text: str, code: list[str]) -> None:
    assert fenced_code(text) == code


@pytest.mark.parametrize(("text", "code"), FENCED[:4])
def test_only_the_code_is_masked_and_nothing_moves(text: str, code: list[str]) -> None:
    masked = mask_code(text)
    assert masked.endswith("\nb") and "`" not in masked and not any(line in masked for line in code)
    assert [len(line) for line in masked.split("\n")] == [len(line) for line in text.split("\n")]


@given(st.text(alphabet="`~a \n:", max_size=80))
def test_masking_keeps_length_and_lines_of_any_text(text: str) -> None:
    masked = mask_code(text)
    assert len(masked) == len(text) and masked.count("\n") == text.count("\n")
