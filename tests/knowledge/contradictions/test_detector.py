"""Which stored memories a statement contradicts, and why (D.10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hyperloci.knowledge.contradictions.detector import ContradictionCandidate, ContradictionFinder
from hyperloci.knowledge.contradictions.rules import find_verdict
from hyperloci.knowledge.cross_reading import READ_LIKELIEST, READ_NEAREST
from hyperloci.model.answers import Contradiction, ContradictionKind, ContradictionNature
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeType, Origin, Role
from hyperloci.model.node import Node
from hyperloci.store import Store
from tests.support import NOW, add

PROJECT = "project:1"
SCOPES = (PROJECT, "global")


def find(store: Store, statement: str, nodes: Sequence[Node], **options: Any) -> tuple[Contradiction, ...]:
    """Return what contradicts a statement among nodes without vectors."""
    candidates = [ContradictionCandidate(node) for node in nodes]
    return ContradictionFinder(store).find(statement, candidates, **options).contradictions


def supersede(store: Store, old: Node, new: Node) -> Node:
    """Let `new` supersede `old`; return the old as it then is."""
    with store.transaction():
        store.nodes.update_node(old.id, now=NOW, valid_until=NOW)
        store.edges.link_nodes("supersedes", new.key, [old.key], now=NOW)
    stale = store.nodes.get_by_key(old.key)
    assert stale is not None
    return stale


def dead_end(store: Store, approach: str, reason: str, **fields: Any) -> Node:
    return add(
        store,
        f"Dead end: {approach}\nWhy it failed: {reason}",
        type=NodeType.EXPERIENCE,
        subtype="dead_end",
        metadata={"approach": approach, "reason": reason},
        **fields,
    )


@pytest.mark.req("D.10")
def test_a_fact_with_another_value_is_found_with_its_source_and_reason(store: Store) -> None:
    node = add(store, "The HTTP timeout is 60 s", provenance="remember_fact")
    add(store, "The queue holds jobs")
    (found,) = find(store, "The HTTP timeout is 30 s", [node])
    assert found.id == node.id
    assert found.kind is ContradictionKind.VALUE
    assert found.source.kind == Origin.TOOL
    assert "30 s" in found.reason
    assert "60 s" in found.reason


@pytest.mark.req("D.10")
def test_nothing_is_found_where_all_agree(store: Store) -> None:
    nodes = [add(store, "The HTTP timeout is 30,000 ms"), add(store, "The database timeout is 60 s")]
    report = ContradictionFinder(store).find(
        "The HTTP timeout is 30 s", [ContradictionCandidate(node) for node in nodes]
    )
    assert report.checked == 2
    assert report.contradictions == ()
    assert report.statement == "The HTTP timeout is 30 s"


@pytest.mark.req("D.10")
def test_what_a_relation_marks_as_contradicting_the_same_statement_is_explicit(store: Store) -> None:
    same = add(store, "We cache rendered pages")
    other = add(store, "Pages are rendered anew for each request")
    with store.transaction():
        members = [EdgeMember(same.key, Role.PARTICIPANT), EdgeMember(other.key, Role.PARTICIPANT)]
        store.edges.create_edge("contradicts", members, now=NOW, confidence=0.9)
    (found,) = find(store, "We cache rendered pages", [same])
    assert (found.id, found.kind, found.score) == (other.id, ContradictionKind.EXPLICIT, 0.9)
    assert "We cache rendered pages" in found.reason


@pytest.mark.req("D.10")
def test_forgotten_and_invalid_memories_contradict_nothing_explicitly(store: Store) -> None:
    same, forgotten, invalid = (add(store, text) for text in ("We cache pages", "Nothing is kept", "All is anew"))
    with store.transaction():
        for other in (forgotten, invalid):
            store.edges.link_nodes("contradicts", same.key, [other.key], now=NOW)
        store.nodes.delete_node(forgotten.id, now=NOW)
        store.nodes.update_node(invalid.id, now=NOW, valid_until=NOW)
    assert find(store, "We cache pages", [same]) == ()


@pytest.mark.req("D.10")
@pytest.mark.parametrize("withheld", ["linked", "old", "new"])
def test_what_is_withheld_is_told_by_no_relation_either(store: Store, withheld: str) -> None:
    same = add(store, "Parcels for the lighthouse wait a week")
    linked, new = add(store, "The lighthouse gets parcels by boat"), add(store, "The gate opens at seven")
    old = supersede(store, add(store, "The harbour is locked at noon"), new)
    with store.transaction():
        store.edges.link_nodes("contradicts", linked.key, [same.key], now=NOW)

    def tell() -> list[str]:
        return [one.id for node in (same, old) for one in find(store, node.content, [same, old])]

    assert tell() == [linked.id, old.id]
    with store.transaction():
        store.withheld.withhold({"linked": linked, "old": old, "new": new}[withheld].key, now=NOW)
    assert tell() == ([old.id] if withheld == "linked" else [linked.id])


@pytest.mark.req("D.10", "B.13")
def test_restating_a_superseded_fact_names_its_successor(store: Store) -> None:
    old, new = add(store, "The build uses webpack"), add(store, "The bundles come from vite these days")
    found = find(store, "The build uses webpack", [supersede(store, old, new)])
    assert [(item.id, item.kind) for item in found] == [(old.id, ContradictionKind.SUPERSEDED)]
    assert "The bundles come from vite these days" in found[0].reason
    assert new.id in found[0].reason


@pytest.mark.req("D.10", "B.13")
def test_a_superseded_fact_is_found_behind_its_successors_though_no_search_returns_it(store: Store) -> None:
    first = add(store, "The HTTP timeout is 10 s")
    second, third = add(store, "The HTTP timeout is 20 s"), add(store, "The HTTP timeout is 30 s")
    supersede(store, first, second)
    supersede(store, second, third)
    found = {item.id: item.kind for item in find(store, "The HTTP timeout is 10 s", [third])}
    assert found == {first.id: ContradictionKind.SUPERSEDED, third.id: ContradictionKind.VALUE}


@pytest.mark.req("D.10", "B.13")
def test_a_fact_whose_successor_says_the_same_was_only_reworded(store: Store) -> None:
    old, new = add(store, "HTTP timeout: 10 s"), add(store, "The HTTP timeout is 10 s")
    stale = supersede(store, old, new)
    assert find(store, "The HTTP timeout is 10 s", [stale, new]) == ()


@pytest.mark.req("D.10")
def test_an_invalid_fact_does_not_contradict_by_its_words(store: Store) -> None:
    old, new = add(store, "The HTTP timeout is 10 s"), add(store, "Requests wait for ever")
    assert find(store, "The HTTP timeout is 20 s", [supersede(store, old, new)]) == ()


@pytest.mark.req("D.10", "D.09")
def test_a_statement_that_takes_up_a_dead_end_gets_the_reason_it_failed(store: Store) -> None:
    node = dead_end(store, "Use WebSockets for live updates", "the company proxy cuts them after 30 s")
    (found,) = find(store, "Let's push live updates over WebSockets", [node])
    assert (found.id, found.kind) == (node.id, ContradictionKind.DEAD_END)
    assert "the company proxy cuts them" in found.reason


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    "statement",
    [
        "Don't use WebSockets for live updates",
        "WebSockets for live updates failed behind the proxy",
        "The dashboard shows live prices",
    ],
)
def test_a_warning_of_a_dead_end_and_other_matters_are_no_contradiction(store: Store, statement: str) -> None:
    assert find(store, statement, [dead_end(store, "Use WebSockets for live updates", "the proxy cuts them")]) == ()


@pytest.mark.req("D.10")
def test_answers_of_the_assistant_and_code_claim_nothing(store: Store) -> None:
    answer = add(
        store,
        "The HTTP timeout is 60 s",
        type=NodeType.EXPERIENCE,
        subtype="episode",
        origin=Origin.CLAUDE_RESPONSE,
        place="turn",
    )
    code = add(store, "# The HTTP timeout is 60 s", type=NodeType.SNIPPET, subtype="code", origin=Origin.CODE)
    said = add(
        store, "The HTTP timeout is 60 s", type=NodeType.EXPERIENCE, subtype="episode", origin=Origin.USER_PROMPT
    )
    found = find(store, "The HTTP timeout is 30 s", [answer, code, said])
    assert [item.id for item in found] == [said.id]


@pytest.mark.req("D.10")
def test_only_the_scopes_asked_for_are_compared(store: Store) -> None:
    mine = add(store, "The HTTP timeout is 60 s", scope=PROJECT)
    theirs = add(store, "The HTTP timeout is 90 s", scope="project:2")
    report = ContradictionFinder(store).find(
        "The HTTP timeout is 30 s", [ContradictionCandidate(mine), ContradictionCandidate(theirs)], scopes=SCOPES
    )
    assert report.checked == 1
    assert [item.id for item in report.contradictions] == [mine.id]


@pytest.mark.req("D.10")
def test_the_surest_come_first_ties_by_id_and_no_more_than_asked_for(store: Store) -> None:
    nodes = [add(store, f"The HTTP timeout is {seconds} s") for seconds in (40, 50, 60)]
    nodes.append(add(store, "The HTTP timeout of the old client is 70 s"))
    found = find(store, "The HTTP timeout is 30 s", nodes, limit=10)
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    assert [item.id for item in found[:3]] == sorted(node.id for node in nodes[:3])
    assert find(store, "The HTTP timeout is 30 s", nodes, limit=2) == found[:2]


class FakeEntailment:
    """Holds that whatever speaks of penguins contradicts."""

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [0.8 if "penguin" in premise else 0.1 for premise, _ in pairs]


@pytest.mark.req("D.10")
def test_an_inference_model_is_asked_where_one_is_given(store: Store) -> None:
    nodes = [add(store, "The mascot is a penguin"), add(store, "The mascot has a hat")]
    finder = ContradictionFinder(store, FakeEntailment())
    (found,) = finder.find(
        "A whale stands for the project", [ContradictionCandidate(node) for node in nodes]
    ).contradictions
    assert (found.id, found.kind, found.score) == (nodes[0].id, ContradictionKind.NLI, 0.8)


class FakeScorer:
    """Holds that a statement ends what speaks of penguins, and nothing else."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.read += pairs
        return [1.0 if "penguin" in older else 0.0 for older, _ in pairs]


