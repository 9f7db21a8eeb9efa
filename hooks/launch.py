"""Launcher: starts Hyperloci for the Claude Code plugin, as the server or as one hook.

    python3 -I -S launch.py serve
    python3 -I -S launch.py hook EVENT

Claude Code installs no Python packages for a plugin, so this looks for an installed `hyperloci` (on the PATH and in
the folders where pipx and uv put commands), then for uvx and pipx, which can run the plugin's own copy.

A hook first tries a running server directly, which saves the start of a second Python.

It must run with any `python3` of a machine: standard library only, Python 3.7 and later. A hook never fails: if there
is nothing to start, or the started command fails, the answer is empty, and only the start of a session says what to
install. The server prints the same advice on stderr and exits with 1.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # As `hyperloci_hooks.run` does.

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The plugin's folder: a copy of the repository, or the folder `plugin` of the installed package."""

IS_SOURCE = os.path.isfile(os.path.join(ROOT, "pyproject.toml"))
"""Whether Hyperloci can be installed from there."""

CONSTRAINTS = os.path.join(ROOT, "constraints.txt")
"""The versions that the tests ran with; without it each start would take whatever is newest."""

COMMAND_FOLDERS = ("~/.local/bin", "~/.cargo/bin", "/opt/homebrew/bin", "/usr/local/bin")
"""Where pipx, uv and Homebrew put commands: a desktop application starts Claude Code with a PATH that lacks them."""

QUIET_SOURCES = ("clear", "compact")
"""Sessions that continue: their user has already seen the advice when they began."""


def main(arguments: list[str]) -> int:
    """Run the command given by the arguments and return its exit status; 2 for wrong arguments."""
    if arguments == ["serve"]:
        return run_server()
    if len(arguments) == 2 and arguments[0] == "hook":
        return run_hook(arguments[1])
    sys.stderr.write("usage: launch.py serve | launch.py hook EVENT\n")
    return 2


def run_server() -> int:
    """Become the server (or start it, on systems without exec) and return its exit status."""
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
    try:
        answer = answer_hook(event)
    except Exception:
        # Whatever was given, and whatever is closed: a hook must not disturb the session.
        answer = b"{}\n"
    while answer:
        try:
            answer = answer[os.write(1, answer) :]
        except OSError:
            break  # Nobody reads it.
    return 0


def answer_hook(event: str) -> bytes:
    """Return the answer of a running server, of the installed command, or one that does nothing."""
    if os.environ.get("HYPERLOCI_HOOKS") == "off":  # noqa: TID251 - a process's entry point
        # A run of Claude Code by Hyperloci itself, as `hyperloci_hooks.run` knows it.
        return b"{}\n"
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end_with_empty_answer)
    began = time.monotonic()
    payload = b"" if sys.stdin is None else sys.stdin.buffer.read()
    mark = os.urandom(8).hex()
    answer = ask_server(event, payload, mark, began)
    if answer is None:
        command = find_hook_command(event)
        answer = run_hook_command(command, payload, mark) if command else None
    if answer is None:
        import json

        answer = json.dumps(answer_when_not_installed(event, payload)).encode()
    return answer


def end_with_empty_answer(number: int, frame: object) -> None:
    """End with a valid answer: Claude Code waits no longer."""
    os.write(1, b"{}\n")
    os._exit(0)


def ask_server(event: str, payload: bytes, mark: str, began: float) -> bytes | None:
    """Return the answer of a running server, or None; `mark` identifies this event."""
    sys.path[:0] = package_folders()
    try:
        from hyperloci.system.data_paths import drop_empty_home, find_paths
        from hyperloci_hooks import budget, client, outcome_log

        if event not in budget.SECONDS:
            return None
        drop_empty_home(os.environ)  # noqa: TID251 - a process's entry point
        client.note_parents(event, os.environ)  # noqa: TID251 - for the hook's command too, which is further down
        environ = dict(os.environ)  # noqa: TID251 - a process's entry point
        where = find_paths(environ)
        said = client.pack_event(event, payload, where.database, mark, environ)
        folders = (where.runtime_dir, where.sockets)
        until, grace = began + budget.SECONDS[event], budget.GRACE_SECONDS.get(event, 0)
        outcome, line = client.call_server(folders, said, until, grace=grace)
        if outcome != client.ANSWERED or line is None:
            return None
        outcome_log.append_outcome(where.spool, event, outcome_log.SERVED, 1000 * (time.monotonic() - began), mark)
    except Exception:
        # Whatever fails here, the installed command handles the event.
        return None
    return line.answer


def package_folders() -> list[str]:
    """Return the folders of the packages that a hook needs."""
    if IS_SOURCE:
        return [os.path.join(ROOT, "hooks"), os.path.join(ROOT, "server")]
    return [os.path.dirname(os.path.dirname(ROOT))]


def run_hook_command(command: list[str], payload: bytes, mark: str) -> bytes | None:
    """Return the answer of a hook command; None if it failed or its answer is not a JSON object."""
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
    """Return a valid answer that does nothing; at the start of a session it tells the user what is missing."""
    if event != "SessionStart" or find_command("hyperloci-hook"):
        return {}
    import json

    try:
        source = json.loads(payload).get("source")
    except (ValueError, AttributeError, RecursionError):
        source = None
    return {} if source in QUIET_SOURCES else {"systemMessage": installation_advice()}


def installation_advice() -> str:
    """Say what to install."""
    if not IS_SOURCE:
        return "Hyperloci is installed, but its command was not found: put the folder of `hyperloci` on your PATH."
    if find_command("uvx") or find_command("pipx"):
        state = "is not installed; the first start through uvx or pipx takes minutes, and hooks are off until then"
    else:
        state = "is not installed, so this session has no long-term memory"
    return (
        f'Hyperloci {state}. Install it once: uv tool install -c "{CONSTRAINTS}" "{ROOT}" '
        f'(or: pipx install --pip-args="-c {CONSTRAINTS}" "{ROOT}").'
    )


def find_server_command() -> list[str] | None:
    """Return the command that starts the server."""
    own = find_command("hyperloci")
    if own:
        return [own, "serve"]
    if not IS_SOURCE:
        return None
    uvx = find_command("uvx")
    if uvx:
        return [uvx, "-c", CONSTRAINTS, "--from", ROOT, "hyperloci", "serve"]
    pipx = find_command("pipx")
    # pipx splits this argument like a shell, so a folder with a space is quoted.
    pinned = f'--pip-args=-c "{CONSTRAINTS}"'
    return [pipx, "run", pinned, "--spec", ROOT, "hyperloci", "serve"] if pipx else None


def find_hook_command(event: str) -> list[str] | None:
    """Return the command that runs a hook. Not through pipx, which might start an installation during a prompt."""
    own = find_command("hyperloci-hook")
    if own:
        return [own, event]
    uvx = find_command("uvx") if IS_SOURCE else None
    return [uvx, "--offline", "-c", CONSTRAINTS, "--from", ROOT, "hyperloci-hook", event] if uvx else None


def find_command(name: str) -> str | None:
    """Return the absolute path of a command. The current folder is never searched, as its content is not trusted."""
    folders = os.get_exec_path() + [os.path.expanduser(folder) for folder in COMMAND_FOLDERS]
    for folder in filter(os.path.isabs, folders):
        path = os.path.join(folder, name + (".exe" if os.name == "nt" else ""))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
