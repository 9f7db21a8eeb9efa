"""Which requirements no test names: python tests/requirements_report.py"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
REQUIREMENTS = TESTS.parent / "docs" / "requirements.md"

_LISTED = re.compile(r"^- ((?:SPEC-02|[BCDE])\.\d\d|W\d+) (\S.*)$")


def listed() -> dict[str, str]:
    """Return the requirements of the documentation: id to line."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return {match[1]: match[2] for line in lines if (match := _LISTED.match(line))}


def named() -> dict[str, list[str]]:
    """Return the ids that tests name, each with the files that do."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for requirement in sorted(set(_marked(file))):
            found.setdefault(requirement, []).append(file.relative_to(TESTS).as_posix())
    return found


def _marked(file: Path) -> Iterator[str]:
    """Yield the ids in a file's `req` markers, on functions, classes, parameters and the module alike."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "req":
            yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))


def main() -> int:
    """Print the requirements without a test, and ids that are no requirement; 1 if there is either."""
    requirements, tests = listed(), named()
    missing = [requirement for requirement in requirements if requirement not in tests]
    unknown = sorted(set(tests) - set(requirements))
    for requirement in missing:
        print(f"{requirement} {requirements[requirement]}")
    for requirement in unknown:
        print(f"{requirement} is no requirement: {', '.join(tests[requirement])}")
    print(f"{len(requirements) - len(missing)} of {len(requirements)} requirements have a test.")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
