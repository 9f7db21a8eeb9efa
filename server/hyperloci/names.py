"""Names: what somebody means by a name that does not exist here.

`data/document_names.toml` holds every name of the five documents that this memory was built from, each with what has
its place here; `docs/coming-from-the-documents.md` shows it to people. A name that is in none of them is compared with
those that exist.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.system.values import dataclass

FILE: Final = Path(__file__).parent / "data" / "document_names.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentName:
    """A name of the documents.

    Attributes:
        name: as a document has it, without its parentheses.
        group: what kind of thing it is there: a key of the file.
        targets: what has its place here, as `kind:name` (`tool:remember_fact`); empty where nothing has.
        note: what differs, or why nothing has its place.
    """

    name: str
    group: str
    targets: tuple[str, ...]
    note: str

    def describe(self) -> str:
        """Return in words what has its place."""
        told = " or ".join(map(_show_target, self.targets))
        if not told:
            return f"'{self.name}' has no place here: {self.note}"
        return f"'{self.name}' is {told} here" + (f" ({self.note})" if self.note else "")


_SHOWN: Final = {
    "tool": "the tool {}",
    "argument": "the argument {}",
    "command": "`hyperloci {}`",
    "setting": "the setting {}",
    "repl": "{} in memory_repl",
    "where": "the condition where.{}",
    "condition": "the condition {}:",
    "space": "the space {}",
    "answer": "the field {} of an answer",
    "method": "Memory.{}",
    "class": "{}",
    "function": "{}",
    "column": "the column {}",
    "table": "the table {}",
    "file": "{}",
    "label": "the relation {}",
    "prompt": "the prompt {}",
    "page": "{}",
}
"""How each kind of target is told; the tests know how each is found."""


def _show_target(target: str) -> str:
    kind, _, name = target.partition(":")
    return _SHOWN[kind].format(name)


VALUE_GROUPS: Final = ("values", "types")
"""What a value of an argument or a condition can be in the documents."""


@functools.cache
def load_document_names() -> tuple[DocumentName, ...]:
    """Return every name of the documents, in the file's order."""
    return tuple(
        DocumentName(name=name, group=group, targets=tuple(entry.get("use", ())), note=entry.get("note", ""))
        for group, entries in _read_file().items()
        for name, entry in entries.items()
    )


@functools.cache
def _things() -> tuple[str, ...]:
    """Return the kinds of names that name a thing: a value (`user`, `local`) is meant only in its own place."""
    return tuple(group for group in _read_file() if group not in ("values", "rules"))


@functools.cache
def _read_file() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    # Loaded only where a name is wrong: hooks read settings, and this module with them.
    import tomllib

    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def find_document_name(name: str, groups: Collection[str] = ()) -> DocumentName | None:
    """Return what the documents mean by a name, however it is written (`/memory stats`, `ConceptGraph.prune()`).

    Args:
        name: what was asked for.
        groups: the kinds of thing it may be; empty is any. One name is two things in the documents: `temporal` is a
            relation of one and a table of another.
    """
    entries = [entry for entry in load_document_names() if not groups or entry.group in groups]
    known = {_fold(entry.name): entry for entry in reversed(entries)}
    return known.get(_fold(name)) or known.get(_fold(name.rpartition(".")[2]))


def _fold(name: str) -> str:
    return name.strip().lstrip("/").removesuffix("()").replace("-", "_").lower()


def suggest_name(name: str, known: Iterable[str], *, prefix: str = "", groups: Collection[str] = ()) -> str:
    """Return a hint at what is meant by a name that does not exist here; empty without any.

    Args:
        name: what was asked for.
        known: the names that exist in its place.
        prefix: what they begin with, and no document's name does; one that is near is meant before a document's then,
            but for a document's name of the same kind.
        groups: what kind of thing it is in the documents; those are meant before others.
    """
    import difflib

    bare = name.removeprefix(prefix)
    # What names have in common tells nothing: without it, a name of four letters isn't near to all others.
    forms = {one.removeprefix(prefix): one for one in known}
    near = [forms[form] for form in difflib.get_close_matches(bare if prefix else _fold(name), list(forms), n=1)]
    document = find_document_name(bare, groups) if groups else None
    if document is None and not (prefix and near):
        document = find_document_name(bare, _things())
    if document is not None:
        return document.describe()
    return f"did you mean {near[0]}?" if near else ""


def suggest_value(value: object, allowed: Iterable[str]) -> str:
    """Return a hint at what is meant by a value that is none of those allowed; empty without any.

    What differs in case and joints alone (`E1Only`, `TUTORIAL`, `how-to`) is meant before what the documents call so,
    and that before what is spelt nearly so.
    """
    import difflib
    import re

    said, listed = str(value), list(allowed)
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", said)
    forms = {_fold(said), _fold(parted), _fold(said).replace("_", "")}
    same = next((one for one in listed if one in forms), None)
    if same is not None:
        return f"did you mean {same}?"
    document = find_document_name(said, VALUE_GROUPS)
    if document is not None:
        return document.describe()
    near = difflib.get_close_matches(_fold(said), listed, n=1)
    return f"did you mean {near[0]}?" if near else ""


def describe_unknown_value(name: str, value: object, allowed: Collection[str]) -> str:
    """Return in a sentence that a value is none of those allowed, with what is meant and what may be used."""
    hint = suggest_value(value, allowed)
    told = f"{hint} use" if hint.endswith("?") else f"{hint}; use" if hint else "use"
    return f"{name}={value!r:.80} is unknown: {told} one of {', '.join(allowed)}."
