"""The smaller registers: scopes, sessions, transcripts, entities, files, commits, positions, anchors, log, counts."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.errors import NotFoundError, StoreError
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.position import Position
from hyperloci.store import Store, integrity
from hyperloci.store.conversations.sessions import TranscriptMark
from hyperloci.store.memories.entities import fold_name
from hyperloci.store.memories.positions import StoredAnchor
from hyperloci.store.migration import latest_version
from hyperloci.store.projects.files import MAX_VALUES, IndexedFile
from tests.support import NOW, add


@pytest.fixture
def scope(store: Store) -> int:
    with store.transaction():
        return store.scopes.ensure_scope("project", now=NOW, name="rocket", root="/src/rocket")


def test_a_scope_is_made_once_and_better_knowledge_of_it_is_kept(store: Store, scope: int) -> None:
    with store.transaction():
        assert store.scopes.ensure_scope("project", now=NOW + 1) == scope
        assert store.scopes.ensure_scope("project", now=NOW + 1, root="/elsewhere") == scope
        bare = store.scopes.ensure_scope("bare", now=NOW)
        assert (
            store.scopes.ensure_scope("bare", now=NOW, name="named", root="/r", remote="git@x", root_commit="c0")
            == bare
        )
    assert [(found.id, found.name, found.root) for found in store.scopes.list_scopes()] == [
        ("global", "global", None),
        ("bare", "named", "/r"),
        ("project", "rocket", "/elsewhere"),
    ]
    assert store.scopes.find_key("nowhere") is None
    row = store.connection.execute("SELECT remote, root_commit, created_at FROM scopes WHERE id = 'bare'").fetchone()
    assert tuple(row) == ("git@x", "c0", NOW)


def fill_scope(store: Store, scope_id: str, path: str, sha: str) -> NodeKey:
    """Write something into every table that knows of scopes."""
    with store.transaction():
        key = store.scopes.ensure_scope(scope_id, now=NOW)
        store.sessions.note_seen(f"session of {scope_id}", key, now=NOW)
        node = add(store, f"of {scope_id}", scope=scope_id)
        store.files.put_file(key, path, size=1, mtime_ns=2, content_hash=b"h", now=NOW)
        store.files.put_commit(key, sha, node.key)
        store.positions.put_anchor(StoredAnchor(node.key, key, path, "f", b"h"))
        store.connection.execute(
            "INSERT INTO places(id, scope_key, path, root, reason, first_seen_at, last_seen_at)"
            " VALUES (?, ?, '/src', '/src', 'place', 0, 0)",
            (f"place of {scope_id}", key),
        )
        store.connection.execute(
            "INSERT INTO topics(id, scope_key, name, phase, agreement, created_at, run_at, settled_at)"
            " VALUES (?, ?, 't', 'stable', 3, 0, 0, 0)",
            (f"topic of {scope_id}", key),
        )
        store.connection.execute(
            "INSERT INTO shared_records(scope_key, id, hash, door, state, node_key, exchanged_at)"
            " VALUES (?, ?, x'00', 'git', 'sent', ?, 0)",
            (key, node.id, node.key),
        )
    return node.key


def tables_with_scopes(store: Store) -> list[str]:
    rows = store.connection.execute(
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'scope_key'"
        # When topics were looked for, how far the history is read and what is set aside is noted anew; a scope that
        # goes is no longer one to be taken over.
        " WHERE m.type = 'table'"
        " AND m.name NOT IN ('topic_runs', 'unplaced_scopes', 'histories', 'renames', 'set_aside', 'shared_folders',"
        " 'team_projects')"
        " ORDER BY m.name"
    )
    return [row[0] for row in rows]


def test_a_project_with_a_better_id_keeps_everything(store: Store) -> None:
    key = fill_scope(store, "path:/src", "a.py", "sha")
    with store.transaction():
        assert store.scopes.merge_into("path:/src", "git:1")
        assert not store.scopes.merge_into("path:/src", "git:1")
        assert not store.scopes.merge_into("git:1", "git:1")
    node = store.nodes.get_by_key(key)
    assert node is not None and node.scope == "git:1"
    assert store.scopes.find_key("path:/src") is None


def test_two_ids_of_one_project_become_one_with_all_that_either_held(store: Store) -> None:
    nodes = [fill_scope(store, "path:/src", "a.py", "sha"), fill_scope(store, "git:1", "a.py", "sha")]
    old, new = store.scopes.find_key("path:/src"), store.scopes.find_key("git:1")
    with store.transaction():
        assert store.scopes.merge_into("path:/src", "git:1")
    assert [node and node.scope for node in map(store.nodes.get_by_key, nodes)] == ["git:1"] * 2
    for table in tables_with_scopes(store):
        left = store.connection.execute(f"SELECT count(*) FROM {table} WHERE scope_key = ?", (old,)).fetchone()[0]
        kept = store.connection.execute(f"SELECT count(*) FROM {table} WHERE scope_key = ?", (new,)).fetchone()[0]
        # What was rendered of either is of neither any more.
        assert (left, kept) == (0, {"files": 1, "commits": 1, "openings": 0}.get(table, 2)), table
    assert integrity.count_violations(store) == {}


@pytest.mark.req("E.10", "B.16")
def test_a_session_lives_ends_and_may_speak_again(store: Store, scope: int) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s", scope, now=NOW)
        assert (session.status, session.started_at, session.last_seen_at, session.scope) == (
            "active",
            NOW,
            NOW,
            "project",
        )
        assert store.sessions.note_seen("s", scope, now=NOW + 5).last_seen_at == NOW + 5
        assert store.sessions.end_session("s", now=NOW + 9, status="abandoned")
    ended = store.sessions.get_session("s")
    assert ended is not None and (ended.status, ended.ended_at, ended.last_seen_at) == ("abandoned", NOW + 9, NOW + 9)
    with store.transaction():
        again = store.sessions.note_seen("s", scope, now=NOW + 10)
        assert (again.key, again.status, again.ended_at, again.started_at) == (session.key, "active", None, NOW)
        assert not store.sessions.end_session("nobody", now=NOW)
    assert store.sessions.get_session("nobody") is None


def test_a_clock_that_goes_back_does_not_make_a_session_older(store: Store, scope: int) -> None:
    with store.transaction():
        store.sessions.note_seen("s", scope, now=NOW)
        assert store.sessions.note_seen("s", scope, now=NOW - 99).last_seen_at == NOW
        store.sessions.end_session("s", now=NOW - 99)
    session = store.sessions.get_session("s")
    assert session is not None and session.last_seen_at == NOW


def test_a_status_that_is_none_is_refused(store: Store, scope: int) -> None:
    with store.transaction():
        store.sessions.note_seen("s", scope, now=NOW)
    with pytest.raises(StoreError, match="CHECK"), store.transaction():
        store.sessions.end_session("s", now=NOW, status="bored")


@pytest.mark.req("E.10")
def test_sequence_numbers_count_up_from_nought(store: Store, scope: int) -> None:
    with store.transaction():
        key = store.sessions.note_seen("s", scope, now=NOW).key
        other = store.sessions.note_seen("t", scope, now=NOW).key
        assert [store.sessions.take_sequence_number(key) for _ in range(4)] == [0, 1, 2, 3]
        assert store.sessions.take_sequence_number(other) == 0
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.sessions.take_sequence_number(key)
        raise ZeroDivisionError
    with store.transaction():
        assert store.sessions.take_sequence_number(key) == 4
    with pytest.raises(NotFoundError, match="99"), store.transaction():
        store.sessions.take_sequence_number(99)


def test_recent_sessions_come_latest_first(store: Store, scope: int) -> None:
    with store.transaction():
        other = store.scopes.ensure_scope("other", now=NOW)
        for number, key in enumerate((scope, other, scope)):
            store.sessions.note_seen(f"s{number}", key, now=NOW + number)
    assert [session.id for session in store.sessions.list_recent()] == ["s2", "s1", "s0"]
    assert [session.id for session in store.sessions.list_recent("project")] == ["s2", "s0"]
    assert [session.id for session in store.sessions.list_recent(limit=1)] == ["s2"]


def test_what_is_noted_of_a_session_is_merged(store: Store, scope: int) -> None:
    with store.transaction():
        store.sessions.note_seen("s", scope, now=NOW)
        store.sessions.merge_metadata("s", a=1, b={"c": 2})
        store.sessions.merge_metadata("s", b={"d": "ü"}, e=[1])
        store.sessions.merge_metadata("s", a=None)
    session = store.sessions.get_session("s")
    assert session is not None and session.metadata == {"b": {"c": 2, "d": "ü"}, "e": [1]}


@pytest.mark.req("C.10")
def test_how_far_a_transcript_was_read_is_remembered(store: Store) -> None:
    assert store.sessions.get_transcript_mark("/t.jsonl") is None
    with store.transaction():
        store.sessions.set_transcript_mark("/t.jsonl", TranscriptMark(5, b"head"), now=NOW)
        store.sessions.set_transcript_mark("/t.jsonl", TranscriptMark(9, b"tail"), now=NOW)
    assert store.sessions.get_transcript_mark("/t.jsonl") == TranscriptMark(9, b"tail")


def entity(store: Store, name: str, kind: str = "tool", scope: str = "global") -> NodeKey:
    with store.transaction():
        node = add(store, name, type=NodeType.ENTITY, subtype=kind, scope=scope)
        store.entities.register_entity(node.key, name, now=NOW)
    return node.key


@pytest.mark.req("B.10")
def test_an_entity_is_found_by_any_of_its_names_however_written(store: Store) -> None:
    key = entity(store, "New  York", "place")
    with store.transaction():
        store.entities.add_alias(key, "The Big Apple")
        store.entities.add_alias(key, "the big  apple ")
    for name in ("new york", " NEW YORK ", "The big apple"):
        (found,) = store.entities.find_by_name(name)
        assert (found.node_key, found.canonical_name, found.kind) == (key, "New  York", "place")
    assert found.aliases == ("New York", "The Big Apple")
    assert store.entities.find_by_name("York") == []
    assert store.entities.count() == 1


def test_the_form_for_comparing_names_has_no_case_and_single_spaces() -> None:
    assert fold_name("  STRASSE\t1 ") == fold_name("straße 1") == "strasse 1"


def test_of_two_entities_with_one_name_the_more_spoken_of_comes_first(store: Store, scope: int) -> None:
    quiet, loud = entity(store, "Mercury"), entity(store, "mercury", scope="project")
    memory = add(store)
    with store.transaction():
        for _ in range(3):
            store.entities.add_mention(memory.key, loud, now=NOW + 3)
    assert [found.node_key for found in store.entities.find_by_name("Mercury")] == [loud, quiet]
    assert [found.node_key for found in store.entities.find_by_name("Mercury", [scope])] == [loud]
    assert store.entities.find_by_name("Mercury", [999]) == []
    (found,) = store.entities.list_of_node(memory.key)
    assert (found.node_key, found.mention_count, found.last_updated) == (loud, 1, NOW + 3)


def forget(store: Store, key: NodeKey, reason: str | None = None) -> None:
    node = store.nodes.get_by_key(key)
    assert node is not None
    store.nodes.delete_node(node.id, now=NOW, reason=reason)


def test_a_forgotten_entity_is_nowhere(store: Store) -> None:
    key = entity(store, "Valve")
    memory = add(store)
    with store.transaction():
        store.entities.add_mention(memory.key, key, now=NOW)
        forget(store, key)
    assert store.entities.find_by_name("valve") == store.entities.list_of_node(memory.key) == []
    assert store.entities.count() == 0


def snippet(store: Store, content: str, file: int | None, *, scope: str = "project", **place: Any) -> NodeKey:
    with store.transaction():
        node = add(store, content, type=NodeType.SNIPPET, subtype="code", scope=scope, title=f"title of {content}")
        store.positions.put_position(node.key, Position(**place), file)
    return node.key


def put_file(store: Store, scope: int, path: str, content_hash: bytes = b"h") -> int:
    with store.transaction():
        return store.files.put_file(scope, path, size=1, mtime_ns=2, content_hash=content_hash, now=NOW)


def test_a_file_is_remembered_as_it_was_indexed(store: Store, scope: int) -> None:
    key = put_file(store, scope, "a.py")
    assert put_file(store, scope, "a.py", b"new") == key
    expected = IndexedFile(key=key, path="a.py", size=1, mtime_ns=2, content_hash=b"new")
    assert store.files.list_files(scope) == {"a.py": expected}
    assert store.files.get_file(scope, "a.py") == expected
    assert store.files.get_file(scope, "b.py") is None
    assert store.files.list_files(99) == {}
    with store.transaction():
        store.files.update_stat(key, size=8, mtime_ns=9)
    assert store.files.get_file(scope, "a.py") == IndexedFile(
        key=key, path="a.py", size=8, mtime_ns=9, content_hash=b"new"
    )


def test_the_chunks_of_a_file_come_in_their_order_and_only_living_ones(store: Store, scope: int) -> None:
    file, other = put_file(store, scope, "a.py"), put_file(store, scope, "b.py")
    second = snippet(store, "second", file, path="a.py", char_start=50, symbol="g")
    first = snippet(store, "first", file, path="a.py", char_start=0)
    gone = snippet(store, "gone", file, path="a.py", char_start=20)
    elsewhere = snippet(store, "elsewhere", other, path="b.py", char_start=0)
    with store.transaction():
        forget(store, gone, reason="edited away")
    chunks = store.files.list_chunks([file, other, 77])
    assert [[chunk.node_key for chunk in chunks[key]] for key in (file, other)] == [[first, second], [elsewhere]]
    assert (chunks[file][1].symbol, chunks[file][1].title) == ("g", "title of second")
    assert store.files.count_chunks([file, other]) == 3
    (forgotten,) = store.files.find_forgotten_chunks(
        scope, [store.files.list_chunks([file])[file][0].content_hash, *_hashes(store)]
    )
    assert (forgotten.path, forgotten.symbol, forgotten.reason) == ("a.py", None, "edited away")


def _hashes(store: Store) -> list[bytes]:
    known = [row[0] for row in store.connection.execute("SELECT content_hash FROM nodes")]
    return [bytes([number % 256]) * 32 for number in range(MAX_VALUES)] + known


def test_a_renamed_file_takes_its_positions_along(store: Store, scope: int) -> None:
    file = put_file(store, scope, "old.py")
    key = snippet(store, "x", file, path="old.py")
    with store.transaction():
        store.files.rename_file(file, "new.py")
        store.files.put_place(key, "new.py")
    assert list(store.files.list_files(scope)) == ["new.py"]
    assert store.positions.get_positions([key])[key].path == "new.py"
    assert store.connection.execute("SELECT place FROM nodes WHERE key = ?", (key,)).fetchone()[0] == "new.py"


def test_a_removed_file_leaves_its_nodes_to_their_keeper(store: Store, scope: int) -> None:
    file = put_file(store, scope, "a.py")
    key = snippet(store, "x", file, path="a.py")
    with store.transaction():
        store.files.remove_file(file)
    assert store.files.list_files(scope) == {}
    assert store.positions.get_positions([key])[key].path == "a.py"
    assert store.nodes.get_by_key(key) is not None


def test_snippets_are_found_by_lines(store: Store, scope: int) -> None:
    file = put_file(store, scope, "a.py")
    f = snippet(store, "f", file, path="a.py", symbol="f", line_start=1, line_end=10)
    g = snippet(store, "g", file, path="a.py", symbol="C.g", line_start=11, line_end=20)
    assert store.files.find_nodes_at_lines(scope, "a.py", 10, 11) == [f, g]
    assert store.files.find_nodes_at_lines(scope, "a.py", 11, 99) == [g]
    assert store.files.find_nodes_at_lines(scope, "a.py", 21, 99) == []
    assert store.files.find_nodes_at_lines(99, "a.py", 1, 99) == []


def test_commits_are_known_by_their_hash(store: Store, scope: int) -> None:
    nodes = [add(store, f"commit {number}", type=NodeType.DECISION, subtype="commit") for number in range(2)]
    with store.transaction():
        for node in nodes:
            store.files.put_commit(scope, f"sha{node.key}", node.key)
        store.nodes.update_node(nodes[1].id, now=NOW, valid_until=NOW)
    assert store.history.find_known(scope, ["sha1", "sha2", "sha3"]) == {"sha1", "sha2"}
    assert store.files.get_commits([node.key for node in nodes] + [9]) == {nodes[0].key: "sha1", nodes[1].key: "sha2"}
    assert store.history.list_commits(scope) == {"sha1": nodes[0].id, "sha2": nodes[1].id}
    assert store.history.list_ended(scope) == {"sha2": nodes[1].id}
    assert store.files.has_commit(scope, "sha1") and not store.files.has_commit(scope, "sha3")
    assert store.history.find_known(99, ["sha1"]) == set()


@pytest.mark.req("D.01")
def test_a_position_comes_back_whole(store: Store) -> None:
    position = Position(
        path="src/ü.py",
        line_start=1,
        line_end=2,
        char_start=3,
        char_end=4,
        section_path=("A", "B 'quoted'", "Ünter"),
        heading_level=2,
        module="a.b",
        class_name="C",
        function_name="f",
        symbol="C.f",
        scope_depth=2,
        language="python",
        url="https://x/y#z",
        anchor="z",
    )
    with_all, with_none = add(store, position=position), add(store, position=Position())
    without = add(store)
    found = store.positions.get_positions([with_all.key, with_none.key, without.key])
    assert found == {with_all.key: position, with_none.key: Position()}


def test_code_facts_come_back_whole(store: Store) -> None:
    facts = CodeFacts(
        kind="method", name="f", qualname="C.f", signature="def f(self)", docstring="Do.", calls=("g",), bases=()
    )
    node = add(store)
    with store.transaction():
        store.positions.put_code_facts(node.key, CodeFacts(kind="block"))
        store.positions.put_code_facts(node.key, facts)
    assert store.positions.get_code_facts([node.key, 99]) == {node.key: facts}


def test_a_fact_is_tied_to_symbols_and_untied(store: Store, scope: int) -> None:
    fact, loose = (add(store, name, scope="project") for name in ("fact", "loose"))
    anchors = [StoredAnchor(fact.key, scope, "a.py", symbol, b"1") for symbol in ("f", "g")]
    with store.transaction():
        for anchor in reversed(anchors):
            store.positions.put_anchor(anchor)
        store.positions.put_anchor(anchors[0])
    assert store.positions.list_anchors([fact.key, loose.key]) == anchors
    assert store.positions.list_unanchored(scope, 9) == [(loose.key, "loose")]
    with store.transaction():
        store.positions.drop_anchors(fact.key)
    assert store.positions.list_anchors([fact.key]) == []
    assert store.positions.list_unanchored(scope, 1) == [(loose.key, "loose")]


def test_symbols_are_found_by_bare_and_qualified_names(store: Store, scope: int) -> None:
    file = put_file(store, scope, "a.py")
    method = snippet(store, "m", file, path="a.py", symbol="C.f", class_name="C", function_name="f", char_start=9)
    snippet(store, "c", file, path="a.py", symbol="C", class_name="C", char_start=0)
    snippet(store, "other project", None, scope="global", path="z.py", symbol="f", function_name="f")
    assert store.positions.symbols_named(scope, ["f"]) == [("a.py", "C.f")]
    assert store.positions.symbols_named(scope, ["C"]) == [("a.py", "C"), ("a.py", "C.f")]
    assert store.positions.symbols_named(scope, ["C.f", "f"]) == [("a.py", "C.f")]
    assert store.positions.symbols_named(scope, []) == []
    assert store.positions.get_symbol_text(scope, "a.py", "C.f") == "m"
    with store.transaction():
        forget(store, method)
    assert store.positions.symbols_named(scope, ["f"]) == []
    assert store.positions.get_symbol_text(scope, "a.py", "C.f") is None


@pytest.mark.req("SPEC-02.19")
def test_the_log_of_a_node_is_its_latest_entries_oldest_first(store: Store) -> None:
    one, two = add(store), add(store)
    with store.transaction():
        for number in range(5):
            store.log.add_entry(f"op {number}", [one.id], now=NOW + number)
        both = store.log.add_entry(
            "merge", [one.id, two.id, one.id], now=NOW, from_tier=Tier.TASK, to_tier=Tier.SESSION
        )
    assert [entry.operation for entry in store.log.list_of_node(one.id, limit=3)] == ["op 3", "op 4", "merge"]
    (entry,) = store.log.list_of_node(two.id)
    assert (entry.id, entry.node_ids) == (both, (one.id, two.id, one.id))
    assert (entry.from_tier, entry.to_tier, entry.reasoning) == ("task", "session", None)
    assert store.log.list_of_node(one.id, limit=99)[0].timestamp == NOW


@pytest.mark.req("B.15")
def test_everything_held_is_counted(store: Store, scope: int) -> None:
    with store.transaction():
        other = store.scopes.ensure_scope("other", now=NOW, name="rocket", root="/fork")
        store.sessions.note_seen("s", scope, now=NOW)
        store.sessions.note_seen("t", other, now=NOW)
        store.sessions.end_session("t", now=NOW)
    fact = add(store, "a", scope="project", subtype="insight")
    add(store, "b", scope="other", type=NodeType.DECISION, tier=Tier.LONGTERM)
    gone = add(store, "c")
    entity(store, "Valve")
    with store.transaction():
        store.edges.link_nodes("supports", fact.key, [gone.key], now=NOW)
        store.nodes.delete_node(gone.id, now=NOW)
        store.vectors.put_fingerprint(fact.key, store.vectors.use_model("m", 64, now=NOW), {}, now=NOW)
        store.files.put_file(scope, "a.py", size=1, mtime_ns=1, content_hash=b"", now=NOW)
        store.meta.set("last_upkeep", "1")
        store.meta.set("last_upkeep", "2")
    stats = store.count_everything()
    assert stats.pop("database_bytes") > 0
    assert stats == {
        "nodes": 3,
        "forgotten": 1,
        "edges": 1,
        "entities": 1,
        "files": 1,
        "orphans": 2,
        "fingerprints_done": 1,
        "fingerprints_pending": 2,
        "schema_version": latest_version(),
        "topics": 0,
        "nodes_by_type": {"fact": 1, "decision": 1, "entity": 1},
        "nodes_by_subtype": {"insight": 1, "decision": 1, "tool": 1},
        "nodes_by_tier": {"task": 2, "longterm": 1, "archive": 1},
        "nodes_by_scope": {"global": 1, "rocket (project)": 1, "rocket (other)": 1},
        "edges_by_type": {"relation": 1},
        "edges_by_label": {"supports": 1},
        "sessions": {"active": 1, "completed": 1},
        "set_aside": {},
        "last_upkeep": "2",
    }
    assert store.meta.get("unheard of") is None


def test_an_empty_database_counts_nothing(store: Store) -> None:
    stats = store.count_everything()
    assert stats["nodes"] == stats["edges"] == stats["orphans"] == 0
    assert stats["nodes_by_scope"] == {} and stats["last_upkeep"] is None


def test_episodes_are_found_by_place_text_and_speaker(store: Store, scope: int) -> None:
    episodes = store.turns
    with store.transaction():
        session = store.sessions.note_seen("s", scope, now=NOW)
    said = []
    for seq, (role, text) in enumerate([("user", "hello"), ("assistant", "hi"), ("user", "hello")]):
        node = add(
            store,
            text,
            type=NodeType.EXPERIENCE,
            subtype="episode",
            scope="project",
            session_key=session.key,
            seq=seq,
            place=f"s/{seq}",
            metadata={"role": role},
            origin=Origin.EXTRACTION if seq == 1 else Origin.HOOK,
        )
        said.append(node)
    assert [twin.key for twin in episodes.find_same_text(scope, "hello")] == [said[0].key, said[2].key]
    assert episodes.has_place(session.key, "s/1") and not episodes.has_place(session.key, "s/9")
    assert episodes.get_last(session.key) == said[2] and episodes.list_first(session.key, None, 2) == said[:2]
    assert episodes.get_last(session.key, "assistant") == said[1]
    assert episodes.list_first(session.key, "assistant", 9) == [said[1]]
    assert episodes.get_last(99) is None
    with store.transaction():
        for node in (said[0], said[2]):
            store.nodes.delete_node(node.id, now=NOW)
        assert episodes.list_first(session.key, None, 9) == [said[1]] == [episodes.get_last(session.key)]
        assert episodes.list_first(session.key, "user", 9) == []
        for node in (said[0], said[2]):
            store.nodes.restore_node(node.id, now=NOW, reason="a test")
    gone = add(store, "forgotten", origin=Origin.EXTRACTION, session_key=session.key)
    with store.transaction():
        store.nodes.delete_node(gone.id, now=NOW)
        episodes.set_ids(said[0].key, uuid="u", ref="r")
        store.nodes.reinforce_nodes([said[0].key], now=NOW)
        keep = episodes.list_worth_keeping(session.key)
        episodes.move_to_session(keep, now=NOW + 4)
    assert keep == [said[0].id, said[1].id]
    twin = episodes.find_same_text(scope, "hello")[0]
    assert (twin.role, twin.uuid, twin.ref, twin.session_key, twin.event_time) == ("user", "u", "r", session.key, NOW)
    kept = [store.nodes.get_by_key(node.key) for node in said]
    assert [node and node.tier for node in kept] == ["session", "session", "task"]
