"""Methods that an interface, a trait or an abstract class declares: they are symbols, and calls on them lead there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.link_queue import link_queued
from hyperloci.store import Store, migration
from tests.knowledge.relations.linked import Linked
from tests.support import FakeClock

pytestmark = pytest.mark.req("D.03")

DECLARING = {
    "a.ts": (
        "export interface Store {\n  readToken(id: string): string;\n  size: number;\n  path: string;\n}\n\n"
        "export function login(store: Store) {\n  return store.readToken('x');\n}\n"
    ),
    "a.go": (
        "package a\n\ntype Store interface {\n\treadToken(id string) string\n}\n\n"
        'func login(s Store) string {\n\treturn s.readToken("x")\n}\n'
    ),
    "a.rs": (
        "pub trait Store {\n    fn readToken(&self, id: &str) -> String;\n}\n\n"
        'pub fn login(store: &dyn Store) -> String {\n    store.readToken("x")\n}\n'
    ),
    "A.java": (
        "interface Store {\n    String readToken(String id);\n}\n\n"
        'class Login {\n    String login(Store store) {\n        return store.readToken("x");\n    }\n}\n'
    ),
    "A.kt": (
        "interface Store {\n    fun readToken(id: String): String\n}\n\n"
        'fun login(store: Store): String {\n    return store.readToken("x")\n}\n'
    ),
    "A.cs": (
        "interface Store\n{\n    string readToken(string id);\n}\n\n"
        'class Login\n{\n    string login(Store store)\n    {\n        return store.readToken("x");\n    }\n}\n'
    ),
    "a.php": (
        "<?php\ninterface Store\n{\n    public function readToken(string $id): string;\n}\n\n"
        'function login(Store $store): string\n{\n    return $store->readToken("x");\n}\n'
    ),
    "A.scala": (
        "trait Store {\n  def readToken(id: String): String\n}\n\n"
        'class Login {\n  def login(store: Store): String = {\n    store.readToken("x")\n  }\n}\n'
    ),
    "a.swift": (
        "protocol Store {\n    func readToken(id: String) -> String\n}\n\n"
        'func login(store: Store) -> String {\n    return store.readToken(id: "x")\n}\n'
    ),
}
"""In each language something that declares a method, and a function that calls it."""


MANY = {
    "a.ts": "export interface Store {\n  readToken(id: string): string;\n  size: number;\n  path: string;\n}\n\n"
    "export class Disk implements Store {\n  readToken(id: string) {\n    return id;\n  }\n}\n",
    "b.ts": "import { Store } from './a';\n\nexport class Net implements Store {\n  readToken(id: string) {\n"
    "    return id;\n  }\n}\n",
}
"""An interface of TypeScript, and two classes in two files that have it."""


@pytest.fixture
def code(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


@pytest.mark.parametrize("path", DECLARING)
def test_a_call_on_what_declares_a_method_leads_to_the_declaration(code: Linked, path: str) -> None:
    code.index({path: DECLARING[path]})

    assert {(source.rpartition(".")[2].rpartition(":")[2], target) for _, source, target in code.edges("calls")} == {
        ("login", f"{path}:Store.readToken")
    }


def test_of_an_abstract_class_what_has_no_body_is_overridden_by_what_has_one(code: Linked) -> None:
    code.index(
        {
            "a.ts": "export abstract class Base {\n  abstract flushAll(): void;\n\n  open() {\n    this.flushAll();\n"
            "  }\n}\n\nexport class Disk extends Base {\n  flushAll() {\n    return 1;\n  }\n}\n",
        }
    )

    assert code.edges("calls") == {("calls", "a.ts:Base.open", "a.ts:Base.flushAll")}
    assert code.edges("overrides") == {("overrides", "a.ts:Disk.flushAll", "a.ts:Base.flushAll")}


def test_on_something_unknown_the_only_method_with_a_body_is_called(code: Linked) -> None:
    code.index({"a.ts": MANY["a.ts"], "use.ts": "export function use(x) {\n  return x.readToken('x');\n}\n"})

    assert code.edges("calls") == {("calls", "use.ts:use", "a.ts:Disk.readToken")}


def test_on_something_unknown_that_method_is_called_which_all_others_stand_for(code: Linked) -> None:
    code.index({**MANY, "use.ts": "export function use(x) {\n  return x.readToken('x');\n}\n"})

    assert code.edges("calls") == {("calls", "use.ts:use", "a.ts:Store.readToken")}


def test_a_method_of_the_same_name_that_stands_for_nothing_leaves_it_open_which_is_called(code: Linked) -> None:
    other = "export class Other {\n  readToken(id) {\n    return id;\n  }\n}\n"
    code.index({**MANY, "other.ts": other, "use.ts": "export function use(x) {\n  return x.readToken('x');\n}\n"})

    assert code.edges("calls") == set()


def test_of_go_methods_of_one_name_none_is_called_on_something_unknown(code: Linked) -> None:
    code.index(
        {
            "a.go": "package a\n\ntype Store interface {\n\tReadToken(id string) string\n}\n\ntype Disk struct{}\n\n"
            "type Net struct{}\n\nfunc (d Disk) ReadToken(id string) string {\n\treturn id\n}\n\n"
            'func (n Net) ReadToken(id string) string {\n\treturn ""\n}\n\n'
            'func use() string {\n\treturn open().ReadToken("x")\n}\n',
        }
    )

    assert code.edges("calls") == set()


def test_a_package_of_go_from_elsewhere_has_no_method_of_this_project(code: Linked) -> None:
    code.index(
        {
            "a.go": 'package a\n\nimport (\n\t"x.org/go-codec/v2"\n\t"x.org/yaml.v3"\n)\n\n'
            "type Core interface {\n\tNewReader(id string) string\n}\n\n"
            'func use() {\n\tcodec.NewReader("x")\n}\n\nfunc load() {\n\tyaml.NewReader("x")\n}\n\n'
            'func open(all map[string]Core) {\n\tall["x"].NewReader("x")\n}\n',
        }
    )

    assert code.edges("calls") == {("calls", "a.go:open", "a.go:Core.NewReader")}


def test_a_call_that_says_its_type_is_of_no_other_type(code: Linked) -> None:
    code.index(
        {
            "a.rs": "pub trait Store {\n    fn read_token(&self) -> String;\n}\n\nmod tests {\n    use super::*;\n\n"
            "    pub fn use_it() {\n        Other::read_token();\n    }\n}\n",
            "a.php": "<?php\nclass Disk\n{\n    static function openAll()\n    {\n    }\n}\n\n"
            "function run($disk)\n{\n    $disk::openAll();\n}\n",
        }
    )

    assert code.edges("calls") == {("calls", "a.php:run", "a.php:Disk.openAll")}


def test_what_an_older_program_indexed_gets_its_declared_methods_with_the_next_run(
    settings: Settings, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "old.db", migration.load_migrations()[:32]
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        with Store.open(path) as store:
            code = Linked(store, settings, tmp_path / "project", clock)
            code.index({"a.ts": DECLARING["a.ts"]})
            with store.transaction():
                store.connection.execute("UPDATE positions SET symbol = 'Store' WHERE symbol = 'Store.readToken'")
                store.connection.execute("INSERT INTO unlinked SELECT node_key FROM code_facts")
            link_queued(store, store.scopes.find_key("p") or pytest.fail("no scope"), clock)
            assert code.edges("calls") == set()

    with Store.open(path) as store:
        code = Linked(store, settings, tmp_path / "project", clock)
        code.index({})
        assert code.edges("calls") == {("calls", "a.ts:login", "a.ts:Store.readToken")}
