"""Intake report: what a reading of the shared folder did."""

from __future__ import annotations

from dataclasses import field

from hyperloci.facts.sharing.shared_folder import FolderProblem
from hyperloci.system.values import dataclass


@dataclass(slots=True)
class IntakeReport:
    """What a reading of the shared folder did.

    Attributes:
        taken: new memories.
        ended: teammates' memories that were held and no longer hold, as their authors said.
        withdrawn: memories that were forgotten because their author withdrew them.
        disputes: contradictions between people that were found.
        refused: what is in the folder and was not taken, with the file, line and reason.
        waiting: memories that were left for the next reading, because time was up.
        published: withdrawals and endings of one's own memories that were written into the folder.
        uncompared: new memories that maintenance compares with what else is held.
    """

    taken: int = 0
    ended: int = 0
    withdrawn: int = 0
    disputes: int = 0
    refused: list[FolderProblem] = field(default_factory=list)
    waiting: int = 0
    published: int = 0
    uncompared: int = 0
