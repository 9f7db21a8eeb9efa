"""Writing our entries into Claude Code's configuration and taking them out again."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.cli.install import json_edit
from hyperloci.cli.install.commands import CommandLine, InstalledCommands
from hyperloci.cli.install.config_entries import (
    REGISTERED_HOOKS,
    hook_entries,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)
from hyperloci.cli.install.installer import (
    BACKUP_SUFFIX,
    InstallPlan,
    InstallScope,
    apply_plan,
    plan_install,
    plan_uninstall,
    target_files,
)
from hyperloci.cli.install.json_edit import JsonObject
from hyperloci.errors import ConfigurationError
from tests.support import examples

COMMANDS = InstalledCommands(
    CommandLine("/opt/my tools/bin/hyperloci"), CommandLine("/opt/my tools/bin/hyperloci-hook")
)
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and links")


def _install(
    home: Path, project: Path, scope: InstallScope = InstallScope.USER, commands: InstalledCommands = COMMANDS
) -> InstallPlan:
    return plan_install(scope, project_root=project, home=home, commands=commands)


def _uninstall(home: Path, project: Path, scope: InstallScope = InstallScope.USER) -> InstallPlan:
    return plan_uninstall(scope, project_root=project, home=home)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_user_installation_makes_both_files(home: Path, project: Path) -> None:
    written = apply_plan(_install(home, project))
    assert written == (home / ".claude.json", home / ".claude" / "settings.json")
    assert _json(home / ".claude.json") == {
        "mcpServers": {"hyperloci": {"type": "stdio", "command": COMMANDS.server.program, "args": ["serve"]}}
    }
    hooks = _json(home / ".claude" / "settings.json")["hooks"]
    assert list(hooks) == [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "Stop",
        "SessionEnd",
    ]
    for hook in REGISTERED_HOOKS:
        [group] = hooks[hook.event]
        [handler] = group["hooks"]
        assert handler == {
            "type": "command",
            "command": COMMANDS.hook.program,
            "args": [hook.event],
            "timeout": hook.timeout,
        }
        assert group.get("matcher") == hook.matcher


def test_a_project_installation_stays_in_the_project(home: Path, project: Path) -> None:
    apply_plan(_install(home, project, InstallScope.PROJECT))
    assert "hyperloci" in _json(project / ".mcp.json")["mcpServers"]
    assert "SessionStart" in _json(project / ".claude" / "settings.json")["hooks"]
    assert list(home.iterdir()) == []


def test_claude_config_dir_moves_both_user_files(home: Path, project: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    found = target_files(InstallScope.USER, project_root=project, home=home, config_dir=config)
    assert (found.servers, found.settings) == (config / ".claude.json", config / "settings.json")


def test_the_legacy_user_file_is_used_while_claude_code_uses_it(home: Path, project: Path) -> None:
    legacy = home / ".claude" / ".config.json"
    legacy.parent.mkdir()
    legacy.write_text("")
    assert target_files(InstallScope.USER, project_root=project, home=home).servers == home / ".claude.json"
    legacy.write_text("{}")
    assert target_files(InstallScope.USER, project_root=project, home=home).servers == legacy


def test_everything_else_in_the_files_keeps_its_bytes(home: Path, project: Path) -> None:
    text = (
        '{\n\t"permissions": {"allow": ["Bash(ls:*)",   "Read"]},\n\t"é": "\\u00e9", "n": 1.0e1,\n'
        '\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}\n\t\t]\n\t},\n'
        '\t"model": "opus"\n}\n\n'
    )
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    apply_plan(_install(home, project))
    installed = path.read_text(encoding="utf-8")
    assert installed.startswith(
        text[: text.index('"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}')]
    )
    assert '\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]},\n' in installed
    assert installed.endswith('\n\t},\n\t"model": "opus"\n}\n\n')
    assert [len(groups) for groups in json.loads(installed)["hooks"].values()] == [2, 1, 1, 1, 1, 1, 1]
    apply_plan(_uninstall(home, project))
    assert path.read_text(encoding="utf-8") == text


def test_installing_twice_changes_nothing_the_second_time(home: Path, project: Path) -> None:
    apply_plan(_install(home, project))
    again = _install(home, project)
    assert not again.changed
    assert again.diff() == ""
    assert apply_plan(again) == ()


def test_installing_anew_moves_our_entries_to_the_new_path_in_place(home: Path, project: Path) -> None:
    apply_plan(_install(home, project))
    path = home / ".claude" / "settings.json"
    document = _json(path)
    document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "after"}]})
    document["hooks"]["Notification"] = [{"hooks": [{"type": "command", "command": "x"}]}]
    path.write_text(json.dumps(document))
    moved = InstalledCommands(CommandLine("/new/hyperloci"), CommandLine("/new/hyperloci-hook"))
    apply_plan(_install(home, project, commands=moved))
    hooks = _json(path)["hooks"]
    assert list(hooks) == [*(hook.event for hook in REGISTERED_HOOKS), "Notification"]
    assert [group["hooks"][0]["command"] for group in hooks["Stop"]] == ["/new/hyperloci-hook", "after"]
    assert "/opt/my tools" not in path.read_text() + (home / ".claude.json").read_text()


def test_what_a_person_added_to_our_server_survives_a_new_installation() -> None:
    old = {"mcpServers": {"hyperloci": {"command": "/old", "args": [], "env": {"RLM_MEMORY_DB": "/x"}}, "b": {}}}
    assert with_server(old, "/new")["mcpServers"] == {
        "hyperloci": {"command": "/new", "args": ["serve"], "env": {"RLM_MEMORY_DB": "/x"}, "type": "stdio"},
        "b": {},
    }
    remote = {"mcpServers": {"hyperloci": {"type": "http", "url": "http://x"}}}
    assert with_server(remote, "/new")["mcpServers"]["hyperloci"] == {
        "type": "stdio",
        "command": "/new",
        "args": ["serve"],
    }


def test_hooks_written_by_hand_or_by_an_older_version_are_ours() -> None:
    document = {
        "hooks": {
            "Stop": [
                {
                    "matcher": "m",
                    "hooks": [
                        {"type": "command", "command": "keep me"},
                        {"type": "command", "command": "hyperloci hook Stop"},
                        {"type": "command", "command": '"C:\\Program Files\\x\\Hyperloci-Hook.exe" Stop'},
                        {"type": "command", "command": "/usr/bin/hyperloci", "args": ["hook", "Stop"]},
                        {"type": "command", "command": "hyperloci stats"},
                        {"type": "command", "command": "echo hyperloci-hook"},
                        {"type": "prompt", "prompt": "hyperloci-hook"},
                    ],
                },
                "not a group",
                {"hooks": "odd"},
            ],
            "Notification": [
                {"hooks": [{"type": "command", "command": "/a/hyperloci-hook", "args": ["Notification"]}]}
            ],
            "Empty": [],
        }
    }
    left = without_hooks(document)["hooks"]
    kept = [handler.get("command") for handler in left["Stop"][0]["hooks"]]
    assert kept == ["keep me", "hyperloci stats", "echo hyperloci-hook", None]
    assert left["Stop"][1:] == ["not a group", {"hooks": "odd"}]
    assert left["Empty"] == []
    assert "Notification" not in left


_HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["a", "b c", "hyper"])})
_GROUP = st.fixed_dictionaries({"hooks": st.lists(_HANDLER, max_size=2)}, optional={"matcher": st.sampled_from("xy")})
_EVENTS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "Notification"]), st.lists(_GROUP, min_size=1, max_size=3), min_size=1
)
_DOCUMENTS = st.fixed_dictionaries(
    {"model": st.text(max_size=3)},
    optional={
        "hooks": _EVENTS,
        "mcpServers": st.dictionaries(st.sampled_from("ab"), st.just({"command": "x"}), min_size=1),
    },
)


@settings(max_examples=examples(80))
@given(document=_DOCUMENTS, indent=st.sampled_from([None, 2, 4, "\t"]))
def test_taking_out_what_was_put_in_gives_every_byte_back(document: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(document, indent=indent)
    changes: list[tuple[Callable[[JsonObject], JsonObject], Callable[[JsonObject], JsonObject]]] = [
        (lambda value: with_hooks(value, hook_entries("/x/hyperloci-hook")), without_hooks),
        (lambda value: with_server(value, "/s"), without_server),
    ]
    for put, take in changes:
        installed = json_edit.patch_text(text, put(json_edit.parse_strict(text)))
        assert json_edit.patch_text(installed, put(json_edit.parse_strict(installed))) == installed
        assert json_edit.patch_text(installed, take(json_edit.parse_strict(installed))) == text


@pytest.mark.parametrize("scope", InstallScope)
def test_removal_deletes_the_files_and_folders_that_the_installation_made(
    home: Path, project: Path, scope: InstallScope
) -> None:
    apply_plan(_install(home, project, scope))
    moved = InstalledCommands(CommandLine("/new/hyperloci"), CommandLine("/new/hyperloci-hook"))
    apply_plan(_install(home, project, scope, moved))
    apply_plan(_uninstall(home, project, scope))
    assert [*home.iterdir(), *project.iterdir()] == []


def test_removal_leaves_a_file_that_was_there_as_it_was_and_no_copy_of_it(home: Path, project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {}}')
    apply_plan(_install(home, project, InstallScope.PROJECT))
    assert (project / f".mcp.json{BACKUP_SUFFIX}").exists()
    apply_plan(_uninstall(home, project, InstallScope.PROJECT))
    assert [(path.name, path.read_text()) for path in project.iterdir()] == [(".mcp.json", '{"mcpServers": {}}')]


@pytest.mark.parametrize(
    "content",
    [
        '{"a":1,  "hooks":{}}',
        '{"a":1,  "hooks":{"Stop":[]}, "b": 2}\n',
        '{\n  "hooks": {},\n  "b": {"c": []}\n}\n',
        '{\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"Other": [{"hooks": []}]\r\n\t}\r\n}',
        '\ufeff{"mcpServers": {}, "a": 1}',
    ],
)
def test_removal_leaves_empty_objects_that_were_there_before(home: Path, project: Path, content: str) -> None:
    files = [home / ".claude.json", home / ".claude" / "settings.json"]
    (home / ".claude").mkdir()
    for path in files:
        path.write_bytes(content.encode())
    apply_plan(_install(home, project))
    assert all(path.read_bytes() != content.encode() for path in files)
    apply_plan(_uninstall(home, project))
    assert sorted(path for path in home.rglob("*") if path.is_file()) == sorted(files)
    assert [path.read_bytes() for path in files] == [content.encode()] * 2


def test_removal_keeps_what_changed_meanwhile_and_the_copy_of_before(home: Path, project: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {}, "gone": {}}')
    apply_plan(_install(home, project))
    document = json.loads(path.read_text())
    del document["gone"]
    path.write_text(json.dumps(document | {"new": 1}))
    apply_plan(_uninstall(home, project))
    assert path.read_text() == '{"hooks": {}, "new": 1}'
    assert path.with_name(path.name + BACKUP_SUFFIX).read_text() == '{"hooks": {}, "gone": {}}'


def test_removal_where_nothing_is_installed_touches_nothing(home: Path, project: Path) -> None:
    (home / ".claude.json").write_text('{"numStartups": 3}')
    plan = _uninstall(home, project)
    assert not plan.changed
    assert apply_plan(plan) == ()
    assert [path.name for path in home.iterdir()] == [".claude.json"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{\n  // mine\n  "a": 1\n}', r"line 2 column 3"),
        (b'{"a": 1,}', r"JSON without comments .* take its comments, and commas behind a last member, out"),
        (b"[]", r"must hold an object, not list"),
        (b'{"hooks": []}', r'"hooks" is list'),
        (b'{"hooks": {"Stop": {}}}', r'"hooks\.Stop" is dict'),
        ('{"a": 1}'.encode("utf-16"), r"utf-8"),
    ],
    ids=["comment", "comma", "array", "hooks", "event", "utf-16"],
)
def test_a_file_that_cannot_be_changed_safely_is_refused_untouched(
    home: Path, project: Path, content: bytes, complaint: str
) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        _install(home, project)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert not (home / ".claude.json").exists()


def test_a_byte_order_mark_is_kept(home: Path, project: Path) -> None:
    path = home / ".claude.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    apply_plan(_install(home, project))
    assert path.read_bytes().startswith(b'\xef\xbb\xbf{"a": 1, "mcpServers"')
    assert path.read_bytes().endswith(b"}\r\n")


@posix_only
def test_a_linked_settings_file_is_changed_at_its_target_and_stays_a_link(home: Path, project: Path) -> None:
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(real)
    apply_plan(_install(home, project))
    assert path.is_symlink()
    assert "hooks" in _json(real)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@posix_only
def test_a_device_in_a_settings_files_place_is_refused(home: Path, project: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(os.devnull)  # As people do who want no such file.
    with pytest.raises(ConfigurationError, match="not a regular file"):
        _install(home, project)


@posix_only
def test_permissions_are_kept_and_new_user_files_are_private(home: Path, project: Path) -> None:
    (home / ".claude.json").write_text('{"oauth": "secret"}')
    (home / ".claude.json").chmod(0o400)
    apply_plan(_install(home, project))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*") if path.is_file()}
    assert modes == {".claude.json": 0o400, f".claude.json{BACKUP_SUFFIX}": 0o400, "settings.json": 0o600}


def test_the_first_state_of_a_file_is_backed_up_once(home: Path, project: Path) -> None:
    path = home / ".claude.json"
    path.write_text('{"first": true}')
    apply_plan(_install(home, project))
    path.write_text('{"second": true}')
    apply_plan(_install(home, project))
    assert path.with_name(path.name + BACKUP_SUFFIX).read_text() == '{"first": true}'
    assert sorted(item.name for item in home.iterdir()) == [".claude", ".claude.json", f".claude.json{BACKUP_SUFFIX}"]


def test_a_plan_shows_its_change_and_writes_nothing(home: Path, project: Path) -> None:
    (home / ".claude.json").write_text('{\n  "a": "' + "x" * 5_000 + '"\n}\n')
    plan = _install(home, project)
    lines = plan.diff().splitlines()
    assert '+    "hyperloci": {' in lines
    assert '+    "SessionStart": [' in lines
    assert max(map(len, lines)) < 300
    assert [path.name for path in home.iterdir()] == [".claude.json"]


def test_a_file_changed_after_the_plan_was_made_is_not_overwritten(home: Path, project: Path) -> None:
    plan = _install(home, project)
    (home / ".claude" / "").mkdir()
    (home / ".claude" / "settings.json").write_text('{"model": "opus"}')
    with pytest.raises(ConfigurationError, match="changed by another program"):
        apply_plan(plan)
    assert not (home / ".claude.json").exists()
    assert _json(home / ".claude" / "settings.json") == {"model": "opus"}


def test_a_folder_in_the_place_of_a_file_is_named(home: Path, project: Path) -> None:
    (home / ".claude.json").mkdir()
    with pytest.raises(ConfigurationError, match=r"\.claude\.json can't be read"):
        _install(home, project)


def test_a_project_that_does_not_exist_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a folder"):
        _install(home, tmp_path / "nowhere", InstallScope.PROJECT)
