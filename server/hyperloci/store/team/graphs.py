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
    from psycopg import sql

    with translate_postgres_errors():
        # Where the table is in partitions, an index that is made while members write can only be one of theirs.
        large = connection.execute(
            "SELECT m.team, n.nspname, c.relname FROM hyperloci.memories m JOIN pg_class c ON c.oid = m.tableoid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE m.state = 'live' AND m.bits IS NOT NULL"
            " GROUP BY m.team, n.nspname, c.relname HAVING count(*) >= %s ORDER BY m.team",
            (least,),
        ).fetchall()
        made = 0
        for team, schema, table in large:
            place, name = sql.Identifier(schema, table), f"memories_graph_{uuid.UUID(str(team)).hex}"
            known = connection.execute(
                "SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
                (schema, name),
            ).fetchone()
            if known is not None and known[0]:
                continue
            if known is not None:  # What a build that was broken off leaves.
                connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(schema, name)))
            connection.execute(
                sql.SQL(
                    "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (bits bit_hamming_ops)"
                    " WHERE state = 'live' AND team = {}"
                ).format(sql.Identifier(name), place, sql.Literal(str(team)))
            )
            made += 1
    return made
