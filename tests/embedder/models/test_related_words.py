"""Neighbours in the bundled model's vocabulary, and texts seen past the model's window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.embedder.models.bundled import BundledEncoder, find_model_folder, read_tokenizer, verify_weights
from hyperloci.embedder.models.forward_numpy import NumpyForward
from hyperloci.embedder.models.profile_models import load_profile_stages
from hyperloci.embedder.models.related_words import SMALLEST_COSINE, WordVectors
from hyperloci.spaces.encoder import MAX_WINDOWS
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.profile_encoder import get_multi_space_encoder
from hyperloci.spaces.query import fingerprint_query
from hyperloci.spaces.space_similarity import score_space
from hyperloci.spaces.views import EncoderInput

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def vocabulary() -> WordVectors:
    folder = find_model_folder()
    return WordVectors(verify_weights(folder), read_tokenizer(folder))


@pytest.fixture(scope="module")
def encoder() -> BundledEncoder:
    folder = find_model_folder()
    return BundledEncoder(NumpyForward(verify_weights(folder)), read_tokenizer(folder))


@pytest.mark.parametrize(("word", "near"), [("error", "mistake"), ("fast", "quick"), ("remove", "removing")])
def test_words_that_mean_much_the_same_are_neighbours(vocabulary: WordVectors, word: str, near: str) -> None:
    found = dict(vocabulary.nearest_words(word, 8))
    assert near in found and word not in found
    assert all(SMALLEST_COSINE <= cosine < 1 for cosine in found.values())


def test_a_word_that_is_not_in_the_vocabulary_has_no_neighbours(vocabulary: WordVectors) -> None:
    assert vocabulary.nearest_words("lockfile", 4) == []
    assert vocabulary.nearest_words("", 4) == []


def test_one_pass_gives_what_two_would(encoder: BundledEncoder) -> None:
    texts = ["one short text", "word " * 400, "", "another"]
    vectors, states = encoder.encode_both(texts, {0, 2})
    np.testing.assert_allclose(vectors, encoder.encode(texts), atol=1e-4)
    assert set(states) == {0, 2}
    np.testing.assert_allclose(states[0], encoder.encode_tokens([texts[0]])[0], atol=1e-4)
    assert states[2].shape == (0, 384)


def test_a_long_text_is_read_window_by_window(encoder: BundledEncoder) -> None:
    _, states = encoder.encode_both(["word " * 600, "word " * 5_000], {0, 1})
    assert len(states[0]) == 600
    assert len(states[1]) == MAX_WINDOWS * (encoder.max_tokens - 2)


@pytest.mark.req("E.01", "E.12")
def test_what_lies_behind_the_window_is_found_token_by_token(settings: Settings) -> None:
    stage = next(iter(load_profile_stages(replace(settings, device="cpu"))))
    eyes = get_multi_space_encoder(stage.encoder)
    padding = "The weather was fine and nothing else happened on that day. " * 40
    memories = [f"{padding}{end}" for end in ("The lockfile of the build was stale.", "We had tea and cake at five.")]
    made = compute_fingerprints([EncoderInput(content=memory) for memory in memories], eyes)
    assert all(sum(map(len, one.columns.values())) + 5 * len(one.terms) <= 8_192 for one in made)
    asked = fingerprint_query("stale lockfile of the build", eyes)
    meaning = score_space("e1", asked, [[one.columns["e1"]] for one in made])
    tokens = score_space("e12", asked, [[one.columns["e12"]] for one in made])
    assert abs(meaning[0] - meaning[1]) < 0.01
    assert tokens[0] > tokens[1] + 0.2
