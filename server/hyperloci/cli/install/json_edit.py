"""JSON editor: changes a JSON document in its text, so that everything else keeps its bytes.

Parsing and dumping again would reformat a person's settings: arrays written on one line, escapes, number forms,
doubled keys. `patch_text` compares the wanted value with the parsed one and rewrites only the members that differ, in
the document's own indentation, line ends and spacing.

Some programs allow comments and a comma after the last member in their settings: `parse_lenient` reads them, and what
is rewritten keeps them.

Laws (tested): `loads(patch(text, value)) == value`, and `patch(text, loads(text)) == text`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperloci.system.values import dataclass

JsonObject = dict[str, Any]

DEFAULT_INDENT: Final = "  "
"""What Claude Code itself writes; used where the document has no line to learn from."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOKEN: Final = re.compile(r'"(?>(?:[^"\\]++|\\.)*)"?|//[^\r\n]*|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/)?', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'"(?>(?:[^"\\]++|\\.)*)"?|,(?=[ \t\n\r]*+[}\]])')
_NOT_BREAK: Final = re.compile(r"[^\r\n]")


def parse_strict(text: str) -> Any:
    """Parse strict JSON: no comments, no NaN or Infinity. A text of nothing but white space is an empty object.

    Raises:
        ValueError: the text is not JSON; the message says where.
    """
    if not text.strip(" \t\r\n"):
        return {}
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse_lenient(text: str) -> Any:
    """Parse JSON that may have comments, and a comma after a last member.

    Raises:
        ValueError: the text is not even that.
    """
    return parse_strict(_blank_extras(text))


def patch_text(text: str, value: Any) -> str:
    """Rewrite a JSON text so that it says `value`, touching only what differs; comments stay.

    Raises:
        ValueError: the text is not JSON, or a comment stands where something is to be written.
    """
    if not text.strip(" \t\r\n"):
        text = "{}\n"
    plain = _blank_extras(text)
    old = parse_strict(plain)
    if _is_same_value(old, value):
        return text
    start = _skip_space(plain, 0)
    if start == len(plain):
        raise ValueError("it holds nothing but a comment")
    _, end = _DECODER.raw_decode(plain, start)
    body = text[start:end]
    return text[:start] + _patch_value(body, old, value, _JsonStyle.detect(text, body), "") + text[end:]


def keep_empty(before: str, after: str, original: str) -> str:
    """Return an edited text with the empty objects and arrays that an earlier text of it had and the edit took away.

    Args:
        before, after: the text and what an edit made of it.
        original: the earlier text.

    Raises:
        ValueError: one of them is not JSON.
    """
    old, new, first = (parse_lenient(text) for text in (before, after, original))
    return patch_text(before, _with_empty(old, new, first))


def _with_empty(old: Any, new: Any, first: Any) -> Any:
    if not (isinstance(old, dict) and isinstance(new, dict) and isinstance(first, dict)):
        return new
    kept = {key: _with_empty(old.get(key), value, first.get(key)) for key, value in new.items()}
    gone = {key: value for key, value in first.items() if key in old and key not in new and _is_empty(value)}
    return kept | gone


def _is_empty(value: Any) -> bool:
    """Whether a value is an empty object or array, or an object of nothing else."""
    return value == [] or (isinstance(value, dict) and all(map(_is_empty, value.values())))


def _blank_extras(text: str) -> str:
    """Return a text of the same length with spaces for comments and for commas after a last member."""
    plain = _TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else _NOT_BREAK.sub(" ", found[0]), text)
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", plain)


def _has_comment(space: str) -> bool:
    return bool(space.strip(" \t\r\n,"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _JsonStyle:
    """How a document is laid out; `unit` is one level of indentation, None where all stands on one line."""

    unit: str | None
    newline: str
    comma: str
    colon: str

    @classmethod
    def detect(cls, text: str, body: str) -> _JsonStyle:
        newline = "\r\n" if "\r\n" in text else "\n"
        items = _split_items(body)[0] if body[0] in "{[" else []
        if not items:
            return cls(unit=DEFAULT_INDENT, newline=newline, comma=",", colon=": ")
        lead = _keep_spacing(items[0].lead)
        unit = lead.rpartition("\n")[2] if "\n" in lead else None
        spaced = any(item.prefix.endswith((" ", "\t")) for item in items)
        return cls(
            unit=unit, newline=newline, comma=", " if spaced and unit is None else ",", colon=": " if spaced else ":"
        )

    def render_value(self, value: Any, indent: str) -> str:
        if self.unit is None:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return text.replace("\n", self.newline + indent)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JsonItem:
    """A member of an object or array as it is written: `lead` + `prefix` + `body` + `trail`, then a comma.

    `prefix` is the key with its colon; it and `key` are empty in an array. A `new` item has no `lead` of its own;
    `place` counts the others as they stood.
    """

    lead: str = ""
    key: str = ""
    prefix: str = ""
    body: str
    value: Any
    trail: str = ""
    new: bool = False
    place: int = -1


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _skip_space(text: str, position: int) -> int:
    matched = _SPACE.match(text, position)
    return matched.end() if matched else position


def _is_same_value(left: Any, right: Any) -> bool:
    # Through text, because to Python 1, 1.0 and True are equal.
    return json.dumps(left) == json.dumps(right)


def _split_items(body: str) -> tuple[list[_JsonItem], str]:
    """Split the text of an object or array into its items and the white space before the closing bracket."""
    items: list[_JsonItem] = []
    plain = _blank_extras(body)
    position = 1
    while True:
        start = _skip_space(plain, position)
        lead = body[position:start]
        if plain[start] in "}]":
            return items, lead
        key, value_start = _read_key(plain, start) if body[0] == "{" else ("", start)
        value, end = _DECODER.raw_decode(plain, value_start)
        stop = _skip_space(plain, end)
        last = plain[stop] != ","
        items.append(
            _JsonItem(
                lead=lead,
                key=key,
                prefix=body[start:value_start],
                body=body[value_start:end],
                value=value,
                trail="" if last else body[end:stop],
                place=len(items),
            )
        )
        if last:
            return items, body[end:stop]
        position = stop + 1


def _read_key(body: str, start: int) -> tuple[str, int]:
    key, end = _DECODER.raw_decode(body, start)
    return key, _skip_space(body, _skip_space(body, end) + 1)


def _patch_value(body: str, old: Any, new: Any, style: _JsonStyle, indent: str) -> str:
    if _is_same_value(old, new):
        return body
    both_objects = isinstance(old, dict) and isinstance(new, dict)
    both_arrays = isinstance(old, list) and isinstance(new, list)
    if not (both_objects or both_arrays):
        return style.render_value(new, indent)
    items, closing = _split_items(body)
    if not items:
        if _has_comment(closing):
            raise ValueError("a comment stands in an empty object or array that is to be filled")
        return style.render_value(new, indent)
    lead = _keep_spacing(items[0].lead)
    inner = lead.rpartition("\n")[2] if "\n" in lead else indent + (style.unit or "")
    merge = _merge_object if both_objects else _merge_array
    return _join_items(body, items, list(merge(items, new, style, inner)), closing)


def _merge_object(
    items: Sequence[_JsonItem], new: Mapping[str, Any], style: _JsonStyle, indent: str
) -> Iterator[_JsonItem]:
    last = {item.key: index for index, item in enumerate(items)}
    for index, item in enumerate(items):
        if item.key not in new:
            continue
        # Of a doubled key the last one counts; the ones before it are somebody's text and stay.
        yield item if last[item.key] != index else _rewrite_item(item, new[item.key], style, indent)
    for key, value in new.items():
        if key not in last:
            prefix = json.dumps(key, ensure_ascii=False) + style.colon
            yield _JsonItem(key=key, prefix=prefix, body=style.render_value(value, indent), value=value, new=True)


def _merge_array(items: Sequence[_JsonItem], new: Sequence[Any], style: _JsonStyle, indent: str) -> Iterator[_JsonItem]:
    shorter = min(len(items), len(new))
    head = 0
    while head < shorter and _is_same_value(items[head].value, new[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _is_same_value(items[-1 - tail].value, new[-1 - tail]):
        tail += 1
    yield from items[:head]
    middle = items[head : len(items) - tail]
    for index, value in enumerate(new[head : len(new) - tail]):
        if index < len(middle):
            yield _rewrite_item(middle[index], value, style, indent)
        else:
            yield _JsonItem(body=style.render_value(value, indent), value=value, new=True)
    yield from items[len(items) - tail :]


def _rewrite_item(item: _JsonItem, value: Any, style: _JsonStyle, indent: str) -> _JsonItem:
    return replace(item, body=_patch_value(item.body, item.value, value, style, indent), value=value)


def _join_items(body: str, before: Sequence[_JsonItem], after: Sequence[_JsonItem], closing: str) -> str:
    """Put items together again; a new one is set apart as its neighbours are.

    A comment behind the last item stays behind it when another follows, and a comment before an item that goes stays.
    """
    first = _keep_spacing(before[0].lead)
    spaced = " " if before[0].prefix.endswith(" ") else ""
    between = _keep_spacing(before[-1].lead) if len(before) > 1 else first if "\n" in first else spaced
    orphaned = _collect_orphans(before, after)
    if not after:
        return body[0] + orphaned.get(len(before), "") + (closing if orphaned else "") + body[-1]
    beside, grows = "", after[-1].new and after[:-1] and before[-1].place in [item.place for item in after]
    if grows and _has_comment(closing):
        beside, closing = _split_closing(closing)
    text = body[0]
    for index, item in enumerate(after):
        if item.new:
            lead = beside + (between if index else first)
            beside = ""
        else:
            kept = orphaned.get(item.place, "")
            lead = kept + (item.lead if index or kept or item.place == 0 else first)
        text += ("," if index and not lead.startswith(",") else "") + lead + item.prefix + item.body + item.trail
    rest = orphaned.get(len(before), "")
    if rest and closing.startswith(","):
        return text + "," + rest + closing[1:] + body[-1]
    return text + rest + closing + body[-1]


def _keep_spacing(lead: str) -> str:
    """Return the white space between two items without the comments in it."""
    if not _has_comment(lead):
        return lead
    head, found, tail = lead.rpartition("\n")
    indent = tail[: len(tail) - len(tail.lstrip(" \t"))]
    return ("\r\n" if head.endswith("\r") else "\n") + indent if found else " "


def _split_closing(closing: str) -> tuple[str, str]:
    """Split what follows a last item into a comment on its line (with the comma before it) and the rest."""
    head, found, rest = closing.partition("\n")
    if not _has_comment(head) or not found:
        return "", closing
    comma = "," if head.lstrip(" \t").startswith(",") else ""
    end = "\r" if head.endswith("\r") else ""
    return head.removesuffix("\r"), f"{comma}{end}\n{rest}"


def _collect_orphans(before: Sequence[_JsonItem], after: Sequence[_JsonItem]) -> dict[int, str]:
    """Return the comments before items that go, by the place of the next item that stays, or of the end."""
    staying = {item.place for item in after}
    found: dict[int, str] = {}
    held = ""
    for item in before:
        if item.place not in staying and _has_comment(item.lead):
            held += item.lead.rstrip(" \t\r\n")
        elif item.place in staying and held:
            found[item.place], held = held, ""
    if held:
        found[len(before)] = held
    return found
