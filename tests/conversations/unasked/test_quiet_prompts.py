"""Quiet prompts: what their letters, their shape and, with the bundled model, their meaning tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.conversations.unasked.quiet_prompts import (
    LETTERS_LENGTH,
    QUIET_FROM,
    READ_CHARS,
    discount_quiet,
    read_letters,
    score_quietness,
)
from hyperloci.embedder.models.profile_models import load_light_encoder

# Prompts that neither the tables nor the training lines hold.
QUIET = ("sort the keys of tsconfig.json", "what is the type of this variable", "cheers, see you on monday")
WORK = ("store the passport numbers of guests", "move the mail sender to another provider", "deploy to the new region")

# The same as people say it to an assistant they know: in none of the training lines either.
ASIDES = ("ha, my neighbour says the same about his goats", "lovely, that one I shall frame", "no rush, go and eat")
RECALLS = (
    "what did we settle for the refunds, ten days?",
    "is the lock still at ninety seconds",
    "who has to sign off a refund",
)

# Of tongues that the bundled model hardly knows.
THANKS = ("perfekt, danke dir", "super, merci à toi", "genial, gracias tío")
ABROAD = (
    "bau in den export noch die rechnungsnummer ein",
    "ajoute un cache devant l'api des tarifs",
    "añade un límite de peticiones por cliente",
)

OTHER_TALK = ("спасибо, очень помогло", "谢谢，辛苦了", "はい、また明日ね", "고마워 수고했어", "дякую, супер")
OTHER_WORK = (
    "добавь лимит запросов на клиента",
    "给导出加上发票号",
    "なぜRedisを使わないんだっけ",
    "왜 우리가 mongo를 뺐더라",
    "додай кеш перед апі тарифів",
)


def _score(settings: Settings, *prompts: str) -> list[float]:
    encoder = load_light_encoder(settings)
    vectors = encoder.encode(prompts)
    return [score_quietness(prompt, encoder.model_id, vector) for vector, prompt in zip(vectors, prompts, strict=True)]


def test_what_needs_nothing_is_quieter_than_requests_for_work(settings: Settings) -> None:
    scores = _score(settings, *QUIET, *WORK)
    assert min(scores[: len(QUIET)]) > max(scores[len(QUIET) :]), scores
    assert min(scores[: len(QUIET)]) > QUIET_FROM > min(scores), scores


def test_an_aside_is_quieter_than_a_question_about_what_was_settled(settings: Settings) -> None:
    scores = _score(settings, *ASIDES, *RECALLS)
    assert min(scores[: len(ASIDES)]) > max(scores[len(ASIDES) :]), scores


def test_what_needs_nothing_is_quieter_in_other_tongues_and_by_letters_alone(settings: Settings) -> None:
    for scores in (_score(settings, *THANKS, *ABROAD), [score_quietness(prompt) for prompt in (*THANKS, *ABROAD)]):
        assert min(scores[: len(THANKS)]) > QUIET_FROM > max(scores[len(THANKS) :]), scores


def test_of_a_model_that_was_not_learned_from_letters_alone_tell() -> None:
    vector = np.full(384, 384**-0.5, dtype=np.float32)
    assert score_quietness("ok", "another/384", vector) == score_quietness("ok") > QUIET_FROM
    assert discount_quiet(0.0) == discount_quiet(QUIET_FROM) == 0 < discount_quiet(0.9)


def test_in_letters_other_than_latin_ones_these_alone_tell(settings: Settings) -> None:
    scores = [score_quietness(prompt) for prompt in (*OTHER_TALK, *OTHER_WORK)]
    assert min(scores[: len(OTHER_TALK)]) > QUIET_FROM > max(scores[len(OTHER_TALK) :]), scores
    assert _score(settings, *OTHER_TALK, *OTHER_WORK) == scores


@pytest.mark.parametrize(
    "prompt", ["أصلح خطأ تسجيل الدخول", "תקן את שגיאת ההתחברות", "διόρθωσε το σφάλμα", "გაასწორე შეცდომა"]
)
def test_in_a_script_that_was_hardly_learned_no_prompt_is_quiet(settings: Settings, prompt: str) -> None:
    assert [score_quietness(prompt), *_score(settings, prompt)] == [0, 0]


def test_of_a_pasted_log_the_beginning_is_read() -> None:
    log = " ".join(f"{number:08x} worker {number} done" for number in range(60))
    assert len(log) > READ_CHARS
    assert read_letters(log + " merci beaucoup") == read_letters(log)


@given(st.text())
def test_any_text_has_letters_of_one_length_or_none(prompt: str) -> None:
    length = math.sqrt(sum(value * value for value in read_letters(prompt).values()))
    assert length == pytest.approx(LETTERS_LENGTH) or not prompt[:READ_CHARS].split()
    assert 0 <= score_quietness(prompt) <= 1
