"""A memory over HTTP: who is let in, what they may, what is noted of it."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
import uvicorn
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from starlette.types import Receive, Scope, Send

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotReadyError
from hyperloci.http import connection, request_guard
from hyperloci.http.issued_tokens import revoke_token
from hyperloci.http.request_guard import REFUSALS, RequestGuard, _address_of
from hyperloci.http.served_memory import ServedMemory
from hyperloci.http.serving import (
    MAX_BODY_BYTES,
    NOT_SERVED,
    HttpOptions,
    _list_hosts,
    configure_server,
    serve_http,
)
from tests.http.conftest import HttpHouse

pytestmark = pytest.mark.anyio

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
JSON = {"accept": "application/json, text/event-stream"}

FACT = "Releases are cut on Tuesdays, because support is fully staffed then."


async def test_what_one_session_remembers_another_one_finds(house: HttpHouse) -> None:
    _, laptop = house.give_token("laptop")
    _, desktop = house.give_token("desktop")
    async with house.serving():
        async with house.session(laptop) as session:
            told = await session.call_tool("remember_fact", {"fact": FACT, "category": "decision"})
            assert not told.is_error
        async with house.session(desktop) as session:
            found = await session.call_tool("search_memory", {"query": "when are releases cut"})
    assert isinstance(found.content[0], TextContent)
    assert "Tuesdays" in found.content[0].text


async def test_every_call_is_noted_with_who_made_it_and_what_it_named(house: HttpHouse) -> None:
    id, token = house.give_token("laptop")
    async with house.serving(), house.session(token) as session:
        told = await session.call_tool("remember_fact", {"fact": FACT})
        await session.call_tool("search_memory", {"query": ""})
        await session.call_tool("no_such_tool", {})
    unknown, empty, remembered = house.list_calls()
    assert (remembered.person, remembered.token_id, remembered.tool, remembered.outcome) == (
        "laptop",
        id,
        "remember_fact",
        "done",
    )
    assert told.structured_content is not None
    assert told.structured_content["id"] in remembered.memories
    assert (empty.tool, empty.outcome, empty.memories) == ("search_memory", "refused", ())
    assert (unknown.tool, unknown.outcome) == ("no_such_tool", "refused")


async def test_resources_and_prompts_are_noted_like_calls(house: HttpHouse) -> None:
    _, token = house.give_token("laptop")
    async with house.serving(), house.session(token) as session:
        told = await session.call_tool("remember_fact", {"fact": FACT})
        assert told.structured_content is not None
        id = told.structured_content["id"]
        await session.read_resource(f"memory://node/{id}")
        await session.get_prompt("recall", {"topic": "releases"})
    recalled, read, _ = house.list_calls()
    assert (recalled.tool, recalled.outcome) == ("recall", "done")
    assert (read.tool, read.outcome, read.memories) == (f"memory://node/{id}", "done", (id,))


async def test_a_common_memory_tells_nothing_of_the_servers_machine_and_asks_no_team(
    house: HttpHouse, settings: Settings, project: Path
) -> None:
    house.served = ServedMemory.choose(settings, project, "acme")
    _, token = house.give_token("Ada <ada@example.org>")
    async with house.serving(), house.session(token) as session:
        offered = {tool.name for tool in (await session.list_tools()).tools}
        with pytest.raises(MCPError, match="common memory"):
            await session.read_resource("memory://stats")
        asked = await session.call_tool("search_memory", {"query": "releases", "scope": "team"})
    assert "memory_stats" not in offered
    assert asked.is_error
    assert "leave scope out" in str(asked.content)
    assert [call.outcome for call in house.list_calls()] == ["refused", "refused"]


async def test_a_reader_may_search_and_change_nothing(house: HttpHouse) -> None:
    _, token = house.give_token("guest", may_write=False)
    async with house.serving(), house.session(token) as session:
        refused = await session.call_tool("remember_fact", {"fact": FACT})
        found = await session.call_tool("search_memory", {"query": "releases"})
    assert refused.is_error
    assert isinstance(refused.content[0], TextContent)
    assert "may only read" in refused.content[0].text
    assert not found.is_error
    with house.served.open() as memory:
        assert memory.store.nodes.query_nodes("fact") == []


async def test_tools_that_reach_into_the_machine_are_not_offered(house: HttpHouse) -> None:
    _, token = house.give_token()
    async with house.serving(), house.session(token) as session:
        offered = {tool.name for tool in (await session.list_tools()).tools}
    assert "search_memory" in offered
    assert not offered & NOT_SERVED


@pytest.mark.parametrize("shown", [None, "hyl_unknown", "no-token-at-all", "hyl_" + "x" * 5_000, "ünï"])
async def test_who_has_no_token_is_refused(house: HttpHouse, shown: str | None) -> None:
    headers = [(name.encode(), value.encode()) for name, value in JSON.items()]
    if shown is not None:
        headers.append((b"authorization", f"Bearer {shown}".encode()))
    async with house.serving(), house.knock() as stranger:
        answer = await stranger.post("/mcp", json=HELLO, headers=headers)
    assert answer.status_code == 401
    assert "sessions" not in answer.text
    assert house.list_calls() == []


async def test_a_revoked_and_an_expired_token_admit_nobody_from_the_next_request_on(house: HttpHouse) -> None:
    revoked, first = house.give_token("laptop")
    _, second = house.give_token("guest", days=1)
    async with house.serving():
        for token in (first, second):
            async with house.knock(token) as holder:
                assert (await holder.post("/mcp", json=HELLO, headers=JSON)).status_code == 200
        with house.served.open() as memory:
            revoke_token(memory.store, revoked[:4], now=house.clock())
        house.clock.advance(86_400_000)
        for token in (first, second):
            async with house.knock(token) as holder:
                assert (await holder.post("/mcp", json=HELLO, headers=JSON)).status_code == 401


async def test_a_session_belongs_to_the_token_that_opened_it(house: HttpHouse) -> None:
    _, mine = house.give_token("ada")
    _, other = house.give_token("eve")
    async with house.serving():
        async with house.knock(mine) as holder:
            session = (await holder.post("/mcp", json=HELLO, headers=JSON)).headers["mcp-session-id"]
        async with house.knock(other) as thief:
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
            answer = await thief.post("/mcp", json=listing, headers={**JSON, "mcp-session-id": session})
    assert answer.status_code in (403, 404)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_a_page_that_a_browser_was_led_to_gets_nothing(
    house: HttpHouse, headers: dict[str, str], status: int
) -> None:
    _, token = house.give_token()
    async with house.serving(), house.knock(token, **headers) as page:
        assert (await page.post("/mcp", json=HELLO, headers=JSON)).status_code == status
        # Nor does a request without the token learn more.
        assert (await page.get("/.well-known/oauth-protected-resource")).status_code == status


@pytest.mark.parametrize("sent", ["mem.example.org", "Mem.Example.org"])
@pytest.mark.parametrize(
    ("host", "origin"),
    [("mem.example.org", "https://app.example.org"), ("Mem.Example.org", "https://App.example.org")],
)
async def test_further_names_and_origins_are_those_that_were_allowed_however_they_are_written(
    house: HttpHouse, host: str, origin: str, sent: str
) -> None:
    _, token = house.give_token()
    names = {"host": sent, "origin": "https://app.example.org"}
    async with (
        house.serving(hosts=[host], origins=[origin]),
        house.knock(token, **names) as client,
    ):
        assert (await client.post("/mcp", json=HELLO, headers=JSON)).status_code == 200


async def test_guessing_tokens_ends_soon_and_does_not_lock_out_other_addresses(house: HttpHouse) -> None:
    async with house.serving(), house.knock("hyl_guess") as guesser:
        answers = [(await guesser.post("/mcp", json=HELLO, headers=JSON)).status_code for _ in range(REFUSALS + 2)]
    assert answers == [401] * REFUSALS + [429] * 2


async def test_a_token_may_ask_so_often_a_minute_and_others_are_not_held_up(house: HttpHouse) -> None:
    _, busy = house.give_token("busy")
    _, calm = house.give_token("calm")
    async with house.serving(per_minute=3):
        async with house.knock(busy) as client:
            answers = [await client.post("/mcp", json=HELLO, headers=JSON) for _ in range(4)]
        async with house.knock(calm) as client:
            assert (await client.post("/mcp", json=HELLO, headers=JSON)).status_code == 200
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "60"


@pytest.mark.parametrize(
    ("called_from", "counted_as"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::7", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("what a proxy made up", "what a proxy made up"),
    ],
)
def test_addresses_that_one_machine_may_all_use_are_counted_as_one(called_from: str, counted_as: str) -> None:
    assert _address_of({"type": "http", "client": (called_from, 5)}) == counted_as


async def test_who_shows_no_token_is_counted_by_address_so_that_others_may_still_ask(house: HttpHouse) -> None:
    async with house.serving(per_minute=3), house.knock() as nobody:
        path = "/.well-known/oauth-protected-resource"
        answers = [(await nobody.get(path)).status_code for _ in range(4)]
        assert answers[-1] == 429
        async with house.knock_from("203.0.113.5") as other:
            assert (await other.get(path)).status_code == answers[0]


async def test_a_body_that_does_not_come_ends_its_request(house: HttpHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "BODY_SECONDS", 0.05)
    heard: list[str] = []

    async def wait_for_more() -> dict[str, object]:
        if not heard:
            heard.append("begun")
            return {"type": "http.request", "body": b"{", "more_body": True}
        await anyio.sleep_forever()
        raise AssertionError

    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] == "http.request":
            assert message["more_body"]
        heard.append(message["type"])

    async def send_nothing(_: object) -> None:
        raise AssertionError

    guard = RequestGuard(read_all, hosts=["a"], origins=[], per_minute=5)
    scope = {"type": "http", "headers": [(b"host", b"a")], "client": ("127.0.0.1", 5)}
    with anyio.fail_after(20):
        await guard(scope, wait_for_more, send_nothing)
    assert heard == ["begun", "http.disconnect"]


@pytest.mark.parametrize("said", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
async def test_a_connection_that_does_not_finish_asking_is_closed(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.05)

    async def answer_nothing(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    server = uvicorn.Server(configure_server(answer_nothing, HttpOptions(announce=lambda _: None)))
    server.config.load()
    listener = await asyncio.get_running_loop().create_server(
        lambda: connection.PromptConnection(server.config, server.server_state, {}), "127.0.0.1", 0
    )
    async with listener, await anyio.connect_tcp("127.0.0.1", listener.sockets[0].getsockname()[1]) as stream:
        if said:
            await stream.send(said)
        with anyio.fail_after(20), pytest.raises(anyio.EndOfStream):
            await stream.receive()


async def test_a_connection_is_closed_neither_while_it_is_answered_nor_before_its_next_request() -> None:
    made: list[connection.PromptConnection] = []
    waited: list[bool] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        waited.append(made[0]._closing is not None)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    server = uvicorn.Server(configure_server(answer, HttpOptions(announce=lambda _: None)))
    server.config.load()

    def connect() -> connection.PromptConnection:
        made.append(connection.PromptConnection(server.config, server.server_state, {}))
        return made[-1]

    listener = await asyncio.get_running_loop().create_server(connect, "127.0.0.1", 0)
    async with listener, await anyio.connect_tcp("127.0.0.1", listener.sockets[0].getsockname()[1]) as stream:
        for _ in range(2):
            await stream.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await stream.receive()).startswith(b"HTTP/1.1 200")
    assert waited == [False, False]


async def test_what_a_terminal_would_obey_is_not_noted(house: HttpHouse) -> None:
    _, token = house.give_token()
    async with house.serving(), house.session(token) as session:
        await session.call_tool("\x1b[2Jno such tool\r\n", {})
    assert house.list_calls()[0].tool == "�[2Jno such tool��"


def test_at_the_port_that_a_scheme_has_by_itself_the_name_alone_is_this_server() -> None:
    options = HttpOptions(host="::1", announce=lambda _: None)
    assert {"[::1]", "[::1]:80", "localhost"} <= set(_list_hosts(options, 80))
    assert "[::1]" not in _list_hosts(options, 8_765)
    assert "[::1]" not in _list_hosts(options, 443)


async def test_more_sessions_than_agreed_and_longer_bodies_are_refused_in_words(house: HttpHouse) -> None:
    _, token = house.give_token()
    async with house.serving(max_sessions=2), house.knock(token) as client:
        answers = [(await client.post("/mcp", json=HELLO, headers=JSON)).status_code for _ in range(3)]
        long = await client.post("/mcp", content=b"x" * (MAX_BODY_BYTES + 1), headers=JSON)
    assert answers == [200, 200, 503]
    assert long.status_code == 413


async def test_a_common_memory_is_a_database_of_its_own(house: HttpHouse, settings: Settings, project: Path) -> None:
    with house.served.open() as memory:
        memory.remember_fact("My password manager is on the blue stick.")
    house.served = ServedMemory.choose(settings, project, "acme")
    _, token = house.give_token("Ada <ada@example.org>")
    async with house.serving(), house.session(token) as session:
        found = await session.call_tool("search_memory", {"query": "password manager"})
        offered = {tool.name for tool in (await session.list_tools()).tools}
    assert isinstance(found.content[0], TextContent)
    assert "blue stick" not in found.content[0].text
    assert "memory_stats" not in offered
    assert house.served.settings.database != settings.database


@pytest.mark.parametrize("name", ["", "..", "../x", "A", "a/b", "a" * 65, ".hidden"])
def test_a_common_memory_is_named_as_a_folder_can_be(settings: Settings, project: Path, name: str) -> None:
    with pytest.raises(BadRequestError, match="lower-case letters"):
        ServedMemory.choose(settings, project, name)


def test_other_machines_are_let_in_only_with_tls_or_behind_a_proxy() -> None:
    with pytest.raises(BadRequestError, match="TLS"):
        HttpOptions(host="0.0.0.0", announce=print)
    with pytest.raises(BadRequestError, match="belong together"):
        HttpOptions(certificate=Path("cert.pem"), announce=print)
    assert HttpOptions(host="0.0.0.0", behind_proxy=True, announce=print).host == "0.0.0.0"
    assert HttpOptions(host="::1", announce=print).host == "::1"


def test_a_taken_port_is_told(house: HttpHouse) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(NotReadyError, match=rf"^port {port} on 127\.0\.0\.1 is in use: choose another with --port"):
            serve_http(house.served, HttpOptions(port=port, announce=print))


def test_an_address_that_is_not_this_machines_is_told(house: HttpHouse) -> None:
    with pytest.raises(BadRequestError, match=r"^192\.0\.2\.1:0 can't be listened at \([^()]*\): give another --host"):
        serve_http(house.served, HttpOptions(host="192.0.2.1", behind_proxy=True, announce=print))


async def test_what_people_tell_a_common_memory_is_theirs(house: HttpHouse, settings: Settings, project: Path) -> None:
    house.served = ServedMemory.choose(settings, project, "acme")
    _, ada = house.give_token("Ada <ada@example.org>")
    _, bob = house.give_token("Bob <bob@example.org>")
    async with house.serving():
        async with house.session(ada) as session:
            told = await session.call_tool("remember_fact", {"fact": FACT, "category": "decision"})
        assert told.structured_content is not None
        id = told.structured_content["id"]
        async with house.session(bob) as session:
            forgotten = await session.call_tool("forget", {"id": id})
            unknown = await session.call_tool("forget", {"id": "00000000"})
            corrected = await session.call_tool(
                "correct_fact", {"id": id, "fact": "Releases are cut on Wednesdays now."}
            )
        async with house.session(ada) as session:
            own = await session.call_tool("forget", {"id": corrected.structured_content["id"]})
    assert forgotten.is_error
    assert "Ada" in str(forgotten.content)
    assert "Bob" in str(own.content)
    assert unknown.is_error
    with house.served.open() as memory:
        authors = {node.content: node.author for node in memory.store.nodes.query_nodes("decision")}
        first = memory.store.nodes.get_node(id)
    assert first is not None
    assert first.author == "Ada <ada@example.org>"
    assert authors["Releases are cut on Wednesdays now."] == "Bob <bob@example.org>"


async def test_answers_of_a_common_memory_name_who_else_told_something(
    house: HttpHouse, settings: Settings, project: Path
) -> None:
    house.served = ServedMemory.choose(settings, project, "acme")
    _, ada = house.give_token("Ada <ada@example.org>")
    _, bob = house.give_token("Bob <bob@example.org>")
    calls: dict[str, dict[str, str]] = {
        "search_memory": {"query": "tabs or spaces"},
        "recall_user_info": {},
        "get_context": {"query": "tabs or spaces"},
        "find_contradictions": {"statement": "I prefer spaces over tabs"},
        "remember_fact": {"fact": "I prefer spaces over tabs", "category": "preference"},
    }
    answers: dict[tuple[str, str], str] = {}
    async with house.serving():
        async with house.session(ada) as session:
            await session.call_tool("remember_fact", {"fact": "I prefer tabs over spaces", "category": "preference"})
        for name, token in (("bob", bob), ("ada", ada)):
            async with house.session(token) as session:
                for tool, arguments in calls.items():
                    answers[name, tool] = str((await session.call_tool(tool, arguments)).content)
    for tool in calls:
        assert "I prefer tabs over spaces" in answers["bob", tool]
        assert "Ada" in answers["bob", tool], tool
        assert "Ada" not in answers["ada", tool], tool


async def test_what_somebody_else_told_is_named_where_it_is_reached_over_relations(
    house: HttpHouse, settings: Settings, project: Path
) -> None:
    house.served = ServedMemory.choose(settings, project, "acme")
    _, ada = house.give_token("Ada <ada@example.org>")
    _, bob = house.give_token("Bob <bob@example.org>")
    answers = []
    async with house.serving():
        async with house.session(ada) as session:
            await session.call_tool("remember_fact", {"fact": "Tickets are kept in PostgreSQL."})
        for token in (ada, bob):
            async with house.session(token) as session:
                answers.append(str((await session.call_tool("find_related", {"topic": "PostgreSQL"})).content))
    assert all("Tickets are kept in PostgreSQL." in answer for answer in answers)
    assert ["Ada" in answer for answer in answers] == [False, True]


@pytest.mark.parametrize("said", ["1234", "12345678", "12345678-1234-4234-8234-123456789abc"])
async def test_what_somebody_else_told_is_not_forgotten_by_the_beginning_of_its_id_either(
    house: HttpHouse, settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    id = "12345678-1234-4234-8234-123456789abc"
    house.served = ServedMemory.choose(settings, project, "acme")
    _, ada = house.give_token("Ada <ada@example.org>")
    _, bob = house.give_token("Bob <bob@example.org>")
    async with house.serving():
        async with house.session(ada) as session:
            with monkeypatch.context() as patch:
                patch.setattr("hyperloci.store.memories.nodes.make_random_id", lambda: id)
                await session.call_tool("remember_fact", {"fact": FACT})
        async with house.session(bob) as session:
            forgotten = await session.call_tool("forget", {"id": said})
    assert forgotten.is_error
    assert "Ada" in str(forgotten.content)
    with house.served.open() as memory:
        kept = memory.store.nodes.get_node(id)
    assert kept is not None
    assert kept.deleted_at is None


async def test_what_somebody_forgot_nobody_else_brings_back(
    house: HttpHouse, settings: Settings, project: Path
) -> None:
    house.served = ServedMemory.choose(replace(settings, tools="all"), project, "acme")
    _, ada = house.give_token("Ada <ada@example.org>")
    _, bob = house.give_token("Bob <bob@example.org>")
    async with house.serving():
        async with house.session(ada) as session:
            told = await session.call_tool("remember_fact", {"fact": FACT})
            assert told.structured_content is not None
            named = {"id": told.structured_content["id"][:8]}
            await session.call_tool("forget", named)
        async with house.session(bob) as session:
            refused = await session.call_tool("restore", named)
        async with house.session(ada) as session:
            restored = await session.call_tool("restore", named)
    assert refused.is_error
    assert "Only who told it brings it back" in str(refused.content)
    assert FACT in str(restored.content)


async def test_ones_own_memory_is_signed_by_oneself_whatever_machine_it_came_from(house: HttpHouse) -> None:
    _, token = house.give_token("laptop")
    async with house.serving(), house.session(token) as session:
        told = await session.call_tool("remember_fact", {"fact": FACT})
    with house.served.open() as memory:
        here = memory.remember_fact("Told at this machine.").id
        kept = [memory.store.nodes.get_node(id) for id in (told.structured_content["id"], here)]
    authors = {None if node is None else node.author for node in kept}
    assert len(authors) == 1
    assert "laptop <laptop>" not in authors


PAGE = "https://app.example.org"
ASKS = {
    "origin": PAGE,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, mcp-protocol-version",
}


async def test_a_browser_is_told_that_pages_of_an_allowed_origin_may_call_and_read(house: HttpHouse) -> None:
    _, token = house.give_token()
    async with house.serving(origins=[PAGE]):
        async with house.knock() as browser:
            asked = await browser.options("/mcp", headers=ASKS)
            refused = await browser.post("/mcp", json=HELLO, headers={**JSON, "origin": PAGE})
        async with house.knock(token) as browser:
            answered = await browser.post("/mcp", json=HELLO, headers={**JSON, "origin": PAGE})
    assert (asked.status_code, refused.status_code, answered.status_code) == (200, 401, 200)
    assert "authorization" in asked.headers["access-control-allow-headers"]
    assert all(one.headers["access-control-allow-origin"] == PAGE for one in (asked, refused, answered))
    assert "mcp-session-id" in answered.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answered.headers


async def test_pages_of_other_origins_are_refused_before_they_call(house: HttpHouse) -> None:
    async with house.serving(origins=[PAGE]), house.knock() as browser:
        asked = await browser.options("/mcp", headers={**ASKS, "origin": "https://evil.example"})
    assert asked.status_code == 403
    assert "access-control-allow-origin" not in asked.headers


async def test_no_page_is_told_anything_unless_an_origin_is_allowed(house: HttpHouse) -> None:
    _, token = house.give_token()
    async with house.serving(), house.knock(token) as client:
        answered = await client.post("/mcp", json=HELLO, headers=JSON)
    assert not [name for name in answered.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("caller", "counted"), [("10.0.0.7", "203.0.113.5"), ("10.0.0.8", "10.0.0.8"), ("127.0.0.1", "127.0.0.1")]
)
async def test_the_address_that_a_proxy_names_is_believed_of_that_proxy_alone(
    caller: str, counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    seen = []

    async def note_client(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["client"][0])

    options = HttpOptions(behind_proxy=True, proxies=["10.0.0.7"], announce=lambda _: None)
    config = configure_server(note_client, options)
    config.load()
    headers = [(b"x-forwarded-for", b"203.0.113.5")]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "client": (caller, 5), "scheme": "http"}

    async def do_nothing(*_: object) -> dict[str, str]:
        return {"type": "http.disconnect"}

    await config.loaded_app(scope, do_nothing, do_nothing)
    assert seen == [counted]


@pytest.mark.parametrize(
    "wrong",
    [
        {"proxies": ["10.0.0.7"]},
        {"behind_proxy": True, "proxies": ["proxy.local"]},
        {"origins": ["app.example.org"]},
        {"origins": ["https://app.example.org/page"]},
        {"origins": ["*"]},
    ],
)
async def test_a_proxy_or_an_origin_that_is_none_is_refused_at_the_start(wrong: dict[str, object]) -> None:
    with pytest.raises(BadRequestError):
        HttpOptions(announce=lambda _: None, **wrong)  # type: ignore[arg-type]
