from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.chunk import ChunkKind, CodeFacts, TextChunk
from hyperloci.text.chunking import outline, programming_languages
from hyperloci.text.chunking.code import chunk_code, is_minified, module_name
from hyperloci.text.chunking.code_facts import callee_name, comment_text, docstring_text, name_parts
from hyperloci.text.chunking.definitions import Definition, share_parsed
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS
from hyperloci.text.chunking.outline import parse_outline
from hyperloci.text.chunking.programming_languages import LANGUAGES, is_test_path, language_of
from tests.support import examples


def facts(chunk: TextChunk) -> CodeFacts:
    assert chunk.code is not None
    return chunk.code


def by_symbol(path: str, text: str) -> dict[str | None, TextChunk]:
    """Return the first chunk of every symbol; the module's under None."""
    found: dict[str | None, TextChunk] = {}
    for chunk in chunk_code(path, text):
        found.setdefault(chunk.position.symbol, chunk)
    return found


def assert_partition(text: str, chunks: list[TextChunk]) -> None:
    """The law of D.06: the chunks hold every character exactly once, but for white space as long as a chunk."""
    covered = 0
    for chunk in chunks:
        start, end = chunk.position.char_start, chunk.position.char_end
        assert start is not None
        assert end is not None
        assert start >= covered
        assert not text[covered:start].strip("\ufeff \t\r\n\f\v")
        assert chunk.text == text[start:end]
        assert 0 < len(chunk.text) <= MAX_CHUNK_CHARS
        assert chunk.position.line_start == text.count("\n", 0, start) + 1
        assert chunk.position.line_end == text.count("\n", 0, end - 1) + 1
        assert chunk.kind is ChunkKind.CODE
        covered = end
    assert not text[covered:].replace("\ufeff", " ").strip()


PYTHON = '''"""What the module is for."""
from __future__ import annotations

import os.path as p
from .near import thing, other as o
from far import *

LIMIT = 3


# Not its comment.

# Keeps things,
# for a while.
@decorate(1)
class Keeper(Base, pkg.Mixin[int], metaclass=Meta):
    """Keep.

    More.
    """

    size: int = 0
    kind = "x"

    @property
    def first(self) -> int:
        return self.items[0]

    # Says why.
    @staticmethod
    async def run(
        a: int,
        b: str = "(",
    ) -> None:
        """Run it."""
        def inner():
            return helper()
        await client.fetch(a)(b).json()

    alias = property(first)


def free(x): return x


if __name__ == "__main__":
    free(1)
'''


@pytest.mark.req("D.06")
def test_a_python_file_becomes_head_class_heads_and_functions() -> None:
    chunks = chunk_code("src/pkg/keep.py", PYTHON)
    assert_partition(PYTHON, chunks)
    assert [(facts(c).kind, c.position.symbol) for c in chunks] == [
        ("module", None),
        ("class", "Keeper"),
        ("method", "Keeper.first"),
        ("method", "Keeper.run"),
        ("function", "free"),
    ]
    head, keeper, first, run, free = chunks
    assert facts(head).docstring == "What the module is for."
    assert facts(head).imports == ("os.path", ".near.thing", ".near.other", "far")
    assert facts(keeper).signature == "class Keeper(Base, pkg.Mixin[int], metaclass=Meta)"
    assert facts(keeper).bases == ("Base", "pkg.Mixin")
    assert facts(keeper).docstring == "Keep.\n\nMore."
    assert keeper.text.startswith("# Keeps things,\n")
    assert keeper.text.rstrip().endswith('kind = "x"')
    assert head.text.rstrip().endswith("# Not its comment.")
    assert first.text.startswith("    @property\n")
    assert facts(run).signature == 'async def run( a: int, b: str = "(", ) -> None'
    assert facts(run).docstring == "Run it."
    assert facts(run).calls == ("helper", "client.fetch", "json", "property")
    assert "alias = property(first)" in run.text
    assert free.text.startswith("def free(x)")
    assert 'if __name__ == "__main__"' in free.text


@pytest.mark.req("D.01")
def test_a_code_chunk_says_where_it_is() -> None:
    run = by_symbol("src/pkg/keep.py", PYTHON)["Keeper.run"]
    position = run.position
    assert run.breadcrumb == ("pkg.keep", "Keeper", "run")
    assert (position.module, position.class_name, position.function_name) == ("pkg.keep", "Keeper", "run")
    assert (position.scope_depth, position.language, position.path) == (1, "python", "src/pkg/keep.py")
    head = by_symbol("src/pkg/keep.py", PYTHON)[None].position
    assert (head.symbol, head.class_name, head.function_name, head.scope_depth) == (None, None, None, 0)


