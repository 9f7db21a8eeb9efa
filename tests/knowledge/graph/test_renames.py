"""A fact follows the code that it is about to another name, where nothing else says that it is other code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.unasked.code_reasons import find_code_reasons
from hyperloci.knowledge.graph.renames import hash_body
from hyperloci.memory import Memory
from tests.support import examples
from tests.working_tree import WorkingTree

CLOSE = """\
#include "bms.h"

void contactor_close(int precharge_mv)
{
    if (precharge_mv < BUS_MIN_MV) {
        report_fault(FAULT_PRECHARGE, precharge_mv);
        return;
    }
    gpio_set(CONTACTOR_PIN, 1);
}

int contactor_state(void)
{
    return gpio_get(CONTACTOR_PIN) && !fault_pending();
}
"""
ENGAGE = CLOSE.replace("contactor_close", "contactor_engage")
FACT = "`contactor_close` must never be called before precharge reaches 95 percent"
NOTE = "outdated: `contactor_close` in firmware/contactor.c was renamed to `contactor_engage` in "


def notes(memory: Memory, id: str) -> tuple[str, ...]:
    return memory.get(id).notes


def anchors(memory: Memory, id: str) -> list[tuple[str, str]]:
    node = memory.store.nodes.get_node(id)
    assert node is not None
    return [(anchor.path, anchor.symbol) for anchor in memory.store.positions.list_anchors([node.key])]


@pytest.fixture
def fact(memory: Memory, tree: WorkingTree) -> str:
    tree.write("firmware/contactor.c", CLOSE)
    tree.commit("the contactor closes after precharge")
    memory.index_path()
    return memory.remember_fact(FACT, category="constraint").id


def test_a_function_that_is_moved_and_renamed_in_one_commit_keeps_its_facts(
    memory: Memory, tree: WorkingTree, fact: str
) -> None:
    tree.git("mv", "firmware/contactor.c", "firmware/power.c")
    tree.write("firmware/power.c", ENGAGE.replace("bms.h", "power.h"))
    tree.commit("contactor: rename contactor_close to contactor_engage")
    memory.index_path()
    assert notes(memory, fact) == (f"{NOTE}firmware/power.c",)
    scope = memory.project.id
    node, key = memory.store.nodes.get_node(fact), memory.store.scopes.find_key(scope)
    assert node is not None and key is not None
    assert node.key in find_code_reasons(memory.store, key, scope, "change contactor_engage", ()).anchored
    assert fact in [hit.id for hit in memory.search("contactor_engage").results]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_function_of_a_folder_that_is_renamed_is_told_to_have_changed_not_to_be_gone(
    memory: Memory, tree: WorkingTree, fact: str, *, at_once: bool
) -> None:
    tree.git("mv", "firmware", "board")
    if not at_once:
        tree.commit("call it board")
        memory.index_path()
        assert notes(memory, fact) == ()
    tree.write("board/contactor.c", CLOSE.replace("BUS_MIN_MV", "LEAST_MV"))
    tree.commit("another threshold")
    memory.index_path()
    assert notes(memory, fact) == ("outdated: `contactor_close` in board/contactor.c changed since this was stored",)
    assert anchors(memory, fact) == [("board/contactor.c", "contactor_close")]
    tree.write("board/contactor.c", CLOSE)
    memory.index_path()
    assert notes(memory, fact) == ()


def test_a_renamed_function_that_changes_later_is_told_as_both(memory: Memory, tree: WorkingTree, fact: str) -> None:
    tree.write("firmware/contactor.c", ENGAGE)
    memory.index_path()
    assert notes(memory, fact) == (f"{NOTE}firmware/contactor.c",)
    tree.write("firmware/contactor.c", ENGAGE.replace("PIN, 1", "PIN, 0"))
    memory.index_path()
    assert notes(memory, fact) == (f"{NOTE}firmware/contactor.c and changed since this was stored",)
    tree.remove("firmware/contactor.c")
    memory.index_path()
    assert notes(memory, fact) == (f"{NOTE}firmware/contactor.c and was removed since this was stored",)


def test_who_renames_it_back_finds_the_fact_as_it_was(memory: Memory, tree: WorkingTree, fact: str) -> None:
    tree.write("firmware/contactor.c", ENGAGE)
    memory.index_path()
    tree.write("firmware/contactor.c", CLOSE)
    memory.index_path()
    assert notes(memory, fact) == ()
    assert anchors(memory, fact) == [("firmware/contactor.c", "contactor_close")]


def test_a_fact_that_is_confirmed_after_it_stays_tied_and_is_not_outdated(
    memory: Memory, tree: WorkingTree, fact: str
) -> None:
    tree.write("firmware/contactor.c", ENGAGE)
    memory.index_path()
    for _ in range(2):
        memory.confirm_fact(fact)
        assert notes(memory, fact) == ()
        assert anchors(memory, fact) == [("firmware/contactor.c", "contactor_engage")]
    tree.write("firmware/contactor.c", ENGAGE.replace("PIN, 1", "PIN, 0"))
    memory.index_path()
    assert notes(memory, fact) == (
        "outdated: `contactor_engage` in firmware/contactor.c changed since this was stored",
    )


def test_a_global_fact_that_is_confirmed_in_another_project_stays_tied(memory: Memory, tree: WorkingTree) -> None:
    tree.write("firmware/contactor.c", CLOSE)
    memory.index_path()
    fact = memory.remember_fact(FACT, category="constraint", scope="global").id
    elsewhere = memory.project.root.parent / "elsewhere"
    elsewhere.mkdir()
    with Memory.open(memory.settings, elsewhere) as other:
        other.confirm_fact(fact)
    assert anchors(memory, fact) == [("firmware/contactor.c", "contactor_close")]


@pytest.mark.parametrize(
    "after",
    [
        ENGAGE.replace("PIN, 1", "PIN, 0"),
        ENGAGE + CLOSE[CLOSE.index("void") : CLOSE.index("int contactor_state")].replace("_close", "_shut"),
    ],
    ids=["another body", "two with its body"],
)
def test_where_the_new_name_is_not_sure_the_function_was_removed(
    memory: Memory, tree: WorkingTree, fact: str, after: str
) -> None:
    tree.write("firmware/contactor.c", after)
    memory.index_path()
    assert notes(memory, fact) == (
        "outdated: `contactor_close` in firmware/contactor.c was removed since this was stored",
    )


def test_code_that_stood_there_before_is_no_new_name(memory: Memory, tree: WorkingTree) -> None:
    both = CLOSE + CLOSE[CLOSE.index("void") : CLOSE.index("int contactor_state")].replace("_close", "_shut")
    tree.write("contactor.c", both)
    memory.index_path()
    fact = memory.remember_fact(FACT).id
    tree.write("contactor.c", CLOSE[CLOSE.index("int") :] + both[both.rindex("void") :] + "\nint added(void);\n")
    memory.index_path()
    assert "was removed" in notes(memory, fact)[0]


def test_members_go_with_a_class_that_is_renamed(memory: Memory, tree: WorkingTree) -> None:
    code = (
        "class Client:\n    def __init__(self, url: str) -> None:\n        self.url = url\n\n"
        "    def fetch(self, path: str) -> bytes:\n        return read_all(self.url + path)\n"
    )
    tree.write("client.py", code)
    memory.index_path()
    member = memory.remember_fact("`Client.fetch` never retries").id
    whole = memory.remember_fact("`Client` is safe to share between threads").id
    tree.write("client.py", code.replace("Client", "HttpClient"))
    memory.index_path()
    assert anchors(memory, member) == [("client.py", "HttpClient.fetch")]
    assert anchors(memory, whole) == [("client.py", "HttpClient")]


def test_few_words_are_no_body() -> None:
    assert hash_body("def close(self): ...", "close") is None
    assert hash_body("def close(self): return self.socket.close()", "close") is not None


@given(st.text(max_size=200), st.text(alphabet="ab_", min_size=1, max_size=5))
@hypothesis_settings(max_examples=examples(80))
def test_a_body_is_the_same_under_another_name_and_below_other_lines(text: str, name: str) -> None:
    body = f"one two three four {text}"
    if name not in body:
        other = hash_body(f"import this\n\nunheard_of {body}", "unheard_of")
        assert hash_body(f"{name} {body}", f"Client.{name}") == other
