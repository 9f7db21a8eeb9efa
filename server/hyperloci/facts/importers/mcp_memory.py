"""MCP memory: reads the graph of MCP's reference server (`@modelcontextprotocol/server-memory`), as JSON lines.

    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Works in Oslo"]}
    {"type": "relation", "from": "Ada", "to": "Billing", "relationType": "owns"}

Its tool `read_graph` gives the same as one object with `entities` and `relations`; that is read too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hyperloci.errors import BadRequestError
from hyperloci.model.imported_memory import ImportedEntity, ImportedFact, ImportedMemory, ImportedRelation

FORMAT: Final = "server-memory"

MAX_LINE_CHARS: Final = 16_000_000
"""A line holds one thing with all that was observed of it."""

_ENTITY: Final = "entity"
_RELATION: Final = "relation"


def is_graph(record: object) -> bool:
    """Tell whether a file's first JSON value is one that the reference server writes."""
    return isinstance(record, dict) and (
        record.get("type") in (_ENTITY, _RELATION) or isinstance(record.get("entities"), list)
    )


def read_graph(text: str) -> ImportedMemory:
    """Return what a file of the reference server holds.

    Raises:
        BadRequestError: a line is damaged or of another kind; the message names it.
    """
    things: list[ImportedEntity] = []
    facts: list[ImportedFact] = []
    relations: list[ImportedRelation] = []
    for line, record in _parse_records(text):
        kind = record.get("type")
        if kind == _ENTITY:
            thing = ImportedEntity(
                _require_text(record, "name", line), _require_text(record, "entityType", line, default=""), line
            )
            things.append(thing)
            facts.extend(_entity_facts(record, thing))
        elif kind == _RELATION:
            relations.append(_parse_relation(record, line))
        else:
            raise BadRequestError(f"line {line}: type={kind!r:.40} is unknown: use entity or relation.")
    return ImportedMemory(FORMAT, tuple(facts), tuple(things), tuple(relations))


def _parse_records(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    whole = _parse_single_object(text)
    if whole is not None:
        for kind, name in ((_ENTITY, "entities"), (_RELATION, "relations")):
            for record in _require_list(whole, name, 1):
                yield 1, {**_require_object(record, 1), "type": kind}
        return
    for line, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            yield line, _require_object(_parse_row(row, line), line)


def _parse_single_object(text: str) -> Mapping[str, Any] | None:
    """Return the file as one object with `entities`, None if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "entities" in value else None


def _parse_row(row: str, line: int) -> object:
    if len(row) > MAX_LINE_CHARS:
        raise BadRequestError(f"line {line}: longer than {MAX_LINE_CHARS} characters.")
    try:
        return json.loads(row)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"line {line}: not JSON ({error}).") from error


def _require_object(value: object, line: int) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRequestError(f"line {line}: {value!r:.40} is not an object.")
    return value


def _entity_facts(record: Mapping[str, Any], thing: ImportedEntity) -> Iterable[ImportedFact]:
    for observation in _require_list(record, "observations", thing.line):
        if not isinstance(observation, str):
            raise BadRequestError(f"line {thing.line}: observations has {observation!r:.40}, which is not a text.")
        if observation.strip():
            yield ImportedFact(
                text=_make_self_contained(thing.name, observation),
                line=thing.line,
                title=thing.name,
                about=(thing.name,),
            )


def _make_self_contained(name: str, observation: str) -> str:
    """An observation says what it says of its thing: read alone, it must name that."""
    return observation if name.casefold() in observation.casefold() else f"{name}: {observation}"


def _parse_relation(record: Mapping[str, Any], line: int) -> ImportedRelation:
    return ImportedRelation(
        source=_require_text(record, "from", line),
        target=_require_text(record, "to", line),
        label=_require_text(record, "relationType", line),
        line=line,
    )


def _require_text(record: Mapping[str, Any], name: str, line: int, default: str | None = None) -> str:
    value = record.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise BadRequestError(f"line {line}: {name}={value!r:.40} must be a text.")
    return value.strip()


def _require_list(record: Mapping[str, Any], name: str, line: int) -> list[Any]:
    value = record.get(name, [])
    if not isinstance(value, list):
        raise BadRequestError(f"line {line}: {name}={value!r:.40} must be a list.")
    return value
