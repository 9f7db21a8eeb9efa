"""Opening the memory of a project: the database as far as it may be opened, the project as it is known there."""

from __future__ import annotations

from pathlib import Path

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.errors import StoreError, StoreReadOnlyError
from hyperloci.ingest.project import Project, identify
from hyperloci.store import Store


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


def known_project(store: Store, settings: Settings, path: Path, now: int) -> Project:
    """Return the project that a folder belongs to, known to the store with all that was kept under weaker ids."""
    project = identify(path, override=settings.project)
    is_new = store.scopes.find(project.id) is None
    if store.read_only:
        return project
    if is_new:
        # A repository that has just got a remote was known by its first commit; only Git can tell that.
        project = identify(path, override=settings.project, thorough=True)
    old_ids = [alias for alias in project.aliases if store.scopes.find(alias) is not None]
    if is_new or old_ids:
        with store.transaction():
            for old_id in old_ids:
                store.scopes.adopt(old_id, project.id)
            _register(store, project, now)
    return project


def _register(store: Store, project: Project, now: int) -> None:
    store.scopes.ensure(
        project.id,
        now=now,
        name=project.name,
        root=str(project.root),
        remote=project.remote,
        root_commit=project.root_commit,
    )
