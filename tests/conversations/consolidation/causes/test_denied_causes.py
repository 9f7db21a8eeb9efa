"""Causes that were claimed, and end when somebody says that it was not them."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.facts.facts import Facts
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from hyperloci.store.integrity import count_violations
from tests.conversations.consolidation.conftest import ASSISTANT, USER, Talk, extracted

GROWS = (USER, "memory of the worker grows till it is killed")
CACHE = (ASSISTANT, "Found it: the leak comes from the image cache, which never evicts entries.")
READER = (USER, "that wasn't it. turns out the csv reader keeps every row in a list for the retry")
DONE = (ASSISTANT, "I changed it to read the file again.")
DUPLICATES = (USER, "sync duplicates contacts")
RETRY = (
    ASSISTANT,
    "The duplicates come from the retry: it sends the batch again after a timeout although it was stored.",
)


def play(talk: Talk, context: MaintenanceContext, *exchanges: list[tuple[Speaker, str]], session: str = "one") -> None:
    """Have a session in which each exchange is read when it is over, as a server does it."""
    consolidation = Consolidation(context.store, context.settings, context.clock)
    talk.session(session, end=False)
    for turns in exchanges:
        talk.say(session, *turns)
        consolidation.consolidate_now(session)


def find(store: Store, text: str) -> Node:
    return next(node for node in extracted(store) if text in node.content)


@pytest.mark.req("B.17")
def test_a_cause_that_is_denied_ends_and_the_right_one_takes_its_place(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context, [GROWS, CACHE], [READER, DONE])
    old, new = find(store, "image cache"), find(store, "csv reader")
    assert old.valid_until == new.valid_from
    assert (new.subtype, new.valid_until) == ("insight", None)
    [edge] = store.edges.list_of_node(old.key, "supersedes")
    assert [member.node for member in edge.members] == [new.key, old.key]
    assert any("not to be the cause: that wasn't it." in str(one.reasoning) for one in store.log.list_of_node(old.id))
    assert count_violations(store) == {}


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "said", ["no, still grows. so not the cache.", "maybe it's not the cache", "the cache is not the only cause"]
)
def test_a_denial_that_names_nothing_instead_ends_no_cause(
    store: Store, talk: Talk, context: MaintenanceContext, said: str
) -> None:
    play(talk, context, [GROWS, CACHE], [(USER, said), (ASSISTANT, "I'll look again.")])
    assert find(store, "image cache").valid_until is None


@pytest.mark.req("B.17")
def test_the_cause_that_is_named_instead_is_kept_as_one(store: Store, talk: Talk, context: MaintenanceContext) -> None:
    told = (
        USER,
        "no rebalances in the log. wasn't that. it's one hot partition, all events of tenant 12 have the same key",
    )
    lag = (ASSISTANT, "Then the lag comes from rebalances: the session timeout is 6 s and the batch takes longer.")
    play(
        talk,
        context,
        [(USER, "the consumer lags behind, why is it slow?"), lag, told, (ASSISTANT, "I'll salt the key.")],
    )
    assert find(store, "hot partition").subtype == "insight"
    assert find(store, "session timeout").valid_until is not None


@pytest.mark.req("B.17")
def test_a_cause_of_an_older_talk_ends_where_the_turn_speaks_of_what_it_explains(
    store: Store, talk: Talk, context: MaintenanceContext
) -> None:
    play(talk, context, [DUPLICATES, RETRY], [(USER, "ok"), DONE])
    other = (USER, "the upload stops half way. the retry wasn't the cause, it's the proxy that cuts it after 60 s")
    play(talk, context, [other, (ASSISTANT, "I'll raise its limit.")], session="two")
    assert find(store, "sends the batch").valid_until is None
    told = (USER, "about the duplicated contacts: the retry wasn't the cause after all. it was the number format")
    play(talk, context, [told, (ASSISTANT, "I'll normalise numbers first.")], session="three")
    assert find(store, "sends the batch").valid_until is not None


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "later",
    [
        [(USER, "that wasn't easy to find, well done"), (ASSISTANT, "Thanks.")],
        [(USER, "so not the button. it's the header that is too wide"), (ASSISTANT, "I'll narrow it.")],
        [
            (USER, "and the wrong totals, is that the same?"),
            (ASSISTANT, "No, that's not the cache. Totals are rounded."),
        ],
        [(USER, "ok, evict then"), (ASSISTANT, "Done."), (USER, "that's not it."), (ASSISTANT, "What is missing?")],
        [(USER, "is it not the cache?"), (ASSISTANT, "It is.")],
    ],
)
def test_a_cause_that_nobody_denies_holds_on(
    store: Store, talk: Talk, context: MaintenanceContext, later: list[tuple[Speaker, str]]
) -> None:
    play(talk, context, [GROWS, CACHE], later)
    assert find(store, "image cache").valid_until is None


@pytest.mark.req("B.17")
def test_a_cause_that_was_confirmed_is_not_ended_by_rules(
    store: Store, talk: Talk, context: MaintenanceContext, facts: Facts
) -> None:
    play(talk, context, [GROWS, CACHE])
    facts.confirm_fact(find(store, "image cache").id)
    denied = (USER, "the worker's memory still grows with the image cache off, the leak is not the cache")
    play(talk, context, [denied, DONE], session="two")
    assert find(store, "image cache").valid_until is None


@pytest.mark.req("B.17")
def test_the_assistant_takes_its_own_diagnosis_back(store: Store, talk: Talk, context: MaintenanceContext) -> None:
    back = (ASSISTANT, "So it's not the cache. The leak comes from the csv reader, which keeps every row.")
    play(talk, context, [GROWS, CACHE], [(USER, "it grows with the cache off too"), back])
    assert find(store, "image cache").valid_until is not None