@pytest.mark.req("D.10")
def test_what_no_words_tell_is_found_by_reading_both_together(store: Store) -> None:
    node = add(store, "The mascot is a penguin")
    statement, candidates = "A whale stands for the project", [ContradictionCandidate(node, 0.6)]
    assert not ContradictionFinder(store).find(statement, candidates).contradictions
    (found,) = ContradictionFinder(store, scorer=FakeScorer()).find(statement, candidates).contradictions
    assert (found.id, found.kind) == (node.id, ContradictionKind.JUDGED)


@pytest.mark.req("D.10")
def test_a_false_alarm_of_words_is_quieted_by_reading_both_together(store: Store) -> None:
    node = add(store, "The request timeout is 30 seconds.")
    statement, candidates = "The request timeout is 60 seconds.", [ContradictionCandidate(node, 0.9)]
    assert ContradictionFinder(store).find(statement, candidates).contradictions
    assert not ContradictionFinder(store, scorer=FakeScorer()).find(statement, candidates).contradictions


@pytest.mark.req("D.10")
def test_only_the_nearest_and_the_likeliest_are_read_together(store: Store) -> None:
    near = [ContradictionCandidate(add(store, f"Rule {n} of the house is short"), n / 40) for n in range(30)]
    scorer = FakeScorer()
    ContradictionFinder(store, scorer=scorer).find("The house has no rules", near)
    assert len(scorer.read) <= READ_LIKELIEST + READ_NEAREST
    assert {older for older, _ in scorer.read} >= {c.node.content for c in near[-READ_NEAREST:]}


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("older", "newer", "nature"),
    [
        ("The request timeout is 30 seconds.", "The request timeout is 60 seconds.", ContradictionNature.UPDATE),
        ("We deploy to staging on Fridays.", "We no longer deploy to staging on Fridays.", ContradictionNature.UPDATE),
        ("The import job is idempotent.", "The import job is not idempotent.", ContradictionNature.CONTRADICTION),
        (
            "I have never used Redis in this project.",
            "I used Redis in this project.",
            ContradictionNature.CONTRADICTION,
        ),
    ],
)
def test_an_update_is_told_from_a_contradiction(
    store: Store, older: str, newer: str, nature: ContradictionNature
) -> None:
    node = add(store, older, origin=Origin.TOOL)
    (found,) = ContradictionFinder(store).find(newer, [ContradictionCandidate(node)]).contradictions
    assert found.nature is nature


