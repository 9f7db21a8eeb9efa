"""Graph commands: graph (relations), outline (structure of files)."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text
from rich.tree import Tree as Drawing

from hyperloci.cli.common import JsonOption, ProjectOption, console, find_in_project, open_memory, print_json
from hyperloci.model.answers import GraphAnswer, GraphEdge, GraphNode, RelatedAnswer
from hyperloci.store.ids import shorten_id
from hyperloci.text.cutting import cut_line

if TYPE_CHECKING:
    from hyperloci.queries.file_structure import OutlineEntry, OutlineTree

SHORT: Final = 80
"""Characters shown of a memory in a drawing."""

WIDE: Final = 1_000
"""Columns of a drawing: a tree is cut at its width, and cut text is lost in a pipe."""


class RelationDirection(StrEnum):
    """Which way relations are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(graph)
    app.command()(outline)


def graph(
    topic: Annotated[str, typer.Argument(help="A symbol, path or heading; a memory's id; or words that find it.")],
    project: ProjectOption = Path("."),
    depth: Annotated[int, typer.Option(min=1, max=4, help="How many relations to follow from it.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="How many memories.")] = 20,
    relation: Annotated[str, typer.Option("--relation", "-r", help="Only this relation, such as calls.")] = "any",
    direction: Annotated[
        RelationDirection, typer.Option(help="Which way to follow relations.")
    ] = RelationDirection.BOTH,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flowchart.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz DOT.")] = False,
    json: JsonOption = False,
) -> None:
    """Draw what a memory is related to. A ~ marks relations found by rules; `hyperloci confirm` takes their ids.

    Examples:
      hyperloci graph AsyncClient.send --relation calls --direction in --depth 1
      hyperloci graph "retry policy" --depth 3
      hyperloci graph 976bdca7 --mermaid > graph.mmd
    """
    with open_memory(project, searches=True) as memory:
        answer = memory.get_subgraph(topic, relationship=relation, direction=direction, depth=depth, limit=limit)
        related = memory.find_related(topic, relationship=relation, direction=direction, depth=depth, limit=limit)
    if json:
        print_json(_as_json(related, answer))
    elif mermaid or dot:
        typer.echo(to_mermaid(answer) if mermaid else to_dot(answer))
    else:
        console.print(Text(answer.started, style="dim"))
        console.print(draw_tree(answer), width=WIDE)
        if len(answer.nodes) == 1:
            console.print(Text(_describe_relations(related.relations, relation), style="dim"))


def _describe_relations(relations: tuple[str, ...], asked: str) -> str:
    """Return which relations a memory has of which none was drawn."""
    which = "" if asked == "any" else f" by {asked}"
    return f"No relations{which} to draw. It has: {', '.join(relations)}." if relations else "It has no relations."


def _as_json(related: RelatedAnswer, answer: GraphAnswer) -> dict[str, object]:
    return {**asdict(related), "nodes": answer.nodes, "edges": answer.edges}


# Drawings


def draw_tree(answer: GraphAnswer) -> Drawing:
    """Return a graph as a tree: every memory once, below the nearest one that a relation joins it to.

    A line that is too long for the terminal ends in an ellipsis there.
    """
    nodes = {node.id: node for node in answer.nodes}
    middle = answer.nodes[0]
    tree = Drawing(Text(_format_node(middle), style="bold", no_wrap=True, overflow="ellipsis"))
    branches = {middle.id: tree}
    for node in answer.nodes[1:]:
        found = _nearest_relation(node, nodes, answer.edges, branches)
        if found is None:
            continue
        edge, above = found
        told = f"[{_format_edge(edge)}]  " if edge.id else ""
        said = (f"{_format_arrow(edge, above, node.id)} ", "cyan"), (told, "dim")
        proof = f"  ({edge.evidence})" if edge.evidence else ""
        line = Text.assemble(*said, _format_node(node), (proof, "dim"), no_wrap=True, overflow="ellipsis")
        branches[node.id] = branches[above].add(line)
    return tree


def _nearest_relation(
    node: GraphNode, nodes: dict[str, GraphNode], edges: tuple[GraphEdge, ...], drawn: dict[str, Drawing]
) -> tuple[GraphEdge, str] | None:
    """Return the surest relation to a memory that is drawn already and one step nearer, with that memory.

    One that points from either to the other comes first: two methods of a class are members of it alike, which says
    less than that one calls the other.
    """
    joining = (
        (edge, id)
        for edge in edges
        if any(member == node.id for member, _ in edge.members)
        for id, _ in edge.members
        if id in drawn and nodes[id].distance == node.distance - 1
    )
    return min(joining, key=lambda found: _points(found[0], found[1], node.id) is None, default=None)


def _points(edge: GraphEdge, above: str, below: str) -> bool | None:
    """Return whether a relation points down, from `above` to `below`; None where it points from neither."""
    speaks = {id for id, role in edge.members if role in ("subject", "cause")}
    return None if (above in speaks) == (below in speaks) else above in speaks


def _format_arrow(edge: GraphEdge, above: str, below: str) -> str:
    arrow = {True: "->", False: "<-", None: "--"}[_points(edge, above, below)]
    return f"{arrow} {edge.label}"


def _format_edge(edge: GraphEdge) -> str:
    sure = "confirmed" if edge.confirmed else f"{'~' if edge.automatic else ''}{edge.confidence:.2f}"
    return f"{shorten_id(edge.id)} {sure}"


def _format_node(node: GraphNode) -> str:
    return "  ".join(part for part in (shorten_id(node.id), node.place, _shorten_content(node.content)) if part)


def to_mermaid(answer: GraphAnswer) -> str:
    """Return a graph as a Mermaid flowchart; a relation of three and more is a node of its own."""
    names = {node.id: f"n{number}" for number, node in enumerate(answer.nodes)}
    lines = ["flowchart LR"]
    lines += [f'  {names[node.id]}["{_escape_quotes(_node_label(node))}"]' for node in answer.nodes]
    for number, edge in enumerate(answer.edges):
        stroke = "-.->" if edge.automatic and not edge.confirmed else "-->"
        if len(edge.members) == 2:
            start, end, pointed = _edge_ends(edge)
            lines.append(f"  {names[start]} {stroke if pointed else '---'}|{_escape_quotes(edge.label)}| {names[end]}")
            continue
        lines.append(f'  e{number}{{{{"{_escape_quotes(edge.label)}"}}}}')
        for id, role in edge.members:
            ends = (names[id], f"e{number}") if role in ("subject", "cause") else (f"e{number}", names[id])
            lines.append(f"  {ends[0]} {stroke} {ends[1]}")
    return "\n".join(lines)


def to_dot(answer: GraphAnswer) -> str:
    """Return a graph as Graphviz DOT; a relation of three and more is a diamond."""
    names = {node.id: f"n{number}" for number, node in enumerate(answer.nodes)}
    lines = ["digraph memory {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  {names[node.id]} [label="{_escape_quotes(_node_label(node))}"];' for node in answer.nodes]
    for number, edge in enumerate(answer.edges):
        style = ' style="dashed"' if edge.automatic and not edge.confirmed else ""
        if len(edge.members) == 2:
            start, end, pointed = _edge_ends(edge)
            head = "" if pointed else " dir=none"
            lines.append(f'  {names[start]} -> {names[end]} [label="{_escape_quotes(edge.label)}"{head}{style}];')
            continue
        lines.append(f'  e{number} [shape=diamond label="{_escape_quotes(edge.label)}"];')
        for id, role in edge.members:
            ends = (names[id], f"e{number}") if role in ("subject", "cause") else (f"e{number}", names[id])
            lines.append(f"  {ends[0]} -> {ends[1]} [{style.strip()}];")
    return "\n".join([*lines, "}"])


def _edge_ends(edge: GraphEdge) -> tuple[str, str, bool]:
    """Return where a relation of two begins and ends, and whether it points."""
    (first, first_role), (second, second_role) = edge.members
    speaks = [role in ("subject", "cause") for role in (first_role, second_role)]
    return (second, first, True) if speaks == [False, True] else (first, second, speaks[0] != speaks[1])


def _node_label(node: GraphNode) -> str:
    return node.place or _shorten_content(node.content)


def _shorten_content(content: str) -> str:
    return cut_line(content, SHORT)


def _escape_quotes(text: str) -> str:
    return _shorten_content(text).replace("\\", "/").replace('"', "'")


# Outlines


def outline(
    path: Annotated[
        str,
        typer.Argument(help="A file, from here or from the project's root; optional with --title, --type or --level."),
    ] = "",
    project: ProjectOption = Path("."),
    title: Annotated[str | None, typer.Option("--title", "-t", help="Only sections with this title.")] = None,
    fuzzy: Annotated[bool, typer.Option("--fuzzy", "-f", help="Also titles that contain or resemble it.")] = False,
    kind: Annotated[
        str | None, typer.Option("--type", help="Only sections of a type: limitations, api, faq...")
    ] = None,
    level: Annotated[int | None, typer.Option(min=1, max=6, help="Only headings of this level.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the sections of an indexed document or the symbols of a source file, or find sections by title.

    Examples:
      hyperloci outline README.md
      hyperloci outline --title limitations --fuzzy
      hyperloci outline docs/guide.md --type examples
    """
    if not path and title is None and kind is None and level is None:
        raise typer.BadParameter("give a file's path, or --title, --type or --level.")
    with open_memory(project) as memory:
        inside = find_in_project(Path(path), memory.project.root).as_posix() if path else None
        if inside is not None and title is None and kind is None and level is None:
            tree = memory.get_outline(inside)
            if json:
                print_json(tree)
            else:
                console.print(draw_outline(tree), width=WIDE)
            return
        found = memory.find_sections(title, fuzzy=fuzzy, type=kind, level=level, path=inside)
    if json:
        print_json({"sections": found})
        return
    for entry in found:
        console.print(Text(f"{entry.file}:{entry.line_start}  {' > '.join(entry.path)}  ({_describe_entry(entry)})"))
    if not found:
        hint = "" if fuzzy or title is None else "; --fuzzy also finds similar titles"
        console.print(Text(f"No section found{hint}.", style="dim"))


def draw_outline(tree: OutlineTree) -> Drawing:
    """Return a file's outline as a tree."""
    root = Drawing(Text(tree.file, style="bold"))
    branches: list[Drawing] = []
    for number, entry in enumerate(tree.entries):
        untitled = "(above the first)" if number == 0 else "(outside of symbols)"
        above = root if entry.parent is None else branches[entry.parent]
        line = Text.assemble(entry.title or untitled, (f"  {_describe_entry(entry)}", "dim"))
        branches.append(above.add(line))
    return root


def _describe_entry(entry: OutlineEntry) -> str:
    kind = "" if entry.type == "unknown" else f"{entry.type}, "
    return f"{kind}lines {entry.line_start}-{entry.line_end}"
