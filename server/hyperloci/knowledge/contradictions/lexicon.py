"""Lexicon of the contradiction rules: function words, verbs, synonyms.

The words stand in `data/lexicon.toml`; other names of tools are the vocabulary's (`text.language.vocabulary`).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperloci.model.kinds import EntityKind
from hyperloci.store.keywords import analysis
from hyperloci.text.language.vocabulary import KnownName, vocabulary


@functools.cache
def lexicon_words(table: str) -> frozenset[str]:
    """Return the words of a table: `function_words`, `auxiliaries` or `place_prepositions`."""
    return frozenset(_read_tables()[table].split())


@functools.cache
def stem_set(*tables: str) -> frozenset[str]:
    """Return the stems of the words of some tables: `light`, `verbs`, `offering`, `change`, `failure`."""
    stems = (
        stem for table in tables for word in _read_tables()[table].split() for stem in analysis.analyse_text(word)[:1]
    )
    return frozenset(map(unify_stem, stems))


def base_form(word: str) -> str:
    """Return the form to stem instead of an irregular one, else the word itself."""
    return _base_forms().get(word, word)


def unify_stem(stem: str) -> str:
    """Return the stem that stands for a stem and those of its synonyms."""
    return _synonyms().get(stem, stem)


@functools.cache
def _base_forms() -> Mapping[str, str]:
    return {form: base for base, forms in _read_tables()["irregular"].items() for form in forms.split()}


@functools.cache
def _synonyms() -> Mapping[str, str]:
    groups = [*map(str.split, _read_tables()["synonyms"]), *map(_tool_words, vocabulary().names)]
    stems = ([analysis.analyse_text(word)[0] for word in group] for group in groups)
    return {stem: group[0] for group in stems for stem in group if len(group) > 1}


def _tool_words(known: KnownName) -> list[str]:
    """Return the spellings of a tool that are single words, and no other words as well."""
    if known.kind is not EntityKind.TOOL:
        return []
    return [one.lower() for one in known.spellings if one.isalnum() and not known.is_ordinary(one)]


@functools.cache
def _read_tables() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "data/lexicon.toml").read_text(encoding="utf-8"))
