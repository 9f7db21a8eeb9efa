"""What the reference memory server keeps, as it writes it."""

from __future__ import annotations

import json

import pytest

from hyperloci.errors import BadRequestError
from hyperloci.facts.importers.mcp_memory import is_graph, read_graph
from hyperloci.model.imported_memory import ImportedEntity, ImportedRelation

LINES = """{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks Spanish","Is John_Smith"]}
{"type":"entity","name":"Anthropic","entityType":"organization","observations":[]}

{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"works_at"}
"""


def test_lines_are_things_what_was_observed_of_them_and_relations() -> None:
    memory = read_graph(LINES)
    assert memory.format == "server-memory"
    assert memory.things == (ImportedEntity("John_Smith", "person", 1), ImportedEntity("Anthropic", "organization", 2))
    assert [(fact.text, fact.line, fact.about) for fact in memory.facts] == [
        ("John_Smith: Speaks Spanish", 1, ("John_Smith",)),
        ("Is John_Smith", 1, ("John_Smith",)),
    ]
    assert memory.relations == (ImportedRelation(source="John_Smith", target="Anthropic", label="works_at", line=4),)


def test_the_answer_of_its_tool_is_read_too() -> None:
    rows = [json.loads(line) for line in LINES.splitlines() if line]
    whole = json.dumps({"entities": rows[:2], "relations": rows[2:]}, indent=2)
    memory = read_graph(whole)
    assert (len(memory.things), len(memory.facts), len(memory.relations)) == (2, 2, 1)
    assert read_graph('{"entities": []}').things == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 5: not JSON"),
        ("[" * 100_000, "line 5: not JSON"),
        ("7", "line 5: 7 is not an object"),
        ('{"type": "thing"}', "line 5: type='thing' is unknown: use entity or relation"),
        ('{"type": "entity"}', "line 5: name=None must be a text"),
        ('{"type": "entity", "name": " "}', "line 5: name=' ' must be a text"),
        ('{"type": "entity", "name": "a", "entityType": 3}', "line 5: entityType=3 must be a text"),
        ('{"type": "entity", "name": "a", "observations": "b"}', "line 5: observations='b' must be a list"),
        ('{"type": "entity", "name": "a", "observations": [1]}', "line 5: observations has 1, which is not a text"),
        ('{"type": "relation", "from": "a", "to": "b"}', "line 5: relationType=None must be a text"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(line: str, message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        read_graph(LINES + line)


def test_other_json_is_none_of_it() -> None:
    assert is_graph({"type": "entity"}) and is_graph({"entities": []})
    others: tuple[object, ...] = ({"type": "x"}, {"entities": 1}, [], None, "entity")
    assert not any(is_graph(value) for value in others)
