"""What tests of every kind share: a clock that is set by hand, an encoder without a model, memories in one line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from numpy.typing import NDArray

from hyperloci.clock import MS_PER_DAY
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import NewNode, Node, SearchCandidate
from hyperloci.model.turn import Speaker, Turn
from hyperloci.spaces.query import QueryFingerprint, fingerprint_query
from hyperloci.store import Store
from hyperloci.store.vectors import int8

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, GetPromptResult, ReadResourceResult

NOW = 1_800_000_000_000
"""When tests begin: 2027-01-15 08:00:00 UTC."""

SLOW_IS_FINE = (HealthCheck.too_slow,)
"""How long drawing takes depends on what else the machine does, so no test fails for it."""

SHARED_FIXTURE = (*SLOW_IS_FINE, HealthCheck.function_scoped_fixture)
"""For a test whose examples share a fixture and don't mind."""

USUAL_EXAMPLES = 100
"""What a property without a count of its own gets in the profile that is usual."""


def examples(count: int) -> int:
    """Return how many examples a property gets that gets `count` as a rule: more where the profile asks for more."""
    return count * hypothesis_settings().max_examples // USUAL_EXAMPLES


class FakeClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, ms: int) -> int:
        """Move on (or back, if below 0) and return the new time."""
        self.now += ms
        return self.now


def sum_up(memory: Memory, clock: FakeClock, texts: Sequence[str]) -> None:
    """Have a session in which a user says these, and all its summaries made."""
    turns = [Turn(uuid=str(n), role=Speaker.USER, text=text, timestamp_ms=clock() + n) for n, text in enumerate(texts)]
    memory.add_turns("s", turns)
    clock.advance(3 * MS_PER_DAY)
    memory.catch_up()
    clock.advance(2 * MS_PER_DAY)
    memory.run_maintenance()


def vector_of(text: str, dimensions: int = 384) -> NDArray[np.float32]:
    """Return a unit vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return vectors of length one."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


def random_rows(count: int, dimensions: int = 384, seed: int = 7) -> NDArray[np.float32]:
    """Return random unit vectors, the hardest to tell apart."""
    return unit(np.random.default_rng(seed).standard_normal((count, dimensions)))


def packing_error(vector: NDArray[np.float32]) -> float:
    """Return what a cosine with a unit vector may be off by at most, once packed in bytes (`store.vectors.int8`)."""
    rounding = float(np.abs(vector).max(initial=0.0)) / (2 * int8.LEVELS) * float(np.sqrt(len(vector)))
    # Scaling the rounded vector back to length one at most doubles its distance to the true one.
    return 2 * rounding


class FakeEncoder:
    """An encoder whose vectors derive from a hash of the text: equal texts are near, all others far."""

    def __init__(self, dimensions: int = 384, model_id: str = "fake") -> None:
        self.model_id = model_id
        self.dimensions = dimensions
        self.max_tokens = 256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, one row each."""
        rows = [vector_of(text, self.dimensions) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        """Embed a query, as the embedder's client does."""
        return self.model_id, vector_of(text, self.dimensions)

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        """See a query in every space, as the embedder does."""
        return fingerprint_query(text, self)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must succeed, and return what it answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    answer = result.structured_content
    assert isinstance(answer, dict)
    return answer


def text_of(answer: CallToolResult | GetPromptResult | ReadResourceResult) -> str:
    """Return the text that a tool, a prompt or a resource answers."""
    from mcp_types import CallToolResult, GetPromptResult, TextContent, TextResourceContents

    if isinstance(answer, GetPromptResult):
        said: object = answer.messages[0].content
    else:
        said = (answer.content if isinstance(answer, CallToolResult) else answer.contents)[0]
    assert isinstance(said, TextContent | TextResourceContents)
    return said.text


def candidates(store: Store, *nodes: Node) -> dict[NodeKey, SearchCandidate]:
    """Return what a ranking looks at of memories, in their order."""
    found = store.nodes.get_candidates(node.key for node in nodes)
    return {node.key: found[node.key] for node in nodes}


def add(store: Store, content: str = "a fact", *, now: int = NOW, place: str = "", **fields: Any) -> Node:
    """Store one memory in its own transaction."""
    session_key = fields.pop("session_key", None)
    new = NewNode(type=fields.pop("type", NodeType.FACT), content=content, **fields)
    with store.transaction():
        return store.nodes.create_node(new, now=now, place=place, session_key=session_key)
