"""Texts made from regular expressions: a random walk through the parsed pattern, for rule sets of other programs."""

from __future__ import annotations

import random
import re
import string
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

MAX_REPEAT: Final = 24
"""Rounds of a repetition without an upper bound, at most; a bound below is kept."""
_PRINTABLE: Final = string.ascii_letters + string.digits + "-_.+/="
_CLASSES: Final = {
    sre.CATEGORY_DIGIT: string.digits,
    sre.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: _PRINTABLE,
    sre.CATEGORY_NOT_WORD: " -",
    sre.CATEGORY_NOT_DIGIT: string.ascii_letters,
}


def read_rules(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and pattern of the rules in a TOML file as gitleaks has one: tables `rules` with `id` and `regex`."""
    for rule in tomllib.loads(path.read_text(encoding="utf-8")).get("rules", ()):
        if "regex" in rule:
            yield rule["id"], rule["regex"]


def make_samples(pattern: str, rng: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Yield texts that the pattern matches, and what its first group that took part matched, or all of it.

    Raises:
        re.error: the pattern says something that Python's patterns can't.
    """
    adapted = _adapt_pattern(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled, tree = re.compile(adapted), _parser.parse(adapted)
    for _ in range(count):
        text = _walk_tree(tree, rng)
        match = compiled.search(text)
        if match:
            yield text, next((group for group in match.groups() if group), match.group())


def _adapt_pattern(pattern: str) -> str:
    """Return a pattern of Go in Python's words: classes by name, flags in the middle, the end of a text."""
    named = {"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "xdigit": "0-9a-fA-F"}
    for name, members in named.items():
        pattern = pattern.replace(f"[:{name}:]", members)
    pattern = pattern.replace(r"\z", r"\Z").replace("(?-i)", "")
    if "(?i" in pattern:
        pattern = "(?i)" + pattern.replace("(?i)", "").replace("a-z", "a-zA-Z")
    return pattern


def _walk_tree(tree: Any, rng: random.Random) -> str:
    return "".join(_sample_step(operation, argument, rng) for operation, argument in tree)


def _sample_step(operation: Any, argument: Any, rng: random.Random) -> str:
    if operation is sre.LITERAL:
        return chr(argument)
    if operation is sre.NOT_LITERAL:
        return rng.choice(_PRINTABLE.replace(chr(argument), ""))
    if operation is sre.ANY:
        return rng.choice(_PRINTABLE)
    if operation is sre.IN:
        return rng.choice(_set_members(argument))
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        low, high, inner = argument
        return "".join(_walk_tree(inner, rng) for _ in range(rng.randint(low, min(high, low + MAX_REPEAT))))
    if operation is sre.SUBPATTERN:
        return _walk_tree(argument[3], rng)
    if operation is sre.BRANCH:
        return _walk_tree(rng.choice(argument[1]), rng)
    return ""  # anchors and looks around take no place


def _set_members(argument: Any) -> str:
    found = ""
    negated = False
    for operation, value in argument:
        if operation is sre.NEGATE:
            negated = True
        elif operation is sre.LITERAL:
            found += chr(value)
        elif operation is sre.RANGE:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif operation is sre.CATEGORY:
            found += _CLASSES.get(value, "")
    return "".join(character for character in _PRINTABLE if character not in found) if negated else found
