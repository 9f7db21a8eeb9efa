"""Places: which project a place is, why, what looks like it, and linking it to another's memory for the user."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any, Final

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.project.identity import IdentityBasis, Project, make_project_id
from hyperloci.store import Store
from hyperloci.store.database.path_columns import path_as_text
from hyperloci.store.projects.places import KnownProject, ProjectPlace, ScopeLink
from hyperloci.system.values import dataclass

logger = logging.getLogger(__name__)

MAX_ALIKE: Final = 5
"""Projects that are named as looking like a place: more are no help in choosing."""

LOOK_UP: Final = "`hyperloci projects` lists their folders and ids: give one of them, or a name"

_REASONS: Final = {
    "new": "by its path; it is new here",
    "place": "by its path",
    "moved": "by the token in its Git folder, which was moved here",
    "adopted": "by its path; its memory was made by an older version",
    "linked": "because you linked it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeProject:
    """A project that a place may be a clone or copy of, and what speaks for it."""

    project: KnownProject
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceAccount:
    """Which project a place is.

    Attributes:
        scope: id of the scope of its memories.
        name: for people.
        root: its folder.
        reason: why it is that project: `named`, `place`, `moved`, `adopted`, `linked`, or `new` before it is stored.
        why: the reason in words.
        alike: other projects with memories that it may be meant to share.
    """

    scope: str
    name: str
    root: str
    reason: str
    why: str
    alike: tuple[AlikeProject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedProject:
    """A link that was made or undone: the folder, and the project whose memory it has now."""

    root: str
    project: KnownProject


def describe_place(store: Store, project: Project) -> PlaceAccount:
    """Tell which project a place is and what looks like it; nothing is written.

    Args:
        store: the memory.
        project: as `identify` or an open memory gives it.
    """
    place = _find_place(store, project)
    scope = project.id if place is None else place.scope
    if project.basis is IdentityBasis.NAME:
        return PlaceAccount(
            scope=scope, name=project.name, root=str(project.root), reason="named", why="by the name you gave it"
        )
    reason = "new" if place is None else place.reason
    return PlaceAccount(
        scope=scope,
        name=project.name,
        root=str(project.root),
        reason=reason,
        why=_REASONS[reason],
        alike=_find_alike(store, project, scope, place),
    )


def make_notice(store: Store, project: Project, *, now: int) -> str:
    """Return one line for the user about what a place looks like, once for each place; '' for nothing.

    It is for the user, not for the assistant, which a repository may have instructed to ask for it.
    """
    if store.read_only:
        return ""
    place = _find_place(store, project)
    if place is None or place.told_at is not None:
        return ""
    found = describe_place(store, project).alike
    if not found:
        return ""
    with store.transaction():
        if not store.places.mark_as_told(place.id, now=now):
            return ""
    first = found[0]
    where = f" ({first.project.root}, {_count_memories(first.project)})"
    more = f", and {len(found) - 1} more look like it too" if len(found) > 1 else ""
    return (
        f"Hyperloci: {project.root} looks like {first.project.name}{where}: {first.because}{more}."
        " It has a memory of its own; if they belong together, run `hyperloci link` in it."
    )


def find_link_target(store: Store, project: Project, said: str | None) -> KnownProject:
    """Return the project with this folder, name or id; without an argument, the only one that looks like this one.

    Raises:
        NotFoundError: none matches, or none looks like this one.
        BadRequestError: several match, or it is this place's own.
    """
    own = describe_place(store, project)
    if said is None:
        return _require_one([alike.project for alike in own.alike], "looks like this one", LOOK_UP)
    known = store.places.list_projects()
    folder = os.path.realpath(os.path.expanduser(said))
    at = {place.scope for place in store.places.find_by_path(folder)}
    found = [one for one in known if one.scope in at or one.root == folder] if os.path.isabs(folder) else []
    found = found or [one for one in known if one.scope == said]
    namesakes = [one for one in known if one.name == said]
    found = found or [one for one in namesakes if one.scope != own.scope] or namesakes
    found = found or [one for one in known if len(said) >= 4 and one.scope.removeprefix("project:").startswith(said)]
    return _require_one(found, f"matches {said!r:.80}", LOOK_UP)


def link_place(store: Store, project: Project, target: KnownProject, *, now: int) -> LinkedProject:
    """Join a place to another project's memory, with what was said and remembered at it so far.

    Raises:
        BadRequestError: it has that memory already, was linked to another, or is known by a name.
    """
    place = _require_linkable(store, project)
    if place.scope == target.scope:
        raise BadRequestError(f"{project.root} already has the memory of {target.name}.")
    if place.reason == "linked":
        raise BadRequestError(f"{project.root} is already linked: run `hyperloci unlink` first.")
    with store.transaction():
        store.places.link_scope(place.id, target.scope, now=now)
    logger.info("linked %s to %s (%s) at the user's request", project.root, target.name, target.scope)
    return LinkedProject(root=str(project.root), project=_find_project(store, target.scope))


def unlink_place(store: Store, project: Project, *, now: int) -> LinkedProject:
    """Give a place its own memory back, with what it had brought; what was stored since the link stays where it is.

    Raises:
        NotFoundError: it is not linked.
    """
    place = _require_linkable(store, project)
    active = next((one for one in store.places.list_links(place.id) if one.unlinked_at is None), None)
    if active is None:
        raise NotFoundError(f"{project.root} is not linked; `hyperloci link --list` shows what is.")
    with store.transaction():
        store.places.unlink_scope(active, now=now)
    logger.info("unlinked %s from %s (%s) at the user's request", project.root, active.name, active.joined)
    return LinkedProject(root=str(project.root), project=_find_project(store, active.own))


def list_unplaced_projects(store: Store, project: Project) -> tuple[KnownProject, ...]:
    """Return the projects with memories that no folder opened here has: an import brought them.

    Without this place's own and those known by a name that the user gave: their folders have them by that name.
    """
    placed = store.places.list_scopes_with_place() | {project.id}
    return tuple(
        one
        for one in store.places.list_projects()
        if one.memories and one.scope not in placed and one.scope != make_project_id(IdentityBasis.NAME, one.name)
    )


def list_links(store: Store) -> tuple[ScopeLink, ...]:
    """Return all links, latest first, undone ones too."""
    return tuple(store.places.list_links())


def _find_place(store: Store, project: Project) -> ProjectPlace | None:
    return store.places.get_place(project.place_id) if project.place_id else None


def _require_linkable(store: Store, project: Project) -> ProjectPlace:
    if project.basis is IdentityBasis.NAME:
        raise BadRequestError(
            f"This place is known by the name {project.name!r} that you gave it (HYPERLOCI_PROJECT, or `project` in"
            " your hyperloci.toml); remove the name, or give the other project the same one."
        )
    place = _find_place(store, project)
    if place is None:
        raise NotFoundError(f"{project.root} is not known yet; open a session or run a command in it.")
    return place


def _find_alike(store: Store, project: Project, scope: str, place: ProjectPlace | None) -> tuple[AlikeProject, ...]:
    if place is not None and place.reason == "linked":
        return ()
    first = project.root_commit or (place.root_commit if place else None)
    copies = {one.scope for one in store.places.find_by_token(project.token)} if project.token else set()
    before = {one.scope for one in store.places.find_by_path(str(project.root))}
    claiming = store.places.find_claiming_scopes(
        remote=project.remote, root_commit=first, name=project.claimed_name, root=str(project.root)
    )
    found = []
    for known in store.places.list_projects({*claiming, *copies, *before} - {scope}):
        if not known.memories:
            continue
        because = _describe_likeness(project, first, known, copied=known.scope in copies, before=known.scope in before)
        if because:
            found.append(AlikeProject(project=known, because=because))
    return tuple(found[:MAX_ALIKE])


def _describe_likeness(project: Project, first: str | None, known: KnownProject, *, copied: bool, before: bool) -> str:
    if copied:
        return "its Git folder is a copy of the other's"
    if before or known.root == path_as_text(str(project.root)):
        return "it has the path that the other had"
    if project.remote is not None and project.remote == known.remote:
        return f"it claims the same remote, {project.remote}"
    if first is not None and first == known.root_commit:
        return "it claims the same first commit"
    if project.claimed_name is not None and project.claimed_name == known.name:
        return "its .hyperloci.toml claims that name"
    return ""


def _find_project(store: Store, scope: str) -> KnownProject:
    return store.places.list_projects([scope])[0]


def _require_one(found: Sequence[KnownProject], what: str, otherwise: str) -> KnownProject:
    if not found:
        raise NotFoundError(f"No project {what}; {otherwise}.")
    if len(found) > 1:
        lines = "".join(f"\n  {one.scope}  {one.name}  {one.root or '-'}  {_count_memories(one)}" for one in found)
        raise BadRequestError(f"Several projects match; give the id of one:{lines}")
    return found[0]


def _count_memories(project: KnownProject) -> str:
    return f"{project.memories:,} {'memory' if project.memories == 1 else 'memories'}"


def account_to_json(found: PlaceAccount) -> dict[str, Any]:
    """Return an account for programs and for `memory_stats`."""
    return {
        "id": found.scope,
        "name": found.name,
        "root": path_as_text(found.root),
        "reason": found.reason,
        "why": found.why,
        "alike": [
            {
                "id": alike.project.scope,
                "name": alike.project.name,
                "root": alike.project.root,
                "memories": alike.project.memories,
                "because": alike.because,
            }
            for alike in found.alike
        ],
    }
