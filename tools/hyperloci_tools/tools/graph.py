"""Graph tools: find and add relations between memories."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from mcp_types import CallToolResult
from pydantic import Field

from hyperloci.model.kinds import fold_label
from hyperloci.text.cutting import cut_text
from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.arguments import MAX_QUERY_CHARS, Limit, Reason
from hyperloci_tools.schemas import IdOut, MemberArg, RelatedItemOut, RelatedOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

if TYPE_CHECKING:
    from hyperloci.model.answers import RelatedAnswer

Label = Annotated[str, Field(description="a relation such as depends_on, supports", min_length=1, max_length=64)]


async def find_related(
    ctx: Call,
    topic: Annotated[str, Field(description="id, symbol, path or text", min_length=1, max_length=MAX_QUERY_CHARS)],
    relationship: Annotated[str, Field(description="label, as depends_on", max_length=64)] = "any",
    direction: Literal["out", "in", "both"] = "both",
    depth: Annotated[int, Field(ge=1, le=4)] = 1,
    limit: Limit = 10,
) -> Annotated[CallToolResult, RelatedOut]:
    """Follow relations from a memory or name of code: what calls, tests, imports it (in), what it depends on, commits
    that changed it."""
    found = await state_of(ctx).workers.reader.call(
        lambda memory: memory.find_related(
            topic, relationship=relationship, direction=direction, depth=depth, limit=limit
        )
    )
    shaped = answer_values.fit_answer(lambda room: _shape_related(found, room))
    return tool_result(shaped, answer_text.render_related(shaped))


def _shape_related(found: RelatedAnswer, room: int) -> RelatedOut:
    cap = answer_values.fair_cap([len(item.content) for item in found.related], room)
    items = [
        answer_values.drop_empty({**asdict(item), "content": cut_text(item.content, cap)}) for item in found.related
    ]
    return {
        "note": answer_values.DATA,
        "started": found.started,
        "node": answer_values.shape_hits([found.node], room=room)[0],
        "related": cast(list[RelatedItemOut], items),
        "relations": list(found.relations),
    }


async def relate(
    ctx: Call,
    label: Label,
    members: Annotated[list[MemberArg], Field(min_length=2, max_length=50)],
    weight: Annotated[float, Field(ge=0, le=1_000)] = 1.0,
    evidence: Reason = None,
) -> Annotated[CallToolResult, IdOut]:
    """Join two or more memories by a relation, each with a role. Use it when you learn that stored memories hang
    together in a way that their words do not say."""
    edge = await state_of(ctx).workers.writer.call(
        lambda memory: memory.relate(label, cast(list[dict[str, str]], members), weight=weight, evidence=evidence)
    )
    shaped: IdOut = {"id": edge}
    return tool_result(shaped, f"{len(members)} memories joined by {fold_label(label)!r} (relation id {edge}).")


TOOLS: Final = (
    ToolSpec(run=find_related, title="Find related memories", read_only=True, idempotent=True),
    ToolSpec(run=relate, title="Relate memories", idempotent=True, core=False),
)
