from __future__ import annotations

import sys
from subprocess import run

import pytest

from hyperloci.text.sanitize.literals import LONG_TEXT, LiteralSet

FILLER = "nothing of it\n" * (LONG_TEXT // 10)


@pytest.mark.parametrize("filler", ["", FILLER], ids=["short", "long"])
def test_what_a_text_holds_is_found_whatever_its_length_and_the_kind_of_the_literal(filler: str) -> None:
    literals = LiteralSet(("key", "a.b", "ключ", "(", "ab", "abc"))

    for held in ({"key"}, {"ab"}, {"ab", "abc"}, {"ключ", "a.b"}, {"("}, set[str]()):
        text = "\ud800" + filler + " ".join(sorted(held)) + filler
        assert literals.find_in(text) == held
        assert literals.occur_in(text) is bool(held)
    assert literals.find_in(filler + "axb") == set()


def test_short_texts_do_not_load_the_engine() -> None:
    said = (
        "import sys\nfrom hyperloci.text.sanitize.sanitizer import sanitize\n"
        "sanitize('password: hunter2! for claude')\nprint('re2' in sys.modules)\n"
        "sanitize('nothing of it ' * 500)\nprint('re2' in sys.modules)"
    )
    shown = run([sys.executable, "-P", "-c", said], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.split() == ["False", "True"]
