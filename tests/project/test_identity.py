"""Which project a folder belongs to, on real repositories: where it lies, whatever it says of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError
from hyperloci.project.clone_token import TOKEN_FILE, read_token
from hyperloci.project.git_folder import read_remotes
from hyperloci.project.identity import IdentityBasis, identify_project, make_project_id
from hyperloci.project.remote import normalise_remote
from tests.support import examples

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

HTTPS = "https://github.com/Acme/Rocket.git"
SSH = "git@github.com:acme/rocket.git"


@pytest.fixture(autouse=True)
def _own_git_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": "file"}
    for who in ("AUTHOR", "COMMITTER"):
        values |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@b.c"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def work(home: Path) -> Path:
    folder = home / "work"
    folder.mkdir()
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.strip()


def repository(folder: Path, *, remote: str | None = None, commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", f"first of {folder.name}")
    return folder


def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise AssertionError("git was started")

    monkeypatch.setattr(subprocess, "Popen", fail)


def test_two_clones_of_one_remote_are_two_projects(home: Path, work: Path) -> None:
    first = identify_project(repository(work / "a", remote=HTTPS), home=home)
    second = identify_project(repository(work / "b", remote=SSH), home=home)
    assert first.id != second.id
    assert first.remote == second.remote == "github.com/acme/rocket"
    assert (first.basis, first.name, first.place) == (IdentityBasis.PLACE, "rocket", work / "a" / ".git")
    assert (first.root, second.root) == (work / "a", work / "b")
    assert len(first.id) == len("project:") + 16
    assert identify_project(work / "a", home=home) == first


def test_a_token_lies_in_the_git_folder_for_the_user_alone_and_is_never_committed(home: Path, work: Path) -> None:
    folder = repository(work / "a")
    found = identify_project(folder, home=home)
    token = folder / ".git" / TOKEN_FILE
    assert (token.stat().st_mode & 0o777, len(token.read_bytes())) == (0o600, 33)
    assert git(folder, "status", "--porcelain", "--ignored") == ""
    git(work, "clone", "-q", str(folder), "copy")
    assert not (work / "copy" / ".git" / TOKEN_FILE).exists()
    assert found.token == read_token(folder / ".git") != identify_project(work / "copy", home=home).token


def test_the_id_changes_with_the_token_and_with_the_path(home: Path, work: Path) -> None:
    folder = repository(work / "a")
    first = identify_project(folder, home=home)
    shutil.move(folder, work / "b")
    moved = identify_project(work / "b", home=home)
    assert (moved.token, moved.id == first.id) == (first.token, False)
    shutil.move(work / "b", folder)
    assert identify_project(folder, home=home) == first
    (folder / ".git" / TOKEN_FILE).unlink()
    assert identify_project(folder, home=home).id != first.id


def test_two_processes_that_leave_a_token_at_once_agree(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=HTTPS)
    code = (
        "import sys; from pathlib import Path; from hyperloci.project.identity import identify_project;"
        " sys.stdin.read(1); print(identify_project(Path(sys.argv[1])).id)"
    )
    several = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in several:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    assert len({process.communicate()[0] for process in several}) == 1
    assert [path.name for path in (folder / ".git").glob("hyperloci*")] == [TOKEN_FILE]


@pytest.mark.parametrize("kind", ["symbolic link", "second name", "rubbish", "folder", "pipe"])
def test_what_stands_in_a_tokens_place_is_not_taken_for_one(home: Path, work: Path, kind: str) -> None:
    victim, folder = repository(work / "victim"), repository(work / "a")
    known = identify_project(victim, home=home).token
    token = folder / ".git" / TOKEN_FILE
    if kind == "symbolic link":
        token.symlink_to(victim / ".git" / TOKEN_FILE)
    elif kind == "second name":
        os.link(victim / ".git" / TOKEN_FILE, token)
    elif kind == "rubbish":
        token.write_text("x" * 10_000)
    elif kind == "folder":
        token.mkdir()
    else:
        os.mkfifo(token)
    found = identify_project(folder, home=home)
    assert (found.token, known is not None) == (None, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_git_folder_of_somebody_else_gets_no_token_and_gives_none(home: Path, work: Path) -> None:
    folder, other = repository(work / "a"), repository(work / "b")
    os.chown(folder / ".git", 12_345, 12_345)
    identify_project(other, home=home)
    os.chown(other / ".git" / TOKEN_FILE, 12_345, 12_345)
    assert [identify_project(path, home=home).token for path in (folder, other)] == [None, None]
    assert not (folder / ".git" / TOKEN_FILE).exists()


def test_a_remote_is_enough_to_never_start_git(home: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(work / "a", remote=SSH)
    commit = git(folder, "rev-parse", "HEAD")
    git(folder, "worktree", "add", "-q", "-b", "side", str(work / "side"))
    no_git(monkeypatch)
    found = identify_project(work / "side", home=home)
    assert (found.remote, found.branch, found.head) == ("github.com/acme/rocket", "side", commit)


@pytest.mark.parametrize("remote", [SSH, None], ids=["remote", "no remote"])
@pytest.mark.parametrize("commit", [True, False], ids=["commits", "unborn"])
def test_working_trees_of_one_repository_share_a_memory(
    home: Path, work: Path, remote: str | None, commit: bool
) -> None:
    main = repository(work / "main", remote=remote, commit=commit)
    side = work / "elsewhere" / "side"
    if commit:
        git(main, "worktree", "add", "-q", "-b", "side", str(side))
    else:
        # What `git worktree add --orphan` makes, which Git before 2.42 does not know.
        own = main / ".git" / "worktrees" / "side"
        own.mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/side\n")
        (own / "commondir").write_text("../..\n")
        (own / "gitdir").write_text(f"{side / '.git'}\n")
        side.mkdir(parents=True)
        (side / ".git").write_text(f"gitdir: {own}\n")
    first, second = identify_project(main, home=home), identify_project(side, home=home)
    assert first.id == second.id
    assert first.common_dir == second.common_dir == main / ".git"
    assert (first.root, second.root) == (main, side)
    assert (first.branch, second.branch) == ("main", "side")


def test_a_folder_inside_belongs_to_the_repository_around_it(home: Path, work: Path) -> None:
    root = repository(work / "a", remote=SSH)
    inside = root / "src" / "deep"
    inside.mkdir(parents=True)
    (inside / "x.py").touch()
    for path in (inside, inside / "x.py", inside / "not there yet", root / ".git", root / ".git" / "refs"):
        assert identify_project(path, home=home).root == root


def test_a_submodule_is_a_project_of_its_own(home: Path, work: Path) -> None:
    library = repository(work / "library")
    outer = repository(work / "outer", remote=HTTPS)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub")
    git(outer / "sub", "remote", "set-url", "origin", "https://example.org/library")
    found = identify_project(outer / "sub", home=home)
    assert (found.remote, found.root) == ("example.org/library", outer / "sub")
    assert found.common_dir == outer / ".git" / "modules" / "sub"


def test_a_clone_without_a_remote_claims_the_first_commit_and_is_a_project_of_its_own(home: Path, work: Path) -> None:
    origin = repository(work / "origin")
    git(work, "clone", "-q", str(origin), "copy")
    git(work / "copy", "remote", "remove", "origin")
    git(work / "copy", "commit", "-q", "--allow-empty", "-m", "second")
    first, second = (identify_project(path, home=home, find_first_commit=True) for path in (origin, work / "copy"))
    assert first.root_commit == second.root_commit == git(origin, "rev-parse", "HEAD")
    assert first.id != second.id


def test_a_clone_of_a_folder_is_followed_to_where_that_came_from(home: Path, work: Path) -> None:
    origin = repository(work / "origin", remote=SSH)
    git(work, "clone", "-q", "--bare", str(origin), "hub.git")
    git(work / "hub.git", "remote", "set-url", "origin", "../origin")
    git(work, "clone", "-q", f"file://{work}/hub.git", "copy")
    assert identify_project(work / "copy", home=home).id != identify_project(origin, home=home).id
    assert identify_project(work / "copy", home=home).remote == "github.com/acme/rocket"


def test_remotes_that_point_at_each_other_end(home: Path, work: Path) -> None:
    repository(work / "a", remote=str(work / "b"))
    repository(work / "b", remote="../a")
    assert identify_project(work / "a", home=home).remote is None


def test_a_bare_repository_and_its_working_tree_are_one_project(home: Path, work: Path) -> None:
    seed = repository(work / "seed")
    git(work, "clone", "-q", "--bare", str(seed), "store/.bare")
    (work / "store" / ".git").write_text("gitdir: ./.bare\n")
    git(work / "store", "remote", "remove", "origin")
    git(work / "store", "worktree", "add", "-q", str(work / "store" / "tree"), "main")
    found = [identify_project(work / "store" / name, home=home) for name in (".bare", "tree", "")]
    assert len({project.id for project in found}) == 1
    assert {project.common_dir for project in found} == {work / "store" / ".bare"}


def test_a_name_given_by_the_user_comes_first(home: Path, work: Path) -> None:
    repository(work / "a", remote=SSH)
    repository(work / "b")
    first, second = (identify_project(work / name, override=" mine ", home=home) for name in "ab")
    assert first.id == second.id
    assert (first.basis, first.name, first.remote) == (IdentityBasis.NAME, "mine", "github.com/acme/rocket")
    assert identify_project(work / "a", override=" ", home=home).basis is IdentityBasis.PLACE


def test_a_name_can_not_pass_for_a_remote() -> None:
    assert make_project_id(IdentityBasis.NAME, "github.com/acme/rocket") != make_project_id(
        IdentityBasis.REMOTE, "github.com/acme/rocket"
    )


def test_an_id_never_changes_between_versions() -> None:
    # Memories are stored under it.
    assert make_project_id(IdentityBasis.REMOTE, "github.com/acme/rocket") == "project:d70ad2ac9c5eba6c"


def test_a_name_that_the_repository_gives_itself_is_shown_and_changes_nothing(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    plain = identify_project(folder, home=home)
    found = identify_project(folder, claimed_name="acme\n\x1b[1m " + "x" * 200, home=home)
    assert (found.id, plain.name) == (plain.id, "rocket")
    assert found.name == found.claimed_name == ("acme [1m " + "x" * 200)[:80]


def test_what_a_repository_gains_changes_no_id_and_the_ids_of_older_versions_are_known(home: Path, work: Path) -> None:
    folder = repository(work / "a", commit=False)
    unborn = identify_project(folder, home=home)
    by_path = make_project_id(IdentityBasis.PATH, str(folder))
    assert (unborn.basis, unborn.branch, unborn.head, unborn.former_ids) == (
        IdentityBasis.PLACE,
        "main",
        None,
        (by_path,),
    )
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    git(folder, "remote", "add", "origin", SSH)
    found = identify_project(folder, home=home, find_first_commit=True, claimed_name="mine")
    assert found.id == unborn.id
    assert found.former_ids == (
        make_project_id(IdentityBasis.NAME, "mine"),
        make_project_id(IdentityBasis.REMOTE, "github.com/acme/rocket"),
        make_project_id(IdentityBasis.ROOT_COMMIT, git(folder, "rev-parse", "HEAD")),
        by_path,
    )


def test_a_folder_outside_of_any_repository_is_its_real_path(home: Path, work: Path) -> None:
    (work / "notes").mkdir()
    (work / "link").symlink_to(work / "notes")
    found = identify_project(work / "link", home=home)
    assert found == identify_project(work / "notes", home=home)
    assert (found.basis, found.root, found.name, found.common_dir) == (
        IdentityBasis.PATH,
        work / "notes",
        "notes",
        None,
    )
    assert found.id != identify_project(work, home=home).id


def test_a_repository_in_the_home_folder_does_not_swallow_what_lies_below(home: Path, work: Path) -> None:
    repository(home, remote="git@github.com:me/dotfiles.git")
    inner = identify_project(work, home=home)
    assert (inner.basis, inner.root, inner.is_broad) == (IdentityBasis.PATH, work, False)
    outer = identify_project(home, home=home)
    assert (outer.root, outer.remote, outer.is_broad) == (home, "github.com/me/dotfiles", True)
    assert "too broad" in outer.notes[0]


def test_the_root_of_the_file_system_and_what_is_above_home_are_too_broad(home: Path) -> None:
    for path in (Path(home.anchor), home.parent):
        found = identify_project(path, home=home)
        assert (found.root, found.is_broad, bool(found.name)) == (path, True, True)


def test_the_first_commit_is_found_beside_a_file_that_is_called_head(home: Path, work: Path) -> None:
    folder = repository(work / "a")
    (folder / "HEAD").write_text("x")
    git(work, "clone", "-q", "--bare", str(folder), str(work / "bare.git"))
    for path in (folder, work / "bare.git"):
        found = identify_project(path, home=home, find_first_commit=True)
        assert (found.root_commit, found.notes) == (git(folder, "rev-parse", "HEAD"), ())


def test_a_detached_head_has_no_branch(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    git(folder, "checkout", "-q", "--detach")
    found = identify_project(folder, home=home)
    assert (found.branch, found.head) == (None, git(folder, "rev-parse", "HEAD"))


def test_packed_references_are_read(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    git(folder, "branch", "feature/main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    git(folder, "pack-refs", "--all")
    assert not (folder / ".git" / "refs" / "heads" / "main").exists()
    assert identify_project(folder, home=home).head == git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "-q", "feature/main")
    found = identify_project(folder, home=home)
    assert (found.branch, found.head) == ("feature/main", git(folder, "rev-parse", "HEAD"))


def test_a_sha256_repository_is_read(home: Path, work: Path) -> None:
    folder = work / "a"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--object-format=sha256")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    found = identify_project(folder, home=home, find_first_commit=True)
    assert (found.head, found.root_commit) == (git(folder, "rev-parse", "HEAD"),) * 2


def test_joined_histories_go_by_the_older_root(home: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(work / "a")
    first = git(folder, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z")
    git(folder, "checkout", "-q", "--orphan", "other")
    git(folder, "commit", "-q", "--allow-empty", "-m", "another root")
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--allow-unrelated-histories", "-m", "join", "other")
    assert identify_project(folder, home=home, find_first_commit=True).root_commit == first


def test_without_git_a_repository_still_has_an_identity(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(work / "a")
    monkeypatch.setenv("PATH", str(work))
    found = identify_project(folder, home=home, find_first_commit=True)
    assert (found.basis, found.branch, found.root_commit) == (IdentityBasis.PLACE, "main", None)
    assert "git could not be started" in found.notes[0]
    assert identify_project(folder, home=home).notes == ()


def test_a_git_that_hangs_is_not_waited_for(home: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(work / "a")
    slow = work / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent))
    found = identify_project(folder, home=home, git_timeout=0.2, find_first_commit=True)
    assert found.basis is IdentityBasis.PLACE
    assert "longer than 0.2 s" in found.notes[0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused_by_git_and_claims_no_first_commit(home: Path, work: Path) -> None:
    folder = repository(work / "a")
    for path in (folder, folder / ".git"):
        os.chown(path, 12_345, 12_345)
    found = identify_project(folder, home=home, find_first_commit=True)
    assert (found.basis, found.root, found.root_commit) == (IdentityBasis.PLACE, folder, None)
    assert "dubious ownership" in found.notes[0]
    assert f"git config --global --add safe.directory {folder}" in found.notes[0]


def test_variables_of_a_surrounding_git_hook_do_not_mislead(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = repository(work / "a"), repository(work / "b")
    expected = identify_project(folder, home=home)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert identify_project(folder, home=home) == expected


def test_a_shallow_clone_without_a_remote_does_not_trust_its_first_commit(home: Path, work: Path) -> None:
    origin = repository(work / "origin")
    git(origin, "commit", "-q", "--allow-empty", "-m", "two")
    git(work, "clone", "-q", "--depth", "1", f"file://{origin}", "copy")
    git(work / "copy", "remote", "remove", "origin")
    found = identify_project(work / "copy", home=home, find_first_commit=True)
    assert found.root_commit is None
    assert "shallow" in found.notes[0]


@pytest.mark.parametrize("content", ["gitdir: /nowhere/.git/worktrees/x\n", "rubbish", ""])
def test_a_git_file_that_leads_nowhere_is_said_so(home: Path, work: Path, content: str) -> None:
    repository(work, remote=SSH)
    folder = work / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").write_text(content)
    found = identify_project(folder / "src", home=home)
    assert (found.basis, found.root, found.remote) == (IdentityBasis.PATH, folder, None)
    assert "does not name an existing Git folder" in found.notes[0]


def test_an_empty_git_folder_is_none(home: Path, work: Path) -> None:
    root = repository(work / "a", remote=SSH)
    (root / "inner" / ".git").mkdir(parents=True)
    assert identify_project(root / "inner", home=home).root == root


def test_a_configuration_that_can_not_be_read_is_said_so(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    (folder / ".git" / "config").unlink()
    (folder / ".git" / "config").mkdir()
    found = identify_project(folder, home=home)
    assert found.remote is None
    assert "can't be read" in found.notes[0]


def test_the_reftable_format_leaves_the_branch_open(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    found = identify_project(folder, home=home)
    assert (found.branch, found.head, found.basis) == (None, None, IdentityBasis.PLACE)


def test_a_head_does_not_lead_out_of_the_repository(home: Path, work: Path) -> None:
    folder = repository(work / "a", remote=SSH)
    (work / "secret").write_text("a" * 40)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/../../../../secret\n")
    assert identify_project(folder, home=home).head is None


def test_a_path_that_is_none_is_refused(home: Path) -> None:
    with pytest.raises(BadRequestError, match="is not a valid path"):
        identify_project(Path("a\0b"), home=home)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["fork", "origin", "upstream"], "origin"),
        (["zeta", "upstream", "fork"], "upstream"),
        (["zeta", "fork"], "fork"),
    ],
)
def test_the_main_remote_does_not_depend_on_the_order(home: Path, work: Path, names: list[str], expected: str) -> None:
    folder = repository(work / "a")
    for name in names:
        git(folder, "remote", "add", name, f"https://example.org/{name}")
    assert identify_project(folder, home=home).remote == f"example.org/{expected}"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/Owner/Repo.git", "github.com/owner/repo"),
        ("https://user:p@ss@GitHub.com/owner/repo/", "github.com/owner/repo"),
        ("https://ghp_token@github.com:443//owner/repo.git/?x=1#y", "github.com/owner/repo"),
        ("http://github.com/owner/repo", "github.com/owner/repo"),
        ("git://github.com/owner/repo.git", "github.com/owner/repo"),
        ("git+ssh://git@github.com/owner/repo.git", "github.com/owner/repo"),
        ("ssh://git@github.com:22/owner/repo.git", "github.com/owner/repo"),
        ("ssh://git@ssh.github.com:443/owner/repo.git", "github.com/owner/repo"),
        ("git@github.com:owner/repo.git", "github.com/owner/repo"),
        ("git@github.com:/owner/repo", "github.com/owner/repo"),
        ("github.com:owner/repo", "github.com/owner/repo"),
        ("ssh://git@git.corp.example:7999/Team/Repo.git", "git.corp.example/Team/Repo"),
        ("https://git.corp.example/Team/Repo", "git.corp.example/Team/Repo"),
        ("https://git.corp.example:8443/Team/Repo", "git.corp.example:8443/Team/Repo"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "dev.azure.com/org/project/repo"),
        ("https://org@dev.azure.com/org/project/_git/repo", "dev.azure.com/org/project/repo"),
        ("ssh://git@[2001:DB8::1]:2222/repo.git", "[2001:db8::1]/repo"),
        ("me@[::1]:repo.git", "[::1]/repo"),
        ("codecommit::https://example.org/v1/repos/x", "example.org/v1/repos/x"),
        ("host:~me/repo.git", "host/~me/repo"),
        ("https://example.org/a\x1b[31m", "example.org/a[31m"),
        ("/srv/git/repo.git", None),
        ("../repo", None),
        ("./with:colon", None),
        ("file:///srv/git/repo.git", None),
        ("C:\\git\\repo", None),
        ("C:/git/repo", None),
        ("\\\\server\\share\\repo", None),
        ("  ", None),
    ],
)
def test_an_address_has_one_spelling(url: str, expected: str | None) -> None:
    assert normalise_remote(url) == expected


_WORD = st.text("abcXYZ09-_", min_size=1, max_size=8).filter(lambda word: word != "_git")


@settings(max_examples=examples(100))
@given(host=_WORD.map(lambda word: word + ".example"), parts=st.lists(_WORD, min_size=1, max_size=3), secret=_WORD)
def test_every_way_to_an_address_gives_the_same_and_no_secret(host: str, parts: list[str], secret: str) -> None:
    path, secret = "/".join(parts), f"S!{secret}"
    forms = [
        f"https://{host}/{path}",
        f"https://me:{secret}@{host.upper()}/{path}.git",
        f"ssh://{secret}@{host}:2222/{path}.git/",
        f"{secret}@{host}:{path}.git",
    ]
    assert {normalise_remote(form) for form in forms} == {f"{host.lower()}/{path}"}


_CONFIG = """\ufeff[core]
\tbare = false ; no
[Remote "origin"] url = "https://example.org/\\"a\\" # b" # comment
    URL = https://example.org/second
