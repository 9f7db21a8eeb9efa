"""Fading: derived, so that looking twice costs nothing; forgotten softly, a few a day; what is confirmed stays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import end_session, start_session
from hyperloci.facts.facts import Facts
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.decay import (
    CALL_DAYS,
    WeakHit,
    days_until,
    expire_calls,
    expire_forgotten,
    list_weak_facts,
    promote_recalled,
    prune_faded,
    run_pruning,
)
from hyperloci.maintenance.job_list import run_maintenance
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType, Tier
from hyperloci.model.node import RESTORE_DAYS
from hyperloci.project.project_store import open_store
from hyperloci.retrieval.presentation import present_hits
from hyperloci.store import Store
from hyperloci.store.access.access_values import AccessEvent
from hyperloci.store.integrity import count_violations
from hyperloci.store.memories.decay import BINDING_DAYS, PRUNE_OPERATION
from tests.support import SHARED_FIXTURE, FakeClock, add, examples

YEAR = 365 * MS_PER_DAY


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    quiet = replace(settings, backups_daily=0, backups_weekly=0, backups_monthly=0)
    return MaintenanceContext(store=store, settings=quiet, clock=clock)


def state(store: Store) -> list[tuple[object, ...]]:
    return [tuple(row) for row in store.connection.execute("SELECT * FROM nodes ORDER BY key")]


def list_weak(store: Store, now: int) -> tuple[WeakHit, ...]:
    present = partial(present_hits, store, now=now, project=GLOBAL_SCOPE)
    return list_weak_facts(store, [GLOBAL_SCOPE], present, now=now, threshold=0.05, limit=50)


@pytest.mark.req("B.11")
@given(confidence=st.floats(0.06, 1.0), rate=st.floats(0.001, 1.0), threshold=st.floats(0.01, 0.05))
@hypothesis_settings(max_examples=examples(100))
def test_the_day_that_is_told_is_the_day_on_which_it_falls_below(
    confidence: float, rate: float, threshold: float
) -> None:
    days = days_until(confidence, rate, threshold)
    assert days is not None
    assert confidence * decay_factor(rate, days * MS_PER_DAY) == pytest.approx(threshold, rel=1e-6)


def test_what_does_not_fade_has_no_day() -> None:
    assert days_until(0.9, 0.0, 0.05) is None
    assert days_until(0.9, 0.1, 0.0) is None
    assert days_until(0.04, 0.1, 0.05) == 0.0


@pytest.mark.req("B.11", "E.16")
def test_what_faded_is_forgotten_softly_with_its_reason_and_can_be_restored(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    store = context.store
    node = add(store, "fades", confidence=0.6, tier=Tier.SESSION)
    clock.advance(90 * MS_PER_DAY)
    assert run_pruning(context) == 1
    gone = store.nodes.get_node(node.id)
    assert gone is not None
    assert (gone.tier, gone.deleted_at, gone.confidence) == (Tier.ARCHIVE, clock(), 0.6)
    (entry,) = store.log.list_of_node(node.id)
    assert (entry.operation, entry.from_tier, entry.to_tier) == ("prune", "session", "archive")
    assert "faded from 0.60 to 0.0" in str(entry.reasoning)
    assert "in 90 days without recall" in str(entry.reasoning)
    clock.advance(RESTORE_DAYS * MS_PER_DAY)
    back = Facts(store, GLOBAL_SCOPE, clock).restore_memory(node.id, reason="needed")
    assert (back.tier, back.confidence) == (Tier.SESSION, 0.6)
    assert run_pruning(context) == 0


@pytest.mark.req("B.11", "E.16")
@pytest.mark.parametrize("subtype", ["constraint", "preference", "procedure", "deadline", "semantic"])
def test_what_binds_is_kept_for_a_year_however_faint_and_the_day_is_told(
    context: MaintenanceContext, clock: FakeClock, subtype: str
) -> None:
    node = add(context.store, "customer data doesn't leave our network", confidence=0.7, subtype=subtype)
    binds = subtype != "semantic"
    clock.advance(200 * MS_PER_DAY)
    assert prune_faded(context, dry_run=True).ids == (() if binds else (node.id,))
    assert prune_faded(context, dry_run=True, limit=0).left == (0 if binds else 1)
    (weak,) = list_weak(context.store, clock())
    assert weak.days_to_prune == (BINDING_DAYS - 200 if binds else 0.0)
    clock.advance((BINDING_DAYS - 200) * MS_PER_DAY - 1)
    assert prune_faded(context, dry_run=True).ids == (() if binds else (node.id,))
    clock.advance(1)
    assert run_pruning(context) == 1


@pytest.mark.req("B.11")
def test_looking_often_makes_nothing_fade_faster(context: MaintenanceContext, clock: FakeClock) -> None:
    for number in range(30):
        add(context.store, f"fact {number}", confidence=0.3 + number / 50)
    clock.advance(40 * MS_PER_DAY)
    run_pruning(context)
    once = state(context.store)
    for _ in range(50):
        assert run_pruning(context) == 0
        assert promote_recalled(context) == 0
        list_weak(context.store, clock())
    assert state(context.store) == once


@pytest.mark.req("B.13")
def test_what_is_confirmed_never_fades(context: MaintenanceContext, clock: FakeClock) -> None:
    node = add(context.store, "protected", confidence=0.2)
    Facts(context.store, GLOBAL_SCOPE, clock).confirm_fact(node.id)
    clock.advance(100 * YEAR)
    assert prune_faded(context).ids == ()


@pytest.mark.req("B.12")
def test_what_is_recalled_every_week_stays(context: MaintenanceContext, clock: FakeClock) -> None:
    node = add(context.store, "recalled", confidence=0.6)
    for _ in range(104):
        clock.advance(7 * MS_PER_DAY)
        with context.store.transaction():
            context.store.nodes.reinforce_nodes([node.key], now=clock())
        assert run_pruning(context) == 0


@pytest.mark.req("B.11", "W17")
@pytest.mark.parametrize("type", [NodeType.SNIPPET, NodeType.ENTITY])
def test_a_rate_that_came_with_an_import_makes_no_file_and_no_name_fade(
    context: MaintenanceContext, clock: FakeClock, type: NodeType
) -> None:
    add(context.store, "stays", type=type, decay_rate=0.5, confidence=0.3)
    clock.advance(YEAR)
    assert prune_faded(context).ids == () and prune_faded(context).left == 0


@pytest.mark.req("B.15", "W17")
def test_what_happened_is_never_among_the_weak_facts(store: Store, clock: FakeClock) -> None:
    add(store, "it happened", type=NodeType.EXPERIENCE, confidence=0.1)
    fact = add(store, "it may be so", confidence=0.1)
    assert store.decay.find_weak(clock(), 0.5, (GLOBAL_SCOPE,), 9) == [fact.key]


@pytest.mark.req("W17")
def test_a_rehearsal_makes_no_backup(context: MaintenanceContext, settings: Settings, clock: FakeClock) -> None:
    rehearsed = replace(context, settings=settings, dry_run=True)
    faded, forgotten = (add(context.store, text, confidence=0.3) for text in ("fades", "was forgotten"))
    with context.store.transaction():
        context.store.nodes.delete_node(forgotten.id, now=clock())
    clock.advance(YEAR)
    assert expire_forgotten(rehearsed) == 1 and prune_faded(rehearsed).ids == (faded.id,)
    assert not list(settings.backup_dir.rglob("*.db"))


@pytest.mark.req("B.11")
@pytest.mark.parametrize(
    ("type", "subtype"),
    [
        (NodeType.EXPERIENCE, "episode"),
        (NodeType.SNIPPET, "code"),
        (NodeType.ENTITY, "tool"),
        (NodeType.DECISION, None),
    ],
)
def test_what_happened_and_what_files_say_does_not_fade(
    context: MaintenanceContext, clock: FakeClock, type: NodeType, subtype: str | None
) -> None:
    add(context.store, "stays", type=type, subtype=subtype, confidence=0.06)
    clock.advance(10 * YEAR)
    assert prune_faded(context).ids == ()


@pytest.mark.req("B.11", "W17")
@pytest.mark.parametrize("meanwhile", ["recalled", "confirmed", "forgotten"])
def test_what_is_used_between_the_look_and_the_pruning_stays(
    context: MaintenanceContext, clock: FakeClock, meanwhile: str
) -> None:
    store, aged = context.store, context.store.decay
    node, other = (add(store, text, confidence=0.3) for text in ("used meanwhile", "used by nobody"))
    clock.advance(YEAR)
    looked = {item.key: item for item in aged.find_faded(clock(), below=0.05, limit=10)}
    assert set(looked) == {node.key, other.key}
    with store.transaction():
        if meanwhile == "recalled":
            store.nodes.reinforce_nodes([node.key], now=clock())
        elif meanwhile == "confirmed":
            store.nodes.update_node(node.id, now=clock(), decay_rate=0.0)
        else:
            store.nodes.delete_node(node.id, now=clock())
    with store.transaction():
        gone = [aged.prune_memory(looked[key], now=clock() + 1, reason="faded") for key in (node.key, other.key)]
    assert gone == [False, True]
    assert [entry.operation for entry in store.log.list_of_node(node.id)].count(PRUNE_OPERATION) == 0


def test_what_was_superseded_stays_as_history(context: MaintenanceContext, clock: FakeClock) -> None:
    node = add(context.store, "history", confidence=0.3)
    with context.store.transaction():
        context.store.nodes.update_node(node.id, now=clock(), valid_until=clock())
    clock.advance(YEAR)
    assert prune_faded(context).ids == ()


@pytest.mark.req("B.11")
def test_no_more_than_the_cap_goes_in_a_day_however_often_it_runs(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    capped = replace(context, settings=replace(context.settings, prune_cap=4))
    for number in range(10):
        add(context.store, f"fact {number}", confidence=0.3 + number / 100)
    clock.advance(90 * MS_PER_DAY)
    rehearsed = prune_faded(capped, dry_run=True)
    assert (len(rehearsed.ids), rehearsed.left, rehearsed.cap) == (4, 6, 4)
    assert context.store.log.list_of_node(context.store.nodes.query_nodes()[0].id) == []
    assert prune_faded(capped, limit=1).ids == rehearsed.ids[:1]
    assert prune_faded(capped).ids == rehearsed.ids[1:]
    assert prune_faded(capped).ids == ()
    clock.advance(MS_PER_DAY + 1)
    assert len(prune_faded(capped).ids) == 4


@pytest.mark.req("B.20")
def test_the_threshold_and_the_rate_are_settings(settings: Settings, clock: FakeClock) -> None:
    chosen = replace(settings, decay_rate_default=0.5, decay_threshold=0.4, backups_daily=0, backups_weekly=0)
    chosen = replace(chosen, backups_monthly=0)
    with open_store(chosen, clock) as store:
        node = add(store, "fades fast", confidence=1.0)
        assert node.decay_rate == 0.5
        clock.advance(3 * MS_PER_DAY)
        context = MaintenanceContext(store=store, settings=chosen, clock=clock)
        assert prune_faded(context).ids == (node.id,)


@pytest.mark.req("SPEC-02.23")
def test_what_was_forgotten_for_over_thirty_days_is_deleted_with_all_that_hangs_off_it(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    store = context.store
    old, young, kept = (add(store, text, confidence=0.9) for text in ("old", "young", "kept"))
    with store.transaction():
        store.edges.link_nodes("relates_to", kept.key, [old.key], now=clock())
        store.nodes.delete_node(old.id, now=clock(), reason="a secret reason")
    clock.advance(RESTORE_DAYS * MS_PER_DAY)
    with store.transaction():
        store.nodes.delete_node(young.id, now=clock())
    assert expire_forgotten(context) == 0
    clock.advance(1)
    assert expire_forgotten(context) == 1
    assert store.nodes.get_node(old.id) is None
    assert store.nodes.get_node(young.id) is not None
    assert store.edges.list_of_node(kept.key) == []
    assert [entry.operation for entry in store.log.list_of_node(old.id)] == ["forget", "delete"]
    assert "secret" not in str(store.log.list_of_node(old.id))
    assert count_violations(store) == {}
    assert expire_forgotten(context) == 0


def test_a_clock_that_is_a_year_ahead_for_some_rounds_removes_nothing(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    store = context.store
    run_maintenance(context)
    fact, rule = add(store, "a fact", confidence=0.9), add(store, "a rule", confidence=0.9, subtype="constraint")
    forgotten = add(store, "forgotten by mistake")
    with store.transaction():
        store.nodes.delete_node(forgotten.id, now=clock())
    clock.advance(YEAR + MS_PER_DAY)
    for _ in range(3):
        assert run_maintenance(context, force=True).changed == 0
        clock.advance(MS_PER_DAY)
    clock.advance(-YEAR - 4 * MS_PER_DAY + 1)
    run_maintenance(context, force=True)
    assert all(present.deleted_at is None for present in map(store.nodes.get_node, (fact.id, rule.id)) if present)
    assert store.nodes.get_node(forgotten.id) is not None
    for _ in range(RESTORE_DAYS + 1):
        clock.advance(MS_PER_DAY)
        run_maintenance(context)
    assert store.nodes.get_node(forgotten.id) is None, "after that it counts as ever"


def test_after_a_month_at_rest_upkeep_believes_the_clock_when_it_has_gone_on_for_a_week_or_at_the_next_visit(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    store = context.store
    run_maintenance(context)
    ids = [add(store, f"fact {number}", confidence=0.06 - number / 1_000, now=clock()).id for number in range(2)]
    clock.advance(30 * MS_PER_DAY)
    run_maintenance(context)
    assert context.believed_time() == clock() - 30 * MS_PER_DAY
    clock.advance(30 * MS_PER_DAY)
    run_maintenance(context)
    assert [node.deleted_at for node in map(store.nodes.get_node, ids) if node] == [clock(), clock()]
    assert "in 30 days without recall" in (store.log.list_of_node(ids[0])[-1].reasoning or "")
    for _ in range(7):
        assert context.believed_time() < clock()
        clock.advance(MS_PER_DAY)
        run_maintenance(context)
    assert context.believed_time() == clock()


def test_a_clock_that_was_far_ahead_after_a_rest_is_believed_a_week_after_it_was_set_right(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    run_maintenance(context)
    clock.advance(20 * MS_PER_DAY + YEAR)
    run_maintenance(context)
    clock.advance(-YEAR)
    run_maintenance(context)
    assert context.believed_time() == clock() - 20 * MS_PER_DAY
    for _ in range(7):
        clock.advance(MS_PER_DAY)
        run_maintenance(context)
    assert context.believed_time() == clock()


@pytest.mark.req("B.15")
def test_weak_is_what_is_as_likely_wrong_as_right_the_least_sure_first(store: Store, clock: FakeClock) -> None:
    add(store, "sure", confidence=1.0)
    faint = add(store, "faint", confidence=0.2)
    guess = add(store, "guess", confidence=0.45, decay_rate=0.0)
    fading = add(store, "fading", confidence=0.9)
    add(store, "protected", confidence=0.9, decay_rate=0.0)
    sure = store.nodes.find_duplicate("sure", GLOBAL_SCOPE)
    clock.advance(12 * MS_PER_DAY)
    add(store, "fresh", confidence=0.9, now=clock())
    add(store, "other project", confidence=0.1, scope="elsewhere", now=clock())
    present = partial(present_hits, store, now=clock(), project=GLOBAL_SCOPE)
    found = list_weak_facts(store, [GLOBAL_SCOPE], present, now=clock(), threshold=0.05, limit=10)
    assert sure is not None
    assert [item.hit.id for item in found] == [faint.id, fading.id, guess.id, sure.id]
    by_id = {item.hit.id: item for item in found}
    assert by_id[guess.id].days_to_prune is None
    days = by_id[faint.id].days_to_prune
    assert days is not None
    assert 0 < days < 30
    assert by_id[faint.id].confidence_now == pytest.approx(0.2 * decay_factor(0.1, 12 * MS_PER_DAY))


def test_what_a_later_session_recalls_settles_and_what_its_own_recalls_does_not(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    store = context.store
    with store.transaction():
        session = start_session(store, "one", GLOBAL_SCOPE, now=clock())
    own = add(store, "own", session_key=session.key)
    later = add(store, "later", session_key=session.key)
    with store.transaction():
        store.nodes.reinforce_nodes([own.key], now=clock.advance(1))
        end_session(store, "one", now=clock.advance(1))
    assert promote_recalled(context) == 0
    with store.transaction():
        store.nodes.reinforce_nodes([later.key], now=clock.advance(1))
    assert promote_recalled(context) == 1
    tiers = [node.tier for key in (own.key, later.key) if (node := store.nodes.get_by_key(key)) is not None]
    assert tiers == [Tier.SESSION, Tier.LONGTERM]
    entry = store.log.list_of_node(later.id)[-1]
    assert (entry.operation, entry.to_tier, entry.reasoning) == ("tier", "longterm", "recalled in a later session")
    assert promote_recalled(context) == 0


@pytest.mark.req("B.11")
@given(days=st.lists(st.floats(0, 40), min_size=1, max_size=8), confidence=st.floats(0.1, 1.0))
@hypothesis_settings(max_examples=examples(30), suppress_health_check=SHARED_FIXTURE)
def test_however_time_is_cut_up_the_same_is_forgotten(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory, days: list[float], confidence: float
) -> None:
    fates = []
    for cut_up in (True, False):
        clock = FakeClock()
        quiet = replace(settings, backups_daily=0, backups_weekly=0, backups_monthly=0)
        with Store.open(tmp_path_factory.mktemp("store") / "memory.db", clock=clock) as store:
            node = add(store, "fades", confidence=confidence)
            context = MaintenanceContext(store=store, settings=quiet, clock=clock)
            for wait in days:
                clock.advance(int(wait * MS_PER_DAY))
                if cut_up:
                    prune_faded(context)
            prune_faded(context)
            after = store.nodes.get_node(node.id)
            assert after is not None
            fates.append(after.deleted_at is None)
    assert fates[0] == fates[1]


def test_calls_over_http_are_known_for_a_year(context: MaintenanceContext, clock: FakeClock) -> None:
    def call(at: int) -> AccessEvent:
        return AccessEvent(at=at, person="ada", token_id=None, client=None, tool="search_memory", outcome="done")

    with context.store.transaction():
        context.store.access_log.append_events([call(clock() - CALL_DAYS * MS_PER_DAY - 1), call(clock())])
    assert expire_calls(context) == 1
    assert [event.at for event in context.store.access_log.list_events(limit=9)] == [clock()]
