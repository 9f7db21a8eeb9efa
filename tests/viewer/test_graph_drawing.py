"""Where the memories around one stand in a drawing."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hyperloci.model.answers import GraphAnswer, GraphEdge, GraphNode
from hyperloci.viewer.graph_drawing import (
    BOX_HEIGHT,
    BOX_WIDTH,
    LINE_COLUMNS,
    TEXT_LINES,
    draw_graph,
    measure_text,
    order_members,
    wrap_text,
)


def node(id: str, distance: int) -> GraphNode:
    return GraphNode(id=id, type="insight", content=f"Memory {id}", place="", distance=distance)


def edge(label: str, *members: tuple[str, str], automatic: bool = False) -> GraphEdge:
    return GraphEdge(
        id="-".join(id for id, _ in members),
        label=label,
        members=members,
        confidence=1.0,
        automatic=automatic,
        confirmed=False,
        evidence=None,
    )


def test_what_points_to_a_memory_stands_left_of_it_and_what_it_points_to_right() -> None:
    graph = GraphAnswer(
        nodes=(node("a", 0), node("b", 1), node("c", 1), node("d", 2)),
        edges=(
            edge("supports", ("b", "subject"), ("a", "object")),
            edge("depends_on", ("a", "subject"), ("c", "object"), automatic=True),
            edge("depends_on", ("c", "subject"), ("d", "object")),
        ),
    )
    drawing = draw_graph(graph)
    columns = {box.id: box.column for box in drawing.boxes}
    assert columns == {"a": 0, "b": -1, "c": 1, "d": 2}
    assert [line.is_sure for line in drawing.lines] == [True, False, True]
    assert [line.label for line in drawing.lines] == ["supports", "depends on", "depends on"]


def test_code_in_a_text_stands_in_its_box_without_marks() -> None:
    prose = GraphNode(id="a", type="insight", content="Use `uv sync` here", place="", distance=0)
    code = GraphNode(id="b", type="code", content="const a = `b`", place="", distance=1)
    drawing = draw_graph(GraphAnswer(nodes=(prose, code), edges=()))
    assert [box.lines for box in drawing.boxes] == [("Use uv sync here",), ("const a = `b`",)]


def test_a_relation_is_read_from_who_says_or_causes() -> None:
    assert order_members(edge("causes", ("b", "effect"), ("a", "cause"))) == [("a", "cause"), ("b", "effect")]
    same = edge("relates_to", ("b", "participant"), ("a", "participant"))
    assert order_members(same) == list(same.members)


def test_relations_without_a_direction_are_shared_out_between_the_sides() -> None:
    others = [node(str(number), 1) for number in range(6)]
    edges = [edge("relates_to", ("a", "participant"), (other.id, "participant")) for other in others]
    drawing = draw_graph(GraphAnswer(nodes=(node("a", 0), *others), edges=tuple(edges)))
    assert sorted(box.column for box in drawing.boxes) == [-1, -1, -1, 0, 1, 1, 1]


def test_a_memory_alone_is_drawn_alone() -> None:
    drawing = draw_graph(GraphAnswer(nodes=(node("a", 0),), edges=()))
    assert len(drawing.boxes) == 1
    assert drawing.lines == ()


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.booleans()), max_size=40))
def test_no_two_boxes_overlap_and_all_are_in_the_picture(pairs: list[tuple[int, int, bool]]) -> None:
    nodes = [node(str(number), 0 if number == 0 else 1 + number % 2) for number in range(12)]
    edges = [
        edge("supports" if directed else "relates_to", (str(one), "subject" if directed else "participant"),
             (str(two), "object" if directed else "participant"))
        for one, two, directed in pairs
        if one != two
    ]  # fmt: skip
    drawing = draw_graph(GraphAnswer(nodes=tuple(nodes), edges=tuple(edges)))
    assert {box.id for box in drawing.boxes} == {node.id for node in nodes}
    for one, two in itertools.combinations(drawing.boxes, 2):
        assert abs(one.x - two.x) >= BOX_WIDTH or abs(one.y - two.y) >= BOX_HEIGHT
    for box in drawing.boxes:
        assert 0 <= box.x <= drawing.width - BOX_WIDTH
        assert 0 <= box.y <= drawing.height - BOX_HEIGHT


@given(st.text(max_size=400))
def test_a_text_is_cut_to_lines_that_fit_a_box(text: str) -> None:
    lines = wrap_text(text)
    assert len(lines) <= TEXT_LINES
    assert all(measure_text(line) <= LINE_COLUMNS for line in lines)


def test_a_cut_text_says_so() -> None:
    assert wrap_text("word " * 40)[-1].endswith("…")
    assert wrap_text("a few words") == ("a few words",)
