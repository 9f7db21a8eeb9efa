"""E10: what a memory is good for, as a short phrase: the same goal in other words lies near it.

`Use WAL mode so that readers never block` and `how do I keep reads going during a write?` share a goal and few words.
Rules, in order: what stands after a word of purpose; what somebody wants or has decided to do; for code the first
sentence of its docstring; a sentence that tells somebody what to do; a title.
"""

from __future__ import annotations

import re
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_CHARS
from hyperloci.text.language.sentences import split_sentences

MAX_GOAL_CHARS: Final = 200
_MIN_GOAL_CHARS: Final = 6
MAX_SENTENCES: Final = 40
"""Sentences looked at: a goal stands near the beginning or not at all."""

_I: Final = re.IGNORECASE

_PURPOSE: Final = re.compile(
    r"\b(?:in order (?:to|that)|so (?:that|as to)|with (?:the|a) (?:goal|aim|purpose|intention) (?:of|to)|"
    r"for the purpose of|(?:the |our |my |its )?(?:goal|aim|purpose|intent|intention|objective|motivation)(?: here)? "
    r"(?:is|was|are|were) (?:to|that)|(?:goal|aim|purpose|objective):|"
    r"чтобы|для того,? чтобы|с целью|цель(?: состоит в том,? чтобы| —| –| -|:)|"
    r"ради того,? чтобы)\s+(?P<goal>[^.;:!?]+)",
    _I,
)
_WANTED: Final = re.compile(
    r"\b(?:(?:i|we|they|you|the user|user|users|the team|team|he|she)(?:'d| would)?(?: really| also| just|"
    r" now| still)? "
    r"(?:wants?(?: me)?|wanted|needs?|needed|wish(?:es)?|likes?|plans?|planned|hopes?|intends?|decided|tr(?:y|ies|ied)|"
    r"am trying|are trying|is trying|have|has|had|prefers?|asked(?: me| us)?|chose|agreed)(?:'m| to| not to)? to|"
    r"(?:help(?: me| us)?|let's|let us|we should|we must|please|todo:?|task:|need to|want to|how (?:do|can|"
    r"could|should|"
    r"would) (?:i|we|you|one)|how to|can you|could you|would you|(?:is there )?(?:a|any|the best) way to|"
    r"хочу|хотим|хочет|нужно|надо|необходимо|требуется|решили|решил[аи]?|планируем|пытаюсь|пытаемся|давай(?:те)?|"
    r"помоги(?:те)?|как(?: мне| нам)?(?: можно| лучше)?(?=\s+\w+ть)))\s+(?P<goal>[^.;!?]+)",
    _I,
)
_VERBS: Final = frozenset(
    """add adjust allow apply archive assert attach avoid back backfill batch be block boost build bump cache
    calculate call cancel capture catch change check choose clean cleanup clear clone close collect combine
    compare compile compress compute configure confirm connect consolidate convert copy count create cut debug
    decode decompose decouple decrease default defer define delete deploy deprecate derive describe detect
    determine disable display document download drop dump embed emit enable encode encrypt enforce ensure enter
    escape estimate evaluate exclude execute exclude expand expose export extend extract fail fetch fill filter
    find finish fix flag flatten flush follow force format free freeze gather generate get give group guard
    guarantee handle hash hide highlight identify ignore implement import improve include increase index infer
    initialise initialize inject insert inspect install instrument integrate introduce invalidate invert isolate
    iterate join keep launch lazily learn limit link lint list load lock log look lower make manage map mark
    mask match measure merge migrate minimize mock modify monitor mount move name never normalise normalize
    notify obtain omit only open optimise optimize order organise organize override pack pad paginate parse
    partition pass patch perform persist pick pin play poll populate post predict prefer prepare prevent print
    process profile protect provide prune publish pull purge push put query queue quote raise rank read rebuild
    receive record recover redact redirect reduce refactor refresh refuse register reject release reload remove
    rename render reorder repair repeat replace replay report request require rerun reset resize resolve respect
    restart restore restrict retain retrieve retry return reuse revert review revoke rewrite roll rotate round
    route run sample sanitise sanitize save scale scan schedule search select send separate serialise serialize
    serve set setup shard share ship show shrink shuffle shut silence simplify skip sleep slice solve sort speed
    split stage standardise standardize start stop store stream strip submit subscribe substitute sum summarise
    summarize support suppress swap switch sync synchronise synchronize tag take tell terminate test throttle
    tokenise tokenize toggle trace track train transform translate transpose traverse trigger trim truncate try
    tune turn unify uninstall unlock unpack unpin unsubscribe update upgrade upload use validate verify visit
    wait walk warm warn watch wrap write yield zip""".split()  # noqa: SIM905 - a list of literals reads worse
)
_BY_DOING: Final = re.compile(
    r"^(?:we |i |they |the team |i've |we've )?(?:have |has )?(?:now |just |also )?(?P<goal>(?:added|fixed|"
    r"removed|moved|"
    r"switched|replaced|rewrote|refactored|implemented|introduced|enabled|disabled|migrated|upgraded|changed|made|"
    r"renamed|built|split|cached|pinned|chose|picked|use|using|adopted|dropped|реализовал[аи]?|добавил[аи]?|"
    r"исправил[аи]?|убрал[аи]?|перешли|заменил[аи]?|перенесл[аи]|обновил[аи]?|включил[аи]?|выбрал[аи]?|используем)"
    r"\s+.+)$",
    _I,
)
_DECIDED: Final = re.compile(r"^(?:decision|decided|goal|task|todo|plan|решение|задача|цель)\s*:\s*(?P<goal>.+)$", _I)
_PREFIX: Final = re.compile(
    r"^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert)(?:\([^)]*\))?!?:\s*", _I
)
_RU_INFINITIVE: Final = re.compile(r"^(?:не )?[а-яё]+(?:ть|ти|чь)(?:ся|сь)?\b", _I)
_THIRD_PERSON: Final = re.compile(r"^([a-z]+?)(?:e?s)$")
_ASIDE: Final = re.compile(r" ?(?:,|\bbecause\b|\bsince\b|\bпотому что\b|\bтак как\b|\bпоскольку\b| - | — ).*$", _I)
_END: Final = f"{whitespace}.?!…:;,"


