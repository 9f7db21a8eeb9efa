"""A table of weights says what the dicts it was made of say."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.weights import find_heaviest
from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.conversations.consolidation.statement_scorer import load_weights
from hyperloci.knowledge.weight_table import WeightTable
from tests.support import examples

NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\n\r"), max_size=6)
COLUMNS = st.dictionaries(
    NAMES,
    st.dictionaries(NAMES, st.floats(-1e6, 1e6), max_size=30),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(80))
@given(COLUMNS, st.lists(NAMES, max_size=8))
def test_sums_are_those_of_dicts_to_the_bit(columns: Mapping[str, Mapping[str, float]], unknown: list[str]) -> None:
    table = WeightTable.of_columns(columns)
    names = [*dict.fromkeys(name for weights in columns.values() for name in weights), *unknown]
    for asked in (names, names[::2], unknown, []):
        expected = [math.fsum(weights.get(name, 0.0) for name in asked) for weights in columns.values()]
        assert table.add_weights(asked) == expected


@settings(max_examples=examples(40))
@given(COLUMNS)
def test_a_table_lists_what_it_was_made_of_and_is_read_from_its_bytes(
    columns: Mapping[str, Mapping[str, float]],
) -> None:
    table = WeightTable(WeightTable.of_columns(columns).packed)
    rows = {
        name: tuple(weights.get(name, 0.0) for weights in columns.values()) for name in set().union(*columns.values())
    }
    assert table.columns == tuple(columns)
    assert dict(table.list_rows()) == rows


def test_the_bytes_are_the_same_in_whichever_order_features_come() -> None:
    weights = {f"w:{number}": number / 100 for number in range(200)}
    mixed = dict(random.Random(3).sample(list(weights.items()), len(weights)))
    assert WeightTable.of_columns({"worth": mixed}).packed == WeightTable.of_columns({"worth": weights}).packed


def test_a_part_of_a_name_and_a_name_in_a_weight_are_not_found() -> None:
    table = WeightTable.of_columns({"one": {"w:port": 1.0, "b:the port": 2.0}, "two": {"w:port": 3.0}})
    assert [table.add_weights([name]) for name in ("port", "w:por", "w:ports", "1.0", "one")] == [[0.0, 0.0]] * 5


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb"])
def test_a_name_that_would_break_the_lines_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="tab or a line break"):
        WeightTable.of_columns({"worth": {name: 1.0}})
    with pytest.raises(ValueError, match="tab or a line break"):
        WeightTable.of_columns({name: {"w:port": 1.0}})


def test_a_file_with_other_ends_of_lines_has_the_same_weights() -> None:
    columns = {"worth": {"": -1.0, "w:port": 1.0, "w:tabs": 0.5}}
    table = WeightTable(WeightTable.of_columns(columns).packed.replace(b"\n", b"\r\n"))
    assert table.columns == ("worth",)
    assert list(table.add_weights(["", "w:port"])) == [0.0]


def test_a_name_that_is_no_valid_text_has_no_weight() -> None:
    table = WeightTable.of_columns({"worth": {"w:port": 1.0}})
    assert list(table.add_weights(["w:port", "w:\ud800"])) == [1.0]


@pytest.mark.req("B.17")
def test_the_statement_scorer_has_a_column_for_each_kind_it_tells() -> None:
    model = load_weights()
    assert model.worth.columns == ("user", "assistant")
    assert set(model.kinds.columns) < set(FindingKind)
    for table in (model.worth, model.kinds):
        assert any(table.add_weights([""])), "no intercept"


def test_the_heaviest_weights_are_printed_first() -> None:
    table = WeightTable.of_columns({"worth": {"w:never": 1.5, "^`": -2.0, "w:the": 0.1}})
    assert find_heaviest(table, "worth", top=2) == [("^`", -2.0), ("w:never", 1.5)]
    assert find_heaviest(table, "worth", top=9, holding="w:") == [("w:never", 1.5), ("w:the", 0.1)]
