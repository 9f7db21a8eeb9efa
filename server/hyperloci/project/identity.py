"""Identity: which project a folder belongs to, decided by where it is, not by what it claims.

A project is a place: the Git folder that all working trees of a clone share, known by its path and by the token that we
left in it; outside of any repository, the folder's path. What a repository claims (its remote, its first commit, a name
in its own `.hyperloci.toml`) can be written by anyone, so it never makes an id; it only suggests what the user may join
with `hyperloci link`. A name that the user gives, in their own settings or environment, does make one.

Only a few small files are read; Git is started only to find the first commit.
"""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from pathlib import Path
from typing import Final

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.project.clone_token import ensure_token
from hyperloci.project.git_folder import (
    BrokenRepositoryError,
    Head,
    Repository,
    find_external_storage,
    find_repository,
    is_shallow,
    open_repository,
    read_head,
    read_remotes,
)
from hyperloci.project.remote import normalise_remote, resolve_local_remote
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.sanitizer import sanitize_name

GIT_TIMEOUT_SECONDS: Final = 2.0
"""Enough to walk a hundred thousand commits; a longer history without any remote is hardly met."""

ID_HEX_DIGITS: Final = 16
"""64 bits: a person with a million projects would see two of them collide with a chance of one in 37 million."""

MAX_CLAIM_CHARS: Final = 80
"""Of the name that a repository gives itself."""

_MAX_LOCAL_HOPS: Final = 3
"""A clone of a clone on the same disk is followed to the address where the first one came from."""


class IdentityBasis(StrEnum):
    """What an id is made from. The middle two were, before places were known; they are claims now."""

    NAME = "name"
    REMOTE = "remote"
    ROOT_COMMIT = "root_commit"
    PATH = "path"
    PLACE = "place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project, and where in it a folder is.

    Attributes:
        id: `project:` and 16 hexadecimal digits. `identify_project` gives that of the place; an opened memory's is the
        scope
            of its memories, which is another one's where the place moved or was linked.
        name: for people; not unique, and anyone's word.
        root: real path of the working tree, or of the folder itself outside of any repository.
        basis: what `id` was made from.
        place_id: the id of the place itself, '' where a name makes the id.
        place: the folder that stands for the project: the Git folder that all working trees share, else `root`.
        token: hash of the token in that Git folder; None where none can be kept.
        common_dir: the Git folder that all working trees share; None outside of any repository.
        remote: `host/owner/repository`, never with credentials; a claim.
        root_commit: the first commit, where it was asked for; a claim.
        claimed_name: what the repository's own settings call it; a claim.
        branch: None when detached or without a repository.
        head: the commit that is checked out; None before the first.
        former_ids: the ids that older versions of the program gave such a folder.
        is_broad: the home folder, a folder above it, or a file system's root: too much to index or watch.
        notes: what could not be found out, in words for `doctor`.
    """

    id: str
    name: str
    root: Path
    basis: IdentityBasis
    place_id: str
    place: Path
    token: str | None = None
    common_dir: Path | None = None
    remote: str | None = None
    root_commit: str | None = None
    claimed_name: str | None = None
    branch: str | None = None
    head: str | None = None
    former_ids: tuple[str, ...] = ()
    is_broad: bool = False
    notes: tuple[str, ...] = ()

    def means_root(self, path: Path) -> bool:
        """Tell whether a path, from the root or in full, means the whole project."""
        return os.path.realpath(self.root / path) == os.path.realpath(self.root)

    def resolve_path(self, path: Path) -> Path:
        """Return the real place of a file or folder of the project, named from its root or in full.

        Raises:
            BadRequestError: it lies outside the project, or no file system can have it.
            NotFoundError: there is nothing.
        """
        try:
            target = (self.root / path).resolve()
            is_inside = target.is_relative_to(self.root.resolve())
            exists = is_inside and target.exists()  # Of what lies outside, nothing is told.
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that lead to each other.
            raise BadRequestError(f"path={str(path)!r:.80} is not a valid path: {error}.") from error
        if not is_inside:
            raise BadRequestError(f"path={str(path)!r} lies outside the project; give a path inside {self.root}.")
        if not exists:
            raise NotFoundError(f"path={str(path)!r} does not exist in {self.root}.")
        return target


def identify_project(
    path: Path,
    *,
    override: str | None = None,
    claimed_name: str | None = None,
    home: Path | None = None,
    git_timeout: float = GIT_TIMEOUT_SECONDS,
    find_first_commit: bool = False,
) -> Project:
    """Find out which project a folder (or file) belongs to, and leave a token in its Git folder if it has none.

    The home folder, and any above it, is a project only when it is opened itself: a repository that someone keeps
    there for dotfiles doesn't swallow what lies below.

    Args:
        path: what was opened; it need not exist.
        override: the user's own name for the project; projects of one name share a memory.
        claimed_name: the name that the project's own settings give it.
        home: the home folder, for tests; by default the user's.
        git_timeout: seconds that Git may take.
        find_first_commit: start Git for the first commit, so that claims and former ids are complete.

    Raises:
        BadRequestError: `path` can't be a path at all.
    """
    folder = _resolve_folder(path)
    home = home or _home_folder()
    wide = _broad_folders(folder, home)
    notes: list[str] = []
    try:
        repository = find_repository(folder, wide)
    except BrokenRepositoryError as error:
        repository, folder = None, error.root
        notes.append(str(error))
    root = repository.root if repository else folder
    if root in wide:
        notes.append(f"{root} is too broad to be indexed or watched; open a folder inside it")
    head = read_head(repository) if repository else Head(None, None)
    remote = _main_remote(repository, notes) if repository else None
    first = _find_root_commit(repository, head, home, git_timeout, notes) if repository and find_first_commit else None
    place = repository.common_dir if repository else root
    token = ensure_token(place) if repository else None
    name, claimed_name = (override or "").strip(), _sanitize_claim(claimed_name or "")
    basis, id = _choose_id(name, place, token, is_repository=repository is not None)
    return Project(
        id=id,
        name=sanitize_name(
            name or claimed_name or (remote or "").rpartition("/")[2] or _display_name(root.name or str(root))
        ),
        root=root,
        basis=basis,
        place_id="" if basis is IdentityBasis.NAME else id,
        place=place,
        token=token,
        common_dir=repository.common_dir if repository else None,
        remote=remote,
        root_commit=first,
        claimed_name=claimed_name or None,
        branch=sanitize_name(head.branch) if head.branch else None,
        head=head.commit,
        former_ids=_list_former_ids(claimed_name, remote, first, _main_root(root, repository)),
        is_broad=root in wide,
        notes=tuple(notes),
    )


def _choose_id(name: str, place: Path, token: str | None, *, is_repository: bool) -> tuple[IdentityBasis, str]:
    """Return a project's id and what it is made from: the user's own name for it, else its place."""
    if name:
        basis, key = IdentityBasis.NAME, name
    elif is_repository:
        basis, key = IdentityBasis.PLACE, f"{os.path.normcase(place)}\n{token or ''}"
    else:
        basis, key = IdentityBasis.PATH, os.path.normcase(place)
    return basis, make_project_id(basis, key)


def find_place_folder(path: Path, *, home: Path | None = None) -> Path:
    """Return the folder that stands for the project of a path (`Project.place`); the path need not exist.

    Unlike `identify_project` it leaves no token.
    """
    folder = _resolve_folder(path)
    try:
        repository = find_repository(folder, _broad_folders(folder, home or _home_folder()))
    except BrokenRepositoryError as error:
        return error.root
    return repository.common_dir if repository else folder


def make_project_id(basis: IdentityBasis, key: str) -> str:
    """Return the id that a key gives; the kind of key is part of it, so that a name can't pass for a remote."""
    digest = hashlib.sha256(f"{basis}:{key}".encode("utf-8", "surrogateescape")).hexdigest()
    return f"project:{digest[:ID_HEX_DIGITS]}"


