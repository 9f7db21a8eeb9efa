"""Overview tools: topics and timelines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final, Literal, NotRequired, cast

from mcp_types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.arguments import MAX_QUERY_CHARS, Limit
from hyperloci_tools.schemas import HitOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

if TYPE_CHECKING:
    from hyperloci.model.topic import Timeline, TopicHit, TopicList

EXAMPLE_CHARS: Final = 160
"""Characters of an example: enough to show what a topic is about."""

EXAMPLES_CHARS: Final = 6_000
"""Characters of all examples of a list together: twenty topics with three examples each came to 29 KB."""

_TOLD_OF_ONE: Final = ("examples", "strengths", "terms", "created_at", "merged_into")
"""Fields of a topic that a list leaves to `memory://topic/ID`; of the examples it shows the first."""


NO_SESSION: Final = (
    "No session of this project is remembered yet. Give `around`, a memory's id or words that find it, to see what"
    " happened before and after it."
)


class TopicOut(TypedDict):
    """A topic."""

    id: str
    name: str
    scope: str
    phase: Literal["emerging", "stable", "declining", "merging"]
    confidence: float
    weighted_agreement: float
    dominant_spaces: NotRequired[list[str]]
    strengths: NotRequired[dict[str, float]]
    terms: NotRequired[list[str]]
    member_count: int
    created_at: NotRequired[str]
    merged_into: NotRequired[str]
    examples: NotRequired[list[HitOut]]


class TopicsOut(TypedDict):
    """What `list_topics` answers."""

    note: NotRequired[str]
    topics: list[TopicOut]
    total: int
    more: NotRequired[str]
    detected_at: NotRequired[str]
    memories: int
    waiting: NotRequired[str]


class EventOut(TypedDict):
    """A memory in a timeline."""

    at: str
    relation: Literal["before", "anchor", "after", "within"]
    memory: HitOut


class TimelineOut(TypedDict):
    """What `timeline` answers."""

    note: NotRequired[str]
    anchor: NotRequired[str]
    start: NotRequired[str]
    session_id: NotRequired[str]
    direction: str
    events: list[EventOut]


async def list_topics(
    ctx: Call, limit: Annotated[int, Field(ge=1, le=100)] = 20
) -> Annotated[CallToolResult, TopicsOut]:
    """List what this project's memories are about: topics found by clustering, largest first, each with its phase
    (emerging, stable, declining, merging), how far the embedding spaces agree on it, and an example. Use it to get an
    overview of a memory you don't know; use search_memory for a question."""
    found = await state_of(ctx).workers.reader.call(lambda memory: memory.list_topics(limit))
    shaped = shape_topics(found)
    return tool_result(shaped, render_topics(shaped))


async def timeline(
    ctx: Call,
    around: Annotated[str | None, Field(description="id, or words that find it", max_length=MAX_QUERY_CHARS)] = None,
    session_id: Annotated[str | None, Field(max_length=200)] = None,
    direction: Literal["before", "after", "both"] = "both",
    limit: Limit = 10,
) -> Annotated[CallToolResult, TimelineOut]:
    """Tell what happened before and after something remembered, or in a session, in the order it happened: turns,
    decisions, dead ends, facts, commits. Use it to learn what led to a decision or what followed a failure. Give
    `around` or `session_id`; neither is the latest session."""
    found = await state_of(ctx).workers.reader.call(
        lambda memory: memory.get_timeline(around, session_id=session_id, direction=direction, limit=limit)
    )
    shaped = shape_timeline(found)
    return tool_result(shaped, render_timeline(shaped))


