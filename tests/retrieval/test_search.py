"""Searches with vectors, without, and with an encoder that fails."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.embedder.process.embedding_queue import read_encoder_inputs
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.model.search import SearchFilter, VectorCoverage
from hyperloci.retrieval.explanation import explain_scores
from hyperloci.retrieval.filters import Conditions, RelatedTo
from hyperloci.retrieval.search import LEAST_SCORE, MAX_QUERY_CHARS, Searcher
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.store import Store
from hyperloci.store.vectors.block_sizes import MAX_ATTEMPTS
from tests.support import NOW, FakeEncoder, add

EVERYTHING = Conditions(where=SearchFilter())


class Failing:
    """An encoder that always raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        raise self._error

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        raise self._error


def embed(store: Store, encoder: FakeEncoder, *nodes: Node) -> None:
    with store.transaction():
        model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        for node, made in zip(nodes, compute_fingerprints(read_encoder_inputs(store, nodes), encoder), strict=True):
            store.vectors.put_fingerprint(node.key, model, made.columns, now=NOW)


@pytest.mark.req("D.08", "B.06")
def test_meaning_finds_what_words_do_not(store: Store, encoder: FakeEncoder) -> None:
    wanted, other = add(store, "alpha beta"), add(store, "gamma delta")
    embed(store, encoder, wanted, other)

    found = Searcher(store, encoder).find("alpha beta", EVERYTHING, limit=5)

    assert found.mode == "hybrid" and found.degraded is None
    assert found.nodes[0].key == wanted.key
    assert found.scores[wanted.key].cosine == pytest.approx(1.0, abs=1e-5)
    explanation = explain_scores(found.scores[wanted.key], ["alpha"])
    assert {"e1", "e6"} <= set(explanation["embedder_scores"]["semantic"])


@pytest.mark.req("C.09", "W15")
def test_an_answer_tells_how_much_can_be_found_by_meaning(store: Store, encoder: FakeEncoder) -> None:
    nodes = [add(store, f"alpha {number}") for number in range(4)]
    searcher = Searcher(store, encoder)

    def reach() -> tuple[str, int, int, int]:
        found = searcher.find("alpha", EVERYTHING, limit=5)
        assert found.by_meaning is not None
        assert (found.degraded is None) is (found.by_meaning.waiting == 0)
        return found.mode, found.by_meaning.embedded, found.by_meaning.total, found.by_meaning.waiting

    assert reach() == ("keyword", 0, 4, 4)
    embed(store, encoder, nodes[0])
    assert reach() == ("hybrid", 1, 4, 3)
    with store.transaction():
        for _ in range(MAX_ATTEMPTS):
            store.vectors.note_failures([nodes[1].key], "too strange")
    assert reach() == ("hybrid", 1, 4, 2)
    embed(store, encoder, *nodes[2:])
    assert reach() == ("hybrid", 3, 4, 0)
    with store.transaction():
        store.nodes.delete_node(nodes[1].id, now=NOW)
    assert reach() == ("hybrid", 3, 3, 0)


@pytest.mark.req("C.09")
def test_what_can_be_found_by_meaning_is_counted_under_the_conditions(store: Store, encoder: FakeEncoder) -> None:
    fact = add(store, "alpha")
    add(store, "alpha code", type=NodeType.SNIPPET, subtype="code")
    embed(store, encoder, fact)
    searcher = Searcher(store, encoder)

    facts = searcher.find("alpha", Conditions(where=SearchFilter(types=("fact",))), limit=5)
    code = searcher.find("alpha", Conditions(where=SearchFilter(types=("snippet",))), limit=5)

    assert (facts.mode, facts.degraded) == ("hybrid", None)
    assert code.mode == "keyword" and code.degraded == "1 of 1 memories wait for their vectors"


@pytest.mark.req("D.13")
def test_what_another_model_saw_is_not_counted(store: Store, encoder: FakeEncoder) -> None:
    nodes = [add(store, f"alpha {number}") for number in range(3)]
    embed(store, encoder, *nodes)
    newer = FakeEncoder(model_id="newer")
    embed(store, newer, nodes[0])

    found = Searcher(store, newer).find("alpha", EVERYTHING, limit=5)

    assert found.by_meaning == VectorCoverage(embedded=1, total=3, waiting=2)


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        (VectorCoverage(embedded=3, total=3, waiting=0), None),
        (VectorCoverage(embedded=2, total=3, waiting=0), None),
        (VectorCoverage(embedded=0, total=0, waiting=0), None),
        (
            VectorCoverage(embedded=88, total=8_500, waiting=8_412, seconds_left=300),
            "1 % by meaning, the rest by words; 8,412 of 8,500 memories wait for their vectors, about 5 minutes",
        ),
        (
            VectorCoverage(embedded=8_499, total=8_500, waiting=1, seconds_left=0),
            "99 % by meaning, the rest by words; 1 of 8,500 memories wait for their vectors, about 1 s",
        ),
        (
            VectorCoverage(embedded=1, total=90_000, waiting=89_999, seconds_left=9_000),
            "1 % by meaning, the rest by words; 89,999 of 90,000 memories wait for their vectors, about 2 hours",
        ),
    ],
)
def test_the_share_is_said_in_words(reach: VectorCoverage, words: str | None) -> None:
    assert reach.describe_missing() == words


