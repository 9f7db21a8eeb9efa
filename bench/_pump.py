"""Strings made to make a reader slow: from a regular expression itself, and those that are hard for most.

An `Attack` is a text of any length: the same shape, pumped. Whether a reader's work grows faster than the text is
told by `growth_of`, in processor time of this thread, so that a busy machine changes nothing; `growing_attack` tries a
whole series on one reader and stops at the first that grows.
"""

from __future__ import annotations

import base64
import gc
import itertools
import random
import re
import signal
import string
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class PumpScale:
    """How a reader is measured.

    Attributes:
        lengths: characters at which growth is measured, shortest first.
        too_fast: seconds a character at the middle one below which nothing can be growing.
    """

    lengths: tuple[int, int, int]
    too_fast: float


PATTERN = PumpScale((512, 4_096, 16_384), 0.12e-6)
"""Of one regular expression: what is quadratic takes several times that at 4,096 characters, whatever its steps are."""

READER = PumpScale((1_024, 8_192, 32_768), 2e-6)
"""Of a whole reader, which does more with each character."""

GROWS = 1.6
"""The exponent from which work is said to grow faster than the text: 1 is linear, 2 quadratic. In between lies what
noise and caches do."""

LIMIT = 4.0
"""Seconds of processor time after which one attempt is given up. The slowest linear reader takes 0.3 s for the longest
text, and a second beside other work while its lines are counted for coverage."""

SHORT = (12, 20, 28, 40, 64, 128)
"""Lengths that are tried first: what is exponential shows there, before it could hang."""

ALPHABET = string.printable + "éßЯя中\u200b\U0001f9e0\x00\x85\u2028’«"
"""Where representatives of the classes of a pattern are taken from."""

LONG_PUMP = 5
"""Characters of a pump from which longer texts are needed."""

MAX_CLASSES = 10
MAX_SAMPLE = 200

