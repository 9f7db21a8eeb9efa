"""Where two statements part: blocks, the frame around them, parts of the sentence, places."""

from __future__ import annotations

import pytest

from hyperloci.knowledge.contradictions.pair_features import measure_pair


def test_one_part_in_anothers_place_is_a_lone_block_with_its_frame() -> None:
    found = measure_pair("Delivery notes are printed in Oslo.", "Delivery notes are printed in Porto.")
    assert found["blocks_lone"] == 1
    assert found["blocks_at_end"] == found["blocks_linked"] == 1
    assert found["blocks_at_start"] == 0
    assert found["frame_begun"] == 5
    assert found["frame_old"] == found["frame_new"] == 1
    assert found["parts_common"] == found["parts_link"] == 1
    assert found["place_gap"] == 0


def test_another_subject_differs_at_the_start() -> None:
    found = measure_pair("The parser caches its files.", "The lexer caches its files.")
    assert found["blocks_at_start"] == found["parts_start"] == 1
    assert found["frame_ended"] == 2
    assert found["place_old"] == found["place_new"] == 0


def test_a_statement_with_more_to_say_has_something_put_in() -> None:
    found = measure_pair("Backups run nightly.", "Backups run nightly and are encrypted.")
    assert found["blocks_put_in"] == 1
    assert found["blocks_left_out"] == found["blocks_lone"] == 0
    assert found["place_old"] == -1
    assert found["parts_old_alone"] == 0


def test_numbered_things_are_told_apart_by_their_numbers() -> None:
    other = measure_pair("Kiln 1 bakes at 900 degrees.", "Kiln 2 bakes at 1100 degrees.")
    assert other["numbered_other_start"] == 1 and other["numbered_same"] == 0
    same = measure_pair("Kiln 1 bakes at 900 degrees.", "Kiln 1 bakes at 1100 degrees.")
    assert same["numbered_same"] == 1 and same["numbered_other_start"] == 0
    moved = measure_pair("We bake in kiln 1.", "We bake in kiln 2.")
    assert moved["numbered_other"] == 1 and moved["numbered_other_start"] == 0


@pytest.mark.parametrize("text", ["", "the", "?!", "now " * 400])
def test_what_has_no_words_or_very_many_is_measured_too(text: str) -> None:
    for old, new in ((text, "We use Git."), ("We use Git.", text), (text, text)):
        assert all(-1 <= value <= 8 for name, value in measure_pair(old, new).items() if name.startswith("blocks"))
