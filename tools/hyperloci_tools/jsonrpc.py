"""JSON-RPC reader: parses a client's line into messages, or refuses it with an error that says what to change.

The SDK drops lines that it can't parse, and takes a request whose id is `null` or `1.5` for a notification: the sender
would wait for ever. So every line is read here first. Valid JSON is read, with U+FFFD for halves of surrogate pairs (as
browsers and Node write them); anything else is refused, with the request's id if it can be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from hyperloci.system.values import dataclass

MAX_LINE_BYTES: Final = 8 << 20
"""The longest message: some hundred times the longest memory, with every character escaped."""

SEEN_BYTES: Final = 64 << 10
"""Bytes at the beginning and end of a longer line that are searched for its id."""

MAX_TOKENS: Final = 300_000
"""Strings and brackets searched for the id of a line that is not JSON: takes under a second."""

MAX_BATCH: Final = 100
"""Messages of one array that are refused individually, each with its id."""

MAX_ID_CHARS: Final = 1_000
"""The longest id that is accepted; the SDK counts up from 0."""

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

_BOM: Final = b"\xef\xbb\xbf"

_MAY_BE_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")

_ESCAPE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""An escape of a JSON string: a surrogate pair, half of one, or any other."""

_STRUCTURE: Final = re.compile(rb'"(?>(?:[^"\\]++|\\(?:.|\Z))*)(?:"|\Z)|[\[{]+|[\]}]+', re.DOTALL)
"""Strings and brackets. An unterminated string goes to the end, so that nothing is scanned twice."""

_ID_VALUE: Final = re.compile(rb'\s*:\s*(-?[0-9]{1,1000}(?![0-9.eE])|"(?>(?:[^"\\]++|\\.){0,1000})")', re.DOTALL)

_ID_AT_END: Final = re.compile(
    rb'"id"\s{0,100}:\s{0,100}(-?[0-9]{1,1000}|"(?>(?:[^"\\]++|\\.){0,1000})")\s{0,100}\}\s{0,100}\Z', re.DOTALL
)

_NOT_A_NUMBER: Final = re.compile(rb"-?(?:NaN|Infinity)")

