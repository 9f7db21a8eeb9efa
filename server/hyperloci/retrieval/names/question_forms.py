"""Question forms: whether a question asks for the relations of what it names.

The rules are data (`retrieval/data/code_questions.toml`), in English and Russian.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).parent.parent / "data" / "code_questions.toml"

_NAME: Final = r"[`\"'(]?(?P<name>[A-Za-z_$][\w$.:/#>-]{0,200}+)"
_THE: Final = (
    r"(?:the |a |an |our |this )?(?:function |method |class |struct |trait |interface |type |module |file |field |"
    r"setting |constant |option )?"
)

_ENDING: Final = re.compile(r"[.:/#>-]+$")


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
def _relation_rules() -> tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...]:
    return tuple(
        (
            tuple(form["labels"]),
            form["direction"],
            re.compile(rule.replace("{the}", _THE).replace("{name}", _NAME), re.IGNORECASE),
        )
        for form in _load_forms()["relations"]
        for rule in form["rules"]
    )


def find_relation_questions(query: str) -> list[RelationQuestion]:
    """Return what a question may ask of the relations of what it names; whether there is such a thing is not known."""
    found = [
        RelationQuestion(_ENDING.sub("", match["name"]), labels, direction)
        for labels, direction, rule in _relation_rules()
        if (match := rule.search(query))
    ]
    return list(dict.fromkeys(found))
