"""ONNX models: what goes in, what comes out, and what is wrong with a model in words."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperloci.embedder.models.onnx_model import (
    WINDOW_TOKENS,
    OnnxForward,
    OnnxSentenceEncoder,
    OnnxTokenModel,
    load_onnx_forward,
)
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.encoder import MAX_WINDOWS
from tests.embedder.packaged.tiny_models import WIDTH, build_model_files


@pytest.fixture
def forward(tmp_path: Path) -> OnnxForward:
    build_model_files(tmp_path)
    return load_onnx_forward(tmp_path, "tiny")


def test_a_token_model_gives_a_unit_row_for_every_word(forward: OnnxForward) -> None:
    short, long = OnnxTokenModel(forward).encode_tokens(["redis", "redis keeps logins"], query=False)

    assert short.shape == (1, WIDTH) and long.shape == (3, WIDTH)
    assert np.allclose(np.linalg.norm(long, axis=1), 1)
    assert np.allclose(short[0], long[0])


def test_a_long_text_is_read_window_by_window_and_a_question_in_one(forward: OnnxForward) -> None:
    text = "redis " * (MAX_WINDOWS * WINDOW_TOKENS + 100)
    room = WINDOW_TOKENS - 2

    assert len(OnnxTokenModel(forward).encode_tokens([text], query=False)[0]) == MAX_WINDOWS * room
    assert len(OnnxTokenModel(forward).encode_tokens([text], query=True)[0]) == room


def test_a_text_depends_on_no_other_text_of_its_call(forward: OnnxForward) -> None:
    texts = ["deploy failed on friday", "redis", "", "cache " * 300, "a \ud800 lone surrogate"]
    model = OnnxTokenModel(forward)

    together = model.encode_tokens(texts, query=False)

    for text, states in zip(texts, together, strict=True):
        assert np.array_equal(states, model.encode_tokens([text], query=False)[0])


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_sentence_encoder_pools_as_it_is_told(forward: OnnxForward, pooling: str) -> None:
    encoder = OnnxSentenceEncoder(forward, pooling)

    vectors = encoder.encode(["redis", "deploy failed"])

    assert vectors.shape == (2, encoder.dimensions) == (2, WIDTH)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    # The tiny model sees words alone, so all first tokens are alike and all means are not.
    assert np.allclose(vectors[0], vectors[1]) is (pooling == "cls")
    assert encoder.encode([]).shape == (0, WIDTH)


def test_an_unknown_pooling_is_refused(forward: OnnxForward) -> None:
    with pytest.raises(ConfigurationError, match="use one of cls, mean"):
        OnnxSentenceEncoder(forward, "max")


def test_the_id_follows_the_weights_and_the_calibration(forward: OnnxForward, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((tmp_path / "model.onnx").read_bytes().replace(b"tiny", b"teny"))
    other = load_onnx_forward(tmp_path, "tiny")

    assert forward.model_id != other.model_id
    assert OnnxTokenModel(forward).model_id != OnnxTokenModel(forward, 2.0, -1.0).model_id


def test_a_file_that_is_no_model_is_refused_in_words(tmp_path: Path) -> None:
    build_model_files(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")

    with pytest.raises(ConfigurationError, match="model 'tiny' cannot be loaded from"):
        load_onnx_forward(tmp_path, "tiny")


def test_without_onnxruntime_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigurationError, match=r'pip install "hyperloci\[models\]"'):
        load_onnx_forward(tmp_path, "tiny")
