"""Idle settings: those that were changed and do nothing as things are, which `doctor` and the server's status tell."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from hyperloci.config import Settings

_IDLE: Final = (
    (
        ("rrf_k", "rrf_weight_fts", "rrf_weight_vector", "rrf_weight_graph"),
        "fusion",
        "rrf",
        "in strategy pipeline only",
    ),
    (("llm_url", "llm_model", "llm_api_key"), "consolidation", "llm", "nowhere"),
    (("claude_model",), "consolidation", "claude", "nowhere"),
)
"""Settings that act only with a certain value of another one, and where they act without it."""


def list_idle_settings(settings: Settings) -> list[str]:
    """Return in words which settings were changed and do not act as things are."""
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    told = []
    for names, other, value, where in _IDLE:
        changed = [name for name in names if getattr(settings, name) != defaults[name]]
        if changed and getattr(settings, other) != value:
            verb = "acts" if len(changed) == 1 else "act"
            told.append(f'{", ".join(changed)} {verb} {where} unless {other} = "{value}"')
    return told