def _list_former_ids(claimed_name: str, remote: str | None, first: str | None, place: Path) -> tuple[str, ...]:
    keys = [
        (IdentityBasis.NAME, claimed_name),
        (IdentityBasis.REMOTE, remote),
        (IdentityBasis.ROOT_COMMIT, first),
        (IdentityBasis.PATH, os.path.normcase(place)),
    ]
    return tuple(make_project_id(basis, key) for basis, key in keys if key)


def _main_root(root: Path, repository: Repository | None) -> Path:
    """Return the one path that all working trees of a repository share: that of the first of them, if there is one."""
    if repository is None:
        return root
    common_dir = repository.common_dir
    return common_dir.parent if common_dir.name == ".git" else common_dir


def _main_remote(repository: Repository, notes: list[str]) -> str | None:
    """Return the address of the repository's main remote; one on this disk is followed to where it came from."""
    for _ in range(_MAX_LOCAL_HOPS):
        try:
            remotes = read_remotes(repository.common_dir)
        except OSError as error:
            notes.append(f"{repository.common_dir / 'config'} can't be read ({error.strerror or error})")
            return None
        if not remotes:
            return None
        url = remotes[min(remotes, key=_remote_preference)]
        if hosted := normalise_remote(url):
            return hosted
        source = _local_repository(url, _main_root(repository.root, repository))
        if source is None:
            return None
        repository = source
    return None


def _remote_preference(remote_name: str) -> tuple[bool, bool, str]:
    return remote_name != "origin", remote_name != "upstream", remote_name


def _local_repository(url: str, base: Path) -> Repository | None:
    folder = resolve_local_remote(url, base)
    try:
        return open_repository(folder) or open_repository(folder.with_name(folder.name + ".git"))
    except (BrokenRepositoryError, ValueError):
        return None


def _find_root_commit(
    repository: Repository, head: Head, home: Path | None, timeout: float, notes: list[str]
) -> str | None:
    if head.branch is not None and head.commit is None:
        return None  # Nothing has been committed yet.
    if elsewhere := find_external_storage(repository.common_dir):
        notes.append(f"the repository borrows objects from {elsewhere}, so its history is not read")
        return None
    if is_shallow(repository.common_dir):
        notes.append("this is a shallow clone, so its first commit does not identify it")
        return None
    # Few openings of a place get here, and these imports take milliseconds.
    from hyperloci.project.git import GitError, root_commit

    try:
        return root_commit(repository.root, home, timeout)
    except GitError as error:
        notes.append(str(error))
        return None


def _sanitize_claim(text: str) -> str:
    """Return what a repository says of itself as a name that can't pass for more than one."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:MAX_CLAIM_CHARS]


def _display_name(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _resolve_folder(path: Path) -> Path:
    try:
        real = Path(os.path.realpath(path))
    except ValueError as error:
        raise BadRequestError(f"path={str(path)!r} is not a valid path: {error}.") from error
    return real.parent if os.path.isfile(real) else real


def _home_folder() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _broad_folders(folder: Path, home: Path | None) -> frozenset[Path]:
    real_home = Path(os.path.realpath(home)) if home else None
    above = (real_home, *real_home.parents) if real_home else ()
    return frozenset({Path(folder.anchor), *above})
