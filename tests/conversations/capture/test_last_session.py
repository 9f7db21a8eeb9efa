"""Where the last session stood: its request, what was done, what changed, and what is left."""

from __future__ import annotations

import pytest

from hyperloci.clock import to_iso
from hyperloci.conversations.capture.last_session import MAX_DONE, read_commit
from hyperloci.conversations.capture.sessions import ACTIVE_FOR_MS
from hyperloci.model.record import CaptureKind
from tests.conversations.capture._house import NOW, PROJECT, House

HOUR = 3_600_000


def talk(house: House, *turns: str, session: str = "old", at: int = NOW - HOUR) -> None:
    """Play turns: `u` the user's, `a` the assistant's, `t` a tool's."""
    for number, turn in enumerate(turns):
        who, _, text = turn.partition(": ")
        when = at + number * 1_000
        if who == "t":
            house.act(text, session, at=when)
        else:
            house.tell(CaptureKind.PROMPT if who == "u" else CaptureKind.TURNS, text, session, when)


def section(text: str) -> dict[str, list[str]]:
    """Return the lines about the last session by their first words."""
    found: dict[str, list[str]] = {}
    for line in text.partition("The last session")[2].splitlines():
        if line.startswith("- "):
            head, _, told = line[2:].partition(": ")
            word = head if head in ("commits", "files changed") else head.rpartition(" ")[0]
            found.setdefault(word, []).append(told)
    return found


def test_a_session_that_starts_a_second_later_knows_what_the_last_one_was_for_and_did(house: House) -> None:
    talk(
        house,
        "u: hi",
        "a: Hello! What can I do?",
        "u: The importer loses its place when it is killed. Make it resume.",
        "a: I'll look at the reader first.",
        "t: Edit src/importer.py: +12 -3 lines",
        "a: Fixed: it keeps a mark in `marks.json` after each file.",
        "u: thanks, commit",
        't: Bash: git add -A && git commit -m "Importer: resume at the last mark"',
        "a: Committed.",
    )
    house.tell(CaptureKind.ENDED, "other", "old", NOW - HOUR + 60_000)
    told = section(house.start(session="new"))
    assert told == {
        "asked": ['"The importer loses its place when it is killed. Make it resume."'],
        "done": ['"Fixed: it keeps a mark in `marks.json` after each file."'],
        "commits": ['"Importer: resume at the last mark"'],
    }


def test_files_that_were_edited_are_named_once_each(house: House) -> None:
    talk(house, "u: Make the importer resume where it stopped.")
    for number, path in enumerate(["src/importer.py", "tests/test_importer.py", "src/importer.py"]):
        house.act(f"Edit {path}: +1 -{number} lines", "old", at=NOW - HOUR + 9_000 + number, path=path)
    assert section(house.start(session="new"))["files changed"] == ['"src/importer.py", "tests/test_importer.py"']


def test_what_was_done_is_told_by_the_sentences_that_say_so(house: House) -> None:
    talk(
        house,
        "u: Let us look at the flaky upload test.",
        "a: Flakiness often comes from shared state. You could isolate each test.",
        "a: I'll run it a hundred times.",
        "a: Shall I also look at the download?",
        "a: Replaced the shared clock by one per test in `conftest.py`.",
    )
    told = section(house.start(session="new"))
    assert told["done"] == ['"Replaced the shared clock by one per test in `conftest.py`."']


def test_a_session_of_few_words_is_told_by_its_last_ones(house: House) -> None:
    talk(house, "u: Make the build green.", "a: The build is green again.")
    assert section(house.start(session="new"))["done"] == ['"The build is green again."']


@pytest.mark.req("B.09")
def test_offers_explanations_and_code_are_not_told_as_what_was_done(house: House) -> None:
    talk(
        house,
        "u: The page of results is slow, please look why",
        "t: Bash: python -m cProfile search.py",
        "a: Each hit asks the catalogue for its availability: 24 requests, one after another.",
        "u: and with bootstrap 5, would that help?",
        "a: No. Bootstrap 5 could be replaced with Tailwind. It has a smaller style sheet. Options: A) keep, B) move.",
        "u: keep it",
        "t: Edit src/hits.py: +9 -4 lines",
        "a: The availability of all hits is now asked in one request; the page takes 90 ms instead of 2.9 s.",
    )
    told = section(house.start(session="new"))
    assert told.pop("found") == ['"Each hit asks the catalogue for its availability: 24 requests, one after another."']
    assert told.pop("done") == [
        '"The availability of all hits is now asked in one request; the page takes 90 ms instead of 2.9 s."'
    ]
    assert set(told) == {"asked"}


