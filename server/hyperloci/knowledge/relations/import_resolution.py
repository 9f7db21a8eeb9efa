"""Import resolution: which file an import means, by the paths of a project alone and only without doubt (D.03).

Python: `a.b` is `a/b.py` or `a/b/__init__.py`, seen from the importing file's own folders outwards, else from the only
folder of the project that has it. A folder inside a package is no place to import from, and a name of the standard
library is the standard library's. JavaScript and TypeScript: relative paths, and those
from `@/`, with the usual endings. Go: the only folder whose path the import ends with. Rust: `a::b` is `a/b.rs` or
`a/b/mod.rs`, from the file's own module, its crate's root, or that of another crate of the project. C and C++: beside
the file, else the only file of that path.
"""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

SCRIPT: Final = frozenset({"javascript", "typescript", "tsx"})

COMPONENTS: Final = (".vue", ".svelte", ".astro")
"""Endings of files that are one component each: what is imported of them is the file."""

_SCRIPT_ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".vue")
_SCRIPT_HOMES: Final = ("@/", "~/")
"""What stands for the folder of a project's sources, as settings of bundlers say: `@/views/Home.vue`."""

_TYPED: Final = {".js": "", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"}
_SCRIPT_INDEXES: Final = tuple(f"/index{ending}" for ending in _SCRIPT_ENDINGS[1:])
_STANDARD: Final = sys.stdlib_module_names

_RUST_ROOTS: Final = ("lib.rs", "main.rs")
_RUST_SINGLE: Final = frozenset({"bin", "examples", "benches", "tests"})
"""Folders in which each file is a crate."""

_NUMBERED: Final = re.compile(r"([a-z]++)[-_ ]?0*(\d++)")
"""What the name of a numbered document's file begins with: `rfc-0012-transport.md` of RFC 12."""


class ModuleIndex:
    """The files of one project, found by what an import says."""

    def __init__(self, paths: Iterable[str], read_crates: Callable[[], Mapping[str, str]] = dict) -> None:
        """Take the project's paths, and what tells the folders of its Rust crates by name where one is asked for."""
        self._paths = frozenset(paths)
        self._read_crates = read_crates
        self._by_name: dict[str, list[str]] = {}
        for path in self._paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    @functools.cached_property
    def _crates(self) -> Mapping[str, str]:
        return self._read_crates()

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
        """Return the file that JavaScript or TypeScript imports by a relative path, or one from the sources' folder."""
        if source.startswith(_SCRIPT_HOMES):
            homes = (posixpath.join(above, home) for above in _folders_above(importer) for home in ("", "src"))
            found = {file for home in homes if (file := self._find_script(posixpath.join(home, source[2:])))}
            return found.pop() if len(found) == 1 else None
        if not source.startswith("."):
            return None
        return self._find_script(posixpath.normpath(posixpath.join(posixpath.dirname(importer), source)))

    def _find_script(self, stem: str) -> str | None:
        root, ending = posixpath.splitext(stem)
        # TypeScript says `./x.js` for what is `./x.ts`.
        stems = [stem, root + _TYPED[ending]] if ending in _TYPED else [stem]
        for candidate in stems:
            for ending in (*_SCRIPT_ENDINGS, *_SCRIPT_INDEXES):
                if candidate + ending in self._paths:
                    return candidate + ending
        return None

    def resolve_include(self, importer: str, said: str) -> str | None:
        """Return the file that C or C++ includes: beside the importer, else the only one of that path."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(importer), said))
        found = [beside] if beside in self._paths else self.files_ending_with(said)
        return found[0] if len(found) == 1 else None

    def resolve_rust(self, importer: str, parts: Sequence[str], inner: int = 0) -> tuple[str, tuple[str, ...]] | None:
        """Return the file of the module that a path leads to, and what of the path is left.

        Args:
            importer: the file in which it is written.
            parts: the path: `crate::walk::scan`.
            inner: how many modules that are written in the file itself stand around it.
        """
        first, *rest = parts
        folder = _rust_folder(importer)
        if first == "crate":
            return self._resolve_rust_under(*self._find_rust_root(importer), rest)
        if first in {"self", "super"}:
            said = list(itertools.takewhile(lambda part: part in {"self", "super"}, parts))
            up, rest = said.count("super") - inner, list(parts[len(said) :])
            if up <= 0:
                return None if up else self._resolve_rust_under(folder, importer, rest)
            for _ in range(up):
                folder = posixpath.dirname(folder)
            return self._resolve_rust_under(folder, self._find_rust_file(folder), rest)
        if self._find_rust_module(posixpath.join(folder, first)):
            return self._resolve_rust_under(folder, importer, parts)
        crate = self._crates.get(first)
        roots = [posixpath.join(crate, name) for name in ("src/lib.rs", "lib.rs")] if crate is not None else []
        root = next((root for root in roots if root in self._paths), None)
        return None if root is None else self._resolve_rust_under(posixpath.dirname(root), root, rest)

    def _resolve_rust_under(
        self, folder: str, own: str | None, parts: Sequence[str]
    ) -> tuple[str, tuple[str, ...]] | None:
        """Follow a path from a module on, whose file is `own` and whose modules lie in `folder`."""
        for length in range(len(parts), 0, -1):
            if file := self._find_rust_module(posixpath.join(folder, *parts[:length])):
                return file, tuple(parts[length:])
        return None if own is None else (own, tuple(parts))

    def _find_rust_module(self, stem: str) -> str | None:
        return next((path for path in (f"{stem}.rs", f"{stem}/mod.rs") if path in self._paths), None)

    def _find_rust_root(self, importer: str) -> tuple[str, str | None]:
        """Return the folder of a file's crate, and the file that the crate begins with."""
        folder, _, name = importer.rpartition("/")
        if posixpath.basename(folder) in _RUST_SINGLE or name in _RUST_ROOTS:
            return folder, importer
        for above in _folders_above(importer):
            if own := next(
                (path for root in _RUST_ROOTS if (path := posixpath.join(above, root)) in self._paths), None
            ):
                return above, own
        return folder, None

    def _find_rust_file(self, folder: str) -> str | None:
        """Return the file of the module whose modules lie in a folder."""
        inside = (posixpath.join(folder, name) for name in ("mod.rs", *_RUST_ROOTS))
        return next((path for path in (f"{folder}.rs", *inside) if path in self._paths), None)

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


def is_below(path: str, module: str) -> bool:
    """Say whether a file of Rust belongs to a module inside that of another: it sees what is private there."""
    return path.startswith(f"{_rust_folder(module)}/")


def _rust_folder(path: str) -> str:
    """Return the folder in which the modules of a file's module lie."""
    folder, _, name = path.rpartition("/")
    return folder if name in {"mod.rs", *_RUST_ROOTS} else path.removesuffix(".rs")


def _folders_above(path: str) -> list[str]:
    """Return the folders a file stands in, innermost first; the project's own is empty."""
    folders = []
    folder = path.rpartition("/")[0]
    while folder:
        folders.append(folder)
        folder = folder.rpartition("/")[0]
    return [*folders, ""]
