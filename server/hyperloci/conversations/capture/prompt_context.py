"""Prompt context: what is put before the assistant unasked with a prompt: what decides, and little else.

First the memories that bind what is asked (`unasked.decisive`), then the commits that tell why the code it names is as
it is (`unasked.code_reasons`), and where there are few of those, what was said about the same. Showing a memory is not
recalling it: nothing here reinforces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from hyperloci.clock import format_day, from_iso
from hyperloci.conversations.capture.injection_format import (
    SHOWN_ID_CHARS,
    SOURCE_WORDS,
    InjectedContext,
    InjectedItem,
    InjectedSection,
    format_line,
    mark_client,
    render_context,
    to_plain_line,
)
from hyperloci.conversations.capture.told_memories import is_past, name_source
from hyperloci.conversations.unasked.decisive import (
    INFORMING,
    MemoryCandidate,
    PromptProfile,
    find_warnings,
    is_worth_showing,
    profile_memory,
    profile_prompt,
    score_candidates,
)
from hyperloci.conversations.unasked.prompt_terms import analyse_terms
from hyperloci.conversations.unasked.quiet_prompts import MeasuredPrompt
from hyperloci.knowledge.names.written_names import find_code_names, find_paths
from hyperloci.knowledge.successors import find_possible_successors
from hyperloci.model.kinds import BINDING_SUBTYPES, GLOBAL_SCOPE, SUBTYPES, NodeId, NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.retrieval.relevance import PROMPT_FLOOR, RelevanceFloor, find_excerpt, query_from_prompt, select_relevant
from hyperloci.spaces.chance_cosine import add_chance
from hyperloci.store import Store
from hyperloci.system.values import dataclass
from hyperloci.text.commit_text import message_of

if TYPE_CHECKING:
    from hyperloci.conversations.unasked.code_reasons import CodeReasons
    from hyperloci.model.search import Hit, SearchAnswer

PROMPT_CHARS: Final = 2_000
"""With a prompt, beside what the session began with: six to eight memories, a five-hundredth of a context window."""

PROMPT_ITEM_CHARS: Final = 600
"""With a prompt, a longer memory is cut to the passage that is relevant to it; the id leads to the rest."""

DECISIVE_ITEMS: Final = 6
"""Of 103 memories that decide (`bench push`) the first four hold 77 %, the first six 83 %, and eight hardly more."""

WARNING_ITEMS: Final = 2
"""Dead ends that the prompt names (`find_warnings`) come besides, and first, where six others decide more: of a project
with many memories of one kind they were never shown."""

COMMIT_ITEMS: Final = 2
"""The newest reason holds; the one before it says what it replaced."""

RELATED_ITEMS: Final = 3
"""What was said about the same is shown only where fewer memories than this decide."""

NOTHING_FROM: Final = 0.75
"""The quietness from which on nothing more is looked up: thanks in four languages have .78 to .93, and of 179 questions
about long chats (BEAM) 7 are above it; 35 are above .5 (docs/benchmarks/unasked.md, "Runs of letters")."""

MAX_CONSIDERED: Final = 400
"""Binding memories that are looked at, the newest: a project of two years has some hundreds. A hundred take 4 ms."""

SEARCH_LIMIT: Final = 12
"""Hits that are looked at for a prompt: some are of this session or were shown."""

MIN_SAID_TERMS: Final = 8
"""Words of what a user said that tell something; a shorter prompt is a request of the moment."""

ECHO_SHARE: Final = 0.6
"""A turn of which the prompt holds so many words says what is just asked."""

SAID_SUBTYPES: Final = tuple(
    sorted(
        (SUBTYPES[NodeType.FACT] | SUBTYPES[NodeType.DECISION] | SUBTYPES[NodeType.EXPERIENCE])
        - {"commit", "action"}
        - BINDING_SUBTYPES
        - INFORMING
    )
)
"""What is searched beside: files the assistant reads itself, and what a tool did is no answer to a prompt."""

_DECISIVE: Final = InjectedSection("Decided, ruled out or asked for before", (), 0.7)
_REASONS: Final = InjectedSection("Why the code it names is as it is", (), 0.3)
_RELATED: Final = InjectedSection("Said about the same", (), 0.0)


class PromptSearch(Protocol):
    """What a memory finds for a prompt."""

    def search(
        self, query: str, *, limit: int, where: dict[str, object], explain: bool, reinforce: bool, quick: bool
    ) -> SearchAnswer:
        """`Memory.search`."""
        ...

    def measure_prompt(self, prompt: str, keys: Sequence[NodeKey]) -> MeasuredPrompt:
        """`Memory.measure_prompt`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOccasion:
    """A prompt, and what it comes to.

    Attributes:
        prompt: what was submitted.
        scope: the project.
        session_id: what was said in this session is in the context already.
        seen: ids of memories that the session was shown.
        now: the time, in milliseconds.
    """

    prompt: str
    scope: str
    session_id: str
    seen: frozenset[str] = frozenset()
    now: int