@pytest.mark.req("D.10")
def test_what_was_superseded_is_told_from_both(store: Store) -> None:
    old = add(store, "The request timeout is 30 seconds.", origin=Origin.TOOL)
    new = add(store, "Requests are cut off by the gateway now.", origin=Origin.TOOL)
    with store.transaction():
        store.nodes.update_node(old.id, now=NOW, valid_until=NOW)
        store.edges.link_nodes("supersedes", new.key, [old.key], now=NOW)
    known = store.nodes.get_by_keys([old.key, new.key])
    report = ContradictionFinder(store).find(
        "The request timeout is 30 seconds.", [ContradictionCandidate(node) for node in known.values()]
    )
    assert [(found.id, found.nature) for found in report.contradictions] == [(old.id, ContradictionNature.SUPERSEDED)]


def test_a_document_is_judged_sentence_by_sentence(store: Store) -> None:
    text = "# Redirects\n\nRead this first. The client does not follow redirects by default. Set a flag to change it."
    page = add(store, text, type=NodeType.SNIPPET, subtype="markdown", origin=Origin.MARKDOWN)
    (found,) = find(store, "The client follows redirects by default", [page])
    assert (found.id, found.sure) == (page.id, False)
    assert '"The client does not follow redirects by default."' in found.reason
    assert find(store, "The client closes idle connections after a minute", [page]) == ()


