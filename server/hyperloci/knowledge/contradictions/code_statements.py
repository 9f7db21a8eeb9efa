"""Code statements: what a piece of code states in words: its documentation, and the values it sets by default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperloci.knowledge.contradictions.words import split_statements
from hyperloci.model.chunk import CodeFacts

MAX_STATEMENTS: Final = 40
"""Statements of one piece that are compared with a statement."""

MAX_CODE_CHARS: Final = 8_000
"""Characters of a piece that values are looked for in."""

_VALUE: Final = r"(true|false|-?\d[\d_]{0,15}(?:\.\d{1,15})?|\"[^\"\n]{1,40}\"|'[^'\n]{1,40}')"
_PARAMETER: Final = re.compile(
    rf"\b([a-z]\w{{2,40}})(?:\s?:[^=,()\n]{{1,60}})?\s?=\s?{_VALUE}(?=\s*[,)])", re.IGNORECASE
)
"""`name: type = value` in a signature."""

_CONSTANT: Final = re.compile(
    rf"^[ \t]*(?:(?:export|const|static|final|pub|let|public|private) ){{0,4}}([A-Z][A-Z0-9_]{{2,40}})"
    rf"(?:\s?:[^=\n]{{1,40}})?\s?:?=\s?{_VALUE}[ \t]*(?:[;,][ \t]*)?(?:#.*|//.*)?$",
    re.MULTILINE | re.IGNORECASE,
)
"""`NAME = value` on a line of its own; case is looked at afterwards, because the values have either."""

_ON: Final = {"true": "enabled", "false": "disabled"}


def list_code_statements(code: str, facts: CodeFacts) -> list[str]:
    """Return the statements of a piece of code, the documented ones first."""
    # An example in the documentation states nothing by itself.
    documented = [sentence for sentence in split_statements(facts.docstring) if "=" not in sentence]
    told = [*documented, *_list_defaults(code[:MAX_CODE_CHARS], facts)]
    return list(dict.fromkeys(told))[:MAX_STATEMENTS]


def _list_defaults(code: str, facts: CodeFacts) -> Iterator[str]:
    for match in _PARAMETER.finditer(facts.signature):
        yield from _describe_default(match[1], match[2])
    for match in _CONSTANT.finditer(code):
        if match[1].isupper():
            yield from _describe_default(match[1].lower().removeprefix("default_"), match[2])


def _describe_default(name: str, value: str) -> Iterator[str]:
    """Yield a default in words: by its name, and by the words of its name."""
    words = name.replace("_", " ")
    yield f"{name} defaults to {value}."
    if words != name:
        yield f"{words} defaults to {value}."
    if value.lower() in _ON:
        yield f"{words} is {_ON[value.lower()]} by default."
