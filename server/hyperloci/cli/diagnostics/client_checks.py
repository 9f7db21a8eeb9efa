"""Client checks of `hyperloci doctor`: each assistant that is found, whether it is wired, trusted, and heard of."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperloci.cli.diagnostics.diagnosis import Diagnosis, Severity
from hyperloci.cli.install.client_commands import find_folders
from hyperloci.cli.install.client_install import ClientState, describe_client, is_present
from hyperloci.cli.install.client_table import ClientFolders
from hyperloci.cli.install.codex_trust import CodexUnreachableError, list_codex_hooks
from hyperloci.clock import format_minute
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import title_client
from hyperloci.errors import HyperlociError
from hyperloci.store import Store
from hyperloci_hooks.dialects.dialect import NAMES, load_dialect


def check_clients(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Yield what is found of each assistant but Claude Code, which has a check of its own."""
    folders = find_folders(project)
    heard = _find_last_events(settings)
    for client in NAMES:
        if not is_present(client, folders):
            continue
        try:
            state = describe_client(client, folders)
        except HyperlociError as error:
            yield Diagnosis(Severity.WARNING, client, str(error), "correct the file, then run this command again")
            continue
        yield _describe_wiring(state, heard)
        if client == "codex" and state.wired and state.program:
            yield from _check_trust(state.program, folders)


def _find_last_events(settings: Settings) -> Mapping[str, int]:
    if os.path.exists(settings.database):
        with contextlib.suppress(HyperlociError), Store.open(settings.database, read_only=True) as store:
            return store.sessions.find_last_of_clients()
    return {}


def _describe_wiring(state: ClientState, heard: Mapping[str, int]) -> Diagnosis:
    table = load_dialect(state.client)
    assert table is not None
    version = state.version or ("found" if state.program else "without its command on the PATH")
    tested = f" (made for {table.version})" if state.version and table.version not in state.version else ""
    told = f"{title_client(state.client)} {version}{tested}"
    if not state.wired:
        return Diagnosis(
            Severity.NOTE, state.client, f"{told}: not wired", f"hyperloci install --client {state.client}"
        )
    seen = format_minute(heard[state.client]) if state.client in heard else "none yet"
    message = f"{told}: wired in {', '.join(str(path) for path in state.wired)}; last event: {seen}"
    if state.lacking and not _is_whole(state):
        lacking = ", ".join(str(path) for path in state.lacking)
        mend = f"hyperloci install --client {state.client}"
        return Diagnosis(Severity.WARNING, state.client, f"{message}; {lacking} lacks its part", mend)
    return Diagnosis(Severity.OK, state.client, message)


def _is_whole(state: ClientState) -> bool:
    """Tell whether what lacks our part is only the other scope's: a project's files wire it too."""
    return not any(path.parent == other.parent for path in state.lacking for other in state.wired)


def _check_trust(program: str, folders: ClientFolders) -> Iterator[Diagnosis]:
    try:
        hooks = list_codex_hooks(program, folders.project, folders.environ)
    except CodexUnreachableError as error:
        yield Diagnosis(
            Severity.NOTE, "codex", f"could not be asked which hooks it trusts: {error}", "see /hooks there"
        )
        return
    waiting = [hook for hook in hooks if not hook.is_trusted]
    if not waiting:
        yield Diagnosis(Severity.OK, "codex", f"all {len(hooks)} hooks are trusted")
        return
    states = ", ".join(sorted({hook.trust for hook in waiting}))
    message = f"{len(waiting)} of {len(hooks)} hooks are {states}: Codex skips them, codex exec without a word"
    yield Diagnosis(
        Severity.WARNING,
        "codex",
        message,
        "approve them in Codex with /hooks, or: hyperloci install --client codex --trust",
    )
