"""Sessions: what is said is kept once, in order, whoever tells of it first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY, to_iso
from hyperloci.config import Settings
from hyperloci.conversations.capture import sessions
from hyperloci.conversations.capture.session_events import HURRIED_TURNS, Capture
from hyperloci.conversations.capture.sessions import (
    SAME_TURN_MS,
    NewTurn,
    add_turn,
    add_turns,
    close_abandoned,
    end_session,
    start_session,
)
from hyperloci.conversations.capture.turn_text import MAX_EPISODE_CHARS, prepare_turn_text
from hyperloci.model.kinds import NodeType, Origin, Role, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.model.search import SearchFilter
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.text.sanitize.sanitizer import sanitize

NOW = 1_795_000_000_000
PROJECT = "project:0123456789abcdef"
SESSION = "4af6bedc-0000-4000-8000-000000000001"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db", clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def capture(store: Store, tmp_path: Path) -> Capture:
    settings = Settings(database=store.path, state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    return Capture(store, settings, lambda: NOW)


def record(
    kind: CaptureKind, text: str = "", *, id: str = "r1", at: int = NOW, path: str | None = None
) -> CaptureRecord:
    return CaptureRecord(
        id=id,
        kind=kind,
        session_id=SESSION,
        project_id=PROJECT,
        project_name="demo",
        project_root="/demo",
        at=at,
        text=text,
        path=path,
    )


def storable_text(text: str) -> str:
    prepared = prepare_turn_text(text)
    assert prepared is not None
    return prepared.text


def said(store: Store, role: Speaker, text: str, *, uuid: str | None = None, now: int = NOW) -> Node | None:
    with store.transaction():
        return add_turn(store, SESSION, PROJECT, NewTurn(role=role, text=text, at=now, uuid=uuid), now=now)


def action(line: str) -> NewTurn:
    return NewTurn(role=Speaker.ASSISTANT, text=line, at=NOW, kind=TurnKind.ACTION, uuid="toolu_1", path="src/a.py")


def turn(uuid: str, text: str, role: Speaker = Speaker.USER, at: int = NOW, kind: TurnKind = TurnKind.TEXT) -> Turn:
    return Turn(uuid=uuid, role=role, text=text, timestamp_ms=at, kind=kind)


def read(store: Store, *turns: Turn, session: str = SESSION) -> int:
    with store.transaction():
        return add_turns(store, session, PROJECT, turns, now=NOW)


def episodes(store: Store) -> list[Node]:
    found = store.nodes.query_nodes("experience", subtypes=("episode",))
    return sorted(found, key=lambda node: (node.session_id or "", node.seq or 0))


@pytest.mark.req("B.01", "E.02", "E.10")
def test_an_episode_has_its_session_its_place_and_its_origin(store: Store) -> None:
    first = said(store, Speaker.USER, "Use tabs in the Makefile")
    second = said(store, Speaker.ASSISTANT, "Done")
    assert first is not None and second is not None
    assert [(node.session_id, node.seq, node.origin) for node in (first, second)] == [
        (SESSION, 0, Origin.USER_PROMPT),
        (SESSION, 1, Origin.CLAUDE_RESPONSE),
    ]
    assert (first.type, first.subtype, first.tier, first.decay_rate) == ("experience", "episode", Tier.TASK, 0.0)
    assert first.confidence == 1.0 and second.confidence == 0.7


@pytest.mark.req("D.01")
def test_a_page_that_was_fetched_is_found_by_its_address(store: Store) -> None:
    turn = NewTurn(
        role=Speaker.ASSISTANT, text="WebFetch: https://docs.example.org/a", at=NOW, kind=TurnKind.ACTION, uuid="t"
    )
    with store.transaction():
        node = add_turn(store, SESSION, PROJECT, turn, now=NOW)
    assert node is not None
    assert store.positions.get_positions([node.key])[node.key].url == "https://docs.example.org/a"


@pytest.mark.req("B.02")
def test_each_episode_follows_the_one_before_it(store: Store) -> None:
    nodes = [said(store, Speaker.USER, text) for text in ("one", "two", "three")]
    first, second, third = (node for node in nodes if node is not None)
    assert not [edge for edge in store.edges.list_of_node(first.key, "follows") if edge.members[0].node == first.key]
    for later, earlier in ((second, first), (third, second)):
        edge = next(
            edge for edge in store.edges.list_of_node(later.key, "follows") if edge.members[0].node == later.key
        )
        assert [(member.node, member.role) for member in edge.members] == [
            (later.key, Role.SUBJECT),
            (earlier.key, Role.OBJECT),
        ]


def test_an_episode_is_found_by_the_words_of_the_turn_before(store: Store) -> None:
    said(store, Speaker.USER, "Which port does the gateway listen on?")
    answer = said(store, Speaker.ASSISTANT, "8443")
    assert answer is not None
    found = store.keyword_search.rank_by_bm25(analyse_query("gateway"), store.filters.select_allowed(SearchFilter()), 5)
    assert answer.key in found


@pytest.mark.req("B.01")
def test_a_prompt_that_a_hook_told_of_is_not_stored_again_from_the_transcript(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.PROMPT, "Run the migration"))
    assert read(store, turn("u1", "Run the migration", at=NOW + 40)) == 0
    assert read(store, turn("u1", "Run the migration", at=NOW + 40)) == 0
    assert [node.content for node in episodes(store)] == ["Run the migration"]


def test_a_message_that_the_transcript_held_first_is_not_stored_again_by_the_hook(
    store: Store, capture: Capture
) -> None:
    read(store, turn("a1", "All 12 tests pass.", Speaker.ASSISTANT))
    assert capture.store_record(record(CaptureKind.TURNS, "All 12 tests pass.", at=NOW + 90)) == 0
    assert len(episodes(store)) == 1


def test_the_same_words_said_twice_are_two_episodes_in_hooks_and_transcript_alike(
    store: Store, capture: Capture
) -> None:
    capture.store_record(record(CaptureKind.PROMPT, "continue", id="r1"))
    capture.store_record(record(CaptureKind.PROMPT, "continue", id="r2", at=NOW + 60_000))
    assert read(store, turn("u1", "continue", at=NOW), turn("u2", "continue", at=NOW + 60_000)) == 0
    assert read(store, turn("u3", "continue", at=NOW + 120_000)) == 1
    assert len(episodes(store)) == 3


def test_the_same_words_much_later_are_said_anew(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.PROMPT, "continue", at=NOW - SAME_TURN_MS - 1))
    assert read(store, turn("u9", "continue", at=NOW)) == 1


def test_a_record_kept_twice_is_stored_once(store: Store, capture: Capture) -> None:
    kept = record(CaptureKind.PROMPT, "Keep me once")
    assert (capture.store_record(kept), capture.store_record(kept)) == (1, 0)
    assert len(episodes(store)) == 1


def test_a_fork_that_repeats_its_parents_turns_stores_only_its_own(store: Store) -> None:
    old = [turn("u1", "Design the cache", at=NOW - 5_000), turn("a1", "An LRU of 512", Speaker.ASSISTANT, NOW - 4_000)]
    action = turn("toolu_1", "Bash: make", Speaker.ASSISTANT, NOW - 3_000, TurnKind.ACTION)
    assert read(store, *old, action) == 3
    assert read(store, *old, action, turn("u2", "Try a FIFO instead"), session="fork") == 1
    assert [node.session_id for node in episodes(store)].count("fork") == 1


def test_a_forgotten_turn_does_not_come_back_when_the_transcript_is_read_again(store: Store) -> None:
    read(store, turn("u1", "Forget this"))
    with store.transaction():
        store.nodes.delete_node(episodes(store)[0].id, now=NOW)
    assert read(store, turn("u1", "Forget this")) == 0
    assert episodes(store) == []


def test_secrets_private_parts_and_injected_notes_are_not_in_an_episode(store: Store) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    node = said(
        store,
        Speaker.USER,
        '<hyperloci-memory kind="prompt">\nold news\n</hyperloci-memory>\n'
        f"Deploy with {token} <private>at noon</private>",
    )
    assert node is not None
    assert token not in node.content and "[redacted" in node.content
    assert "old news" not in node.content and "noon" not in node.content


def test_a_prompt_that_is_all_private_is_not_stored(store: Store) -> None:
    assert said(store, Speaker.USER, "<private>my password is hunter2</private>") is None
    assert said(store, Speaker.USER, "  \n") is None
    assert episodes(store) == []


def test_a_pasted_log_is_kept_by_its_beginning(store: Store) -> None:
    node = said(store, Speaker.USER, "x " * MAX_EPISODE_CHARS)
    assert node is not None
    assert len(node.content) < MAX_EPISODE_CHARS + 100
    assert node.content.endswith(f"[the rest of {2 * MAX_EPISODE_CHARS} characters was not stored]")


def test_a_secret_that_lies_across_the_cut_is_not_half_kept(store: Store) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    node = said(store, Speaker.USER, "x " * (MAX_EPISODE_CHARS // 2 - 10) + token + " y" * 20_000)
    assert node is not None
    assert "ghp_" not in node.content


def test_a_stored_text_told_again_is_known(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.PROMPT, storable_text("x " * MAX_EPISODE_CHARS)))
    assert read(store, turn("u1", "x " * MAX_EPISODE_CHARS)) == 0


@pytest.mark.req("E.02")
def test_an_action_is_one_line_at_its_place_in_the_session(store: Store) -> None:
    said(store, Speaker.USER, "Fix it")
    with store.transaction():
        node = add_turn(store, SESSION, PROJECT, action("Edit src/a.py: +3 -1 lines"), now=NOW)
        again = add_turn(store, SESSION, PROJECT, action("Edit src/a.py: 3 lines"), now=NOW)
    assert node is not None and again is None
    assert (node.subtype, node.seq, node.origin) == ("action", 1, Origin.HOOK)
    assert store.positions.get_positions([node.key])[node.key].path == "src/a.py"
    assert store.edges.list_of_node(node.key) == []


def test_a_suspicious_text_is_flagged_though_its_record_was_cleaned_before(store: Store, capture: Capture) -> None:
    capture.store_record(replace(record(CaptureKind.PROMPT, "All fine"), flags=("hidden_text",)))
    assert episodes(store)[0].metadata["flags"] == ["hidden_text"]


@pytest.mark.req("E.10", "B.16")
def test_a_session_is_active_then_completed_then_active_again_when_it_is_resumed(
    store: Store, capture: Capture
) -> None:
    capture.store_record(record(CaptureKind.STARTED, "startup", path="/t.jsonl"))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 10))
    ended = store.sessions.get_session(SESSION)
    assert ended is not None
    assert (ended.status, ended.ended_at, ended.metadata["end_reason"]) == ("completed", NOW + 10, "other")
    assert ended.metadata["transcript"] == "/t.jsonl"
    capture.store_record(record(CaptureKind.STARTED, "resume", at=NOW + 20))
    resumed = store.sessions.get_session(SESSION)
    assert resumed is not None and (resumed.status, resumed.ended_at) == ("active", None)


def test_an_end_that_is_told_late_does_not_end_a_session_that_went_on(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.STARTED, "startup"))
    capture.store_record(record(CaptureKind.STARTED, "resume", at=NOW + 60_000))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 50))
    session = store.sessions.get_session(SESSION)
    assert session is not None and session.status == "active"


def test_a_turn_that_is_told_late_does_not_revive_an_ended_session(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.STARTED, "startup"))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 100))
    capture.store_record(record(CaptureKind.PROMPT, "late", at=NOW + 50))
    session = store.sessions.get_session(SESSION)
    assert session is not None and session.status == "completed"
    assert [node.content for node in episodes(store)] == ["late"]


@pytest.mark.req("E.10")
def test_a_start_that_is_told_late_does_not_revive_an_ended_session(store: Store, capture: Capture) -> None:
    start, end = record(CaptureKind.STARTED, "startup", at=NOW), record(CaptureKind.ENDED, "exit", at=NOW + 1)
    for told in (start, end, start):
        capture.store_record(told)
    session = store.sessions.get_session(SESSION)
    assert session is not None and (session.status, session.ended_at) == ("completed", NOW + 1)
    capture.store_record(record(CaptureKind.STARTED, "resume", at=NOW + 1))
    session = store.sessions.get_session(SESSION)
    assert session is not None and session.status == "active"


@pytest.mark.req("E.10")
def test_a_start_that_is_told_late_still_tells_the_program(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.ENDED, "exit", at=NOW + 1))
    capture.store_record(replace(record(CaptureKind.STARTED, "startup"), client_version="2.0.1"))
    session = store.sessions.get_session(SESSION)
    assert session is not None and (session.status, session.client_version) == ("completed", "2.0.1")


@pytest.mark.req("E.10")
def test_a_session_goes_on_though_the_clock_was_set_back_since_it_ended(store: Store, capture: Capture) -> None:
    ahead = NOW + 60 * 60_000
    capture.store_record(record(CaptureKind.STARTED, "startup", at=ahead))
    capture.store_record(record(CaptureKind.ENDED, "exit", at=ahead + 1))
    capture.store_record(record(CaptureKind.STARTED, "resume"))
    session = store.sessions.get_session(SESSION)
    assert session is not None and (session.status, session.ended_at) == ("active", None)


def test_an_end_without_a_start_is_recorded_all_the_same(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.ENDED, "clear"))
    session = store.sessions.get_session(SESSION)
    assert session is not None and session.status == "completed"


@pytest.mark.req("B.16")
def test_the_end_of_a_session_moves_what_was_recalled_or_extracted_and_logs_why(store: Store) -> None:
    recalled, left = said(store, Speaker.USER, "recalled"), said(store, Speaker.USER, "left")
    assert recalled is not None and left is not None
    fact = NewNode(type=NodeType.FACT, subtype="semantic", content="extracted", origin=Origin.EXTRACTION, scope=PROJECT)
    session = store.sessions.get_session(SESSION)
    assert session is not None
    with store.transaction():
        store.nodes.reinforce_nodes([recalled.key], now=NOW)
        extracted = store.nodes.create_node(fact, now=NOW, session_key=session.key)
        moved = end_session(store, SESSION, now=NOW + 1)
    assert set(moved) == {recalled.id, extracted.id}
    tiers = {node.content: node.tier for node in store.nodes.query_nodes()}
    assert tiers == {"recalled": Tier.SESSION, "extracted": Tier.SESSION, "left": Tier.TASK}
    entry = store.log.list_of_node(recalled.id)[-1]
    assert (entry.operation, entry.from_tier, entry.to_tier) == ("tier", "task", "session")
    assert "ended" in (entry.reasoning or "")
    with store.transaction():
        assert end_session(store, SESSION, now=NOW + 2) == ()


def test_a_session_that_was_killed_is_abandoned_after_a_day(store: Store) -> None:
    with store.transaction():
        start_session(store, "killed", PROJECT, now=NOW - 2 * MS_PER_DAY)
        start_session(store, SESSION, PROJECT, now=NOW)
        assert close_abandoned(store, PROJECT, now=NOW) == ("killed",)
    statuses = {session.id: session.status for session in store.sessions.list_recent()}
    assert statuses == {"killed": "abandoned", SESSION: "active"}


def test_an_end_that_is_told_of_a_moment_before_the_last_turn_ends_the_session(store: Store, capture: Capture) -> None:
    capture.store_record(record(CaptureKind.PROMPT, "Thanks, that is all for today.", at=NOW + 900))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW))
    session = store.sessions.get_session(SESSION)
    assert session is not None
    assert (session.status, session.ended_at) == ("completed", NOW + 900)
    capture.store_record(record(CaptureKind.PROMPT, "One more thing: is it green?", at=NOW + 60_000))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW))
    gone_on = store.sessions.get_session(SESSION)
    assert gone_on is not None and gone_on.status == "active"


def test_a_session_is_abandoned_however_many_came_after_it(store: Store) -> None:
    with store.transaction():
        start_session(store, "killed", PROJECT, now=NOW - 2 * MS_PER_DAY)
        for number in range(101):
            start_session(store, f"later {number}", PROJECT, now=NOW)
        assert close_abandoned(store, PROJECT, now=NOW) == ("killed",)


@pytest.mark.req("E.10", "B.16")
def test_a_session_that_was_killed_ended_with_its_last_sign_of_life_and_is_not_the_last_one(
    store: Store, capture: Capture
) -> None:
    with store.transaction():
        start_session(store, "killed", PROJECT, now=NOW - 2 * MS_PER_DAY)
    capture.store_record(record(CaptureKind.STARTED, "startup", at=NOW - MS_PER_DAY))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW - MS_PER_DAY + 60_000))
    with store.transaction():
        assert close_abandoned(store, PROJECT, now=NOW) == ("killed",)
    latest = [(session.id, session.last_seen_at, session.ended_at) for session in store.sessions.list_recent()]
    ended = NOW - MS_PER_DAY + 60_000
    assert latest == [(SESSION, ended, ended), ("killed", NOW - 2 * MS_PER_DAY, NOW - 2 * MS_PER_DAY)]


@pytest.mark.req("E.10", "B.16")
def test_a_session_ends_though_its_transcript_is_dated_ahead_of_the_clock(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    line = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello"}}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps({**line, "timestamp": to_iso(NOW + 20_000)}) + "\n", "utf-8")
    capture.store_record(record(CaptureKind.TURNS, "Hello.", path=str(transcript)))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 100))
    session = store.sessions.get_session(SESSION)
    assert session is not None
    assert (session.status, session.ended_at) == ("completed", NOW + 100)
    assert [node.event_time for node in episodes(store)] == [NOW, NOW]


@pytest.mark.req("E.10", "B.16")
def test_a_hook_whose_clock_is_ahead_of_the_server_has_each_turn_stored_once_at_its_time(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    """As where a session is replayed: each hook has an offset of its own, the server that of the beginning."""
    later = NOW + 2 * SAME_TURN_MS
    transcript = tmp_path / "t.jsonl"
    line = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello there"}}
    transcript.write_text(json.dumps({**line, "timestamp": to_iso(later)}) + "\n", "utf-8")
    capture.store_record(record(CaptureKind.PROMPT, "hello there", at=later))
    capture.store_record(record(CaptureKind.TURNS, "Hello.", path=str(transcript), at=later + 20_000))
    assert [(node.content, node.event_time) for node in episodes(store)] == [
        ("hello there", later),
        ("Hello.", later + 20_000),
    ]


def test_turns_and_the_place_in_the_transcript_are_stored_together(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    line = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello there"}}
    transcript.write_text(json.dumps(line, separators=(",", ":")) + "\n", "utf-8")
    told = record(CaptureKind.TURNS, "Hello.", path=str(transcript))
    assert capture.store_record(told) == 2
    assert capture.store_record(told) == 0
    mark = store.sessions.get_transcript_mark(str(transcript))
    assert mark is not None and mark.offset == transcript.stat().st_size
    assert [node.content for node in episodes(store)] == ["hello there", "Hello."]


def test_a_missing_transcript_leaves_the_last_message(store: Store, capture: Capture, tmp_path: Path) -> None:
    assert capture.store_record(record(CaptureKind.TURNS, "Done.", path=str(tmp_path / "none.jsonl"))) == 1


def test_an_unreadable_transcript_is_an_error_but_the_last_message_is_kept(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    with pytest.raises(OSError):
        capture.store_record(record(CaptureKind.TURNS, "Done.", path=str(tmp_path)))
    assert [node.content for node in episodes(store)] == ["Done."]


def test_upkeep_reads_what_an_ended_sessions_transcript_gained_after_its_last_hook(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    capture.store_record(record(CaptureKind.STARTED, "startup", path=str(transcript)))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 10))
    line = {"type": "assistant", "uuid": "a1", "message": {"content": [{"type": "text", "text": "The last word."}]}}
    transcript.write_text(json.dumps(line) + "\n", "utf-8")
    assert (capture.store_late_turns(PROJECT), capture.store_late_turns(PROJECT)) == (1, 0)
    session = store.sessions.get_session(SESSION)
    assert session is not None and session.status == "completed"


def test_what_comes_late_leaves_a_session_ended_and_with_its_client(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    capture.store_record(replace(record(CaptureKind.STARTED, "startup", path=str(transcript)), client="codex"))
    capture.store_record(replace(record(CaptureKind.ENDED, "other", at=NOW + 10), client="codex"))
    said = {"type": "assistant", "uuid": "a1", "message": {"content": [{"type": "text", "text": "The last word."}]}}
    line = {**said, "timestamp": to_iso(NOW + 60_000)}
    transcript.write_text(json.dumps(line) + "\n", "utf-8")
    assert capture.store_late_turns(PROJECT) == 1
    session = store.sessions.get_session(SESSION)
    assert session is not None
    assert (session.client, session.status, session.ended_at) == ("codex", "completed", NOW + 10)


def test_a_transcript_that_cannot_be_read_leaves_those_of_other_sessions(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    capture.store_record(record(CaptureKind.STARTED, "startup", path=str(transcript)))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 10))
    folder = replace(record(CaptureKind.STARTED, "startup", path=str(tmp_path), at=NOW + 20), session_id="broken")
    capture.store_record(folder)
    capture.store_record(replace(record(CaptureKind.ENDED, "other", at=NOW + 30), session_id="broken"))
    line = {"type": "assistant", "uuid": "a1", "message": {"content": [{"type": "text", "text": "The last word."}]}}
    transcript.write_text(json.dumps(line) + "\n", "utf-8")
    assert capture.store_late_turns(PROJECT) == 1


@pytest.mark.req("W5", "W17")
def test_what_upkeep_reads_later_is_told_relative_to_its_own_project(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    with store.transaction():
        store.scopes.ensure_scope("project:ffffffffffffffff", now=NOW, root=str(tmp_path / "other"))
        store.scopes.ensure_scope(PROJECT, now=NOW, root=str(tmp_path / "here"))
        store.scopes.ensure_scope("project:eeeeeeeeeeeeeeee", now=NOW, root=str(tmp_path))
    transcript = tmp_path / "t.jsonl"
    capture.store_record(record(CaptureKind.STARTED, "startup", path=str(transcript)))
    capture.store_record(record(CaptureKind.ENDED, "other", at=NOW + 10))
    edit = {"file_path": str(tmp_path / "here" / "src" / "a.py"), "old_string": "a", "new_string": "b"}
    used = [{"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}]
    done = [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]
    lines = (
        {"type": "assistant", "uuid": "a1", "message": {"content": used}},
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": done}},
    )
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert capture.store_late_turns(PROJECT) == 1
    (action,) = [
        node.content for node in store.nodes.query_nodes("experience", subtypes=("action",), scopes=(PROJECT,))
    ]
    assert "src/a.py" in action and str(tmp_path) not in action


@pytest.mark.parametrize(("unread", "stored"), [(HURRIED_TURNS, HURRIED_TURNS + 1), (HURRIED_TURNS + 1, 1)])
def test_a_prompt_does_not_wait_for_a_long_transcript_that_nobody_read(
    capture: Capture, tmp_path: Path, unread: int, stored: int
) -> None:
    path = tmp_path / "transcript.jsonl"
    lines = [
        {"type": "assistant", "uuid": f"a{number}", "message": {"content": f"Step {number} is done."}}
        for number in range(unread)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert capture.store_record(record(CaptureKind.PROMPT, "Go on", path=str(path))) == stored
    assert capture.store_record(record(CaptureKind.TURNS, path=str(path))) == unread + 1 - stored


def spoken(uuid: str, text: str, at: int = NOW) -> str:
    message = {"id": f"m-{uuid}", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "uuid": uuid, "timestamp": to_iso(at), "message": message}) + "\n"


@pytest.mark.req("B.01", "E.10")
def test_a_long_turn_of_tool_uses_stands_before_the_prompt_that_interrupted_it(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "transcript.jsonl"
    with path.open("w") as file:
        file.write(spoken("a1", "I will move the sessions into Redis."))
        for number in range(2 * HURRIED_TURNS):
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"make {number}"}}
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": "x" * 10_000}
            for who, block in (("assistant", call), ("user", result)):
                line = {
                    "type": who,
                    "uuid": f"{who}{number}",
                    "timestamp": to_iso(NOW),
                    "message": {"content": [block]},
                }
                file.write(json.dumps(line) + "\n")
            with store.transaction():
                known = replace(action(f"Bash: make {number}"), uuid=f"toolu_{number}", path=None)
                add_turn(store, SESSION, PROJECT, known, now=NOW)
        file.write(spoken("a2", "They are in Redis."))
        file.write('{"type": "assistant", "uuid": "a3"')  # Being written.
    assert capture.store_record(record(CaptureKind.PROMPT, "No, they stay in Postgres", path=str(path))) == 3
    assert [node.content for node in episodes(store)] == [
        "I will move the sessions into Redis.",
        "They are in Redis.",
        "No, they stay in Postgres",
    ]


@pytest.mark.req("E.10")
def test_a_prompt_that_is_stored_late_stands_before_its_answer(store: Store, capture: Capture, tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text(spoken("a1", "Shall I go on?", NOW - 9_000) + spoken("a2", "It is done.", NOW - 1_000), "utf-8")
    assert capture.store_record(record(CaptureKind.PROMPT, "Go on", at=NOW - 5_000, path=str(path))) == 2
    assert capture.store_record(record(CaptureKind.TURNS, path=str(path))) == 1
    assert [node.content for node in episodes(store)] == ["Shall I go on?", "Go on", "It is done."]


@pytest.mark.req("E.10")
def test_a_message_that_the_hook_told_without_its_blank_lines_is_stored_once(
    store: Store, capture: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "transcript.jsonl"
    line = {"type": "assistant", "uuid": "a1", "timestamp": to_iso(NOW), "message": {"content": "\n\nIt is green.\n"}}
    path.write_text(f"{json.dumps(line)}\n", "utf-8")
    capture.store_record(record(CaptureKind.TURNS, "It is green.", path=str(path)))
    assert [node.content for node in episodes(store)] == ["It is green."]


@pytest.mark.req("E.10")
def test_a_turn_that_an_earlier_version_stored_with_its_blank_lines_is_not_stored_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = turn("a1", "\n\nIt is green.\n", Speaker.ASSISTANT)
    with monkeypatch.context() as earlier:
        earlier.setattr(sessions, "prepare_turn_text", lambda text, _: sanitize(text))
        assert read(store, told) == 1
    assert read(store, told) == read(store, told, session="a copy") == 0
