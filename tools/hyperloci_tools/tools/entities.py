"""Entity tool: what is known about a person, a project, a tool, a file or a symbol."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final, NotRequired, cast

from mcp_types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from hyperloci.model.node import MAX_NAME_CHARS
from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.schemas import HitOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

if TYPE_CHECKING:
    from hyperloci.model.answers import EntityProfile


class EntityOut(TypedDict):
    """An entity."""

    id: str
    canonical_name: str
    type: str
    aliases: NotRequired[list[str]]
    summary: NotRequired[str]
    mention_count: int
    first_seen: str


class RelatedEntityOut(TypedDict):
    """An entity that the same memories mention."""

    name: str
    type: str
    together: int


class EntityInfoOut(TypedDict):
    """What `get_entity_info` answers."""

    note: str
    entity: EntityOut
    facts: list[HitOut]
    timeline: list[HitOut]
    related_entities: list[RelatedEntityOut]


async def get_entity_info(
    ctx: Call,
    name: Annotated[str, Field(description="a name or alias", min_length=1, max_length=MAX_NAME_CHARS)],
) -> Annotated[CallToolResult, EntityInfoOut]:
    """Tell what is known of one thing by name: a person, project, organization, place, tool, file, class or function.
    Its facts, what happened with it in order, and what it is spoken of with. Case and joints don't matter
    (AuthService, auth-service). Use it when a name comes up that you should know; to find by meaning, use
    search_memory."""
    profile = await state_of(ctx).workers.reader.call(lambda memory: memory.get_entity_info(name))
    shaped = shaped_profile(profile)
    return tool_result(shaped, render_profile(shaped))


def shaped_profile(profile: EntityProfile) -> EntityInfoOut:
    """Return a profile as it is answered."""
    return answer_values.fit_answer(lambda room: _shape_profile(profile, room // 2))


def _shape_profile(profile: EntityProfile, room: int) -> EntityInfoOut:
    return {
        "note": answer_values.DATA,
        "entity": cast(EntityOut, answer_values.drop_empty(asdict(profile.entity))),
        "facts": answer_values.shape_hits(profile.facts, room=room),
        "timeline": answer_values.shape_hits(profile.timeline, room=room),
        "related_entities": [cast(RelatedEntityOut, asdict(other)) for other in profile.related_entities],
    }


def render_profile(info: EntityInfoOut) -> str:
    """Return a profile as text, with memories quoted."""
    entity = info["entity"]
    many = "memory" if entity["mention_count"] == 1 else "memories"
    head = f"{entity['type']} (id {entity['id']}), in {entity['mention_count']} {many}:"
    lines = [head, answer_text.quote_text(entity["canonical_name"])]
    if "aliases" in entity:
        lines.append(answer_text.quote_text(f"also: {', '.join(entity['aliases'])}"))
    if "summary" in entity:
        lines.append(answer_text.quote_text(entity["summary"]))
    parts = ["\n".join(lines)]
    if info["facts"]:
        parts.append(f"Facts:\n\n{answer_text.render_memories(info['facts'])}")
    if info["timeline"]:
        parts.append(f"Timeline:\n\n{answer_text.render_memories(info['timeline'])}")
    if info["related_entities"]:
        others = ", ".join(
            f"{other['name']} ({other['type']}, {other['together']})" for other in info["related_entities"]
        )
        parts.append(f"Mentioned together with:\n{answer_text.quote_text(others)}")
    return "\n\n".join([*parts, answer_values.DATA])


TOOLS: Final = (
    ToolSpec(run=get_entity_info, title="What is known of a thing", read_only=True, idempotent=True, core=False),
)
