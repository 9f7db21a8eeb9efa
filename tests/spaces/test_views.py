"""What each space sees of a memory: goals, names, code, references, as tables of real sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.model.chunk import CodeFacts
from hyperloci.spaces import code_view, entity_names, goal, references
from hyperloci.spaces.query_views import views_of_query
from hyperloci.spaces.references import ReferenceSide
from hyperloci.spaces.views import EncoderInput, make_views
from tests.support import examples

GOALS = [
    ("Use WAL mode so that readers never block.", "readers never block"),
    ("We decided to switch from Redux to Zustand.", "switch from Redux to Zustand"),
    ("fix(api): handle empty bodies", "handle empty bodies"),
    ("The user wants to keep the database private.", "keep the database private"),
    ("Decision: cache the dependency tree", "cache the dependency tree"),
    ("Returns the headers of a redirect.", "Returns the headers of a redirect"),
    ("We replaced Celery with a table in Postgres, because it is simpler.", "replaced Celery with a table in Postgres"),
    ("Нужно обновить драйвер PostgreSQL.", "обновить драйвер PostgreSQL"),
    ("Чтобы не ждать сборку, кэшируем пакеты.", "не ждать сборку, кэшируем пакеты"),
]


@pytest.mark.parametrize(("text", "wanted"), GOALS)
def test_a_goal_is_what_a_memory_serves(text: str, wanted: str) -> None:
    assert goal.goal_of_text(text) == wanted


@pytest.mark.parametrize("text", ["Tests run in parallel.", "Deploys happen on Fridays.", "", "ok"])
def test_what_serves_no_stated_goal_has_none(text: str) -> None:
    assert goal.goal_of_text(text) is None


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("how do I keep reads going during a write?", "keep reads going during a write"),
        ("what is the best way to cache dependencies?", "cache dependencies"),
        ("как ускорить сборку?", "ускорить сборку"),
        ("who owns deploys", "who owns deploys"),
    ],
)
def test_the_goal_of_a_question_is_a_phrase_or_all_of_it(question: str, wanted: str) -> None:
    assert goal.goal_of_question(question) == wanted


NAMED = [
    ("We moved from k8s to Nomad; the Acme Corp team owns it.", ["Kubernetes", "Nomad", "Acme Corp"]),
    ("Use `parse_config()` in server/app.py with SQLite.", ["parse_config", "server/app.py", "SQLite"]),
    ("Postgres and pg are one thing", ["PostgreSQL"]),
    ("The script calls GitHub Actions, that is gha", ["GitHub Actions"]),
    ("The order of node and rest is fine.", []),
    ("Everything went well today.", []),
]


@pytest.mark.parametrize(("text", "wanted"), NAMED)
def test_names_are_found_by_their_spelling_and_aliases_resolved(text: str, wanted: list[str]) -> None:
    assert entity_names.find_names(text) == wanted


@pytest.mark.parametrize(
    ("one", "other"), [("k8s", "Kubernetes"), ("PG", "postgres"), ("vs code", "VSCode"), ("JS", "JavaScript")]
)
def test_aliases_of_one_thing_have_one_name(one: str, other: str) -> None:
    assert entity_names.canonical_names([one]) == entity_names.canonical_names([other])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parseConfigFile", "parse config file"),
        ("HTTPServer.parse_v2", "http server parse v 2"),
        ("load_dotenv", "load dotenv"),
        ("__init__", "init"),
    ],
)
def test_an_identifier_is_its_words(name: str, words: str) -> None:
    assert code_view.split_identifier(name) == words


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("shop.cart.price_rules > PriceRules > bestOffer", "price rules price rules best offer"),
        ("src.f1106 > get_var", "get var"),
        ("app > run", "app run"),
        ("t", ""),
    ],
)
def test_where_code_stands_is_said_in_words(title: str, words: str) -> None:
    assert code_view.describe_place(title) == words


def test_code_is_seen_behind_the_words_of_its_place_and_prose_behind_its_headings() -> None:
    title = "shop.cart > Cart > addItem"
    assert make_views(EncoderInput(content="pass", title=title, facts=FACTS)).text == "cart cart add item\npass"
    assert make_views(EncoderInput(content="pass", title=title)).text == f"{title}\npass"


FACTS = CodeFacts(
    kind="method",
    name="fetch_user",
    qualname="UserStore.fetch_user",
    signature="def fetch_user(self, user_id: int, *, cached: bool = True) -> User",
    docstring="Return a user by id.\n\nFrom the cache because the table is slow.",
    calls=("self.cache.get", "len", "db.query_one", "db.query_one"),
    imports=("json",),
    bases=("Store",),
)


def test_the_code_view_tells_name_docstring_signature_and_callees() -> None:
    view = code_view.view_code_facts(FACTS)
    assert view is not None
    parts = view.split(". ")
    assert parts[0] == "user store fetch user"
    assert parts[1].startswith("Return a user by id")
    assert "user id int cached bool true user" in view
    assert view.endswith("calls get, query one")


def test_a_code_block_in_prose_has_a_code_view_and_prose_has_none() -> None:
    block = "Like so:\n```python\ndef parse_config(path):\n    return load_file(path)\n```\n"
    assert code_view.view_fenced_code(block) == "parse config. parse config, load file"
    assert code_view.view_fenced_code("The parser is `parse_config`.") is None
    assert code_view.view_code_facts(CodeFacts(kind="block")) is None


def test_references_of_code_leave_out_what_every_code_refers_to() -> None:
    assert references.find_references("", FACTS) == ("json", "Store", "query_one")
    assert references.find_definitions("", "", "app/users.py", FACTS) == (
        "method UserStore.fetch_user fetch user in app/users.py"
    )


def test_references_of_prose_are_links_paths_and_code_names() -> None:
    text = "See [the guide](docs/setup.md) and `make_app()` in server/app.py, or https://example.org/x."
    found = references.find_references(text, None)
    assert found == ("docs/setup.md", "https://example.org/x", "server/app.py", "make_app")
    assert references.find_references("Nothing at all to see.", None) == ()
    assert references.find_definitions("`retry_policy` is the number of tries.", "", None, None) == "retry_policy"
    assert references.find_definitions("We met on Monday.", "", None, None) is None


REFERRED = [
    ("what imports requests?", ReferenceSide.OUT, "requests"),
    ("who calls `parse_config`?", ReferenceSide.OUT, "parse_config"),
    ("where is load_env used?", ReferenceSide.OUT, "load_env"),
    ("callers of Store.open", ReferenceSide.OUT, "Store.open"),
    ("callers of Store.fetch", ReferenceSide.OUT, "fetch"),
    ("что вызывает parse_config?", ReferenceSide.OUT, "parse_config"),
    ("где используется load_env?", ReferenceSide.OUT, "load_env"),
    ("where is parse_config defined?", ReferenceSide.IN, "parse_config"),
    ("what does app.py import?", ReferenceSide.IN, "app.py"),
    ("What does `Store.open` call?", ReferenceSide.IN, "Store.open"),
    ("definition of Store", ReferenceSide.IN, "Store"),
    ("где определён Store?", ReferenceSide.IN, "Store"),
]


@pytest.mark.req("E.05")
@pytest.mark.parametrize(("question", "side", "name"), REFERRED)
def test_a_question_is_about_users_or_about_a_definition(question: str, side: ReferenceSide, name: str) -> None:
    assert references.find_asked_reference(question) == (side, name)


@pytest.mark.parametrize("question", ["how do I deploy?", "why is it slow", "", "what is our deadline?"])
def test_other_questions_are_about_neither(question: str) -> None:
    assert references.find_asked_reference(question) is None


@pytest.mark.req("E.01")
def test_a_view_that_finds_nothing_is_left_out() -> None:
    assert make_views(EncoderInput(content="Tests run in parallel.")).dense == {}
    assert make_views(EncoderInput(content="Tests run in parallel.")).names == {}


def test_code_is_seen_by_its_parse_and_not_by_its_text() -> None:
    view = make_views(
        EncoderInput(content="def fetch_user(): ...", title="users > UserStore", path="users.py", facts=FACTS)
    )
    assert set(view.dense) == {"e5_cause", "e5_effect", "e7", "e8_in", "e10"}
    assert view.names == {"e8_out": ("json", "Store", "query_one"), "e11": ("UserStore.fetch_user", "JSON", "Store")}
    assert view.dense["e5_cause"] == "the table is slow"
    assert view.dense["e10"] == "Return a user by id"
    assert view.text == "users user store\ndef fetch_user(): ..."


def test_names_that_the_graph_knows_go_before_rules() -> None:
    assert make_views(EncoderInput(content="We use k8s.", entities=("Nomad",))).names["e11"] == ("Nomad",)
    assert views_of_query("do we use k8s?", ["Nomad"]).entities == ("Nomad",)
    assert views_of_query("do we use k8s?").entities == ("Kubernetes",)


@pytest.mark.req("E.05")
def test_a_questions_view_goes_to_one_side_alone() -> None:
    assert "e5_effect" in views_of_query("why does the build fail?").dense
    assert "e5_cause" not in views_of_query("why does the build fail?").dense
    assert "e5_cause" in views_of_query("what happens if the disk is full?").dense
    both = views_of_query("The build failed because the disk was full").dense
    assert both["e5_cause"] == "the disk was full" and both["e5_effect"] == "The build failed"
    assert not any(column.startswith("e5") for column in views_of_query("how do I build?").dense)


@hypothesis_settings(max_examples=examples(100))
@given(st.text(max_size=500))
def test_any_text_has_views_and_any_question_too(text: str) -> None:
    view = make_views(EncoderInput(content=text))
    assert all(view.dense.values()) and all(view.names.values())
    assert {"e7", "e10"} <= set(views_of_query(text).dense)
    assert make_views(EncoderInput(content=text)) == view


def test_a_word_without_end_is_no_name_and_is_passed_over_quickly() -> None:
    assert entity_names.find_names("A" * 20_000) == []
