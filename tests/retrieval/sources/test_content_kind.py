"""What a memory's text is, whatever it was called."""

from __future__ import annotations

import pytest

from hyperloci.model.kinds import NodeType
from hyperloci.retrieval.sources.content_kind import ContentKind, tell_content_kind
from hyperloci.store import Store
from tests.support import add, candidates


@pytest.mark.parametrize(
    ("type", "subtype", "kind"),
    [
        (NodeType.EXPERIENCE, "episode", ContentKind.SAID),
        (NodeType.FACT, "insight", ContentKind.SAID),
        (NodeType.DECISION, "decision", ContentKind.SAID),
        (NodeType.EXPERIENCE, "dead_end", ContentKind.SAID),
        (NodeType.EXPERIENCE, "action", ContentKind.DOCUMENT),
        (NodeType.DECISION, "commit", ContentKind.DOCUMENT),
        (NodeType.SNIPPET, "markdown", ContentKind.DOCUMENT),
        (NodeType.SNIPPET, "code", ContentKind.CODE),
    ],
)
def test_a_sentence_is_said_whether_it_was_a_turn_or_told_as_a_fact(
    store: Store, type: NodeType, subtype: str, kind: ContentKind
) -> None:
    node = add(store, "logins are kept in Redis", type=type, subtype=subtype)

    (candidate,) = candidates(store, node).values()

    assert tell_content_kind(candidate) is kind
