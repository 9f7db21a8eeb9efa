"""Last session: where a project's last session stood: what it was for, what was done, what is left, which files.

All of it is taken from the turns as they were said and done, so that it is there a second after the session ended,
whether facts were made of it or not. Which sentences tell what was done is scored (`conversations.session_outcomes`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from hyperloci.clock import format_day
from hyperloci.conversations.capture.injection_format import (
    SHOWN_ID_CHARS,
    InjectedItem,
    InjectedSection,
    mark_client,
    to_plain_line,
)
from hyperloci.conversations.capture.opening_memories import drop_questions, quote_briefly
from hyperloci.conversations.capture.said_before import SaidBefore
from hyperloci.conversations.capture.sessions import ACTIVE_FOR_MS
from hyperloci.conversations.referents import find_subject_words
from hyperloci.conversations.session_outcomes import (
    MAX_CHARS,
    OutcomeKind,
    SessionTurn,
    ToldOutcome,
    score_outcomes,
)
from hyperloci.conversations.session_request import find_request
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.system.values import dataclass
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import phrase_pattern

RECENT_SESSIONS: Final = 20
"""Sessions among which the last is looked for in which something was said."""

LAST_TURNS: Final = 200
"""What is looked at for what was done: the end of a long session."""

CLOSING_TURNS: Final = 12
"""Where it is said what is left: what was left earlier has mostly been done since."""

UNANSWERED_TERMS: Final = 6
"""Fewer words that nobody answered are a good-bye, unless they ask."""

LEFT_TERMS: Final = 3
"""A sentence that says what is left names it by a word or two: `tomorrow: the eta endpoint`."""

TOLD_FROM: Final = 0.45
"""How likely a sentence must tell what was done or found out: of sessions left out four of five lines are right then
(`python -m bench train_outcomes`)."""

LEFT_FROM: Final = 0.35
"""The same for what is left; from .25 on a third more lines are shown, of which one in three is right."""

TOLD_TERMS: Final = 2
"""A sentence with fewer terms says that something was done, not what: `Committed.`"""

MAX_OF_TURN: Final = 2
"""An answer that sums up tells more than one thing; of long ones the best two."""

SAME_SUBJECT_WORDS: Final = 2
"""What was left is settled where a later sentence that says what was done has so many words of its subject."""

MAX_DONE: Final = 6
MAX_LEFT: Final = 2
MAX_COMMITS: Final = 4
MAX_FILES: Final = 8
"""Lines and names: together about a sixth of the room."""

REQUEST_CHARS: Final = 260
SENTENCE_CHARS: Final = 200
COMMIT_CHARS: Final = 80

SHARE: Final = 0.2
"""Of the room; sections that come before it and are not full leave it more."""

VALUE: Final = 2.0
"""Of a line, beside memories: as much as a decision of last week in the user's own words."""

_QUOTED_MESSAGE: Final = re.compile(r"\s-[a-zA-Z]*m[ =]?(?:\"\$\(cat <<-? ?['\"]?\w+['\"]? |(?P<mark>[\"']))")


@dataclass(frozen=True, slots=True)
class LastSession:
    """The last session, as a section of notes, and when time alone makes its title wrong."""

    session_key: int
    section: InjectedSection
    items: tuple[InjectedItem, ...]
    holds_until: int | None


def describe_last_session(
    store: Store, scopes: Sequence[str], now: int, *, besides: StoredSession | None
) -> LastSession | None:
    """Return where the last session of a project stood, in which something was said; None where there is none.

    One without an end that lately spoke may run in another window, and says so: not all clients tell an end.

    Args:
        store: where its turns are.
        scopes: the project, and `global`.
        now: the time, in milliseconds.
        besides: the session that starts, which is not meant.
    """
    project = next((scope for scope in scopes if scope != GLOBAL_SCOPE), GLOBAL_SCOPE)
    for session in store.sessions.list_recent(project, limit=RECENT_SESSIONS):
        if (besides is None or session.id != besides.id) and (items := _keep_first(_describe_session(store, session))):
            runs_until = session.last_seen_at + ACTIVE_FOR_MS
            may_run = session.ended_at is None and now < runs_until
            mark = f"{mark_client(session.client)}{', may still run' if may_run else ''}"
            title = f"The last session ({format_day(session.last_seen_at)}{mark})"
            return LastSession(
                session.key, InjectedSection(title, (), SHARE), items, holds_until=runs_until if may_run else None
            )
    return None