@dataclass(frozen=True)
class Sample:
    path: str
    text: str
    symbols: tuple[str, ...]
    signature: tuple[str, str]
    docstring: tuple[str, str]
    imports: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    bases: tuple[str, tuple[str, ...]] | None = None


SAMPLES = {
    "javascript": Sample(
        path="app.js",
        text="""import a, {b} from "x";
const q = require("./y");

/** Renders. */
export default class View extends React.Component {
  static size = 1;
  handler = () => {
    this.go();
    this.stop();
    this.wait();
    this.end();
  };
  get z() { return this.b.c(); }
}

export const load = async (x) => {
  await fetch(x);
  one();
  two();
  three();
};

function* gen() { yield new Q(); }

View.prototype.extra = function () {
  a();
  b();
  c();
  d();
};
""",
        symbols=("View", "View.handler", "View.z", "load", "gen", "View.extra"),
        signature=("load", "export const load = async (x)"),
        docstring=("View", "Renders."),
        imports=("x", "./y"),
        calls=("fetch", "this.b.c", "Q"),
        bases=("View", ("React.Component",)),
    ),
    "typescript": Sample(
        path="app.ts",
        text="""import type {B} from "./b";

// The widget.
@Component({a: 1})
export class A<T> extends B<T> implements C, D {
  constructor(private a: b) { super(); }
  @Input() m(): void { this.a.run(); }
}

namespace N {
  export function q(x: number): string { return String(x); }
}

interface I extends J {
  a: string;
  b: number;
  m(): void;
}
""",
        symbols=("A", "A.constructor", "A.m", "N", "N.q", "I", "I.m"),
        signature=("A", "export class A<T> extends B<T> implements C, D"),
        docstring=("A", "The widget."),
        imports=("./b",),
        calls=("String", "this.a.run"),
        bases=("A", ("B", "C", "D")),
    ),
    "tsx": Sample(
        path="app.tsx",
        text="""// Shows it.
export function Show({a}: Props): JSX.Element { return <div onClick={() => go(a)}>{a}</div>; }
""",
        symbols=("Show",),
        signature=("Show", "export function Show({a}: Props): JSX.Element"),
        docstring=("Show", "Shows it."),
        calls=("go",),
    ),
    "go": Sample(
        path="pkg/shape.go",
        text="""// Package shape has shapes.
package shape

import (
	"fmt"
	m "math"
)

// Square is one.
type Square struct {
	Base
	side float64
}

// Area of it.
func (s *Square[T]) Area() float64 { return fmt.Sprint(m.Pow(s.side, 2)) }

func Map[T any](x T) T { return x }
""",
        symbols=("Square", "Square.Area", "Map"),
        signature=("Square.Area", "func (s *Square[T]) Area() float64"),
        docstring=("Square.Area", "Area of it."),
        imports=("fmt", "math"),
        calls=("fmt.Sprint", "m.Pow"),
        bases=("Square", ("Base",)),
    ),
    "rust": Sample(
        path="src/lib.rs",
        text="""use std::io::{self, Read};

/// A point.
#[derive(Debug)]
pub struct Point<T> { x: T }

impl<T> Display for Point<T> {
    /// Shows it.
    #[inline]
    fn fmt(&self) -> Result { write!(self.x.show()) }
}

mod inner {
    pub fn deep() { bar::baz(1) }
}
""",
        symbols=("Point", "Point.fmt", "inner", "inner.deep"),
        signature=("Point.fmt", "fn fmt(&self) -> Result"),
        docstring=("Point.fmt", "Shows it."),
        imports=("std::io::{self, Read}",),
        calls=("write", "bar::baz"),
    ),
    "java": Sample(
        path="src/test/A.java",
        text="""package a.b;
import java.util.*;
import static a.B.c;

/**
 * Does it.
 */
@Ann(1)
public class A<T> extends B<T> implements C, D {
    private int x;
    @Override
    public void run(int a) throws E { x.foo(); new Q(); super.run(a); }
    interface I { void z(); }
}
""",
        symbols=("A", "A.run", "A.I", "A.I.z"),
        signature=("A.run", "public void run(int a) throws E"),
        docstring=("A", "Does it."),
        imports=("java.util.*", "a.B.c"),
        calls=("x.foo", "Q", "super.run"),
        bases=("A", ("B", "C", "D")),
    ),
    "c": Sample(
        path="a.c",
        text="""#include <stdio.h>
#include "a.h"

struct point { int x; };
typedef struct { int y; } pair_t;

/* Adds. */
static int *add(int a, char **b)
{
    return sum(a, s->f(1));
}
""",
        symbols=("point", "pair_t", "add"),
        signature=("add", "static int *add(int a, char **b)"),
        docstring=("add", "Adds."),
        imports=("stdio.h", "a.h"),
        calls=("sum", "s->f"),
    ),
    "cpp": Sample(
        path="a.cpp",
        text="""#include <vector>
namespace n {
// A thing.
template <typename T>
class A : public B, private m::C<T> {
 public:
    A() : x(1) {}
    int f() const {
        g();
        h();
        i();
        return n::k();
    }
};
}
void n::A<int>::out(int x) { a.h(); }
std::vector<int>& ref() { return v; }
bool operator<(A a, A b) { return true; }
""",
        symbols=("n", "n.A", "n.A.f", "n.A.out", "ref", "operator<"),
        signature=("n.A", "template <typename T> class A : public B, private m::C<T>"),
        docstring=("n.A", "A thing."),
        imports=("vector",),
        calls=("n::k", "a.h"),
        bases=("n.A", ("B", "m::C")),
    ),
    "c_sharp": Sample(
        path="A.cs",
        text="""using System.Text;
namespace N.M {
    /// <summary>It.</summary>
    [Serializable]
    public class A<T> : B, IC<T> {
        public A() { }
        public async Task Run(int a) { await x.Foo(a); new Q(); }
    }
}
""",
        symbols=("N.M", "N.M.A", "N.M.A.A", "N.M.A.Run"),
        signature=("N.M.A", "public class A<T> : B, IC<T>"),
        docstring=("N.M.A", "<summary>It.</summary>"),
        imports=("System.Text",),
        calls=("x.Foo", "Q"),
        bases=("N.M.A", ("B", "IC")),
    ),
    "ruby": Sample(
        path="a.rb",
        text="""require "set"
module M
  # Does.
  class A < Base
    def run(a)
      a.each { |x| x.go(1) }
    end

    def self.make
      new
    end
  end
end
""",
        symbols=("M", "M.A", "M.A.run", "M.A.make"),
        signature=("M.A.run", "def run(a)"),
        docstring=("M.A", "Does."),
        imports=("set",),
        calls=("a.each", "x.go"),
        bases=("M.A", ("Base",)),
    ),
    "php": Sample(
        path="a.php",
        text="""<?php
use X\\Y as Z;

/** Does. */
#[Attr]
abstract class A extends B implements C, D {
    public function run(int $a): void { $this->foo(); Z::bar(); new Q(); baz(); }
}

function free() {}
""",
        symbols=("A", "A.run", "free"),
        signature=("A.run", "public function run(int $a): void"),
        docstring=("A", "Does."),
        imports=("X\\Y",),
        calls=("$this->foo", "Z::bar", "Q", "baz"),
        bases=("A", ("B", "C", "D")),
    ),
    "kotlin": Sample(
        path="a.kt",
        text="""import x.y.Z

/** Does. */
@Ann
data class A(val x: Int) : B(1), C<D> {
    override suspend fun run(a: Int): Int {
        foo(a)
        return x.bar()
    }
}

fun String.ext(): Int = 1
""",
        symbols=("A", "A.run", "ext"),
        signature=("A.run", "override suspend fun run(a: Int): Int"),
        docstring=("A", "Does."),
        imports=("x.y.Z",),
        calls=("foo", "x.bar"),
        bases=("A", ("B", "C")),
    ),
    "swift": Sample(
        path="a.swift",
        text="""import Foundation

/// Does.
@objc public class A: B, C {
    var x = 1
    init(a: Int) { self.x = a }
    @discardableResult
    func run(a: Int) -> Int {
        foo(a)
        return x.bar()
    }
}
""",
        symbols=("A", "A.init", "A.run"),
        signature=("A.run", "func run(a: Int) -> Int"),
        docstring=("A", "Does."),
        imports=("Foundation",),
        calls=("foo", "x.bar"),
        bases=("A", ("B", "C")),
    ),
    "scala": Sample(
        path="a.scala",
        text="""import x.y.{Z, W}

/** Does. */
case class A[T](x: Int) extends B(x) with C {
  def run(a: Int): Int = { foo(a); x.bar(); new Q() }
}

object O { def q() = 1 }
""",
        symbols=("A", "A.run", "O", "O.q"),
        signature=("A.run", "def run(a: Int): Int"),
        docstring=("A", "Does."),
        imports=("x.y.{Z, W}",),
        calls=("foo", "x.bar", "Q"),
        bases=("A", ("B", "C")),
    ),
    "lua": Sample(
        path="a.lua",
        text="""local x = require("y")
local M = {}

-- Does.
function M.run(a) x.go(a) end

function M:meth() self.x:y() end

return M
""",
        symbols=("M.run", "M.meth"),
        signature=("M.run", "function M.run(a)"),
        docstring=("M.run", "Does."),
        imports=("y",),
        calls=("x.go", "self.x:y"),
    ),
    "bash": Sample(
        path="run",
        text="""#!/usr/bin/env bash
source ./lib.sh

# Builds.
build() {
  make "$1"
}

function clean { rm -rf build | cat; }
""",
        symbols=("build", "clean"),
        signature=("build", "build()"),
        docstring=("build", "Builds."),
        imports=("./lib.sh",),
        calls=("make", "rm"),
    ),
    "sql": Sample(
        path="a.sql",
        text="""-- People.
CREATE TABLE IF NOT EXISTS app.users (id int primary key, name text);

CREATE VIEW active AS SELECT count(*) FROM app.users;

CREATE FUNCTION twice(a int) RETURNS int AS $$ SELECT a * 2; $$ LANGUAGE sql;
""",
        symbols=("app.users", "active", "twice"),
        signature=("app.users", "CREATE TABLE IF NOT EXISTS app.users"),
        docstring=("app.users", "People."),
        imports=("app.users",),
        calls=("count",),
    ),
}


