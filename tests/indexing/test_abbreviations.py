"""What the abbreviations in code stand for."""

from __future__ import annotations

import pytest

from hyperloci.indexing.abbreviations import read_abbreviations, spelled_out


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def get_idx(self, maxLen): ...", "index maximum length size"),
        ("class HTTPReqCtx: pass", "request context"),
        ("idx = idx + IDX", "index"),
        ("value = total", ""),
        ("idx_é = ctx", "index context"),
        ("", ""),
    ],
)
def test_each_abbreviation_is_spelled_out_once(code: str, words: str) -> None:
    assert spelled_out(code) == words


def test_no_abbreviation_stands_for_itself() -> None:
    assert all(short not in words.split() for short, words in read_abbreviations().items())
