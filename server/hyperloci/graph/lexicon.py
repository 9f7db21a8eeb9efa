"""Word lists of the contradiction rules, as data: what carries no topic, what is a verb, what means the same.

The lists are short on purpose. Each entry earns its place in how developers talk about code, tools and settings;
general English beyond that is left to the vectors.
"""

# ruff: noqa: SIM905 - lists of hundreds of literals read worse

from __future__ import annotations

from typing import Final

from hyperloci.store import analysis

IRREGULAR: Final[dict[str, str]] = {
    form: base
    for base, forms in {
        "write": "wrote written",
        "run": "ran",
        "take": "took taken",
        "make": "made",
        "keep": "kept",
        "send": "sent",
        "build": "built",
        "choose": "chose chosen",
        "begin": "began begun",
        "get": "got gotten",
        "hold": "held",
        "tell": "told",
        "say": "said",
        "know": "knew known",
        "give": "gave given",
        "find": "found",
        "break": "broke broken",
        "speak": "spoke spoken",
        "pay": "paid",
        "buy": "bought",
        "lose": "lost",
        "leave": "left",
        "meet": "met",
        "throw": "threw thrown",
        "forbid": "forbade forbidden",
        "hide": "hid",
        "fall": "fell fallen",
        "grow": "grew grown",
        "freeze": "froze frozen",
        "teach": "taught",
        "learn": "learnt",
        "drive": "drove driven",
        "draw": "drew drawn",
        "see": "saw seen",
        "need": "needn't",
        "add": "added adding",
        "config": "configuration configurations configs",
        "asynchronous": "async",
        "synchronous": "sync",
    }.items()
    for form in forms.split()
}
"""Forms that a stemmer leaves apart, each with the form to stem instead."""

_SYNONYMS: Final = """
database db
repository repo
environment env
production prod
development dev
documentation docs
dependency dep
directory folder
delete erase
remove drop
parameter argument arg
authentication auth
test spec
postgres postgresql
kubernetes k8s
javascript js
typescript ts
frontend front-end
backend back-end
ban forbid prohibit disallow
allow permit
start begin launch
stop halt
speak talk
kid child children
"""

FUNCTION_WORDS: Final = frozenset(
    """cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't shouldn't couldn't haven't hasn't
    hadn't mustn't needn't never nobody nothing none neither nor without instead avoid avoids avoided avoiding must
    shall may might need i'm i've i'll we've we're we'll you've you're he's she's it's that's there's they've
    they're let's us it one ones per via like upon onto toward towards among across yet ever else either whether
    rarely seldom uncommon unusual unlikely impossible unnecessary infrequent hardly barely every each any anyone
    anybody anything someone somebody something longer anymore rather able unable e.g i.e etc vs yes ok""".split()
)
"""Beyond the stop words of the index: they shape a sentence and say nothing of its topic."""

_LIGHT: Final = """
use utilize employ adopt rely set configure define make get take have want choose pick decide switch move change adjust
update upgrade migrate become remain stay go going come put keep plan require target include contain involve
try kinda worry now currently recently already still just also always usually commonly normally generally often
sometimes typically
new current default please yesterday today last previously further finally really actually simply
number amount project team thing way sure mention say said set-up setup
"""
"""Verbs and adverbs that go with any topic: no two statements are about the same because both say `use` or `now`."""

_VERBS: Final = """
accept add allow answer apply ask assign attach block break build cache call cancel catch check clean close commit
compile compress compute connect convert copy count crash create debug declare delete depend deploy describe detect
disable display document download drop enable encrypt end enforce ensure exist expect expire export expose fail fetch
filter find finish fix flush follow forbid forget format generate give handle happen hate hide hold ignore implement
import increase decrease index inherit install integrate keep know last leave like limit link lint listen live load
log lose love lower manage map match merge mock need open parse pass persist point prefer print process produce
provide publish pull push raise reach read receive reduce reference refuse register reject release remove render
replace report reject require reset resolve restart restore retry return review revert rotate run save scale search
send serve share ship show skip solve sort split spawn squash start stop store submit support sync take test throw
time track trigger trust try update upload validate verify wait want warn watch write
"""

SYNONYM_STEMS: Final[dict[str, str]] = {
    stem: group[0]
    for group in ([analysis.terms(word)[0] for word in line.split()] for line in _SYNONYMS.strip().splitlines())
    for stem in group
}
"""Stem to the stem of its group."""


def _stems(words: str) -> frozenset[str]:
    return frozenset(SYNONYM_STEMS.get(stem, stem) for word in words.split() for stem in analysis.terms(word)[:1])


LIGHT_STEMS: Final = _stems(_LIGHT)
VERB_STEMS: Final = _stems(_VERBS) | LIGHT_STEMS

AUXILIARIES: Final = frozenset(
    """is are was were be been being has have had do does did can could will would should must shall may might
    cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't shouldn't couldn't haven't hasn't
    hadn't mustn't needn't it's that's there's""".split()
)

PLACE_PREPOSITIONS: Final = frozenset(
    """for in on at during under when while if after before within inside of by between across until unless throughout
    against""".split()
)
"""They open a circumstance: where, when or for what something holds."""

OFFERING_STEMS: Final = _stems("support handle accept read parse export import provide offer understand include")
"""Verbs of which several objects may hold at once: who supports YAML may support TOML too."""

CHANGE_STEMS: Final = _stems(
    "now change update upgrade increase decrease move extend adjust raise lower switch migrate recently become reach"
    " shift reschedule postpone improve grow bump downgrade rename replace"
)
"""They tell of a change, so that another value is an update of the same thing rather than another thing's."""

FAILURE_STEMS: Final = _stems("fail failed abandon crash broke useless unusable dead")
"""A statement with one of these warns of an approach, it does not take it up."""
