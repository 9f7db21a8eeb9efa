"""What is fuzzed, with which inputs, and what must hold: shared by the long run and the tests.

A target takes one input. It may refuse it with an error of ours; anything else that it raises is a defect, and so is
taking longer than `HANG_SECONDS` of processor time.
"""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from bench._pump import TooLongError, limit_seconds
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.capture.transcript import read_batch
from hyperloci.conversations.consolidation.heuristics import extract_findings
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER, TurnView
from hyperloci.embedder import protocol
from hyperloci.errors import HyperlociError
from hyperloci.facts.importers.markdown_notes import read_notes
from hyperloci.facts.importers.mcp_memory import read_graph
from hyperloci.indexing.tree_walk import IndexableFile, check_file
from hyperloci.knowledge.contradictions.claims import analyse_statements
from hyperloci.knowledge.contradictions.rules import find_verdict
from hyperloci.knowledge.entities.recognition import extract_entities
from hyperloci.memory import Memory
from hyperloci.model.compact_turn_format import decode_turns, encode_turns
from hyperloci.retrieval.intent import classify_intent, estimate_effort
from hyperloci.retrieval.query_language import parse_query
from hyperloci.retrieval.relevance import find_excerpt, query_from_prompt
from hyperloci.retrieval.routing import plan_route
from hyperloci.spaces.query_views import views_of_query
from hyperloci.spaces.views import EncoderInput, make_views
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.programming_languages import LANGUAGES
from hyperloci.text.language.relative_dates import find_relative_dates
from hyperloci.text.sanitize.prompt_injection import find_injection_flags
from hyperloci.text.sanitize.sanitizer import sanitize
from hyperloci_hooks.events import EVENTS
from hyperloci_hooks.io import get_text, parse_object

HANG_SECONDS = 2.0

GIVEN_UP = 5
"""Times so long, a target is ended: what never ends must be told too."""

NOW = 1_800_000_000_000

EXTENSIONS = tuple(sorted({extension for language in LANGUAGES for extension in language.extensions}))

Target = Callable[[Any], None]


class DefectError(AssertionError):
    """What a target did with an input that it may not do."""


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """One thing that is fuzzed: what makes inputs, and what opens the target in a folder of its own."""

    inputs: st.SearchStrategy[Any]
    opened: Callable[[Path], Any]


def try_input(target: Target, value: Any) -> None:
    """Give a target one input.

    Raises:
        DefectError: it hung.
        BaseException: whatever it raised that is no error of ours.
    """
    started = time.process_time()
    try:
        with limit_seconds(GIVEN_UP * HANG_SECONDS):
            target(value)
    except TooLongError:
        pass  # Told below, as what ends by itself too late is.
    except HyperlociError as error:
        if not str(error).strip():
            raise DefectError("an error without a word") from error
    seconds = time.process_time() - started
    if seconds > HANG_SECONDS:
        raise DefectError(f"took {seconds:.1f} s of processor time")


# -- inputs -----------------------------------------------------------------------------------------------------------

odd = st.sampled_from(
    [
        "\x00",
        "\ufeff",
        "\u200b",
        "\u202e",
        "\r",
        "\x85",
        "\u2028",
        "\ud800",
        "\U0010ffff",
        "é",
        "ß",
        "İ",
        "﷽",
        "¶",
        "\\",
    ]
)
words = st.sampled_from(
    [
        "def",
        "class",
        "if",
        "function",
        "return",
        "import",
        "the",
        "a",
        "token",
        "password",
        "=",
        ":",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
        "`",
        "#",
        "-",
        "*",
        "|",
        ">",
        "<",
    ]
)
text = st.text(max_size=20) | odd | words


RUNS: tuple[str, ...] = (
    *(" ", "\t", "\n", "\r", " \n", "a", "A", "1", "_", "é", ".", ". ", "a.", "1.", "a ", "a, ", "a-", "a_", "a/"),
    *("a:", "::", "(", ")", "<", ">", "[", "]", "{", "}", "[](", "](", "a(", "a<", "**", "*", "+", "-", "- ", "="),
    *("a=", "#", "# ", "|", "/", "\\", "&", ";", "@", "a@", "$", "`", "'", '"', "> ", "http://", "<http://"),
    *("import ", "def ", "because "),
)
"""What a text may have in a row by thousands; a pattern that looks for its end from every beginning is slow."""

RUN_CHARS = 20_000


