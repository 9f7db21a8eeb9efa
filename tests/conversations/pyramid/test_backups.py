"""Backups hold the database alone: what they know of the archive must be there when they are put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.pyramid.chunk_expansion import expand_chunk
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.integrity import count_unreadable_turns, count_violations
from hyperloci.store.restore import restore_backup
from tests.cli.helpers import invoke
from tests.conversations.pyramid.conftest import Talk, is_long, text_of


def put_back(talk: Talk, backup: Path) -> None:
    """Put a backup in the place of the database that is open."""
    restore_backup(backup, talk.store.path, clock=talk.clock)


def expanded(talk: Talk) -> list[str]:
    """Return what the micro-chunks expand to, every turn of which must be whole."""
    turns = [turn for chunk in talk.chunks(PyramidLevel.MICRO) for turn in expand_chunk(talk.store, chunk.id).turns]
    assert all(turn.whole for turn in turns)
    return [turn.content for turn in turns]


@pytest.mark.req("C.01", "C.07")
def test_a_backup_that_is_put_back_has_every_text_whatever_was_archived_since(talk: Talk, tmp_path: Path) -> None:
    talk.say(130)
    talk.build()
    backup = talk.store.back_up(tmp_path / "backup.db")
    talk.say(120)
    talk.build()
    talk.clock.advance(MS_PER_DAY)
    talk.say(120)
    talk.build()
    archive = Archive.for_database(talk.store.path)
    assert len(archive.list_days()) == 2
    put_back(talk, backup)
    del talk.said[130:]
    assert talk.texts() == talk.said
    assert expanded(talk) == talk.said[: len(expanded(talk))]

    talk.say(120)
    talk.build()
    assert talk.texts() == talk.said
    assert expanded(talk) == talk.said[: len(expanded(talk))]
    assert (count_violations(talk.store), count_unreadable_turns(talk.store)) == ({}, 0)


@pytest.mark.req("C.01")
def test_a_backup_of_texts_whose_time_is_over_has_their_beginnings_and_upkeep_takes_note(
    talk: Talk, tmp_path: Path
) -> None:
    talk.say(130)
    talk.build()
    backup = talk.store.back_up(tmp_path / "backup.db")
    talk.clock.advance(92 * MS_PER_DAY)
    assert talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 10
    put_back(talk, backup)
    beginnings = talk.texts()
    assert all(said.startswith(text.removesuffix(" [...]")) for text, said in zip(beginnings, talk.said, strict=True))
    assert count_unreadable_turns(talk.store) == sum(is_long(number) for number in range(100))

    assert talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 10
    assert (count_violations(talk.store), count_unreadable_turns(talk.store)) == ({}, 0)
    assert talk.texts() == beginnings
    assert talk.builder(cold_retention_days=90).expire_archives(talk.clock()) == 0


@pytest.mark.req("C.01", "C.07")
def test_a_backup_of_another_machine_never_shows_what_this_one_archived_that_day(
    talk: Talk, settings: Settings, tmp_path: Path
) -> None:
    talk.say(130, text=lambda number: text_of(number).replace("Turn", "Elsewhere"))
    talk.build()
    with Store.open(tmp_path / "other" / "memory.db", clock=talk.clock) as store:
        other = Talk(store, settings, talk.clock)
        other.say(130)
        other.build()
        backup = store.back_up(tmp_path / "backup.db")
    assert Archive.for_database(store.path).list_days() == Archive.for_database(talk.store.path).list_days()
    put_back(talk, backup)
    beginnings = talk.texts()
    assert all(said.startswith(text.removesuffix(" [...]")) for text, said in zip(beginnings, other.said, strict=True))
    assert count_unreadable_turns(talk.store) == sum(is_long(number) for number in range(100))


@pytest.mark.req("C.01", "C.07")
def test_who_copies_and_restores_a_backup_is_told_of_texts_that_are_not_in_it(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def hyperloci(*arguments: str) -> str:
        return " ".join(invoke(*arguments).output.split())

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("HYPERLOCI_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("RLM_MEMORY_DB", str(talk.store.path))
    backup, project = str(tmp_path / "backup.db"), str(tmp_path)
    talk.say(30)
    talk.build()
    assert "not in it" not in hyperloci("backup", backup, "--project", project)
    talk.say(100)
    talk.build()
    archive = Archive.for_database(talk.store.path).folder
    assert f"old conversations, in {archive}" in hyperloci("backup", backup, "--project", project)
    assert "only the beginning" not in hyperloci("restore-backup", backup, "--yes")

    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "elsewhere.db"))
    told = hyperloci("restore-backup", backup, "--yes")
    assert f"of {sum(is_long(number) for number in range(100))} turns of old conversations only the beginning" in told
    assert f"not in {tmp_path / 'elsewhere-archive'}" in told
    # Nor is each of them told of besides.
    assert "can't be read" not in caplog.text
