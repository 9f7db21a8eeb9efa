"""Chat model: what asks a language model for JSON, whichever way it is reached (B.17)."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Protocol

from hyperloci.errors import HyperlociError
from hyperloci.text.language.code_fences import fenced_code

_THOUGHT: Final = re.compile(r"<think(?:ing)?>(?>(?:[^<]++|<(?!/?think))*)</think(?:ing)?>")


class ChatError(HyperlociError):
    """The language model did not answer, or its answer is invalid."""


class ChatModel(Protocol):
    """A language model that answers one question at a time.

    Attributes:
        strategy: the word of the setting `consolidation` that chose it.
    """

    strategy: str

    def ask_for_json(self, system: str, user: str) -> Any:
        """Return the JSON value that the model answers with.

        Raises:
            ChatError: it did not answer, or with something else.
        """
        ...


def parse_json_answer(content: str) -> Any:
    """Return the JSON value of a model's text: alone, in a code fence, or with text around it.

    Raises:
        ValueError: there is none.
    """
    text = _THOUGHT.sub("", content).strip()
    if text.startswith("```"):
        text = next(iter(fenced_code(text)), text)
    try:
        return json.loads(text)
    except ValueError:
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or end <= start:
            raise
        return json.loads(text[start : end + 1])
