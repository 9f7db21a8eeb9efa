"""The demo, on a project that knows nothing of Hyperloci."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from hyperloci.cli.diagnostics import demo
from hyperloci.clock import system_clock
from hyperloci.facts.sharing.shared_folder import FOLDER
from hyperloci.facts.sharing.shared_version import SharedVersion


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize("is_empty", [False, True], ids=["some code", "nothing"])
def test_the_story_is_told_on_a_strangers_project(
    project: Path, is_empty: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_empty:
        (project / "prices.py").write_text("def round_half_up(amount):\n    return int(amount + 0.5)\n")

    assert demo.run_demo(project), capsys.readouterr().out
    told = capsys.readouterr().out
    assert ("searched: round half up" in told) is not is_empty
    assert "All of it was remembered" in told and "FAILED" not in told
    assert max(map(len, told.splitlines())) <= demo.WIDTH
    before, after = (part.split("ok ")[0] for part in told.split("reads first")[1:])
    assert "use SQLite" in before and "use SQLite" not in after


def test_what_a_project_shares_does_not_reach_the_story(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        "We decided to use SQLite for the invoices, because the accountants open it.",
        "We decided to use MySQL for the invoices of the accountants abroad.",
    ]
    told = [
        SharedVersion(
            id=str(uuid.uuid4()), author="Eve <eve@example.com>", at=system_clock(), kind="decision", text=text
        )
        for text in texts
    ]
    (project / FOLDER).mkdir(parents=True)
    (project / FOLDER / "joined.jsonl").write_text("".join(f"{version.to_line()}\n" for version in told))

    assert demo.run_demo(project), capsys.readouterr().out
    assert "accountants" not in capsys.readouterr().out
