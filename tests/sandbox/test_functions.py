"""The memory functions over a real memory, called by real programs."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.answers import ReplError
from tests.support import FakeClock

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="programs are not run on Windows"),
    pytest.mark.req("SPEC-02.37"),
]

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"


def result_of(memory: Memory, code: str) -> Any:
    answer = memory.run_program(code)
    assert answer.error is None, answer.error
    return answer.result


def refusal_of(memory: Memory, code: str) -> ReplError:
    error = memory.run_program(code).error
    assert error is not None
    return error


@pytest.mark.req("SPEC-02.27")
def test_memory_query_finds_and_says_what_it_found(memory: Memory) -> None:
    stored = memory.remember_fact("The gateway times out after 30 seconds.")
    memory.remember_fact("The gateway speaks HTTP/2.")
    [hit] = result_of(memory, "memory_query('gateway times out', 1)")
    assert hit["id"] == stored.id
    assert hit["content"] == "The gateway times out after 30 seconds."
    assert {"type", "subtype", "score", "confidence", "created_at", "source"} <= set(hit)
    assert len(result_of(memory, "memory_query('gateway', limit=2)")) == 2


def test_a_program_that_reads_reinforces_nothing(memory: Memory) -> None:
    stored = memory.remember_fact("The gateway times out after 30 seconds.")
    result_of(memory, "len(memory_query('gateway')) + len(memory_get_context())")
    node = memory.store.nodes.get_node(stored.id)
    assert node is not None
    assert node.access_count == 0


@pytest.mark.req("SPEC-02.28")
def test_memory_add_fact_stores_a_fact(memory: Memory) -> None:
    id = result_of(memory, "memory_add_fact('The cache is warmed at start.', confidence=0.6)")
    stored = memory.get(id)
    assert (stored.type, stored.content, stored.confidence) == ("fact", "The cache is warmed at start.", 0.6)
    assert result_of(memory, "memory_add_fact('The cache is warmed at start.')") == id


@pytest.mark.req("SPEC-02.29")
@pytest.mark.parametrize(("success", "words"), [(True, "It worked"), (False, "It failed")])
def test_memory_add_experience_stores_what_was_done_and_what_came_of_it(
    memory: Memory, success: bool, words: str
) -> None:
    id = result_of(memory, f"memory_add_experience('Pinned the driver.', 'The pool stopped leaking.', {success})")
    node = memory.store.nodes.get_node(id)
    assert node is not None
    assert (node.type, node.subtype) == ("experience", "outcome")
    assert node.content == f"Pinned the driver.\n{words}: The pool stopped leaking."
    assert node.metadata["success"] is success
    again = f"memory_add_experience('Pinned the driver.', 'The pool stopped leaking.', {success})"
    assert result_of(memory, again) == id


@pytest.mark.req("SPEC-02.30")
def test_memory_get_context_gives_what_was_stored_or_used_last(memory: Memory, clock: FakeClock) -> None:
    stored = []
    for text in ("The first fact.", "The second fact.", "The third fact."):
        clock.advance(1_000)
        stored.append(memory.remember_fact(text).id)
    memory.remember_fact("The user is called Ada.", category="user_info")
    clock.advance(1_000)
    memory.confirm_fact(stored[0])
    ids = [hit["id"] for hit in result_of(memory, "memory_get_context(limit=2)")]
    assert ids[0] == stored[0]
    assert len(ids) == 2
    assert len(result_of(memory, "memory_get_context()")) == 4


@pytest.mark.req("SPEC-02.31")
@pytest.mark.parametrize(
    ("label", "roles"),
    [
        ("depends_on", {"subject", "object"}),
        ("causes", {"cause", "effect"}),
        ("contradicts", {"participant"}),
        ("smells_like", {"subject", "object"}),
    ],
)
def test_memory_relate_joins_two_memories(memory: Memory, label: str, roles: set[str]) -> None:
    code = f"a = memory_add_fact('One.')\nb = memory_add_fact('Two.')\n[a, b, memory_relate('{label}', a, b)]"
    first, second, edge_id = result_of(memory, code)
    edge = memory.store.edges.get_edge(edge_id)
    assert edge is not None
    assert edge.label == label
    assert {member.role for member in edge.members} == roles
    keys = [node.key for id in (first, second) if (node := memory.store.nodes.get_node(id))]
    assert [member.node for member in edge.members] == keys


def test_one_program_does_what_many_tool_calls_would(memory: Memory) -> None:
    code = """
ids = [memory_add_fact(f'Service {n} listens on port {8000 + n}.') for n in range(20)]
for one, next_one in zip(ids, ids[1:]):
    memory_relate('depends_on', one, next_one)
ports = {}
for n in range(20):
    best = memory_query(f'Service {n} port', 1)[0]
    ports[n] = best['content'].split()[-1].rstrip('.')
