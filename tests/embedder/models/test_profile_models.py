"""Models of a profile on real small models that this test builds: sparse, late-interaction, dense, and all of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from hyperloci.config import Settings
from hyperloci.embedder.models import colbert as late
from hyperloci.embedder.models import splade as expanding
from hyperloci.embedder.models.device import ComputeDevice
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.embedder.models.sentence_transformer import load_sentence_encoder as load_dense
from hyperloci.errors import ConfigurationError
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.profile import FINGERPRINT_VERSION
from hyperloci.spaces.profile_encoder import get_multi_space_encoder
from hyperloci.spaces.query import fingerprint_query
from hyperloci.spaces.space_similarity import score_space
from hyperloci.spaces.views import EncoderInput
from hyperloci.store.vectors import float16
from tests.embedder.models.test_sentence_transformer import WORDS, tiny

__all__ = ["tiny"]

pytestmark = pytest.mark.model

CPU = ComputeDevice(torch.device("cpu"), torch.float32)


@pytest.fixture(scope="session")
def splade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random masked language model of two layers under SPLADE's pooling, saved as sentence-transformers saves one."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    plain = tmp_path_factory.mktemp("splade") / "plain"
    plain.mkdir()
    (plain / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(3)
    sizes = BertConfig(
        vocab_size=len(WORDS), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48
    )
    BertForMaskedLM(sizes).save_pretrained(plain, safe_serialization=True)
    BertTokenizer(vocab_file=str(plain / "vocab.txt")).save_pretrained(plain)
    folder = plain.with_name("tiny-splade")
    SparseEncoder(modules=[MLMTransformer(str(plain)), SpladePooling()], device="cpu").save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def colbert(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny BERT under a random projection of every token to 16 dimensions."""
    from sentence_transformers import MultiVectorEncoder

    folder = tmp_path_factory.mktemp("colbert") / "tiny-colbert"
    torch.manual_seed(4)
    plain = Path(shutil.copytree(tiny, folder.with_name("plain")))
    for name in ("modules.json", "sentence_bert_config.json"):
        (plain / name).unlink()
    shutil.rmtree(plain / "1_Pooling")
    MultiVectorEncoder(str(plain), device="cpu").save_pretrained(str(folder))
    return folder


def test_a_sparse_model_weighs_terms_as_sentence_transformers_does(splade: Path) -> None:
    from sentence_transformers import SparseEncoder

    model = expanding.load_splade(str(splade), CPU)
    texts = ["abc def", "h g f", "\ud800"]
    reference = SparseEncoder(str(splade), device="cpu")
    for query in (False, True):
        encode = reference.encode_query if query else reference.encode_document
        wanted = encode([text.encode("utf-8", "replace").decode() for text in texts])
        found = model.encode_sparse(texts, query=query)
        for terms, row in zip(found, wanted, strict=True):
            pairs = [pair for pair in reference.decode(row) if isinstance(pair, tuple)]
            expected = {term: weight for term, weight in pairs if term}
            assert terms.keys() == expected.keys() and terms
            assert all(abs(terms[term] - expected[term]) < 1e-4 for term in terms)
            assert list(terms.values()) == sorted(terms.values(), reverse=True)


def test_a_late_model_shows_unit_tokens_and_ranks_a_text_itself_first(colbert: Path) -> None:
    model = late.load_colbert(str(colbert), CPU)
    texts = ["abc def", "h g f e d c b a", "zzz"]
    matrices = model.encode_tokens(texts, query=False)
    assert all(matrix.ndim == 2 and len(matrix) > 1 for matrix in matrices)
    for matrix in matrices:
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    best = [max(range(3), key=lambda at: float((one @ matrices[at].T).max(axis=1).mean())) for one in matrices]
    assert best == [0, 1, 2]


@pytest.mark.parametrize("load", [expanding.load_splade, late.load_colbert, load_dense])
def test_a_folder_without_safetensors_is_refused(load: Callable[[str, ComputeDevice], object], tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ConfigurationError, match="pickle"):
        load(str(tmp_path), CPU)


def test_a_model_of_another_kind_is_refused_in_words(tiny: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(tiny, tmp_path / "broken"))
    (broken / "config.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="as a sparse model"):
        expanding.load_splade(str(broken), CPU)
    with pytest.raises(ConfigurationError, match="as a late-interaction model"):
        late.load_colbert(str(broken), CPU)


@pytest.fixture
def whole(settings: Settings, tiny: Path, splade: Path, colbert: Path) -> Settings:
    """A profile of the user's own, with a model for every kind of space."""
    own = {
        "e1": {"model": str(tiny), "query": "q ", "document": "d "},
        "e7": str(tiny),
        "e12": str(colbert),
        "e13": str(splade),
    }
    return replace(settings, profile="mine", profiles={"mine": own}, device="cpu")


@pytest.mark.req("E.01", "E.17")
def test_a_profile_of_ones_own_sees_a_memory_in_every_space(whole: Settings) -> None:
    (stage,) = load_profile_stages(whole)
    eyes = get_multi_space_encoder(stage.encoder)
    memory = "abcd because defg.\n```python\ndef fab(a):\n    return bad(a)\n```"
    (made,) = compute_fingerprints([EncoderInput(content=memory)], eyes)
    asked = fingerprint_query("abcd because defg", eyes)
    assert {"e1", "e5_cause", "e5_effect", "e7", "e9", "e12"} <= made.columns.keys()
    assert len(made.columns["e1"]) == float16.BYTES_PER_DIMENSION * 24 and len(made.columns["e7"]) == 24
    assert made.terms.keys() <= set(WORDS) and not asked.weigh_terms
    assert asked.model_id == eyes.model_id
    scores = score_space("e12", asked, [[made.columns["e12"]]])
    assert 0 < scores[0] <= 1


def test_a_profiles_id_tells_every_model_and_what_stands_before_a_text(whole: Settings, colbert: Path) -> None:
    (stage,) = load_profile_stages(whole)
    name = stage.encoder.model_id
    assert name.startswith("tiny-model@") and f"+{FINGERPRINT_VERSION}." in name
    own: Mapping[str, object] = whole.profiles["mine"]
    for change in ({"e12": whole.profiles["mine"]["e1"]["model"]}, {"e7": {"model": own["e7"], "query": "x "}}):
        other = replace(whole, profiles={"mine": {**own, **change}})
        assert next(iter(load_profile_stages(other))).encoder.model_id != name


def test_questions_and_memories_have_their_own_words_in_front(whole: Settings, tiny: Path) -> None:
    (stage,) = load_profile_stages(whole)
    eyes, plain = get_multi_space_encoder(stage.encoder), load_dense(str(tiny), CPU)
    (made,) = compute_fingerprints([EncoderInput(content="abc")], eyes)
    # Half precision: 11 bits a component.
    seen = float16.unpack_half([made.columns["e1"]])[0]
    np.testing.assert_allclose(seen, plain.encode(["d abc"])[0], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(fingerprint_query("abc", eyes).dense["e1"], plain.encode(["q abc"])[0], atol=1e-5)


def test_one_model_alone_sees_every_dense_space_and_every_token(settings: Settings, tiny: Path) -> None:
    (stage,) = load_profile_stages(replace(settings, model=str(tiny), device="cpu"))
    (made,) = compute_fingerprints([EncoderInput(content="We want to abc the def because of `fab`.")], stage.encoder)
    assert {"e1", "e5_cause", "e10", "e11", "e12"} <= made.columns.keys()
    assert json.loads(json.dumps(dict(made.terms))).keys() >= {"abc", "def"}