def build_prompt_context(store: Store, occasion: PromptOccasion, found: PromptSearch) -> InjectedContext:
    """Return what a prompt should not be answered without, '' for a prompt that needs nothing.

    Left out: what was said in this session, what the session was shown, a turn of which all memories were shown, what
    is suspicious, forgotten, past or no longer valid.
    """
    profile = profile_prompt(occasion.prompt)
    if profile is None:
        return InjectedContext("")
    binding = _list_binding(store, occasion)
    meaning = found.measure_prompt(occasion.prompt, [node.key for node in binding])
    profile = replace(profile, quietness=meaning.quietness)
    reasons = None if profile.is_quiet else _follow_code(store, occasion, profile)
    deciding = _choose_decisive(store, profile, binding, meaning, reasons)
    decisive = _put_newer_first(store, occasion, [node for node in deciding if _is_new(node, occasion)])
    commits = [node for node in reasons.commits if node.id not in occasion.seen] if reasons else []
    told = occasion.seen | {node.id for node in (*deciding, *decisive)}
    # Thanks share their words with turns that end in thanks.
    needs_nothing = profile.is_quiet or profile.quietness > NOTHING_FROM
    floor = replace(PROMPT_FLOOR, min_meaning=add_chance(PROMPT_FLOOR.min_meaning, meaning.chance))
    is_full = len(deciding) >= RELATED_ITEMS
    related = [] if needs_nothing or is_full else _find_related(store, occasion, found, told, floor)
    return render_context(
        "prompt",
        [
            (_DECISIVE, _make_items(store, occasion, decisive)),
            (_REASONS, _make_items(store, occasion, commits[:COMMIT_ITEMS])),
            (_RELATED, related[: RELATED_ITEMS - len(deciding)]),
        ],
        PROMPT_CHARS,
    )


def _follow_code(store: Store, occasion: PromptOccasion, profile: PromptProfile) -> CodeReasons | None:
    """Return what hangs on the code that a prompt names; None if it names none."""
    if not (find_code_names(occasion.prompt) or find_paths(occasion.prompt)):
        return None
    from hyperloci.conversations.unasked.code_reasons import find_code_reasons

    scope_key = store.scopes.find_key(occasion.scope)
    if scope_key is None:
        return None
    return find_code_reasons(store, scope_key, occasion.scope, occasion.prompt, profile.terms)


def _list_binding(store: Store, occasion: PromptOccasion) -> list[Node]:
    """Return the memories that may decide what is asked."""
    nodes = store.nodes.query_nodes(
        subtypes=sorted(BINDING_SUBTYPES | INFORMING), scopes=(occasion.scope, GLOBAL_SCOPE), limit=MAX_CONSIDERED
    )
    return [node for node in nodes if _may_be_told(node, occasion.now)]


def _choose_decisive(
    store: Store,
    profile: PromptProfile,
    nodes: Sequence[Node],
    meaning: MeasuredPrompt,
    reasons: CodeReasons | None,
) -> list[Node]:
    """Return the memories that decide what is asked, the most decisive first, whether or not they were shown."""
    anchored = reasons.anchored if reasons else frozenset()
    indexed = store.keywords.load_bodies([node.key for node in nodes])
    candidates = [
        MemoryCandidate(
            profile_memory(node.subtype or "", indexed.get(node.key, "")),
            meaning.cosines.get(node.key),
            node.key in anchored,
            meaning.bearings.get(node.key, 0.0),
        )
        for node in nodes
    ]
    scores, warnings = score_candidates(profile, candidates), find_warnings(profile, candidates)
    ranked = sorted(zip(scores, nodes, warnings, strict=True), key=lambda row: (-row[0], -row[1].event_time, row[1].id))
    warned = [row for row in ranked[DECISIVE_ITEMS:] if row[2]][:WARNING_ITEMS]
    return [
        node
        for score, node, _ in (*warned, *ranked[:DECISIVE_ITEMS])
        if is_worth_showing(profile, score, by_meaning=node.key in meaning.cosines)
    ]


def _put_newer_first(store: Store, occasion: PromptOccasion, chosen: Sequence[Node]) -> list[Node]:
    """Return memories, each behind what may have replaced it: an old value alone would be taken for the one that holds.

    What may have replaced it comes though it was not chosen; not if the assistant has it in its context already.
    """
    newer = find_possible_successors(store, [node.key for node in chosen], occasion.scope)
    ordered: dict[NodeKey, Node] = {}
    for node in chosen:
        later = [found for id in newer.get(node.key, ()) if (found := store.nodes.get_node(id)) is not None]
        ordered |= {one.key: one for one in later if _is_new(one, occasion) and _may_be_told(one, occasion.now)}
        ordered.setdefault(node.key, node)
    return list(ordered.values())


