"""Validation errors: messages that say what to change in a tool's arguments."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hyperloci.names import find_document_name, suggest_name, suggest_value

MAX_SHOWN_CHARS: Final = 60
"""Characters shown of a refused value: enough to recognise it."""

_CHOICE: Final = re.compile(r"'([^']*)'")

SHOWN_NAMES: Final = 5
"""Unknown arguments named in one message."""


def describe_refused_arguments(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """Return one sentence per invalid argument, with its name, its value and what would be valid."""
    properties = schema.get("properties", {})
    return " ".join(dict.fromkeys(_describe_error(item, properties) for item in error.errors(include_url=False)))


def refuse_unknown_arguments(tool: str, given: Collection[str], schema: Mapping[str, Any]) -> str | None:
    """Return a sentence that names the unknown arguments and the valid ones; None if all are known."""
    known = list(schema.get("properties", {}))
    unknown = [name for name in given if name not in known]
    if not unknown:
        return None
    missing = [name for name in schema.get("required", ()) if name not in given]
    shown = [name[:MAX_SHOWN_CHARS] for name in unknown[:SHOWN_NAMES]]
    guesses = [_suggest_argument(tool, shown[0], known, missing if len(missing) == 1 else [])]
    guesses += [_suggest_argument(tool, name, known, []) for name in shown[1:]]
    if len(shown) > 1:
        # A document's hint names what it is about.
        named = zip(shown, guesses, strict=True)
        guesses = [f"{name!r}: {hint}" if hint.startswith(_MEANT) else hint for name, hint in named]
    takes = f"takes {', '.join(known)}" if known else "takes no arguments"
    more = f" and {len(unknown) - SHOWN_NAMES} more" if len(unknown) > SHOWN_NAMES else ""
    told = "".join(dict.fromkeys(map(_as_sentence, guesses)))
    return f"{tool} has no argument {', '.join(map(shorten_value, unknown[:SHOWN_NAMES]))}{more}; it {takes}.{told}"


_MEANT: Final = "did you mean "

_ALIKE: Final = 0.6
_MORE_ALIKE: Final = 0.7
"""How alike two names are of which one may be meant by the other; the second where a document knows the name."""


def _suggest_argument(tool: str, name: str, known: Sequence[str], missing: Sequence[str]) -> str:
    """Return a hint at what is meant by an argument: one of this tool before one of another."""
    document = find_document_name(name, ("arguments",))
    if document is not None and any(target.startswith(f"argument:{tool}.") for target in document.targets):
        return document.describe()
    alike = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_MORE_ALIKE if document else _ALIKE)
    near = (*alike, *missing)
    return f"{_MEANT}{near[0]}?" if near else suggest_name(name, known, groups=("arguments",))


def _describe_error(item: ErrorDetails, properties: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        about = properties.get(name, {}).get("description")
        return f"{name} is missing{f': give {about}' if about else ''}."
    message = item["msg"].removeprefix("Input ").removeprefix("String ").removeprefix("List ")
    allowed = _list_allowed(item)
    hint = (
        _suggest_condition(name, item["input"], properties)
        or suggest_value(str(item["input"])[:MAX_SHOWN_CHARS], allowed)
        if allowed
        else ""
    )
    return f"{name}={shorten_value(item['input'])} {message}.{_as_sentence(hint)}"


def _suggest_condition(name: str, value: object, properties: Mapping[str, Any]) -> str:
    """Return a hint at the key of an object argument that is called as an argument is, and takes the value."""
    for outer, schema in properties.items():
        inner = schema.get("properties", {}).get(name, {})
        if value in inner.get("enum", ()):
            return f"did you mean {outer}={{{name!r}: {value!r}}}?"
    return ""


def _list_allowed(item: ErrorDetails) -> list[str]:
    """Return the values that a choice allows; none of other errors."""
    return _CHOICE.findall(item["ctx"]["expected"]) if item["type"] == "literal_error" else []


def _as_sentence(hint: str) -> str:
    return f" {hint[:1].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}" if hint else ""


def shorten_value(value: object) -> str:
    """Return the beginning of a value's repr."""
    text = repr(value)
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    size = f" ({len(value):,} characters)" if isinstance(value, str) else ""
    return f"{text[:MAX_SHOWN_CHARS]}…{size}"
