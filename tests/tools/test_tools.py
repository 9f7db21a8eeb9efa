"""Tools through the SDK's client, over a real memory in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from hyperloci.app import build_server
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.memory import Memory
from hyperloci.model.answers import IndexReport, Progress, ReplAnswer
from hyperloci_tools.tools.ingestion import _report_steps
from tests.support import call, text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio

SOON = 60
ERAS = ["legacy", "auto"]

REPORT = IndexReport(
    files=3,
    chunks=7,
    added=7,
    changed=0,
    moved=0,
    removed=0,
    unchanged_files=0,
    commits=2,
    skipped=(),
    seconds=0.1,
)

LONG = "x" * 1_000_000

REFUSED: Sequence[tuple[str, dict[str, Any], Sequence[str]]] = [
    ("search_memory", {"query": "x", "limit": 0}, ["limit=0", "1"]),
    ("search_memory", {"query": "x", "limit": 10**9}, ["limit=1000000000", "50"]),
    ("search_memory", {"query": "x", "limit": "many"}, ["limit='many'", "integer"]),
    ("search_memory", {"query": "x", "content_type": "prose"}, ["content_type='prose'", "dead_end"]),
    ("search_memory", {"query": "x", "profile": "side"}, ["profile='side'", "causal"]),
    ("search_memory", {"query": "x", "after": "whenever"}, ["after='whenever'", "yesterday"]),
    ("search_memory", {"query": "x", "before": "2026-13-45"}, ["before='2026-13-45'", "YYYY-MM-DD"]),
    ("search_memory", {"query": "x", "where": {"pth": "a"}}, ["pth", "path"]),
    ("search_memory", {"query": "x", "where": "abc"}, ["where", "abc"]),
    ("search_memory", {"query": "x", "where": [1]}, ["where", "object"]),
    ("search_memory", {"query": "x", "where": {"types": ["prose"]}}, ["prose", "snippet"]),
    ("search_memory", {"query": "x", "where": {"types": 3}}, ["where.types=3", "list"]),
    ("search_memory", {"query": "x", "where": {"scope": "mine"}}, ["where.scope='mine'", "global"]),
    ("search_memory", {"query": "x", "where": {"lines": "a"}}, ["where.lines", "[first, last]"]),
    ("search_memory", {"query": "x", "where": {"min_confidence": 7}}, ["where.min_confidence=7", "1"]),
    ("search_memory", {"query": "x", "where": {"depth": 99, "related_to": "y"}}, ["where.depth=99", "4"]),
    ("search_memory", {"query": ""}, ["query=''", "1 character"]),
    ("search_memory", {"query": LONG}, ["1,000,000 characters", "10000"]),
    ("search_memory", {"query": None}, ["query=None", "string"]),
    ("search_memory", {"qery": "x"}, ["qery", "Did you mean query?"]),
    ("search_memory", {}, ["query is missing"]),
    ("get_context", {"query": "x", "max_tokens": 1}, ["max_tokens=1", "100"]),
    ("find_contradictions", {"statement": ""}, ["statement=''"]),
    ("find_contradictions", {"statement": "x", "limit": -1}, ["limit=-1"]),
    ("recall_user_info", {"who": "me"}, ["who", "takes no arguments"]),
    ("remember_fact", {"fact": ""}, ["fact=''", "1 character"]),
    ("remember_fact", {"fact": " \n "}, ["fact is empty"]),
    ("remember_fact", {"fact": LONG}, ["fact=", "1,000,000 characters", "20000"]),
    ("remember_fact", {"fact": "x", "category": "gossip"}, ["category='gossip'", "insight"]),
    ("remember_fact", {"fact": "x", "confidence": 7}, ["confidence=7", "1"]),
    ("remember_fact", {"fact": "x", "scope": "mine"}, ["scope='mine'", "global"]),
    ("remember_fact", {"fact": "x", "entities": "Ada"}, ["entities='Ada'", "list"]),
    ("remember_fact", {"fact": "x", "replaces": "nope"}, ["replaces='nope'"]),
    ("mark_dead_end", {"approach": "x"}, ["reason is missing: give why it failed"]),
    ("correct_fact", {"id": "nope", "fact": "x"}, ["id='nope'"]),
    ("forget", {"id": "nope"}, ["id='nope'"]),
    ("forget", {"id": "n" * 5_000}, ["id=", "100"]),
    ("restore", {"id": "nope"}, ["id='nope'"]),
    ("confirm_fact", {"id": "nope"}, ["id='nope'"]),
    ("explain_fact", {"id": "nope"}, ["id='nope'"]),
    ("find_related", {"topic": "nothing of the kind"}, ["topic='nothing of the kind'"]),
    ("find_related", {"topic": "x", "depth": 9}, ["depth=9", "4"]),
    ("find_related", {"topic": "x", "direction": "up"}, ["direction='up'", "both"]),
    ("relate", {"label": "causes", "members": [{"id": "a"}]}, ["members", "2"]),
    ("relate", {"label": "causes", "members": [{"id": "a"}, {"id": "b"}]}, ["members[0].id"]),
    ("relate", {"label": "causes", "members": [{"id": "a", "role": "boss"}, {"id": "b"}]}, ["boss", "cause"]),
    ("relate", {"label": "causes", "members": [{"id": "a"}, {"id": "b"}], "weight": -1}, ["weight=-1", "0"]),
    ("index_path", {"path": "/etc"}, ["/etc", "outside"]),
    ("index_path", {"path": "no/such/file"}, ["no/such/file"]),
    ("index_path", {"path": "no/such/file", "wait": False}, ["does not exist", "no/such/file"]),
    ("index_path", {"path": "\x00", "wait": False}, ["not a valid path", "path="]),
    ("no_such_tool", {}, ["no_such_tool", "search_memory"]),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"), REFUSED, ids=[f"{tool}-{words[0]:.30}" for tool, _, words in REFUSED]
)
async def test_bad_input_is_refused_by_name_value_and_remedy(
    connect: Connect, tool: str, arguments: dict[str, Any], words: Sequence[str]
) -> None:
    async with connect("all") as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    message = text_of(result)
    assert [word for word in words if word not in message] == []
    assert len(message) < 600
    assert "pydantic" not in message


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.req("D.09")
async def test_a_remembered_fact_is_found(connect: Connect, mode: str) -> None:
    async with connect(mode=mode) as client:
        stored = await call(client, "remember_fact", fact="The gateway times out after 30 seconds.")
        assert set(stored) == {"id"}
        found = await call(client, "search_memory", query="gateway timeout", explain=True)
        [hit] = found["results"]
        assert hit["id"] == stored["id"]
        assert hit["content"] == "The gateway times out after 30 seconds."
        assert 0 <= hit["score"] <= 1
        assert hit["explain"]


@pytest.mark.req("D.08")
async def test_where_narrows_a_search(connect: Connect) -> None:
    async with connect() as client:
        await call(client, "remember_fact", fact="Alpha uses port 8080.", category="decision")
        await call(client, "remember_fact", fact="Beta uses port 9090.", category="constraint")
        found = await call(client, "search_memory", query="which port", where={"types": ["decision"]})
        assert [hit["content"] for hit in found["results"]] == ["Alpha uses port 8080."]


async def test_arguments_that_a_client_sends_as_text_are_understood(connect: Connect) -> None:
    async with connect() as client:
        await call(client, "remember_fact", fact="Alpha uses port 8080.", entities='["Alpha"]')
        found = await call(client, "search_memory", query="port", limit="3", where='{"types": ["fact"]}')
        assert len(found["results"]) == 1


async def test_a_secret_is_redacted_and_the_answer_says_so(connect: Connect) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
    async with connect() as client:
        result = await client.call_tool("remember_fact", {"fact": f"The deploy token is {secret}."})
        assert result.structured_content["redactions"] == 1
        assert "1 secret redacted" in text_of(result)
        found = await client.call_tool("search_memory", {"query": "deploy token"})
        assert secret not in str(found.structured_content) + text_of(found)


async def test_a_restored_memory_that_was_replaced_says_so(connect: Connect) -> None:
    async with connect("all") as client:
        old = (await call(client, "remember_fact", fact="The port is 8000."))["id"]
        new = (await call(client, "correct_fact", id=old, fact="The port is 9000."))["id"]
        await call(client, "forget", id=old)
        restored = await client.call_tool("restore", {"id": old})
        assert f"id {new} replaced it" in restored.structured_content["ended"]
        assert f"id {new} replaced it" in text_of(restored)


async def test_a_restored_memory_that_another_contradicts_says_so(connect: Connect) -> None:
    async with connect("all") as client:
        first = (await call(client, "remember_fact", fact="The port is 8000."))["id"]
        second = (await call(client, "remember_fact", fact="The port is 8080.", replaces=first))["id"]
        await call(client, "forget", id=second)
        third = (await call(client, "remember_fact", fact="The port is 9000.", replaces=first))["id"]
        restored = await client.call_tool("restore", {"id": second})
        assert restored.structured_content["notes"] == [f"contradicted by {third}"]
        assert f"! contradicted by {third}" in text_of(restored)
        assert "ended" not in restored.structured_content


async def test_a_fact_about_the_user_is_global_and_recalled(connect: Connect) -> None:
    async with connect() as client:
        told = await client.call_tool("remember_fact", {"fact": "The user prefers tabs.", "category": "preference"})
        assert told.structured_content["scope"] == "global"
        assert "It holds in all projects." in text_of(told)
        assert "scope" not in await call(client, "remember_fact", fact="Tests use tabs.", category="decision")
        [fact] = (await call(client, "recall_user_info"))["facts"]
        assert fact["scope"] == "global"


async def test_an_unplanned_error_is_logged_and_not_shown(
    settings: Settings, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Memory):
        def recall_user_info(self) -> Any:
            raise KeyError("an inner secret")

    server = build_server(settings, project, open_memory=lambda: Broken.open(settings, project), warm=False)
    async with Client(server) as client:
        result = await client.call_tool("recall_user_info", {})
    assert result.is_error
    assert text_of(result).startswith("recall_user_info failed because of an internal error")
    assert "an inner secret" not in text_of(result)
    assert "an inner secret" in caplog.text


async def test_an_error_of_the_database_that_nobody_translated_is_told_in_our_words(
    settings: Settings, project: Path
) -> None:
    import sqlite3

    class Broken(Memory):
        def recall_user_info(self) -> Any:
            raise sqlite3.OperationalError("disk I/O error")

    server = build_server(settings, project, open_memory=lambda: Broken.open(settings, project), warm=False)
    async with Client(server) as client:
        result = await client.call_tool("recall_user_info", {})
    assert "disk I/O error" in text_of(result)


# -- indexing ----------------------------------------------------------------------------------------------------------


class Indexing(Memory):
    """A memory whose index takes the steps a test gives it."""

    steps: Sequence[tuple[int, int, str]] = ()
    told: ClassVar[threading.Event]
    stopped_by: ClassVar[list[BaseException]] = []

    def index_path(self, path: str | Path | None = None, *, progress: Progress | None = None) -> IndexReport:
        try:
            for step in self.steps:
                if progress is not None:
                    progress(*step)
                    # The next step waits until this one reached the client.
                    self.told.wait(SOON)
                    self.told.clear()
        except HyperlociError as error:
            self.stopped_by.append(error)
            raise
        return REPORT


@pytest.mark.parametrize("mode", ERAS)
async def test_indexing_tells_how_far_it_is(settings: Settings, project: Path, mode: str) -> None:
    class Stepping(Indexing):
        steps = ((1, 3, "a.py"), (2, 3, "b.py"), (3, 3, "c.py"))
        told = threading.Event()

    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))
        Stepping.told.set()

    everything = replace(settings, tools="all")
    server = build_server(everything, project, open_memory=lambda: Stepping.open(settings, project), warm=False)
    async with Client(server, mode=mode) as client:
        with anyio.fail_after(SOON):
            result = await client.call_tool("index_path", {}, progress_callback=hear)
    assert heard == list(Stepping.steps)
    assert result.structured_content["status"] == "done"
    assert result.structured_content["chunks"] == 7
    assert "Indexed 3 files" in text_of(result)


async def test_progress_that_does_not_grow_is_not_told() -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    send, receive = anyio.create_memory_object_stream[tuple[int, int, str]](10)
    for step in ((0, 0, "looking"), (1, 9, "a"), (1, 9, "b"), (5, 9, "c"), (2, 4, "second pass"), (6, 9, "d")):
        send.send_nowait(step)
    send.close()
    await _report_steps(hear, receive)
    receive.close()
    assert heard == [(0, None, "looking"), (1, 9, "a"), (5, 9, "c"), (6, 9, "d")]


async def test_a_cancelled_index_stops_at_its_next_step(settings: Settings, project: Path) -> None:
    class Endless(Indexing):
        steps = tuple((number, 1_000, "x") for number in range(1_000))
        told = threading.Event()
        stopped_by: ClassVar[list[BaseException]] = []

    everything = replace(settings, tools="all")
    server = build_server(everything, project, open_memory=lambda: Endless.open(settings, project), warm=False)
    heard = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.set()

    async with Client(server, mode="legacy") as client:
        async with anyio.create_task_group() as group:

            async def index() -> None:
                await client.call_tool("index_path", {}, progress_callback=hear)

            group.start_soon(index)
            with anyio.fail_after(SOON):
                await heard.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(SOON):
            while not Endless.stopped_by:
                Endless.told.set()
                await anyio.lowlevel.checkpoint()
    assert "cancelled" in str(Endless.stopped_by[0])


async def test_a_cancelled_program_is_ended(settings: Settings, project: Path) -> None:
    class Endless(Memory):
        begun = threading.Event()
        ended = threading.Event()

        def run_program(self, code: str, stop: threading.Event | None = None) -> ReplAnswer:
            self.begun.set()
            if stop is not None and stop.wait(SOON):
                self.ended.set()
            return ReplAnswer(output="", result=None, error=None, calls=0)

    everything = replace(settings, tools="all")
    server = build_server(everything, project, open_memory=lambda: Endless.open(settings, project), warm=False)
    async with Client(server, mode="legacy") as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_repl", {"code": "while True: pass"})
            with anyio.fail_after(SOON):
                while not Endless.begun.is_set():
                    await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        with anyio.fail_after(SOON / 2):
            while not Endless.ended.is_set():
                await anyio.lowlevel.checkpoint()


async def test_indexing_in_the_background_answers_at_once(settings: Settings, project: Path) -> None:
    done = threading.Event()

    class Background(Memory):
        def index_path(self, path: str | Path | None = None, *, progress: Progress | None = None) -> IndexReport:
            done.set()
            return REPORT

    everything = replace(settings, tools="all")
    server = build_server(everything, project, open_memory=lambda: Background.open(settings, project), warm=False)
    async with Client(server) as client:
        assert await call(client, "index_path", wait=False) == {"status": "running"}
        assert await anyio.to_thread.run_sync(done.wait, SOON)


# -- resources and prompts ---------------------------------------------------------------------------------------------


async def test_resources_and_the_prompt_are_listed(connect: Connect) -> None:
    async with connect() as client:
        assert [str(item.uri) for item in (await client.list_resources()).resources] == ["memory://stats"]
        templates = (await client.list_resource_templates()).resource_templates
        names = {"memory://node/{id}", "memory://entity/{name}", "memory://session/{id}", "memory://topic/{id}"}
        assert {item.uri_template for item in templates} >= names
        prompts = (await client.list_prompts()).prompts
        assert {prompt.name: [item.name for item in prompt.arguments or []] for prompt in prompts} == {
            "recall": ["topic"],
            "consolidate": ["session"],
            "review_weak_facts": [],
            "session_summary": ["session"],
        }


async def test_a_long_memory_is_whole_as_a_resource(connect: Connect) -> None:
    text = " ".join(f"Sentence {number} of a long fact." for number in range(600))[:20_000]
    async with connect() as client:
        stored = await call(client, "remember_fact", fact=text)
        resource = await client.read_resource(f"memory://node/{stored['id']}")
    assert text in text_of(resource)


async def test_an_unknown_resource_is_not_found(connect: Connect) -> None:
    async with connect() as client:
        for uri in ("memory://node/nope", "memory://elsewhere"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == -32602


async def test_a_state_of_a_request_that_nobody_gave_out_is_refused(connect: Connect) -> None:
    async with connect() as client:
        for state in ("", "v1.AAAA", "nonsense"):
            with pytest.raises(MCPError) as caught:
                await client.session.call_tool("search_memory", {"query": "zebras"}, request_state=state)
            assert (caught.value.error.code, caught.value.error.message) == (-32602, "Invalid or expired requestState")


async def test_the_prompt_says_when_nothing_is_remembered(connect: Connect) -> None:
    async with connect() as client:
        prompt = await client.get_prompt("recall", {"topic": "zebras"})
    assert text_of(prompt).startswith("Nothing is remembered about 'zebras'")
