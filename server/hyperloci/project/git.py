"""Git: reads a repository through the `git` executable.

The repository may be anyone's: nothing that its configuration names is run (pagers, hooks, diff drivers, text
converters, signature checks, fsmonitor), nothing is fetched, no lock is taken, and every call ends.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from hyperloci.project.git_folder import (
    BORROWS,
    MAKE_COMPLETE,
    BrokenRepositoryError,
    find_external_storage,
    open_repository,
)
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.project.git_log import Commit

CALL_TIMEOUT_SECONDS: Final = 30.0
"""For calls that answer at once; a cold disk under a large repository may take some seconds."""

WALK_TIMEOUT_SECONDS: Final = 180.0
"""For listing a history: a hundred thousand commits take about a second, a million on a cold disk a minute."""

SHOW_TIMEOUT_SECONDS: Final = 60.0
"""For a batch of a hundred commits with their changes, which takes about a second."""

END_SECONDS: Final = 5.0
"""How long a killed Git may take to be gone; one that waits for a dead disk never is."""

MAX_LINE_BYTES: Final = 65_536
"""What is kept of one line of a patch; generated files have lines of megabytes."""

_NEUTRAL_SETTINGS: Final = (
    "core.quotepath=off",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={Path(__file__).with_name('git_attributes')}",
    "core.alternateRefsCommand=",
    "core.bigFileThreshold=1m",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.mailmap=false",
    "diff.external=",
    f"diff.orderFile={os.devnull}",
    "diff.renameLimit=400",
    "gpg.program=",
    "core.sshCommand=",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "color.ui=never",
)
"""Over anything that the repository's configuration says. The attributes make Git name functions in hunk headings."""

_STRANGER: Final = re.compile(r"dubious ownership in repository at '(.+)'")

_LOG_OPTIONS: Final = """
    --no-walk=unsorted --no-diff-merges --no-color --no-ext-diff --no-textconv --no-relative --no-decorate
    --no-notes --no-abbrev --encoding=UTF-8
""".split()  # noqa: SIM905 - a list of twenty literals reads worse
_PATCH_OPTIONS: Final = """
    --raw --patch --unified=0 --inter-hunk-context=0 --find-renames --full-index --submodule=short --src-prefix=a/
    --dst-prefix=b/
""".split()  # noqa: SIM905


BLAME_TIMEOUT_SECONDS: Final = 10.0
"""For the lines of one file, which take milliseconds; of a long file with a long history, seconds."""


class CommitDetails(StrEnum):
    """How much of a commit is read; less needs fewer of the repository's objects."""

    CHANGES = "changes"
    """Message, files, and which places of them."""
    NAMES = "names"
    """Message and files: contents are not needed, which a partial clone leaves on the server."""
    MESSAGE = "message"
    """Message: folders are not needed either."""


_DETAIL_OPTIONS: Final = {
    CommitDetails.CHANGES: _PATCH_OPTIONS,
    CommitDetails.NAMES: ["--raw", "--no-renames"],
    CommitDetails.MESSAGE: ["--no-patch"],
}


_SYMLINK_MODE: Final = "120000"

_BLAMED: Final = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+) (\d+)\n")
"""A line of `git blame --incremental` that begins a run: commit, first line then, first line now, lines."""


