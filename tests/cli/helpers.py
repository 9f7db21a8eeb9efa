"""Running a command in this process."""

from __future__ import annotations

import json

from typer.testing import CliRunner, Result

from hyperloci.cli.main import app


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    """Run a command, however it ends."""
    return CliRunner().invoke(app, list(arguments), input=stdin)


def run(*arguments: str, code: int = 0, stdin: str | None = None) -> str:
    """Run a command that must end with `code`, and return what it prints."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == code, result.output
    return result.stdout


def remember(text: str, *options: str) -> str:
    """Remember a fact, and return its id."""
    return str(json.loads(run("remember", text, "--json", *options))["id"])