def _describe_session(store: Store, session: StoredSession) -> Iterator[InjectedItem]:
    last = _select_safe(store.openings.list_last_turns(session.key, LAST_TURNS))
    if (request := find_request(store, session.key)) is not None:
        word = "asked, no longer holds," if store.edges.select_spent_turns([request.key]) else "asked"
        yield _make_item(word, request, _drop_code(request.content), REQUEST_CHARS)
    outcomes = score_turns(last)
    kept = _select_safe(store.openings.list_outcomes(session.key, MAX_DONE))
    told = [(OutcomeKind.DONE.value, node, node.content) for node in kept] or find_done(last, outcomes)
    yield from (_make_item(word, node, text, SENTENCE_CHARS) for word, node, text in told)
    yield from _describe_changes(last, store.consolidations.list_changed_files(session.key, MAX_FILES + 1))
    yield from _describe_rest(last, outcomes, told)


def _keep_first(items: Iterable[InjectedItem]) -> tuple[InjectedItem, ...]:
    """Return items without those that quote what one before them does."""
    quoted: dict[str, InjectedItem] = {}
    for item in items:
        quoted.setdefault(item.quote or item.text, item)
    return tuple(quoted.values())


def _select_safe(turns: Iterable[Node]) -> list[Node]:
    return [node for node in turns if not node.metadata.get("flags")]


def _is_said(node: Node, role: Speaker) -> bool:
    return node.subtype == "episode" and node.metadata.get("role") == role


def _make_item(word: str, node: Node, text: str, limit: int) -> InjectedItem:
    line = f"- {word} {node.id[:SHOWN_ID_CHARS]}: {quote_briefly(text, limit)}"
    return InjectedItem(node.id, line, VALUE, to_plain_line(text))


def _drop_code(text: str) -> str:
    """Return the sentences of a request, without what was pasted as code."""
    return " ".join(split_sentences(text[:4_000])) or text


# -- what was done -----------------------------------------------------------------------------------------------------


def score_turns(turns: Sequence[Node]) -> list[ToldOutcome]:
    """Return the sentences that the assistant says in some turns, with what each tells of the session."""
    return list(score_outcomes([SessionTurn(_find_speaker(node), node.content) for node in turns]))


def _find_speaker(node: Node) -> Speaker | None:
    return Speaker(node.metadata["role"]) if node.subtype == "episode" else None


def choose_outcomes(
    outcomes: Iterable[ToldOutcome], score: Callable[[ToldOutcome], float], least: float, most: int
) -> list[ToldOutcome]:
    """Return the sentences that score most, in their order: few of each turn, none that says what another does.

    Args:
        outcomes: sentences of one session.
        score: what counts.
        least: the score from which on one is chosen.
        most: at most so many.
    """
    said, chosen, turns = SaidBefore(), list[ToldOutcome](), Counter[int]()
    for one in sorted(outcomes, key=lambda one: (-score(one), one.at, one.place)):
        if score(one) < least or len(chosen) == most:
            break
        if turns[one.at] < MAX_OF_TURN and said.add_unless_repeated(one.text):
            turns[one.at] += 1
            chosen.append(one)
    return sorted(chosen, key=lambda one: (one.at, one.place))


def find_done(turns: Sequence[Node], outcomes: Iterable[ToldOutcome]) -> list[tuple[str, Node, str]]:
    """Return the sentences that best tell what was done or found out in some turns: kind, turn and text of each."""
    telling = (one for one in outcomes if one.told > one.left and len(analyse_query(one.text)) >= TOLD_TERMS)
    chosen = choose_outcomes(telling, lambda one: one.told, TOLD_FROM, MAX_DONE)
    return [(one.kind.value, turns[one.at], one.text) for one in chosen]


# -- commits and files -------------------------------------------------------------------------------------------------


