"""What is released: a wheel with the three packages, their data and the Claude Code plugin, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

import pytest

import hyperloci

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"hyperloci": "server", "hyperloci_tools": "tools", "hyperloci_hooks": "hooks"}
PLUGIN = (
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    "hooks/hooks.json",
    "hooks/launch.py",
    "skills/memory/SKILL.md",
)
INFO = f"hyperloci-{hyperloci.__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=90)
    [path] = folder.iterdir()
    assert path.name == f"hyperloci-{hyperloci.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as opened:
        yield opened


def of_package(name: str) -> set[str]:
    """Return the files of a package as a wheel names them."""
    top = ROOT / PACKAGES[name]
    files = (path for path in (top / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(top).as_posix() for path in files}


def test_the_wheel_holds_the_packages_and_the_plugin_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    own = set.union(*map(of_package, PACKAGES)) | {f"hyperloci/plugin/{path}" for path in PLUGIN}
    held = {name for name in wheel.namelist() if not name.startswith(f"{INFO}/")}
    assert held == own
    pages = {".html", ".css", ".js", ".svg"}
    assert {Path(name).suffix for name in held} <= {
        ".py",
        ".typed",
        ".sql",
        ".toml",
        ".txt",
        ".json",
        ".md",
        ".safetensors",
        "",
        *pages,
    }


def test_every_package_is_typed_and_the_plugin_is_the_repositorys(wheel: zipfile.ZipFile) -> None:
    assert [name for name in PACKAGES if f"{name}/py.typed" not in wheel.namelist()] == []
    for path in PLUGIN:
        assert wheel.read(f"hyperloci/plugin/{path}") == (ROOT / path).read_bytes(), path


def test_the_wheel_tells_what_it_is(wheel: zipfile.ZipFile) -> None:
    told = HeaderParser().parsestr(wheel.read(f"{INFO}/METADATA").decode())
    classifiers = told.get_all("Classifier") or []
    assert (told["Name"], told["Version"]) == ("hyperloci", hyperloci.__version__)
    assert told["License-Expression"] == "MIT" and f"{INFO}/licenses/LICENSE" in wheel.namelist()
    pythons = [found[1] for line in classifiers if (found := re.fullmatch(r".*Python :: (3\.\d+)", line))]
    assert told["Requires-Python"] == f">={pythons[0]}" and pythons[-1] == "3.14"
    assert {"hyperloci", "hyperloci-hook"} == {
        line.partition(" = ")[0] for line in wheel.read(f"{INFO}/entry_points.txt").decode().splitlines() if "=" in line
    }


def test_the_packed_launcher_finds_the_packages_beside_it(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    launcher = tmp_path / "hyperloci" / "plugin" / "hooks"
    code = (
        f"import sys; sys.path.insert(0, {str(launcher)!r}); import launch\n"
        "sys.path[:0] = launch.package_folders()\n"
        "import hyperloci_hooks.client, hyperloci.system.data_paths; print(hyperloci.system.data_paths.__file__)\n"
        "launch.find_command = lambda name: '/bin/uvx' if name == 'uvx' else None\n"
        "print(launch.find_server_command(), launch.find_hook_command('Stop'), launch.installation_advice())"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found, said = done.stdout.splitlines()
    assert (found, done.stderr) == (str(tmp_path / "hyperloci" / "system" / "data_paths.py"), "")
    # A name alone would be fetched from wherever an index has one like it.
    assert said.startswith("None None Hyperloci is installed") and said.endswith("on your PATH.")
