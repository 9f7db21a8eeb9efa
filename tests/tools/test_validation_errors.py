"""What a caller is told when arguments do not fit."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from mcp.server.mcpserver.tools import Tool
from pydantic import BaseModel, Field, ValidationError

from hyperloci_tools.server import TOOL_SPECS
from hyperloci_tools.validation_errors import describe_refused_arguments, refuse_unknown_arguments


class Arguments(BaseModel):
    query: Annotated[str, Field(description="question or words", max_length=100)]
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    kind: Literal["code", "docs"] = "code"
    members: list[dict[str, str]] = []


def refused(**given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Arguments(**given)
    return describe_refused_arguments(caught.value, Arguments.model_json_schema())


def test_a_missing_argument_is_named_with_what_it_is() -> None:
    assert refused() == "query is missing: give question or words."


def test_a_number_out_of_bounds_is_named_with_its_value_and_the_bound() -> None:
    assert refused(query="x", limit=10**9) == "limit=1000000000 should be less than or equal to 50."


def test_a_word_that_is_no_choice_is_told_the_choices() -> None:
    assert refused(query="x", kind="prose") == "kind='prose' should be 'code' or 'docs'."


def test_a_choice_that_a_condition_of_the_same_name_takes_is_told_where_it_belongs() -> None:
    (search,) = (spec.build_tool() for spec in TOOL_SPECS if spec.run.__name__ == "search_memory")
    with pytest.raises(ValidationError) as caught:
        search.fn_metadata.arg_model.model_validate({"query": "x", "scope": "all"})
    message = describe_refused_arguments(caught.value, search.parameters)
    assert message == "scope='all' should be 'project' or 'team'. Did you mean where={'scope': 'all'}?"


CHOICES = [
    (tool, name, schema["enum"])
    for tool in (spec.build_tool() for spec in TOOL_SPECS)
    for name, argument in tool.parameters["properties"].items()
    for schema in (argument, *argument.get("anyOf", ()))
    if "enum" in schema
]


@pytest.mark.parametrize(("tool", "name", "allowed"), CHOICES, ids=[f"{tool.name} {name}" for tool, name, _ in CHOICES])
def test_every_choice_of_every_tool_is_told_its_own_values(tool: Tool, name: str, allowed: list[str]) -> None:
    given = dict.fromkeys(tool.parameters.get("required", ()), "x")
    with pytest.raises(ValidationError) as caught:
        tool.fn_metadata.arg_model.model_validate(given | {name: "no such word"})
    quoted = [repr(word) for word in allowed]
    message = describe_refused_arguments(caught.value, tool.parameters)
    assert f"{name}='no such word' should be {', '.join(quoted[:-1])} or {quoted[-1]}." in message


def test_a_choice_of_the_documents_is_told_what_it_is_here() -> None:
    message = refused(query="x", kind="user_info")
    assert message.startswith("kind='user_info' should be 'code' or 'docs'. 'user_info' is the tool recall_")
    assert refused(query="x", kind="doc").endswith("Did you mean docs?")
    assert "'user_info' is the" not in refused(query="x", limit="user_info")


def test_a_long_value_is_shown_by_its_beginning_and_length() -> None:
    message = refused(query="y" * 1_000_000)
    assert "(1,000,000 characters) should have at most 100 characters" in message
    assert len(message) < 200


def test_a_place_inside_an_argument_is_named() -> None:
    assert refused(query="x", members=[{"id": 3}]) == "members.0.id=3 should be a valid string."


def test_several_faults_are_told_at_once() -> None:
    message = refused(query="x", limit=0, kind="prose")
    assert "limit=0" in message
    assert "kind='prose'" in message


def test_an_unknown_argument_is_told_the_known_ones_and_the_nearest() -> None:
    message = refuse_unknown_arguments("search", ["qery"], Arguments.model_json_schema())
    assert message == "search has no argument 'qery'; it takes query, limit, kind, members. Did you mean query?"


def test_an_unknown_argument_is_taken_for_the_one_that_is_missing() -> None:
    message = refuse_unknown_arguments("search", ["text", "limit"], Arguments.model_json_schema())
    assert message is not None and message.endswith("Did you mean query?")


def test_an_argument_of_this_tool_is_meant_before_a_word_of_the_documents() -> None:
    schema = {"properties": {"topic": {}, "relationship": {}}, "required": ["topic"]}
    message = refuse_unknown_arguments("find_related", ["topic", "relation"], schema)
    assert message is not None and message.endswith("Did you mean relationship?")


def test_every_unknown_argument_is_told_what_it_is_called() -> None:
    schema = {"properties": {"query": {}, "max_tokens": {}}, "required": ["query"]}
    message = refuse_unknown_arguments("get_context", ["prompt", "token_budget", "max_token"], schema)
    assert message is not None
    told = message.partition(" 'prompt' is ")[2]
    assert told.startswith("the argument get_context.query here. 'token_budget' is the argument get_context.max_tokens")
    assert told.endswith(" 'max_token': did you mean max_tokens?")


def test_a_name_of_the_documents_is_not_taken_for_one_that_is_hardly_alike() -> None:
    schema = {"properties": {"query": {}, "after": {}}, "required": ["query"]}
    message = refuse_unknown_arguments("search", ["query", "category"], schema)
    assert message is not None and "'category' is the argument remember_fact.category" in message


def test_known_arguments_are_not_complained_of() -> None:
    assert refuse_unknown_arguments("search", ["query", "limit"], Arguments.model_json_schema()) is None


def test_a_tool_without_arguments_says_so() -> None:
    assert (
        refuse_unknown_arguments("stats", ["x"], {"type": "object"})
        == "stats has no argument 'x'; it takes no arguments."
    )
