"""Weight tables: the weights of many features, held in memory as the text of their file.

A linear model of 22,000 features as dicts takes 5 MB in every server, and 17 ms in a hook that reads it. Here a feature
is looked for in the text when it is asked for: 0.7 MB, 2 ms, and a microsecond for a feature (docs/why/processes.md,
"Large linear models are texts that are searched").

The file: a line with the names of columns; then groups of lines, an empty line before each. A line is a feature's name
and a weight for each column, with tabs between them. A feature stands in the group that the checksum of its name tells,
so that only a few lines are looked through.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Self
from zlib import crc32

GROUP_SIZE: Final = 4
"""Features of a group, on average."""

_BREAKS: Final = frozenset("\t\n\r")
_EMPTY_LINE: Final = re.compile(rb"\n\n")


class WeightTable:
    """Weights of features: one for each column."""

    def __init__(self, packed: bytes) -> None:
        """Read what `packed` of another table is."""
        # Git may have checked the file out with other ends of lines.
        packed = packed.replace(b"\r\n", b"\n")
        self.packed: Final = packed
        # A group begins with the second line break before it and ends with the first one after it.
        self._bounds = array("I", (found.end() - 1 for found in _EMPTY_LINE.finditer(packed)))
        self._bounds.append(len(packed))
        self.columns: Final = tuple(packed[: self._bounds[0] - 1].decode().split("\t"))

    @classmethod
    def of_columns(cls, columns: Mapping[str, Mapping[str, float]]) -> Self:
        """Return a table; it is the same for the same weights.

        Args:
            columns: by the column's name the weights of features, by their names.

        Raises:
            ValueError: a name has a tab or a line break in it.
        """
        names = sorted(set().union(*columns.values()))
        if any(not _BREAKS.isdisjoint(name) for name in (*columns, *names)):
            raise ValueError("a name has a tab or a line break in it")
        groups: list[list[str]] = [[] for _ in range(len(names) // GROUP_SIZE + 1)]
        for name in names:
            row = (repr(weights.get(name, 0)) for weights in columns.values())
            groups[crc32(name.encode()) % len(groups)].append("\t".join((name, *row)))
        lines = ["\t".join(columns), *("\n".join(group) for group in groups)]
        return cls(("\n\n".join(lines) + "\n").encode())

    def add_weights(self, names: Iterable[str]) -> list[float]:
        """Return for each column the sum of the weights of some features: the same in whichever order they come."""
        rows = [row.split(b"\t") for row in map(self._find_row, names) if row]
        return [math.fsum(map(float, column)) for column in zip(*rows, strict=True)] or [0.0] * len(self.columns)

    def list_rows(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Yield every feature with its weight for each column."""
        for line in self.packed[self._bounds[0] :].decode().split("\n"):
            if line:
                name, *weights = line.split("\t")
                yield name, tuple(map(float, weights))

    def _find_row(self, name: str) -> bytes:
        """Return the weights of a feature, as they stand there; nothing where it has none."""
        packed, bounds, key = self.packed, self._bounds, name.encode("utf-8", "replace")
        group = crc32(key) % (len(bounds) - 1)
        end = bounds[group + 1]
        at = packed.find(b"\n%b\t" % key, bounds[group], end)
        if at < 0:
            return b""
        at += len(key) + 2
        return packed[at : packed.find(b"\n", at, end)]
