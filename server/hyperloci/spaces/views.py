"""Views: the texts that each space with a model sees of a memory, extracted by rules (E.01).

None is a value: the space does not apply (no causal clause, no code, no name), is stored as absent and scores nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from hyperloci.spaces import causal, code_view, goal, references
from hyperloci.spaces import entity_names as names
from hyperloci.system.values import dataclass
from hyperloci.text.settings_words import describe_settings

if TYPE_CHECKING:
    from hyperloci.model.chunk import CodeFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderInput:
    """What an encoder is given of one memory.

    Attributes:
        content: its text.
        title: its place in words: headings, or module, class and function.
        path: the file it stands in.
        facts: what the parse tree said of it; None for prose.
        entities: canonical names of the entities it mentions, where the graph knows; empty leaves it to rules.
    """

    content: str
    title: str = ""
    path: str | None = None
    facts: CodeFacts | None = None
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The texts that go through models for one memory.

    Attributes:
        text: all of it (E1, E12, and by rule E9 and E13).
        dense: by column, those of E1 and of names left out; what is absent is left out.
        names: by column, names whose vectors' mean it is: what is referred to (E8), canonical entities (E11).
    """

    text: str
    dense: dict[str, str] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


def semantic_view(title: str, content: str) -> str:
    """Return what E1 sees of a memory: its place in words, then its text.

    Headings in front of the body are worth 6 points of R@1, by words alone (docs/benchmarks/structure.md,
    "Topologies").
    """
    return f"{title}\n{content}" if title else content


def _whole_text(sight: EncoderInput) -> str:
    if sight.facts is not None:
        return semantic_view(code_view.describe_place(sight.title), sight.content)
    subject = describe_settings(sight.path, sight.title.rpartition(" > ")[2], sight.content)
    return semantic_view(f"{sight.title}: {subject}" if subject else sight.title, sight.content)


def make_views(sight: EncoderInput) -> Views:
    """Return the views of a memory."""
    spoken = sight.content if sight.facts is None else sight.facts.docstring
    stated = causal.find_causal_pairs(spoken)
    found = {
        "e5_cause": "; ".join(pair.cause for pair in stated),
        "e5_effect": "; ".join(pair.effect for pair in stated),
        "e7": code_view.view_fenced_code(sight.content)
        if sight.facts is None
        else code_view.view_code_facts(sight.facts),
        "e8_in": references.find_definitions(sight.content, sight.title, sight.path, sight.facts),
        "e10": goal.goal_of_text(spoken, sight.title) if sight.facts is None else goal.goal_of_code(spoken),
    }
    named = {
        "e8_out": references.find_references(sight.content, sight.facts),
        "e11": tuple(sight.entities or _names_of(sight)),
    }
    return Views(
        text=_whole_text(sight),
        dense={column: text for column, text in found.items() if text},
        names={column: found for column, found in named.items() if found},
    )


def _names_of(sight: EncoderInput) -> Sequence[str]:
    if sight.facts is None:
        return names.find_names(sight.content)
    # Of code, what it defines and what it takes from outside; every local name would be noise.
    return names.canonical_names([*filter(None, [sight.facts.qualname]), *sight.facts.imports, *sight.facts.bases])
