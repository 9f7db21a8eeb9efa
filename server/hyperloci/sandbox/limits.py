"""Limits: what a program may use, enforced by the kernel."""

from __future__ import annotations

from typing import Final

from hyperloci.system.framing import Framing
from hyperloci.system.values import dataclass

CODE_CHARS: Final = 10_000
"""Longest program (tools contract)."""

MESSAGES: Final = Framing(b"HLR\x01", max_header=8 << 20)
"""What travels between a session and the child that runs its program. Nothing is unpickled; the limit has room for
fifty memories of 20,000 characters, each escaped as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """What one run may use.

    Attributes:
        wall_seconds: from start to end, the memory's own answers included.
        cpu_seconds: processor time of the child.
        memory_bytes: address space of the child; the interpreter itself takes 40 MB of it.
        output_chars: of all that is printed; a model reads no more with profit.
        result_chars: of the last expression's value as JSON.
        calls: of memory functions.
    """

    wall_seconds: float = 10.0
    cpu_seconds: int = 5
    memory_bytes: int = 256 << 20
    output_chars: int = 20_000
    result_chars: int = 20_000
    calls: int = 500


GRACE_SECONDS: Final = 1
"""A program is stopped by an error at its limit, which gives the line it was in; this much later it is killed."""

_STANDARD_STREAMS: Final = 3
"""Descriptors 0 to 2 are open already; with this limit no further one can be, be it a file or a socket."""


def apply_limits(limits: ProgramLimits) -> None:
    """Put this process under its limits, for good: a lowered hard limit can't be raised again."""
    import resource

    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + GRACE_SECONDS)
    _set_limit(resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes)
    _set_limit(resource.RLIMIT_NOFILE, _STANDARD_STREAMS, _STANDARD_STREAMS)
    for nothing in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC):
        _set_limit(nothing, 0, 0)


def _set_limit(which: int, soft: int, hard: int) -> None:
    import resource

    present = resource.getrlimit(which)[1]
    if present != resource.RLIM_INFINITY:
        soft, hard = min(soft, present), min(hard, present)
    resource.setrlimit(which, (soft, hard))
