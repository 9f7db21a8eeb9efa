"""The archive's files: appended whole, read by place, blanked where text must go."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import NotFoundError, StoreCorruptError, StoreError
from hyperloci.model.pyramid import ArchivePlace
from hyperloci.store.archive.chunk_archive import Archive, ArchiveUsage
from tests.support import examples

DAY = "2026-11-21"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.for_database(tmp_path / "memory.db")


def line(name: str, *texts: str) -> dict[str, object]:
    return {"chunk": name, "turns": [{"id": f"{name}-{place}", "text": text} for place, text in enumerate(texts)]}


def stored(archive: Archive) -> list[dict[str, object]]:
    """Read a day as `zstd -dc` would."""
    data = (archive.folder / f"{DAY}.jsonl.zst").read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
        return [json.loads(row) for row in reader.read().decode().splitlines()]


@pytest.mark.req("C.01", "C.07")
def test_a_day_is_json_lines_that_any_zstd_reads_and_each_chunk_is_read_alone(archive: Archive) -> None:
    first = archive.append_lines(DAY, [line("a", "one", "two"), line("b", "three")])
    second = archive.append_lines(DAY, [line("c", "four\n\ud800¶")], known_end=first[-1].offset + first[-1].length)
    assert [row["chunk"] for row in stored(archive)] == ["a", "b", "c"]
    assert [archive.read_line(place)["chunk"] for place in (*first, *second)] == ["a", "b", "c"]
    assert archive.read_line(second[0]) == line("c", "four\n\ud800¶")
    assert archive.measure_usage() == ArchiveUsage(second[0].offset + second[0].length, days=1, oldest=DAY)


@pytest.mark.skipif(os.name != "posix", reason="file modes as POSIX has them")
def test_the_archive_is_private_to_the_user(archive: Archive) -> None:
    archive.append_lines(DAY, [line("a", "one")])
    assert stat.S_IMODE(archive.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((archive.folder / f"{DAY}.jsonl.zst").stat().st_mode) == 0o600


@given(kept=st.integers(0, 200), known=st.booleans())
@settings(max_examples=examples(50))
def test_what_a_dying_process_left_is_cut_off_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, kept: int, known: bool
) -> None:
    archive = Archive(tmp_path_factory.mktemp("archive"))
    [place] = archive.append_lines(DAY, [line("a", "one")])
    [torn] = archive.append_lines(DAY, [line("b", "two")])
    path = archive.folder / f"{DAY}.jsonl.zst"
    path.write_bytes(path.read_bytes()[: torn.offset + min(kept, torn.length - 1)])
    archive.append_lines(DAY, [line("c", "three")], known_end=torn.offset if known else 0)
    assert archive.read_line(place) == line("a", "one")
    assert [row["chunk"] for row in stored(archive)] == ["a", "c"]


@pytest.mark.req("C.07")
@given(place=st.integers(0, 2), byte=st.integers(0, 10_000))
@settings(max_examples=examples(50))
def test_a_damaged_chunk_costs_itself_alone(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int) -> None:
    archive = Archive(tmp_path_factory.mktemp("archive"))
    names = ["a", "b", "c", "d"]
    places = archive.append_lines(DAY, [line(name, f"the secret word of {name}") for name in names])
    path = archive.folder / f"{DAY}.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[places[place].offset + byte % places[place].length] ^= 0xFF
    path.write_bytes(bytes(data) + b"what a dying process left")
    archive.append_lines(DAY, [line("e", "later")], known_end=places[-1].offset + places[-1].length)
    whole = [found for found in places if found is not places[place]]
    assert [archive.read_line(found)["chunk"] for found in whole] == [n for n in names if n != names[place]]
    assert archive.blank_turns(["d-0"]) == 1
    assert archive.read_line(places[3])["turns"] == [None]


@pytest.mark.req("C.07")
def test_no_damage_of_one_bit_leaves_a_turn_readable_after_a_purge_or_holds_it_up(archive: Archive) -> None:
    names = ["a", "b"]
    places = archive.append_lines(DAY, [line(name, f"the secret word of {name}") for name in names])
    path = archive.folder / f"{DAY}.jsonl.zst"
    whole = path.read_bytes()
    for bit in range(0, 8 * places[0].length, 5):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        archive.blank_turns(["a-0", "b-0"])
        assert archive.read_line(places[1])["turns"] == [None]
        with contextlib.suppress(StoreCorruptError):
            assert archive.read_line(places[0])["turns"] == [None]


def test_a_frame_that_was_written_whole_but_never_noted_stays(archive: Archive) -> None:
    [place] = archive.append_lines(DAY, [line("a", "one")])
    archive.append_lines(DAY, [line("b", "two")])
    archive.append_lines(DAY, [line("c", "three")], known_end=place.offset + place.length)
    assert [row["chunk"] for row in stored(archive)] == ["a", "b", "c"]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.data())
@settings(max_examples=examples(60))
def test_a_turn_is_blanked_and_every_other_byte_of_text_stays(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    archive = Archive(tmp_path_factory.mktemp("archive"))
    ids = [f"{place:08x}-1c3b-4f{place:02x}-9d5e-{place * 7919:012x}" for place in range(len(texts))]
    whole = {"chunk": "a", "turns": [{"id": id, "text": text} for id, text in zip(ids, texts, strict=True)]}
    places = archive.append_lines(DAY, [whole, line("b", "two")])
    gone = data.draw(st.sampled_from(range(len(texts))))
    assert archive.blank_turns([ids[gone]]) == 1
    left = [turn["text"] if turn else None for turn in archive.read_line(places[0])["turns"]]
    assert left == [None if place == gone else text for place, text in enumerate(texts)]
    assert archive.read_line(places[1]) == line("b", "two")
    assert archive.blank_turns([ids[gone]]) == 0
    [after] = archive.append_lines(DAY, [line("c", "three")])
    assert archive.read_line(after)["chunk"] == "c"


def test_text_is_blanked_wherever_it_was_archived(archive: Archive) -> None:
    places = [archive.append_lines(day, [line("a", "the secret word", "x")])[0] for day in (DAY, "2026-11-22")]
    assert archive.blank_turns({"a-0"}) == 2
    assert [archive.read_line(place)["turns"][0] for place in places] == [None, None]


def test_an_archive_that_is_gone_or_damaged_says_so(archive: Archive) -> None:
    [place] = archive.append_lines(DAY, [line("a", "one" * 50)])
    with pytest.raises(NotFoundError, match="archive of 2020-01-01 is gone"):
        archive.read_line(ArchivePlace("2020-01-01", 0, 10))
    path = archive.folder / f"{DAY}.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[place.length - 40] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(StoreCorruptError, match="is damaged at byte 0"):
        archive.read_line(place)


def test_a_file_that_cannot_be_written_is_told_and_nothing_is_claimed(archive: Archive) -> None:
    archive.append_lines(DAY, [line("a", "one")])
    (archive.folder / "2026-11-22.jsonl.zst").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        archive.append_lines("2026-11-22", [line("b", "two")])


def test_a_day_is_dropped_whole(archive: Archive) -> None:
    archive.append_lines(DAY, [line("a", "one")])
    archive.drop_day(DAY)
    archive.drop_day(DAY)
    assert archive.list_days() == []