_REASONS: Final = (
    ("recursion limit", "it is nested more than 200 levels deep: use fewer levels"),
    ("number out of range", "a number has more than 4,300 digits: send it as a string"),
    ("control character", "a string contains a control character: escape it, as in \\u0001"),
    ("EOF while parsing", "it ends in the middle: send each message whole, on one line"),
)
"""Errors of `from_json` that programs cause, each with what to change."""


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line, or one message of it, that can't be used.

    Attributes:
        id: of the request, if it can be found.
        code: the JSON-RPC error code.
        message: what to change.
    """

    id: RequestId | None
    code: int
    message: str

    def to_error(self) -> JSONRPCError:
        """Return the answer."""
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=ErrorData(code=self.code, message=self.message))


def read_messages(line: bytes) -> Iterator[JSONRPCMessage | RefusedLine]:
    """Yield the messages of a line: usually one; none for a blank line or an invalid response."""
    line = line.removeprefix(_BOM).strip()
    if not line:
        return
    try:
        value, mended = _parse_line(line)
    except ValueError as error:
        yield RefusedLine(
            id_in(line), PARSE_ERROR, f"This line is not a JSON-RPC message: {_explain_parse_error(error, line)}."
        )
        return
    if isinstance(value, list):
        yield from _refuse_batch(value)
    else:
        yield from _parse_message(value, mended=mended)


def too_long(head: bytes, tail: bytes) -> RefusedLine:
    """Return the refusal of a line longer than `MAX_LINE_BYTES`, given its beginning and end."""
    found = id_in(head)
    if found is None:
        found = _id_at_end(tail)
    size = f"{MAX_LINE_BYTES >> 20} MiB"
    return RefusedLine(found, INVALID_REQUEST, f"The message is longer than {size}: send a shorter one.")


def id_in(line: bytes) -> RequestId | None:
    """Return the `id` of the outermost object of a line, which need not be valid JSON; None if there is none."""
    depth = 0
    for number, token in enumerate(_STRUCTURE.finditer(line)):
        if number == MAX_TOKENS:
            return _id_at_end(line[-SEEN_BYTES:])
        first = token[0][:1]
        if first in b"[{":
            depth += len(token[0])
        elif first in b"]}":
            depth -= len(token[0])
        elif depth == 1 and token[0] == b'"id"':
            value = _ID_VALUE.match(line, token.end())
            if value is not None:
                return _id_value(value[1])
    return None


def _id_at_end(tail: bytes) -> RequestId | None:
    """Return the id at the very end of a line, as the last member of the outermost object."""
    found = _ID_AT_END.search(tail)
    return None if found is None else _id_value(found[1])


def _id_value(text: bytes) -> RequestId | None:
    try:
        value = from_json(text)
    except ValueError:
        return None
    return value if _is_id(value) else None


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARS
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MAX_ID_CHARS


def _parse_line(line: bytes) -> tuple[Any, bool]:
    """Return the parsed line, and whether halves of surrogate pairs were replaced in it.

    Raises:
        ValueError: it is not JSON, or exceeds a limit.
    """
    try:
        return from_json(line, allow_inf_nan=False), False
    except ValueError:
        if _MAY_BE_HALF.search(line) is not None:
            return from_json(_ESCAPE.sub(_replace_half_surrogates, line), allow_inf_nan=False), True
        raise


def _replace_half_surrogates(escape: re.Match[bytes]) -> bytes:
    return escape[0] if escape["half"] is None else b"\\ufffd"


def _explain_parse_error(error: ValueError, line: bytes) -> str:
    said = str(error)
    if _NOT_A_NUMBER.match(line, _error_offset(said)):
        return "NaN and Infinity are not valid JSON: send null"
    if "unicode code point" in said:
        return "it is not UTF-8: encode it as UTF-8"
    return next((reason for sign, reason in _REASONS if sign in said), f"{said}: send one JSON object per line")


def _error_offset(said: str) -> int:
    """Return the offset at which a line stops being JSON, from the column in the error message."""
    column = re.search(r"column ([0-9]{1,9})\Z", said)
    return 0 if column is None else max(0, int(column[1]) - 1)


def _refuse_batch(messages: list[Any]) -> Iterator[JSONRPCMessage | RefusedLine]:
    """Refuse an array of messages; each request in it gets an answer with its own id."""
    why = "Arrays of messages are not part of this protocol: send one message per line."
    asking = [one["id"] for one in messages if isinstance(one, dict) and "method" in one and _is_id(one.get("id"))]
    for request_id in asking[:MAX_BATCH]:
        yield RefusedLine(request_id, INVALID_REQUEST, why)
    if len(asking) != len(messages) or len(asking) > MAX_BATCH or not asking:
        yield RefusedLine(None, INVALID_REQUEST, why)


def _parse_message(value: Any, *, mended: bool) -> Iterator[JSONRPCMessage | RefusedLine]:
    if not isinstance(value, dict):
        yield RefusedLine(None, INVALID_REQUEST, f"A message must be a JSON object, not {_shorten_value(value)}.")
        return
    if "method" not in value and ("result" in value or "error" in value):
        # A response must not be answered.
        try:
            yield jsonrpc_message_adapter.validate_python(value, by_name=False)
        except ValidationError:
            return
        return
    request_id = value.get("id")
    known = request_id if _is_id(request_id) and not (mended and REPLACEMENT in str(request_id)) else None
    fault = _describe_fault(value, known)
    if fault is not None:
        yield RefusedLine(known, *fault)
    elif "id" in value:
        yield JSONRPCRequest(jsonrpc="2.0", id=known, method=value["method"], params=value.get("params"))  # type: ignore[arg-type]
    else:
        yield JSONRPCNotification(jsonrpc="2.0", method=value["method"], params=value.get("params"))


def _describe_fault(value: dict[str, Any], known: RequestId | None) -> tuple[int, str] | None:
    if value.get("jsonrpc") != "2.0":
        return INVALID_REQUEST, 'A message must have "jsonrpc": "2.0".'
    if not isinstance(value.get("method"), str):
        return INVALID_REQUEST, f"method must be a string, not {_shorten_value(value.get('method'))}."
    if "id" in value and known is None:
        return (
            INVALID_REQUEST,
            f"id must be a whole number or a string of at most {MAX_ID_CHARS:,} whole characters, not"
            f" {_shorten_value(value['id'])};"
            " leave it out if you want no answer.",
        )
    if not isinstance(value.get("params", {}), dict | None):
        return INVALID_PARAMS, f"params must be an object, not {_shorten_value(value['params'])}."
    return None


def _shorten_value(value: object) -> str:
    kind = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kind.get(type(value), "a number")


def make_encodable(value: Any, depth: int = 100) -> Any:
    """Return a copy of a value that can be encoded as JSON and UTF-8.

    Halves of surrogate pairs become U+FFFD, values nested more than `depth` levels deep an ellipsis, and values that
    JSON has no form for their text.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, dict):
        return {make_encodable(str(key), depth): make_encodable(member, depth - 1) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [make_encodable(member, depth - 1) for member in value]
    return make_encodable(str(value), depth)
