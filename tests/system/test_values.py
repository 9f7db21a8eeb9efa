"""Our data classes against those of the standard library, which they stand in for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from hyperloci.system import values


def define(dataclass: Callable[..., Any], **options: bool) -> Any:
    @dataclass(**options)
    class Point:
        """A point."""

        unit: ClassVar[str] = "m"
        x: int
        y: float = 0.5
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)

    return Point


OPTIONS = [
    {"frozen": frozen, "slots": slots, "kw_only": kw_only}
    for frozen in (False, True)
    for slots in (False, True)
    for kw_only in (False, True)
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_behaves_as_the_standard_librarys(options: dict[str, bool]) -> None:
    ours, theirs = define(values.dataclass, **options), define(dataclasses.dataclass, **options)
    for cls in (ours, theirs):
        first, same, other = cls(x=1), cls(x=1, note="seen"), cls(x=2, tags=["a"])
        assert (first == same, first == other, first == 1) == (True, False, False)
        assert first.tags is not same.tags
        assert dataclasses.astuple(dataclasses.replace(other, y=3.0)) == (2, 3.0, ["a"], "")
        assert copy.copy(other) == other == copy.deepcopy(other)
        with pytest.raises(TypeError):
            cls()
        with pytest.raises(TypeError):
            cls(x=1, z=2)
    assert repr(ours(x=1)) == repr(theirs(x=1))
    assert ours.__match_args__ == theirs.__match_args__
    assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(theirs)]
    assert hasattr(ours(x=1), "__dict__") is hasattr(theirs(x=1), "__dict__")
    given = [list(inspect.signature(cls).parameters.values()) for cls in (ours, theirs)]
    assert [(one.name, one.kind) for one in given[0]] == [(one.name, one.kind) for one in given[1]]
    if not options["kw_only"]:
        assert dataclasses.astuple(ours(3, 4.0)) == dataclasses.astuple(theirs(3, 4.0))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_of_many_instances_makes_the_hundredth_as_it_made_the_first(options: dict[str, bool]) -> None:
    ours, theirs = define(values.dataclass, **options), define(dataclasses.dataclass, **options)
    for at in range(100):
        one, other = ours(x=at, tags=["a"]), theirs(x=at, tags=["a"])
        assert dataclasses.astuple(one) == dataclasses.astuple(other)
        assert ours(x=at).tags is not ours(x=at).tags
    assert ours.__init__.__code__.co_varnames[:2] == ("self", "x")


def test_few_instances_need_no_compiler() -> None:
    cls = define(values.dataclass, frozen=True, slots=True)
    asked = cls.__init__
    assert (cls(1, 2.0).y, cls(3, tags=["a"]).tags) == (2.0, ["a"])
    assert cls.__init__ is asked


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_class_takes_no_assignment(slots: bool) -> None:
    point = define(values.dataclass, frozen=True, slots=slots)(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert point.x == 1


@values.dataclass(frozen=True, slots=True)
class Base:
    """A class whose instances have a hash."""

    name: str


@values.dataclass(frozen=True, slots=True)
class Derived(Base):
    """A class with more fields, one of them made of the others."""

    size: int = 0
    label: str = field(init=False)
    parts: list[str] = field(init=False, default_factory=list, compare=False)

    def __post_init__(self) -> None:
        """Make the label."""
        object.__setattr__(self, "label", f"{self.name} {self.size}")


def test_a_derived_class_has_the_fields_of_both() -> None:
    made = Derived("a", 2)
    assert (made.label, made.parts) == ("a 2", [])
    assert Base("a") != Derived("a")
    assert repr(made) == "Derived(name='a', size=2, label='a 2', parts=[])"


def test_equal_instances_have_one_hash() -> None:
    assert len({Base("a"), Base("a"), Base("b")}) == 2
    assert hash(Derived("a", 2)) == hash(Derived("a", 2))


def test_instances_survive_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(Derived("a", 2))) == Derived("a", 2)


def test_what_can_change_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(define(values.dataclass, slots=True)(x=1))


def test_a_value_that_is_not_a_number_differs_as_in_the_standard_library() -> None:
    ours, theirs = define(values.dataclass, frozen=True), define(dataclasses.dataclass, frozen=True)
    one, other = float("nan"), float("nan")
    assert (ours(x=1, y=one) == ours(x=1, y=other)) is (theirs(x=1, y=one) == theirs(x=1, y=other)) is False


def test_to_define_a_class_with_a_docstring_loads_nothing_that_reads_signatures() -> None:
    script = """
import sys
from hyperloci.system.values import dataclass
@dataclass(frozen=True, slots=True)
class Point:
    "A point."
    x: int
print(Point(1), *{"ast", "dis"}.intersection(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["Point(x=1)"]
