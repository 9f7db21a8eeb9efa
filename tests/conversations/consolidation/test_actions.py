"""Actions: what edits changed and commands took away."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.actions import read_actions

EDIT = "Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 3` became `MAX_RETRIES = 5`"


@pytest.mark.req("B.17")
def test_an_edit_says_which_figures_went_and_came() -> None:
    (change,) = read_actions((EDIT,)).changes
    assert (set(change.gone), set(change.came)) == ({"3"}, {"5"})
    assert change.gone_words == change.came_words == frozenset()
    assert {"max", "retri", "confi"} <= change.words


def test_an_edit_says_which_words_went_and_came() -> None:
    (change,) = read_actions(("Edit ci.yml: +1 -1 lines: `image: kaniko` became `image: podman`",)).changes
    assert (set(change.gone_words), set(change.came_words)) == ({"kanik"}, {"podma"})


@pytest.mark.parametrize("command", ["npm uninstall moment", "git rm -q src/moment.ts", "helm uninstall moment -n x"])
def test_a_command_says_what_it_took_away(command: str) -> None:
    assert "momen" in read_actions((f"Bash: {command}",)).removed


@pytest.mark.parametrize("line", ["Bash: npm install moment", "Edit moment.ts: +0 -3 lines", "Plan: remove moment"])
def test_what_takes_nothing_away_removes_nothing(line: str) -> None:
    done = read_actions((line,))
    assert (done.changes, done.removed) == ((), frozenset())


def test_of_a_test_on_another_drive_no_figure_counts() -> None:
    edit = "Edit C:/shop/tests/test_config.py: +1 -1 lines: `assert retries == 3` became `assert retries == 5`"
    assert read_actions((edit,)).changes == ()
