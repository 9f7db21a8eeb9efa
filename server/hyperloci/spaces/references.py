"""References (E8): what a memory refers to and what it defines; the two are never compared with each other (E.05).

`what calls X` is compared with what memories refer to, `where is X defined` and `what does X import` with what they
define: the definition of X is where its own references stand.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from typing import Final

from hyperloci.model.chunk import CodeFacts
from hyperloci.spaces.code_view import find_identifiers, split_identifier
from hyperloci.spaces.space import MAX_VIEW_SOURCE_CHARS
from hyperloci.text.language.word_tables import read_table

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


class ReferenceSide(StrEnum):
    """Which side of a reference a question is compared with."""

    OUT = "e8_out"
    IN = "e8_in"


def find_references(text: str, facts: CodeFacts | None) -> tuple[str, ...]:
    """Return the names that a memory refers to, in its order, 24 at most."""
    names = _references_of_code(facts) if facts is not None else _references_of_text(text[:MAX_VIEW_SOURCE_CHARS])
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_REFERENCES]


def find_definitions(text: str, title: str, path: str | None, facts: CodeFacts | None) -> str | None:
    """Return what a memory defines, as one line; None if nothing."""
    if facts is not None and facts.name:
        own = f"{facts.qualname or facts.name} {split_identifier(facts.name)}"
        return f"{facts.kind} {own}" + (f" in {path}" if path else "")
    if path is not None:
        return f"{path} {title}".strip()
    match = _DEFINES.match(text)
    return match["name"].strip("`") if match is not None else (title or None)


def _references_of_code(facts: CodeFacts) -> list[str]:
    calls = [_bare_name(call) for call in facts.calls]
    return [*facts.imports, *facts.bases, *(call for call in calls if call not in _BUILTIN)]


def _bare_name(name: str) -> str:
    """Return a name without what it is called on: `client.session.fetch` is found by `fetch`."""
    return _RECEIVER.split(name)[-1]


def _references_of_text(text: str) -> list[str]:
    links = [next(filter(None, match.groups())).rstrip(".,;:!?") for match in _LINK.finditer(text)]
    imports = [next(filter(None, match.groups())) for match in _IMPORT.finditer(text)]
    plain = _LINK.sub(" ", text)
    quoted = [match[1].removesuffix("()") for match in _QUOTED.finditer(plain)]
    paths = [match[0] for match in _PATH.finditer(plain) if "/" in match[0] or _is_file(match[0])]
    return [*imports, *links, *paths, *quoted, *find_identifiers(_PATH.sub(" ", plain))]


_FILE_NAME: Final = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|sql|sh|md|toml|yaml|yml|json|txt|html|css|cfg|ini|lock)$"
)


def _is_file(name: str) -> bool:
    return _FILE_NAME.search(name) is not None


_TRAILING: Final = " .?!…"


def find_asked_reference(question: str) -> tuple[ReferenceSide, str] | None:
    """Return which side a question is compared with, and the name it is about; None if it asks for neither."""
    text = " ".join(question.split()).rstrip(_TRAILING)
    for side, pattern in _question_forms():
        match = pattern.match(text)
        if match is not None:
            return side, _trim_asked_name(match["name"].strip("`'\" "), side)
    return None


@functools.cache
def _question_forms() -> tuple[tuple[ReferenceSide, re.Pattern[str]], ...]:
    """Return forms of questions, each with the side it asks for. Single blanks in what they match keep them linear."""
    tables = ((ReferenceSide.OUT, "references.asks_uses"), (ReferenceSide.IN, "references.asks_definition"))
    return tuple((side, re.compile(f"^{form}$", re.IGNORECASE)) for side, table in tables for form in read_table(table))


def _trim_asked_name(name: str, side: ReferenceSide) -> str:
    """Return a name as the compared side has it: what is referred to stands there bare."""
    bare = _bare_name(name)
    plain = side is ReferenceSide.OUT and " " not in name and "/" not in name and not _is_file(name)
    return bare if plain and bare and bare not in _BUILTIN else name