@pytest.mark.parametrize(("embedded", "percent"), [(0, 0), (1, 1), (500, 50), (999, 99), (1_000, 100)])
def test_all_is_said_only_where_nothing_is_missing(embedded: int, percent: int) -> None:
    assert VectorCoverage(embedded=embedded, total=1_000, waiting=0).percent == percent


@pytest.mark.req("E.06")
def test_meaning_alone_may_be_asked_for(store: Store, encoder: FakeEncoder) -> None:
    same_meaning, same_words = add(store, "alpha beta"), add(store, "alpha beta gamma")
    embed(store, encoder, same_meaning)

    found = Searcher(store, encoder).find("alpha beta", Conditions(where=SearchFilter(), strategy="e1_only"), limit=5)

    assert [node.key for node in found.nodes] == [same_meaning.key]
    assert found.scores[same_meaning.key].total == pytest.approx(1.0, abs=1e-5)
    assert same_words.key not in found.scores


@pytest.mark.req("C.09")
@pytest.mark.parametrize("error", [NotReadyError("the embedder is starting"), EmbedderError("it went away")])
def test_without_vectors_the_answer_says_so(store: Store, error: Exception) -> None:
    node = add(store, "alpha beta")

    found = Searcher(store, Failing(error)).find("alpha", EVERYTHING, limit=5)

    assert [hit.key for hit in found.nodes] == [node.key]
    assert (found.mode, found.degraded) == ("keyword", str(error))


@pytest.mark.req("D.13")
def test_vectors_of_another_model_are_not_compared(store: Store, encoder: FakeEncoder) -> None:
    node = add(store, "alpha beta")
    embed(store, encoder, node)

    found = Searcher(store, FakeEncoder(model_id="newer")).find("alpha beta", EVERYTHING, limit=5)

    assert found.scores[node.key].cosine is None
    assert "e6" in found.scores[node.key].spaces


def test_conditions_hold_for_both_kinds_of_candidates(store: Store, encoder: FakeEncoder) -> None:
    fact, decision = add(store, "alpha"), add(store, "alpha", type=NodeType.DECISION)
    embed(store, encoder, fact, decision)

    found = Searcher(store, encoder).find("alpha", Conditions(where=SearchFilter(types=("decision",))), limit=5)

    assert [node.key for node in found.nodes] == [decision.key]


@pytest.mark.req("D.02", "D.08")
def test_only_what_is_related_may_be_asked_for(store: Store) -> None:
    start, near, far = add(store, "alpha start"), add(store, "alpha near"), add(store, "alpha far")
    with store.transaction():
        store.edges.link_nodes("supports", start.key, [near.key], now=NOW)

    found = Searcher(store, None).find(
        "alpha", Conditions(where=SearchFilter(), related_to=RelatedTo(node_id=start.id)), limit=5
    )

    assert {node.key for node in found.nodes} == {near.key}
    assert far.key not in found.scores


def test_ties_go_to_the_older_memory_every_time(store: Store) -> None:
    nodes = [add(store, "same words", place=str(number)) for number in range(5)]

    orders = {
        tuple(node.key for node in Searcher(store, None).find("same", EVERYTHING, limit=5).nodes) for _ in range(3)
    }

    assert orders == {tuple(node.key for node in nodes)}


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_QUERY_CHARS + 1)])
def test_a_query_that_cannot_be_searched_is_refused(store: Store, text: str) -> None:
    with pytest.raises(BadRequestError, match="query"):
        Searcher(store, None).find(text, EVERYTHING, limit=5)


def test_an_unknown_strategy_is_refused_with_the_known_ones(store: Store) -> None:
    with pytest.raises(BadRequestError, match="e1_only"):
        Searcher(store, None).find("x", Conditions(where=SearchFilter(), strategy="magic"), limit=5)


@pytest.mark.req("E.06", "E.07")
def test_a_strategy_profile_or_space_of_the_documents_is_told_what_it_is_here(store: Store) -> None:
    find = Searcher(store, None).find
    with pytest.raises(BadRequestError, match="did you mean multi_space"):
        find("x", Conditions(where=SearchFilter(), strategy="MultiSpace"), limit=5)
    with pytest.raises(BadRequestError, match="'V_correctness' is the space e7"):
        find("x", Conditions(where=SearchFilter(), first_space="V_correctness"), limit=5)
    with pytest.raises(BadRequestError, match="profile=causal"):
        find("x", EVERYTHING, limit=5, profile="causal_reasoning")


