"""A language is a file: it has the tables that rules are built from, or those that part its sentences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hyperloci.conversations.consolidation.context.options import ORDINALS
from hyperloci.text.language import word_tables
from hyperloci.text.language.word_tables import alternatives, phrase_pattern, read_languages, read_table, word_set

MAY_LACK = {
    "causal.copulas",
    "causal.degrees",
    "causal.effect_first_after_comma",
    "goal.doers",
    "goal.imperatives",
    "goal.infinitives",
    "goal.objects",
    "stop.words",
    "summary.determiners",
}
"""What a language need not have: its grammar knows no such words, or nobody has made the list yet. `[clauses]` serves
the contradiction rules, which read only English; `[sections]` names the kinds that titles tell."""

OF_ORDINALS = {"sentences.before_ordinals", "sentences.first_words"}
"""Of languages that write an ordinal with a full stop: neither English nor Russian does."""

LANGUAGES = sorted(read_languages())
PARTS = {"sentences", "told_by", "dates"}
"""What a language may have without all the rest."""

WHOLE = [language for language, tables in read_languages().items() if not set(tables) <= PARTS]


def tables_of(language: str) -> dict[str, list[Any]]:
    """The tables that rules read; `dates` has a schema of its own."""
    return dict(_walk(read_languages()[language]))


def _walk(tables: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, list[Any]]]:
    for name, value in tables.items():
        if isinstance(value, dict):
            if (before, name) != ("", "dates"):
                yield from _walk(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value.split() if isinstance(value, str) else value


def test_english_and_russian_are_there() -> None:
    assert {"en", "ru"} <= set(WHOLE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_that_only_parts_sentences_has_no_table_that_others_lack(language: str) -> None:
    sentences = {name for name in tables_of(language) if name.startswith("sentences.")}
    assert "sentences.abbreviations" in sentences <= set(tables_of("en")) | OF_ORDINALS


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_dates_if_it_is_whole_or_a_text_tells_that_it_is_in_it(language: str) -> None:
    tables = read_languages()[language]
    assert ("dates" in tables) == (language in WHOLE or "told_by" in tables)


@pytest.mark.parametrize("language", WHOLE)
def test_every_language_has_every_table_and_no_other(language: str) -> None:
    known = {name for each in WHOLE for name in tables_of(each)}
    lacking = {name for name in known - set(tables_of(language)) if not name.startswith(("clauses.", "sections."))}
    assert lacking <= MAY_LACK <= known


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_table_is_empty_and_no_word_stands_twice(language: str) -> None:
    for name, words in tables_of(language).items():
        assert words, name
        assert len({str(word) for word in words}) == len(words), name
        assert all(word == word.strip("\t\n") and word for word in words if isinstance(word, str)), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_is_a_pattern_that_wants_at_least_one_letter(language: str) -> None:
    for name, words in tables_of(language).items():
        for word in words:
            for phrase in [word] if isinstance(word, str) else word["patterns"]:
                assert not re.compile(phrase, re.IGNORECASE).fullmatch("") or name == "goal.doers", (name, phrase)


@pytest.mark.parametrize("language", WHOLE)
def test_every_language_has_five_ordinals(language: str) -> None:
    assert len(tables_of(language)["consolidation.ordinals"]) == ORDINALS


def test_a_table_is_that_of_all_languages() -> None:
    assert {"because", "потому что"} <= set(read_table("causal.because"))
    assert {"the", "a"} <= word_set("stop.words")
    assert phrase_pattern("consolidation.follows").search("ПОЭТОМУ так") and re.search(
        alternatives("causal.if"), "once"
    )
    assert read_table("no.such") == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_that_are_parsed_one_by_one_are_those_of_the_whole_file(language: str) -> None:
    text = (word_tables._FOLDER / f"{language}.toml").read_text(encoding="utf-8")
    assert dict(read_languages()[language]) == tomllib.loads(text)


def test_a_table_is_parsed_when_it_is_first_asked_for() -> None:
    tables = word_tables.LanguageTables("[told_by]\nwords = 'der'\n[told_by.more]\n[dates]\nwords = this is no TOML")
    assert list(tables) == ["told_by", "dates"]
    assert "dates" in tables
    assert "causal" not in tables
    assert tables["told_by"] == {"words": "der", "more": {}}
    with pytest.raises(tomllib.TOMLDecodeError):
        tables["dates"]
