"""Changes of a project are numbered in the order of their commits."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

from hyperloci.store.team import postgres
from hyperloci.store.team.postgres import member_transaction
from hyperloci.store.team.shared_truth import SharedTruth, merge_payload
from hyperloci.store.team.shared_values import OutgoingRevision, SharedPayload, SharedState
from tests.team.machines import PROJECT, Team


def make_payload(content: str, **changes: Any) -> SharedPayload:
    values: dict[str, Any] = {
        "state": SharedState.LIVE,
        "type": "fact",
        "subtype": "insight",
        "title": "",
        "content": content,
        "agent": None,
        "confidence": 0.9,
        "event_time": 1,
        "valid_from": 1,
        "valid_until": None,
    }
    return SharedPayload(**(values | changes))


def make_revision(content: str) -> OutgoingRevision:
    return OutgoingRevision.make(str(uuid.uuid4()), str(uuid.uuid4()), 0, make_payload(content))


def test_a_second_writer_waits_so_that_no_reader_passes_over_the_first(database_url: str) -> None:
    team = Team.make(database_url)
    with postgres.connect(team.url) as first, postgres.connect(team.url) as second, postgres.connect(team.url) as third:
        truths = [SharedTruth(connection, team.token, team.identity) for connection in (first, second)]
        truths[0].store_revisions(PROJECT, [make_revision("one")])
        later = threading.Thread(target=truths[1].store_revisions, args=(PROJECT, [make_revision("three")]))
        with member_transaction(first, team.token) as cursor:
            cursor.execute("SELECT change FROM hyperloci.projects WHERE project = %s FOR UPDATE", (PROJECT,))
            later.start()
            _wait_for_lock(third)
            cursor.execute("UPDATE hyperloci.projects SET change = 2 WHERE project = %s", (PROJECT,))
            assert [
                change.change for change in SharedTruth(third, team.token, team.identity).list_changes(PROJECT, 0, 9)
            ] == [1]
        later.join(30)
        assert [change.change for change in truths[0].list_changes(PROJECT, 1, 9)] == [3]


def _wait_for_lock(connection: Any) -> None:
    until = time.monotonic() + 30
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while not connection.execute(query).fetchone()[0]:
        assert time.monotonic() < until, "the second writer did not wait"


def test_a_merge_keeps_the_further_state_the_earlier_end_and_all_that_was_replaced() -> None:
    one = make_payload("text", valid_until=20, supersedes=("a",), state=SharedState.FORGOTTEN)
    other = make_payload("other text", valid_until=10, supersedes=("b",))
    for head, told in ((one, other), (other, one)):
        merged = merge_payload(head, told)
        assert (merged.state, merged.valid_until, merged.supersedes) == (SharedState.FORGOTTEN, 10, ("a", "b"))
        assert merged.content == head.content


def test_a_merge_with_a_purge_leaves_no_text() -> None:
    gone = make_payload("", state=SharedState.PURGED)
    assert merge_payload(make_payload("text"), gone).content == ""
    assert merge_payload(gone, make_payload("text")).content == ""


def test_a_payload_is_the_same_after_its_json() -> None:
    payload = make_payload("naïve ☃", supersedes=("b", "a"))
    assert SharedPayload.from_dict(payload.to_dict() | {"later": 1}) == payload
    assert payload.digest != make_payload("naive").digest
    assert payload.digest == make_payload("naïve ☃", supersedes=("b", "a"), confidence=0.1).digest
