"""Call audit: who called which tool with what outcome, on the disk before the answer goes out; and who may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from hyperloci.clock import Clock
from hyperloci.errors import HyperlociError
from hyperloci.http.issued_tokens import WRITE
from hyperloci.memory import Memory
from hyperloci.store.access.access_values import AccessEvent, Outcome
from hyperloci.worker import CALLER, Caller, WorkerHandle
from hyperloci_tools.server import TOOL_SPECS

READING: Final = frozenset(spec.run.__name__ for spec in TOOL_SPECS if spec.read_only)

MAX_MEMORIES: Final = 100
"""Ids noted of one call: an answer names fewer, a hostile one can't fill the disk."""

MAX_CLIENT: Final = 100


class CallAudit:
    """Middleware that refuses what a token doesn't allow, and notes every call."""

    def __init__(self, door: WorkerHandle, clock: Clock, *, is_shared: bool) -> None:
        """Make it.

        Args:
            door: opens the memory in which calls are noted.
            clock: the time.
            is_shared: whether the holders of tokens are people of their own, who sign what they tell.
        """
        self._door = door
        self._clock = clock
        self._is_shared = is_shared

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one request."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        holder = get_access_token()
        tool = str((ctx.params or {}).get("name", ""))[:MAX_CLIENT]
        if holder is None or (tool not in READING and WRITE not in holder.scopes):
            told = f"{tool}: this token may only read; ask for one that may write (`hyperloci token create`)."
            await self._note(ctx, holder, tool, "refused", ())
            return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)
        CALLER.set(Caller(author=holder.subject if self._is_shared else None, agent=_name_client(ctx)))
        try:
            answer = await call_next(ctx)
        except MCPError:
            await self._note(ctx, holder, tool, "refused", ())
            raise
        except Exception:
            await self._note(ctx, holder, tool, "failed", ())
            raise
        fields = answer.model_dump() if isinstance(answer, BaseModel) else dict(answer or {})
        outcome: Outcome = "refused" if fields.get("is_error", fields.get("isError")) else "done"
        named = tuple(_iterate_ids(fields.get("structured_content", fields.get("structuredContent"))))
        await self._note(ctx, holder, tool, outcome, named)
        return answer

    async def _note(
        self,
        ctx: ServerRequestContext[Any, Any],
        holder: AccessToken | None,
        tool: str,
        outcome: Outcome,
        memories: tuple[str, ...],
    ) -> None:
        event = AccessEvent(
            at=self._clock(),
            person="-" if holder is None or holder.subject is None else holder.subject,
            token_id=None if holder is None or not holder.token else holder.client_id,
            client=_name_client(ctx),
            tool=tool,
            outcome=outcome,
            memories=tuple(dict.fromkeys(memories))[:MAX_MEMORIES],
        )
        await self._door.call(_append_event, event)


def _append_event(memory: Memory, event: AccessEvent) -> None:
    if memory.store.read_only:
        raise HyperlociError("Calls can't be noted: the database can only be read, so nothing is answered over HTTP.")
    with memory.store.transaction():
        memory.store.access_log.append_events([event])


def _name_client(ctx: ServerRequestContext[Any, Any]) -> str | None:
    params = getattr(ctx.session, "client_params", None)
    info = getattr(params, "client_info", None)
    return None if info is None else f"{info.name} {info.version}"[:MAX_CLIENT]


def _iterate_ids(value: object) -> Iterator[str]:
    """Yield every `id` in an answer."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            if isinstance(item.get("id"), str):
                yield item["id"]
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
