"""Where sentences end, and where they only seem to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.text.language.sentences import sentence_spans, split_sentences
from tests.support import examples

WHOLE = [
    "Use a cache, e.g. Redis, i.e. what is at hand, vs. Nothing at all.",
    "Python 3.11.4 needs 2.5 GB, says config.py of v. 3 in No. 5.",
    "Dr. Smith and J. R. Tolkien met at 5 p.m. in the hall.",
    "Logs, metrics, etc. are kept for a week.",
    "Run `git add . && git commit. Then` or git add . and wait.",
    'He asked "Why?" and left (really!) before noon.',
    "Well... maybe it was 5! = 120 after all.",
    "Мы взяли Postgres, т.е. базу, и Redis, т. к. он быстрый.",
    "Wir nehmen Redis bzw. Valkey, z.B. mit max. 5 Versuchen, inkl. der Tests usw. wie immer.",
    "am 12.10. bin ich weg, die 2. variante nehmen wir ab dem 3. Sprint und im 4. quartal",
    "das geht d.h. nur i.d.R. und kostet 3 Mio. im jahr",
    "On prend Redis p.ex. pour le cache.",
    "se guarda p.ej. en Redis, aprox. diez minutos",
    "we bewaren het d.w.z. een week, evt. langer, logs enz. gaan weg",
    "Индексы, кэш и т.д. описаны на рис. 5 и в 2020 г. не менялись.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_dot_that_belongs_to_something_else_ends_no_sentence(text: str) -> None:
    assert split_sentences(text) == [text]


PARTED = [
    ("It is fast. It is small! Is it? Yes.", ["It is fast.", "It is small!", "Is it?", "Yes."]),
    ("i like tabs. we all do. really? yes", ["i like tabs.", "we all do.", "really?", "yes"]),
    ("See config.py. Node.js. Next.", ["See config.py.", "Node.js.", "Next."]),
    ("I said no. We go on. So did I. It ended.", ["I said no.", "We go on.", "So did I.", "It ended."]),
    ("Logs, metrics, etc. Then more.", ["Logs, metrics, etc.", "Then more."]),
    ("(See above.) It works. **Then** it ends.", ["(See above.)", "It works.", "Then it ends."]),
    (
        "Das ist es. Mehr nicht. Und so z.B. Redis usw. Dann Schluss.",
        ["Das ist es.", "Mehr nicht.", "Und so z.B. Redis usw.", "Dann Schluss."],
    ),
    (
        "We renamed a.py. then we ran it. State of the art. 5 people",
        ["We renamed a.py.", "then we ran it.", "State of the art.", "5 people"],
    ),
    ("the default is max. then we go. Max. said so", ["the default is max.", "then we go.", "Max.", "said so"]),
    ("База готова. Это я. Потом кэш и т.д. Всё.", ["База готова.", "Это я.", "Потом кэш и т.д.", "Всё."]),
    ("Wir hören ab 80. Nginx steht davor.", ["Wir hören ab 80.", "Nginx steht davor."]),
    ("Nimm den x2. Lauf 3 bleibt.", ["Nimm den x2.", "Lauf 3 bleibt."]),
    (
        "Nimm die 2. Danach pushen. Nur 3. Mehr nicht.",
        ["Nimm die 2.", "Danach pushen.", "Nur 3.", "Mehr nicht."],
    ),
    ("I am 12. My brother is 9.", ["I am 12.", "My brother is 9."]),
    (
        "Three rules: 1. Never push to main. 2. Never squash.",
        ["Three rules: 1. Never push to main.", "Never squash."],
    ),
    ("(1. It works. It is stage 1. Then more.", ["It works.", "It is stage 1.", "Then more."]),
    ("日本語。次の文！終わり", ["日本語。", "次の文！", "終わり"]),
]


@pytest.mark.parametrize(("text", "found"), PARTED)
def test_sentences_end_at_stops_in_lower_case_and_in_other_scripts_too(text: str, found: list[str]) -> None:
    assert split_sentences(text) == found


def test_a_wrapped_line_goes_on_and_a_short_one_does_not() -> None:
    wrapped = (
        "The database is one file because that is what people can copy, and\nnothing else has to run. Then it ends."
    )
    assert split_sentences(wrapped) == [wrapped.split(" Then")[0].replace("\n", " "), "Then it ends."]
    assert split_sentences("Use Postgres\nPort 8080\n\nNo ORM") == ["Use Postgres", "Port 8080", "No ORM"]


def test_items_headings_and_quotations_are_sentences_without_their_marks() -> None:
    text = "# The plan\nIt is short.\n- [x] one item\n- another. With two\n1. First\n12) *very* last\n> said __so far__"
    assert split_sentences(text) == [
        "The plan",
        "It is short.",
        "one item",
        "another.",
        "With two",
        "First",
        "very last",
        "said so far",
    ]


def test_names_of_code_keep_their_underscores_and_stars() -> None:
    text = "Call __init__ with **kwargs and *args, then _private_name and 2*3*4."
    assert split_sentences(text) == [text]


def test_tables_rules_and_fenced_code_are_no_sentences() -> None:
    text = "Before.\n| a | b |\n|---|---|\n---\n```python\nIt = 1. And = 2\n```\nAfter."
    assert split_sentences(text) == ["Before.", "After."]
    assert split_sentences("```\nport = 80\nhost = a\n```", code=True) == ["port = 80", "host = a"]


@given(st.text(alphabet='aB1.!?… \n\t-#>|*_`~"()e.g。яЯ', max_size=200), st.integers(0, 50))
@hypothesis_settings(max_examples=examples(200), deadline=None)
def test_spans_tile_any_part_of_any_text(text: str, start: int) -> None:
    spans = list(sentence_spans(text, start))
    assert "".join(text[low:high] for low, high in spans) == text[start:]
    assert all(low < high for low, high in spans)


def test_names_keep_their_underscores_and_code_its_stars() -> None:
    text = "Both _private and other_ names stay. The globs `*.py` and `*.toml` match, **as said** before."
    assert split_sentences(text) == [
        "Both _private and other_ names stay.",
        "The globs `*.py` and `*.toml` match, as said before.",
    ]
