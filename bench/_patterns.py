"""Every regular expression of the three packages, found by running them: `python -m bench._patterns` lists them.

A fresh process imports every module while each compilation is written down with the line that asked for it, then makes
those that are compiled later, when something calls for them (`_make_late`). Calls that were never seen to compile
anything are listed as `unseen`, so that no pattern escapes by where it stands.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, ModuleType
from typing import Any

from hyperloci.system import late_patterns

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("hyperloci", "hyperloci_tools", "hyperloci_hooks")
FUNCTIONS = frozenset({"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
ANCHORED = frozenset({"match", "fullmatch"})
SCANNING = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})

GLOBS = ("*", "**/*.py", "src/", "*a*a*a*a*b", "**/a/**/b/**/c/**/d", "{a,b}*[xyz]?c", "*" * 40 + "b")
"""Globs that a caller may give: the patterns made of them are attacked like our own."""

IGNORED = (
    "*.log",
    "*a*a*a*a*a*b",
    "**/a/**/b/**/c/**",
    "/a*/b*/c*/",
    "**/*x*y*/**/z",
    "[a-z]*[0-9]*.txt",
    "*" * 40 + "b",
)
"""Lines of an ignore file that a repository may bring along."""


@dataclass(frozen=True, slots=True)
class FoundPattern:
    """One pattern: where it is asked for, its name there, its source, and the methods that are called on it."""

    module: str
    line: int
    name: str
    source: str
    flags: int
    is_bytes: bool
    methods: tuple[str, ...]

    @property
    def label(self) -> str:
        """`module.name`, or `module:line` where it has none."""
        return f"{self.module}.{self.name}" if self.name else f"{self.module}:{self.line}"

    def compiled(self) -> re.Pattern[Any]:
        """The pattern itself."""
        source: Any = self.source.encode("latin-1") if self.is_bytes else self.source
        return re.compile(source, self.flags & ~(0 if not self.is_bytes else re.UNICODE))


@dataclass(frozen=True, slots=True)
class PatternListing:
    """All patterns, and the lines of the packages that name a function of `re` and compiled nothing."""

    patterns: tuple[FoundPattern, ...]
    unseen: tuple[str, ...]


def list_patterns() -> PatternListing:
    """All patterns, as a fresh process finds them."""
    done = subprocess.run(
        [sys.executable, "-m", "bench._patterns", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    return PatternListing(
        tuple(FoundPattern(**{**row, "methods": tuple(row["methods"])}) for row in told["patterns"]),
        tuple(told["unseen"]),
    )


# -- in the fresh process ---------------------------------------------------------------------------------------------


class PatternRecorder:
    """What was compiled by which line of the packages, while it is installed in `re`."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], dict[tuple[Any, int], re.Pattern[Any]]] = {}
        self._compile = re._compile  # type: ignore[attr-defined]

    def install(self) -> None:
        re._compile = self.compile  # type: ignore[attr-defined]

    def compile(self, pattern: Any, flags: int) -> re.Pattern[Any]:
        made: re.Pattern[Any] = self._compile(pattern, flags)
        if frame := _asking_frame(sys._getframe(1)):
            place = (frame.f_globals["__name__"], frame.f_lineno)
            self.seen.setdefault(place, {})[(made.pattern, made.flags)] = made
        return made


def _asking_frame(frame: FrameType | None) -> FrameType | None:
    """The frame that called `re`, if it is of the packages."""
    while frame and frame.f_globals.get("__name__") in {"re", "functools"}:
        frame = frame.f_back
    if frame and str(frame.f_globals.get("__name__", "")).partition(".")[0] in PACKAGES:
        return frame
    return None


def all_modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for info in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def re_calls(module: ModuleType) -> Iterator[tuple[ast.Call, str]]:
    """Every call of a function of `re` in a module, with the function's name; `compile_late` is one that compiles."""
    for node in ast.walk(_module_tree(module)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=function)) if function in FUNCTIONS:
                yield node, function
            case ast.Call(func=ast.Name(id="compile_late")):
                yield node, "compile"


def _bound_methods(module: ModuleType) -> Iterator[tuple[ast.Call, str]]:
    """Every compilation of which only one method is kept (`re.compile(x).match`), with that method."""
    for node in ast.walk(_module_tree(module)):
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Attribute(value=ast.Name(id="re"))) as call, attr=method):
                yield call, method


def _module_tree(module: ModuleType) -> ast.Module:
    assert module.__file__
    return ast.parse(Path(module.__file__).read_text())


