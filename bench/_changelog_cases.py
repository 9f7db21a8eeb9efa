"""Cases of `bench questions --changelog N`: entries of a changelog, asked as reasons, whose answer is their commit.

An entry that names a number (`(#1234)`, `[BUG #3212](...)`) is answered by the commits whose message names it too. They
are many, and none of them is worded after a question in `bench/data/questions`.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench._question_cases import QuestionCase, RepositoryCases

SEED: Final = 3

MIN_CHARS: Final = 15
"""Of an entry without its numbers: a shorter one says nothing to look for."""

_ITEM: Final = re.compile(r"^[ \t]*[*-] (.+(?:\n {2,}(?![*-] ).+)*)", re.MULTILINE)
_NUMBER: Final = re.compile(r"#(\d+)\b")
_REFERENCE: Final = re.compile(r"\(?\[[^\]\n]*#\d+\]\([^)\n]*\)\)?[,:]?|\(?(?:Pulls? )?#\d+\)?[,:]?")
_MERGED_LOG: Final = re.compile(r"changelog|update changelog|version|release", re.IGNORECASE)


def load_changelog(wanted: RepositoryCases, root: Path, count: int) -> RepositoryCases:
    """Return a repository's cases with at most so many of its changelog's entries in place of those written for it."""
    cases = list(_make_cases((root / "CHANGELOG.md").read_text(encoding="utf-8"), _read_messages(root)))
    random.Random(SEED).shuffle(cases)
    return replace(wanted, cases=tuple(cases[:count]))


def _make_cases(changelog: str, messages: Sequence[tuple[str, str]]) -> Iterator[QuestionCase]:
    for item in _ITEM.finditer(changelog):
        numbers = set(_NUMBER.findall(item[1]))
        said = " ".join(_REFERENCE.sub(" ", item[1]).split()).strip(" .*:")
        commits = [sha for sha, message in messages if numbers.intersection(_NUMBER.findall(message))]
        if commits and len(said) >= MIN_CHARS:
            yield QuestionCase(
                kind="why",
                question=f"why: {said}",
                words=tuple(sorted(re.findall(r"\w+", said), key=len)[-3:]),
                answers=tuple(f"commit:{sha}" for sha in commits),
                is_held_out=False,
            )


def _read_messages(root: Path) -> list[tuple[str, str]]:
    """Return each commit's id and message; without merges, and without what only writes the changelog."""
    git = ["git", "-C", str(root), "log", "--no-merges", "--format=%H%x00%B%x01"]
    found = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\x01")
    pairs = (entry.strip().partition("\x00") for entry in found if "\x00" in entry)
    return [(sha, message) for sha, _, message in pairs if not _MERGED_LOG.match(message)]
