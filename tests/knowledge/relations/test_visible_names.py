"""Names that code may not mean where it stands: private ones, extensions of another type, what nothing includes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.store import Store, migration
from tests.knowledge.relations.linked import Linked
from tests.support import FakeClock

pytestmark = pytest.mark.req("D.03")


@pytest.fixture
def code(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


def called_by(code: Linked, source: str) -> set[str]:
    """Return the targets of what a symbol calls or tests."""
    return {target for label, start, target in code.edges("calls", "tests") if start == source}


def count_by_confidence(code: Linked) -> dict[float, int]:
    """Return how many calls there are of each confidence."""
    rows = code.store.connection.execute("SELECT confidence, count(*) FROM hyperedges WHERE label = 'calls' GROUP BY 1")
    return {row[0]: row[1] for row in rows}


def c_function(name: str, body: str = "return x;") -> str:
    return f"int {name}(int x)\n{{\n    int y = x;\n    {body}\n}}\n"


def test_of_functions_of_one_name_in_c_that_one_is_meant_which_is_included(code: Linked) -> None:
    code.index(
        {
            "net/list.h": "#ifndef LIST_H\n#define LIST_H\nint list_add(int x);\n#endif\n",
            "net/list_impl.c": '#include "list.h"\n\n' + c_function("list_add"),
            "tools/tool.c": c_function("list_add", "return y + 1;"),
            "net/all.h": '#include "list.h"\n\n#define ALL 1\n',
            "net/main.c": '#include "all.h"\n\n' + c_function("run", "return list_add(y);"),
            "other/main.c": c_function("run", "return list_add(y);"),
        }
    )
    assert called_by(code, "net/main.c:run") == {"net/list_impl.c:list_add"}
    assert called_by(code, "other/main.c:run") == set()


def test_the_only_function_of_c_that_nothing_includes_is_doubtful(code: Linked) -> None:
    code.index(
        {
            "a/tool.c": "".join(f"{c_function(name)}\n" for name in ("print_usage", "basename", "test_cond")),
            "b/main.c": c_function("run", "return print_usage(basename(y));"),
            "b/test.c": "#  define\ttest_cond(x) (x)\n\n" + c_function("check", "return test_cond(y);"),
        }
    )
    assert called_by(code, "b/main.c:run") == {"a/tool.c:print_usage"}
    assert count_by_confidence(code) == {0.6: 1}


def test_a_private_function_of_kotlin_is_called_in_its_own_file_alone(code: Linked) -> None:
    code.index(
        {
            "a/Handle.kt": "package a\n\nclass Handle {\n    private fun Large.toLong(): Long {\n"
            "        return 1L\n    }\n    fun size(x: Large): Long {\n        return x.toLong()\n    }\n}\n\n"
            "private fun api(x: Int): Int {\n    return x\n}\n",
            "a/Use.kt": "package a\n\nfun use(x: Int): Long {\n    api(x)\n    return x.toLong()\n}\n",
        }
    )
    assert called_by(code, "a/Use.kt:use") == set()
    assert called_by(code, "a/Handle.kt:Handle.size") == {"a/Handle.kt:Handle.toLong"}


def test_an_extension_of_kotlin_is_called_bare_on_its_own_type_alone(code: Linked) -> None:
    code.index(
        {
            "a/Ext.kt": "package a\n\nfun Path.commonResolve(x: Int): Path {\n    return this\n}\n\n"
            "fun Char.repeat(count: Int): String {\n    return toString()\n}\n",
            "a/Path.kt": "package a\n\nclass Path {\n    fun resolve(): Path {\n"
            "        return commonResolve(1)\n    }\n}\n\n"
            "fun Path.twice(): Path {\n    return commonResolve(2)\n}\n",
            "a/Use.kt": "package a\n\nfun use(path: Path) {\n    repeat(200) {\n"
            "        path.commonResolve(3)\n    }\n}\n",
            "a/With.kt": "package a\n\nfun within(path: Path) {\n    with(path) {\n"
            "        commonResolve(repeat(3))\n    }\n}\n",
        }
    )
    target = {"a/Ext.kt:commonResolve"}
    for source in ("a/Path.kt:Path.resolve", "a/Path.kt:twice", "a/Use.kt:use", "a/With.kt:within"):
        assert called_by(code, source) == target
    assert count_by_confidence(code) == {0.6: 2, 0.95: 2}


def test_an_extension_of_kotlin_is_called_bare_below_its_type_and_by_the_name_of_a_plain_function(code: Linked) -> None:
    code.index(
        {
            "a/Ext.kt": "package a\n\nfun Base.fuse(x: Int): Int {\n    return x\n}\n\n"
            "fun join(x: Int, y: Int): Int {\n    return x\n}\n\nfun Base.join(x: Int): Int {\n    return x\n}\n",
            "a/Base.kt": "package a\n\ninterface Base {\n    val x: Int\n}\n\n"
            "interface Middle : Base {\n    val y: Int\n}\n",
            "a/Low.kt": "package a\n\nclass Low : Middle {\n    fun run(): Int {\n        return fuse(1)\n    }\n}\n\n"
            "fun Middle.twice(): Int {\n    return fuse(2)\n}\n",
            "a/Use.kt": "package a\n\nfun use(): Int {\n    return fuse(join(1, 2))\n}\n",
        }
    )
    assert called_by(code, "a/Low.kt:Low.run") == called_by(code, "a/Low.kt:twice") == {"a/Ext.kt:fuse"}
    assert called_by(code, "a/Use.kt:use") == {"a/Ext.kt:join"}


def test_a_class_of_kotlin_has_no_base_of_its_companion_or_of_an_object_in_it(code: Linked) -> None:
    code.index(
        {
            "a/Base.kt": "package a\n\nopen class Base {\n    fun run(): Int {\n        return 1\n    }\n}\n\n"
            "open class Factory(x: Int) {\n    fun make(): Int {\n        return 1\n    }\n}\n",
            "a/Own.kt": "package a\n\nclass Own : Base() {\n    val other = object : Factory(2) {}\n"
            "    companion object : Factory(1) {\n        fun of(): Own {\n"
            "            return Own()\n        }\n    }\n}\n",
        }
    )
    assert code.edges("inherits") == {("inherits", "a/Own.kt:Own", "a/Base.kt:Base")}
    assert called_by(code, "a/Own.kt:Own") == {"a/Base.kt:Factory"}


def test_a_name_that_comes_from_another_projects_class_is_not_one_methods_alone(code: Linked) -> None:
    method = "    @Override\n    public int {name}(int x) {{\n        return x;\n    }}\n"
    code.index(
        {
            "a/Lazy.java": "package a;\n\npublic class Lazy extends Number {\n"
            + method.format(name="intValue")
            + "}\n",
            "a/Policy.java": "package a;\n\npublic class Policy implements Strategy {\n"
            + method.format(name="readNumber")
            + "    private int hideAway(int x) {\n        return x;\n    }\n}\n",
            "a/Strategy.java": "package a;\n\npublic interface Strategy {\n    int readNumber(int x);\n}\n",
            "a/Use.java": "package a;\n\npublic class Use {\n    public int run() {\n"
            "        return get().intValue(get().readNumber(get().hideAway(1)));\n    }\n}\n",
        }
    )
    assert called_by(code, "a/Use.java:Use.run") == {"a/Policy.java:Policy.readNumber"}


def test_an_operator_of_kotlin_and_a_word_with_a_number_are_no_methods_alone(code: Linked) -> None:
    code.index(
        {
            "a/Lazy.kt": "package a\n\nclass Lazy {\n    operator fun getValue(x: Any, y: Any): Int {\n"
            "        return 1\n    }\n    fun utf8(): Int {\n        return 2\n    }\n}\n",
            "a/Use.kt": 'package a\n\nfun use(map: Map<String, Int>) {\n    map.getValue("x")\n    load().utf8()\n}\n',
        }
    )
    assert called_by(code, "a/Use.kt:use") == set()


def test_a_method_of_rust_without_pub_is_called_below_its_module_alone(code: Linked) -> None:
    call = "pub fn {name}(x: Foo) {{\n    x.inner().push_all();\n    x.inner().walk_tree();\n}}\n"
    code.index(
        {
            "src/lib.rs": "mod deep;\nmod own;\nmod tree;\n",
            "src/own.rs": "pub struct Own;\n\nimpl Own {\n    fn push_all(&self) -> u32 {\n        1\n    }\n}\n",
            "src/tree.rs": "pub trait Tree {\n    fn walk_tree(&self) -> u32 {\n        1\n    }\n}\n",
            "src/own/part.rs": call.format(name="inside"),
            "src/deep.rs": call.format(name="outside"),
        }
    )
    walk = "src/tree.rs:Tree.walk_tree"
    assert called_by(code, "src/own/part.rs:inside") == {"src/own.rs:Own.push_all", walk}
    assert called_by(code, "src/deep.rs:outside") == {walk}


GTEST = """#include <gtest/gtest.h>

