"""Setting values: what a file or variable says, as the kind of value that a setting has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError
from hyperloci.names import describe_unknown_value

PROFILES: Final = ("bundled", "better", "gpu")
"""The profiles that come along; `spaces/data/profiles.toml` says what each is."""

_TRUE: Final = frozenset({"1", "true", "yes", "on"})


_FALSE: Final = frozenset({"0", "false", "no", "off"})


def convert_value(name: str, value: Any, default: object, source: str) -> Any:
    """Return a value as the kind of its setting's default; `source` is where it was given.

    Raises:
        ConfigurationError: it can't be one.
    """
    try:
        if isinstance(default, Path):
            return _convert_path(value)
        if isinstance(default, bool):
            return _convert_boolean(value)
        if isinstance(default, tuple):
            return _convert_texts(value)
        if isinstance(default, Mapping):
            return _convert_tables(value)
        if isinstance(default, int | float):
            return _convert_number(value, type(default))
        if not isinstance(value, str):
            raise TypeError("use a string")
        return value
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigurationError(f"{source}: {name}={value!r} is not usable: {error}") from error


def _convert_path(value: str | Path) -> Path:
    return Path(value).expanduser().absolute()


def _convert_tables(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise TypeError("add [profiles.NAME] tables to your hyperloci.toml")
    return value


def _convert_texts(value: object) -> tuple[str, ...]:
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise TypeError("use a list of strings")
    return tuple(items)


def _convert_number(value: object, kind: type[int] | type[float]) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError("use a number")
    if kind is int and isinstance(value, float):
        raise TypeError("use a whole number")
    return kind(value)


def _convert_boolean(value: object) -> bool:
    word = str(value).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("use true or false")


def require_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ConfigurationError for a value that is none of those allowed."""
    if value not in allowed:
        raise ConfigurationError(describe_unknown_value(name, value, allowed))


def require_profile(name: str, own: Mapping[str, object], model: str | None) -> None:
    """Refuse a profile that is neither shipped nor the user's own; without a profile, a `model` will do.

    Args:
        name: of the profile.
        own: the user's profiles, by name.
        model: E1's model, if one is set.

    Raises:
        ConfigurationError: there is no such profile.
    """
    if name not in PROFILES and name not in own and not model:
        known = ", ".join(dict.fromkeys((*PROFILES, *own)))
        raise ConfigurationError(
            f"profile={name!r} is unknown: use one of {known}, set `model`, or write "
            f"[profiles.{name}] in your hyperloci.toml."
        )
