"""Installer: adds Hyperloci to Claude Code's configuration and removes it (`hyperloci install`, `uninstall`).

Each scope has two files: the MCP server goes where `claude mcp add` would put it, the hooks into the settings. A plan
is made first (`plan_install`, `plan_uninstall`) and can be shown; `apply_plan` writes it. Only our own entries change,
the rest of a file keeps its bytes, and a file that is not plain JSON is refused and left unchanged.

`hyperloci.cli.install.config_entries` defines the entries.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import uuid
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from hyperloci.cli.install import json_edit
from hyperloci.cli.install.commands import InstalledCommands
from hyperloci.cli.install.config_entries import hook_entries, with_hooks, with_server, without_hooks, without_server
from hyperloci.cli.install.json_edit import JsonObject
from hyperloci.cli.install.settings_file import with_setting
from hyperloci.errors import ConfigurationError
from hyperloci.system.regular_file import open_regular_file
from hyperloci.system.values import dataclass

BACKUP_SUFFIX: Final = ".hyperloci.bak"
"""The file as it was before our first change; never overwritten, and named so that no other program uses it."""

_DIFF_CONTEXT: Final = 2
_DIFF_LINE_LIMIT: Final = 240
"""A settings file on one line may be megabytes long; a diff must stay readable."""


class InstallScope(StrEnum):
    """Where an installation is in effect."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFiles:
    """The two files of a scope."""

    servers: Path
    settings: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The change to one file.

    Attributes:
        path: as a person would name it; may be a symbolic link, which is followed.
        before: its bytes now; None if there is no such file.
        after: its new bytes; None if there is to be none.
        mode: permissions of a new file.
        backs_up: whether the file is copied beside itself first: it is as it was before our first change.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int
    backs_up: bool = False

    @property
    def changed(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff; empty if there is none."""
        before, after = (_split_lines(content) for content in (self.before, self.after))
        name = str(self.path)
        return "\n".join(difflib.unified_diff(before, after, name, name, lineterm="", n=_DIFF_CONTEXT))


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an installation or its removal will write, one change per file."""

    scope: InstallScope
    changes: tuple[FileChange, ...]

    @property
    def changed(self) -> bool:
        """Whether anything is to be written."""
        return any(change.changed for change in self.changes)

    def diff(self) -> str:
        """Return all changes as unified diffs, empty where there are none."""
        return "\n".join(text for change in self.changes if (text := change.diff()))


def target_files(scope: InstallScope, *, project_root: Path, home: Path, config_dir: Path | None = None) -> TargetFiles:
    """Return the files of a scope; `config_dir` is CLAUDE_CONFIG_DIR if that is set."""
    if scope is InstallScope.PROJECT:
        return TargetFiles(servers=project_root / ".mcp.json", settings=project_root / ".claude" / "settings.json")
    folder = config_dir or home / ".claude"
    # Claude Code reads this older name instead of `.claude.json` for as long as it exists with something in it.
    legacy = folder / ".config.json"
    current = (config_dir or home) / ".claude.json"
    in_use = legacy if legacy.is_file() and legacy.stat().st_size > 0 else current
    return TargetFiles(servers=in_use, settings=folder / "settings.json")


def plan_install(
    scope: InstallScope, *, project_root: Path, home: Path, commands: InstalledCommands, config_dir: Path | None = None
) -> InstallPlan:
    """Plan to write our entries, or to update existing ones.

    Raises:
        ConfigurationError: a file is not plain JSON, or has something else where servers or hooks belong.
    """
    files = target_files(scope, project_root=_existing_project_file(project_root), home=home, config_dir=config_dir)
    server, hook = commands.server, commands.hook
    entries = hook_entries(hook.program, *hook.arguments)
    return InstallPlan(
        scope,
        (
            plan_addition(
                files.servers,
                scope,
                edit_json(lambda document: with_server(document, server.program, *server.arguments)),
                edit_json(without_server),
            ),
            plan_addition(
                files.settings,
                scope,
                edit_json(lambda document: with_hooks(document, entries)),
                edit_json(without_hooks),
            ),
        ),
    )


def plan_setting(path: Path, name: str, value: str) -> FileChange:
    """Plan to give one of the user's settings a value.

    Raises:
        ConfigurationError: the file is not TOML.
    """
    before = read_file(path)
    try:
        after = with_setting((before or b"").decode("utf-8-sig"), name, value).encode()
    except (UnicodeDecodeError, ConfigurationError) as error:
        raise ConfigurationError(f"{path} can't be changed safely and was left unchanged: {error}.") from error
    return FileChange(path=path, before=before, after=after, mode=0o600, backs_up=bool(before))


def plan_uninstall(
    scope: InstallScope, *, project_root: Path, home: Path, config_dir: Path | None = None
) -> InstallPlan:
    """Plan to remove our entries, and objects that become empty.

    Raises:
        ConfigurationError: as for `plan_install`.
    """
    files = target_files(scope, project_root=_existing_project_file(project_root), home=home, config_dir=config_dir)
    return InstallPlan(
        scope,
        (
            plan_removal(files.servers, edit_json(without_server)),
            plan_removal(files.settings, edit_json(without_hooks)),
        ),
    )


def apply_plan(plan: InstallPlan) -> tuple[Path, ...]:
    """Write a plan and return the files written.

    Each file is replaced in one step (a reader sees the old or the new one, whole), keeps its permissions, and is
    copied beside itself once, before the first change; a copy that equals the file again is deleted.

    Raises:
        ConfigurationError: a file has changed since the plan was made (nothing is written), or can't be written.
    """
    pending = [change for change in plan.changes if change.changed]
    for change in pending:
        if read_file(change.path) != change.before:
            raise ConfigurationError(f"{change.path} was just changed by another program; run this command again.")
    for change in pending:
        _write_change(change)
    return tuple(change.path for change in pending)


EditDocument = Callable[[JsonObject], JsonObject]
EditContent = Callable[[bytes], bytes]


def plan_addition(path: Path, scope: InstallScope, add: EditContent, remove: EditContent) -> FileChange:
    """Plan to add our entries to a file.

    Raises:
        ConfigurationError: it can't be changed safely.
    """
    # A user's files may hold keys of other servers; a project's are shared through its repository.
    mode = 0o600 if scope is InstallScope.USER else 0o666
    before = read_file(path)
    with _refuse_unsafe(path):
        after = add(before or b"")
        is_untouched = bool(before) and remove(before or b"") == before
    return FileChange(path=path, before=before, after=after, mode=mode, backs_up=is_untouched)


def plan_removal(path: Path, remove: EditContent) -> FileChange:
    """Plan to take our entries out, and to delete a file that an installation made if nothing else is in it.

    An object that becomes empty goes too, unless it was there before the installation.

    Raises:
        ConfigurationError: it can't be changed safely.
    """
    before = read_file(path)
    if before is None:
        return FileChange(path=path, before=None, after=None, mode=0)
    with _refuse_unsafe(path):
        after: bytes | None = remove(before)
    backup = find_backup(path)
    if after != before and after and backup is not None:
        original = backup.read_bytes()
        after = original if after.rstrip() == original.rstrip() else _keep_empty(before, after, original)
    elif after != before and after is not None and _is_empty(after) and backup is None:
        after = None
    return FileChange(path=path, before=before, after=after, mode=0)


@contextlib.contextmanager
def _refuse_unsafe(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError, ConfigurationError) as error:
        raise ConfigurationError(
            f"{path} can't be changed safely and was left unchanged: {str(error).rstrip('.')}."
        ) from error


def _keep_empty(before: bytes, after: bytes, original: bytes) -> bytes:
    mark = _BOM.encode() if after.startswith(_BOM.encode()) else b""
    try:
        texts = [content.decode("utf-8").removeprefix(_BOM) for content in (before, after, original)]
        return mark + json_edit.keep_empty(*texts).encode("utf-8")
    except ValueError:  # Of another format, in which nothing that is empty goes.
        return after


_EMPTY_DOCUMENTS: Final[tuple[JsonObject, ...]] = (
    {},
    {"mcpServers": {}},
    {"version": 1},
    {"$schema": "https://opencode.ai/config.json"},
)
"""What is left of a file that an installation made."""


def _is_empty(content: bytes) -> bool:
    text = content.decode("utf-8").removeprefix(_BOM)
    if not text.strip():
        return True
    try:
        return json_edit.parse_strict(text) in _EMPTY_DOCUMENTS
    except ValueError:
        return False


_BOM: Final = "\ufeff"


def edit_json(edit: EditDocument, *, comments: bool = False) -> EditContent:
    """Return an edit of a JSON document as one of its bytes; every byte that it does not concern stays.

    Args:
        edit: the edit of the parsed document.
        comments: whether the file's program allows comments in it.
    """

    def edit_bytes(before: bytes) -> bytes:
        text = before.decode("utf-8")
        mark, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
        document = _parse_document(text, comments)
        return (mark + json_edit.patch_text(text, edit(document))).encode("utf-8")

    return edit_bytes


def edit_text(edit: Callable[[str], str]) -> EditContent:
    """Return an edit of a text as one of its bytes."""
    return lambda before: edit(before.decode("utf-8")).encode("utf-8")


def _parse_document(text: str, comments: bool) -> JsonObject:
    try:
        document = json_edit.parse_lenient(text) if comments else json_edit.parse_strict(text)
    except ValueError as error:
        told = f"it is not JSON{'' if comments else ' without comments'} ({error})"
        if not comments and _is_lenient(text):
            told += "; take its comments, and commas behind a last member, out and run this again"
        raise ValueError(told) from error
    if not isinstance(document, dict):
        raise ValueError(f"it must hold an object, not {type(document).__name__}")
    return document


def _is_lenient(text: str) -> bool:
    with contextlib.suppress(ValueError):
        json_edit.parse_lenient(text)
        return True
    return False


def _existing_project_file(project_root: Path) -> Path:
    if not project_root.is_dir():
        raise ConfigurationError(f"{project_root} is not a folder.")
    return project_root


def _split_lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    return [line if len(line) <= _DIFF_LINE_LIMIT else line[:_DIFF_LINE_LIMIT] + " …" for line in text.splitlines()]


def read_file(path: Path) -> bytes | None:
    """Return a file's bytes, None where there is none.

    Raises:
        ConfigurationError: it can't be read.
    """
    try:
        with open_regular_file(Path(os.path.realpath(path))) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror or error}.") from error


