"""Access commands: serve, token create, token list, token revoke, audit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import (
    MAX_LISTED,
    JsonOption,
    ProjectOption,
    console,
    errors,
    load_settings,
    print_json,
)
from hyperloci.cli.layout import count_things, make_table
from hyperloci.clock import format_age, format_day, system_clock, to_iso
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.http.served_memory import ServedMemory
from hyperloci.memory import Memory
from hyperloci.retrieval.time_bounds import parse_time_bound
from hyperloci.store.access.access_values import AccessGrant

CommonOption = Annotated[
    str | None,
    typer.Option("--common", metavar="NAME", help="A memory that several people share, instead of your own."),
]

MAX_DAYS: Final = 36_500
"""A century: no date can be told of what outlasts the year 9999."""

_CENTURY_MS: Final = MAX_DAYS * 86_400_000

tokens = typer.Typer(
    help="""Tokens by which people and machines reach this memory over HTTP.

    Examples:
      hyperloci token create ada
      hyperloci token list
    """,
    no_args_is_help=True,
)


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(serve)
    app.command()(audit)
    for command in (create, list_tokens, revoke):
        tokens.command(name=command.__name__.removesuffix("_tokens"))(command)
    app.add_typer(tokens, name="token")


def serve(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Answer over HTTP instead of stdin and stdout.")] = False,
    project: Annotated[
        Path, typer.Option("--project", "-p", help="With --http: a folder of the project.", file_okay=False)
    ] = Path("."),
    common: CommonOption = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 takes a free one.")] = 8_765,
    allow_host: Annotated[list[str], typer.Option(help="A further name of this server, such as mem.example.org.")] = [],  # noqa: B006
    allow_origin: Annotated[
        list[str], typer.Option(help="A web origin whose pages may call it, such as https://app.example.org.")
    ] = [],  # noqa: B006
    url: Annotated[str | None, typer.Option(help="Its address as clients know it, without a path.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="A PEM file, for TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="The key to it.")] = None,
    behind_proxy: Annotated[bool, typer.Option(help="A proxy before it ends TLS.")] = False,
    proxy: Annotated[
        list[str],
        typer.Option(metavar="ADDRESS", help="From where that proxy calls, if not from this machine; or a network."),
    ] = [],  # noqa: B006
    issuer: Annotated[str | None, typer.Option(help="Take tokens of this OpenID Connect issuer too.")] = None,
    audience: Annotated[str | None, typer.Option(help="What the issuer's tokens must be meant for.")] = None,
    per_minute: Annotated[int, typer.Option(min=1, help="Requests that a token may make a minute.")] = 240,
    max_sessions: Annotated[int, typer.Option(min=1, max=10_000, help="Sessions open at once.")] = 256,
) -> None:
    """Run the MCP server: on stdin and stdout (what assistants start), or over HTTP.

    Over HTTP nobody is let in without a token (`hyperloci token create`); every call is noted (`hyperloci audit`).

    Examples:
      hyperloci serve
      hyperloci serve --http
      hyperloci serve --http --common acme --host 0.0.0.0 --behind-proxy --allow-host mem.example.org
    """
    if not http:
        _refuse_options_of_http(context)
        from hyperloci.app import main as run_server

        run_server()
    from hyperloci.http.outside_issuer import OutsideIssuer
    from hyperloci.http.serving import LOOPBACK, HttpOptions, serve_http

    if not project.is_dir():
        raise BadRequestError(f"--project {project} is no folder that is there: give one of the project.")
    if (issuer is None) != (audience is None):
        raise BadRequestError("--issuer and --audience belong together: another service's tokens are not for this one.")

    def announce(address: str) -> None:
        console.print(address)
        told = "this address"
        if host in _EVERY_ADDRESS and url is None:
            told += f" (in place of {host} a name of this machine, or of the proxy)"
        errors.print(f"Give clients {told} and a token: {_show_create(common)}. Ctrl+C ends the server.")

    options = HttpOptions(
        host=host,
        port=port,
        hosts=allow_host,
        origins=allow_origin,
        url=url,
        certificate=tls_cert,
        private_key=tls_key,
        behind_proxy=behind_proxy,
        proxies=proxy or LOOPBACK,
        issuer=None if issuer is None or audience is None else OutsideIssuer(issuer, audience),
        per_minute=per_minute,
        max_sessions=max_sessions,
        announce=announce,
    )
    serve_http(ServedMemory.choose(load_settings(project), project, common), options)


_EVERY_ADDRESS: Final = ("0.0.0.0", "::")


def _show_create(common: str | None) -> str:
    """Return the command that makes a token of the served memory: one of another admits nobody."""
    return f"`hyperloci token create NAME{'' if common is None else f' --common {common}'}`"


def _refuse_options_of_http(context: typer.Context) -> None:
    """Refuse what would change nothing: the server on stdin and stdout takes no options.

    Raises:
        BadRequestError: an option was given.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            raise BadRequestError(f"{max(parameter.opts, key=len)} does nothing without --http.")


