"""A client is shown nothing of a withheld memory, whatever it asks: each tool, resource and prompt that reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client

from hyperloci.config import Settings
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.memory import Memory
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn
from tests.support import NOW, FakeClock, text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio

SECRET: Final = "Pelikanstadt"
TURNS: Final = 130
SECRET_TURNS: Final = (0, 4, 57, TURNS - 1)
"""The first that was asked, the last that was answered, and two between."""


def _say(number: int) -> str:
    where = SECRET if number in SECRET_TURNS else f"hall {number}"
    return f"We decided that delivery {number} goes to {where}, because the depot there is open."


class _Filled:
    """Ids of a memory of which some is withheld."""

    def __init__(self, memory: Memory, settings: Settings) -> None:
        self.memory = memory
        turns = [
            Turn(uuid=f"u{n}", role=list(Speaker)[n % 2], text=_say(n), timestamp_ms=NOW + n) for n in range(TURNS)
        ]
        memory.add_turns("s", turns)
        context = MaintenanceContext(store=memory.store, settings=settings, clock=FakeClock(NOW + TURNS))
        make_builder(context).advance_all()
        said = memory.store.chunks.list_turns(1, 0, TURNS)
        self.beside = memory.remember_fact("The depot of hall 3 closes at noon.", entities=["Depot"]).id
        self.secrets: list[str] = [said[number].id for number in SECRET_TURNS]
        self.secrets.append(memory.remember_fact(f"The depot is in {SECRET}.", entities=["Depot"], confidence=0.3).id)
        self.secrets.append(memory.mark_dead_end(f"Deliver to {SECRET} by boat", "The depot has no pier.").id)
        self.secrets.append(memory.remember_fact(f"The user lives in {SECRET}.", category="user_info").id)
        for label in ("supports", "contradicts", "updates", "caused_by"):
            for secret in self.secrets[-3:]:
                memory.relate(label, [{"id": secret, "role": "subject"}, {"id": self.beside, "role": "object"}])
        self.beyond = memory.remember_fact("Parcels for the lighthouse wait a week.").id
        ends = [{"id": self.secrets[-1], "role": "subject"}, {"id": self.beyond, "role": "object"}]
        memory.relate("supports", ends)
        self.replaced = memory.remember_fact("The depot's key hangs in hall 9.").id
        self.secrets.append(memory.correct_fact(self.replaced, f"The depot's key hangs in {SECRET}.").id)
        self.secrets.append(memory.remember_fact(f"The boat is kept in {SECRET}.").id)
        self.newer = memory.correct_fact(self.secrets[-1], "The boat is kept at the lighthouse.").id
        self.chunks = [memory.store.chunks.list_of_session(1, level)[0].id for level in PyramidLevel]

    def withhold_all(self) -> None:
        for secret in self.secrets:
            self.memory.withhold(secret)

    def release_all(self) -> None:
        for secret in self.secrets:
            self.memory.release(secret)


async def _ask_everything(client: Client, filled: _Filled) -> dict[str, str]:
    """Return what each reading tool, resource and prompt answers, as text."""
    program = (
        "print(memory_query('delivery depot Pelikanstadt', 50))\nprint(memory_get_context(50))\nprint(len('done'))"
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("search_memory", {"query": query, "limit": 50}) for query in (f"depot in {SECRET}", "delivery boat depot")),
        *(("get_context", {"query": query}) for query in ("deliveries to the depot", "what did we do last session?")),
        ("find_contradictions", {"statement": "The depot is in hall 3."}),
        *(("find_related", {"topic": id, "depth": 3, "limit": 50}) for id in (filled.beside, *filled.chunks)),
        ("recall_user_info", {}),
        ("memory_stats", {}),
        *(("explain_fact", {"id": id}) for id in (filled.beside, filled.replaced, filled.newer)),
        *(("expand_chunk", {"id": id}) for id in filled.chunks),
        ("get_entity_info", {"name": "Depot"}),
        ("list_topics", {}),
        ("timeline", {"around": filled.beside}),
        ("weak_facts", {"limit": 50}),
        ("memory_repl", {"code": program}),
    ]
    answers = {}
    for name, arguments in calls:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, result.content)
        answers[f"{name} {arguments}"] = text_of(result) + json.dumps(result.structured_content, ensure_ascii=False)
    for address in (
        "stats",
        f"node/{filled.beside}",
        "session/s",
        "entity/Depot",
        *map("node/{}".format, filled.chunks),
    ):
        answers[address] = (await client.read_resource(f"memory://{address}")).model_dump_json()
    for prompt, given in (
        ("recall", {"topic": "the depot"}),
        ("session_summary", {"session": "s"}),
        ("consolidate", {"session": "s"}),
        ("review_weak_facts", {}),
    ):
        answers[prompt] = (await client.get_prompt(prompt, given)).model_dump_json()
    return answers


@pytest.mark.parametrize("withheld", [True, False], ids=["withheld", "released"])
async def test_no_answer_to_a_client_quotes_what_is_withheld_and_it_comes_back_with_its_release(
    settings: Settings, project: Path, connect: Connect, withheld: bool
) -> None:
    with Memory.open(settings, project, clock=FakeClock(NOW + TURNS)) as memory:
        filled = _Filled(memory, settings)
        filled.withhold_all()
        if not withheld:
            filled.release_all()
        async with connect("all") as client:
            answers = await _ask_everything(client, filled)
        walked = {
            "neighbourhood": memory.get_neighbourhood(filled.beside),
            "dependencies": memory.get_dependencies(filled.beside, relationship="any"),
            "subgraph": memory.get_subgraph(filled.beside, depth=3, limit=100),
            "window": memory.get_context_window(50_000, session_id="s").text,
            "short window": memory.get_context_window(1_000, session_id="s").text,
            "path": memory.path_between(filled.beside, filled.beyond),
            "report": memory.get_session_report("s"),
        }
        memory.forget(filled.replaced)
        walked["restored"] = memory.restore(filled.replaced)
    quoting = [asked for asked, answer in answers.items() if f"in {SECRET}." in answer or f"to {SECRET}" in answer]
    quoting += [name for name, found in walked.items() if SECRET in str(found)]
    if withheld:
        assert quoting == []
    else:
        assert {
            "weak_facts {'limit': 50}",
            "session/s",
            "neighbourhood",
            "report",
            "window",
            "path",
            "restored",
        } <= set(quoting)
        assert {f"explain_fact {{'id': '{filled.replaced}'}}"} <= set(quoting)
