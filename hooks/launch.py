"""Start Hyperloci for the Claude Code plugin: the server, or one hook.

    python3 -I -S launch.py serve
    python3 -I -S launch.py hook EVENT

Claude Code installs no Python packages for a plugin, so this looks for an installed `hyperloci` (on the PATH and in
the folders where pipx and uv put commands), then for uvx and pipx, which can run the copy that the plugin brings.

A hook first tries a running server by itself, which saves the start of a second Python.

It must run on whatever `python3` a machine has: standard library only, Python 3.7 and later. A hook never fails:
where there is nothing to start, or what was started failed, the answer is an empty one, and only the start of a
session says what to install. The server can't hide its absence: it says the same on stderr and exits with 1.
"""

from __future__ import annotations

import os
import signal
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The plugin's folder: a copy of the repository, or the folder `plugin` of the installed package."""

IS_SOURCE = os.path.isfile(os.path.join(ROOT, "pyproject.toml"))
"""Whether Hyperloci can be installed from there."""

COMMAND_FOLDERS = ("~/.local/bin", "~/.cargo/bin", "/opt/homebrew/bin", "/usr/local/bin")
"""Where pipx, uv and Homebrew put commands: a desktop application starts Claude Code with a PATH that lacks them."""

QUIET_SOURCES = ("clear", "compact")
"""Sessions that only go on: whoever sits there has read the advice when it began."""


def main(arguments: list[str]) -> int:
    """Run the command that the arguments ask for and return its exit status; 2 where they make no sense."""
    if arguments == ["serve"]:
        return run_server()
    if len(arguments) == 2 and arguments[0] == "hook":
        return run_hook(arguments[1])
    sys.stderr.write("usage: launch.py serve | launch.py hook EVENT\n")
    return 2


def run_server() -> int:
    """Become the server (or start it, where a process can't become another) and return its exit status."""
    command = find_server_command()
    if command is None:
        sys.stderr.write(installation_advice() + "\n")
        return 1
    if os.name == "posix":
        # In place: the client's signals and the end of its stdin then reach the server itself.
        os.execv(command[0], command)
    import subprocess

    return subprocess.call(command)


def run_hook(event: str) -> int:
    """Pass a hook's input to a running server or the installed command, and the answer back; always 0."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end_with_empty_answer)
    began = time.monotonic()
    payload = sys.stdin.buffer.read()
    mark = os.urandom(8).hex()
    answer = ask_server(event, payload, mark, began)
    if answer is None:
        command = find_hook_command(event)
        answer = run_hook_command(command, payload, mark) if command else None
    if answer is None:
        import json

        answer = json.dumps(answer_when_not_installed(event, payload)).encode()
    sys.stdout.buffer.write(answer)
    return 0


def end_with_empty_answer(number: int, frame: object) -> None:
    """End with a valid answer: the client has lost patience."""
    os.write(1, b"{}\n")
    os._exit(0)


def ask_server(event: str, payload: bytes, mark: str, began: float) -> bytes | None:
    """Return what a running server answers, None where none does; `mark` tells this event from all others."""
    sys.path[:0] = package_folders()
    environ = dict(os.environ)  # noqa: TID251 - a process's entry point
    try:
        from hyperloci.system.data_paths import find_paths
        from hyperloci_hooks import budget, client, tally

        if event not in budget.SECONDS:
            return None
        where = find_paths(environ)
        said = client.pack_event(event, payload, where.database, mark, environ)
        folders = (where.runtime_dir, where.sockets)
        until, grace = began + budget.SECONDS[event], budget.GRACE_SECONDS.get(event, 0)
        outcome, line = client.call_server(folders, said, until, grace=grace)
        if outcome != client.ANSWERED or line is None:
            return None
        tally.append_outcome(where.spool, event, tally.SERVED, 1000 * (time.monotonic() - began), mark)
    except Exception:
        # Whatever this machine or its settings lack here, the installed command knows better.
        return None
    return line.answer


def package_folders() -> list[str]:
    """Return where the packages lie that a hook needs."""
    if IS_SOURCE:
        return [os.path.join(ROOT, "hooks"), os.path.join(ROOT, "server")]
    return [os.path.dirname(os.path.dirname(ROOT))]


def run_hook_command(command: list[str], payload: bytes, mark: str) -> bytes | None:
    """Return what a hook command answers, None where it failed or answered something else than a JSON object."""
    import json
    import subprocess

    environ = dict(os.environ, HYPERLOCI_HOOK_MARK=mark)  # noqa: TID251 - handed on as it is
    try:
        done = subprocess.run(command, input=payload, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ)
        usable = done.returncode == 0 and (not done.stdout.strip() or isinstance(json.loads(done.stdout), dict))
    except (OSError, ValueError):
        return None
    return done.stdout if usable else None


def answer_when_not_installed(event: str, payload: bytes) -> dict[str, str]:
    """Return a valid answer that does nothing; at the start of a session it tells the person what is missing."""
    if event != "SessionStart" or find_command("hyperloci-hook"):
        return {}
    import json

    try:
        source = json.loads(payload).get("source")
    except (ValueError, AttributeError):
        source = None
    return {} if source in QUIET_SOURCES else {"systemMessage": installation_advice()}


def installation_advice() -> str:
    """Say what to install."""
    if not IS_SOURCE:
        return "Hyperloci is installed where no command of it is found: put the folder of `hyperloci` on your PATH."
    if find_command("uvx") or find_command("pipx"):
        state = "is not installed; a first start through uvx or pipx takes minutes, and hooks are off until it is done"
    else:
        state = "is not installed, so this session has no long-term memory"
    return f'Hyperloci {state}. Install it once: uv tool install "{ROOT}" (or: pipx install "{ROOT}").'


def find_server_command() -> list[str] | None:
    """Return how to start the server here."""
    own = find_command("hyperloci")
    if own:
        return [own, "serve"]
    if not IS_SOURCE:
        return None
    uvx = find_command("uvx")
    if uvx:
        return [uvx, "--from", ROOT, "hyperloci", "serve"]
    pipx = find_command("pipx")
    return [pipx, "run", "--spec", ROOT, "hyperloci", "serve"] if pipx else None


def find_hook_command(event: str) -> list[str] | None:
    """Return how to run a hook here. Not through pipx, which could begin an installation in the middle of a prompt."""
    own = find_command("hyperloci-hook")
    if own:
        return [own, event]
    uvx = find_command("uvx") if IS_SOURCE else None
    return [uvx, "--offline", "--from", ROOT, "hyperloci-hook", event] if uvx else None


def find_command(name: str) -> str | None:
    """Return the absolute path of a command. The current folder, a stranger's project, is never searched."""
    folders = os.get_exec_path() + [os.path.expanduser(folder) for folder in COMMAND_FOLDERS]
    for folder in filter(os.path.isabs, folders):
        path = os.path.join(folder, name + (".exe" if os.name == "nt" else ""))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
