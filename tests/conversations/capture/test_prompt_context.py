"""What a prompt is told unasked: what decides, once, and as data."""

from __future__ import annotations

import pytest

from hyperloci.clock import to_iso
from hyperloci.conversations.capture.prompt_context import PROMPT_CHARS, PROMPT_ITEM_CHARS, build_prompt_context
from hyperloci.model.record import CaptureKind
from hyperloci.model.search import Hit, HitSource, SearchAnswer
from tests.conversations.capture._house import NOW, PROJECT, House


def hit(
    id: str = "11111111-0000-4000-8000-000000000000",
    content: str = "The gateway listens on 8443",
    *,
    session: str | None = "old",
    notes: tuple[str, ...] = (),
    cosine: float | None = None,
    path: str | None = None,
) -> Hit:
    return Hit(
        id=id,
        type="fact",
        subtype="insight",
        content=content,
        score=0.9,
        confidence=1.0,
        tier="task",
        scope=PROJECT,
        created_at=to_iso(NOW),
        valid_from=to_iso(NOW),
        valid_until=None,
        source=HitSource(kind="tool", session_id=session, path=path, line_start=3 if path else None),
        notes=notes,
        explain={"embedder_scores": {"semantic": {} if cosine is None else {"e1": cosine}}},
    )


def test_a_prompt_gets_the_hits_in_their_order_with_their_places() -> None:
    injection = build_prompt_context([hit("a" * 36), hit("b" * 36, "Second", path="docs/a.md")], session_id="s1")
    assert injection.ids == ("a" * 36, "b" * 36)
    assert injection.text.index("8443") < injection.text.index("Second")
    assert "docs/a.md:3" in injection.text
    assert injection.text.startswith('<hyperloci-memory kind="prompt">')


@pytest.mark.parametrize(
    "left_out",
    [
        hit(session="s1"),
        hit("seen"),
        hit(notes=("suspicious: instruction",)),
        hit(notes=("forgotten",)),
        hit(notes=("no longer valid",)),
    ],
    ids=["said in this session", "shown before", "suspicious", "forgotten", "invalid"],
)
def test_a_prompt_is_not_told(left_out: Hit) -> None:
    assert build_prompt_context([left_out], session_id="s1", seen=frozenset({"seen"})).text == ""


def test_a_prompts_budget_holds_three_or_four_long_memories() -> None:
    hits = [hit(f"{index:036d}", "word " * 120) for index in range(12)]
    injection = build_prompt_context(hits, session_id="s1")
    assert len(injection.text) <= PROMPT_CHARS
    assert injection.ids == tuple(f"{index:036d}" for index in range(len(injection.ids)))
    assert len(injection.ids) in (2, 3)


def test_a_memory_is_called_by_its_subtype() -> None:
    assert "- insight " in build_prompt_context([hit("a" * 36)], session_id="s1").text


def test_of_a_long_memory_a_prompt_gets_the_passage_that_bears_on_it() -> None:
    long = "It rained all day. " * 100 + "The edge gateway listens on TLS port 8443. " + "And then it snowed. " * 100
    text = build_prompt_context([hit(content=long)], "Which TLS port does the gateway use?", session_id="s1").text
    assert "The edge gateway listens on TLS port 8443." in text
    assert len(text) < PROMPT_ITEM_CHARS + 500 and '"…' in text and '…"' in text


def test_what_a_prompt_was_told_is_not_told_again_in_that_session(house: House) -> None:
    house.start()
    first = house.tell(CaptureKind.PROMPT, "Which port does the edge gateway listen on?", "s1")
    asked: list[str] = []

    def search(query: str, **conditions: object) -> SearchAnswer:
        asked.append(query)
        assert conditions["reinforce"] is False
        return SearchAnswer(
            query=query,
            intent="what",
            strategy="multi_space",
            mode="hybrid",
            degraded=None,
            results=(hit(cosine=0.7),),
        )

    assert "8443" in house.capture.context_after(first, search)
    again = house.tell(CaptureKind.PROMPT, "And which port does the edge gateway of staging have?", "s1")
    assert house.capture.context_after(again, search) == ""
    thanks = house.tell(CaptureKind.PROMPT, "thanks", "s1")
    assert house.capture.context_after(thanks, search) == ""
    assert len(asked) == 2
