"""Called code: what is called by code that answers is likelier to answer too.

Who asks in words of their own where something is decided names the occasion of it, and so finds who calls what decides:
`edit` and `edit_files`, and not `get_editor`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from hyperloci.model.kinds import NodeKey

CALLED_WEIGHT: Final = 0.1
"""What the best of its callers that were found adds to a piece of code, of the caller's score, where a place is asked
for: of 139 questions on twelve repositories 106 instead of 101 are answered among five, 71 instead of 67 at once. By
order, 0.2 answers one more among five and three fewer at once: what is called comes before who calls too often
(docs/benchmarks/questions.md, "Called code")."""

FEW_CALLERS: Final = 4
"""What has more callers serves many ends, and a call of it tells less of this one: it gets that share of its callers.
3 to 6 are the same."""


def score_called_code(
    totals: Mapping[NodeKey, float], callers: Mapping[NodeKey, Collection[NodeKey]]
) -> dict[NodeKey, float]:
    """Return what the best of its callers adds to each piece of code that one of the candidates calls.

    Args:
        totals: the scores of all candidates.
        callers: all that call a candidate, found or not.
    """
    added = {
        key: CALLED_WEIGHT
        * min(1.0, FEW_CALLERS / len(calling))
        * max((totals[caller] for caller in calling if caller in totals), default=0.0)
        for key, calling in callers.items()
        if calling
    }
    return {key: share for key, share in added.items() if share > 0.0}
