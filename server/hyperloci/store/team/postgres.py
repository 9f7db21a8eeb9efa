"""PostgreSQL: connections of the shared truth, its errors in words, and its schema by numbered files."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.errors import ConfigurationError, TeamError, TeamRefusedError, TeamUnreachableError

if TYPE_CHECKING:
    import psycopg

MEMBER_ROLE: Final = "hyperloci_member"
"""The PostgreSQL role of all members. It sees nothing: which rows a transaction sees, its token decides."""

CONNECT_SECONDS: Final = 5
"""Longer than a handshake across the world; a machine without a network learns of it in this time."""

STATEMENT_SECONDS: Final = 60.0
"""One transaction of a sync. A page of 500 rows takes a few hundred milliseconds, and a stuck lock must not hold it."""

GRACE_SECONDS: Final = 0.5
"""How long the server has to say that it ended a statement."""

MISSING_DRIVER: Final = "The team needs PostgreSQL's driver, which is not installed: pip install 'hyperloci[team]'."

_WORD: Final = re.compile(r"\S+")
_USER: Final = re.compile(r"/[^:/@]*:")
_PASSWORD_FIELD: Final = re.compile(r"(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'?|[^\s&]+)")
_FILE_NAME: Final = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")

_OWNER_LOCK: Final = 0x6C6F6369
"""Of `pg_advisory_lock`: one migration at a time."""


def hide_password(url: str) -> str:
    """Return a connection's address without its password, whatever form it has; or a message that holds addresses."""
    hidden = _WORD.sub(lambda found: _hide_in_word(found[0]), url)
    return _PASSWORD_FIELD.sub(lambda found: f"{found[1]}***", hidden)


def _hide_in_word(word: str) -> str:
    # Up to the last `@`: a password may hold one.
    before, at, after = word.rpartition("@")
    user = _USER.search(before)
    return f"{before[: user.end()]}***@{after}" if at and user else word


def connect(url: str, *, timeout: float = CONNECT_SECONDS) -> psycopg.Connection[Any]:
    """Open a connection; each transaction is opened by hand.

    Raises:
        ConfigurationError: the driver is missing, or the address can't be read.
        TeamUnreachableError: no answer.
    """
    try:
        import psycopg
    except ImportError as error:
        raise ConfigurationError(MISSING_DRIVER) from error
    try:
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=max(2, round(timeout)),
            application_name="hyperloci",
            # So that a connection whose other end is gone is noticed, and not waited for by the hour.
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=30_000,
            # A pooler hands each transaction to another session, which has not prepared what the last one did.
            prepare_threshold=None,
        )
    except psycopg.OperationalError as error:
        raise TeamUnreachableError(f"The team's database did not answer: {_tell(error)}") from error
    except psycopg.Error as error:
        raise ConfigurationError(f"The team's address can't be used: {_tell(error)}") from error


def _tell(error: BaseException) -> str:
    return hide_password(" ".join(str(error).split()))[:500]


@contextlib.contextmanager
def translate_postgres_errors() -> Iterator[None]:
    """Turn the driver's errors into ours.

    Raises:
        TeamUnreachableError: the connection broke, or the answer took too long: try again.
        TeamRefusedError: a value can't be kept as it is.
        TeamError: the database refused; the message says what.
    """
    import psycopg
    from psycopg import errors as states

    try:
        yield
    except (states.QueryCanceled, states.LockNotAvailable) as error:
        raise TeamUnreachableError(f"The team's database took too long: {_tell(error)}") from error
    except states.InsufficientPrivilege as error:
        raise TeamError(
            f"The team's database refused: {_tell(error)}. Your token may be revoked, or be a reader's."
        ) from error
    except (states.UndefinedTable, states.InvalidSchemaName) as error:
        raise TeamError("This database holds no team: `hyperloci team init URL` makes one.") from error
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise TeamRefusedError(f"The team's database can't keep this: {_tell(error)}") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise TeamUnreachableError(f"The team's database went away: {_tell(error)}") from error
    except psycopg.Error as error:
        raise TeamError(f"The team's database failed: {_tell(error)}") from error


@contextlib.contextmanager
def limit_wait(connection: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
    """Cut the connection if the block takes longer: a server that stands still ends no statement itself."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:

        def cut_line() -> None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut_line)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


@contextlib.contextmanager
def member_transaction(
    connection: psycopg.Connection[Any], token: str, *, seconds: float = STATEMENT_SECONDS
) -> Iterator[psycopg.Cursor[Any]]:
    """Run the block as one transaction of the token's member.

    All that says who asks ends with the transaction, so that a pooler may give the session to another member next.

    Args:
        connection: an open one.
        token: the member's.
        seconds: how long it may take; the server ends a statement then, and a server that does not is left.

    Raises:
        TeamError: see `translate_postgres_errors`.
    """
    patience = limit_wait(connection, seconds + GRACE_SECONDS)
    with translate_postgres_errors(), patience, connection.transaction(), connection.cursor() as cursor:
        milliseconds = str(max(1, round(seconds * 1_000)))
        cursor.execute(
            "SELECT set_config('hyperloci.token', %s, true), set_config('statement_timeout', %s, true),"
            " set_config('lock_timeout', %s, true),"
            # Whoever logs in with more rights than a member's lays them down: row security would not apply.
            f" set_config('role', '{MEMBER_ROLE}', true)",
            (token, milliseconds, milliseconds),
        )
        yield cursor


def load_migrations() -> tuple[tuple[int, str, str], ...]:
    """Return the steps of the schema, in order: number, file name, SQL."""
    folder = Path(__file__).with_name("migrations")
    found = [
        (int(match[1]), entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if (match := _FILE_NAME.match(entry.name))
    ]
    return tuple(sorted(found))


def migrate_schema(connection: psycopg.Connection[Any], *, login_password: str | None) -> list[str]:
    """Bring the schema up to date and return the names of the steps taken. For the owner's connection.

    Args:
        connection: of who may make schemas, roles and extensions.
        login_password: of the members' role, if it is made now; None: nobody can log in as it with a password.

    Raises:
        TeamError: the rights don't suffice, or the schema is newer than this program.
    """
    with translate_postgres_errors(), connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_OWNER_LOCK,))
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        cursor.execute("CREATE SCHEMA IF NOT EXISTS hyperloci")
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS hyperloci.migrations"
            " (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        _ensure_member_role(cursor, login_password)
        cursor.execute("SELECT coalesce(max(number), 0) FROM hyperloci.migrations")
        (version,) = cursor.fetchone() or (0,)
        steps = load_migrations()
        if version > steps[-1][0]:
            raise TeamError(f"The team's schema {version} is newer than this program. Update it: README.md says how.")
        waiting = [step for step in steps if step[0] > version]
        for number, name, sql in waiting:
            cursor.execute(sql.encode())
            cursor.execute("INSERT INTO hyperloci.migrations(number, name) VALUES (%s, %s)", (number, name))
        return [name for _, name, _ in waiting]


def _ensure_member_role(cursor: psycopg.Cursor[Any], password: str | None) -> None:
    from psycopg import sql

    cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (MEMBER_ROLE,))
    role = sql.Identifier(MEMBER_ROLE)
    if cursor.fetchone() is None:
        cursor.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(role))
    if password is not None:
        # As what the server keeps of it: a statement may stand in the server's log.
        kept = cursor.connection.pgconn.encrypt_password(password.encode(), MEMBER_ROLE.encode(), b"scram-sha-256")
        cursor.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(kept.decode())))
    # The owner asks as a member too; who made the role may do so on every version, others are told to.
    cursor.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(role))
