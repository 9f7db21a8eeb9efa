"""What a name means in a project, and in which order several things of one name come."""

from __future__ import annotations

import pytest

from hyperloci.knowledge.names.named_thing import Resolution
from hyperloci.knowledge.names.resolver import NameResolver
from hyperloci.memory import Memory
from tests.working_tree import WorkingTree

CLIENT = '''"""The client, which holds connections open as long as anybody may want one of them."""

DEFAULT_LIMIT = 100


class Client:
    """Sends requests."""

    keep_alive: bool = True

    def send(self, request):
        if request is None:
            raise ValueError("Cannot send a request, as none was given to the client")
        return self.pool.send(request)


class AsyncClient(Client):
    """Sends requests without waiting."""

    async def send(self, request):
        return await self.pool.send(request)


class Cache:
    """Keeps answers."""

    @t.overload
    def look_up(self, key: str, *, required: t.Literal[True] = ...) -> Answer: ...

    @t.overload
    def look_up(self, key: str, *, required: t.Literal[False] = ...) -> Answer | None: ...

    def look_up(self, key: str, *, required: bool = True) -> Answer | None:
        """Return an answer that was kept."""
        if required and key not in self.kept:
            raise KeyError("Nothing was kept of this, though somebody needs it")
        return self.kept.get(key)


def open_client():
    return AsyncClient().send(None)
'''

TEST = '''from kit._client import Client


def test_send():
    """send sends; send sends."""
    assert Client().send(1)


def send():
    """A helper that only tests have."""
'''

GUIDE = """# Guide

How to begin.

## Custom transports

They carry requests elsewhere.
"""


@pytest.fixture
def names(memory: Memory, tree: WorkingTree) -> NameResolver:
    tree.write("kit/_client.py", CLIENT)
    tree.write("tests/test_client.py", TEST)
    tree.write("docs/guide.md", GUIDE)
    memory.index_path()
    return NameResolver(memory.store, (memory.project.id, "global"))


def meant(resolution: Resolution | None) -> list[str]:
    return [] if resolution is None else [thing.name for thing in resolution.things]


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("AsyncClient.send", "AsyncClient.send"),
        ("`AsyncClient.send()`", "AsyncClient.send"),
        ("kit._client.AsyncClient", "AsyncClient"),
        ("kit.AsyncClient", "AsyncClient"),
        ("kit/_client.py", "kit/_client.py"),
        ("_client.py:24", "kit/_client.py:24"),
        ("_client.py::open_client", "open_client"),
        ("Custom Transports", "Guide > Custom transports"),
        ("DEFAULT_LIMIT", "DEFAULT_LIMIT"),
        ("keep_alive", "Client.keep_alive"),
        ("open_cl", "open_client"),
        ("open client", "open_client"),
        ("asyncclient", "AsyncClient"),
        ('what raises "Cannot send a request, as none was given"?', "Client.send"),
        ("the method Client.send in there", "Client.send"),
    ],
)
def test_a_name_is_found_however_it_is_written(names: NameResolver, said: str, wanted: str) -> None:
    assert meant(names.resolve(said))[:1] == [wanted]


@pytest.mark.req("B.05")
def test_code_comes_before_its_tests_and_the_rest_is_told(names: NameResolver) -> None:
    found = names.resolve("send")

    assert found is not None
    assert set(meant(found)[:2]) == {"Client.send", "AsyncClient.send"} and meant(found)[2] == "send"
    told = found.describe()
    assert told.startswith("took `") and "(method, kit/_client.py:" in told
    assert "also: " in told and "tests/test_client.py" in told


@pytest.mark.req("B.05")
def test_what_a_function_does_comes_before_the_types_it_may_be_called_with(names: NameResolver, memory: Memory) -> None:
    found = names.resolve_name("Cache.look_up")
    assert found is not None
    text = {key: node.content for key, node in memory.store.nodes.get_by_keys(found.taken.keys).items()}
    assert "raise KeyError" in text[found.taken.keys[0]]
    assert found.taken.line == CLIENT[: CLIENT.index("def look_up(self, key: str, *, required: bool")].count("\n") + 1
    assert ["@t.overload" in text[key] for key in found.taken.keys] == [False, True, True]


def test_what_is_called_nothing_is_found_by_no_name(names: NameResolver) -> None:
    for said in ("zeppelin", "how do requests travel", "../../etc", "0xdeadbeef", "::", "a" * 500):
        assert names.resolve(said) is None


@pytest.mark.req("B.05")
def test_words_side_by_side_name_a_symbol_that_is_made_of_them(names: NameResolver) -> None:
    assert meant(names.resolve_joined("why was the async client written anew")) == ["AsyncClient"]
    assert names.resolve_joined("why was the sync written anew") is None
