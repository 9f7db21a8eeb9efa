"""Name resolver: says what a name means in a project: the one place where search, relations and anchors look it up.

As it is written comes first, then as the beginning of a longer name, then with other case and joints. Of several
things with one name the code comes before its tests, what stands at the top of a file before members, and what is used
more before what is used less. Every lookup goes by an index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hyperloci.knowledge.names.located_text import (
    MAX_HEADING_WORDS,
    LocatedSnippet,
    find_heading,
    find_message,
    find_setting,
    is_among_headings,
)
from hyperloci.knowledge.names.named_thing import NamedThing, Resolution, ThingKind, make_symbol_thing
from hyperloci.knowledge.names.written_names import (
    dotted_suffixes,
    find_code_names,
    is_code_like,
    is_reexported_as,
    is_suffix_of_symbol,
    read_whole_name,
    squash_symbol,
)
from hyperloci.model.kinds import NodeKey
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_text, stop_words
from hyperloci.store.memories.entities import fold_name
from hyperloci.store.memories.symbols import NameMatch, StoredSymbol
from hyperloci.text.chunking.programming_languages import is_test_path

if TYPE_CHECKING:  # It loads numpy, which a hook would wait for.
    from hyperloci.store.search.keyword_search import KeywordQuery

MAX_SYMBOLS: Final = 50
"""Symbols looked at of one name: more namesakes tell nobody anything."""

MAX_MATCHED: Final = 2_000
"""Symbols looked at of all names of one text."""

MAX_FILES: Final = 10
MAX_COMMITS: Final = 5

MIN_PREFIX: Final = 4
"""Characters of a name that may begin a longer one: `get` begins half of a program."""

MAX_SPLIT_WORDS: Final = 4
"""Words that may be one name written apart; what is longer is a sentence."""

MESSAGE_CANDIDATES: Final = 40
"""Snippets that hold most of the words of a message and are looked at for it."""

HEADING_CANDIDATES: Final = 200
"""Of a heading, more: every section below it holds its words. Only of those that stand under it the text is read, for
every search of a few words asks for a heading."""

SETTING_CANDIDATES: Final = 200
"""Of a setting, more: all that use it have its name."""

LAST_LINE: Final = 1 << 30

_HASH: Final = re.compile(r"[0-9a-f]{7,40}")
_PLACE: Final = re.compile(r"(?P<path>[\w@./+-]*[\w@+-](?:\.\w{1,8}|/[\w@.+-]+))(?::{1,2}(?P<rest>[\w.$]+))?")
"""A path, with the line or the symbol that people write behind it."""

_OVERLOAD: Final = re.compile(r"\s*@(?:\w+\.)*overload\b")
"""How the signatures begin that only tell a type checker how a function may be called; they stand before it."""

_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|\d+")

MAX_RUN_WORDS: Final = 40
MIN_RUN_WORD: Final = 3
"""Letters of a word that may be part of a name: `set up` is no `set_up`."""

_ASIDE: Final = re.compile(r"(?:^|/)(?:examples?|samples?|docs?(?:_src)?|bench(?:marks?)?|vendor|third_party)/")
"""Folders that show or measure a program: what they define is rarely what is meant."""


class NameResolver:
    """Looks up names in some scopes.

    Args:
        store: the open store.
        scopes: whose names; empty is every scope.
    """

    def __init__(self, store: Store, scopes: Sequence[str]) -> None:
        self._store = store
        self._scopes = tuple(scopes) or tuple(scope.id for scope in store.scopes.list_scopes())
        keys = (store.scopes.find_key(scope) for scope in self._scopes)
        self._scope_keys = tuple(key for key in keys if key is not None)

    # -- what a text names -------------------------------------------------------------------------------------------

    def resolve(self, text: str) -> Resolution | None:
        """Return what a text names: as a whole, else by a name in it; None if nothing in the project is called so."""
        return self.resolve_whole(text, may_begin=True) or self.resolve_inner(text) or self.resolve_message(text)

    def resolve_whole(self, text: str, *, may_begin: bool) -> Resolution | None:
        """Return what a text means if it is one name as a whole.

        Args:
            text: a symbol, a path, a heading, an entity, a commit's hash, or words that one of them is made of.
            may_begin: whether it may be the beginning of a longer name.
        """
        said = text.strip().strip("`").rstrip("?!").strip()
        levels = (
            self._find_exact,
            *((self._find_beginning,) if may_begin else ()),
            self._find_split,
            self._find_entities,
        )
        for find in levels:
            if things := tuple(find(said)):
                return Resolution(name=said, things=things)
        return None

    def resolve_inner(self, text: str) -> Resolution | None:
        """Return what the first path or name of code in a text means that means anything."""
        for name in self._list_inner_names(text):
            if things := tuple(self._find_exact(name)):
                return Resolution(name=name, things=things)
        return None

    def resolve_message(self, text: str) -> Resolution | None:
        """Return the code that gives the message that a text quotes."""
        message = find_message(text, lambda words: self._find_snippets(words, ("code",), MESSAGE_CANDIDATES))
        return None if message is None else Resolution(name=message.name, things=(message,))

    def resolve_joined(self, text: str) -> Resolution | None:
        """Return the symbol that words of a text are the parts of, in their order: `line decoder`, `LineDecoder`."""
        for length in (3, 2):
            runs = list(_list_runs(text, length))
            names = {squash_symbol(run) for run in runs}
            found = self._store.symbols.find_named(names, self._scope_keys, match=NameMatch.SPLIT, limit=MAX_SYMBOLS)
            made = [one for one in found if _is_made_of(one.symbol.rpartition(".")[2], runs)]
            things = tuple(thing for thing in self._order_symbols(made, NameMatch.SPLIT) if not thing.is_test)
            if things:
                return Resolution(name=things[0].name, things=things)
        return None

    def resolve_name(self, name: str) -> Resolution | None:
        """Return what a single name means as it is written, or with other case and joints."""
        things = tuple(self._find_exact(name)) or tuple(self._find_split(name))
        return Resolution(name=name, things=things) if things else None

    def _list_inner_names(self, text: str) -> Iterator[str]:
        for word in text.split():
            bare = word.strip("`'\"(),;?!")
            if "/" in bare and _PLACE.fullmatch(bare):
                yield bare
        yield from find_code_names(text)

    # -- levels ------------------------------------------------------------------------------------------------------

    def _find_exact(self, said: str) -> Iterator[NamedThing]:
        name = read_whole_name(said)
        symbols = [] if name is None else match_symbols(self._store, self._scope_keys, [name])[name]
        yield from self._order_symbols(symbols, NameMatch.EXACT)
        files = list(self._find_files(said))
        yield from files
        if symbols or files:
            return
        if name is not None:
            yield from self._find_settings(name.rpartition(".")[2])
        if len(said.split()) <= MAX_HEADING_WORDS:
            yield from find_heading(said, self._find_under_heading(said))
        # A name of code that a text mentions is no thing of its own: what it names is the code.
        yield from (
            thing
            for thing in self._find_entities(said)
            if fold_name(thing.name) == fold_name(said) and not is_code_like(thing.name)
        )
        yield from self._find_commits(said)

    def _find_beginning(self, said: str) -> Iterator[NamedThing]:
        name = read_whole_name(said)
        if name is None or len(name) < MIN_PREFIX:
            return
        found = self._store.symbols.find_named([name], self._scope_keys, match=NameMatch.PREFIX, limit=MAX_SYMBOLS)
        yield from self._order_symbols([one for one in found if _begins_with(one.symbol, name)], NameMatch.PREFIX)

    def _find_split(self, said: str) -> Iterator[NamedThing]:
        if len(said.split()) > MAX_SPLIT_WORDS:
            return
        squashed = squash_symbol(said)
        if len(squashed) < MIN_PREFIX:
            return
        tails = dotted_suffixes(squashed)
        found = self._store.symbols.find_named(tails, self._scope_keys, match=NameMatch.SPLIT, limit=MAX_SYMBOLS)
        yield from self._order_symbols(
            [
                one
                for one in found
                if is_suffix_of_symbol(squashed, one.path.lower().replace("_", ""), squash_symbol(one.symbol))
            ],
            NameMatch.SPLIT,
        )

    # -- kinds -------------------------------------------------------------------------------------------------------

    def _order_symbols(self, found: Sequence[StoredSymbol], match: NameMatch) -> list[NamedThing]:
        uses = self._store.symbols.count_uses(one.keys[0] for one in found) if len(found) > 1 else {}
        things = [make_symbol_thing(one, match) for one in found]
        ordered = sorted(
            things,
            key=lambda thing: (
                thing.is_test,
                _ASIDE.search(thing.path or "") is not None,
                thing.name.count("."),
                len(thing.name) if match is NameMatch.PREFIX else 0,
                -uses.get(thing.keys[0], 0),
                thing.path or "",
                thing.line or 0,
            ),
        )[:MAX_SYMBOLS]
        several = [thing.keys[0] for thing in ordered if len(thing.keys) > 1]
        first = self._store.nodes.get_by_keys(several) if several else {}
        signatures = {key for key, node in first.items() if _OVERLOAD.match(node.content)}
        return [self._begin_with_body(thing) if thing.keys[0] in signatures else thing for thing in ordered]

    def _begin_with_body(self, thing: NamedThing) -> NamedThing:
        """Return a symbol with what it does before signatures that only tell types (`@overload`)."""
        nodes = self._store.nodes.get_by_keys(thing.keys)
        bodies = [key for key in thing.keys if key in nodes and not _OVERLOAD.match(nodes[key].content)]
        if not bodies:
            return thing
        place = self._store.positions.get_positions(bodies[:1]).get(bodies[0])
        keys = (*bodies, *(key for key in thing.keys if key not in bodies))
        return replace(thing, keys=keys, line=thing.line if place is None else place.line_start)

    def _find_files(self, said: str) -> Iterator[NamedThing]:
        match = _PLACE.fullmatch(said)
        if match is None:
            return
        for scope_key in self._scope_keys:
            found = self._store.files.find_paths(scope_key, match["path"].removeprefix("./"), MAX_FILES)
            for path in sorted(found, key=lambda path: (is_test_path(path), path.count("/"), path)):
                yield from self._find_in_file(scope_key, path, match["rest"])

    def _find_in_file(self, scope_key: int, path: str, rest: str | None) -> Iterator[NamedThing]:
        if rest is not None and not rest.isdigit():
            symbols = [one for one in match_symbols(self._store, self._scope_keys, [rest])[rest] if one.path == path]
            yield from (make_symbol_thing(one, NameMatch.EXACT) for one in symbols)
            return
        first, last = (1, LAST_LINE) if rest is None else (int(rest), int(rest))
        keys = self._store.files.find_nodes_at_lines(scope_key, path, min(first, LAST_LINE), min(last, LAST_LINE))
        if keys:
            name = path if rest is None else f"{path}:{rest}"
            yield NamedThing(kind=ThingKind.FILE, name=name, keys=tuple(keys), path=path, line=first)

    def _find_settings(self, name: str) -> Iterator[NamedThing]:
        found = find_setting(name, self._find_snippets([name], ("code", "text"), SETTING_CANDIDATES))
        if found is not None:
            yield found

    def _find_entities(self, said: str) -> Iterator[NamedThing]:
        for entity in self._store.entities.find_by_name(said, self._scope_keys)[:1]:
            yield NamedThing(
                kind=ThingKind.ENTITY, name=entity.canonical_name, keys=(entity.node_key,), word=entity.kind
            )

    def _find_commits(self, said: str) -> Iterator[NamedThing]:
        if not _HASH.fullmatch(said):
            return
        for scope_key in self._scope_keys:
            keys = self._store.relation_queue.find_commits(scope_key, said)
            for key, node in self._store.nodes.get_by_keys(keys).items():
                subject = node.content.partition("\n")[0]
                yield NamedThing(kind=ThingKind.COMMIT, name=f"{said} {subject}", keys=(key,))

    def _find_snippets(self, words: Sequence[str], subtypes: tuple[str, ...], limit: int) -> list[LocatedSnippet]:
        """Return the snippets of some kinds in which these words weigh most."""
        query = self._ask_for(words, subtypes)
        if query is None:
            return []
        best = [NodeKey(key) for key in query.rank_best(limit)]
        return self._locate(best, self._store.positions.get_positions(best), subtypes)

    def _find_under_heading(self, said: str) -> list[LocatedSnippet]:
        """Return the snippets of documents under a heading, the best first by its words.

        Nearly every search of a few words asks for one, and most find none: so the places are looked at before the
        words are counted. Stop words are looked up only beside a single other word: their postings take longest.
        """
        words = [word for word in said.split() if word.lower() not in stop_words()]
        query = self._ask_for(words if len(words) > 1 else said.split(), ("markdown",))
        if query is None:
            return []
        likely = query.find_likely(HEADING_CANDIDATES).tolist()
        titles = self._store.positions.list_headings(likely)
        headed = [key for key, found in titles.items() if is_among_headings(said, found)]
        if not headed:
            return []
        return self._locate(query.rank_nodes(headed), self._store.positions.get_positions(headed), ("markdown",))

    def _ask_for(self, words: Sequence[str], subtypes: tuple[str, ...]) -> KeywordQuery | None:
        """Return the query for words in the snippets of some kinds; None if there are none, or without the words."""
        terms = _first_terms(words)
        allowed = self._store.filters.select_allowed(
            SearchFilter(scopes=self._scopes, types=("snippet",), subtypes=subtypes)
        )
        return self._store.keyword_search.prepare_query(terms, allowed) if terms and allowed.any() else None

    def _locate(
        self, ranked: Iterable[int], places: Mapping[NodeKey, Position], subtypes: tuple[str, ...]
    ) -> list[LocatedSnippet]:
        """Return snippets with their places, in their order, of those that stand in a file."""
        best = [NodeKey(key) for key in ranked]
        keys = [key for key in best if key in places and places[key].path is not None]
        nodes = self._store.nodes.get_by_keys(keys)
        facts = self._store.positions.get_code_facts(keys) if "code" in subtypes else {}
        return [LocatedSnippet(nodes[key], places[key], facts[key].kind if key in facts else "") for key in keys]


def _first_terms(words: Iterable[str]) -> list[str]:
    """Return the first term of each word, as the keyword index has it."""
    return list(dict.fromkeys(term for word in words for term in analyse_text(word)[:1]))


def match_symbols(
    store: Store, scope_keys: Sequence[int], names: Sequence[str]
) -> Mapping[str, Sequence[StoredSymbol]]:
    """Return the symbols that each of some names of code can mean as it is written."""
    tails = {tail for name in names for tail in dotted_suffixes(name)}
    known = store.symbols.find_named(tails, scope_keys, limit=MAX_MATCHED)
    return {
        name: [one for one in known if is_suffix_of_symbol(name, one.path, one.symbol)]
        or [one for one in known if is_reexported_as(name, one.path, one.symbol)]
        for name in names
    }


def _list_runs(text: str, length: int) -> Iterator[str]:
    """Yield so many words of a text that stand side by side and are no stop words."""
    words = [word.lower() for word in _WORD.findall(text)][:MAX_RUN_WORDS]
    for at in range(len(words) - length + 1):
        run = words[at : at + length]
        if all(len(word) >= MIN_RUN_WORD and word not in stop_words() for word in run):
            yield " ".join(run)


def _is_made_of(name: str, runs: Sequence[str]) -> bool:
    """Return whether a name shows by its spelling that it is made of the words of a run."""
    parts = " ".join(part.lower() for part in _PART.findall(name))
    return parts in runs


def _begins_with(symbol: str, name: str) -> bool:
    return symbol.startswith(name) or symbol.rpartition(".")[2].startswith(name)
