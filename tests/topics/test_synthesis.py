"""From clusters in each space to topics that the spaces agree on."""

from __future__ import annotations

import numpy as np
import pytest

from hyperloci.model.topic import AGREEMENT_NEEDED, MAX_AGREEMENT, TOPIC_WEIGHTS
from hyperloci.topics.synthesis import Labels, TopicCluster, merge_clusters
from hyperloci.topics.views import SpaceView, normalise_rows

EACH = 10


def view(space: str, owners: Labels, *, seed: int = 0, noise: float = 0.1) -> SpaceView:
    """Return a space in which memories of one owner lie together; -1 lies anywhere."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((int(owners.max()) + 1, 128))
    rows = np.where(owners[:, None] >= 0, centres[owners], generator.standard_normal((len(owners), 128)))
    rows = rows + noise * generator.standard_normal(rows.shape)
    matrix = normalise_rows(rows - rows.mean(axis=0))
    return SpaceView(space, matrix, np.ones(len(owners), np.bool_))


def agreed(spaces: dict[str, Labels]) -> list[TopicCluster]:
    views = [view(space, owners, seed=number) for number, (space, owners) in enumerate(spaces.items())]
    return merge_clusters(views, spaces, fewest=3)


OWNERS: Labels = np.repeat(np.arange(3), EACH).astype(np.int64)


def sets(found: list[TopicCluster]) -> set[frozenset[int]]:
    return {frozenset(cluster.members) for cluster in found}


EXPECTED = {frozenset(range(start, start + EACH)) for start in range(0, 3 * EACH, EACH)}


@pytest.mark.req("E.09")
def test_three_semantic_spaces_that_agree_make_topics() -> None:
    found = agreed({"e1": OWNERS, "e6": OWNERS, "e10": OWNERS})
    assert sets(found) == EXPECTED
    assert all(cluster.agreement == pytest.approx(3.0) for cluster in found)


@pytest.mark.req("E.09")
def test_two_semantic_spaces_and_a_relational_one_are_just_enough() -> None:
    assert sets(agreed({"e1": OWNERS, "e6": OWNERS, "e8": OWNERS})) == EXPECTED


@pytest.mark.req("E.09")
def test_two_semantic_spaces_alone_make_no_topic() -> None:
    assert agreed({"e1": OWNERS, "e6": OWNERS}) == []


@pytest.mark.req("E.09")
def test_relational_and_structural_spaces_alone_make_no_topic() -> None:
    assert agreed({"e8": OWNERS, "e9": OWNERS, "e11": OWNERS}) == []


@pytest.mark.req("E.09")
def test_spaces_that_see_other_groups_do_not_agree() -> None:
    generator = np.random.default_rng(7)
    shuffled = {f"e{number}": generator.permutation(OWNERS) for number in (1, 6, 10)}
    assert agreed(shuffled) == []


@pytest.mark.req("E.09")
def test_temporal_spaces_count_nothing_and_all_others_make_eight_and_a_half() -> None:
    assert [TOPIC_WEIGHTS[f"e{number}"] for number in (2, 3, 4)] == [0.0, 0.0, 0.0]
    assert MAX_AGREEMENT == 8.5
    assert AGREEMENT_NEEDED == 2.5


def test_a_memory_that_is_near_no_topic_is_left_out() -> None:
    owners = np.append(OWNERS, [-1] * 3).astype(np.int64)
    found = agreed({"e1": owners, "e6": owners, "e10": owners})
    assert sets(found) == EXPECTED


def test_a_space_that_does_not_see_a_memory_leaves_it_to_the_others() -> None:
    views = [view(space, OWNERS, seed=number) for number, space in enumerate(("e1", "e6", "e7", "e10"))]
    half = np.arange(len(OWNERS)) % 2 == 0
    views[2] = SpaceView("e7", np.where(half[:, None], views[2].matrix, 0).astype(np.float32), half)
    labels = {v.space: np.where(v.present, OWNERS, -1) for v in views}
    found = merge_clusters(views, labels, fewest=3)
    assert sets(found) == EXPECTED
    assert all(cluster.strengths["e7"] < 0.6 < cluster.strengths["e1"] for cluster in found)


def test_without_clusters_there_are_no_topics() -> None:
    nothing = np.full(30, -1, np.int64)
    assert merge_clusters([view("e1", OWNERS)], {"e1": nothing}, fewest=3) == []
    assert merge_clusters([], {}, fewest=3) == []