def joined_texts(*pieces: str, size: int = 40) -> st.SearchStrategy[str]:
    """Return texts of pieces, odd characters and words, some repeated often."""
    piece = st.sampled_from(pieces) | text
    many = st.tuples(piece, st.sampled_from([1, 1, 1, 2, 7, 300])).map(lambda pair: pair[0] * pair[1])
    return st.lists(many, max_size=size).map("".join)


markdown = joined_texts(
    "# ",
    "## ",
    "###### ",
    "\n",
    "\n\n",
    "- ",
    "  - ",
    "1. ",
    "> ",
    "```\n",
    "~~~py\n",
    "    ",
    "|a|b|\n",
    "|-|-|\n",
    "---\n",
    "===\n",
    "+++\n",
    "[x](y.md)",
    "[x]: y\n",
    "[x](http://[::1/a)",
    "<http://[",
    "![",
    "](",
    "<div>\n",
    "</div>",
    "<!--",
    "-->",
    "**",
    "_",
    "\\",
    "<private>",
    "</private>",
    "&amp;",
    "https://a.b/c(d)",
    "name: x\n",
    "type: user\n",
)

code = joined_texts(
    "\n",
    "\n    ",
    "\t",
    "def f(x):\n",
    "class A(B):\n",
    "async ",
    "@dec\n",
    '"""',
    "'''",
    "f'{",
    "}",
    "function f() {",
    "=> {",
    "export default ",
    "template<typename T>",
    "namespace a {",
    "#include <x>\n",
    "#ifdef A\n",
    "#endif\n",
    "impl X for Y {",
    "fn f<'a>(",
    "func (r *T) F() {",
    "package a\n",
    "begin\n",
    "end\n",
    "CREATE TABLE t (",
    ");\n",
    "<?php\n",
    "?>",
    "case x:\n",
    "/*",
    "*/",
    "//",
    "--",
    "#!/bin/bash\n",
    "<<EOF\n",
    "EOF\n",
    "import a from 'b'\n",
    "from a import b\n",
    "<A b={c}>",
    "</A>",
    'R"x(',
    ')x"',
    "$(",
    "${",
    "`",
    "'",
    '"',
)

paths = st.sampled_from(
    [*(f"a{extension}" for extension in EXTENSIONS), "Makefile", "a.toml", "a.json", "a.rst", "a", ""]
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=8,
)

block = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]) | anything,
        "text": text | anything,
        "id": st.sampled_from(["t1", "t2"]) | anything,
        "tool_use_id": st.sampled_from(["t1", "t2"]) | anything,
        "name": st.sampled_from(["Bash", "Edit", "Write", "Read", "Task"]) | anything,
        "input": st.dictionaries(st.sampled_from(["command", "file_path", "content", "old_string"]), anything)
        | anything,
        "content": anything,
        "is_error": anything,
    },
)
entry = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["user", "assistant", "system", "summary", "queue-operation", "attachment"]) | anything,
        "uuid": text | anything,
        "timestamp": st.sampled_from(["2026-01-15T10:00:00.000Z", "2026", "x"]) | anything,
        "isSidechain": anything,
        "isMeta": anything,
        "isCompactSummary": anything,
        "toolUseResult": anything,
        "operation": st.sampled_from(["enqueue", "dequeue", "remove"]) | anything,
        "content": anything,
        "message": st.fixed_dictionaries(
            {},
            optional={"role": st.sampled_from(["user", "assistant"]) | anything, "content": st.lists(block) | anything},
        )
        | anything,
    },
)


def as_line(value: Any) -> bytes:
    """Return a value as a line of JSON, as ASCII or not."""
    return json.dumps(value).encode() + b"\n"


transcript = st.lists(
    entry.map(as_line) | anything.map(as_line) | st.binary(max_size=20) | st.just(b"\n"), max_size=8
).map(b"".join)

payload = st.fixed_dictionaries(
    {"session_id": st.sampled_from(["s1", "s2"]) | text},
    optional=dict.fromkeys(
        (
            "prompt",
            "prompt_id",
            "source",
            "tool_name",
            "tool_use_id",
            "tool_response",
            "error",
            "trigger",
            "reason",
            "last_assistant_message",
            "transcript_path",
            "agent_id",
            "custom_instructions",
            "stop_hook_active",
        ),
        text | anything,
    )
    | {
        "tool_input": st.dictionaries(st.sampled_from(["command", "file_path", "content", "old_string"]), anything)
        | anything
    },
)
hook = st.tuples(
    st.sampled_from(sorted(EVENTS)), payload.map(as_line) | anything.map(as_line) | st.binary(max_size=30) | transcript
)

