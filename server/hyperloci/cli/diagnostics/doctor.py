"""Doctor: the checks of `hyperloci doctor`, each with a fix."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci import __version__
from hyperloci.cli.diagnostics.client_checks import check_clients
from hyperloci.cli.diagnostics.diagnosis import Diagnosis, Severity
from hyperloci.cli.diagnostics.storage_checks import (
    check_archive,
    check_backups,
    check_database,
    check_disk,
    check_folders,
)
from hyperloci.cli.install import installer
from hyperloci.cli.install.plugin import find_plugin
from hyperloci.cli.layout import count_things
from hyperloci.cli.projects import describe_unplaced, link_command
from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.idle_settings import list_idle_settings, list_idle_variables
from hyperloci.project.git_folder import BORROWS, MAKE_COMPLETE, find_external_storage
from hyperloci.project.identity import Project, identify_project
from hyperloci.project.places import PlaceAccount, describe_place, list_unplaced_projects
from hyperloci.store import Store
from hyperloci.store.database import vector_extension
from hyperloci.store.ids import shorten_id
from hyperloci.store.projects.places import KnownProject
from hyperloci_hooks import spool
from hyperloci_hooks.outcome_statistics import DAYS, HookStatistics

MAX_PENDING: Final = 5
"""Corrections that are named one by one."""

MAX_UNPLACED: Final = 5
"""Projects without a folder that are named one by one."""


def run_checks(project: Path, *, repair: bool = False) -> list[Diagnosis]:
    """Check the installation, configuration, database and embedder; `repair` repairs what can be repaired."""
    findings = [Diagnosis(Severity.OK, "program", f"hyperloci {__version__}, Python {sys.version.split()[0]}")]
    try:
        settings = Settings.from_env(os.environ, project)  # noqa: TID251 - a process's entry point
    except HyperlociError as error:
        return [*findings, Diagnosis(Severity.ERROR, "settings", str(error), "correct the file or variable named here")]
    findings.extend(Diagnosis(Severity.WARNING, "settings", fault, "correct it") for fault in settings.project_faults)
    unused = [*list_idle_variables(os.environ), *list_idle_settings(settings)]  # noqa: TID251 - as above
    findings.extend(Diagnosis(Severity.WARNING, "settings", line, "correct it, or remove it") for line in unused)
    for check in (
        check_folders,
        _check_sqlite,
        check_database,
        check_archive,
        check_backups,
        check_disk,
        _git_project,
        _check_index,
        _check_sharing,
        _claude_code,
        check_clients,
        _check_embedder,
        _check_consolidation,
        _check_spool,
        _check_hooks,
    ):
        findings.extend(check(settings, project, repair))
    return findings


def _check_sqlite(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    road = vector_extension.prepare_vec()
    yield Diagnosis(Severity.OK, "sqlite", f"{sqlite3.sqlite_version}; sqlite-vec by {road}")
    if road == vector_extension.ABSENT:
        yield Diagnosis(
            Severity.NOTE, "sqlite-vec", "cannot be loaded by this Python; numpy ranks instead, same results"
        )


def _check_index(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Report how much of this project's history is stored, and how much of the project can be found by meaning."""
    if not os.path.exists(settings.database):
        return
    from hyperloci.memory import Memory

    try:
        with Memory.open(settings, project) as memory:
            history, reach = memory.get_history_progress(), memory.get_embedding_coverage()
            common_dir = memory.project.common_dir
    except HyperlociError:
        return  # The check of the database reports it.
    if reach.total:
        share = f"{reach.embedded:,} of {reach.total:,} memories and names ({reach.percent}%)"
        known = f"{share} are found by meaning, all by words"
        yield _progress_finding("search", known, is_whole=not reach.waiting or not settings.embedder)
    if common_dir is not None and (elsewhere := find_external_storage(common_dir)):
        said = f"commits are not remembered: {BORROWS.format(place=elsewhere)}"
        yield Diagnosis(Severity.WARNING, "history", said, MAKE_COMPLETE)
    elif history.stored or history.waiting or not history.is_known:
        is_whole = history.is_known and not history.waiting
        yield _progress_finding("history", history.describe_progress(), is_whole=is_whole)


