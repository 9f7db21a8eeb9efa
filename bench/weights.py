"""What the statement scorer has learned: the heaviest weights, or those of some features.

    python -m bench weights [worth | KIND] [--top 30] [--holding TEXT]

`worth` is for being worth keeping, else the name of a kind (`dead_end`). Without one all are printed.
`statement_features` says what the names of features mean. `--holding` leaves features whose name has this text in it.
"""

from __future__ import annotations

import argparse

from bench._shared import MarkdownTable
from hyperloci.conversations.consolidation.statement_scorer import load_weights
from hyperloci.knowledge.weight_table import WeightTable


def find_heaviest(table: WeightTable, column: str, *, top: int, holding: str = "") -> list[tuple[str, float]]:
    """Return the features that weigh most in a column, for or against it, the heaviest first."""
    place = table.columns.index(column)
    found = [(name, weights[place]) for name, weights in table.list_rows() if holding in name]
    return sorted(found, key=lambda one: (-abs(one[1]), one[0]))[:top]


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    model = load_weights()
    tables = {name: table for table in (model.worth, model.kinds) for name in table.columns}
    parser.add_argument("column", nargs="?", choices=list(tables))
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--holding", default="", help="a part of the features' names")
    options = parser.parse_args()
    for column in [options.column] if options.column else tables:
        table = MarkdownTable("feature", column)
        for name, weight in find_heaviest(tables[column], column, top=options.top, holding=options.holding):
            table.add(f"`{name}`" if name else "intercept", f"{weight:+.2f}")
        table.print()
        print()


if __name__ == "__main__":
    main()
