"""Graph drawing: the memories around one as boxes and lines with places, to be drawn as SVG.

The memory in question stands in the middle; what points to it on the left, what it points to on the right, what is two
relations away further out. Texts stay as large as on any page, whatever the size of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from unicodedata import combining, east_asian_width

from hyperloci.model.answers import GraphAnswer, GraphEdge, GraphNode
from hyperloci.model.kinds import SYMMETRIC_LABELS
from hyperloci.system.values import dataclass
from hyperloci.viewer.rendering import join_lines, split_code

BOX_WIDTH: Final = 250
BOX_HEIGHT: Final = 76
GAP: Final = 18
LANE: Final = 120
"""Between two columns: room for the name of a relation."""

LINE_COLUMNS: Final = 32
"""Of a line of text; a wide letter takes two of them."""

TEXT_LINES: Final = 3
SPEAKING: Final = frozenset({"subject", "cause"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBox:
    """A memory as it is drawn: its place (left, top), and its text in lines that fit."""

    id: str
    kind: str
    lines: tuple[str, ...]
    column: int
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLine:
    """A relation as it is drawn: a path, its name and where that stands; `is_sure` if a person made or confirmed it."""

    path: str
    label: str
    x: float
    y: float
    is_sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDrawing:
    """A drawing, in pixels."""

    width: float
    height: float
    boxes: tuple[GraphBox, ...]
    lines: tuple[GraphLine, ...]


def draw_graph(graph: GraphAnswer) -> GraphDrawing:
    """Return where everything of a part of the graph stands."""
    boxes = _place_boxes(_choose_columns(graph))
    columns = sorted({box.column for box in boxes})
    left = columns[0] if columns else 0
    placed = {box.id: replace(box, x=GAP + (box.column - left) * (BOX_WIDTH + LANE), y=box.y) for box in boxes}
    height = max((box.y + BOX_HEIGHT for box in placed.values()), default=0) + GAP
    width = max((box.x + BOX_WIDTH for box in placed.values()), default=0) + GAP
    return GraphDrawing(
        width=width, height=height, boxes=tuple(placed.values()), lines=tuple(_draw_lines(graph.edges, placed))
    )


def order_members(edge: GraphEdge) -> list[tuple[str, str]]:
    """Return the members of a relation in the order in which it is read: who says, or causes, first."""
    return sorted(edge.members, key=lambda member: member[1] not in SPEAKING)


def _choose_columns(graph: GraphAnswer) -> list[GraphBox]:
    """Return the boxes, each in its column: 0 in the middle, below 0 what points here, above 0 what is pointed to."""
    columns: dict[str, int] = {}
    sides = [0, 0]
    for node in graph.nodes:
        parent, direction = _find_parent(node, graph, columns)
        if parent is None:
            columns[node.id] = 0
            continue
        if columns[parent] == 0:
            side = direction or (1 if sides[1] <= sides[0] else -1)
            sides[side > 0] += 1
            columns[node.id] = side
        else:
            columns[node.id] = columns[parent] + (1 if columns[parent] > 0 else -1)
    return [
        GraphBox(id=node.id, kind=node.type, lines=wrap_text(_read_content(node)), column=columns[node.id])
        for node in graph.nodes
    ]


def _read_content(node: GraphNode) -> str:
    """Return a memory's text without the marks around code, which a drawing's text can't show as such."""
    return node.content if node.type == "code" else "".join(words for words, _ in split_code(node.content))


def _find_parent(node: GraphNode, graph: GraphAnswer, columns: Mapping[str, int]) -> tuple[str | None, int]:
    """Return the memory nearer to the middle that a memory hangs on, and on which side: -1, 1, or 0 for either."""
    distances = {other.id: other.distance for other in graph.nodes}
    for edge in graph.edges:
        roles = dict(edge.members)
        near = [id for id in roles if distances[id] == node.distance - 1 and id in columns]
        if node.id in roles and near:
            return near[0], _choose_side(edge, roles[near[0]], roles[node.id])
    first = next((other.id for other in graph.nodes if other.distance == 0), None)
    return (None, 0) if node.distance == 0 else (first, 0)


def _choose_side(edge: GraphEdge, near: str, far: str) -> int:
    if edge.label in SYMMETRIC_LABELS or (near in SPEAKING) == (far in SPEAKING):
        return 0
    return 1 if near in SPEAKING else -1


def _place_boxes(boxes: Sequence[GraphBox]) -> list[GraphBox]:
    """Return the boxes with their height in their columns, each column in the middle of the drawing."""
    counts = {column: sum(box.column == column for box in boxes) for column in {box.column for box in boxes}}
    tallest = max(counts.values(), default=0) * (BOX_HEIGHT + GAP) + GAP
    used = dict.fromkeys(counts, 0)
    placed = []
    for box in boxes:
        top = (tallest - counts[box.column] * (BOX_HEIGHT + GAP)) / 2 + GAP / 2
        placed.append(replace(box, y=top + used[box.column] * (BOX_HEIGHT + GAP)))
        used[box.column] += 1
    return placed


def _draw_lines(edges: Iterable[GraphEdge], boxes: Mapping[str, GraphBox]) -> Iterable[GraphLine]:
    for edge in edges:
        (first, _), *others = edge.members
        for other, _ in others:
            if first in boxes and other in boxes and first != other:
                yield _draw_line(edge, boxes[first], boxes[other])


def _draw_line(edge: GraphEdge, first: GraphBox, second: GraphBox) -> GraphLine:
    one, two = (first, second) if first.column <= second.column else (second, first)
    start_y, end_y = one.y + BOX_HEIGHT / 2, two.y + BOX_HEIGHT / 2
    if one.column == two.column:
        # Beside the column: the boxes between are not crossed.
        x = one.x + BOX_WIDTH
        path = f"M{x:g} {start_y:g} C{x + LANE / 2:g} {start_y:g} {x + LANE / 2:g} {end_y:g} {x:g} {end_y:g}"
        at = (x + LANE / 2.6, (start_y + end_y) / 2)
    else:
        x, end = one.x + BOX_WIDTH, two.x
        bend = (end - x) / 2
        path = f"M{x:g} {start_y:g} C{x + bend:g} {start_y:g} {end - bend:g} {end_y:g} {end:g} {end_y:g}"
        far = two if abs(two.column) > abs(one.column) else one
        share = 0.62 if far is two else 0.38
        at = (x + (end - x) * share, start_y + (end_y - start_y) * (0.79 if far is two else 0.21) - 5)
    sure = edge.confirmed or not edge.automatic
    return GraphLine(path=path, label=edge.label.replace("_", " "), x=at[0], y=at[1], is_sure=sure)


def wrap_text(text: str) -> tuple[str, ...]:
    """Return the beginning of a text in lines that fit a box, `…` at the end of what was cut."""
    lines: list[str] = []
    words = join_lines(text, LINE_COLUMNS * (TEXT_LINES + 2)).split()
    for word in words:
        short = word if measure_text(word) <= LINE_COLUMNS else _cut_line(word)
        if lines and measure_text(lines[-1]) + 1 + measure_text(short) <= LINE_COLUMNS:
            lines[-1] += f" {short}"
        elif len(lines) == TEXT_LINES:
            return (*lines[:-1], _cut_line(lines[-1]))
        else:
            lines.append(short)
    return tuple(lines)


def measure_text(text: str) -> int:
    """Return how many columns a text takes: two for each wide letter, none for a mark on another."""
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut_line(line: str) -> str:
    while measure_text(line) >= LINE_COLUMNS:
        line = line[:-1]
    return f"{line}…"