def _is_new(node: Node, occasion: PromptOccasion) -> bool:
    return node.id not in occasion.seen and node.session_id != occasion.session_id


def _may_be_told(node: Node, now: int) -> bool:
    return not node.metadata.get("flags") and not is_past(node, now)


def _make_items(store: Store, occasion: PromptOccasion, nodes: Sequence[Node]) -> list[InjectedItem]:
    from hyperloci.knowledge.graph.anchors import describe_code_changes
    from hyperloci.retrieval.presentation import describe_doubts

    keys = [node.key for node in nodes]
    doubts = describe_doubts(store, keys, project=occasion.scope, chars=SHOWN_ID_CHARS)
    notes = {key: list(found) for key, found in doubts.items()}
    for key, change in describe_code_changes(store, keys).items():
        notes.setdefault(key, []).append(f"outdated: {to_plain_line(change)}")
    shas = store.files.get_commits(keys)
    return [
        InjectedItem(
            node.id,
            format_line(
                node.id,
                node.subtype or node.type,
                format_day(node.event_time),
                " ".join(filter(None, (name_source(node), shas.get(node.key, "")[:SHA_CHARS])))
                + mark_client(node.agent),
                find_excerpt(_tell(node), occasion.prompt, PROMPT_ITEM_CHARS),
                "; ".join(notes.get(node.key, ())),
            ),
        )
        for node in nodes
    ]


SHA_CHARS: Final = 10


def _tell(node: Node) -> str:
    """Return what a memory says; of a commit its message, without the names of its files."""
    return message_of(node.content) if node.subtype == "commit" else node.content


def _find_related(
    store: Store, occasion: PromptOccasion, found: PromptSearch, told: Collection[str], floor: RelevanceFloor
) -> list[InjectedItem]:
    """Return what was said about the same in earlier sessions.

    Args:
        store: where it is looked for.
        occasion: what was asked.
        found: what finds it.
        told: ids of the memories that the assistant has or is given now: the turns they were made of say it again.
        floor: what a turn must reach.
    """
    query = query_from_prompt(occasion.prompt)
    if query is None:
        return []
    answer = found.search(
        query,
        limit=SEARCH_LIMIT,
        where={"subtypes": list(SAID_SUBTYPES)},
        explain=True,
        reinforce=False,
        quick=True,
    )
    asked = frozenset(analyse_terms(query))
    nodes = [node for hit in answer.results if (node := store.nodes.get_node(NodeId(hit.id))) is not None]
    outdated = store.edges.select_outdated_turns(node.key for node in nodes)
    repeating = store.edges.select_told_turns((node.key for node in nodes if _is_quoted_whole(node)), told)
    left_out = {node.id for node in nodes if node.key in outdated | repeating}
    return [
        InjectedItem(
            hit.id,
            format_line(
                hit.id,
                _kind_word(hit),
                format_day(from_iso(hit.valid_from)),
                _format_place(hit),
                find_excerpt(hit.content, query, PROMPT_ITEM_CHARS),
            ),
        )
        for hit in select_relevant(query, answer.results, floor)
        if hit.id not in occasion.seen
        and hit.source.session_id != occasion.session_id
        and hit.id not in left_out
        and not _has_barring_note(hit.notes)
        and _tells_something(hit, asked)
    ]


def _is_quoted_whole(node: Node) -> bool:
    """Return whether a turn is short enough: the passage of a longer one may say what no memory of it says."""
    return len(node.content) <= PROMPT_ITEM_CHARS


def _tells_something(hit: Hit, asked: Collection[str]) -> bool:
    """Return whether a turn tells more than the prompt: a question, a request of the moment or an echo does not."""
    terms = frozenset(analyse_terms(hit.content))
    if hit.source.kind == Origin.USER_PROMPT and (len(terms) < MIN_SAID_TERMS or hit.content.rstrip().endswith("?")):
        return False
    return len(terms.intersection(asked)) < ECHO_SHARE * len(terms)


_PLAIN_PATH: Final = re.compile(r"[\w./@+~#-]{1,200}")


def _format_place(hit: Hit) -> str:
    source = hit.source
    if source.path is not None:
        lines = f":{source.line_start}" if source.line_start else ""
        # A name is written by others too: with a blank in it, it could be read as a sentence of ours.
        path = source.path if _PLAIN_PATH.fullmatch(source.path) else json.dumps(source.path, ensure_ascii=False)
        return to_plain_line(f"{path}{lines}")
    return SOURCE_WORDS.get(Origin(source.kind), source.kind) if source.kind in set(Origin) else source.kind


def _kind_word(hit: Hit) -> str:
    if hit.subtype != "episode":
        return hit.subtype or hit.type
    return "prompt" if hit.source.kind == Origin.USER_PROMPT else "answer"


def _has_barring_note(notes: Iterable[str]) -> bool:
    return any(note.startswith(("suspicious", "forgotten", "no longer valid")) for note in notes)
