"""Filters: conditions on memories as SQL, and the nodes that meet them as a bitmap over node keys."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hyperloci.clock import to_wall_time
from hyperloci.errors import BadRequestError
from hyperloci.model.search import SearchFilter
from hyperloci.store.database.connection import is_snapshot_open
from hyperloci.store.database.meta import RESTORED_AT
from hyperloci.store.memories.entities import fold_name, squash_name
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.store.vectors.bits import BoolArray, parse_keys
from hyperloci.system.values import dataclass

Condition = tuple[str, tuple[Any, ...]]

MAX_PATTERN_CHARS: Final = 500

MAX_KEPT: Final = 64
"""Bitmaps kept at once: one byte per node each, and a search that asks for "2 hours ago" never asks the same again."""

_EARLIEST: Final = -(2**62)
_LATEST: Final = 2**62

MAX_CHANGES: Final = 8_192
"""So many changed nodes are looked at one by one; more, and all are."""

_HAS_POSITION: Final = "EXISTS (SELECT 1 FROM positions p WHERE p.node_key = n.key AND "
# From the few edges outwards, once: from each node inwards it would be a look-up a node.
_CONTRADICTED: Final = (
    "SELECT m.node_key FROM hyperedges h JOIN membership m ON m.hyperedge_key = h.key WHERE h.label = 'contradicts'"
    " AND EXISTS (SELECT 1 FROM membership o JOIN nodes x ON x.key = o.node_key WHERE o.hyperedge_key = h.key"
    " AND o.node_key <> m.node_key AND x.deleted_at IS NULL AND x.valid_until IS NULL)"
)
_HAS_FACET: Final = "n.key IN (SELECT f.node_key FROM facets f WHERE "
"""By the index of the facet's own column: few memories are tutorials, and nodes need not be read for it."""


def register_functions(connection: sqlite3.Connection) -> None:
    """Add the SQL functions `path_matches(pattern, path)`, `section_matches(part, path, others)` and `fold(text)`."""
    connection.create_function("path_matches", 2, path_matches, deterministic=True)
    # SQLite's own lower() knows ASCII only.
    connection.create_function("section_matches", 3, section_matches, deterministic=True)
    connection.create_function("fold", 1, fold_name, deterministic=True)


def path_matches(pattern: str, path: str | None) -> bool:
    """Return whether a POSIX path matches a glob with `**` (D.01)."""
    return path is not None and any(regex.match(path) for regex in _compile_glob(pattern))


def section_matches(part: str, section_path: str, headings: str) -> bool:
    """Return whether a folded text is part of the headings above a place (`design > caching`), or of one it covers.

    Which of the covered headings stand under which is not stored: a path that their order allows is taken for one.

    Args:
        part: the folded text.
        section_path, headings: JSON lists of headings.
    """
    above: list[str] = [] if section_path == "[]" else json.loads(section_path)
    if above and part in fold_name(" > ".join(above)):
        return True
    covered = [] if headings == "[]" else [fold_name(title) for title in json.loads(headings)]
    if any(part in title for title in covered):
        return True
    *parents, last = part.split(" > ")
    return bool(covered and parents) and _leads_to(parents, last, [fold_name(title) for title in above], covered)


def _leads_to(parents: Sequence[str], last: str, above: Sequence[str], covered: Sequence[str]) -> bool:
    """Return whether headings in this order end with a covered one; the first and the last may be cut."""
    at, titles = 0, [*above, *covered]
    for number, parent in enumerate(parents):
        fits = str.endswith if number == 0 else str.__eq__
        at = next((n + 1 for n in range(at, len(titles)) if fits(titles[n], parent)), len(titles))
    return any(title.startswith(last) for title in titles[max(at, len(above)) :])


@functools.lru_cache(maxsize=64)
def _compile_glob(pattern: str) -> tuple[re.Pattern[str], ...]:
    # Loaded only for a glob: a hook's search has none, and a tenth of its time to spare.
    from wcmatch import glob

    # `**` crosses folders, `{a,b}` works, dot files count; the same on every system.
    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX
    # `[id]` is a set of characters, and the name of a file or folder in many a web project: either is meant.
    literal = pattern.replace("[", "[[]")
    patterns = list(dict.fromkeys((pattern, literal)))
    if not any(sign in pattern for sign in "*?{"):
        # A bare folder means everything in it.
        patterns.append(literal.rstrip("/") + "/**")
    sources, _ = glob.translate(patterns, flags=flags)
    return tuple(re.compile(_make_linear(source)) for source in sources)


