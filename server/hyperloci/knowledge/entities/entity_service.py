"""Entity profiles: what is known of an entity; merging and undoing merges; summaries (B.10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hyperloci.clock import Clock, to_iso
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.knowledge.entities.registry import kinds_agree
from hyperloci.model.answers import EntityInfo, EntityMerge, EntityProfile, RelatedEntity
from hyperloci.model.kinds import EntityKind, NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.model.search import Present
from hyperloci.store import Store, entity_merges
from hyperloci.store.entity_merges import StoredMerge
from hyperloci.store.memories.entities import Entity, squash_name
from hyperloci.text.language.sentences import split_sentences

if TYPE_CHECKING:
    from hyperloci.jobs import MaintenanceContext

"""Makes hits of nodes."""

PROFILE_FACTS: Final = 10
PROFILE_EVENTS: Final = 10
PROFILE_RELATED: Final = 10
"""Items of a profile's lists at most."""

MAX_SUGGESTIONS: Final = 5
"""Names offered where none is known."""

SUMMARY_SENTENCES: Final = 3
SUMMARY_CHARS: Final = 400
MAX_SUMMARY_SOURCES: Final = 60
"""Memories that a summary is drawn from, the latest ones."""

SUMMARY_BATCH: Final = 50
"""Entities that are read at once to be summarised."""

_DEFINES: Final = re.compile(r"^\W*(?:is|are|was|were|means|stands for|это|—|–|-)\b", re.IGNORECASE)


