"""Team commands: team init, invite, revoke, upgrade, join, leave, sync, status."""

from __future__ import annotations

import secrets
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from hyperloci.cli.common import (
    Exit,
    JsonOption,
    ProjectOption,
    console,
    errors,
    open_memory,
    print_json,
)
from hyperloci.cli.layout import count_things
from hyperloci.clock import format_age, system_clock
from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.store.team.shared_values import MemberRole

app = typer.Typer(
    help="""Share memories with a team through a PostgreSQL database; `hyperloci share ID --team` shares one.

    Examples:
      hyperloci team join postgresql://db.example.com/memories
      hyperloci team status
    """,
    no_args_is_help=True,
)

NO_PROJECT: Final = (
    "no project of this machine takes part, so nothing is exchanged: run `hyperloci team join` in a project's folder."
)

TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Your token, for scripts: others on this machine see it. Better leave it out, and be asked for it.",
        envvar="HYPERLOCI_TEAM_TOKEN",
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option("--token-file", help="A file with your token; - is stdin.", allow_dash=True),
]


def register_commands(root: typer.Typer) -> None:
    """Add the commands of this module."""
    root.add_typer(app, name="team")


@app.command()
def init(
    url: Annotated[str, typer.Argument(help="postgresql://OWNER@HOST/DATABASE, of who may make schemas and roles.")],
    name: Annotated[str, typer.Option("--name", help="Of the team.")] = "team",
    member: Annotated[str | None, typer.Option("--as", help="Your name in the team.")] = None,
    project: ProjectOption = Path("."),
) -> None:
    """Make a team in a PostgreSQL database with pgvector, and join it with this project.

    Examples:
      hyperloci team init postgresql://postgres@db.example.com/memory --name platform --as ada
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        made = enrolment.create_team(
            memory.settings, url, name, member or _own_name(), password=secrets.token_urlsafe(24)
        )
        linked = _link(memory, None)
    console.print(f"made the team {made.team_name} and joined it as {made.member_name}")
    console.print(f"this project is {linked} there")
    console.print("others join after: hyperloci team invite NAME")


def _own_name() -> str:
    import getpass

    return f"{getpass.getuser()}@{socket.gethostname()}"


@app.command()
def invite(
    name: Annotated[str, typer.Argument(help="The person's name in the team.")],
    role: Annotated[MemberRole, typer.Option("--role", help="What they may do; a reader only reads (CI).")] = (
        MemberRole.MEMBER
    ),
    project: ProjectOption = Path("."),
) -> None:
    """Add a person, or another token for one, and print what they join with; the token is shown this once.

    Examples:
      hyperloci team invite bob
      hyperloci team invite ci --role reader
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        url, token = enrolment.invite_member(memory.settings, name, role)
    console.print(f"hyperloci team join '{url}'")
    console.print(token)
    errors.print("The token is asked for there: send it by another way than the line above it.", style="dim")


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="The person's name in the team.")], project: ProjectOption = Path(".")
) -> None:
    """Revoke all tokens of a person. What they shared stays.

    Examples:
      hyperloci team revoke bob
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        revoked = enrolment.revoke_member(memory.settings, name)
    if not revoked:
        raise BadRequestError(f"{name!r} has no token in this team: `hyperloci team status` lists its members.")
    console.print(f"revoked {revoked} of {name}'s tokens")


@app.command()
def upgrade(project: ProjectOption = Path(".")) -> None:
    """Bring the team's database up to date, and give teams that have grown large an index of their own; for its owner.

    Run it after an upgrade of Hyperloci, and once a team has some 200,000 memories. It takes minutes then; everybody
    goes on working.

    Examples:
      hyperloci team upgrade
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        steps, graphs = enrolment.upgrade_database(memory.settings)
    console.print(f"{len(steps)} steps taken, {graphs} large teams indexed")


