"""A question and a commit's subject call one change by other words."""

from __future__ import annotations

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.retrieval.names.change_words import find_change_terms, tells_of_change
from hyperloci.retrieval.names.reasons import has_name
from tests.working_tree import WorkingTree


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("why was the option parser thrown out?", "argv: replace parser with our own"),
        ("why did HSTS preloading go away?", "Drop HSTS preloading"),
        ("why was the package given up?", "pkg: remove package"),
        ("why did we get rid of the cache?", "Removing cached responses"),
        ("why is the old parser gone?", "Use the new parser instead"),
        ("why are redirects to sockets refused?", "Disallow redirects to sockets"),
        ("почему выкинули кэш?", "Remove cache"),
        ("why are aborted uploads no longer logged?", "log: suppress aborted uploads"),
        ("why is there no prefix any more?", "Don't prepend the name"),
        ("why are sockets off unless asked for?", "Make sockets false by default"),
        ("warum wurde der Cache rausgeworfen?", "Remove cache"),
        ("warum ist der Parser nicht mehr da?", "Stop shipping the parser"),
        ("wieso heißt das Modul jetzt anders, wann wurde es umbenannt?", "Rename the module"),
        ("почему закрытые сокеты больше не пишутся?", "Skip closed sockets"),
    ],
)
def test_a_change_is_known_by_whatever_word(question: str, subject: str) -> None:
    assert tells_of_change(subject, find_change_terms(question))


@pytest.mark.parametrize("question", ["why is the sky blue?", "why is there a mutex around the keys?", ""])
def test_a_question_for_no_change_has_no_words_of_one(question: str) -> None:
    assert not tells_of_change("Remove the keys", find_change_terms(question))


@pytest.mark.req("E.02")
def test_of_commits_on_one_thing_the_one_that_tells_of_the_change_leads(settings: Settings, tree: WorkingTree) -> None:
    tree.git("init", "-q")
    for number, subject in enumerate(("snapshot: package", "package: snap", "ci: drop snap", "snap: package name")):
        tree.commit(subject, **{f"file{number}_py": f"VALUE_{number} = {number}\n"})
    with Memory.open(settings, tree.root) as memory:
        memory.index_path()
        found = memory.search("why was the snap given up?").results

    assert found[0].content.startswith("ci: drop snap")


@pytest.mark.parametrize(
    ("subject", "is_named"),
    [
        ("Use beet-parser instead of turnip-parser", True),
        ("Drop TurnipParser", True),
        ("Drop turnip_parser.rs", True),
        ("Drop the turnip parsers", False),
        ("Drop my-turnip-parsers", False),
    ],
)
def test_a_commit_names_what_is_gone_with_other_case_and_joints(subject: str, is_named: bool) -> None:
    assert has_name(subject, "turnip_parser") is is_named
    assert not has_name("drop WALKS", "walk")


@pytest.mark.req("E.02")
def test_of_commits_that_say_the_same_the_one_that_explains_leads(settings: Settings, tree: WorkingTree) -> None:
    tree.git("init", "-q")
    reason = "Its maintainers asked for snapshots of all turnips. " * 7
    for number, message in enumerate(
        ("Snapshots of turnips", f"Snapshots of turnips\n\n{reason}", "Snapshots of turnips")
    ):
        tree.commit(message, **{f"file{number}_py": f"VALUE_{number} = {number}\n"})
    with Memory.open(settings, tree.root) as memory:
        memory.index_path()
        found = memory.search("why are there snapshots of turnips?").results

    assert "maintainers" in found[0].content


@pytest.mark.req("E.02")
def test_of_a_reason_that_names_nothing_four_commits_come_before_pages(settings: Settings, tree: WorkingTree) -> None:
    tree.git("init", "-q")
    for number, word in enumerate(("grow", "shrink", "drain", "fill", "stall")):
        tree.commit(f"the pond may {word}", **{f"file{number}_py": f"VALUE_{number} = {number}\n"})
    page = "# Pond\n\nWhy does the pond freeze? The pond may freeze when the pond is cold.\n"
    tree.commit("page", pond_md=page)
    with Memory.open(settings, tree.root) as memory:
        memory.index_path()
        found = memory.search("why does the pond freeze?", limit=10).results
    kinds = [hit.subtype for hit in found]
    assert kinds[:4] == ["commit"] * 4 and "markdown" in kinds
