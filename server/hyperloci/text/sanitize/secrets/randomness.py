"""Randomness: whether a value looks as a generator makes it, or as people write words, numbers and paths.

Pure functions of the value alone; what stands around it is judged in `value_checks`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Final

RANDOM_LENGTH: Final = 16
"""Shortest value that a name like `token` or `api_key` makes a secret: shorter ones are mostly words and numbers."""
GENERATED_LENGTH: Final = 10
"""Shortest value of a name like `secret` that is one although it is shorter than a key: passwords are."""
MIN_ENTROPY: Final = 3.0
"""Bits a character below which a long value is a pattern rather than a key; 32 random hex digits have 3.6."""
MIN_CLASS_CHANGE_RATE: Final = 0.15
"""Changes between capitals, small letters and digits, a character: hex keys have 0.47, base62 0.42, `my-app-v2` 0.1."""
MIN_PATH_CLASS_CHANGE_RATE: Final = 0.25
"""What a value that begins with a slash must reach, as paths do: one base64 key in sixty-four begins so too."""
MIN_CAPITALS: Final = 0.33
"""Share of capitals that letters alone must have to look random: a half in base64, a sixth in `camelCaseNames`."""


def looks_random(value: str) -> bool:
    """Tell a key from words: long, of many different characters, digits and letters mixed inside the words."""
    if len(value) < RANDOM_LENGTH or character_entropy(value) < MIN_ENTROPY:
        return False
    if any(character.isdigit() for character in value):
        return class_change_rate(value) >= MIN_CLASS_CHANGE_RATE
    letters = [character for character in value if character.isalpha()]
    return sum(character.isupper() for character in letters) >= max(1.0, MIN_CAPITALS * len(letters)) and any(
        character.islower() for character in letters
    )


def looks_generated(value: str) -> bool:
    """Tell a short secret from words: marks and digits among letters, or digits scattered all over."""
    if len(value) < GENERATED_LENGTH or is_technical(value) or not any(character.isdigit() for character in value):
        return False
    if any(not character.isalnum() and character not in "-_.:/," for character in value):
        return count_character_classes(value) >= 4 or (
            count_character_classes(value) == 3 and class_change_rate(value) >= MIN_CLASS_CHANGE_RATE
        )
    return (class_change_rate(value) >= MIN_PATH_CLASS_CHANGE_RATE or is_gibberish(value)) and "/" not in value


def is_gibberish(value: str) -> bool:
    """Tell letters that no word has from words: pairs such as `qk`, or six consonants, and two digits or more."""
    letters = value.lower()
    return (
        len(value) >= GENERATED_LENGTH
        and sum(map(str.isdigit, value)) >= 2
        and value.isalnum()
        and (len(_rare_pair_pattern().findall(letters)) >= 2 or _consonants_pattern().search(letters) is not None)
    )


@cache
def _rare_pair_pattern() -> re.Pattern[str]:
    return re.compile(
        r"q[a-tv-z]|[bcdfghjklmpqrtvwxz]j|j[bcdfghklmnpqrstvwxyz]|[bcdfgjkmpqtvwz]x|x[bdfgjkmnrsvwxz]|[bcdfghjkmpqrsvwxy]z"
        r"|z[bcdfgjkmnpqrstvwx]|v[bcdfghjkmnpqtvwxz]|[bcdfgjkmpqtwxz]v|[bcdfgjkmpqvwxz]k|[fgjkpqvwxz]q"
    )


@cache
def _consonants_pattern() -> re.Pattern[str]:
    return re.compile(r"[bcdfghjklmnpqrstvwxz]{6}")


def is_technical(value: str) -> bool:
    """Tell versions, dates, numbers with units, addresses, paths, file names and calls from passwords."""
    return bool(technical_pattern().match(value)) or (
        _technical_word_pattern().match(value) is not None
        and class_change_rate(value) < MIN_PATH_CLASS_CHANGE_RATE
        and not value.endswith("=")
        and not is_gibberish(value)
    )


@cache
def technical_pattern() -> re.Pattern[str]:
    """Return the pattern of what is technical by its form alone: versions, dates, numbers with units, addresses."""
    return re.compile(
        r"[A-Za-z]{0,3}[0-9]{1,4}(?:[.:/-][0-9A-Za-z]{1,6}){1,6}\Z"  # versions, dates, times, addresses
        r"|[<>=~^v]{0,2}[0-9][0-9.,_]{0,20}[a-zA-Z%]{0,6}\Z"  # numbers with units
        r"|[A-Z]{2,10}[-_]?[0-9]{1,6}[a-z]?\Z"  # RFC7636, AES256, JIRA-12
        r"|[\w.+-]{1,64}@[\w-]{1,40}(?:\.[\w-]{1,40}){1,4}\Z"  # mail addresses
        r"|(?i:https?|ftp|ssh|git|urn)[:+]"
        r"|[\w.:-]{1,80}[(\[{]|.{0,80}[)\]}]"
        r"|0x[0-9a-fA-F]{1,63}\Z|\w{1,24}=-?[0-9.]{1,8}\Z|\\"
    )


@cache
def _technical_word_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[A-Za-z]{1,24}[0-9]{1,2}\Z"  # form2, OAuth2, Python3
        r"|[\w-]{1,80}\.[a-z]{1,5}[0-9]?\Z"  # file names
        r"|.{0,80}(?:->|::|&&|\|\||==\S|!=\w|<|>)"
        r"|(?i:[a-z]{1,20}[:=])[a-z0-9_]{0,20}\Z"
        r"|[\w.@%~+-]{0,80}/[\w./@%~+-]{0,200}\Z"  # paths
    )


"""What only looks technical where capitals, small letters and digits don't change often."""


def character_entropy(value: str) -> float:
    """Return the Shannon entropy of the characters of `value`, in bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def class_change_rate(value: str) -> float:
    """Return how often `value` changes between capitals, small letters and digits, a character.

    A capital before a small letter begins a word and does not count, nor does a change across `-`, `_` and the like.
    """
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else " " for c in value]
    changes = sum(a != b and " " not in (a, b) and (a, b) != ("u", "l") for a, b in pairwise(classes))
    return changes / max(1, len(value))


def count_character_classes(value: str) -> int:
    """Count the kinds of characters: small letters, capitals, digits, marks other than `-`, `_`, `.`, `:` and `/`."""
    return sum(
        (
            any(character.islower() for character in value),
            any(character.isupper() for character in value[1:]),
            any(character.isdigit() for character in value),
            any(not character.isalnum() and character not in "-_.:/," for character in value),
        )
    )
