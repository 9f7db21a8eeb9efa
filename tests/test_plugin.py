"""The Claude Code plugin: its files agree with the installer, and its launcher never breaks a session."""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hyperloci
from hyperloci.cli.install.commands import CommandLine, InstalledCommands
from hyperloci.cli.install.config_entries import REGISTERED_HOOKS, SERVER_NAME, hook_entries, server_entry
from hyperloci.cli.install.installer import InstallScope, apply_plan, plan_install
from hyperloci.system.parents import PARENTS_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = ROOT / "hooks" / "launch.py"
PLUGIN_COMMAND = ("python3", "-I", "-S", "${CLAUDE_PLUGIN_ROOT}/hooks/launch.py")

posix_only = pytest.mark.skipif(os.name != "posix", reason="the stand-in commands are scripts with a #! line")


def _json(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_plugins_hooks_are_the_installers() -> None:
    command, *arguments = PLUGIN_COMMAND
    assert _json("hooks/hooks.json")["hooks"] == hook_entries(command, *arguments, "hook")


def test_the_plugins_server_is_the_installers() -> None:
    command, *arguments = PLUGIN_COMMAND
    assert _json(".claude-plugin/plugin.json")["mcpServers"] == {SERVER_NAME: server_entry(command, *arguments)}


def test_the_server_is_not_in_a_file_that_opening_this_repository_would_start() -> None:
    # `.mcp.json` in the root is both a plugin's and a project's: with the plugin installed there would be two servers,
    # and without it `${CLAUDE_PLUGIN_ROOT}` is not known. So the server stands in plugin.json.
    assert not (ROOT / ".mcp.json").exists()


def test_the_example_is_what_an_installation_writes(tmp_path: Path) -> None:
    commands = InstalledCommands(CommandLine("hyperloci"), CommandLine("hyperloci-hook"))
    apply_plan(plan_install(InstallScope.PROJECT, project_root=tmp_path, home=tmp_path, commands=commands))
    written: dict[str, Any] = {}
    for path in (tmp_path / ".mcp.json", tmp_path / ".claude" / "settings.json"):
        written |= json.loads(path.read_text(encoding="utf-8"))
    example = _json("claude_config.example.json")
    assert all(isinstance(line, str) for line in example.pop("$comment"))
    assert example == written


def test_the_plugins_version_is_the_programs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = _json(".claude-plugin/plugin.json")
    [listed] = _json(".claude-plugin/marketplace.json")["plugins"]
    assert plugin["version"] == hyperloci.__version__
    assert (plugin["name"], plugin["description"]) == (project["name"], listed["description"])
    assert (listed["name"], listed["source"]) == (plugin["name"], "./")


def test_the_plugin_keeps_nothing_in_its_data_folder() -> None:
    # Claude Code deletes that folder on uninstall.
    files = [ROOT / ".claude-plugin" / "plugin.json", ROOT / "hooks" / "hooks.json", LAUNCHER]
    assert [path for path in files if "CLAUDE_PLUGIN_DATA" in path.read_text(encoding="utf-8")] == []


def test_the_skill_says_when_it_applies() -> None:
    text = (ROOT / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    matched = re.match(r"---\nname: (\S+)\ndescription: (.+)\n---\n\n# ", text)
    assert matched
    assert matched[1] == "memory"
    assert 50 < len(matched[2]) < 1_024


SHARED = (
    LAUNCHER,
    ROOT / "server" / "hyperloci" / "__init__.py",
    *(
        ROOT / "server" / "hyperloci" / "system" / name
        for name in ("__init__.py", "data_paths.py", "framing.py", "parents.py", "sockets.py")
    ),
    *(
        ROOT / "hooks" / "hyperloci_hooks" / name
        for name in ("__init__.py", "budget.py", "client.py", "outcome_log.py")
    ),
)
"""What the launcher runs on whatever Python a machine has."""


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.name)
def test_the_launcher_and_what_it_uses_are_written_for_an_old_python(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 7))
    modules = {name.partition(".")[0] for node in ast.walk(tree) for name in imported_by(node)}
    assert modules <= {*sys.stdlib_module_names, "hyperloci", "hyperloci_hooks"}


def imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


