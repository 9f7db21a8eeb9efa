"""Later statements beside what holds: what they end, what they put in doubt, and what they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hyperloci.clock import MS_PER_DAY, read_day_end, to_iso
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session, start_session
from hyperloci.conversations.capture.told_memories import is_past, read_due
from hyperloci.conversations.consolidation import consolidator, heuristics, replacements
from hyperloci.conversations.consolidation.consolidator import Consolidation, consolidate_sessions
from hyperloci.conversations.consolidation.contradiction_resolution import ContradictionResolver
from hyperloci.conversations.consolidation.findings import ConsolidationPayload, ExtractedFinding, FindingKind
from hyperloci.conversations.consolidation.remainders import keep_remainder
from hyperloci.conversations.consolidation.replacement.features import ComparedStatement
from hyperloci.conversations.consolidation.replacement.standing import Standing, list_standing
from hyperloci.conversations.consolidation.replacement.surroundings import Surroundings
from hyperloci.conversations.consolidation.replacements import (
    ORDERS,
    POSSIBLE,
    SURE,
    ReplacementResolver,
    Resolution,
)
from hyperloci.errors import BadRequestError, NoEmbedderError, NotReadyError
from hyperloci.facts.facts import Facts
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.exceptions import describe_exceptions
from hyperloci.knowledge.successors import find_possible_successors
from hyperloci.model.edge import Hyperedge
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import GLOBAL_SCOPE, Tier
from hyperloci.model.node import Node
from hyperloci.model.turn import TurnKind
from hyperloci.store import Store
from hyperloci.store.integrity import count_violations
from hyperloci.store.vectors import float16
from tests.conversations.consolidation.conftest import ASSISTANT, PROJECT, TALK, USER, Talk, extracted, remember
from tests.support import NOW

BEFORE = "The deadline of the release is April 20."
NOTED = (ASSISTANT, "Noted, April 20.")
AFTER = [(USER, "the release deadline moved, it is April 25 now"), (ASSISTANT, "Noted, the release is April 25.")]

DOUBTED = "we use Redis for the sessions"
DOUBTFUL = [
    (USER, "we keep the sessions of the admin area in Postgres"),
    (ASSISTANT, "Understood."),
]


def play(talk: Talk, context: MaintenanceContext, before: str = BEFORE) -> None:
    """Have a session in which several things are said, one of them `before`."""
    talk.session("one", (USER, before), NOTED, *TALK)
    consolidate_sessions(context)


def keep_nothing_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing be sure enough to be kept, but what changes something."""
    monkeypatch.setattr(heuristics, "KEEP", 1.0)
    monkeypatch.setattr(heuristics, "KEEP_BINDING", {})


def find(store: Store, text: str) -> Node:
    return next(node for node in extracted(store) if text in node.content)


def edges_between(store: Store, one: Node, other: Node) -> list[Hyperedge]:
    return [
        edge
        for edge in store.edges.list_of_node(one.key)
        if [member.node for member in edge.members] == [one.key, other.key]
    ]


