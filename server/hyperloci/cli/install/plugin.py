"""Plugin: whether Claude Code has ours switched on; entries of `hyperloci install` beside it keep every event twice."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hyperloci.cli.install.installer import read_file
from hyperloci.cli.install.json_edit import parse_strict
from hyperloci.errors import ConfigurationError

PREFIX: Final = "hyperloci@"
"""How the plugin's name begins in Claude Code's settings; the marketplace that it came from follows."""


def find_plugin(*, home: Path, config_dir: Path | None = None, project_root: Path | None = None) -> str | None:
    """Return the name of our plugin where Claude Code has it switched on.

    A project's settings overrule the user's, and its local ones both. What can't be read says nothing.

    Args:
        home: the user's home folder.
        config_dir: CLAUDE_CONFIG_DIR if that is set.
        project_root: the project whose settings count too; without one, what holds in all projects is told.
    """
    files = [(config_dir or home / ".claude") / "settings.json"]
    if project_root is not None:
        files += [project_root / ".claude" / name for name in ("settings.json", "settings.local.json")]
    said: dict[str, bool] = {}
    for path in files:
        try:
            document = parse_strict((read_file(path) or b"{}").decode("utf-8-sig"))
        except (ConfigurationError, ValueError, RecursionError):
            continue
        plugins = document.get("enabledPlugins") if isinstance(document, dict) else None
        said |= plugins if isinstance(plugins, dict) else {}
    return next((name for name, on in said.items() if on is True and name.startswith(PREFIX)), None)