class Machine:
    """A home and one folder of commands; nothing else is installed."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.home.mkdir()
        self.bin.mkdir()

    def command(self, name: str, body: str, folder: Path | None = None) -> None:
        """Install a command; it notes its name, its arguments and its input, then runs `body`."""
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"#!{sys.executable}\nimport json, sys\ngiven = sys.stdin.read()\n"
            f"open({str(self.log)!r}, 'a').write(json.dumps([{name!r}, sys.argv[1:], given]) + '\\n')\n{body}\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def launch(
        self, *arguments: str, given: str = "{}", path: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        # Through a line of code instead of the file, so that this machine's /usr/local/bin doesn't count.
        code = (
            f"import sys; sys.path.insert(0, {str(LAUNCHER.parent)!r}); import launch\n"
            "launch.COMMAND_FOLDERS = ('~/.local/bin',)\nsys.exit(launch.main(sys.argv[1:]))"
        )
        environment = {"PATH": path or str(self.bin), "HOME": str(self.home), "USERPROFILE": str(self.home)}
        environment |= variables
        return subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", code, *arguments],
            input=given,
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.home,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[list[Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("event", [hook.event for hook in REGISTERED_HOOKS])
def test_a_hook_without_an_installation_answers_validly(machine: Machine, event: str) -> None:
    done = machine.launch("hook", event, given='{"source": "startup"}')
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert list(answer) == (["systemMessage"] if event == "SessionStart" else [])


def test_the_start_of_a_session_says_what_to_install(machine: Machine) -> None:
    message = json.loads(machine.launch("hook", "SessionStart", given='{"source": "startup"}').stdout)["systemMessage"]
    assert f'uv tool install -c "{ROOT / "constraints.txt"}" "{ROOT}"' in message
    assert f'pipx install --pip-args="-c {ROOT / "constraints.txt"}" "{ROOT}"' in message


@pytest.mark.parametrize("given", ['{"source": "compact"}', '{"source": "clear"}'])
def test_a_session_that_goes_on_is_not_told_again(machine: Machine, given: str) -> None:
    assert json.loads(machine.launch("hook", "SessionStart", given=given).stdout) == {}


@pytest.mark.parametrize("given", ["", "no json", "[]", '{"sour'])
def test_a_torn_input_does_not_break_the_answer(machine: Machine, given: str) -> None:
    done = machine.launch("hook", "SessionStart", given=given)
    assert (done.returncode, list(json.loads(done.stdout))) == (0, ["systemMessage"])


@posix_only
@pytest.mark.parametrize(
    "redirected", ["<&-", ">&-", ">/dev/full", "<&- >&- 2>&-"], ids=["no stdin", "no stdout", "full", "nothing"]
)
def test_whatever_is_closed_a_hook_ends_well(machine: Machine, redirected: str) -> None:
    line = f'exec "$0" -I -S -B "$1" hook Stop {redirected}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, str(LAUNCHER)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={"PATH": str(machine.bin), "HOME": str(machine.home)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.strip() == (b"{}" if redirected == "<&-" else b"")


def test_an_input_that_is_nested_too_deeply_does_not_break_the_answer(machine: Machine) -> None:
    done = machine.launch("hook", "SessionStart", given='{"source":' + "[" * 100_000)
    assert (done.returncode, list(json.loads(done.stdout))) == (0, ["systemMessage"])


@posix_only
def test_an_installed_hook_gets_the_input_and_gives_the_answer(machine: Machine) -> None:
    machine.command("hyperloci-hook", 'print(\'{"systemMessage": "é"}\')')
    done = machine.launch("hook", "Stop", given='{"session_id": "s"}')
    assert (done.returncode, json.loads(done.stdout)) == (0, {"systemMessage": "é"})
    assert machine.calls() == [["hyperloci-hook", ["Stop"], '{"session_id": "s"}']]


@posix_only
def test_an_installed_hook_is_told_what_started_the_launcher(machine: Machine) -> None:
    machine.command(
        "hyperloci-hook",
        f"import os; print(json.dumps({{'systemMessage': os.environ.get({PARENTS_VARIABLE!r}, '')}}))",
    )
    told = json.loads(machine.launch("hook", "SessionStart").stdout)["systemMessage"]
    assert told.split()[0].partition(".")[0] == str(os.getpid())


@posix_only
def test_the_hooks_of_a_run_that_hyperloci_started_do_nothing(machine: Machine) -> None:
    machine.command("hyperloci-hook", 'print(\'{"systemMessage": "é"}\')')
    done = machine.launch("hook", "SessionStart", given='{"session_id": "s"}', HYPERLOCI_HOOKS="off")
    assert (done.returncode, done.stdout, machine.calls()) == (0, "{}\n", [])


@posix_only
@pytest.mark.parametrize(
    "body",
    ["sys.exit(2)", "print('{}'); sys.exit(1)", "print('Traceback')", "print('[]')", "raise OSError"],
    ids=["exit 2", "exit 1", "no json", "array", "traceback"],
)
def test_a_broken_installation_is_silent(machine: Machine, body: str) -> None:
    machine.command("hyperloci-hook", body)
    done = machine.launch("hook", "SessionStart")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {}, "")


@posix_only
def test_an_installation_whose_interpreter_is_gone_is_silent(machine: Machine) -> None:
    machine.command("hyperloci-hook", "")
    path = machine.bin / "hyperloci-hook"
    path.write_text("#!/nonexistent/python\n")
    done = machine.launch("hook", "Stop")
    assert (done.returncode, json.loads(done.stdout)) == (0, {})


@posix_only
def test_the_server_becomes_the_installed_command(machine: Machine) -> None:
    machine.command("hyperloci", "print('serving'); sys.exit(7)")
    done = machine.launch("serve", given="hello")
    assert (done.returncode, done.stdout) == (7, "serving\n")
    assert machine.calls() == [["hyperloci", ["serve"], "hello"]]


def test_the_server_without_an_installation_says_what_to_install(machine: Machine) -> None:
    done = machine.launch("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert f'uv tool install -c "{ROOT / "constraints.txt"}" "{ROOT}"' in done.stderr


@posix_only
def test_uvx_runs_the_plugins_own_copy_with_the_versions_that_were_tested(machine: Machine) -> None:
    machine.command("uvx", "print('{}')")
    machine.command("pipx", "")
    machine.launch("serve")
    machine.launch("hook", "Stop")
    own = ["-c", str(ROOT / "constraints.txt"), "--from", str(ROOT)]
    # A hook must not begin a download in the middle of a prompt.
    assert [call[:2] for call in machine.calls()] == [
        ["uvx", [*own, "hyperloci", "serve"]],
        ["uvx", ["--offline", *own, "hyperloci-hook", "Stop"]],
    ]


@posix_only
def test_a_hook_before_uvx_has_prepared_anything_says_so(machine: Machine) -> None:
    machine.command("uvx", "sys.exit(1)")
    assert "takes minutes" in json.loads(machine.launch("hook", "SessionStart").stdout)["systemMessage"]


@posix_only
def test_pipx_runs_the_server_but_no_hook(machine: Machine) -> None:
    machine.command("pipx", "")
    machine.launch("serve")
    assert json.loads(machine.launch("hook", "Stop").stdout) == {}
    pinned = f'--pip-args=-c "{ROOT / "constraints.txt"}"'
    assert [call[:2] for call in machine.calls()] == [
        ["pipx", ["run", pinned, "--spec", str(ROOT), "hyperloci", "serve"]]
    ]


@posix_only
def test_commands_are_found_where_pipx_and_uv_put_them(machine: Machine) -> None:
    machine.command("hyperloci-hook", "print('{}')", folder=machine.home / ".local" / "bin")
    machine.launch("hook", "Stop", path="/nonexistent")
    assert len(machine.calls()) == 1


@posix_only
@pytest.mark.parametrize("path", [".", "sub", ""])
def test_the_opened_project_can_not_bring_its_own_command(machine: Machine, path: str) -> None:
    for folder in (machine.home, machine.home / "sub"):
        machine.command("hyperloci-hook", "print('{}')", folder=folder)
    machine.launch("hook", "Stop", path=f"{path}{os.pathsep}/nonexistent")
    assert machine.calls() == []


@pytest.mark.parametrize("arguments", [(), ("hook",), ("serve", "x"), ("other",)])
def test_arguments_that_make_no_sense_show_the_usage(machine: Machine, arguments: tuple[str, ...]) -> None:
    done = machine.launch(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


@pytest.mark.skipif(not os.environ.get("CLAUDE_E2E"), reason="CLAUDE_E2E names no Claude Code executable")
@pytest.mark.parametrize("target", [".", ".claude-plugin/plugin.json"])
def test_claude_code_accepts_the_plugin(tmp_path: Path, target: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "config"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
    done = subprocess.run(
        [os.environ["CLAUDE_E2E"], "plugin", "validate", target, "--strict"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout
