"""Inputs made of other inputs: a piece left out, doubled, moved, or replaced by something odd.

To draw an input costs hypothesis milliseconds, most of what a target takes; to change one costs microseconds, and what
is nearly right gets further into a parser than what was never right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, TypeVar

Text = TypeVar("Text", str, bytes)

MAX_SIZE: Final = 20_000
"""Characters or bytes of a mutant at most: doubling what was doubled would end in slowness that says nothing."""

LONG: Final = 50
ENDLESS: Final = 10_000
TIMES: Final = (1,) * 40 + (2,) * 20 + (LONG,) * 19 + (ENDLESS,)
"""How often a piece is added: seldom so often that all else is cut off, since that costs a target the most."""

ODD_TEXTS: Final = (
    *("", " ", "\n", "\t", "\r\n", "\x00", "\ufeff", "\u200b", "\u202e", "\u2028", "\x85", "\U0010ffff", "İ", "﷽", "¶"),
    *('"', "'", "`", "```", "(", ")", "[", "]", "{", "}", "<", ">", "#", "*", "\\", "|", ":", "-", "--", "%s", "../"),
    *("0", "-1", "9" * 30, "1e400", "NaN", "null", "true", "2026-13-45", "T25:61:61Z", "' OR 1=1 --", "a" * 300),
)
ODD_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, *ODD_TEXTS),
)


def make_mutants(value: Any, number: int, count: int) -> Iterator[Any]:
    """Yield mutants of an input, the same for the same number; each is made of the one before.

    Text and bytes stay what they are, and so does the first part of a tuple, which says what the second is.
    """
    chance = Random(number)
    for _ in range(count):
        value = make_mutant(value, chance)
        yield value


def make_mutant(value: Any, chance: Random) -> Any:
    """Return an input with one change, of the same type."""
    if isinstance(value, tuple):
        return (*value[:-1], make_mutant(value[-1], chance))
    if isinstance(value, str):
        return _splice_text(value, chance.choice(ODD_TEXTS), chance)
    if isinstance(value, bytes):
        return _of_lines(value, chance)
    return _change_json(value, chance)


def _of_lines(data: bytes, chance: Random) -> bytes:
    """Change one of some lines of JSON where there are such, or else the bytes."""
    lines = data.splitlines(keepends=True)
    place = chance.randrange(len(lines)) if lines else 0
    try:
        found = json.loads(lines[place])
    except (ValueError, IndexError, RecursionError):
        return _splice_text(data, chance.choice(ODD_TEXTS).encode(), chance)
    if chance.random() < 0.1:
        return _splice_text(data, chance.choice(ODD_TEXTS).encode(), chance)
    lines[place] = json.dumps(_change_json(found, chance)).encode() + b"\n"
    return b"".join(lines)[:MAX_SIZE]


def _change_json(value: Any, chance: Random) -> Any:
    """Return a JSON value with one change in it, near its root or far from it."""
    if isinstance(value, dict):
        return _changed_object(value, chance)
    if isinstance(value, list):
        return _changed_list(value, chance)
    if isinstance(value, str) and chance.random() < 0.7:
        return _splice_text(value, chance.choice(ODD_TEXTS), chance)
    if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.5:
        return -value if chance.random() < 0.5 else value + chance.choice((-1, 1, 0.5))
    return chance.choice(ODD_VALUES)


def _changed_object(value: dict[str, Any], chance: Random) -> dict[str, Any]:
    answer = dict(value)
    name = chance.choice(list(answer)) if answer else ""
    way = chance.random()
    if not answer or way < 0.1:
        answer[chance.choice(ODD_TEXTS)] = chance.choice(ODD_VALUES)
    elif way < 0.2:
        del answer[name]
    elif way < 0.3:
        answer[name] = answer[chance.choice(list(answer))]
    elif way < 0.5:
        answer[name] = chance.choice(ODD_VALUES)
    else:
        answer[name] = _change_json(answer[name], chance)
    return answer


def _changed_list(value: Sequence[Any], chance: Random) -> list[Any]:
    answer = list(value)
    place = chance.randrange(len(answer)) if answer else 0
    way = chance.random()
    if not answer or way < 0.2:
        answer.insert(place, chance.choice(ODD_VALUES))
    elif way < 0.4:
        del answer[place]
    elif way < 0.5:
        answer[place:place] = answer[: chance.randrange(LONG)]
    else:
        answer[place] = _change_json(answer[place], chance)
    return answer


def _splice_text(text: Text, odd: Text, chance: Random) -> Text:
    start, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
    if chance.random() < 0.7:
        end = min(end, start + 8)
    piece = text[start:end]
    way = chance.randrange(5)
    if way == 0:
        return text[:start] + text[end:]
    if way == 1:
        return text[:start] + odd + text[end:]
    if way == 2:
        return (text[:start] + odd + text[start:])[:MAX_SIZE]
    if way == 3:
        return (text[:end] + piece * chance.choice(TIMES) + text[end:])[:MAX_SIZE]
    moved = text[:start] + text[end:]
    place = chance.randrange(len(moved) + 1)
    return moved[:place] + piece + moved[place:]
