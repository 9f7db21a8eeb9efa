"""The lexicon of the contradiction rules: what carries no topic, what is a verb, what means the same.

The words stand in `data/lexicon.toml`; other names of tools are the vocabulary's (`text.language.vocabulary`).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperloci.model.kinds import EntityKind
from hyperloci.store import analysis
from hyperloci.text.language.vocabulary import KnownName, vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words of English as the rules need them; `data/lexicon.toml` says of each list what it is for.

    Attributes:
        irregular: form to the form to stem instead.
        numbers: number word to its value.
        function_words, auxiliaries, place_prepositions: words in lower case.
        synonyms: stem to the stem that stands for it.
        light, verbs, offering, change, failure: stems; the light ones are verbs too.
    """

    irregular: Mapping[str, str]
    numbers: Mapping[str, int]
    function_words: frozenset[str]
    auxiliaries: frozenset[str]
    place_prepositions: frozenset[str]
    synonyms: Mapping[str, str]
    light: frozenset[str]
    verbs: frozenset[str]
    offering: frozenset[str]
    change: frozenset[str]
    failure: frozenset[str]


@functools.cache
def lexicon() -> Lexicon:
    """Return the lexicon of this process."""
    data: dict[str, Any] = tomllib.loads((Path(__file__).parent / "data/lexicon.toml").read_text(encoding="utf-8"))
    synonyms = _map_synonyms([*map(str.split, data["synonyms"]), *map(_tool_words, vocabulary().names)])
    stems = {name: _find_stems(data[name], synonyms) for name in ("light", "verbs", "offering", "change", "failure")}
    return Lexicon(
        irregular={form: base for base, forms in data["irregular"].items() for form in forms.split()},
        numbers=data["numbers"],
        function_words=frozenset(data["function_words"].split()),
        auxiliaries=frozenset(data["auxiliaries"].split()),
        place_prepositions=frozenset(data["place_prepositions"].split()),
        synonyms=synonyms,
        **stems | {"verbs": stems["verbs"] | stems["light"]},
    )


def _find_stems(words: str, synonyms: Mapping[str, str]) -> frozenset[str]:
    stems = (stem for word in words.split() for stem in analysis.terms(word)[:1])
    return frozenset(synonyms.get(stem, stem) for stem in stems)


def _tool_words(known: KnownName) -> list[str]:
    """Return the spellings of a tool that are single words, and no other words as well."""
    if known.kind is not EntityKind.TOOL:
        return []
    return [one.lower() for one in known.spellings if one.isalnum() and not known.is_ordinary(one)]


def _map_synonyms(groups: Iterable[list[str]]) -> dict[str, str]:
    stems = ([analysis.terms(word)[0] for word in group] for group in groups)
    return {stem: group[0] for group in stems for stem in group if len(group) > 1}
