"""File kinds: which kind of file a path is, and so which chunker reads it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from hyperloci.text.chunking.programming_languages import language_of

MAX_CONFIG_BYTES = 64_000
"""A larger configuration file is data (fixtures, translations, generated schemas): its text says little to a reader."""

NOTEBOOK_FACTOR: Final = 10
"""A notebook may be so many times larger than other files: most of it are outputs, which are not read."""


class FileKind(StrEnum):
    """Which chunker reads a file."""

    MARKDOWN = "markdown"
    RESTRUCTURED_TEXT = "restructured_text"
    NOTEBOOK = "notebook"
    CODE = "code"
    PLAIN_CODE = "plain_code"
    PROSE = "prose"
    CONFIG = "config"


_MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".mdc", ".qmd", ".rmd"})

_RESTRUCTURED_TEXT: Final = frozenset({".rst", ".rest"})

_NOTEBOOK: Final = ".ipynb"

_PROSE: Final = frozenset({".txt", ".text", ".adoc", ".asciidoc", ".org", ".tex", ".textile", ".rdoc", ".pod"})
_PROSE_NAMES: Final = frozenset(
    {"readme", "changelog", "changes", "history", "news", "authors", "contributing", "contributors", "install", "todo"}
)

_CHANGELOG_NAMES: Final = frozenset(
    {"changelog", "changes", "history", "news", "releases", "release-notes", "release_notes"}
)

_CONFIG: Final = frozenset(
    {
        ".toml",
        ".yaml",
        ".yml",
        ".cff",
        ".json",
        ".jsonc",
        ".json5",
        ".ini",
        ".cfg",
        ".conf",
        ".properties",
        ".mk",
        ".service",
    }
)
_CONFIG_NAMES: Final = frozenset(
    {
        "cmakelists.txt",
        "dockerfile",
        "containerfile",
        "makefile",
        "gnumakefile",
        "justfile",
        "procfile",
        "jenkinsfile",
        "go.mod",
        "requirements.txt",
        "constraints.txt",
        "codeowners",
        "maintainers",
        "owners",
        "rust-toolchain",
        ".editorconfig",
        ".gitattributes",
        ".node-version",
        ".nvmrc",
        ".python-version",
        ".ruby-version",
        ".tool-versions",
        ".dockerignore",
        ".env.example",
        ".env.sample",
        ".env.template",
    }
)

_PLAIN_CODE: Final[dict[str, str]] = {
    ".asm": "assembly",
    ".astro": "astro",
    ".awk": "awk",
    ".bat": "batch",
    ".clj": "clojure",
    ".cljs": "clojure",
    ".cmake": "cmake",
    ".cr": "crystal",
    ".css": "css",
    ".d": "d",
    ".dart": "dart",
    ".el": "elisp",
    ".elm": "elm",
    ".erb": "erb",
    ".erl": "erlang",
    ".ex": "elixir",
    ".exs": "elixir",
    ".f90": "fortran",
    ".fish": "fish",
    ".fs": "fsharp",
    ".glsl": "glsl",
    ".gradle": "groovy",
    ".graphql": "graphql",
    ".groovy": "groovy",
    ".hcl": "hcl",
    ".hs": "haskell",
    ".html": "html",
    ".j2": "jinja",
    ".jinja": "jinja",
    ".jl": "julia",
    ".less": "less",
    ".lisp": "lisp",
    ".m": "objective-c",
    ".metal": "metal",
    ".ml": "ocaml",
    ".mli": "ocaml",
    ".mm": "objective-c",
    ".nim": "nim",
    ".nix": "nix",
    ".pas": "pascal",
    ".pl": "perl",
    ".pm": "perl",
    ".prisma": "prisma",
    ".proto": "protobuf",
    ".ps1": "powershell",
    ".r": "r",
    ".rkt": "racket",
    ".s": "assembly",
    ".sass": "sass",
    ".scm": "scheme",
    ".scss": "scss",
    ".sol": "solidity",
    ".sv": "systemverilog",
    ".svelte": "svelte",
    ".tf": "terraform",
    ".thrift": "thrift",
    ".v": "verilog",
    ".vb": "visualbasic",
    ".vhd": "vhdl",
    ".vim": "vim",
    ".vue": "vue",
    ".wgsl": "wgsl",
    ".zig": "zig",
}
"""Languages without a grammar here: their files are cut at lines."""


def file_kind_of(path: str, text: str = "") -> FileKind | None:
    """Return a file's kind by its name, or by the interpreter its first line calls; None if no chunker reads it.

    Args:
        path: POSIX path.
        text: the file's beginning, for a script without an ending.
    """
    name = PurePosixPath(path).name.lower()
    suffix = PurePosixPath(name).suffix
    if suffix in _MARKDOWN:
        return FileKind.MARKDOWN
    if suffix in _RESTRUCTURED_TEXT:
        return FileKind.RESTRUCTURED_TEXT
    if suffix == _NOTEBOOK:
        return FileKind.NOTEBOOK
    if name in _CONFIG_NAMES:
        return FileKind.CONFIG
    if suffix in _PROSE or name in _PROSE_NAMES:
        return FileKind.PROSE
    if suffix in _CONFIG:
        return FileKind.CONFIG
    if suffix in _PLAIN_CODE:
        return FileKind.PLAIN_CODE
    return FileKind.CODE if language_of(path, text) else None


def largest_size(path: str, max_bytes: int) -> int:
    """Return how many bytes a file may have to be indexed, where most may have `max_bytes`."""
    return max_bytes * (NOTEBOOK_FACTOR if file_kind_of(path) is FileKind.NOTEBOOK else 1)


def language_of_plain_file(path: str) -> str | None:
    """Return the name of a language without a grammar, by the file's ending."""
    return _PLAIN_CODE.get(PurePosixPath(path).suffix.lower())


def is_changelog_path(path: str) -> bool:
    """Return whether a file tells what changed from version to version, by its name."""
    return PurePosixPath(path).stem.casefold() in _CHANGELOG_NAMES
