"""Programming languages: one frozen row for each language that is parsed (D.06).

A row holds two tree-sitter queries. `definitions` finds what has a name: the definition's node is captured under its
kind, its name under `@name`, the type that a method hangs on from outside under `@owner`. Of several patterns that
capture the same node the last one wins. A kind (`class`, `function`, `other`, `namespace`) may carry a suffix:

- none: the definition is a chunk of its own;
- `.inline`: only from `INLINE_LINES` lines on, else it stays with the code around it;
- `.part`: never; it is a symbol that facts may be anchored to, inside its neighbours' chunk;
- `.declared`: a method without a body, a chunk of its own where what declares it (an interface, a trait) is one.

`facts` finds what chunks say of themselves: `@comment`, `@doc` (a docstring), `@lead` (an attribute in front of a
definition), `@call` (what is called), `@invocation` (a call whose callee ends where its arguments begin), `@import`,
`@member` (a name imported from a module, Python only) and `@base`.

The module is long because it is a table: a language is a row. Only `knowledge/relations` (how a language imports
and scopes names) names languages too.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, cast

from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import tree_sitter

INLINE_LINES = 5
"""An `.inline` definition (an arrow function, an alias) of so many lines is a chunk of its own; less says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How files of one language are recognised and read.

    Attributes:
        name: as `Position.language` says it.
        extensions: file endings, lower case, with the dot.
        filenames: whole file names.
        interpreters: what a shebang line calls.
        grammar: module that holds the grammar; `loader`: its function that returns it.
        definitions, facts: the queries (see the module's docstring).
        wrappers: nodes around one definition that belong to it (decorators, `export`, `template<...>`).
        attributes: nodes at a definition's beginning that its signature leaves out.
        tests: what the path of a test file matches.
    """

    name: str
    extensions: tuple[str, ...]
    grammar: str
    definitions: str
    facts: str
    loader: str = "language"
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    wrappers: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    tests: str = r"(^|/)tests?/"

    def load_grammar(self) -> tree_sitter.Language | None:
        """Load the grammar, once; None if its package is missing or was built for another tree-sitter."""
        return _import_grammar(self.grammar, self.loader)


@cache
def _import_grammar(grammar: str, loader: str) -> tree_sitter.Language | None:
    # Not at the top: names of languages are asked for by hooks, which read no code.
    import tree_sitter

    try:
        pointer = cast(Callable[[], object], getattr(importlib.import_module(grammar), loader))()
        return tree_sitter.Language(pointer)
    except (ImportError, AttributeError, ValueError):
        return None


_PYTHON = Language(
    name="python",
    extensions=(".py", ".pyi", ".pyw"),
    interpreters=("python", "python2", "python3", "pypy3"),
    grammar="tree_sitter_python",
    definitions="""
        (class_definition name: (_) @name) @class
        (function_definition name: (_) @name) @function
        (module (expression_statement (assignment left: (identifier) @name) @other.part))
        (class_definition body: (block (expression_statement (assignment left: (identifier) @name) @other.part)))
        (type_alias_statement left: (type (identifier) @name)) @other.part
    """,
    facts="""
        (comment) @comment
        (module . (comment)* . (expression_statement . (string) @doc))
        (class_definition body: (block . (expression_statement . (string) @doc)))
        (function_definition body: (block . (expression_statement . (string) @doc)))
        (call function: (_) @call)
        (import_statement name: (dotted_name) @import)
        (import_statement name: (aliased_import name: (_) @import))
        (import_from_statement name: (dotted_name) @member)
        (import_from_statement name: (aliased_import name: (_) @member))
        (import_from_statement module_name: (_) @import (wildcard_import))
        (class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
    """,
    wrappers=frozenset({"decorated_definition"}),
    attributes=frozenset({"decorator"}),
    tests=r"(^|/)tests?/|(^|/)test_[^/]*\.py$|_test\.py$|(^|/)conftest\.py$",
)

_SCRIPT_DEFINITIONS: Final = """
    (program (lexical_declaration (variable_declarator name: (identifier) @name) @other.part))
    (program (variable_declaration (variable_declarator name: (identifier) @name) @other.part))
    (program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @other.part)))
    (program (export_statement (variable_declaration (variable_declarator name: (identifier) @name) @other.part)))
    (class_declaration name: (_) @name) @class
    (function_declaration name: (_) @name) @function
    (generator_function_declaration name: (_) @name) @function
    (method_definition name: (_) @name) @function
    (variable_declarator name: (identifier) @name
        value: [(arrow_function) (function_expression) (generator_function)]) @function.inline
    (variable_declarator name: (identifier) @name value: (class)) @class
    (assignment_expression left: (_) @name
        right: [(arrow_function) (function_expression) (generator_function)]) @function.inline
    (pair key: (_) @name value: [(arrow_function) (function_expression)]) @function.inline