@pytest.mark.req("D.06")
@pytest.mark.parametrize("name", SAMPLES)
def test_every_language_is_cut_by_its_syntax(name: str) -> None:
    sample = SAMPLES[name]
    chunks = chunk_code(sample.path, sample.text)
    assert_partition(sample.text, chunks)
    found = by_symbol(sample.path, sample.text)
    assert tuple(symbol for symbol in found if symbol) == sample.symbols
    assert {chunk.position.language for chunk in chunks} == {name}
    assert facts(found[sample.signature[0]]).signature == sample.signature[1]
    assert facts(found[sample.docstring[0]]).docstring == sample.docstring[1]
    assert tuple(word for chunk in chunks for word in facts(chunk).imports) == sample.imports
    assert set(sample.calls) <= {word for chunk in chunks for word in facts(chunk).calls}
    if sample.bases:
        assert facts(found[sample.bases[0]]).bases == sample.bases[1]


def test_every_row_of_the_table_has_a_sample_and_its_grammar() -> None:
    assert {row.name for row in LANGUAGES} == {*SAMPLES, "python"}
    for row in LANGUAGES:
        assert row.load_grammar() is not None
        assert parse_outline(row, "") is not None


def test_a_declared_method_is_a_chunk_with_its_comment_where_its_interface_is_one() -> None:
    long = "interface Store {\n  // Reads.\n  readToken(id: string): string;\n\n  size: number;\n}\n"
    chunks = chunk_code("a.ts", long)
    assert [(chunk.position.symbol, facts(chunk).declared) for chunk in chunks] == [
        ("Store", False),
        ("Store.readToken", True),
    ]
    assert (facts(chunks[1]).kind, facts(chunks[1]).docstring) == ("method", "Reads.")
    assert facts(chunks[1]).signature == "readToken(id: string): string"
    assert_partition(long, chunks)
    short = "interface Store {\n  readToken(id: string): string;\n}\n"
    assert [chunk.position.symbol for chunk in chunk_code("a.ts", short)] == [None]


