"""Action line: what the line of a tool action says, as `conversations.capture.tool_use` writes it and a turn keeps it.

    Bash: make (exit 2): No rule to make target
    Edit src/limits.py: +1 -1 lines: `RETRIES = 3` became `RETRIES = 5`
    WebFetch: https://example.org

First the tool, then what it was called with, then how it ended. Whoever reads such a line reads it here.
"""

from __future__ import annotations

import re
from typing import Final

from hyperloci.system.values import dataclass

EDITORS: Final = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
"""What the line of an action begins with that changed a file."""

SHELLS: Final = frozenset({"Bash", "PowerShell"})

_FAILED: Final = re.compile(r" \((?:failed|exit -?\d+)\)")
_INTERRUPTED: Final = " (interrupted)"
_EDIT: Final = re.compile(r"(?P<path>[^\n]+?)(?P<more> and \d++ more)?: (?:\+\d+ -\d+|\d+) lines")
"""How what is told of an edit begins; a path may have a colon (`C:`)."""

_CHANGE: Final = re.compile(r"`([^`\n]{1,90})` became `([^`\n]{1,90})`")
_ADDRESS: Final = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file that was edited.

    Attributes:
        path: its path, of several files the first one's.
        changes: the short lines that became others: what each was, and what it became.
        is_one_of_several: whether other files were edited with it, so that nobody can tell whose the changes are.
    """

    path: str
    changes: tuple[tuple[str, str], ...]
    is_one_of_several: bool = False


@dataclass(frozen=True, slots=True)
class ActionLine:
    """The line of an action, read.

    Attributes:
        tool: the tool that the line begins with (`Bash`), or what stands for it (`Plan`, `Asked`).
        told: what stands behind the tool: what it was called with, and how it ended.
        called: the tool and what it was called with, without how it failed.
        has_failed: whether it failed.
        was_interrupted: whether the user broke it off.
    """

    tool: str
    told: str
    called: str
    has_failed: bool
    was_interrupted: bool

    @property
    def has_ended_badly(self) -> bool:
        """Whether it failed, or the user broke it off."""
        return self.has_failed or self.was_interrupted

    @property
    def is_edit(self) -> bool:
        """Whether it changed a file."""
        return self.tool in EDITORS

    @property
    def edited(self) -> EditedFile | None:
        """What became what in which file; None where it tells of no lines."""
        found = _EDIT.match(self.told) if self.is_edit else None
        if found is None:
            return None
        changes = tuple((match[1], match[2]) for match in _CHANGE.finditer(self.told, found.end()))
        return EditedFile(found["path"], changes, found["more"] is not None)

    @property
    def command(self) -> str | None:
        """What a shell was told to do, with how it ended; None of another tool."""
        return self.told if self.tool in SHELLS else None

    @property
    def address(self) -> str | None:
        """The page that was fetched; None of another tool."""
        found = _ADDRESS.match(self.told) if self.tool == "WebFetch" else None
        return found[0] if found else None


def read_action_line(line: str) -> ActionLine:
    """Return what the line of an action says."""
    first, _, told = line.partition(" ")
    failed = _FAILED.search(line)
    return ActionLine(
        tool=first.removesuffix(":"),
        told=told,
        called=(line[: failed.start()] if failed else line).rstrip(),
        has_failed=failed is not None,
        was_interrupted=_INTERRUPTED in line,
    )
