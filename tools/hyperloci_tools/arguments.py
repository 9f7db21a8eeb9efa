"""Arguments that several tools share, with their descriptions and limits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hyperloci.model.node import MAX_CONTENT_CHARS, MAX_REASON_CHARS

MAX_QUERY_CHARS = 10_000
"""The limit of `Memory.search`: longer than any question, shorter than a pasted file."""

Id = Annotated[str, Field(description="memory id", min_length=1, max_length=100)]
Query = Annotated[str, Field(description="question or words", min_length=1, max_length=MAX_QUERY_CHARS)]
Fact = Annotated[str, Field(description="one self-contained statement", min_length=1, max_length=MAX_CONTENT_CHARS)]
Reason = Annotated[str | None, Field(max_length=MAX_REASON_CHARS)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Scope = Literal["project", "global"] | None
Limit = Annotated[int, Field(ge=1, le=50)]
