"""Entity registry: which entity a name stands for; links memories to entities and registers new ones (B.10).

Resolution is conservative. A name stands for the entity that bears it, in any case and with any joints
(`auth-service`, `AuthService`), in the memory's own scope before the global one, and of the same type; a `concept` may
turn out to be any type. Names alike only in meaning are left to `merge`, which is logged and can be undone.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from hyperloci.knowledge.entities.recognition import EntityMention, extract_entities
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import GLOBAL_SCOPE, EntityKind, NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode
from hyperloci.model.position import Position
from hyperloci.store import Store
from hyperloci.store.memories.entities import NameBearer, squash_name
from hyperloci.text.language.vocabulary import vocabulary

MAX_CALLED: Final = 12
"""Classes and functions that one piece of code names, at most."""

MAX_PHRASE_WORDS: Final = 3
MAX_PHRASED_CHARS: Final = 2_000
"""How much of a text is searched for known names in plain words (`the auth service` for `AuthService`)."""

MAX_SINGLE_LOOKUPS: Final = 25
"""Look-ups of one linker after which all names are read at once: indexing a project asks for thousands."""

MAX_READ_AT_ONCE: Final = 200_000

MAX_DEFINITIONS: Final = 3
"""Pieces of code or text that a new name is joined to as the place where it is defined."""


def find_mentions(
    text: str, facts: CodeFacts | None = None, position: Position | None = None
) -> tuple[EntityMention, ...]:
    """Return the things a memory names, by rules over prose, or over what the parse tree says of code.

    Args:
        text: the memory's text.
        facts: what the parse says, for code; then the text itself is not looked at.
        position: where it stands.
    """
    if facts is not None:
        return _find_mentions_in_code(facts, position)
    return extract_entities(text)


def _find_mentions_in_code(facts: CodeFacts, position: Position | None) -> tuple[EntityMention, ...]:
    own = "" if position is None or not position.module else position.module.partition(".")[0]
    is_type = facts.kind in ("class", "other")
    telling = is_type or _is_telling_name(facts.name)
    found = (
        [EntityMention(facts.name, EntityKind.CONCEPT, is_type, is_type and facts.name[0] != "_")] if telling else []
    )
    if facts.qualname and facts.qualname != facts.name:
        found.append(EntityMention(facts.qualname, EntityKind.CONCEPT, sure=False))
    if position is not None and position.path is not None and not facts.name:
        found.append(EntityMention(position.path, EntityKind.CONCEPT, sure=False))
    python = position is not None and position.language == "python"
    for imported in facts.imports:
        name = _imported_package(imported, own, python=python)
        if name is not None:
            found.append(EntityMention(name, EntityKind.TOOL))
    found += [
        EntityMention(name, EntityKind.CONCEPT, sure=False) for name in (*facts.bases, *_called_names(facts.calls))
    ]
    once = {squash_name(named.name): named for named in reversed(found) if len(named.name) > 2}
    return tuple(reversed(once.values()))


def _imported_package(imported: str, own: str, *, python: bool) -> str | None:
    """Return the package of an import; None for the project's own, the language's own, and relative ones."""
    known = vocabulary().find_proper(imported)
    if known is not None:
        return known.name
    if not imported or imported[0] in "./<\"'@" or imported.startswith("java."):
        return None
    name = imported.replace("::", ".").replace("/", ".").partition(".")[0].strip()
    if not python or name == own or name in sys.stdlib_module_names or not name.isidentifier() or name.startswith("_"):
        return None
    known = vocabulary().find_proper(name)
    return name if known is None else known.name


def _called_names(calls: Sequence[str]) -> list[str]:
    """Return the names called that tell something, but for those of the language's own modules (`threading.Event`)."""
    own = (call.rpartition(".")[2] for call in calls if call.partition(".")[0] not in sys.stdlib_module_names)
    return [name for name in own if _is_telling_name(name)][:MAX_CALLED]


@functools.lru_cache(maxsize=4_096)  # A project's code names the same things again and again.
def _is_telling_name(name: str) -> bool:
    """Return whether a name is more than an ordinary word: a class's, or of several words."""
    return name[:1].isupper() or "_" in name.strip("_") or any(letter.isupper() for letter in name)


