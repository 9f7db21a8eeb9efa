"""Which lines of a turn the user did not write."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.pasted_lines import find_pasted_lines
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView

PASTES = {
    "a device's log": "[00:03:11.020] <err> net: socket closed\n[00:03:11.021] <err> app: halting",
    "a container's log": "api-1  | Error: connect ECONNREFUSED 10.0.0.2:5432\napi-1  |     at TCPConnectWrap",
    "a build": "src/queue.c:88:5: error: use of undeclared identifier 'retry_count'\n2 errors generated.",
    "a chat": "[10:02] Ola: we must move it all to the new host\n[10:03] Ben: and never test again",
    "a sheet": "  SENSOR TK-9 REV 2\n  Do not operate above 60 C.",
}


@pytest.mark.req("B.17")
@pytest.mark.parametrize("paste", PASTES.values(), ids=list(PASTES))
def test_what_was_pasted_between_what_is_said_is_nobodys_statement(paste: str) -> None:
    lines = ["this is what i get", *paste.split("\n"), "so we keep the old one"]
    assert find_pasted_lines(lines) == [False, *[True] * (len(lines) - 2), False]
    said = [sentence.text for sentence in TurnView(0, USER, "\n".join(lines)).sentences]
    assert said == ["this is what i get", "so we keep the old one"]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "text",
    [
        "three things:\n- no new dependencies\n- 4 retries, not 5\n- ask Ana before a release",
        "Stack: django\nDB: postgres, no sqlite\nHosting: hetzner, no AWS please",
        "hi,\nwe go with the second one.\nthe rest stays as it is.",
        "Hallo,\nwir nehmen jetzt doch Postgres.\nDie alte Datenbank bleibt bis Mai.",
    ],
)
def test_lines_that_somebody_typed_are_read(text: str) -> None:
    assert not any(find_pasted_lines(text.split("\n")))


def test_a_turn_of_one_line_has_nothing_pasted_beneath_it() -> None:
    assert find_pasted_lines(["[00:03:11.020] <err> net: socket closed"]) == [False]


def test_of_the_assistant_indented_lines_are_read() -> None:
    view = TurnView(0, ASSISTANT, "Two things:\n  The port is closed.\n  The key has expired.")
    assert any("expired" in sentence.text for sentence in view.sentences)
