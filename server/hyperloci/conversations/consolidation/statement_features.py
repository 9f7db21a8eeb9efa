"""Statement features: what the scorer knows of a sentence, of its turn and of its neighbours (B.17).

A feature is a name that is there or not. Groups, by prefix:

- `w:`, `b:`, `^`: words, pairs of neighbours, first words. Digits are `#`, so that values don't become words.
- `len`, `n`, `first`, `last`: how long the sentence is, how many its turn has, where in it the sentence stands.
- `question`, `asks`, `ident`, `unit`, `digit`, `date`, `name`, `quoted`, `listed`, `strong`: what it is made of.
- `vague c:`: cues of who speaks of themselves, where no amount, date or name is told.
- `introduces`: it ends in a colon; `introduces left out`: code, a log, a table or a quotation comes next.
- `before^`, `after^`, `before?`, `after?`: the sentence before and after it in its turn.
- `c:`, `before c:`, `after c:`, `asked c:`: how it, its neighbours and the last words before it are meant
  (`data/statement_cues.toml`).
- `bans`, `sets`, `sets it`: it begins as a ban does (`nothing on Fridays`), or sets a value (`put 50`, `cap it at 9`).
- `supposes`: it says what would be if something were.
- `once`: it limits itself to a time (`tomorrow only`, `for this Friday alone`); `reply once`: the answer does.
- `leans`: what it is about is not in it (`referents`).
- `acted`, `edited`: of the assistant's words: it ran or changed something since the user's; `message`: how often it
  has spoken since; `goes on`: it does or says more before the user speaks; `edits after`, `says more`: what.
- `told c:`, `then^`, `then c:`, `then?`: what the user came with, and how they took the assistant's words.
- `asked`, `asked^`, `offered`: the assistant's words that it may answer.
- `echo`: the answer repeats what was said; `number echoed`, `name echoed`: it names the same figure, name or
  identifier; `number ignored`: it names none of its figures.
- `reply w:`, `reply^`, `reply c:`, `reply len`, `reply?`: the assistant's first sentence after the user's words, and
  how long all of it is; `reply acted`: it did something before it spoke. Not of what stands before a question or a
  request in the same turn: that is what is answered.
- `turn len`: how long the whole turn is.
- `then echo`: of the assistant's words: the user takes some of them up. `told why`, `told paste`: the user had asked
  for a reason, had shown a log or code.
- `in quote`: it stands in a longer quotation.

Those of an assistant's sentence begin with `A|`: the same words mean something else there.

It is one file, though long: the names above are what the weights know, and a group that stood elsewhere would be
changed without a look at the others.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_phrases import holds_phrase
from hyperloci.conversations.consolidation.turn_view import (
    ACTION,
    ASSISTANT,
    USER,
    Sentence,
    TurnView,
    find_answer_after,
    find_prompt_before,
    find_reply_after,
    find_reply_before,
)
from hyperloci.conversations.referents import IDENTIFIER, leans_on_context, read_words
from hyperloci.knowledge.deadlines.due_dates import read_day_features
from hyperloci.text.action_line import EDITORS
from hyperloci.text.language.word_tables import phrase_pattern

NUMBER_SIGN: Final = "#"
"""Stands for each number among words."""

_CUES_FILE: Final = Path(__file__).parent / "data" / "statement_cues.toml"
LONGEST_CUE: Final = 5
"""Words."""

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?>(?:[.,:]\d+)*)|[?!:;/→=`]")
_INLINE_CODE: Final = re.compile(r"`[^`\n]{1,200}`")
_CODE_SIGN: Final = re.compile(r"[?!;/→=]|:(?!\d)")
_QUOTED: Final = re.compile(r'"[^"]{12,600}"|“[^”]{12,600}”|«[^»]{12,600}»|„[^“”]{12,600}[“”]')
REQUEST_START: Final = r"\W{0,3}(?:(?:so|and|but|ok|okay|also|then|hey|hi|и|а|но)\W{1,3}){0,2}@\b"
"""How a sentence that asks begins; `@`: the phrases of `consolidation.requests`."""

_UNIT: Final = re.compile(
    r"\b\d{1,12}(?:[.,]\d{1,6})?\s?(?:ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|kb|mb|gb|tb"
    r"|%|€|\$|eur|usd|px|pt|hz|khz|mhz|v|ma|k)\b|[$€£]\s?\d",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w{0,9}\b"
    r"|\b(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?s?\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b20\d\d-\d\d",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z]\w")
_LISTED: Final = re.compile(r"^[ \t]*+(?:[-*•]|\d{1,2}[.)]|[a-z][.)])[ \t]+\S", re.MULTILINE)
_OFFER: Final = re.compile(
    r"\b(?:i'd|i would|i recommend|i suggest|i could|we could|you could|options?)\b", re.IGNORECASE
)

_LENGTHS: Final = ((1, "1"), (3, "2-3"), (6, "4-6"), (12, "7-12"), (25, "13-25"))

_BAN: Final = re.compile(
    r"\W{0,3}(?:(?:and|also|so|but|oh|ok|btw|und|aber|и|а|но)[\s,]{1,3}){0,2}"
    r"(?:no|never|nothing|nobody|don'?t ever|hands off|kein\w{0,2}|nie|niemals|nichts|niemand"
    r"|никаких|никогда|нельзя|ничего|ни)\s{1,3}[\w`]",
    re.IGNORECASE,
)
_SUPPOSITION: Final = re.compile(
    r"\b(?:if|wenn|falls|если)\b[^.!?]{1,120}\b(?:would|'d|could|might|wäre\w*|würde\w*|könnte\w*|hätte\w*|бы)\b"
    r"|\b(?:would|wäre|würde|hätte)\b[^.!?]{1,120}\b(?:if|wenn)\b",
    re.IGNORECASE,
)

_TIME: Final = (
    r"(?:today|tonight|tomorrow|now|nights?|days?|evenings?|mornings?|weeks?|weekends?|times?|runs?|demo|hours?|"
    r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)day|heute|morgen|abend|nacht|tag|mal|woche|сегодня|завтра|раз|ночь|день)"
)
_LIMIT: Final = (
    r"(?:only|just|alone|solely|exclusively|one|single|nur|allein|einmalig|bloß|только|лишь|один|seulement|solo|unique)"
)
_ONCE: Final = re.compile(
    rf"\b{_LIMIT}\s{{1,3}}(?:[\w']{{1,12}}\s{{1,3}}){{0,2}}{_TIME}\b"
    rf"|\b{_TIME}\W{{1,3}}(?:[\w']{{1,12}}\W{{1,3}})?(?:only|alone|just|nur|только)\b"
    rf"|\buntil\s{{1,3}}(?:\w{{1,9}}\s)?{_TIME}\b|(?:^|[.!]\s)once\b",
    re.IGNORECASE,
)
"""A limit beside a time. Neither tells alone: rules say `only`, and deadlines name days."""

_ANSWERABLE: Final = frozenset({"asked last", "asked or", "offered list"})
"""What a turn of a word or two answers: `PostgreSQL` says nothing else."""

_CONCRETE: Final = ("unit", "digit", "date", "name")
"""What a statement about the world mostly has; a wish, a worry or a task does without."""

_SPOKEN: Final = frozenset({"doing", "own"})
"""Cues that are worth less where nothing concrete is named."""

_IDENTIFIER_WORDS: Final = re.compile(r"\b\w*(?:_|[a-z][A-Z])\w+")

_EDITORS: Final = tuple(sorted(f"{name} " for name in EDITORS))

EXCHANGE_TURNS: Final = 40
"""Turns on each side that are looked at: every sentence of a long answer looks at them anew."""

MAX_TAKEN_UP: Final = 3
"""Words of the assistant's that the user repeats: more say no more."""

