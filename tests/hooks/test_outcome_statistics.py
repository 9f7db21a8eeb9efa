"""What became of hooks: counted in a file, and told in numbers and words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci_hooks import outcome_log
from hyperloci_hooks.outcome_statistics import DAYS, GONE_AFTER_MS, HookStatistics
from tests.support import NOW, examples


def tell(folder: Path, outcome: str, *, at: int = NOW, event: str = "Stop", took: float = 1.0, mark: str = "m") -> None:
    """Add a line as a hook of that moment would have."""
    with (folder / outcome_log.NAME).open("a", encoding="ascii") as file:
        file.write(f"{at} {event} {outcome} {took:.1f} {mark}\n")


def account(folder: Path) -> HookStatistics:
    return HookStatistics.read_log(str(folder), NOW)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_what_is_noted_is_read_back_in_its_order(tmp_path: Path) -> None:
    folder = str(tmp_path / "not" / "there" / "yet")
    outcome_log.append_outcome(folder, "Stop", outcome_log.SERVED, 12.34, "a1")
    outcome_log.append_outcome(folder, "", outcome_log.ASIDE, mark="")
    assert [line[1:] for line in outcome_log.read_lines(folder)] == [
        ["Stop", "served", "12.3", "a1"],
        ["-", "aside", "0.0", "-"],
    ]
    assert os.name != "posix" or (Path(folder) / outcome_log.NAME).stat().st_mode & 0o777 == 0o600


def test_a_log_that_is_full_becomes_the_older_one_and_the_oldest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcome_log, "MAX_BYTES", 1)
    folder = str(tmp_path)
    for mark in ("first", "second"):
        outcome_log.append_outcome(folder, "Stop", outcome_log.SERVED, mark=mark)
    monkeypatch.undo()
    outcome_log.append_outcome(folder, "Stop", outcome_log.SERVED, mark="third")
    assert [line[4] for line in outcome_log.read_lines(folder)] == ["second", "third"]


PARTS = (b"1800000000000", b"Stop", b"served", b"1.0", b"\0", b"\xff\xfe")


@settings(max_examples=examples(50))
@given(st.lists(st.sampled_from(PARTS), max_size=8).filter(lambda parts: len(parts) != 5).map(b" ".join))
def test_a_damaged_line_costs_itself_alone(tmp_path_factory: pytest.TempPathFactory, torn: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    tell(folder, outcome_log.SERVED, mark="before")
    with (folder / outcome_log.NAME).open("ab") as file:
        file.write(torn + b"\nwhen Stop served 1.0 m\n")
    tell(folder, outcome_log.SERVED, mark="after")
    assert [line[4] for line in outcome_log.read_lines(str(folder))] == ["before", "after"]


def test_where_nothing_can_be_written_nothing_is_counted_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome_log.append_outcome(str(tmp_path / "file"), "Stop", outcome_log.SERVED)
    assert outcome_log.read_lines(str(tmp_path / "file")) == []


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system can't refuse a link")
def test_a_link_in_place_of_the_log_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("as it was")
    (tmp_path / outcome_log.NAME).symlink_to(tmp_path / "precious")
    outcome_log.append_outcome(str(tmp_path), "Stop", outcome_log.SERVED)
    assert (tmp_path / "precious").read_text() == "as it was"


# -- the account -------------------------------------------------------------------------------------------------------


def test_of_nothing_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert account(tmp_path) == HookStatistics()
    assert account(tmp_path).as_dict() == {"last_7_days": {}, "ms_median_p95": {}, "problems": []}


def test_only_the_last_days_count(tmp_path: Path) -> None:
    tell(tmp_path, outcome_log.SERVED, at=NOW - DAYS * MS_PER_DAY - 1)
    tell(tmp_path, outcome_log.LATE, at=NOW - DAYS * MS_PER_DAY)
    assert account(tmp_path).outcomes == {"late": 1}


def test_a_hook_is_counted_once_though_a_process_of_its_own_saw_to_it(tmp_path: Path) -> None:
    tell(tmp_path, outcome_log.SERVED, mark="a")
    for outcome in (outcome_log.BEGAN, outcome_log.ENDED, outcome_log.OWN):
        tell(tmp_path, outcome, mark="b")
    for outcome in (outcome_log.BEGAN, outcome_log.LATE, outcome_log.SPOOLED):
        tell(tmp_path, outcome, mark="c")
    found = account(tmp_path)
    assert (found.event_count, found.under_way, found.lost) == (3, 0, 0)


@pytest.mark.parametrize("end", [outcome_log.ENDED, outcome_log.SPOOLED, outcome_log.DROPPED])
def test_an_event_is_under_way_until_its_own_process_says_how_it_ended(tmp_path: Path, end: str) -> None:
    for mark in ("a", "b"):
        tell(tmp_path, outcome_log.BEGAN, mark=mark)
    tell(tmp_path, end, mark="a")
    assert account(tmp_path).under_way == 1


def test_what_has_not_ended_after_a_quarter_of_an_hour_is_lost(tmp_path: Path) -> None:
    tell(tmp_path, outcome_log.BEGAN, at=NOW - GONE_AFTER_MS, mark="slow")
    tell(tmp_path, outcome_log.BEGAN, at=NOW - GONE_AFTER_MS - 1, mark="gone")
    found = account(tmp_path)
    assert (found.under_way, found.lost) == (2, 1)
    assert found.as_dict()["last_7_days"] == {"began": 2, "lost": 1}


def test_times_are_those_that_a_session_waited_by_event(tmp_path: Path) -> None:
    for took in range(100, 0, -1):
        tell(tmp_path, outcome_log.SERVED, took=took)
    tell(tmp_path, outcome_log.OWN, event="SessionEnd", took=300)
    tell(tmp_path, outcome_log.LATE, event="SessionEnd", took=1_000)
    tell(tmp_path, outcome_log.ENDED, took=99_999)
    tell(tmp_path, outcome_log.BEGAN, event="PreCompact", took=99_999)
    assert account(tmp_path).times == {"Stop": (51.0, 96.0), "SessionEnd": (1_000.0, 1_000.0)}


@pytest.mark.parametrize(
    ("outcomes", "message", "remedy"),
    [
        ([outcome_log.LATE, outcome_log.SERVED, outcome_log.OWN], "1 of 3 hooks", "keep a session open"),
        ([outcome_log.SPOOLED, outcome_log.SPOOLED], "2 records", "said of the database above"),
        ([outcome_log.DROPPED], "1 event of", "free memory and disk"),
    ],
)
def test_what_went_wrong_is_told_with_its_number_and_a_remedy(
    tmp_path: Path, outcomes: list[str], message: str, remedy: str
) -> None:
    for outcome in outcomes:
        tell(tmp_path, outcome)
    [(said, advice)] = account(tmp_path).list_problems()
    assert said.startswith(message) and f"last {DAYS} days" in said
    assert remedy in advice


def test_what_was_dropped_and_what_was_lost_is_one_sum(tmp_path: Path) -> None:
    tell(tmp_path, outcome_log.DROPPED, mark="a")
    tell(tmp_path, outcome_log.BEGAN, at=NOW - GONE_AFTER_MS - 1, mark="b")
    [(said, _)] = account(tmp_path).list_problems()
    assert said.startswith("2 events")


def test_hooks_that_did_their_work_are_no_worry(tmp_path: Path) -> None:
    for outcome in (outcome_log.SERVED, outcome_log.BEGAN, outcome_log.ENDED, outcome_log.OWN):
        tell(tmp_path, outcome)
    found = account(tmp_path)
    assert found.list_problems() == []
    assert json.loads(json.dumps(found.as_dict())) == {
        "last_7_days": {"served": 1, "began": 1, "ended": 1, "own": 1, "lost": 0},
        "ms_median_p95": {"Stop": [1.0, 1.0]},
        "problems": [],
    }
