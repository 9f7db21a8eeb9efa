"""What reads content takes time in proportion to it, whatever stands in it: whole readers, under attack.

`tests/test_patterns.py` does the same for each regular expression; here are the loops around them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench._fuzz import fuzz_settings
from bench._pump import READER, Attack, generic_attacks, growing_attack
from hyperloci.conversations.consolidation import heuristics, text_similarity
from hyperloci.conversations.consolidation.turn_view import TurnView
from hyperloci.conversations.pyramid import sentence_features
from hyperloci.errors import HyperlociError
from hyperloci.facts.importers.markdown_notes import read_notes
from hyperloci.knowledge import facets
from hyperloci.knowledge.contradictions import quantities, words
from hyperloci.knowledge.entities import recognition
from hyperloci.knowledge.names import written_names
from hyperloci.memory import Memory
from hyperloci.model.kinds import Origin
from hyperloci.queries import question_time
from hyperloci.retrieval import intent, relevance, routing, speakers, time_bounds
from hyperloci.retrieval.query_language import parse_query
from hyperloci.retrieval.sources import question_shape
from hyperloci.spaces.query_views import views_of_query
from hyperloci.spaces.views import EncoderInput, make_views
from hyperloci.store.keywords import analysis
from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.code_facts import name_parts
from hyperloci.text.language import relative_dates
from hyperloci.text.sanitize.sanitizer import sanitize
from hyperloci.topics.naming import find_naming_words

NOW = 1_800_000_000_000

READERS: dict[str, Callable[[str], object]] = {
    "a Markdown file": lambda text: chunk_file("a.md", text),
    "a reStructuredText file": lambda text: chunk_file("a.rst", text),
    "a YAML file": lambda text: chunk_file("a.yaml", text),
    "a Python file": lambda text: chunk_file("a.py", text),
    "a C file": lambda text: chunk_file("a.c", text),
    "notes of another program": lambda text: read_notes("a.md", text),
    "the write boundary": sanitize,
    "facets": lambda text: facets.classify_facets(text, Origin.MARKDOWN),
    "spoken times": lambda text: relative_dates.find_relative_dates(text, NOW),
    "entities": recognition.extract_entities,
    "values": lambda text: [quantities.find_values(words.analyse_words(part)) for part in words.split_statements(text)],
    "names of code": lambda text: [written_names.dotted_suffixes(name) for name in written_names.find_code_names(text)],
    "a symbol's name": name_parts,
    "views of all spaces": lambda text: make_views(EncoderInput(content=text, title=text[:80])),
    "views of a question": views_of_query,
    "findings of a turn": lambda text: list(
        heuristics.extract_findings([TurnView(0, "assistant", text), TurnView(1, "user", text)])
    ),
    "cues of a summary": sentence_features.find_cues,
    "sameness": lambda text: text_similarity.says_same(text, f"{text} x"),
    "a prompt": relevance.query_from_prompt,
    "an excerpt": lambda text: relevance.find_excerpt(text, "x word", 300),
    "times of a question": lambda text: time_bounds.find_time_bounds(text, NOW),
    "events and order of a question": lambda text: question_time.read_question_time(text, NOW),
    "routes": lambda text: routing.plan_route(text, intent.classify_intent(text), NOW),
    "speakers": speakers.find_target_speaker,
    "the shape of a question": question_shape.find_shape,
    "the query language": lambda text: parse_query(text, project="p", now=NOW),
    "terms": analysis.analyse_text,
    "words of a topic": find_naming_words,
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READERS)
def test_no_text_makes_a_reader_slower_than_the_text_is_long(name: str) -> None:
    def read(text: str) -> None:
        with contextlib.suppress(HyperlociError):
            READERS[name](text)

    growth = growing_attack(read, [attack for attack in generic_attacks() if not attack.before], READER)
    assert growth is None, f"{name}: {growth}"


REFERRING = (
    "see The Thing. ",
    "see A Thing.\n\n# A Thing\n\n",
    "[x](#y) ",
    "[x](b.md#y) ",
    "RFC 12 ",
    "`a.b()` ",
    "#12 ",
    "abcdef12 ",
    "a/b.py ",
    "a.",
)
"""What a document refers to other places with."""


@pytest.mark.parametrize("pump", REFERRING)
def test_a_document_that_refers_to_much_is_related_in_time(pump: str, tmp_path: Path) -> None:
    def seconds(length: int) -> float:
        folder = tmp_path / str(length)
        project = folder / "project"
        project.mkdir(parents=True)
        (project / "a.md").write_text(Attack("# a\n\n", pump, "\n").text(length))
        (project / "b.md").write_text("# y\n\nRFC 12 is here.\n")
        with Memory.open(fuzz_settings(folder), project) as memory:
            started = time.process_time()
            memory.index_path()
            return time.process_time() - started

    shorter = min(seconds(20_000), seconds(20_001))
    # Eight times the text: quadratic work is 64 times as much. What every run costs anyway makes it less than eight.
    assert seconds(160_000) < 24 * max(shorter, 0.05)
