"""Query language: one line of words to look for and `key:value` conditions (D.08, D.11).

    caching in:docs/** section:Design after:last_week not:contradicted

The language is flat - terms beside each other, all of which must hold - so a lexer of one regular expression reads it:
a grammar and its library would be larger than what they describe, and their errors name tokens, not what to write.
`retrieval.filters`, which the tools use too, defines what the keys mean; here they only get short names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from hyperloci.errors import BadRequestError, HyperlociError, QuerySyntaxError
from hyperloci.model.kinds import SUBTYPES, NodeType
from hyperloci.names import suggest_name, suggest_value
from hyperloci.retrieval.filters import CONTENT_TYPES, build_conditions
from hyperloci.store.search.filters import compile_where
from hyperloci.system.values import dataclass

MAX_CHARS: Final = 10_000
"""Longest query."""

_TOKEN: Final = re.compile(
    r'\s*(?:(?P<key>[A-Za-z_]+):(?P<value>"(?:[^"\\]|\\.)*"|[^\s"]\S*|(?="))|"(?P<phrase>(?:[^"\\]|\\.)*)"|(?P<word>[^\s]+))'
)
_NO_KEY: Final = re.compile(r"[A-Za-z]:|[a-z_]*+[A-Z]\w*+:|[A-Za-z_]++:(?::|$)")
"""What has a colon and is no condition: `C:`, `TypeError:`, `std::sort`, `note:` before a space."""

_ADDRESS: Final = re.compile(r"[A-Za-z_]++:[/\\]")
"""An address such as `https://...`, unless it begins with a key: `in:/docs` is a condition."""

_ESCAPE: Final = re.compile(r"\\(.)")
_RANGE: Final = re.compile(r"(\d{1,9})(?:(?:-|\.\.)(\d{1,9}))?")
_AT_LEAST: Final = re.compile(r">?=?\s*([0-9.]+)")
_AT_MOST: Final = re.compile(r"<?=?\s*([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query: the words, and further arguments of `Memory.search`."""

    text: str
    content_type: str | None = None
    after: str | None = None
    before: str | None = None
    entity_name: str | None = None
    profile: str | None = None
    limit: int | None = None
    where: Mapping[str, Any] = field(default_factory=dict)


ConditionReader = Callable[[str], Mapping[str, Any]]
"""Turns a value into fields of a Query and, under their own names, keys of `where`."""


def _read_plain(name: str) -> ConditionReader:
    return lambda value: {name: value}


def _read_list(name: str) -> ConditionReader:
    return lambda value: {name: [part for part in value.split(",") if part]}


def _read_whole_number(name: str) -> ConditionReader:
    def read(value: str) -> Mapping[str, Any]:
        if not value.isdecimal() or len(value) > 9:
            raise BadRequestError(f"{value!r} is not a whole number.")
        return {name: int(value)}

    return read


def _read_type(value: str) -> Mapping[str, Any]:
    words = [word for word in value.split(",") if word]
    if len(words) == 1 and words[0] in CONTENT_TYPES:
        return {"content_type": words[0]}
    subtypes = frozenset().union(*SUBTYPES.values())
    for name, known in (("types", frozenset(NodeType)), ("subtypes", subtypes)):
        if words and all(word in known for word in words):
            return {name: words}
    wrong = next((word for word in words if word not in {*CONTENT_TYPES, *NodeType, *subtypes}), None)
    if words and wrong is None:
        raise BadRequestError(
            f"type {value!r} can't be asked for together: by commas go node types ({', '.join(NodeType)}), or subtypes"
            f" ({', '.join(sorted(subtypes))})."
        )
    hint = suggest_value(wrong or value, [*CONTENT_TYPES, *NodeType, *sorted(subtypes)])
    told = f"{hint} use" if hint.endswith("?") else f"{hint}; use" if hint else "use"
    raise BadRequestError(
        f"type {value!r} is unknown: {told} one of {', '.join(CONTENT_TYPES)}; or any of {', '.join(NodeType)};"
        f" or any of {', '.join(sorted(subtypes))}."
    )


def _read_confidence(value: str) -> Mapping[str, Any]:
    match = _AT_LEAST.fullmatch(value)
    try:
        return {"min_confidence": float(match[1])} if match else {"confidence_level": value}
    except ValueError:
        raise BadRequestError(f"{value!r} is not a number.") from None


