"""Quiet prompts: what their meaning tells, with the bundled model."""

from __future__ import annotations

import numpy as np

from hyperloci.config import Settings
from hyperloci.conversations.unasked.quiet_prompts import QUIET_FROM, discount_quiet, score_quietness
from hyperloci.embedder.models.profile_models import load_light_encoder

# Prompts that neither the tables nor the training lines hold.
QUIET = ("sort the keys of tsconfig.json", "what is the type of this variable", "cheers, see you on monday")
WORK = ("store the passport numbers of guests", "move the mail sender to another provider", "deploy to the new region")

# The same as people say it to an assistant they know: in none of the training lines either.
ASIDES = ("ha, my neighbour says the same about his goats", "lovely, that one I shall frame", "no rush, go and eat")
RECALLS = (
    "what did we settle for the refunds, ten days?",
    "is the lock still at ninety seconds",
    "who signs it off now",
)


def _score(settings: Settings, *prompts: str) -> list[float]:
    encoder = load_light_encoder(settings)
    vectors = encoder.encode(prompts)
    return [score_quietness(encoder.model_id, vector, prompt) for vector, prompt in zip(vectors, prompts, strict=True)]


def test_what_needs_nothing_is_quieter_than_requests_for_work(settings: Settings) -> None:
    scores = _score(settings, *QUIET, *WORK)
    assert min(scores[: len(QUIET)]) > max(scores[len(QUIET) :]), scores
    assert min(scores[: len(QUIET)]) > QUIET_FROM > min(scores), scores


def test_an_aside_is_quieter_than_a_question_about_what_was_settled(settings: Settings) -> None:
    scores = _score(settings, *ASIDES, *RECALLS)
    assert min(scores[: len(ASIDES)]) > max(scores[len(ASIDES) :]), scores


def test_a_model_that_was_not_trained_for_tells_nothing() -> None:
    assert score_quietness("another/384", np.zeros(384, dtype=np.float32), "ok") == 0
    assert discount_quiet(0.0) == discount_quiet(QUIET_FROM) == 0 < discount_quiet(0.9)
