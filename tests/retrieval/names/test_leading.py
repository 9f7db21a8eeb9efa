"""What a question names leads its answer: definitions, relations, reasons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.search import SearchAnswer
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.retrieval.names.question_forms import asks_for_commits, find_relation_questions
from tests.support import FakeClock
from tests.working_tree import WorkingTree

BODY = "".join(f"    total += weight_{number} * value_{number}\n" for number in range(12))
TAGS = f"def parse_tags(text):\n    total = 0\n{BODY}    return text.split()\n"
NOTES = "from tags import parse_tags\n\n\ndef read_note(text):\n    return parse_tags(text)\n"
TEST = (
    "from tags import parse_tags\n\n\ndef test_parse_tags():\n"
    '    """parse_tags parses tags: parse_tags."""\n    assert parse_tags("parse_tags") == ["parse_tags"]\n'
)


@pytest.fixture
def asked(settings: Settings, clock: FakeClock, tree: WorkingTree) -> Iterator[Memory]:
    tree.git("init", "-q")
    tree.commit("Begin", tags_py="LIMIT = 1\n")
    tree.commit("Split what users type into labels\n\nSupport asked for it.", tags_py=TAGS)
    tree.commit("Read notes", notes_py=NOTES, tests__test_tags_py=TEST)
    clock.advance(1)
    with Memory.open(settings, tree.root, clock=clock) as memory:
        memory.index_path()
        yield memory


def places(answer: SearchAnswer) -> list[str]:
    return [f"{hit.source.path}:{hit.source.symbol}" if hit.source.path else hit.content for hit in answer.results]


@pytest.mark.req("B.05")
def test_the_exact_name_leads_with_its_definition_and_says_what_was_taken(asked: Memory) -> None:
    answer = asked.search("parse_tags")

    assert places(answer)[0] == "tags.py:parse_tags"
    assert answer.hints[0].startswith("took `parse_tags` (function, tags.py:1)")
    assert answer.results[0].score >= max(hit.score for hit in answer.results[1:])


@pytest.mark.req("B.05")
def test_a_question_for_callers_begins_with_them(asked: Memory) -> None:
    assert places(asked.search("what calls parse_tags?"))[:2] == ["notes.py:read_note", "tags.py:parse_tags"]
    assert places(asked.search("which tests cover parse_tags"))[0] == "tests/test_tags.py:test_parse_tags"


@pytest.mark.req("B.05", "E.02")
def test_why_leads_with_decisions_and_the_commit_that_changed_it(asked: Memory) -> None:
    told = asked.remember_fact(
        "We keep `parse_tags` case sensitive: labels of the old system are.", category="decision"
    )

    answer = asked.search("why did we add parse_tags?")

    assert answer.results[0].id == told.id
    assert answer.results[1].content.startswith("Split what users type into labels")
    assert "tags.py:parse_tags" in places(answer)


@pytest.mark.req("B.05", "E.02")
def test_what_was_said_of_a_name_leads_its_reasons_where_nothing_told_is_tied_to_it(
    asked: Memory, tree: WorkingTree, clock: FakeClock
) -> None:
    for number in range(6):
        tree.commit(f"parse_tags: step {number}", tags_py=TAGS.replace("total", f"total_{number}"))
    asked.index_path()
    said = "parse_tags leaks file handles, find out where from"
    answer = Turn(uuid="2", role=Speaker.ASSISTANT, text="Blanks are.", timestamp_ms=clock())
    asked.add_turns("s", [Turn(uuid="1", role=Speaker.USER, text=said, timestamp_ms=clock()), answer])

    found = [hit.content for hit in asked.search("why does parse_tags leak file handles?").results]

    assert found[:2] == [said, "Blanks are."]
    assert found[2].startswith("parse_tags: step")


@pytest.mark.req("B.05", "E.02")
def test_what_was_only_done_or_asked_before_takes_no_place_of_what_was_said_of_a_name(
    asked: Memory, tree: WorkingTree, clock: FakeClock
) -> None:
    for number in range(6):
        tree.commit(f"parse_tags: step {number}", tags_py=TAGS.replace("total", f"total_{number}"))
    asked.index_path()
    question, answer = "why does parse_tags leak file handles?", "parse_tags leaks as it closes no reader."
    done = "Bash: grep -rn parse_tags . # leak file handles"
    asked.add_turns(
        "s",
        [
            Turn(uuid="0", role=Speaker.ASSISTANT, kind=TurnKind.ACTION, text=done, timestamp_ms=clock()),
            *(Turn(uuid=str(n), role=Speaker.USER, text=question, timestamp_ms=clock()) for n in (1, 2, 3)),
            Turn(uuid="4", role=Speaker.ASSISTANT, text=answer, timestamp_ms=clock()),
        ],
    )

    found = [hit.content for hit in asked.search(question).results]

    assert found[:2] == [question, answer]
    assert found[2].startswith("parse_tags: step")


@pytest.mark.req("B.05", "E.02")
def test_why_without_a_name_asks_the_commits_of_what_is_found_best(asked: Memory) -> None:
    answer = asked.search("why is it that labels users type are split")

    assert places(answer)[0].startswith("Split what users type into labels")


@pytest.mark.req("B.05")
def test_nothing_leads_that_the_conditions_leave_out(asked: Memory) -> None:
    assert {hit.subtype for hit in asked.search("parse_tags", content_type="commit").results} <= {"commit"}


@pytest.mark.req("B.05")
def test_what_was_told_stays_before_a_definition_that_a_sentence_names(asked: Memory) -> None:
    told = asked.remember_fact("parse_tags must keep the order in which tags were typed")

    found = asked.search("does parse_tags keep the order of tags?")

    assert found.results[0].id == told.id and places(found)[1] == "tags.py:parse_tags"


@pytest.mark.req("D.02")
def test_related_memories_say_where_and_an_empty_answer_which_there_are(asked: Memory) -> None:
    (caller,) = asked.find_related("parse_tags", relationship="calls", direction="in").related
    assert (caller.path, caller.line, caller.symbol) == ("notes.py", 5, "read_note")

    nothing = asked.find_related("parse_tags", relationship="inherits")
    assert not nothing.related and "calls in 1" in nothing.relations
    assert nothing.started.startswith("took `parse_tags`")


@pytest.mark.req("D.02", "D.06")
def test_a_function_cut_into_pieces_has_the_relations_of_them_all(memory: Memory, tree: WorkingTree) -> None:
    filler = "".join(f"    note_{number} = 'so many words that a chunk is full'\n" for number in range(90))
    long = (
        f"def helper():\n    return 1\n\n\ndef long():\n{filler}    first = helper()\n{filler}    return other(first)\n"
    )
    tree.write("long.py", f"{long}\n\ndef other(value):\n    return value\n\n\ndef use():\n    return long()\n")
    memory.index_path()

    answer = memory.find_related("long", relationship="calls")
    drawn = memory.get_subgraph("long", relationship="calls", depth=1)

    assert {(item.symbol, item.direction) for item in answer.related} == {
        ("helper", "out"), ("other", "out"), ("use", "in"),
    }  # fmt: skip
    assert len(drawn.nodes) == 4 and len(drawn.edges) == 3


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    ("question", "label", "direction", "name"),
    [
        ("what calls parse_tags?", "calls", "in", "parse_tags"),
        ("callers of `Client.send`", "calls", "in", "Client.send"),
        ("who uses the class Limits", "calls", "in", "Limits"),
        ("what inherits from BaseTransport", "inherits", "in", "BaseTransport"),
        ("which ones have their own subclass of BaseTransport?", "inherits", "in", "BaseTransport"),
        ("which tests cover parse_tags", "tests", "in", "parse_tags"),
        ("what does parse_tags call?", "calls", "out", "parse_tags"),
        ("who added parse_tags", "changed", "in", "parse_tags"),
        ("кто вызывает parse_tags", "calls", "in", "parse_tags"),
        ("wer ruft parse_tags auf?", "calls", "in", "parse_tags"),
        ("wo wird die Funktion walk aufgerufen?", "calls", "in", "walk"),
        ("was ruft parse_tags auf", "calls", "out", "parse_tags"),
        ("welche Tests prüfen parse_tags", "tests", "in", "parse_tags"),
        ("wo wird Limits benutzt", "calls", "in", "Limits"),
        ("wo wird Limits importiert", "imports", "in", "Limits"),
        ("Unterklassen von BaseTransport", "inherits", "in", "BaseTransport"),
        ("wann wurde parse_tags eingeführt", "changed", "in", "parse_tags"),
    ],
)
def test_relations_are_asked_for_in_many_forms(question: str, label: str, direction: str, name: str) -> None:
    found = [(asked.labels[0], asked.direction, asked.name) for asked in find_relation_questions(question)]

    assert (label, direction, name) in found


@pytest.mark.req("B.05")
def test_what_implements_a_name_is_asked_of_classes_and_of_methods() -> None:
    (asked,) = find_relation_questions("what implements Store.readToken?")

    assert (asked.labels, asked.direction, asked.name) == (("inherits", "overrides"), "in", "Store.readToken")


PARTS = "".join(
    f"### Limits of part {number}\n\n{'Limits of uploads, told once more. ' * 20}\n\n" for number in range(40)
)


@pytest.mark.req("B.05")
def test_a_heading_leads_with_its_own_section_before_those_below_it(asked: Memory, tree: WorkingTree) -> None:
    tree.write("guide.md", f"# Guide\n\n## Upload limits\n\n{'At most five are sent at once. ' * 40}\n\n{PARTS}")
    for number in range(6):
        tree.write(
            f"part{number}.md", f"# Part {number}\n\n## Upload limits\n\n### Rates {number}\n\nUploads of a day.\n"
        )
    asked.index_path()

    answer = asked.search("upload limits")

    assert (answer.results[0].source.path, answer.results[0].source.line_start) == ("guide.md", 1)
    assert answer.hints[0].startswith("took `Guide > Upload limits` (section, guide.md:3)")


@pytest.mark.req("B.05")
def test_every_section_of_one_heading_leads(asked: Memory, tree: WorkingTree) -> None:
    for number in range(7):
        tree.write(f"page{number}.md", f"# Page {number}\n\n## Upload limits\n\nOf page {number}.\n")
    tree.write("other.md", "# Other\n\nUpload limits, upload limits: upload limits.\n")
    asked.index_path()

    found = [hit.source.path for hit in asked.search("upload limits", limit=8).results]

    assert sorted(map(str, found[:7])) == [f"page{number}.md" for number in range(7)]


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    "heading", ["macOS installation", "**W**ebSockets guide", "List of FAQs", "To do", "`retry` in C++"]
)
def test_a_heading_is_found_in_other_case_and_without_its_markup(
    asked: Memory, tree: WorkingTree, heading: str
) -> None:
    tree.write("guide.md", f"# Guide\n\n## {heading}\n\nWhat stands there.\n\n{PARTS}")
    asked.index_path()
    said = heading.replace("*", "").replace("`", "").lower()

    answer = asked.search(said)

    assert answer.hints[0].startswith("took `Guide > ") and "(section, guide.md:3)" in answer.hints[0]


@pytest.mark.req("B.05")
def test_a_heading_of_stop_words_and_one_that_many_sections_hold_is_found(asked: Memory, tree: WorkingTree) -> None:
    tree.write("a.md", "# How it works\n\nIn three steps.\n")
    tree.write("b.md", "".join(f"# Part {number}\n\nThis part works alone.\n\n" for number in range(220)))
    asked.index_path()

    assert asked.search("how it works").results[0].source.path == "a.md"


@pytest.mark.req("B.05", "E.02")
def test_of_the_commits_that_tell_why_those_lead_that_say_what_is_asked(asked: Memory, tree: WorkingTree) -> None:
    tree.commit("Leave labels out that hold nothing but blanks", tags_py=TAGS.replace("split()", "strip().split()"))
    tree.commit("parse_tags: rename a variable", tags_py=TAGS.replace("total", "summed"))
    tree.commit("parse_tags: say what it returns", tags_py=TAGS.replace("total", "added"))
    asked.index_path()

    first = asked.search("why does parse_tags leave out labels of blanks?").results[0]

    assert first.content.startswith("Leave labels out")


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    "question",
    ["last commit", "what was the last commit?", "the 3 most recent commits", "what did we commit lately", "commits"],
)
def test_who_asks_for_the_last_commits_gets_them_latest_first(asked: Memory, question: str) -> None:
    subjects = [place.splitlines()[0] for place in places(asked.search(question))[:3]]
    assert subjects == ["Read notes", "Split what users type into labels", "Begin"]


@pytest.mark.parametrize("question", ["pre-commit hooks", "where is the last commit hook", "commit message style"])
def test_who_speaks_of_committing_does_not_ask_for_commits(question: str) -> None:
    assert not asks_for_commits(question)
