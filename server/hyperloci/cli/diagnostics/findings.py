"""Findings of `hyperloci doctor`: how bad each is, and how to fix it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check, and how to fix the problem if there is one."""

    level: Severity
    subject: str
    message: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return asdict(self)
