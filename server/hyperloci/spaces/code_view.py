"""Code view (E7): what a piece of code does, in words that a language model understands.

The name split into words, what the docstring says, the signature, what is called: the parse tree's facts and none of
the syntax. A definition's body says how; these say what.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hyperloci.model.chunk import CodeFacts
from hyperloci.text.language.code_fences import fenced_code

MAX_CALLEES: Final = 12
MAX_DOC_CHARS: Final = 400
MAX_VIEW_CHARS: Final = 900
"""The model reads 256 tokens; the end is cut, and callees matter least."""

MIN_FILE_WORD: Final = 3
"""Letters of a file's name that make a word."""

_IDENTIFIER_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_COMMON_CALLEES: Final = frozenset(
    """append extend items keys values len str int float bool list dict set tuple print range isinstance getattr
    setattr hasattr super format join split strip map filter zip enumerate sorted min max sum any all open type
    repr iter next push forEach toString console.log println printf fmt.Println append make new Some Ok Err
    unwrap clone into to_string vec self this""".split()  # noqa: SIM905 - a list of literals reads worse
)
"""Callees that every piece of code has."""

_SIGNATURE: Final = re.compile(
    r"^[ \t]*+(?>(?:(?:export|public|private|protected|static|async|pub(?:\([^)\n]{0,80}\))?)\s++){0,8})"
    r"(?:def|class|function\*?|fn|func|interface|struct|enum|trait|type|impl)\s++(?P<name>[\w.:]++)[^\n]*+",
    re.MULTILINE,
)
_IDENTIFIER: Final = re.compile(
    r"\b(?:[a-z][\w]*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z]\w*)+|\w+(?:(?:\.|::|->)\w+)+)\b|\b\w+(?=\(\))"
)


def split_identifier(name: str) -> str:
    """Return an identifier's parts as lower-case words: `parseConfigFile` and `parse_config_file` are the same."""
    return " ".join(part.lower() for part in _IDENTIFIER_PART.findall(name))


def describe_place(title: str) -> str:
    """Return where code stands, in words: its file's name, then its class and function.

    Packages above the file, dots and underscores are noise to a model of language; so are numbers and single letters in
    a file's name (docs/benchmarks/ranking.md, "Code").
    """
    module, *names = title.split(" > ")
    file = [
        word
        for word in split_identifier(module.rpartition(".")[2]).split()
        if word.isalpha() and len(word) >= MIN_FILE_WORD
    ]
    return " ".join(filter(None, [*file, *map(split_identifier, names)]))


def view_code_facts(facts: CodeFacts) -> str | None:
    """Return the code view of a parsed piece of code; None for one that has neither name nor calls."""
    words = split_identifier(facts.qualname or facts.name)
    callees = [split_identifier(call.rsplit(".", 1)[-1]) for call in _telling_calls(facts.calls)]
    if not words and not callees:
        return None
    parts = [
        words,
        " ".join(facts.docstring[:MAX_DOC_CHARS].split()),
        split_identifier(_parameters_of(facts.signature)),
        f"extends {', '.join(split_identifier(base) for base in facts.bases)}" if facts.bases else "",
        f"calls {', '.join(dict.fromkeys(callees))}" if callees else "",
    ]
    return ". ".join(part for part in parts if part)[:MAX_VIEW_CHARS]


def view_fenced_code(text: str) -> str | None:
    """Return the code view of a text that holds code in fences: its definitions; None without any."""
    code = "\n".join(fenced_code(text))
    names = [split_identifier(match["name"]) for match in _SIGNATURE.finditer(code)]
    if not names:
        return None
    used = [split_identifier(name) for name in find_identifiers(code)]
    return ". ".join([*dict.fromkeys(names), ", ".join(dict.fromkeys(used))])[:MAX_VIEW_CHARS]


def expand_question(text: str) -> str:
    """Return what a question says about code: its words, identifiers split, signatures without punctuation."""
    return _IDENTIFIER.sub(lambda match: split_identifier(match[0]), text)


def find_identifiers(text: str) -> list[str]:
    """Return what looks like a name of code in a text, in order, once each."""
    return list(dict.fromkeys(match[0] for match in _IDENTIFIER.finditer(text)))


def _parameters_of(signature: str) -> str:
    """Return what a signature says after the name: parameters and types."""
    return signature.partition("(")[2]


def _telling_calls(calls: Iterable[str]) -> list[str]:
    telling = [call for call in calls if call.rsplit(".", 1)[-1] not in _COMMON_CALLEES]
    return telling[:MAX_CALLEES]
