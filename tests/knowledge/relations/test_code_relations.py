"""Relations that source code states: what resolves, and what must not (D.03)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.link_queue import link_queued
from hyperloci.knowledge.relations.file_view import FileView
from hyperloci.knowledge.relations.linker import RelationLinker
from hyperloci.store import Store, migration
from tests.knowledge.relations.linked import Edge, Linked
from tests.support import FakeClock


@pytest.fixture
def code(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


HELPERS = '''"""Helpers of every kind, for whoever needs them: so many words that the head is a snippet of its own, and
not the beginning of the first function's."""

LIMIT = 3


def helper(value):
    return value + 1


class Base:
    """A base."""

    def run(self):
        return self.step()

    def step(self):
        return 1
'''


@pytest.mark.req("D.03")
def test_python_imports_and_calls_are_resolved_through_the_file_that_is_meant(code: Linked) -> None:
    code.index(
        {
            "pkg/__init__.py": "",
            "pkg/helpers.py": HELPERS,
            "pkg/use.py": "from pkg.helpers import LIMIT, helper\nfrom pkg import helpers as tools\n\n\n"
            "def both(x):\n    return helper(x) + tools.helper(LIMIT)\n",
            "other/helpers.py": "def helper(value):\n    return value\n",
        }
    )
    assert code.edges() == {
        ("imports", "pkg/use.py:both", "pkg/helpers.py:"),
        ("imports", "pkg/use.py:both", "pkg/helpers.py:helper"),
        ("calls", "pkg/use.py:both", "pkg/helpers.py:helper"),
        ("calls", "pkg/helpers.py:Base.run", "pkg/helpers.py:Base.step"),
    }


@pytest.mark.req("D.03")
def test_relative_imports_and_re_exports_are_followed(code: Linked) -> None:
    code.index(
        {
            "src/app/__init__.py": "from .core import Engine as Motor\n",
            "src/app/core.py": "class Engine:\n    def start(self):\n        return 1\n",
            "src/main.py": "from app import Motor\n\n\ndef main():\n    return Motor.start(Motor())\n",
        }
    )
    assert code.edges("calls") == {
        ("calls", "src/main.py:main", "src/app/core.py:Engine.start"),
        ("calls", "src/main.py:main", "src/app/core.py:Engine"),
    }
    assert ("imports", "src/main.py:main", "src/app/core.py:Engine") in code.edges("imports")


@pytest.mark.req("D.03")
def test_a_class_extends_and_a_method_overrides_what_is_meant_in_another_file(code: Linked) -> None:
    code.index(
        {
            "helpers.py": HELPERS,
            "child.py": "from helpers import Base\n\n\nclass Child(Base):\n    def step(self):\n        return 2\n\n"
            "    def other(self):\n        return self.run()\n",
        }
    )
    assert code.edges("inherits", "overrides", "calls") == {
        ("inherits", "child.py:Child", "helpers.py:Base"),
        ("overrides", "child.py:Child.step", "helpers.py:Base.step"),
        ("calls", "child.py:Child.other", "helpers.py:Base.run"),
        ("calls", "helpers.py:Base.run", "helpers.py:Base.step"),
    }


@pytest.mark.req("D.03")
def test_a_parameter_with_a_type_tells_whose_method_is_called(code: Linked) -> None:
    code.index(
        {
            "helpers.py": HELPERS,
            "use.py": "from helpers import Base\n\n\ndef go(base: Base, other):\n    base.run()\n    other.step()\n",
        }
    )
    assert code.edges("calls") == {
        ("calls", "use.py:go", "helpers.py:Base.run"),
        ("calls", "helpers.py:Base.run", "helpers.py:Base.step"),
    }


@pytest.mark.req("D.03")
def test_what_a_test_file_named_after_a_module_calls_in_it_is_tested(code: Linked) -> None:
    code.index(
        {
            "pkg/helpers.py": HELPERS,
            "tests/test_helpers.py": "from pkg.helpers import helper\n\n\ndef made():\n    return 1\n\n\n"
            "def test_it_adds():\n    assert helper(made()) == 2\n",
        }
    )
    assert code.edges("tests", "calls") == {
        ("tests", "tests/test_helpers.py:made", "pkg/helpers.py:"),
        ("tests", "tests/test_helpers.py:test_it_adds", "pkg/helpers.py:helper"),
        ("calls", "tests/test_helpers.py:test_it_adds", "tests/test_helpers.py:made"),
        ("calls", "pkg/helpers.py:Base.run", "pkg/helpers.py:Base.step"),
    }


NO_EDGE = {
    "a name of the standard library": (
        "import queue\n\n\ndef f():\n    return queue.put(1)\n",
        "def put(x):\n    return x\n",
    ),
    "a method of who knows what": ("def f(thing):\n    return thing.put(1)\n", "def put(x):\n    return x\n"),
    "the last name of what is computed": (
        "from queue_ import put\n\n\ndef f(x):\n    return x[0]().put(1)\n",
        "def put(x):\n    return x\n",
    ),
    "a parameter of the same name": (
        "from queue_ import put\n\n\ndef f(put):\n    return put(1)\n",
        "def put(x):\n    return x\n",
    ),
    "a local variable of the same name": (
        "from queue_ import put\n\n\ndef f():\n    put = len\n    return put('a')\n",
        "def put(x):\n    return x\n",
    ),
    "another method of the class without self": (
        "class A:\n    def put(self):\n        pass\n\n    def f(self):\n        put()\n",
        "",
    ),
    "a name nobody imported": ("def f():\n    return put(1)\n", "def put(x):\n    return x\n"),
}


@pytest.mark.req("D.03")
@pytest.mark.parametrize("name", NO_EDGE)
def test_no_call_is_guessed(code: Linked, name: str) -> None:
    user, queue = NO_EDGE[name]
    code.index({"pkg/user.py": user, "pkg/queue.py": queue, "queue_.py": queue})
    assert code.edges("calls") == set()


@pytest.mark.req("D.03")
def test_an_import_that_two_folders_could_answer_means_neither(code: Linked) -> None:
    code.index({"a/lib/x.py": "A = 1\n", "b/lib/x.py": "A = 2\n", "c/use.py": "from lib.x import A\n"})
    assert code.edges("imports") == set()


@pytest.mark.req("D.03")
def test_an_import_shown_in_a_docstring_is_none(code: Linked) -> None:
    code.index(
        {
            "helpers.py": HELPERS,
            "use.py": '"""Use it so:\n\n    from helpers import helper\n"""\n\n\ndef f(x):\n    return helper(x)\n',
        }
    )
    assert code.edges("imports") == set()
    assert ("calls", "use.py:f", "helpers.py:helper") not in code.edges()


@pytest.mark.req("D.03")
def test_scripts_import_by_relative_path_under_any_name(code: Linked) -> None:
    code.index(
        {
            "src/api/client.ts": "export class Client {\n  send(x: number) { return x; }\n}\n\n"
            "export function connect() {\n  return new Client();\n}\n",
            "src/app.ts": "import { connect as open } from './api/client.js';\n"
            "import * as api from './api/client';\n\nfunction main() {\n  open();\n  return api.connect();\n}\n",
            "src/old.js": "const { connect } = require('./api/client');\n\n"
            "function start() {\n  return connect();\n}\n",
        }
    )
    assert code.edges() == {
        ("imports", "src/app.ts:main", "src/api/client.ts:Client"),
        ("imports", "src/old.js:start", "src/api/client.ts:Client"),
        ("calls", "src/app.ts:main", "src/api/client.ts:connect"),
        ("calls", "src/old.js:start", "src/api/client.ts:connect"),
        ("calls", "src/api/client.ts:connect", "src/api/client.ts:Client"),
    }


@pytest.mark.req("D.03")
def test_a_go_package_is_all_its_files(code: Linked) -> None:
    code.index(
        {
            "store/open.go": "package store\n\nfunc Open() int {\n\treturn check()\n}\n",
            "store/check.go": "package store\n\nfunc check() int {\n\treturn 1\n}\n",
            "main.go": 'package main\n\nimport "example.com/app/store"\n\nfunc main() {\n\tstore.Open()\n}\n',
        }
    )
    assert code.edges("calls") == {
        ("calls", "main.go:main", "store/open.go:Open"),
        ("calls", "store/open.go:Open", "store/check.go:check"),
    }


@pytest.mark.req("D.03")
def test_every_edge_found_is_automatic_scored_and_evidenced(code: Linked) -> None:
    code.index({"helpers.py": HELPERS, "use.py": "from helpers import helper\n\n\ndef f():\n    return helper(1)\n"})
    rows = code.store.connection.execute(
        "SELECT automatic, confidence, evidence, confirmed_at FROM hyperedges WHERE label IN ('calls', 'imports')"
    ).fetchall()
    assert len(rows) == 3
    assert all(row[0] == 1 and 0.8 <= row[1] < 1.0 and row[2] and row[3] is None for row in rows)


# When files change


@pytest.mark.req("D.03")
def test_edges_follow_an_edit_and_those_that_still_hold_keep_their_id(code: Linked) -> None:
    both = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    code.index({"lib.py": both, "use.py": "from lib import one, two\n\n\ndef f():\n    return one() + two()\n"})
    before = ids(code)
    code.index({"use.py": "from lib import one, two\n\n\ndef f():\n    return one() + 1\n"})
    after = ids(code)
    assert code.edges("calls") == {("calls", "use.py:f", "lib.py:one")}
    assert after.items() <= before.items()


@pytest.mark.req("D.03")
def test_a_caller_that_did_not_change_finds_what_appears_in_another_file(code: Linked) -> None:
    use = "from lib import late\n\n\ndef f():\n    return late()\n"
    code.index({"lib.py": "def early():\n    return 1\n", "use.py": use})
    assert code.edges("calls") == set()
    code.index({"lib.py": "def early():\n    return 1\n\n\ndef late():\n    return 2\n"})
    assert code.edges("calls") == {("calls", "use.py:f", "lib.py:late")}
    code.index({"lib.py": None})
    assert code.edges() == set()
    code.index({"lib.py": "def late():\n    return 2\n"})
    assert code.edges("calls") == {("calls", "use.py:f", "lib.py:late")}


@pytest.mark.req("D.03")
def test_a_changed_import_changes_what_untouched_functions_call(code: Linked) -> None:
    code.index(
        {
            "a.py": "def go():\n    return 1\n",
            "b.py": "def go():\n    return 2\n",
            "use.py": "from a import go\n\n\ndef f():\n    return go()\n",
        }
    )
    assert code.edges("calls") == {("calls", "use.py:f", "a.py:go")}
    code.index({"use.py": "from b import go\n\n\ndef f():\n    return go()\n"})
    assert code.edges("calls") == {("calls", "use.py:f", "b.py:go")}


@pytest.mark.req("D.03")
def test_a_confirmed_edge_stays_whatever_the_rules_say_and_is_not_made_twice(code: Linked) -> None:
    code.index({"lib.py": HELPERS, "use.py": "from lib import helper\n\n\ndef f():\n    return helper(1)\n"})
    edge = next(key for key, label in labels(code).items() if label == "calls" and key in ids(code).values())
    with code.store.transaction():
        assert code.store.edges.confirm_edge(edge, now=1)
    code.index({"use.py": "from lib import helper\n\n\ndef f():\n    return helper(2)\n"})
    assert edge in ids(code).values()
    assert len([label for label in labels(code).values() if label == "calls"]) == 2


@pytest.mark.req("D.03")
def test_indexing_again_changes_no_edge(code: Linked) -> None:
    code.index({"helpers.py": HELPERS, "use.py": "from helpers import helper\n\n\ndef f():\n    return helper(1)\n"})
    before = ids(code)
    code.index({})
    assert ids(code) == before
    assert code.store.relation_queue.list_waiting(code.store.scopes.find_key("p") or 0) == {}


@pytest.mark.req("D.03")
def test_a_run_that_was_cut_off_leaves_its_relations_waiting(code: Linked) -> None:
    from hyperloci.indexing.link_queue import link_queued

    code.index({"helpers.py": HELPERS, "use.py": "from helpers import helper\n\n\ndef f():\n    return helper(1)\n"})
    scope = code.store.scopes.find_key("p") or 0
    before = code.edges()
    with code.store.transaction():
        code.store.relation_queue.queue_kind(scope, "code")
        code.store.connection.execute("DELETE FROM hyperedges WHERE label IN ('calls', 'imports')")
    assert link_queued(code.store, scope, code.clock, cancelled=lambda: True) == 0
    assert link_queued(code.store, scope, code.clock) == len(before)
    assert code.edges() == before
    assert link_queued(code.store, scope, code.clock) == 0


def ids(code: Linked) -> dict[Edge, str]:
    rows = code.store.connection.execute(
        """
        SELECT h.label, s.node_key, o.node_key, h.id FROM hyperedges h
        JOIN membership s ON s.hyperedge_key = h.key AND s.position = 0
        JOIN membership o ON o.hyperedge_key = h.key AND o.position = 1 WHERE h.label <> 'contains'
        """
    )
    return {(row[0], str(row[1]), str(row[2])): row[3] for row in rows}


def labels(code: Linked) -> dict[str, str]:
    return dict(code.store.connection.execute("SELECT id, label FROM hyperedges").fetchall())


@pytest.mark.req("D.03")
def test_a_method_is_called_by_what_a_snippet_makes_of_its_class(code: Linked) -> None:
    uses = """from helpers import Base


def opened():
    with Base() as base:
        return base.run()


def made():
    base = Base()
    return base.run()


def unsure(flag):
    base = Base()
    base = flag
    return base.run()
"""
    code.index({"helpers.py": HELPERS, "uses.py": uses})

    assert code.edges("calls") >= {
        ("calls", "uses.py:opened", "helpers.py:Base.run"),
        ("calls", "uses.py:made", "helpers.py:Base.run"),
    }
    assert ("calls", "uses.py:unsure", "helpers.py:Base.run") not in code.edges("calls")


@pytest.mark.req("D.03")
def test_a_name_is_followed_through_a_package_that_hands_all_names_on(code: Linked) -> None:
    code.index(
        {
            "kit/__init__.py": "from ._helpers import *\n",
            "kit/_helpers.py": HELPERS,
            "uses.py": "import kit\n\n\ndef use():\n    return kit.helper(1)\n",
        }
    )

    assert ("calls", "uses.py:use", "kit/_helpers.py:helper") in code.edges("calls")


@pytest.mark.req("D.03")
def test_names_that_a_file_imports_all_at_once_mean_what_that_file_has(code: Linked) -> None:
    code.index(
        {
            "kit/__init__.py": "",
            "kit/helpers.py": f"{HELPERS}\n\ndef _own(value):\n    return value\n",
            "kit/more.py": "def twice(value):\n    return value * 2\n",
            "kit/other.py": "def twice(value):\n    return value + value\n",
            "kit/use.py": "from .helpers import *\nfrom .more import *\nfrom .other import *\n\n\n"
            "def use(value):\n    return helper(value) + twice(value) + _own(value)\n\n\n"
            "def bound(helper):\n    return helper(1)\n\n\n"
            "class Child(Base):\n    def run(self):\n        return 2\n",
        }
    )

    assert {edge for edge in code.edges("calls", "inherits", "overrides") if edge[1].startswith("kit/use.py")} == {
        ("calls", "kit/use.py:use", "kit/helpers.py:helper"),
        ("inherits", "kit/use.py:Child", "kit/helpers.py:Base"),
        ("overrides", "kit/use.py:Child.run", "kit/helpers.py:Base.run"),
    }


@pytest.mark.req("D.03")
def test_a_name_is_followed_through_a_script_that_hands_it_on(code: Linked) -> None:
    code.index(
        {
            "src/answer.ts": "export function isFine(code: number) {\n  return code < 300;\n}\n",
            "src/options.ts": "export default class Options {\n  merge() { return 1; }\n}\n",
            "src/hidden.ts": "export function hide() {\n  return 2;\n}\n",
            "src/index.ts": "// export * from './hidden';\nexport * from './answer.js';\n"
            "export { default as Options } from './options.js';\n\n"
            "export function own() {\n  return isFine(1);\n}\n",
            "src/app.ts": "import { isFine, Options, hide } from './index.js';\n\n"
            "function main() {\n  hide();\n  return isFine(200);\n}\n\n"
            "class More extends Options {\n  x() { return 1; }\n}\n",
        }
    )

    assert code.edges("calls", "inherits") == {
        ("calls", "src/app.ts:main", "src/answer.ts:isFine"),
        ("inherits", "src/app.ts:More", "src/options.ts:Options"),
    }


@pytest.mark.req("D.03")
def test_what_a_file_gives_a_meaning_itself_is_not_what_it_imports_all_at_once(code: Linked) -> None:
    code.index(
        {
            "kit/__init__.py": "",
            "kit/tools.py": "".join(
                f"def {name}(value):\n    return value\n\n\n" for name in ("get", "post", "put", "pack", "open", "fine")
            ),
            "kit/use.py": "from .tools import *\nfrom requests import get, send as post\n\npack = get('packer')\n\n\n"
            "def use(value):\n    return get(value) + post(value) + pack(value) + open(value) + fine(value)\n\n\n"
            "def other(value):\n    from requests import put\n\n    return put(value)\n",
            "kit/again.py": "from .use import get, pack, fine\n\n\n"
            "def again(value):\n    return get(value) + pack(value) + fine(value)\n",
        }
    )

    assert {edge for edge in code.edges("calls") if edge[2].startswith("kit/tools.py")} == {
        ("calls", "kit/use.py:use", "kit/tools.py:fine"),
        ("calls", "kit/again.py:again", "kit/tools.py:fine"),
    }


@pytest.mark.req("D.03")
def test_what_a_script_hands_on_by_name_is_not_what_another_file_has(code: Linked) -> None:
    names = ("helper", "wrap", "local", "fine")
    code.index(
        {
            "src/all.ts": "".join(f"export function {name}(x) {{\n  return x;\n}}\n" for name in names),
            "src/index.ts": "export * from './all';\nexport { helper, other as wrap } from 'library';\n"
            "export const local = made(3);\n",
            "src/use.ts": "import { helper, wrap, local, fine } from './index';\n\n"
            "export function use() {\n  return helper(1) + wrap(2) + local(3) + fine(4);\n}\n",
        }
    )

    assert code.edges("calls") == {("calls", "src/use.ts:use", "src/all.ts:fine")}


@pytest.mark.req("W1")
def test_scripts_that_hand_on_each_other_are_looked_at_once_for_a_name(
    code: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    view = RelationLinker.view

    def note_view(linker: RelationLinker, path: str) -> FileView | None:
        looked.append(path)
        return view(linker, path)

    monkeypatch.setattr(RelationLinker, "view", note_view)
    folders = [f"f{number}" for number in range(7)]
    files = {
        f"{one}/index.ts": "".join(f"export * from '../{other}';\n" for other in folders if other != one)
        for one in folders
    }
    code.index(files | {"use.ts": "import { gone } from './f0';\n\nexport function use() {\n  return gone();\n}\n"})

    assert len(looked) < 10 * len(folders)


@pytest.mark.req("D.03")
def test_a_method_of_go_is_called_by_its_receiver_and_by_parameters(code: Linked) -> None:
    code.index(
        {
            "context.go": """package web

type Context struct {
    status int
}

func (c *Context) Render(status int) {
    c.status = status
}

func (c *Context) JSON(status int) {
    c.Render(status)
}

func answer(code int, context *Context) {
    context.JSON(code)
}
"""
        }
    )

    assert code.edges("calls") >= {
        ("calls", "context.go:Context.JSON", "context.go:Context.Render"),
        ("calls", "context.go:answer", "context.go:Context.JSON"),
    }


EDITING = """\
class Editor:
    def edit_files(self):
        return 1

    def close(self):
        return 2

    def paint_lines(self):
        return 3
"""
USES = """\
def main(maker):
    editor = maker()
    editor.edit_files()
    editor.close()
    maker().paint_lines()
"""


@pytest.mark.req("D.03")
def test_a_receiver_of_unknown_class_is_told_by_a_method_that_one_class_alone_has(code: Linked) -> None:
    code.index(
        {
            "editing.py": EDITING,
            "use.py": USES,
            "other.py": "import shell\n\n\ndef run():\n    return shell.edit_files()\n",
        }
    )

    assert code.edges("calls") == {
        ("calls", "use.py:main", "editing.py:Editor.edit_files"),
        ("calls", "use.py:main", "editing.py:Editor.paint_lines"),
    }

    code.index({"second.py": EDITING.replace("Editor", "Second"), "use.py": f"{USES}    return editor\n"})

    assert code.edges("calls") == set()


@pytest.mark.req("D.03")
def test_classes_that_inherit_from_what_the_other_inherits_hide_no_call(code: Linked) -> None:
    code.index(
        {
            "left.py": "from right import Right, help_it\n\n\nclass Left(Right.Inner):\n"
            "    def go(self):\n        return self.step() + help_it()\n",
            "right.py": "from left import Left\n\n\nclass Right(Left.Outer):\n    pass\n"
            "\n\ndef help_it():\n    return 1\n",
        }
    )

    assert code.edges("calls") == {("calls", "left.py:Left.go", "right.py:help_it")}


@pytest.mark.req("D.03")
@pytest.mark.parametrize(
    ("said", "file"), [("x.js", "x.ts"), ("x.jsx", "x.tsx"), ("x.mjs", "x.mts"), ("x.cjs", "x.cts"), ("x.mjs", "x.mjs")]
)
def test_an_import_that_names_what_is_built_means_what_it_is_built_from(code: Linked, said: str, file: str) -> None:
    use = f"import {{ open }} from './{said}';\n\nexport function use() {{\n  return open();\n}}\n"
    code.index({file: "export function open() {\n  return 1;\n}\n", "use.ts": use})

    assert code.edges("calls") == {("calls", "use.ts:use", f"{file}:open")}


OWN_CALLS = {
    "a.php": "<?php\nclass Base {\n    function top() {\n        return 1;\n    }\n}\n"
    "class Box extends Base {\n    function go() {\n"
    "        return $this->step() + static::stay() + parent::top();\n    }\n"
    "    function step() {\n        return 1;\n    }\n    static function stay() {\n        return 2;\n    }\n}\n"
    "function use_it(?Box $box) {\n    return $box?->step();\n}\n",
    "a.ts": "class Base {\n  top() {\n    return 1;\n  }\n}\n"
    "class Box extends Base {\n  go() {\n    return this?.step() + this.#stay() + super.top();\n  }\n"
    "  step() {\n    return 1;\n  }\n  #stay() {\n    return 2;\n  }\n}\n"
    "function use_it(box?: Box) {\n  return box?.step();\n}\n",
    "a.kt": "open class Base<T> {\n    fun top() {\n        print(1)\n    }\n}\n"
    "class Box : Base<Int>() {\n    fun go() {\n        step()\n        this.stay()\n        top()\n    }\n"
    "    fun step() {\n        print(1)\n    }\n    fun stay() {\n        print(2)\n    }\n}\n"
    "fun use_it(box: Box?) {\n    box?.step()\n}\n",
    "a.cs": "class Base {\n    int top() {\n        return 1;\n    }\n}\n"
    "class Box : Base {\n    int go() {\n        return step() + this.stay() + base.top();\n    }\n"
    "    int step() {\n        return 1;\n    }\n    int stay() {\n        return 2;\n    }\n}\n"
    "class Use { int use_it(Box? box) {\n    return box.step();\n} }\n",
    "a.py": "class Base:\n    def top(self):\n        return 1\n\n\n"
    "class Box(Base):\n    def go(self):\n        return self.step() + self.stay() + super().top()\n\n"
    "    def step(self):\n        return 1\n\n    def stay(self):\n        return 2\n\n\n"
    "def use_it(box: Box):\n    return box.step()\n",
}


@pytest.mark.req("D.03")
@pytest.mark.parametrize("path", OWN_CALLS)
def test_a_method_calls_its_own_and_what_its_class_has_from_above(code: Linked, path: str) -> None:
    code.index({path: OWN_CALLS[path]})

    user = "Use.use_it" if path == "a.cs" else "use_it"
    assert code.edges("calls") == {
        ("calls", f"{path}:Box.go", f"{path}:Box.step"),
        ("calls", f"{path}:Box.go", f"{path}:Box.stay"),
        ("calls", f"{path}:Box.go", f"{path}:Base.top"),
        ("calls", f"{path}:{user}", f"{path}:Box.step"),
    }


@pytest.mark.req("D.03")
def test_methods_that_stand_outside_of_their_class_call_each_other(code: Linked) -> None:
    table = f"-- {'What boxes can do, at length. ' * 8}\nlocal Box = {{}}\n\nlocal LIMIT = 1\n\n"
    code.index(
        {
            "a.lua": f"{table}function Box:go()\n  return self:step()\nend\n\nfunction Box:step()\n  return 1\nend\n",
            "a.cpp": "int Box::go() {\n  return this->step();\n}\n\nint Box::step() {\n  return 1;\n}\n",
            "a.rs": "struct Box2 { x: u8 }\n\nimpl Box2 {\n    fn step(&self) -> u8 {\n        1\n    }\n}\n\n"
            "fn run(one: &Box2, two: &'a mut Box2) -> u8 {\n    two.step()\n}\n",
        }
    )

    assert code.edges("calls") == {
        ("calls", "a.lua:Box.go", "a.lua:Box.step"),
        ("calls", "a.cpp:Box.go", "a.cpp:Box.step"),
        ("calls", "a.rs:run", "a.rs:Box2.step"),
    }


@pytest.mark.req("D.03")
def test_what_is_no_call_of_a_method_is_not_taken_for_one(code: Linked) -> None:
    code.index(
        {
            "a.php": "<?php\nclass Base {\n    function count() {\n        return 1;\n    }\n}\n"
            "class Box extends Base {\n    function own() {\n        return 1;\n    }\n"
            "    function sum($x) {\n        return count($x) + own();\n    }\n}\n",
            "a.rs": "struct Box2;\nimpl Box2 {\n    fn drop(&self) -> u8 {\n        1\n    }\n"
            "    fn use_it(&self, one: u8) {\n        drop(one);\n    }\n}\n",
            "A.java": "class Base {\n    int size() {\n        return 1;\n    }\n}\nclass Box extends Base {\n"
            "    void go(List<Base> many) {\n        for (int i = 0; i<size; i++) many.subList(0, 1).size();\n"
            "    }\n}\n",
        }
    )

    assert code.edges("calls") == set()


@pytest.mark.req("D.03")
@pytest.mark.parametrize("ending", ["jsx", "tsx"])
def test_a_component_is_called_by_what_shows_it(code: Linked, ending: str) -> None:
    code.index(
        {
            f"card.{ending}": "export function Card() {\n  return <b>1</b>;\n}\n",
            f"page.{ending}": "import { Card } from './card';\n\nfunction b() {\n  return 1;\n}\n\n"
            'export function Page() {\n  return <b><Card title="x" /></b>;\n}\n\n'
            "export function Long() {\n  return <Card>{b()}</Card>;\n}\n",
        }
    )

    assert code.edges("calls") == {
        ("calls", f"page.{ending}:Page", f"card.{ending}:Card"),
        ("calls", f"page.{ending}:Long", f"card.{ending}:Card"),
        ("calls", f"page.{ending}:Long", f"page.{ending}:b"),
    }


@pytest.mark.req("D.03")
def test_code_that_an_older_program_understood_less_of_is_cut_and_linked_anew(
    settings: Settings, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "old.db", migration.load_migrations()[:29]
    text = "def help_it():\n    return 1\n\n\ndef use_it():\n    return help_it()\n"
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        with Store.open(path) as store:
            code = Linked(store, settings, tmp_path / "project", clock)
            code.index({"a.py": text})
            with store.transaction():
                store.connection.execute("UPDATE code_facts SET facts = json_remove(facts, '$.calls')")
                store.connection.execute("INSERT INTO unlinked SELECT node_key FROM code_facts")
            link_queued(store, store.scopes.find_key("p") or pytest.fail("no scope"), clock)
            assert code.edges("calls") == set()

    with Store.open(path) as store:
        code = Linked(store, settings, tmp_path / "project", clock)
        link_queued(store, store.scopes.find_key("p") or pytest.fail("no scope"), clock)
        code.index({})
        assert code.edges("calls") == {("calls", "a.py:use_it", "a.py:help_it")}
