"""Git events: which of Git's files show that a branch or HEAD moved: commits, checkouts, merges, rebases, fetches.

One more says which files are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci.project.git_folder import Repository

_POINTERS: Final = frozenset({"HEAD", "packed-refs"})


def git_watches(repository: Repository) -> Iterator[tuple[Path, bool]]:
    """Yield the folders to watch, and whether with all below them.

    A linked working tree has a HEAD of its own beside the common folder, where all branches are.
    """
    for folder in dict.fromkeys((repository.git_dir, repository.common_dir)):
        yield folder, False
    for name in ("refs", "reftable"):
        if (repository.common_dir / name).is_dir():
            yield repository.common_dir / name, True
    if (repository.common_dir / "info").is_dir():
        yield repository.common_dir / "info", False
    if (repository.git_dir / "logs").is_dir():
        yield repository.git_dir / "logs", False


def is_exclude_file(repository: Repository, path: str) -> bool:
    """Whether a file is that of Git's folder which says what is ignored."""
    return path.endswith("exclude") and Path(path) == repository.common_dir / "info" / "exclude"


def is_git_state(repository: Repository, path: Path) -> bool:
    """Whether a change of this file means that HEAD or a branch moved. Git writes `X.lock` and renames it to `X`."""
    if path.name.endswith(".lock"):
        return False
    if path.name in _POINTERS and path.parent in (
        repository.git_dir,
        repository.common_dir,
        repository.git_dir / "logs",
    ):
        return True
    return any(path.is_relative_to(repository.common_dir / name) for name in ("refs", "reftable"))
