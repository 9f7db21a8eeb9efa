"""MCP server: every tool, resource and prompt, and the conversion of errors to answers."""

from __future__ import annotations

import functools
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.request_state import InvalidRequestState, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, InputRequiredResult
from pydantic import ValidationError

from hyperloci import __version__
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import find_client
from hyperloci.errors import HyperlociError
from hyperloci.names import suggest_name
from hyperloci.worker import CALLER, Caller
from hyperloci_hooks.dialects.wiring import CaptureState
from hyperloci_tools import resources
from hyperloci_tools.instructions import TEXTS
from hyperloci_tools.state import ServerState
from hyperloci_tools.stdio import open_stdio
from hyperloci_tools.tool_spec import LateTools, ToolSpec, build_tools
from hyperloci_tools.tools import (
    admin,
    conversations,
    entities,
    graph,
    ingestion,
    maintenance,
    programs,
    reading,
    topics,
    writing,
)
from hyperloci_tools.validation_errors import (
    MAX_SHOWN_CHARS,
    describe_refused_arguments,
    refuse_unknown_arguments,
    shorten_value,
)

if TYPE_CHECKING:
    from mcp.server.auth.provider import TokenVerifier
    from mcp.server.auth.settings import AuthSettings

TOOL_SPECS: Final = (
    *reading.TOOLS,
    *graph.TOOLS,
    *entities.TOOLS,
    *topics.TOOLS,
    *conversations.TOOLS,
    *writing.TOOLS,
    *maintenance.TOOLS,
    *ingestion.TOOLS,
    *programs.TOOLS,
    *admin.TOOLS,
)
"""Every tool, in the order of the listing."""

MAX_AGENT_CHARS: Final = 60
"""Of a client's name that are kept; those in use have ten to twenty."""

_NAME_PARTS: Final = re.compile(r"[A-Za-z0-9._/+-]+")

UNPLANNED: Final = (
    "{tool} failed because of an internal error, not because of its arguments. The server's log has the details."
)

WORDLESS: Final = "Invalid request parameters"
"""The SDK's message for a request before `initialize`."""


class NoRequestStates:
    """The states that a client brings back with a further round of a request: no tool asks for one, so none is ours."""

    def seal(self, payload: bytes) -> NoReturn:
        """Refuse to seal one; nobody asks.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("no tool of this server asks its client for more input")

    def unseal(self, token: str) -> NoReturn:
        """Refuse one.

        Raises:
            InvalidRequestState: always; the client is told that it is invalid or expired.
        """
        raise InvalidRequestState("this server gives out none")


Lifespan = Callable[[MCPServer[ServerState]], AbstractAsyncContextManager[ServerState]]


class HyperlociServer(MCPServer[ServerState]):
    """An MCP server whose errors say what to change.

    Attributes:
        state: the lifespan's state while the server runs.
    """

    state: ServerState

    def offer_tools(self, offers: Sequence[ToolSpec], tool_set: str, also: frozenset[str]) -> None:
        """Offer the tools of a set, `core` or `all`, and those that are named besides."""
        self._withheld = {spec.run.__name__ for spec in offers if tool_set != "all"}
        self._tool_manager = LateTools(functools.partial(build_tools, offers, tool_set, also))

    def _describe_unknown_tool(self, name: str, known: Sequence[str]) -> str:
        """Return that a tool is not there, and what is meant; one that is only not in the set has its own name."""
        if name in self._withheld:
            return f"The tool {name} is in the set `all`, which the user can choose: HYPERLOCI_TOOLS=all"
        if any(spec.run.__name__ == name for spec in TOOL_SPECS):
            return f"The tool {name} is not offered here"
        hint = suggest_name(name[:MAX_SHOWN_CHARS], known, groups=("tools",))
        return f"There is no tool {shorten_value(name)}{f'; {hint}' if hint else ''}"

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[ServerState, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: the caller can do something about it; the message says what.
            UnexpectedToolError: an internal error; details are in the log, not in the message.
        """
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            known = [offered.name for offered in self._tool_manager.list_tools()]
            told = self._describe_unknown_tool(name, known)
            raise ToolError(f"{told}; use one of {', '.join(known)}.")
        refusal = refuse_unknown_arguments(name, arguments, tool.parameters)
        if refusal is not None:
            raise ToolError(refusal)
        signed = CALLER.set(replace(CALLER.get() or Caller(), agent=name_agent(context)))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            raise _explain_tool_error(error, name, tool.parameters) from error.__cause__
        finally:
            CALLER.reset(signed)

    async def run_stdio_async(self) -> None:
        """Serve stdin and stdout until the client closes its end; every line is answered."""
        async with open_stdio() as (incoming, outgoing):
            await self._lowlevel_server.run(incoming, outgoing, self._lowlevel_server.create_initialization_options())


