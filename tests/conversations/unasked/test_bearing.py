"""What bears on a request, with the bundled model and the learned map."""

from __future__ import annotations

import json

import numpy as np

from hyperloci.config import Settings
from hyperloci.conversations.unasked.bearing import MAP_FILE, BearingMap, move_request, pack_map, read_map
from hyperloci.embedder.models.profile_models import load_light_encoder

# Written after the map was learned: what decides stands first, then what is only of the same subject.
CASES = {
    "bump lodash in the lockfile": (
        "every third-party update waits a week on staging",
        "the file picker is written in plain javascript",
    ),
    "shove it onto main": ("nobody but Ravi pushes without a second pair of eyes", "the main menu has five entries"),
    "wipe the orders from last tuesday": (
        "rows are never removed, we book the opposite",
        "orders are listed newest first since last spring",
    ),
    "write the commit": ("messages start with the ticket number", "the writer thread flushes every second"),
    "add a spinner next to the save button": (
        "no animation anywhere, half of them get seizures",
        "saving goes through the outbox first",
    ),
    "let's cache the price list": (
        "tried to keep answers in memory, stale for a day, never again",
        "prices are integers in cents",
    ),
    "ship 2.3 this afternoon": ("nothing goes out after lunch on a friday", "2.3 renames the flags"),
    "put up a test for the parser": (
        "fixtures live in testdata, one folder a case",
        "the parser is a hand-written descent",
    ),
    "log the customer's answer when it fails": (
        "no personal data leaves the process, not even in debug",
        "answers are retried three times",
    ),
}


def test_what_decides_bears_more_on_most_requests_than_what_is_nearer(settings: Settings) -> None:
    encoder = load_light_encoder(settings)
    nearer = bears = 0
    for asked, (decides, distracts) in CASES.items():
        request, right, wrong = encoder.encode([asked, decides, distracts])
        moved = move_request(encoder.model_id, request)
        assert moved is not None
        nearer += bool(request @ right > request @ wrong)
        bears += bool(moved @ right > moved @ wrong)
    assert (nearer, bears) == (2, 8)


def test_vectors_of_another_model_are_not_moved(settings: Settings) -> None:
    encoder = load_light_encoder(settings)
    vector = encoder.encode(["shove it onto main"])[0]
    assert move_request("other-model@1/384", vector) is None
    assert move_request(f"{encoder.model_id.partition('+')[0]}+e12", vector) is not None


def test_a_map_is_read_as_it_was_packed() -> None:
    chance = np.random.default_rng(3)
    learned = BearingMap("model", *(chance.normal(size=(8, 3)).astype(np.float32) for _ in range(2)))
    stored = json.loads(pack_map(learned))
    assert (stored["model"], stored["rank"]) == ("model", 3)
    assert json.loads(pack_map(read_map())) == json.loads(MAP_FILE.read_text(encoding="utf-8"))
