"""Which lines that the assistant wrote a figure of a statement came into."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.context.written_lines import find_written_line, list_written_lines
from hyperloci.conversations.consolidation.turn_view import ACTION, TurnView

EDIT = "Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 3` became `MAX_RETRIES = 5`"
HEALTH = 'Edit deploy/app.json: +1 -1 lines: `{"path": "/health", "every": 3}` became `{"path": "/health", "every": 5}`'


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("action", "lines"),
    [
        (EDIT, ["config.py: `MAX_RETRIES = 5`"]),
        (EDIT.replace("src/", "C:\\shop\\"), ["config.py: `MAX_RETRIES = 5`"]),
        ("Edit a.py: +2 -2 lines: `A = 1` became `A = 2`, `B = 4` became `B = 5`", ["a.py: `B = 5`"]),
        ("Write a.py: 12 lines: `A = 1` became `A = 5`, `B = 4` became `B = 5`", ["a.py: `A = 5`", "a.py: `B = 5`"]),
        (HEALTH, ['app.json: `{"path": "/health", "every": 5}`']),
        ("Edit k8s.yml: +1 -1 lines: `image: reg/test/app:1` became `image: reg/test/app:5`", [
            "k8s.yml: `image: reg/test/app:5`"
        ]),
        ("Edit tests/test_config.py: +1 -1 lines: `assert retries == 3` became `assert retries == 5`", []),
        ("Edit C:\\tests\\config.py: +1 -1 lines: `RETRIES = 3` became `RETRIES = 5`", []),
        ("Edit alarm.conf: +1 -1 lines: `pin=5678 retries=3` became `pin=5678 retries=5`", []),
        ("Edit a.py and 2 more: +3 -3 lines: `A = 1` became `A = 5`", []),
        ("Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 5` became `MAX_RETRIES = 6`", []),
        ("Edit src/config.py: +1 -1 lines", []),
        ("Bash: set-retries 5", []),
    ],
)  # fmt: skip
def test_the_lines_that_a_figure_came_into_are_told_with_their_file(action: str, lines: list[str]) -> None:
    assert list_written_lines(action, "make it 5") == lines


@pytest.mark.parametrize(
    ("said", "written", "is_told"),
    [("five minutes", "TTL = 300", True), ("one day", "SIZE = 24", False), ("a day, one day", "TTL = 86400", True)],
)
def test_a_figure_in_another_unit_is_told_from_where_it_is_no_chance(said: str, written: str, is_told: bool) -> None:
    edit = f"Edit a.py: +1 -1 lines: `{written.partition('=')[0]}= 7` became `{written}`"
    assert bool(list_written_lines(edit, said)) is is_told


EXCHANGE = "Edit slots.ts: +1 -1 lines: `HOLD_MIN = 5` became `HOLD_MIN = 8`"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ne, 5 is too stressful for older people, make it 8", "slots.ts: `HOLD_MIN = 8`"),
        ("five is too stressful for older people on the phone, make it eight", "slots.ts: `HOLD_MIN = 8`"),
        ("the hold of a slot is 8 from now on, 5 is too stressful for older people", None),
        ("older people on the phone get eight minutes from now on", None),
        ("`HOLD_MIN` 5 is too stressful for older people, make it 8", None),
    ],
)
def test_who_says_both_figures_means_the_line_in_which_one_became_the_other(said: str, told: str | None) -> None:
    found = find_written_line(said, [TurnView(1, ACTION, EXCHANGE)])
    assert (found and found[0]) == told
