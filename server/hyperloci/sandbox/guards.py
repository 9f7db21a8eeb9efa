"""Guards: allow-lists of functions and methods for a program, and the checks its operations go through.

Every object a program can reach is of a basic type, a function of its own, or one of ours; and of those only the
methods listed here can be named. What isn't listed doesn't exist, so a way out would need a listed method that leads
somewhere, instead of one that someone forgot to forbid.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from RestrictedPython.Guards import guarded_iter_unpack_sequence, guarded_unpack_sequence

from hyperloci.sandbox.policy import ORDINARY


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SET_METHODS: Final = _split_words(
    "copy difference intersection isdisjoint issubset issuperset symmetric_difference union"
)

METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: _split_words(
        "capitalize casefold center count endswith expandtabs find index isalnum isalpha isascii isdecimal isdigit"
        " isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition"
        " removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith"
        " strip swapcase title upper zfill"
    ),
    list: _split_words("append clear copy count extend index insert pop remove reverse sort"),
    tuple: _split_words("count index"),
    dict: _split_words("clear copy fromkeys get items keys pop popitem setdefault update values"),
    set: _SET_METHODS
    | _split_words(
        "add clear difference_update discard intersection_update pop remove symmetric_difference_update update"
    ),
    frozenset: _SET_METHODS,
    int: _split_words("bit_count bit_length"),
    float: _split_words("is_integer"),
}
"""`str.format` and `format_map` are left out: their fields name attributes, and no guard sees them."""

_TYPES: Final = (bool, dict, float, frozenset, int, list, range, set, slice, str, tuple)
_FUNCTIONS: Final = (
    abs,
    all,
    any,
    ascii,
    bin,
    callable,
    chr,
    divmod,
    enumerate,
    filter,
    format,
    hash,
    hex,
    isinstance,
    iter,
    len,
    map,
    max,
    min,
    next,
    oct,
    ord,
    pow,
    repr,
    reversed,
    round,
    sorted,
    sum,
    zip,
)
_EXCEPTIONS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    Exception,
    IndexError,
    KeyError,
    LookupError,
    MemoryError,
    NameError,
    OverflowError,
    RecursionError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    ZeroDivisionError,
)

BUILTINS: Final[Mapping[str, Any]] = {item.__name__: item for item in (*_TYPES, *_FUNCTIONS, *_EXCEPTIONS)}
"""All that a program may call beside the memory functions and `print`."""

_IN_PLACE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
    "|=": operator.ior,
    "&=": operator.iand,
    "^=": operator.ixor,
}


def get_attribute(owner: object, name: str) -> Any:
    """Return a listed method of a basic type.

    Raises:
        AttributeError: it isn't listed; the message says what is.
    """
    kind = owner if isinstance(owner, type) else type(owner)
    allowed = METHODS.get(kind, frozenset())
    if name not in allowed:
        hint = f"allowed: {', '.join(sorted(allowed))}" if allowed else "it has no methods that are allowed"
        raise AttributeError(f"{kind.__name__}.{name} is not allowed; {hint}")
    return getattr(owner, name)


def get_item(owner: Any, key: Any) -> Any:
    """Return an item of a value.

    Raises:
        TypeError: the owner is a type; `list[int]` is an object of yet another type.
    """
    if isinstance(owner, type):
        raise TypeError(f"{owner.__name__}[...] is not allowed")
    return owner[key]


def require_writable(owner: object) -> Any:
    """Return a list or dictionary, whose items may be set.

    Raises:
        TypeError: anything else.
    """
    if type(owner) not in (dict, list):
        raise TypeError(f"items of {type(owner).__name__} can't be set; those of lists and dictionaries can")
    return owner


def _in_place(sign: str, left: Any, right: Any) -> Any:
    if sign not in _IN_PLACE:
        raise TypeError(f"{sign} is not allowed")
    return _IN_PLACE[sign](left, right)


def _in_place_item(sign: str, owner: Any, key: Any, right: Any) -> None:
    require_writable(owner)[key] = _in_place(sign, owner[key], right)


def _apply_function(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


def _guard_iteration(items: Any) -> Iterator[Any]:
    return iter(items)


def program_globals(functions: Mapping[str, Callable[..., Any]], printer: Any) -> dict[str, Any]:
    """Return the globals a program runs with.

    Args:
        functions: the memory functions by name.
        printer: collects what is printed; has `_call_print`.
    """
    return {
        "__builtins__": dict(BUILTINS),
        "__name__": "memory_repl",
        **functions,
        ORDINARY: Exception,
        "_getattr_": get_attribute,
        "_getitem_": get_item,
        "_getiter_": _guard_iteration,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": require_writable,
        "_inplacevar_": _in_place,
        "_augitem_": _in_place_item,
        "_apply_": _apply_function,
        # RestrictedPython makes a printer for each function that prints; here all share one.
        "_print_": lambda _: printer,
        "_print": printer,
    }
