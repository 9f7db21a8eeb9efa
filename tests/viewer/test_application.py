"""What the pages show, and what their forms do."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from hyperloci.viewer.page_values import PAGE_EVENTS, REVIEW_TABS
from tests.support import NOW, FakeClock
from tests.viewer.conftest import ReadPage, Visit, visit_viewer
from tests.viewer.story import SESSIONS

pytestmark = pytest.mark.anyio

Told = tuple[dict[str, str], Path, FakeClock]

EVIL = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\"'><a href=javascript:alert(3)>"


@pytest.fixture
async def visit(settings: Settings, told: Told) -> AsyncIterator[Visit]:
    _, folder, clock = told
    async with visit_viewer(settings, folder, clock) as visit:
        await visit.enter()
        yield visit


def every_page(ids: dict[str, str]) -> list[str]:
    return [
        "/",
        "/?q=queue",
        "/?q=queue&kind=decision&limit=25",
        "/?q=type:decision",
        *(f"/memory/{id}" for id in ids.values()),
        f"/graph/{ids['cache']}",
        f"/graph/{ids['cache']}?depth=1",
        "/sessions",
        *(f"/session/{id}" for id in SESSIONS),
        *(tab.path for tab in REVIEW_TABS),
        *(f"/timeline?kind={kind}" for kind in ("learnt", "all", "turns", "forgotten", "dead ends")),
        "/timeline?day=2027-01-20",
        "/topics",
    ]


async def test_every_page_leads_and_loads_from_the_viewer_alone_and_runs_nothing_of_its_own(
    visit: Visit, told: Told
) -> None:
    for path in every_page(told[0]):
        page = await visit.open(path)
        assert {address for address in page.addresses if not address.startswith((f"{visit.keys.root}/", "#"))} == set()
        scripts = [attributes for tag, attributes in page.elements if tag == "script"]
        assert scripts == [{"src": f"{visit.keys.root}/assets/keys.js", "defer": ""}]
        assert not any(name.startswith("on") or name == "style" for _, made in page.elements for name in made)
        assert not any(tag == "style" for tag, _ in page.elements)


async def test_every_page_that_a_page_leads_to_is_there(visit: Visit, told: Told) -> None:
    todo, opened = {"/timeline?kind=all", "/sessions"}, set[str]()
    while paths := todo - opened:
        for path in paths:
            opened.add(path)
            leads = {one.removeprefix(visit.keys.root) for one in (await visit.open(path)).addresses}
            todo |= {one for one in leads if re.match("/(memory|session)/[^?#]*$", one) and "/icon" not in one}
    assert len([path for path in opened if path.startswith("/memory/")]) > 20


async def test_every_change_is_a_form_with_the_key_and_every_field_has_a_label(visit: Visit, told: Told) -> None:
    for path in every_page(told[0]):
        page = await visit.open(path)
        assert all(form["key"] == visit.keys.form_key for form in page.forms if form["method"] == "post")
        labels = {made["for"] for tag, made in page.elements if tag == "label"}
        fields = [made for tag, made in page.elements if tag in ("input", "select", "textarea")]
        assert {made["id"] for made in fields if made.get("type") != "hidden"} <= labels
        ids = [made["id"] for _, made in page.elements if "id" in made]
        assert len(ids) == len(set(ids))


async def test_a_search_says_why_each_memory_was_found_and_what_was_left_out(visit: Visit, told: Told) -> None:
    page = await visit.open("/?q=queue+between+checkout+and+tax")
    assert "why this" in page.text
    assert re.search(r"exact words E6 .*?\+0\.\d{3}", page.text)
    found, left_out = page.text.split(" left out")
    assert "It lost 14 orders in May" in found
    assert "Orders go through a RabbitMQ queue between checkout and the tax service." in left_out
    assert "no longer holds" in left_out


async def test_a_hit_that_may_have_replaced_the_next_says_so(visit: Visit, told: Told) -> None:
    page = await visit.open("/?q=5432")
    assert page.text.index("pgbouncer") < page.text.index("listens on port 5432.")
    assert "It stands here because it replaced, or may have replaced, what comes next." in page.text


async def test_a_memory_shows_its_turn_its_versions_its_relations_and_its_history(visit: Visit, told: Told) -> None:
    page = await visit.open(f"/memory/{told[0]['cache']}")
    assert "Orders go through a RabbitMQ queue" in page.text
    assert "the queue lost orders" in page.text
    assert "depends on" in page.text
    assert re.search(r"stored\s+correction: the queue lost orders", page.text)
    assert re.search(r"replaced\s+the queue lost orders", page.text)
    turn = await visit.open("/timeline?kind=turns")
    places = [address for address in turn.addresses if "#turn-" in address]
    assert f"{visit.keys.root}/session/{SESSIONS[0]}?from=4#turn-4" in places


async def test_a_session_is_replayed_with_what_was_put_before_the_assistant(visit: Visit, told: Told) -> None:
    page = await visit.open(f"/session/{SESSIONS[1]}")
    began = page.text.index("as the session began")
    asked = page.text.index("Checkout times out when the tax service is slow")
    prompt = page.text.index("with this prompt")
    answered = page.text.index("Three: a longer timeout")
    assert began < asked < prompt < answered
    assert "Dead end: A RabbitMQ queue" in page.text[prompt:answered]


async def test_a_turn_shows_what_was_extracted_from_it(visit: Visit) -> None:
    page = await visit.open(f"/session/{SESSIONS[0]}")
    turn = page.text[page.text.index("turn 4") : page.text.index("turn 5")]
    assert "made of it decision We decided to use a cached tax rate" in turn


async def test_correcting_keeps_the_earlier_version_and_redacts_secrets(visit: Visit, told: Told) -> None:
    ids = told[0]
    form = (await visit.open(f"/memory/{ids['port']}")).find_form("correct")
    page = await visit.do(
        form,
        text="The staging database listens on port 6432, token ghp_x7Kq2mR9vT4wY1zB6nC8dF3gH5jL0pS2aQeU",
        reason="pgbouncer came",
    )
    assert "Corrected." in page.text
    assert "ghp_" not in page.text
    assert "REDACTED" in page.text.upper()
    assert "The staging database listens on port 5432." in page.text
    old = await visit.open(f"/memory/{ids['port']}")
    assert "no longer holds" in old.text
    assert "pgbouncer came" in old.text


async def test_forgetting_is_undone_by_restoring(visit: Visit, told: Told) -> None:
    id = told[0]["port"]
    gone = await visit.do((await visit.open(f"/memory/{id}")).find_form("forget"))
    assert "It can be restored for 30 days" in gone.text
    assert "The staging database" in (await visit.open("/timeline?kind=forgotten")).text
    back = await visit.do(gone.find_form("restore"))
    assert "Restored." in back.text
    assert "The staging database listens" not in (await visit.open("/timeline?kind=forgotten")).text


async def test_pinning_protects_from_fading(visit: Visit, told: Told) -> None:
    page = await visit.do((await visit.open(f"/memory/{told[0]['weak']}")).find_form("pin"))
    assert "pinned" in page.text
    assert "it does not fade" in page.text


async def test_a_memory_that_is_never_recalled_is_kept_and_no_search_finds_it(
    visit: Visit, told: Told, settings: Settings
) -> None:
    ids, folder, clock = told
    page = await visit.do((await visit.open(f"/memory/{ids['port']}")).find_form("withhold"))
    assert "Never recalled from now on" in page.text
    with Memory.open(settings, folder, clock=clock) as memory:
        assert ids["port"] not in [hit.id for hit in memory.search("staging database port 5432", limit=20).results]
    again = await visit.do(page.find_form("release"))
    assert "It may be recalled again." in again.text
    with Memory.open(settings, folder, clock=clock) as memory:
        assert ids["port"] in [hit.id for hit in memory.search("staging database port 5432", limit=20).results]


async def test_a_contradiction_is_settled_with_one_click(visit: Visit, told: Told) -> None:
    ids = told[0]
    before = await visit.open("/review?tab=contradictions")
    form = next(f for f in before.forms if f.get("holds") == ids["eu"] and _has_sides(before, f, ids["not_eu"]))
    after = await visit.do(form)
    assert "Settled." in after.text
    assert "Tax rates outside the EU are never rounded up" not in after.text
    assert _state_of(await visit.open(f"/memory/{ids['not_eu']}")) == "sheet is-replaced"
    assert _state_of(await visit.open(f"/memory/{ids['eu']}")) == "sheet is-holds"


def _state_of(page: ReadPage) -> str:
    return next(made["class"] for tag, made in page.elements if tag == "article")


def _has_sides(page: ReadPage, form: dict[str, str], other: str) -> bool:
    return any(f["action"] == form["action"] and f.get("holds") == other for f in page.forms)


async def test_a_possible_replacement_may_be_none(visit: Visit, told: Told) -> None:
    page = await visit.open("/review?tab=replaced")
    dispute = page.find_form("settle", holds=told[0]["port"])["action"]
    after = await visit.do(next(form for form in page.forms if form["action"] == dispute and form["holds"] == ""))
    assert "Settled." in after.text
    assert dispute not in after.addresses
    for name in ("port", "new_port"):
        assert "no longer holds" not in (await visit.open(f"/memory/{told[0][name]}")).text


async def test_each_list_of_the_review_is_settled_from_the_list_itself(visit: Visit, told: Told) -> None:
    for tab, action, name in (
        ("outdated", "pin", "anchored"),
        ("weak", "pin", "weak"),
        ("quarantine", "clear", "flagged"),
    ):
        page = await visit.open_when_found(next(one.path for one in REVIEW_TABS if one.name == tab))
        assert told[0][name][:8] in page.text
        forms = [form for form in page.forms if form["action"].endswith(f"/{action}/{told[0][name]}")]
        after = await visit.do(forms[0])
        assert told[0][name][:8] not in after.text


async def test_the_state_tells_what_is_indexed_and_set_aside(visit: Visit) -> None:
    page = await visit.open_when_found("/state")
    assert "file indexed, all projects" in page.text
    assert "Set aside" in page.text
    assert "No hook has run in the last week" in page.text


async def test_pages_of_the_timeline_hold_every_memory_once(
    settings: Settings, project: Path, clock: FakeClock
) -> None:
    count = 2 * PAGE_EVENTS + 7
    with Memory.open(settings, project, clock=clock) as memory:
        for number in range(count):
            clock.advance(number % 3)  # some at the same moment
            memory.remember_fact(f"Server {number} stands in rack {number * 7}.")
    async with visit_viewer(settings, project, clock) as visit:
        await visit.enter()
        seen: list[str] = []
        path: str | None = "/timeline"
        while path is not None:
            page = await visit.open(path)
            seen += re.findall(r"Server (\d+) stands", page.text)
            later = [made["href"] for tag, made in page.elements if tag == "a" and made.get("rel") == "next"]
            path = later[0].removeprefix(visit.keys.root) if later else None
    assert seen == [str(number) for number in reversed(range(count))]


@pytest.mark.parametrize(
    "path",
    [
        "/timeline?before=x",
        "/timeline?before=1.2.3",
        "/timeline?kind=x",
        "/timeline?day=yesterday",
        "/review?tab=x",
        "/review?tab=weak",
        "/review?before=-1",
        "/session/" + SESSIONS[0] + "?from=x",
        "/?q=level:x",
        "/?q=x&kind=nothing",
        "/?q=" + "x" * 10_001,
    ],
)
async def test_an_address_that_makes_no_sense_is_answered_in_words(visit: Visit, path: str) -> None:
    assert "That did not work." in (await visit.open(path, 400)).text


@pytest.mark.parametrize(
    "path", ["/memory/nothing", "/session/nothing", "/topic/nothing", "/graph/nothing", "/nothing"]
)
async def test_what_is_not_there_is_said_to_be_missing(visit: Visit, path: str) -> None:
    assert "That did not work." in (await visit.open(path, 404)).text


async def test_an_address_puts_no_words_into_a_page_and_leads_nowhere_else(visit: Visit, told: Told) -> None:
    page = await visit.open("/?done=Your+password+expired")
    assert "password" not in page.text
    form = (await visit.open(f"/memory/{told[0]['port']}")).find_form("pin")
    answer = await visit.submit(form, back="//evil.example/")
    assert answer.headers["location"].startswith(f"{visit.keys.root}/memory/")


async def test_whatever_others_wrote_is_shown_as_text(settings: Settings, tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "<b onclick=alert(1)>shop"
    folder.mkdir()
    (folder / "<script>.md").write_text(f"# {EVIL}\n\nAbout the plan {EVIL}\n", encoding="utf-8")
    session = "<script>alert(4)</script>"
    with Memory.open(settings, folder, clock=clock) as memory:
        memory.index_path()
        said = Turn(uuid="1", role=Speaker.USER, text=f"The plan is {EVIL}", timestamp_ms=NOW)
        memory.add_turns(session, [said])
        one = memory.remember_fact(f"The plan is always {EVIL}", entities=[EVIL[:80]], session_id=session).id
        two = memory.remember_fact(f"The plan is never {EVIL}", session_id=session).id
        memory.relate("<img src=x>", [{"id": one}, {"id": two}], evidence=EVIL)
        memory.relate("updates", [{"id": one, "role": "subject"}, {"id": two, "role": "object"}], evidence=EVIL)
        gone = memory.remember_fact(f"The plan was {EVIL}").id
        memory.forget(gone, reason=EVIL)
    async with visit_viewer(settings, folder, clock) as visit:
        await visit.enter()
        paths = [
            "/", "/?q=plan", f"/?q={EVIL.replace('#', '').replace('&', '')}", f"/memory/{one}", f"/memory/{gone}",
            f"/graph/{one}", "/sessions", f"/session/{session.replace('/', '%2F')}", "/review?tab=replaced",
            "/review?tab=contradictions", "/review?tab=quarantine", "/timeline?kind=all", "/timeline?kind=forgotten",
        ]  # fmt: skip
        for path in paths:
            page = await visit.open(path)
            assert "alert(" in page.text, path
            _assert_harmless(visit, path)
        while "Counting" in (page := await visit.open("/state")).text:
            pass
        _assert_harmless(visit, "/state")


def _assert_harmless(visit: Visit, path: str) -> None:
    page = visit.pages[path]
    assert [made.get("src") for tag, made in page.elements if tag == "script"] == [f"{visit.keys.root}/assets/keys.js"]
    assert {made["src"] for tag, made in page.elements if tag == "img"} == {f"{visit.keys.root}/assets/icon.svg"}
    assert not any(name.startswith("on") for _, made in page.elements for name in made)
    assert all(address.startswith((f"{visit.keys.root}/", "#")) for address in page.addresses)
