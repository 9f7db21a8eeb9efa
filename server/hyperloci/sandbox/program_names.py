"""Program names: what one program leaves for the next of its session: values as literals, functions as source.

A program runs in a process of its own and ends with it. What travels to the next one is text that says how to make a
value again, so nothing is unpickled, and a program that took its process over leaves no more than a text.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, Final

from hyperloci.sandbox.guards import BUILTINS
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
    room, lost = _Room(), []
    kept: dict[str, str] = {}
    for name in names:
        if name in given or name.startswith("_"):
            continue
        try:
            kept[name] = _write_source(name, names, given, kept, definitions, room)
        except _NotKept:
            lost.append(name)
    return KeptNames(kept, tuple(sorted(lost)))


def _is_definition(source: str) -> bool:
    return source.startswith("def ")


def _list_definitions(code: str) -> dict[str, str]:
    """Return the source of each function that a program defines, by name, without decorators; the last of a name."""
    lines = _split_lines(code)
    return {
        node.name: _cut_out(lines, node).decode() for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)
    }


def _split_lines(code: str) -> list[bytes]:
    """Return a program's lines in bytes: only there do they end where Python's do, and places are counted in them."""
    return code.encode().splitlines(keepends=True)


def _cut_out(lines: Sequence[bytes], node: ast.FunctionDef) -> bytes:
    own = list(lines[node.lineno - 1 : node.end_lineno])
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = own[0][node.col_offset :]
    return b"".join(own)


def _write_source(
    name: str,
    names: Mapping[str, Any],
    given: Mapping[str, Any],
    kept: Mapping[str, str],
    definitions: Mapping[str, str],
    room: _Room,
) -> str:
    value = names[name]
    if type(value) is FunctionType:
        if value.__qualname__ != name or not _is_definition(definitions.get(name, "")):
            raise _NotKept
        source = _write_function(definitions[name], value, names, given, kept, room)
    else:
        _require_literal(value, room, 0)
        source = _represent(value)
    if len(source) > room.chars:
        raise _NotKept
    room.chars -= len(source)
    return source


def _write_function(
    source: str,
    value: FunctionType,
    names: Mapping[str, Any],
    given: Mapping[str, Any],
    kept: Mapping[str, str],
    room: _Room,
) -> str:
    """Return a definition that needs nothing else when it is made again: what its defaults are stands in it.

    A name that was lost, or is another by then, would break the next program or change what this one meant, and a call
    would be made once more. The rest of it stays as it was written.
    """
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    named = value.__kwdefaults__ or {}
    defaults = [(one, named.get(of.arg)) for of, one in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    edits: list[tuple[ast.expr | ast.arg, str]] = [(one, one.arg) for one in every if one is not None]
    edits += [(node.returns, "None")] if node.returns is not None else []
    try:
        defaults += zip(arguments.defaults, value.__defaults__ or (), strict=True)
    except ValueError:
        # Of two definitions the other one, within an `if`.
        raise _NotKept from None
    for written, default in defaults:
        if written is not None and not _is_made_again_as_written(written, default, names, given, kept):
            edits.append((written, _write_default(default, names, room)))
    return _replace_parts(source, edits)


def _is_made_again_as_written(
    written: ast.expr, default: Any, names: Mapping[str, Any], given: Mapping[str, Any], kept: Mapping[str, str]
) -> bool:
    """Tell whether a default stands for itself: a lambda, or the name of what the next program has before it."""
    if isinstance(written, ast.Lambda):
        return not (written.args.defaults or any(written.args.kw_defaults))
    if not isinstance(written, ast.Name):
        return False
    name = written.id
    if name in names and name not in given:
        return name in kept and names[name] is default
    known = given if name in given else BUILTINS
    return name in known and known[name] is default


def _write_default(default: Any, names: Mapping[str, Any], room: _Room) -> str:
    if type(default) is float and math.isinf(default):
        return "1e999" if default > 0 else "-1e999"
    _require_literal(default, room, 0)
    text = _represent(default)
    if "set()" in text and "set" in names:
        raise _NotKept
    return text


def _replace_parts(source: str, edits: Sequence[tuple[ast.expr | ast.arg, str]]) -> str:
    """Return a text with some of its parts written otherwise."""
    lines = _split_lines(source)
    starts = [0, *itertools.accumulate(map(len, lines))]
    text = b"".join(lines)
    for node, written in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        text = text[:start] + written.encode() + text[end:]
    return text.decode()


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
