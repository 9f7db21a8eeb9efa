"""Filters: turn what a caller gives (content types, scopes, time bounds, `where`) into conditions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import BadRequestError
from hyperloci.model.facets import ConfidenceLevel, Diataxis, Persona, SourceType, Verification
from hyperloci.model.kinds import GLOBAL_SCOPE, SUBTYPES, NodeType, Tier
from hyperloci.model.search import SearchFilter
from hyperloci.names import describe_unknown_value, suggest_name, suggest_value
from hyperloci.retrieval.time_bounds import parse_moment, parse_time_bound
from hyperloci.system.values import dataclass

CONTENT_TYPES: Final[dict[str, Mapping[str, tuple[str, ...]]]] = {
    "any": {},
    "conversation": {"subtypes": ("episode", "chunk_micro", "chunk_mini", "chunk_macro")},
    "learning": {"types": ("fact",)},
    "decision": {"types": ("decision",), "subtypes": ("decision",)},
    "dead_end": {"subtypes": ("dead_end",)},
    "code": {"subtypes": ("code",)},
    "docs": {"subtypes": ("markdown", "text", "section")},
    "commit": {"subtypes": ("commit",)},
}
"""What each `content_type` of the tools contract looks among."""

SCOPE_CHOICES: Final = ("project", "global", "all")

MAX_WORDS: Final = 50
"""Words in one list: more than a few are a mistake, and SQLite limits their number."""

MAX_LINE: Final = 2**31
"""No file has so many lines, and no larger number fits into SQLite's."""

_LISTS: Final = ("types", "subtypes", "tiers", "verification", "domain_tags", "source_types")
_TEXTS: Final = (
    "strategy",
    "first_space",
    "path",
    "section",
    "module",
    "class_name",
    "function_name",
    "url",
    "diataxis",
    "persona",
    "confidence_level",
)
_GRAPH: Final = ("related_to", "relation", "depth")
WHERE_KEYS: Final = (
    *_LISTS,
    *_TEXTS,
    "scope",
    "as_of",
    "min_confidence",
    "lines",
    "heading_level_max",
    "contradicted",
    *_GRAPH,
)
"""Every key that `where` may have."""

_MEMBERS: Final[dict[str, frozenset[str]]] = {
    "types": frozenset(NodeType),
    "tiers": frozenset(Tier),
    "subtypes": frozenset().union(*SUBTYPES.values()),
    "diataxis": frozenset(Diataxis),
    "persona": frozenset(Persona),
    "verification": frozenset(Verification),
    "confidence_level": frozenset(ConfidenceLevel),
    "source_types": frozenset(SourceType),
}
"""The values of what has a closed set of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedTo:
    """Only memories that relations join to this one."""

    node_id: str
    relation: str = "any"
    depth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a search is limited to, and its strategy."""

    where: SearchFilter
    related_to: RelatedTo | None = None
    strategy: str | None = None
    first_space: str | None = None

    @property
    def are_narrow(self) -> bool:
        """Whether they leave out any of what a project may be shown."""
        scopes = self.where.scopes
        is_narrow = self.where != SearchFilter(scopes=scopes) or self.related_to is not None
        return is_narrow or scopes == (GLOBAL_SCOPE,)