def test_a_declared_method_has_its_whole_header_as_its_signature() -> None:
    java = "interface Store {\n    @Deprecated\n    String readToken(String id,\n            int size);\n}\n"
    assert facts(by_symbol("A.java", java)["Store.readToken"]).signature == "String readToken(String id, int size)"
    swift = "protocol Store {\n    @discardableResult\n    func readToken(id: String) -> String\n}\n"
    assert facts(by_symbol("a.swift", swift)["Store.readToken"]).signature == "func readToken(id: String) -> String"
    script = "interface Store {\n  readToken(by: { id: string }): string;\n  size: number;\n  path: string;\n}\n"
    assert facts(by_symbol("a.ts", script)["Store.readToken"]).signature == "readToken(by: { id: string }): string"


def test_an_interface_inside_of_a_type_of_go_gives_that_type_no_method() -> None:
    text = (
        "package a\n\ntype S struct {\n\tx interface {\n\t\tRead() error\n\t}\n}\n\n"
        "type G[T interface{ Con() int }] struct{}\n"
    )
    assert [chunk.position.symbol for chunk in chunk_code("a.go", text)] == ["S", "G"]


def test_a_method_knows_its_class_also_from_outside_of_it() -> None:
    go, cpp = SAMPLES["go"], SAMPLES["cpp"]
    area = by_symbol(go.path, go.text)["Square.Area"]
    assert (facts(area).kind, area.position.class_name, area.position.function_name) == ("method", "Square", "Area")
    out = by_symbol(cpp.path, cpp.text)["n.A.out"]
    assert (facts(out).kind, out.position.class_name) == ("method", "A")


