"""Question forms: what a question asks of what it names: the thing itself, its relations, the source of a message.

The rules are data (`retrieval/data/code_questions.toml`), in English, Russian and German.
"""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from hyperloci.knowledge.names.written_names import is_code_like
from hyperloci.system.values import dataclass

_FILE: Final = Path(__file__).parent.parent / "data" / "code_questions.toml"

_NAME: Final = r"[`\"'(]?(?P<name>[A-Za-z_$][\w$.:/#>-]{0,200}+)"
_THE: Final = (
    r"(?:the |a |an |our |this )?(?:function |method |class |struct |trait |interface |type |module |file |field |"
    r"setting |constant |option )?"
)
_DER: Final = (
    r"(?:(?:die|der|das|den|dem|diese[rsnm]?) )?(?:(?:funktion|methode|klasse|schnittstelle|modul|datei|feld|"
    r"einstellung|konstante) )?"
)

_AT_END: Final = re.compile(
    r"(?:\(\))?(?: (?:function|method|class|module|file|called|used|tested|imported|added|changed|documented"
    r"|auf|aufgerufen|benutzt|verwendet|genutzt|gebraucht|importiert|geändert|eingeführt|geschrieben|hinzugefügt|angelegt"
    r"|umbenannt))?\W*$",
    re.IGNORECASE,
)
_ENDING: Final = ".:/#>-"
"""Signs that end a sentence rather than a name."""


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """A question for what relations lead to from a named thing: `what calls parse_tags`."""

    name: str
    labels: tuple[str, ...]
    direction: str


@functools.cache
def _load_forms() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@functools.cache
def _compile_rules(table: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rule, re.IGNORECASE) for rule in _load_forms()[table]["rules"])


@functools.cache
def _relation_rules() -> tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...]:
    return tuple(
        (
            tuple(form["labels"]),
            form["direction"],
            re.compile(rule.replace("{the}", _THE).replace("{der}", _DER).replace("{name}", _NAME), re.IGNORECASE),
        )
        for form in _load_forms()["relations"]
        for rule in form["rules"]
    )


def asks_for_thing(query: str) -> bool:
    """Return whether a question wants what it names itself, and does not just mention it."""
    return any(rule.search(query) for rule in _compile_rules("definition"))


def asks_for_message(query: str) -> bool:
    """Return whether a question is about a message that the program gives."""
    return any(rule.search(query) for rule in _compile_rules("message"))


def asks_for_commits(query: str) -> bool:
    """Return whether a question wants the commits of a time, whatever they say."""
    return any(rule.search(query) for rule in _compile_rules("commits"))


def find_relation_questions(query: str) -> list[RelationQuestion]:
    """Return what a question may ask of the relations of what it names; whether there is such a thing is not known."""
    found = [
        RelationQuestion(match["name"].rstrip(_ENDING), labels, direction)
        for labels, direction, rule in _relation_rules()
        if (match := rule.search(query)) and _is_name_here(query, match)
    ]
    return list(dict.fromkeys(found))


def _is_name_here(query: str, match: re.Match[str]) -> bool:
    """Return whether a word stands as a name: spelt or quoted as one, or the last word: `tests for empty lists`."""
    name, start, end = match["name"], match.start("name"), match.end("name")
    quoted = query[start - 1 : start] in ("`", '"', "'")
    return is_code_like(name) or not name[0].islower() or quoted or _AT_END.match(query, end) is not None
