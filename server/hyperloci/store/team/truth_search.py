"""Search of the shared truth: by words and by meaning, for what is not on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import AUTHOR_JOIN, HEAD_COLUMNS, format_vector, read_memory
from hyperloci.store.team.shared_values import MEANING_DIMENSIONS, TeamHit

if TYPE_CHECKING:
    import psycopg

NEAR_BY_BITS: Final = 200
"""How many the graph over bits finds, for their vectors to put in order (docs/benchmarks.md, "Team")."""

SEARCH_WIDTH: Final = 200
"""`hnsw.ef_search`: candidates that the graph keeps while it walks; not below what it is asked for."""

WORD_CANDIDATES: Final = 300
"""How many of each way to have the question's words are looked at; a common word stands in half of all memories."""

RAREST_TERMS: Final = 4
"""How many terms a memory must have two of, if it hasn't all. Given rarest first."""

_NEAR: Final = """
    SELECT id FROM (
        SELECT id, e1 FROM hyperloci.memories
        WHERE state = 'live' AND team = %(team)s AND model = %(model)s AND NOT (project = ANY(%(without)s))
        ORDER BY bits <~> binary_quantize(%(vector)s::halfvec(384))::bit(384) LIMIT %(near)s
    ) near ORDER BY e1 <=> %(vector)s::halfvec(384) LIMIT %(limit)s
"""

_WORDED: Final = """
    SELECT hyperloci.find_worded(%({query})s::tsquery, %(without)s::text[], %(words)s)
"""


def search_truth(
    connection: psycopg.Connection[Any],
    token: str,
    team: str,
    *,
    terms: Sequence[str],
    model: str | None = None,
    vector: Sequence[float] | None = None,
    without: Sequence[str] = (),
    limit: int = 20,
    seconds: float = 2.0,
) -> list[TeamHit]:
    """Find the team's memories nearest to a question in words and in meaning.

    Args:
        connection, token, team: whose truth is asked.
        terms: of the question, analysed, the rarest first.
        model, vector: the question in E1, of the bundled model's size; None asks by words alone.
        without: projects to leave out: what is on this machine is found here.
        limit: how many by either way.
        seconds: how long a statement may take.

    Raises:
        TeamUnreachableError: it took longer, or the connection broke.
        TeamError: the database refused.
    """
    can_compare = vector is not None and model is not None and len(vector) == MEANING_DIMENSIONS
    values: dict[str, Any] = {
        "team": team,
        "model": model,
        "vector": format_vector(vector) if can_compare and vector is not None else None,
        "without": list(without),
        "near": NEAR_BY_BITS,
        "words": WORD_CANDIDATES,
        "limit": limit,
        "terms": list(terms),
    }
    queries = _word_queries(terms)
    values["any"] = " | ".join(map(_quote_term, terms))
    values.update({f"words{number}": query for number, query in enumerate(queries)})
    found: list[str] = []
    with member_transaction(connection, token, seconds=seconds) as cursor:
        # Conditions are met after the graph was walked: without this, a filtered search silently returns too few.
        cursor.execute(
            "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true)",
            (str(SEARCH_WIDTH),),
        )
        if can_compare:
            cursor.execute(_NEAR, values)
            found += [row[0] for row in cursor.fetchall()]
        for number in range(len(queries)):
            cursor.execute(_WORDED.replace("{query}", f"words{number}"), values)
            found += [row[0] for row in cursor.fetchall()]
            if len(found) >= WORD_CANDIDATES:
                break
        return _load_hits(cursor, list(dict.fromkeys(found)), values)


def _load_hits(cursor: psycopg.Cursor[Any], ids: Sequence[object], values: dict[str, Any]) -> list[TeamHit]:
    """Return what was found, the nearest in meaning and those with most of the words first."""
    # What has the most of it is cut out by ranks, which cost little; which terms those are is told of the few alone.
    cursor.execute(
        "SELECT id FROM hyperloci.memories WHERE team = %(team)s AND id = ANY(%(ids)s) ORDER BY"
        " coalesce(CASE WHEN model = %(model)s THEN 1 - (e1 <=> %(vector)s::halfvec(384)) END, 0)"
        " + ts_rank(terms, %(any)s::tsquery) DESC, id LIMIT 4 * %(limit)s",
        values | {"ids": list(ids)},
    )
    best = [row[0] for row in cursor.fetchall()]
    cursor.execute(
        f"SELECT * FROM (SELECT {HEAD_COLUMNS},"
        " CASE WHEN m.model = %(model)s THEN 1 - (m.e1 <=> %(vector)s::halfvec(384)) END"
        " AS cosine, ARRAY(SELECT unnest(%(terms)s::text[]) INTERSECT SELECT unnest(tsvector_to_array(m.terms)))"
        f" AS matched FROM hyperloci.memories m {AUTHOR_JOIN} WHERE m.team = %(team)s AND m.id = ANY(%(ids)s)) found"
        " ORDER BY coalesce(cosine, 0) + cardinality(matched) / greatest(cardinality(%(terms)s::text[]), 1)::real DESC,"
        " id LIMIT 2 * %(limit)s",
        values | {"ids": best},
    )
    return [
        TeamHit(memory=read_memory(row), cosine=None if row[15] is None else float(row[15]), matched=tuple(row[16]))
        for row in cursor.fetchall()
    ]


def _word_queries(terms: Sequence[str]) -> list[str]:
    """Return the ways to have the words, the strictest first: all, two of the rarest, the rarest."""
    quoted = [_quote_term(term) for term in terms]
    if not quoted:
        return []
    rarest = quoted[:RAREST_TERMS]
    pairs = [f"({one} & {other})" for number, one in enumerate(rarest) for other in rarest[number + 1 :]]
    queries = [" & ".join(quoted), " | ".join(pairs), rarest[0]]
    return list(dict.fromkeys(query for query in queries if query))


def _quote_term(term: str) -> str:
    """Return a term as `tsquery` reads it, whatever is in it."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
