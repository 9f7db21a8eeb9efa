"""Tree walk: finds every file of a project that is indexed, and everything that is not, with the reason.

Ignore files (`.gitignore`, `.hyperlociignore`, the repository's `info/exclude`) have Git's meaning (`ignore_files`), in
folders without Git too. What `skip_rules` names is skipped on top of that. Symbolic links to folders
are not followed; a link to a file counts only if the file lies in the tree and is not indexed by itself. A repository
inside a repository is a project of its own.

The order is always the same: names sorted, a folder's files before its folders, symbolic links at the very end.
What cannot be read raises nothing: it is skipped, with the system's message.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Final

from hyperloci.indexing.ignore_files import (
    OWN_IGNORE_FILE,
    Chain,
    compile_rules,
    drop_patterns_ignoring,
    find_ignoring_rule,
    pattern_lines,
    read_folder_rules,
    read_rules,
)
from hyperloci.indexing.skip_rules import (
    BINARY,
    EMPTY_KIND,
    SECRET_NAME,
    reason_to_skip_content,
    reason_to_skip_folder,
    reason_to_skip_name,
)
from hyperloci.model.answers import SkippedFile
from hyperloci.project.git_folder import BrokenRepositoryError, find_repository
from hyperloci.system.regular_file import open_regular_file
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.file_kinds import FileKind, file_kind_of, largest_size
from hyperloci.text.decoding import HEAD_BYTES, decode_head
from hyperloci.text.sanitize.sanitizer import sanitize_name

MAX_FILE_BYTES = 1_000_000
"""Larger files are data or generated; the setting `max_file_bytes` overrides it."""

IGNORED: Final = "ignored by "
"""How a reason begins that comes from an ignore file or a setting."""

UNREADABLE: Final = "cannot be read"
"""How the reason for what may be there but could not be looked at begins: it may be indexed the next time, and nothing
of it is forgotten until then."""

EXCLUDE_SETTING: Final = "the setting exclude"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexableFile:
    """A file to index.

    Attributes:
        path: POSIX path relative to the root.
        size: bytes.
        mtime_ns: time of the last change.
        kind: which chunker reads it.
    """

    path: str
    size: int
    mtime_ns: int
    kind: FileKind


def walk_tree(
    root: Path, *, exclude: Sequence[str] = (), max_bytes: int = MAX_FILE_BYTES
) -> Iterator[IndexableFile | SkippedFile]:
    """Yield every file under `root` that is indexed, and every file and folder that is skipped; folders end in `/`.

    Args:
        root: the project's root.
        exclude: more patterns in the manner of `.gitignore`, relative to the root; stronger than every ignore file.
        max_bytes: larger files are skipped; a notebook may be ten times as large.
    """
    return _ProjectTree.at_root(root, exclude, max_bytes).iter_files()


def check_file(
    root: Path, path: Path | str, *, exclude: Sequence[str] = (), max_bytes: int = MAX_FILE_BYTES
) -> IndexableFile | SkippedFile:
    """Judge one file as `walk_tree` does, without walking.

    Args:
        root, exclude, max_bytes: as for `walk_tree`.
        path: absolute, or relative to the root.
    """
    return next(check_files(root, [path], exclude=exclude, max_bytes=max_bytes))


def check_files(
    root: Path, paths: Iterable[Path | str], *, exclude: Sequence[str] = (), max_bytes: int = MAX_FILE_BYTES
) -> Iterator[IndexableFile | SkippedFile]:
    """Judge some files as `check_file` does; the rules of a folder are read once for all that lies in it."""
    tree = _ProjectTree.at_root(root, exclude, max_bytes)
    return (tree.check_file(path) for path in paths)


def is_gone(path: Path) -> bool:
    """Return whether nothing is at a path; not of one that can't be looked at."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


class FolderTest:
    """Says of folders whether `walk_tree` would not enter them: so that they need not be watched.

    For one look over a tree: the rules of a folder are read once, for all that lies in it.
    """

    def __init__(self, root: Path, *, exclude: Sequence[str] = ()) -> None:
        self._tree = _ProjectTree.at_root(root, exclude, MAX_FILE_BYTES)

    def ignores(self, folder: Path | str) -> bool:
        """Whether nothing in a folder is indexed, by its name or by an ignore file."""
        relative = self._tree.relative_path(folder)
        return relative is None or self._tree.enter_folder(relative)[1] is not None


@dataclass(frozen=True, slots=True)
class _WalkedFolder:
    """A folder on the way: its path as a prefix (empty for the root), and the rules that hold in it."""

    prefix: str
    chain: Chain