_FOLDERS: Final = re.compile(
    r"(\(\?:\(\?!\(\?:\[/\]\|\^\)\(\?:\\\.\{1,2\}\)\(\?:\$\|\[/\]\)\)\.\)\*\?\(\?:\^\|(?:\$\|)?\[/\]\+\))"
)
"""What wcmatch makes of a `**`: characters, each looked at, up to the end of a folder."""


def _make_linear(source: str) -> str:
    """Return a translated glob that takes linear time: a model gives the glob, a repository the paths.

    With another `**` behind it, what follows a `**` may as well stand as early as it can, and is never moved later.
    """
    first, *others = _FOLDERS.split(source)
    pairs = [(folders.replace("[/]+", "/"), part) for folders, part in zip(others[::2], others[1::2], strict=True)]
    settled = [f"(?>{folders}{part})" for folders, part in pairs[:-1]]
    return first + "".join(settled) + "".join(pairs[-1] if pairs else ())


def _literal_prefix(pattern: str) -> str:
    return re.split(r"[*?\[{\\]", pattern, maxsplit=1)[0]


def iterate_conditions(where: SearchFilter) -> Iterator[Condition]:
    """Yield the SQL conditions on `nodes n` that a Where asks for, each with its values.

    Raises:
        BadRequestError: a pattern or range that can't be used.
    """
    if where.left_out:
        yield f"(n.deleted_at IS NOT NULL OR n.valid_until IS NOT NULL OR NOT {NOT_WITHHELD})", ()
    else:
        yield "n.deleted_at IS NULL", ()
        yield NOT_WITHHELD, ()
        yield from _lifetime_conditions(where)
    if not where.types and not where.subtypes:
        # An entity is what memories are about; it says nothing of its own, and its name would win every search for it.
        yield "n.type <> 'entity'", ()
    yield from _time_conditions(where)
    for column, wanted in (
        ("n.type", where.types),
        ("n.subtype", where.subtypes),
        ("n.tier", where.tiers),
        ("n.origin", where.origins),
    ):
        if wanted:
            yield f"{column} IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
    if where.scopes:
        yield (
            "n.scope_key IN (SELECT s.key FROM json_each(?) j JOIN scopes s ON s.id = j.value)",
            (json.dumps(where.scopes),),
        )
    if where.session_id is not None:
        yield "n.session_key = (SELECT t.key FROM sessions t WHERE t.id = ?)", (where.session_id,)
    if where.entity is not None:
        yield (
            "EXISTS (SELECT 1 FROM aliases a JOIN mentions m ON m.entity_key = a.entity_key"
            " WHERE a.alias IN (?, ?) AND m.node_key = n.key)",
            (squash_name(where.entity), fold_name(where.entity)),
        )
    if where.contradicted is not None:
        yield f"n.key {'' if where.contradicted else 'NOT '}IN ({_CONTRADICTED})", ()
    yield from _place_conditions(where)
    yield from _facet_conditions(where)


def _lifetime_conditions(where: SearchFilter) -> Iterator[Condition]:
    if where.ended:
        yield "(n.valid_until IS NULL OR n.type <> 'snippet')", ()
    elif where.as_of is None:
        yield "n.valid_until IS NULL", ()
    else:
        yield "n.valid_from <= ? AND (n.valid_until IS NULL OR n.valid_until > ?)", (where.as_of, where.as_of)


def _time_conditions(where: SearchFilter) -> Iterator[Condition]:
    if where.after is not None or where.before is not None:
        yield _time_condition(where.after, where.before)
    if where.min_confidence is not None:
        yield "n.confidence >= ?", (where.min_confidence,)


def _time_condition(after: int | None, before: int | None) -> Condition:
    """Return the condition that something happened then, or that it speaks of a day then ("last Friday").

    Days that are spoken of are stored as if clocks showed UTC, so that they stay the same days in another time zone.
    """
    first = _EARLIEST if after is None else after
    last = _LATEST if before is None else before
    return (
        "((n.event_time >= ? AND n.event_time < ?)"
        " OR n.key IN (SELECT w.node_key FROM spoken_times w WHERE w.until > ? AND w.since < ?))",
        (first, last, to_wall_time(first), to_wall_time(last)),
    )


