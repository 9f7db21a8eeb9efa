"""Settings file: sets one of the user's settings in `hyperloci.toml` and leaves every other line as it is."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator

from hyperloci.errors import ConfigurationError


def with_setting(text: str, name: str, value: str) -> str:
    """Return the text of a settings file with a value for a setting: in place of the one it has, or as its first line.

    Raises:
        ConfigurationError: the text is not TOML, or the setting can't be found where the line of it seems to be.
    """
    line = f"{name} = {json.dumps(value)}"
    try:
        wanted = {**tomllib.loads(text), name: value}
        return next(edited for edited in _edit_lines(text, name, line) if _parse_or_none(edited) == wanted)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"it is not TOML ({error})") from error
    except StopIteration:
        raise ConfigurationError(f"write `{line}` into it by hand") from None


def _edit_lines(text: str, name: str, line: str) -> Iterator[str]:
    """Yield the text as it may have to be: unchanged, with the line in place of another, or with it before all others.

    Which of them says what is wanted, a parser tells: a line may be a part of a longer text.
    """
    yield text
    lines = text.splitlines(keepends=True)
    for number, old in enumerate(lines):
        if old.partition("=")[0].strip() == name:
            yield "".join([*lines[:number], f"{line}\n", *lines[number + 1 :]])
    yield f"{line}\n{text}"


def _parse_or_none(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None
