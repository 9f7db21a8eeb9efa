"""Of what is said, what may be kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.conversations.capture import turn_text
from hyperloci.conversations.capture.turn_text import is_written_by_user, prepare_turn_text
from hyperloci.model.turn import TurnKind
from tests.support import examples


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Cut at a size that hypothesis reaches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_text, "MAX_EPISODE_CHARS", 120)
        patch.setattr(turn_text, "OVERLAP_CHARS", 130)
        yield


WORDS = st.lists(
    st.sampled_from(["<private>", "</private>", "password=hunter2!x", "word", "\n", "\x1b[0m", "\u200b", "é", "x" * 50])
)


@given(WORDS, st.sampled_from(list(TurnKind)))
@settings(max_examples=examples(100))
def test_what_is_storable_stays_as_it_is(words: list[str], kind: TurnKind) -> None:
    once = prepare_turn_text(" ".join(words), kind)
    if once is not None:
        again = prepare_turn_text(once.text, kind)
        assert again is not None and again.text == once.text


@pytest.mark.parametrize("text", ["", " \n", "<private>x</private>", "<private>a</private> <private>b"])
def test_nothing_is_left_of_what_is_private(text: str) -> None:
    assert prepare_turn_text(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<task-notification>\n<task-id>1</task-id>",
        "<system-reminder>\nremember",
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        "<bash-input>ls</bash-input>",
        "[Request interrupted by user for tool use]",
        "  ",
    ],
)
def test_notices_are_not_prompts(text: str) -> None:
    assert not is_written_by_user(text)


@pytest.mark.parametrize("text", ["fix <system> tags", "<b>bold</b> is what I want", "[Request] is my heading"])
def test_prompts_with_angle_brackets_are_prompts(text: str) -> None:
    assert is_written_by_user(text)
