"""Who imports a file, found by the keyword index."""

from __future__ import annotations

from hyperloci.memory import Memory
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from tests.working_tree import WorkingTree


def importers(memory: Memory, word: str) -> set[str | None]:
    (scope,) = memory.store.connection.execute("SELECT scope_key FROM files LIMIT 1").fetchone()
    keys = memory.store.relation_queue.find_importers(scope, [word])
    return {place.path for place in memory.store.positions.get_positions(keys).values()}


def test_importers_are_found_by_the_names_that_they_import(memory: Memory, tree: WorkingTree) -> None:
    tree.write("a.py", "from pkg._link_queue import run\n\nX = run()\n")
    tree.write("b.py", "import pkg.other\n\nLINK_QUEUE = 'link_queue'\n")
    tree.write("c.ts", "import { run } from './link-queue.js';\nexport const x = run();\n")
    tree.write("d.py", "import linked\n")
    memory.index_path(tree.root)

    assert importers(memory, "_link_queue") == {"a.py"}
    assert importers(memory, "link-queue") == {"c.ts"}
    assert importers(memory, "other") == {"b.py"}
    assert importers(memory, "linked") == {"d.py"}
    assert importers(memory, "nothing") == set()


def test_a_word_of_which_another_name_has_a_part_is_not_imported(memory: Memory, tree: WorkingTree) -> None:
    tree.write("Shop.java", "package app;\n\nclass Shop {\n    private Store store;\n}\n")
    tree.write(
        "Front.java", "package app;\n\nclass Front {\n    StoreFront at = StoreFront.open();\n    int store;\n}\n"
    )
    tree.write("a.py", "from pkg import util\n\nX = util.run()\n")
    tree.write("b.py", "from pkg import net_util, utility\n\nX = util = net_util.run()\n")
    memory.index_path(tree.root)

    assert importers(memory, "Store") == {"Shop.java"}
    assert importers(memory, "util") == {"a.py"}


def test_what_imports_something_else_is_not_read(memory: Memory, tree: WorkingTree) -> None:
    for number in range(60):
        tree.write(f"m{number}.py", f"import one.name_{number}\n\n\ndef f{number}():\n    return name_{number}\n")
    memory.index_path(tree.root)
    connection = memory.store.connection
    steps = {0: 0}

    def count() -> int:
        steps[0] += 1
        return 0

    connection.set_progress_handler(count, 10)
    assert importers(memory, "name_7") == {"m7.py"}
    connection.set_progress_handler(None, 0)

    # To read the facts of all 120 pieces takes some 150 of these ten steps.
    assert steps[0] < 60


def test_an_edge_that_stays_is_as_sure_as_the_rules_are_now_unless_it_is_confirmed(
    memory: Memory, tree: WorkingTree
) -> None:
    tree.write("a.py", "def one():\n    return 1\n")
    tree.write("b.py", "def two():\n    return 2\n")
    memory.index_path(tree.root)
    connection, queue = memory.store.connection, memory.store.relation_queue
    caller, called = (NodeKey(row[0]) for row in connection.execute("SELECT node_key FROM positions ORDER BY path"))

    def link(confidence: float) -> tuple[str, float]:
        wanted = WantedRelation("calls", called, confidence, "calls `two`")
        with memory.store.transaction():
            queue.replace_relations_of_all({caller: [wanted]}, ["calls"], now=1)
        row = connection.execute("SELECT id, confidence FROM hyperedges WHERE label = 'calls'").fetchone()
        return row[0], row[1]

    edge, _ = link(0.95)
    assert link(0.6) == (edge, 0.6)
    connection.execute("UPDATE hyperedges SET confirmed_at = 1, confidence = 1.0")
    assert link(0.6) == (edge, 1.0)
