"""Enrolment: making, joining and leaving a team, and what is told of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, TeamError
from hyperloci.facts.sharing.sharing_job import compare_waiting
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.project.identity import Project, identify_project
from hyperloci.store import Store
from hyperloci.store.team import members
from hyperloci.store.team.graphs import build_graphs
from hyperloci.store.team.postgres import MEMBER_ROLE, connect, hide_password, migrate_schema
from hyperloci.store.team.shared_values import MemberRole, SyncReport
from hyperloci.store.team.team_rows import TeamConflict, TeamProject
from hyperloci.system.process_lock import Election, lock_path
from hyperloci.system.values import dataclass
from hyperloci.team.membership import (
    Membership,
    drop_membership,
    has_joined,
    load_membership,
    make_client_id,
    save_membership,
)
from hyperloci.team.sync_job import load_state, sync_now

LOCK_ROLE: Final = "upkeep"
"""An exchange by hand and one of a server's maintenance take turns, like all rounds of maintenance."""

MAX_PROJECT_CHARS: Final = 500

MAX_COMPARED: Final = 500
"""Memories compared at once after an exchange by hand, some two seconds; maintenance compares the rest."""

_OWNERS: Final = frozenset(
    {"sslcert", "sslkey", "sslpassword", "passfile", "service", "servicefile", "requirepeer", "options"}
)
"""Parts of an address that are the owner's, or of the owner's machine, and of no use to who is invited."""


def create_team(settings: Settings, url: str, name: str, member: str, *, password: str) -> Membership:
    """Make a team in a database, and join it as its first admin.

    Args:
        settings: of the database that joins.
        url: of the owner of the schema; kept for this machine's own exchanges, which lay its rights down.
        name, member: of the team and of the person.
        password: of the members' role.

    Raises:
        BadRequestError: another team was joined before.
        TeamError: the database refused; ConfigurationError: the address or the driver can't be used.
    """
    _refuse_second_team(settings)
    connection = connect(url)
    try:
        migrate_schema(connection, login_password=password)
        identity, token = members.create_team(connection, name, member)
    finally:
        connection.close()
    membership = Membership(
        url=url,
        token=token,
        team=identity.team,
        team_name=name,
        member_name=member,
        client=make_client_id(),
        invitation_url=_make_invitation_url(url, password),
        role=identity.role,
    )
    save_membership(settings, membership)
    return membership


def _make_invitation_url(url: str, password: str) -> str:
    """Return the address with the members' role in place of the owner, and nothing else of the owner's."""
    from psycopg import conninfo

    shared = {name: value for name, value in conninfo.conninfo_to_dict(url).items() if name not in _OWNERS}
    return conninfo.make_conninfo("", **(shared | {"user": MEMBER_ROLE, "password": password}))


def _refuse_second_team(settings: Settings) -> None:
    if has_joined(settings):
        known = load_membership(settings)
        raise BadRequestError(
            f"This machine is in the team {known.team_name} as {known.member_name}: `hyperloci team leave` first."
        )


def invite_member(settings: Settings, name: str, role: MemberRole) -> tuple[str, str]:
    """Add a person as an admin; return the address and the token that they join with."""
    membership = load_membership(settings)
    connection = connect(membership.url)
    try:
        token = members.invite_member(connection, membership.token, membership.team, name, role)
    finally:
        connection.close()
    return membership.invitation_url or membership.url, token


def upgrade_database(settings: Settings) -> tuple[list[str], int]:
    """Bring the team's database up to date, as its owner; return the steps taken, and how many graphs were made.

    Raises:
        TeamError: this machine did not make the team.
    """
    membership = load_membership(settings)
    if membership.invitation_url is None:
        raise TeamError("Only who ran `hyperloci team init` upgrades the team's database, on the machine that did.")
    connection = connect(membership.url)
    try:
        return migrate_schema(connection, login_password=None), build_graphs(connection)
    finally:
        connection.close()


def revoke_member(settings: Settings, name: str) -> int:
    """Revoke all tokens of a person as an admin; return how many they had."""
    membership = load_membership(settings)
    connection = connect(membership.url)
    try:
        return members.revoke_member(connection, membership.token, name)
    finally:
        connection.close()


def find_joined_team(settings: Settings, url: str) -> Membership | None:
    """Return the membership if this address was joined with or invites to it; None if a token must tell."""
    if not has_joined(settings):
        return None
    known = load_membership(settings)
    return known if url in (known.url, known.invitation_url) else None