def _has_compiled(recorder: PatternRecorder, module: ModuleType, node: ast.Call) -> bool:
    """Whether a call compiled something. Its frames stand at the line of whichever part was being evaluated."""
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return any((module.__name__, line) in recorder.seen for line in lines)


def _plain_string(node: ast.Call) -> Any:
    """The pattern of a call that is written out there: a string or bytes; else None."""
    match node.args:
        case [ast.Constant(value=str() | bytes() as source), *_]:
            return source
    return None


def _read_plain_strings(recorder: PatternRecorder, found: Iterable[ModuleType]) -> None:
    """Compile what is written out in a call that nothing has made yet."""
    for module in found:
        for node, _ in re_calls(module):
            source = _plain_string(node)
            if source is not None and not _has_compiled(recorder, module, node):
                flags = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr.isupper()]
                made = re.compile(source, sum({getattr(re, flag.attr) for flag in flags}))
                recorder.seen[(module.__name__, node.lineno)] = {(made.pattern, made.flags): made}


def _pattern_names(module: ModuleType) -> dict[int, str]:
    """The names of the patterns that a module's globals hold, however deep, by identity."""
    names: dict[int, str] = {}
    waiting = [(name, value) for name, value in vars(module).items() if not isinstance(value, ModuleType)]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case re.Pattern():
                names[id(value)] = name
            case dict():
                waiting += [(f"{name}[{key!r}]", each) for key, each in value.items()]
            case tuple() | list() | set() | frozenset():
                waiting += [(f"{name}[{at}]", each) for at, each in enumerate(value)]
            case _ if is_dataclass(value):
                waiting += [(f"{name}.{field.name}", getattr(value, field.name, None)) for field in fields(value)]
            case type() if value.__module__ == module.__name__:
                waiting += [(f"{name}.{key}", each) for key, each in vars(value).items()]
    return names


def _called_methods(found: Iterable[ModuleType]) -> dict[tuple[str, str], frozenset[str]]:
    """What is called on each global of each module, everywhere; nothing for one that is used otherwise, too.

    The keys are module and name.
    """
    called: dict[tuple[str, str], set[str]] = {}
    elsewhere: set[tuple[str, str]] = set()
    for module in found:
        tree = _module_tree(module)
        homes = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        direct: set[ast.Name] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method)) if method in FUNCTIONS:
                    direct.add(name)
                    called.setdefault(homes.get(name.id, (module.__name__, name.id)), set()).add(method)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in direct:
                elsewhere.add(homes.get(node.id, (module.__name__, node.id)))
    return {key: frozenset(methods) for key, methods in called.items() if key not in elsewhere}