def _write_change(change: FileChange) -> None:
    target = Path(os.path.realpath(change.path))
    try:
        if change.after is None:
            _delete_file(target)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if change.before is not None else None
        if change.backs_up:
            _back_up(target, change.before or b"", mode)
        _replace_file(target, change.after, change.mode, mode)
        if read_file(_backup_of(target)) == change.after:
            _backup_of(target).unlink()
    except OSError as error:
        raise ConfigurationError(f"{change.path} can't be written: {error.strerror or error}.") from error


def find_backup(path: Path) -> Path | None:
    """Return the copy of a file as it was before our first change, None where there is none."""
    backup = _backup_of(path)
    return backup if backup.exists() else None


def _delete_file(target: Path) -> None:
    """Delete a file that an installation made, and the folder around it if that is empty then."""
    target.unlink()
    with contextlib.suppress(OSError):
        target.parent.rmdir()


def _backup_of(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + BACKUP_SUFFIX)


def _back_up(target: Path, content: bytes, mode: int | None) -> None:
    if not _backup_of(target).exists():
        _replace_file(_backup_of(target), content, 0o600, mode)


def _replace_file(target: Path, content: bytes, new_mode: int, mode: int | None) -> None:
    """Put a file in place in one step, durably; `mode` None leaves `new_mode` to the umask."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, new_mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
