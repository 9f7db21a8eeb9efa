"""Tool registry: each tool's function, title, hints and set, and a short listing of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp_types import CallToolResult, ToolAnnotations

from hyperloci.system.values import dataclass

ALWAYS_LOAD_META: Final[dict[str, Any]] = {"anthropic/alwaysLoad": True}
"""Claude Code hides tools behind a search by default; these few should be listed from the start."""

_DEFS: Final = "#/$defs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool in the listing. The docstring of its function is its description, which the model reads.

    Attributes:
        run: the function; its annotations give the schemas.
        title: for people.
        read_only, destructive, idempotent: what calling it does to the memory.
        core: whether `HYPERLOCI_TOOLS=core` registers it.
        always_load: whether clients that defer tools should show it from the start.
    """

    run: Callable[..., Coroutine[Any, Any, CallToolResult]]
    title: str
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    core: bool = True
    always_load: bool = False

    def build_tool(self) -> Tool:
        """Return the SDK's tool, with schemas cut to what a reader needs."""
        tool = Tool.from_function(
            self.run,
            title=self.title,
            description=" ".join(inspect.cleandoc(self.run.__doc__ or "").split()),
            annotations=ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
            meta=dict(ALWAYS_LOAD_META) if self.always_load else None,
        )
        tool.parameters = slim_schema(tool.parameters)
        if tool.fn_metadata.output_schema is not None:
            tool.fn_metadata.output_schema = outline_schema(slim_schema(tool.fn_metadata.output_schema))
        return tool


class LateTools(ToolManager):
    """The server's tools, built when they are first asked for.

    Building them, pydantic's models and two schemas of each, takes 50 of 850 ms of processor time and is no part of the
    answer to `initialize`.
    """

    def __init__(self, build: Callable[[], list[Tool]]) -> None:
        super().__init__()
        self._build: Callable[[], list[Tool]] | None = build

    def get_tool(self, name: str) -> Tool | None:
        """Return the tool with a name."""
        self._build_once()
        return super().get_tool(name)

    def list_tools(self) -> list[Tool]:
        """Return every tool."""
        self._build_once()
        return super().list_tools()

    def _build_once(self) -> None:
        if self._build is not None:
            self._tools.update((tool.name, tool) for tool in self._build())
            self._build = None


def build_tools(offers: Sequence[ToolSpec], tool_set: str, also: frozenset[str] = frozenset()) -> list[Tool]:
    """Return the tools of a set, `core` or `all`, and those that are named besides."""
    return [offer.build_tool() for offer in offers if offer.core or tool_set == "all" or offer.run.__name__ in also]


def slim_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a shorter JSON schema that accepts the same values.

    It drops generated titles and the docstrings of types, puts each definition where it is used, and writes `X or null,
    default null` as an optional X (the server still accepts the null).
    """
    definitions = schema.get("$defs", {})
    return _slim_schema(_without_keys(schema, "$defs", "description"), definitions)


def outline_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outer level of an answer's schema: its fields and their JSON types.

    Answers are checked against the whole schema before they are sent. The listing has only the outer level, because no
    client shows the schema to a model, and the whole would be longer than names, descriptions and arguments together.
    """
    shown = {
        name: {key: member[key] for key in ("type",) if key in member}
        for name, member in schema.get("properties", {}).items()
    }
    return {"type": "object", **({"properties": shown} if shown else {})}


def _slim_schema(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(_DEFS):
        target = _without_keys(definitions[reference.removeprefix(_DEFS)], "description")
        return _slim_schema({**target, **_without_keys(schema, "$ref")}, definitions)
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return _slim_schema({**choices[0], **_without_keys(schema, "anyOf")}, definitions)
    return {
        key: _slim_value(key, value, definitions)
        for key, value in schema.items()
        if key != "title" and not (key == "default" and value is None)
    }


def _slim_value(key: str, value: Any, definitions: Mapping[str, Any]) -> Any:
    if key == "properties":
        return {name: _slim_schema(member, definitions) for name, member in value.items()}
    if key in ("anyOf", "oneOf", "allOf"):
        return [_slim_schema(member, definitions) for member in value]
    if isinstance(value, dict):
        return _slim_schema(value, definitions)
    return value


def _without_keys(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in keys}
