"""Authors: people as Git writes them."""

from __future__ import annotations

import pytest

from hyperloci.model.author import Author, Signature, is_same_author, make_author, parse_author
from hyperloci.model.kinds import NodeType, Origin


def test_a_person_is_read_as_git_writes_people() -> None:
    assert parse_author("Ada Lovelace <Ada@Example.com>") == Author("ada@example.com", "Ada Lovelace")
    assert str(parse_author("Ada Lovelace <ada@example.com>")) == "Ada Lovelace <ada@example.com>"


def test_a_name_alone_is_its_own_id() -> None:
    assert parse_author("Ada") == Author("ada", "Ada")
    assert parse_author(str(parse_author("Ada"))) == parse_author("Ada")


def test_the_address_tells_people_apart_and_the_name_does_not() -> None:
    assert is_same_author("Ada <ada@example.com>", "A. Lovelace <ADA@example.com>")
    assert not is_same_author("Ada <ada@example.com>", "Ada <ada@example.org>")
    assert not is_same_author(None, None)


def test_what_would_break_the_form_is_left_out_of_a_name() -> None:
    assert (
        str(make_author("Ada <root@evil>\nLovelace", "ada@example.com")) == "Ada root@evil Lovelace <ada@example.com>"
    )


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nobody_is_no_author(text: str) -> None:
    with pytest.raises(ValueError, match="name or an id"):
        parse_author(text)


def test_a_signature_signs_what_the_person_said_and_nothing_of_others() -> None:
    signature = Signature(lambda: "Ada <ada@example.com>", "codex")
    assert signature.author_of(NodeType.FACT, Origin.TOOL) == "Ada <ada@example.com>"
    assert signature.agent_of(NodeType.FACT, Origin.TOOL) == "codex"
    for origin in (Origin.CODE, Origin.MARKDOWN, Origin.COMMIT, Origin.TEAMMATE):
        assert signature.author_of(NodeType.FACT, origin) is None
        assert signature.agent_of(NodeType.FACT, origin) is None
    assert signature.author_of(NodeType.ENTITY, Origin.TOOL) is None
