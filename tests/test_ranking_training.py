"""Training of the ranking: two runs come to the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench._ranking_corpora import DATA, LATER_TALKS, TALKS, make_talks
from bench.quality import EvaluationCorpus, EvaluationQuestion
from bench.train_ranking import USED, MeasuredQuestion, evaluate_weights, fit_weights, measure_corpus
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


def test_every_question_is_asked_once_of_the_talks_that_hold_its_answers() -> None:
    corpora = [*make_talks(), *make_talks(LATER_TALKS, "later")]

    rows = (DATA / "ranking_questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum(len(corpus.questions) for corpus in corpora) == len(rows) == len(set(rows))
    for corpus in corpora:
        known = {document.id for document in corpus.documents}
        assert all(question.relevant and question.relevant <= known for question in corpus.questions)


def test_no_project_is_both_learned_from_and_measured_with() -> None:
    learned = {project for group in TALKS for project in group}
    measured = [project for group in LATER_TALKS for project in group]

    assert learned.isdisjoint(measured)
    assert len(measured) == len(set(measured))


def test_an_order_by_weights_is_measured_beside_the_rule() -> None:
    question = MeasuredQuestion(
        fold="a",
        features=np.array([[0.0, 1.0], [1.0, 0.0]]),
        documents=("wrong", "right"),
        question=EvaluationQuestion("q", frozenset({"right"})),
        totals=np.array([2.0, 1.0]),
    )

    rule, learned = evaluate_weights([question], np.array([1.0, 0.0]))

    assert (rule[0, 0], learned[0, 0]) == (0.0, 1.0)


@pytest.mark.model
@pytest.mark.timeout(600)
def test_weights_learned_twice_from_the_same_texts_are_the_same_bytes(tmp_path: Path) -> None:
    first, first_weights = learn(tmp_path / "first", as_facts=True)
    second, second_weights = learn(tmp_path / "second", as_facts=True)
    assert [one.documents for one in first] == [one.documents for one in second]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.features, other.features)
    assert first_weights == second_weights
