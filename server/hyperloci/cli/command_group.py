"""Commands and their groups: flags in help, paths that are empty, what is meant by a command that does not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import typer
import typer.core

from hyperloci.names import find_document_name, suggest_name

GROUPS: Final = ("commands", "tools")
"""What a command of ours is in the documents."""

ALIKE: Final = (
    {"--type", "--kind", "--category", "--subtype"},
    {"--limit", "--count", "--number", "--max", "--top"},
    {"--since", "--after", "--newer-than"},
    {"--before", "--until", "--older-than"},
    {"--json", "--format"},
    {"--yes", "--force", "--assume-yes", "--no-confirm"},
    {"--project", "--dir", "--directory", "--folder", "--repo", "--root"},
    {"--dry-run", "--simulate", "--preview", "--no-act"},
    {"--relation", "--label", "--relationship"},
    {"--reason", "--why", "--message"},
    {"--entity", "--about", "--tag"},
    {"--full", "--long", "--verbose"},
    {"--tokens", "--max-tokens", "--budget"},
    {"--session", "--session-id"},
    {"--depth", "--hops"},
)
"""Options that other programs, and other commands here, call by other words; none that means several things.

`--from` is a place as often as a time, `--output` a file as often as a form.
"""

WORDS_FOR_COMMANDS: Final = {
    "query": {"search", "find", "ask", "lookup"},
    "remember": {"add", "store", "save", "note", "write"},
    "forget": {"delete", "remove", "rm", "del"},
    "restore": {"undelete", "undo", "unforget"},
    "list": {"ls", "all"},
    "show": {"get", "read", "cat"},
    "history": {"log", "explain"},
    "view": {"ui", "gui", "web", "browse", "open", "dashboard"},
    "install": {"init", "setup", "enable", "connect"},
    "uninstall": {"disable", "disconnect"},
    "doctor": {"check", "health", "diagnose", "verify", "status"},
    "stats": {"info", "status", "statistics"},
    "serve": {"server", "start", "run", "mcp"},
    "index": {"scan", "reindex", "ingest"},
    "upkeep": {"maintenance", "maintain", "gc", "vacuum", "cleanup"},
    "--help": {"help", "commands", "usage", "man"},
}
"""What people type who don't know yet what a command is called here; `status` may mean two of them."""


class _PlainFlags:
    """A command or group whose help names no type of a flag: `--json <bool>` reads as if it took a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, as help lists them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if isinstance(param, typer.core.TyperOption) and param.is_flag and param.metavar is None:
                param.metavar = ""
        return params


class PlainCommand(_PlainFlags, typer.core.TyperCommand):
    """A command. It refuses an empty path, which would be the current folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises:
            UsageError: an option that there is not; the message says what it is called here.
            BadParameter: a path among them is empty, as that of an unset variable of a shell is.
        """
        try:
            typed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        except Exception as error:
            # An exception of click's, which typer keeps to itself: it has the name of the option.
            name = str(getattr(error, "option_name", ""))
            if meant := self._find_meant(ctx, name):
                ctx.fail(f"There is no option {name}; it is {' or '.join(meant)} here.")
            raise
        rest: list[str] = super().parse_args(ctx, args)
        for param in self.get_params(ctx):
            if typed.get(param.name) == "" and isinstance(ctx.params.get(param.name), Path):
                raise typer.BadParameter("the path is empty; a variable may be unset.", ctx=ctx, param=param)
        return rest

    def _find_meant(self, ctx: Any, name: str) -> list[str]:
        """Return the options of this command that another word for them means; none for an option that it has."""
        known = {option for param in self.get_params(ctx) for option in param.opts}
        words = next((words for words in ALIKE if name in words - known), set())
        return sorted(known & words)


class PlainGroup(_PlainFlags, typer.core.TyperGroup):
    """A group of commands."""


class HintingGroup(PlainGroup):
    """The root command; a command of the documents (`memory stats`, `confirm-link`) is told what it is called here."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name.

        Raises:
            UsageError: there is none; the message says what is meant.
        """
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            # Of two words first: `memory stats` is one name there, and the document's program stands before it.
            words = args[1:] if args[0] == "sunwell" and args[1:] else args
            named = next(
                (name for name in (" ".join(words[:2]), words[0]) if find_document_name(name, GROUPS)), args[0]
            )
            document = find_document_name(named, GROUPS)
            if document is None and (meant := [name for name, words in WORDS_FOR_COMMANDS.items() if named in words]):
                ctx.fail(f"There is no command {named!r}; it is {' or '.join(f'`hyperloci {x}`' for x in meant)} here.")
            if hint := suggest_name(named, self.commands, groups=GROUPS):
                ctx.fail(f"There is no command {named!r}; {hint}")
        return super().resolve_command(ctx, args)
