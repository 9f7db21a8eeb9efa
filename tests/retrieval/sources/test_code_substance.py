"""Whether a piece of code does something or declares it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.retrieval.search import Searcher
from hyperloci.retrieval.sources.code_substance import (
    COMMENTED,
    LEAST_BRANCHING,
    find_substance_factors,
    weigh_substance,
)
from hyperloci.store import Store
from tests.retrieval.sources.test_source_factors import CODE, COMMIT, EVERYTHING, add_at
from tests.support import add, examples

DECIDES = "def wait(self):\n    if self.late:\n        return 0\n    for pause in self.pauses:\n        yield pause\n"
DECLARES = "class Retry:\n    limit = 3\n    pauses = (1, 2, 4)\n"


def test_code_that_decides_counts_in_full() -> None:
    assert weigh_substance(DECIDES) == 1.0


def test_code_that_only_declares_counts_less() -> None:
    assert weigh_substance(DECLARES) == pytest.approx(LEAST_BRANCHING)


def test_one_decision_counts_for_a_part() -> None:
    assert LEAST_BRANCHING < weigh_substance("def f(x):\n    return x\n") < 1.0


@pytest.mark.parametrize(
    "comment", ["// if it is late, return", "# if it is late, return", "/* if it is\nlate, return */"]
)
def test_what_a_comment_says_decides_nothing(comment: str) -> None:
    assert weigh_substance(comment) == pytest.approx(LEAST_BRANCHING * (1 - COMMENTED))


@pytest.mark.parametrize("quote", ['"', "'", "`"])
def test_what_a_string_says_decides_nothing(quote: str) -> None:
    assert weigh_substance(f"help = {quote}return if late, for a while{quote}") == pytest.approx(LEAST_BRANCHING)


def test_a_quote_that_begins_no_string_hides_no_code() -> None:
    assert weigh_substance("fn f<'a>(x: &'a str) {\n if x { match x { _ => return } }\n}") == 1.0


def test_a_private_field_is_no_comment() -> None:
    assert weigh_substance("async #retry(error) { if (error) { throw error; } return await this.#send(); }") == 1.0


def test_only_code_is_weighed_and_only_where_a_place_is_asked_for(store: Store) -> None:
    code, commit = add(store, DECLARES, **CODE), add(store, "Say how long the pause is", **COMMIT)
    nodes = store.nodes.get_candidates([code.key, commit.key])
    weighed = find_substance_factors("where is the pause worked out?", nodes)
    assert weighed == {code.key: pytest.approx(LEAST_BRANCHING)}
    assert find_substance_factors("how long is the pause by default?", nodes) == {}


def test_a_place_is_shown_by_what_does_it_before_what_describes_it(store: Store) -> None:
    described = add_at(store, "retry.py", f"# The pause between two attempts, worked out.\n{DECLARES}", **CODE)
    done = add_at(store, "wait.py", f"# The pause between two attempts, worked out.\n{DECIDES}", **CODE)
    found = Searcher(store, None).find("where is the pause between attempts worked out?", EVERYTHING, limit=5).nodes
    assert [node.key for node in found] == [done.key, described.key]
    found = Searcher(store, None).find("the pause between attempts", EVERYTHING, limit=5).nodes
    assert found[0].key == described.key


@settings(max_examples=examples(60))
@given(st.text(max_size=300))
def test_any_text_has_a_factor_of_at_most_one(text: str) -> None:
    assert LEAST_BRANCHING * (1 - COMMENTED) - 1e-9 <= weigh_substance(text) <= 1.0
