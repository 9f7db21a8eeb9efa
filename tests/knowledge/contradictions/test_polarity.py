"""Which words of a sentence are denied (D.10)."""

from __future__ import annotations

import pytest

from hyperloci.knowledge.contradictions.claims import analyse_sentence


def denied(sentence: str) -> set[str]:
    """Return the topical words of a sentence that are denied."""
    read = analyse_sentence(sentence)
    return {read.words[place].lower for place in read.denied if read.words[place].topical}


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Feature flags are not used", {"feature", "flags"}),
        ("The parser no longer supports YAML", {"parser", "supports", "yaml"}),
        ("The cache isn't shared", {"cache", "shared"}),
        ("Avoid global state", {"global", "state"}),
        ("Stop using moment.js", {"stop", "moment.js"}),
        ("The client fails to retry requests", {"client", "fails", "retry", "requests"}),
        ("The lint job failed", set()),
        ("Use uv instead of pip", {"pip"}),
        ("Use httpx rather than requests in tests", {"requests"}),
        ("Prefer tabs over spaces", {"spaces"}),
        ("Prefer tabs to spaces", {"spaces"}),
        ("I prefer to write tests", set()),
        ("We switched from npm to pnpm", {"npm"}),
        ("The build works without Docker on Linux", {"docker"}),
        ("The build does not work without Docker", {"build", "work"}),
        ("The kitten is not sleeping and is drinking milk", {"kitten", "sleeping"}),
        ("It is not uncommon for the job to fail", set()),
        ("We use not only Redis but also Postgres", set()),
        ("I'm not sure whether the cache is shared", set()),
        ("If the key is not set the login fails", set()),
        ("Nobody reviews the scripts", {"reviews", "scripts"}),
        ("Deploy on Mondays, not on Fridays", {"fridays"}),
    ],
)
def test_a_denial_reaches_as_far_as_its_clause_or_phrase(sentence: str, expected: set[str]) -> None:
    assert denied(sentence) == expected


def test_the_word_that_denies_is_kept_for_the_reason() -> None:
    assert [clause.cue for clause in analyse_sentence("Use uv instead of pip").clauses if clause.negated] == [
        "instead of"
    ]


@pytest.mark.parametrize(
    ("sentence", "sweeping"),
    [
        ("I have never used Flask", True),
        ("never having used Flask", True),
        ("Never push to main", False),
        ("I do not use Flask", False),
    ],
)
def test_only_never_about_the_past_denies_every_instance(sentence: str, sweeping: bool) -> None:
    assert any(clause.sweeping for clause in analyse_sentence(sentence).clauses) is sweeping