MAX_REPLY_WORDS: Final = 25
"""Words of the answer's first sentence that are read. With the writer left out, average precision of the user's
sentences is .860 with them, .858 with forty words of the whole answer, .834 without."""

MIN_ECHO_CHARS: Final = 4
"""Shorter words are in every answer."""


def read_features(turns: Sequence[TurnView], at: int, number: int) -> set[str]:
    """Return the features of a sentence.

    Args:
        turns: turns of one session, in order.
        at: which of them.
        number: which of its sentences.
    """
    turn = turns[at]
    sentence = turn.sentences[number]
    words = split_words(sentence.text)
    own = set(_own_features(sentence, words))
    prefix = "A|" if turn.speaker == ASSISTANT else ""
    found = {f"{prefix}{name}" for name in own} if prefix else own
    found.update((f"who={turn.speaker}", _length_name("len", len(words))))
    found.update(_place_features(turn, number))
    found.add(f"{prefix}{_length_name('turn len', len(turn.text.split()))}")
    if turn.speaker == USER:
        if number >= _find_last_asking(turn):
            found.update(_read_reply_features(find_reply_after(turns, at)))
            if at + 1 < len(turns) and turns[at + 1].speaker == ACTION:
                found.add("reply acted")
        asked = _read_asked_features(find_reply_before(turns, at))
        found.update(asked)
        if number == 0:
            size = _length_name("", len(words))
            found.update(f"answer{size} {name}" for name in asked & _ANSWERABLE)
    else:
        found.update(_read_exchange(turns, at))
        found.update(_told_features(find_prompt_before(turns, at)))
        answer = find_answer_after(turns, at)
        found.update(_then_features(answer))
        found.update(_taken_up(answer, sentence.text))
    found.update(_echo_features(turns, at, words))
    found.update(_named_again(turns, at, sentence))
    if turn.is_quoted(number):
        found.add("in quote")
    return found


