"""Facet edits: correct a memory's facets by hand (D.07)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from hyperloci.errors import BadRequestError
from hyperloci.model.facets import ConfidenceLevel, Diataxis, Facets, Persona, SourceType, Verification
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.text.chunking.section_types import SectionType

MAX_TAGS: Final = 20
MAX_TAG_CHARS: Final = 40

_SETS: Final[Mapping[str, Any]] = {
    "diataxis": Diataxis,
    "persona": Persona,
    "verification": Verification,
    "confidence_level": ConfidenceLevel,
    "section_type": SectionType,
    "source_type": SourceType,
}
FACET_NAMES: Final = (*_SETS, "authority", "time_sensitive", "domain_tags")
"""Every facet that can be set."""

_TRUE: Final = frozenset({"true", "yes", "1"})
_FALSE: Final = frozenset({"false", "no", "0"})


def load_facets(store: Store, node: Node) -> Facets:
    """Return a memory's facets; unknown ones are None."""
    return store.facets.get_facets([node.key]).get(node.key, Facets())


def correct_facets(store: Store, node: Node, values: Mapping[str, Any], *, now: int) -> Facets:
    """Set some of a memory's facets; rules leave them alone from then on.

    Args:
        store: the open store.
        node: the memory.
        values: by the names of `FACET_NAMES`; an empty text or None takes a value away; tags as a list or with commas.
        now: the time, in milliseconds.

    Raises:
        BadRequestError: an unknown facet, or a value that it can't have; the message names those it can.
    """
    if not values:
        raise BadRequestError(f"No facet is given; give at least one of {', '.join(FACET_NAMES)}.")
    checked = {name: _check_value(name, value) for name, value in values.items()}
    with store.transaction():
        store.facets.set_by_hand(node.key, checked)
        told = ", ".join(f"{name}={_format_value(value)}" for name, value in checked.items())
        store.log.add_entry("facets", [node.id], now=now, reasoning=told)
    return load_facets(store, node)


def facets_to_json(facets: Facets) -> dict[str, Any]:
    """Return facets as JSON has them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(facets).items()}


def _format_value(value: Any) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _check_value(name: str, value: Any) -> Any:
    if name in _SETS:
        return _check_member(name, value)
    readers: Mapping[str, Callable[[Any], Any]] = {
        "authority": _check_authority,
        "time_sensitive": _check_truth,
        "domain_tags": _check_tags,
    }
    if name not in readers:
        raise BadRequestError(f"facet {name!r:.60} is unknown: use {', '.join(FACET_NAMES)}.")
    return readers[name](value)


def _check_member(name: str, value: Any) -> str | None:
    allowed = [str(member) for member in _SETS[name]]
    if value is None or value == "":
        return "unverified" if name == "verification" else None
    if value not in allowed:
        raise BadRequestError(f"{name}={value!r:.60} is unknown: use one of {', '.join(allowed)}.")
    return str(value)


def _check_authority(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise BadRequestError(f"authority={value!r:.60} must be a number from 0 to 1.")
    return number


def _check_truth(value: Any) -> bool:
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise BadRequestError(f"time_sensitive={value!r:.60} must be true or false.")
    return word in _TRUE


def _check_tags(value: Any) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    if value is None or value == "":
        return ()
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise BadRequestError(f"domain_tags={value!r:.60} must be a list of words.")
    tags = sorted({tag.strip().lower() for tag in items if tag.strip()})
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in tags):
        raise BadRequestError(f"domain_tags: at most {MAX_TAGS} words of up to {MAX_TAG_CHARS} characters.")
    return tuple(tags)
