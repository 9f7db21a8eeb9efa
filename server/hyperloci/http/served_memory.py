"""Served memory: what is answered from over HTTP, the user's own database or one that several people share.

A memory is private unless it is shared on purpose. So nobody else is let into the user's own database at all, where
every path of every answer would have to hide rows; what others may see lies in another file, told there on purpose.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.values import dataclass

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class ServedMemory:
    """What is served over HTTP.

    Attributes:
        settings: those of its database.
        folder: the project that it is about; a common memory's is its own folder.
        is_common: whether people other than the user may hold tokens.
    """

    settings: Settings
    folder: Path
    is_common: bool

    @classmethod
    def choose(cls, settings: Settings, project: Path, common: str | None, *, must_exist: bool = False) -> Self:
        """Return a project's own memory, or the common one of a name, made where it is not there.

        Raises:
            BadRequestError: the name can't be a file's.
            NotFoundError: it `must_exist`, and there is no common one of that name.
        """
        if common is None:
            return cls(settings, project, is_common=False)
        if not _NAME.fullmatch(common):
            raise BadRequestError(
                f"common={common!r} must be 1 to 64 lower-case letters, digits, '.', '_' or '-', such as 'acme'."
            )
        folder = settings.state_dir / "common" / common
        if must_exist and not folder.is_dir():
            begun = ", ".join(sorted(path.name for path in folder.parent.glob("*") if path.is_dir()))
            raise NotFoundError(f"common={common!r}: there is no such common memory; there is {begun or 'none yet'}.")
        make_own_folders(folder)
        kept = replace(settings, database=folder / "memory.db", project=f"common-{common}", watch=False)
        return cls(kept, folder, is_common=True)

    def open(self) -> Memory:
        """Open it.

        Raises:
            StoreError: the database can't be opened.
        """
        memory = Memory.open(self.settings, self.folder)
        memory.parents = []
        return memory
