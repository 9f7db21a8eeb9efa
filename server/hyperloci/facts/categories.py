"""Categories: what a caller calls a fact (D.09), and whose memory it is by that."""

from __future__ import annotations

from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType

CATEGORIES: Final[dict[str, tuple[NodeType, str]]] = {
    "user_info": (NodeType.FACT, "user_info"),
    "decision": (NodeType.DECISION, "decision"),
    "preference": (NodeType.FACT, "preference"),
    "constraint": (NodeType.FACT, "constraint"),
    "insight": (NodeType.FACT, "insight"),
    "deadline": (NodeType.FACT, "deadline"),
    "procedure": (NodeType.FACT, "procedure"),
}
"""The five categories of D.09, and what sessions are read for besides; a dead end has two parts, and is told by
`mark_dead_end`."""

UNSPECIFIC: Final = "insight"
"""The category of what is told without one: it says nothing of what a known statement is."""

GLOBAL_CATEGORIES: Final = frozenset({"user_info", "preference"})
"""What is about the user holds in every project unless said otherwise."""

SCOPE_WORDS: Final = ("project", "global")


def resolve_category(category: str) -> tuple[NodeType, str]:
    """Return the type and subtype of a category.

    Raises:
        BadRequestError: no such category.
    """
    if category == "dead_end":
        raise BadRequestError(
            "category='dead_end': a dead end says what was tried and why it failed: use mark_dead_end"
            " (`hyperloci dead-end APPROACH REASON`)."
        )
    if category not in CATEGORIES:
        raise BadRequestError(f"category={category!r} is unknown: use one of {', '.join(CATEGORIES)}.")
    return CATEGORIES[category]


def choose_scope(scope: str | None, category: str, project: str) -> str:
    """Return the id of the scope a fact of this category belongs in.

    Args:
        scope: `project` or `global`; None for what the category has by itself.
        category: one of `CATEGORIES`, or another kind of memory.
        project: the id of the project's scope.

    Raises:
        BadRequestError: neither `project` nor `global`.
    """
    if scope is None:
        return GLOBAL_SCOPE if category in GLOBAL_CATEGORIES else project
    if scope not in SCOPE_WORDS:
        raise BadRequestError(f"scope={scope!r} is unknown: use one of {', '.join(SCOPE_WORDS)}.")
    return GLOBAL_SCOPE if scope == "global" else project
