"""Names that mean a symbol of another file, as each language finds it: packages, modules, namespaces, templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.knowledge.relations.file_view import FileView
from hyperloci.knowledge.relations.import_resolution import ModuleIndex
from hyperloci.knowledge.relations.linker import RelationLinker
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


def test_java_classes_of_the_same_package_need_no_import(code: Linked) -> None:
    code.index(
        {
            "src/app/Store.java": "package app;\n\npublic class Store {\n    public int put(int x) {\n"
            "        return x;\n    }\n    public static int size() {\n        return 1;\n    }\n}\n",
            "src/app/Use.java": "package app;\n\npublic class Use {\n    private final Store store = new Store();\n\n"
            "    public int run() {\n        return store.put(Store.size());\n    }\n"
            "    public int other() {\n        Store mine = find();\n        return mine.put(1);\n    }\n}\n",
            "src/other/Use.java": "package other;\n\npublic class Use {\n    public int run() {\n"
            "        return Store.size();\n    }\n}\n",
        }
    )
    assert called_by(code, "src/app/Use.java:Use.run") == {
        "src/app/Store.java:Store.put",
        "src/app/Store.java:Store.size",
    }
    assert called_by(code, "src/app/Use.java:Use.other") == {"src/app/Store.java:Store.put"}
    assert called_by(code, "src/other/Use.java:Use.run") == set()


def test_an_imported_class_of_another_project_is_not_one_of_the_same_name_here(code: Linked) -> None:
    code.index(
        {
            "app/Gson.java": "package app;\n\npublic class Gson {\n    public int readAll(int x) {\n"
            "        return x;\n    }\n}\n",
            "app/Use.java": "package app;\n\nimport com.vendor.Gson;\n\npublic class Use {\n"
            "    public int run(Gson gson) {\n        new Gson();\n        return gson.readAll(1);\n    }\n}\n",
        }
    )
    assert called_by(code, "app/Use.java:Use.run") == set()


def test_kotlin_imports_functions_under_other_names(code: Linked) -> None:
    code.index(
        {
            "a/Text.kt": "package a.text\n\nfun trim(x: String): String {\n    return x\n}\n\n"
            "fun pad(x: String): String {\n    return x\n}\n",
            "b/Main.kt": "package b\n\nimport a.text.trim as cut\nimport a.text.*\n\nfun main() {\n"
            '    cut(pad("x"))\n}\n',
        }
    )
    assert called_by(code, "b/Main.kt:main") == {"a/Text.kt:trim", "a/Text.kt:pad"}


def test_php_finds_what_use_names_its_own_namespace_and_what_fields_are(code: Linked) -> None:
    code.index(
        {
            "src/Db/Store.php": "<?php\nnamespace App\\Db;\n\nclass Store\n{\n    public function put($x)\n    {\n"
            "        return $x;\n    }\n}\n",
            "src/Db/Pool.php": "<?php\nnamespace App\\Db;\n\nclass Pool\n{\n    public function make()\n    {\n"
            "        return new Store();\n    }\n}\n",
            "src/Web/Page.php": "<?php\nnamespace App\\Web;\n\nuse App\\Db\\{Store as Keep, Pool};\n"
            "use Psr\\Http\\Request;\n\nclass Page\n{\n    private Pool $pool;\n\n"
            "    public function show(Keep $keep, Request $request)\n    {\n"
            "        $keep->put(1);\n        $this->pool->make();\n        return $request->fooBar();\n    }\n}\n",
            "src/Other.php": "<?php\nnamespace App;\n\nclass Other\n{\n    public function fooBar()\n    {\n"
            "        return new Store();\n    }\n}\n",
        }
    )
    assert called_by(code, "src/Db/Pool.php:Pool.make") == {"src/Db/Store.php:Store"}
    assert called_by(code, "src/Web/Page.php:Page.show") == {
        "src/Db/Store.php:Store.put",
        "src/Db/Pool.php:Pool.make",
    }
    assert called_by(code, "src/Other.php:Other.fooBar") == set()


def test_c_sharp_sees_the_namespaces_around_its_own_and_those_it_opens(code: Linked) -> None:
    code.index(
        {
            "Core/Guard.cs": "namespace App.Core;\n\npublic static class Guard\n{\n    public static int Check(int x)\n"
            "    {\n        return x;\n    }\n}\n",
            "Core/Options.cs": "namespace App.Options\n{\n    public class RetryOptions\n    {\n"
            "        public int Delay = 1;\n    }\n}\n",
            "Core/Retry/Strategy.cs": "using App.Options;\nnamespace App.Core.Retry;\n\npublic class Strategy\n{\n"
            "    public int Run()\n    {\n        var o = new RetryOptions { Delay = 2 };\n"
            "        return Guard.Check(o.Delay);\n    }\n}\n",
            "Core/Plain.cs": "namespace App.Plain;\n\npublic class Plain\n{\n    public int Run()\n    {\n"
            "        return Guard.Check(1);\n    }\n}\n",
        }
    )
    assert called_by(code, "Core/Retry/Strategy.cs:Strategy.Run") == {
        "Core/Guard.cs:Guard.Check",
        "Core/Options.cs:App.Options.RetryOptions",
    }
    assert called_by(code, "Core/Plain.cs:Plain.Run") == set()


def test_a_method_named_like_a_class_does_not_make_one(code: Linked) -> None:
    code.index(
        {
            "Retry.cs": "namespace App;\n\npublic class Retry\n{\n    public int Times = 1;\n}\n",
            "Use.cs": "namespace App;\n\npublic class Use : Vendor.Base\n{\n    public int Run()\n    {\n"
            "        return Retry(2);\n    }\n    public Retry Make()\n    {\n        return new Retry();\n    }\n}\n",
        }
    )
    assert called_by(code, "Use.cs:Use.Run") == set()
    assert called_by(code, "Use.cs:Use.Make") == {"Retry.cs:Retry"}


RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/walk/Cargo.toml": '[package]\nname = "tree-walk"\nversion = "0.1.0"\n',
    "crates/walk/src/lib.rs": "pub mod dir;\nmod parse;\npub use crate::dir::Dir;\n\npub fn scan() -> u32 {\n"
    "    parse::parse()\n}\n",
    "crates/walk/src/parse.rs": "pub(crate) fn parse() -> u32 {\n    1\n}\n",
    "crates/walk/src/dir.rs": "use super::scan;\n\npub struct Dir {\n    depth: u32,\n}\n\nimpl Dir {\n"
    "    pub fn new() -> Dir {\n        scan();\n        Dir { depth: 0 }\n    }\n\n    pub fn depth(&self) -> u32 {\n"
    "        self.depth\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
    "    fn new_is_flat() {\n        super::Dir::new();\n        crate::scan();\n    }\n}\n",
    "crates/app/src/main.rs": "mod run;\n\nuse tree_walk::{Dir, dir::{self, Dir as Folder}};\n\n"
    "fn format() -> u32 {\n    1\n}\n\nfn main() {\n    Dir::new();\n    run::go(&Folder::new());\n"
    '    format!("{}", 1);\n}\n',
    "crates/app/src/run.rs": "use tree_walk::Dir;\n\nstruct Runner {\n    dir: Dir,\n}\n\nimpl Runner {\n"
    "    fn depth(&self) -> u32 {\n        self.dir.depth()\n    }\n}\n\npub fn go(dir: &Dir) -> u32 {\n"
    "    dir.depth()\n}\n",
}


def test_rust_paths_are_followed_through_modules_crates_and_re_exports(code: Linked) -> None:
    code.index(RUST)
    dir_rs = "crates/walk/src/dir.rs"
    assert called_by(code, "crates/walk/src/lib.rs:scan") == {"crates/walk/src/parse.rs:parse"}
    assert called_by(code, f"{dir_rs}:Dir.new") == {"crates/walk/src/lib.rs:scan"}
    assert called_by(code, f"{dir_rs}:tests.new_is_flat") == {f"{dir_rs}:Dir.new", "crates/walk/src/lib.rs:scan"}
    assert called_by(code, "crates/app/src/run.rs:go") == {f"{dir_rs}:Dir.depth"}
    assert called_by(code, "crates/app/src/run.rs:Runner.depth") == {f"{dir_rs}:Dir.depth"}
    # A macro is not the function of its name.
    assert called_by(code, "crates/app/src/main.rs:main") == {f"{dir_rs}:Dir.new", "crates/app/src/run.rs:go"}
    assert ("imports", "crates/app/src/run.rs:Runner", f"{dir_rs}:Dir") in code.edges("imports")


def test_a_path_of_rust_that_leads_nowhere_means_nothing() -> None:
    modules = ModuleIndex(["src/main.rs", "src/a.rs", "src/bin/tool.rs"], lambda: {"own": ""})
    assert modules.resolve_rust("src/main.rs", ["std", "fs", "read"]) is None
    assert modules.resolve_rust("src/a.rs", ["crate", "f"]) == ("src/main.rs", ("f",))
    assert modules.resolve_rust("src/a.rs", ["super", "f"], 1) == ("src/a.rs", ("f",))
    assert modules.resolve_rust("src/a.rs", ["super", "super", "f"], 1) == ("src/main.rs", ("f",))
    assert modules.resolve_rust("src/bin/tool.rs", ["crate", "f"]) == ("src/bin/tool.rs", ("f",))
    assert modules.resolve_rust("src/main.rs", ["own", "f"]) is None


def test_a_trait_gives_a_method_that_a_later_impl_says(code: Linked) -> None:
    code.index(
        {
            "src/lib.rs": "pub trait Flag {\n    fn name(&self) -> u32 {\n        1\n    }\n}\n",
            "src/color.rs": "use crate::Flag;\n\npub struct Color {\n    x: u32,\n}\n\nimpl Flag for Color {\n"
            "    fn name(&self) -> u32 {\n        self.x\n    }\n}\n",
        }
    )
    assert code.edges("overrides") == {("overrides", "src/color.rs:Color.name", "src/lib.rs:Flag.name")}


def test_cpp_finds_the_definition_of_what_a_header_declares(code: Linked) -> None:
    code.index(
        {
            "util/arena.h": "#pragma once\nnamespace db {\nclass Arena {\n public:\n  Arena();\n"
            "  char* Allocate(int bytes);\n};\nint Hash(int x);\n}\n",
            "util/arena.cc": '#include "util/arena.h"\nnamespace db {\nchar* Arena::Allocate(int bytes) {\n'
            "  return nullptr;\n}\nint Hash(int x) {\n  return x;\n}\nstatic int Twist(int x) {\n  return x;\n}\n}\n",
            "db/table.cc": '#include "util/arena.h"\nnamespace db {\nint Fill(Arena* arena) {\n'
            "  arena->Allocate(Hash(3));\n  return Twist(2);\n}\n}\n",
            "db/other.cc": '#include "util/arena.h"\nnamespace other {\nint Fill() {\n  return Hash(3);\n}\n}\n',
        }
    )
    assert called_by(code, "db/table.cc:db.Fill") == {"util/arena.cc:db.Arena.Allocate", "util/arena.cc:db.Hash"}
    assert called_by(code, "db/other.cc:other.Fill") == set()
    assert ("imports", "db/table.cc:db", "util/arena.h:db") in code.edges("imports")


def test_a_template_shows_components_and_calls_functions_of_its_script(code: Linked) -> None:
    code.index(
        {
            "src/App.vue": '<template>\n  <div>\n    <user-card :name="shorten(name)" @click="save" />\n'
            "    <SideBar>{{ label(1) }}</SideBar>\n  </div>\n</template>\n\n<script setup>\n"
            "import UserCard from '@/parts/UserCard.vue'\nimport SideBar from './parts/SideBar'\n"
            "import { label } from './text'\n\nfunction save() {\n  return 1\n}\n\nfunction shorten(x) {\n"
            "  return x\n}\n\nfunction unused() {\n  return 1\n}\n</script>\n\n"
            "<style>\n.a { width: unused(1) }\n</style>\n",
            "src/parts/UserCard.vue": "<template>\n  <b>1</b>\n</template>\n",
            "src/parts/SideBar.vue": "<template>\n  <b>2</b>\n</template>\n",
            "src/text.js": "export function label(x) {\n  return x\n}\n",
        }
    )
    assert called_by(code, "src/App.vue:") == {
        "src/parts/UserCard.vue:",
        "src/parts/SideBar.vue:",
        "src/App.vue:save",
        "src/App.vue:shorten",
        "src/text.js:label",
    }


def test_a_template_knows_what_a_short_head_of_its_script_imports(code: Linked) -> None:
    app = "<template>\n  <user-card />\n</template>\n\n<script setup>\nimport UserCard from './UserCard.vue'\n\n"
    app += "export function save() {\n  return 1\n}\n</script>\n"
    card = "<template>\n  <b>1</b>\n</template>\n"
    code.index({"src/App.vue": app, "src/UserCard.vue": card, "src/Other.vue": card.replace("1", "2")})
    assert called_by(code, "src/App.vue:") == {"src/UserCard.vue:"}

    code.index({"src/App.vue": app.replace("./UserCard.vue", "./Other.vue")})
    assert called_by(code, "src/App.vue:") == {"src/Other.vue:"}


def test_manifests_of_crates_are_read_at_once_and_only_for_rust(code: Linked) -> None:
    manifests = {f"c{n}/Cargo.toml": f'[package]\nname = "c-{n}"\n' for n in range(20)}
    library = "pub fn scan() -> u32 {\n    1\n}\n"
    main = "use c_1::scan;\n\nfn main() {\n    scan();\n}\n"
    code.index({**manifests, "c1/src/lib.rs": library, "c0/src/main.rs": main, "a.py": "import os\n\nos.getcwd()\n"})
    scope = code.store.scopes.find_key("p")
    assert scope is not None

    def read_manifests(path: str) -> int:
        said: list[str] = []
        linker = RelationLinker(code.store, scope, lambda path: False)
        code.store.connection.set_trace_callback(said.append)
        linker.find_relations(path, [row.key for row in linker.rows(path)])
        code.store.connection.set_trace_callback(None)
        return sum("Cargo.toml" in statement for statement in said)

    assert called_by(code, "c0/src/main.rs:main") == {"c1/src/lib.rs:scan"}
    assert read_manifests("c0/src/main.rs") == 1
    assert read_manifests("a.py") == 0


def test_a_path_from_the_sources_folder_that_could_be_two_files_is_none() -> None:
    modules = ModuleIndex(["web/src/text.ts", "web/text.ts", "web/src/views/Home.vue", "api/src/text.ts"])
    assert modules.resolve_script("web/src/views/Home.vue", "@/text") is None
    assert modules.resolve_script("api/src/main.ts", "@/text") == "api/src/text.ts"
    assert modules.resolve_script("api/src/main.ts", "@/views/Home.vue") is None


def test_who_names_a_class_of_its_package_is_linked_when_the_class_appears(code: Linked) -> None:
    use = "package app;\n\npublic class Use {\n    public int run() {\n        return Store.size();\n    }\n}\n"
    store = "package app;\n\npublic class Store {\n    public static int size() {\n        return 1;\n    }\n}\n"
    code.index({"app/Use.java": use})
    assert called_by(code, "app/Use.java:Use.run") == set()

    code.index({"app/Store.java": store})
    assert called_by(code, "app/Use.java:Use.run") == {"app/Store.java:Store.size"}


def test_components_that_an_older_program_cut_are_cut_anew(
    settings: Settings, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "old.db", migration.load_migrations()[:30]
    text = (
        '<template>\n  <b @click="save" />\n</template>\n<script setup>\nfunction save() {\n  return 1\n}\n</script>\n'
    )
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        with Store.open(path) as store:
            Linked(store, settings, tmp_path / "project", clock).index({"a.vue": text})
            with store.transaction():
                store.connection.execute("UPDATE code_facts SET facts = json_remove(facts, '$.calls')")
                store.connection.execute("DELETE FROM hyperedges WHERE label = 'calls'")

    with Store.open(path) as store:
        code = Linked(store, settings, tmp_path / "project", clock)
        code.index({})
        assert called_by(code, "a.vue:") == {"a.vue:save"}


def test_no_edge_stays_where_a_short_head_opens_another_package(code: Linked) -> None:
    use = "using App.Core;\nnamespace App.Web;\n\npublic class Use\n{\n    public int Run()\n    {\n"
    use += "        return Guard.Check(1);\n    }\n}\n"
    guard = "namespace App.Core;\n\npublic static class Guard\n{\n    public static int Check(int x)\n    {\n"
    code.index({"Core/Guard.cs": guard + "        return x;\n    }\n}\n", "Web/Use.cs": use})
    assert called_by(code, "Web/Use.cs:Use.Run") == {"Core/Guard.cs:Guard.Check"}

    code.index({"Web/Use.cs": use.replace("using App.Core;", "using App.Away;")})
    assert called_by(code, "Web/Use.cs:Use.Run") == set()


def test_a_class_that_two_files_have_is_not_imported(code: Linked) -> None:
    box = "package app;\n\npublic class Box {\n    public int run() {\n        return 1;\n    }\n}\n"
    use = "package web;\n\nimport app.Box;\n\npublic class Use {\n    public int run() {\n        return 1;\n    }\n}\n"
    code.index({"one/Box.java": box, "Use.java": use})
    assert code.edges("imports") == {("imports", "Use.java:Use", "one/Box.java:Box")}

    code.index({"two/Box.java": box.replace("return 1", "return 2"), "Use.java": use + "\n// Changed.\n"})
    assert code.edges("imports") == set()


def test_what_many_files_have_for_themselves_is_looked_for_once(code: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    count, real = 0, RelationLinker.view

    def view(linker: RelationLinker, path: str) -> FileView | None:
        nonlocal count
        count += 1
        return real(linker, path)

    monkeypatch.setattr(RelationLinker, "view", view)
    own = "static int probe(int x)\n{\n    int y = x;\n    return y;\n}\n"
    call = "int run(int x)\n{\n    int y = probe(x);\n    return y;\n}\n"
    code.index({f"own{i}.c": own for i in range(30)} | {f"use{i}.c": call for i in range(30)})
    assert count < 30 * 30
