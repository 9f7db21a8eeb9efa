"""E8: what a memory refers to, and what it defines; the two are never compared with each other (E.05).

`what calls X` is compared with what memories refer to, `where is X defined` and `what does X import` with what they
define: the definition of X is where its own references stand.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from hyperloci.model.chunk import CodeFacts
from hyperloci.spaces.code_view import identifiers, split_identifier
from hyperloci.spaces.space import MAX_CHARS

MAX_REFERENCES: Final = 24
"""References of one memory, in the order of the text. Their vector is the mean of the names' own: asked what calls a
function, it finds 96 of 100 callers among the first five where one vector of all names in a line finds 75."""

_BUILTIN: Final = frozenset(
    """len print str int float bool list dict set tuple range isinstance issubclass getattr setattr hasattr super
    type repr iter next zip map filter enumerate sorted reversed min max sum any all open id hash abs round
    append extend items keys values get format join split strip update pop copy add remove replace encode decode
    lower upper startswith endswith push forEach toString log println printf fmt make new Some Ok Err unwrap
    clone self this cls
    ValueError TypeError KeyError RuntimeError Exception NotImplementedError AttributeError""".split()  # noqa: SIM905 - a list of literals reads worse
)
"""What every piece of code refers to tells none apart."""

_LINK: Final = re.compile(
    r"\[[^\[\]\n]*+\]\(([^)\s]{1,1000}+)[^)\n]{0,400}+\)|<(https?://[^<>\s]++)>|(?<![\w(])(https?://[^\s)>\]]++)"
)
_PATH: Final = re.compile(r"(?<![\w/:.-])(?:\.{0,2}/)?(?:[\w.-]+/)*[\w-]+\.[a-z]{1,5}(?![\w/])")
_QUOTED: Final = re.compile(r"`([^`\n]{2,80})`")
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from\s+([\w.]+)\s+import|import\s+([\w.]+)|(?:const|let|var)\s.+?require\(['\"]([^'\"]+)|"
    r"import\s.+?from\s+['\"]([^'\"]+)|use\s+([\w:]+)|#include\s+[<\"]([^>\"]+))",
    re.MULTILINE,
)
_DEFINES: Final = re.compile(
    r"^(?:the |a |an )?(?P<name>`[^`]{2,60}`|[\w./:-]{2,60}(?: [\w./:-]{2,30}){0,2}?)(?:\(\))? "
    r"(?:is|are|means|stands for|refers to|defines|contains|holds|lives in|handles|implements|provides|"
    r"— это|это|содержит|определяет|находится в|отвечает за)\b",
    re.IGNORECASE,
)


_RECEIVER: Final = re.compile(r"\.|::|->")


class Side(StrEnum):
    """Which side of a reference a question is compared with."""

    OUT = "e8_out"
    IN = "e8_in"


def outgoing(text: str, facts: CodeFacts | None) -> tuple[str, ...]:
    """Return the names that a memory refers to, in its order, 24 at most."""
    names = _of_code(facts) if facts is not None else _of_text(text[:MAX_CHARS])
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_REFERENCES]


def defined(text: str, title: str, path: str | None, facts: CodeFacts | None) -> str | None:
    """Return what a memory defines, as one line; None if nothing."""
    if facts is not None and facts.name:
        own = f"{facts.qualname or facts.name} {split_identifier(facts.name)}"
        return f"{facts.kind} {own}" + (f" in {path}" if path else "")
    if path is not None:
        return f"{path} {title}".strip()
    match = _DEFINES.match(text)
    return match["name"].strip("`") if match is not None else (title or None)


def _of_code(facts: CodeFacts) -> list[str]:
    calls = [_bare(call) for call in facts.calls]
    return [*facts.imports, *facts.bases, *(call for call in calls if call not in _BUILTIN)]


def _bare(name: str) -> str:
    """Return a name without what it is called on: `client.session.fetch` is found by `fetch`."""
    return _RECEIVER.split(name)[-1]


def _of_text(text: str) -> list[str]:
    links = [next(filter(None, match.groups())).rstrip(".,;:!?") for match in _LINK.finditer(text)]
    imports = [next(filter(None, match.groups())) for match in _IMPORT.finditer(text)]
    plain = _LINK.sub(" ", text)
    quoted = [match[1].removesuffix("()") for match in _QUOTED.finditer(plain)]
    paths = [match[0] for match in _PATH.finditer(plain) if "/" in match[0] or _is_file(match[0])]
    return [*imports, *links, *paths, *quoted, *identifiers(_PATH.sub(" ", plain))]


_FILES: Final = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|sql|sh|md|toml|yaml|yml|json|txt|html|css|cfg|ini|lock)$"
)


def _is_file(name: str) -> bool:
    return _FILES.search(name) is not None


_END: Final = " .?!…"
_I: Final = re.IGNORECASE
"""What the questions below are matched with has single blanks: that makes each of them linear."""

_USERS: Final = re.compile(
    r"^(?:(?:what|who|which (?:\w+ ){0,2}?|where)(?: else)? (?:is |are |do |does )?(?:we )?(?:all )?"
    r"(?:imports?|calls?|uses?|using|used|invokes?|depends? on|requires?|references?|refers to|links to|mentions|"
    r"extends?|implements?|inherits from|subclasses|includes?)|(?:callers|users|importers|dependents|usages?|uses|"
    r"references|call sites|subclasses) (?:of|to)|"
    r"(?:что|кто|где) (?:импортирует|вызывает|использует|используется|вызывается|ссылается на|зависит от|"
    r"наследует(?:ся "
    r"от)?)) (?P<name>.+)$",
    _I,
)
_USED_WHERE: Final = re.compile(
    r"^where (?:is|are|was|do we|does the code) (?P<name>.+?) (?:used|called|imported|invoked|referenced|"
    r"mentioned)\b"
    r"|^(?:где|кем) (?P<name_ru>.+?) (?:используется|вызывается|импортируется)\b",
    _I,
)
_DEFINITION: Final = re.compile(
    r"^(?:where (?:is|are|was|can i find|do i find|does)|what (?:is|does|are)|show(?: me)?|find|go to|open|"
    r"definition of|"
    r"где|что такое|что (?:делает|импортирует|вызывает|использует)|покажи|найди|определение) (?:the )?"
    r"(?:definition of |implementation of |source of |определение )?(?P<name>.+?)"
    r"(?: (?:defined|implemented|declared|located|live|lives|do|does|import|call|use|depend on|define|contain|invoke|"
    r"require|reference|refer to|extend|inherit from|link to|определ[её]н[аоы]?|реализован[аоы]?|находится|лежит))\b.*$"
    r"|^(?:definition|source|implementation|определение|реализация) (?:of )?(?P<name2>.+)$"
    r"|^(?:где) (?:определ[её]н[аоы]?|реализован[аоы]?|находится|лежит) (?P<name3>.+)$"
    r"|^что (?:импортирует|вызывает|использует) (?P<name4>\S+)\s*$",
    _I,
)


def asked(question: str) -> tuple[Side, str] | None:
    """Return which side a question is compared with, and the name it is about; None if it asks for neither."""
    text = " ".join(question.split()).rstrip(_END)
    for side, pattern in ((Side.OUT, _USED_WHERE), (Side.OUT, _USERS), (Side.IN, _DEFINITION)):
        match = pattern.match(text)
        if match is not None:
            name = next(filter(None, match.groups()), "")
            return side, _asked_name(name.strip("`'\" "), side)
    return None


def _asked_name(name: str, side: Side) -> str:
    """Return a name as the compared side has it: what is referred to stands there bare."""
    bare = _bare(name)
    plain = side is Side.OUT and " " not in name and "/" not in name and not _is_file(name)
    return bare if plain and bare and bare not in _BUILTIN else name