def create(
    person: Annotated[str, typer.Argument(help="Who holds it: your machine, or a person such as 'Ada <ada@b.org>'.")],
    project: ProjectOption = Path("."),
    common: CommonOption = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="It may search, and change nothing.")] = False,
    days: Annotated[int | None, typer.Option(min=1, max=MAX_DAYS, help="Days until it expires.")] = 365,
    never_expires: Annotated[bool, typer.Option("--never-expires", help="Let it last until it is revoked.")] = False,
    json: JsonOption = False,
) -> None:
    """Create a token and print it, once: it is kept nowhere, only its hash.

    Who holds a token of your own memory reads all of it. For other people serve a common one.

    Examples:
      hyperloci token create laptop
      hyperloci token create "Ada <ada@example.org>" --common acme --days 90
    """
    from hyperloci.http.issued_tokens import create_token

    with ServedMemory.choose(load_settings(project), project, common).open() as memory:
        grant, token = create_token(
            memory.store, person, may_write=not read_only, days=None if never_expires else days, now=system_clock()
        )
    if json:
        print_json({**asdict(grant), "token": token})
        return
    errors.print(f"Token {grant.id} for {grant.person}, shown this once. {_describe_right(grant)}")
    # Not folded: whoever copies a command must get it in one piece.
    typer.echo(f'claude mcp add --transport http hyperloci URL --header "Authorization: Bearer {PLACE}"', err=True)
    console.print(token)


PLACE: Final = "TOKEN"


def list_tokens(project: ProjectOption = Path("."), common: CommonOption = None, json: JsonOption = False) -> None:
    """List the tokens: who holds them, what they may, when they were used last.

    Examples:
      hyperloci token list --common acme
    """
    with _open_existing(project, common) as memory:
        grants = memory.store.access_tokens.list_grants()
    if json:
        print_json(grants)
        return
    if not grants:
        console.print(f"No tokens yet. {_show_create(common)} makes one.")
        return
    now = system_clock()
    table = make_table("id", "holder", "may", "last used", "state")
    for grant in grants:
        used = "never" if grant.last_used is None else format_age(grant.last_used, now)
        may = "read, write" if grant.may_write else "read"
        table.add_row(grant.id, Text(grant.person), may, used, _describe_state(grant, now))
    console.print(table)


def revoke(
    id: Annotated[str, typer.Argument(help="Its id, as `hyperloci token list` shows it; the beginning is enough.")],
    project: ProjectOption = Path("."),
    common: CommonOption = None,
) -> None:
    """Revoke a token: from the next request on it admits nobody.

    Examples:
      hyperloci token revoke 0a1b2c3d
    """
    from hyperloci.http.issued_tokens import revoke_token

    with _open_existing(project, common) as memory:
        try:
            grant = revoke_token(memory.store, id, now=system_clock())
        except NotFoundError as error:
            raise NotFoundError(f"{error} {_say_where_listed(common)}") from error
    console.print(f"Revoked {grant.id} of {grant.person}.")


def _say_where_listed(common: str | None) -> str:
    """Say which command shows the tokens: those of a common memory are in no other list."""
    if common is not None:
        return f"`hyperloci token list --common {common}` shows them."
    return "`hyperloci token list` shows them; those of a common memory take `--common NAME`, here too."


def audit(
    project: ProjectOption = Path("."),
    common: CommonOption = None,
    person: Annotated[str | None, typer.Option(help="Only calls of this person: name, address or both.")] = None,
    memory_id: Annotated[str | None, typer.Option("--memory", help="Only calls whose answer named this id.")] = None,
    since: Annotated[str | None, typer.Option(help="Only since then: a date, or 'yesterday'.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MAX_LISTED, help="At most so many.")] = 50,
    json: JsonOption = False,
) -> None:
    """Print who called what over HTTP, the latest first; `stdio` sessions are not noted.

    Examples:
      hyperloci audit --common acme --since yesterday
      hyperloci audit --person "Ada <ada@example.org>" --json
    """
    now = system_clock()
    bound = None if since is None else parse_time_bound(since, now, argument="since")
    with _open_existing(project, common) as memory:
        whole = None if memory_id is None else memory.complete_id(memory_id)
        events = memory.store.access_log.list_events(limit=limit, person=person, memory=whole, since=bound)
    if json:
        print_json([{**asdict(event), "at": to_iso(event.at)} for event in events])
        return
    if not events:
        console.print("No calls over HTTP." if person is memory_id is since is None else "No such calls over HTTP.")
        return
    table = make_table("when", "who", "tool", "outcome", "memories", numbers=("memories",))
    for event in events:
        named = count_things(len(event.memories), "memory")
        table.add_row(format_age(event.at, now), Text(event.person), Text(event.tool), event.outcome, named)
    console.print(table)


def _open_existing(project: Path, common: str | None) -> Memory:
    """Open the memory whose tokens or calls are asked for: of a misspelt name there are none, and none is begun."""
    return ServedMemory.choose(load_settings(project), project, common, must_exist=True).open()


def _describe_right(grant: AccessGrant) -> str:
    right = "It may read and write" if grant.may_write else "It may read"
    until = "until it is revoked" if grant.expires is None else f"until {format_day(grant.expires)}"
    return f"{right}, {until}."


def _describe_state(grant: AccessGrant, now: int) -> str:
    if grant.revoked is not None:
        return "revoked"
    if grant.expires is None or grant.expires - now > _CENTURY_MS:
        return "valid"
    return f"until {format_day(grant.expires)}" if now < grant.expires else "expired"
