"""Models of one's own, through sentence-transformers: from folders that this test builds, safetensors only."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from hyperloci.config import Settings
from hyperloci.embedder.models.device import ComputeDevice
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.embedder.models.sentence_transformer import (
    _find_folder,
    hash_model_files,
    load_sentence_encoder,
    require_safe_weights,
)
from hyperloci.errors import ConfigurationError

pytestmark = pytest.mark.model

CPU = ComputeDevice(torch.device("cpu"), torch.float32)
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefgh"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of two layers with mean pooling, laid out as the Hub has them."""
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("tiny") / "tiny-model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(1)
    sizes = BertConfig(
        vocab_size=len(WORDS), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48
    )
    BertModel(sizes).save_pretrained(folder, safe_serialization=True)
    BertTokenizer(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    modules.append({"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32, "do_lower_case": false}')
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True})
    )
    return folder


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


TEXTS = ["abc", "a b c d e f g h " * 20, "", "hello", "\ud800", "zzz yyy", *(f"{'ab ' * n}" for n in range(1, 20))]


def test_a_folders_vectors_are_those_of_sentence_transformers_in_the_callers_order(tiny: Path) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = load_sentence_encoder(str(tiny), CPU)
    clean = [text.encode("utf-8", "replace").decode() for text in TEXTS]
    reference = SentenceTransformer(str(tiny), device="cpu").encode(clean, normalize_embeddings=True)
    np.testing.assert_allclose(encoder.encode(TEXTS), reference, atol=1e-5)
    assert (encoder.dimensions, encoder.max_tokens) == (24, 32)


def test_rows_have_length_one_though_the_model_does_not_normalise(tiny: Path) -> None:
    np.testing.assert_allclose(
        np.linalg.norm(load_sentence_encoder(str(tiny), CPU).encode(TEXTS), axis=1), 1, atol=1e-5
    )


def test_half_precision_comes_back_as_float32(tiny: Path) -> None:
    vectors = load_sentence_encoder(str(tiny), ComputeDevice(torch.device("cpu"), torch.bfloat16)).encode(
        ["abc", "def"]
    )
    assert vectors.dtype == np.float32
    assert (vectors * load_sentence_encoder(str(tiny), CPU).encode(["abc", "def"])).sum(axis=1).min() > 0.99


def test_settings_that_name_a_folder_lead_to_it(tiny: Path, settings: Settings) -> None:
    from dataclasses import replace

    (only,) = load_profile_stages(replace(settings, model=str(tiny), device="cpu"))
    assert (only.backend, only.device, only.dtype, only.interim) == ("sentence-transformers", "cpu", "float32", False)
    assert only.encoder.encode(["abc"]).shape == (1, 24)


def test_the_bundled_models_folder_loads_this_way_too() -> None:
    from hyperloci.embedder.models.bundled import BundledEncoder, find_model_folder, read_tokenizer
    from hyperloci.embedder.models.forward_torch import TorchForward

    folder = find_model_folder()
    ours = BundledEncoder(TorchForward(folder / "model.safetensors", *vars_of(CPU)), read_tokenizer(folder))
    vectors = load_sentence_encoder(str(folder), CPU).encode(TEXTS)
    assert (vectors * ours.encode(TEXTS)).sum(axis=1).min() > 0.99999


def vars_of(place: ComputeDevice) -> tuple[torch.device, torch.dtype]:
    return place.device, place.dtype


def test_the_id_changes_with_the_weights_the_tokenizer_and_the_pooling(tiny: Path, copy: Path) -> None:
    before = hash_model_files(copy)
    assert before == hash_model_files(tiny)
    assert load_sentence_encoder(str(copy), CPU).model_id == f"copy@{before[:12]}/24"
    seen = {before}
    for name in ("model.safetensors", "tokenizer.json", "1_Pooling/config.json"):
        with (copy / name).open("ab") as file:
            file.write(b" ")
        seen.add(hash_model_files(copy))
    assert len(seen) == 4


def test_files_in_the_hubs_cache_are_known_by_the_hash_they_are_stored_under(tmp_path: Path) -> None:
    blob = tmp_path / "blobs" / ("ab" * 32)
    snapshot = tmp_path / "snapshots" / "main"
    for folder in (blob.parent, snapshot):
        folder.mkdir(parents=True)
    blob.write_bytes(b"weights")
    (snapshot / "model.safetensors").symlink_to(blob)
    before = hash_model_files(snapshot)
    blob.write_bytes(b"never read")
    assert hash_model_files(snapshot) == before


def test_a_model_that_has_only_a_pickle_is_refused(copy: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ConfigurationError, match="is a pickle, and opening one can run code"):
        load_sentence_encoder(str(copy), CPU)


def test_a_module_that_has_only_a_pickle_is_refused(copy: Path) -> None:
    (copy / "2_Dense").mkdir()
    (copy / "2_Dense" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"2_Dense.* is a pickle"):
        require_safe_weights(copy)


def test_a_pickle_beside_safetensors_is_not_needed_and_does_not_hinder(copy: Path) -> None:
    (copy / "pytorch_model.bin").write_bytes(b"not even a pickle")
    assert load_sentence_encoder(str(copy), CPU).encode(["abc"]).shape == (1, 24)


def test_a_class_that_is_not_sentence_transformers_own_is_refused(copy: Path) -> None:
    modules = json.loads((copy / "modules.json").read_text())
    modules[0]["type"] = "os.system"
    (copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ConfigurationError, match=r"names 'os.system': only modules of sentence_transformers may run"):
        load_sentence_encoder(str(copy), CPU)


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '[{"path": ""}]'])
def test_a_damaged_list_of_modules_is_refused(copy: Path, content: str) -> None:
    (copy / "modules.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"modules\.json"):
        load_sentence_encoder(str(copy), CPU)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"holds no \*\.safetensors"):
        load_sentence_encoder(str(tmp_path), CPU)


def test_damaged_weights_are_a_setting_to_put_right(copy: Path) -> None:
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ConfigurationError, match="cannot be loaded from"):
        load_sentence_encoder(str(copy), CPU)


def test_a_folder_that_does_not_exist_is_no_name_to_fetch() -> None:
    for name in ("/no/such/folder", "./no-such-folder", "~/no-such-folder"):
        with pytest.raises(ConfigurationError, match="there is no such folder"):
            _find_folder(name)


def test_a_name_that_is_not_in_the_cache_is_not_fetched_when_the_hub_is_offline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigurationError, match=r"neither a folder nor in the Hugging Face cache"):
        load_sentence_encoder("nobody/no-such-model", CPU)


def test_a_name_that_can_be_no_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="model='a//b///c'"):
        load_sentence_encoder("a//b///c", CPU)
