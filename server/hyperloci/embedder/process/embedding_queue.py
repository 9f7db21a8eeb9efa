"""Embedding queue: nodes without a fingerprint get one, a small batch at a time (B.03).

Nothing is lost when the process dies: a node leaves the queue in the transaction that stores its fingerprint. A text
that the model can't take is tried again alone, and after `store.stats.MAX_ATTEMPTS` it is left out, with the reason
beside it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.embedder.batching import estimate_tokens
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.spaces.encoder import MAX_WINDOWS, Encoder
from hyperloci.spaces.fingerprint import Fingerprint, compute_fingerprints
from hyperloci.spaces.query import SPARSE_SPACE
from hyperloci.spaces.views import EncoderInput
from hyperloci.store import Store
from hyperloci.topics.join import join_nearest_topics

logger = logging.getLogger(__name__)

BATCH: Final = 32
"""Nodes a transaction: large enough that opening the database costs nothing beside embedding them."""

BATCH_TOKENS: Final = 4_096
"""Tokens a transaction, about: a second and a half of two slow cores. The queue has to get shorter in sight of those
who wait for it also where other programs leave the embedder a twentieth of the machine."""

OPEN_SECONDS: Final = 1.0
"""A database is kept open so long: to close it puts the log into the file, a sixth of all work where a GPU embeds a
batch in milliseconds. A CPU mostly takes longer for its first batch, and others' databases wait their turn."""

RIVAL_MS: Final = 15 * 60_000
"""How long a database is left to an embedder with other models that took it over, after its last fingerprint: as long
as an idle one lives. Else two sessions with different profiles would embed what the other just did, for ever."""

FIRST_MS: Final = 5 * 60_000
"""How long it is left to one that took it over and made none yet: its models are loaded, and a batch takes a minute or
two where they are large and the machine is busy. If that were too short, each would embed for the other to undo it."""

_held: Final[set[tuple[Path, str]]] = set()
"""The databases that this process made fingerprints for, each with the model."""


def drain_queue(database: Path, encoder: Encoder, should_yield: Callable[[], bool], clock: Clock = system_clock) -> int:
    """Give fingerprints to the next queued nodes, a batch or as many as fit into a second; return how many, 0 if none.

    Nodes embedded by another model are queued again first, once (D.13). A database that another embedder took over from
    this one, with other models, is left to that while it is at work.

    Raises:
        StoreError: the database can't be opened or written.
    """
    with Store.open(database) as store:
        if (database, encoder.model_id) in _held and _has_rival(store, encoder.model_id):
            logger.info("%s is left to an embedder with other models, which took it over", database)
            return 0
        _held.add((database, encoder.model_id))
        with store.transaction():
            model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=system_clock())
        opened, done = time.monotonic(), 0
        at_hand = store.sessions.find_scope_at_hand(now=clock())
        while nodes := _take_next_nodes(store, encoder.max_tokens, at_hand):
            _embed_batch(store, encoder, model, nodes)
            if _is_taken_over(store, model):
                return done
            done += len(nodes)
            if should_yield() or time.monotonic() - opened > OPEN_SECONDS:
                break
        _look_for_topics(store, model, is_idle=not done, now=clock())
        return done


def _has_rival(store: Store, model_id: str) -> bool:
    """Tell whether an embedder with other models has the database, and made a fingerprint lately, or just came."""
    if store.vectors.get_model_in_use() == model_id:
        return False
    now, last, came = system_clock(), store.embedding_pace.get_last_time(), store.vectors.get_time_taken_over()
    if came is not None and (last is None or last <= came):
        return 0 <= now - came < FIRST_MS
    return last is not None and 0 <= now - last < RIVAL_MS


def _is_taken_over(store: Store, model: int) -> bool:
    """Tell whether an embedder with other models has taken the database over."""
    in_use = store.vectors.get_model_in_use()
    return in_use is None or store.vectors.find_model(in_use) != model


