"""Imported memory: what another program remembered, as far as it can be imported."""

from __future__ import annotations

from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """One statement.

    Attributes:
        text: what it says.
        line: where it stands in its file, 1-based.
        title: what it stands under, in words.
        section_path: the headings above it, outermost first.
        subtype: of a fact (`model.kinds.SUBTYPES`).
        about: names of the things it is about.
    """

    text: str
    line: int
    title: str = ""
    section_path: tuple[str, ...] = ()
    subtype: str = "semantic"
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedEntity:
    """An entity of the other program; `kind` in its own words."""

    name: str
    kind: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRelation:
    """A relation between two entities, both by name."""

    source: str
    target: str
    label: str
    line: int


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """All of one file, in its order; `format` names the kind of file.

    `hidden_lines` and `redactions` count what was left out of it before it was read: lines that are private or belong
    to a key, and secrets.
    """

    format: str
    facts: tuple[ImportedFact, ...]
    things: tuple[ImportedEntity, ...] = ()
    relations: tuple[ImportedRelation, ...] = ()
    hidden_lines: int = 0
    redactions: int = 0