class EntityLinker:
    """Links memories to entities in the caller's transaction. It caches names: keep one instance for a run."""

    def __init__(self, store: Store, *, sparing: bool = False) -> None:
        """Create a linker; a `sparing` one registers a concept where it is defined, or at its second memory."""
        self._store = store
        self._sparing = sparing
        self._sighted: dict[tuple[str, str], NodeKey] = {}
        self._known: dict[str, dict[str, list[NameBearer]]] = {}
        self._whole: set[str] = set()
        self._asked = 0

    def link_mentions(self, node: NodeKey, scope: str, names: Iterable[EntityMention], *, now: int) -> list[NodeKey]:
        """Record the entities that a memory names; register new ones if the text is enough for that.

        Returns the entities.
        """
        named = [(squash_name(name.name), name) for name in names]
        if not named:
            return []
        bearers = self._bearers_of(scope, [squashed for squashed, _ in named])
        found = [
            self._resolve_mention(name, scope, bearers[squashed], now)
            for squashed, name in named
            if bearers[squashed] or not self._is_first_sighting(node, scope, squashed, name)
        ]
        keys = list(dict.fromkeys(key for key in found if key is not None and key != node))
        if keys:
            self._store.entities.add_mentions(node, keys, now=now)
        return keys

    def link_text(self, node: NodeKey, scope: str, text: str, *, now: int, author: str | None = None) -> list[NodeKey]:
        """Link a memory in prose to what it names, and to known entities by the words it uses."""
        names = (*extract_entities(text, author=author), *self._find_known_phrases(scope, text))
        return self.link_mentions(node, scope, names, now=now)

    def find_named(self, scope: str, text: str) -> set[NodeKey]:
        """Return the known entities that a text names; nothing is stored."""
        names = (*extract_entities(text), *self._find_known_phrases(scope, text))
        bearers = self._bearers_of(scope, [squash_name(name.name) for name in names])
        return {bearer.key for found in bearers.values() for bearer in found}

    def relink_text(self, node: NodeKey, scope: str, text: str, *, before: str, now: int) -> None:
        """Link a memory in prose to what its text names since it was changed, and no longer to what only the old named.

        What somebody made known, or imported, stays: the memory may have been declared to be about it.
        """
        gone = self._store.nodes.get_by_keys(self.find_named(scope, before) - self.find_named(scope, text))
        found = [key for key, entity in gone.items() if entity.origin is Origin.EXTRACTION]
        self._store.entities.drop_mentions(node, found)
        self.link_text(node, scope, text, now=now)

    def relink_mentions(self, node: NodeKey, scope: str, names: Iterable[EntityMention], *, now: int) -> None:
        """Link a memory again after its text changed."""
        self._store.entities.forget_mentions(node)
        self.link_mentions(node, scope, names, now=now)

    def declare_entity(self, name: str, scope: str, *, now: int) -> NodeKey | None:
        """Return the entity with a name, registered if it is new; None if it was forgotten."""
        named = EntityMention(name, guess_kind(name))
        return self._resolve_mention(
            named, scope, self._bearers_of(scope, [squash_name(name)])[squash_name(name)], now, Origin.TOOL
        )

    def add_entity(self, new: NewNode, *, now: int, defined: bool = False) -> NodeKey:
        """Make an entity known by its name, its other spellings, and what it was sighted in.

        Args:
            new: the entity: its name is its content, its kind its subtype.
            now: the time, in milliseconds.
            defined: the memory at hand defines it, so that no other place is looked for.
        """
        name, kind = new.content, EntityKind(new.subtype or EntityKind.CONCEPT)
        bearers = self._bearers_of(new.scope, [squash_name(name)])[squash_name(name)]
        key = self._store.nodes.add_row(new, now=now, place="entity")
        self._store.entities.register_entity(key, name, now=now)
        known = vocabulary().find_proper(name)
        for spelling in () if known is None else known.spellings:
            self._store.entities.add_alias(key, spelling)
        bare = _ARTICLE.sub("", name) if new.origin is Origin.TOOL else name
        if bare != name:
            self._store.entities.add_alias(key, bare)
        sighted = self._sighted.pop((new.scope, squash_name(name)), None)
        if sighted is not None:
            self._store.entities.add_mention(sighted, key, now=now)
        if kind is EntityKind.CONCEPT and not defined:
            for place in self._store.positions.find_defining(new.scope, name, limit=MAX_DEFINITIONS):
                self._store.entities.add_mention(place, key, now=now)
        scope_key = self._store.scopes.ensure_scope(new.scope, now=now)
        bearer = NameBearer(key=key, kind=kind, scope_key=scope_key, forgotten=False)
        bearers.append(bearer)
        if bare != name:
            self._bearers_of(new.scope, [squash_name(bare)])[squash_name(bare)].append(bearer)
        return key

    def _is_first_sighting(self, node: NodeKey, scope: str, squashed: str, named: EntityMention) -> bool:
        """Return whether a concept that nothing bears is seen for the first time, and not made known for that."""
        if not self._sparing or named.kind is not EntityKind.CONCEPT or named.defined:
            return False
        return self._sighted.setdefault((scope, squashed), node) == node

    # -- whom a name stands for --------------------------------------------------------------------------------------

    def _bearers_of(self, scope: str, names: Sequence[str]) -> dict[str, list[NameBearer]]:
        known = self._known.setdefault(scope, {})
        unknown = [] if scope in self._whole else [name for name in names if name not in known]
        if unknown:
            self._look_up_bearers(scope, known, unknown)
        return {name: known.setdefault(name, []) for name in names}

    def _look_up_bearers(self, scope: str, known: dict[str, list[NameBearer]], names: Sequence[str]) -> None:
        self._asked += 1
        scopes = self._scope_keys(scope)
        if self._asked > MAX_SINGLE_LOOKUPS and self._store.entities.count() <= MAX_READ_AT_ONCE:
            known.update(self._store.entities.list_bearers(scopes))
            self._whole.add(scope)
            return
        found = self._store.entities.find_bearers(names, scopes)
        known.update({name: found.get(name, []) for name in names})

    def _scope_keys(self, scope: str) -> list[int]:
        keys = [self._store.scopes.find_key(one) for one in dict.fromkeys((scope, GLOBAL_SCOPE))]
        return [key for key in keys if key is not None]

    def _resolve_mention(
        self, named: EntityMention, scope: str, bearers: list[NameBearer], now: int, origin: Origin = Origin.EXTRACTION
    ) -> NodeKey | None:
        for bearer in bearers:
            if kinds_agree(bearer.kind, named.kind):
                # A user forgot it: it is not registered again.
                return (
                    None
                    if bearer.forgotten and origin is not Origin.TOOL
                    else self._refine_kind(bearer, named, bearers)
                )
        if not named.sure:
            return None
        new = NewNode(
            type=NodeType.ENTITY,
            subtype=named.kind,
            content=named.name,
            confidence=1.0,
            origin=origin,
            scope=scope,
            tier=Tier.LONGTERM,
        )
        return self.add_entity(new, now=now, defined=named.defined)

    def _refine_kind(self, bearer: NameBearer, named: EntityMention, bearers: list[NameBearer]) -> NodeKey:
        if bearer.kind is EntityKind.CONCEPT and named.kind is not EntityKind.CONCEPT:
            self._store.entities.set_kind(bearer.key, named.kind)
            bearers[bearers.index(bearer)] = NameBearer(
                key=bearer.key, kind=named.kind, scope_key=bearer.scope_key, forgotten=bearer.forgotten
            )
        return bearer.key

    # -- names in plain words ----------------------------------------------------------------------------------------

    def _find_known_phrases(self, scope: str, text: str) -> list[EntityMention]:
        """Find known names of several words, or made known by somebody, among the plain words of a text."""
        words = [word.strip(".,;:!?()\"'`*").lower() for word in text[:MAX_PHRASED_CHARS].split()]
        common = vocabulary().is_common
        telling = [not common(word) for word in words]
        phrases = {
            squash_name(phrase): phrase
            for length in range(1, MAX_PHRASE_WORDS + 1)
            for at in range(len(words) - length + 1)
            if all(telling[at : at + length]) and (phrase := " ".join(words[at : at + length]))
        }
        candidates = [name for name in phrases if len(name) > 2]
        found = self._store.entities.find_bearers(candidates, self._scope_keys(scope)) if candidates else {}
        known = self._known.setdefault(scope, {})
        for name, bearers in found.items():
            known.setdefault(name, bearers)
        return [
            EntityMention(phrases[name], bearers[0].kind, sure=False)
            for name, bearers in found.items()
            if " " in phrases[name] or "-" in phrases[name] or self._store.entities.was_declared(bearers[0].key)
        ]


_ARTICLE: Final = re.compile(r"^(?:the|an?|our|der|die|das|unsere?) +(?=\S)", re.IGNORECASE)
"""Who declares `the gizmo` speaks of `our gizmo`, too; `The Who` that a rule found is no `Who`."""

_THINGS: Final = frozenset({EntityKind.TOOL, EntityKind.PROJECT, EntityKind.CONCEPT})
"""What one name is to several memories: a tool that is imported, a project on a page, a thing that is spoken of."""


def kinds_agree(known: EntityKind, named: EntityKind) -> bool:
    """Return whether one name may stand for one thing of two kinds."""
    return known == named or EntityKind.CONCEPT in (known, named) or {known, named} <= _THINGS


def guess_kind(name: str) -> EntityKind:
    """Return the likely kind of an entity that a user declares."""
    words = vocabulary()
    known = words.find_proper(name)
    if known is not None:
        return known.kind
    parts = name.split()
    if parts and words.is_given_name(parts[0]) and len(parts) <= MAX_PHRASE_WORDS:
        return EntityKind.PERSON
    return next((named.kind for named in extract_entities(name) if named.name == name), EntityKind.CONCEPT)
