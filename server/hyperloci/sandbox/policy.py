"""Policy: which Python a program may use: RestrictedPython's, with fewer statements and a few more idioms."""

from __future__ import annotations

import ast
import warnings
from types import CodeType
from typing import Any, Final

from RestrictedPython.transformer import IOPERATOR_TO_STR, RestrictingNodeTransformer, copy_locations

FILENAME: Final = "<memory_repl>"
"""Tells a program's own frames from ours in a traceback."""

ORDINARY: Final = "_ordinary_"
"""What a bare `except:` catches: never the exception that ends a program at its limits."""


class Refused(Exception):
    """The program is not run."""

    def __init__(self, reason: str, line: int | None) -> None:
        super().__init__(reason)
        self.line = line


class CompiledProgram:
    """A program that may run: its statements, and its last expression apart.

    Attributes:
        body: all but the last expression, for `exec`.
        last: the last expression, for `eval`, or None.
    """

    def __init__(self, body: CodeType, last: CodeType | None) -> None:
        self.body = body
        self.last = last


def compile_program(code: str) -> CompiledProgram:
    """Return a program whose every name, attribute, item and iteration goes through a guard.

    Raises:
        Refused: it does not parse, or has something that is not allowed.
    """
    tree = _parse_program(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        body = _compile_tree(tree, "exec")
        end = None if last is None else _compile_tree(ast.Expression(last.value), "eval")  # type: ignore[attr-defined]
    except SyntaxError as error:
        # `return` outside a function and its like parse, and are found out later.
        raise Refused(f"it does not parse: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise Refused("it is nested too deeply: split it into several statements", None) from None
    return CompiledProgram(body, end)


def _parse_program(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, FILENAME)
    except SyntaxError as error:
        raise Refused(f"it does not parse: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise Refused("it is nested too deeply: split it into several statements", None) from None
    except ValueError as error:
        raise Refused(f"it does not parse: {error}", None) from None


def _compile_tree(tree: ast.Module | ast.Expression, mode: str) -> CodeType:
    policy = ProgramPolicy()
    tree = policy.visit(tree)
    if policy.refusals:
        # In the order of the text, not of the visit: inner parts are visited first.
        line = min((line for line, _ in policy.refusals if line is not None), default=None)
        reasons = dict.fromkeys(reason for at, reason in policy.refusals if at == line)
        raise Refused("; ".join(reasons), line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: CodeType = compile(ast.fix_missing_locations(tree), FILENAME, mode, dont_inherit=True)
    return code


class ProgramPolicy(RestrictingNodeTransformer):
    """RestrictedPython's policy without imports, classes and `with`, since nothing here needs them."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[tuple[int | None, str]] = []

    def error(self, node: ast.AST, info: str) -> None:
        """Note a refusal with its line."""
        self.refusals.append((getattr(node, "lineno", None), info))

    def _refuse_node(self, node: ast.AST, reason: str) -> ast.AST:
        self.error(node, reason)
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Refuse imports."""
        return self._refuse_node(node, "imports are not allowed: use the memory functions, print and the basic types")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Refuse imports."""
        return self._refuse_node(node, "imports are not allowed: use the memory functions, print and the basic types")

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Refuse classes: special methods are called without passing any guard."""
        return self._refuse_node(node, "classes are not allowed: use dictionaries and functions")

    def visit_With(self, node: ast.With) -> ast.AST:
        """Refuse `with`: it calls special methods, and there is nothing to open."""
        return self._refuse_node(node, "with statements are not allowed: there is nothing to open")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Allow functions, as long as they are no special methods and have no type parameters."""
        self.check_name(node, node.name)
        if getattr(node, "type_params", None):
            return self._refuse_node(node, "type parameters are not allowed")
        return super().visit_FunctionDef(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Allow reading attributes, guarded; nothing here has attributes to set."""
        if not isinstance(node.ctx, ast.Load):
            self.error(node, "attributes can't be set or deleted")
        return super().visit_Attribute(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Let a bare `except:` catch what `except Exception:` does."""
        super().visit_ExceptHandler(node)
        if node.type is None:
            node.type = ast.Name(ORDINARY, ast.Load())
            copy_locations(node.type, node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Allow `d[k] += v` too, which counts things; it becomes a guarded call."""
        if not isinstance(node.target, ast.Subscript):
            return super().visit_AugAssign(node)
        parts = (node.target.value, node.target.slice, node.value)
        call = ast.Call(
            func=ast.Name("_augitem_", ast.Load()),
            args=[ast.Constant(IOPERATOR_TO_STR[type(node.op)]), *(self.visit(part) for part in parts)],
            keywords=[],
        )
        changed = ast.Expr(call)
        copy_locations(changed, node)
        return changed
