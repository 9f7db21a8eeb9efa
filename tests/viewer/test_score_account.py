"""How a page tells a hit's score."""

from __future__ import annotations

from dataclasses import replace

from hyperloci.memory import Memory
from hyperloci.viewer.score_account import account_for_score


def test_the_account_adds_up_to_the_score_and_names_every_space_that_saw_the_memory(memory: Memory) -> None:
    memory.remember_fact("The checkout reads its tax rates from a cache.")
    memory.remember_fact("Berlin has a river.")
    hit = memory.search("tax rates cache", explain=True, reinforce=False).results[0]
    account = account_for_score(hit)
    assert account is not None
    assert account.factor is not None
    assert abs(account.total * account.factor - hit.score) < 1e-3
    assert abs(sum(share.added for share in account.shares) - account.total) < 1e-6
    assert [share.added for share in account.shares] == sorted((s.added for s in account.shares), reverse=True)
    assert "exact words" in [share.title for share in account.shares]


def test_what_its_commits_added_stands_beside_the_spaces_and_counts_in_the_total(memory: Memory) -> None:
    memory.remember_fact("The checkout reads its tax rates from a cache.")
    hit = memory.search("tax rates cache", explain=True, reinforce=False).results[0]
    assert hit.explain is not None
    parts = {**hit.explain["parts"], "commits": 0.25, "nearby_code": 0.5}
    account = account_for_score(replace(hit, explain={**hit.explain, "parts": parts}))
    assert account is not None
    assert account.beside == (("nearby code", 0.5), ("commits", 0.25))
    assert abs(account.total - sum(parts.values())) < 1e-9
    assert account.factor == hit.explain["factor"]


def test_what_was_listed_has_no_account(memory: Memory) -> None:
    memory.remember_fact("The checkout reads its tax rates from a cache.")
    hit = memory.search("tax rates", explain=True, reinforce=False).results[0]
    assert account_for_score(replace(hit, explain=None)) is None
