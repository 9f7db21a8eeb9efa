"""Skip rules: what is never indexed, in spite of ignore files, and why. Each rule returns its reason, or None."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fnmatch import translate
from pathlib import Path
from typing import Final

from hyperloci.store.export import EXPORT_MARKS
from hyperloci.text.chunking.code import is_minified
from hyperloci.text.chunking.file_kinds import MAX_CONFIG_BYTES, FileKind
from hyperloci.text.decoding import decode_head, is_text
from hyperloci.text.sanitize.secret_files import is_secret_file

BINARY = "binary"
EMPTY_KIND = "not a kind of text that is indexed"
EXPORTED = "exported by Hyperloci"
GENERATED = "generated"
LOCK_FILE = "a lock file"
MINIFIED = "minified"
SECRET = "may hold secrets"
SECRET_NAME = "its name contains a secret; rename it to have it indexed"
TOO_LARGE_CONFIG = f"configuration above {MAX_CONFIG_BYTES:,} bytes is data"
UNDECODABLE = "its encoding cannot be determined"

_FOLDERS: Final[dict[str, str]] = {
    **dict.fromkeys((".git", ".hg", ".svn", ".jj", ".bzr", "CVS"), "version control"),
    **dict.fromkeys(
        ("node_modules", "bower_components", "jspm_packages", "site-packages", "_vendor", "third_party", "Pods"),
        "third-party code",
    ),
    **dict.fromkeys(("Carthage", ".yarn", ".pnpm-store", ".bundle"), "third-party code"),
    **dict.fromkeys((".venv", ".virtualenv", "virtualenv", ".direnv"), "a virtual environment"),
    **dict.fromkeys(
        (
            "__pycache__",
            ".cache",
            ".mypy_cache",
            ".ruff_cache",
            ".pytest_cache",
            ".hypothesis",
            ".ipynb_checkpoints",
            ".tox",
            ".nox",
            ".eggs",
            ".gradle",
            ".terraform",
            ".parcel-cache",
            ".turbo",
            ".dart_tool",
            ".stack-work",
            ".sass-cache",
        ),
        "a cache",
    ),
    **dict.fromkeys(
        (".next", ".nuxt", ".svelte-kit", ".output", "DerivedData", "dist-newstyle", "htmlcov", "cdk.out"),
        "build output",
    ),
    **dict.fromkeys((".idea", ".vs", "__snapshots__", ".hyperloci"), "written by a tool"),
}

_MARKED_FOLDERS: Final = {
    "pyvenv.cfg": "a virtual environment",
    "conda-meta": "a virtual environment",
    "CACHEDIR.TAG": "a cache",
}
"""Files in a folder that show what it is; CACHEDIR.TAG is a convention (bford.info/cachedir)."""

_PYTHON_PROJECT: Final = ("pyproject.toml", "setup.py", "setup.cfg")
_FOLDERS_BESIDE: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "target": (("Cargo.toml", "pom.xml", "build.sbt"), "build output"),
    "build": (("build.gradle", "build.gradle.kts", "CMakeLists.txt", "package.json", *_PYTHON_PROJECT), "build output"),
    "dist": (("package.json", *_PYTHON_PROJECT), "build output"),
    "_build": (("mix.exs", "conf.py", "dune-project"), "build output"),
    "coverage": (("package.json",), "build output"),
    "vendor": (("go.mod", "composer.json", "Gemfile", "Cargo.toml", "package.json"), "third-party code"),
}
"""Names that are also given to folders of one's own: they count only beside a file of the tool that writes them."""

_FILE_PATTERNS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        LOCK_FILE,
        (
            "*.lock",
            "*.lockb",
            "*-lock.json",
            "*-lock.yaml",
            "*-lock.yml",
            "npm-shrinkwrap.json",
            "packages.lock.json",
            "package.resolved",
            "go.sum",
            "go.work.sum",
            "gradle.lockfile",
            "*.lock.hcl",
        ),
    ),
    (MINIFIED, ("*.min.js", "*.min.mjs", "*.min.css", "*-min.js", "*.bundle.js", "*.chunk.js", "*.map")),
    (
        GENERATED,
        (
            "*_pb2.py",
            "*_pb2.pyi",
            "*_pb2_grpc.py",
            "*.pb.go",
            "*.pb.cc",
            "*.pb.h",
            "*.pb.swift",
            "*.g.dart",
            "*.freezed.dart",
            "*.g.cs",
            "*.designer.cs",
            "*.generated.*",
            "*_generated.*",
            "zz_generated*",
            "*.snap",
        ),
    ),
)

_GENERATED_MARK: Final = re.compile(
    r"@generated\b|code generated .{0,100}do not edit"
    r"|this file (?:was|is|has been) (?:auto|machine|automatically)?[ -]?generated"
    r"|auto(?:matically)?[ -]?generated\b.{0,120}(?:do not|don't|should not be) (?:edit|modif|change)",
    re.IGNORECASE | re.DOTALL,
)
_MARK_LINES: Final = 12
"""Generators say so at the top; further down the words are about something else."""

_PRIVATE_KEY: Final = re.compile(rb"\s*-----BEGIN [A-Z ]*PRIVATE KEY-----")


def reason_to_skip_folder(folder: Path) -> str | None:
    """Say why a folder is never entered."""
    name = folder.name
    if reason := _FOLDERS.get(name):
        return reason
    if name.endswith(".egg-info"):
        return "written by a tool"
    for marker, reason in _MARKED_FOLDERS.items():
        if os.path.lexists(folder / marker):
            return reason
    beside, reason = _FOLDERS_BESIDE.get(name, ((), ""))
    return reason if any(os.path.lexists(folder.parent / manifest) for manifest in beside) else None


def is_folder_mark(name: str) -> bool:
    """Whether a file of this name shows what the folder is that it lies in, so that all in it is skipped."""
    return name in _MARKED_FOLDERS


def reason_to_skip_name(name: str, folder: str = "") -> str | None:
    """Say why a file of this name is never indexed; `folder` is the name of the one it lies in."""
    if is_secret_file(name, folder):
        return SECRET
    lowered = name.lower()
    return next((reason for reason, matches in _FILE_MATCHERS if matches(lowered)), None)


def reason_to_skip_content(head: bytes, kind: FileKind, size: int) -> str | None:
    """Say why a file is not indexed, from its first 8 KB."""
    if not is_text(head):
        return BINARY if b"\0" in head else UNDECODABLE
    if _PRIVATE_KEY.match(head):
        return SECRET
    if kind is FileKind.CONFIG and size > MAX_CONFIG_BYTES:
        return TOO_LARGE_CONFIG
    text = decode_head(head)
    if text.startswith(EXPORT_MARKS):
        return EXPORTED
    if kind in {FileKind.CODE, FileKind.PLAIN_CODE} and is_minified(text):
        return MINIFIED
    top = "\n".join(text.split("\n", _MARK_LINES)[:_MARK_LINES])
    is_read = kind not in {FileKind.MARKDOWN, FileKind.NOTEBOOK}
    return GENERATED if is_read and _GENERATED_MARK.search(top) else None


def _make_matcher(patterns: tuple[str, ...]) -> Callable[[str], object]:
    return re.compile("|".join(translate(pattern) for pattern in patterns)).match


_FILE_MATCHERS: Final = tuple((reason, _make_matcher(patterns)) for reason, patterns in _FILE_PATTERNS)