[remote "up\\"stream"]
fetch = +refs/heads/*:refs/remotes/x/*
 url = https://example.org/lo\\
ng
[branch "main"]
\tremote = origin
\turl = not a remote
[remote "bare"]
\turl
stray line
[remote.old]
"""


def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(_CONFIG, encoding="utf-8")
    assert read_remotes(tmp_path) == {
        "origin": 'https://example.org/"a" # b',
        'up"stream': "https://example.org/long",
    }


@settings(max_examples=examples(60))
@given(content=st.binary(max_size=200) | st.text('[]"\\=#\n\t remoteurl').map(str.encode))
def test_no_configuration_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "configuration"
    folder.mkdir(exist_ok=True)
    (folder / "config").write_bytes(content)
    assert all(isinstance(name, str) and url for name, url in read_remotes(folder).items())


def test_values_are_read_as_git_itself_reads_them(work: Path) -> None:
    folder = repository(work / "a", commit=False)
    for index, value in enumerate([' led "x"; by', "a\\b", "tab\there", "#hash", "plain", 'end"']):
        git(folder, "config", f"remote.r{index}.url", value)
        assert read_remotes(folder / ".git")[f"r{index}"] == git(folder, "config", f"remote.r{index}.url").strip()


def test_reading_an_identity_imports_no_subprocess() -> None:
    code = "import sys; import hyperloci.project.identity; print('subprocess' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


# -- Git folders elsewhere, which must know of the folder that names them ---------------------------------------------


def test_a_separate_git_folder_counts_once_it_names_its_working_tree(home: Path, work: Path) -> None:
    git(work, "init", "-q", f"--separate-git-dir={work / 'store'}", str(work / "tree"))
    found = identify_project(work / "tree", home=home)
    assert (found.basis, found.common_dir) == (IdentityBasis.PATH, None)
    assert "does not name this folder; if it is yours, run `git config core.worktree" in found.notes[0]
    git(work / "tree", "config", "core.worktree", str(work / "tree"))
    found = identify_project(work / "tree", home=home)
    assert (found.basis, found.common_dir, found.notes) == (IdentityBasis.PLACE, work / "store", ())


def test_a_working_tree_that_was_moved_by_hand_stands_for_itself_until_it_is_repaired(home: Path, work: Path) -> None:
    main = repository(work / "main")
    git(main, "worktree", "add", "-q", str(work / "side"))
    moved = (work / "side").rename(work / "moved")
    found = identify_project(moved, home=home)
    assert (found.common_dir, "git worktree repair" in found.notes[0]) == (None, True)
    git(moved, "worktree", "repair")
    assert identify_project(moved, home=home).id == identify_project(main, home=home).id


def test_a_back_link_may_be_relative(home: Path, work: Path) -> None:
    main = repository(work / "main")
    git(main, "worktree", "add", "-q", str(work / "side"))
    (main / ".git" / "worktrees" / "side" / "gitdir").write_text("../../../../side/.git\n")
    (work / "side" / ".git").write_text("gitdir: ../main/.git/worktrees/side\n")
    assert identify_project(work / "side", home=home).id == identify_project(main, home=home).id


def test_a_bare_repository_in_a_working_tree_is_content_of_that_tree(home: Path, work: Path) -> None:
    outer = repository(work / "outer", remote=SSH)
    git(outer, "init", "-q", "--bare", "fixtures/inner.git")
    git(outer / "fixtures" / "inner.git", "remote", "add", "origin", "https://example.org/other")
    for path in ("fixtures/inner.git", "fixtures/inner.git/refs", "fixtures"):
        assert identify_project(outer / path, home=home) == identify_project(outer, home=home)
    git(work, "init", "-q", "--bare", "alone.git")
    alone = identify_project(work / "alone.git", home=home)
    assert (alone.basis, alone.root, alone.place) == (IdentityBasis.PLACE, work / "alone.git", work / "alone.git")


@pytest.mark.parametrize("name", ["objects", "refs", "packed-refs", "objects/pack"])
def test_a_repository_that_borrows_by_a_link_is_not_asked_for_its_history(home: Path, work: Path, name: str) -> None:
    folder, other = repository(work / "a"), repository(work / "b")
    if name == "packed-refs":
        git(other, "pack-refs", "--all")
    target = folder / ".git" / name
    if target.is_dir():
        shutil.rmtree(target)
    target.symlink_to(other / ".git" / name)
    found = identify_project(folder, home=home, find_first_commit=True)
    assert (found.root_commit, "borrows objects from" in found.notes[0]) == (None, True)
