from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.indexing import ignore_files, tree_walk
from hyperloci.indexing.skip_rules import reason_to_skip_name
from hyperloci.indexing.tree_walk import FolderTest, IndexableFile, check_file, walk_tree
from hyperloci.model.answers import SkippedFile
from hyperloci.text.chunking.file_kinds import FileKind
from hyperloci.text.decoding import decode_text, is_text
from tests.support import examples


def make(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def found(root: Path, **options: Any) -> list[str]:
    return [item.path for item in walk_tree(root, **options) if isinstance(item, IndexableFile)]


def reasons(root: Path, **options: Any) -> dict[str, str]:
    return {item.path: item.reason for item in walk_tree(root, **options) if isinstance(item, SkippedFile)}


def git(folder: Path, *arguments: str) -> str:
    home = str(folder)
    environ = {"PATH": os.environ["PATH"], "HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", "-C", home, *arguments], env=environ, capture_output=True, check=True)
    return os.fsdecode(done.stdout)


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A tree with a folder and a file that this process, no longer root if it was, may not read."""
    me = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        root = make(Path(os.path.realpath(folder)), {"closed/a.md": "x", "open/b.md": "x", "c.md": "x"})
        root.chmod(0o755)
        for name in ("closed", "c.md"):
            (root / name).chmod(0)
        if me == 0:
            os.seteuid(65_534)
        try:
            yield root
        finally:
            os.seteuid(me)
            (root / "closed").chmod(0o700)


# What is found


def test_a_found_file_has_its_size_time_and_kind(tmp_path: Path) -> None:
    make(tmp_path, {"src/a.py": "x = 1\n"})
    (item,) = walk_tree(tmp_path)
    status = (tmp_path / "src/a.py").stat()
    assert item == IndexableFile(path="src/a.py", size=6, mtime_ns=status.st_mtime_ns, kind=FileKind.CODE)


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    make(tmp_path, dict.fromkeys(["b.md", "a/z.md", "a/b/c.md", "a.md", "c/x.md", "B.md"], "x"))
    assert found(tmp_path) == ["B.md", "a.md", "b.md", "a/z.md", "a/b/c.md", "c/x.md"]
    assert list(walk_tree(tmp_path)) == list(walk_tree(tmp_path))


def test_a_script_without_an_ending_is_known_by_its_first_line(tmp_path: Path) -> None:
    make(tmp_path, {"run": "#!/bin/sh\necho\n", "notes": "words\n", "blob": b"\x7fELF\0\0"})
    assert found(tmp_path) == ["run"]
    assert reasons(tmp_path) == {"blob": "binary", "notes": "not a kind of text that is indexed"}


def test_an_empty_file_is_found(tmp_path: Path) -> None:
    make(tmp_path, {"a/__init__.py": ""})
    assert found(tmp_path) == ["a/__init__.py"]


# What is skipped


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        (".git/x.md", "version control"),
        ("node_modules/p/a.js", "third-party code"),
        ("a/__pycache__/x.py", "a cache"),
        (".venv/lib/a.py", "a virtual environment"),
        ("pkg.egg-info/a.txt", "written by a tool"),
    ],
)
def test_folders_of_tools_are_never_entered(tmp_path: Path, folder: str, reason: str) -> None:
    make(tmp_path, {folder: "x", "keep.md": "x"})
    assert found(tmp_path) == ["keep.md"]
    ((path, said),) = reasons(tmp_path).items()
    assert said == reason
    assert path.endswith("/")
    assert isinstance(check_file(tmp_path, folder), SkippedFile)


@pytest.mark.parametrize(
    ("marker", "inside"),
    [("env/pyvenv.cfg", "env/a.py"), ("conda/conda-meta/x", "conda/a.py"), ("out/CACHEDIR.TAG", "out/a.py")],
)
def test_a_folder_is_known_by_what_lies_in_it(tmp_path: Path, marker: str, inside: str) -> None:
    make(tmp_path, {marker: "", inside: "x"})
    assert found(tmp_path) == []


def test_vendor_and_build_count_only_beside_their_tool(tmp_path: Path) -> None:
    files = {
        "go/go.mod": "x",
        "go/vendor/a.go": "x",
        "shop/vendor/model.py": "x",
        "rs/Cargo.toml": "x",
        "rs/target/b.rs": "x",
    }
    make(tmp_path, files)
    assert found(tmp_path) == ["go/go.mod", "rs/Cargo.toml", "shop/vendor/model.py"]


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        "prod.env",
        "server.pem",
        "tls.key",
        "id_rsa",
        "ID_ED25519",
        ".npmrc",
        "credentials.json",
        "secrets.yaml",
        "terraform.tfstate",
        "prod.tfvars",
    ],
)
def test_secrets_are_skipped_by_name(tmp_path: Path, name: str) -> None:
    make(tmp_path, {name: "#!/bin/sh\n"})
    assert reasons(tmp_path) == {name: "may hold secrets"}


def test_a_private_key_is_skipped_whatever_its_name(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"key.txt": "\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n", "key.py": "x = '-----BEGIN PRIVATE KEY-----'"},
    )
    assert reasons(tmp_path) == {"key.txt": "may hold secrets"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env.example", None),
        ("id_rsa.pub", None),
        ("monkey.py", None),
        ("block.py", None),
        ("package-lock.json", "a lock file"),
        ("uv.lock", "a lock file"),
        ("go.sum", "a lock file"),
        ("app.min.js", "minified"),
        ("api_pb2.py", "generated"),
        ("x.pb.go", "generated"),
    ],
)
def test_names_tell(name: str, reason: str | None) -> None:
    assert reason_to_skip_name(name) == reason


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.js", "var a=1;" * 900, "minified"),
        ("a.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n", "generated"),
        ("a.py", "# @generated by a tool\n", "generated"),
        ("a.ts", "/* This file was automatically generated.\n * DO NOT MODIFY. */\n", "generated"),
        ("a.md", b"text\0more", "binary"),
        ("a.txt", "Καλημέρα κόσμε".encode("cp1253"), "its encoding cannot be determined"),
        ("a.json", "{}" * 40_000, "configuration above 64,000 bytes is data"),
        ("a.png", b"\x89PNG", "not a kind of text that is indexed"),
    ],
)
def test_contents_tell(tmp_path: Path, name: str, content: str | bytes, reason: str) -> None:
    make(tmp_path, {name: content})
    assert reasons(tmp_path) == {name: reason}


def test_talk_of_generated_code_is_not_generated_code(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "import b\n" * 20 + "MARK = '@generated'\n", "a.md": "Put `@generated` on top.\n"})
    assert found(tmp_path) == ["a.md", "a.py"]


def test_a_large_file_is_skipped_with_its_size(tmp_path: Path) -> None:
    make(tmp_path, {"a.md": "x" * 2_001})
    assert reasons(tmp_path, max_bytes=2_000) == {"a.md": "2,001 bytes, above 2,000"}
    assert found(tmp_path, max_bytes=2_001) == ["a.md"]


def test_a_notebook_may_be_larger_as_most_of_it_is_not_read(tmp_path: Path) -> None:
    make(tmp_path, {"a.ipynb": "x" * 20_000, "b.ipynb": "x" * 20_001})
    assert found(tmp_path, max_bytes=2_000) == ["a.ipynb"]
    assert reasons(tmp_path, max_bytes=2_000) == {"b.ipynb": "20,001 bytes, above 20,000"}


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(tmp_path) == {"pipe.md": "not a regular file"}


def test_a_name_that_is_no_text_is_skipped(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb"):
        pass
    (item,) = walk_tree(tmp_path)
    assert item == SkippedFile(path="\ufffd.md", reason="its name is not valid text")


def test_what_may_not_be_read_is_skipped_with_the_systems_words(as_nobody: Path) -> None:
    assert found(as_nobody) == ["open/b.md"]
    denied = "cannot be read: Permission denied"
    assert reasons(as_nobody) == {"c.md": denied, "closed/": denied}
    assert isinstance(check_file(as_nobody, "closed/a.md"), SkippedFile)


def test_a_root_that_is_gone_is_skipped(tmp_path: Path) -> None:
    (item,) = walk_tree(tmp_path / "nowhere")
    assert isinstance(item, SkippedFile)
    assert "No such file" in item.reason


# Symbolic links


def test_a_link_counts_only_if_it_is_the_only_way_to_a_file_of_the_tree(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", {"o.md": "x", "d/e.md": "x"})
    root = make(
        tmp_path / "root",
        {"AGENTS.md": "x", "folder/a.md": "x", "hidden/only.md": "x", "hidden/.env": "x", ".gitignore": "hidden/\n"},
    )
    links: dict[str, str | Path] = {
        "AAA.md": "AGENTS.md",
        "out.md": outside / "o.md",
        "folder_link": "folder",
        "out_folder": outside,
        "broken.md": "nowhere.md",
        "loop.md": "loop.md",
        "only.md": "hidden/only.md",
        "only_again.md": "hidden/only.md",
        "env.md": "hidden/.env",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    assert found(root) == ["AGENTS.md", "folder/a.md", "only.md"]
    said = reasons(root)
    assert said["AAA.md"] == "a symbolic link to AGENTS.md, which is indexed"
    assert said["out.md"] == "a symbolic link to a place outside the project"
    assert said["folder_link"] == "a symbolic link to a folder"
    assert said["out_folder"] == "a symbolic link to a place outside the project"
    assert said["only_again.md"] == "a symbolic link to hidden/only.md, which is indexed"
    assert said["env.md"] == "may hold secrets"
    assert said["broken.md"].startswith("a symbolic link that is broken")
    assert said["loop.md"].startswith("a symbolic link that is broken")
    assert isinstance(check_file(root, "folder_link/a.md"), SkippedFile)
    assert isinstance(check_file(root, "only.md"), IndexableFile)


def test_the_root_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    make(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "link").symlink_to("real")
    assert found(tmp_path / "link") == ["a.md"]
    assert isinstance(check_file(tmp_path / "link", "a.md"), IndexableFile)


# Ignore files


def test_ignore_files_nest_and_negate(tmp_path: Path) -> None:
    files = {
        ".gitignore": "*.txt\n/top.md\nlogs/\n!keep.txt\n",
        "a.txt": "x",
        "keep.txt": "x",
        "top.md": "x",
        "sub/top.md": "x",
        "sub/.gitignore": "!a.txt\nkeep.txt\n",
        "sub/a.txt": "x",
        "sub/keep.txt": "x",
        "logs/keep.txt": "x",
    }
    make(tmp_path, files)
    assert found(tmp_path) == ["keep.txt", "sub/a.txt", "sub/top.md"]
    assert reasons(tmp_path)["sub/keep.txt"] == "ignored by sub/.gitignore"
    assert reasons(tmp_path)["logs/"] == "ignored by .gitignore"


def test_our_own_ignore_file_adds_and_takes_back(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "a.md\n", ".hyperlociignore": "!a.md\nb.md\n", "a.md": "x", "b.md": "x"})
    assert found(tmp_path) == ["a.md"]
    assert reasons(tmp_path)["b.md"] == "ignored by .hyperlociignore"


def test_the_setting_is_stronger_than_every_file(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "a.md\n", "a.md": "x", "docs/b.md": "x", "docs/c.md": "x"})
    assert found(tmp_path, exclude=["!a.md", "/docs/b.md"]) == ["a.md", "docs/c.md"]
    assert reasons(tmp_path, exclude=["docs/"])["docs/"] == "ignored by the setting exclude"


def test_rules_from_above_the_root_and_of_the_repository_hold(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    make(
        tmp_path,
        {
            ".git/info/exclude": "mine.md\n",
            ".gitignore": "*.txt\n/app/only_here.md\n",
            "app/a.txt": "x",
            "app/b.md": "x",
            "app/mine.md": "x",
            "app/only_here.md": "x",
        },
    )
    assert found(tmp_path / "app") == ["b.md"]


@pytest.mark.parametrize("pattern", ["*", "/*", "notes/", "notes"])
def test_a_repository_that_ignores_the_root_says_nothing_of_what_is_in_it(tmp_path: Path, pattern: str) -> None:
    make(tmp_path, {".gitignore": f"{pattern}\n!/.vimrc\n", "notes/deep/a.md": "x", "notes/deep/inner/b.md": "x"})
    git(tmp_path, "init", "-q")
    git(tmp_path / "notes/deep/inner", "init", "-q")
    assert found(tmp_path / "notes/deep") == ["a.md", "inner/b.md"]
    assert isinstance(check_file(tmp_path / "notes/deep", "a.md"), IndexableFile)
    assert not FolderTest(tmp_path / "notes/deep").ignores("inner")


def test_what_else_such_a_repository_ignores_holds_and_so_does_what_is_said_to_us(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "/*\n*.sql\n", ".hyperlociignore": "c.md\n"})
    make(tmp_path, {"notes/deep/a.md": "x", "notes/deep/b.sql": "x", "notes/deep/c.md": "x"})
    git(tmp_path, "init", "-q")
    assert found(tmp_path / "notes/deep") == ["a.md"]
    (tmp_path / ".hyperlociignore").write_text("*\n")
    assert found(tmp_path / "notes/deep") == []


def test_a_root_that_is_taken_back_is_a_part_of_its_repository(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "/*\n!/notes/\nb.md\n", "notes/a.md": "x", "notes/b.md": "x"})
    git(tmp_path, "init", "-q")
    assert found(tmp_path / "notes") == ["a.md"]


def test_a_repository_inside_a_repository_is_another_project(tmp_path: Path) -> None:
    make(tmp_path, {"inner/a.md": "x", "a.md": "x"})
    git(tmp_path / "inner", "init", "-q")
    assert found(tmp_path) == ["a.md", "inner/a.md"]
    git(tmp_path, "init", "-q")
    assert found(tmp_path) == ["a.md"]
    assert reasons(tmp_path)["inner/"] == "another repository"


@pytest.mark.parametrize(
    "content", ["foo\\\n", "[\n", "***/\n", b"\xff\xfe\n", "\ufeffb.md\n", "#\n\n   \n", "!\n", "/\n"]
)
def test_no_ignore_file_breaks_the_walk(tmp_path: Path, content: str | bytes) -> None:
    make(tmp_path, {".gitignore": content, "a.md": "x", "b.md": "x"})
    git(tmp_path, "init", "-q")
    assert found(tmp_path) == [path for path in git_sees(tmp_path) if path.endswith(".md")]


def test_an_ignored_folder_needs_no_watch(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "logs/\n", "logs/a.md": "x", "src/a.md": "x", "node_modules/p/a.js": "x"})
    test = FolderTest(tmp_path)
    assert test.ignores("logs")
    assert test.ignores(tmp_path / "node_modules" / "p")
    assert test.ignores(tmp_path.parent)
    assert not test.ignores("src")
    assert not test.ignores(tmp_path)
    assert FolderTest(tmp_path, exclude=["src"]).ignores("src")


def test_a_look_for_folders_to_watch_reads_the_rules_of_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {f"{a}/{b}/{c}/x.md": "x" for a in "pq" for b in "pq" for c in "pq"})
    read: list[Path] = []
    read_rules = ignore_files.read_folder_rules

    def count(folder: Path, base: str) -> ignore_files.Chain:
        read.append(folder)
        return read_rules(folder, base)

    monkeypatch.setattr(tree_walk, "read_folder_rules", count)
    test = FolderTest(tmp_path)
    folders = [path for path in sorted(tmp_path.rglob("*")) if path.is_dir()]
    assert not any(test.ignores(folder) for folder in folders)
    assert sorted(read) == sorted([tmp_path, *folders])


# One path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../x.md", "outside the project"),
        ("/etc/passwd", "outside the project"),
        ("", "a folder"),
        ("src", "a folder"),
        ("src/none.md", "cannot be read: No such file or directory"),
        ("src/a.md/b.md", "not a folder"),
        ("none/b.md", "cannot be read: No such file or directory"),
    ],
)
def test_one_path_is_judged_without_a_walk(tmp_path: Path, path: str, reason: str) -> None:
    make(tmp_path, {"src/a.md": "x"})
    verdict = check_file(tmp_path, path)
    assert isinstance(verdict, SkippedFile)
    assert verdict.reason == reason
    assert isinstance(check_file(tmp_path, "src/../src/a.md"), IndexableFile)
    assert isinstance(check_file(tmp_path, tmp_path / "src" / "a.md"), IndexableFile)


# Encodings


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("слово".encode(), "слово"),
        ("слово".encode("utf-8-sig"), "слово"),
        ("слово".encode("utf-16"), "слово"),
        (b"\xfe\xff" + "a\0b".encode("utf-16-be"), "a\0b"),
        ("слово".encode("utf-32"), "слово"),
        (b"caf\xe9 au lait, s'il vous pla\xeet", "café au lait, s'il vous plaît"),
        (b"caf\xe9\x01", None),
        (b"a\0b", None),
        (b"\xff\xfea", None),
        (bytes(range(128, 256)), None),
    ],
)
def test_text_is_decoded_and_what_is_no_text_is_not(data: bytes, text: str | None) -> None:
    assert decode_text(data) == text


def test_a_head_may_end_inside_a_character() -> None:
    data = ("я" * 5_000).encode()
    assert is_text(data[:8_192])
    assert is_text(b"x" + data[:8_191])
    assert not is_text(data[:7])


# Laws

_FILES = st.sampled_from(["a.md", "b.md", "ab.py", "é.md", "c d.md", "#q.md", "!z.md", "a[b.md", ".x.md"])
_FOLDER_NAMES = st.sampled_from(["a", "b", "foo", "é", "c d", ".x", "#q", "a.md"])
_SEGMENTS = st.sampled_from(
    [
        "a",
        "b",
        "foo",
        "a.md",
        "ab*",
        "*.md",
        "*.py",
        "*",
        "?",
        "?.md",
        "[ab]",
        "[!a]*",
        "[[:alpha:]]*",
        "[a-c]*.md",
        "**",
        "f*o",
        ".*",
        "é",
        "\\#q",
        "\\!z.md",
        "a\\[b.md",
        "**a",
        "\\a",
        "c d",
        "b\\ ",
    ]
)


@st.composite
def _patterns(draw: st.DrawFn) -> str:
    path = "/".join(draw(st.lists(_SEGMENTS, min_size=1, max_size=3)))
    # `x/**/` is the one form that pathspec reads in another way than Git.
    tail = "" if path.endswith("**") else draw(st.sampled_from(["", "", "/"]))
    return draw(st.sampled_from(["", "", "!"])) + draw(st.sampled_from(["", "", "/"])) + path + tail


_IGNORE_FILE = st.lists(_patterns(), min_size=1, max_size=5).map("\n".join)
_FOLDERS = st.lists(_FOLDER_NAMES, max_size=3).map("/".join)
_TREES = st.tuples(
    st.lists(st.tuples(_FOLDERS, _FILES), min_size=1, max_size=14),
    st.lists(st.tuples(_FOLDERS, _IGNORE_FILE), min_size=1, max_size=3),
)


def grow(root: Path, files: list[tuple[str, str]], ignores: list[tuple[str, str]]) -> None:
    wanted = [(folder, name, "x\n") for folder, name in files]
    wanted += [(folder, ".gitignore", patterns) for folder, patterns in [("", ignores[0][1]), *ignores[1:]]]
    for folder, name, content in wanted:
        target = root / folder / name
        if any(parent.is_file() for parent in target.parents) or target.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")


def git_sees(root: Path) -> list[str]:
    return sorted(git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1])


@settings(max_examples=examples(50))
@given(_TREES)
def test_what_is_ignored_is_what_git_ignores(tree: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        git(root, "init", "-q", "--template=")
        grow(root, *tree)
        assert sorted(found(root)) == [path for path in git_sees(root) if not path.endswith(".gitignore")]


@pytest.mark.parametrize("bracket", ["[[:{}:]]", "[![:{}:]x]", "[^_[:{}:][:digit:]-]", "[]7[:{}:]]", "[:{}:]"])
def test_a_class_of_characters_means_what_git_means_by_it(tmp_path: Path, bracket: str) -> None:
    classes = [
        "alnum",
        "alpha",
        "blank",
        "cntrl",
        "digit",
        "graph",
        "lower",
        "print",
        "punct",
        "space",
        "upper",
        "xdigit",
    ]
    git(tmp_path, "init", "-q", "--template=")
    git(tmp_path, "config", "core.ignorecase", "false")  # Where it is true, `[[:upper:]]` is any letter.
    files = {f"{name}/n{sign}n.md": "x\n" for name in classes for sign in "agZ57_- .:[]!~^@`\t\n\r\x01\v\x7f"}
    make(tmp_path, files | {f"{name}/.gitignore": f"n{bracket.format(name)}*.md\n" for name in classes})

    seen = {*git_sees(tmp_path)}
    assert {*found(tmp_path)} <= seen
    assert not seen & {path for path, reason in reasons(tmp_path).items() if reason.startswith("ignored by ")}


@pytest.mark.parametrize(
    "pattern",
    [
        "lib[!0-9]*",
        "lib[^0-9]a.md",
        "lib[!]0]a.md",
        "lib[^]-a]b.md",
        "lib[!-0]*.md",
        "lib[^--0]*",
        "[![:digit:]]*/b.md",
    ],
)
def test_what_a_bracket_leaves_out_is_no_slash(tmp_path: Path, pattern: str) -> None:
    git(tmp_path, "init", "-q", "--template=")
    make(
        tmp_path,
        dict.fromkeys(("lib/a.md", "lib/b.md", "lib_a.md", "lib^b.md", "lib-a.md", "lib0a.md", "7/b.md"), "x\n"),
    )
    (tmp_path / ".gitignore").write_text(pattern + "\n")

    assert sorted(found(tmp_path)) == [path for path in git_sees(tmp_path) if path != ".gitignore"]


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"[\]]", "[a/b]", "[!/]", "[/]", "x[--/]y", "![a/b]", "[[:alpha:]-z]", "[a-[:digit:]]", "[z-a]", r"[a-\z]"),
        *(r"[\a-c]", r"[a\-c]", "[[:alpha]", "[[:none:]]", "[a", "#[/]"),
        *("voilà", "цех", "voil\xa0", "x\t", "x\v", r"x\ ", r"x\\ ", "x\t "),
    ],
)
def test_brackets_and_ends_of_lines_are_read_as_git_reads_them(tmp_path: Path, pattern: str) -> None:
    git(tmp_path, "init", "-q", "--template=")
    names = [*"abz]-[\\x", "a]", "d]", "x-y", "x.y", "voilà", "voil", "voil\xa0", "цех", "x\t", "x ", "x\\"]
    make(tmp_path, {f"{name}/n.md": "x\n" for name in names} | {f"in/{name}.md/n.md": "x\n" for name in names})
    lines = [pattern, pattern + ".md"] if pattern[0] != "!" else ["*", pattern]
    (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n")

    assert sorted(found(tmp_path)) == [path for path in git_sees(tmp_path) if path != ".gitignore"]


def test_patterns_that_are_too_many_for_one_expression_are_heeded_all_the_same(tmp_path: Path) -> None:
    make(tmp_path, {"a.md": "x\n", "b.md": "x\n"})
    (tmp_path / ".gitignore").write_text(f"{'a*' * 2_048}\n" * ignore_files.GROUP_PATTERNS + "b.md\n")

    assert found(tmp_path) == ["a.md"]


@settings(max_examples=examples(40))
@given(_TREES)
def test_one_path_is_judged_as_the_walk_judges_it(
    tree: tuple[list[tuple[str, str]], list[tuple[str, str]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        grow(root, *tree)
        for item in walk_tree(root):
            assert check_file(root, item.path.rstrip("/")) in {item, SkippedFile(path=item.path, reason="a folder")}
        every = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
        assert {path for path in every if isinstance(check_file(root, path), IndexableFile)} == set(found(root))


@pytest.mark.req("W1")
@pytest.mark.parametrize(
    "pattern", ["a*" * 30 + "b", "**/a" * 30 + "/b", "[ab]*" * 200 + "c", "?" * 4_000, "*" * 4_000 + "b"]
)
def test_a_pattern_made_to_take_for_ever_is_matched_like_any_other(tmp_path: Path, pattern: str) -> None:
    # Python's own engine would need years for these: the time-out of every test is the assertion.
    make(tmp_path, {".gitignore": pattern, "a" * 200: "x", "/".join(["a"] * 100) + "/c.md": "x"})
    assert "a" * 200 in {*found(tmp_path), *reasons(tmp_path)}


def test_of_many_patterns_the_last_that_matches_decides(tmp_path: Path) -> None:
    lines = [f"some-long-name-{number}-*-and-more-?.txt" for number in range(2_000)]
    text = "\n".join(["*.md", *lines, "!open.md", *lines, "late.md"])
    make(tmp_path, {".gitignore": text, "secret.md": "x", "open.md": "x", "late.md": "x"})
    assert [path for path in found(tmp_path) if path.endswith(".md")] == ["open.md"]


def test_the_longest_patterns_are_compiled(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "\n".join(["**/" * 1_000 + "x", "[a-z]*" * 600, "é" * 1_300] * 100), "a.md": "x"})
    assert "a.md" in found(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        ".docker/config.json", ".kube/config", ".aws/credentials", ".aws/config", ".m2/settings.xml",
        ".cargo/credentials.toml",
        "vault.kdbx", "release.jks", "terraform.tfstate", "prod.tfvars.json", "id_ed25519_sk", ".git-credentials",
        ".netrc", ".pgpass", ".htpasswd", ".bash_history", "client.ovpn", ".vault-token", "shadow", "config/master.key",
    ],
)  # fmt: skip
def test_files_that_hold_secrets_by_name_or_by_place_are_skipped(tmp_path: Path, name: str) -> None:
    make(tmp_path, {name: "#!/bin/sh\n"})
    assert reasons(tmp_path)[name] == "may hold secrets"


def test_a_file_of_the_same_name_elsewhere_is_indexed(tmp_path: Path) -> None:
    make(tmp_path, {"app/config.json": "{}\n", "docs/settings.xml": "<a/>\n"})
    assert "may hold secrets" not in reasons(tmp_path).values()
