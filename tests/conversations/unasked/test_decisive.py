"""Decisive memories: what is weighed, and that more of it never weighs less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hyperloci.conversations.unasked.activities import find_asked_activities, find_told_activities
from hyperloci.conversations.unasked.decisive import (
    MemoryCandidate,
    MemoryProfile,
    TermRarity,
    profile_memory,
    profile_prompt,
    score_candidates,
)
from hyperloci.conversations.unasked.prompt_terms import analyse_terms
from hyperloci.store.keywords.analysis import analyse_text


def score(prompt: str, *candidates: MemoryCandidate) -> list[float]:
    profile = profile_prompt(prompt)
    assert profile is not None
    return score_candidates(profile, candidates)


def candidate(text: str, kind: str = "constraint", *, cosine: float | None = None) -> MemoryCandidate:
    return MemoryCandidate(profile_text(kind, text), cosine)


def profile_text(kind: str, text: str) -> MemoryProfile:
    return profile_memory(kind, " ".join(analyse_text(text)))


def test_a_version_in_a_request_is_about_a_release() -> None:
    assert "release" in find_asked_activities("cut 4.12.1", analyse_terms("cut 4.12.1"))
    assert "release" not in find_asked_activities("mix 4 apples", analyse_terms("mix 4 apples"))


def test_inflected_words_of_other_letters_meet() -> None:
    assert find_told_activities(analyse_terms("никаких новых зависимостей")) == {"dependency"}


def test_a_memory_of_the_same_activity_decides_more_than_another() -> None:
    same, other = score(
        "add a column to the orders table", candidate("Migrations stay compatible"), candidate("Buttons are round")
    )
    assert same > 0 > other


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    memories = [profile_text("decision", f"parcel {word}") for word in ("lion", "wolf", "bear", "lynx")]
    rarity = TermRarity(memories)
    assert rarity.sum_terms({"lion"}) > rarity.sum_terms({"parcel"})


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_nearer_memory_never_decides_less(one: float, other: float) -> None:
    near, far = max(one, other), min(one, other)
    for prompt in ("deploy the orders service", "what does the orders service do"):
        best, worst = score(
            prompt, candidate("The orders are signed", cosine=near), candidate("The orders are signed", cosine=far)
        )
        assert best >= worst
