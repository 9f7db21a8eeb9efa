"""The list of requirements, and the report on who tests them."""

from __future__ import annotations

import pytest

from tests import requirements_report as report

SECTIONS = {"SPEC-02": 38, "B": 20, "C": 10, "D": 13, "E": 17}
WILD = 17


def test_every_requirement_is_listed_once_and_in_order() -> None:
    expected = [f"{section}.{number:02}" for section, count in SECTIONS.items() for number in range(1, count + 1)]
    expected += [f"W{number}" for number in range(1, WILD + 1)]
    assert list(report.listed()) == expected
    text = report.REQUIREMENTS.read_text(encoding="utf-8")
    assert [text.count(f"- {requirement} ") for requirement in expected] == [1] * len(expected)


def test_no_test_names_a_requirement_that_is_none() -> None:
    assert sorted(set(report.named()) - set(report.listed())) == []


def test_the_report_lists_what_is_missing_and_what_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "listed", lambda: {"D.01": "Places.", "D.02": "Relations."})
    monkeypatch.setattr(report, "named", lambda: {"D.01": ["a.py"], "Z.01": ["b.py", "c.py"]})
    assert report.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "D.02 Relations.",
        "Z.01 is no requirement: b.py, c.py",
        "1 of 2 requirements have a test.",
    ]
    monkeypatch.setattr(report, "named", lambda: {"D.01": ["a.py"], "D.02": ["a.py"]})
    assert report.main() == 0
