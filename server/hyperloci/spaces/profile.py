"""Profiles: which model sees which space; the built-in ones and those of the user's file."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from hyperloci.errors import ConfigurationError
from hyperloci.setting_values import require_profile
from hyperloci.spaces.space import SPACES, SpaceKind
from hyperloci.system.values import dataclass

BUNDLED: Final = "bundled"
"""The name of the model that comes with Hyperloci."""

RULE: Final = "rule"
"""E13 without a model (`spaces.term_expansion`)."""

FINGERPRINT_VERSION: Final = 3
"""Part of a profile's id: change it when views or formats change what is stored, and every memory is embedded again."""

_CHOICE_KEYS: Final = frozenset({"model", "query", "document"})


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, and the prompts it needs in front of a text.

    Attributes:
        model: a packaged model (`hyperloci model list`), a name on the Hugging Face Hub, a folder, an embeddings
            endpoint (E1 alone), `bundled` or `rule`.
        query, document: in front of a question, and of a memory (`query: `, `passage: `).
    """

    model: str
    query: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A model for every space that needs one.

    Attributes:
        name: as in the settings.
        choices: by space; a missing one uses E1's model, E13 uses rules.
    """

    name: str
    choices: Mapping[str, ModelChoice]

    def choice_of(self, space: str) -> ModelChoice:
        """Return the model of a space."""
        return self.choices.get(space, ModelChoice(RULE) if space == "e13" else self.choices["e1"])


_FILE: Final = Path(__file__).parent / "data" / "profiles.toml"


def _read_shipped_profiles() -> Mapping[str, Profile]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return MappingProxyType({name: _read_own_profile(name, values) for name, values in tables.items()})


def find_profile(name: str, own: Mapping[str, object], model: str | None = None) -> Profile:
    """Return the profile in force.

    Args:
        name: of a profile.
        own: the user's profiles, as the settings have them: `{"NAME": {"e7": "MODEL", "e13": {"model": ...}}}`.
        model: E1's model in its place, from `Settings.model`.

    Raises:
        ConfigurationError: no such profile, or one that can't be used; it says what would be right.
    """
    require_profile(name, own, model)
    # An unknown profile is fine if a model is set.
    shipped = SHIPPED_PROFILES.get(name, SHIPPED_PROFILES[BUNDLED])
    found = _read_own_profile(name, own[name]) if name in own else shipped
    return Profile(found.name, {**found.choices, "e1": ModelChoice(model)}) if model else found


def _read_own_profile(name: str, values: object) -> Profile:
    where = f"[profiles.{name}]"
    if not isinstance(values, Mapping):
        raise ConfigurationError(f"{where} must be a table of space = model, not {values!r:.80}.")
    unknown = sorted(set(values) - _MODELLED)
    if unknown:
        raise ConfigurationError(
            f"{where}: {', '.join(unknown)} takes no model; use {', '.join(sorted(_MODELLED, key=_space_number))}."
        )
    choices = {space: _read_choice(where, space, value) for space, value in values.items()}
    return Profile(name, MappingProxyType({"e1": ModelChoice(BUNDLED), **choices}))


_MODELLED: Final = frozenset(
    name for name, space in SPACES.items() if (space.kind in (SpaceKind.DENSE, SpaceKind.TOKEN)) or name == "e13"
)


def _space_number(space: str) -> int:
    return int(space[1:])


def _read_choice(where: str, space: str, value: object) -> ModelChoice:
    if isinstance(value, str):
        value = {"model": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("model"), str) or not value["model"]:
        raise ConfigurationError(
            f'{where}: {space} must be the name of a model, or {{model = "NAME", query = "...", document = "..."}}, '
            f"not {value!r:.80}."
        )
    wrong = sorted(key for key, text in value.items() if key not in _CHOICE_KEYS or not isinstance(text, str))
    if wrong:
        raise ConfigurationError(
            f"{where}: {space} has {', '.join(wrong)}; use strings for {', '.join(sorted(_CHOICE_KEYS))}."
        )
    if value["model"] == RULE and space != "e13":
        raise ConfigurationError(f"{where}: {space} = {RULE!r}, but only e13 can use rules; name a model.")
    if space != "e1" and value["model"].startswith(("http://", "https://")):
        raise ConfigurationError(f"{where}: {space} cannot use an endpoint; only e1 can.")
    return ModelChoice(**value)


def compose_model_id(foundation: str, version: int, others: Mapping[str, str]) -> str:
    """Return the id of a profile's models together: E1's, then what decides all other spaces.

    What stands before the `+` stays comparable when only the rest changes
    (`store.vectors.fingerprints.Fingerprints.use_model`).
    """
    if not others:
        return f"{foundation}+{version}"
    listed = "\0".join(f"{space}={model}" for space, model in sorted(others.items()))
    return f"{foundation}+{version}.{hashlib.sha256(listed.encode()).hexdigest()[:8]}"


SHIPPED_PROFILES: Final = _read_shipped_profiles()
"""By name, as `data/profiles.toml` has them."""