def read_kind_features(statement: str) -> Iterator[str]:
    """Yield what tells of which kind a statement is: its words, what it is made of, and how it names days."""
    yield from _own_features(Sentence(statement, 0, len(statement)), split_words(statement))
    yield from read_day_features(statement)


def split_words(text: str) -> list[str]:
    """Return the words and signs of a text, in lower case, `#` for each number."""
    words = split_raw_words(text)
    return [NUMBER_SIGN if word[0].isdigit() else word.lower().replace("’", "'") for word in words]


def split_raw_words(text: str) -> list[str]:
    """Return the words and signs of a text as they are written, numbers too; of code in it the words alone.

    The sign in `#![warn(missing_docs)]` calls nothing out, and that in `a ? b : c` asks nothing.
    """
    return _WORD.findall(_INLINE_CODE.sub(_blank_signs, text) if "`" in text else text)


def _blank_signs(code: re.Match[str]) -> str:
    return _CODE_SIGN.sub(" ", code[0])


def read_cues(words: Sequence[str]) -> set[str]:
    """Return how words are meant: the names of the cues among them."""
    cues = _load_cues()
    return {
        name
        for size in range(1, LONGEST_CUE + 1)
        for start in range(len(words) - size + 1)
        for name in cues.get(" ".join(words[start : start + size]), ())
    }


@functools.cache
def _load_cues() -> Mapping[str, tuple[str, ...]]:
    """Return the names of cues by phrase."""
    found: dict[str, tuple[str, ...]] = {}
    for name, phrases in tomllib.loads(_CUES_FILE.read_text(encoding="utf-8")).items():
        for phrase in phrases:
            found[phrase] = (*found.get(phrase, ()), name)
    return found


def _own_features(sentence: Sentence, words: Sequence[str]) -> Iterator[str]:
    text = sentence.text
    yield from (f"w:{word}" for word in words)
    yield from (f"b:{one} {other}" for one, other in pairwise(words))
    told = words[_count_connectives(words) :]
    yield from _first_words("^", told, 3)
    is_setter = told[:1] != [] and told[0] in read_words("setters")
    cues = read_cues(words)
    yield from (f"c:{name}" for name in cues)
    quoted = sum(len(part) for part in _QUOTED.findall(text))
    signs = {
        "question": sentence.is_question,
        "asks": not sentence.is_question and is_asking(text),
        "leans": leans_on_context(text),
        "supposes": _SUPPOSITION.search(text) is not None,
        "once": _ONCE.search(text) is not None,
        "bans": _BAN.match(text) is not None,
        "sets": NUMBER_SIGN in words and is_setter,
        "sets it": NUMBER_SIGN in told[2:4] and is_setter and told[1] in read_words("objects"),
        "ident": IDENTIFIER.search(text) is not None,
        "unit": _UNIT.search(text) is not None,
        "digit": "#" in words,
        "date": _DATE.search(text) is not None,
        "name": _NAME.search(text) is not None,
        "quoted": quoted > 0,
        "mostly quoted": quoted > len(text) / 2,
        "listed": _LISTED.match(text) is not None,
        "strong": "**" in text,
    }
    yield from (name for name, is_there in signs.items() if is_there)
    if not any(signs[name] for name in _CONCRETE):
        yield from (f"vague c:{name}" for name in _SPOKEN & cues)


