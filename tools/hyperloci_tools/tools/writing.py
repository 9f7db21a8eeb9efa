"""Write tools: remember, mark a dead end, correct, confirm, forget, restore."""

from __future__ import annotations

from typing import Annotated, Final, Literal, cast

from mcp_types import CallToolResult
from pydantic import Field

from hyperloci.model.node import MAX_CONTENT_CHARS, MAX_NAME_CHARS
from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.arguments import Confidence, Fact, Id, Reason, Scope
from hyperloci_tools.schemas import ConfirmedOut, CorrectedOut, DeadEndOut, ForgottenOut, RememberedOut, RestoredOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

Category = Literal["user_info", "decision", "preference", "constraint", "insight", "deadline", "procedure"]
Entities = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]],
    Field(description="names it is about", max_length=50),
]


async def remember_fact(
    ctx: Call,
    fact: Fact,
    category: Category = "insight",
    confidence: Confidence = 1.0,
    scope: Annotated[Scope, Field(description="default: project; user_info, preference global")] = None,
    entities: Entities = [],  # noqa: B006  (never changed; the SDK copies defaults into the schema)
    replaces: Annotated[str | None, Field(description="id it supersedes", max_length=100)] = None,
) -> Annotated[CallToolResult, RememberedOut]:
    """Store what later sessions should know, with its reason: a decision, rule, wish, deadline with its day, insight
    that took effort. Not what code or docs say, nor secrets.
    The answer names what it contradicts or may outdate, and how to replace that."""
    done = await state_of(ctx).workers.writer.call(
        lambda memory: memory.remember_fact(
            fact,
            category=category,
            confidence=confidence,
            scope=scope,
            entities=entities,
            replaces=replaces,
        )
    )
    shaped = answer_values.shape_remembered(done)
    if done.holds_everywhere:
        shaped["scope"] = done.scope
    return tool_result(shaped, answer_text.render_remembered(shaped, "Remembered"))


async def mark_dead_end(
    ctx: Call,
    approach: Annotated[str, Field(description="what was tried", min_length=1, max_length=MAX_CONTENT_CHARS)],
    reason: Annotated[str, Field(description="why it failed", min_length=1, max_length=MAX_CONTENT_CHARS)],
    scope: Scope = None,
) -> Annotated[CallToolResult, DeadEndOut]:
    """Store that an approach failed and why, once you give it up for good; not for a bug you then fixed."""
    done = await state_of(ctx).workers.writer.call(lambda memory: memory.mark_dead_end(approach, reason, scope=scope))
    shaped = answer_values.shape_remembered(done)
    return tool_result(shaped, answer_text.render_remembered(shaped, "Dead end stored"))


async def correct_fact(ctx: Call, id: Id, fact: Fact, reason: Reason = None) -> Annotated[CallToolResult, CorrectedOut]:
    """Replace a memory that is wrong or out of date; the old one stays as history."""
    done = await state_of(ctx).workers.writer.call(lambda memory: memory.correct_fact(id, fact, reason=reason))
    shaped = cast(CorrectedOut, {**answer_values.shape_remembered(done), "supersedes": done.supersedes or id})
    return tool_result(shaped, answer_text.render_remembered(cast(RememberedOut, shaped), "Corrected"))


async def confirm_fact(ctx: Call, id: Id) -> Annotated[CallToolResult, ConfirmedOut]:
    """Mark a memory as verified: full confidence, no decay. Use it when the user confirms it or you checked it."""
    done = await state_of(ctx).workers.writer.call(lambda memory: memory.confirm_fact(id))
    shaped: ConfirmedOut = {"id": done.id, "confidence": round(done.confidence, 3)}
    return tool_result(
        shaped, f"Confirmed id {done.id}; its confidence is {shaped['confidence']} and no longer decays."
    )


async def forget(ctx: Call, id: Id, reason: Reason = None) -> Annotated[CallToolResult, ForgottenOut]:
    """Forget a memory (restorable for 30 days) if the user asks; if wrong: correct_fact."""
    done = await state_of(ctx).workers.writer.call(lambda memory: memory.forget(id, reason=reason))
    shaped: ForgottenOut = {"id": done.id, "restorable_until": done.restorable_until}
    told = f"Forgot id {done.id}. It can be restored until {done.restorable_until}."
    if done.sharing is not None:
        shaped["sharing"] = done.sharing
        told = f"{told} {done.sharing}"
    return tool_result(shaped, told)


async def restore(ctx: Call, id: Id, reason: Reason = None) -> Annotated[CallToolResult, RestoredOut]:
    """Bring a forgotten memory back, within 30 days of forgetting it."""
    done = await state_of(ctx).workers.writer.call(lambda memory: memory.restore(id, reason=reason))
    shaped: RestoredOut = {"id": done.memory.id, "content": done.memory.content}
    told = f"Restored id {done.memory.id}:\n{answer_text.quote_text(done.memory.content)}"
    if done.ended is not None:
        shaped["ended"] = done.ended
        told = f"{told}\n{done.ended}"
    elif done.memory.notes:
        shaped["notes"] = list(done.memory.notes)
        told = "\n".join([told, *(f"! {note}" for note in done.memory.notes)])
    if done.sharing is not None:
        shaped["sharing"] = done.sharing
        told = f"{told}\n{done.sharing}"
    return tool_result(shaped, told)


TOOLS: Final = (
    ToolSpec(run=remember_fact, title="Remember a fact", idempotent=True, always_load=True),
    ToolSpec(run=mark_dead_end, title="Mark a dead end", idempotent=True),
    ToolSpec(run=correct_fact, title="Correct a memory"),
    ToolSpec(run=confirm_fact, title="Confirm a memory", idempotent=True, core=False),
    ToolSpec(run=forget, title="Forget a memory", destructive=True, idempotent=True),
    ToolSpec(run=restore, title="Restore a memory", idempotent=True, core=False),
)