def _place_conditions(where: SearchFilter) -> Iterator[Condition]:
    if where.path is not None:
        yield _path_condition(where.path)
    if where.lines is not None:
        first, last = where.lines
        if first < 1 or last < first:
            raise BadRequestError(f"lines=[{first}, {last}] is not a range: give [first, last], from 1, in order.")
        yield f"{_HAS_POSITION}p.line_start <= ? AND p.line_end >= ?)", (last, first)
    if where.section is not None:
        yield f"{_HAS_POSITION}section_matches(?, p.section_path, p.headings))", (fold_name(where.section),)
    if where.module is not None:
        prefix = where.module.rstrip(".")
        yield f"{_HAS_POSITION}(p.module = ? OR substr(p.module, 1, ?) = ?))", (prefix, len(prefix) + 1, prefix + ".")
    if where.heading_level_max is not None:
        yield f"{_HAS_POSITION}p.heading_level <= ?)", (where.heading_level_max,)
    if where.url is not None:
        yield f"{_HAS_POSITION}p.url IS NOT NULL AND instr(fold(p.url), ?))", (fold_name(where.url),)
    if where.class_name is not None:
        yield f"{_HAS_POSITION}p.class_name = ?)", (where.class_name,)
    if where.function_name is not None:
        # By itself, or as hits name it: behind its class.
        yield (
            f"{_HAS_POSITION}(p.function_name = ? OR p.function_name IS NOT NULL AND p.symbol = ?))",
            (where.function_name, where.function_name),
        )


def _path_condition(pattern: str) -> Condition:
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise BadRequestError(f"path must be a glob of 1 to {MAX_PATTERN_CHARS} characters, such as 'docs/**/*.md'.")
    try:
        _compile_glob(pattern)
    except Exception as error:  # the matcher raises its own kinds and re.error
        raise BadRequestError(f"path={pattern!r} is not a usable glob: {error}") from error
    # The literal part in front of the first wildcard is a range over the index on path.
    prefix = _literal_prefix(pattern)
    return (
        "n.key IN (SELECT p.node_key FROM positions p WHERE p.path >= ? AND p.path < ? AND path_matches(?, p.path))",
        (prefix, prefix + "\U0010ffff", pattern),
    )


def _facet_conditions(where: SearchFilter) -> Iterator[Condition]:
    for column, value in (
        ("diataxis", where.diataxis),
        ("persona", where.persona),
        ("confidence_level", where.confidence_level),
    ):
        if value is not None:
            yield f"{_HAS_FACET}f.{column} = ?)", (value,)
    for column, wanted in (("verification", where.verification), ("source_type", where.source_types)):
        if wanted:
            yield f"{_HAS_FACET}f.{column} IN (SELECT value FROM json_each(?)))", (json.dumps(wanted),)
    for tag in where.domain_tags:
        yield "n.key IN (SELECT g.node_key FROM domain_tags g WHERE g.tag = ?)", (tag.lower(),)


def _drop_facets(where: SearchFilter) -> SearchFilter:
    return replace(
        where,
        diataxis=None,
        persona=None,
        verification=(),
        confidence_level=None,
        domain_tags=(),
        source_types=(),
    )


_TABLES: Final = re.compile(r"\b(?:FROM|JOIN) (\w+)")
_UNCHANGING: Final = frozenset({"json_each", "scopes", "sessions", "withheld"})
"""Tables that conditions look into, and that change alone nothing: what is withheld is among the changed nodes too."""


@functools.lru_cache(maxsize=MAX_KEPT)
def _depends_on_nodes_alone(where: SearchFilter) -> bool:
    """Tell whether a condition can come to hold, or no more, by a change of nodes alone."""
    return _UNCHANGING.issuperset(_TABLES.findall(compile_where(where)[0]))


def compile_where(where: SearchFilter) -> Condition:
    """Return one SQL condition on `nodes n` and its values."""
    parts = list(iterate_conditions(where))
    return " AND ".join(part for part, _ in parts), tuple(value for _, values in parts for value in values)


@dataclass(frozen=True, slots=True)
class _KeptBitmap:
    """A bitmap, and what the database's state was when it held: a place in `node_changes`, or versions."""

    bitmap: BoolArray
    state: tuple[int, ...]


