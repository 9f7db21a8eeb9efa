"""Command group: says what is meant by a command that does not exist."""

from __future__ import annotations

from typing import Any

import typer.core

from hyperloci.names import find_document_name, suggest_name


class HintingGroup(typer.core.TyperGroup):
    """The root command; a command of the documents (`memory stats`, `confirm-link`) is told what it is called here."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name.

        Raises:
            UsageError: there is none; the message says what is meant.
        """
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            # Of two words first: `memory stats` is one name there.
            named = next((name for name in (" ".join(args[:2]), args[0]) if find_document_name(name)), args[0])
            if hint := suggest_name(named, self.commands):
                ctx.fail(f"There is no command {named!r}; {hint}")
        return super().resolve_command(ctx, args)