def join_team(settings: Settings, url: str, token: str) -> Membership:
    """Join a team with an address and a token; in the very team already, stay in it.

    Raises:
        BadRequestError: another team was joined before, or this one as somebody else.
        TeamError: the token is unknown.
    """
    connection = connect(url)
    try:
        identity = members.identify_member(connection, token.strip())
    finally:
        connection.close()
    if has_joined(settings):
        known = load_membership(settings)
        if (known.team, known.member_name) != (identity.team, identity.member_name):
            _refuse_second_team(settings)
        return known
    membership = Membership(
        url=url,
        token=token.strip(),
        team=identity.team,
        team_name=identity.team_name,
        member_name=identity.member_name,
        client=make_client_id(),
        role=identity.role,
    )
    save_membership(settings, membership)
    return membership


def suggest_project(project: Project) -> str:
    """Return the name that a project has on every machine: its remote's address, else its first commit, else its name.

    All of them are claims of the repository; the user confirms them (`link_project`).
    """
    if project.remote:
        return project.remote
    commit = project.root_commit or identify_project(Path(project.root), find_first_commit=True).root_commit
    return f"commit:{commit}" if commit else project.name


def link_project(store: Store, settings: Settings, project: Project, name: str | None) -> str:
    """Take part in the team with a project and what is global; return the project's name there.

    Raises:
        NotFoundError: no team was joined.
        BadRequestError: the name is empty or too long, or another folder has it.
    """
    load_membership(settings)
    wanted = (name or suggest_project(project)).strip()
    if not 1 <= len(wanted) <= MAX_PROJECT_CHARS:
        raise BadRequestError(f"as_project={wanted!r:.80} must have 1 to {MAX_PROJECT_CHARS} characters.")
    now = system_clock()
    with store.transaction():
        key = store.scopes.ensure_scope(project.id, now=now)
        for known in store.team.list_projects():
            if known.project == wanted and known.scope_key != key:
                raise BadRequestError(f"{wanted} is another folder's project here: `hyperloci link` joins the two.")
            if known.scope_key == key and known.project == wanted:
                return wanted
        store.team.link_project(key, wanted, now=now)
        shared = {known.scope_id for known in store.team.list_projects()}
        if GLOBAL_SCOPE not in shared:
            store.team.link_project(store.scopes.ensure_scope(GLOBAL_SCOPE, now=now), GLOBAL_SCOPE, now=now)
    return wanted


def leave_team(store: Store, settings: Settings, project: Project | None) -> int:
    """Leave the team, or take one project out of it; return how many memories were not told yet."""
    load_membership(settings)
    waiting = store.team.count_waiting()
    with store.transaction():
        if project is None:
            store.team.unlink_all()
        else:
            store.team.unlink_project(store.scopes.ensure_scope(project.id, now=system_clock()))
    if project is None:
        drop_membership(settings)
    return waiting


def sync_by_hand(store: Store, settings: Settings) -> SyncReport:
    """Exchange with the team now, when no server's maintenance runs.

    Raises:
        NotFoundError: no team was joined.
        TeamError: the database refused, or maintenance of a server runs.
    """
    membership = load_membership(settings)
    election = Election(lock_path(settings.lock_dir, LOCK_ROLE, str(settings.database)))
    if not election.try_to_win():
        raise TeamError("A server's maintenance is running, and exchanges too: try again in a minute.")
    try:
        context = MaintenanceContext(store=store, settings=settings, clock=system_clock)
        report = sync_now(store, membership, context)
        _, disputes = compare_waiting(context, MAX_COMPARED)
        return replace(report, disputes=disputes)
    finally:
        election.resign()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamAccount:
    """What is told of a team. `error` says why its database could not be asked; then members are unknown."""

    team_name: str
    url: str
    member_name: str
    role: str | None
    members: tuple[str, ...]
    projects: tuple[TeamProject, ...]
    own: int
    others: int
    waiting: int
    last_success: int | None
    conflicts: tuple[TeamConflict, ...]
    refused: tuple[str, ...]
    error: str | None


def describe_team(store: Store, settings: Settings) -> TeamAccount:
    """Return what is told of the team that was joined.

    Raises:
        NotFoundError: none was.
    """
    membership, state = load_membership(settings), load_state(store)
    own, others = store.team.count_rows()
    role = membership.role
    names: tuple[str, ...] = ()
    error = state.error
    try:
        connection = connect(membership.url)
        try:
            role = str(members.identify_member(connection, membership.token).role)
            names = tuple(f"{one.name} ({one.role})" for one in members.list_members(connection, membership.token))
        finally:
            connection.close()
    except TeamError as fault:
        error = str(fault)
    return TeamAccount(
        team_name=membership.team_name,
        url=hide_password(membership.url),
        member_name=membership.member_name,
        role=role,
        members=names,
        projects=tuple(store.team.list_projects()),
        own=own,
        others=others,
        waiting=0 if role == MemberRole.READER else store.team.count_waiting(),
        last_success=state.last_success,
        conflicts=tuple(store.team.list_conflicts()),
        refused=state.refused,
        error=error,
    )