class Filters:
    """Node sets of one database, kept and brought up to date while the database changes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._kept: dict[SearchFilter | Condition, _KeptBitmap] = {}

    def select_allowed(self, where: SearchFilter) -> BoolArray:
        """Return a bitmap over node keys: true where every condition holds. It is shared: don't write to it."""
        if self._connection.in_transaction and not is_snapshot_open(self._connection):
            # What is seen now may be rolled back, and nothing would tell.
            return self._select_bitmap(compile_where(where))
        # There are few facets and many sets of them: each is kept by itself, and a new set is but an intersection.
        bitmap = self._select_without_facets(_drop_facets(where))
        for facet in _facet_conditions(where):
            holders = self._select_facet_holders(facet)
            size = min(len(bitmap), len(holders))
            bitmap = bitmap[:size] & holders[:size]
        return bitmap

    def _select_facet_holders(self, facet: Condition) -> BoolArray:
        state = self._database_versions()
        kept = self._kept.get(facet)
        if kept is None or kept.state != state:
            self._make_room()
            self._kept[facet] = kept = _KeptBitmap(self._select_bitmap(facet), state)
        return kept.bitmap

    def _select_without_facets(self, where: SearchFilter) -> BoolArray:
        # Before the nodes are looked at: what changes in between is looked at twice, and not missed.
        state = self._node_change_state() if _depends_on_nodes_alone(where) else self._database_versions()
        kept = self._kept.get(where)
        if kept is None or kept.state != state:
            self._make_room()
            bitmap = None if kept is None or len(state) != len(kept.state) else self._update_bitmap(where, kept, state)
            self._kept[where] = kept = _KeptBitmap(
                self._select_bitmap(compile_where(where)) if bitmap is None else bitmap, state
            )
        return kept.bitmap

    def _make_room(self) -> None:
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()

    def _update_bitmap(self, where: SearchFilter, kept: _KeptBitmap, state: tuple[int, ...]) -> BoolArray | None:
        """Return a kept bitmap with what changed since looked at anew; None if it takes a look at everything."""
        if not _depends_on_nodes_alone(where) or state[1:] != kept.state[1:]:
            return None
        newer = state[0] - kept.state[0]
        if not 0 < newer <= MAX_CHANGES:
            return None
        rows = self._connection.execute(
            "SELECT node_key FROM node_changes WHERE seq > ? AND seq <= ?", (kept.state[0], state[0])
        ).fetchall()
        keys = [row[0] for row in rows]
        if len(keys) != newer or None in keys:
            return None
        condition, values = compile_where(where)
        found = self._connection.execute(
            f"SELECT n.key FROM json_each(?) j CROSS JOIN nodes n ON n.key = j.value WHERE {condition}",
            (json.dumps(keys), *values),
        ).fetchall()
        bitmap = np.zeros(max(len(kept.bitmap), max(keys) + 1), np.bool_)
        bitmap[: len(kept.bitmap)] = kept.bitmap
        bitmap[keys] = False
        bitmap[[row[0] for row in found]] = True
        return bitmap

    def list_in_order(self, allowed: BoolArray, limit: int) -> list[int]:
        """Return the first keys of a bitmap as a reader would list them: by file and line, then the latest first."""
        rows = self._connection.execute(
            "SELECT n.key FROM json_each(?) j CROSS JOIN nodes n ON n.key = j.value"
            " LEFT JOIN positions p ON p.node_key = n.key"
            " ORDER BY p.path IS NULL, p.path, p.char_start, n.event_time DESC, n.key DESC LIMIT ?",
            (json.dumps(np.flatnonzero(allowed).tolist()), limit),
        )
        return [int(row[0]) for row in rows]

    def _node_change_state(self) -> tuple[int, int]:
        """Return how many changes of nodes there were, and when the database was restored from a backup."""
        row = self._connection.execute(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'node_changes'), 0),"
            " coalesce((SELECT value FROM meta WHERE name = ?), 0)",
            (RESTORED_AT,),
        ).fetchone()
        return int(row[0]), int(row[1])

    def _database_versions(self) -> tuple[int, int, int]:
        # data_version moves when another connection commits, total_changes when this one writes.
        version = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        return version, self._connection.total_changes, -1

    def _select_bitmap(self, wanted: Condition) -> BoolArray:
        condition, values = wanted
        # One long string is five times faster to transfer than one row per key.
        text, last = self._connection.execute(
            f"SELECT group_concat(n.key), (SELECT coalesce(max(key), 0) FROM nodes) FROM nodes n WHERE {condition}",
            values,
        ).fetchone()
        bitmap = np.zeros(last + 1, np.bool_)
        bitmap[parse_keys(text)] = True
        return bitmap