graph_record = st.fixed_dictionaries(
    {"type": st.sampled_from(["entity", "relation"]) | anything},
    optional={
        "name": text | anything,
        "entityType": text | anything,
        "observations": st.lists(text) | anything,
        "from": text | anything,
        "to": text | anything,
        "relationType": text | anything,
    },
)
own_record = st.fixed_dictionaries(
    {"table": st.sampled_from(["scopes", "nodes", "hyperedges", "membership", "keywords", "entities", "files", "x"])},
    optional={
        "row": st.dictionaries(
            st.sampled_from(
                [
                    "key",
                    "id",
                    "type",
                    "content",
                    "scope_key",
                    "metadata",
                    "name",
                    "created_at",
                    "node_key",
                    "title",
                    "place",
                ]
            ),
            anything,
            max_size=8,
        )
        | anything
    },
)
imported = st.tuples(
    st.sampled_from([b'{"hyperloci": 1, "schema": 1}\n', b"", b"\xef\xbb\xbf"]),
    st.lists((graph_record | own_record | anything).map(as_line) | st.binary(max_size=20), max_size=6).map(b"".join),
).map(b"".join)

condition = st.tuples(
    st.sampled_from(
        [
            "type",
            "kind",
            "tier",
            "path",
            "section",
            "language",
            "symbol",
            "after",
            "before",
            "session",
            "tag",
            "domain",
            "entity",
            "confidence",
            "level",
            "lines",
            "state",
            "profile",
            "limit",
            "scope",
            "source",
            "verified",
            "valid",
        ]
    )
    | text,
    st.sampled_from([":", ":>", ":<", ": ", ":!", ":-"]),
    st.sampled_from(['"a b"', '"', "last_week", "2026-01-15", "fact", "1-9", "9-1", "**", "../x", "-1", "1e400", "NaN"])
    | text,
).map("".join)
query = st.lists(condition | text, max_size=6).map(" ".join)

ctf = st.tuples(
    st.sampled_from(["#CTF v1 turns=", "#CTF v2 turns=", ""]),
    st.integers(-1, 3).map(str) | st.sampled_from(["9" * 5_000, ""]),
    st.sampled_from([" fields=", " fields= ", ""]),
    st.lists(st.sampled_from(["role", "kind", "time", "uuid", "path", "content", "x"]), max_size=7).map(",".join),
    st.sampled_from(["", " from=2026-01-15T10:00:00.000+00:00", " from=x", " from=9999-12-31T23:59:59+00:00"]),
    joined_texts(
        "\n", "\t", "user", "assistant", "text", "action", "0", "1.5", "-1", "-", "\\-", "¶", "9" * 15, "\\t", size=30
    ),
).map("".join)

message = st.tuples(
    st.sampled_from([b"HLE\x01", b"HLE\x02", b""]),
    st.sampled_from([(2, 0), (9, 4), (0, 0), (2**32 - 1, 0), (30, 2**32 - 1)]).map(
        lambda sizes: b"".join(size.to_bytes(4, "big") for size in sizes)
    ),
    st.binary(max_size=30) | anything.map(as_line),
).map(b"".join)


# -- targets ----------------------------------------------------------------------------------------------------------


@contextmanager
def open_plain(folder: Path, target: Target) -> Iterator[Target]:
    """Open a target that needs nothing."""
    yield target


def _chunk_file(value: tuple[str, str]) -> None:
    path, source = value
    for chunk in chunk_file(path, source):
        place = chunk.position
        assert place.char_start is not None and place.char_end is not None
        assert chunk.text == source[place.char_start : place.char_end]
        assert 0 < len(chunk.text) <= 4_000


def _read_graph(source: str) -> None:
    read_graph(source)


def _chunk_markdown(source: str) -> None:
    _chunk_file(("a.md", source))
    read_notes("a.md", source)


def _prepare_text(source: str) -> None:
    once = sanitize(source).text
    assert sanitize(once).text == once


def _decode_text(source: str) -> None:
    turns = decode_turns(source)
    assert decode_turns(encode_turns(turns)) == turns


def _receive_frame(data: bytes) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(data)
        there.shutdown(socket.SHUT_WR)
        protocol.receive_message(here, deadline=protocol.deadline_after(5))


def _see_text(source: str) -> None:
    make_views(EncoderInput(content=source, title=source[:80]))
    views_of_query(source)


def _parse_query(line: str) -> None:
    parse_query(line, project="p", now=NOW)