@pytest.mark.req("D.06")
@pytest.mark.parametrize(
    ("path", "text", "symbols"),
    [
        (
            "a.go",
            "package a\n\ntype (\n\tA struct{ x int }\n\tF func(int) error\n\tAlias = A\n)\n"
            "func (a A) Run() {}\nvar (\n\tErrGone = 1\n\tErrLate = 2\n)\n",
            "A F Alias A.Run ErrGone ErrLate",
        ),
        ("a.rs", "impl<'a> Show for &'a mut Point<'a> {\n    fn show(&self) {}\n}\n", "Point Point.show"),
        ("a.rs", "impl Show for &dyn Shape {\n    fn show(&self) {}\n}\n", "Shape Shape.show"),
        ("a.rs", "impl dyn Shape + Send {\n    fn show(&self) {}\n}\n", "Shape Shape.show"),
        ("a.php", "<?php\nclass A {\n    private ?string $name = null;\n}\n", "A A.name"),
        ("a.kt", "class A {\n    val size = 1\n}\n", "A A.size"),
        ("a.scala", "package object a {\n  var state = 1\n}\n", "a a.state"),
        ("A.java", "interface A {\n    int MAX = 1;\n}\n", "A A.MAX"),
        ("a.cs", "class A {\n    event Handler Changed;\n}\n", "A A.Changed"),
        ("a.ts", "class A {\n  @Input() name!: string;\n  #count = 0;\n}\n", "A A.name A.count"),
        ("a.js", "var first = 1, second = 2;\nexport var third = 3;\n", "first second third"),
        ("a.js", "class A {\n  name;\n  go = () => 1;\n}\n", "A A.name A.go"),
        (
            "a.c",
            "typedef int (*callback)(int);\ntypedef long number;\nint table[] = { 1 }, *first = table;\n",
            "callback number table first",
        ),
        ("a.cpp", "class MY_API A : public B {\n public:\n  void go() { run(); }\n};\n", "A A.go"),
        ("a.cpp", "struct AB final {\n  void go() { run(); }\n};\n", "AB AB.go"),
    ],
)
def test_what_has_a_name_is_a_symbol_under_that_name_alone(path: str, text: str, symbols: str) -> None:
    outline = parse_outline(language_of(path) or pytest.fail(path), text)
    assert outline is not None
    assert [item.qualname for item in outline.definitions] == symbols.split()


@pytest.mark.req("D.06")
def test_a_call_on_what_may_be_null_is_a_call_and_a_base_is_told_without_its_arguments() -> None:
    (called,) = chunk_code("a.php", "<?php\nfunction go($a) {\n    return $a?->run();\n}\n")
    assert called.code is not None and called.code.calls == ("$a?->run",)
    (made,) = chunk_code("a.kt", "class A<T> : Base<T>(), Shape by Delegate(), a.b.I<Int> {\n    val size = 1\n}\n")
    assert made.code is not None and made.code.bases == ("Base", "Shape", "a.b.I")


# Extents


def test_a_nested_function_stays_in_the_one_around_it() -> None:
    text = "def outer():\n    def inner():\n        pass\n    return inner\n"
    assert list(by_symbol("a.py", text)) == ["outer"]


@pytest.mark.req("D.06")
def test_a_long_function_gives_its_nested_ones_chunks_of_their_own() -> None:
    body = "        value = compute(value, value)\n" * 60
    inner = "".join(f"    def inner{n}(value):\n{body}        return value\n\n" for n in range(3))
    text = f"def outer():\n{inner}    return inner0\n"
    found = by_symbol("a.py", text)
    assert list(found) == ["outer", "outer.inner0", "outer.inner1", "outer.inner2"]
    position = found["outer.inner1"].position
    assert (position.scope_depth, position.function_name, position.class_name) == (1, "inner1", None)
    assert_partition(text, chunk_code("a.py", text))


@pytest.mark.req("D.06")
def test_a_very_long_function_is_cut_at_statements_under_one_symbol() -> None:
    statement = "    result = call_something(\n        argument_one,\n        argument_two,\n    )\n"
    text = "def long():\n" + statement * 150 + "\n\ndef other(): ...\n"
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    parts = [chunk for chunk in chunks if chunk.position.symbol == "long"]
    assert len(parts) > 2
    assert all(part.text.startswith("    result = call_something(\n") for part in parts[1:])
    assert all(facts(part).signature == "def long()" for part in parts)