def _count_connectives(words: Sequence[str]) -> int:
    """Return how many words at the beginning only join a sentence to what was said: `and`, `oh`, `btw`."""
    joined = sum(1 for _ in itertools.takewhile(lambda word: word in read_words("connectives"), words))
    return joined if joined < len(words) else 0


def is_asking(text: str) -> bool:
    """Return whether a sentence asks: it ends with a question mark, or begins as one that does."""
    return text.endswith("?") or phrase_pattern("consolidation.requests", REQUEST_START).match(text) is not None


@functools.lru_cache(maxsize=64)  # Asked for each sentence of a turn, of which a paste may have thousands.
def _find_last_asking(turn: TurnView) -> int:
    """Return the number of the last sentence of a turn that asks; -1 where none does."""
    return max((number for number, sentence in enumerate(turn.sentences) if is_asking(sentence.text)), default=-1)


def _read_exchange(turns: Sequence[TurnView], at: int) -> Iterator[str]:
    """Yield what an assistant did and said between the user's words around a turn of its.

    Who works through a task comments on each step; what lasts is mostly said at the end, once.
    """
    nearest = reversed(turns[max(0, at - EXCHANGE_TURNS) : at]), turns[at + 1 : at + 1 + EXCHANGE_TURNS]
    before, after = (tuple(itertools.takewhile(lambda turn: turn.speaker != USER, side)) for side in nearest)
    signs = {
        "acted": any(turn.speaker == ACTION for turn in before),
        "A|edited": any(map(_is_edit, before)),
        "A|goes on": after != (),
        "A|edits after": any(map(_is_edit, after)),
        "A|edits next": any(map(_is_edit, after[:1])),
        "A|says more": any(turn.speaker == ASSISTANT for turn in after),
    }
    yield from (name for name, is_there in signs.items() if is_there)
    yield f"A|{_length_name('message', sum(turn.speaker == ASSISTANT for turn in before))}"


def _is_edit(turn: TurnView) -> bool:
    return turn.speaker == ACTION and turn.text.startswith(_EDITORS)


def _place_features(turn: TurnView, number: int) -> Iterator[str]:
    sentences = turn.sentences
    yield _length_name("n", len(sentences))
    if sentences[number].text.endswith(":"):
        yield "introduces"
    if turn.is_left_out_after(number):
        yield "introduces left out"
    if number == 0:
        yield "first"
    if number == len(sentences) - 1:
        yield "last"
    for name, place in (("before", number - 1), ("after", number + 1)):
        if 0 <= place < len(sentences):
            words = split_words(sentences[place].text)
            yield from _first_words(f"{name}^", words, 2)
            yield from (f"{name} c:{cue}" for cue in read_cues(words))
            if sentences[place].is_question:
                yield f"{name}?"


@functools.lru_cache(maxsize=1)  # Every sentence of a turn answers the same words.
def _read_asked_features(reply: TurnView | None) -> frozenset[str]:
    return frozenset(_asked_features(reply))


def _asked_features(reply: TurnView | None) -> Iterator[str]:
    if reply is None:
        return
    questions = [sentence for sentence in reply.sentences if sentence.is_question]
    if questions:
        yield "asked"
        yield from _first_words("asked^", split_words(questions[-1].text), 2)
        if " or " in questions[-1].text:
            yield "asked or"
        if reply.sentences[-1].is_question:
            yield "asked last"
    if len(_LISTED.findall(reply.text)) > 1:
        yield "offered list"
    if _OFFER.search(reply.text):
        yield "offered"
    if reply.sentences:
        yield from (f"asked c:{cue}" for cue in read_cues(split_words(reply.sentences[-1].text)))


