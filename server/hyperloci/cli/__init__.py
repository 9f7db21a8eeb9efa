"""Command line: the `hyperloci` command.

`serve` and `hook` start before anything else is imported: a client waits for `serve`, and a hook should take a tenth of
a second.
"""

from __future__ import annotations

import os
import sys

from hyperloci.system.data_paths import drop_empty_home
from hyperloci.system.native_threads import limit_matrix_threads

INTERRUPTED = 130
"""As `hyperloci.cli.common.Exit` has it, which is loaded later."""


def main() -> None:
    """Run the command line."""
    drop_empty_home(os.environ)  # noqa: TID251 - a process's entry point
    limit_matrix_threads()
    match sys.argv[1:]:
        case ["serve"]:
            from hyperloci.app import main as serve

            serve()
        case ["hook", event] if not event.startswith("-"):
            from hyperloci_hooks.run import main as answer

            answer(event)
        case _:
            # Loading takes a second or two on a busy machine, and Typer, which ends quietly, makes its commands first.
            try:
                from hyperloci.cli.main import run_command

                run_command()
            except KeyboardInterrupt:
                sys.exit(INTERRUPTED)
