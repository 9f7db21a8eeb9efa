"""Late libraries: those that another library names when it is loaded, and that are loaded when they are used, if ever.

An SDK for all transports names the libraries of each. Over stdio some are never used.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast


@contextlib.contextmanager
def load_late(
    libraries: Sequence[str] = (), *, bare: Sequence[str] = (), without: Sequence[str] = ()
) -> Iterator[None]:
    """Give whoever is imported within stand-ins for some libraries, and tell it that others are not installed.

    A stand-in's names are classes. Whoever calls one, or asks it for an attribute, has the library loaded then. To
    catch one as an exception catches nothing. Afterwards an import finds the libraries themselves. What was loaded
    before stays as it is.

    pydantic, asked for the schema of a stand-in, gets that of the class it stands for.

    Args:
        libraries: names of packages and modules that have stand-ins, and all modules within them. Of a module within a
            package the package itself is loaded.
        bare: names of top-level packages whose modules are loaded without the package's own code (`__init__`), which
            runs when the package is asked for a name that it does not have yet; by then or never.
        without: names of top-level packages whose import raises `ModuleNotFoundError`.
    """
    for name in _not_loaded(bare):
        _add_bare_package(name)
    finder = _StandInFinder(_not_loaded(libraries), _not_loaded(without))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.made:
            sys.modules.pop(name, None)
            package, _, last = name.rpartition(".")
            if package in sys.modules:
                vars(sys.modules[package]).pop(last, None)


def _not_loaded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name for name in names if name not in sys.modules)


def _add_bare_package(name: str) -> None:
    from importlib.util import find_spec, module_from_spec

    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader = spec.loader
    package = sys.modules[name] = module_from_spec(spec)

    def run_own_code(wanted: str) -> Any:
        # Not for an import of a module, which asks for these first.
        if wanted.startswith("__"):
            raise AttributeError(wanted)
        del package.__dict__["__getattr__"]
        loader.exec_module(package)
        return getattr(package, wanted)

    package.__dict__["__getattr__"] = run_own_code


class _StandInFinder:
    """Makes modules whose every name is a stand-in."""

    def __init__(self, libraries: frozenset[str], without: frozenset[str]) -> None:
        self._libraries = libraries
        self._without = without
        self.made: list[str] = []

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self._without:
            raise ModuleNotFoundError(f"{fullname} is not loaded here", name=fullname)
        named = any(name in self._libraries for name in itertools.accumulate(fullname.split("."), "{}.{}".format))
        return ModuleSpec(fullname, cast(Any, self), is_package=True) if named else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self.made.append(spec.name)
        return _StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module makes its names when it is asked for them."""


class _StandInModule(ModuleType):
    def __getattr__(self, name: str) -> _StandInType:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandInType(name, (_StandIn,), {"__module__": self.__name__})


class _StandInType(type):
    """The type of stand-ins: passes on calls and questions to the class it stands for."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._load()(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._load(), name)

    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[object], Any]) -> Any:
        return handler(cls._load())

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls._load())

    def _load(cls) -> Any:
        return getattr(importlib.import_module(cls.__module__), cls.__name__)


class _StandIn(Exception, metaclass=_StandInType):
    """An exception, since a stand-in may be named in an `except`."""