@app.command()
def join(
    url: Annotated[str | None, typer.Argument(help="The team's address; not needed for a further project.")] = None,
    token: TokenOption = None,
    token_file: TokenFileOption = None,
    as_project: Annotated[
        str | None, typer.Option("--as-project", help="The project's name in the team; default: its remote's address.")
    ] = None,
    project: ProjectOption = Path("."),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Join a team, and take part in it with this project; run it again in another folder to add that project.

    Members of the team who have the same project get what you share of it, and you what they share.

    Examples:
      hyperloci team join 'postgresql://hyperloci_member@db.example.com/memory'
      hyperloci team join 'postgresql://...' --token-file /run/secrets/team --yes
      hyperloci team join --as-project example.com/platform/api
    """
    from hyperloci.team import enrolment
    from hyperloci.team.membership import load_membership

    with open_memory(project) as memory:
        if url is None:
            load_membership(memory.settings)  # Who has joined no team is asked nothing.
        else:
            known = enrolment.find_joined_team(memory.settings, url) if token is None and token_file is None else None
            joined = known or enrolment.join_team(memory.settings, url, _read_token(token, token_file))
            console.print(f"joined {joined.team_name} as {joined.member_name}")
        wanted = as_project or enrolment.suggest_project(memory.project)
        if not yes:
            _confirm_project(f"Take part in the team's {wanted} with {memory.project.root}?")
        linked = _link(memory, wanted)
    console.print(f"this project is {linked} there; `hyperloci team sync` exchanges now")


def _confirm_project(question: str) -> None:
    try:
        typer.confirm(question, abort=True, err=True)
    except typer.Abort:
        errors.print("this project takes no part; `hyperloci team join` here asks again", style="yellow")
        raise


def _read_token(token: str | None, file: Path | None) -> str:
    """Return the token as it was given, or ask for it without showing it.

    Raises:
        BadRequestError: it was given twice, or its file can't be read.
    """
    if file is None:
        return token or str(typer.prompt("Token", hide_input=True, err=True))
    if token is not None:
        raise BadRequestError("--token and --token-file: give one of them.")
    try:
        return sys.stdin.readline() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadRequestError(f"--token-file={str(file)!r} can't be read: {error}") from error


def _link(memory: Memory, wanted: str | None) -> str:
    from hyperloci.team import enrolment

    return enrolment.link_project(memory.store, memory.settings, memory.project, wanted)


@app.command()
def leave(
    here: Annotated[bool, typer.Option("--here", help="Only with this project.")] = False,
    project: ProjectOption = Path("."),
) -> None:
    """Leave the team, or take this project out of it. What was received stays here, what was shared stays there.

    Examples:
      hyperloci team leave --here
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        waiting = enrolment.leave_team(memory.store, memory.settings, memory.project if here else None)
    console.print("this project is no longer the team's" if here else "left the team")
    if waiting:
        told = count_things(waiting, "shared memory")
        errors.print(f"{told} may not have been told yet; all stay here, marked as shared", style="yellow")


@app.command()
def sync(project: ProjectOption = Path("."), json: JsonOption = False) -> None:
    """Exchange shared memories with the team now; servers do so by themselves while they are idle.

    Examples:
      hyperloci team sync
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        report = enrolment.sync_by_hand(memory.store, memory.settings)
        takes_part = bool(memory.store.team.list_projects())
    if json:
        print_json(report)
    else:
        console.print(f"{report.sent} sent, {report.received} received, {report.diverged} diverged")
        if report.disputes:
            found = count_things(report.disputes, "contradiction")
            console.print(f"! {found} with what is held here: hyperloci query 'is:contradicted'")
    if not takes_part:
        errors.print(NO_PROJECT, style="yellow")
    for line in report.refused:
        errors.print(f"not exchanged: {line}", style="yellow")
    if report.refused:
        raise typer.Exit(Exit.DEGRADED)


@app.command()
def status(project: ProjectOption = Path("."), json: JsonOption = False) -> None:
    """Show the team, its members and projects, what waits here, and what members changed without seeing each other.

    Examples:
      hyperloci team status --json
    """
    from hyperloci.team import enrolment

    with open_memory(project) as memory:
        told = enrolment.describe_team(memory.store, memory.settings)
    if json:
        print_json(replace(told))
        return
    console.print(f"{told.team_name} at {told.url}, as {told.member_name}{f' ({told.role})' if told.role else ''}")
    console.print(f"members: {', '.join(told.members) or 'unknown while it does not answer'}")
    for linked in told.projects:
        console.print(f"project {linked.project}: taken in up to change {linked.cursor}")
    if not told.projects:
        errors.print(NO_PROJECT, style="yellow")
    console.print(f"{told.own} of yours and {told.others} of others exchanged; {told.waiting} may have to be told")
    age = format_age(told.last_success, system_clock()) if told.last_success else "none yet"
    console.print(f"last exchange: {age}")
    for conflict in told.conflicts:
        errors.print(f"diverged: {conflict.node_id}: {conflict.reason}", style="yellow")
    for line in (*told.refused, *((told.error,) if told.error else ())):
        errors.print(line, style="yellow")
