"""Located text: finds the line of a snippet that is a heading, gives a setting its value, or holds a message."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from hyperloci.knowledge.names.named_thing import NamedThing, ThingKind
from hyperloci.knowledge.names.written_names import is_code_like
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.programming_languages import is_test_path

MAX_HEADING_WORDS: Final = 10
"""Words of what may be a heading: a longer text is a question."""

MIN_RUN: Final = 3
"""Words that a message must share with a line, one behind the other: two stand together by chance."""

RUN_SHARE: Final = 0.6
"""Of a message's words; what is printed has values in it that the code has not."""

_HEADING: Final = re.compile(r"^#{1,6}[ \t]++([^\n]*[^\s#]|[^\s#])[ \t#]*+$", re.MULTILINE)
_MARKUP: Final = re.compile(r"[`*_]|\[([^\]]{0,400}+)\]\([^)]{0,2000}+\)")
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_QUOTED_MESSAGE: Final = re.compile(r"\"([^\"\n]{8,400})\"|'([^'\n]{8,400})'(?!\w)|`([^`\n]{8,400})`|“([^”\n]{8,400})”")
_GIVEN: Final = re.compile(
    r"[\"']?\s{0,4}(?:\?|!)?(?:\s{0,40}:(?![:=])|\s{0,40}:=|\s{1,40}=(?![=>])|=(?![=>])|\s{0,4};)"
)
_ARGUMENT: Final = re.compile(r"=[^\n]*,[ \t]*$")
_TOP_KINDS: Final = frozenset({"module", "class", "other", "block", ""})


@dataclass(frozen=True, slots=True)
class LocatedSnippet:
    """A snippet, where it stands, and what its code is: `module`, `class`, `function`."""

    node: Node
    position: Position
    kind: str

    def line_at(self, offset: int) -> int:
        """Return the line in the file of a place in the text."""
        return (self.position.line_start or 1) + self.node.content.count("\n", 0, offset)


def is_among_headings(said: str, titles: Iterable[str]) -> bool:
    """Return whether one of these headings says exactly this, in any case."""
    wanted = _fold_heading(said)
    return any(_fold_heading(title) == wanted for title in titles)


def find_heading(said: str, snippets: Iterable[LocatedSnippet]) -> list[NamedThing]:
    """Return the sections with exactly this heading, in any case.

    Where there are none, return the snippets in which the heading stands above sections of its own: what it is above
    says less of it than what it begins.
    """
    wanted = _fold_heading(said)
    own: list[NamedThing] = []
    above: list[NamedThing] = []
    for snippet in snippets:
        match = next((one for one in _HEADING.finditer(snippet.node.content) if _fold_heading(one[1]) == wanted), None)
        if match is None:
            continue
        thing = NamedThing(
            kind=ThingKind.SECTION,
            name=" > ".join(snippet.position.section_path) or match[1],
            keys=(snippet.node.key,),
            path=snippet.position.path,
            line=snippet.line_at(match.start()),
        )
        parents = (_fold_heading(title) for title in snippet.position.section_path[:-1])
        covered = (_fold_heading(title) for title in (*snippet.position.section_path[-1:], *snippet.position.headings))
        (above if wanted in parents and wanted not in covered else own).append(thing)
    return own or above


def find_setting(name: str, snippets: Sequence[LocatedSnippet]) -> NamedThing | None:
    """Return where a name is given its value: a constant, a field, a key of a file; None where nothing does that.

    What a module or a class gives comes before what a function does, code before its tests; a local variable of a test,
    or one with a plain word for its name, is no setting.
    """
    given = [(snippet, offset) for snippet in snippets if (offset := _find_given(name, snippet)) is not None]
    things = [
        (
            NamedThing(
                kind=ThingKind.SETTING,
                name=f"{snippet.position.symbol}.{name}" if snippet.position.symbol else name,
                keys=(snippet.node.key,),
                path=snippet.position.path,
                line=snippet.line_at(offset),
            ),
            snippet.kind not in _TOP_KINDS,
        )
        for snippet, offset in given
    ]
    things.sort(key=lambda item: (item[0].is_test, item[1], item[0].path or "", item[0].line or 0))
    best = next(iter(things), None)
    return None if best is None or (best[1] and (best[0].is_test or not is_code_like(name))) else best[0]


def _find_given(name: str, snippet: LocatedSnippet) -> int | None:
    text = snippet.node.content
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        line_end = text.find("\n", end)
        rest = text[end : line_end if line_end >= 0 else len(text)]
        before = text[text.rfind("\n", 0, at) + 1 : at]
        if _may_declare(before) and _GIVEN.match(rest) and not _ARGUMENT.match(rest):
            return at
        at = text.find(name, end)
    return None


_DECLARED: Final = re.compile(
    r"[ \t]*(?:[\"']?|(?:[\w<>\[\],.*&?]{1,60}[ \t]+){1,5}|#define[ \t]+|-{1,2}|self\.|this\.)"
)


def _may_declare(before: str) -> bool:
    """Return whether what stands before a name on its line may be what declares it: modifiers, a type, nothing."""
    return len(before) <= 200 and _DECLARED.fullmatch(before) is not None and not before.rstrip().endswith("return")


def find_message(text: str, find_snippets: Callable[[Sequence[str]], Sequence[LocatedSnippet]]) -> NamedThing | None:
    """Return the code that holds a message which a text quotes; None if it quotes none, or no code holds it."""
    for match in _QUOTED_MESSAGE.finditer(text):
        message = next(part for part in match.groups() if part)
        words = [word.lower() for word in _WORD.findall(message)]
        if len(words) >= MIN_RUN and (found := _locate_message(words, find_snippets(words))) is not None:
            return found
    return None


def _locate_message(words: Sequence[str], snippets: Sequence[LocatedSnippet]) -> NamedThing | None:
    best: tuple[int, LocatedSnippet, int] | None = None
    for snippet in sorted(snippets, key=_is_test):
        length, offset = _longest_run(words, snippet.node.content)
        if best is None or length > best[0]:
            best = length, snippet, offset
    if best is None or best[0] < max(MIN_RUN, RUN_SHARE * len(words)):
        return None
    _, snippet, offset = best
    return NamedThing(
        kind=ThingKind.MESSAGE,
        name=snippet.position.symbol or snippet.position.path or "",
        keys=(snippet.node.key,),
        word="holds this message",
        path=snippet.position.path,
        line=snippet.line_at(offset),
    )


def _is_test(snippet: LocatedSnippet) -> bool:
    return is_test_path(snippet.position.path or "")


def _longest_run(words: Sequence[str], text: str) -> tuple[int, int]:
    """Return how many of the words stand in a text one behind the other at most, and where they begin."""
    found = [(match[0].lower(), match.start()) for match in _WORD.finditer(text)]
    best = (0, 0)
    for first in range(len(words) - MIN_RUN + 1):
        for at, (word, offset) in enumerate(found):
            if word != words[first]:
                continue
            length = 1
            while (
                first + length < len(words)
                and at + length < len(found)
                and found[at + length][0] == words[first + length]
            ):
                length += 1
            if length > best[0]:
                best = (length, offset)
    return best


@functools.lru_cache(maxsize=4_096)  # Headings repeat: every piece of a section has those above it.
def _fold_heading(heading: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", heading).split()).casefold()