def name_agent(context: Context[ServerState, Any] | None) -> str | None:
    """Return the client's name as it may be stored, its own where it is not known; None if it has not said it."""
    told = None if context is None else context.session.client_params
    known = None if told is None else find_client(told.client_info.name)
    if known is not None or told is None:
        return known
    return " ".join(_NAME_PARTS.findall(told.client_info.name[:MAX_AGENT_CHARS])) or None


async def explain_request_errors(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that explains what is wrong with a request other than a tool call.

    Raises:
        MCPError: with a message that says what to change.
    """
    try:
        return await call_next(ctx)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, f"{ctx.method}: {describe_refused_arguments(error, {})}") from error
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            raise MCPError(METHOD_NOT_FOUND, f"There is no method {shorten_value(ctx.method)} here.") from error
        if error.code == INVALID_PARAMS and error.message == WORDLESS:
            raise MCPError(INVALID_PARAMS, f"{ctx.method}: send `initialize` first.") from error
        raise
    except ValueError as error:
        # From a prompt: an unknown name, a missing argument, or an error of its function.
        cause = next((cause for cause in _walk_causes(error) if isinstance(cause, HyperlociError)), None)
        raise MCPError(INVALID_PARAMS if cause is None else INTERNAL_ERROR, str(cause or error)) from error


def _walk_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _explain_tool_error(error: ToolError, tool: str, schema: dict[str, Any]) -> ToolError:
    cause = error.__cause__
    if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
        return ToolError(describe_refused_arguments(cause, schema))
    if isinstance(cause, sqlite3.Error):
        from hyperloci.store.database.error_translation import translate_error

        return ToolError(str(translate_error(cause)))
    if isinstance(cause, (HyperlociError, ToolError)):
        return ToolError(str(cause))
    return UnexpectedToolError(UNPLANNED.format(tool=tool))


def make_server(
    settings: Settings,
    lifespan: Lifespan,
    middleware: tuple[ServerMiddleware[Any], ...] = (),
    *,
    without: frozenset[str] = frozenset(),
    auth: AuthSettings | None = None,
    token_verifier: TokenVerifier | None = None,
) -> HyperlociServer:
    """Return a server with the tools that the settings ask for, the resources and the prompts.

    Args:
        settings: those in force.
        lifespan: opens the state that the tools share.
        middleware: sees every request before the tools do.
        without: tools that are not offered whatever the settings say.
        auth, token_verifier: who is let in over HTTP.
    """
    wanted = frozenset({"save_consolidation"} if settings.consolidation == "host" else ())

    @asynccontextmanager
    async def keeping_state(running: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
        async with lifespan(running) as server.state:
            yield server.state

    server = HyperlociServer(
        name="hyperloci",
        title="Hyperloci memory",
        description="Long-term memory for coding assistants",
        instructions=TEXTS[CaptureState.WHOLE],
        version=__version__,
        lifespan=keeping_state,
        middleware=(*middleware, explain_request_errors),
        auth=auth,
        token_verifier=token_verifier,
        request_state_security=RequestStateSecurity(codec=NoRequestStates()),
    )
    server.offer_tools([spec for spec in TOOL_SPECS if spec.run.__name__ not in without], settings.tools, wanted)
    resources.register_resources(server, lambda: server.state)
    return server
