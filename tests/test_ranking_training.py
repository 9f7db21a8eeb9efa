"""Training of the ranking: two runs come to the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench._ranking_corpora import make_talks
from bench.quality import EvaluationCorpus
from bench.train_ranking import USED, MeasuredQuestion, fit_weights, measure_corpus
from hyperloci.retrieval.sources.content_kind import ContentKind

TURNS = 24
QUESTIONS = 4


def cut_talk() -> EvaluationCorpus:
    corpus = next(make_talks())
    documents = corpus.documents[:TURNS]
    known = {document.id for document in documents}
    asked = [question for question in corpus.questions if question.relevant <= known]
    return replace(corpus, documents=documents, questions=asked[:QUESTIONS], content_type="any")


def learn(folder: Path, *, as_facts: bool) -> tuple[list[MeasuredQuestion], bytes]:
    found = list(measure_corpus(cut_talk(), folder, as_facts=as_facts))
    return found, fit_weights(found, USED[ContentKind.SAID]).tobytes()


@pytest.mark.model
@pytest.mark.timeout(600)
def test_weights_learned_twice_from_the_same_texts_are_the_same_bytes(tmp_path: Path) -> None:
    first, first_weights = learn(tmp_path / "first", as_facts=True)
    second, second_weights = learn(tmp_path / "second", as_facts=True)
    assert [one.documents for one in first] == [one.documents for one in second]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.features, other.features)
    assert first_weights == second_weights
