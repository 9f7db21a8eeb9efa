"""What is known of an entity, through the façade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.entities import entity_service
from hyperloci.knowledge.entities.entity_service import summarise_entities
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from tests.support import NOW, FakeClock


@pytest.fixture
def memory(settings: Settings, tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    root = tmp_path / "project"
    root.mkdir()
    (root / "auth.py").write_text("import httpx\n\n\nclass AuthService:\n    def login_user(self):\n        pass\n")
    with Memory.open(settings, root, clock=clock) as opened:
        yield opened


def upkeep(memory: Memory) -> int:
    return summarise_entities(MaintenanceContext(store=memory.store, settings=memory.settings, clock=lambda: NOW))


@pytest.mark.req("B.18")
def test_one_run_summarises_all_that_wait_and_a_second_changes_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_service, "SUMMARY_BATCH", 1)
    for port in range(memory.settings.entity_enrichment_min_mentions):
        memory.remember_fact(f"PostgreSQL is on port {port}.")
        memory.remember_fact(f"AuthService is in zone {port}.")
    assert upkeep(memory) == 2
    assert upkeep(memory) == 0


@pytest.mark.req("B.18")
def test_an_entity_that_is_purged_while_others_are_summarised_is_passed_over(memory: Memory) -> None:
    told = [memory.remember_fact(f"PostgreSQL is on port {port}.").id for port in range(3)]
    for port in range(4):
        memory.remember_fact(f"AuthService is in zone {port}.")

    def purge_meanwhile() -> bool:
        with Memory.open(memory.settings, memory.project.root, clock=lambda: NOW) as other:
            if told:
                other.purge([told.pop() for _ in range(len(told))])
        return False

    context = MaintenanceContext(
        store=memory.store, settings=memory.settings, clock=lambda: NOW, should_stop=purge_meanwhile
    )
    assert summarise_entities(context) == 1


@pytest.mark.req("B.15", "B.10")
def test_a_profile_has_the_facts_events_and_companions_of_an_entity(memory: Memory) -> None:
    fact = memory.remember_fact("AuthService keeps its tokens in Redis.")
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text="the auth service is slow", timestamp_ms=NOW)])
    profile = memory.get_entity_info("auth-service")
    assert profile.entity.canonical_name == "AuthService" and profile.entity.mention_count == 2
    assert [hit.id for hit in profile.facts] == [fact.id]
    assert [hit.content for hit in profile.timeline] == ["the auth service is slow"]
    assert [(other.name, other.type) for other in profile.related_entities] == [("Redis", "tool")]


@pytest.mark.req("B.15", "B.10")
def test_a_profile_has_what_the_project_and_what_all_projects_know_of_one_thing(memory: Memory) -> None:
    here = memory.remember_fact("Grace maintains the lexer.", entities=["Grace"])
    everywhere = memory.remember_fact("Grace wants short answers.", category="preference", entities=["Grace"])
    profile = memory.get_entity_info("Grace")
    assert {hit.id for hit in profile.facts} == {here.id, everywhere.id}
    assert profile.entity.mention_count == 2
    assert profile.related_entities == ()


@pytest.mark.req("B.15", "B.10")
def test_a_profile_counts_no_memory_of_another_project(memory: Memory, settings: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    memory.remember_fact("Grace wants short answers.", category="preference", entities=["Grace"])
    with Memory.open(settings, other) as elsewhere:
        elsewhere.remember_fact("Grace feeds the heron.", entities=["Grace"])
        assert elsewhere.get_entity_info("Grace").entity.mention_count == 2
    assert memory.get_entity_info("Grace").entity.mention_count == 1


@pytest.mark.req("B.10")
def test_every_way_of_writing_fills_the_mentions_that_the_filter_reads(memory: Memory) -> None:
    memory.index_path()
    memory.remember_fact("The auth service must answer in 50 ms.")
    memory.mark_dead_end("caching in AuthService", "tokens went stale")
    memory.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text="AuthService is slow", timestamp_ms=NOW)])
    found = memory.search("auth service slow tokens class", entity_name="auth_service", limit=20)
    assert {hit.subtype for hit in found.results} == {"insight", "dead_end", "episode", "code"}
    assert memory.search("auth service", entity_name="PostgreSQL").results == ()


@pytest.mark.req("B.10")
def test_entities_themselves_are_found_only_when_asked_for(memory: Memory) -> None:
    memory.remember_fact("PostgreSQL is our database.")
    assert {hit.type for hit in memory.search("PostgreSQL").results} == {"fact"}
    assert {hit.type for hit in memory.search("PostgreSQL", where={"types": ["entity"]}).results} <= {"entity"}


@pytest.mark.req("B.15")
def test_an_unknown_name_is_answered_with_those_alike(memory: Memory) -> None:
    memory.remember_fact("AuthService keeps its tokens in Redis.")
    with pytest.raises(NotFoundError, match="AuthService"):
        memory.get_entity_info("auth")
    with pytest.raises(BadRequestError, match="name is empty"):
        memory.get_entity_info(" ")


@pytest.mark.req("B.10")
def test_a_merge_is_logged_and_can_be_taken_back(memory: Memory) -> None:
    memory.remember_fact("PostgreSQL is our database.")
    memory.remember_fact("The BigStore holds the orders and PostgreSQL is beside it.")
    memory.remember_fact("The BigStore is backed up daily.")
    done = memory.merge_entities("PostgreSQL", "BigStore", reason="our name for it")
    profile = memory.get_entity_info("big store")
    assert profile.entity.canonical_name == "PostgreSQL" and profile.entity.mention_count == 3
    assert "BigStore" in profile.entity.aliases
    assert [merge.id for merge in memory.list_entity_merges()] == [done.id]
    assert any(line.operation == "merge" for line in memory.explain_fact(profile.entity.id).log)
    undone = memory.unmerge_entities(done.id)
    assert undone.undone_at is not None
    assert memory.get_entity_info("BigStore").entity.mention_count == 2
    assert memory.get_entity_info("PostgreSQL").entity.mention_count == 2
    with pytest.raises(BadRequestError, match="was undone"):
        memory.unmerge_entities(done.id)


@pytest.mark.req("B.10")
def test_a_name_merged_away_stands_for_the_one_that_was_kept(memory: Memory) -> None:
    memory.remember_fact("PostgreSQL is our database.")
    memory.remember_fact("The BigStore is backed up daily.")
    memory.merge_entities("PostgreSQL", "BigStore")
    memory.remember_fact("BigStore was moved to another disk.")
    assert memory.get_entity_info("PostgreSQL").entity.mention_count == 3
    with pytest.raises(BadRequestError, match="already one entity"):
        memory.merge_entities("PostgreSQL", "BigStore")
    with pytest.raises(NotFoundError, match="merge 99"):
        memory.unmerge_entities(99)


@pytest.mark.req("B.18")
def test_what_is_often_spoken_of_gets_a_summary_of_what_is_said_of_it(memory: Memory) -> None:
    memory.remember_fact("AuthService is the part that issues tokens.")
    memory.remember_fact("Deploys fail when AuthService is down.")
    assert upkeep(memory) == 0
    memory.remember_fact("It is late. AuthService keeps its tokens in Redis. Nothing else is known.")
    assert upkeep(memory) == 1
    summary = memory.get_entity_info("AuthService").entity.summary
    assert summary is not None and summary.startswith("AuthService is the part that issues tokens.")
    assert "Redis" in summary and "Nothing else" not in summary
    assert upkeep(memory) == 0


@pytest.mark.req("B.18", "B.13", "E.16")
@pytest.mark.parametrize(
    "end",
    [
        lambda memory, id: memory.forget(id),
        lambda memory, id: memory.correct_fact(id, "AuthService is number 7 of the services."),
        lambda memory, id: memory.remember_fact("AuthService is number 7 of the services.", replaces=id),
        lambda memory, id: memory.update_node(id, content="AuthService is number 7 of the services."),
    ],
    ids=["forgotten", "corrected", "replaced", "changed"],
)
def test_what_no_longer_holds_is_in_no_summary(memory: Memory, end: Callable[[Memory, str], object]) -> None:
    ids = [memory.remember_fact(f"AuthService is number {number} of the services.").id for number in range(3)]
    upkeep(memory)
    assert "number 0" in (memory.get_entity_info("AuthService").entity.summary or "")

    end(memory, ids[0])

    assert memory.get_entity_info("AuthService").entity.summary is None
    upkeep(memory)
    summary = memory.get_entity_info("AuthService").entity.summary
    assert summary is not None and "number 0" not in summary and "number 1" in summary


@pytest.mark.req("B.18")
def test_what_speaks_of_something_else_now_is_in_no_summary(memory: Memory) -> None:
    ids = [memory.remember_fact(f"AuthService is number {number} of the services.").id for number in range(3)]
    upkeep(memory)

    memory.update_node(ids[0], content="The cellar is number 7 of the rooms.")

    assert memory.get_entity_info("AuthService").entity.summary is None


@pytest.mark.req("B.18")
@pytest.mark.parametrize("later", ["PostgreSQL was removed and nothing uses it.", None], ids=["changed", "deleted"])
def test_what_a_document_says_no_longer_is_in_no_summary(memory: Memory, later: str | None) -> None:
    document = memory.project.root / "store.md"
    document.write_text("PostgreSQL is the database of the harbour dues.\n", encoding="utf-8")
    memory.index_path()
    for colour in ("red", "green", "blue"):
        memory.remember_fact(f"Ask Tom about {colour} PostgreSQL")
    upkeep(memory)
    assert "harbour dues" in (memory.get_entity_info("PostgreSQL").entity.summary or "")

    if later is None:
        document.unlink()
    else:
        document.write_text(f"{later}\n", encoding="utf-8")
    memory.index_path()

    assert memory.get_entity_info("PostgreSQL").entity.summary is None


@pytest.mark.req("B.11", "B.18")
def test_what_faded_is_in_no_summary(memory: Memory, clock: FakeClock) -> None:
    memory.remember_fact("AuthService is number 0 of the services.", confidence=0.06)
    for number in range(1, 3):
        memory.remember_fact(f"AuthService is number {number} of the services.", category="decision")
    upkeep(memory)
    assert "number 0" in (memory.get_entity_info("AuthService").entity.summary or "")

    clock.advance(60 * MS_PER_DAY)
    assert len(memory.prune_faded().ids) == 1

    assert memory.get_entity_info("AuthService").entity.summary is None


@pytest.mark.req("B.18")
def test_purging_a_memory_takes_its_words_out_of_summaries(memory: Memory) -> None:
    ids = [memory.remember_fact(f"AuthService is number {number} of the services.").id for number in range(3)]
    upkeep(memory)
    memory.purge([ids[0]])
    assert memory.get_entity_info("AuthService").entity.summary is None
    assert upkeep(memory) == 0 or "number 0" not in (memory.get_entity_info("AuthService").entity.summary or "")


def test_what_is_forgotten_is_not_counted_among_what_mentions_an_entity(memory: Memory) -> None:
    first, second = (memory.remember_fact(f"AuthService is in zone {zone}.").id for zone in ("one", "two"))
    memory.forget(first)
    assert memory.get_entity_info("AuthService").entity.mention_count == 1
    (entity,) = memory.list_entities()
    assert entity.mention_count == 1
    memory.restore(first)
    memory.forget(second)
    memory.purge([second])
    assert memory.get_entity_info("AuthService").entity.mention_count == 1


def test_another_projects_entities_and_merges_are_not_told(memory: Memory, settings: Settings, tmp_path: Path) -> None:
    memory.remember_fact("AuthService is in zone one.", entities=["AuthService", "Gatekeeper"])
    done = memory.merge_entities("AuthService", "Gatekeeper")
    id = memory.get_entity_info("AuthService").entity.id
    (tmp_path / "elsewhere").mkdir()
    with Memory.open(settings, tmp_path / "elsewhere") as other:
        other.remember_fact("Nothing of that.")
        assert other.list_entity_merges() == ()
        with pytest.raises(NotFoundError, match="is unknown"):
            other.unmerge_entities(done.id)
        with pytest.raises(NotFoundError, match="no memory mentions this entity"):
            other.get_entity_info(id)


def test_two_that_summarise_at_once_count_each_summary_once(memory: Memory) -> None:
    for port in range(memory.settings.entity_enrichment_min_mentions):
        memory.remember_fact(f"PostgreSQL is on port {port}.")
        memory.remember_fact(f"AuthService is in zone {port}.")
    counts = []

    def summarise_meanwhile() -> bool:
        with Memory.open(memory.settings, memory.project.root, clock=lambda: NOW) as other:
            counts.append(upkeep(other))
        return False

    context = MaintenanceContext(
        store=memory.store, settings=memory.settings, clock=lambda: NOW, should_stop=summarise_meanwhile
    )
    assert summarise_entities(context) + sum(counts) == 2
