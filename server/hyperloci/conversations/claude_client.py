"""Claude client: asks the user's own Claude Code, headless, off unless the user asked for it (B.17).

It is a `chat_model.ChatModel` like an endpoint. Claude Code runs once for each question, in an empty folder: a small
model, no tools, no MCP servers, no hooks, no plugins, no instructions of the user's or a project's, and nothing of the
run is kept. Turns go through stdin, which no other user of the machine can see; they are as they are stored, so without
secrets. Callers check every answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from hyperloci.config import Settings
from hyperloci.conversations.chat_model import ChatError, parse_json_answer
from hyperloci.conversations.claude_allowance import AllowanceSpentError, ClaudeAllowance
from hyperloci.jobs import MaintenanceStoppedError
from hyperloci.system import leash
from hyperloci.system.data_paths import HOOKS_OFF, HOOKS_VARIABLE
from hyperloci.system.own_folders import make_own_folders

MAX_ANSWER_BYTES: Final = 1_000_000
"""A consolidated session takes a few kilobytes; more of an answer is not read."""

LOOK_SECONDS: Final = 0.1
"""Between two looks whether to stop: a client gives its server half a second to end."""

END_SECONDS: Final = 5.0
"""How long a killed run may take to be gone."""

MAX_FAULT_CHARS: Final = 300

OPTIONS: Final = (
    "--print",
    "--output-format",
    "json",
    "--no-session-persistence",
    "--strict-mcp-config",
    "--tools",
    "",
    # The user's settings say how to sign in; a project's are nobody's business here.
    "--setting-sources",
    "user",
    "--settings",
    '{"disableAllHooks": true}',
)

ADDED_VARIABLES: Final = {
    HOOKS_VARIABLE: HOOKS_OFF,
    # Instructions, plugins, hooks, skills and servers of the user's stay out; how to sign in does not.
    "CLAUDE_CODE_SAFE_MODE": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
"""Our hooks look at the first one before anything else: even where Claude Code runs them, they do nothing."""

DROPPED_VARIABLES: Final = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
    }
)
"""What a server inherits of the session that started it: the run belongs to none."""

PROGRAM_FOLDERS: Final = ("~/.local/bin", "~/.claude/local", "/opt/homebrew/bin", "/usr/local/bin")
"""Where installers put Claude Code: a desktop application starts servers with a PATH that lacks them."""


class ClaudeClient:
    """The user's own Claude Code, as a `chat_model.ChatModel`."""

    strategy = "claude"

    def __init__(
        self, settings: Settings, allowance: ClaudeAllowance, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._settings = settings
        self._allowance = allowance
        self._should_stop = should_stop

    def ask_for_json(self, system: str, user: str) -> Any:
        """Return the JSON value that the model answers with.

        Raises:
            AllowanceSpentError: nothing more may be asked now.
            ChatError: it could not be started, takes too long, or answers without JSON.
            MaintenanceStoppedError: this process ends.
        """
        if not self._allowance.take_call(len(system) + len(user)):
            raise AllowanceSpentError("Claude Code was asked often enough for now; the session waits.")
        try:
            answer = _parse_result(*self._run_headless(system, user))
        except ChatError as error:
            self._allowance.note_failure(str(error)[:MAX_FAULT_CHARS])
            raise
        self._allowance.note_success()
        return answer

    def _run_headless(self, system: str, user: str) -> tuple[int, bytes, str]:
        """Return the exit status, the output and the complaints of a run."""
        program = find_claude(self._settings.claude_program, os.environ)  # noqa: TID251 - handed on as it is
        command = [program, *OPTIONS, "--model", self._settings.claude_model, "--system-prompt", system]
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
            status = self._run_on_leash(command, user.encode("utf-8", "replace"), output, complaints)
            return status, _read_from_start(output), _read_from_start(complaints).decode("utf-8", "replace").strip()

    def _run_on_leash(self, command: list[str], given: bytes, output: IO[bytes], complaints: IO[bytes]) -> int:
        seconds = self._settings.claude_timeout_seconds
        child = subprocess.Popen(
            leash.build_leash_command(seconds, command),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=complaints,
            env=build_environment(os.environ),  # noqa: TID251 - handed on as it is
            cwd=self._make_empty_folder(),
            start_new_session=True,
        )
        assert child.stdin is not None
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(leash.pack_input(given))
                child.stdin.flush()
            status = self._wait_for_end(child)
        finally:
            _let_go(child)
        if status == leash.EXPIRED:
            raise ChatError(f"Claude Code did not answer within {seconds} seconds.")
        return status

    def _wait_for_end(self, child: subprocess.Popen[bytes]) -> int:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return child.wait(LOOK_SECONDS)
            if self._should_stop():
                raise MaintenanceStoppedError()

    def _make_empty_folder(self) -> Path:
        """Return the folder of the runs: one and the same, because Claude Code remembers where it was run."""
        folder = self._settings.state_dir / "claude-runs"
        make_own_folders(folder)
        return folder


def find_claude(program: str, environ: Mapping[str, str]) -> str:
    """Return the absolute path of Claude Code's program: the one that is set, or what PATH has of that name.

    Folders of PATH that depend on the current one are left out: their content is not to be trusted.

    Raises:
        ChatError: there is none.
    """
    asked = os.path.expanduser(program)
    folders = [
        *filter(os.path.isabs, environ.get("PATH", os.defpath).split(os.pathsep)),
        *map(os.path.expanduser, PROGRAM_FOLDERS),
    ]
    is_path = os.path.dirname(asked) != ""
    found = shutil.which(asked, path=os.pathsep.join(folders)) if not is_path or os.path.isabs(asked) else None
    if found is None:
        raise ChatError(f"claude_program={program!r} was not found: set it to the absolute path of Claude Code.")
    return found


def build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a run: the user's, without what belongs to a session or to us."""
    return {
        **{
            name: value
            for name, value in environ.items()
            if name not in DROPPED_VARIABLES and not name.startswith(("HYPERLOCI_", "RLM_", "CLAUDE_PLUGIN_"))
        },
        **ADDED_VARIABLES,
    }


def _read_from_start(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(MAX_ANSWER_BYTES)


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """Close the pipe that keeps a run alive, and wait for its end."""
    assert child.stdin is not None
    with suppress(OSError):
        child.stdin.close()
    try:
        child.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _parse_result(status: int, output: bytes, complaints: str) -> Any:
    """Return the JSON value in what Claude Code printed (`--output-format json`)."""
    try:
        told = json.loads(output)
        if told["is_error"]:
            raise ChatError(f"Claude Code answered with an error: {str(told['result'])[:MAX_FAULT_CHARS]}")
        return parse_json_answer(told["result"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = complaints[:MAX_FAULT_CHARS] or f"{type(error).__name__} {error}"
        raise ChatError(f"Claude Code (exit status {status}) did not answer with JSON: {reason}") from error
