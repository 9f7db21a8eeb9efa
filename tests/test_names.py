"""Names of the documents: each leads somewhere, and whoever uses one is told where."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from hyperloci import names
from hyperloci.cli.main import app
from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL
from hyperloci.model.search import Hit
from hyperloci.names import find_document_name, load_document_names, suggest_name, suggest_value
from hyperloci.retrieval.explanation import explain_scores
from hyperloci.retrieval.filters import WHERE_KEYS
from hyperloci.retrieval.query_language import KEYS
from hyperloci.retrieval.scoring import Scores
from hyperloci.sandbox.child import memory_functions
from hyperloci.spaces.space import SPACES
from hyperloci.store import Store
from hyperloci_tools.server import TOOL_SPECS
from tests import document_names_page

ROOT = Path(__file__).parent.parent
TOOLS = {spec.run.__name__: spec.run for spec in TOOL_SPECS}
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
PROMPTS = ("recall", "consolidate", "review_weak_facts", "session_summary")


def has_argument(name: str) -> bool:
    tool, _, argument = name.partition(".")
    return argument in inspect.signature(TOOLS[tool]).parameters


def is_importable(name: str) -> bool:
    """Whether a dotted name leads from a module to an attribute, or is a module."""
    parts = name.split(".")
    if parts[0] != "hyperloci_tools":
        parts.insert(0, "hyperloci")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def is_answered(name: str) -> bool:
    first, _, rest = name.partition(".")
    account = explain_scores(Scores(spaces={}, parts={}, total=0.0), ())
    return first in Hit.__dataclass_fields__ and (not rest or rest in account)


FINDERS: dict[str, Callable[[str], bool]] = {
    "tool": TOOLS.__contains__,
    "argument": has_argument,
    "where": WHERE_KEYS.__contains__,
    "condition": KEYS.__contains__,
    "command": COMMANDS.__contains__,
    "setting": Settings.__dataclass_fields__.__contains__,
    "repl": memory_functions(lambda *_: None).__contains__,
    "method": lambda name: callable(getattr(Memory, name, None)),
    "class": is_importable,
    "function": is_importable,
    "label": EDGE_TYPE_OF_LABEL.__contains__,
    "space": SPACES.__contains__,
    "answer": is_answered,
    "prompt": PROMPTS.__contains__,
    "file": lambda name: (ROOT / name).exists(),
    "page": lambda name: (ROOT / name).is_file(),
}


def test_the_target_of_every_name_exists(store: Store) -> None:
    columns: dict[str, set[str]] = {}
    for (table,) in store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns[table] = {row[1] for row in store.connection.execute(f"PRAGMA table_info({table})")}
    finders: dict[str, Callable[[str], bool]] = {
        **FINDERS,
        "table": lambda name: columns.get(name) is not None,
        "column": lambda name: name.partition(".")[2] in columns.get(name.partition(".")[0], ()),
    }
    lost = [
        f"{known.name} -> {target}"
        for known in load_document_names()
        for target in known.targets
        if not finders[target.partition(":")[0]](target.partition(":")[2])
    ]
    assert lost == []


def test_every_name_has_a_target_or_a_reason() -> None:
    assert [known.name for known in load_document_names() if not known.targets and not known.note] == []


def test_the_page_shows_the_file_of_names() -> None:
    # `python tests/document_names_page.py` writes it.
    assert document_names_page.PAGE.read_text(encoding="utf-8") == document_names_page.render_page()


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("add_learning", "tool:remember_fact"),
        ("/confirm-link", "command:confirm"),
        ("confirm_link", "command:confirm"),
        ("Memory Stats", "command:stats"),
        ("get_neighborhood()", "method:get_neighbourhood"),
    ],
)
def test_a_name_is_found_however_it_is_written(name: str, target: str) -> None:
    found = find_document_name(name)
    assert found is not None
    assert target in found.targets


def test_a_misspelt_name_is_compared_with_those_that_exist() -> None:
    assert suggest_name("serch_memory", TOOLS) == "did you mean search_memory?"
    assert suggest_name("nothing_like_it", TOOLS) == ""
    assert "remember_fact" in suggest_name("store_memory", TOOLS)


def test_every_kind_of_target_is_told_in_words() -> None:
    assert {target.partition(":")[0] for known in load_document_names() for target in known.targets} <= set(
        names._SHOWN
    )


@pytest.mark.parametrize(
    ("value", "allowed", "meant"),
    [
        ("E1Only", ["e1_only", "pipeline"], "did you mean e1_only?"),
        ("TUTORIAL", ["tutorial", "howto"], "did you mean tutorial?"),
        ("how-to", ["tutorial", "howto"], "did you mean howto?"),
        ("E7_Code", ["e1", "e7"], "'E7_Code' is the space e7 here"),
        ("code_search", ["code", "causal"], "'code_search' is the argument search_memory.profile here"),
        ("tutorail", ["tutorial", "howto"], "did you mean tutorial?"),
        ("nothing_like_it", ["tutorial", "howto"], ""),
    ],
)
def test_a_wrong_value_is_told_what_it_is_called_here(value: str, allowed: list[str], meant: str) -> None:
    assert suggest_value(value, allowed).startswith(meant)
    assert bool(suggest_value(value, allowed)) is bool(meant)


def test_a_name_of_two_things_is_the_one_that_its_place_asks_for() -> None:
    relation, table = find_document_name("temporal", ("types",)), find_document_name("temporal", ("columns",))

    assert relation is not None and relation.targets == ("label:follows",)
    assert table is not None and table.targets == ("column:nodes.event_time",)


def test_a_value_of_the_documents_is_no_hint_where_a_name_is_wrong() -> None:
    assert "Origin" not in suggest_name("user", TOOLS)