_IGNORED_REVISIONS: Final = "object name"
"""Of what Git complains that can't read `blame.ignoreRevsFile`, or finds no commits in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRun:
    """Neighbouring lines of a file that one commit wrote; `first` is counted from 1."""

    sha: str
    first: int
    count: int


class GitError(Exception):
    """Git did not answer; the message says why."""


def never_cancelled() -> bool:
    """Return False: never cancel."""
    return False


class GitRepository:
    """One working tree, read through the `git` executable. Every method may raise `GitError`."""

    def __init__(self, root: Path, *, executable: str = "git", show_seconds: float = SHOW_TIMEOUT_SECONDS) -> None:
        self._root = root
        self._executable = executable
        self._show_seconds = show_seconds

    def head_commit(self) -> str | None:
        """Return the hash of the commit that is checked out, None before the first."""
        code, out, problem = self._run_git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        if code == 0:
            return out.strip()
        if problem:
            raise GitError(problem)
        return None

    def walk_commits(self, start: str, *, without: Iterable[str] = ()) -> Iterator[str]:
        """Yield the hashes of a commit and all before it, children before parents, else the latest first.

        Args:
            start: a commit.
            without: commits that are left out, with all before them; hashes that the repository doesn't have are fine.
        """
        revisions = f"{start}\n" + "".join(f"^{sha}\n" for sha in without)
        arguments = ["rev-list", "--date-order", "--ignore-missing", "--stdin"]
        with self._stream_git(arguments, revisions, WALK_TIMEOUT_SECONDS) as lines:
            for line in lines:
                yield line.decode("ascii").rstrip()

    def read_commits(
        self, shas: Sequence[str], details: CommitDetails = CommitDetails.CHANGES
    ) -> tuple[list[Commit], str | None]:
        """Read commits in the order given; return those that could be, and why the next could not.

        Fewer may come without a reason: one that exceeds the reader's budget is the last.
        Merges come without changes: they are those of the commits merged.
        """
        from hyperloci.project.git_log import HEADER_FORMAT, read_log

        options = [*_LOG_OPTIONS, *_DETAIL_OPTIONS[details], f"--format={HEADER_FORMAT}"]
        commits: list[Commit] = []
        if not shas:
            return commits, None
        try:
            with self._stream_git(
                ["log", *options, "--stdin"], "".join(f"{sha}\n" for sha in shas), self._show_seconds
            ) as lines:
                commits.extend(read_log(lines))
        except GitError as error:
            # The last may be cut off in the middle of its changes.
            return commits[:-1], str(error)
        return commits, None

    def commits_lost_by(self, tips: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the commits, with their parents, that lead to `tips` and that no branch, tag or tree leads to."""
        revisions = "".join(f"{sha}\n" for sha in tips)
        if not revisions:
            return {}
        arguments = ["rev-list", "--parents", "--ignore-missing", "--stdin", "--not", "--all"]
        with self._stream_git(arguments, revisions, WALK_TIMEOUT_SECONDS) as lines:
            rows = [line.decode("ascii").split() for line in lines]
        return {row[0]: tuple(row[1:]) for row in rows}

    def commits_beyond(self, tips: Sequence[str], start: str) -> set[str]:
        """Return those of `tips` that are neither `start` nor before it; those that the repository lacks are beyond."""
        present = self.existing_commits(tips)
        revisions = "".join(f"{sha}\n" for sha in present) + f"^{start}\n"
        with self._stream_git(["rev-list", "--stdin"], revisions, WALK_TIMEOUT_SECONDS) as lines:
            reached = {line.decode("ascii").rstrip() for line in lines}
        return {sha for sha in tips if sha in reached or sha not in present}

    def existing_commits(self, wanted: Iterable[str]) -> set[str]:
        """Return those of `wanted` that the repository has."""
        asked = "".join(f"{sha}\n" for sha in wanted)
        if not asked:
            return set()
        code, out, problem = self._run_git(["cat-file", "--batch-check=%(objectname) %(objecttype)"], asked)
        if code != 0:
            raise GitError(problem or "git cat-file failed")
        return {line.removesuffix(" commit") for line in out.splitlines() if line.endswith(" commit")}

    def list_blobs(self) -> dict[str, str]:
        """Return Git's ids of the contents of the files that are checked out, by path."""
        arguments = ["ls-tree", "-r", "--full-tree", "HEAD"]
        found: dict[str, str] = {}
        with self._stream_git(arguments, "", WALK_TIMEOUT_SECONDS) as lines:
            for line in lines:
                entry, _, path = line.decode("utf-8", "replace").rstrip("\n").partition("\t")
                mode, kind, blob = entry.split(" ")
                if kind == "blob" and mode != _SYMLINK_MODE:
                    found[path] = blob
        return found

    def ignores(self, path: str) -> bool:
        """Return whether `git add` leaves a file out, as some list of what is ignored names it."""
        return self._run_git(["check-ignore", "-q", "--", path])[0] == 0

    def blame_lines(self, path: str) -> list[LineRun]:
        """Return which commits wrote the lines of a file as it is in the commit that is checked out.

        What only changed white space wrote nothing, nor did commits in the files of `blame.ignoreRevsFile`. That may
        be set for all of a user's repositories: where one has no such file, or a broken one, Git is asked without.
        """
        try:
            return self._blame_file(path)
        except GitError as error:
            if _IGNORED_REVISIONS not in str(error):
                raise
            return self._blame_file(path, "--no-ignore-revs-file")

    def _blame_file(self, path: str, *options: str) -> list[LineRun]:
        arguments = ["blame", *options, "--incremental", "-w", "--no-textconv", "HEAD", "--", path]
        with self._stream_git(arguments, "", BLAME_TIMEOUT_SECONDS) as lines:
            found = [match for line in lines if (match := _BLAMED.fullmatch(line))]
        return [LineRun(sha=match[1].decode("ascii"), first=int(match[2]), count=int(match[3])) for match in found]

    def _build_command(self, arguments: Sequence[str]) -> list[str]:
        self._refuse_borrowed_history()
        return neutral_command(self._executable, self._root, arguments)

    def _refuse_borrowed_history(self) -> None:
        """Read no history that lies, in whole or in part, in a Git folder elsewhere."""
        try:
            repository = open_repository(self._root)
        except BrokenRepositoryError as error:
            raise GitError(str(error)) from None
        if repository is not None and (elsewhere := find_external_storage(repository.common_dir)):
            raise GitError(f"{BORROWS.format(place=elsewhere)}; to make it complete, {MAKE_COMPLETE}")

    def _run_git(self, arguments: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
        """Run Git and return its exit status, output and first line of complaint."""
        try:
            done = subprocess.run(
                self._build_command(arguments),
                input=stdin.encode(),
                capture_output=True,
                env=neutral_environment(self._root),
                timeout=CALL_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitError(f"git {arguments[0]} took longer than {CALL_TIMEOUT_SECONDS:g} s") from None
        except OSError as error:
            raise GitError(f"git could not be started ({error.strerror or error})") from error
        return done.returncode, done.stdout.decode("utf-8", "replace"), _first_line_of(done.stderr)

    @contextlib.contextmanager
    def _stream_git(self, arguments: Sequence[str], stdin: str, seconds: float) -> Iterator[Iterator[bytes]]:
        """Run Git and give its output line by line; it is killed after `seconds`, and when the block ends."""
        import tempfile

        with tempfile.TemporaryFile() as complaints, tempfile.TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._build_command(arguments),
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    env=neutral_environment(self._root),
                )
            except OSError as error:
                raise GitError(f"git could not be started ({error.strerror or error})") from error
            timer = threading.Timer(seconds, process.kill)
            timer.daemon = True
            timer.start()
            try:
                assert process.stdout is not None
                yield _iter_lines(process.stdout)
                # Whoever stopped reading has what was wanted.
                if not process.stdout.read(1) and process.wait() != 0:
                    complaints.seek(0)
                    late = f"git {arguments[0]} took longer than {seconds:g} s"
                    raise GitError(_first_line_of(complaints.read()) or late)
            finally:
                timer.cancel()
                process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_SECONDS)
                assert process.stdout is not None
                process.stdout.close()