def _read_text(source: str) -> None:
    extract_entities(source)
    plan_route(source, classify_intent(source), NOW)
    estimate_effort(source)
    find_relative_dates(source, NOW)
    find_injection_flags(source)
    analyse_statements(source)
    find_verdict(source, "The server listens on port 80, and nobody disabled it.")
    list(extract_findings([TurnView(0, USER, source), TurnView(1, ASSISTANT, source), TurnView(2, USER, "the second")]))
    query_from_prompt(source)
    find_excerpt(source, "the token of the server", 200)
    describe_tool_use("Bash", {"command": source, "file_path": source}, response=source)


@contextmanager
def _open_index(folder: Path) -> Iterator[Target]:
    root = folder / "project"
    root.mkdir()
    with Memory.open(fuzz_settings(folder), root) as memory:

        def index(value: tuple[str, str]) -> None:
            path, source = value[0] or "a", value[1]
            (root / path).write_bytes(source.encode("utf-8", "surrogatepass"))
            report = memory.index_path()
            lost = [item.reason for item in report.skipped if item.path == path]
            if lost and isinstance(check_file(root, path), IndexableFile):
                raise DefectError(lost[0])
            (root / path).unlink()

        yield index


@contextmanager
def _open_transcripts(folder: Path) -> Iterator[Target]:
    path = folder / "transcript.jsonl"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        mark, offset = None, -1
        while (reading := read_batch(path, mark, root="/home/x", sidechains=True, batch_bytes=400)) is not None:
            mark = reading.mark
            assert mark.offset > offset, "no headway"
            offset = mark.offset

    yield read


def fuzz_settings(folder: Path) -> Settings:
    """Return settings whose files all lie in `folder`."""
    return Settings(
        database=folder / "memory.db",
        state_dir=folder / "state",
        runtime_dir=folder / "run",
        embedder=False,
        watch=False,
        upkeep=False,
        tools="all",
    )


@contextmanager
def _open_hooks(folder: Path) -> Iterator[Target]:
    with Memory.open(fuzz_settings(folder), folder) as memory:

        def hear(value: tuple[str, bytes]) -> None:
            event, payload = EVENTS[value[0]], parse_object(value[1])
            if get_text(payload, "session_id"):
                record = event.make(RecordFactory(memory.project, get_text(payload, "session_id"), now=NOW), payload)
                if record is not None:
                    # A transcript that can't be read is the caller's to log; what was told besides is stored.
                    with contextlib.suppress(OSError):
                        memory.keep(record)
                    memory.get_context_for_record(record)

        yield hear


@contextmanager
def _open_imports(folder: Path) -> Iterator[Target]:
    with Memory.open(fuzz_settings(folder), folder) as memory:
        path = folder / "import.jsonl"

        def take(data: bytes) -> None:
            path.write_bytes(data)
            memory.import_file(path)
            # What came in must not break what goes out.
            memory.search("the token", reinforce=False)

        yield take


FUZZED: dict[str, FuzzTarget] = {
    "markdown": FuzzTarget(markdown, lambda folder: open_plain(folder, _chunk_markdown)),
    "code": FuzzTarget(st.tuples(paths, code), lambda folder: open_plain(folder, _chunk_file)),
    "text": FuzzTarget(st.tuples(paths, markdown | code | st.text()), lambda folder: open_plain(folder, _chunk_file)),
    "boundary": FuzzTarget(markdown | code, lambda folder: open_plain(folder, _prepare_text)),
    "read": FuzzTarget(markdown | code | st.text(), lambda folder: open_plain(folder, _read_text)),
    "index": FuzzTarget(st.tuples(paths, markdown | code), _open_index),
    "views": FuzzTarget(markdown | code | st.text(), lambda folder: open_plain(folder, _see_text)),
    "transcript": FuzzTarget(transcript, _open_transcripts),
    "hook": FuzzTarget(hook, _open_hooks),
    "import": FuzzTarget(imported, _open_imports),
    "graph": FuzzTarget(
        st.lists((graph_record | anything).map(as_line), max_size=6).map(lambda rows: b"".join(rows).decode()),
        lambda folder: open_plain(folder, _read_graph),
    ),
    "query": FuzzTarget(query, lambda folder: open_plain(folder, _parse_query)),
    "ctf": FuzzTarget(ctf, lambda folder: open_plain(folder, _decode_text)),
    "wire": FuzzTarget(message, lambda folder: open_plain(folder, _receive_frame)),
}
"""By name; the tools have a module of their own."""


@contextmanager
def open_target(fuzz: FuzzTarget) -> Iterator[Target]:
    """Open a target in a throw-away folder."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, fuzz.opened(Path(folder)) as target:
        yield target
