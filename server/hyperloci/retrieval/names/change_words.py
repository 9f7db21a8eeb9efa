"""Change words: a question for a reason and a commit's subject call one change by other words.

Who asks why something was thrown out wants the commit that says "remove", "drop" or "replace". The groups are data
(`retrieval/data/change_words.toml`), in English, Russian and German.
"""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from hyperloci.store.keywords.analysis import analyse_text

_FILE: Final = Path(__file__).parent.parent / "data" / "change_words.toml"


@functools.cache
def _load_groups() -> tuple[tuple[tuple[re.Pattern[str], ...], frozenset[str]], ...]:
    groups: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(
        (
            tuple(re.compile(rule, re.IGNORECASE) for rule in group["asked"]),
            frozenset(term for word in group["told"] for term in analyse_text(word)),
        )
        for group in groups.values()
    )


def find_change_terms(query: str) -> frozenset[str]:
    """Return the terms by which the subjects of commits tell of the change that a question asks about."""
    found = (told for asked, told in _load_groups() if any(rule.search(query) for rule in asked))
    return frozenset().union(*found)


def tells_of_change(subject: str, terms: frozenset[str]) -> bool:
    """Return whether a commit's subject has one of these terms."""
    return not terms.isdisjoint(analyse_text(subject))
