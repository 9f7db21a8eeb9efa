"""The edge round a façade over the store: whatever a use case does, SQLite's errors leave it as ours."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from types import FunctionType
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hyperloci.errors import BadRequestError, StoreError
from hyperloci.store.connection import read_leniently, translated
from hyperloci.store.store import Store


class Facade(Protocol):
    """What stands over one store."""

    store: Store


F = TypeVar("F", bound=Facade)
C = TypeVar("C", bound=type)
P = ParamSpec("P")
R = TypeVar("R")


def use_cases(facade: C) -> C:
    """Make every public method of a class raise SQLite's errors as ours (a class decorator).

    It takes the class as a whole, so that a method that is added later can't be forgotten.
    """
    for name, method in list(vars(facade).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(facade, name, _guarded(method))
    return facade


def _guarded(method: Callable[Concatenate[F, P], R]) -> Callable[Concatenate[F, P], R]:
    @functools.wraps(method)
    def run(self: F, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with translated(self.store.path):
                try:
                    return method(self, *args, **kwargs)
                except (sqlite3.OperationalError, StoreError) as error:
                    if not read_leniently(self.store.connection, error):
                        raise
                # Its transaction was taken back whole.
                return method(self, *args, **kwargs)
        except UnicodeEncodeError as error:
            # From a command line that is not UTF-8, or JSON with half of a surrogate pair.
            raise BadRequestError(f"{error.object!r:.80} can't be written as UTF-8: give whole characters.") from error

    return run
