"""Read commands: query, last, stats, sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from hyperloci.cli.common import JsonOption, ProjectOption, console, errors, open_memory, print_json
from hyperloci.cli.layout import NO_SESSIONS, NOTHING_YET, count_things, describe_age, make_table, print_memory
from hyperloci.cli.stats_text import describe_stats
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import title_client
from hyperloci.model.search import Hit, SearchAnswer
from hyperloci.spaces.space import SPACES
from hyperloci.store.ids import shorten_id

LEARNED_SHOWN: Final = 4
"""Features of a learned place that `--explain` names, the weightiest; all of them are in `--json`."""

CHANGED_SHOWN: Final = 3
"""Files that are named of those that have changed since they were indexed."""


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(query)
    app.command()(last)
    app.command()(stats)
    app.command()(sessions)


def query(
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="A question, words, or conditions such as section:Design.")
    ],
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="How many results.")] = 5,
    kind: Annotated[
        str, typer.Option("--type", "-t", help="any, conversation, learning, decision, dead_end, code, docs, commit.")
    ] = "any",
    after: Annotated[
        str | None, typer.Option(help="Only after this time: last_week, '3 days ago', 2026-01-31.")
    ] = None,
    before: Annotated[str | None, typer.Option(help="Only before this time.")] = None,
    path: Annotated[str | None, typer.Option(help="Only from files that match, such as 'docs/**'.")] = None,
    explain: Annotated[bool, typer.Option("--explain", "-x", help="Show each result's scores by space.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole results.")] = False,
    json: JsonOption = False,
) -> None:
    """Search the memory by words and conditions; conditions alone list the memories that meet them.

    Examples:
      hyperloci query "why did we drop redis"
      hyperloci query 'caching in:docs/** section:Design after:last_week not:contradicted'
      hyperloci query "retry policy" --type code --path 'src/**' --explain
    """
    line = " ".join(text)
    if not line.strip():
        raise typer.BadParameter("nothing is asked; give a question, words or conditions.")
    with open_memory(project, searches=True) as memory:
        answer = memory.search_by_query_line(
            line, content_type=kind, limit=limit, after=after, before=before, path=path, explain=explain
        )
        is_empty = not answer.results and not memory.get_embedding_coverage().total
        changed = memory.list_changed_files(answer.results)
    if json:
        print_json(answer)
    elif is_empty:
        console.print(NOTHING_YET, style="dim")
    else:
        _print_answer(answer, full=full, explain=explain)
        if changed:
            files = f"{', '.join(changed[:CHANGED_SHOWN])}{' and others' if len(changed) > CHANGED_SHOWN else ''}"
            errors.print(f"changed since it was indexed: {files}; run `hyperloci index`", style="yellow")


def _print_answer(answer: SearchAnswer, *, full: bool, explain: bool) -> None:
    for rank, hit in enumerate(answer.results, start=1):
        score = "" if answer.mode == "list" else hit.placed or f"{hit.score:.2f}"
        print_memory(hit, mark=f"{rank}. ", full=full, score=score)
        if explain and hit.explain:
            _print_scores(hit)
        console.print()
    for hint in answer.hints:
        console.print(Text(hint, style="dim"))
    state = f"{'listed' if answer.mode == 'list' else f'{answer.mode} search'}, {answer.took_ms:.0f} ms"
    reason = f"; {'by words only: ' if answer.mode == 'keyword' else ''}{answer.degraded}" if answer.degraded else ""
    console.print(Text(state + reason, style="dim"))


def _print_scores(hit: Hit) -> None:
    explain: dict[str, Any] = dict(hit.explain or {})
    missed = {spot["space"] for spot in explain.get("blind_spots", ())}
    table = Table("category", "space", "sees", "score", "part", "", box=None, padding=(0, 2))
    for category, scores in explain.get("embedder_scores", {}).items():
        for name, value in scores.items():
            part = explain.get("parts", {}).get(name)
            marks = ["dominant"] if name == explain.get("dominant_space") else []
            marks += ["blind spot of E1"] if name in missed else []
            shown = "" if part is None else f"{part:.3f}"
            table.add_row(category, name, SPACES[name].title, f"{value:.3f}", shown, ", ".join(marks))
    console.print(table)
    parts: dict[str, float] = explain.get("parts", {})
    beside = [f"{name.replace('_', ' ')} {part:.3f}" for name, part in parts.items() if name not in SPACES]
    factor = explain.get("factor")
    if factor is not None:
        in_all = f"   parts {sum(parts.values()):.3f}{', of it ' if beside else ''}{', '.join(beside)}"
        console.print(Text(f"{in_all}; times {factor:.2f} for what it is, who said it and its place", style="dim"))
    learned: dict[str, float] = explain.get("learned", {})
    if learned:
        told = sorted(learned.items(), key=lambda item: -abs(item[1]))[:LEARNED_SHOWN]
        shown = ", ".join(f"{name.replace('_', ' ')} {value:+.1f}" for name, value in told)
        console.print(Text(f"   its place among its kind, by learned weights: {shown}", style="dim"))
    agreeing = explain.get("agreement_count", 0)
    console.print(Text(f"   {count_things(agreeing, 'space')} {'agrees' if agreeing == 1 else 'agree'}", style="dim"))


def last(
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="How many times.")] = 3,
    full: Annotated[bool, typer.Option("--full", help="Show whole memories.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what was last put before the assistant unasked: when, by which event, which memories.

    Examples:
      hyperloci last
      hyperloci last -n 1 --full
    """
    with open_memory(project) as memory:
        found = memory.list_injections(limit)
    if json:
        print_json(found)
        return
    if not found:
        console.print("Nothing was put before the assistant yet in this project's recent sessions.")
    for injection in found:
        said = f"{describe_age(injection.at)}, {injection.event} of session {shorten_id(injection.session_id)}"
        console.print(Text(f"{said}: {count_things(len(injection.memories), 'memory')}", style="bold"))
        for hit in injection.memories:
            print_memory(hit, mark="- ", full=full)
        console.print()