_LED = {
    "a.py": ("import x\n\n\n", "# What is known by name.\n# {more}\n", "TABLE = [\n", "]\n"),
    "a.rs": ("use x::Y;\n\n", "/// What is known by name.\n/// {more}\n", "pub const TABLE: &[u8] = &[\n", "];\n"),
    "b.rs": (
        "use x::Y;\n\n",
        "/// What is known.\n/// {more}\n#[rustfmt::skip]\n",
        "const TABLE: &[u8] = &[\n",
        "];\n",
    ),
    "a.go": ("package a\n\n", "// What is known by name.\n// {more}\n", "var Table = []int{\n", "}\n"),
    "a.ts": ('import x from "x"\n\n', "/** What is known by name.\n {more} */\n", "export const table = [\n", "]\n"),
    "a.c": ("#include <x.h>\n\n", "/* What is known by name.\n {more} */\n", "static const int table[] = {\n", "};\n"),
}


@pytest.mark.req("D.06")
@pytest.mark.parametrize("path", _LED)
@pytest.mark.parametrize("words", [1, 60])
def test_a_long_table_is_not_cut_from_the_comment_above_it(path: str, words: int) -> None:
    head, comment, opening, closing = _LED[path]
    comment = comment.replace("{more}", "said at length " * words)
    text = head + comment + opening + "    101, 202, 303,\n" * 400 + closing
    chunks = chunk_code(path, text)
    assert_partition(text, chunks)
    assert len(chunks) > 2
    holder = next(chunk for chunk in chunks if opening in chunk.text)
    assert comment in holder.text


@pytest.mark.req("D.06")
def test_a_functions_header_is_not_cut_from_its_one_long_statement() -> None:
    text = "/** What is known. */\nexport function known() {\n  return [\n" + "    101, 202, 303,\n" * 400 + "  ]\n}\n"
    chunks = chunk_code("a.ts", text)
    assert_partition(text, chunks)
    assert chunks[0].text.startswith("/** What is known. */\nexport function known() {\n  return [\n    101")


def test_a_huge_literal_is_cut_at_lines() -> None:
    text = "DATA = '''\n" + "some line of the data\n" * 900 + "'''\n"
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    assert all(chunk.text.endswith("\n") for chunk in chunks)


def test_a_comment_of_the_body_before_is_not_the_next_ones() -> None:
    text = "def a():\n    pass\n    # a's own\ndef b():\n    pass\n"
    found = by_symbol("a.py", text)
    assert "# a's own" in found["a"].text
    assert facts(found["b"]).docstring == ""


def test_loose_code_between_definitions_is_a_block_unless_it_is_tiny() -> None:
    loose = "".join(f"register({n}, 'a name that is long enough')\n" for n in range(9))
    text = f"import a\n\n\ndef f():\n    pass\n\n\n{loose}\n\ndef g():\n    pass\n\nx = 1\n"
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    assert [(facts(c).kind, c.position.symbol) for c in chunks] == [
        ("function", "f"),
        ("block", None),
        ("function", "g"),
    ]
    assert facts(chunks[0]).imports == ("a",)


def test_one_line_helpers_stay_together() -> None:
    text = "".join(f"export const add{n} = (a, b) => a + b + {n};\n" for n in range(8))
    (chunk,) = chunk_code("a.js", text)
    assert facts(chunk).kind == "module"


def test_the_licence_on_top_is_nobodys_docstring() -> None:
    text = "// Copyright 2020 Somebody\n// Licensed under X\n\n// Package a does b.\npackage a\n\n" + "var x = 1\n" * 20
    (head,) = chunk_code("a.go", text)
    assert facts(head).docstring == "Package a does b."


# Characters


@pytest.mark.req("D.06")
def test_offsets_are_characters_whatever_the_bytes() -> None:
    text = (
        '# Заголовок 😀😀\nимя = "значение 🎉"\n\n\n'
        'def первая(x):\n    """Док: 😀."""\n    return вызов("ёжик 🦔")\n\n\n'
        "class Класс:\n    def метод(self):\n        return '汉字'\n"
    ) * 30
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    found = by_symbol("a.py", text)
    assert facts(found["первая"]).docstring == "Док: 😀."
    assert facts(found["первая"]).calls == ("вызов",)
    assert found["Класс.метод"].text.lstrip().startswith("def метод(self):")


