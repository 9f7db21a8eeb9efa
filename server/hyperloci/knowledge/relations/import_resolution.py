"""Import resolution: which file an import means, by the paths of a project alone and only without doubt (D.03).

Python: `a.b` is `a/b.py` or `a/b/__init__.py`, seen from the importing file's own folders outwards, else from the only
folder of the project that has it. A folder inside a package is no place to import from, and a name of the standard
library is the standard library's. JavaScript and TypeScript: relative paths only, with the usual endings. Java, Kotlin
and Scala: the only file whose path ends so. Go: the only folder whose path the import ends with.
"""

from __future__ import annotations

import functools
import posixpath
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

SCRIPT: Final = frozenset({"javascript", "typescript", "tsx"})
CLASS_FILES: Final = {"java": (".java",), "kotlin": (".kt", ".java"), "scala": (".scala", ".java")}

_SCRIPT_ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
_TYPED: Final = {".js": "", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"}
_SCRIPT_INDEXES: Final = tuple(f"/index{ending}" for ending in _SCRIPT_ENDINGS[1:])
_STANDARD: Final = sys.stdlib_module_names

_NUMBERED: Final = re.compile(r"([a-z]++)[-_ ]?0*(\d++)")
"""What the name of a numbered document's file begins with: `rfc-0012-transport.md` of RFC 12."""


class ModuleIndex:
    """The files of one project, found by what an import says."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in self._paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def files_ending_with(self, tail: str) -> list[str]:
        """Return the files whose path is `tail` or ends with it at a folder's border."""
        tail = tail.lstrip("/")
        named = self._by_name.get(tail.rpartition("/")[2], ())
        return sorted(path for path in named if path == tail or path.endswith("/" + tail))

    def find_numbered(self, kind: str, number: str) -> Sequence[str]:
        """Return the files of a numbered document: those of `RFC` and `12`, a number without leading zeros."""
        return self._numbered.get((kind.lower(), number), ())

    @functools.cached_property
    def _numbered(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path in self._paths:
            if match := _NUMBERED.match(path.rpartition("/")[2].lower()):
                found.setdefault((match[1], match[2]), []).append(path)
        return found

    @functools.lru_cache(maxsize=4_096)  # noqa: B019 - lives as long as one round of linking
    def resolve_python(self, importer: str, dotted: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the file that holds `dotted`, and what of the name is left: a symbol and its parts.

        `from .x import y` is `.x.y`; the longest part that is a file counts.
        """
        parts = dotted.lstrip(".").split(".") if dotted.strip(".") else []
        dots = len(dotted) - len(dotted.lstrip("."))
        if dots:
            base = importer
            for _ in range(dots):
                base = base.rpartition("/")[0]
            return self._resolve_python_under(base, parts)
        if not parts or parts[0] in _STANDARD:
            return None
        for root in _folders_above(importer):
            if not self._is_package(root) and (found := self._resolve_python_under(root, parts)):
                return found
        return self._resolve_python_anywhere(tuple(parts))

    def _resolve_python_under(self, root: str, parts: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
        prefix = "" if root in ("", ".") else f"{root}/"
        for length in range(len(parts), 0, -1):
            stem = prefix + "/".join(parts[:length])
            for path in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"):
                if path in self._paths:
                    return path, tuple(parts[length:])
        package = f"{prefix}__init__.py"
        return (package, tuple(parts)) if prefix and package in self._paths else None

    @functools.lru_cache(maxsize=4_096)  # noqa: B019 - lives as long as one round of linking
    def _resolve_python_anywhere(self, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        for length in range(len(parts), 0, -1):
            stem = "/".join(parts[:length])
            found = [
                path
                for tail in (f"{stem}.py", f"{stem}/__init__.py")
                for path in self.files_ending_with(tail)
                if not self._is_package(path[: -len(tail)].rstrip("/"))
            ]
            if found:
                return (found[0], parts[length:]) if len(found) == 1 else None
        return None

    def _is_package(self, folder: str) -> bool:
        return folder not in ("", ".") and f"{folder}/__init__.py" in self._paths

    def resolve_script(self, importer: str, source: str) -> str | None:
        """Return the file that a relative JavaScript or TypeScript import means."""
        if not source.startswith("."):
            return None
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(importer), source))
        root, ending = posixpath.splitext(stem)
        # TypeScript says `./x.js` for what is `./x.ts`.
        stems = [stem, root + _TYPED[ending]] if ending in _TYPED else [stem]
        for candidate in stems:
            for ending in (*_SCRIPT_ENDINGS, *_SCRIPT_INDEXES):
                if candidate + ending in self._paths:
                    return candidate + ending
        return None

    def find_class_file(self, language: str, dotted: str) -> str | None:
        """Return the file of a class that Java, Kotlin or Scala imports."""
        stem = dotted.replace(".", "/")
        found = [path for ending in CLASS_FILES[language] for path in self.files_ending_with(stem + ending)]
        return found[0] if len(found) == 1 and "/" in stem else None

    def find_go_files(self, source: str) -> tuple[str, ...]:
        """Return the Go files, tests left out, of the package that an import path means; none if several could be."""
        parts = source.split("/")
        for start in range(1, len(parts)):
            end = "/".join(("", *parts[start:]))[::-1]
            at = bisect_left(self._go_ends, end)
            found = [folder for folder in self._go_ends[at : at + 2] if folder.startswith(end)]
            if found:
                return tuple(self._go_folders[found[0][::-1][1:]]) if len(found) == 1 else ()
        return ()

    @functools.cached_property
    def _go_ends(self) -> list[str]:
        """Return the folders with a slash before them, read backwards, in order: what ends alike stands together."""
        return sorted(f"/{folder}"[::-1] for folder in self._go_folders)

    @functools.cached_property
    def _go_folders(self) -> dict[str, list[str]]:
        folders: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            if path.endswith(".go") and not path.endswith("_test.go"):
                folders.setdefault(posixpath.dirname(path), []).append(path)
        return folders

    def find_go_siblings(self, path: str) -> tuple[str, ...]:
        """Return the Go files of the package that a file belongs to."""
        return tuple(self._go_folders.get(posixpath.dirname(path), ()))


def _folders_above(path: str) -> list[str]:
    """Return the folders a file stands in, innermost first; the project's own is empty."""
    folders = []
    folder = path.rpartition("/")[0]
    while folder:
        folders.append(folder)
        folder = folder.rpartition("/")[0]
    return [*folders, ""]
