"""Startup configuration: one line of JSON that a session sends to the embedder it starts, through its stdin."""

from __future__ import annotations

import json
import typing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from hyperloci.config import Settings
from hyperloci.errors import ConfigurationError
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupConfig:
    """Everything that an embedder process needs to know.

    Attributes:
        settings: those in force in its parent.
        transport: `unix`, `loopback`, or None for the platform's own.
    """

    settings: Settings
    transport: str | None = None

    def to_line(self) -> bytes:
        """Write it as one line."""
        return json.dumps(asdict(self), default=str).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read what `to_line` wrote.

        Raises:
            ConfigurationError: the line is not a startup configuration.
        """
        try:
            values = json.loads(line)
            return cls(**{**values, "settings": _settings_from_json(values["settings"])})
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigurationError(
                f"Only a session can start the embedder, because it passes the settings: {error}"
            ) from error


def _settings_from_json(values: dict[str, Any]) -> Settings:
    types = typing.get_type_hints(Settings)
    return Settings(**{name: _restore_value(types.get(name), value) for name, value in values.items()})


def _restore_value(kind: object, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    return tuple(value) if isinstance(value, list) else value
