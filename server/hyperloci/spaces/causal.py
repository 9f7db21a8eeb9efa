"""E5: cause and effect clauses, by cue words, English and Russian.

A sentence is cut at its cue: `the build failed because the cache was stale` has the effect on the left, `the cache was
stale, so the build failed` on the right. Directions are never mixed: what is asked for the cause of is compared with
effects, and the other way round (E.05). Without a cue there is no clause, and the space is absent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_CHARS
from hyperloci.text.language.sentences import split_sentences

MAX_PAIRS: Final = 3
"""A long text has many; the first ones say what it is about, and one vector cannot hold more."""

MAX_CLAUSE_CHARS: Final = 300
_MIN_CLAUSE_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """A cause and its effect, in the text's own words."""

    cause: str
    effect: str


class Asked(StrEnum):
    """Which side of a cause a question gives; the other is asked for."""

    EFFECT = "effect"
    CAUSE = "cause"


_I: Final = re.IGNORECASE | re.DOTALL
"""What they are matched with is one line with single blanks: that makes each of them linear."""

_C: Final = r"(?P<cause>.+)"
_E: Final = r"(?P<effect>.+)"
_SHORT_C: Final = r"(?P<cause>.+?)"
_SHORT_E: Final = r"(?P<effect>.+?)"
_AND: Final = r"(?:,|;| -| –| —)? (?:and |и )?"

_EFFECT_FIRST: Final = (
    "(?:is|was|are|were|being|been|got)? ?(?:partly |mostly |probably |simply |only |mainly )?"
    r"(?:because of|because|due to|owing to|thanks to|on account of|as a (?:result|consequence) of|caused by|"
    r"triggered by|(?:stem|stems|stemmed|result|results|resulted|resulting|come|comes|came|arises?|arose) from|"
    r"the (?:root )?(?:cause|reason) (?:is|was|being)(?: that)?|"
    r"потому что|потому, что|оттого что|из-за того,? что|из-за|так как|поскольку|вследствие|по причине|"
    r"благодаря тому,? что|благодаря|по вине|(?:был[аои]? )?вызван[аоы]?|причина в том,? что|причина (?:—|-|–))"
)
_CAUSE_FIRST: Final = (
    r"(?:(?:which |that |this )?(?:causes?|caused|causing|leads? to|led to|leading to|results? in|resulted in|"
    r"resulting in|triggers?|triggered|triggering|means? that|meant that|makes?|made(?! by\b)|brings? about|"
    r"is (?:the (?:root )?)?(?:cause of|reason (?:why|that|for)|why)|was (?:the (?:root )?)?(?:cause of|reason (?:why|"
    r"that|for)|why)|explains? why|forces?|forced|prevents?|prevented|breaks?|broke)|"
    r"(?:что |это )?(?:прив[её]л[аои]?|привод[ия]т|приведет|приведёт) к(?: тому,? что)?|"
    r"(?:что |это )?(?:вызывает|вызывают|вызвал[аои]?|ломает|сломал[аои]?|повлекл?[аои]? за собой|"
    r"стал[аои]? причиной|послужил[аои]? причиной|является причиной))"
)
_THEN: Final = (
    r"(?:so that|so(?! (?:much|many|far|long|on|what|is|are|do|does|did|to|as|called)\b)|therefore|thus|hence|"
    r"consequently|as a (?:result|consequence)|for (?:this|that) reason|because of "
    r"(?:this|that)|that(?:'s| is) why|this is why|which is why|поэтому|следовательно|в результате|вследствие (?:этого|"
    r"чего)|из-за (?:этого|чего)|по этой причине|в итоге|так что|значит|тем самым)"
)

_RULES: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        # Because C, E. Since C, E. If C, then E. After C, E.
        rf"^(?:because of|because|since|due to|owing to|as|given(?: that)?|из-за того,? что|из-за|поскольку|так как|"
        rf"потому что|вследствие|благодаря) {_SHORT_C}, (?:то )?{_E}$",
        rf"^(?:if|when(?:ever)?|once|after|as soon as|если|когда|как только|после того,? как|после) {_SHORT_C},"
        rf" (?:then |то )?{_E}$",
        rf"^(?:если|когда) {_SHORT_C} то {_E}$",
        # Russian needs no comma here: adjectives in the genitive, then the noun.
        rf"^из-за (?P<cause>(?:\w+(?:ого|его|ой|ей|ых|их) )*\w+) {_E}$",
        # The reason (why|for) E is that C. Root cause of E: C.
        rf"^(?:the |a )?(?:main |real |actual |root |likely |probable )*(?:reason|cause)(?: why| for| of|"
        rf" that| behind)? "
        rf"{_SHORT_E}(?: is that| was that| is| was|:| —| –| -) ?(?:because )?{_C}$",
        rf"^(?:the )?(?:root |main |real |actual |likely )?(?:cause|reason|причина)(?::| —| –| -) ?{_C}$",
        rf"^(?:(?:главная|основная|настоящая) )?причин(?:а|ой) {_SHORT_E} (?:—|–|-|был[аои]?|стал[аои]?|в том,? что)"
        rf"(?: в том,? что)? ?{_C}$",
        rf"^{_SHORT_C}{_AND}{_THEN}(?:,|:)? {_E}$",
        rf"^{_SHORT_E}(?:,|;| -| –| —)? {_EFFECT_FIRST} {_C}$",
        # Without the comma, or before a date, it speaks of time.
        rf"^{_SHORT_E}, since (?!then\b|last\b|yesterday\b|when\b|v?\d|version\b|\w+day\b){_C}$",
        rf"^{_SHORT_C}(?:,)? {_CAUSE_FIRST} {_E}$",
    )
)

