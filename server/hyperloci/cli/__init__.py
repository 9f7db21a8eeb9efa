"""The `hyperloci` command.

`serve` and `hook` are dispatched before anything else is imported: a client waits for the one, and the other has
a tenth of a second.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "serve" and len(sys.argv) == 2:
        from hyperloci.app import main as serve

        sys.exit(serve())
    from hyperloci.cli.main import app

    app()