@pytest.mark.req("B.17")
def test_a_sure_change_ends_what_was_said_before_and_keeps_it_as_history(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    old, new = find(store, "April 20"), find(store, "April 25")
    assert old.valid_until == new.valid_from
    assert new.valid_until is None
    assert store.facets.get_facets([old.key])[old.key].verification is Verification.OUTDATED
    (edge,) = edges_between(store, new, old)
    assert (edge.label, edge.automatic) == ("supersedes", True)
    assert any("a later statement replaces it" in str(entry.reasoning) for entry in store.log.list_of_node(old.id))
    assert [node.content for node in extracted(store) if node.valid_until is not None] == [BEFORE]
    assert count_violations(store) == {}


@pytest.mark.req("B.17")
def test_what_was_said_to_hold_until_a_day_ends_once_that_day_is_over(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    last = to_iso(NOW + 3 * MS_PER_DAY)[:10]
    play(talk, context, f"Never deploy anything to production until {last}, the auditors are in the house.")
    freeze = find(store, "Never deploy")
    assert freeze.metadata["until"] == last
    talk.clock.advance(2 * MS_PER_DAY)
    talk.session("two", *TALK)
    consolidate_sessions(context)
    assert find(store, "Never deploy").valid_until is None
    facts.confirm_fact(freeze.id)
    assert find(store, "Never deploy").metadata["until"] == last
    talk.clock.advance(3 * MS_PER_DAY)
    talk.session("three", *TALK)
    consolidate_sessions(context)
    ended = find(store, "Never deploy")
    assert ended.valid_until == read_day_end(last)
    assert store.facets.get_facets([ended.key])[ended.key].verification is Verification.OUTDATED
    (entry,) = (entry for entry in store.log.list_of_node(ended.id) if entry.operation == "expire")
    assert entry.reasoning == f"it was said to hold until {last}"
    assert find(store, "Tests must not").valid_until is None
    with pytest.raises(BadRequestError, match=f"ended with its own day, {last}"):
        facts.correct_fact(ended.id, sanitize_argument("fact", "It goes on."), reason=None, session_id=None)
    facts.confirm_fact(ended.id)
    again = find(store, "Never deploy")
    assert again.valid_until is None
    assert "until" not in again.metadata


@pytest.mark.req("B.17")
def test_a_deadline_ends_with_its_day_and_holds_on_for_who_confirms_that_it_is_still_to_be_met(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    last = to_iso(NOW + 3 * MS_PER_DAY)[:10]
    play(talk, context, f"The beta must be with the testers by {last}.")
    beta = find(store, "The beta")
    assert (beta.subtype, beta.metadata["due"], beta.valid_until) == ("deadline", last, None)
    talk.clock.advance(5 * MS_PER_DAY)
    talk.session("two", *TALK)
    consolidate_sessions(context)
    assert find(store, "The beta").valid_until == read_day_end(last)
    (entry,) = (entry for entry in store.log.list_of_node(beta.id) if entry.operation == "expire")
    assert entry.reasoning == f"it was due on {last}"
    with pytest.raises(BadRequestError, match=f"ended with its own day, {last}"):
        facts.correct_fact(beta.id, sanitize_argument("fact", "It goes out in May."), reason=None, session_id=None)
    facts.confirm_fact(beta.id)
    again = find(store, "The beta")
    assert (again.valid_until, again.metadata["overdue"], "due" in again.metadata) == (None, last, False)
    assert not is_past(again, NOW + 60 * MS_PER_DAY)
    talk.session("three", *TALK)
    consolidate_sessions(context)
    assert find(store, "The beta").valid_until is None


@pytest.mark.req("D.09")
def test_a_deadline_that_was_told_on_purpose_ends_with_its_day_too(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    last = to_iso(NOW + 3 * MS_PER_DAY)[:10]
    told = remember(facts, f"The demo is due {last}", "deadline")
    talk.clock.advance(2 * MS_PER_DAY)
    play(talk, context)
    assert facts.resolve_living_node(told, "id").valid_until is None
    talk.clock.advance(3 * MS_PER_DAY)
    talk.session("two", *TALK)
    consolidate_sessions(context)
    assert facts.resolve_living_node(told, "id").valid_until == read_day_end(last)


@pytest.mark.req("B.17")
def test_a_deadline_of_two_days_ends_with_the_last(store: Store, talk: Talk, context: MaintenanceContext) -> None:
    first, last = (to_iso(NOW + days * MS_PER_DAY)[:10] for days in (3, 9))
    play(talk, context, f"The draft must be submitted by {first}, the camera ready version by {last}.")
    draft = find(store, "The draft")
    assert (draft.metadata["due"], draft.metadata["until"]) == (first, last)
    talk.clock.advance(6 * MS_PER_DAY)
    talk.session("two", *TALK)
    consolidate_sessions(context)
    assert find(store, "The draft").valid_until is None
    assert read_due(draft, NOW + 6 * MS_PER_DAY) == last


@pytest.mark.req("B.17", "B.19")
def test_a_rule_ends_once_somebody_tells_that_what_it_waits_for_has_come(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    rule = "No deploys to production until the auditors have left, that is an order from the board."
    play(talk, context, rule)
    talk.session("two", (USER, "the auditors want another export of the invoices"), (ASSISTANT, "It is exported."))
    consolidate_sessions(context)
    (held,) = [node for node in extracted(store) if "auditors" in node.content]
    assert held.valid_until is None
    told, *_ = talk.session(
        "three", (USER, "the auditors left yesterday, so we can deploy again"), (ASSISTANT, "Good.")
    )
    consolidate_sessions(context)
    ended = store.nodes.get_by_key(held.key)
    assert ended is not None and ended.valid_until == told.event_time
    (entry,) = (entry for entry in store.log.list_of_node(ended.id) if entry.operation == "expire")
    assert entry.reasoning is not None and entry.reasoning.endswith(
        "the auditors left yesterday, so we can deploy again"
    )


@pytest.mark.req("B.19")
def test_a_rule_that_was_remembered_on_purpose_is_not_ended_by_what_it_waits_for(
    store: Store, talk: Talk, facts: Facts, context: MaintenanceContext
) -> None:
    told = remember(facts, "No deploys to production until the auditors have left.")
    talk.session("two", (USER, "the auditors left yesterday, so we can deploy again"), (ASSISTANT, "Good."))
    consolidate_sessions(context)
    node = store.nodes.get_node(told)
    assert node is not None and node.valid_until is None


@pytest.mark.req("B.17")
@pytest.mark.parametrize("last", [to_iso(NOW + 3 * MS_PER_DAY)[:10], "the range test is over"])
def test_what_holds_for_a_time_leaves_what_holds_after_it(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver, last: str
) -> None:
    play(talk, context, "Never deploy anything to production without Mara.")
    talk.session("two", (USER, f"Never deploy anything to production until {last}, whoever says so."), *TALK)
    consolidate_sessions(context)
    old, new = find(store, "without Mara"), find(store, "whoever says so")
    with store.transaction():
        assert resolver.resolve_replacement(new, old, 1.0) is Resolution.MARKED
    assert find(store, "without Mara").valid_until is None


@pytest.mark.req("B.17")
def test_a_number_until_which_something_goes_is_no_end_of_what_is_said(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    play(talk, context, "We decided that the preStop hook sleeps for 20 seconds.")
    talk.session("two", (USER, "The tail goes on until 38 s after it, so we decided: the hook sleeps for 45."), *TALK)
    consolidate_sessions(context)
    old, new = find(store, "20 seconds"), find(store, "sleeps for 45")
    with store.transaction():
        assert resolver.resolve_replacement(new, old, 1.0) is Resolution.ENDED


@pytest.mark.req("B.17")
def test_an_end_that_is_said_again_is_the_later_one(store: Store, talk: Talk, context: MaintenanceContext) -> None:
    said = "Never deploy anything to production until {}, the auditors are in the house."
    first, second = (to_iso(NOW + days * MS_PER_DAY)[:10] for days in (2, 9))
    play(talk, context, said.format(first))
    talk.session("two", (USER, said.format(second)), *TALK)
    consolidate_sessions(context)
    talk.clock.advance(5 * MS_PER_DAY)
    talk.session("three", *TALK)
    consolidate_sessions(context)
    standing = [
        node.metadata["until"]
        for node in extracted(store)
        if "Never deploy" in node.content and node.valid_until is None
    ]
    assert standing == [second]


@pytest.mark.req("B.17")
def test_a_change_within_one_session_ends_what_was_said_before(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    talk.session("one", (USER, BEFORE), NOTED, *TALK, (ASSISTANT, "Understood."), *AFTER)
    consolidate_sessions(context)
    old, new = find(store, "April 20"), find(store, "April 25")
    assert old.valid_until == new.valid_from
    assert [edge.label for edge in edges_between(store, new, old)] == ["supersedes"]


@pytest.mark.req("B.17")
def test_a_possible_change_marks_what_was_said_before_and_both_stand(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context, DOUBTED)
    talk.session("two", *DOUBTFUL)
    consolidation = Consolidation(store, context.settings, talk.clock)
    (waiting,) = consolidation.list_pending()
    saved = consolidation.consolidate(waiting).saved
    old, new = find(store, DOUBTED), find(store, DOUBTFUL[0][1])
    assert (saved.superseded, saved.uncertain) == ((), 1)
    assert (old.valid_until, new.valid_until) == (None, None)
    (edge,) = edges_between(store, new, old)
    assert (edge.label, edge.automatic, edge.evidence) == ("updates", True, "a later statement may replace it")
    assert POSSIBLE <= edge.confidence < SURE


@pytest.mark.parametrize(("probability", "label"), [(SURE, "supersedes"), (SURE - 0.01, "updates")])
def test_how_sure_it_is_decides(
    store: Store, talk: Talk, context: MaintenanceContext, probability: float, label: str
) -> None:
    play(talk, context)
    old, new = find(store, "April 20"), find(store, "network")
    resolver = ReplacementResolver(store, ContradictionResolver(store, talk.clock), talk.clock)
    with store.transaction():
        resolution = resolver.resolve_replacement(new, old, probability)
    assert (resolution is Resolution.ENDED) == (label == "supersedes")
    assert [edge.label for edge in edges_between(store, new, old)] == [label]


@pytest.mark.req("B.17")
def test_what_was_remembered_on_purpose_is_never_ended_by_a_transcript(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    kept = remember(facts, BEFORE)
    talk.session("one", *TALK)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    old = store.nodes.get_node(kept)
    assert old is not None
    assert old.valid_until is None
    (edge,) = edges_between(store, find(store, "April 25"), old)
    assert (edge.label, edge.automatic) == ("updates", True)


@pytest.mark.req("B.17")
def test_what_holds_in_all_projects_is_not_put_in_doubt_by_what_one_of_them_decides(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    kept = remember(facts, BEFORE, "preference", GLOBAL_SCOPE)
    talk.session("one", *TALK)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    preference = store.nodes.get_node(kept)
    assert preference is not None
    assert find(store, "April 25").holds
    assert find_possible_successors(store, [preference.key], PROJECT) == {}
    said = describe_exceptions(store, [preference.key], (PROJECT,))
    assert said[preference.key].endswith(f"decided otherwise: {find(store, 'April 25').id}")
    assert describe_exceptions(store, [preference.key], ("another project", GLOBAL_SCOPE)) == {}


@pytest.mark.req("B.17")
def test_a_proposal_of_what_was_told_to_have_failed_is_no_decision_and_doubts_nothing(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    failed, why = "Caching parse_cookie results with lru_cache", "header objects are unhashable"
    told = facts.mark_dead_end(sanitize_argument("approach", failed), sanitize_argument("reason", why), scope=PROJECT)
    talk.session("two", (USER, "let us cache parse_cookie with lru_cache"), (ASSISTANT, "ok"))
    consolidate_sessions(context)
    assert extracted(store) == []
    failed_once = store.nodes.get_node(told.id)
    assert failed_once is not None
    assert find_possible_successors(store, [failed_once.key], PROJECT) == {}


@pytest.mark.req("B.17")
def test_what_somebody_confirmed_is_never_ended_by_a_transcript(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    play(talk, context)
    facts.confirm_fact(find(store, "April 20").id)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    old = find(store, "April 20")
    assert old.valid_until is None
    assert [edge.label for edge in edges_between(store, find(store, "April 25"), old)] == ["updates"]


@pytest.mark.req("B.17")
def test_what_was_told_on_purpose_in_the_words_of_a_session_is_never_ended_by_a_transcript(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    play(talk, context)
    found = find(store, "April 20")
    assert remember(facts, found.content, category=str(found.subtype)) == found.id
    told = find(store, "April 20")
    assert (told.confidence, told.was_told, told.seen_count) == (1.0, True, 2)
    assert [entry.operation for entry in store.log.list_of_node(told.id)][-1] == "tell"
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    old = find(store, "April 20")
    assert old.valid_until is None
    assert [edge.label for edge in edges_between(store, find(store, "April 25"), old)] == ["updates"]


@pytest.mark.req("B.17")
def test_what_is_about_something_else_neither_ends_nor_marks_anything(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context)
    talk.session(
        "two", (USER, "Money is stored as integer cents everywhere, never floats."), (ASSISTANT, "Understood.")
    )
    consolidate_sessions(context)
    assert find(store, "cents").valid_until is None
    assert all(node.valid_until is None for node in extracted(store))
    labels = {edge.label for node in extracted(store) for edge in store.edges.list_of_node(node.key)}
    assert not labels & {"supersedes", "updates", "contradicts"}


@pytest.mark.req("B.17")
def test_what_shares_a_name_and_differs_in_a_date_ends_nothing(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context)
    talk.session(
        "april", (USER, "My narrative pacing improved a lot after Leslie's workshop on April 18 in the old mill.")
    )
    consolidate_sessions(context)
    talk.session("july", (USER, "I decided to improve my slides and to prepare for Leslie's workshop on July 25."))
    consolidate_sessions(context)
    old, new = find(store, "April 18"), find(store, "July 25")
    assert (old.valid_until, new.valid_until) == (None, None)


def test_what_was_said_earlier_replaces_nothing_that_came_after_it(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    talk.session("one", *AFTER)
    talk.session("two", (USER, BEFORE), NOTED, *TALK)
    consolidation = Consolidation(store, context.settings, talk.clock)
    earlier, later = consolidation.list_pending()
    consolidation.consolidate(later)
    consolidation.consolidate(earlier)
    assert all(node.valid_until is None for node in extracted(store))
    assert edges_between(store, find(store, "April 25"), find(store, "April 20")) == []


def test_what_another_project_holds_is_left_alone(store: Store, talk: Talk, context: MaintenanceContext) -> None:
    play(Talk(store, talk.clock, "project-2"), context)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    assert find(store, "April 20").valid_until is None
    assert edges_between(store, find(store, "April 25"), find(store, "April 20")) == []


def embed(store: Store, *given: tuple[Node, list[float]]) -> None:
    """Give statements a vector of two dimensions."""
    with store.transaction():
        model = store.vectors.use_model("plane", 2, now=NOW)
        for node, vector in given:
            row = np.asarray(vector, np.float32)
            store.vectors.put_fingerprint(
                node.key, model, {"e1": float16.pack_half(row / np.linalg.norm(row))}, now=NOW
            )


def embed_others(store: Store, *chosen: Node) -> None:
    """Give all other statements a vector that is near to neither axis."""
    keys = {node.key for node in chosen}
    embed(store, *((node, [-0.5, -1.0]) for node in extracted(store) if node.key not in keys))


@pytest.fixture
def resolver(store: Store, talk: Talk) -> ReplacementResolver:
    return ReplacementResolver(store, ContradictionResolver(store, talk.clock), talk.clock)


MEANT = "we store uploads in S3"
MEANT_LATER = "from now on all files of users go to Hetzner"


@pytest.fixture
def meant(store: Store, talk: Talk, context: MaintenanceContext) -> tuple[Node, Node]:
    """A statement, and another that takes its place in other words."""
    play(talk, context, MEANT)
    talk.session("two", (USER, MEANT_LATER), (ASSISTANT, "Understood."))
    consolidate_sessions(context)
    return find(store, "S3"), find(store, "Hetzner")


@pytest.mark.req("B.17")
def test_what_replaces_in_other_words_is_found_once_both_have_a_vector(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver
) -> None:
    old, new = meant
    assert edges_between(store, new, old) == []
    assert resolver.review_statements() == 0
    embed_others(store, old, new)
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    resolver.review_statements()
    (edge,) = edges_between(store, new, old)
    assert edge.label in ("updates", "supersedes")


class SaysBoth:
    """A scorer that finds by words and by meaning what it is told to."""

    def __init__(self, by_words: float, by_meaning: float) -> None:
        self._by_words, self._by_meaning = by_words, by_meaning

    def score(
        self, new: object, living: Sequence[object], cosines: Sequence[float] | None = None, around: object = None
    ) -> list[float]:
        return [self._by_words if cosines is None else self._by_meaning for _ in living]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("by_words", "by_meaning", "label"),
    [
        (0.4, 0.7, "supersedes"),
        (0.2, 0.55, "supersedes"),
        (0.55, 0.3, "supersedes"),
        (0.19, 0.7, "updates"),
        (0.59, 0.1, "updates"),
        (0.45, 0.45, "updates"),
        (0.8, 0.1, "supersedes"),
    ],
)
def test_what_words_or_meaning_is_sure_of_ends_where_the_other_supports_it(
    store: Store,
    meant: tuple[Node, Node],
    resolver: ReplacementResolver,
    monkeypatch: pytest.MonkeyPatch,
    by_words: float,
    by_meaning: float,
    label: str,
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", lambda: SaysBoth(by_words, by_meaning))
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    resolver.review_statements()
    assert [edge.label for edge in edges_between(store, new, old)] == [label]


class ReadsBoth:
    """Reads two statements together, holds what it is told to, and notes what it was shown."""

    def __init__(self, score: float) -> None:
        self.score = score
        self.shown: list[tuple[str, str]] = []

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.shown += pairs
        return [self.score] * len(pairs)


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("reading", "label"), [(0.99, "supersedes"), (0.5, "updates"), (0.0001, "updates")])
def test_what_reads_both_together_is_heard_beside_words_and_meaning(
    store: Store,
    talk: Talk,
    meant: tuple[Node, Node],
    monkeypatch: pytest.MonkeyPatch,
    reading: float,
    label: str,
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", lambda: SaysBoth(0.3, 0.45))
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    scorer = ReadsBoth(reading)
    ReplacementResolver(store, ContradictionResolver(store, talk.clock), talk.clock, scorer).review_statements()
    assert [edge.label for edge in edges_between(store, new, old)] == [label]
    assert (old.content, f"{new.content} [Understood.]") in scorer.shown


class Loads(ReadsBoth):
    """Reads two statements together once it has loaded; counts how often it was asked before."""

    refused = 0

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        if self.score < 0.0:
            self.refused += 1
            raise NotReadyError("it loads")
        return super().score_pairs(pairs, timeout)


@pytest.mark.req("B.17")
def test_what_can_not_be_read_together_yet_waits_where_it_may(
    store: Store, talk: Talk, meant: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", lambda: SaysBoth(0.3, 0.45))
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    scorer = Loads(-1.0)
    resolver = ReplacementResolver(store, ContradictionResolver(store, talk.clock), talk.clock, scorer)
    for asked in (1, 2):
        resolver.review_statements(may_wait=True)
        assert edges_between(store, new, old) == [] and scorer.refused == asked
    scorer.score = 0.99
    resolver.review_statements(may_wait=True)
    assert [edge.label for edge in edges_between(store, new, old)] == ["supersedes"]
    assert store.consolidations.list_reviews(None, 10) == []


@pytest.mark.parametrize("may_wait", [True, False])
def test_no_statement_waits_for_an_embedder_that_does_not_run_or_at_the_end_of_a_session(
    store: Store, talk: Talk, meant: tuple[Node, Node], may_wait: bool
) -> None:
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    scorer = Absent(0.5) if may_wait else Loads(-1.0)
    resolver = ReplacementResolver(store, ContradictionResolver(store, talk.clock), talk.clock, scorer)
    resolver.review_statements(may_wait=may_wait)
    assert store.consolidations.list_reviews(None, 10) == []


class Absent(ReadsBoth):
    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        raise NoEmbedderError


@pytest.mark.req("B.17")
def test_what_comes_in_late_is_ended_by_what_was_said_after_it(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    talk.session("one", *AFTER)
    consolidate_sessions(context)
    new = find(store, "April 25")
    embed(store, (new, [1.0, 0.1]))
    resolver.review_statements()
    with store.transaction():
        start_session(store, "imported", talk.project, now=NOW)
        saying = NewTurn(role=USER, text=BEFORE, at=new.event_time - MS_PER_DAY, kind=TurnKind.TEXT, uuid="old")
        add_turn(store, "imported", talk.project, saying, now=talk.clock.advance(1_000))
        end_session(store, "imported", now=talk.clock.advance(1_000))
    consolidate_sessions(context)
    old = find(store, "April 20")
    assert old.valid_until is None
    embed(store, (old, [1.0, 0.0]))
    assert resolver.review_statements() == 1
    assert find(store, "April 20").valid_until is not None
    assert [edge.label for edge in edges_between(store, new, old)] == ["supersedes"]


def test_what_holds_is_read_once_for_each_statement_that_is_judged(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def note_look(store: Store, scope: str, *, with_passing: bool = True) -> list[Standing]:
        looks.append(scope)
        return list_standing(store, scope, with_passing=with_passing)

    monkeypatch.setattr(replacements, "list_standing", note_look)
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    waiting = store.consolidations.list_reviews(None, 10)
    assert len(waiting) > 1
    resolver.review_statements()
    assert len(looks) == len(waiting)


@pytest.mark.req("B.17")
def test_statements_of_one_moment_do_not_all_end_one_another(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", lambda: SaysBoth(1.0, 1.0))
    with store.transaction():
        store.connection.execute("UPDATE nodes SET event_time = ? WHERE origin = 'extraction'", (NOW,))
    embed(store, *((node, [1.0, 0.1 * number]) for number, node in enumerate(extracted(store))))
    resolver.review_statements()
    assert holding(store) != []


def test_a_mark_by_words_stays_where_the_meaning_says_nothing(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    play(talk, context, DOUBTED)
    talk.session("two", *DOUBTFUL)
    consolidate_sessions(context)
    old, new = find(store, DOUBTED), find(store, DOUBTFUL[0][1])
    embed_others(store, old, new)
    embed(store, (old, [1.0, 0.0]), (new, [-1.0, 0.1]))
    resolver.review_statements()
    assert [edge.label for edge in edges_between(store, new, old)] == ["updates"]


def test_a_statement_is_judged_by_meaning_once(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver
) -> None:
    old, new = meant
    embed(store, (old, [1.0, 0.0]), (new, [1.0, 0.2]))
    assert [node.key for node in store.consolidations.list_reviews(None, 10)] == [old.key, new.key]
    resolver.review_statements()
    assert store.consolidations.list_reviews(None, 10) == []
    with store.transaction():
        assert not store.consolidations.finish_review(new.key)


def test_only_statements_of_the_project_that_is_asked_for_are_judged(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver
) -> None:
    embed(store, *((node, [1.0, 0.0]) for node in meant))
    assert store.consolidations.list_reviews("project-2", 10) == []
    assert len(store.consolidations.list_reviews("project-1", 1)) == 1


def test_what_was_purged_or_forgotten_is_not_judged(
    store: Store, talk: Talk, meant: tuple[Node, Node], resolver: ReplacementResolver
) -> None:
    embed(store, *((node, [1.0, 0.0]) for node in meant))
    store.nodes.delete_node(meant[0].id, now=talk.clock())
    assert [node.key for node in store.consolidations.list_reviews(None, 10)] == [meant[1].key]


def test_what_is_said_in_one_turn_ends_nothing_said_in_it(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    talk.session("one", (USER, f"{BEFORE}\n\nBy the way. {AFTER[0][1]}"), *TALK)
    consolidate_sessions(context)
    assert all(node.valid_until is None for node in extracted(store))
    labels = {edge.label for node in extracted(store) for edge in store.edges.list_of_node(node.key)}
    assert not labels & {"supersedes", "updates"}


@pytest.mark.req("B.17")
def test_what_is_said_in_passing_is_kept_if_it_changes_what_holds(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(talk, context)
    keep_nothing_by_itself(monkeypatch)
    talk.session("two", *AFTER, (USER, "The staging database is called harbour_staging."), (ASSISTANT, "Noted."))
    consolidate_sessions(context)
    assert find(store, "April 20").valid_until == find(store, "April 25").valid_from
    assert not any("harbour" in node.content for node in extracted(store))


@pytest.mark.req("B.17")
def test_what_was_asked_before_and_answered_is_weighed_with_a_statement(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Surroundings] = []

    class Listening:
        def score(
            self, new: object, living: list[object], cosines: object = None, around: object = None
        ) -> list[float]:
            assert isinstance(around, Surroundings)
            heard.append(around)
            return [0.0] * len(living)

    play(talk, context)
    monkeypatch.setattr(replacements, "load_replacement_scorer", Listening)
    talk.session("two", (ASSISTANT, "The release is April 20."), *AFTER)
    consolidate_sessions(context)
    assert set(heard) == {Surroundings("The release is April 20.", AFTER[1][1])}


@pytest.mark.req("B.17")
def test_what_was_done_until_the_user_speaks_again_is_weighed_with_a_statement(
    store: Store, talk: Talk, resolver: ReplacementResolver
) -> None:
    first, *_ = talk.session("one", (USER, "make it 45"), end=False)
    talk.say("one", (ASSISTANT, "Edit a.py: +1 -1 lines: `A = 20` became `A = 45`"), kind=TurnKind.ACTION)
    talk.say("one", (ASSISTANT, "45 seconds."))
    talk.say("one", (ASSISTANT, "Bash: make test"), kind=TurnKind.ACTION)
    talk.say("one", (USER, "and now the lease"))
    talk.say("one", (ASSISTANT, "Bash: make lease"), kind=TurnKind.ACTION)
    done = ("Edit a.py: +1 -1 lines: `A = 20` became `A = 45`", "Bash: make test")
    assert resolver._find_surroundings("one", first.seq) == Surroundings("", "45 seconds.", done)


def test_what_somebody_else_said_later_is_no_answer(store: Store, talk: Talk, resolver: ReplacementResolver) -> None:
    first, *_ = talk.session("one", (USER, "give it 45"), (USER, "and the lease?"), (ASSISTANT, "20 seconds."))
    assert resolver._find_surroundings("one", first.seq) == Surroundings()
    assert resolver._find_surroundings("unknown", 0) == Surroundings()
    assert resolver._find_surroundings("one", (first.seq or 0) + 1) == Surroundings(answered="20 seconds.")


LED = "Where do sessions live? … Postgres"
SAID_IN_PASSING = [(USER, BEFORE), NOTED]


@pytest.fixture
def passing(store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch) -> Node:
    """The turn of a statement that was not sure enough to be kept."""
    talk.session("first", *TALK)
    consolidate_sessions(context)
    with monkeypatch.context() as unsure:
        keep_nothing_by_itself(unsure)
        turn, _ = talk.session("one", *SAID_IN_PASSING)
        consolidate_sessions(context)
    assert not any("April" in node.content for node in extracted(store))
    return turn


@pytest.mark.req("B.17")
def test_the_turn_of_what_was_said_in_passing_is_outdated_by_what_replaces_it(
    store: Store, talk: Talk, context: MaintenanceContext, passing: Node
) -> None:
    talk.session("two", *AFTER)
    (waiting,) = Consolidation(store, context.settings, talk.clock).list_pending()
    saved = Consolidation(store, context.settings, talk.clock).consolidate(waiting).saved
    (edge,) = edges_between(store, find(store, "April 25"), passing)
    assert (edge.label, edge.automatic) == ("outdates", True)
    assert edge.confidence >= POSSIBLE
    assert (saved.superseded, saved.uncertain) == ((), 0)
    turn = store.nodes.get_by_key(passing.key)
    assert turn is not None
    assert turn.valid_until is None


@pytest.mark.req("B.17")
def test_what_is_said_in_passing_twice_is_noted_where_it_stands(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_nothing_by_itself(monkeypatch)
    monkeypatch.setattr(heuristics, "KEEP_UNANSWERED", 1.0)
    turn, *_ = talk.session("one", (USER, BEFORE), NOTED, (USER, "the deadline of the release is april 20"))
    consolidate_sessions(context)
    (said,) = store.passing_statements.list_latest("project-1", 10)
    assert (said.turn.key, said.quote) == (turn.key, BEFORE)


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("talked", "about", "noted"),
    [
        (["U: hello", "A: Where do sessions live? a) Redis b) Postgres", "U: b"], LED, "Postgres"),
        (["U: The mirror is new. Never b."], "The mirror is new.", "The mirror is new."),
        (["U: b is the mirror, is it?", "A: Yes.", "U: b"], "b is the mirror, is it?", "b is the mirror, is it?"),
    ],
    ids=["a lead", "its own turn", "an earlier prompt"],
)
def test_what_was_said_in_passing_is_noted_once_with_what_it_is_about(
    store: Store, talk: Talk, resolver: ReplacementResolver, talked: list[str], about: str, noted: str
) -> None:
    turns = talk.session("one", *((USER if said[0] == "U" else ASSISTANT, said[3:]) for said in talked))
    content = "Never b." if len(turns) == 1 else "b"
    finding = ExtractedFinding(kind=FindingKind.DECISION, content=content, about=about, sources=(0,))
    answered = [turn for turn in turns[:-1] if about.partition(" … ")[0] in turn.content]
    with store.transaction():
        resolver.note_in_passing(finding, [turns[-1], *answered])
    (said,) = store.passing_statements.list_latest("project-1", 10)
    assert (said.turn.key, said.quote, said.about) == (turns[-1].key, content, noted)


def test_what_was_said_in_passing_is_judged_by_meaning_too(
    store: Store,
    talk: Talk,
    context: MaintenanceContext,
    passing: Node,
    resolver: ReplacementResolver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    new = find(store, "April 25")
    embed(store, (passing, [1.0, 0.0]), (new, [1.0, 0.1]))
    monkeypatch.setattr(replacements, "load_replacement_scorer", lambda: SaysBoth(0.2, 0.2))
    resolver.review_statements()
    (edge,) = edges_between(store, new, passing)
    assert edge.label == "outdates"
    assert edge.confidence == pytest.approx(0.2)


def test_a_mark_stays_of_what_has_no_vector_when_its_successor_is_judged_by_meaning(
    store: Store, talk: Talk, context: MaintenanceContext, passing: Node, resolver: ReplacementResolver
) -> None:
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    new = find(store, "April 25")
    embed(store, (new, [1.0, 0.1]))
    resolver.review_statements()
    (edge,) = edges_between(store, new, passing)
    assert edge.label == "outdates"
    assert edge.confidence >= POSSIBLE


@pytest.mark.parametrize("probability", [ORDERS, POSSIBLE - 0.01])
def test_a_change_too_unsure_to_be_told_only_puts_two_in_order(
    store: Store, meant: tuple[Node, Node], resolver: ReplacementResolver, probability: float
) -> None:
    old, new = meant
    with store.transaction():
        assert resolver.resolve_replacement(new, old, probability) is Resolution.ORDERED
    assert [edge.label for edge in edges_between(store, new, old)] == ["outdates"]


def test_what_is_only_said_in_passing_is_not_kept_whatever_it_changes(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(talk, context)
    keep_nothing_by_itself(monkeypatch)
    monkeypatch.setattr(heuristics, "TENTATIVE", 1.0)
    turn, _ = talk.session("two", *AFTER)
    consolidate_sessions(context)
    assert find(store, "April 20").valid_until is None
    assert not any("April 25" in node.content for node in extracted(store))
    assert [one.turn.key for one in store.passing_statements.list_latest("project-1", 10)] == [turn.key]
    assert store.edges.list_of_node(turn.key, "outdates") == []


def test_what_is_said_in_passing_keeps_no_statement_that_says_the_same_out(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answer, statement = talk.session(
        "one",
        (ASSISTANT, "Which port is it that the proxy listens on?"),
        (USER, "8080, please"),
        (USER, "The port that the proxy listens on is 8080."),
    )
    found = [
        ExtractedFinding(
            kind=FindingKind.DECISION,
            content="8080, please",
            about=asked.content,
            sources=(asked.seq or 0, answer.seq or 0),
            is_tentative=True,
            is_passing=True,
        ),
        ExtractedFinding(kind=FindingKind.DECISION, content=statement.content, sources=(statement.seq or 0,)),
    ]
    payload = ConsolidationPayload(findings=tuple(found))
    monkeypatch.setattr(consolidator, "extract", lambda *_, **__: payload)
    consolidate_sessions(context)
    assert [node.content for node in extracted(store)] == [statement.content]


def test_statements_are_judged_as_if_nothing_had_been_said_in_passing(
    store: Store, talk: Talk, context: MaintenanceContext, passing: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[int] = []

    class Counting:
        def score(
            self, new: object, living: Sequence[object], cosines: object = None, around: object = None
        ) -> list[float]:
            beside.append(len(living))
            return [POSSIBLE if len(living) == standing else 0.0] * len(living)

    standing = len(extracted(store))
    monkeypatch.setattr(replacements, "load_replacement_scorer", Counting)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    assert set(beside) == {standing, standing + 1}
    new = find(store, "April 25")
    assert len(store.edges.list_of_node(new.key, "updates")) == standing
    assert edges_between(store, new, passing) == []


def statement_of(turn: Node, content: str = "", **changes: Any) -> ExtractedFinding:
    """Return the finding that a turn yields, in its own words."""
    return ExtractedFinding(
        kind=FindingKind.DECISION, content=content or turn.content, sources=(turn.seq or 0,), **changes
    )


def consolidate_as(monkeypatch: pytest.MonkeyPatch, context: MaintenanceContext, *found: ExtractedFinding) -> None:
    """Consolidate with these findings in the place of those of the rules."""
    placed = tuple(replace(finding, place=f"found[{number}]") for number, finding in enumerate(found))
    monkeypatch.setattr(consolidator, "extract", lambda *_, **__: ConsolidationPayload(findings=placed))
    consolidate_sessions(context)


def holding(store: Store) -> list[str]:
    return [node.content for node in extracted(store) if node.valid_until is None]


class EndsWhatRetries:
    """A scorer that is sure of what names retries."""

    def score(
        self, new: ComparedStatement, olds: Sequence[ComparedStatement], cosines: object = None, around: object = None
    ) -> list[float]:
        return [0.9 if "retries" in new.text and "retries" in old.text else 0.0 for old in olds]


@pytest.mark.req("B.17")
def test_who_changes_a_mind_back_is_believed(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", EndsWhatRetries)
    (before,) = talk.session("one", (USER, "The importer retries 3 times."))
    consolidate_as(monkeypatch, context, statement_of(before))
    changed, back = talk.session(
        "two", (USER, "The importer retries 5 times."), (USER, "The importer retries 3 times.")
    )
    consolidate_as(monkeypatch, context, statement_of(changed), statement_of(back))
    assert holding(store) == ["The importer retries 3 times."]
    (again,) = [node for node in extracted(store) if node.valid_until is None]
    assert again.event_time == back.event_time


@pytest.mark.req("B.17")
def test_what_was_ended_by_later_words_is_not_said_again_by_earlier_ones(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", EndsWhatRetries)
    (before,) = talk.session("one", (USER, "The importer retries 3 times."))
    consolidate_as(monkeypatch, context, statement_of(before))
    known, changed = talk.session(
        "two", (USER, "As it is, the importer retries 3 times."), (USER, "The importer retries 5 times.")
    )
    consolidate_as(monkeypatch, context, statement_of(known), statement_of(changed))
    assert holding(store) == ["The importer retries 5 times."]


@pytest.mark.req("B.17")
def test_what_another_option_was_chosen_from_is_no_memory_of_what_is_chosen_now(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answer = talk.session("one", (ASSISTANT, "Shall the jobs use Redis or RabbitMQ?"), (USER, "RabbitMQ"))
    seqs = (asked.seq or 0, answer.seq or 0)
    consolidate_as(monkeypatch, context, replace(statement_of(answer, about=asked.content), sources=seqs))
    (other,) = talk.session("two", (USER, "The jobs use Redis."))
    consolidate_as(monkeypatch, context, statement_of(other))
    assert "The jobs use Redis." in holding(store)


@pytest.mark.req("B.17")
@pytest.mark.parametrize("changes_what_holds", [False, True])
def test_what_may_come_to_nothing_keeps_out_no_surer_statement(
    store: Store,
    talk: Talk,
    context: MaintenanceContext,
    monkeypatch: pytest.MonkeyPatch,
    changes_what_holds: bool,
) -> None:
    monkeypatch.setattr(replacements, "load_replacement_scorer", EndsWhatRetries)
    (before,) = talk.session("one", (USER, "The importer retries 3 times."))
    consolidate_as(monkeypatch, context, *([statement_of(before)] if changes_what_holds else []))
    unsure, sure = talk.session(
        "two", (USER, "so the importer retries 5 times"), (USER, "The importer retries 5 times.")
    )
    consolidate_as(monkeypatch, context, statement_of(unsure, is_tentative=True), statement_of(sure))
    kept, turn = (unsure.content, unsure) if changes_what_holds else (sure.content, sure)
    assert holding(store) == [kept]
    (memory,) = [node for node in extracted(store) if node.valid_until is None]
    assert memory.event_time == turn.event_time
    assert memory.seen_count == (2 if changes_what_holds else 1)


@pytest.mark.req("B.17", "B.19")
def test_of_several_sentences_those_that_a_change_leaves_go_on_alone(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    ban = "We never run terraform apply from a laptop, only through the pipeline."
    play(talk, context, f"The deadline of the release is April 20. {ban}")
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    whole, new = find(store, "April 20"), find(store, "April 25")
    (rest,) = (node for node in extracted(store) if node.content == ban)
    assert (whole.valid_until, rest.valid_until) == (new.valid_from, None)
    assert (rest.event_time, rest.session_id, rest.provenance) == (whole.event_time, "one", whole.provenance)
    (turn,) = (node for node in store.edges.list_related_nodes(rest.key) if node.subtype == "episode")
    assert ban in turn.content
    assert "left of" in str(store.log.list_of_node(rest.id)[-1].reasoning)
    assert count_violations(store) == {}


@pytest.mark.req("B.17", "B.19")
def test_a_dead_end_is_not_ended_by_what_nobody_did(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    talk.session(
        "one",
        (USER, "We tried an in-memory database for the tests, it failed: the migrator opens a second one."),
        NOTED,
    )
    talk.session("two", (USER, "From now on the tests use an in-memory database."), (ASSISTANT, "Noted: in memory."))
    consolidate_sessions(context)
    failed, wish = find(store, "We tried"), find(store, "From now on")
    assert failed.subtype == "dead_end"
    with store.transaction():
        assert resolver.resolve_replacement(wish, failed, 0.9) is Resolution.ORDERED
    again = store.nodes.get_by_key(failed.key)
    assert again is not None and again.valid_until is None


@pytest.mark.req("B.17", "B.19")
def test_one_rule_of_a_list_that_changes_leaves_the_list_and_comes_before_it(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "score_part", lambda new, old, around: 1.0)
    play(talk, context)
    talk.session("two", *AFTER)
    consolidate_sessions(context)
    old, new = find(store, "April 20"), find(store, "April 25")
    assert old.valid_until is None
    assert find_possible_successors(store, [old.key], PROJECT) == {old.key: (new.id,)}


@pytest.mark.req("B.17", "B.19")
def test_a_list_of_which_one_thing_is_replaced_stands_behind_what_replaces_it(
    store: Store, talk: Talk, context: MaintenanceContext, resolver: ReplacementResolver
) -> None:
    play(talk, context, "We decided to use Redis, Celery and Flower.")
    talk.session("two", (USER, "From now on we use RabbitMQ instead of Redis."), (ASSISTANT, "Noted."), *TALK)
    consolidate_sessions(context)
    old, new = find(store, "Celery"), find(store, "RabbitMQ")
    with store.transaction():
        assert resolver.resolve_replacement(new, old, 0.9) is Resolution.ORDERED
    again = store.nodes.get_by_key(old.key)
    assert again is not None and again.valid_until is None
    assert new.id in find_possible_successors(store, [old.key], PROJECT)[old.key]


@pytest.mark.req("B.17", "B.19")
def test_a_sentence_that_is_known_or_was_forgotten_goes_on_no_second_time(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    ban = "We never run terraform apply from a laptop, only through the pipeline."
    whole = f"The deadline of the release is April 20. {ban}"
    play(talk, context, whole)
    known = remember(facts, ban)
    old = find(store, "April 20")
    with store.transaction():
        assert keep_remainder(store, talk.clock, old, ban) is None
    facts.forget_memory(known, reason="no longer wanted")
    with store.transaction():
        assert keep_remainder(store, talk.clock, old, ban) is None
        assert keep_remainder(store, talk.clock, old, "Only Ada deploys.") is not None


@pytest.mark.req("B.17", "B.19")
def test_a_sentence_that_goes_on_ends_with_the_day_that_it_names(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    last = to_iso(NOW + 3 * MS_PER_DAY)[:10]
    play(talk, context)
    with store.transaction():
        rest = keep_remainder(
            store, talk.clock, find(store, "April 20"), f"Never deploy until {last}, the auditors are in the house."
        )
    assert rest is not None and rest.metadata["until"] == last


HABIT = "Please git commit after each successful sub-task, right after it is marked as done."


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("first", "kept"),
    [
        (HABIT, True),
        ("please git commit after each successful sub-task, right after it is marked as done", True),
        ("Please git push after the release, when the changelog is written.", False),
    ],
)
def test_what_is_asked_for_anew_in_another_session_is_kept(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch, first: str, kept: bool
) -> None:
    keep_nothing_by_itself(monkeypatch)
    talk.session("one", (USER, f"Please commence task 4. {first}"), (ASSISTANT, "I'll begin with 4.1."))
    consolidate_sessions(context)
    assert not extracted(store)
    talk.session("two", (USER, f"Please commence task 5. {HABIT}"), (ASSISTANT, "I'll begin with 5.1."))
    consolidate_sessions(context)
    assert [node.content for node in extracted(store)] == ([HABIT] if kept else [])


@pytest.mark.req("B.17")
def test_what_is_asked_for_twice_in_one_session_is_no_habit(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_nothing_by_itself(monkeypatch)
    for task in (4, 5):
        talk.session("one", (USER, f"Please commence task {task}. {HABIT}"), (ASSISTANT, "I'll begin."))
        consolidate_sessions(context)
    assert not extracted(store)


@pytest.mark.req("B.17")
def test_a_habit_that_is_asked_for_once_more_is_counted_again_and_replaced_by_no_request_of_the_moment(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_nothing_by_itself(monkeypatch)
    for number, words in enumerate((HABIT, HABIT, HABIT, HABIT.replace(", right", " and push nothing, right"))):
        request = f"Please commence task {number} of the plan for the billing importer."
        talk.session(f"session-{number}", (USER, f"{request} {words}"), (ASSISTANT, "I'll begin."))
        consolidate_sessions(context)
    (habit,) = extracted(store)
    assert (habit.content, habit.tier, habit.valid_until) == (HABIT, Tier.LONGTERM, None)


@pytest.mark.req("B.17")
def test_of_two_habits_around_another_request_each_is_kept_in_its_turn(
    store: Store, talk: Talk, context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_nothing_by_itself(monkeypatch)
    other = "Please never touch the generated files of the client while you do it."
    for number, topic in enumerate(("billing", "mail", "search")):
        request = f"{HABIT} Please commence task {number} of the plan for the {topic} importer. {other}"
        talk.session(f"session-{number}", (USER, request), (ASSISTANT, "I'll begin."))
        consolidate_sessions(context)
    assert [node.content for node in extracted(store) if node.holds] == [HABIT, other]
