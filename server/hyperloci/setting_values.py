"""Setting values: what a file or variable says, as the kind of value that a setting has."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError
from hyperloci.names import describe_unknown_value

PROFILES: Final = ("bundled", "better", "gpu")
"""The profiles that come along; `spaces/data/profiles.toml` says what each is."""

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "device": ("auto", "cuda", "mps", "cpu"),
    "synchronous": ("normal", "full"),
    "tools": ("core", "all"),
    "fusion": ("calibrated", "rrf"),
    "ranking": ("learned", "rule"),
    "consolidation": ("heuristic", "llm", "claude", "host", "off"),
    "log_level": ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
}
"""The values of each setting that has a few."""

_LARGEST: Final = 1e308
"""Any finite number."""

RANGES: Final[dict[str, tuple[float, float]]] = {
    "embedder_idle_seconds": (0, math.inf),
    "pipeline_recall": (1, 1_000_000),
    "pipeline_scan": (1, 100_000),
    "pipeline_fused": (1, 10_000),
    "max_file_bytes": (1, math.inf),
    "history_commits": (0, math.inf),
    "parse_seconds": (0.1, 3_600),
    "parse_memory_mb": (256, 1_000_000),
    "inject_chars": (0, 9_500),
    "rrf_k": (1, math.inf),
    "rrf_weight_fts": (0, _LARGEST),
    "rrf_weight_vector": (0, _LARGEST),
    "rrf_weight_graph": (0, _LARGEST),
    "decay_threshold": (0, 1),
    "decay_rate_default": (0, _LARGEST),
    "context_token_budget": (1, math.inf),
    "intent_similarity_threshold": (0, 1),
    "entity_enrichment_min_mentions": (1, math.inf),
    "causal_inference_batch_size": (1, math.inf),
    "embedding_dimensions": (0, math.inf),
    "hot_chunks": (0, math.inf),
    "hot_max_tokens": (1, math.inf),
    "cold_retention_days": (0, math.inf),
    "prune_cap": (0, math.inf),
    "backups_daily": (0, math.inf),
    "backups_weekly": (0, math.inf),
    "backups_monthly": (0, math.inf),
    "llm_timeout_seconds": (1, 3_600),
    "claude_calls_per_day": (1, 10_000),
    "claude_chars_per_day": (30_000, math.inf),
    "claude_timeout_seconds": (1, 3_600),
}
"""Lowest and highest value of each numeric setting; NaN is in no range."""

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
    if value == "":
        raise ValueError("use a path, or leave it out")
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
    try:
        return kind(value)
    except ValueError:
        raise ValueError("use a whole number" if kind is int else "use a number") from None


def _convert_boolean(value: object) -> bool:
    word = str(value).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("use true or false")


def require_allowed(name: str, value: Any) -> None:
    """Refuse a setting's value that is none of its choices, or out of its range.

    Raises:
        ConfigurationError: it says which values are allowed.
    """
    if name in CHOICES:
        allowed = CHOICES[name]
        # A level of the log counts in lower case too.
        if (value.upper() if name == "log_level" else value) not in allowed:
            raise ConfigurationError(describe_unknown_value(name, value, allowed))
        return
    low, high = RANGES[name]
    if not low <= value <= high:
        limit = f"between {low} and {high}" if math.isfinite(high) else f"{low} or above"
        raise ConfigurationError(f"{name}={value} must be {limit}.")


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
