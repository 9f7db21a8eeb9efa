"""E7, E10, E11, E13: the same thing in other words: code by what it does, goals, aliases, synonyms."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.spots.aliases import alias_pairs
from bench.spots.goals import goal_pairs
from bench.spots.material import package_files, real_paragraphs, real_sentences
from bench.spots.model import NoteKind, SpotCase, SpotNote, SpotSlice

CODE_PACKAGES = ("urllib3",)
CASES = 120
SYNONYMS = Path(__file__).with_name("synonyms.tsv")
"""Word and other words for it, from WordNet 3.1 (licence in the file); not the product's thesaurus."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_slices() -> Sequence[SpotSlice]:
    """E7: functions stripped of their docstrings, asked for by signature and calls, or by what the docstring said."""
    rng = random.Random(7)
    found = SpotSlice("e7", title="signature")
    behaviour: list[SpotCase] = []
    signature: list[SpotCase] = []
    for package, path in [(name, path) for name in CODE_PACKAGES for path in package_files(name)]:
        source = path.read_text("utf-8")
        name = f"{package}/{str(path).rsplit(f'/{package}/', 1)[-1]}"
        stripped, told = _without_docstrings(source)
        if len(stripped) < 400:
            continue
        found.notes.append(SpotNote(id=name, kind=NoteKind.FILE, text=stripped))
        for node in _functions_of(ast.parse(stripped)):
            wanted = frozenset({f"{name}:{node.lineno}"})
            if node.name in told:
                behaviour.append(SpotCase(query=told[node.name], wanted=wanted))
            if asked := _by_signature(node):
                signature.append(SpotCase(query=asked, wanted=wanted))
    found.cases = rng.sample(signature, min(CASES, len(signature)))
    return found, SpotSlice(
        "e7", cases=rng.sample(behaviour, min(CASES, len(behaviour))), title="behaviour, docstrings cut"
    )


