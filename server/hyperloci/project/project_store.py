"""Project store: opens a project's memory: the database, for reading only if need be, and the project's id in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock
from hyperloci.config import Settings
from hyperloci.errors import StoreBusyError, StoreError, StoreReadOnlyError
from hyperloci.project.clone_token import TOKEN_FILE, read_token
from hyperloci.project.git_folder import BrokenRepositoryError, open_repository
from hyperloci.project.identity import (
    IdentityBasis,
    Project,
    find_place_folder,
    identify_project,
    make_project_id,
)
from hyperloci.store import Store
from hyperloci.store.projects.places import ProjectPlace

SEEN_INTERVAL_MS: Final = MS_PER_DAY // 24
"""How often it is noted that a place was opened: a hook doesn't wait for the write lock each time."""

SEEN_PATIENCE_MS: Final = 50

MAX_ENTRIES: Final = 1_000
"""Entries of a folder that are looked at for one that was there before."""

Decision = tuple[str, str]
"""A scope's id, and why a place has it."""


def open_store(settings: Settings, clock: Clock) -> Store:
    """Open the database; one that can't be written (a disk mounted for reading, another user's file) for reading.

    Raises:
        StoreError: it can't be opened at all.
    """
    try:
        return Store.open(
            settings.database,
            backup_dir=settings.backup_dir,
            synchronous=settings.synchronous,
            clock=clock,
            decay_rate=settings.decay_rate_default,
        )
    except StoreReadOnlyError as error:
        try:
            return Store.open(settings.database, read_only=True)
        except StoreError:
            raise error from None


def identify_known_project(store: Store, settings: Settings, path: Path, now: int) -> Project:
    """Return the project that a folder belongs to, with the scope that its memories have in the store.

    A place that was opened before has the scope that it had. A new one has a scope of its own, but for three cases, in
    each of which the folder itself, and nothing that is written in it by others, shows that it is known: its token is
    that of a place which is gone (it moved), it was known before it became a repository, or an older version of the
    program stored memories for this very folder.
    """
    project = identify_project(path, override=settings.project, claimed_name=settings.claimed_project)
    if project.basis is IdentityBasis.NAME:
        if not store.read_only and store.scopes.find_key(project.id) is None:
            with store.transaction():
                _register_project(store, project, now)
        return project
    known = store.places.get_place(project.id)
    inode = read_inode(project.place)
    if known is not None and not _is_folder_replaced(project, known, inode):
        _note_seen(store, project, known, inode, now)
        return replace(project, id=known.scope)
    if store.read_only:
        return project
    project = identify_project(path, claimed_name=settings.claimed_project, find_first_commit=True)
    with store.transaction():
        if known is None and (other := store.places.get_place(project.id)) is not None:
            return replace(project, id=other.scope)  # Another process was faster.
        scope, reason = _decide_scope(store, project, known, now)
        if scope != project.id and known is None:
            # What hooks kept before the place was known.
            store.scopes.merge_into(project.id, scope)
        placed = replace(project, id=scope)
        _register_project(store, placed, now)
        store.places.add_place(_make_place(project, scope, reason, inode, now))
    return placed


def follow_project(store: Store, settings: Settings, project: Project, now: int) -> Project:
    """Return the project that an open one's folder is by now.

    It became a repository, its place was linked, or it was moved away and another clone stands there, which is a
    project of its own. One whose folder or Git folder is gone stays what it is: its session keeps its memory. So does
    one whose memory can only be read, or would be another in the repository: that of a folder which was empty when it
    was opened.

    Raises:
        StoreBusyError: a place that is new can't be noted now.
    """
    if project.common_dir is None and not store.read_only and _has_new_place(project):
        found = identify_known_project(store, settings, project.root, now)
        return found if found.id == project.id else project
    if not project.place_id:
        return project
    if project.token is not None and not store.read_only and _is_another_clone(project):
        return identify_known_project(store, settings, project.root, now)
    scope = store.places.get_scope_id(project.place_id)
    return project if scope == project.id else replace(project, id=scope)


def _has_new_place(project: Project) -> bool:
    """Whether a plain folder is a repository now, not a part of one; one that leads elsewhere is no folder to ask."""
    has_git = os.path.lexists(project.root / ".git") and os.path.realpath(project.root) == str(project.root)
    return has_git and find_place_folder(project.root) != project.place


def _is_another_clone(project: Project) -> bool:
    """Whether another Git folder stands where the project's was; a token that can't be read now tells nothing."""
    token = read_token(project.place)
    if token == project.token or (token is None and os.path.lexists(project.place / TOKEN_FILE)):
        return False
    try:
        repository = open_repository(project.root)
    except BrokenRepositoryError:
        return False
    return repository is not None and repository.common_dir == project.place