@pytest.mark.parametrize(
    "text",
    [
        "def f():\r\n    return 1\r\n\r\n\r\nclass A:\r\n    def m(self):\r\n        pass\r\n",
        "\ufeffdef f():\n    pass\n",
        "def f():\n\treturn '\ud800 lone'\n\ndef g():\n\tpass",
        "x = '\x00'\ndef f(): pass",
        "def f():\f\n    pass\n\x0b\n",
    ],
    ids=["crlf", "bom", "surrogate", "nul", "feeds"],
)
def test_odd_characters_move_nothing(text: str) -> None:
    assert_partition(text, chunk_code("a.py", text))


# What does not parse


@pytest.mark.req("D.06")
def test_a_file_that_does_not_parse_is_cut_at_lines() -> None:
    text = "this is { not ( python at all ]]\n)) = = 3 :: ->\n" * 120
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    assert len(chunks) > 1
    assert {facts(chunk).kind for chunk in chunks} == {"block"}
    assert {chunk.position.symbol for chunk in chunks} == {None}


def test_what_parses_in_a_broken_file_keeps_its_symbols() -> None:
    text = "def good():\n    return 1\n\n\nx = = 3 )\n\n\ndef fine():\n    return 2\n"
    assert {"good", "fine"} <= set(by_symbol("a.py", text))
    assert_partition(text, chunk_code("a.py", text))


def test_a_missing_grammar_leaves_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programming_languages, "_import_grammar", lambda grammar, loader: None)
    chunks = chunk_code("a.py", PYTHON)
    assert_partition(PYTHON, chunks)
    assert {facts(chunk).kind for chunk in chunks} == {"block"}


def test_a_grammar_that_cannot_be_imported_is_no_error() -> None:
    assert programming_languages._import_grammar("tree_sitter_klingon", "language") is None
    assert programming_languages._import_grammar("json", "language") is None


def test_the_share_that_parses_counts_what_stands_in_errors() -> None:
    good = "int good{0}() {{\n    return make({0});\n}}\n\n"
    broken = "A::A(int a)\n#if X\n    : B(a),\n#endif\n      c_(a) {\n  go();\n}\n\n"
    text = "namespace n {\n" + broken + "".join(good.format(n) for n in range(20)) + "}\n"
    assert {f"good{n}" for n in range(20)} <= {facts(chunk).name for chunk in chunk_code("a.cpp", text)}
    item = Definition(
        name="f",
        qualname="f",
        owner="",
        kind="function",
        is_class=False,
        start=20,
        end=60,
        lead=20,
        parent=None,
        chunked=True,
        part=False,
        declared=False,
        signature="",
        comment="",
    )
    assert share_parsed([item], [(10, 90), (30, 40)], 100) == pytest.approx(0.6)
    assert share_parsed([], [(0, 50), (10, 20), (40, 60)], 100) == pytest.approx(0.4)


# tree-sitter-kotlin 1.1.0 never comes back from this.
KOTLIN_LOOP = (
    "{o()\n]\n\n   # */\n@Ann\n\n        foo(a)\n        return x.bar()\n   \n"
    "data class A(val x: Int) : B(1), C<D> {\n    ov`eonent({a: 1})\nexprride suspend fun r\x00un(a: Int): Int {\n"
    "        foo(a)\n       x: Int) : B(1), C<D> {\n    override suspend fun run(a     foo(a)\n        return x0]\n\n"
    "    # .bar()\n    }\n}\n\nfun String.ext(): Int"
)


@pytest.mark.req("D.06")
def test_a_parser_that_runs_in_circles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_partition(KOTLIN_LOOP, chunk_code("a.kt", KOTLIN_LOOP))
    monkeypatch.setattr(outline, "_FREE_REPORTS", -1_000_000)
    text = PYTHON * 20
    chunks = chunk_code("a.py", text)
    assert_partition(text, chunks)
    assert {facts(chunk).kind for chunk in chunks} == {"block"}


def test_a_minified_file_is_cut_at_lines() -> None:
    text = "function a(){return 1};" * 900
    assert is_minified(text)
    chunks = chunk_code("a.js", text)
    assert_partition(text, chunks)
    assert {facts(chunk).kind for chunk in chunks} == {"block"}


@pytest.mark.parametrize("opening", ["(", "[", "{", "def f():\n", "if x:\n ", "function f(){", "class A{", "<div>"])
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.tsx", "a.cpp", "a.rb"])
def test_deep_nesting_is_survived(path: str, opening: str) -> None:
    text = "".join(f"{opening}\n" for _ in range(3_000))
    assert_partition(text, chunk_code(path, text))


# Symbols