def _describe_changes(turns: Sequence[Node], files: Sequence[str]) -> Iterator[InjectedItem]:
    commits = [(node, message) for node in turns if node.subtype == "action" and (message := read_commit(node.content))]
    if commits:
        quoted = ", ".join(quote_briefly(message, COMMIT_CHARS) for _, message in commits[-MAX_COMMITS:])
        yield InjectedItem(f"{commits[-1][0].id}:commits", f"- commits: {quoted}", VALUE)
    edits = [node for node in turns if node.subtype == "action"]
    if files and edits:
        more = ", and more" if len(files) > MAX_FILES else ""
        named = ", ".join(quote_briefly(path) for path in files[:MAX_FILES])
        yield InjectedItem(f"{edits[-1].id}:files", f"- files changed: {named}{more}", VALUE)


def read_commit(line: str) -> str:
    """Return the message of a commit that a command made, as far as its line tells it; '' for any other line."""
    _, made, rest = line.partition("git commit")
    match = _QUOTED_MESSAGE.search(rest) if made and not read_action_line(line).has_ended_badly else None
    if match is None:
        return ""
    message = rest[match.end() :]
    return message.partition(match["mark"] or " EOF")[0].strip()


# -- what is left ------------------------------------------------------------------------------------------------------


def _describe_rest(
    turns: Sequence[Node], outcomes: Sequence[ToldOutcome], done: Sequence[tuple[str, Node, str]]
) -> Iterator[InjectedItem]:
    """Yield what was said to be left, and what the session ended on without an answer or with a failure."""
    for node, text in _find_left(turns, outcomes, done):
        yield _make_item(f"left ({node.metadata.get('role')})", node, text, SENTENCE_CHARS)
    if not turns:
        return
    last = turns[-1]
    if _is_said(last, Speaker.USER) and _wants_answer(last.content[:1_000]):
        yield _make_item("not answered", last, last.content, SENTENCE_CHARS)
    elif _is_said(last, Speaker.ASSISTANT) and (question := _find_closing_question(last)):
        yield _make_item("open question", last, question, SENTENCE_CHARS)
    elif last.subtype == "action" and read_action_line(last.content).has_ended_badly:
        yield _make_item("failed at the end", last, last.content, SENTENCE_CHARS)


def _wants_answer(text: str) -> bool:
    return not drop_questions(text) or len(analyse_query(text)) >= UNANSWERED_TERMS


def _find_left(
    turns: Sequence[Node], outcomes: Iterable[ToldOutcome], done: Sequence[tuple[str, Node, str]]
) -> list[tuple[Node, str]]:
    """Return the last sentences that say what is left, without those that what is told as done has settled since."""
    closing = [node.key for node in turns if node.subtype == "episode"][-CLOSING_TURNS:]
    told = [one for one in outcomes if turns[one.at].key in closing and one.left >= one.told]
    chosen = choose_outcomes(told, lambda one: one.left, LEFT_FROM, MAX_LEFT)
    found = [(turns[one.at], one.text) for one in chosen]
    found += [
        (node, text)
        for node in turns
        if node.key in closing and _is_said(node, Speaker.USER)
        for text in split_sentences(node.content[:MAX_CHARS])
        if phrase_pattern("session.left").search(text) and len(analyse_query(text)) >= LEFT_TERMS
    ]
    found.sort(key=lambda pair: pair[0].seq or 0)
    open_ones = [
        (node, text)
        for node, text in found
        if drop_questions(text) and not any(_is_settled_by(node, text, later, what) for _, later, what in done)
    ]
    return open_ones[-MAX_LEFT:]


def _is_settled_by(node: Node, text: str, later: Node, done: str) -> bool:
    """Return whether what was said to be left is the subject of what was told as done after it."""
    shared = find_subject_words(text) & find_subject_words(done)
    return later.event_time > node.event_time and len(shared) >= SAME_SUBJECT_WORDS


def _find_closing_question(node: Node) -> str:
    """Return the last sentence of an answer where it asks; ''  where it doesn't."""
    sentences = split_sentences(node.content[-20_000:])
    return sentences[-1] if sentences and not drop_questions(sentences[-1]) else ""
