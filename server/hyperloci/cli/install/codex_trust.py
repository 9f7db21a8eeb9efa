"""Codex trust: which of our hooks Codex would run, asked of its own app server, and trust written where that is wanted.

Codex runs a hook only after its user approved it, and `codex exec` skips any other without a word. What it trusts is a
hash of the hook as it stands, kept in its `config.toml`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperloci import __version__
from hyperloci.cli.install.config_entries import is_our_handler
from hyperloci.cli.install.installer import FileChange, InstallScope, edit_text, plan_addition
from hyperloci.cli.install.toml_tables import parse_toml, with_table, without_table
from hyperloci.system.values import dataclass

ASK_SECONDS: Final = 20.0
"""The app server answers in a second; a machine that indexes may take longer."""

TRUSTED: Final = frozenset({"trusted", "managed"})

END_SECONDS: Final = 2.0

_STATE: Final = ("hooks", "state")


@dataclass(frozen=True, slots=True)
class CodexHook:
    """One of our hooks as Codex sees it.

    Attributes:
        key: names it in `config.toml`.
        current_hash: what it is now.
        trust: Codex's word: trusted, untrusted, modified, managed.
        command: the line that it runs.
    """

    key: str
    current_hash: str
    trust: str
    command: str = ""

    @property
    def is_trusted(self) -> bool:
        """Whether Codex runs it."""
        return self.trust in TRUSTED


class CodexUnreachableError(Exception):
    """Codex's app server did not answer."""


def list_codex_hooks(program: str, project: Path, environ: Mapping[str, str]) -> list[CodexHook]:
    """Return our hooks as Codex's app server lists them for a folder.

    Raises:
        CodexUnreachableError: it can't be started, or does not answer.
    """
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            cwd=project,
            start_new_session=True,
        )
    except OSError as error:
        raise CodexUnreachableError(str(error)) from error
    try:
        answer = _ask_hooks(process, project)
    finally:
        _end_process(process)
    return list(_read_hooks(answer))


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """End the app server with what it started: npm's `codex` is a script that starts the program."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=END_SECONDS)


def _ask_hooks(process: subprocess.Popen[bytes], project: Path) -> Mapping[str, Any]:
    client = {"name": "hyperloci", "title": "Hyperloci", "version": __version__}
    requests: Sequence[Mapping[str, Any]] = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": client}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(project)]}},
    )
    assert process.stdin is not None
    try:
        process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        process.stdin.flush()
    except OSError as error:
        raise CodexUnreachableError(str(error)) from error
    for line in _read_lines(process):
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and message.get("id") == 2:
            if isinstance(message.get("result"), dict):
                result: Mapping[str, Any] = message["result"]
                return result
            raise CodexUnreachableError(f"hooks/list: {message.get('error')}")
    raise CodexUnreachableError("codex app-server did not answer hooks/list")


def _read_lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield the lines that come in time."""
    assert process.stdout is not None
    until, held = time.monotonic() + ASK_SECONDS, b""
    while (left := until - time.monotonic()) > 0:
        if os.name == "posix" and not select.select([process.stdout], [], [], left)[0]:
            return
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            return
        *lines, held = (held + piece).split(b"\n")
        yield from lines


def _read_hooks(answer: Mapping[str, Any]) -> Iterator[CodexHook]:
    for folder in answer.get("data", ()):
        for hook in folder.get("hooks", ()):
            if is_our_handler(hook):
                yield CodexHook(
                    str(hook["key"]), str(hook["currentHash"]), str(hook["trustStatus"]), str(hook["command"])
                )


def choose_trustworthy(hooks: Sequence[CodexHook], lines: Collection[str]) -> list[CodexHook]:
    """Return the hooks that run one of the lines that we install, letter by letter.

    A project's own files are listed too: a line there that begins like ours and goes on otherwise is not trusted.
    """
    return [hook for hook in hooks if hook.command in lines]


def plan_trust(config: Path, hooks: Sequence[CodexHook]) -> FileChange:
    """Plan to write into Codex's settings, which have our server already, that it may run these hooks as they are now.

    Raises:
        ConfigurationError: the file can't be changed safely.
    """

    def add(text: str) -> str:
        for hook in hooks:
            if not hook.is_trusted:
                text = with_table(text, (*_STATE, hook.key), {"trusted_hash": hook.current_hash})
        return text

    return plan_addition(config, InstallScope.USER, edit_text(add), edit_text(lambda text: ""))


def without_trust(text: str, hooks_file: Path) -> str:
    """Return Codex's settings without what they say of our hooks in a file; what they say of others stays.

    Raises:
        ConfigurationError: the text is not TOML, or can't be changed safely.
    """
    states = parse_toml(text).get("hooks", {}).get("state", {})
    for key in _list_keys(hooks_file):
        if key in states:
            text = without_table(text, (*_STATE, key))
    return text


def _list_keys(hooks_file: Path) -> Iterator[str]:
    """Yield the keys of our handlers in a file of hooks: its path, the event, the group's place, the handler's."""
    try:
        events = json.loads(hooks_file.read_bytes())["hooks"]
        for event, groups in events.items():
            snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
            for group, content in enumerate(groups):
                for place, handler in enumerate(content["hooks"]):
                    if is_our_handler(handler):
                        yield f"{hooks_file}:{snake}:{group}:{place}"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
