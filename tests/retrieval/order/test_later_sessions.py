"""What the user said last on a subject, before what an earlier session holds on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.memory import Memory
from hyperloci.model.kinds import SHARED_KINDS, Origin
from hyperloci.model.node import Node
from hyperloci.model.search import Placement
from hyperloci.model.turn import Speaker, Turn
from hyperloci.retrieval.order.hit_order import arrange_hits
from hyperloci.retrieval.order.later_sessions import (
    AMONG,
    LEAST_SHARE,
    MEASURED_MODEL,
    SAME_SUBJECT,
    put_later_sessions_first,
)
from hyperloci.retrieval.scoring import Scores
from hyperloci.store.vectors import float16
from tests.support import FakeClock, add

OLD, NEW, ELSE = "the csv of the stock is read at three", "the stock csv comes in every hour", "the logo is blue"
STOCK, LOGO = [1.0, 0.0], [0.0, 1.0]


def say(memory: Memory, clock: FakeClock, session: str, text: str, role: Speaker = Speaker.USER) -> Node:
    """Have a session, a day after the one before, in which this is said; return its turn."""
    clock.advance(MS_PER_DAY)
    memory.add_turns(session, [Turn(uuid=session, role=role, text=text, timestamp_ms=clock())])
    progress = memory.store.consolidations.get_progress(session)
    assert progress is not None
    return memory.store.consolidations.list_turns(progress.session_key, 0, 99)[-1]


def state(memory: Memory, clock: FakeClock, session: str, text: str, subtype: str = "decision") -> Node:
    """Have a session of which this is kept; return the statement."""
    turn = say(memory, clock, session, text)
    progress = memory.store.consolidations.get_progress(session)
    assert progress is not None
    return add(
        memory.store,
        text,
        type=SHARED_KINDS[subtype],
        subtype=subtype,
        origin=Origin.EXTRACTION,
        scope=memory.project.id,
        session_key=progress.session_key,
        event_time=turn.event_time,
        now=clock(),
    )


def embed(memory: Memory, *given: tuple[Node, list[float]], model_id: str = f"{MEASURED_MODEL}test") -> None:
    """Give memories a vector; all have as many dimensions."""
    with memory.store.transaction():
        model = memory.store.vectors.use_model(model_id, len(given[0][1]), now=0)
        for node, vector in given:
            row = np.asarray(vector, np.float32)
            columns = {"e1": float16.pack_half(row / np.linalg.norm(row))}
            memory.store.vectors.put_fingerprint(node.key, model, columns, now=0)


def at_cosine(cosine: float) -> list[float]:
    return [cosine, float(np.sqrt(1 - cosine**2))]


@pytest.mark.req("B.12")
@pytest.mark.parametrize("tell", [say, state], ids=["turn", "statement"])
def test_what_is_kept_of_a_later_session_on_the_same_subject_comes_first(
    memory: Memory, clock: FakeClock, tell: Callable[[Memory, FakeClock, str, str], Node]
) -> None:
    old, other = tell(memory, clock, "one", OLD), tell(memory, clock, "two", ELSE)
    new = state(memory, clock, "three", NEW)
    embed(memory, (old, STOCK), (other, LOGO), (new, STOCK))

    arranged = put_later_sessions_first(memory.store, [other, old, new], {})

    assert [node.content for node in arranged.nodes] == [ELSE, NEW, OLD]
    assert arranged.placed == {new.key: Placement.LATER}


def test_an_earlier_session_stays_behind_a_later_one(memory: Memory, clock: FakeClock) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))
    embed(memory, (old, STOCK), (new, STOCK))

    assert [node.content for node in put_later_sessions_first(memory.store, [new, old], {}).nodes] == [NEW, OLD]


@pytest.mark.parametrize(("cosine", "first"), [(SAME_SUBJECT + 0.02, NEW), (SAME_SUBJECT - 0.02, OLD)])
def test_how_near_in_meaning_two_are_decides_whether_they_are_on_one_subject(
    memory: Memory, clock: FakeClock, cosine: float, first: str
) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))
    embed(memory, (old, STOCK), (new, at_cosine(cosine)))

    assert put_later_sessions_first(memory.store, [old, new], {}).nodes[0].content == first


@pytest.mark.parametrize(
    ("later", "first"),
    [("плитки карты кэшируем на день", "old"), ("csv со складом теперь приходит каждый час", "later")],
    ids=["on something else", "on the same"],
)
def test_that_two_are_in_russian_makes_no_subject(
    memory: Memory, clock: FakeClock, settings: Settings, later: str, first: str
) -> None:
    old, new = state(memory, clock, "one", "csv со складом читаем в три часа"), state(memory, clock, "two", later)
    encoder = load_light_encoder(settings)
    vectors = encoder.encode([old.content, new.content])
    assert float(vectors[0] @ vectors[1]) > SAME_SUBJECT
    embed(memory, *zip((old, new), [vector.tolist() for vector in vectors], strict=True), model_id=encoder.model_id)

    found = put_later_sessions_first(memory.store, [old, new], {}).nodes[0]
    assert found == {"old": old, "later": new}[first]


def test_what_was_said_in_one_session_keeps_its_order(memory: Memory, clock: FakeClock) -> None:
    old, new = state(memory, clock, "one", OLD), state(memory, clock, "one", NEW)
    embed(memory, (old, STOCK), (new, STOCK))

    assert put_later_sessions_first(memory.store, [old, new], {}).nodes == (old, new)


def test_a_later_turn_of_which_nothing_was_kept_moves_nowhere(memory: Memory, clock: FakeClock) -> None:
    old, new = state(memory, clock, "one", OLD), say(memory, clock, "two", NEW)
    embed(memory, (old, STOCK), (new, STOCK))

    assert put_later_sessions_first(memory.store, [old, new], {}).nodes == (old, new)


def test_what_was_told_on_purpose_keeps_its_place(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "open", "we talk of the stock")
    told = memory.store.nodes.get_node(memory.remember_fact(OLD).id)
    kept = state(memory, clock, "one", NEW)
    clock.advance(MS_PER_DAY)
    again = memory.store.nodes.get_node(memory.remember_fact("the stock csv: hourly", category="constraint").id)
    assert told is not None and again is not None
    embed(memory, (told, STOCK), (kept, STOCK), (again, STOCK))

    assert put_later_sessions_first(memory.store, [told, kept, again], {}).nodes == (told, kept, again)


def test_without_vectors_hits_keep_their_order(memory: Memory, clock: FakeClock) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))

    assert put_later_sessions_first(memory.store, [old, new], {}).nodes == (old, new)


def test_what_came_later_is_shown_though_it_was_found_behind_what_is_shown(memory: Memory, clock: FakeClock) -> None:
    old, other, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, ELSE, NEW)))
    embed(memory, (old, STOCK), (other, LOGO), (new, STOCK))

    arranged = arrange_hits(memory.store, "stock csv", [old, other, new], limit=2)

    assert [node.content for node in arranged.nodes] == [NEW, OLD]


def test_of_another_model_nothing_moves(memory: Memory, clock: FakeClock) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))
    embed(memory, (old, STOCK), (new, STOCK), model_id="bge-small@1")

    assert put_later_sessions_first(memory.store, [old, new], {}).nodes == (old, new)


@pytest.mark.parametrize(("share", "first"), [(LEAST_SHARE + 0.01, NEW), (LEAST_SHARE - 0.01, OLD)])
def test_what_hardly_answers_stays_behind(memory: Memory, clock: FakeClock, share: float, first: str) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))
    embed(memory, (old, STOCK), (new, STOCK))

    scores = {node.key: Scores(spaces={}, parts={}, total=total) for node, total in ((old, 0.5), (new, 0.5 * share))}

    arranged = arrange_hits(memory.store, "stock", [old, new], limit=1, scores=scores)

    assert [node.content for node in arranged.nodes] == [first]


def test_what_is_found_far_behind_keeps_its_place(memory: Memory, clock: FakeClock) -> None:
    old, new = (state(memory, clock, str(place), text) for place, text in enumerate((OLD, NEW)))
    between = [state(memory, clock, f"between {place}", f"{ELSE} {place}") for place in range(AMONG - 1)]
    embed(memory, (old, STOCK), (new, STOCK), *((node, LOGO) for node in between))

    assert put_later_sessions_first(memory.store, [old, *between, new], {}).nodes[-1] == new
    assert put_later_sessions_first(memory.store, [old, *between[1:], new], {}).nodes[0] == new