def read_inode(folder: Path) -> str | None:
    """Return `device:inode` of a folder, None where there is none."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    return f"{status.st_dev}:{status.st_ino}"


def _decide_scope(store: Store, project: Project, replaced: ProjectPlace | None, now: int) -> Decision:
    if replaced is not None:
        # The id of a place without a token is its path's, which the folder that stood there before has.
        return make_project_id(IdentityBasis.PATH, f"{os.path.normcase(project.place)}\n{now}"), "place"
    found = _scope_of_moved(store, project) or _scope_of_grown(store, project) or _scope_of_adopted(store, project)
    return found or (project.id, "place")


def _scope_of_moved(store: Store, project: Project) -> Decision | None:
    """Return the scope of the place whose token the Git folder has, if that place is gone, or is this very folder.

    A memory that moved along before is where it moved to: this folder is a copy of that one, unless it is the folder
    that moved, and the copy was opened first.
    """
    if project.token is None:
        return None
    gone, kept_by = [], set()
    for place in store.places.find_by_token(project.token):
        if _is_same_folder(Path(place.path), project.place):
            return place.scope, place.reason
        if _is_in_copied_home(Path(place.path), project.place):
            return place.scope, "moved"
        if _is_gone(place):
            gone.append(place)
        elif place.reason != "linked":
            kept_by.add(place.scope)
    inode = read_inode(project.place)
    # The number alone may have been given out anew; a folder that was renamed keeps what is in it as it was.
    kept = [place for place in gone if place.inode == inode and _has_older_entry(project.place, place.last_seen_at)]
    same = kept or [place for place in gone if place.scope not in kept_by]
    return (same[0].scope, "moved") if len({place.scope for place in same}) == 1 else None


def _is_in_copied_home(known: Path, place: Path) -> bool:
    """Whether a folder lies in this home folder as a known one lay in another: the home was copied, memory and all."""
    try:
        home = Path(os.path.realpath(Path.home()))
    except RuntimeError:
        return False
    if not place.is_relative_to(home) or known.is_relative_to(home):
        return False
    below = place.relative_to(home).parts
    return bool(below) and known.parts[-len(below) :] == below


def _is_gone(place: ProjectPlace) -> bool:
    """Whether a Git folder is no longer where it was: nothing is there, or another one."""
    path = Path(place.path)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return read_token(path) != place.token_hash


def _scope_of_grown(store: Store, project: Project) -> Decision | None:
    """Return the scope of this very folder from before it was a repository, or before a token could be kept in it."""
    for place in store.places.find_by_path(str(project.root)):
        if place.token_hash is not None or Path(place.path) not in (project.root, project.place):
            continue
        if place.inode == read_inode(Path(place.path)) and _has_older_entry(Path(place.path), place.last_seen_at):
            return place.scope, place.reason
    return None


def _scope_of_adopted(store: Store, project: Project) -> Decision | None:
    """Return the scope that an older version of the program made for this very folder."""
    for scope, root in store.places.find_unplaced_scopes(project.former_ids):
        folders = [Path(folder) for folder in (root, store.files.get_indexed_root(scope)) if folder]
        if any(_is_this_folder(folder, project) for folder in folders[: 1 if folders and folders[0].exists() else 2]):
            return scope, "adopted"
    return None


def _is_this_folder(folder: Path, project: Project) -> bool:
    real = Path(os.path.realpath(folder))
    if real == project.root:
        return True
    if not real.exists():
        # A working tree below the first one, removed since.
        return project.common_dir is not None and real.is_relative_to(project.root)
    try:
        repository = open_repository(real)
    except BrokenRepositoryError:
        return False
    return repository is not None and repository.common_dir == project.common_dir


def _is_folder_replaced(project: Project, known: ProjectPlace, inode: str | None) -> bool:
    """Whether another folder stands where a place without a token was: a new folder, with nothing in it of before."""
    # A Git folder always has something that is as old as itself; numbers of inodes are given out anew.
    if project.token is not None or (project.common_dir is None and known.inode in (None, inode)):
        return False
    return not _has_older_entry(project.place, known.last_seen_at)


def _has_older_entry(folder: Path, at: int) -> bool:
    """Whether something in a folder was there at a time, in milliseconds; what is unpacked or copied is newer."""
    for number, entry in enumerate(_list_entries(folder)):
        if number >= MAX_ENTRIES:
            break
        if entry.name == ".git":
            continue
        try:
            if entry.stat(follow_symlinks=False).st_ctime_ns <= at * 1_000_000:
                return True
        except OSError:
            continue
    return False


def _list_entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _is_same_folder(first: Path, second: Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def _note_seen(store: Store, project: Project, known: ProjectPlace, inode: str | None, now: int) -> None:
    """Note that a place was opened, and what its repository claims by now."""
    if store.read_only:
        return
    is_due = now - known.last_seen_at >= SEEN_INTERVAL_MS or inode != known.inode
    remote, root_commit = _find_claims(project, known, is_due=is_due)
    if not (is_due or remote or root_commit):
        return
    try:
        with store.limit_lock_wait(SEEN_PATIENCE_MS), store.transaction():
            store.places.note_seen(known.id, inode=inode, now=now)
            if remote or root_commit:
                store.places.add_claims(known.id, remote=remote, root_commit=root_commit)
    except StoreBusyError:
        return  # The next time will do.


def _find_claims(project: Project, known: ProjectPlace, *, is_due: bool) -> tuple[str | None, str | None]:
    """Return the remote and the first commit of a repository that claimed neither when its place was noted.

    It was begun in a session, say. Git is started where there is a remote now, and else once an hour.
    """
    if project.head is None or known.remote is not None:
        return None, None
    if known.root_commit is not None or not (project.remote or is_due):
        return project.remote, None
    return project.remote, identify_project(project.root, find_first_commit=True).root_commit


def _make_place(project: Project, scope: str, reason: str, inode: str | None, now: int) -> ProjectPlace:
    return ProjectPlace(
        id=project.id,
        scope=scope,
        path=str(project.place),
        root=str(project.root),
        token_hash=project.token,
        inode=inode,
        remote=project.remote,
        root_commit=project.root_commit,
        claimed_name=project.claimed_name,
        reason=reason,
        first_seen_at=now,
        last_seen_at=now,
    )


def _register_project(store: Store, project: Project, now: int) -> None:
    store.scopes.ensure_scope(
        project.id,
        now=now,
        name=project.name,
        root=str(project.root),
        remote=project.remote,
        root_commit=project.root_commit,
    )
