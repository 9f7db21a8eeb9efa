"""Every regular expression takes time in proportion to its text, whatever the text.

All of them are listed (`bench._patterns`) and attacked with strings made from themselves (`bench._pump`). What is
asserted is how the work grows, in processor time of this thread, so that a busy machine changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bench._patterns import SCANNING, FoundPattern, PatternListing, list_patterns
from bench._pump import (
    RUNS,
    Attack,
    generic_attacks,
    growing_attack,
    growth_of,
    pattern_attacks,
    repeats_group_possessively,
)
from hyperloci.knowledge.entities.recognition import extract_entities

GROUPS = {
    "hyperloci.knowledge": "knowledge",
    "hyperloci.text.sanitize": "sanitize",
    "hyperloci.text": "text",
    "hyperloci.conversations": "conversations",
    "hyperloci.retrieval": "retrieval",
    "hyperloci.spaces": "spaces",
    "": "the rest",
}
"""Groups by the beginning of a module's name, the first that fits: a few tests of half a minute, not one of minutes."""

PARTS = {"sanitize": 4}
"""In how many parts a large group is attacked: each is one test with a time limit of its own; two run at a time."""

WORD = "H4sIAAAAAAAAA3RU247jIAx971dEPE9HSS9J2l8ZrZADTsuWAAumM9Wo/74KadJmpn1LfPDB9vHh"
"""Base64 of a compressed body, as recorded HTTP traffic has it."""


@pytest.fixture(scope="module")
def listed() -> PatternListing:
    return list_patterns()


def test_no_pattern_escapes_the_list(listed: PatternListing) -> None:
    assert len(listed.patterns) > 600
    assert not listed.unseen, "compiled by no test: have them made in bench/_patterns.py::_make_late"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("group", "part"), [(group, part) for group in GROUPS.values() for part in range(PARTS.get(group, 1))]
)
def test_no_text_makes_a_pattern_slower_than_the_text_is_long(group: str, part: int, listed: PatternListing) -> None:
    plain = [attack for attack in generic_attacks() if not attack.before]
    slow = [
        f"{found.label}: {growth}"
        for found in _distinct(found for found in listed.patterns if _group(found) == group)[
            part :: PARTS.get(group, 1)
        ]
        if (growth := growing_attack(_reader(found), dict.fromkeys([*pattern_attacks(found.compiled()), *plain])))
    ]
    assert not slow, "\n".join(slow)


def test_no_pattern_needs_a_python_that_repeats_groups_possessively(listed: PatternListing) -> None:
    # Debian 12 has Python 3.11.2, and kept `<private id="1">` there, word for word.
    assert [found.label for found in listed.patterns if repeats_group_possessively(found.compiled())] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (r"(?:ab|c)*+d", True),
        (r"x(?:(?!>)[\s\S]){0,9}+", True),
        (r"((a)++)", True),
        (rb"(?:ab)++", True),
        (r"[^<]++(?:a|b)*\d{1,3}+", False),
        (r"(?>(?:ab|c)*)d", False),
    ],
)
def test_a_group_that_is_repeated_possessively_is_found_out(source: str | bytes, found: bool) -> None:
    assert repeats_group_possessively(re.compile(source)) is found


def _group(found: FoundPattern) -> str:
    return next(name for beginning, name in GROUPS.items() if found.module.startswith(beginning))


def _distinct(patterns: Iterator[FoundPattern]) -> list[FoundPattern]:
    return list({(found.source, found.flags, found.methods): found for found in patterns}.values())


def _reader(found: FoundPattern) -> Callable[[str], object]:
    """What the program does with a pattern: finds it everywhere, or only at the beginning."""
    pattern = found.compiled()
    whole = "fullmatch" in found.methods and not SCANNING & set(found.methods)

    def read(text: str) -> object:
        given: Any = text.encode("utf-8", "surrogatepass") if found.is_bytes else text
        if SCANNING & set(found.methods):
            return sum(1 for _ in pattern.finditer(given))
        return pattern.fullmatch(given) if whole else pattern.match(given)

    return read


@pytest.mark.parametrize(
    "source",
    [
        r"(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)!",  # as it was: exponential
        r"(?:-{1,2}[\w-]+\s+)*@",
        r"\s*(?:,|because).*$",  # quadratic from every beginning
        r"<!--.*?-->",
        r"^(co-authored|reviewed)-by:\s*([^<\n]{2,60}?)\s*(?:<|$)",
        r"[a-z]+[A-Z]",
        r"([\w$, \t]+?)\s+(?:in|of)\b",
    ],
)
def test_a_pattern_that_is_slow_on_some_text_is_found_out_and_hangs_nobody(source: str) -> None:
    pattern = re.compile(source, re.MULTILINE)
    assert growing_attack(lambda text: sum(1 for _ in pattern.finditer(text)), pattern_attacks(pattern)) is not None


@pytest.mark.parametrize("source", [r"\w+", r"(?<!\w)[a-z]++\(", r"^[ \t]*+def (\w+)", r"a{1,40}b", r"^[^\n]*+\n"])
def test_a_linear_pattern_is_not(source: str) -> None:
    pattern = re.compile(source, re.MULTILINE)
    assert growing_attack(lambda text: sum(1 for _ in pattern.finditer(text)), pattern_attacks(pattern)) is None


@pytest.mark.parametrize("ending", ["", "/", "+=", "/x", "="])
def test_a_word_of_base64_is_no_work(ending: str) -> None:
    assert growth_of(extract_entities, Attack("The body is ", WORD, ending)) is None


@pytest.mark.parametrize("letter", RUNS)
def test_capitals_and_one_sign_are_no_work(letter: str) -> None:
    assert growth_of(extract_entities, Attack("Aa", "B" + letter, "/")) is None
