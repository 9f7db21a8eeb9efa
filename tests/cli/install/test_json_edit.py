"""Patching JSON in its text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.cli.install import json_edit
from tests.support import examples

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé"\\ \n', max_size=4),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text("abc", max_size=2), children, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text("abc", max_size=2), _VALUES, max_size=5)
_LAYOUTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"indent": 2}, {"indent": "\t"}, {}, {"separators": (",", ":")}, {"indent": 4, "separators": (" ,", " : ")}]
)
_SPACE = st.sampled_from(["", "\n", "  \n", "\r\n"])


def _exact(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@settings(max_examples=examples(150))
@given(old=_OBJECTS, new=_OBJECTS, layout=_LAYOUTS, tail=_SPACE)
def test_the_patched_text_says_the_new_value(
    old: dict[str, Any], new: dict[str, Any], layout: dict[str, Any], tail: str
) -> None:
    text = json.dumps(old, **layout) + tail
    patched = json_edit.patch_text(text, new)
    assert _exact(json_edit.parse_strict(patched)) == _exact(new)
    assert patched.endswith(tail)


@settings(max_examples=examples(80))
@given(value=_OBJECTS, layout=_LAYOUTS, head=_SPACE, tail=_SPACE)
def test_patching_with_the_same_value_changes_no_byte(
    value: dict[str, Any], layout: dict[str, Any], head: str, tail: str
) -> None:
    text = head + json.dumps(value, **layout) + tail
    assert json_edit.patch_text(text, value) == text


@settings(max_examples=examples(80))
@given(value=_OBJECTS.filter(bool), added=_VALUES, layout=_LAYOUTS)
def test_adding_a_member_and_removing_it_gives_the_text_back(
    value: dict[str, Any], added: Any, layout: dict[str, Any]
) -> None:
    text = json.dumps(value, **layout)
    assert json_edit.patch_text(json_edit.patch_text(text, {**value, "zz": added}), value) == text


def test_what_is_not_touched_keeps_its_odd_layout() -> None:
    text = '{\n\t"a" : [1,2,\n 3], "b":"\\u00e9", "n": 1.50e2,\n\t"a2": {}\n}\n'
    patched = json_edit.patch_text(text, {**json_edit.parse_strict(text), "new": {"k": 1}})
    assert patched == text.removesuffix("\n}\n") + ',\n\t"new": {\n\t\t"k": 1\n\t}\n}\n'


def test_a_member_is_added_in_the_documents_indentation() -> None:
    text = '{\n    "a": {\n        "x": 1\n    }\n}'
    patched = json_edit.patch_text(text, {"a": {"x": 1, "y": {"z": [True]}}})
    assert patched == (
        '{\n    "a": {\n        "x": 1,\n        "y": {\n            "z": [\n                true\n            ]\n'
        "        }\n    }\n}"
    )


def test_windows_line_ends_are_kept() -> None:
    patched = json_edit.patch_text('{\r\n  "a": 1\r\n}\r\n', {"a": 1, "b": {"c": 2}})
    assert patched == '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}', '{"a":1,"b":[1,2]}'),
        ('{"a": 1}', '{"a": 1, "b": [1, 2]}'),
        ("{}", '{\n  "b": [\n    1,\n    2\n  ]\n}'),
    ],
    ids=["minified", "one line", "empty"],
)
def test_a_document_on_one_line_stays_on_it(text: str, expected: str) -> None:
    assert json_edit.patch_text(text, {**json.loads(text), "b": [1, 2]}) == expected


def test_an_element_taken_from_the_middle_leaves_its_neighbours() -> None:
    text = '{"list": [ {"n":1},  {"n":2},\n {"n":3} ]}'
    assert json_edit.patch_text(text, {"list": [{"n": 1}, {"n": 3}]}) == '{"list": [ {"n":1},\n {"n":3} ]}'
    assert json_edit.patch_text(text, {"list": [{"n": 3}]}) == '{"list": [ {"n":3} ]}'
    assert json_edit.patch_text(text, {"list": []}) == '{"list": []}'


def test_of_a_doubled_key_the_one_that_counts_is_changed() -> None:
    assert json_edit.patch_text('{"a": 1, "a": 2}', {"a": 3}) == '{"a": 1, "a": 3}'
    assert json_edit.patch_text('{"a": 1, "a": 2, "b": 0}', {"b": 0}) == '{"b": 0}'


def test_true_and_one_are_different_values() -> None:
    assert json_edit.patch_text('{"a": 1}', {"a": True}) == '{"a": true}'


def test_an_empty_text_counts_as_an_empty_object() -> None:
    assert json_edit.patch_text(" \n", {"a": 1}) == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize("text", ['{"a": 1,}', "// c\n{}", '{"a": NaN}', "{'a': 1}", '{"a": 1} x', "[" * 100_000])
def test_what_is_not_plain_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_edit.parse_strict(text)


COMMENTED = """\
// My settings.
{
  "theme": "dark", // easy on the eyes
  /* servers */
  "mcpServers": {
    "github": { "command": "gh-mcp", }, // ours
  },
  "list": [1, 2,],
  "url": "https://example.com/*not*/a//comment" // the last one
}
// the end
"""

VARIANTS = (
    COMMENTED,
    COMMENTED.replace("\n", "\r\n"),
    COMMENTED.replace('comment" //', 'comment", //'),
    '{"a": 1 /* one */, "b": [ /* none */ ]}',
    '{\n\t"a": 1,\n\t// "b": 2,\n}\n',
    '{ "a": 1 } // done',
)


@pytest.mark.parametrize("text", VARIANTS)
def test_what_is_added_to_a_file_with_comments_leaves_every_other_byte_and_goes_without_a_trace(text: str) -> None:
    value = json_edit.parse_lenient(text)
    added = {**value, "hooks": {"Stop": [1, {"x": "y"}]}}
    if "mcpServers" in value:
        added["mcpServers"] = {**value["mcpServers"], "ours": {"command": "c"}}
    patched = json_edit.patch_text(text, added)
    assert json_edit.parse_lenient(patched) == added
    assert json_edit.patch_text(patched, value) == text


def test_a_comment_behind_the_last_member_stays_on_its_line() -> None:
    value = json_edit.parse_lenient(COMMENTED)
    patched = json_edit.patch_text(COMMENTED, {**value, "more": True})
    assert '"https://example.com/*not*/a//comment", // the last one\n  "more": true\n}' in patched


def test_a_comment_where_something_is_to_be_written_is_left_alone() -> None:
    with pytest.raises(ValueError, match="comment"):
        json_edit.patch_text('{"hooks": { /* none */ }}', {"hooks": {"a": 1}})
    with pytest.raises(ValueError, match="comment"):
        json_edit.patch_text("// nothing yet\n", {"a": 1})
