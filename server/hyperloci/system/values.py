"""Values: `dataclass`, which defines the same classes as the standard library's in a quarter of the time.

The standard library writes six methods of a frozen class as text and compiles each when the class is defined: 0.7 ms a
class, a quarter of what a hook or a server's start computes (`python -m bench hooks`). Here comparison, hash, repr and
the ban on assignment are functions that all classes share, and `__init__` is made when a class turns out to have many
instances: to write and compile one takes as long as to fill thirty instances without it.

Only what the product uses is here: `frozen`, `slots`, `kw_only`. A class with another option takes the standard
library's.
"""

from __future__ import annotations

import reprlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, cast

from hyperloci.system.late_libraries import load_late

with load_late(["inspect"]):
    # For the signature of a class without a docstring: all here have one, and a hook has no other use for it.
    import dataclasses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, kw_only: bool = False
    ) -> Any:
        """Make a class a data class, as `dataclasses.dataclass` does."""

        def make(cls: type) -> type:
            return _make_dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only)

        return make if cls is None else make(cls)


_FIELDS: Final = "__dataclass_fields__"

_FEW: Final = 16
"""So many instances of a class are filled field by field. A hook makes no more of nine classes in ten."""


def _make_dataclass(cls: type, *, frozen: bool, slots: bool, kw_only: bool) -> type:
    own = frozenset(vars(cls))
    if "__doc__" not in own or cls.__doc__ is None:
        cls.__doc__ = f"{cls.__name__}."  # Without one the standard library renders the signature.
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    names = tuple(field.name for field in dataclasses.fields(made) if field.compare)
    methods: dict[str, Any] = {"__init__": _init_when_asked(made, frozen=frozen), "__repr__": _repr}
    methods |= _compare_by(names)
    if not frozen:
        methods["__hash__"] = None  # As the standard library: what can change and compares by value has none.
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return cast(type, made)


def _init_when_asked(cls: type, *, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that fills a few instances, then makes the real one and puts it in its place."""
    filled = 0

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        nonlocal filled
        filled += 1
        if filled > _FEW or not _fill_fields(cls, self, values, named):
            made = _make_init(cls, frozen=frozen)
            cast(Any, cls).__init__ = made
            made(self, *values, **named)

    return __init__


def _fill_fields(cls: type, instance: Any, values: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Give an instance its values one by one; return False if they don't fit, which the real `__init__` tells best."""
    fields = dataclasses.fields(cls)
    given = dict(zip((field.name for field in fields if field.init and not field.kw_only), values, strict=False))
    if len(given) < len(values) or not given.keys().isdisjoint(named):
        return False
    given |= named
    for field in fields:
        if field.init and field.name in given:
            value = given.pop(field.name)
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        elif field.init:
            return False
        else:
            continue  # `__post_init__` gives it.
        object.__setattr__(instance, field.name, value)
    if given:
        return False
    if hasattr(cls, "__post_init__"):
        instance.__post_init__()
    return True


def _make_init(cls: type, *, frozen: bool) -> Callable[..., None]:
    """Write the `__init__` of a class: one line for each field, as the standard library does."""
    # Names that no field has: fields are identifiers of ours.
    scope: dict[str, Any] = {"_set_": object.__setattr__, "_absent_": dataclasses.MISSING}
    by_place: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        parameter = name
        if field.default is not dataclasses.MISSING:
            scope[f"_default_{name}_"] = field.default
            parameter = f"{name}=_default_{name}_"
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"_make_{name}_"] = field.default_factory
            parameter = f"{name}=_absent_"
            value = f"_make_{name}_() if {name} is _absent_ else {name}"
        if field.init:
            (by_name if field.kw_only else by_place).append(parameter)
        elif "=" not in parameter:
            continue  # `__post_init__` gives it.
        else:
            value = value.partition(" if ")[0] if "_make_" in value else f"_default_{name}_"
        lines.append(f"_set_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(lines or ["pass"]), scope)
    made = cast("Callable[..., None]", scope["__init__"])
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _compare_by(names: tuple[str, ...]) -> dict[str, Any]:
    """Return what compares and hashes instances by the values of these fields."""
    # `attrgetter` of one name gives no tuple, and of none there is none.
    read: Callable[[Any], Any] = (
        attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    )

    def __eq__(self: Any, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(read(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    told = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(told)})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    """For copies and pickles of instances without `__dict__`."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
