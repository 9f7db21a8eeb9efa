"""Inputs with a pumped string in them: a piece again and again, as the patterns of the packages would take it longest.

Every pattern is attacked with strings made from itself, whichever target it works for: what one reads another may read
too, and a text that is hard for one parser is a text that nobody tried with the next.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final, TypeVar

from bench._fuzz_mutants import MAX_SIZE
from bench._patterns import list_patterns
from bench._pump import Attack, generic_attacks, pattern_attacks

Text = TypeVar("Text", str, bytes)

LENGTHS: Final = (24, 40, 60) * 20 + (300, 2_000) * 15 + (MAX_SIZE,)
"""What is exponential shows in a line; what is quadratic in a page, which costs a target most and so comes seldom."""


@functools.cache
def all_attacks() -> tuple[Attack, ...]:
    """Return the attacks on every pattern, and those that are hard for most, each once."""
    found = dict.fromkeys(generic_attacks())
    for pattern in list_patterns().patterns:
        found.update(dict.fromkeys(pattern_attacks(pattern.compiled())))
    return tuple(found)


def pump_input(value: Any, number: int, tried: Sequence[Attack]) -> Any:
    """Return an input with one of some attacks in it, the same for the same number, of the same type.

    Text and bytes stay what they are, and so does the first part of a tuple, which says what the second is.
    """
    chance = Random(number)
    return _with_text(value, chance.choice(tried).text(chance.choice(LENGTHS)), chance)


def _with_text(value: Any, text: str, chance: Random) -> Any:
    if isinstance(value, tuple):
        return (*value[:-1], _with_text(value[-1], text, chance))
    if isinstance(value, str):
        return _put_text(value, text, chance)
    if isinstance(value, bytes):
        return _in_lines(value, text, chance)
    return _in_json(value, text, chance)


def _put_text(value: Text, text: Text, chance: Random) -> Text:
    place = chance.randrange(len(value) + 1)
    return (value[:place] + text + value[place:])[:MAX_SIZE]


def _in_lines(data: bytes, text: str, chance: Random) -> bytes:
    """Put a text into one of some lines of JSON where there are such, or else between the bytes."""
    lines = data.splitlines(keepends=True)
    place = chance.randrange(len(lines)) if lines else 0
    try:
        found = json.loads(lines[place])
    except (ValueError, IndexError, RecursionError):
        return _put_text(data, text.encode("utf-8", "surrogatepass"), chance)
    lines[place] = json.dumps(_in_json(found, text, chance)).encode() + b"\n"
    return b"".join(lines)


def _in_json(value: Any, text: str, chance: Random) -> Any:
    """Put a text into one of the texts of a JSON value, or in the place of what is none."""
    if isinstance(value, dict):
        name = chance.choice(list(value)) if value else text
        return {**value, name: _in_json(value.get(name), text, chance)}
    if isinstance(value, list):
        place = chance.randrange(len(value) + 1)
        if place == len(value):
            return [*value, text]
        return [*value[:place], _in_json(value[place], text, chance), *value[place + 1 :]]
    return _put_text(value, text, chance) if isinstance(value, str) else text
