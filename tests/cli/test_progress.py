"""What a long command says while it works, where there is no terminal."""

from __future__ import annotations

import pytest

from hyperloci.cli import progress
from hyperloci.cli.progress import StepDisplay
from hyperloci.model.answers import CommitCounts


def test_a_line_that_was_just_said_is_not_said_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with StepDisplay(quiet=False) as display:
        for step in (0, 0, 0, 1, 1, 0):
            display.show_step(step, 14, "embedding")
    said = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert said == ["0 of 14  embedding", "1 of 14  embedding", "0 of 14  embedding"]


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (CommitCounts(stored=0, waiting=0, older=0), "no commits"),
        (CommitCounts(stored=1, waiting=0, older=0), "its only commit"),
        (CommitCounts(stored=1, waiting=0, older=8), "the newest commit; 8 older ones are left out (history_commits)"),
        (CommitCounts(stored=2, waiting=0, older=0), "all of 2 commits"),
        (CommitCounts(stored=1, waiting=1, older=0), "1 of 2 commits, newest first"),
        (CommitCounts(stored=0, waiting=0, older=0, is_known=False), "not checked yet"),
        (CommitCounts(stored=2, waiting=0, older=0, is_known=False), "2 commits; the repository is not checked yet"),
    ],
)
def test_history_is_told_in_the_number_that_it_has(counts: CommitCounts, told: str) -> None:
    assert counts.describe_progress() == told
