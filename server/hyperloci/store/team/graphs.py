"""Graphs: an index of its own over the bits of each large team. For the owner's connection."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from hyperloci.store.team.postgres import translate_postgres_errors

if TYPE_CHECKING:
    import psycopg

GRAPH_ROWS: Final = 200_000
"""Memories of a team from which on a graph is walked sooner than all its bits are read: those of 100,000 take 40 ms of
processor time and of a million 220, a graph over a million 17 to 32 (`bench team search`)."""


def build_graphs(connection: psycopg.Connection[Any], *, least: int = GRAPH_ROWS) -> int:
    """Give each large team that has none a graph; return how many were made. Members go on reading and writing.

    Args:
        connection: of the owner of the schema, outside a transaction.
        least: memories with a vector that make a team large.

    Raises:
        TeamError: the connection is not the owner's.
    """
    with translate_postgres_errors():
        large = connection.execute(
            "SELECT team FROM hyperloci.memories WHERE state = 'live' AND bits IS NOT NULL"
            " GROUP BY team HAVING count(*) >= %s ORDER BY team",
            (least,),
        ).fetchall()
        known = connection.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE i.indrelid = 'hyperloci.memories'::regclass"
        ).fetchall()
        made, is_valid = 0, dict(known)
        for (team,) in large:
            name = f"memories_graph_{uuid.UUID(str(team)).hex}"
            if is_valid.get(name):
                continue
            if name in is_valid:  # What a build that was broken off leaves.
                connection.execute(f"DROP INDEX hyperloci.{name}".encode())
            connection.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON hyperloci.memories USING hnsw (bits bit_hamming_ops)"
                f" WHERE state = 'live' AND team = '{team}'".encode()
            )
            made += 1
    return made
