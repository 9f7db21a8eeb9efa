"""LLM summary: summaries by a language model that the user named (`consolidation = "llm"`), checked (B.17).

The answer must have the schema's shape and sizes, and no number that is in no turn; otherwise it is rejected, and the
heuristic strategy is used instead. Turns are sent as they are stored, so without secrets; the answer is sanitized like
everything that is stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from hyperloci.conversations.chat_model import ChatModel
from hyperloci.conversations.consolidation.text_similarity import find_numbers
from hyperloci.conversations.pyramid.summary import MAX_FACTS, SUMMARY_TOKENS
from hyperloci.conversations.pyramid.themes import MAX_THEME_CHARS, MAX_THEMES
from hyperloci.conversations.transcript_prompt import DATA
from hyperloci.errors import BadRequestError
from hyperloci.model.pyramid import Digest
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Turn
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.sanitizer import sanitize
from hyperloci.text.tokens import count_tokens

MAX_CHARS: Final = 24_000
"""Characters put to a model at once, as in consolidation: the context of a small model has room for them."""

MAX_TURN_CHARS: Final = 2_000
MAX_FACT_CHARS: Final = 400
SLACK: Final = 1.5
"""Models count words badly: a summary may be so much longer than it was asked to be."""

SYSTEM: Final = """\
You sum up a part of a conversation between a user and a coding assistant for those who come back to it later.
Answer with one JSON object and nothing else: {{"summary": "...", "key_facts": ["..."], "themes": ["..."]}}
- summary: at most {words} words: what was worked on, decided, found out, and why. No greeting, no opinion of yours.
- key_facts: at most {facts} statements to be kept: decisions, preferences, limits, outcomes, dates.
- themes: at most 5, of one to three words.
Say nothing that no turn says, above all no number. """


@dataclass(frozen=True, slots=True)
class ModelSummariser:
    """The strategy that asks a model."""

    chat: ChatModel

    def __call__(self, level: PyramidLevel, turns: Sequence[Turn], parts: Sequence[Digest]) -> Digest:
        """Return the digest of a chunk; that of a larger one is made of its parts' summaries where there are any.

        Raises:
            HyperlociError: the model did not answer, or with what can't be used.
        """
        told = _format_turns(turns, parts if level is PyramidLevel.MACRO else ())
        system = SYSTEM.format(words=SUMMARY_TOKENS[level] * 3 // 4, facts=MAX_FACTS[level]) + DATA
        return _check_digest(level, self.chat.ask_for_json(system, told), told)


def _format_turns(turns: Sequence[Turn], parts: Sequence[Digest]) -> str:
    if parts:
        lines = [
            json.dumps({"part": n, **_digest_to_json(part)}, ensure_ascii=False)
            for n, part in enumerate(parts, start=1)
        ]
    else:
        lines = [
            json.dumps({"turn": n, "who": turn.role.value, "said": turn.text[:MAX_TURN_CHARS]}, ensure_ascii=False)
            for n, turn in enumerate(turns, start=1)
        ]
    room = MAX_CHARS // max(1, len(lines))
    return "\n".join(line[:room] for line in lines)


def _digest_to_json(part: Digest) -> dict[str, Any]:
    return {"summary": part.summary, "key_facts": part.key_facts}


def _check_digest(level: PyramidLevel, found: Any, told: str) -> Digest:
    if not isinstance(found, dict):
        raise BadRequestError("the model's answer is not a JSON object")
    summary = _check_text(found.get("summary"), "summary", told)
    if count_tokens(summary) > SLACK * SUMMARY_TOKENS[level]:
        raise BadRequestError(f"the model's summary has {count_tokens(summary)} tokens")
    facts = [_check_text(fact, "key_facts", told)[:MAX_FACT_CHARS] for fact in _check_list(found.get("key_facts"))]
    themes = [_check_text(theme, "themes", told)[:MAX_THEME_CHARS] for theme in _check_list(found.get("themes"))]
    return Digest(summary, tuple(facts[: MAX_FACTS[level]]), tuple(themes[:MAX_THEMES]))


def _check_list(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise BadRequestError("the model's key_facts and themes must be lists")
    return value or []


def _check_text(value: Any, name: str, told: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadRequestError(f"the model's {name} must be non-empty texts")
    text = sanitize(value).text.strip()
    if not text:
        raise BadRequestError(f"of the model's {name} nothing may be stored")
    unheard = find_numbers(text) - find_numbers(told)
    if unheard:
        raise BadRequestError(f"the model's {name} have numbers that no turn has: {', '.join(sorted(unheard))}")
    return text
