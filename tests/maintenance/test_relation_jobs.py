"""Background work on relations: what waits is found, what others changed is looked at anew (D.03)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.jobs import MaintenanceContext, MaintenanceStoppedError
from hyperloci.maintenance.relation_jobs import link_waiting_relations, prune_relations, relink_all
from hyperloci.store import Store
from tests.knowledge.relations.linked import Linked
from tests.support import FakeClock

LIB = "def helper_of_all():\n    return 1\n"
DOC = "# Doc\n\nIt is `helper_of_all` that does it.\n"


@pytest.fixture
def code(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=clock)


@pytest.mark.req("D.03")
def test_a_document_finds_the_symbol_that_appeared_after_it(code: Linked, context: MaintenanceContext) -> None:
    code.index({"doc.md": DOC, "lib.py": "OTHER = 1\n"})
    code.index({"lib.py": LIB})
    assert code.edges("documents") == set()
    assert link_waiting_relations(context) == 1
    assert code.edges("documents") == {("documents", "doc.md:", "lib.py:helper_of_all")}
    assert link_waiting_relations(context) == 0


@pytest.mark.req("D.03")
def test_a_review_drops_what_became_ambiguous_elsewhere_and_then_finds_nothing(
    code: Linked, context: MaintenanceContext
) -> None:
    code.index({"doc.md": DOC, "lib.py": LIB})
    link_waiting_relations(context)
    assert code.edges("documents") != set()
    code.index({"more/lib.py": LIB.replace("1", "2")})
    assert relink_all(context) == 1
    assert code.edges("documents") == set()
    assert relink_all(context) == 0


@pytest.mark.req("D.03")
def test_work_that_is_stopped_goes_on_the_next_time(code: Linked, context: MaintenanceContext) -> None:
    code.index({"doc.md": DOC, "lib.py": LIB})
    with code.store.transaction():
        code.store.connection.execute("DELETE FROM hyperedges")
        code.store.relation_queue.queue_kind(code.store.scopes.find_key("p") or 0, "markdown")
    stopped = MaintenanceContext(
        store=context.store, settings=context.settings, clock=context.clock, should_stop=lambda: True
    )
    with pytest.raises(MaintenanceStoppedError):
        link_waiting_relations(stopped)
    assert link_waiting_relations(context) == 1


def test_snippets_without_a_file_do_not_wait_for_ever(code: Linked, context: MaintenanceContext) -> None:
    code.index({"doc.md": DOC})
    with code.store.transaction():
        code.store.relation_queue.queue_kind(code.store.scopes.find_key("p") or 0, "markdown")
        code.store.connection.execute("DELETE FROM files")
    link_waiting_relations(context)
    assert code.store.connection.execute("SELECT count(*) FROM unlinked").fetchone()[0] == 0


def test_the_step_prunes(code: Linked, context: MaintenanceContext) -> None:
    assert prune_relations(context) == 0
