"""A memory in all spaces at once, a question in all spaces at once, and the scores of one against the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hyperloci.spaces.encoder import EncodeRequest, MultiSpaceEncoder
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.profile_encoder import ProfileEncoder, get_multi_space_encoder
from hyperloci.spaces.query import QueryFingerprint, fingerprint_query
from hyperloci.spaces.space import SPACES
from hyperloci.spaces.space_similarity import CAUSAL_WEIGHTS, score_space
from hyperloci.spaces.views import EncoderInput
from hyperloci.store.vectors import float16, int8
from tests.support import FakeEncoder, packing_error, vector_of

Matrix = NDArray[np.float32]


class Seeing(FakeEncoder):
    """Gives vectors and token states in one pass, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(dimensions=64, model_id="seeing")
        self.calls: list[list[str]] = []

    def encode_tokens(self, texts: Sequence[str]) -> list[Matrix]:
        return [np.stack([vector_of(word, 64) for word in text.split()]) for text in texts]

    def encode_both(self, texts: Sequence[str], whole: Collection[int]) -> tuple[Matrix, dict[int, Matrix]]:
        self.calls.append(list(texts))
        shown = sorted(whole)
        return self.encode(texts), dict(zip(shown, self.encode_tokens([texts[at] for at in shown]), strict=True))


FULL = (
    "We want to keep `deploy_all` fast because k8s was slow.\n"
    "```python\ndef deploy_all(cluster):\n    return apply_manifest(cluster)\n```\nSee docs/deploy.md."
)


@pytest.mark.req("E.01")
def test_all_views_of_a_batch_go_through_the_model_in_one_call_and_equal_texts_once() -> None:
    encoder = Seeing()
    made = compute_fingerprints(
        [EncoderInput(content=FULL), EncoderInput(content="plain words"), EncoderInput(content=FULL)], encoder
    )
    assert len(encoder.calls) == 1
    assert len(encoder.calls[0]) == len(set(encoder.calls[0]))
    assert made[0] == made[2] != made[1]


@pytest.mark.req("E.01")
def test_absent_is_a_value() -> None:
    full, plain = compute_fingerprints([EncoderInput(content=FULL), EncoderInput(content="plain words here")], Seeing())
    assert set(full.columns) == {"e1", "e5_cause", "e5_effect", "e7", "e8_out", "e9", "e10", "e11", "e12"}
    assert set(plain.columns) == {"e1", "e9", "e12"}
    assert {"plain", "word"} == plain.terms.keys()


@pytest.mark.req("E.01")
def test_if_one_view_cannot_be_seen_nothing_is_made() -> None:
    class Choosy(Seeing):
        def encode(self, texts: Sequence[str]) -> Matrix:
            if any(text == "k8s was slow" for text in texts):
                raise ValueError("indigestible")
            return super().encode(texts)

    with pytest.raises(ValueError, match="indigestible"):
        compute_fingerprints([EncoderInput(content="fine"), EncoderInput(content=FULL)], Choosy())


def test_a_fingerprint_is_the_same_every_time() -> None:
    assert compute_fingerprints([EncoderInput(content=FULL)], Seeing()) == compute_fingerprints(
        [EncoderInput(content=FULL)], Seeing()
    )


def test_a_model_without_token_states_leaves_them_out() -> None:
    encoder = FakeEncoder(dimensions=64)
    (made,) = compute_fingerprints([EncoderInput(content="plain words")], encoder)
    assert set(made.columns) == {"e1", "e9"}
    assert fingerprint_query("plain", encoder).tokens is None


@pytest.mark.req("E.12")
def test_aliases_of_one_entity_look_the_same() -> None:
    one, other = compute_fingerprints(
        [EncoderInput(content="it runs on k8s"), EncoderInput(content="it runs on Kubernetes")], Seeing()
    )
    assert one.columns["e11"] == other.columns["e11"]
    asked = fingerprint_query("what uses kube-system k8s?", Seeing(), entities=["K8S"])
    assert score_space("e11", asked, [[one.columns["e11"]]])[0] == pytest.approx(1, abs=0.01)


def rows_of(space: str, *memories: str) -> list[list[bytes | None]]:
    made = compute_fingerprints([EncoderInput(content=memory) for memory in memories], Seeing())
    return [[one.columns.get(column) for column in SPACES[space].columns] for one in made]


def asked(text: str) -> QueryFingerprint:
    return fingerprint_query(text, Seeing())


CAUSAL = ("alpha beta failed because gamma delta broke", "gamma delta broke because alpha beta failed", "no cause here")


@pytest.mark.req("E.05")
def test_cause_and_effect_are_never_mistaken_for_each_other() -> None:
    rows = rows_of("e5", *CAUSAL)
    why = score_space("e5", asked("why alpha beta failed"), rows)
    then = score_space("e5", asked("what happens if alpha beta failed"), rows)
    assert why[0] == pytest.approx(CAUSAL_WEIGHTS["e5_effect"], abs=0.01) and why[1] < 0.4
    assert then[1] == 1.0 and then[0] < 0.6
    assert np.isnan([why[2], then[2]]).all()


