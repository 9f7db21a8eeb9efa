"""A folder with files and, if asked for, a Git repository, for tests."""

from __future__ import annotations

import os
import subprocess
from itertools import count
from pathlib import Path


class WorkingTree:
    """Real files under `root`; `git` runs Git there with a clock that ticks once a call."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ticks = count(1_700_000_000)
        root.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file, and age it: a file written just now is compared by its content next time."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.age(path)

    def age(self, path: str) -> Path:
        """Give a file a time of a minute ago, to the nanosecond of its own."""
        target = self.root / path
        past = target.stat().st_mtime_ns - 60_000_000_000
        os.utime(target, ns=(past, past))
        return target

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def rename(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def git(self, *arguments: str) -> str:
        date = f"{next(self._ticks)} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root.parent),
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        """Write files (`a_py="..."` is `a.py`), commit everything and return the commit's hash."""
        for name, text in files.items():
            # Not aged: Git would take a file of the same size and second for unchanged.
            target = self.root / name.replace("__", "/").replace("_py", ".py").replace("_md", ".md")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


def fast_import(root: Path, count: int, *, branch: str = "main", start: int = 0) -> None:
    """Make a line of small commits, thousands in a second."""
    lines = []
    for number in range(start, start + count):
        lines.append(
            f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> {1_700_000_000 + number} +0000\n"
            f"data <<END\nCommit number {number}\nEND\n"
            + (f"from refs/heads/{branch}^0\n" if number == start and start else "")
            + f"M 100644 inline f{number % 50}.txt\ndata <<END\nline {number}\nEND\n"
        )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input="".join(lines).encode(), check=True)