def _check_sharing(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Report shared memories that were corrected here while teammates don't have the correction."""
    if not os.path.exists(settings.database):
        return
    from hyperloci.facts.sharing.publication import describe_pending
    from hyperloci.memory import Memory

    try:
        with Memory.open(settings, project) as memory:
            pending = memory.list_pending_corrections()
    except HyperlociError:
        return  # The check of the database reports it.
    for one in pending[:MAX_PENDING]:
        command = f"hyperloci share {shorten_id(one.new)}"
        yield Diagnosis(Severity.NOTE, "sharing", describe_pending(one), f"{command}, or leave it private")
    if len(pending) > MAX_PENDING:
        left = len(pending) - MAX_PENDING
        yield Diagnosis(Severity.NOTE, "sharing", f"{left} more corrections of shared memories are not shared")


def _progress_finding(subject: str, message: str, *, is_whole: bool) -> Diagnosis:
    if is_whole:
        return Diagnosis(Severity.OK, subject, message)
    return Diagnosis(Severity.NOTE, subject, message, "hyperloci index, or wait: a session continues in the background")


def _git_project(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    if shutil.which("git") is None:
        yield Diagnosis(Severity.WARNING, "git", "not found: commits are not remembered", "install git")
    found = identify_project(project, override=settings.project, claimed_name=settings.claimed_project)
    yield from _place_of_project(settings, found)
    for note in found.notes:
        yield Diagnosis(Severity.NOTE, "project", note)


def _place_of_project(settings: Settings, found: Project) -> Iterator[Diagnosis]:
    told = PlaceAccount(
        scope=found.id, name=found.name, root=str(found.root), reason="new", why="by its folder; it is new"
    )
    unplaced: tuple[KnownProject, ...] = ()
    if os.path.exists(settings.database):
        with contextlib.suppress(HyperlociError), Store.open(settings.database, read_only=True) as store:
            told = describe_place(store, found)
            unplaced = list_unplaced_projects(store, found)
    yield Diagnosis(Severity.OK, "project", f"{told.name} ({told.scope}) at {told.root}, known {told.why}")
    for alike in told.alike:
        other = alike.project
        yield Diagnosis(
            Severity.NOTE,
            "project",
            f"looks like {other.name} ({other.scope}) at {other.root}, {other.memories} memories: {alike.because}",
            f"if they belong together: {link_command(other)}",
        )
    known = {told.scope, *(alike.project.scope for alike in told.alike)}
    others = [one for one in unplaced if one.scope not in known]
    for one in others[:MAX_UNPLACED]:
        mend = f"in the folder that should have them: {link_command(one)}"
        yield Diagnosis(Severity.NOTE, "project", describe_unplaced(one), mend)
    if (left := len(others) - MAX_UNPLACED) > 0:
        yield Diagnosis(Severity.NOTE, "project", f"{left} more have no folder here", "hyperloci projects")


def _claude_code(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")  # noqa: TID251 - Claude Code's own variable, not a setting of ours
    config_dir = Path(folder) if folder else None
    active: list[installer.InstallScope] = []
    places = {
        installer.target_files(scope, project_root=project, home=Path.home(), config_dir=config_dir).settings: scope
        for scope in reversed(installer.InstallScope)
    }
    # Of the home folder, the project's settings are the user's own.
    for scope in reversed(places.values()):
        try:
            plan = installer.plan_uninstall(scope, project_root=project, home=Path.home(), config_dir=config_dir)
        except HyperlociError as error:
            yield Diagnosis(Severity.WARNING, "claude code", str(error), "correct the file, then run hyperloci install")
            continue
        if plan.changed:
            active.append(scope)
            yield Diagnosis(Severity.OK, "claude code", f"installed for scope {scope}")
    if len(active) > 1:
        yield Diagnosis(
            Severity.WARNING,
            "claude code",
            "installed for the user and for the project: every event is captured twice",
            "hyperloci uninstall --scope project",
        )
    plugin = find_plugin(home=Path.home(), config_dir=config_dir, project_root=project)
    if plugin:
        yield Diagnosis(Severity.OK, "claude code", f"installed as the plugin {plugin}")
    if plugin and active:
        yield Diagnosis(
            Severity.WARNING,
            "claude code",
            "installed as a plugin and by hyperloci install: every event is captured twice",
            f"hyperloci uninstall --scope {active[0]}, or claude plugin uninstall {plugin}",
        )
    if not active and not plugin:
        yield Diagnosis(Severity.NOTE, "claude code", "not installed", "hyperloci install")


def _check_embedder(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    from hyperloci.embedder.client import EmbedderClient
    from hyperloci.embedder.transport import find_address_fault, find_embedder_address

    if not settings.embedder:
        yield Diagnosis(
            Severity.NOTE, "embedder", "switched off: searches use keywords only", "unset HYPERLOCI_EMBEDDER"
        )
        return
    if fault := find_address_fault(find_embedder_address(settings)):
        yield Diagnosis(
            Severity.WARNING, "embedder", f"none can run: {fault}", "set runtime_dir (HYPERLOCI_RUNTIME_DIR)"
        )
        return
    client = EmbedderClient(settings)
    status = client.status()
    if status is None and client.silent_since is not None:
        yield Diagnosis(
            Severity.WARNING,
            "embedder",
            "it runs but does not answer: searches use words until it does",
            "wait a minute: the session that started it replaces it; if not, restart Claude Code",
        )
        return
    if status is not None and status.error is not None:
        told = f"running: {status}; {status.error}" if status.is_ready else f"no vectors are made: {status}"
        yield Diagnosis(Severity.WARNING, "embedder", told, "correct what it names; the next session starts another")
        return
    state = f"running: {status}" if status else "not running; a session starts it when it is needed"
    yield Diagnosis(Severity.OK, "embedder", state)


def _check_consolidation(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Tell how the user's own Claude Code fares, where it was asked for."""
    from hyperloci.conversations.chat_model import ChatError
    from hyperloci.conversations.claude_allowance import ClaudeAllowance
    from hyperloci.conversations.claude_client import find_claude

    if settings.consolidation != "claude" or not os.path.exists(settings.database):
        return
    try:
        program = find_claude(settings.claude_program, os.environ)  # noqa: TID251 - handed on as it is
    except ChatError as error:
        yield Diagnosis(
            Severity.WARNING, "consolidation", str(error), "or: hyperloci install --consolidation heuristic"
        )
        return
    with Store.open(settings.database, backup_dir=settings.backup_dir) as store:
        usage = ClaudeAllowance(store, settings, system_clock).get_usage()
    used = f"{usage.calls} of {settings.claude_calls_per_day} calls used today"
    if usage.fault:
        message = f"{program} failed {usage.failures} times in a row: {usage.fault} ({used})"
        mend = "run claude once and sign in; meanwhile rules make facts of what can't wait"
        yield Diagnosis(Severity.WARNING, "consolidation", message, mend)
    else:
        yield Diagnosis(Severity.OK, "consolidation", f"by {program}: {used}")


def _check_spool(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    folder = settings.spool_dir
    if waiting := spool.list_waiting_files(folder):
        many = count_things(len(waiting), "record")
        yield Diagnosis(Severity.NOTE, "spool", f"waiting to be stored: {many} of hooks; the next session stores them")
    for path, reason in spool.list_set_aside(folder):
        mend = f"see {settings.log_file}; the next version tries it again; delete it to discard it"
        yield Diagnosis(Severity.NOTE, "spool", f"{path} could not be stored: {reason}", mend)
    unnamed = [] if settings.is_usual_database else spool.list_unnamed_files(settings)
    if unnamed:
        many = count_things(len(unnamed), "record")
        message = f"{many} of hooks in {folder.parent} for no database: an earlier version left them"
        mend = f"they will be stored in the default database; move them to {folder} to store them in this one"
        yield Diagnosis(Severity.NOTE, "spool", message, mend)


def _check_hooks(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    account = HookStatistics.read_log(str(settings.spool_dir))
    for message, mend in account.list_problems():
        yield Diagnosis(Severity.WARNING, "hooks", message, mend)
    if account.event_count:
        times = ", ".join(f"{event} {middle:.0f}/{end:.0f}" for event, (middle, end) in sorted(account.times.items()))
        message = f"{account.event_count} events in {DAYS} days; ms per event (median/95th percentile): {times}"
        yield Diagnosis(Severity.OK, "hooks", message)
