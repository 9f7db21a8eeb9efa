from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperloci.project.git import CommitDetails, GitError, GitRepository
from hyperloci.project.git_log import ChangedFile, Commit, read_log
from tests.working_tree import WorkingTree

Repo = Callable[..., str]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository in tmp_path; calling it runs git there, with a clock that ticks."""
    git = WorkingTree(tmp_path).git
    git("init", "-q")
    return git


def commit(repo: Repo, root: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    repo("add", "-A")
    repo("commit", "-q", "--allow-empty", "-m", message)
    return repo("rev-parse", "HEAD")


def log(root: Path, *without: str, details: CommitDetails = CommitDetails.CHANGES) -> list[Commit]:
    """Return what Git shows of the history of HEAD, oldest first."""
    git = GitRepository(root)
    commits, problem = git.read_commits(list(git.walk_commits("HEAD", without=without))[::-1], details)
    assert problem is None
    return commits


def changes(commit: Commit) -> dict[str, ChangedFile]:
    return {file.path: file for file in commit.files}


def test_commits_come_parents_first_with_their_messages(repo: Repo, tmp_path: Path) -> None:
    first = commit(repo, tmp_path, "Subject one\n\nBody of\ntwo lines", a_py="x = 1\n")
    second = commit(repo, tmp_path, "Subject two", a_py="x = 2\n")

    found = log(tmp_path)

    assert [c.sha for c in found] == [first, second]
    assert (found[0].subject, found[0].body) == ("Subject one", "Body of\ntwo lines")
    assert found[0].author == "Ada"
    assert found[1].parents == (first,)
    assert found[0].date_ms < found[1].date_ms


def test_known_commits_and_what_is_before_them_are_left_out(repo: Repo, tmp_path: Path) -> None:
    commit(repo, tmp_path, "one", a_py="1\n")
    second = commit(repo, tmp_path, "two", a_py="2\n")
    third = commit(repo, tmp_path, "three", a_py="3\n")

    assert [c.sha for c in log(tmp_path, second, "deadbeef" * 5)] == [third]
    assert not log(tmp_path, third)


def test_hunks_carry_their_lines_and_the_names_they_touch(repo: Repo, tmp_path: Path) -> None:
    before = "import os\n\n\nclass A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    commit(repo, tmp_path, "one", a_py=before)
    commit(repo, tmp_path, "two", a_py=before.replace("return 1", "return 10"))
    commit(repo, tmp_path, "three", a_py=before.replace("return 1", "return 10") + "\n\ndef h():\n    return 3\n")
    commit(repo, tmp_path, "four", a_py="import sys\n" + before.partition("\n")[2].replace("return 1", "return 10"))

    _, two, three, four = log(tmp_path)

    assert changes(two)["a.py"].hunks == ((6, 1),)
    assert changes(two)["a.py"].names == ("f",)
    assert changes(three)["a.py"].hunks == ((10, 4),)
    assert changes(three)["a.py"].names == ("h",)
    assert changes(four)["a.py"].names == ("h",)


def test_a_line_at_the_margin_is_not_in_the_function_above_it(repo: Repo, tmp_path: Path) -> None:
    commit(repo, tmp_path, "one", a_py="def f():\n    return 1\n\n\nLIMIT = 1\n")
    commit(repo, tmp_path, "two", a_py="def f():\n    return 1\n\n\nLIMIT = 2\n")

    assert changes(log(tmp_path)[1])["a.py"].names == ()


def test_renames_deletions_and_odd_names_are_read(repo: Repo, tmp_path: Path) -> None:
    odd = 'we ird\t"ñ".txt'
    (tmp_path / odd).write_text("one\n")
    commit(repo, tmp_path, "one", a_py="x = 1\ny = 2\nz = 3\n", b_py="gone = True\n")
    repo("mv", "a.py", "c.py")
    repo("rm", "-q", "b.py")
    (tmp_path / odd).write_text("two\n")
    commit(repo, tmp_path, "two")

    found = changes(log(tmp_path)[1])

    assert set(found) == {"c.py", "b.py", odd}
    assert found["c.py"].old_path == "a.py"
    assert set(found["b.py"].blob) == {"0"}
    assert found[odd].hunks == ((1, 1),)


def test_content_that_looks_like_a_patch_or_a_commit_is_content(repo: Repo, tmp_path: Path) -> None:
    trap = "-- a/evil.py\n++ b/evil.py\n@@ -1 +1 @@ def evil():\ndiff --git a/x b/x\n:100644 100644 0 0 M\tevil.py\n"
    commit(repo, tmp_path, "one", a_py=trap)
    commit(repo, tmp_path, "two", a_py="fine = 1\n")

    one, two = log(tmp_path)

    assert [f.path for f in one.files] == ["a.py"] and changes(one)["a.py"].hunks == ((1, 5),)
    assert changes(two)["a.py"].hunks == ((1, 1),)


def test_binary_files_and_files_without_a_last_newline_are_read(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "b.bin").write_bytes(b"\0\1\2" * 100)
    commit(repo, tmp_path, "one", a_py="x = 1")
    commit(repo, tmp_path, "two", a_py="x = 2", c_py="y = 1\n")

    one, two = log(tmp_path)

    assert set(changes(one)) == {"a.py", "b.bin"}
    assert changes(two)["a.py"].hunks == ((1, 1),) and changes(two)["c.py"].hunks == ((1, 1),)


def test_a_merge_comes_without_changes_and_both_its_sides_with_theirs(repo: Repo, tmp_path: Path) -> None:
    commit(repo, tmp_path, "base", a_py="1\n")
    repo("checkout", "-q", "-b", "side")
    side = commit(repo, tmp_path, "side", b_py="2\n")
    repo("checkout", "-q", "main")
    commit(repo, tmp_path, "main", c_py="3\n")
    repo("merge", "-q", "--no-ff", "-m", "merge", "side")

    found = {c.subject: c for c in log(tmp_path)}

    assert set(found) == {"base", "side", "main", "merge"}
    assert found["merge"].files == () and side in found["merge"].parents
    assert set(changes(found["side"])) == {"b.py"}


def test_only_commits_in_the_history_of_nothing_are_unreachable(repo: Repo, tmp_path: Path) -> None:
    base = commit(repo, tmp_path, "base", a_py="1\n")
    old = commit(repo, tmp_path, "typo", a_py="2\n")
    (tmp_path / "a.py").write_text("3\n")
    repo("commit", "-q", "-a", "--amend", "-m", "mended")
    new = repo("rev-parse", "HEAD")
    repo("checkout", "-q", "-b", "side", base)
    git = GitRepository(tmp_path)

    assert git.commits_lost_by([base, old, new, "deadbeef" * 5]) == {old: (base,)}
    assert git.commits_lost_by([]) == {}


def test_a_repository_without_commits_has_an_empty_log(repo: Repo, tmp_path: Path) -> None:
    assert GitRepository(tmp_path).head_commit() is None


def test_a_shallow_clone_has_the_commits_it_has(repo: Repo, tmp_path: Path) -> None:
    for i in range(3):
        commit(repo, tmp_path, f"commit {i}", a_py=f"{i}\n")
    repo("clone", "-q", "--depth", "2", f"file://{tmp_path}", str(tmp_path / "clone"))

    assert [c.subject for c in log(tmp_path / "clone")] == ["commit 1", "commit 2"]


def test_what_is_no_repository_or_damaged_says_so(repo: Repo, tmp_path: Path) -> None:
    commit(repo, tmp_path, "one", a_py="1\n")
    for pack in (tmp_path / ".git" / "objects").rglob("*"):
        if pack.is_file():
            pack.chmod(0o600)
            pack.write_bytes(b"damage")
    plain = tmp_path.parent / "plain"
    plain.mkdir(exist_ok=True)

    for root in (tmp_path, plain):
        with pytest.raises(GitError) as raised:
            list(GitRepository(root).walk_commits("HEAD"))
        assert str(raised.value)


def test_a_missing_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="could not be started"):
        GitRepository(tmp_path, executable=str(tmp_path / "no-git")).head_commit()


@pytest.mark.skipif(os.name != "posix", reason="the traps are shell scripts")
def test_nothing_that_the_repository_configures_is_run(repo: Repo, tmp_path: Path) -> None:
    trap, sprung = tmp_path.parent / "trap.sh", tmp_path.parent / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    (tmp_path / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    commit(repo, tmp_path, "one", a_py="x = 1\n")
    commit(repo, tmp_path, "two", a_py="x = 2\n")
    for key in (
        "core.pager", "pager.log", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge",
        "filter.evil.clean", "core.fsmonitor", "gpg.program", "core.alternateRefsCommand", "core.sshCommand",
    ):  # fmt: skip
        repo("config", key, str(trap))
    for key, value in {"log.showSignature": "true", "diff.noprefix": "true", "diff.context": "9", "color.ui": "always",
                       "log.decorate": "full", "diff.mnemonicPrefix": "true"}.items():  # fmt: skip
        repo("config", key, value)

    found = log(tmp_path)

    assert changes(found[1])["a.py"].hunks == ((1, 1),)
    assert not GitRepository(tmp_path).commits_lost_by([found[0].sha])
    assert not sprung.exists()


def test_a_log_cut_off_in_a_header_gives_what_was_whole() -> None:
    whole = [b"\0" + b"a" * 40 + b"\0n\0e\x000\0\n", b"subject\n", b"\0\0\n"]

    assert [c.subject for c in read_log([*whole, b"\0" + b"b" * 40 + b"\0n\0"])] == ["subject"]


def test_a_history_that_lies_in_another_repository_is_not_read(tree: WorkingTree, tmp_path: Path) -> None:
    theirs = WorkingTree(tmp_path / "theirs")
    sha = theirs.commit("Secret plans", a_py="a = 1\n")
    tree.commit("Own work", b_py="b = 2\n")
    (tree.root / ".git" / "objects" / "info" / "alternates").write_text(f"{theirs.root}/.git/objects\n")
    (tree.root / ".git" / "refs" / "heads" / "main").write_text(f"{sha}\n")
    with pytest.raises(
        GitError,
        match=r"borrows objects from .*theirs/\.git/objects, which may be another project's; to",
    ):
        list(GitRepository(tree.root).walk_commits(sha))
    (tree.root / ".git" / "objects" / "info" / "alternates").write_text("# none\n../other/objects\n")
    with pytest.raises(GitError):
        GitRepository(tree.root).head_commit()


def test_another_working_tree_in_the_configuration_is_not_gone_to(tree: WorkingTree, tmp_path: Path) -> None:
    theirs = WorkingTree(tmp_path / "theirs")
    theirs.commit("Secret plans", a_py="a = 1\n")
    own = tree.commit("Own work", b_py="b = 2\n")
    tree.git("config", "core.worktree", str(theirs.root))
    assert list(GitRepository(tree.root).walk_commits(own)) == [own]


def test_no_repository_above_a_folder_is_taken_for_its_own(tree: WorkingTree) -> None:
    tree.commit("Around it", a_py="a = 1\n")
    (tree.root / "inner").mkdir()
    with pytest.raises(GitError, match="not a git repository"):
        GitRepository(tree.root / "inner").head_commit()
