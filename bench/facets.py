"""Facets: what share of a repository's memories has each value; `--sample N` prints some to be read.

    python -m bench facets FOLDER... [--facet persona] [--sample 50]

A value that nearly all or next to none have says nothing of any. The sample is drawn evenly over the values of the
facet, the same each time, so that each value can be read: right or wrong.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hyperloci.knowledge.facets import classify_chunk_facets, classify_facets
from hyperloci.model.facets import Facets
from hyperloci.model.kinds import TRUST, Origin
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.file_kinds import FileKind, file_kind_of

KINDS = frozenset({FileKind.MARKDOWN, FileKind.RESTRUCTURED_TEXT, FileKind.CODE})
FACETS = ("diataxis", "persona", "confidence_level", "time_sensitive", "domain_tags")
COMMITS = 300

Classified = tuple[str, str, Facets]
"""Kind, text and facets of a memory."""


def classify_folder(folder: Path) -> Iterator[Classified]:
    """Yield every snippet and the latest commits of a repository."""
    for name in _git(folder, "ls-files", "-z").split("\0"):
        path = folder / name
        if file_kind_of(name) in KINDS and path.is_file():
            for chunk in chunk_file(name, path.read_text(encoding="utf-8", errors="replace")):
                kind = "docs" if chunk.code is None else "code"
                yield kind, f"[{name}] {chunk.text}", classify_chunk_facets(chunk)
    for message in _git(folder, "log", f"-{COMMITS}", "--format=%B%x00").split("\0"):
        if told := message.strip():
            yield "commit", told, classify_facets(told, Origin.COMMIT, confidence=TRUST[Origin.COMMIT])


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, errors="replace", check=True
    ).stdout


def values_of(facets: Facets, name: str) -> tuple[str, ...]:
    """Return the values of one facet; `-` without any."""
    value = getattr(facets, name)
    if isinstance(value, tuple):
        return value or ("-",)
    return (str(value) if value not in (None, False) else "-",)


def print_shares(folder: Path, found: list[Classified]) -> None:
    """Print the share of every value, by kind."""
    for kind in ("docs", "code", "commit"):
        of_kind = [facets for k, _, facets in found if k == kind]
        print(f"\n{folder.name}, {kind}: {len(of_kind)}")
        for name in FACETS if of_kind else ():
            counts = Counter(value for facets in of_kind for value in values_of(facets, name))
            print(f"  {name}: " + ", ".join(f"{v} {100 * n / len(of_kind):.1f} %" for v, n in counts.most_common()))


def print_sample(found: list[Classified], facet: str, size: int) -> None:
    """Print memories that have a value of a facet, evenly over the values."""
    by_value: dict[str, list[Classified]] = {}
    for item in found:
        for value in values_of(item[2], facet):
            by_value.setdefault(value, []).append(item)
    by_value.pop("-", None)
    draw = random.Random(0)
    each = max(1, size // max(1, len(by_value)))
    for value, items in sorted(by_value.items()):
        for kind, text, _ in draw.sample(items, min(each, len(items))):
            print(f"--- {facet}={value} ({kind}) {' '.join(text.split())[:420]}")


def main() -> None:
    """Print shares or a sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--facet", choices=FACETS, default="domain_tags")
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    everything: list[Classified] = []
    for folder in options.folders:
        found = list(classify_folder(folder))
        everything += found
        if not options.sample:
            print_shares(folder, found)
    if options.sample:
        print_sample(everything, options.facet, options.sample)


if __name__ == "__main__":
    main()