print(len(ids), 'services')
ports
"""
    answer = memory.run_program(code)
    assert answer.error is None
    assert answer.output == "20 services\n"
    assert answer.result == {str(n): str(8000 + n) for n in range(20)}
    assert answer.calls == 20 + 19 + 20


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("memory_query('')", "query=''"),
        ("memory_query(3)", "query=3"),
        ("memory_query('x', 0)", "limit=0"),
        ("memory_query('x', 51)", "1 to 50"),
        ("memory_query('x', True)", "limit=True"),
        ("memory_query('x', 2.5)", "limit=2.5"),
        ("memory_query('x' * 10_001)", "10"),
        ("memory_get_context(-1)", "limit=-1"),
        ("memory_add_fact(None)", "content=None"),
        ("memory_add_fact('x', 7)", "confidence=7"),
        ("memory_add_fact('x' * 20_001)", "20,001"),
        ("memory_add_experience('a', 'b', 'yes')", "success='yes'"),
        ("memory_add_experience('a', ' ', True)", "outcome=' '"),
        ("memory_relate('causes', 'nope', 'nope')", "'nope'"),
        ("memory_relate('x' * 65, 'a', 'b')", "label"),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_value(memory: Memory, code: str, words: str) -> None:
    error = refusal_of(memory, code)
    assert error.type in {"BadRequestError", "NotFoundError"}
    assert words in error.message.replace("20001", "20,001")
    assert error.line == 1


def test_a_wrong_number_of_arguments_is_a_type_error_of_the_program(memory: Memory) -> None:
    assert refusal_of(memory, "memory_relate('causes')").type == "TypeError"


@pytest.mark.req("SPEC-02.34")
@pytest.mark.parametrize(
    "code",
    [
        f"memory_add_fact('The deploy token is {SECRET}.')",
        f"memory_add_experience('Used {SECRET}.', 'It deployed.', True)",
        f"memory_add_experience('Deployed.', 'The log showed {SECRET}.', False)",
        f"a = memory_add_fact('One.')\nmemory_relate('{SECRET}', a, memory_add_fact('Two.'))",
    ],
)
def test_what_programs_write_goes_through_the_write_boundary(memory: Memory, settings: Settings, code: str) -> None:
    result_of(memory, code)
    memory.close()
    stored = b"".join(path.read_bytes() for path in settings.database.parent.glob("memory.db*"))
    assert SECRET.encode() not in stored
    assert SECRET.lower().encode() not in stored


@pytest.mark.req("SPEC-02.33")
def test_text_that_looks_like_sql_is_text(memory: Memory) -> None:
    code = "memory_add_fact(\"x'); DROP TABLE nodes; --\")\nmemory_query(\"nodes') OR 1=1 --\")[0]['content']"
    assert result_of(memory, code) == "x'); DROP TABLE nodes; --"


@pytest.mark.parametrize("end", ["1/0", "while True:\n    pass", "'x' * 30_000", "exit()"])
def test_a_program_that_fails_leaves_nothing_and_says_so(memory: Memory, end: str) -> None:
    kept = memory.remember_fact("The cache is warmed at start.").id
    code = f"a = memory_add_fact('One.')\nb = memory_add_fact('Two.')\nmemory_relate('supports', a, b)\n{end}"
    answer = memory.run_program(code)
    assert answer.error is not None
    assert answer.undone == 3
    assert answer.error.message.endswith(
        ". Nothing of this program is stored: its 3 writes were undone. Correct it and run all of it again."
    )
    assert [hit.id for hit in memory.latest()] == [kept]
    assert memory.store.edges.list_related_nodes(memory.store.nodes.query_nodes()[0].key) == []


def test_a_refused_write_that_is_caught_leaves_the_others(memory: Memory) -> None:
    refused = "try:\n    memory_add_fact('')\nexcept Exception:\n    pass"
    code = f"memory_add_fact('One.')\n{refused}\nmemory_add_fact('Two.')"
    assert memory.run_program(code).error is None
    assert {hit.content for hit in memory.latest()} == {"One.", "Two."}


def test_a_program_sees_what_it_wrote(memory: Memory) -> None:
    code = "id = memory_add_fact('The gateway times out.')\n[hit['id'] == id for hit in memory_query('gateway')]"
    assert result_of(memory, code) == [True]


def test_a_program_that_only_reads_holds_no_lock(memory: Memory, settings: Settings) -> None:
    seen = []
    memory._programs.run(
        "memory_query('x')",
        {"memory_query": lambda *_: seen.append(memory.store.connection.in_transaction)},
        contextlib.nullcontext,
    )
    assert seen == [False]


def test_names_last_from_program_to_program(memory: Memory) -> None:
    result_of(memory, "seen = {'a': [1, 2.5, None], 'b': (True, {3})}\ndef double(n):\n    return n * len(seen)")
    result_of(memory, "seen['c'] = double(4)")
    assert result_of(memory, "[seen['a'], seen['b'][1] == {3}, seen['c'], double(1)]") == [[1, 2.5, None], True, 8, 3]


def test_a_program_that_fails_leaves_no_names(memory: Memory) -> None:
    result_of(memory, "n = 1")
    assert refusal_of(memory, "n = 2\n1/0").type == "ZeroDivisionError"
    assert result_of(memory, "n") == 1


def test_names_that_can_not_be_kept_are_told(memory: Memory) -> None:
    code = "double = lambda n: n\nloop = []\nloop.append(loop)\nlong = 'x' * 300_000\nn = 1\nmany = [[0] * 300] * 300"
    assert memory.run_program(code).names_not_kept == ("double", "long", "loop", "many")
    assert result_of(memory, "n") == 1
    assert refusal_of(memory, "long").type == "NameError"


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(
    ("code", "lost"),
    [
        ("pages = range(3)\ndef f(of=pages):\n    return list(of)", ("f", "pages")),
        ("keep = lambda f: f\n@keep\ndef f():\n    return 1", ("keep",)),
        ("Page = range\ndef f(page: Page = 1, *more: Page, last: Page = 2) -> Page:\n    return page", ("Page",)),
        ("size = 1\ndef f(n=size):\n    return n\ndel size", ()),
        ("def f():\n    return 'a\u2028b'", ()),
        ("def make():\n    def f():\n        return 1\n    return f\ndef f():\n    return 2\nf = make()", ("f",)),
    ],
    ids=["default", "decorator", "annotation", "deleted", "line separator", "nested"],
)
def test_a_function_that_is_kept_needs_nothing_that_is_lost(memory: Memory, code: str, lost: tuple[str, ...]) -> None:
    assert memory.run_program(code).names_not_kept == lost
    assert result_of(memory, "1 + 1") == 2
    if "f" not in lost:
        assert result_of(memory, "f()") in (1, "a\u2028b")


@pytest.mark.req("SPEC-02.32")
def test_a_kept_function_has_the_defaults_it_was_defined_with_and_calls_nothing_again(memory: Memory) -> None:
    result_of(
        memory, "n = 1\ndef f(n=n, *, id=memory_add_fact('Tea is served at four.'), seen=[]):\n    return n, id, seen"
    )
    n, id, seen = result_of(memory, "n = 2\nf()[2].append(5)\nf()")
    memory.forget(id)
    assert result_of(memory, "f()") == [n, id, seen] == [1, id, [5]]
    assert memory.latest() == ()


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(
    ("default", "call", "answer"),
    [
        ("len", "f('abc')", 3),
        ("lambda x: x[0]", "f('abc')", "a"),
        ("lambda x, n=range(3): n", None, None),
        ("memory_query", "f('x')", []),
        ("half", "f(4)", 2),
        ("float('-inf')", "key", "-inf"),
        ("set()", "key", []),
        ("(1\n)", "key", 1),
    ],
)
def test_a_default_that_is_a_function_or_without_bound_is_kept(
    memory: Memory, default: str, call: str | None, answer: object
) -> None:
    code = f"def half(n):\n    return n // 2\ndef f(x=0, *, é: str = 'ж', key={default}) -> str:\n    return key"
    assert memory.run_program(code).names_not_kept == (() if call else ("f",))
    if call:
        code = "key = f()\n" + call.replace("f(", "f()(")
        assert [result_of(memory, code), result_of(memory, code)] == [answer, answer]


@pytest.mark.req("SPEC-02.32")
def test_a_default_is_the_value_of_its_name_as_long_as_that_is_kept(memory: Memory) -> None:
    result_of(memory, "seen = []\ndef f(n, of=seen):\n    of.append(n)\n    return of")
    assert result_of(memory, "f(1)\nseen") == [1]
    assert result_of(memory, "f(2)\nseen") == [1, 2]
    assert result_of(memory, "seen = [0]\nf(3)") == [1, 2, 3]
    assert result_of(memory, "[f(4), seen]") == [[1, 2, 3, 4], [0]]


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(
    "code",
    [
        "def f(s=set()):\n    return 1\nset = 3",
        "def f(key=len):\n    return 1\nlen = 3",
        "n = None\ndef f(n=n):\n    return 1\ndel n\nrange = 3",
        "def f():\n    return 1\nif True:\n    def f(a=1, b=2):\n        return 1",
    ],
)
def test_no_later_program_fails_of_a_name_that_is_another_by_then(memory: Memory, code: str) -> None:
    lost = memory.run_program(code).names_not_kept
    assert result_of(memory, "1 + 1") == 2
    if "f" not in lost:
        assert result_of(memory, "f()") == 1


def test_another_memory_knows_none_of_the_names(memory: Memory, settings: Settings, project: Path) -> None:
    result_of(memory, "n = 1")
    with Memory.open(settings, project) as other:
        assert refusal_of(other, "n").type == "NameError"


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("create_node('fact', 'x')", "memory_add_fact"),
        ("get_related_nodes('x')", "Memory.get_related_nodes"),
        ("memory_querry('x')", "did you mean memory_query?"),
    ],
)
def test_a_name_of_the_documents_is_told_what_it_is_here(memory: Memory, code: str, meant: str) -> None:
    assert meant in refusal_of(memory, code).message
