"""Plans that a client hands to the assistant in the user's place: what of such a prompt is the user's own."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView
from hyperloci.conversations.handed_plans import blank_buttons, keep_own_words

PLAN = """Implement the following plan:

# Replace polling with server-sent events

- Always send a heartbeat every 15 s so that the proxy doesn't close the connection.
- Never send job payloads over the stream.
"""

HINT = (
    "\nIf you need specific details from before exiting plan mode (like exact code snippets, error messages, or content"
    " you generated), read the full transcript at: /home/ada/.claude/projects/dash/0b9f.jsonl"
)
TEAM = "\n\nIf this plan can be broken down into multiple independent tasks, consider spawning named teammates."
FEEDBACK = "\n\nUser feedback on this plan: yes but no heartbeat, the proxy waits for an hour."
BUTTON = (
    "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.\n\n"
    "To-do's from the plan have already been created. Do not create them again. Mark them as in_progress as you work."
)


def sentences(text: str, speaker: str = USER) -> list[str]:
    return [sentence.text for sentence in TurnView(1, speaker, text).sentences]


@pytest.mark.req("B.17")
@pytest.mark.parametrize("between", ["", TEAM])
def test_of_an_accepted_plan_what_the_user_adds_is_theirs(between: str) -> None:
    assert sentences(f"{PLAN}{HINT}{between}{FEEDBACK}") == ["yes but no heartbeat, the proxy waits for an hour."]


@pytest.mark.req("B.17")
def test_of_an_accepted_plan_alone_nothing_is_the_users() -> None:
    assert sentences(f"{PLAN}{HINT}") == []


@pytest.mark.req("B.17")
def test_a_plan_that_the_user_wrote_is_theirs() -> None:
    assert "Never send job payloads over the stream." in " ".join(sentences(PLAN))


@pytest.mark.req("B.17")
def test_of_a_prompt_behind_a_button_only_what_stands_around_it_is_read() -> None:
    assert sentences(BUTTON) == []
    assert sentences(f"{BUTTON}\nAlways run the linter before you stop.") == ["Always run the linter before you stop."]


@pytest.mark.req("B.17")
def test_what_an_assistant_says_is_read_as_it_is() -> None:
    assert sentences(f"{PLAN}{HINT}", ASSISTANT)


@pytest.mark.parametrize("text", [PLAN, f"{PLAN}{HINT}", f"{PLAN}{HINT}{FEEDBACK}", BUTTON, "Fix it.", ""])
def test_places_in_a_prompt_stay_what_they_are(text: str) -> None:
    assert len(keep_own_words(text)) == len(blank_buttons(text)) == len(text)