@pytest.mark.req("B.09")
def test_what_a_session_was_for_is_the_longest_prompt_before_anything_was_done(house: House) -> None:
    request = "since monday robots are declared lost all the time, find out why and stop it"
    talk(
        house,
        "u: bonsoir, night shift here",
        "a: Good evening!",
        f"u: {request}",
        "t: Bash: mix test",
        "a: The mailbox of each robot was full of database writes.",
        "u: thanks. now please write the whole story of this evening into the runbook so that the day shift knows it",
    )
    assert section(house.start(session="new"))["asked"] == [f'"{request}"']


def test_a_long_session_is_told_in_a_few_lines(house: House) -> None:
    talk(
        house,
        "u: Port the tests to the new runner.",
        *(f"a: Fixed the test of shard {n} in a_{n}.py." for n in range(30)),
    )
    assert len(section(house.start(session="new"))["done"]) == MAX_DONE


def test_nothing_that_was_done_is_told_twice(house: House) -> None:
    talk(house, "u: Port the tests.", "a: Ported and pushed the tests to `main`.", "u: ok", "u: sure?", "u: really?")
    house.tell(CaptureKind.TURNS, "Ported and pushed the tests to `main`.", "old", NOW - HOUR + 30 * 60_000)
    assert len(section(house.start(session="new"))["done"]) == 1


@pytest.mark.parametrize(
    ("last", "word", "told"),
    [
        ("a: The schema is ready. Shall I apply it to staging?", "open question", '"Shall I apply it to staging?"'),
        (
            "u: why does the upload hang at the last chunk?",
            "not answered",
            '"why does the upload hang at the last chunk?"',
        ),
        ("t: Bash: pytest -q (exit 1): 3 failed", "failed at the end", '"Bash: pytest -q (exit 1): 3 failed"'),
        (
            "a: The parser is done. The error messages for nested lists are still missing.",
            "left (assistant)",
            '"The error messages for nested lists are still missing."',
        ),
        (
            "u: Left for tomorrow: escapes in strings, the error messages.",
            "left (user)",
            '"Left for tomorrow: escapes in strings, the error messages."',
        ),
        ("u: thats it for today. tmrw: the eta endpoint", "left (user)", '"tmrw: the eta endpoint"'),
    ],
)
def test_what_the_session_ended_on_is_told(house: House, last: str, word: str, told: str) -> None:
    talk(house, "u: Write the parser of nested lists.", "a: I wrote the parser.", last)
    assert section(house.start(session="new"))[word] == [told]


LEFT = "What is still missing is a measurement of the timeout on the board."


def test_what_is_left_was_not_done(house: House) -> None:
    talk(house, "u: Why does precharge time out?", "t: Bash: make test", f"a: {LEFT}")
    talk(house, "u: ok", "t: Edit bus.c: +1 -1 lines", "a: Fixed the header of `bus.c`.", at=NOW - HOUR + 60_000)
    told = section(house.start(session="new"))
    assert told["done"] == ['"Fixed the header of `bus.c`."']
    assert told["left (assistant)"] == [f'"{LEFT}"']


def test_what_was_done_is_told_though_it_names_what_was_left_before(house: House) -> None:
    done = "Fixed the reader: it tries five times now, and the tests of the writer are green."
    talk(house, "u: Make the importer try again.", f"a: {done}")
    assert section(house.start(session="new"))["done"] == [f'"{done}"']


def test_a_short_session_that_ends_on_what_is_left_says_it_as_left_not_as_done(house: House) -> None:
    left = "The migration for invoice numbers is still open."
    earlier = "The migration for the archive of old numbers is still missing."
    looked = "t: Bash: git log --oneline"
    talk(house, "u: Number the invoices.", looked, f"a: {earlier}", "u: Where were we?", looked, f"a: {left}")
    told = section(house.start(session="new"))
    assert "done" not in told
    assert told["left (assistant)"] == [f'"{earlier}"', f'"{left}"']