def shape_topics(found: TopicList) -> TopicsOut:
    """Return the answer of `list_topics`: what each topic is in short, an example, and how to see more."""
    room = min(EXAMPLE_CHARS, EXAMPLES_CHARS // max(1, len(found.topics)))
    shaped = {
        "topics": [_shape_listed(topic, room) for topic in found.topics],
        "total": found.total,
        "memories": found.memories,
    }
    told = answer_values.drop_empty(
        {"detected_at": found.detected_at, "waiting": found.waiting, "more": _tell_more(found)}
    )
    note = {"note": answer_values.DATA} if found.topics else {}
    return cast(TopicsOut, {**note, **shaped, **told})


def _shape_listed(topic: TopicHit, room: int) -> TopicOut:
    plain = {name: value for name, value in asdict(topic).items() if name not in _TOLD_OF_ONE}
    shown = answer_values.shape_hits(topic.examples[:1], room=room)
    return cast(TopicOut, {**answer_values.drop_empty(plain), **({"examples": shown} if shown else {})})


def _tell_more(found: TopicList) -> str:
    """Return how the rest is seen: a topic's memories, and the topics that are not listed."""
    if not found.topics:
        return ""
    unlisted = found.total - len(found.topics)
    more = f"{unlisted} smaller topics are not listed: a higher limit (up to 100) lists them. " if unlisted else ""
    return f"{more}The resource memory://topic/ID has the words and up to fifty memories of one."


def shape_topic(topic: TopicHit, room: int) -> TopicOut:
    """Return a topic, its examples cut to `room` characters each."""
    plain = {name: value for name, value in asdict(topic).items() if name != "examples"}
    shown = answer_values.shape_hits(topic.examples, room=max(1, room * len(topic.examples)))
    return cast(TopicOut, {**answer_values.drop_empty(plain), **({"examples": shown} if shown else {})})


def shape_timeline(found: Timeline) -> TimelineOut:
    """Return the answer of `timeline`."""
    return answer_values.fit_answer(lambda room: _shape_timeline(found, room))


def _shape_timeline(found: Timeline, room: int) -> TimelineOut:
    memories = answer_values.shape_hits([event.memory for event in found.events], room=room)
    events = [
        {"at": event.at, "relation": event.relation, "memory": memory}
        for event, memory in zip(found.events, memories, strict=True)
    ]
    plain = {
        "anchor": found.anchor,
        "start": found.start,
        "session_id": found.session_id,
        "direction": found.direction,
    }
    note = {"note": answer_values.DATA} if events else {}
    return cast(TimelineOut, {**note, **answer_values.drop_empty(plain), "events": events})


def render_topics(shaped: TopicsOut) -> str:
    """Return topics as a text."""
    if not shaped["topics"]:
        return shaped.get("waiting", "No topics found: the memories are too different from each other.")
    lines = [answer_values.DATA]
    for topic in shaped["topics"]:
        spaces = ", ".join(topic.get("dominant_spaces", ())) or "none"
        lines.append(
            f"\nTopic {topic['id']} ({topic['phase']}, {topic['member_count']} memories, agreement"
            f" {topic['weighted_agreement']:.1f} of 8.5, strongest in"
            f" {spaces}):\n{answer_text.quote_text(topic['name'])}"
        )
        lines += [answer_text.render_memory(hit) for hit in topic.get("examples", ())]
    lines += [f"\n{shaped['more']}"] if "more" in shaped else []
    if "waiting" in shaped:
        lines.append(f"\n{shaped['waiting']}")
    return "\n".join(lines)


def render_timeline(shaped: TimelineOut) -> str:
    """Return a timeline as a text."""
    if not shaped["events"]:
        sessionless = "anchor" not in shaped and "session_id" not in shaped
        return NO_SESSION if sessionless else "No memories found there."
    events = [
        f"{event['at']} ({event['relation']}) {answer_text.render_memory(event['memory'])}"
        for event in shaped["events"]
    ]
    start = [f"Around: {shaped['start']}"] if "start" in shaped else []
    return "\n\n".join([answer_values.DATA, *start, *events])


TOOLS: Final = (
    ToolSpec(run=timeline, title="Timeline", read_only=True, idempotent=True, core=False),
    ToolSpec(run=list_topics, title="List topics", read_only=True, idempotent=True, core=False),
)
