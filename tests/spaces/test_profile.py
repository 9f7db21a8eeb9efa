"""Profiles: those that ship, those of the user's file, and what is wrong with one in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import ConfigurationError
from hyperloci.setting_values import PROFILES
from hyperloci.spaces.profile import SHIPPED_PROFILES, ModelChoice, compose_model_id, find_profile
from hyperloci.store.vectors.fingerprints import meaning_model_of


def test_the_bundled_profile_has_one_model_and_rules() -> None:
    profile = find_profile("bundled", {})
    assert profile.choice_of("e1") == profile.choice_of("e12") == ModelChoice("bundled")
    assert profile.choice_of("e13") == ModelChoice("rule")


def test_the_gpu_profile_names_the_documents_models() -> None:
    named = {space: choice.model for space, choice in SHIPPED_PROFILES["gpu"].choices.items()}
    assert named["e1"] == "intfloat/e5-large-v2"
    assert named["e7"] == "Qodo/Qodo-Embed-1-1.5B"
    assert named["e13"] == "naver/splade-v3"
    assert SHIPPED_PROFILES["gpu"].choice_of("e1").query == "query: "


def test_a_profile_of_the_users_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "hyperloci.toml"
    file.write_text(
        'profile = "mine"\n[profiles.mine]\ne1 = "BAAI/bge-small-en-v1.5"\n'
        'e7 = { model = "nomic-ai/code", query = "search_query: " }\ne13 = "rule"\n'
    )
    settings = Settings.from_env({"HOME": str(tmp_path), "HYPERLOCI_CONFIG": str(file)})
    profile = find_profile(settings.profile, settings.profiles, settings.model)
    assert profile.choice_of("e1") == ModelChoice("BAAI/bge-small-en-v1.5") == profile.choice_of("e5")
    assert profile.choice_of("e7") == ModelChoice("nomic-ai/code", query="search_query: ")
    assert find_profile("mine", settings.profiles, "./own").choice_of("e1") == ModelChoice("./own")


def test_a_project_may_not_name_models(tmp_path: Path) -> None:
    (tmp_path / ".hyperloci.toml").write_text('[profiles.mine]\ne1 = "evil/model"\n')
    settings = Settings.from_env({"HOME": str(tmp_path)}, project_root=tmp_path)
    assert settings.profiles == {}
    assert "profiles may not be set by a project" in "".join(settings.project_faults)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"e2": "x"}, r"\[profiles.mine\]: e2 takes no model; use e1, e5, e7, e8, e10, e11, e12, e13"),
        ({"e99": "x", "name": "y"}, "e99, name takes no model"),
        ({"e7": ""}, "e7 must be the name of a model"),
        ({"e7": 5}, "e7 must be the name of a model.*not 5"),
        ({"e7": {"query": "x"}}, "e7 must be the name of a model"),
        ({"e7": {"model": "x", "prefix": "y"}}, "e7 has prefix; use strings for document, model, query"),
        ({"e7": "rule"}, "only e13 can use rules"),
        ({"e7": "https://host/v1/embeddings"}, "only e1 can"),
        ("e5", "must be a table"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said(values: object, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        find_profile("mine", {"mine": values})


def test_profiles_are_tables_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "hyperloci.toml"
    file.write_text('profiles = "mine"\n')
    with pytest.raises(ConfigurationError, match=r"\[profiles.NAME\]"):
        Settings.from_env({"HOME": str(tmp_path), "HYPERLOCI_CONFIG": str(file)})


def test_the_settings_know_every_profile_that_is_shipped() -> None:
    assert tuple(SHIPPED_PROFILES) == PROFILES


def test_an_unknown_profile_is_refused_unless_a_model_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"profile='turbo'.*bundled, better, gpu, mine.*\[profiles.turbo\]"):
        find_profile("turbo", {"mine": {}})
    assert find_profile("turbo", {}, "x/y").choice_of("e1") == ModelChoice("x/y")


@pytest.mark.req("D.13")
def test_an_id_tells_the_foundation_and_changes_with_any_other_model() -> None:
    ids = {compose_model_id("m@1/384", 1, others) for others in ({}, {"e7": "a"}, {"e7": "b"}, {"e8": "a"})}
    ids.add(compose_model_id("m@1/384", 2, {}))
    assert len(ids) == 5
    assert {meaning_model_of(one) for one in ids} == {"m@1/384"}
