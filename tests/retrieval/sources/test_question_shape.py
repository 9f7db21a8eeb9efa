"""How a question about a project is asked."""

from __future__ import annotations

import pytest

from hyperloci.retrieval.sources.question_shape import QuestionShape, find_shape


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("where do we retry a failed upload?", QuestionShape.PLACE),
        ("Which function parses the header", QuestionShape.PLACE),
        ("how does the cache work", QuestionShape.PLACE),
        ("где разбирается заголовок", QuestionShape.PLACE),
        ("where is the class that fakes answers in tests?", QuestionShape.PLACE),
        ("what decides whether a file is skipped?", QuestionShape.PLACE),
        ("show me the code that parses headers", QuestionShape.PLACE),
        ("at what point do we flush the buffer?", QuestionShape.PLACE),
        ("why was the cache dropped?", QuestionShape.REASON),
        ("почему убрали кэш", QuestionShape.REASON),
        ("how do I turn the cache off?", QuestionShape.SETUP),
        ("what is the default port", QuestionShape.SETUP),
        ("how many redirects are allowed?", QuestionShape.SETUP),
        ("is there a limit on the size of uploads?", QuestionShape.SETUP),
        ("can the colours be turned off?", QuestionShape.SETUP),
        ("сколько попыток делается", QuestionShape.SETUP),
        ("which python versions does CI test?", QuestionShape.SETUP),
        ("как отключить кэш", QuestionShape.SETUP),
        ("is there a test for empty uploads?", QuestionShape.TESTS),
        ("which unit tests cover the parser", QuestionShape.TESTS),
        ("есть ли тест на пустой файл", QuestionShape.TESTS),
        ("upload fails when empty", QuestionShape.OPEN),
        ("what does npm test run", QuestionShape.OPEN),
    ],
)
def test_the_words_of_a_question_tell_its_shape(question: str, shape: QuestionShape) -> None:
    assert find_shape(question) is shape
