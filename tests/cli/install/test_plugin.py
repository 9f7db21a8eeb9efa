"""The plugin of Claude Code: what `install` and `doctor` make of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.cli.diagnostics.doctor import run_checks
from hyperloci.cli.install.plugin import find_plugin
from tests.cli.helpers import invoke, run

NAME = "hyperloci@hyperloci"


def switch(folder: Path, name: str = "settings.json", *, on: object) -> None:
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / name).write_text(json.dumps({"enabledPlugins": {NAME: on, "other@shop": True}}))


def test_a_projects_settings_overrule_the_users_and_its_local_ones_both(tmp_path: Path) -> None:
    home, project = tmp_path / "user", tmp_path / "place"
    for folder in (home, project):
        folder.mkdir()
    assert find_plugin(home=home, project_root=project) is None
    switch(home, on=True)
    assert find_plugin(home=home) == find_plugin(home=home, project_root=project) == NAME
    switch(project, on=False)
    assert (find_plugin(home=home), find_plugin(home=home, project_root=project)) == (NAME, None)
    switch(project, "settings.local.json", on=True)
    assert find_plugin(home=home, project_root=project) == NAME


@pytest.mark.parametrize(
    "said", ["", "[]", '{"enabledPlugins": [1]}', '{"enabledPlugins": {"hyperloci@x": "on"}}', "["]
)
def test_what_tells_of_no_plugin_is_passed_over(tmp_path: Path, said: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(said)
    assert find_plugin(home=tmp_path) is None


def test_nothing_is_added_beside_the_plugin_and_a_setting_is_set_all_the_same(home: Path) -> None:
    switch(home, on=True)
    before = (home / ".claude" / "settings.json").read_text()
    assert f"claude plugin uninstall {NAME}" in run("install")
    assert "wrote" in run("install", "--consolidation", "host")
    assert (home / ".claude" / "hyperloci.toml").read_text() == 'consolidation = "host"\n'
    assert (home / ".claude" / "settings.json").read_text() == before
    assert not (home / ".claude" / ".claude.json").exists()


def test_doctor_knows_the_plugin_and_warns_of_both(home: Path, tmp_path: Path) -> None:
    run("install")
    project = tmp_path / "project"
    switch(project, on=True)
    told = [item for item in run_checks(project) if item.subject == "claude code"]
    assert [item.mend for item in told if "captured twice" in item.message] == [
        f"hyperloci uninstall --scope user, or claude plugin uninstall {NAME}"
    ]
    assert invoke("uninstall").exit_code == 0
    [alone] = [item.message for item in run_checks(project) if item.subject == "claude code"]
    assert alone == f"installed as the plugin {NAME}"


@pytest.mark.parametrize("own", ["the plugin", "entries"])
def test_an_installation_for_the_project_beside_ones_own_says_that_events_are_kept_twice(
    home: Path, tmp_path: Path, own: str
) -> None:
    project = tmp_path / "project"
    alone = run("install", "--scope", "project", "--project", str(project))
    if own == "the plugin":
        switch(home, on=True)
    else:
        run("install")
    beside = run("install", "--scope", "project", "--project", str(project))

    assert "kept twice" not in alone
    assert f"You have {own}" in beside and "kept twice" in " ".join(beside.split())
