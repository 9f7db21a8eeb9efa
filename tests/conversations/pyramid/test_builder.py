"""From turns to chunks, from hot to cold, and back to the very turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.pyramid.chunk_expansion import expand_chunk
from hyperloci.errors import NotFoundError, NotReadyError
from hyperloci.facts.settlement import withhold_memory
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.pyramid import ChunkStage, Digest
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Turn
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.export import export_memory
from hyperloci.store.export_reading import import_memory
from hyperloci.store.integrity import count_violations, repair_store
from hyperloci.store.purge import erase_memory
from hyperloci.text.tokens import count_tokens
from tests.conversations.pyramid.conftest import Talk, is_long, raw, text_of
from tests.support import SHARED_FIXTURE, FakeClock, examples


@pytest.mark.req("C.01")
def test_the_last_two_chunks_of_ten_turns_stay_hot(talk: Talk) -> None:
    talk.say(38)
    talk.build()
    assert talk.shape(PyramidLevel.MICRO) == [(0, 9, "warm"), (10, 19, "hot"), (20, 29, "hot")]
    assert talk.build() == 0


@pytest.mark.req("C.01")
def test_a_mini_covers_exactly_25_turns_and_a_macro_exactly_100(talk: Talk) -> None:
    talk.say(250)
    talk.build()
    assert talk.shape(PyramidLevel.MINI) == [(start, start + 24, "warm") for start in range(0, 225, 25)]
    assert talk.shape(PyramidLevel.MACRO) == [(0, 99, "cold"), (100, 199, "cold")]
    stages = [chunk.stage for chunk in talk.chunks(PyramidLevel.MICRO)]
    assert stages == [ChunkStage.COLD] * 20 + [ChunkStage.WARM] * 3 + [ChunkStage.HOT] * 2


@pytest.mark.req("C.01")
def test_turns_that_come_one_by_one_make_the_same_pyramid(talk: Talk) -> None:
    for _ in range(130):
        talk.say(1)
        talk.build()
    assert talk.shape(PyramidLevel.MACRO) == [(0, 99, "cold")]
    assert [chunk.turns for chunk in talk.chunks(PyramidLevel.MINI)] == [25] * 4
    assert talk.texts() == talk.said


@pytest.mark.req("C.01")
def test_hot_turns_are_bounded_by_their_tokens_too(talk: Talk) -> None:
    talk.say(25)
    talk.build(hot_max_tokens=1_800)
    assert talk.shape(PyramidLevel.MICRO)[0] == (0, 9, "warm")
    assert sum(chunk.tokens for chunk in talk.chunks(PyramidLevel.MICRO) if chunk.stage is ChunkStage.HOT) <= 1_800


def test_turns_that_exceed_the_bound_by_themselves_make_shorter_chunks(talk: Talk) -> None:
    talk.say(12, text=lambda number: f"{number}" + " word" * (2 if number == 9 else 100))
    talk.build(hot_max_tokens=250)
    assert [chunk.turns for chunk in talk.chunks(PyramidLevel.MICRO)] == [3, 3, 3]
    assert talk.texts() == talk.said


@pytest.mark.req("C.01")
def test_a_session_that_is_over_is_closed_with_shorter_chunks(talk: Talk) -> None:
    talk.say(63)
    talk.build()
    talk.end()
    talk.build()
    assert talk.shape(PyramidLevel.MICRO)[-1] == (60, 62, "cold")
    assert talk.shape(PyramidLevel.MINI) == [(0, 24, "warm"), (25, 49, "warm"), (50, 62, "warm")]
    assert talk.shape(PyramidLevel.MACRO) == [(0, 62, "cold")]
    assert talk.texts() == talk.said and talk.build() == 0


def test_a_session_that_goes_on_after_it_was_closed_begins_new_chunks(talk: Talk) -> None:
    talk.say(15)
    talk.end()
    talk.build()
    talk.say(40)
    talk.build()
    assert talk.shape(PyramidLevel.MICRO)[:3] == [(0, 9, "warm"), (10, 14, "warm"), (15, 24, "warm")]
    assert talk.texts() == talk.said


@pytest.mark.req("C.02")
def test_every_turn_of_a_chunk_has_its_token_count(talk: Talk) -> None:
    talk.say(30)
    talk.build()
    [first, *_] = talk.chunks(PyramidLevel.MICRO)
    turns = expand_chunk(talk.store, first.id).turns
    assert [turn.tokens for turn in turns] == [count_tokens(text_of(number)) for number in range(10)]
    assert first.tokens == sum(turn.tokens for turn in turns)


@pytest.mark.req("C.07")
@pytest.mark.parametrize("count", [20, 30, 60, 130])
def test_a_chunk_expands_to_the_very_turns_at_every_stage(talk: Talk, count: int) -> None:
    talk.say(count)
    talk.build()
    for level in PyramidLevel:
        for chunk in talk.chunks(level):
            expanded = expand_chunk(talk.store, chunk.id)
            assert [turn.content for turn in expanded.turns] == talk.said[chunk.first_seq : chunk.last_seq + 1]
            assert all(turn.whole for turn in expanded.turns)
    found = expand_chunk(talk.store, talk.chunks(PyramidLevel.MICRO)[0].id).turns[9]
    assert (found.kind, found.path, found.role, found.seq) == ("action", "src/a.py", "assistant", 9)


def test_what_is_no_chunk_is_not_expanded(talk: Talk) -> None:
    with pytest.raises(NotFoundError, match="id='nothing': no chunk"):
        expand_chunk(talk.store, "nothing")


@pytest.mark.req("C.07")
def test_whoever_reads_a_packed_turn_gets_its_whole_text(talk: Talk) -> None:
    talk.say(130)
    before = {node.id: node for node in talk.store.nodes.query_nodes("experience", limit=200)}
    talk.build()
    assert raw(talk.store) != talk.said, "nothing was packed"
    assert sum(map(len, raw(talk.store))) < 0.7 * sum(map(len, talk.said))
    assert {node.id: node for node in talk.store.nodes.query_nodes("experience", limit=200)} == before


@pytest.mark.req("C.03", "C.07")
@given(texts=st.lists(st.text(min_size=1, max_size=400).filter(str.strip), min_size=120, max_size=120))
@limits(max_examples=examples(8), suppress_health_check=SHARED_FIXTURE)
def test_any_text_survives_every_demotion(
    tmp_path_factory: pytest.TempPathFactory, talk: Talk, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    with Store.open(folder / "memory.db", clock=talk.clock) as store:
        other = Talk(store, talk.settings, talk.clock)
        other.say(120, text=lambda number: f"{number} {texts[number]}")
        before = other.texts()
        other.build()
        assert other.texts() == before


@pytest.mark.req("C.01", "C.05")
def test_chunks_are_nodes_that_contain_their_turns(talk: Talk) -> None:
    talk.say(120)
    talk.build()
    micro, mini, macro = (
        talk.chunks(level)[0] for level in (PyramidLevel.MICRO, PyramidLevel.MINI, PyramidLevel.MACRO)
    )
    node = talk.store.nodes.get_node(mini.id)
    assert node is not None and (node.type, node.subtype) == (NodeType.SNIPPET, "chunk_mini")
    assert node.session_id == "s" and node.scope == "p" and mini.key_facts and mini.themes

    def members(chunk_id: str) -> list[str]:
        chunk = talk.store.nodes.get_node(chunk_id)
        assert chunk is not None
        edges = [
            edge for edge in talk.store.edges.list_of_node(chunk.key, "contains") if edge.members[0].node == chunk.key
        ]
        inside = [member.node for edge in edges for member in edge.members[1:]]
        by_key = talk.store.nodes.get_by_keys(inside)
        return [by_key[key].subtype or "" for key in inside]

    assert members(micro.id) == ["episode"] * 9 + ["action"]
    assert members(mini.id) == ["chunk_micro"] * 2 + ["episode"] * 5
    assert members(macro.id) == ["chunk_mini"] * 4


@pytest.mark.req("C.05")
def test_a_summary_is_made_on_demotion_or_at_once(talk: Talk) -> None:
    talk.say(10)
    talk.build()
    assert talk.chunks(PyramidLevel.MICRO)[0].node_key is None
    talk.say(10)
    talk.build(defer_summarization=False)
    assert [chunk.node_key is None for chunk in talk.chunks(PyramidLevel.MICRO)] == [True, False]


def test_a_strategy_that_fails_leaves_the_heuristic_one(talk: Talk) -> None:
    def broken(level: PyramidLevel, turns: Sequence[Turn], parts: Sequence[Digest]) -> Digest:
        raise NotReadyError("the model is away")

    talk.say(30)
    builder = talk.builder()
    type(builder)(
        store=talk.store,
        settings=talk.settings,
        clock=talk.clock,
        summarise=broken,
        fallback=builder.fallback,
    ).advance_all()
    node = talk.store.nodes.get_node(talk.chunks(PyramidLevel.MICRO)[0].id)
    assert node is not None and "must be ready" in node.content


@pytest.mark.req("C.01", "C.07")
def test_an_archive_is_deleted_when_its_time_is_over_and_the_rest_stays(talk: Talk) -> None:
    talk.say(130)
    talk.build()
    talk.clock.advance(89 * MS_PER_DAY)
    assert talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 0
    talk.clock.advance(3 * MS_PER_DAY)
    assert talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 10
    assert Archive.for_database(talk.store.path).list_days() == []
    turns = expand_chunk(talk.store, talk.chunks(PyramidLevel.MACRO)[0].id).turns
    assert [turn.whole for turn in turns] == [not is_long(number) for number in range(100)]
    assert turns[3].content.startswith("Turn 3: we decided") and turns[3].content.endswith(" [...]")
    assert talk.texts()[100:] == talk.said[100:]
    assert (
        count_violations(talk.store) == {} and talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 0
    )


def test_an_archive_stays_until_its_owner_sets_a_limit(talk: Talk) -> None:
    talk.say(130)
    talk.build()
    talk.clock.advance(4_000 * MS_PER_DAY)
    assert talk.builder().expire_archives(talk.clock()) == 0
    turns = expand_chunk(talk.store, talk.chunks(PyramidLevel.MACRO)[0].id).turns
    assert [turn.content for turn in turns] == talk.said[:100]


def test_cold_texts_can_stay_in_the_database(talk: Talk) -> None:
    talk.say(130)
    talk.build(archive_cold_content=False)
    assert talk.shape(PyramidLevel.MICRO)[0] == (0, 9, "cold")
    assert not Archive.for_database(talk.store.path).folder.exists()
    assert talk.texts() == talk.said and talk.build(archive_cold_content=False) == 0


@pytest.mark.req("C.07")
@pytest.mark.parametrize("count", [40, 130])
def test_an_export_holds_every_text_and_the_pyramid_is_built_again_where_it_is_taken_in(
    talk: Talk, tmp_path: Path, clock: FakeClock, count: int
) -> None:
    talk.say(count)
    talk.build()
    export_memory(talk.store, tmp_path / "out.jsonl")
    with Store.open(tmp_path / "other" / "memory.db", clock=clock) as store:
        import_memory(store, tmp_path / "out.jsonl", clock=clock)
        other = Talk(store, talk.settings, clock)
        assert raw(store) == talk.said == other.texts()
        assert len(other.chunks(PyramidLevel.MINI)) == len(talk.chunks(PyramidLevel.MINI))
        other.build()
        assert other.texts() == talk.said
        assert other.shape(PyramidLevel.MICRO) == talk.shape(PyramidLevel.MICRO)
        assert [node.id for node in store.nodes.query_nodes("snippet")] == [
            node.id for node in talk.store.nodes.query_nodes("snippet")
        ]
        assert count_violations(store) == {}


@pytest.mark.req("E.16")
@pytest.mark.parametrize("count", [40, 130])
def test_no_byte_of_a_purged_turn_stays_and_the_others_do(talk: Talk, count: int) -> None:
    talk.say(count, text=lambda number: "The word is xylophone. " * 20 if number == 3 else text_of(number))
    talk.build()
    [purged] = talk.store.chunks.list_turns(1, 3, 3)
    erase_memory(talk.store, purged.id, now=talk.clock())
    archive = Archive.for_database(talk.store.path)
    archive.blank_turns([purged.id])
    talk.build()
    assert talk.texts() == talk.said[:3] + talk.said[4:]
    assert all(turn.whole for turn in expand_chunk(talk.store, talk.chunks(PyramidLevel.MICRO)[0].id).turns)
    said = [node.content for node in talk.store.nodes.query_nodes("snippet", limit=100)]
    assert said and not any("xylophone" in text for text in said)
    facts = [fact for chunk in talk.store.chunks.list_of_session(1) for fact in chunk.key_facts]
    assert facts and not any("xylophone" in fact for fact in facts)
    for chunk in talk.chunks(PyramidLevel.MICRO):
        turns = talk.store.chunks.unpack_turns(chunk) or ()
        assert not any("xylophone" in turn.text for turn in turns)
        if chunk.archive is not None:
            assert "xylophone" not in str(archive.read_line(chunk.archive))
    assert count_violations(talk.store) == {}


@pytest.mark.req("E.16")
def test_purging_through_the_memory_reaches_the_archive(settings: Settings, clock: FakeClock, tmp_path: Path) -> None:
    with Memory.open(settings, tmp_path, clock=clock) as memory:
        talk = Talk(memory.store, settings, clock)
        talk.scope = memory.project.id
        talk.say(130, text=lambda number: "The word is xylophone. " * 20 if number == 3 else text_of(number))
        talk.build()
        [purged] = memory.store.chunks.list_turns(1, 3, 3)
        memory.purge([purged.id])
        place = talk.chunks(PyramidLevel.MICRO)[0].archive
        assert place is not None
        left = Archive.for_database(memory.store.path).read_line(place)["turns"]
        assert left[3] is None and [turn["text"] for turn in left if turn] == talk.said[:3] + talk.said[4:10]
        assert "xylophone" not in "".join(hit.content for hit in memory.search("xylophone", limit=50).results)


def test_a_lost_session_takes_no_texts_with_it(talk: Talk) -> None:
    talk.say(40)
    talk.build()
    talk.store.connection.execute("PRAGMA foreign_keys = OFF")
    talk.store.connection.execute("DELETE FROM sessions")
    repair_store(talk.store)
    talk.store.connection.execute("PRAGMA foreign_keys = ON")
    assert count_violations(talk.store) == {} and talk.texts() == talk.said


def test_a_forgotten_turn_leaves_the_summary_and_comes_back_whole(talk: Talk) -> None:
    talk.say(
        40,
        text=lambda number: (
            "We decided on the xylophone. " * 19 + "We decided on the xylophone." if number == 3 else text_of(number)
        ),
    )
    talk.build()
    [turn] = talk.store.chunks.list_turns(1, 3, 3)
    chunk = talk.chunks(PyramidLevel.MICRO)[0]
    with talk.store.transaction():
        talk.store.nodes.delete_node(turn.id, now=talk.clock.advance(1_000))
    assert len(expand_chunk(talk.store, chunk.id).turns) == 9
    assert talk.build() > 0 and talk.build() == 0
    assert "xylophone" not in expand_chunk(talk.store, chunk.id).content
    with talk.store.transaction():
        talk.store.nodes.restore_node(turn.id, now=talk.clock())
    assert expand_chunk(talk.store, chunk.id).turns[3].content == talk.said[3]


def test_summaries_are_made_anew_without_what_was_withheld_even_by_a_process_that_died_then(talk: Talk) -> None:
    halls = ["hall"] * 140
    halls[3] = "xylophone"
    talk.say(140, text=lambda number: f"We decided that delivery {number} goes to the {halls[number]}, as it is open.")
    talk.build()
    told = {chunk.level for chunk in talk.store.chunks.find_covering(1, 3) if _tell(talk, chunk.id).count("xylophone")}
    assert PyramidLevel.MICRO in told
    [turn] = talk.store.chunks.list_turns(1, 3, 3)
    withhold_memory(talk.store, turn, reason=None, now=talk.clock.advance(1_000))
    talk.clock.advance(1_000)
    assert talk.build() == 3 and talk.build() == 0
    assert not [chunk.id for chunk in talk.store.chunks.find_covering(1, 3) if "xylophone" in _tell(talk, chunk.id)]


def test_a_chunk_of_which_nothing_may_be_shown_says_so_and_is_not_worked_on_again(talk: Talk) -> None:
    talk.say(40)
    talk.build()
    for turn in talk.store.chunks.list_turns(1, 0, 9):
        withhold_memory(talk.store, turn, reason=None, now=talk.clock.advance(1_000))
    talk.clock.advance(1_000)
    talk.build()
    assert (
        _tell(talk, talk.chunks(PyramidLevel.MICRO)[0].id)
        == "Nothing of turns 0-9 is told: they are forgotten or withheld."
    )
    assert talk.build() == 0


def _tell(talk: Talk, chunk_id: str) -> str:
    """Return all that is told of a chunk beside its turns."""
    chunk = expand_chunk(talk.store, chunk_id)
    return "\n".join((chunk.content, *chunk.key_facts, *chunk.themes))


def test_a_damaged_chunk_fails_neither_a_search_nor_the_others_and_is_told(talk: Talk) -> None:
    talk.say(40)
    talk.build()
    talk.store.connection.execute("UPDATE chunks SET ctf = x'00' WHERE first_seq = 0 AND level = 'micro'")
    texts = talk.texts()
    assert texts[10:] == talk.said[10:] and texts[0].endswith("[...]")
    whole = [turn.whole for turn in expand_chunk(talk.store, talk.chunks(PyramidLevel.MICRO)[0].id).turns]
    assert whole == [not is_long(number) for number in range(10)]


def test_a_damaged_text_is_not_archived_and_keeps_no_other_session_waiting(talk: Talk) -> None:
    talk.say(90)
    talk.build()
    talk.store.connection.execute("UPDATE chunks SET ctf = x'00' WHERE first_seq = 0 AND level = 'micro'")
    talk.say(40)
    talk.say(40, session="t")
    talk.build()
    assert talk.shape(PyramidLevel.MACRO) == [(0, 99, "cold")]
    assert {chunk.stage for chunk in talk.chunks(PyramidLevel.MICRO)[:10]} == {ChunkStage.WARM}
    other = talk.store.sessions.get_session("t")
    assert other is not None
    assert talk.store.chunks.list_of_session(other.key, PyramidLevel.MICRO)[0].stage is ChunkStage.WARM


def test_a_lost_keyword_index_is_made_of_whole_texts(talk: Talk) -> None:
    talk.say(40)
    before = [tuple(row) for row in talk.store.connection.execute("SELECT node_key, body FROM keywords ORDER BY 1")]
    talk.build()
    talk.store.connection.execute("DELETE FROM keywords")
    repair_store(talk.store)
    after = [tuple(row) for row in talk.store.connection.execute("SELECT node_key, body FROM keywords ORDER BY 1")]
    assert after[:40] == before


def test_a_session_whose_turns_are_all_gone_has_nothing_to_do(talk: Talk) -> None:
    talk.say(30)
    talk.build()
    for turn in talk.store.chunks.list_turns(1, 0, 100):
        erase_memory(talk.store, turn.id, now=talk.clock())
    talk.build()
    assert talk.build() == 0 and talk.texts() == []


def test_what_the_pyramid_takes_is_counted(talk: Talk) -> None:
    talk.say(130)
    talk.build()
    counted = talk.store.chunks.count_by_stage()
    assert counted["micro_cold"]["turns"] == 100 and counted["micro_cold"]["bytes"] == 0
    assert counted["micro_warm"]["bytes"] > 0 and counted["macro_cold"]["chunks"] == 1