class EntityService:
    """The entities of one project and of the global scope."""

    def __init__(self, store: Store, scopes: Sequence[str], clock: Clock) -> None:
        self._store = store
        keys = [store.scopes.find_key(scope) for scope in scopes]
        self._scopes = [key for key in keys if key is not None]
        self._clock = clock

    def find_entity(self, name: str) -> Entity:
        """Return the entity of a name, alias or node id; of several the one mentioned most.

        Raises:
            BadRequestError: the name is empty.
            NotFoundError: there is no such entity; the message names similar ones.
        """
        if not name.strip():
            raise BadRequestError("name is empty: give the name of a person, project, tool, place, file or symbol.")
        found = self._store.entities.find_by_name(name, self._scopes)
        if found:
            return found[0]
        node = self._store.nodes.get_node(name)
        if node is not None and node.deleted_at is None and self._store.scopes.find_key(node.scope) in self._scopes:
            entity = self._store.entities.get_entity(node.key)
            if entity is not None:
                return entity
        alike = ", ".join(
            self._store.entities.find_similar_names(squash_name(name), self._scopes, limit=MAX_SUGGESTIONS)
        )
        hint = f"these are: {alike}" if alike else "search_memory (`hyperloci query`) finds memories by their words"
        raise NotFoundError(f"name={name!r:.80}: no memory mentions this entity; {hint}.")

    def describe_entity(self, name: str, present: Present) -> EntityProfile:
        """Return what is known of an entity: facts, events, and entities mentioned with it (B.15)."""
        with self._store.snapshot():
            entity = self.find_entity(name)
            bearers = list_bearers(self._store, entity, self._scopes)
            keys = [bearer.node_key for bearer in bearers]
            facts = self._mentioning_nodes(keys, (NodeType.FACT, NodeType.DECISION), PROFILE_FACTS, without="commit")
            facts = facts or self._mentioning_nodes(keys, (NodeType.SNIPPET,), PROFILE_FACTS)
            events = self._mentioning_nodes(keys, (NodeType.EXPERIENCE, NodeType.DECISION), PROFILE_EVENTS)
            related = self._store.entities.list_mentioned_with(keys, self._scopes, PROFILE_RELATED)
            # A global entity is mentioned by other projects as well.
            in_reach = self._store.entities.count_mentioning(keys, self._scopes)
            return EntityProfile(
                entity=replace(self._make_infos([entity])[0], mention_count=in_reach),
                facts=tuple(present(facts)),
                timeline=tuple(present(sorted(events, key=lambda node: (node.event_time, node.key)))),
                related_entities=tuple(
                    RelatedEntity(name=other.canonical_name, type=other.kind, together=times)
                    for other, times in related
                ),
            )

    def _mentioning_nodes(
        self, entities: Sequence[NodeKey], types: Sequence[NodeType], limit: int, *, without: str | None = None
    ) -> list[Node]:
        keys = self._store.entities.find_mentioning(entities, self._scopes, types=types, without=without, limit=limit)
        nodes = self._store.nodes.get_by_keys(keys)
        return [nodes[key] for key in keys if key in nodes]

    def list_most_mentioned(self, limit: int) -> tuple[EntityInfo, ...]:
        """Return the most mentioned entities."""
        return self._make_infos(self._store.entities.list_most_mentioned(self._scopes, limit))

    def _make_infos(self, entities: Sequence[Entity]) -> tuple[EntityInfo, ...]:
        """Return entities as callers see them, with how many memories that are not forgotten mention each."""
        forgotten = self._store.entities.count_forgotten_mentions(entity.node_key for entity in entities)
        return tuple(
            EntityInfo(
                id=entity.id,
                canonical_name=entity.canonical_name,
                type=entity.kind,
                aliases=entity.aliases,
                summary=entity.summary or None,
                mention_count=entity.mention_count - forgotten.get(entity.node_key, 0),
                first_seen=to_iso(entity.first_seen),
            )
            for entity in entities
        )

    def merge_entities(self, kept: str, merged: str, *, reason: str | None) -> EntityMerge:
        """Merge two entities that are the same thing; `undo_merge` undoes it.

        Raises:
            BadRequestError: both names belong to one entity.
        """
        one, other = self.find_entity(kept), self.find_entity(merged)
        if one.node_key == other.node_key:
            raise BadRequestError(f"{kept!r:.80} and {merged!r:.80} are already one entity.")
        with self._store.transaction():
            done = merge(self._store, one, other, now=self._clock(), reason=reason or "said to be the same", score=1.0)
        return self._present_merge(done)

    def undo_merge(self, key: int) -> EntityMerge:
        """Undo a merge: both entities are as before; what was stored since stays where it is.

        Raises:
            NotFoundError: there is no such merge.
            BadRequestError: it was undone already, or its 30 days are over.
        """
        found = entity_merges.find_merge(self._store, key, self._scopes)
        if found is None:
            raise NotFoundError(f"merge {key} is unknown; `hyperloci entities --merges` lists them.")
        if found.undone_at is not None:
            raise BadRequestError(f"merge {key} was undone at {to_iso(found.undone_at)}.")
        node = self._store.nodes.get_by_key(found.merged)
        with self._store.transaction():
            now = self._clock()
            if node is None or not self._store.nodes.restore_node(node.id, now=now, reason="merge taken back"):
                raise BadRequestError(f"merge {key} is too old: what it merged can no longer be restored.")
            entity_merges.undo_merge(self._store, found, now=now)
        done = entity_merges.find_merge(self._store, key)
        assert done is not None
        return self._present_merge(done)

    def list_merges(self, limit: int) -> tuple[EntityMerge, ...]:
        """Return the merges, latest first."""
        return tuple(
            self._present_merge(found) for found in entity_merges.list_merges(self._store, self._scopes, limit=limit)
        )

    def _present_merge(self, found: StoredMerge) -> EntityMerge:
        names = {key: self._store.entities.get_entity(key) for key in (found.kept, found.merged)}
        kept, merged = (None if (one := names[key]) is None else one.canonical_name for key in names)
        return EntityMerge(
            id=found.key,
            kept=kept or "",
            merged=merged or "",
            reason=found.reason,
            score=found.score,
            merged_at=to_iso(found.merged_at),
            undone_at=None if found.undone_at is None else to_iso(found.undone_at),
        )


def list_bearers(store: Store, entity: Entity, scope_keys: Sequence[int]) -> list[Entity]:
    """Return an entity, and the same thing as the other scope knows it: a project's and a global one are two."""
    alike = store.entities.find_by_name(entity.canonical_name, scope_keys)
    kind = EntityKind(entity.kind)
    others = [other for other in alike if other.node_key != entity.node_key]
    return [entity, *(other for other in others if kinds_agree(EntityKind(other.kind), kind))]