@functools.lru_cache(maxsize=1)  # Every sentence of a turn is followed by the same words.
def _read_reply_features(reply: TurnView | None) -> frozenset[str]:
    """Return how the assistant took the user's words: `Only this Friday.`, `Noted.`, `It isn't in the log.`."""
    if reply is None or not reply.sentences:
        return frozenset()
    words = split_words(reply.sentences[0].text)[:MAX_REPLY_WORDS]
    asks = ("reply?",) if reply.sentences[-1].is_question else ()
    once = ("reply once",) if _ONCE.search(reply.sentences[0].text) else ()
    return frozenset(
        (
            *(f"reply w:{word}" for word in words if word != NUMBER_SIGN),
            *_first_words("reply^", words, 2),
            *(f"reply c:{cue}" for cue in read_cues(words)),
            _length_name("reply len", len(split_words(reply.text))),
            *asks,
            *once,
        )
    )


@functools.lru_cache(maxsize=1)  # Every sentence of a turn answers the same words.
def _told_features(prompt: TurnView | None) -> frozenset[str]:
    """Return what the user came with."""
    if prompt is None:
        return frozenset()
    signs = {
        "told why": holds_phrase(prompt.text, "asks_reason"),
        "told paste": any(prompt.is_left_out_after(number) for number in range(len(prompt.sentences))),
    }
    told = (name for name, is_there in signs.items() if is_there)
    return frozenset((*(f"told c:{cue}" for cue in read_cues(split_words(prompt.text))), *told))


def _taken_up(answer: TurnView | None, said: str) -> Iterator[str]:
    """Yield how much of what the assistant said the user repeats: `ah, the stale index`."""
    if answer is None or not answer.sentences:
        return
    shared = len(meaningful_words(said) & _read_meaning(answer))
    if shared:
        yield f"then echo={min(shared, MAX_TAKEN_UP)}"


@functools.lru_cache(maxsize=1)  # Every sentence of a turn is answered by the same words.
def _read_meaning(answer: TurnView) -> frozenset[str]:
    """Return the words that carry the meaning of what followed."""
    return meaningful_words(answer.text)


@functools.lru_cache(maxsize=1)  # Every sentence of a turn is answered by the same words.
def _then_features(answer: TurnView | None) -> frozenset[str]:
    """Return how the user took the assistant's words."""
    if answer is None or not answer.sentences:
        return frozenset()
    words = split_words(answer.sentences[0].text)
    asks = ("then?",) if answer.sentences[0].is_question else ()
    return frozenset((*_first_words("then^", words, 2), *(f"then c:{cue}" for cue in read_cues(words)), *asks))


def _echo_features(turns: Sequence[TurnView], at: int, words: Sequence[str]) -> Iterator[str]:
    """Yield whether the answer repeats what was said."""
    reply = find_reply_after(turns, at)
    said = {word for word in words if len(word) >= MIN_ECHO_CHARS or word == "#"}
    if reply is None or not said:
        return
    share = len(said & _read_answer(reply)) / len(said)
    if share > 0:
        yield "echo=some" if share < 1 / 3 else "echo=most"


def _named_again(turns: Sequence[TurnView], at: int, sentence: Sentence) -> Iterator[str]:
    """Yield whether the answer names the same figures and names: whoever sets something is told that it is set."""
    reply = find_reply_after(turns, at)
    if reply is None or turns[at].speaker != USER:
        return
    raw = split_raw_words(sentence.text)
    numbers = {word for word in raw if word[0].isdigit()}
    again = _read_raw_answer(reply)
    if numbers:
        yield "number echoed" if numbers & again else "number ignored"
    named = {word for word in raw[1:] if word[0].isupper()} | set(_IDENTIFIER_WORDS.findall(sentence.text))
    if named & again:
        yield "name echoed"


@functools.lru_cache(maxsize=1)  # Every sentence of a turn is followed by the same words.
def _read_raw_answer(reply: TurnView) -> frozenset[str]:
    """Return the words of what followed as they are written."""
    return frozenset((*split_raw_words(reply.text), *_IDENTIFIER_WORDS.findall(reply.text)))


@functools.lru_cache(maxsize=1)  # Every sentence of a turn is followed by the same words.
def _read_answer(reply: TurnView) -> frozenset[str]:
    """Return the words of what followed."""
    return frozenset(split_words(reply.text))


def _first_words(prefix: str, words: Sequence[str], count: int) -> Iterable[str]:
    return (f"{prefix}{' '.join(words[:size])}" for size in range(1, count + 1) if len(words) >= size)


def _length_name(name: str, count: int) -> str:
    return f"{name}={next((word for most, word in _LENGTHS if count <= most), 'more')}"