def _read_level(value: str) -> Mapping[str, Any]:
    match = _AT_MOST.fullmatch(value)
    if match is None:
        raise BadRequestError(f"{value!r} is not a heading level: write level:2 for headings of level 1 and 2.")
    return {"heading_level_max": int(match[1])}


def _read_lines(value: str) -> Mapping[str, Any]:
    match = _RANGE.fullmatch(value)
    if match is None:
        raise BadRequestError(f"{value!r} is not a range of lines: write lines:10-20.")
    return {"lines": [int(match[1]), int(match[2] or match[1])]}


def _read_state(holds: bool) -> ConditionReader:
    def read(value: str) -> Mapping[str, Any]:
        if value != "contradicted":
            raise BadRequestError(f"{value!r} is unknown: only contradicted is supported.")
        return {"contradicted": holds}

    return read


KEYS: Final[Mapping[str, ConditionReader]] = {
    "in": _read_plain("path"),
    "path": _read_plain("path"),
    "lines": _read_lines,
    "section": _read_plain("section"),
    "level": _read_level,
    "type": _read_type,
    "tier": _read_list("tiers"),
    "scope": _read_plain("scope"),
    "after": _read_plain("after"),
    "before": _read_plain("before"),
    "as_of": _read_plain("as_of"),
    "about": _read_plain("entity_name"),
    "entity": _read_plain("entity_name"),
    "module": _read_plain("module"),
    "class": _read_plain("class_name"),
    "function": _read_plain("function_name"),
    "url": _read_plain("url"),
    "diataxis": _read_plain("diataxis"),
    "persona": _read_plain("persona"),
    "verification": _read_list("verification"),
    "confidence": _read_confidence,
    "tag": _read_list("domain_tags"),
    "source": _read_list("source_types"),
    "related": _read_plain("related_to"),
    "relation": _read_plain("relation"),
    "depth": _read_whole_number("depth"),
    "not": _read_state(False),
    "is": _read_state(True),
    "profile": _read_plain("profile"),
    "strategy": _read_plain("strategy"),
    "limit": _read_whole_number("limit"),
}
"""Every key of the language (docs/query-language.md)."""

_OF_SEARCH: Final = ("content_type", "after", "before", "entity_name", "profile", "limit")
_MANY: Final = ("tiers", "verification", "domain_tags", "source_types", "types", "subtypes")


@dataclass(frozen=True, slots=True)
class _ConditionTerm:
    column: int
    key: str
    value: str


def parse_query(line: str, *, project: str, now: int) -> Query:
    """Read a line of words and conditions.

    Args:
        line: what a person wrote.
        project: the project's scope, against which conditions are checked.
        now: the time in milliseconds, for `last_week`.

    Raises:
        QuerySyntaxError: an unknown key, a value that it can't have, a quote without end; it says at which column.
    """
    if len(line) > MAX_CHARS:
        raise BadRequestError(f"the query has {len(line)} characters; at most {MAX_CHARS} are allowed.")
    words: list[str] = []
    given: dict[str, Any] = {}
    columns: dict[str, int] = {}
    for token in _tokenize(line):
        if isinstance(token, str):
            words.append(token)
            continue
        for name, value in _read_condition(line, token, project, now).items():
            if name in given and name not in _MANY:
                raise QuerySyntaxError(line, token.column, f"{token.key}: is given twice; give it once.")
            given[name] = [*given[name], *value] if name in given else value
            columns.setdefault(name, token.column)
    _check_combination(line, columns)
    search = {name: given.pop(name) for name in _OF_SEARCH if name in given}
    return Query(text=" ".join(words), where=given, **search)


def search_arguments(query: Query, *, limit: int, path: str | None = None, **otherwise: Any) -> dict[str, Any]:
    """Return what `Memory.search` is called with: what the query says, and `otherwise` where it doesn't."""
    said = {name: getattr(query, name) for name in _OF_SEARCH}
    given = {name: value for name, value in {**otherwise, "limit": limit}.items() if value is not None}
    if not query.where.keys().isdisjoint(("types", "subtypes")):
        given.pop("content_type", None)
    given |= {name: value for name, value in said.items() if value is not None}
    where = ({} if path is None else {"path": path}) | dict(query.where)
    return given | ({"where": where} if where else {})


