"""Server state: what the tools of one running server share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from anyio.abc import TaskGroup
from mcp.server.mcpserver import Context

from hyperloci.system.values import dataclass
from hyperloci.worker import WorkerPool


def _nothing_running() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The state of a running server.

    Attributes:
        workers: threads that run the methods of Memory.
        background: tasks that outlive the call that started them and end with the server.
        health: returns the state of the server's services (watchers, embedder), for `memory_stats`.
    """

    workers: WorkerPool
    background: TaskGroup
    health: Callable[[], Mapping[str, Any]] = field(default=_nothing_running)


Call = Context[ServerState]
"""The context of a tool call."""


def state_of(ctx: Call) -> ServerState:
    """Return the server's state."""
    return ctx.request_context.lifespan_context
