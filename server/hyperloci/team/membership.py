"""Membership: which team a database belongs to, in a file of the user's own that no backup or export takes along."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, ConfigurationError, NotFoundError
from hyperloci.store.export import write_private_file
from hyperloci.store.team.shared_values import MemberRole
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.values import dataclass

NOT_JOINED = "This machine has joined no team: `hyperloci team join URL` does, and asks for your token."


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """What is needed to ask as a member. Its secrets are not shown with it, where a program or a log does so.

    Attributes:
        url: of the team's database, with the password of the members' role.
        token: proves who asks; a secret.
        team, team_name, member_name: whose it is.
        client: names this machine in edits, so that what is told twice is stored once.
        invitation_url: what new members join with; None: the same as `url`.
        role: what the team's database said last of what the member may do; None where it was not noted.
    """

    url: str = field(repr=False)
    token: str = field(repr=False)
    team: str
    team_name: str
    member_name: str
    client: str
    invitation_url: str | None = field(default=None, repr=False)
    role: str | None = None


def make_client_id() -> str:
    """Return a new name for a machine."""
    return str(uuid.uuid4())


def find_membership_file(settings: Settings) -> Path:
    """Return where the membership of a database is kept."""
    digest = hashlib.sha256(str(settings.database).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return settings.state_dir / f"team-{digest}.json"


def has_joined(settings: Settings) -> bool:
    """Tell whether a database belongs to a team; a look at one file."""
    return find_membership_file(settings).exists()


def load_membership(settings: Settings) -> Membership:
    """Return the membership of a database.

    Raises:
        NotFoundError: it belongs to no team.
        ConfigurationError: the file can't be read.
    """
    path = find_membership_file(settings)
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Membership(**values)
    except FileNotFoundError as error:
        raise NotFoundError(NOT_JOINED) from error
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}. Remove it and join again.") from error


def save_membership(settings: Settings, membership: Membership) -> None:
    """Keep a membership, readable by the user alone.

    Raises:
        StoreError: the file can't be written.
    """
    path = find_membership_file(settings)
    make_own_folders(path.parent)
    text = json.dumps(asdict(membership), indent=2, ensure_ascii=False)
    write_private_file(path, lambda out: out.write(text + "\n"))


def note_role(settings: Settings, membership: Membership, role: MemberRole) -> None:
    """Keep what the team's database said of a member, unless somebody left the team meanwhile, or joined another."""
    if role != membership.role and has_joined(settings) and load_membership(settings) == membership:
        save_membership(settings, replace(membership, role=role))


def require_writer(settings: Settings) -> None:
    """Let only those share who can tell the team something.

    Raises:
        NotFoundError: the database belongs to no team.
        BadRequestError: it belongs to one as a reader.
    """
    known = load_membership(settings)
    if known.role == MemberRole.READER:
        raise BadRequestError(
            f"{known.member_name} is a reader in the team {known.team_name}, and shares nothing: nothing was changed. "
            f"An admin makes a member of you: `hyperloci team invite {known.member_name}`, then `team sync` here."
        )


def drop_membership(settings: Settings) -> None:
    """Belong to no team any more."""
    find_membership_file(settings).unlink(missing_ok=True)