def build_conditions(
    *,
    project: str,
    now: int,
    content_type: str = "any",
    after: str | None = None,
    before: str | None = None,
    entity_name: str | None = None,
    where: Mapping[str, Any] | None = None,
    root: Path | None = None,
) -> Conditions:
    """Check and combine everything that narrows a search.

    Args:
        project: the project's scope.
        now: the time in milliseconds.
        content_type, after, before, entity_name, where: as `search_memory` has them.
        root: the project's root, which a path may begin with.

    Raises:
        BadRequestError: an unknown content type, key or value; the message names it and what would be valid.
    """
    if content_type not in CONTENT_TYPES:
        raise BadRequestError(describe_unknown_value("content_type", content_type, CONTENT_TYPES))
    given = _check_where(where)
    if "path" in given:
        given["path"] = _drop_here(given["path"])
    if root is not None and "path" in given:
        given["path"] = _name_from_root(given["path"], root.as_posix())
    given |= _choose_kinds(content_type, given)
    base = SearchFilter(
        scopes=_resolve_scopes(given.get("scope", "project"), project),
        after=None if after is None else parse_time_bound(after, now, argument="after"),
        before=None if before is None else parse_time_bound(before, now, argument="before"),
        as_of=_parse_as_of(given.get("as_of"), now),
        entity=_parse_text("entity_name", entity_name) if entity_name is not None else None,
    )
    if base.after is not None and base.before is not None and base.after >= base.before:
        raise BadRequestError(f"after={after!r} is not earlier than before={before!r}: no memory is between them.")
    names = {field.name for field in fields(SearchFilter)}
    narrowed = replace(base, **{name: value for name, value in given.items() if name in names and name != "as_of"})
    return Conditions(
        where=narrowed,
        related_to=_parse_related_to(given),
        strategy=given.get("strategy"),
        first_space=given.get("first_space"),
    )


