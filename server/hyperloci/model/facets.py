"""Facets: what kind of content a memory is, on several axes (D.07)."""

from __future__ import annotations

from enum import StrEnum

from hyperloci.system.values import dataclass


class Diataxis(StrEnum):
    """What a text is for (https://diataxis.fr)."""

    TUTORIAL = "tutorial"
    HOWTO = "howto"
    REFERENCE = "reference"
    EXPLANATION = "explanation"


class Persona(StrEnum):
    """Whom a text speaks to."""

    NOVICE = "novice"
    PRAGMATIST = "pragmatist"
    SKEPTIC = "skeptic"
    EXPERT = "expert"


class Verification(StrEnum):
    """Whether somebody checked it."""

    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    DISPUTED = "disputed"
    OUTDATED = "outdated"


class ConfidenceLevel(StrEnum):
    """How sure its words sound, and who stored it was."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"
    UNCERTAIN = "uncertain"


class SourceType(StrEnum):
    """Where it comes from: files of code or prose, history, talk, what was remembered on purpose, or elsewhere."""

    CODE = "code"
    DOCS = "docs"
    COMMIT = "commit"
    CONVERSATION = "conversation"
    FACT = "fact"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """A memory's facets; None and empty where nothing is known.

    Attributes:
        section_type: what its section is for (D.04).
        authority: how far its source may be believed, 0..1.
        time_sensitive: whether it may soon be no longer true.
        domain_tags: what it is about, in words: `cli`, `api`, `security`...; sorted.
    """

    diataxis: Diataxis | None = None
    persona: Persona | None = None
    verification: Verification = Verification.UNVERIFIED
    confidence_level: ConfidenceLevel | None = None
    section_type: str | None = None
    source_type: SourceType | None = None
    authority: float | None = None
    time_sensitive: bool = False
    domain_tags: tuple[str, ...] = ()
