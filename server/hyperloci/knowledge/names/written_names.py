"""Written names: the names of code and the paths that a text holds, and how a short name fits a full one."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from hyperloci.model.position import Position

MAX_NAMES: Final = 50
"""Names looked up a text: a pasted file is not a text about each of its symbols."""

MAX_CHARS: Final = 20_000
"""Of a text, what names are sought in: as long as a fact may be."""

MAX_PARTS: Final = 12
"""Parts of a dotted name, its last ones, by which a symbol is looked for: none is nested deeper."""

_NAME: Final = re.compile(
    r"`(?P<quoted>[A-Za-z_$][\w$]*+(?>(?:(?:\.|::|#)[\w$]++)*))(?:\([^`\n]{0,80}\))?`"
    r"|(?<![\w./@-])(?P<plain>[A-Za-z_]\w*+(?>(?:(?:\.|::)[A-Za-z_]\w*+)*))(?P<call>\(\))?(?![\w/-])"
)
"""What may be a name of code: anything in backticks, and words with dots. Possessive, so that no text is slow."""

_CODE_LIKE: Final = re.compile(r"\w[.:]|[A-Za-z0-9]_|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
"""Outside backticks only these are names: dotted, snake_case, camelCase (and what is called)."""

_PATH: Final = re.compile(r"(?<![\w@./-])[\w@-]+(?:[./][\w@-]+)*\.\w{1,5}\b")
"""Words that look like a file's path."""

_WHOLE: Final = re.compile(r"[A-Za-z_$][\w$]*+(?>(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*+)*)")
_SEPARATOR: Final = re.compile(r"::|#|->")
_WORD: Final = re.compile(r"[A-Za-z0-9$]+")


def find_code_names(text: str) -> list[str]:
    """Return the code-like names in a text, in order, each once; `::` and `#` as a dot."""
    found = (
        normalise_name(match["quoted"] or match["plain"])
        for match in _NAME.finditer(text[:MAX_CHARS])
        if match["quoted"] or match["call"] or _CODE_LIKE.search(match["plain"])
    )
    return list(dict.fromkeys(found))[:MAX_NAMES]


def find_paths(text: str) -> list[str]:
    """Return the words of a text that look like a file's path, each once."""
    return list(dict.fromkeys(_PATH.findall(text[:MAX_CHARS])))[:MAX_NAMES]


def normalise_name(name: str) -> str:
    """Return a name of code with dots for `::`, `#` and `->`, without `self.` and `this.`."""
    return _SEPARATOR.sub(".", name).removeprefix("self.").removeprefix("this.")


def read_whole_name(text: str) -> str | None:
    """Return the name of code that a text is as a whole, brackets and backticks aside; None if it is more than one."""
    bare = text.strip().strip("`'\"").removesuffix("()")
    return normalise_name(bare) if _WHOLE.fullmatch(bare) else None


def is_code_like(name: str) -> bool:
    """Return whether a name is spelt as no word of a language is: dotted, snake_case, camelCase."""
    return _CODE_LIKE.search(name) is not None


def squash_symbol(name: str) -> str:
    """Return a name without case and joints, as the index of names has it: `message hash`, `MessageHash`."""
    return ".".join("".join(_WORD.findall(part)).lower() for part in normalise_name(name).split("."))


def dotted_suffixes(name: str) -> list[str]:
    """Return a dotted name and its shorter forms: `package.Client.fetch` is stored as `Client.fetch`."""
    parts = name.split(".")[-MAX_PARTS:]
    return [".".join(parts[start:]) for start in range(len(parts))]


def is_suffix_of_symbol(name: str, path: str, symbol: str) -> bool:
    """Return whether a name is the end of a symbol's full dotted name, its file's path included."""
    full = [*PurePosixPath(path).with_suffix("").parts, *symbol.split(".")]
    if len(full) > len(symbol.split(".")) and full[-len(symbol.split(".")) - 1] in ("__init__", "index", "mod"):
        del full[-len(symbol.split(".")) - 1]
    parts = name.split(".")
    return full[-len(parts) :] == parts


def is_reexported_as(name: str, path: str, symbol: str) -> bool:
    """Return whether a name may be a symbol by the package that hands it on: `httpx.Client` of `httpx/_client.py`."""
    outer, _, rest = name.partition(".")
    return bool(rest) and rest == symbol and outer in PurePosixPath(path).parts[:-1]


def is_path_of_file(path: str, named: str) -> bool:
    """Return whether a path is, or ends in, a path as people write it."""
    return path == named or path.endswith("/" + named)


def find_use(text: str, position: Position) -> int | None:
    """Return where a text uses what stands at a position, by its own name; what is called or opened comes first."""
    name = (position.symbol or position.anchor or PurePosixPath(position.path or "").stem).rpartition(".")[2]
    if not name:
        return None
    first: int | None = None
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _is_word_char(text[at - 1 : at]) and not _is_word_char(text[end : end + 1]):
            if text[end : end + 1] in _OPENING:
                return at
            first = at if first is None else first
        at = text.find(name, end)
    return first


_OPENING: Final = frozenset("(<`!")


def _is_word_char(character: str) -> bool:
    return character.isalnum() or character == "_"