def _embed_batch(store: Store, encoder: Encoder, model: int, nodes: Sequence[Node]) -> None:
    started = time.monotonic()
    try:
        made = compute_fingerprints(read_encoder_inputs(store, nodes), encoder)
    except (ValueError, RuntimeError) as error:
        logger.warning("a batch of %d could not be embedded (%s); trying one at a time", len(nodes), error)
        _embed_one_by_one(store, encoder, model, nodes)
    else:
        _write_fingerprints(store, model, nodes, made, seconds=time.monotonic() - started)


def _take_next_nodes(store: Store, max_tokens: int, at_hand: int | None) -> list[Node]:
    """Return the first of the queue that make a batch together, one at least, the project at hand before others."""
    keys = store.vectors.list_pending(BATCH, at_hand=at_hand)
    present = store.nodes.get_by_keys(keys)
    batch: list[Node] = []
    tokens = 0
    for node in (present[key] for key in keys if key in present):
        tokens += estimate_tokens(node.content, max_tokens * MAX_WINDOWS)
        if batch and tokens > BATCH_TOKENS:
            break
        batch.append(node)
    return batch


def _look_for_topics(store: Store, model: int, *, is_idle: bool, now: int) -> None:
    """Run topics where somebody waits for them and all is embedded; with the queue empty, where they are due (E.09)."""
    waiting = [key for key, scope in store.topics.list_wanted() if not store.vectors.count_pending([scope])]
    if is_idle or waiting:
        # Not at the top: clustering takes long to load.
        from hyperloci.topics.detect import detect_due_topics, detect_topics

        for key in waiting:
            detect_topics(store, key, model, now=now)
        if is_idle:
            detect_due_topics(store, model, now=now)


def read_encoder_inputs(store: Store, nodes: Sequence[Node]) -> list[EncoderInput]:
    """Return the encoder inputs of memories: text, title, code facts, entities."""
    keys = [node.key for node in nodes]
    positions, facts = store.positions.get_positions(keys), store.positions.get_code_facts(keys)
    return [
        EncoderInput(
            content=node.content,
            title=node.title,
            path=positions[node.key].path if node.key in positions else None,
            facts=facts.get(node.key),
            entities=tuple(entity.canonical_name for entity in store.entities.list_of_node(node.key)),
        )
        for node in nodes
    ]


def _write_fingerprints(
    store: Store, model: int, nodes: Sequence[Node], made: Sequence[Fingerprint], *, seconds: float
) -> None:
    now = system_clock()
    with store.transaction():
        if _is_taken_over(store, model):
            return  # They would leave the queue, and those that search with the other models never find them.
        store.embedding_pace.note_pace(len(nodes), seconds, now=now)
        present = store.nodes.get_by_keys([node.key for node in nodes])
        fresh: dict[NodeKey, Fingerprint] = {}
        for node, fingerprint in zip(nodes, made, strict=True):
            current = present.get(node.key)
            # Changed meanwhile: it is in the queue again, and the next batch sees the new text.
            if current is not None and (current.content, current.title) == (node.content, node.title):
                fresh[node.key] = fingerprint
        store.vectors.put_fingerprints({key: seen.columns for key, seen in fresh.items()}, model, now=now)
        store.sparse_index.put_terms(SPARSE_SPACE, {key: seen.terms for key, seen in fresh.items()})
        join_nearest_topics(store, [node.key for node in nodes], model, now=now)


def _embed_one_by_one(store: Store, encoder: Encoder, model: int, nodes: Sequence[Node]) -> None:
    for node in nodes:
        started = time.monotonic()
        try:
            made = compute_fingerprints(read_encoder_inputs(store, [node]), encoder)
            _write_fingerprints(store, model, [node], made, seconds=time.monotonic() - started)
        except (ValueError, RuntimeError) as reason:
            logger.warning("node %s could not be embedded: %s", node.id, reason)
            with store.transaction():
                store.vectors.note_failures([node.key], str(reason))
