"""Diagnosis: what a check of `hyperloci doctor` found, and how to mend it."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Any

from hyperloci.system.values import dataclass


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