def stats(project: ProjectOption = Path("."), json: JsonOption = False) -> None:
    """Show what the memory holds and its state.

    Examples:
      hyperloci stats
      hyperloci stats --json
    """
    with open_memory(project) as memory:
        answer = memory.stats() | {"graph": memory.graph_stats()}
    if json:
        print_json(answer)
        return
    for title, rows in describe_stats(answer):
        console.print(Text(title, style="bold"))
        for name, value in rows:
            console.print(Text(f"  {name:<13} {value}"))


def sessions(
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="How many sessions.")] = 20,
    json: JsonOption = False,
) -> None:
    """List the sessions of the project, latest first.

    Examples:
      hyperloci sessions
      hyperloci sessions -n 5 --json
    """
    with open_memory(project) as memory:
        found = memory.list_recent_sessions(limit)
        _tell_waiting_records(memory.settings)
    if json:
        print_json(found)
        return
    if not found:
        console.print(NO_SESSIONS, style="dim")
        return
    table = make_table("id", "in", "state", "began", "last turn", "turns", numbers=("turns",))
    for session in found:
        began, seen = (describe_age(session[name]) for name in ("started_at", "last_seen_at"))
        where = title_client(session["client"] or "")
        table.add_row(shorten_id(session["id"]), where, session["status"], began, seen, str(session["turns"]))
    console.print(table)
    console.print("hyperloci timeline --session ID tells one; hyperloci recap sums the latest up.", style="dim")


def _tell_waiting_records(settings: Settings) -> None:
    """Tell on stderr that what hooks left in the spool is not among the sessions yet."""
    from hyperloci_hooks.spool import list_waiting_files

    if waiting := list_waiting_files(settings.spool_dir):
        many = count_things(len(waiting), "record")
        how = "`hyperloci upkeep` or the next session stores them"
        errors.print(f"waiting to be stored: {many} of hooks; {how}", style="yellow")