def test_what_was_left_and_then_done_in_the_same_session_is_not_left(house: House) -> None:
    done = "Measured the timeout on the board: 40 ms, so the resistor is fine."
    looked = "t: Bash: python measure.py"
    talk(house, "u: Why does precharge time out?", looked, f"a: {LEFT}", "u: measure it", looked, f"a: {done}")
    told = section(house.start(session="new"))
    assert told["done"] == [f'"{done}"']
    assert "left (assistant)" not in told


def test_what_is_left_of_what_was_done_before_it_stays_left(house: House) -> None:
    left = "The root cause of the second timeout is still open."
    talk(house, "u: Why does precharge time out?", "a: Found the root cause: the ADC drifts.", "u: and?", f"a: {left}")
    assert section(house.start(session="new"))["left (assistant)"] == [f'"{left}"']


@pytest.mark.parametrize("last", ["u: thanks, bye!", "u: good night", "t: Bash: pytest -q", "a: See you tomorrow."])
def test_a_good_bye_leaves_nothing_open(house: House, last: str) -> None:
    wrote = "t: Write src/parser.py: 40 lines", "a: Added the parser of nested lists."
    talk(house, "u: Write the parser of nested lists.", *wrote, last)
    assert set(section(house.start(session="new"))) == {"asked", "done"}


def test_a_session_that_may_run_in_another_window_says_so_until_it_ends(house: House) -> None:
    talk(house, "u: Make the importer resume.", "a: Fixed: it keeps a mark.", at=NOW - 60_000)
    assert house.capture.prepare_opening(PROJECT)
    day = to_iso(NOW - 60_000)[:10]
    assert f"The last session ({day}, may still run):" in house.start(session="other window")
    opening = house.store.openings.get_opening(PROJECT)
    assert opening is not None and opening.holds_until == NOW - 60_000 + 1_000 + ACTIVE_FOR_MS
    house.tell(CaptureKind.ENDED, "other", "old", NOW)
    assert "may still run" not in house.start(session="third window")


def test_a_session_whose_end_nobody_told_runs_no_more_after_a_while(house: House) -> None:
    talk(house, "u: Make the importer resume.", "a: Fixed: it keeps a mark.", at=NOW - ACTIVE_FOR_MS - 1_000)
    text = house.start(session="new")
    assert "The last session" in text and "may still run" not in text


def test_a_session_in_which_nothing_was_said_is_not_the_last_one(house: House) -> None:
    talk(house, "u: Write the parser of nested lists.", "a: I wrote the parser of lists.")
    house.start(session="opened and closed", at=NOW - 10)
    assert section(house.start(session="new"))["asked"] == ['"Write the parser of nested lists."']


def test_a_resumed_session_is_not_told_again_of_the_last_one(house: House) -> None:
    talk(house, "u: Write the parser of nested lists.", 't: Bash: git commit -m "Parser of lists"', "a: Committed it.")
    house.act("Edit src/parser.py: +1 -0 lines", "old", at=NOW - HOUR + 60_000, path="src/parser.py")
    assert "src/parser.py" in house.start(session="new")
    assert house.start("resume", session="new", at=NOW + 10) == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('Bash: git commit -m "Fix the lock"', "Fix the lock"),
        ("Bash: git commit -am 'Fix the lock' && git push", "Fix the lock"),
        ("Bash: git commit -m \"$(cat <<'EOF' Fix the lock EOF )\"", "Fix the lock"),
        ("Bash: git commit --amend --no-edit", ""),
        ('Bash: git commit -m "Fix the lock" (exit 1): nothing to commit', ""),
        ("Bash: git log -m", ""),
        ('Bash: echo -m "no"', ""),
    ],
)
def test_a_commits_message_is_read_from_its_command(line: str, message: str) -> None:
    assert read_commit(line) == message


def test_what_stands_among_the_memories_is_not_told_again_as_the_request(house: House) -> None:
    asked = "Switch the readings to MQTT, half of the files are cut off when we read them by FTP"
    house.tell(CaptureKind.PROMPT, asked, "before", at=NOW - 1_000)
    house.say("decision", asked)
    text = house.start()
    assert text.count("Switch the readings to MQTT") == 1 and "Decisions" in text


def test_a_request_of_which_nothing_holds_any_longer_says_so(house: House) -> None:
    asked = house.prompt("We write the handbook with MkDocs from now on.", "old")
    made = house.say("decision", asked.content)
    house.join("derived_from", made, asked)
    house.end(made)
    assert set(section(house.start(session="new"))) == {"asked, no longer holds,"}
