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

GRAPH_ROW_BYTES: Final = 700
"""Memory that a row of a graph takes while it is made; what doesn't fit is put in row by row."""
MAX_GRAPH_BYTES: Final = 1 << 30
"""Memory that is asked for at most: a server of 8 GB has it to spare."""


def build_graphs(connection: psycopg.Connection[Any], *, least: int = GRAPH_ROWS) -> int:
    """Give each large team that has none a graph; return how many were made. Members go on reading and writing.

    Args:
        connection: of the owner of the schema, outside a transaction.
        least: memories with a vector that make a team large.

    Raises:
        TeamError: the connection is not the owner's.
    """
    from psycopg import sql

    made = 0
    with translate_postgres_errors():
        large = connection.execute(
            "SELECT team, count(*) FROM hyperloci.memories WHERE state = 'live' AND bits IS NOT NULL"
            " GROUP BY team HAVING count(*) >= %s ORDER BY team",
            (least,),
        ).fetchall()
        for team, rows in large:
            schema, table = _find_table(connection, team)
            name = f"memories_graph_{uuid.UUID(str(team)).hex}"
            known = connection.execute(
                "SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
                (schema, name),
            ).fetchone()
            if known is not None and known[0]:
                continue
            if known is not None:  # What a build that was broken off leaves.
                connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(schema, name)))
            _allow_memory(connection, rows)
            connection.execute(
                sql.SQL(
                    "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (bits bit_hamming_ops)"
                    " WHERE state = 'live' AND team = {}"
                ).format(sql.Identifier(name), sql.Identifier(schema, table), sql.Literal(str(team)))
            )
            made += 1
        connection.execute("RESET maintenance_work_mem")
    return made


def _find_table(connection: psycopg.Connection[Any], team: uuid.UUID) -> tuple[str, str]:
    """Return the schema and the name of the table that a team's memories lie in.

    Where it is in partitions, an index that is made while members write can only be one of theirs.
    """
    kind = connection.execute("SELECT relkind FROM pg_class WHERE oid = 'hyperloci.memories'::regclass").fetchone()
    if kind != ("p",):
        return "hyperloci", "memories"
    held = connection.execute("SELECT tableoid FROM hyperloci.memories WHERE team = %s LIMIT 1", (team,)).fetchone()
    found = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s",
        held,
    ).fetchone()
    return found or ("hyperloci", "memories")


def _allow_memory(connection: psycopg.Connection[Any], rows: int) -> None:
    """Let the session take what a graph over so many rows takes, where the server gives less: it is slow otherwise."""
    wanted = min(rows * GRAPH_ROW_BYTES, MAX_GRAPH_BYTES) // 1024
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest(setting::bigint, %s)::text, false) FROM pg_settings"
        " WHERE name = 'maintenance_work_mem'",
        (wanted,),
    )