def merge(store: Store, kept: Entity, merged: Entity, *, now: int, reason: str, score: float) -> StoredMerge:
    """Join two entities, logged and undoable. Runs in a transaction."""
    key = entity_merges.merge_entities(store, merged.node_key, kept.node_key, now=now, reason=reason, score=score)
    if kept.kind == EntityKind.CONCEPT and merged.kind != EntityKind.CONCEPT:
        store.entities.set_kind(kept.node_key, EntityKind(merged.kind))
    store.nodes.delete_node(merged.id, now=now, reason=f"merged into {kept.canonical_name}")
    store.log.add_entry("merge", [kept.id, merged.id], now=now, reasoning=reason)
    done = entity_merges.find_merge(store, key)
    assert done is not None
    return done


# -- summaries ---------------------------------------------------------------------------------------------------------


def summarise_entities(context: MaintenanceContext) -> int:
    """Summarise the entities that are mentioned often, in sentences from their memories (B.18)."""
    entities, done = context.store.entities, 0
    while wanted := entities.list_unsummarised(context.settings.entity_enrichment_min_mentions, SUMMARY_BATCH):
        for entity in wanted:
            done += _summarise_entity(context, entity)
            context.yield_to_others()
    return done


def _summarise_entity(context: MaintenanceContext, entity: Entity) -> bool:
    """Store an entity's summary, an empty one where nothing defines it; return whether there is one."""
    store, summary = context.store, ""
    node = store.nodes.get_by_key(entity.node_key)
    if node is None:  # Purged since the batch was read.
        return False
    with context.isolate_failure(node, "enrich") as attempt:
        # As it is now: another process may have seen to it, or merged or purged it.
        waiting = store.entities.get_entity(entity.node_key)
        if waiting is not None and waiting.summary is None:
            summary = summary_of(store, waiting)
            store.entities.set_summary(entity.node_key, summary, now=context.clock())
    if attempt.failed:
        with store.transaction():
            store.entities.set_summary(entity.node_key, "", now=context.clock())
    return bool(summary)


def summary_of(store: Store, entity: Entity) -> str:
    """Return the sentences that say most of an entity, from the memories that mention it; '' if none says anything.

    What defines it comes first, then what was remembered on purpose, then what was said; code says nothing in words.
    """
    node = store.nodes.get_by_key(entity.node_key)
    assert node is not None
    scope = store.scopes.find_key(node.scope)
    keys = store.entities.find_mentioning(
        [entity.node_key],
        [] if scope is None else [scope],
        types=(NodeType.FACT, NodeType.DECISION, NodeType.EXPERIENCE, NodeType.SNIPPET),
        limit=MAX_SUMMARY_SOURCES,
    )
    nodes = store.nodes.get_by_keys(keys)
    names = [squash_name(name) for name in (entity.canonical_name, *entity.aliases)]
    scored = [
        (_score_sentence(sentence, names, nodes[key]), -place, sentence)
        for place, key in enumerate(keys)
        if key in nodes and nodes[key].subtype != "code"
        for sentence in split_sentences(nodes[key].content)
    ]
    chosen: list[str] = []
    for worth, _, sentence in sorted(scored, reverse=True):
        if worth > 0 and sentence not in chosen and len(" ".join([*chosen, sentence])) <= SUMMARY_CHARS:
            chosen.append(sentence)
        if len(chosen) == SUMMARY_SENTENCES:
            break
    return " ".join(chosen)


def _score_sentence(sentence: str, names: Sequence[str], node: Node) -> float:
    """Return how much a sentence says of an entity: 0 if it doesn't name it, or is no sentence."""
    words = sentence.split()
    if not 4 <= len(words) <= 40:
        return 0.0
    squashed = squash_name(sentence)
    at = min((place for name in names if (place := squashed.find(name)) >= 0), default=-1)
    if at < 0:
        return 0.0
    kind = {NodeType.FACT: 1.0, NodeType.DECISION: 0.8, NodeType.SNIPPET: 0.5}.get(node.type, 0.3)
    first = next((name for name in names if squashed.startswith(name)), None)
    after = " ".join(words[1:4]) if first else ""
    return kind + (0.5 if first else 0.0) + (0.6 if _DEFINES.match(after) else 0.0) - at / (len(squashed) + 1) / 4