def test_the_judge_overrules_a_rule_that_is_misled(store: Store) -> None:
    told = "Outside of shift hours the conveyor doesn't run."
    known = add(store, "The conveyor is stopped outside of shift hours.")
    assert find_verdict(told, known.content) is not None
    assert find(store, told, [known]) == ()


def test_what_the_rules_do_not_know_the_judge_may(store: Store) -> None:
    known = add(store, "We deploy with Helm")
    (found,) = find(store, "Kustomize now, we dropped Helm", [known])
    assert (found.kind, found.nature, found.sure) == (ContradictionKind.JUDGED, ContradictionNature.UPDATE, True)
    assert '"dropped"' in found.reason


def code(store: Store, text: str, **facts: Any) -> Node:
    node = add(store, text, type=NodeType.SNIPPET, subtype="code", origin=Origin.CODE)
    with store.transaction():
        store.positions.put_code_facts(node.key, CodeFacts(kind="function", **facts))
    return node


@pytest.mark.req("D.10")
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("follow_redirects defaults to True.", "follow_redirects defaults to False."),
        ("max redirects is 5.", "max redirects defaults to 20."),
        ("The default timeout is 30 seconds.", "The default timeout is 5 seconds."),
    ],
)
def test_what_code_says_of_itself_contradicts_a_statement(store: Store, statement: str, told: str) -> None:
    node = code(
        store,
        "DEFAULT_MAX_REDIRECTS = 20\ndef get(url, *, follow_redirects: bool = False): ...",
        signature="get(url, *, follow_redirects: bool = False)",
        docstring="Send a request. The default timeout is 5 seconds.",
    )
    (found,) = find(store, statement, [node])
    assert told in found.reason and "the code says" in found.reason


@pytest.mark.parametrize(
    "statement",
    [
        "follow_redirects defaults to False.",
        "max redirects is 20.",
        "The timeout is None.",
        "get(url, timeout=3) works",
    ],
)
def test_code_that_says_the_same_or_shows_an_example_contradicts_nothing(store: Store, statement: str) -> None:
    node = code(
        store,
        "DEFAULT_MAX_REDIRECTS = 20",
        signature="get(url, *, follow_redirects: bool = False, timeout=None)",
        docstring=">>> get(url, timeout=9) works",
    )
    assert find(store, statement, [node]) == ()


def test_the_same_words_in_many_places_are_told_once(store: Store) -> None:
    nodes = [code(store, f"def f{n}(verify=True): ...", signature=f"f{n}(verify=True)") for n in range(3)]
    assert len(find(store, "verify defaults to False", nodes)) == 1


def test_a_heading_states_nothing(store: Store) -> None:
    node = add(
        store,
        "# Client instances\n\nUsing a client:\n",
        type=NodeType.SNIPPET,
        subtype="markdown",
        origin=Origin.MARKDOWN,
    )
    assert find(store, "Client instances are not reusable.", [node]) == ()