def root_commit(root: Path, home: Path | None, timeout: float) -> str | None:
    """Ask Git for the oldest commit without parents that HEAD descends from.

    `safe.directory` is respected: Git refuses in a stranger's folder.

    Raises:
        GitError: Git did not answer.
    """
    try:
        done = subprocess.run(
            neutral_command("git", root, ["rev-list", "--max-parents=0", "HEAD", "--"]),
            env=neutral_environment(root, home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git took longer than {timeout:g} s to find the first commit") from None
    except OSError as error:
        raise GitError(f"git could not be started ({error.strerror or error})") from error
    if done.returncode != 0:
        raise GitError(f"git refused: {_first_line_of(done.stderr)}")
    # Newest first: where histories were joined, the oldest root is the project's own.
    roots = done.stdout.decode("ascii", "replace").split()
    return roots[-1] if roots else None


def _iter_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines, of each no more than its first `MAX_LINE_BYTES`."""
    at_start = True
    while line := stream.readline(MAX_LINE_BYTES):
        if at_start:
            yield line
        at_start = line.endswith(b"\n")


def _first_line_of(raw: bytes) -> str:
    """Return the first line of what Git complained of, and what mends it where that is known."""
    line = raw.decode("utf-8", "replace").strip().partition("\n")[0]
    owned = _STRANGER.search(line)
    trust = f"; if you trust its owner: git config --global --add safe.directory {owned[1]}" if owned else ""
    return f"{line}{trust}"


def neutral_command(executable: str, root: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs Git in a working tree with none of what its configuration would run."""
    settings = [word for setting in _NEUTRAL_SETTINGS for word in ("-c", setting)]
    return [
        executable, "--no-pager", "--no-optional-locks", "--no-replace-objects", "-C", str(root), *settings, *arguments,
    ]  # fmt: skip


def neutral_environment(root: Path, home: Path | None = None) -> dict[str, str] | None:
    """Return a small environment: a GIT_DIR left by a hook of Git's own would point it elsewhere.

    No repository above `root` is taken for its own, and the working tree is `root` whatever `core.worktree` says.
    """
    if os.name != "posix":
        return None
    environment = {
        "PATH": os.pathsep.join(os.get_exec_path()),
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ASKPASS": "",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_GRAFT_FILE": f"{os.devnull}/none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_WORK_TREE": str(root),
    }
    if home is not None:
        return environment | {"HOME": str(home)}
    with contextlib.suppress(RuntimeError):
        environment["HOME"] = str(Path.home())
    return environment
