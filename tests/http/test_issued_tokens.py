"""Tokens that the server gives people: made once, kept as a hash, named by a short id."""

from __future__ import annotations

import pytest

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.http.issued_tokens import DAY_MS, PREFIX, create_token, revoke_token
from hyperloci.memory import Memory
from hyperloci.text.sanitize.sanitizer import sanitize
from tests.http.conftest import HttpHouse
from tests.support import NOW


def test_a_token_lies_nowhere_on_the_disk(house: HttpHouse) -> None:
    _, token = house.give_token()
    folder = house.served.settings.database.parent
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert token.encode() not in kept
    assert token.removeprefix(PREFIX).encode() not in kept


def test_a_token_that_is_told_to_a_memory_is_redacted(house: HttpHouse) -> None:
    _, token = house.give_token()
    assert token not in sanitize(f"The token of the server is {token}, keep it.").text


def test_a_token_lasts_as_long_as_agreed(memory: Memory) -> None:
    brief, _ = create_token(memory.store, "guest", may_write=True, days=2, now=NOW)
    lasting, _ = create_token(memory.store, "laptop", may_write=True, days=None, now=NOW)
    assert brief.is_valid_at(NOW + 2 * DAY_MS - 1)
    assert not brief.is_valid_at(NOW + 2 * DAY_MS)
    assert lasting.is_valid_at(NOW + 10_000 * DAY_MS)


@pytest.mark.parametrize("person", ["", "  ", "<>", "x" * 201, "a\x1b[31mb", "a\u202eb"])
def test_a_holder_has_a_name_that_can_be_read(memory: Memory, person: str) -> None:
    with pytest.raises(BadRequestError, match="name"):
        create_token(memory.store, person, may_write=True, days=None, now=NOW)


def test_revoking_takes_the_beginning_of_an_id_that_only_one_has(memory: Memory) -> None:
    one, _ = create_token(memory.store, "ada", may_write=True, days=None, now=NOW)
    create_token(memory.store, "bob", may_write=True, days=None, now=NOW)
    with pytest.raises(NotFoundError, match="2 tokens have"):
        revoke_token(memory.store, "", now=NOW)
    with pytest.raises(NotFoundError, match="no token has"):
        revoke_token(memory.store, "zz", now=NOW)
    revoke_token(memory.store, one.id, now=NOW)
    assert [grant.revoked for grant in memory.store.access_tokens.list_grants() if grant.id == one.id] == [NOW]
