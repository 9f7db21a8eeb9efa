"""Action features: what was done right after a new statement, beside an older one."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.replacement.action_features import add_actions
from hyperloci.conversations.consolidation.replacement.features import ComparedStatement, WordRarity

OLD = "log people out after twenty minutes without activity"
OTHER = "the export runs at night"


def features_of(new: str, *done: str, living: tuple[str, ...] = (OLD, OTHER)) -> list[dict[str, float]]:
    statements = [ComparedStatement(text) for text in living]
    rows: list[dict[str, float]] = [{} for _ in statements]
    add_actions(rows, ComparedStatement(new), statements, WordRarity.of(statements), done)
    return rows


@pytest.mark.req("B.17")
def test_an_edit_that_takes_out_what_an_older_statement_names_tells_that_it_ends() -> None:
    old, other = features_of("let us put 45", "Edit .env.example: +1 -1 lines: `LIFETIME=20` became `LIFETIME=45`")
    assert old["done swap"] == old["done gone"] == old["done gone alone"] == old["done gone best"] == 1.0
    assert "done gone" not in other


def test_an_edit_in_another_unit_tells_it_too() -> None:
    old, _ = features_of("let us put 45 minutes", "Edit a.py: +1 -1 lines: `MAX_IDLE = 1200` became `MAX_IDLE = 2700`")
    assert old["done swap"] == 1.0


def test_an_edit_that_the_new_statement_does_not_name_tells_less() -> None:
    old, _ = features_of("the tests are slow", "Edit a.py: +1 -1 lines: `MAX_IDLE = 20` became `MAX_IDLE = 45`")
    assert old["done gone"] == 1.0
    assert "done swap" not in old


def test_what_several_name_is_told_of_each_a_part() -> None:
    edit = "Edit a.py: +1 -1 lines: `MAX = 20` became `MAX = 45`"
    rows = features_of("make it 45", edit, living=(OLD, "twenty rows a page"))
    assert [row["done gone alone"] for row in rows] == [0.5, 0.5]
    assert sum(row.get("done gone best", 0.0) for row in rows) == 1.0


def test_a_figure_that_stays_is_not_gone() -> None:
    edit = "Edit a.py: +1 -1 lines: `MAX = 20, MIN = 5` became `MAX = 20, MIN = 6`"
    assert not any("done gone" in row for row in features_of("six then", edit))


def test_a_word_that_an_edit_takes_out_tells_by_how_rare_it_is() -> None:
    edit = "Edit ci.yml: +1 -1 lines: `image: kaniko` became `image: podman`"
    old, other = features_of("podman from now on", edit, living=("images are built with kaniko", OTHER))
    assert old["done swap word"] > 0.0
    assert "done gone word" not in other


def test_what_a_command_takes_away_is_told_of_what_names_it() -> None:
    old, other = features_of("rip that toy out", "Bash: helm uninstall keda -n keda", living=("put KEDA in", OTHER))
    assert old["done removed"] > 0.0
    assert "done removed" not in other


def test_where_nothing_was_changed_nothing_is_told() -> None:
    assert features_of("make it 45", "Bash: make test", "Read: a.py") == [{}, {}]