# Names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A::B<C<D>>::f", ("A", "B", "f")),
        ("module.exports.run", ("run",)),
        ("A.prototype.k", ("A", "k")),
        ("*foo", ("foo",)),
        ("operator<<", ("operator<<",)),
        ("A::operator bool() const", ("A", "operator bool")),
        ("~A", ("~A",)),
        ("M:meth", ("M", "meth")),
        ('"quoted-name"', ("quoted-name",)),
    ],
)
def test_names_are_cleaned(text: str, parts: tuple[str, ...]) -> None:
    assert name_parts(text) == parts


@pytest.mark.parametrize(
    ("text", "name"),
    [("client.fetch", "client.fetch"), ("a(b).c", "c"), ("std::max<int>", "max"), ("(lambda: 1)", ""), ("f<T>", "f")],
)
def test_callees_are_named_as_written_unless_computed(text: str, name: str) -> None:
    assert callee_name(text) == name


def test_comments_and_docstrings_lose_their_marks() -> None:
    assert comment_text(["/**\n * One.\n *\n * Two.\n */"]).split("\n") == ["One.", "", "Two."]
    assert comment_text(["/// One", "/// two"]) == "One\ntwo"
    assert comment_text(["#!/bin/sh", "# SPDX-License-Identifier: MIT"]) == ""
    assert docstring_text('r"""One.\n\n    Two.\n    """') == "One.\n\nTwo."


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.PY", "", "python"),
        ("bin/run", "#!/usr/bin/env -S python3.11 -u\n", "python"),
        ("bin/run", "#!/bin/sh\n", "bash"),
        ("bin/run", "#!/usr/bin/env node\n", "javascript"),
        ("Rakefile", "", "ruby"),
        ("a.h", "struct a { int b; };\n", "c"),
        ("a.h", "namespace a { class B; }\n", "cpp"),
        ("a.unknown", "#!/bin/sh\n", None),
        ("LICENSE", "MIT\n", None),
    ],
)
def test_the_language_comes_from_the_name_or_the_first_line(path: str, text: str, name: str | None) -> None:
    language = language_of(path, text)
    assert (language.name if language else None) == name


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/pkg/mod.py", "pkg.mod"),
        ("pkg/__init__.py", "pkg"),
        ("lib/a.test.ts", "a"),
        ("mod.py", "mod"),
        ("src/index.js", "index"),
        ("a/index.js", "a"),
        (".bashrc", ".bashrc"),
    ],
)
def test_a_module_is_named_after_its_path(path: str, module: str) -> None:
    assert module_name(path) == module


def test_test_files_are_told_from_others() -> None:
    tests = ["tests/test_a.py", "pkg/a_test.go", "src/a.test.ts", "src/test/java/ATest.java", "spec/a_spec.rb"]
    assert [path for path in tests if not is_test_path(path)] == []
    assert not any(is_test_path(path) for path in ["src/a.py", "contest.go", "latest.ts", "README.md"])


# Laws

_LINES = st.sampled_from(
    [
        "def f(x):",
        "    return f(x)",
        "class A(B):",
        "    def m(self):",
        "        pass",
        "    @dec",
        "@dec",
        "# comment",
        "    # comment",
        "import a",
        "x = {",
        "}",
        "'''",
        "if a:",
        "else:",
        "",
        "   ",
        "function g() {",
        "  return () => { go(); };",
        "const h = (a) => {",
        "type T struct {",
        "impl A for B {",
        "fn n() {}",
        "/* open",
        "*/",
        "// строка 😀",
        "SELECT 1;",
        "end",
        "))",
        "\f",
        "y = " + "'word ' + " * 500 + "''",
        "z = 1\n" * 700,
        "\n" * 50,
    ]
)


@pytest.mark.req("D.06")
@settings(max_examples=examples(100))
@given(
    st.lists(_LINES, max_size=30),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([row.extensions[0] for row in LANGUAGES]),
)
def test_chunks_partition_any_file_in_any_language(lines: list[str], ending: str, extension: str) -> None:
    text = ending.join(lines)
    assert_partition(text, chunk_code(f"a{extension}", text))


@settings(max_examples=examples(100))
@given(st.text(max_size=200), st.sampled_from([row.extensions[0] for row in LANGUAGES]))
def test_no_text_breaks_the_partition(text: str, extension: str) -> None:
    assert_partition(text, chunk_code(f"a{extension}", text))


@pytest.mark.parametrize("character", ["\U00040000", "\U000e0001", "\U0010ffff"])
@pytest.mark.parametrize("path", ["a.sh", "a.py", "a.kt", "a.cpp"])
def test_characters_of_the_high_planes_end_no_parser(path: str, character: str) -> None:
    text = f"impl {{{character}"
    assert "".join(chunk.text for chunk in chunk_code(path, text)) == text
