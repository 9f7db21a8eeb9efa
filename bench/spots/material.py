"""Real text to build from: prose, code and release notes of the packages that this project's tests need installed.

Nothing is downloaded, and everything is read in a fixed order: with the versions of `constraints.txt`, the same slices.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

PROSE_PACKAGES = (
    "networkx",
    "anyio",
    "jinja2",
    "click",
    "urllib3",
    "pip",
    "sklearn",
    "transformers",
    "fsspec",
    "joblib",
)
CODE_PACKAGES = ("requests", "starlette", "h11")
README_PACKAGES = ("watchdog", "rich", "typer", "psutil", "tqdm", "pytest-cov", "pathspec", "regex")

_SENTENCE = re.compile(r"(?<=[a-z0-9)`])\.\s+(?=[A-Z])|\n\s*\n")
_PROSE_ONLY = re.compile(r"[A-Z][a-z]?[\w\s,;:'`\"()./+-]+\Z")
_MARKUP = re.compile(r"`{1,2}(?::?\w+:)?|:\w+:|~\w+\.|\*\*|>>>|\.\. ")


def package_files(name: str) -> list[Path]:
    """Return a package's Python files in order, without tests and vendored code."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return []
    root = Path(next(iter(spec.submodule_search_locations)))
    return [path for path in sorted(root.rglob("*.py")) if not {"tests", "_vendor", "externals"} & set(path.parts)]


@functools.cache
def package_docstrings(name: str, limit: int = 4_000) -> tuple[str, ...]:
    """Return the docstrings of a package in order, the longer ones."""
    found: list[str] = []
    for path in package_files(name):
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text and len(text) > 80:
                    found.append(text)
        if len(found) >= limit:
            break
    return tuple(dict.fromkeys(found))


def package_readme(name: str) -> str:
    """Return the description that a package was published with."""
    metadata = distribution(name).metadata
    return str(metadata["Description"] or metadata.json.get("description", ""))


@functools.cache
def real_sentences() -> tuple[str, ...]:
    """Return sentences of real documentation: 8 to 30 words of prose each, once each, the packages by turns."""
    each = [list(dict.fromkeys(_sentences_of(name))) for name in PROSE_PACKAGES]
    mixed = [column[row] for row in range(max(map(len, each))) for column in each if row < len(column)]
    return tuple(dict.fromkeys(mixed))


def _sentences_of(name: str) -> Iterator[str]:
    for text in package_docstrings(name):
        for paragraph in _split_paragraphs(text):
            for sentence in _SENTENCE.split(paragraph):
                clean = " ".join(_MARKUP.sub("", sentence).split()).rstrip(".")
                if 8 <= len(clean.split()) <= 30 and _PROSE_ONLY.match(clean) and not clean.endswith(":"):
                    yield clean + "."


@functools.cache
def real_paragraphs() -> tuple[str, ...]:
    """Return paragraphs of real documentation of 50 to 180 words, once each, the packages by turns."""
    each = [
        [
            " ".join(_MARKUP.sub("", paragraph).split())
            for text in package_docstrings(name)
            for paragraph in _split_paragraphs(text)
            if 50 <= len(paragraph.split()) <= 180
        ]
        for name in PROSE_PACKAGES
    ]
    mixed = [column[row] for row in range(max(map(len, each))) for column in each if row < len(column)]
    return tuple(dict.fromkeys(mixed))


def _split_paragraphs(text: str) -> list[str]:
    """Return what is prose of a docstring: no parameter lists, examples or tables."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return [
        block for block in blocks if not re.search(r">>>|^\s*[-=~]{3,}|^\s{2,}\S|::$|^\s*:\w+|^\w+ : ", block, re.M)
    ]


def code_files() -> dict[str, str]:
    """Return real source files by path below their packages."""
    return {
        f"{name}/{path.relative_to(Path(str(root)))}": path.read_text("utf-8")
        for name in CODE_PACKAGES
        for root in [_package_root(name)]
        for path in package_files(name)
        if path.stat().st_size > 200
    }


def _package_root(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))