@pytest.mark.parametrize("text", ['"', "a OR b", "NEAR(", "col:x", "*", "(", "a AND", "-x", "日本語", "\x00", "^x$"])
def test_no_query_is_a_syntax_error(store: Store, text: str) -> None:
    add(store, "a fact about x and 日本語")

    assert Searcher(store, None).find(text, EVERYTHING, limit=5).mode == "keyword"


def test_what_was_said_again_in_the_same_words_is_found_once(store: Store) -> None:
    again = [
        add(store, "Which port is it?", type=NodeType.EXPERIENCE, subtype="episode", place=f"s{n}:1") for n in "12"
    ]
    code = [add(store, "port = 8443", type=NodeType.SNIPPET, subtype="code", place=f"{n}.py:1") for n in "ab"]

    found = [node.key for node in Searcher(store, None).find("port", EVERYTHING, limit=3).nodes]

    assert found.count(again[0].key) + found.count(again[1].key) == 1
    assert {node.key for node in code} <= set(found), "equal code in two places is two places"


@pytest.mark.req("D.07")
def test_a_tag_that_no_memory_has_is_an_error_with_the_right_one(store: Store) -> None:
    add(store, "alpha")
    searcher = Searcher(store, None)
    with pytest.raises(BadRequestError, match=r"has 'secuirty', which no memory has: did you mean security\?"):
        searcher.find("alpha", Conditions(where=SearchFilter(domain_tags=("secuirty",))), limit=5)
    assert searcher.find("alpha", Conditions(where=SearchFilter(domain_tags=("security",))), limit=5).nodes == ()


@pytest.mark.req("E.01", "E.10")
def test_what_came_after_is_accounted_to_the_order_of_turns(store: Store) -> None:
    first, second = add(store, "the migration was started"), add(store, "lunch")
    with store.transaction():
        store.edges.link_nodes("follows", second.key, [first.key], now=NOW)
    found = Searcher(store, None).find(
        "what did we do after the migration?", Conditions(where=SearchFilter()), limit=5, explain=True
    )
    assert [node.key for node in found.nodes] == [first.key, second.key]
    assert set(found.scores[second.key].parts) == {"e4"}
    assert 0.0 < found.scores[second.key].spaces["e4"] < 1.0


def test_what_shares_a_common_word_alone_is_not_given(store: Store) -> None:
    others = [f"gateway {chr(97 + n // 26)}{chr(97 + n % 26)}word" for n in range(30)]
    for text in others:
        add(store, text)
    least = add(store, "gateway")
    question = " ".join(["gateway", *(text.split()[1] for text in others)])
    found = Searcher(store, None).find(question, Conditions(where=SearchFilter()), limit=50)
    assert len(found.nodes) == 30 and least.key not in found.scores
    assert min(scores.total for scores in found.scores.values()) >= LEAST_SCORE / 31


def _tell_shared_facts(store: Store) -> Node:
    """Tell facts that differ in a number, two by two, and one alone: its number stands in many other texts."""
    for number in range(10, 30, 2):
        for fact in (number, number + 1):
            add(store, f"Shared fact {fact} is stated by everybody.")
        for writer in range(5):
            add(store, f"zqwriter-2n{number}{writer}: the cache of the gateway takes 2 units.")
    return add(store, "Shared fact 2 is stated by everybody.")


def test_the_text_that_holds_a_query_word_for_word_comes_first(store: Store) -> None:
    wanted = _tell_shared_facts(store)
    found = Searcher(store, None).find(wanted.content, EVERYTHING, limit=10)
    assert found.nodes[0].key == wanted.key
    assert found.scores[wanted.key].spaces["e6"] == 1.0
    within = add(store, f"Note of the day: {wanted.content} Nobody else knows it.")
    found = Searcher(store, None).find(wanted.content, EVERYTHING, limit=10)
    assert {node.key for node in found.nodes[:2]} == {wanted.key, within.key}


def test_where_a_question_was_asked_before_is_no_perfect_answer_to_it(store: Store) -> None:
    asked = add(store, "Where does the importer keep its cursor between two batches?")
    found = Searcher(store, None).find(asked.content, EVERYTHING, limit=10)
    assert found.scores[asked.key].spaces["e6"] < 1.0
    short = add(store, "The importer keeps a cursor.")
    assert Searcher(store, None).find("importer keeps", EVERYTHING, limit=10).scores[short.key].spaces["e6"] < 1.0