def _functions_of(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _without_docstrings(source: str) -> tuple[str, dict[str, str]]:
    """Return source without its functions' docstrings, and the first sentence of each by function, if it tells."""
    lines = source.splitlines(keepends=True)
    told: dict[str, str] = {}
    names = Counter(node.name for node in _functions_of(ast.parse(source)))
    for node in _functions_of(ast.parse(source)):
        text = ast.get_docstring(node)
        if text is None:
            continue
        expression = node.body[0]
        for number in range(expression.lineno - 1, expression.end_lineno or expression.lineno):
            lines[number] = ""
        if len(node.body) == 1:
            lines[expression.lineno - 1] = " " * expression.col_offset + "...\n"
        first = " ".join(re.sub(r":\w+:|[`~*]", "", re.split(r"\.\s|\n\n", text)[0]).split())
        if 5 <= len(first.split()) <= 25 and names[node.name] == 1 and not node.name.startswith("__"):
            told[node.name] = first
    return "".join(lines), told


def _by_signature(node: Function) -> str | None:
    parameters = [
        argument.arg for argument in [*node.args.args, *node.args.kwonlyargs] if argument.arg not in ("self", "cls")
    ]
    calls = [
        call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    ]
    telling = [
        name for name in dict.fromkeys(calls) if len(name) >= 6 and name not in {"isinstance", "append", "getattr"}
    ]
    if len(parameters) < 2 or not telling or len(parameters[:3]) + len(telling[:2]) < 4:
        return None
    taken, called = ([name.strip("_").replace("_", " ") for name in names] for names in (parameters[:3], telling[:2]))
    return f"function that takes {', '.join(taken)} and calls {' and '.join(called)}"


_GOAL_FORMS = (
    "We want to {goal}.",
    "The goal is to {goal}.",
    "Did this in order to {goal}.",
    "The team decided to {goal}.",
    "This is meant to {goal}.",
    "I need to {goal}.",
    "All of it so that we can {goal}.",
)
_ASK_FORMS = ("How do we {goal}?", "what helps to {goal}", "anything we did to {goal}?", "{goal}")


def goal_slice() -> SpotSlice:
    """E10: a goal among two sentences of detail, and the same details under other goals; the goal in other words."""
    rng = random.Random(10)
    found = SpotSlice("e10")
    details = iter(
        rng.sample([line for line in real_sentences() if 12 <= len(line.split()) <= 20], 2 * len(goal_pairs()))
    )
    shared = ""
    for number, (noted, asked) in enumerate(goal_pairs()):
        if number % 5 == 0:
            shared = " ".join(next(details) for _ in range(2))
        goal = rng.choice(_GOAL_FORMS).format(goal=noted)
        text = f"{shared} {goal}" if number % 2 else f"{goal} {shared}"
        found.notes.append(SpotNote(id=f"e10-{number}", kind=NoteKind.FACT, text=text))
        query = rng.choice(_ASK_FORMS).format(goal=asked)
        found.cases.append(SpotCase(query=query, wanted=frozenset({f"e10-{number}"})))
    return found


_ABOUT = (
    "{name} stays on the old version until the audit is over.",
    "The budget for {name} was cut by a third.",
    "Only two people know how {name} is set up here.",
    "Questions about {name} go to the platform team.",
    "We will look at {name} again after the summer.",
    "There is a page on {name} in the handbook.",
    "The trouble last week came from {name}.",
    "{name} was the reason for the long discussion on Monday.",
    "Nobody has tested {name} under load yet.",
    "Training on {name} is planned for new colleagues.",
)
_ALIAS_ASKED = ("What did we say about {name}?", "anything on {name}", "notes about {name}", "{name}?")


def entity_slice() -> SpotSlice:
    """E11: what was said of a thing under one name, asked under another; the same was said of other things."""
    rng = random.Random(11)
    found = SpotSlice("e11")
    for number, (name, alias) in enumerate(alias_pairs()):
        for side, (noted, asked) in enumerate(((name, alias), (alias, name))):
            # Half of the things are noted by name, half by alias; a thing noted both ways would answer for itself.
            if side != number % 2:
                continue
            ids = [f"e11-{number}-{place}" for place in range(2)]
            for id, form in zip(ids, rng.sample(_ABOUT, 2), strict=True):
                text = form.format(name=noted)
                found.notes.append(
                    SpotNote(id=id, kind=NoteKind.FACT, text=text[0].upper() + text[1:] if side == 0 else text)
                )
            for form in rng.sample(_ALIAS_ASKED, 2):
                found.cases.append(SpotCase(query=form.format(name=asked), wanted=frozenset(ids)))
    return found


def synonym_slice() -> SpotSlice:
    """E13: one sentence of a long paragraph, most of its content words replaced by WordNet's synonyms."""
    rng = random.Random(13)
    others = _synonyms_of()
    found = SpotSlice("e13")
    counts = Counter(word for text in real_paragraphs() for word in set(_words_of(text)))
    usable = [text for text in real_paragraphs() if len(text.split()) >= 70]
    for text in rng.sample(usable, len(usable)):
        asked = _reword_sentence(text, others, counts, rng)
        if asked is not None:
            id = f"e13-{len(found.cases)}"
            found.notes.append(SpotNote(id=id, kind=NoteKind.FACT, text=text))
            found.cases.append(SpotCase(query=asked, wanted=frozenset({id})))
        if len(found.cases) == CASES:
            break
    return found


def _words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]{4,}", text.lower())


def _synonyms_of() -> dict[str, list[str]]:
    rows = (line.split("\t") for line in SYNONYMS.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {word: others.split(",") for word, others in rows}


def _reword_sentence(text: str, others: dict[str, list[str]], counts: Counter[str], rng: random.Random) -> str | None:
    """Return five words of one sentence, three or more of them others than it has; None if no sentence allows it."""
    held = set(_words_of(text))
    lines = [line for line in re.split(r"\.\s", text)[1:] if len(line.split()) >= 8]
    for line in rng.sample(lines, len(lines)):
        words = sorted(set(_words_of(line)), key=lambda word: (counts[word], word))
        new = {word: next((other for other in others.get(word, []) if other not in held), "") for word in words}
        replaced = [word for word in words if new[word]][:4]
        kept = [word for word in words if not new[word] and counts[word] > 3][:2]
        if len(replaced) >= 3:
            asked = [word for word in dict.fromkeys(_words_of(line)) if word in {*replaced, *kept}]
            return " ".join(new[word] if word in replaced else word for word in asked)
    return None


def other_word_slices() -> Sequence[SpotSlice]:
    """Return all of them."""
    return (*code_slices(), goal_slice(), entity_slice(), synonym_slice())
