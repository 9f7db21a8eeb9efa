"""`hyperloci purge`: asks first, says what it did, and leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

from hyperloci.store import Store
from hyperloci.store.access.access_values import AccessEvent
from tests.cli.helpers import invoke, remember, run
from tests.support import NOW

UNIQUE = "zqxunmistakable"


def bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).lower()


def test_it_asks_shows_what_it_is_about_and_takes_no_for_an_answer(home: Path) -> None:
    fact = remember(f"The {UNIQUE} runs at night.")
    refused = invoke("purge", fact, stdin="n\n")
    assert refused.exit_code == 1
    assert UNIQUE in refused.stderr
    assert UNIQUE.encode() in bytes_below(home)


def test_after_a_yes_no_byte_of_it_is_left(home: Path) -> None:
    fact = remember(f"The {UNIQUE} runs at night.")
    backups = home / ".claude" / "hyperloci" / "backups"
    backups.mkdir(parents=True)
    assert invoke("backup", str(backups / "memory-v1-1.db")).exit_code == 0
    done = invoke("purge", fact, stdin="y\n")
    assert done.exit_code == 0, done.output
    assert f"1 purged: {fact[:8]}" in done.stdout
    assert "removed from the backup" in done.stdout
    assert UNIQUE.encode() not in bytes_below(home)
    again = invoke("show", fact)
    assert again.exit_code == 1
    assert "nothing is left" in again.stderr


def test_who_was_shown_it_is_still_told_by_its_id(home: Path) -> None:
    fact = remember(f"The {UNIQUE} runs at night.")
    call = AccessEvent(
        at=NOW, person="Ada", token_id=None, client="c", tool="search_memory", outcome="done", memories=(fact,)
    )
    with Store.open(home / "memory.db") as store, store.transaction():
        store.access_log.append_events([call])
    run("purge", fact, "--yes")
    for id in (fact, fact[:8]):
        assert [event["person"] for event in json.loads(run("audit", "--memory", id, "--json"))] == ["Ada"]


def test_a_program_reads_json_and_need_not_answer(home: Path) -> None:
    facts = [remember(f"The {UNIQUE} runs at night."), remember(f"The {UNIQUE} runs at noon.")]
    done = invoke("purge", *facts, "--yes", "--json")
    assert json.loads(done.stdout)["ids"] == facts
    assert UNIQUE.encode() not in bytes_below(home)


def test_what_may_still_hold_it_is_named_and_the_exit_code_says_so(home: Path) -> None:
    fact = remember(f"The {UNIQUE} runs at night.")
    copy = remember(f"I was told: The {UNIQUE} runs at night.")
    backups = home / ".claude" / "hyperloci" / "backups"
    backups.mkdir(parents=True)
    (backups / "broken.db").write_bytes(b"no database")
    done = invoke("purge", fact, "--yes")
    assert done.exit_code == 3
    assert copy in done.stderr
    assert "broken.db" in done.stderr


def test_an_id_of_nothing_fails_and_purges_nothing(home: Path) -> None:
    fact = remember(f"The {UNIQUE} runs at night.")
    done = invoke("purge", fact, "nope", "--yes")
    assert done.exit_code == 1
    assert "nope" in done.stderr
    assert UNIQUE.encode() in bytes_below(home)