_CONTINUES: Final = re.compile(rf"^{_THEN}(?:,|:)? {_E}$", _I)
"""`The cache was stale. As a result, the build failed.`: the cause is the sentence before."""

_NO_CAUSE: Final = re.compile(r"^(?:it|this|that|which|what|это|что|который|which one)$", _I)

_WHAT_CAUSED: Final = re.compile(
    r"^(?:so |and |but |а |и |но )?(?:"
    r"(?:why|how come)(?: (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should))?(?: it that)?|"
    r"what(?:'s| is| was| were| are)? (?:the )?(?:root |main |real )?(?:cause|causes|reason|reasons)(?: of| for| why| "
    r"behind| that)?|"
    r"what (?:has |had |could have |might have |may have |can |could |would |will )?(?:caused?|causes|triggers?|"
    r"triggered|led to|leads to|made|makes|broke|breaks|explains?|resulted in|results in|prevents?|prevented)"
    r"(?: (?:this|that|it):)?|"
    r"because of what|due to what|for what reason|"
    r"почему|отчего|из-за чего|по какой причине|зачем|что (?:вызвало|вызывает|привело к|сломало|стало причиной)|"
    r"в ч[её]м (?:была )?причина|какова (?:была )?причина|как(?:ая|ие) (?:была |были )?причин[аы]"
    r") (?P<known>.+)$",
    _I,
)
_WHAT_FOLLOWED: Final = re.compile(
    r"^(?:so |and |but |а |и |но )?(?:"
    r"what (?:will |would |could |might |may |does |did |do )?(?:happens?|happened|breaks?|broke|changes?|"
    r"changed|fails?|"
    r"failed|goes wrong|went wrong|follows|followed)(?: to [\w\s'/-]{1,40}?)? (?:if|when|whenever|after|once|"
    r"because(?: of)?|"
    r"as a result of|from|due to)|"
    r"what (?:are|were|is|was|would be|will be) the (?:\w+ )?(?:effects?|consequences?|results?|impact|outcome|fallout|"
    r"side effects?) (?:of|if|when|from)|"
    r"что (?:будет|было|случится|случилось|произойд[её]т|произошло|сломается|сломалось|изменится|изменилось)"
    r"(?: с [\w\s-]{1,40}?)?,? (?:если|когда|после(?: того,? как)?|из-за)|"
    r"(?:каковы|какие) (?:будут |были )?(?:последствия|результаты|эффекты)(?: от)?|к чему (?:прив[её]л[аои]?|"
    r"привод[ия]т|приведет|приведёт)"
    r") (?P<known>.+)$",
    _I,
)
_WHAT_DID: Final = re.compile(
    r"^(?:so |and |but )?what (?:else )?(?:does|did|do|will|would|can|could|might) (?P<known>.+?) (?:cause|lead to|"
    r"result in|trigger|break|bring about|affect|make happen)\b.*$"
    r"|^что (?:вызывает|вызвал[аои]?|сломал[аои]?|ломает) (?P<known_ru>.+)$",
    _I,
)
_END: Final = f"{whitespace}.?!…"


def pairs(text: str) -> list[Pair]:
    """Return the causes and effects that a text states, in its order, three at most."""
    found: list[Pair] = []
    before = ""
    for sentence in split_sentences(text[:MAX_CHARS]):
        pair = _pair(sentence, before)
        if pair is not None:
            found.append(pair)
            if len(found) == MAX_PAIRS:
                break
        before = sentence
    return found


def _pair(sentence: str, before: str) -> Pair | None:
    if sentence.endswith("?"):
        return None
    follows = _CONTINUES.match(sentence)
    if follows is not None:
        return _made(before, follows["effect"]) if before else None
    for rule in _RULES:
        match = rule.match(sentence)
        if match is None:
            continue
        groups = match.groupdict()
        pair = _made(_subject(groups["cause"], before), groups.get("effect") or before)
        if pair is not None:
            return pair
    return None


def _subject(cause: str, before: str) -> str:
    """Return what a bare `this` stands for: the sentence before it."""
    return before if before and _NO_CAUSE.match(_trimmed(cause)) else cause


def _made(cause: str, effect: str) -> Pair | None:
    cause, effect = _trimmed(cause), _trimmed(effect)
    if min(len(cause), len(effect)) < _MIN_CLAUSE_CHARS or _NO_CAUSE.match(cause) or _NO_CAUSE.match(effect):
        return None
    return Pair(cause, effect)


def _trimmed(clause: str) -> str:
    return clause.rstrip(_END).strip(" ,;:—–-")[:MAX_CLAUSE_CHARS]


def asked(question: str) -> tuple[Asked, str] | None:
    """Return which side a question gives, and the words that give it; None if it has no direction.

    `why does the deploy fail?` gives an effect, `what happens if the disk is full?` a cause.
    """
    text = " ".join(question.split()).rstrip(_END)
    # `what did X break` before `what breaks X`: the longer form says more.
    for side, pattern in ((Asked.CAUSE, _WHAT_FOLLOWED), (Asked.CAUSE, _WHAT_DID), (Asked.EFFECT, _WHAT_CAUSED)):
        match = pattern.match(text)
        if match is not None:
            known = match.groupdict().get("known") or match.groupdict().get("known_ru") or ""
            return side, _trimmed(known)
    return None