def _collect_patterns(recorder: PatternRecorder, found: list[ModuleType]) -> Iterator[FoundPattern]:
    """What was recorded, named; where a pattern is only ever anchored, that is said."""
    methods = _called_methods(found)
    named = {name: _pattern_names(module) for name, module in ((module.__name__, module) for module in found)}
    inline = {
        (module.__name__, line): function
        for module in found
        for node, function in (*re_calls(module), *_bound_methods(module))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    for (module_name, line), made in recorder.seen.items():
        for pattern in made.values():
            name = named.get(module_name, {}).get(id(pattern), "")
            direct = inline.get((module_name, line), "compile")
            used = {direct} if direct != "compile" else methods.get((module_name, name), SCANNING | ANCHORED)
            is_bytes = isinstance(pattern.pattern, bytes)
            source = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
            yield FoundPattern(module_name, line, name, source, int(pattern.flags), is_bytes, tuple(sorted(used)))


def _make_late() -> None:
    """Have everything made that is compiled only when something calls for it and is not written out there."""
    from hyperloci.cli.install import toml_tables
    from hyperloci.config import Settings
    from hyperloci.conversations.consolidation.context import options
    from hyperloci.conversations.consolidation.turn_view import TurnView
    from hyperloci.conversations.pyramid import sentence_features
    from hyperloci.indexing import ignore_files
    from hyperloci.maintenance import backups
    from hyperloci.retrieval import intent
    from hyperloci.retrieval.names import change_words, question_forms, reasons
    from hyperloci.retrieval.reranking import ranking_features
    from hyperloci.retrieval.sources import question_shape
    from hyperloci.spaces import causal, goal, references
    from hyperloci.store.keywords import analysis
    from hyperloci.store.search import filters
    from hyperloci.text.chunking import programming_languages, section_types
    from hyperloci.text.language.word_tables import phrase_pattern
    from hyperloci.text.sanitize import injection_score, prompt_injection, redaction, secret_files, steering_features
    from hyperloci.text.sanitize.secrets import contexts, decoded_views, formats, named_behind, payment_numbers
    from hyperloci.text.sanitize.secrets import evidence as secret_evidence
    from hyperloci.text.sanitize.secrets import headings as secret_headings

    late_patterns._LatePattern("nothing of the kind", 0).search("")
    change_words.find_change_terms("")
    reasons.has_name("", "ansi_term")
    analysis._runs()
    secret_files._name_matcher()
    named_behind._statement_pattern()
    decoded_views._splice_pattern()
    decoded_views._joint_pattern()
    decoded_views._continuation_pattern()
    decoded_views._fold_pattern()
    decoded_views._colour_pattern()
    secret_evidence._public_pattern()
    secret_evidence._named_pattern()
    secret_evidence._stated_pattern()
    secret_headings._heading_pattern()
    payment_numbers._sure_words_pattern()
    payment_numbers._words_before_pattern()
    for token in formats.TOKENS:
        redaction._token_pattern(token)
    for value in contexts.VALUES:
        redaction._value_patterns(value)
    for evidence in steering_features.STEERING_FEATURES:
        injection_score._feature_pattern(evidence)
    for suspicion_rule in prompt_injection.INJECTION_RULES:
        prompt_injection._rule_pattern(suspicion_rule)
    for language in programming_languages.LANGUAGES:
        for extension in language.extensions:
            programming_languages.is_test_path(f"a{extension}")
    ranking_features._load_forms()
    for name, table in intent._load_intents().items():
        if "rules" in table:
            intent._compile_rules(name)
    question_forms._relation_rules()
    for forms in ("definition", "message"):
        question_forms._compile_rules(forms)
    question_shape._compile_rules()
    section_types.infer_section_type("nothing of the kind")
    references._question_forms()
    readers: tuple[Callable[[str], object], ...] = (
        sentence_features.find_cues,
        causal.find_asked_side,
        causal.find_causal_pairs,
        goal._strip_reason,
    )
    for read in readers:
        read("nothing of the kind")
    options.find_option("the last", TurnView(0, "assistant", "1. one\n2. two"))
    options.find_option("the first", TurnView(0, "assistant", "First: one. Second: two."))
    causal._continuation_pattern()
    causal._question_patterns()
    for phrases in ("consolidation.follows", "consolidation.repairs", "consolidation.failures", "goal.wanted"):
        phrase_pattern(phrases)
    list(TurnView(0, "user", "It was 31 last week, can you check?").sentences)
    for name in ("advice", "intent", "done"):
        phrase_pattern(f"summary.{name}")
    causal._is_bare("nothing")
    goal.goal_of_text("Nothing of the kind.", "none here")
    for glob in GLOBS:
        filters._compile_glob(glob)
    ignore_files.compile_rules(IGNORED, "", "a test")
    list(toml_tables._find_blocks("", ("a",)))
    toml_tables._compile_line("a")
    with TemporaryDirectory() as folder:
        settings = Settings(database=Path("memory.db"), state_dir=Path(folder), runtime_dir=Path(folder))
        settings.backup_dir.mkdir()
        (settings.backup_dir / "memory-auto-1.db").touch()
        backups.list_scheduled(settings)
        backups.list_before_migrations(settings)


def main() -> None:
    """Print every pattern, and the calls that compiled none."""
    recorder = PatternRecorder()
    recorder.install()
    late_patterns.compile_late = re.compile  # What is compiled when it is first used is to be seen as well.
    found = list(all_modules())
    _make_late()
    _read_plain_strings(recorder, found)
    patterns = list(_collect_patterns(recorder, found))
    unseen = [
        f"{module.__name__}:{node.lineno}: {ast.unparse(node)[:80]}"
        for module in found
        for node, _ in re_calls(module)
        if not _has_compiled(recorder, module, node)
    ]
    if "--json" in sys.argv:
        print(json.dumps({"patterns": [asdict(one) for one in patterns], "unseen": unseen}))
        return
    for one in patterns:
        print(one.label, ",".join(one.methods), " ".join(one.source.split())[:80])
    print(f"{len(patterns)} patterns; calls that compiled none: {unseen or 'no'}")


if __name__ == "__main__":
    main()
