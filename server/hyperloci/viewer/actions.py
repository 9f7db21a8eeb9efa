"""Actions: what a person changes from a page, by the same use cases as the tools and the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory

FormValues = Mapping[str, str]

DONE: Final[Mapping[str, str]] = {
    "correct": "Corrected. The earlier version is kept as its history.",
    "same": "Another memory says exactly this already; it stands in this one's place now.",
    "forget": "Forgotten. It can be restored for 30 days.",
    "restore": "Restored.",
    "pin": "Pinned: it has full confidence and does not fade.",
    "withhold": "Never recalled from now on: no search finds it and no session is shown it.",
    "release": "It may be recalled again.",
    "clear": "Found harmless: sessions may be shown it again.",
    "settle": "Settled.",
}
"""What a page says after a change, by a word of a closed set: an address can't put words into a page."""


def correct_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Replace a memory by a corrected one, and lead to that."""
    remembered = memory.correct_fact(id, form.get("text", ""), reason=form.get("reason", "").strip() or None)
    return remembered.id, "correct" if remembered.duplicate_of is None else "same"


def forget_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Forget a memory."""
    return memory.forget(id, reason=form.get("reason", "").strip() or "forgotten in the viewer").id, "forget"


def restore_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Bring a forgotten memory back."""
    return memory.restore(id, reason="restored in the viewer").memory.id, "restore"


def pin_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Confirm a memory: it is right, and stays."""
    return memory.confirm_fact(id).id, "pin"


def withhold_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Let a memory never be recalled."""
    return memory.withhold(id, reason="withheld in the viewer").id, "withhold"


def release_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Let a withheld memory be recalled again."""
    return memory.release(id).id, "release"


def clear_memory(memory: Memory, id: str, form: FormValues) -> tuple[str, str]:
    """Find a suspicious memory harmless."""
    return memory.clear_suspicion(id).id, "clear"


def settle_dispute(memory: Memory, relation: str, form: FormValues) -> tuple[str, str]:
    """Settle which memory of a dispute holds; an empty `holds` says that all do."""
    if "holds" not in form:
        raise BadRequestError("holds is missing: say which memory holds, or an empty one for all.")
    memory.settle_dispute(relation, holds=form["holds"] or None)
    return form["holds"], "settle"


MEMORY_ACTIONS: Final[Mapping[str, Callable[[Memory, str, FormValues], tuple[str, str]]]] = {
    "correct": correct_memory,
    "forget": forget_memory,
    "restore": restore_memory,
    "pin": pin_memory,
    "withhold": withhold_memory,
    "release": release_memory,
    "clear": clear_memory,
    "settle": settle_dispute,
}
"""What can be done with the id in an address; each returns the memory to show then, and what was done."""
