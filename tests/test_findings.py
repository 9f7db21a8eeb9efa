"""Every finding on finding (F1 to F14, docs/benchmarks/questions.md) is kept mended by a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| (F\d+) \| (`tests/.+`) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_finding_names_tests_that_there_are() -> None:
    rows = dict(ROW.findall((ROOT / "docs" / "benchmarks" / "questions.md").read_text(encoding="utf-8")))

    assert list(rows) == [f"F{number}" for number in range(1, 15)]
    named = [(finding, *test) for finding, tests in rows.items() for test in TEST.findall(tests)]
    assert {finding for finding, _, _ in named} == set(rows)
    lost = [test for _, path, test in named if f"def {test}(" not in (ROOT / path).read_text(encoding="utf-8")]
    assert lost == []
