"""Idle settings: settings and variables that do nothing as things are, which `doctor` and the server's status tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from hyperloci.clock import OFFSET_VARIABLE, is_offset
from hyperloci.config import CLAIMS, OTHER_NAMES, Settings, name_variable
from hyperloci.names import suggest_name
from hyperloci.system.parents import PARENTS_VARIABLE

_PREFIXES: Final = ("HYPERLOCI_", "RLM_MEMORY")
_FILE_VARIABLE: Final = "HYPERLOCI_CONFIG"
_OTHER_VARIABLES: Final = (
    *(_FILE_VARIABLE, "HYPERLOCI_HOOKS", "HYPERLOCI_HOOK_MARK", "HYPERLOCI_HOOK_CLIENT", OFFSET_VARIABLE),
    *(PARENTS_VARIABLE, "HYPERLOCI_TEAM_TOKEN"),
)
"""Variables that are read elsewhere than with the settings."""

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


def list_idle_variables(environ: Mapping[str, str]) -> list[str]:
    """Return in words which variables change nothing: unknown ones, and what no file or clock can follow."""
    idle = []
    named, offset = environ.get(_FILE_VARIABLE), environ.get(OFFSET_VARIABLE)
    if named and not os.path.exists(os.path.expanduser(named)):
        idle.append(f"{_FILE_VARIABLE} names {named}, which does not exist: no settings are read from it")
    if offset and not is_offset(offset):
        idle.append(f"{OFFSET_VARIABLE}={offset:.40} is no number of seconds up to a hundred years; the clock stays")
    return [*idle, *_list_unknown_variables(environ)]


def _list_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    names = {setting.name: name_variable(setting.name) for setting in fields(Settings) if setting.name not in CLAIMS}
    known = {*names.values(), *_OTHER_VARIABLES}
    unknown = sorted(name for name in environ if name.startswith(_PREFIXES) and name not in known)
    renamed = {f"HYPERLOCI_{setting.upper()}": variable for setting, variable in OTHER_NAMES.items()}
    hints = [
        f"did you mean {renamed[name]}?"
        if name in renamed
        else suggest_name(name, known, prefix="HYPERLOCI_", groups=("settings",))
        for name in unknown
    ]
    return [
        f"{name} is no setting; {hint or 'docs/configuration.md lists all'}"
        for name, hint in zip(unknown, hints, strict=True)
    ]