ENDS = ("", "\x01", "\n\x01", "x" * 99 + "\x01", " \x01")
"""What stands behind the pump: mostly not what the pattern wants there."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: `pump` again and again between a beginning and an end."""

    before: str
    pump: str
    after: str

    def text(self, length: int) -> str:
        """The attack with about so many characters: the pump at least once, whole."""
        room = length - len(self.before) - len(self.after)
        return self.before + self.pump * max(1, room // max(1, len(self.pump))) + self.after

    def __str__(self) -> str:
        return f"{self.before[:60]!r} + {self.pump[:60]!r} * n + {self.after[:20]!r}"


# -- shapes that are hard for most ------------------------------------------------------------------------------------

_random = random.Random(15)
_BASE64 = base64.b64encode(_random.randbytes(900)).decode()
_HEX = _random.randbytes(400).hex()

RUNS = tuple("aA0 -_.,:;!?'\"`()[]{}<>#*|\\/=+@$%&~^\n\té中\u200b\u0301\U0001f9e0")
MIXED = (
    "a_", "_a", "a.", "x.", "a-", "A", "Aa", "aA", "AAa", "a1", "1a", "A/", "a/", "/a", "a=", "a:", "a::", "a b ",
    "a, ", "A b ", "a\n", " \n", "\n ", "\r\n", "- a\n", "- [ ] ", "# a\n", "> ", "| a ", "|-", "```\n", "~~~\n",
    "`a` ", "[a](", "](", "[a", "![", "<a ", "<a>", "</a>", "<!--", "-->", "<!-- -->", "(a", "a(", "a(b, ", "f()",
    "{a", "/*", "*/", "//", '"a" ', "'a' ", '\\"', "\\n", "\\", "%20", "&amp;", "$a", "@a", "a@b.", "http://a",
    "https://a.b/", "1.", "1,", "12:", "1-", "1 day ", "2024-01-01 ", "10:00 ", "because ", "so that ",
    "if a then ", "no ", "not ", "the ", "I ", "we ", "you ", "to ", "in order to ", "is ", "use ", "project ",
    "import a ", "from a import b\n", "a = b\n", "a: b\n", "key: ", "key=", "password=", "token ", "def a",
    "class A", "function ", "const a = ", "require(", "pip install ", "и ", "потому что ", "Why? ", "A. ", "a; ",
    "e.g. ", "... ", "* * ", "** ", "__", "== ", "{{", "}}", "${", "$(", "0x", "A-", "-----BEGIN ", "a\tb", "a  ",
    "\u2028", "é ", "Я ",
)  # fmt: skip
TEXTS = (_BASE64, _HEX, "function(a,b){return a+b};", "The quick brown fox, 12 of them; said so. ", "\\u00e9", "a\\\nb")


def generic_attacks() -> Iterator[Attack]:
    """Runs of one character, of a few, of base64, hexadecimal, minified code and prose: bare and inside a sentence."""
    for pump in (*RUNS, *MIXED, *TEXTS):
        yield Attack("", pump, "")
        yield Attack("The x. ", pump, " y\x01")


# -- strings from the pattern itself ----------------------------------------------------------------------------------


def pattern_attacks(pattern: re.Pattern[Any]) -> Iterator[Attack]:
    """Attacks on one pattern, from its own tree: what each repetition repeats, reached and then made to fail."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    flags = pattern.flags & ~re.DEBUG
    if isinstance(pattern.pattern, bytes):
        flags &= ~re.UNICODE
    tree = parser.parse(source, flags)
    letters = representative_letters(tree)
    made: dict[Attack, None] = {}
    for variant in range(4):
        sampler = TreeSampler(letters, variant)
        for before, body in find_repetitions(tree, sampler):
            pump = sampler.sample_tree(body) or "a"
            for after in ENDS:
                made[Attack(before, pump, after)] = None
            made[Attack("", before + pump, "")] = None
            made[Attack("", before + pump, "\x01")] = None
            if before:
                made[Attack("", before, "")] = None
        whole = sampler.sample_tree(tree)
        if whole:
            made[Attack("", whole, "")] = None
            made[Attack("", whole[:-1] or whole, "\x01")] = None
            made[Attack(whole, whole[-1], "\x01")] = None
    for letter in letters:
        made[Attack("", letter, "")] = None
        made[Attack("", letter, "\x01")] = None
    for first, second in itertools.permutations(letters, 2):
        made[Attack("", first + second, "\x01")] = None
        made[Attack(first, second, "\x01")] = None
    yield from made


def find_repetitions(tree: Any, sampler: TreeSampler, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every repetition in a tree without a small bound: a string that leads to it, and what it repeats."""
    for operator, value in tree:
        for part in _subtrees(operator, value):
            yield from find_repetitions(part, sampler, before)
        if operator in _REPEATS and value[1] > 8:
            yield before, value[2]
        before = (before + sampler.sample_tree([(operator, value)]))[-MAX_SAMPLE:]


def repeats_group_possessively(pattern: re.Pattern[Any]) -> bool:
    """Tell whether more than one character is repeated possessively, as in `(?:a|bc)*+`.

    CPython before 3.11.5 leaves out texts that such a repetition matches (gh-106052); an atomic group, `(?>(?:a|bc)*)`,
    means the same and is matched by all.
    """
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    return any(_holds_group_repeat(operator, value) for operator, value in parser.parse(source, pattern.flags))


def _holds_group_repeat(operator: Any, value: Any) -> bool:
    if operator is sre.POSSESSIVE_REPEAT and not (len(value[2]) == 1 and value[2][0][0] in _ONE_CHARACTER):
        return True
    return any(_holds_group_repeat(*node) for tree in _subtrees(operator, value) for node in tree)


_ONE_CHARACTER = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def _subtrees(operator: Any, value: Any) -> list[Any]:
    """The trees inside a node."""
    if operator in _REPEATS:
        return [value[2]]
    if operator is sre.SUBPATTERN:
        return [value[3]]
    if operator is sre.BRANCH:
        return list(value[1])
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if operator is sre.ATOMIC_GROUP:
        return [value]
    if operator is sre.GROUPREF_EXISTS:
        return [part for part in value[1:] if part]
    return []


@dataclass(frozen=True, slots=True)
class TreeSampler:
    """Makes one string that a tree matches, lookarounds aside; `variant` decides between what is left open."""

    letters: Sequence[str]
    variant: int

    def sample_tree(self, tree: Any) -> str:
        """A short match of a tree."""
        groups: dict[int, str] = {}
        return "".join(self._sample_node(operator, value, groups) for operator, value in tree)[:MAX_SAMPLE]

    def _sample_node(self, operator: Any, value: Any, groups: dict[int, str]) -> str:
        if operator in (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY):
            return self._sample_letter(operator, value)
        if operator in _REPEATS:
            least, most, body = value
            times = min(most, least if self.variant in (0, 3) else max(least, 1 + self.variant % 2))
            return "".join(self._sample_subtree(body, groups) for _ in range(min(times, 60)))
        if operator is sre.SUBPATTERN:
            text = self._sample_subtree(value[3], groups)
            if value[0] is not None:
                groups[value[0]] = text
            return text
        if operator is sre.BRANCH:
            branches = value[1]
            return self._sample_subtree(branches[(0, -1, len(branches) // 2, len(branches) // 3)[self.variant]], groups)
        if operator is sre.ATOMIC_GROUP:
            return self._sample_subtree(value, groups)
        if operator is sre.GROUPREF:
            return groups.get(value, "")
        if operator is sre.GROUPREF_EXISTS:
            return self._sample_subtree(value[1], groups)
        return ""

    def _sample_subtree(self, tree: Any, groups: dict[int, str]) -> str:
        return "".join(self._sample_node(operator, value, groups) for operator, value in tree)

    def _sample_letter(self, operator: Any, value: Any) -> str:
        if operator is sre.LITERAL:
            return chr(value)
        fitting = [letter for letter in (*self.letters, *ALPHABET) if _admits_letter(operator, value, letter)]
        return fitting[min(self.variant * 2, len(fitting) - 1)] if fitting else ""


def representative_letters(tree: Any) -> list[str]:
    """One character for each way in which the sets of a tree can tell characters apart, the rarest ways first."""
    leaves = list(_tree_sets(tree))
    kinds: dict[tuple[bool, ...], str] = {}
    for letter in ALPHABET:
        kinds.setdefault(tuple(_admits_letter(operator, value, letter) for operator, value in leaves), letter)
    by_weight = sorted(kinds.items(), key=lambda kind: -sum(kind[0]))
    return [letter for _, letter in by_weight[:MAX_CLASSES]]


def _tree_sets(tree: Any) -> Iterator[tuple[Any, Any]]:
    """The sets of a tree that stand in repetitions without a small bound or are sets at all, and its literals there."""
    seen: set[str] = set()
    for operator, value in tree:
        if operator in (sre.NOT_LITERAL, sre.IN, sre.ANY, sre.LITERAL) and repr((operator, value)) not in seen:
            seen.add(repr((operator, value)))
            yield operator, value
        for part in _subtrees(operator, value):
            yield from _tree_sets(part)


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    sre.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    sre.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


def _admits_letter(operator: Any, value: Any, letter: str) -> bool:
    if operator is sre.ANY:
        return letter != "\n"
    if operator is sre.LITERAL:
        return bool(value == ord(letter))
    if operator is sre.NOT_LITERAL:
        return bool(value != ord(letter))
    negated = value[0][0] is sre.NEGATE
    return any(_in_set(kind, of, letter) for kind, of in value[negated:]) is not negated


def _in_set(kind: Any, of: Any, letter: str) -> bool:
    if kind is sre.LITERAL:
        return bool(of == ord(letter))
    if kind is sre.RANGE:
        return bool(of[0] <= ord(letter) <= of[1])
    return kind is sre.CATEGORY and _CATEGORIES[of](letter)


# -- how work grows ---------------------------------------------------------------------------------------------------


class TooLongError(Exception):
    """One attempt was given up after `LIMIT`."""


@contextmanager
def limit_seconds(seconds: float) -> Iterator[None]:
    """Give up after so much processor time; a match of `re` is ended in its midst. For the main thread.

    Raises:
        TooLongError: the time was used up.
    """

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, end)
    collected = gc.isenabled()
    gc.disable()  # What is raised in the midst of a collection, in somebody's callback, is lost.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if collected:
            gc.enable()


Reader = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class WorkGrowth:
    """How the work of a reader grows with an attack: the exponent between two lengths, seconds at the longer one."""

    attack: Attack
    exponent: float
    length: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.attack}: exponent {self.exponent:.1f}, {self.seconds:.3f} s at {self.length} characters"


def growing_attack(read: Reader, tried: Iterable[Attack], scale: PumpScale = PATTERN) -> WorkGrowth | None:
    """The first of the attacks under which the work of `read` grows faster than the text; None if there is none."""
    return next((growth for attack in tried if (growth := growth_of(read, attack, scale)) is not None), None)


def growth_of(read: Reader, attack: Attack, scale: PumpScale = PATTERN) -> WorkGrowth | None:
    """How the work grows with the attack if that is faster than the text; None if it is not.

    A long pump has few beginnings in a text, so that what is quadratic in them shows in longer ones only.
    """
    small, large, largest = (length * (4 if len(attack.pump) > LONG_PUMP else 1) for length in scale.lengths)
    try:
        for length in SHORT:
            _time_reading(read, attack.text(length))
        if _time_reading(read, text := attack.text(large)) < scale.too_fast * len(text):
            return None
        least = WorkGrowth(attack, 9.0, large, LIMIT)
        for shorter, longer in ((small, large), (large, largest)):  # what only begins steeply is bounded
            for tries in (1, 4):  # what one look finds harmless needs no second
                found = _growth_between(read, attack, shorter, longer, tries)
                if found.exponent < GROWS:
                    return None
            least = min(least, found, key=lambda growth: growth.exponent)
        return least
    except TooLongError:
        return WorkGrowth(attack, 9.0, large, LIMIT)


def _growth_between(read: Reader, attack: Attack, shorter: int, longer: int, tries: int) -> WorkGrowth:
    first, second = attack.text(shorter), attack.text(longer)
    before = min(_time_reading(read, first) for _ in range(2 * tries))
    after = min(_time_reading(read, second) for _ in range(tries))
    exponent = log(max(after, 1e-9) / max(before, 1e-9)) / log(max(2.0, len(second) / len(first)))
    return WorkGrowth(attack, exponent, len(second), after)


def _time_reading(read: Reader, text: str) -> float:
    with limit_seconds(LIMIT):
        started = time.thread_time()
        read(text)
        return time.thread_time() - started
