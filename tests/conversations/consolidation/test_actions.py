"""Actions: what edits changed and commands took away."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.actions import find_written_line, read_actions

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


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("action", "line"),
    [
        (EDIT, "config.py: `MAX_RETRIES = 5`"),
        (
            r"Edit C:\shop\config.py: +1 -1 lines: `MAX_RETRIES = 3` became `MAX_RETRIES = 5`",
            "config.py: `MAX_RETRIES = 5`",
        ),
        ("Edit a.py: +2 -2 lines: `A = 1` became `A = 2`, `B = 4` became `B = 5`", "a.py: `B = 5`"),
        ("Edit tests/test_config.py: +1 -1 lines: `assert retries == 3` became `assert retries == 5`", None),
        ("Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 5` became `MAX_RETRIES = 6`", None),
        ("Edit src/config.py: +1 -1 lines", None),
        ("Bash: set-retries 5", None),
    ],
)
def test_the_line_that_a_figure_came_into_is_told_with_its_file(action: str, line: str | None) -> None:
    assert find_written_line(action, {"5"}) == line
