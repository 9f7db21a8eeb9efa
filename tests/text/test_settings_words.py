"""Well-known settings are found by what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.memory import Memory
from hyperloci.spaces.views import EncoderInput, make_views
from hyperloci.text.chunking.file_kinds import FileKind, file_kind_of
from hyperloci.text.settings_words import describe_settings

PACKAGE = """\
{
  "name": "parcel-hub",
  "version": "1.0.0",
  "description": "Long enough that the settings of one line are a chunk of their own",
  "engines": {
    "node": ">=20"
  },
  "devDependencies": {
    "license": "^1.0.0",
    "ava": "^6.0.0"
  }
}
"""


@pytest.mark.req("D.05")
@pytest.mark.parametrize(
    ("path", "table", "text", "word"),
    [
        ("package.json", "engines", '"engines": {"node": ">=20"}', "oldest"),
        ("web/package.json", "", '  "license": "MIT",', "terms"),
        ("pyproject.toml", "project", 'requires-python = ">=3.11"', "oldest"),
        ("pyproject.toml", "project.scripts", 'hub = "hub:main"', "command"),
        ("pyproject.toml", "tool.ruff.lint.isort", "lines-after-imports = 2", "linter"),
        ("Cargo.toml", "target.'cfg(unix)'.dependencies", 'nix = "1"', "libraries"),
        ("go.mod", "", "module hub\n\ngo 1.22\n", "oldest"),
        ("go.mod", "", "require (\n\tgolang.org/x/text v0.3.0\n)\n", "libraries"),
        (".github/workflows/test.yml", "jobs", "jobs:\n  test:\n    strategy:\n      matrix:\n", "platforms"),
        ("MAINTAINERS", "", "- anna\n", "maintains"),
    ],
)
def test_a_well_known_setting_says_what_it_is_about(path: str, table: str, text: str, word: str) -> None:
    assert word in describe_settings(path, table, text)


@pytest.mark.req("D.05")
@pytest.mark.parametrize(
    ("path", "table", "text"),
    [
        (None, "engines", '"engines": {}'),
        ("docs/guide.md", "engines", "engines: node"),
        ("package.json", "keywords", '  "keywords": [\n    "engines"\n  ]'),
        ("package.json", "resolutions", '  "resolutions": {\n    "license": "^1.0.0"\n  }'),
        ("Cargo.toml", "dependencies.clap", 'features = ["derive"]'),
    ],
)
def test_a_key_that_means_something_else_there_is_about_nothing(path: str | None, table: str, text: str) -> None:
    assert describe_settings(path, table, text) == ""


@pytest.mark.req("D.05")
def test_a_setting_is_found_without_a_word_of_its_own(memory: Memory, project: Path) -> None:
    (project / "package.json").write_text(PACKAGE)
    (project / "pages.md").write_text("# Pages\n\nThe server runs on every page that it is asked for, oldest first.\n")
    memory.index_path()

    found = memory.search("what is the oldest version that it runs on?").results[0]

    assert (found.source.path, found.source.line_start) == ("package.json", 5)
    assert "oldest" not in found.content


@pytest.mark.req("E.01")
def test_the_meaning_of_a_setting_is_read_from_what_it_is_about() -> None:
    seen = EncoderInput(content='"engines": {"node": ">=20"}', title="package.json > engines", path="package.json")

    assert make_views(seen).text.startswith("package.json > engines: oldest minimum lowest version of node")


@pytest.mark.req("D.05")
@pytest.mark.parametrize("path", ["MAINTAINERS", ".github/CODEOWNERS", ".nvmrc", "CITATION.cff", "rust-toolchain"])
def test_files_that_say_who_and_which_version_are_read(path: str) -> None:
    assert file_kind_of(path) is FileKind.CONFIG