def _tokenize(line: str) -> Iterator[str | _ConditionTerm]:
    position, end = 0, len(line.rstrip())
    while position < end:
        match = _TOKEN.match(line, position)
        assert match is not None  # any run of what isn't white space is a word
        position = match.end()
        if match["phrase"] is not None:
            yield _ESCAPE.sub(r"\1", match["phrase"])
        elif match["key"] is not None and not _is_word(line, match):
            yield _parse_condition(line, match)
        else:
            start = len(line[: match.end()]) - len(match[0].lstrip())
            if (match["word"] or "").startswith('"') or match["value"] == "":
                raise QuerySyntaxError(line, start + 1, "this quote is not closed.")
            if (match["word"] or "").rstrip(":") in KEYS and match[0].endswith(":"):
                raise QuerySyntaxError(
                    line, start + 1, f"{match['word']} has no value; write it right after the colon."
                )
            yield match[0].lstrip()


def _is_word(line: str, match: re.Match[str]) -> bool:
    """Whether a text with a colon only looks like a condition."""
    start, end = match.start("key"), match.end()
    if _NO_KEY.match(line, start, end):
        return True
    return match["key"] not in KEYS and _ADDRESS.match(line, start, end) is not None


def _parse_condition(line: str, match: re.Match[str]) -> _ConditionTerm:
    key, value = match["key"], match["value"]
    column = match.start("key") + 1
    if key not in KEYS:
        hint = suggest_name(key, [f"{known}:" for known in KEYS], groups=("arguments",))
        told = f"; {hint}" if hint else ""
        end = "" if told.endswith("?") else "."
        raise QuerySyntaxError(
            line,
            column,
            f"{key}: is not a condition{told}{end} Use one of {', '.join(KEYS)}. Put words with a colon in quotes.",
        )
    if value == "":
        raise QuerySyntaxError(line, match.end() + 1, "this quote is not closed.")
    if value.startswith('"'):
        value = _ESCAPE.sub(r"\1", value[1:-1])
    if not value.strip():
        raise QuerySyntaxError(line, column, f"{key}: has no value.")
    return _ConditionTerm(column, key, value)


def _read_condition(line: str, term: _ConditionTerm, project: str, now: int) -> Mapping[str, Any]:
    """Read one condition and check it on its own, so that an error can name its column."""
    try:
        read = KEYS[term.key](term.value)
    except BadRequestError as error:
        raise QuerySyntaxError(line, term.column, str(error)) from None
    try:
        search = {name: read[name] for name in _OF_SEARCH[:4] if name in read}
        where = {name: value for name, value in read.items() if name not in _OF_SEARCH}
        if not set(where) & {"relation", "depth"}:
            compile_where(build_conditions(project=project, now=now, where=where, **search).where)
    except BadRequestError as error:
        raise QuerySyntaxError(line, term.column, _say_as_written(str(error), [(term, read)])) from None
    return read


def locate_error(line: str, error: HyperlociError) -> HyperlociError:
    """Return an error of a search as one of the line's condition that it is about; as it is where it is about none."""
    terms = [term for term in _tokenize(line) if isinstance(term, _ConditionTerm)]
    read = [(term, KEYS[term.key](term.value)) for term in terms]
    name = _ARGUMENT.sub(r"\1", str(error).split(" ", 1)[0])
    about = [(term, said[name]) for term, said in read if name in said]
    if not about:
        return error
    # Of a list that is given in parts, the part that has the item.
    named = [term for term, value in about if isinstance(value, list) and any(repr(one) in str(error) for one in value)]
    return QuerySyntaxError(line, (named or [about[0][0]])[0].column, _say_as_written(str(error), read))


_ARGUMENT: Final = re.compile(r"(?:where\.)?(\w+).*")
"""What an error of a search begins with: the argument that is wrong."""


def _say_as_written(message: str, read: Sequence[tuple[_ConditionTerm, Mapping[str, Any]]]) -> str:
    """Return a message about arguments of a search in the words of conditions: `tag:` for `where.domain_tags`."""
    for term, said in read:
        for name, value in said.items():
            written = f"{term.key}:{term.value:.80}"
            for argument in (f"where.{name}", name):
                message = message.replace(f"{argument}={value!r:.80}", written)
                if message.startswith(f"{argument} "):
                    message = f"{term.key}:{message.removeprefix(argument)}"
    return message


def _check_combination(line: str, columns: Mapping[str, int]) -> None:
    """Refuse what needs another condition beside it; `columns` has where each begins, by its argument."""
    for name in ("relation", "depth"):
        if name in columns and "related_to" not in columns:
            raise QuerySyntaxError(line, columns[name], f"{name}: needs a memory to start from: add related:ID.")
