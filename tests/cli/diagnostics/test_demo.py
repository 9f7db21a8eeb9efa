"""The demo, on a project that knows nothing of Hyperloci."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.cli.diagnostics import demo


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
