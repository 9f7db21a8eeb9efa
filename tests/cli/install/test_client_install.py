"""What an installation writes into each assistant's files, and that nothing else in them changes by a byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hyperloci.cli.install.client_install import (
    RULES,
    choose_clients,
    describe_client,
    plan_client,
    plan_client_removal,
    plan_rules,
    plan_rules_removal,
)
from hyperloci.cli.install.client_table import ClientFolders
from hyperloci.cli.install.codex_trust import CodexHook, plan_trust
from hyperloci.cli.install.commands import CommandLine, InstalledCommands
from hyperloci.cli.install.config_entries import is_our_handler
from hyperloci.cli.install.installer import InstallPlan, InstallScope, apply_plan
from hyperloci.errors import BadRequestError, ConfigurationError
from hyperloci_hooks.dialects.dialect import NAMES, load_dialect

COMMANDS = InstalledCommands(CommandLine("/opt/my tools/hyperloci"), CommandLine("/opt/my tools/hyperloci-hook"))
USER, PROJECT = InstallScope.USER, InstallScope.PROJECT

CODEX_TOML = """\
# Model of the day
model = "gpt-5.5"        # not mini
approval_policy = "on-request"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]

  # two spaces, on purpose
  [mcp_servers.docs.env]
  TOKEN = "x"

[hooks.state."/home/me/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:00"

[projects."/home/me/work"]
trust_level = "trusted"
"""

CODEX_HOOKS = """\
{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}],
  "PreToolUse": [ {"matcher": "Bash", "hooks": [ {"type": "command", "command": "./check.sh"} ] } ]}}
