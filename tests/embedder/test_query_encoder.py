"""Questions are encoded with and without an embedder, by the same model."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.embedder import query_encoder
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.models.profile_models import has_light_encoder, load_light_encoder
from hyperloci.embedder.protocol import DeadlineError
from hyperloci.embedder.query_encoder import KEPT_SECONDS, LATE_SECONDS, NOTHING_EMBEDDED, HurriedEncoder, QueryEncoder
from hyperloci.errors import NotReadyError
from hyperloci.spaces.query import QueryFingerprint, fingerprint_query

pytestmark = pytest.mark.model

QUESTION = "how can two processes write at once"


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    query_encoder._loaded.clear()
    yield
    query_encoder._loaded.clear()


def encoder_of(
    settings: Settings, *, has_vectors: bool = True, now: Callable[[], float] = time.monotonic
) -> QueryEncoder:
    return QueryEncoder(EmbedderClient(settings), settings, lambda: has_vectors, now=now)


def test_without_an_embedder_a_question_is_seen_in_every_space_as_an_embedder_sees_it(settings: Settings) -> None:
    seen = encoder_of(settings).embed_query_spaces(QUESTION)
    expected = fingerprint_query(QUESTION, load_light_encoder(settings))
    assert seen.model_id == expected.model_id and dict(seen.terms) == dict(expected.terms)
    assert all(np.allclose(seen.dense[space], vector) for space, vector in expected.dense.items())
    model_id, meaning = encoder_of(settings).embed_query(QUESTION)
    assert model_id == seen.model_id and np.allclose(meaning, seen.dense["e1"])


def test_an_embedder_that_answers_is_asked_and_the_model_in_this_process_let_go_later(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 1.0, 2.0 + KEPT_SECONDS])
    encoder = encoder_of(settings, now=lambda: next(times))
    encoder.embed_query_spaces(QUESTION)
    assert len(query_encoder._loaded) == 1
    told = QueryFingerprint(model_id="the embedder's")
    monkeypatch.setattr(EmbedderClient, "embed_query_spaces", lambda self, text: told)
    assert encoder.embed_query_spaces(QUESTION) is told
    assert len(query_encoder._loaded) == 1
    assert encoder.embed_query_spaces(QUESTION) is told
    assert query_encoder._loaded == {}


def test_no_model_is_loaded_where_no_memory_has_a_vector(settings: Settings) -> None:
    with pytest.raises(NotReadyError, match=NOTHING_EMBEDDED):
        encoder_of(settings, has_vectors=False).embed_query_spaces(QUESTION)
    assert query_encoder._loaded == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": "gpu"},
        {"model": "some/model"},
        {"profile": "mine", "profiles": {"mine": {"e7": "some/model"}}},
        {"profile": "mine", "profiles": {"mine": {"e1": {"model": "bundled", "query": "q: "}}}},
    ],
)
def test_models_that_need_torch_are_left_to_the_embedder(settings: Settings, changes: dict[str, object]) -> None:
    other = replace(settings, **changes)  # type: ignore[arg-type]
    assert not has_light_encoder(other)
    with pytest.raises(NotReadyError, match="No embedder is running"):
        encoder_of(other).embed_query_spaces(QUESTION)


def test_to_encode_a_question_in_a_session_imports_no_torch() -> None:
    code = (
        "import sys; from pathlib import Path; from hyperloci.config import Settings\n"
        "from hyperloci.embedder.models.profile_models import load_light_encoder\n"
        "from hyperloci.spaces.query import fingerprint_query\n"
        "settings = Settings.from_env({'HOME': '/nonexistent'})\n"
        "fingerprint_query('why is the sky blue', load_light_encoder(settings))\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_embedder_that_was_late_is_asked_again_after_a_moment(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def be_late(self: EmbedderClient, text: str, timeout: float) -> object:
        asked.append(text)
        raise DeadlineError("The embedder did not answer in time.")

    monkeypatch.setattr(EmbedderClient, "embed_query", be_late)
    times = iter([0.0, 0.25, 0.3, 0.25 + LATE_SECONDS, 2.0])
    hurried = HurriedEncoder(EmbedderClient(settings), lambda: next(times))
    for text, error in (("measure", DeadlineError), ("search", NotReadyError), ("the next prompt", DeadlineError)):
        with pytest.raises(error):
            hurried.embed_query(text)
    assert asked == ["measure", "the next prompt"]


def test_an_embedder_that_is_loading_is_not_waited_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbedderClient, "is_loading", lambda self: True)
    hurried = HurriedEncoder(EmbedderClient(settings))
    assert not hurried.is_ready()
    with pytest.raises(NotReadyError, match="late a moment ago"):
        hurried.embed_query(QUESTION)
