"""Handed plans: prompts by which a client hands a plan to the assistant in the user's place.

Who accepts a plan in Claude Code (2.1) with a fresh context, or presses the button below a plan in Cursor, has said
yes, not what stands there: a plan is what an assistant proposed. What the user adds to it is their own.
"""

from __future__ import annotations

import re
from typing import Final

_PLAN_BEGINS: Final = re.compile(r"\s*+Implement the following plan:\n")
_PLAN_ENDS: Final = "\nIf you need specific details from before exiting plan mode ("
"""Both of Claude Code's: the first alone is also how people begin who wrote the plan themselves."""

_FEEDBACK: Final = "\nUser feedback on this plan: "

_BUTTON: Final = re.compile(
    r"^Implement the plan as specified, it is attached for your reference\. Do NOT edit the plan file itself\."
    r"(?:\s{1,4}To-do's from the plan have already been created\. Do not create them again\.[^\n]*+)?",
    re.MULTILINE,
)
"""Of Cursor's; what stands before it is the plan's title."""


def blank_buttons(text: str) -> str:
    """Return a prompt of the same length with blanks for what a client says of its own."""
    return _BUTTON.sub(lambda match: " " * len(match[0]), text)


def keep_own_words(text: str) -> str:
    """Return a prompt of the same length with blanks for a plan that the client handed over, and what it says to it."""
    ends = text.rfind(_PLAN_ENDS) if _PLAN_BEGINS.match(text) else -1
    if ends < 0:
        return blank_buttons(text)
    feedback = text.find(_FEEDBACK, ends)
    own = len(text) if feedback < 0 else feedback + len(_FEEDBACK)
    return " " * own + text[own:]
