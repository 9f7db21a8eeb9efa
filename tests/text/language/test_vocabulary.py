"""The trade's vocabulary: one place for a name, its kind, its other spellings and its family."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hyperloci.text.language.vocabulary
from hyperloci.knowledge.contradictions.claims import analyse_sentence
from hyperloci.knowledge.contradictions.rules import find_verdict
from hyperloci.knowledge.contradictions.words import stem_of
from hyperloci.knowledge.entities.recognition import extract_entities
from hyperloci.model.answers import ContradictionKind
from hyperloci.model.kinds import EntityKind
from hyperloci.spaces import entity_names, term_expansion
from hyperloci.text.language.vocabulary import KnownName, fold, vocabulary

FILE = Path(hyperloci.text.language.vocabulary.__file__).parent / "data" / "vocabulary.json"
KINDS = {EntityKind.TOOL, EntityKind.ORGANIZATION, EntityKind.PLACE, EntityKind.CONCEPT}
RIVALS = [
    pytest.param(one, other, id=f"{one.name} or {other.name}")
    for family in sorted(vocabulary().families)
    for one, other in itertools.pairwise(known for known in vocabulary().names if known.family == family)
]


def read_tables() -> dict[str, dict[str, Any]]:
    def refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = Counter(name for name, _ in pairs)
        assert max(names.values(), default=0) <= 1, names.most_common(1)
        return dict(pairs)

    tables: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"), object_pairs_hook=refuse_repeated)
    return tables


def test_the_file_holds_names_of_four_kinds_each_with_nothing_but_what_it_explains() -> None:
    tables = read_tables()
    assert set(tables) == KINDS
    for entry in itertools.chain.from_iterable(table.values() for table in tables.values()):
        assert entry.keys() <= {"aliases", "family", "ordinary"}


def test_a_spelling_belongs_to_one_name_so_no_two_names_are_both_aliases_and_rivals() -> None:
    tables = read_tables()
    entries = [(name, entry) for table in tables.values() for name, entry in table.items()]
    spellings = Counter(fold(one) for name, entry in entries for one in (name, *entry.get("aliases", ())))
    assert [spelling for spelling, count in spellings.items() if count > 1] == []


def test_what_is_ordinary_is_a_spelling_of_its_name() -> None:
    tables = read_tables()
    for name, entry in itertools.chain.from_iterable(table.items() for table in tables.values()):
        assert set(entry.get("ordinary", ())) <= {name, *entry.get("aliases", ())}


def test_a_family_has_something_to_choose_from() -> None:
    members = Counter(known.family for known in vocabulary().names if known.family)
    assert min(members.values()) > 1
    assert vocabulary().families.keys() == members.keys()


@pytest.mark.parametrize("spelling", ["PostgreSQL", "postgres", "PG", "k8s", "vs  code", "Кафка"])
def test_a_name_is_found_by_every_spelling_in_any_case(spelling: str) -> None:
    known = vocabulary().find(spelling)
    assert known is not None and fold(spelling) in map(fold, known.spellings)


def test_concepts_are_no_proper_names() -> None:
    assert vocabulary().find("rbac") is not None
    assert vocabulary().find_proper("rbac") is None
    assert vocabulary().find("no such name") is None


@pytest.mark.parametrize(("lower", "capital"), [("go", "Go"), ("node", "Node"), ("rest", "REST"), ("react", "React")])
def test_an_ordinary_word_is_a_name_with_its_capital_only(lower: str, capital: str) -> None:
    assert entity_names.find_names(f"we take {lower} here") == []
    assert len(entity_names.find_names(f"we take {capital} here")) == 1


# -- what every reader says of one name -------------------------------------------------------------------------------


@pytest.mark.req("D.10")
@pytest.mark.parametrize(("one", "other"), RIVALS)
def test_rivals_contradict_each_other_and_are_never_one_thing(one: KnownName, other: KnownName) -> None:
    verdict = find_verdict(f"We use {one.name}.", f"We use {other.name}.")
    assert verdict is not None and verdict.kind is ContradictionKind.VALUE
    assert entity_names.canonical_names([one.name]) != entity_names.canonical_names([other.name])


@pytest.mark.req("D.10")
def test_mariadb_is_a_rival_of_mysql_for_every_reader() -> None:
    assert [value.name for value in analyse_sentence("We use MariaDB").values] == ["MariaDB"]
    assert entity_names.find_names("We use MariaDB and MySQL") == ["MariaDB", "MySQL"]
    assert "mysql" not in term_expansion.expand_query("mariadb")
    assert [named.name for named in extract_entities("We use MariaDB and MySQL")] == ["MariaDB", "MySQL"]


@pytest.mark.req("B.10", "D.10", "E.12")
def test_an_alias_of_a_tool_is_that_tool_for_every_reader() -> None:
    for known in vocabulary().names:
        for alias in known.spellings[1:]:
            assert entity_names.canonical_names([alias]) == [known.name]
            if known.family:
                assert [value.name for value in analyse_sentence(f"We use {alias}").values] == [known.name]
            if known.kind is EntityKind.TOOL and not known.is_ordinary(alias):
                assert [named.name for named in extract_entities(f"we use {alias} here")] == [known.name]


def test_aliases_are_one_word_to_the_rules_of_contradiction() -> None:
    assert stem_of("mongo") == stem_of("mongodb")
    assert stem_of("k8s") == stem_of("kubernetes")
    assert stem_of("mariadb") != stem_of("mysql")


def test_a_question_brings_the_other_spellings_of_its_names() -> None:
    asked = term_expansion.expand_query("rotate the jwt")
    assert {"json", "web", "token"} <= asked.keys()
    assert asked["jwt"] > asked["json"] > 0