"""
_SCRIPT_FACTS: Final = """
    (comment) @comment
    (decorator) @lead
    (call_expression function: (_) @call)
    (new_expression constructor: (_) @call)
    (import_statement source: (_) @import)
    (export_statement source: (_) @import)
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @import)
        (#eq? @_require "require"))
    (call_expression function: (import) arguments: (arguments . (string) @import))
"""
_JSX_FACTS: Final = """
    ([(jsx_opening_element name: (_) @call) (jsx_self_closing_element name: (_) @call)] (#match? @call "^[A-Z]|[.]"))
"""
"""A component is called by what shows it; what has a small letter is the browser's."""

_SCRIPT_WRAPPERS: Final = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement", "ambient_declaration"}
)
_SCRIPT_TESTS: Final = r"(^|/)(tests?|__tests__|spec)/|\.(test|spec)\.[cm]?[jt]sx?$"

_JAVASCRIPT = Language(
    name="javascript",
    extensions=(".js", ".jsx", ".mjs", ".cjs"),
    interpreters=("node", "nodejs", "bun"),
    grammar="tree_sitter_javascript",
    definitions=_SCRIPT_DEFINITIONS
    + "(field_definition property: (_) @name) @other.part"
    + "(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @function.inline",
    facts=_SCRIPT_FACTS + _JSX_FACTS + "(class_heritage (_) @base)",
    wrappers=_SCRIPT_WRAPPERS,
    attributes=frozenset({"decorator"}),
    tests=_SCRIPT_TESTS,
)

_TYPESCRIPT_DEFINITIONS: Final = (
    _SCRIPT_DEFINITIONS
    + """
    (abstract_class_declaration name: (_) @name) @class
    (interface_declaration name: (_) @name) @other.inline
    (type_alias_declaration name: (_) @name) @other.inline
    (enum_declaration name: (_) @name) @other.inline
    (internal_module name: (_) @name) @namespace
    (module name: (_) @name) @namespace
    (public_field_definition name: (_) @name) @other.part
    (public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @function.inline
    (function_signature name: (_) @name) @function.part
    (method_signature name: (_) @name) @function.part
    (interface_body (method_signature name: (_) @name) @function.declared)
    (abstract_method_signature name: (_) @name) @function.declared
"""
)
_TYPESCRIPT_FACTS: Final = (
    _SCRIPT_FACTS
    + """
    (extends_clause value: (_) @base)
    (implements_clause (_) @base)
    (extends_type_clause type: (_) @base)
"""
)

_TYPESCRIPT = Language(
    name="typescript",
    extensions=(".ts", ".mts", ".cts"),
    interpreters=("deno", "ts-node", "tsx"),
    grammar="tree_sitter_typescript",
    loader="language_typescript",
    definitions=_TYPESCRIPT_DEFINITIONS,
    facts=_TYPESCRIPT_FACTS,
    wrappers=_SCRIPT_WRAPPERS,
    attributes=frozenset({"decorator"}),
    tests=_SCRIPT_TESTS,
)

_TSX = Language(
    name="tsx",
    extensions=(".tsx",),
    grammar="tree_sitter_typescript",
    loader="language_tsx",
    definitions=_TYPESCRIPT_DEFINITIONS,
    facts=_TYPESCRIPT_FACTS + _JSX_FACTS,
    wrappers=_SCRIPT_WRAPPERS,
    attributes=frozenset({"decorator"}),
    tests=_SCRIPT_TESTS,
)

_GO = Language(
    name="go",
    extensions=(".go",),
    grammar="tree_sitter_go",
    definitions="""
        (function_declaration name: (_) @name) @function
        (method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name)
            @function
        (type_spec name: (_) @name) @other.inline
        (type_spec name: (_) @name type: (struct_type)) @class
        (type_spec name: (_) @name type: (interface_type)) @other
        (type_alias name: (_) @name) @other.inline
        (method_elem name: (_) @name) @function.part
        (type_spec type: (interface_type (method_elem name: (_) @name) @function.declared))
        (source_file (const_declaration (const_spec name: (_) @name) @other.part))
        (source_file (var_declaration (var_spec name: (_) @name) @other.part))
        (source_file (var_declaration (var_spec_list (var_spec name: (_) @name) @other.part)))
    """,
    facts="""
        (comment) @comment
        (call_expression function: (_) @call)
        (import_spec path: (_) @import)
        (field_declaration !name type: (_) @base)
        (interface_type (type_elem . (_) @base .))
    """,
    wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
    tests=r"_test\.go$",
)

_RUST = Language(
    name="rust",
    extensions=(".rs",),
    grammar="tree_sitter_rust",
    definitions="""
        (function_item name: (_) @name) @function
        (function_signature_item name: (_) @name) @function.declared
        (struct_item name: (_) @name) @class
        (union_item name: (_) @name) @class
        (impl_item type: (_) @name) @class
        (impl_item type: (reference_type type: (_) @name)) @class
        (impl_item type: (dynamic_type trait: (_) @name)) @class
        (impl_item type: (reference_type type: (dynamic_type trait: (_) @name))) @class
        (impl_item type: (bounded_type . (dynamic_type trait: (_) @name))) @class
        (enum_item name: (_) @name) @other
        (trait_item name: (_) @name) @other
        (macro_definition name: (_) @name) @other
        (mod_item name: (_) @name body: (_)) @namespace
        (type_item name: (_) @name) @other.part
        (const_item name: (_) @name) @other.part
        (static_item name: (_) @name) @other.part
    """,
    facts="""
        (line_comment) @comment
        (block_comment) @comment
        (attribute_item) @lead
        (call_expression function: (_) @call)
        (macro_invocation macro: (_) @call)
        (use_declaration argument: (_) @import)
        (extern_crate_declaration name: (_) @import)
        (impl_item trait: (_) @base)
        (trait_item bounds: (trait_bounds (_) @base))
    """,
    tests=r"(^|/)tests/|_test\.rs$",
)

_JAVA = Language(
    name="java",
    extensions=(".java",),
    grammar="tree_sitter_java",
    definitions="""
        (class_declaration name: (_) @name) @class
        (record_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @other
        (enum_declaration name: (_) @name) @other
        (annotation_type_declaration name: (_) @name) @other
        (method_declaration name: (_) @name body: (_)) @function
        (method_declaration name: (_) @name !body) @function.declared
        (constructor_declaration name: (_) @name) @function
        (compact_constructor_declaration name: (_) @name) @function
        (field_declaration declarator: (variable_declarator name: (_) @name) @other.part)
        (constant_declaration declarator: (variable_declarator name: (_) @name) @other.part)
    """,
    facts="""
        (line_comment) @comment
        (block_comment) @comment
        (method_invocation) @invocation
        (object_creation_expression type: (_) @call)
        (import_declaration) @import
        (superclass (_) @base)
        (super_interfaces (type_list (_) @base))
        (extends_interfaces (type_list (_) @base))
    """,
    attributes=frozenset({"marker_annotation", "annotation"}),
    tests=r"(^|/)src/test/|Tests?\.java$",
)

_C_DEFINITIONS: Final = """
    (type_definition declarator: (type_identifier) @name) @other.part
    (type_definition declarator: (function_declarator declarator: (parenthesized_declarator
        (pointer_declarator declarator: (type_identifier) @name)))) @other.part
    (translation_unit (declaration declarator: (init_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
        (pointer_declarator declarator: (identifier) @name)
    ]) @other.part))
    (function_definition declarator: (function_declarator declarator: (_) @name)) @function
    (function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
        @function
    (function_definition declarator: (pointer_declarator declarator: (pointer_declarator
        declarator: (function_declarator declarator: (_) @name)))) @function
    (struct_specifier name: (_) @name body: (_)) @class
    (union_specifier name: (_) @name body: (_)) @class
    (enum_specifier name: (_) @name body: (_)) @other.inline
    (type_definition type: (struct_specifier !name body: (_)) declarator: (_) @name) @class
    (type_definition type: (union_specifier !name body: (_)) declarator: (_) @name) @class
    (type_definition type: (enum_specifier !name body: (_)) declarator: (_) @name) @other.inline
    (declaration declarator: (function_declarator declarator: (identifier) @name)) @function.part
    (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
        @function.part
    (preproc_function_def name: (_) @name) @other.inline
    (preproc_def name: (_) @name) @other.part
"""
_C_FACTS: Final = """
    (comment) @comment
    (call_expression function: (_) @call)
    (preproc_include path: (_) @import)
"""
_C_TESTS: Final = r"(^|/)tests?/|(^|/)test_[^/]*$|[_.]test\.[^/.]+$|_unittest\.[^/.]+$"

_C = Language(
    name="c",
    extensions=(".c", ".h"),
    grammar="tree_sitter_c",
    definitions=_C_DEFINITIONS,
    facts=_C_FACTS,
    wrappers=frozenset({"type_definition"}),
    tests=_C_TESTS,
)

_CPP = Language(
    name="cpp",
    extensions=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".inl", ".cu", ".cuh"),
    grammar="tree_sitter_cpp",
    definitions=_C_DEFINITIONS
    + """
        (function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
        (function_definition declarator: (operator_cast) @name) @function
        (field_declaration_list (function_definition
            declarator: (function_declarator declarator: (_) @name)) @function.inline)
        (field_declaration declarator: (function_declarator declarator: (_) @name)) @function.part
        (function_definition !type declarator: (function_declarator declarator: (identifier) @_macro
            parameters: (parameter_list . (parameter_declaration !declarator type: (_) @owner)
                . (parameter_declaration !declarator type: (_) @name) .))
            (#match? @_macro "^[A-Z_]*(TEST|BENCHMARK)[A-Z_]*$")) @function
        (class_specifier name: (_) @name body: (_)) @class
        (namespace_definition name: (_) @name) @namespace
        (concept_definition name: (_) @name) @other.inline
        (alias_declaration name: (_) @name) @other.part
    """,
    facts=_C_FACTS
    + """
        (new_expression type: (_) @call)
        (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
    """,
    wrappers=frozenset({"type_definition", "template_declaration"}),
    attributes=frozenset({"attribute_declaration"}),
    tests=_C_TESTS,
)

_C_SHARP = Language(
    name="c_sharp",
    extensions=(".cs", ".csx"),
    grammar="tree_sitter_c_sharp",
    definitions="""
        (class_declaration name: (_) @name) @class
        (struct_declaration name: (_) @name) @class
        (record_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @other
        (enum_declaration name: (_) @name) @other
        (namespace_declaration name: (_) @name) @namespace
        (method_declaration name: (_) @name body: (_)) @function
        (method_declaration name: (_) @name !body) @function.declared
        (constructor_declaration name: (_) @name) @function
        (local_function_statement name: (_) @name) @function
        (property_declaration name: (_) @name) @other.inline
        (delegate_declaration name: (_) @name) @other.part
        (field_declaration (variable_declaration (variable_declarator name: (_) @name) @other.part))
        (event_field_declaration (variable_declaration (variable_declarator name: (_) @name) @other.part))
        (event_declaration name: (_) @name) @other.inline
    """,
    facts="""
        (comment) @comment
        (invocation_expression function: (_) @call)
        (object_creation_expression type: (_) @call)
        (using_directive) @import
        (base_list (_) @base)
    """,
    attributes=frozenset({"attribute_list"}),
    tests=r"(^|/)[^/]*\.?Tests?/|Tests?\.cs$",
)

_RUBY = Language(
    name="ruby",
    extensions=(".rb", ".rake", ".gemspec", ".ru"),
    filenames=("Rakefile", "Gemfile", "Vagrantfile", "Guardfile", "Podfile", "Fastfile"),
    interpreters=("ruby",),
    grammar="tree_sitter_ruby",
    definitions="""
        (class name: (_) @name) @class
        (module name: (_) @name) @other
        (method name: (_) @name) @function
        (singleton_method name: (_) @name) @function
        (assignment left: (constant) @name) @other.part
    """,
    facts="""
        (comment) @comment
        (call method: (_) @call !receiver)
        (call receiver: (_)) @invocation
        (call method: (identifier) @_require arguments: (argument_list . (string) @import)
            (#any-of? @_require "require" "require_relative" "load" "autoload"))
        (superclass (_) @base)
    """,
    tests=r"(^|/)(tests?|spec)/|_(test|spec)\.rb$",
)

_PHP = Language(
    name="php",
    extensions=(".php", ".phtml", ".php5", ".inc"),
    interpreters=("php",),
    grammar="tree_sitter_php",
    loader="language_php",
    definitions="""
        (class_declaration name: (_) @name) @class
        (trait_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @other
        (enum_declaration name: (_) @name) @other
        (namespace_definition name: (_) @name body: (_)) @namespace
        (method_declaration name: (_) @name body: (_)) @function
        (method_declaration name: (_) @name !body) @function.declared
        (function_definition name: (_) @name) @function
        (const_declaration (const_element (name) @name)) @other.part
        (property_declaration (property_element name: (variable_name (name) @name) @other.part))
    """,
    facts="""
        (comment) @comment
        (function_call_expression function: (_) @call)
        (member_call_expression) @invocation
        (nullsafe_member_call_expression) @invocation
        (scoped_call_expression) @invocation
        (object_creation_expression [(name) (qualified_name)] @call)
        (namespace_use_clause . (_) @import)
        (require_expression (_) @import)
        (require_once_expression (_) @import)
        (include_expression (_) @import)
        (include_once_expression (_) @import)
        (base_clause (_) @base)
        (class_interface_clause (_) @base)
    """,
    attributes=frozenset({"attribute_list"}),
    tests=r"(^|/)tests?/|Test\.php$",
)

_KOTLIN = Language(
    name="kotlin",
    extensions=(".kt", ".kts"),
    interpreters=("kotlin",),
    grammar="tree_sitter_kotlin",
    definitions="""
        (class_declaration name: (_) @name) @class
        (object_declaration name: (_) @name) @class
        (function_declaration name: (_) @name) @function.declared
        (function_declaration name: (_) @name (function_body)) @function
        (source_file (property_declaration (variable_declaration (identifier) @name)) @other.part)
        (class_body (property_declaration (variable_declaration (identifier) @name)) @other.part)
        (type_alias type: (_) @name) @other.part
    """,
    facts="""
        (line_comment) @comment
        (block_comment) @comment
        (call_expression . (_) @call)
        (object_literal (delegation_specifiers (delegation_specifier (constructor_invocation . (user_type) @call))))
        (import (qualified_identifier) @import)
        (class_declaration (delegation_specifiers (delegation_specifier (user_type) @base)))
        (class_declaration (delegation_specifiers (delegation_specifier (_ . (user_type) @base))))
        (object_declaration (delegation_specifiers (delegation_specifier (user_type) @base)))
        (object_declaration (delegation_specifiers (delegation_specifier (_ . (user_type) @base))))
    """,
    attributes=frozenset({"annotation"}),
    tests=r"(^|/)src/(test|androidTest)/|Test\.kt$",
)

_SWIFT = Language(
    name="swift",
    extensions=(".swift",),
    interpreters=("swift",),
    grammar="tree_sitter_swift",
    definitions="""
        (class_declaration name: (_) @name) @class
        (protocol_declaration name: (_) @name) @other
        (function_declaration name: (simple_identifier) @name) @function
        (init_declaration "init" @name) @function
        (protocol_function_declaration name: (simple_identifier) @name) @function.declared
        (property_declaration name: (pattern) @name) @other.part
        (typealias_declaration name: (type_identifier) @name) @other.part
    """,
    facts="""
        (comment) @comment
        (multiline_comment) @comment
        (call_expression . (_) @call)
        (import_declaration (identifier) @import)
        (inheritance_specifier inherits_from: (_) @base)
    """,
    attributes=frozenset({"attribute"}),
    tests=r"(^|/)Tests/|Tests?\.swift$",
)

_SCALA = Language(
    name="scala",
    extensions=(".scala", ".sc", ".sbt"),
    interpreters=("scala", "amm"),
    grammar="tree_sitter_scala",
    definitions="""
        (class_definition name: (_) @name) @class
        (object_definition name: (_) @name) @class
        (trait_definition name: (_) @name) @other
        (enum_definition name: (_) @name) @other
        (function_definition name: (_) @name) @function
        (function_declaration name: (_) @name) @function.declared
        (given_definition name: (_) @name) @other.inline
        (type_definition name: (_) @name) @other.part
        (package_object name: (_) @name) @class
        (template_body [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
            @other.part)
        (compilation_unit [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
            @other.part)
    """,
    facts="""
        (comment) @comment
        (block_comment) @comment
        (call_expression function: (_) @call)
        (instance_expression . (_) @call)
        (import_declaration) @import
        (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
    """,
    attributes=frozenset({"annotation"}),
    tests=r"(^|/)src/test/|(Test|Spec|Suite)\.scala$",
)

_LUA = Language(
    name="lua",
    extensions=(".lua",),
    interpreters=("lua", "luajit"),
    grammar="tree_sitter_lua",
    definitions="""
        (function_declaration name: (_) @name) @function
        (assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition)))
            @function.inline
        (field name: (identifier) @name value: (function_definition)) @function.inline
    """,
    facts="""
        (comment) @comment
        (function_call name: (_) @call)
        (function_call name: (identifier) @_require arguments: (arguments . (string) @import)
            (#eq? @_require "require"))
    """,
    wrappers=frozenset({"variable_declaration"}),
    tests=r"(^|/)(tests?|spec)/|_(test|spec)\.lua$",
)

_BASH = Language(
    name="bash",
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
    filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", ".bash_aliases"),
    interpreters=("sh", "bash", "dash", "zsh", "ksh", "ash"),
    grammar="tree_sitter_bash",
    definitions="(function_definition name: (_) @name) @function",
    facts="""
        (comment) @comment
        (command name: (command_name (word) @call))
        (command name: (command_name (word) @_source) argument: (_) @import (#any-of? @_source "source" "."))
    """,
    tests=r"(^|/)tests?/|\.bats$|_test\.sh$",
)

_SQL = Language(
    name="sql",
    extensions=(".sql", ".ddl"),
    grammar="tree_sitter_sql",
    definitions="""
        (create_table (object_reference) @name) @other
        (create_view (object_reference) @name) @other
        (create_materialized_view (object_reference) @name) @other
        (create_type (object_reference) @name) @other
        (create_trigger (object_reference) @name) @other
        (create_function (object_reference) @name) @function
        (create_procedure (object_reference) @name) @function
        (create_index column: (_) @name) @other.part
    """,
    # The tables that a query reads are what it depends on, as a module depends on what it imports.
    facts="""
        (comment) @comment
        (marginalia) @comment
        (invocation (object_reference) @call)
        (relation (object_reference) @import)
    """,
    wrappers=frozenset({"statement"}),
)

LANGUAGES: Final[tuple[Language, ...]] = (
    _PYTHON,
    _JAVASCRIPT,
    _TYPESCRIPT,
    _TSX,
    _GO,
    _RUST,
    _JAVA,
    _C,
    _CPP,
    _C_SHARP,
    _RUBY,
    _PHP,
    _KOTLIN,
    _SWIFT,
    _SCALA,
    _LUA,
    _BASH,
    _SQL,
)
"""Every language with a grammar."""

BY_NAME: Final = {row.name: row for row in LANGUAGES}
_BY_EXTENSION: Final = {extension: row for row in LANGUAGES for extension in row.extensions}
_BY_FILENAME: Final = {name: row for row in LANGUAGES for name in row.filenames}
_BY_INTERPRETER: Final = {name: row for row in LANGUAGES for name in row.interpreters}

_SHEBANG: Final = re.compile(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:\S*/)?([a-z]+[0-9]?)")
_CPP_HEADER: Final = re.compile(
    r"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:)", re.M
)


def language_of(path: str, text: str = "") -> Language | None:
    """Return the language of a file by its ending, its name, or the interpreter its first line calls.

    A `.h` file that uses C++ words is C++.
    """
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.lower()
    language = _BY_EXTENSION.get(suffix) or _BY_FILENAME.get(name)
    if language is None and not suffix and (match := _SHEBANG.match(text)):
        language = _BY_INTERPRETER.get(match[1]) or _BY_INTERPRETER.get(match[1].rstrip("0123456789"))
    if suffix == ".h" and _CPP_HEADER.search(text):
        return _CPP
    return language


@lru_cache(maxsize=1_024)  # Every chunk of a file asks.
def is_test_path(path: str) -> bool:
    """Say whether a path looks like a test file of its language."""
    language = language_of(path)
    return language is not None and re.search(language.tests, path) is not None