namespace app {

class StoreTest : public testing::Test {
 public:
  void Check(int a) {
    int b = a;
    total += b;
    more += a;
  }
};

TEST_F(StoreTest, Recovers) {
  Check(1);
}

TEST(Plain, Adds) {
  Run(1);
}

}  // namespace app
"""


def test_a_test_of_googletest_has_its_own_name_and_calls_its_fixture(code: Linked) -> None:
    code.index({"store_test.cc": GTEST})
    assert called_by(code, "store_test.cc:app.StoreTest.Recovers") == {"store_test.cc:app.StoreTest.Check"}
    symbols = {row[0] for row in code.store.connection.execute("SELECT symbol FROM positions")}
    assert "app.Plain.Adds" in symbols
    assert not {"app.TEST", "app.TEST_F"} & symbols


def test_no_code_calls_a_test_of_googletest_that_is_named_after_what_it_tests(code: Linked) -> None:
    test = "TEST({suite}, {name}) {{\n  get(1).{call}(1);\n  write(2);\n}}\n"
    code.index(
        {
            "number.hpp": "class Number {\n public:\n  int divide_by(int x) {\n    int y = x;\n    total += y;\n"
            "    return y;\n  }\n};\n\ninline int write(int x) {\n  int y = x;\n  return y;\n}\n",
            "all_test.cc": '#include "number.hpp"\n\n'
            + test.format(suite="Number", name="divide_by", call="divide_by")
            + test.format(suite="Number", name="write", call="divide_by"),
        }
    )
    expected = {"number.hpp:Number.divide_by", "number.hpp:write"}
    assert called_by(code, "all_test.cc:Number.divide_by") == expected
    assert called_by(code, "all_test.cc:Number.write") == expected


def test_tests_of_cpp_that_an_older_program_cut_get_their_names(
    settings: Settings, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "old.db", migration.load_migrations()[:31]
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        with Store.open(path) as store:
            Linked(store, settings, tmp_path / "project", clock).index({"store_test.cc": GTEST})
            with store.transaction():
                store.connection.execute("UPDATE positions SET symbol = 'app.TEST_F' WHERE symbol LIKE '%.Recovers'")

    with Store.open(path) as store:
        code = Linked(store, settings, tmp_path / "project", clock)
        code.index({})
        assert called_by(code, "store_test.cc:app.StoreTest.Recovers") == {"store_test.cc:app.StoreTest.Check"}