def of_text(text: str, title: str = "") -> str | None:
    """Return the goal that a text states or serves, or None."""
    listed = split_sentences(text[:MAX_CHARS])[:MAX_SENTENCES]
    for rule in (_purpose, _decided, _wanted, _told, _done):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _heading(title) if title else None


def of_code(docstring: str) -> str | None:
    """Return the goal of a piece of code: what its docstring says first."""
    listed = split_sentences(docstring[:MAX_CHARS])
    return _cut(listed[0]) if listed else None


def of_question(text: str) -> str:
    """Return the goal of a question; all of it where no rule finds a shorter phrase."""
    listed = split_sentences(text[:MAX_CHARS])[:MAX_SENTENCES]
    for rule in (_purpose, _wanted):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _cut(" ".join(text.split())) or text


def _purpose(sentence: str) -> str | None:
    match = _PURPOSE.search(sentence)
    return None if match is None else _cut(match["goal"])


def _wanted(sentence: str) -> str | None:
    match = _WANTED.search(sentence)
    return None if match is None else _cut(match["goal"])


def _decided(sentence: str) -> str | None:
    match = _DECIDED.match(sentence)
    return None if match is None else _cut(match["goal"])


def _told(sentence: str) -> str | None:
    sentence = _PREFIX.sub("", sentence)
    return _cut(_ASIDE.sub("", sentence) or sentence) if _is_told(sentence) else None


def _is_told(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0].lower().strip("`'\"")
    if sentence.endswith("?") or " " not in sentence:
        return False
    third = _THIRD_PERSON.match(first)
    # `Returns the headers` in a docstring; `Tests run in parallel` is no such sentence.
    return (
        first in _VERBS
        or (third is not None and third[1] in _VERBS and _takes_object(sentence))
        or bool(_RU_INFINITIVE.match(sentence))
    )


def _takes_object(sentence: str) -> bool:
    second = sentence.split(" ", 2)[1].lower()
    return second in {"a", "an", "the", "all", "any", "each", "every", "this", "its", "to", "whether", "if", "that"}


def _done(sentence: str) -> str | None:
    match = _BY_DOING.match(_PREFIX.sub("", sentence))
    return None if match is None else _cut(_ASIDE.sub("", match["goal"]))


def _heading(title: str) -> str | None:
    last = title.rsplit(" > ", 1)[-1].strip()
    return _cut(last) if _is_told(last) or last.lower().startswith(("how to ", "как ")) else None


def _cut(goal: str) -> str | None:
    goal = goal.rstrip(_END).strip()[:MAX_GOAL_CHARS]
    return goal if len(goal) >= _MIN_GOAL_CHARS else None
