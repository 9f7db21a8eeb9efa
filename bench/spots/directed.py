"""E5, E8: questions whose direction decides: cause or effect, importer or imported, caller or called."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.spots.material import code_files, real_sentences
from bench.spots.model import NoteKind, SpotCase, SpotNote, SpotSlice

EVENTS = 60
"""Of each arrangement: sixty events with one cause and eight effects, sixty with one effect and eight causes."""

OTHERS = 8

_CUT = re.compile(r",? (?:because|since|so that|therefore|thus|which means(?: that)?|as a result) |[;,] (?:so|as) ")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|can|cannot|may|will|does|do|returns?|uses?|needs?|contains?|stores?|sets?|runs?|"
    r"requires?|fails?|loses?|allows?|creates?|handles?|accepts?|becomes?|holds?|supports?|raises?|takes?|works?)\b"
)
_SUBJECT = re.compile(
    r"^(?:the|an?|each|every|all|most|some|any|no|only|there|its|our|both|many|several)\b", re.IGNORECASE
)

_STATED = (
    "{effect} because {cause}.",
    "{effect}, since {cause}.",
    "{cause}, so {effect}.",
    "{cause}. As a result, {effect}.",
    "{effect}. The reason: {cause}.",
    "{cause}, and therefore {effect}.",
    "The fact that {cause} led to this: {effect}.",
    "{cause}, which is why {effect}.",
    "{effect} due to the fact that {cause}.",
)
_WHY = (
    "Why is it that {event}?",
    "What is the reason that {event}?",
    "What caused this: {event}?",
    "How come {event}?",
)
_THEN = ("What happens when {event}?", "What are the consequences if {event}?", "What follows once {event}?",
         "What happened because {event}?")  # fmt: skip


def cause_slice() -> SpotSlice:
    """E5: an event is the effect in one memory and the cause in eight, or the other way round; the one is wanted."""
    rng = random.Random(5)
    clauses = _causal_clauses()
    rng.shuffle(clauses)
    others = iter(clauses[2 * EVENTS :] * 20)
    found = SpotSlice("e5")
    for number, event in enumerate(clauses[: 2 * EVENTS]):
        asks_cause = number % 2 == 0
        ids = [f"e5-{number}-{place}" for place in range(OTHERS + 1)]
        notes = [
            SpotNote(
                id=id,
                kind=NoteKind.FACT,
                text=_state_cause(rng, event, next(others), effect=asks_cause is (place == 0)),
            )
            for place, id in enumerate(ids)
        ]
        found.notes += rng.sample(notes, len(notes))
        why, then = rng.choice(_WHY).format(event=event), rng.choice(_THEN).format(event=event)
        one, many = frozenset(ids[:1]), frozenset(ids[1:])
        query, swapped = (why, then) if asks_cause else (then, why)
        found.cases.append(SpotCase(query=query, wanted=one, swapped=swapped, swapped_wanted=many))
    return found


def _state_cause(rng: random.Random, event: str, other: str, *, effect: bool) -> str:
    cause, result = (other, event) if effect else (event, other)
    text = rng.choice(_STATED).format(cause=cause, effect=result)
    return text[0].upper() + text[1:]


def _causal_clauses() -> list[str]:
    """Return clauses of real causal sentences, and short real statements, that can stand as an event."""
    halves = [half for line in real_sentences() for half in _CUT.split(line.rstrip(".")) if _CUT.search(line)]
    short = [line.rstrip(".") for line in real_sentences() if len(line.split()) <= 12]
    fitting = [
        text[0].lower() + text[1:]
        for text in (" ".join(text.split()) for text in [*halves, *short])
        if 5 <= len(text.split()) <= 13 and _VERB.search(text) and _SUBJECT.match(text) and not set(text) & set(",(:")
    ]
    return list(dict.fromkeys(fitting))


@dataclass(slots=True)
class _Facts:
    """What a source file imports, defines and calls, by line, from Python's own parser."""

    imports: dict[str, int] = field(default_factory=dict)
    definitions: dict[str, int] = field(default_factory=dict)
    calls: dict[str, dict[str, int]] = field(default_factory=dict)


def reference_slice() -> SpotSlice:
    """E8: importers of a module, a module's imports; callers of a function, its definition, over real source files."""
    rng = random.Random(8)
    files = code_files()
    facts = {path: _parse_facts(text) for path, text in files.items()}
    found = SpotSlice("e8", [SpotNote(id=path, kind=NoteKind.FILE, text=text) for path, text in files.items()])
    importing, calling = list(_import_cases(facts)), list(_call_cases(facts))
    found.cases += [*rng.sample(importing, min(60, len(importing))), *rng.sample(calling, min(60, len(calling)))]
    return found


def _parse_facts(text: str) -> _Facts:
    found = _Facts()
    tree = ast.parse(text)
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom):
            found.imports.setdefault((statement.module or "").split(".")[-1], statement.lineno)
        elif isinstance(statement, ast.Import):
            for name in statement.names:
                found.imports.setdefault(name.name, statement.lineno)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.definitions.setdefault(node.name, node.lineno)
            found.calls[node.name] = dict(_calls_of(node))
    return found


def _calls_of(function: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name:
                yield name, node.lineno


def _import_cases(facts: dict[str, _Facts]) -> Iterator[SpotCase]:
    """Yield modules of these files that one to five others import; swapped, what the module itself imports."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for path, known in facts.items():
        for name, line in known.imports.items():
            importers[name].add(f"{path}:{line}")
    for path, known in facts.items():
        name = path.rsplit("/", 1)[-1].removesuffix(".py")
        same = [other for other in facts if other.endswith(f"/{name}.py")]
        users = frozenset(user for user in importers[name] if not user.startswith(path))
        own = frozenset({f"{path}:{min(known.imports.values())}"}) if known.imports else frozenset()
        if name != "__init__" and len(same) == 1 and 1 <= len(users) <= 5 and own:
            out, back = f"What imports {name}?", f"What does {name} import?"
            yield SpotCase(query=out, wanted=users, swapped=back, swapped_wanted=own)
            yield SpotCase(query=back, wanted=own, swapped=out, swapped_wanted=users)


def _call_cases(facts: dict[str, _Facts]) -> Iterator[SpotCase]:
    """Yield functions that are defined once and called by one to five functions; swapped, the definition."""
    defined: defaultdict[str, list[str]] = defaultdict(list)
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for path, known in facts.items():
        for name, line in known.definitions.items():
            defined[name].append(f"{path}:{line}")
        for function, calls in known.calls.items():
            for name, line in calls.items():
                if name != function:
                    callers[name].add(f"{path}:{line}")
    for name, places in sorted(defined.items()):
        users = frozenset(callers[name])
        if len(places) == 1 and len(name) >= 8 and not name.startswith("__") and 1 <= len(users) <= 5:
            out, back = f"What calls {name}?", f"Where is {name} defined?"
            yield SpotCase(query=out, wanted=users, swapped=back, swapped_wanted=frozenset(places))
            yield SpotCase(query=back, wanted=frozenset(places), swapped=out, swapped_wanted=users)


def directed_slices() -> Sequence[SpotSlice]:
    """Return both."""
    return (cause_slice(), reference_slice())
