"""Help: every command has examples, and what help, README and documentation tell people to type is understood."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hyperloci.cli.main import app

ROOT = Path(__file__).parents[2]
OPERATORS = frozenset("|&;<>")
TYPED = re.compile(r" *(?:\$ )?(hyperloci .*)")


def list_commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command that help shows, with the words that call it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from list_commands(child, (*path, name))


COMMANDS = dict(list_commands(typer.main.get_command(app)))


def list_examples(help: str) -> list[str]:
    """Return the lines of the examples in a command's help."""
    examples = re.split(r"Examples?:", help)[-1]
    return [line.strip() for line in examples.splitlines() if "hyperloci" in line]


def list_typed_lines(page: Path) -> list[str]:
    """Return the commands that stand on lines of their own in a page's blocks, without prompts."""
    blocks = re.findall(r"```[\s\S]*?```|^ {4}.*$", page.read_text("utf-8"), re.MULTILINE)
    typed = (TYPED.match(line) for block in blocks for line in block.splitlines())
    return [found[1] for found in typed if found]


def understand(line: str) -> str | None:
    """Return what the command line says is wrong with a line of a shell, None for nothing; files need not be there."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    for is_operator, group in itertools.groupby(words, lambda word: set(word) <= OPERATORS):
        called = list(group)
        if not is_operator and called[0] == "hyperloci":
            try:
                parse(COMMANDS[()], called[1:])
            except Exception as error:
                said = getattr(error, "message", repr(error))
                if "does not exist" not in said:
                    return f"{line}: {said}"
    return None


def parse(command: Any, words: list[str]) -> None:
    if "--help" in words:
        words.remove("--help")
        names = [word for word in words if not word.startswith("-")]
        assert tuple(names) in COMMANDS
        return
    context = command.make_context("hyperloci", words)
    if hasattr(command, "commands"):
        _, child, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        parse(child, rest)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "hyperloci")
def test_each_commands_help_has_examples_that_are_understood(path: tuple[str, ...]) -> None:
    examples = list_examples(COMMANDS[path].help)
    assert examples
    assert not list(filter(None, map(understand, examples)))
    words = " ".join(("hyperloci", *path))
    assert [line for line in examples if words in line]


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_tells_people_to_type_is_understood(page: Path) -> None:
    assert not list(filter(None, map(understand, list_typed_lines(page))))
