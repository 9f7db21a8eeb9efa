"""Enumerations; their values are what the database stores."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NewType

NodeId = NewType("NodeId", str)
"""The UUID text that callers know a node by (SPEC-02.09)."""

NodeKey = NewType("NodeKey", int)
"""The integer key that tables join on; never leaves the program."""

GLOBAL_SCOPE: Final = "global"
"""The scope of what is about the user everywhere; every other scope is a project's id."""


class NodeType(StrEnum):
    """The five node types (SPEC-02.05)."""

    ENTITY = "entity"
    FACT = "fact"
    EXPERIENCE = "experience"
    DECISION = "decision"
    SNIPPET = "snippet"


SHARED_KINDS: Final[Mapping[str, NodeType]] = {
    "decision": NodeType.DECISION,
    "constraint": NodeType.FACT,
    "preference": NodeType.FACT,
    "insight": NodeType.FACT,
    "procedure": NodeType.FACT,
    "deadline": NodeType.FACT,
    "semantic": NodeType.FACT,
    "dead_end": NodeType.EXPERIENCE,
    "outcome": NodeType.EXPERIENCE,
}
"""Statements. What was said in a session, code, commits and what is known of the user are never shared."""


class Tier(StrEnum):
    """The four tiers (SPEC-02.17)."""

    TASK = "task"
    SESSION = "session"
    LONGTERM = "longterm"
    ARCHIVE = "archive"


class EdgeType(StrEnum):
    """The four hyperedge types (SPEC-02.11)."""

    RELATION = "relation"
    COMPOSITION = "composition"
    CAUSATION = "causation"
    CONTEXT = "context"


class Role(StrEnum):
    """What a node does in a hyperedge (SPEC-02.16)."""

    SUBJECT = "subject"
    OBJECT = "object"
    CONTEXT = "context"
    PARTICIPANT = "participant"
    CAUSE = "cause"
    EFFECT = "effect"


class EntityKind(StrEnum):
    """What an entity is (B.10); its node's subtype."""

    PERSON = "person"
    PROJECT = "project"
    ORGANIZATION = "organization"
    PLACE = "place"
    CONCEPT = "concept"
    TOOL = "tool"


class Origin(StrEnum):
    """Where a memory's text came from (E.02), most trusted first."""

    USER_PROMPT = "user_prompt"
    TOOL = "tool"
    CLAUDE_RESPONSE = "claude_response"
    HOOK = "hook"
    EXTRACTION = "extraction"
    COMMIT = "commit"
    MARKDOWN = "markdown"
    CODE = "code"
    IMPORT = "import"
    TEAMMATE = "teammate"


TRUST: Final[dict[Origin, float]] = {
    Origin.USER_PROMPT: 1.0,
    Origin.TOOL: 0.9,
    Origin.CLAUDE_RESPONSE: 0.7,
    Origin.HOOK: 0.6,
    Origin.EXTRACTION: 0.6,
    Origin.COMMIT: 0.5,
    Origin.MARKDOWN: 0.5,
    Origin.CODE: 0.5,
    Origin.IMPORT: 0.5,
    Origin.TEAMMATE: 0.5,
}
"""How far a text may be believed: the user's own words first, files that anyone can write last."""


SUBTYPES: Final[dict[NodeType, frozenset[str]]] = {
    NodeType.FACT: frozenset(
        {"semantic", "user_info", "preference", "constraint", "deadline", "insight", "opinion", "procedure"}
    ),
    NodeType.DECISION: frozenset({"decision", "commit"}),
    NodeType.EXPERIENCE: frozenset({"episode", "action", "dead_end", "outcome"}),
    NodeType.SNIPPET: frozenset({"markdown", "code", "text", "chunk_micro", "chunk_mini", "chunk_macro", "section"}),
    NodeType.ENTITY: frozenset({"person", "project", "organization", "place", "concept", "tool"}),
}
"""The subtypes of each type (requirements, section F)."""

BINDING_SUBTYPES: Final = frozenset({"constraint", "dead_end", "decision", "procedure", "preference", "deadline"})
"""Subtypes that say what is to be done, or not: work keeps to them without looking them up."""

RELATION_LABELS: Final = (
    "elaborates",
    "summarizes",
    "exemplifies",
    "supports",
    "qualifies",
    "depends_on",
    "supersedes",
    "updates",
    "contradicts",
    "relates_to",
    "follows",
)
"""The eleven relations of D.02."""

SYMMETRIC_LABELS: Final = frozenset({"contradicts", "relates_to"})

MENTIONS: Final = "mentions"
"""What joins a memory to an entity that it names: a row of its own, no hyperedge."""

EDGE_TYPE_OF_LABEL: Final[dict[str, EdgeType]] = {
    **dict.fromkeys(RELATION_LABELS, EdgeType.RELATION),
    "follows": EdgeType.CONTEXT,
    "causes": EdgeType.CAUSATION,
    "changed": EdgeType.CAUSATION,
    "reverts": EdgeType.RELATION,
    "outdates": EdgeType.CONTEXT,
    "excepts": EdgeType.RELATION,
    "derived_from": EdgeType.COMPOSITION,
    "contains": EdgeType.COMPOSITION,
    MENTIONS: EdgeType.CONTEXT,
    "imports": EdgeType.RELATION,
    "calls": EdgeType.RELATION,
    "links": EdgeType.RELATION,
    "inherits": EdgeType.RELATION,
    "overrides": EdgeType.RELATION,
    "tests": EdgeType.RELATION,
    "documents": EdgeType.RELATION,
}
"""The hyperedge type of every label the program writes; a label of a user's own is a `relation`."""

LABEL_FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "depends_on": ("depends_on", "imports", "inherits", "calls"),
    "elaborates": ("elaborates", "documents", "exemplifies"),
    "supports": ("supports", "tests"),
}
"""Labels that a general one stands for when it is asked for: what code imports, extends or calls it depends on; a page
about a symbol elaborates it; a test is the evidence for what it tests."""


def fold_label(label: str) -> str:
    """Return a label as it is stored, however it is written: `Depends on` is `depends_on`."""
    return label.strip().lower().replace(" ", "_")


def list_labels_of(label: str) -> tuple[str, ...]:
    """Return the labels that one stands for, itself first."""
    return LABEL_FAMILIES.get(label, (label,))
