"""Call audit: who asked for what with what outcome, on the disk before the answer goes out; and who may not."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent
from pydantic import BaseModel

from hyperloci.clock import Clock
from hyperloci.errors import HyperlociError
from hyperloci.http.issued_tokens import WRITE
from hyperloci.memory import Memory
from hyperloci.model.author import is_same_author, parse_author
from hyperloci.store.access.access_values import AccessEvent, Outcome
from hyperloci.worker import CALLER, Caller, WorkerHandle
from hyperloci_tools.server import TOOL_SPECS

READING: Final = frozenset(spec.run.__name__ for spec in TOOL_SPECS if spec.read_only)

OWN_ONLY: Final = {
    "forget": "What others told is corrected (correct_fact), not forgotten.",
    "restore": "Only who told it brings it back; what you know yourself, you can tell (remember_fact).",
}
"""Tools that in a common memory touch only what their caller told, and what others do instead: the rest has a history
that all can see."""

ASKED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Requests whose answers hold memories, with the parameter that says for what they ask."""

STATS: Final = "memory://stats"
"""The resource that tells what the tool `memory_stats` tells; a common memory has neither."""

MAX_MEMORIES: Final = 100
"""Ids noted of one call: an answer names fewer, a hostile one can't fill the disk."""

MAX_CLIENT: Final = 100


class CallAudit:
    """Middleware that refuses what a token doesn't allow, and notes every call."""

    def __init__(self, door: WorkerHandle, clock: Clock, *, is_common: bool) -> None:
        """Make it.

        Args:
            door: opens the memory in which calls are noted.
            clock: the time.
            is_common: whether the holders of tokens are people of their own, who sign what they tell.
        """
        self._door = door
        self._clock = clock
        self._is_common = is_common

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one request."""
        if ctx.method not in ASKED_BY:
            return await call_next(ctx)
        holder = get_access_token()
        tool = _make_printable(str((ctx.params or {}).get(ASKED_BY[ctx.method], ""))[:MAX_CLIENT])
        if ctx.method != "tools/call" and self._is_common and tool == STATS:
            await self._note(ctx, holder, tool, "refused", ())
            raise MCPError(INVALID_PARAMS, f"{STATS} tells of the server's machine; a common memory has it not.")
        arguments = (ctx.params or {}).get("arguments")
        refusal = await self._refuse(tool, holder, arguments) if ctx.method == "tools/call" else None
        if refusal is not None:
            await self._note(ctx, holder, tool, "refused", ())
            return CallToolResult(content=[TextContent(type="text", text=refusal)], is_error=True)
        person = None if holder is None or not self._is_common else holder.subject
        signed = CALLER.set(Caller(author=None if person is None else str(parse_author(person))))
        try:
            answer = await call_next(ctx)
        except MCPError:
            await self._note(ctx, holder, tool, "refused", ())
            raise
        except Exception:
            await self._note(ctx, holder, tool, "failed", ())
            raise
        finally:
            CALLER.reset(signed)
        fields = answer.model_dump() if isinstance(answer, BaseModel) else dict(answer or {})
        outcome: Outcome = "refused" if fields.get("is_error", fields.get("isError")) else "done"
        told = fields.get("structured_content", fields.get("structuredContent"))
        named = tuple(_iterate_ids(_read_contents(fields) if ctx.method == "resources/read" else told))
        await self._note(ctx, holder, tool, outcome, named)
        return answer

    async def _refuse(self, tool: str, holder: AccessToken | None, arguments: object) -> str | None:
        """Return why a call is refused, None if it is not."""
        if holder is None or (tool not in READING and WRITE not in holder.scopes):
            return f"{tool}: this token may only read; ask for one that may write (`hyperloci token create`)."
        if self._is_common and isinstance(arguments, Mapping) and arguments.get("scope") == "team":
            return f"{tool}: scope='team' is for one's own memory; this one is common to who asks it: leave scope out."
        id = arguments.get("id") if isinstance(arguments, Mapping) else None
        if self._is_common and tool in OWN_ONLY and isinstance(id, str):
            author = await self._door.call(_find_author, id)
            if author is not None and not is_same_author(author, holder.subject):
                return f"{tool}: id={id!r} is {author}'s. {OWN_ONLY[tool]}"
        return None

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
            person="-" if holder is None or holder.subject is None else _make_printable(holder.subject),
            token_id=None if holder is None or not holder.token else holder.client_id,
            client=_name_client(ctx),
            tool=tool,
            outcome=outcome,
            memories=tuple(dict.fromkeys(memories))[:MAX_MEMORIES],
        )
        await self._door.call(_append_event, event)


def _find_author(memory: Memory, id: str) -> str | None:
    """Return who told the memory that the tool would take; None if that is not known, or it would find none."""
    try:
        node = memory.store.nodes.get_node(memory.complete_id(id))
    except HyperlociError:
        return None
    return None if node is None else node.author


def _append_event(memory: Memory, event: AccessEvent) -> None:
    if memory.store.read_only:
        raise HyperlociError("Calls can't be noted: the database can only be read, so nothing is answered over HTTP.")
    with memory.store.transaction():
        memory.store.access_log.append_events([event])


def _name_client(ctx: ServerRequestContext[Any, Any]) -> str | None:
    params = getattr(ctx.session, "client_params", None)
    info = getattr(params, "client_info", None)
    return None if info is None else _make_printable(f"{info.name} {info.version}"[:MAX_CLIENT])


def _make_printable(told: str) -> str:
    """Return what a stranger told without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "�" for letter in told)


def _read_contents(answer: Mapping[str, Any]) -> list[object]:
    """Return the documents of a resource's answer, as what their JSON says."""
    found: list[object] = []
    for content in answer.get("contents") or ():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            found.append(json.loads(content["text"]))
    return found


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
