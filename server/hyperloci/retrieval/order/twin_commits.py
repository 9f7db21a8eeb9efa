"""Twin commits: a merge that says no more than the commit that it brought, and a commit picked from another branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.text.commit_text import message_of

_MERGE: Final = re.compile(r"Merge (?:pull request|branch|remote-tracking branch|merge request)\b")
_PICKED: Final = re.compile(
    r"(?m)^(?:\(cherry picked from commit [0-9a-f]{7,64}\)"
    r"|(?:Signed-off-by|Reviewed-by|Reviewed-on|Change-Id|PR-URL): .*)$"
)
_NUMBER: Final = re.compile(r" {0,4}\(#\d{1,12}\)$")


def find_twins(nodes: Sequence[Node]) -> dict[NodeKey, Node]:
    """Return commits among some nodes that say no more than another one does, with that other one.

    A merge gives way to what it brought, which names the files. Of a commit on two branches, which have its message and
    the time at which it was written in common, the first stands for both.
    """
    first: dict[tuple[str, int], Node] = {}
    merges: list[tuple[Node, str]] = []
    twins: dict[NodeKey, Node] = {}
    for node in nodes:
        if node.subtype != "commit":
            continue
        subject, said = _read_message(node)
        if _MERGE.match(subject):
            merges.append((node, said.removeprefix(subject).strip()))
            continue
        other = first.setdefault((said, node.event_time), node)
        if other is not node:
            twins[node.key] = other
    by_subject = {_without_number(_read_message(node)[0]): node for node in reversed(first.values())}
    for node, rest in merges:
        brought = by_subject.get(_without_number(rest)) if rest else None
        if brought is not None:
            twins[node.key] = brought
    return twins


def _read_message(node: Node) -> tuple[str, str]:
    """Return a commit's subject, and its message without what another branch adds to it."""
    message = _PICKED.sub("", message_of(node.content)).strip()
    return message.partition("\n")[0].strip(), message


def _without_number(subject: str) -> str:
    return _NUMBER.sub("", subject)
