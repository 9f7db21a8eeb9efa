"""Program names: what one program leaves for the next of its session: values as literals, functions as source.

A program runs in a process of its own and ends with it. What travels to the next one is text that says how to make a
value again, so nothing is unpickled, and a program that took its process over leaves no more than a text.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import field
from types import FunctionType
from typing import Any, Final

from hyperloci.sandbox.policy import compile_program
from hyperloci.system.values import dataclass

MAX_NAMES_CHARS: Final = 200_000
"""Text that all kept names may have together: ten times what a program may print."""

MAX_NESTING: Final = 20
"""Lists in lists of a kept value; what contains itself is deeper."""

MAX_PARTS: Final = 20_000
"""Values within kept values, all together."""

_PLAIN: Final = (bool, int, str, type(None))
_SEQUENCES: Final = (list, tuple, set)


class _NotKept(Exception):
    """A value has no literal, or too long a one."""


@dataclass(slots=True)
class _Room:
    """How much may still be kept."""

    chars: int = MAX_NAMES_CHARS
    parts: int = MAX_PARTS


@dataclass(frozen=True, slots=True)
class KeptNames:
    """Names that outlive their program, as source text by name, and those that could not be kept."""

    sources: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


NO_NAMES: Final = KeptNames()


def restore_names(sources: Mapping[str, str], names: dict[str, Any]) -> None:
    """Make the kept names again, in a program's globals: values first, then the functions that may use them."""
    functions = {name: source for name, source in sources.items() if _is_definition(source)}
    for name, source in sources.items():
        if name not in functions:
            names[name] = ast.literal_eval(source)
    for source in functions.values():
        exec(compile_program(source).body, names)


def collect_names(
    code: str, names: Mapping[str, Any], given: Mapping[str, Any], sources: Mapping[str, str]
) -> KeptNames:
    """Return the names that a program leaves.

    Args:
        code: the program.
        names: its globals at its end.
        given: its globals before it was run and before anything was restored.
        sources: what was restored.
    """
    definitions = {**{name: text for name, text in sources.items() if _is_definition(text)}, **_list_definitions(code)}
    room, kept, lost = _Room(), {}, []
    for name, value in names.items():
        if name in given or name.startswith("_"):
            continue
        try:
            kept[name] = _write_source(name, value, definitions, room)
        except _NotKept:
            lost.append(name)
    return KeptNames(kept, tuple(sorted(lost)))


def _is_definition(source: str) -> bool:
    return source.startswith("def ")


def _list_definitions(code: str) -> dict[str, str]:
    """Return the source of each function that a program defines, by name, without decorators; the last of a name."""
    return {
        node.name: ast.get_source_segment(code, node) or ""
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef)
    }


def _write_source(name: str, value: Any, definitions: Mapping[str, str], room: _Room) -> str:
    if type(value) is FunctionType:
        if value.__qualname__ != name or not _is_definition(definitions.get(name, "")):
            raise _NotKept
        source = _write_function(definitions[name], value, room)
    else:
        _require_literal(value, room, 0)
        source = _represent(value)
    if len(source) > room.chars:
        raise _NotKept
    room.chars -= len(source)
    return source


def _write_function(source: str, value: FunctionType, room: _Room) -> str:
    """Return a definition that needs nothing else when it is made again: what its defaults are stands in it.

    A name that was lost, or is another by then, would break the next program or change what this one meant, and a call
    would be made once more.
    """
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    noted = node.returns is not None or any(one.annotation is not None for one in every)
    if not (noted or value.__defaults__ or value.__kwdefaults__):
        return source
    named = value.__kwdefaults__ or {}
    arguments.defaults = [_parse_literal(default, room) for default in value.__defaults__ or ()]
    arguments.kw_defaults = [
        _parse_literal(named[one.arg], room) if one.arg in named else None for one in arguments.kwonlyargs
    ]
    for one in every:
        one.annotation = None
    node.returns = None
    try:
        return ast.unparse(node)
    except ValueError:
        # A line break within the braces of an f-string, before Python 3.12.
        raise _NotKept from None


def _parse_literal(value: Any, room: _Room) -> ast.expr:
    _require_literal(value, room, 0)
    return ast.parse(_represent(value), mode="eval").body


def _require_literal(value: Any, room: _Room, depth: int) -> None:
    """Make sure that a value's repr makes it again.

    Raises:
        _NotKept: it does not.
    """
    room.parts -= 1
    if room.parts < 0 or depth > MAX_NESTING:
        raise _NotKept
    if type(value) in _PLAIN or (type(value) is float and math.isfinite(value)):
        return
    if type(value) is dict:
        parts: Any = (part for item in value.items() for part in item)
    elif type(value) in _SEQUENCES:
        parts = value
    else:
        raise _NotKept
    for part in parts:
        _require_literal(part, room, depth + 1)


def _represent(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        # A whole number of more digits than Python writes.
        raise _NotKept from None