def _choose_kinds(content_type: str, given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the types and subtypes that both the content type and `where` ask for; refuse what no memory is."""
    chosen, is_empty = {}, False
    for name in ("types", "subtypes"):
        wanted, offered = given.get(name, ()), CONTENT_TYPES[content_type].get(name, ())
        chosen[name] = tuple(kind for kind in wanted if kind in offered) if wanted and offered else wanted or offered
        is_empty |= bool(wanted and offered and not chosen[name])
    possible = frozenset().union(*(SUBTYPES[NodeType(kind)] for kind in chosen["types"]))
    if is_empty or (chosen["types"] and chosen["subtypes"] and possible.isdisjoint(chosen["subtypes"])):
        asked = [f"where.{name}={list(given[name])}" for name in chosen if given.get(name)]
        asked += [] if content_type == "any" else [f"content_type={content_type!r}"]
        raise BadRequestError(f"{' and '.join(asked)}: no memory is both. Leave one out.")
    return chosen


def _drop_here(pattern: str) -> str:
    """Return a glob without the `./` that a shell writes before it; `.` is the project's root."""
    pattern = _HERE.sub("", pattern, count=1)
    return pattern if pattern not in ("", ".") else "**"


_HERE: Final = re.compile(r"\A(?:\./++)+")


def _name_from_root(pattern: str, root: str) -> str:
    """Return a glob of files as it is from the project's root, which a link may lead to; else as it is."""
    for written in (pattern, _follow_links(pattern)):
        if written.rstrip("/") == root.rstrip("/"):
            return "**"
        if written.startswith(f"{root.rstrip('/')}/"):
            return written.removeprefix(f"{root.rstrip('/')}/")
    return pattern


def _follow_links(pattern: str) -> str:
    """Return an absolute glob with the real path of the folders before its first wildcard."""
    if not os.path.isabs(pattern):
        return pattern
    fixed = _WILDCARD.split(pattern, maxsplit=1)[0].rpartition("/")[0]
    return f"{Path(os.path.realpath(fixed)).as_posix()}{pattern[len(fixed) :]}"


_WILDCARD: Final = re.compile(r"[*?\[]")


def _resolve_scopes(scope: Any, project: str) -> tuple[str, ...]:
    if scope not in SCOPE_CHOICES:
        raise BadRequestError(f"where.scope={scope!r} is unknown: use one of {', '.join(SCOPE_CHOICES)}.")
    return {"project": (project, GLOBAL_SCOPE), "global": (GLOBAL_SCOPE,), "all": ()}[scope]


def _parse_as_of(value: Any, now: int) -> int | None:
    return None if value is None else parse_moment(_parse_text("where.as_of", value), now, argument="where.as_of")


def _parse_related_to(given: Mapping[str, Any]) -> RelatedTo | None:
    if given.get("related_to") is None:
        for name, anyway in (("relation", "any"), ("depth", 1)):
            if given.get(name, anyway) not in ("", anyway):
                raise BadRequestError(
                    f"where.{name}={given[name]!r:.80} needs a memory to start from: give where.related_to, an id."
                )
        return None
    depth = given.get("depth", 1)
    if type(depth) is not int or not 1 <= depth <= 4:
        raise BadRequestError(f"where.depth={depth!r} must be a whole number from 1 to 4.")
    return RelatedTo(
        node_id=_parse_text("where.related_to", given["related_to"]),
        relation=_parse_text("where.relation", given.get("relation") or "any"),
        depth=depth,
    )


_SHOWN_KEYS: Final = 5
"""Unknown keys of one call that are told what they are called here."""


def _check_where(where: Mapping[str, Any] | None) -> dict[str, Any]:
    if where is None:
        return {}
    if not isinstance(where, Mapping):
        raise BadRequestError(f"where must be an object with any of {', '.join(WHERE_KEYS)}; got {where!r:.80}.")
    unknown = sorted(str(key) for key in where if key not in WHERE_KEYS)
    if unknown:
        hints = (suggest_name(key, WHERE_KEYS, groups=("arguments",)) for key in unknown[:_SHOWN_KEYS])
        told = "".join(f"; {hint}" for hint in dict.fromkeys(hints) if hint)
        raise BadRequestError(
            f"where has unknown keys {', '.join(unknown)}{told}; it may have {', '.join(WHERE_KEYS)}."
        )
    return {key: _parse_value(key, value) for key, value in where.items() if value is not None}


def _parse_value(key: str, value: Any) -> Any:
    if key in _LISTS:
        return _parse_list(key, value)
    if key in _TEXTS:
        text = _parse_text(f"where.{key}", value)
        _require_members(key, [text])
        return text
    if key == "lines":
        return _parse_lines(value)
    if key == "min_confidence":
        return _parse_number(key, value, 0, 1)
    if key == "contradicted" and not isinstance(value, bool):
        raise BadRequestError(f"where.contradicted={value!r:.80} must be true or false.")
    if key == "heading_level_max":
        return int(_parse_number(key, value, 1, 6))
    return value


def _parse_list(key: str, value: Any) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise BadRequestError(f"where.{key}={value!r:.80} must be a list of words.")
    if len(items) > MAX_WORDS:
        raise BadRequestError(f"where.{key} has {len(items)} words; at most {MAX_WORDS} are allowed.")
    _require_members(key, items)
    return tuple(items)


def _require_members(key: str, items: Sequence[str]) -> None:
    """Refuse what is not among a key's values: it would be found nowhere, and nobody would know why."""
    allowed = _MEMBERS.get(key)
    for item in items:
        if allowed is not None and item not in allowed:
            hint = suggest_value(item, sorted(allowed))
            told = f"{hint} " if hint.endswith("?") else f"{hint}; " if hint else ""
            raise BadRequestError(
                f"where.{key} has {item!r:.80}, which is unknown: {told}use {', '.join(sorted(allowed))}."
            )


def _parse_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadRequestError(f"{name}={value!r:.80} must be a non-empty string.")
    return value


def _parse_lines(value: Any) -> tuple[int, int]:
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(type(item) is int for item in value):
        raise BadRequestError(f"where.lines={value!r:.80} must be two line numbers, [first, last].")
    if not 1 <= value[0] <= value[1] <= MAX_LINE:
        raise BadRequestError(
            f"where.lines={value!r:.80} is not a range: give the first line and the last, from 1, in order."
        )
    return (value[0], value[1])


def _parse_number(key: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise BadRequestError(f"where.{key}={value!r:.80} must be a number from {low} to {high}.")
    return float(value)