@dataclass(frozen=True, slots=True)
class _ProjectTree:
    """A project's tree and how it is judged.

    Attributes:
        root: real path.
        above: the root's path in its repository, as a prefix; ignore rules are asked with it in front.
        outer: rules from above the root.
        exclude: rules of the settings.
        max_bytes: the largest file.
        in_repository: whether the root lies in one.
        entered: by path, what came of going down to a folder: a tree is made for one look, and its rules stand still.
    """

    root: Path
    above: str
    outer: Chain
    exclude: Chain
    max_bytes: int
    in_repository: bool
    entered: dict[str, tuple[_WalkedFolder, SkippedFile | None]] = field(default_factory=dict)

    @classmethod
    def at_root(cls, root: Path, exclude: Sequence[str], max_bytes: int) -> _ProjectTree:
        real = Path(os.path.realpath(root))
        try:
            repository = find_repository(real, ())
        except BrokenRepositoryError:
            repository = None
        outer: Chain = ()
        if repository and (rules := read_rules(repository.common_dir / "info" / "exclude", "", ".git/info/exclude")):
            outer = (rules,)
        above, folder = "", repository.root if repository and real.is_relative_to(repository.root) else real
        for part in real.relative_to(folder).parts:
            outer += read_folder_rules(folder, above)
            above, folder = f"{above}{part}/", folder / part
            source = find_ignoring_rule(outer, above)
            if source and not source.endswith(OWN_IGNORE_FILE):
                # No part of that repository, which is one for dotfiles in the home folder (`*`).
                repository, outer = None, drop_patterns_ignoring(outer, above)
        settings = compile_rules(pattern_lines(exclude), above, EXCLUDE_SETTING)
        return cls(real, above, outer, (settings,) if settings else (), max_bytes, repository is not None)

    # One path

    def relative_path(self, path: Path | str) -> str | None:
        """Return a path relative to the root, POSIX; None if it lies outside. Links on the way stay as they are."""
        absolute = os.path.normpath(os.path.join(self.root, path))
        try:
            inside = PurePosixPath(Path(absolute).relative_to(self.root).as_posix())
        except ValueError:
            return None
        return "" if inside == PurePosixPath(".") else str(inside)

    def check_file(self, path: Path | str) -> IndexableFile | SkippedFile:
        relative = self.relative_path(path)
        if not relative:
            return _skip_path(
                _printable_path(os.fspath(path)), "outside the project" if relative is None else "a folder"
            )
        parent, _, name = relative.rpartition("/")
        folder, skipped = self.enter_folder(parent)
        if skipped:
            return skipped
        verdict = self.judge_entry(folder, name)
        if verdict is None:
            return self.follow_link(relative, frozenset())
        return verdict if not isinstance(verdict, _WalkedFolder) else _skip_path(relative + "/", "a folder")

    def top_folder(self) -> _WalkedFolder:
        return _WalkedFolder("", self.outer + read_folder_rules(self.root, self.above))

    def enter_folder(self, relative: str) -> tuple[_WalkedFolder, SkippedFile | None]:
        """Go down to a folder; or as far as the walk would, with the reason it goes no further."""
        known, below = relative, list[str]()
        while known and known not in self.entered:
            known, _, name = known.rpartition("/")
            below.append(name)
        folder, skipped = self.entered.get(known) or (self.top_folder(), None)
        while True:
            self.entered[known] = folder, skipped
            if not below:
                return folder, skipped
            name = below.pop()
            known = f"{known}/{name}" if known else name
            if skipped is None:
                folder, skipped = self._enter_child(folder, name)

    def _enter_child(self, folder: _WalkedFolder, name: str) -> tuple[_WalkedFolder, SkippedFile | None]:
        verdict = self.judge_entry(folder, name)
        if verdict is None:
            return folder, _skip_path(folder.prefix + name, "behind a symbolic link")
        if isinstance(verdict, IndexableFile):
            return folder, _skip_path(verdict.path, "not a folder")
        return (folder, verdict) if isinstance(verdict, SkippedFile) else (verdict, None)

    # Judging

    def judge_entry(self, folder: _WalkedFolder, name: str) -> IndexableFile | SkippedFile | _WalkedFolder | None:
        """Judge one entry of a folder; None for a symbolic link, about which the whole tree has a say."""
        path = folder.prefix + name
        if _printable_path(path) != path:
            return _skip_path(_printable_path(path), "its name is not valid text")
        if sanitize_name(name) != name:
            return _skip_path(path, SECRET_NAME)
        try:
            status = os.lstat(self.root / path)
            if stat.S_ISLNK(status.st_mode):
                return None
            if stat.S_ISDIR(status.st_mode):
                return self._judge_folder(folder, path)
            return self._judge_file(folder.chain, path, path, status)
        except OSError as error:
            return _skip_path(path, f"{UNREADABLE}: {error.strerror or error}")

    def _judge_folder(self, folder: _WalkedFolder, path: str) -> SkippedFile | _WalkedFolder:
        absolute = self.root / path
        reason = reason_to_skip_folder(absolute) or self._ignoring_rule(folder.chain, path + "/")
        if reason is None and self.in_repository and os.path.lexists(absolute / ".git"):
            reason = "another repository"
        if reason:
            return _skip_path(path + "/", reason)
        return _WalkedFolder(path + "/", folder.chain + read_folder_rules(absolute, self.above + path + "/"))

    def _judge_file(self, chain: Chain, path: str, target: str, status: os.stat_result) -> IndexableFile | SkippedFile:
        """Judge a file: `path` is what it is called, `target` what is read (the same, but for a link)."""
        pure = PurePosixPath(path)
        reason = reason_to_skip_name(pure.name, pure.parent.name) or self._ignoring_rule(chain, path)
        if reason:
            return _skip_path(path, reason)
        if not stat.S_ISREG(status.st_mode):
            return _skip_path(path, "not a regular file")
        most = largest_size(path, self.max_bytes)
        if status.st_size > most:
            return _skip_path(path, f"{status.st_size:,} bytes, above {most:,}")
        kind = file_kind_of(path)
        if kind is None and PurePosixPath(path).suffix:
            return _skip_path(path, EMPTY_KIND)
        with open_regular_file(self.root / target) as file:
            head = file.read(HEAD_BYTES)
        kind = kind or file_kind_of(path, decode_head(head))
        if kind is None:
            return _skip_path(path, BINARY if b"\0" in head else EMPTY_KIND)
        if reason := reason_to_skip_content(head, kind, status.st_size):
            return _skip_path(path, reason)
        return IndexableFile(path=path, size=status.st_size, mtime_ns=status.st_mtime_ns, kind=kind)

    def _ignoring_rule(self, chain: Chain, path: str) -> str | None:
        source = find_ignoring_rule(chain + self.exclude, self.above + path)
        return IGNORED + source if source else None

    # Links

    def follow_link(self, path: str, seen: frozenset[str] | set[str]) -> IndexableFile | SkippedFile:
        """Judge a symbolic link: it counts if it is the only way to a file of the tree, which an ignore file left out.

        Args:
            path: the link's own.
            seen: real paths of links that were found before.
        """
        try:
            real = os.path.realpath(self.root / path, strict=True)
            target = self.relative_path(real)
            if target is None:
                return _skip_path(path, "a symbolic link to a place outside the project")
            status = os.stat(real)
            if not stat.S_ISREG(status.st_mode):
                return _skip_path(path, "a symbolic link to a folder")
            itself = self.check_file(target)
            if isinstance(itself, IndexableFile) or target in seen:
                return _skip_path(path, f"a symbolic link to {target}, which is indexed")
            if not itself.reason.startswith(IGNORED):
                return _skip_path(path, itself.reason)
            folder = self.enter_folder(path.rpartition("/")[0])[0]
            reason = reason_to_skip_name(PurePosixPath(target).name, PurePosixPath(target).parent.name)
            return _skip_path(path, reason) if reason else self._judge_file(folder.chain, path, target, status)
        except (OSError, RuntimeError) as error:
            return _skip_path(path, f"a symbolic link that is broken: {getattr(error, 'strerror', None) or error}")

    # The whole tree

    def iter_files(self) -> Iterator[IndexableFile | SkippedFile]:
        links: list[str] = []
        waiting: list[_WalkedFolder] = [self.top_folder()]
        while waiting:
            folder = waiting.pop()
            names = self._list_names(folder)
            if isinstance(names, SkippedFile):
                yield names
                continue
            inner: list[_WalkedFolder] = []
            for name in names:
                verdict = self.judge_entry(folder, name)
                if verdict is None:
                    links.append(folder.prefix + name)
                elif isinstance(verdict, _WalkedFolder):
                    inner.append(verdict)
                else:
                    yield verdict
            waiting.extend(reversed(inner))
        yield from self._walk_links(sorted(links))

    def _list_names(self, folder: _WalkedFolder) -> list[str] | SkippedFile:
        try:
            return sorted(os.listdir(self.root / folder.prefix))
        except OSError as error:
            return _skip_path(folder.prefix or "./", f"{UNREADABLE}: {error.strerror or error}")

    def _walk_links(self, links: Sequence[str]) -> Iterator[IndexableFile | SkippedFile]:
        seen: set[str] = set()
        for path in links:
            verdict = self.follow_link(path, seen)
            if isinstance(verdict, IndexableFile):
                seen.add(self.relative_path(os.path.realpath(self.root / path)) or path)
            yield verdict


def _skip_path(path: str, reason: str) -> SkippedFile:
    return SkippedFile(path=sanitize_name(path), reason=reason)


def _printable_path(path: str) -> str:
    """Return a path as it can be stored: bytes that are no text are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
