"""Search of the shared truth: by words and by meaning, for what is not on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import AUTHOR_JOIN, HEAD_COLUMNS, format_vector, read_memory
from hyperloci.store.team.shared_values import MEANING_DIMENSIONS, TeamHit

if TYPE_CHECKING:
    import psycopg

NEAR_BY_BITS: Final = 800
"""How many the graph over bits finds, for their vectors to put in order: among a million recall@10 is .74 with 200, .82
with 400, .92 with 800, and .95 with 2,000, which takes five times as long (`bench team search`, 25 questions)."""

SEARCH_WIDTH: Final = 800
"""`hnsw.ef_search`: candidates that the graph keeps while it walks; not below what it is asked for."""

WORD_CANDIDATES: Final = 1_000
"""How many of each way to have the question's words are looked at, as a common word stands in half of all memories.
Among a million recall@10 is .90 with 300 and .97 with 1,000 (`bench team search`, 25 questions)."""

TELLING_TERMS: Final = 6
"""How many terms of a question memories are looked for by, the rarest; the others count in the order."""

WORD_LEVELS: Final = (1.0, 0.75, 0.55, 0.4, 0.25)
"""Shares of the telling terms' weight that memories are asked for, until there are enough. Five
steps keep what is cut off within a fifth of the weight of what is not; other steps were not tried."""

MOST_WEIGHED: Final = 32
"""Terms of a question that put what was found in order, the most telling; those of what is returned are all told."""

_NEAR: Final = """
    SELECT id FROM hyperloci.memories WHERE team = %(team)s AND id = ANY(ARRAY(
        SELECT id FROM hyperloci.memories
        WHERE state = 'live' AND team = %(team)s AND model = %(model)s AND NOT (project = ANY(%(without)s))
        ORDER BY bits <~> binary_quantize(%(vector)s::halfvec(384))::bit(384) LIMIT %(near)s
    )) ORDER BY e1 <=> %(vector)s::halfvec(384) LIMIT %(limit)s
"""
"""Reads the team's bits side by side, or walks the team's own graph where it has one. The nearest are looked up as an
array: a join with them would be planned as if they were all of the team."""

_WORDED: Final = """
    SELECT hyperloci.find_worded(%({query})s::tsquery, %(without)s::text[], %(words)s)
"""


def search_truth(
    connection: psycopg.Connection[Any],
    token: str,
    team: str,
    *,
    terms: Mapping[str, float],
    model: str | None = None,
    vector: Sequence[float] | None = None,
    without: Sequence[str] = (),
    limit: int = 20,
    seconds: float = 2.0,
) -> list[TeamHit]:
    """Find the team's memories nearest to a question in words and in meaning.

    Args:
        connection, token, team: whose truth is asked.
        terms: of the question, analysed, and what each tells.
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
    queries = list_word_queries(terms)
    weighed = sorted(terms, key=lambda term: -terms[term])[:MOST_WEIGHED]
    values["any"] = " | ".join(map(_quote_term, weighed))
    values.update({f"words{number}": query for number, query in enumerate(queries)})
    found: list[str] = []
    with member_transaction(connection, token, seconds=seconds) as cursor:
        # Conditions are met after the graph was walked: without this, a filtered search silently returns too few.
        # And row-level security lets a team seem smaller than it is: its graph would be passed over, to sort its bits.
        cursor.execute(
            "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),"
            " set_config('enable_sort', 'off', true)",
            (str(SEARCH_WIDTH),),
        )
        if can_compare:
            cursor.execute(_NEAR, values)
            found += [row[0] for row in cursor.fetchall()]
        worded: dict[Any, None] = {}
        for number in range(len(queries)):
            cursor.execute(_WORDED.replace("{query}", f"words{number}"), values)
            worded.update((row[0], None) for row in cursor.fetchall())
            if len(worded) >= WORD_CANDIDATES:
                break
        if queries and len(worded) < limit:
            # What has but little of the question is better than nothing, in a small team.
            cursor.execute(_WORDED.replace("{query}", "any"), values)
            worded.update((row[0], None) for row in cursor.fetchall())
        shares = {term: weight / (sum(terms.values()) or 1.0) for term, weight in terms.items()}
        return _load_hits(cursor, list(dict.fromkeys((*found, *worded))), shares, values)


def _load_hits(
    cursor: psycopg.Cursor[Any], ids: Sequence[object], shares: Mapping[str, float], values: dict[str, Any]
) -> list[TeamHit]:
    """Return what was found, the nearest in meaning and those that have most of what the words tell first."""
    weighed = dict(sorted(shares.items(), key=lambda item: -item[1])[:MOST_WEIGHED])
    weight = "".join(
        f" + CASE WHEN m.terms @@ %(term{number})s::tsquery THEN %(share{number})s::real ELSE 0 END"
        for number in range(len(weighed))
    )
    for number, (term, share) in enumerate(weighed.items()):
        values |= {f"term{number}": _quote_term(term), f"share{number}": share}
    cosine = "CASE WHEN m.model = %(model)s THEN 1 - (m.e1 <=> %(vector)s::halfvec(384)) END"
    cursor.execute(
        "WITH best AS MATERIALIZED ("
        f" SELECT m.id, {cosine} AS cosine, coalesce({cosine}, 0){weight} AS score FROM hyperloci.memories m"
        " WHERE m.team = %(team)s AND m.id = ANY(%(ids)s) ORDER BY score DESC, m.id LIMIT 2 * %(limit)s)"
        f" SELECT {HEAD_COLUMNS}, best.cosine,"
        " ARRAY(SELECT unnest(%(terms)s::text[]) INTERSECT SELECT unnest(tsvector_to_array(m.terms)))"
        f" FROM best JOIN hyperloci.memories m ON m.team = %(team)s AND m.id = best.id {AUTHOR_JOIN}"
        " ORDER BY best.score DESC, m.id",
        values | {"ids": list(ids)},
    )
    return [
        TeamHit(memory=read_memory(row), cosine=None if row[15] is None else float(row[15]), matched=tuple(row[16]))
        for row in cursor.fetchall()
    ]


def list_word_queries(terms: Mapping[str, float]) -> list[str]:
    """Return what asks for memories by falling weight of the question's terms that they have: all of it, then less.

    Each level asks for the least sets of terms that weigh so much of what the most telling ones weigh together; so
    what is cut off, where too many memories match, has less of the question than what is not.
    """
    telling = sorted(terms, key=lambda term: -terms[term])[:TELLING_TERMS]
    whole = sum(terms[term] for term in telling)
    if not telling:
        return []
    if whole <= 0:
        return [" | ".join(map(_quote_term, telling))]
    queries = []
    for share in WORD_LEVELS:
        sets = [
            chosen
            for size in range(1, len(telling) + 1)
            for chosen in combinations(telling, size)
            if (weight := sum(terms[term] for term in chosen)) >= share * whole - 1e-9
            and weight - terms[chosen[-1]] < share * whole - 1e-9
        ]
        queries.append(" | ".join("(" + " & ".join(map(_quote_term, chosen)) + ")" for chosen in sets))
    return list(dict.fromkeys(queries))


def _quote_term(term: str) -> str:
    """Return a term as `tsquery` reads it, whatever is in it."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
