"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import re

import pytest

from hyperloci.system.late_patterns import compile_late


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    late, early = compile_late("(b+)", re.IGNORECASE), re.compile("(b+)", re.IGNORECASE)
    for text in ("aBb, b", "c"):
        assert late.findall(text) == early.findall(text)
        assert late.sub("-", text) == early.sub("-", text)
        assert bool(late.search(text)) == bool(early.search(text))
        assert late.split(text) == early.split(text)
    assert (late.pattern, late.flags, late.groups) == (early.pattern, early.flags, early.groups)
    assert copy.copy(late).findall("B") == ["B"]


def test_a_pattern_that_nothing_asks_for_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(re, "compile", lambda pattern, flags: compiled.append(pattern) or re._compile(pattern, flags))  # type: ignore[attr-defined,func-returns-value]
    late = compile_late("[0-9]+")
    assert compiled == []
    assert late.findall("1 and 23") == late.findall("1, 23") == ["1", "23"]
    assert compiled == ["[0-9]+"]
