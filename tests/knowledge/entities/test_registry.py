"""Joining memories to the things they name."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.knowledge.entities.recognition import EntityMention
from hyperloci.knowledge.entities.registry import EntityLinker, find_mentions, guess_kind
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import GLOBAL_SCOPE, EntityKind
from hyperloci.model.position import Position
from hyperloci.store import Store
from tests.support import NOW, add


def link(store: Store, text: str, linker: EntityLinker | None = None, **fields: Any) -> list[str]:
    node = add(store, text, **fields)
    with store.transaction():
        keys = (linker or EntityLinker(store)).link_text(node.key, node.scope, text, now=NOW)
    return sorted(entity.canonical_name for key in keys if (entity := store.entities.get_entity(key)))


@pytest.mark.req("B.10")
@pytest.mark.parametrize(
    "spelling", ["AuthService", "auth_service", "auth-service", "the auth service", "`authService`"]
)
def test_a_name_is_one_whatever_its_case_and_joints(store: Store, spelling: str) -> None:
    link(store, "The AuthService issues tokens.")
    assert link(store, f"Ask {spelling} for a token, it said.") == ["AuthService"]
    assert store.entities.count() == 1


@pytest.mark.req("B.10")
def test_well_known_names_have_their_other_spellings(store: Store) -> None:
    link(store, "We run PostgreSQL here.")
    assert [entity.canonical_name for entity in store.entities.find_by_name("postgres")] == ["PostgreSQL"]


@pytest.mark.req("B.10")
def test_a_concept_may_turn_out_to_be_a_person_but_no_person_a_place(store: Store) -> None:
    linker = EntityLinker(store)
    node = add(store, "x")
    with store.transaction():
        (concept,) = linker.link_mentions(node.key, GLOBAL_SCOPE, [EntityMention("Kolya", EntityKind.CONCEPT)], now=NOW)
        assert linker.link_mentions(node.key, GLOBAL_SCOPE, [EntityMention("Kolya", EntityKind.PERSON)], now=NOW) == [
            concept
        ]
        assert linker.link_mentions(node.key, GLOBAL_SCOPE, [EntityMention("Kolya", EntityKind.PLACE)], now=NOW) != [
            concept
        ]
    assert {entity.kind for entity in store.entities.find_by_name("kolya")} == {"person", "place"}


@pytest.mark.req("B.10")
def test_a_sparing_linker_makes_a_concept_known_when_a_second_memory_names_it(store: Store) -> None:
    linker = EntityLinker(store, sparing=True)
    first, second = add(store, "one"), add(store, "two")
    name = [EntityMention("FileWriter", EntityKind.CONCEPT)]
    with store.transaction():
        assert linker.link_mentions(first.key, GLOBAL_SCOPE, name, now=NOW) == []
        assert linker.link_mentions(first.key, GLOBAL_SCOPE, name, now=NOW) == []
        (key,) = linker.link_mentions(second.key, GLOBAL_SCOPE, name, now=NOW)
    entity = store.entities.get_entity(key)
    assert entity is not None and entity.mention_count == 2
    assert [one.node_key for one in store.entities.list_of_node(first.key)] == [key]


@pytest.mark.req("B.10")
def test_projects_do_not_share_entities_but_what_is_global_is_known_in_all(store: Store) -> None:
    link(store, "RedisCache is used.", scope="one")
    link(store, "RedisCache is used.", scope="two")
    link(store, "The user likes TurboWidgets a lot.", scope=GLOBAL_SCOPE)
    link(store, "TurboWidgets again.", scope="two")
    assert len(store.entities.find_by_name("RedisCache")) == 2
    assert len(store.entities.find_by_name("TurboWidgets")) == 1


@pytest.mark.req("B.10")
def test_what_somebody_forgot_is_not_made_known_again(store: Store) -> None:
    link(store, "The AuthService issues tokens.")
    (entity,) = store.entities.find_by_name("AuthService")
    with store.transaction():
        store.nodes.delete_node(entity.id, now=NOW)
    assert link(store, "AuthService is back.") == []
    assert store.entities.find_by_name("AuthService") == []


@pytest.mark.req("B.10")
def test_names_that_somebody_declared_are_found_as_plain_words(store: Store) -> None:
    with store.transaction():
        EntityLinker(store).declare_entity("gizmo", GLOBAL_SCOPE, now=NOW)
    assert link(store, "the gizmo broke down") == ["gizmo"]


@pytest.mark.req("B.10")
def test_a_changed_text_mentions_what_it_names_now(store: Store) -> None:
    node = add(store, "x")
    linker = EntityLinker(store)
    with store.transaction():
        linker.link_mentions(node.key, GLOBAL_SCOPE, [EntityMention("OldName", EntityKind.CONCEPT)], now=NOW)
        linker.relink_mentions(node.key, GLOBAL_SCOPE, [EntityMention("NewName", EntityKind.CONCEPT)], now=NOW)
    assert [entity.canonical_name for entity in store.entities.list_of_node(node.key)] == ["NewName"]
    assert store.entities.find_by_name("OldName")[0].mention_count == 0


@pytest.mark.req("B.10")
def test_a_new_name_is_joined_to_the_code_that_defines_it(store: Store) -> None:
    place = Position(path="a.py", char_start=0, function_name="login_user", symbol="Auth.login_user")
    code = add(store, "def login_user(): ...", position=place, scope="p")
    link(store, "`login_user` must not block", scope="p")
    assert [entity.canonical_name for entity in store.entities.list_of_node(code.key)] == ["login_user"]


@pytest.mark.req("B.10")
def test_code_names_its_packages_and_classes_and_not_the_language_s_own() -> None:
    facts = CodeFacts(
        kind="class",
        name="Client",
        qualname="Client",
        imports=("os.path", "httpx", "own.part", ".near", "numpy.typing"),
        bases=("BaseClient",),
        calls=("self.go", "Response", "len"),
    )
    place = Position(path="own/client.py", module="own.client", language="python")
    found = {one.name: (str(one.kind), one.sure) for one in find_mentions("", facts, place)}
    assert found == {
        "Client": ("concept", True),
        "httpx": ("tool", True),
        "NumPy": ("tool", True),
        "BaseClient": ("concept", False),
        "Response": ("concept", False),
    }


@pytest.mark.req("B.10")
def test_an_ordinary_word_is_not_taken_for_a_class_or_a_function() -> None:
    facts = CodeFacts(kind="function", name="wanted", qualname="wanted", calls=("threading.Event", "run", "Backup"))
    place = Position(path="a.py", module="a", language="python")
    assert [one.name for one in find_mentions("", facts, place)] == ["Backup"]


@pytest.mark.req("B.10")
def test_words_that_only_happen_to_stand_side_by_side_are_no_name(store: Store) -> None:
    link(store, "call at_random twice")
    assert link(store, "it stops at random moments") == []


@pytest.mark.parametrize(("name", "kind"), [("Anna", "person"), ("redis", "tool"), ("the plan", "concept")])
def test_what_somebody_declares_gets_a_likely_type(name: str, kind: str) -> None:
    assert guess_kind(name) == kind
