"""Code facts: names, signatures, comments and calls, read from the text of syntax nodes."""

from __future__ import annotations

import inspect
import re
from string import whitespace
from typing import Final

from hyperloci.text.cutting import cut_text

MAX_SIGNATURE_CHARS = 400
"""A longer header (dozens of typed parameters) is cut: its beginning is what a search finds."""

MAX_DOC_CHARS = 2_000
"""A longer comment is cut here; the chunk's text has all of it."""

MAX_GENERICS: Final = 20
"""Generics inside generics that a name may have; deeper ones were made to be slow."""

_GENERIC: Final = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_OPERATOR: Final = re.compile(r"\boperator(?:\s*\(\s*\)|\s*[^\w\s(][^(]*|\s+[^(]+)")
_SEPARATOR: Final = re.compile(r"::|->|[.:#\\]")
_RECEIVER: Final = re.compile(r"^(?:module\.exports|exports|this|self|window|globalThis)\.|\bprototype\.")
_QUOTES: Final = str.maketrans("", "", "\"'`")
_PLAIN_CALLEE: Final = re.compile(r"[\w$@.:>?!#\\-]+")
_LAST_NAME_BACKWARDS: Final = re.compile(r"[\w$!?]+")
_STRING_PREFIX: Final = re.compile(r"^[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
_COMMENT_MARK: Final = re.compile(
    r"^\s*(?:///?!?|//!|/\*+!?|\*+(?!/)|#+!?(?!\[)|--+(?:\[=*\[)?|;+|=begin|=end)(?:\s|$)?|(?<!\s)\s*+(?:(?<!\*)\*++/|\]=*+\])\s*+$"
)
_LICENSE: Final = re.compile(r"copyright|licen[sc]ed?|spdx-|-\*-.*-\*-", re.IGNORECASE)
_BODY_OPENS: Final = re.compile(r" ?(?:[{:;]|=>?)$")
_IMPORT_WORDS: Final = re.compile(r"^(?:global )?(?:import|using|use) (?:static )?| ?;$")


def name_parts(text: str) -> tuple[str, ...]:
    """Return a name's parts, outermost first, without generics, receivers, pointers and quotes.

    `A::B<T>::f` is `("A", "B", "f")`, `module.exports.run` is `("run",)`, `operator<<` stays whole.
    """
    if text.isidentifier():
        return (text,)
    if match := _OPERATOR.search(text):
        return (*name_parts(text[: match.start()]), " ".join(match[0].split()))
    for _ in range(MAX_GENERICS):
        previous, text = text, _GENERIC.sub("", text)
        if previous == text:
            break
    bare = text.lstrip(f"{whitespace}*&(").rstrip(f"{whitespace})").translate(_QUOTES)
    text = _RECEIVER.sub("", bare)
    return tuple(part for part in (piece.strip() for piece in _SEPARATOR.split(text)) if part)


def one_line_signature(header: str) -> str:
    """Return a definition's header on one line, without the sign that opens its body."""
    return cut_text(_BODY_OPENS.sub("", " ".join(header.split())), MAX_SIGNATURE_CHARS)


def docstring_text(literal: str) -> str:
    """Return what a docstring literal says, without quotes and indentation."""
    opening = _STRING_PREFIX.match(literal)
    if opening:
        literal = literal[opening.end() :].removesuffix(opening[1])
    return inspect.cleandoc(literal)[:MAX_DOC_CHARS].rstrip()


def comment_text(comments: list[str]) -> str:
    """Return what comments say, without their markers; nothing for a license, a shebang or an editor's line."""
    if not comments:
        return ""
    written = [line for comment in comments for line in comment.splitlines() if not line.startswith("#!")]
    lines = [_COMMENT_MARK.sub("", line) for line in written]
    text = inspect.cleandoc("\n".join(lines))
    return "" if _LICENSE.search(text) else text[:MAX_DOC_CHARS].rstrip()


def callee_name(text: str) -> str:
    """Return what is called, as written (`client.fetch`, `super.run`); only the last name if a part is computed."""
    if text.startswith("super()."):
        text = text.replace("()", "", 1)
    if _PLAIN_CALLEE.fullmatch(text):
        return text
    # From the end: to look for an end from every beginning takes seconds where a thousand calls are one expression.
    last = _LAST_NAME_BACKWARDS.match(_strip_type_arguments(text).rstrip()[::-1])
    return last[0][::-1] if last else ""


def import_name(text: str) -> str:
    """Return what is imported, without quotes, brackets and the statement's words."""
    line = _IMPORT_WORDS.sub("", " ".join(text.split()))
    return line.strip("\"'`<>")


def base_name(text: str) -> str:
    """Return a base class without type arguments and constructor arguments."""
    return _strip_type_arguments(text).partition("(")[0].strip().lstrip("*&")


def _strip_type_arguments(text: str) -> str:
    text = text.rstrip()
    if text.endswith("]") and "[" in text:
        return text[: text.index("[")]
    if text.endswith(">") and "<" in text:
        return text[: text.index("<")].rstrip().removesuffix("::").rstrip()
    return text
