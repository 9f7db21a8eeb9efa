"""Random ids are UUIDs."""

from __future__ import annotations

import uuid

from hyperloci.system.random_ids import make_random_id


def test_a_random_id_is_a_uuid_of_version_four_in_its_usual_form() -> None:
    made = {make_random_id() for _ in range(200)}
    assert len(made) == 200
    for one in made:
        read = uuid.UUID(one)
        assert (str(read), read.version, read.variant) == (one, 4, uuid.RFC_4122)