@pytest.mark.req("E.05")
def test_what_refers_to_a_thing_and_what_defines_it_are_told_apart() -> None:
    rows = rows_of("e8", "it needs `parse_config`", "`parse_config` is the reader of settings")
    users = score_space("e8", asked("what calls parse_config?"), rows)
    home = score_space("e8", asked("where is parse_config defined?"), rows)
    assert users[0] > 0.9 and np.isnan(home[0]) and home[1] > 0.9


def test_a_question_without_direction_has_nothing_to_say_in_directed_spaces() -> None:
    assert np.isnan(score_space("e5", asked("how is alpha"), rows_of("e5", *CAUSAL))).all()
    assert np.isnan(score_space("e8", asked("how is alpha"), rows_of("e8", "it needs `parse_config`"))).all()


@pytest.mark.parametrize("space", [name for name, space in SPACES.items() if space.columns])
def test_a_memory_is_scored_between_nothing_and_one_in_every_space(space: str) -> None:
    found = score_space(space, asked(FULL), rows_of(space, FULL, "plain words"))
    kept = found[~np.isnan(found)]
    assert ((kept >= 0) & (kept <= 1)).all()
    if space not in ("e8", "e7"):
        assert found[0] > 0.6


def test_the_scores_of_stored_bytes_are_the_cosines_of_the_vectors() -> None:
    memory, question = vector_of("memory", 64), vector_of("memory question", 64)
    query = QueryFingerprint(model_id="m", dense={"e10": question, "e1": question})
    exact = max(0.0, float(memory @ question))
    assert score_space("e1", query, [[float16.pack_half(memory)]])[0] == pytest.approx(exact, abs=1e-4)
    assert abs(score_space("e10", query, [[int8.pack_int8(memory)]])[0] - exact) <= packing_error(memory)


def test_vectors_of_another_length_are_absent() -> None:
    query = QueryFingerprint(model_id="m", dense={"e10": vector_of("x", 64)}, bits=bytes(128))
    assert np.isnan(score_space("e10", query, [[bytes(32)], [None]])).all()
    assert np.isnan(score_space("e9", query, [[bytes(5)], [None]])).all()
    assert np.isnan(score_space("e12", query, [[bytes(24)]])).all()


@pytest.mark.parametrize("space", ["e2", "e6", "e13"])
def test_spaces_without_a_column_are_scored_elsewhere(space: str) -> None:
    with pytest.raises(ValueError, match="not scored from stored rows"):
        score_space(space, asked("x y"), [[None]])


def test_models_of_ones_own_see_their_spaces_and_the_foundation_the_rest() -> None:
    foundation, other = Seeing(), FakeEncoder(dimensions=16, model_id="other")
    eyes = ProfileEncoder(foundation, others={"e10": other})
    assert isinstance(eyes, MultiSpaceEncoder) and get_multi_space_encoder(eyes) is eyes
    (seen,) = eyes.encode_requests([EncodeRequest(text="a text", spaces=("e1", "e10", "e12"))])
    assert [seen[space].shape for space in ("e1", "e10", "e12")] == [(64,), (16,), (2, 64)]
    with pytest.raises(ValueError, match="no token states"):
        ProfileEncoder(other).encode_tokens(["x"])


def test_the_vectors_of_names_are_kept_from_one_batch_to_the_next() -> None:
    encoder = Seeing()
    eyes = ProfileEncoder(encoder)
    first = compute_fingerprints([EncoderInput(content="it needs `parse_config`")], eyes)
    again = compute_fingerprints([EncoderInput(content="it needs `parse_config`")], eyes)
    assert first == again
    assert "parse_config" in encoder.calls[0] and "parse_config" not in encoder.calls[1]


@pytest.mark.req("E.01")
def test_a_memory_that_is_nothing_but_a_name_seen_before_has_all_of_its_spaces() -> None:
    eyes = ProfileEncoder(Seeing())
    compute_fingerprints([EncoderInput(content="Started by `deploy_all` again.")], eyes)

    (made,) = compute_fingerprints([EncoderInput(content="deploy_all")], eyes)

    assert made == compute_fingerprints([EncoderInput(content="deploy_all")], Seeing())[0]


def test_a_mistyped_word_is_found_better_by_votes_than_by_signs_alone() -> None:
    rows = rows_of("e9", *(f"notes on {word} and how it is used in the service at night" for word in WORDS))
    voted = asked("kubernets")
    signed = QueryFingerprint(model_id="seeing", bits=voted.bits)
    with_votes, without = score_space("e9", voted, rows), score_space("e9", signed, rows)
    assert with_votes.argmax() == WORDS.index("kubernetes")
    assert with_votes[0] - np.sort(with_votes)[-2] > without[0] - np.sort(without[1:])[-1]


WORDS = ("kubernetes", "postgres", "elasticsearch", "terraform", "prometheus", "cucumber", "lockfile", "typescript")


def test_a_memory_that_is_nothing_but_a_name_seen_before_has_every_space() -> None:
    eyes = ProfileEncoder(Seeing())
    compute_fingerprints([EncoderInput(content="it needs `parse_config`")], eyes)
    (made,) = compute_fingerprints([EncoderInput(content="parse_config")], eyes)
    assert {"e1", "e9", "e12"} <= made.columns.keys()