"""

GEMINI = """\
{
  // Look
  "ui": { "theme": "GitHub", },
  "security": {"auth": {"selectedType": "oauth-personal"}},
  "mcpServers": {
    "github": { "command": "gh-mcp", "args": ["stdio"], "trust": false } // read only
  },
  "hooks": {
    "AfterTool": [
      { "matcher": "write_file", "hooks": [ { "type": "command", "command": "prettier --check ." } ] }
    ]
  },
  "context": { "fileName": ["AGENTS.md", "GEMINI.md"] } /* both */
}
"""

CURSOR_HOOKS = """\
{
    "version": 1,
    "hooks": {
        "afterFileEdit": [{ "command": "./format.sh" }],
        "sessionStart": [{ "command": "./greet.sh", "timeout": 3 }]
    }
}
"""

SERVERS = '{"mcpServers":{"linear":{"url":"https://mcp.linear.app/sse"}}}'

VSCODE = """\
{
\t// servers of mine
\t"inputs": [],
\t"servers": {
\t\t"playwright": { "command": "npx", "args": ["@playwright/mcp"] }, // browser
\t},
}
"""

OPENCODE = """\
{
  "$schema": "https://opencode.ai/config.json",
  "provider": { "local": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://127.0.0.1:1/v1" } } },
  // "theme": "nord",
  "mcp": { "jira": { "type": "remote", "url": "https://jira.example/mcp" } }
}
"""

USERS = {
    "codex": {".codex/config.toml": CODEX_TOML, ".codex/hooks.json": CODEX_HOOKS},
    "gemini": {".gemini/settings.json": GEMINI},
    "opencode": {
        ".config/opencode/opencode.jsonc": OPENCODE,
        ".config/opencode/plugins/mine.js": "export default {}\n",
    },
    "cursor": {".cursor/hooks.json": CURSOR_HOOKS, ".cursor/mcp.json": SERVERS},
    "copilot": {".copilot/mcp-config.json": SERVERS, ".copilot/hooks/mine.json": '{"version":1,"hooks":{}}'},
    "vscode": {".config/Code/User/mcp.json": VSCODE},
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientFolders:
    monkeypatch.setattr("sys.platform", "linux")
    (tmp_path / "mine").mkdir()
    (tmp_path / "place").mkdir()
    return ClientFolders(home=tmp_path / "mine", project=tmp_path / "place", environ={"PATH": str(tmp_path)})


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def read_all(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def install(client: str, folders: ClientFolders, scope: InstallScope = USER) -> InstallPlan:
    plan = plan_client(client, folders, scope, COMMANDS)
    apply_plan(plan)
    return plan


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("client", NAMES)
def test_what_was_there_stays_and_an_undone_installation_leaves_no_byte(
    folders: ClientFolders, client: str, ending: str
) -> None:
    write_files(folders.home, {name: text.replace("\n", ending) for name, text in USERS[client].items()})
    before = read_all(folders.home)
    install(client, folders)
    during = read_all(folders.home)
    for name, content in before.items():
        kept = [line for line in content.split(b"\n") if line.strip() and line not in during[name].split(b"\n")]
        assert len(kept) <= 2, (name, kept)
    assert not plan_client(client, folders, USER, COMMANDS).changed
    apply_plan(plan_client_removal(client, folders, USER))
    assert read_all(folders.home) == before


@pytest.mark.parametrize("scope", [USER, PROJECT])
@pytest.mark.parametrize("client", NAMES)
def test_files_that_only_an_installation_made_are_deleted_again(
    folders: ClientFolders, client: str, scope: InstallScope
) -> None:
    plan = install(client, folders, scope)
    assert plan.changes and all(change.path.is_file() for change in plan.changes)
    apply_plan(plan_client_removal(client, folders, scope))
    assert {**read_all(folders.home), **read_all(folders.project)} == {}


@pytest.mark.parametrize("client", [name for name in NAMES if name != "vscode"])
def test_every_event_of_a_client_is_wired_to_its_own_dialect(folders: ClientFolders, client: str) -> None:
    plan = install(client, folders)
    table = load_dialect(client)
    assert table is not None
    written = "\n".join(change.path.read_text("utf-8") for change in plan.changes)
    if client == "opencode":
        assert '["/opt/my tools/hyperloci-hook", "--client", "opencode"]' in written
        return
    for event in table.events:
        assert f"'/opt/my tools/hyperloci-hook' --client {client} {event}\"" in written


@pytest.mark.parametrize(
    "arguments", ['[\n  "serve", # the server\n]', "[\n  \"-c\", \"[x]\", '''\n]''',\n\n]  # mine", '["a",\n"b"]']
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_arguments_that_take_several_lines_are_replaced_as_a_whole(
    folders: ClientFolders, arguments: str, ending: str
) -> None:
    text = f"[mcp_servers.hyperloci]\nargs = {arguments}\ncommand = 'old'\nenabled = true\n\n[other]\nx = 1\n"
    write_files(folders.home, {".codex/config.toml": text.replace("\n", ending)})

    install("codex", folders)

    config = tomllib.loads((folders.codex / "config.toml").read_text())
    assert config["mcp_servers"]["hyperloci"] == {
        "args": ["serve"], "command": "/opt/my tools/hyperloci", "enabled": True
    }  # fmt: skip
    assert config["other"] == {"x": 1}


def test_gemini_counts_in_milliseconds_and_codex_gives_an_end_no_more_than_it_may_take(folders: ClientFolders) -> None:
    install("gemini", folders)
    install("codex", folders)
    gemini = json.loads((folders.home / ".gemini" / "settings.json").read_text())["hooks"]
    codex = json.loads((folders.home / ".codex" / "hooks.json").read_text())["hooks"]
    assert gemini["BeforeAgent"][0]["hooks"][0]["timeout"] == 5_000
    assert codex["UserPromptSubmit"][0]["hooks"][0]["timeout"] == 5
    assert codex["SessionEnd"][0]["hooks"][0]["timeout"] == 3


def test_another_place_of_the_program_replaces_the_entries_and_keeps_what_was_added_to_them(
    folders: ClientFolders,
) -> None:
    install("codex", folders)
    config = folders.codex / "config.toml"
    config.write_text(config.read_text() + "startup_timeout_sec = 30\n")
    moved = InstalledCommands(CommandLine("/new/hyperloci"), CommandLine("/new/hyperloci-hook"))
    apply_plan(plan_client("codex", folders, USER, moved))
    assert tomllib.loads(config.read_text())["mcp_servers"]["hyperloci"] == {
        "command": "/new/hyperloci",
        "args": ["serve"],
        "startup_timeout_sec": 30,
    }
    assert "my tools" not in (folders.codex / "hooks.json").read_text()


def test_the_trust_that_was_written_goes_with_the_hooks_and_that_of_others_stays(folders: ClientFolders) -> None:
    write_files(folders.home, USERS["codex"])
    before = read_all(folders.home)
    install("codex", folders)
    hooks = folders.codex / "hooks.json"
    ours = CodexHook(f"{hooks}:stop:1:0", "sha256:11", "untrusted")
    apply_plan(InstallPlan(USER, (plan_trust(folders.codex / "config.toml", [ours]),)))
    state = tomllib.loads((folders.codex / "config.toml").read_text())["hooks"]["state"]
    assert state[ours.key] == {"trusted_hash": "sha256:11"}
    apply_plan(plan_client_removal("codex", folders, USER))
    assert read_all(folders.home) == before


CODEX_REMOTE = """\
[mcp_servers.hyperloci]
url = "http://127.0.0.1:8765/mcp"
bearer_token_env_var = "HYPERLOCI_TOKEN"

[mcp_servers.hyperloci.http_headers]
X-Team = "a"
"""
REMOTE = (
    '{"KEY": {"hyperloci": {"type": "http", "url": "http://127.0.0.1:8765/mcp", "headers": {"Authorization": "t"}}}}'
)
REMOTES = {
    "codex": (".codex/config.toml", CODEX_REMOTE),
    "gemini": (".gemini/settings.json", REMOTE.replace("KEY", "mcpServers").replace('"url"', '"httpUrl"')),
    "opencode": (".config/opencode/opencode.json", REMOTE.replace("KEY", "mcp")),
    "cursor": (".cursor/mcp.json", REMOTE.replace("KEY", "mcpServers")),
    "copilot": (".copilot/mcp-config.json", REMOTE.replace("KEY", "mcpServers")),
    "vscode": (".config/Code/User/mcp.json", REMOTE.replace("KEY", "servers")),
}


@pytest.mark.parametrize("client", NAMES)
def test_a_server_over_http_that_ours_takes_the_place_of_is_kept_in_a_copy(folders: ClientFolders, client: str) -> None:
    name, text = REMOTES[client]
    write_files(folders.home, {name: text})
    assert not plan_client_removal(client, folders, USER).changed
    install(client, folders)
    assert (folders.home / f"{name}.hyperloci.bak").read_text() == text
    written = (folders.home / name).read_text()
    assert "/opt/my tools/hyperloci" in written and "8765" not in written


@pytest.mark.parametrize("client", [name for name in NAMES if name != "gemini"])
def test_where_hooks_are_local_and_the_server_is_over_http_nothing_is_lacking(
    folders: ClientFolders, client: str
) -> None:
    install(client, folders)
    name, text = REMOTES[client]
    (folders.home / name).write_text("" if client == "codex" else "{}")
    assert describe_client(client, folders).lacking == (folders.home / name,)
    (folders.home / name).write_text(text)
    assert describe_client(client, folders).lacking == ()


def test_what_an_older_installation_put_beside_a_url_of_codex_is_kept_in_a_copy(folders: ClientFolders) -> None:
    text = CODEX_REMOTE.replace("url", 'command = "hyperloci"\nargs = ["serve"]\nurl', 1)
    write_files(folders.home, {".codex/config.toml": text})
    install("codex", folders)
    assert (folders.codex / "config.toml.hyperloci.bak").read_text() == text
    assert "url" not in (folders.codex / "config.toml").read_text()


def test_codex_gets_no_table_with_the_keys_of_two_kinds_of_server(folders: ClientFolders) -> None:
    write_files(folders.home, {".codex/config.toml": 'model = "gpt-5.5"\n\n' + CODEX_REMOTE + "enabled = true\n"})
    install("codex", folders)
    config = tomllib.loads((folders.codex / "config.toml").read_text())
    assert config["mcp_servers"] == {"hyperloci": {"command": "/opt/my tools/hyperloci", "args": ["serve"]}}


@pytest.mark.parametrize(
    "text", ["[mcp_servers]\n", "[hooks]\n\n[hooks.state]\n", "# Mine\n\n[mcp_servers] # none yet\n"]
)
def test_a_header_above_our_tables_that_says_nothing_itself_stays(folders: ClientFolders, text: str) -> None:
    write_files(folders.home, {".codex/config.toml": text})
    install("codex", folders)
    ours = CodexHook(f"{folders.codex / 'hooks.json'}:stop:0:0", "sha256:11", "untrusted")
    apply_plan(InstallPlan(USER, (plan_trust(folders.codex / "config.toml", [ours]),)))
    assert not plan_client("codex", folders, USER, COMMANDS).changed
    apply_plan(plan_client_removal("codex", folders, USER))
    assert read_all(folders.home) == {".codex/config.toml": text.encode()}


@pytest.mark.parametrize(
    "text", ['model = "gpt-5.5"', "# Mine", 'model = "gpt-5.5"\n\n\n', 'a = 1\r\n[b]\r\nc = "d"', "\n"]
)
def test_how_a_file_of_codex_ended_is_how_it_ends_again(folders: ClientFolders, text: str) -> None:
    write_files(folders.home, {".codex/config.toml": text})
    install("codex", folders)
    apply_plan(plan_client_removal("codex", folders, USER))
    assert read_all(folders.home) == {".codex/config.toml": text.encode()}


APPROVED = '\n[mcp_servers.hyperloci.tools.search_memory]\napproval_mode = "approve"\n'
VARIABLES = '\n[mcp_servers.hyperloci.env]\nHYPERLOCI_TOOLS = "all"\n'
OFF = '\n# [mcp_servers.other]\n# command = "other"\n'
OTHERS = '\n# Not ours\n[mcp_servers.hyperloci2.env]\nTOKEN = "x"\n'


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "added",
    [
        APPROVED,
        VARIABLES,
        f"\n# All of them{VARIABLES}",
        APPROVED + VARIABLES,
        OTHERS + VARIABLES,
        APPROVED + OTHERS + VARIABLES,
    ],
)
def test_what_codex_and_its_user_keep_in_tables_below_ours_goes_with_it(
    folders: ClientFolders, added: str, ending: str
) -> None:
    config = folders.codex / "config.toml"
    write_files(folders.home, {".codex/config.toml": CODEX_TOML.replace("\n", ending)})
    before = config.read_bytes()
    install("codex", folders)
    config.write_bytes(config.read_bytes() + added.replace("\n", ending).encode())
    assert not plan_client("codex", folders, USER, COMMANDS).changed
    apply_plan(plan_client_removal("codex", folders, USER))
    kept = OTHERS.replace("\n", ending).encode() if OTHERS in added else b""
    assert config.read_bytes() == before + kept


@pytest.mark.parametrize(
    "added",
    [OFF, OFF.rstrip(), OFF + VARIABLES, VARIABLES + OFF, APPROVED + OFF + VARIABLES, OFF + OTHERS + VARIABLES],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_server_that_its_user_has_turned_into_a_remark_stays_where_ours_goes(
    folders: ClientFolders, added: str, ending: str
) -> None:
    config = folders.codex / "config.toml"
    write_files(folders.home, {".codex/config.toml": CODEX_TOML.replace("\n", ending)})
    before = config.read_bytes()
    install("codex", folders)
    config.write_bytes(config.read_bytes() + added.replace("\n", ending).encode())
    apply_plan(plan_client_removal("codex", folders, USER))
    kept = added.replace(APPROVED, "").replace(VARIABLES, "")
    assert config.read_bytes() == before + kept.replace("\n", ending).encode()


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n"),
        ("codex", ".codex/config.toml", "mcp_servers = { docs = { command = 'x' } }\n"),
        ("codex", ".codex/hooks.json", '{"hooks": [] // not an object\n}'),
        ("gemini", ".gemini/settings.json", '{"mcpServers": []}'),
        ("cursor", ".cursor/hooks.json", '{"hooks": {"stop": {}}}'),
        ("opencode", ".config/opencode/opencode.json", "{"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_named_and_nothing_is_written(
    folders: ClientFolders, client: str, name: str, text: str
) -> None:
    write_files(folders.home, {name: text})
    with pytest.raises(ConfigurationError, match="left unchanged"):
        install(client, folders)
    assert read_all(folders.home) == {name: text.encode()}


@pytest.mark.parametrize("text", ["", "# House rules\n\nUse tabs.\n", "No end of line", "# CRLF\r\nUse tabs.\r\n"])
def test_the_rules_are_a_section_that_comes_and_goes(folders: ClientFolders, text: str) -> None:
    file = folders.project / "AGENTS.md"
    if text:
        file.write_bytes(text.encode())
    apply_plan(plan_rules(folders.project))
    assert file.read_bytes().startswith(text.encode())
    assert RULES.strip().splitlines()[-1] in file.read_text()
    assert not plan_rules(folders.project).changed
    apply_plan(plan_rules_removal(folders.project))
    assert read_all(folders.project) == ({"AGENTS.md": text.encode()} if text else {})


def test_all_means_the_clients_that_are_found(folders: ClientFolders) -> None:
    assert choose_clients("all", folders) == []
    write_files(folders.home, {**USERS["gemini"], **USERS["cursor"]})
    assert choose_clients("all", folders) == ["gemini", "cursor"]
    with pytest.raises(BadRequestError, match="codex, gemini"):
        choose_clients("netscape", folders)


def test_the_state_of_a_client_names_its_version_and_its_files(folders: ClientFolders, tmp_path: Path) -> None:
    program = tmp_path / "gemini"
    program.write_text("#!/bin/sh\necho 0.61.0\n")
    program.chmod(0o755)
    settings = folders.home / ".gemini" / "settings.json"
    state = describe_client("gemini", folders)
    assert (state.program, state.version, state.wired, state.lacking) == (str(program), "0.61.0", (), (settings,))
    install("gemini", folders)
    assert (describe_client("gemini", folders).wired, describe_client("gemini", folders).lacking) == ((settings,), ())


@pytest.mark.parametrize(
    ("handler", "ours"),
    [
        ({"command": "uvx --from hyperloci==1.0 hyperloci-hook --client codex Stop"}, True),
        ({"command": "'/opt/my tools/hyperloci-hook' --client codex Stop"}, True),
        ({"command": "uvx ruff check"}, False),
        ({"command": "cat hyperloci-hook"}, False),
    ],
)
def test_our_lines_are_told_by_their_program(handler: dict[str, str], ours: bool) -> None:
    assert is_our_handler(handler) is ours
