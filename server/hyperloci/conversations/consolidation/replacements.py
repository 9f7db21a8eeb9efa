"""Replacements: what a new statement takes the place of, or may (B.17).

Each new statement is put beside the living ones of its project. A sure replacement ends the old one and joins the two
(`supersedes`); where it is not sure, both stand, joined by `updates`: whoever shows the old one says that it may have
been replaced. That is judged by words as soon as something is said, and once more by meaning when both statements have
a vector. What was said to hold until something comes ends when somebody tells that it has (`replacement.releases`).

What was said in passing, of which no memory was made, stands among them: it can't end, but its turn is joined to what
may have replaced it (`outdates`), so that a search puts that before it. So is a statement that is replaced too unsurely
to be told: only where both are found, the newer comes first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from hyperloci.clock import Clock, read_day_end, to_iso
from hyperloci.conversations.consolidation.context.answer_lists import JOINT
from hyperloci.conversations.consolidation.contradiction_resolution import ContradictionResolver, may_end, may_replace
from hyperloci.conversations.consolidation.findings import ExtractedFinding, FindingKind
from hyperloci.conversations.consolidation.remainders import find_remainders, keep_remainder
from hyperloci.conversations.consolidation.replacement.features import ComparedStatement
from hyperloci.conversations.consolidation.replacement.parts import PART, names_some_items, score_part
from hyperloci.conversations.consolidation.replacement.reading import read_likeliest
from hyperloci.conversations.consolidation.replacement.releases import find_release, read_condition
from hyperloci.conversations.consolidation.replacement.scorer import load_replacement_scorer
from hyperloci.conversations.consolidation.replacement.standing import (
    Standing,
    holds_for_a_time,
    is_shared_view,
    list_holding,
    list_standing,
    read_compared,
    read_place,
    read_quote,
    select_earlier,
    was_said_before,
)
from hyperloci.conversations.consolidation.replacement.surroundings import NOTHING_HEARD, Surroundings, join_answer
from hyperloci.knowledge.cross_reading import LateScorer, PairScorer, join_readings
from hyperloci.knowledge.exceptions import EXCEPTION_LABEL, is_exception
from hyperloci.knowledge.successors import OUTDATED_LABEL, POSSIBLE_SUCCESSOR
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, Origin
from hyperloci.model.node import Node, last_day_of
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from hyperloci.store.conversations.passing_statements import PassingStatement

SURE: Final = 0.6
"""Probability by words from which on the old statement is ended at once: of three writers nobody trained on 118 are
ended then, 54 of which are replaced or taken back and 47 changed in part; from .7 on 93, 42 and 41
(docs/benchmarks/changed-minds.md, "Changed minds by six more writers")."""

SURE_BY_MEANING: Final = 0.5
"""The same once both statements have a vector, of what words and meaning say together (`_weigh_both`): by the mean of
their log-odds alone, of the same writers 148 are ended, of which 72 are replaced or taken back and 55 changed in part;
from .6 on 122, 62 and 46."""

SUPPORT: Final = 0.2
"""Probability by the one from which on the other alone may be sure: in 26 projects of seven writers of which the
weights know nothing 11 more past statements end then, and 3 that hold. Of 16 pairs in which the less sure says so much
7 are replaced by just that statement, of 20 with less none (docs/benchmarks/changed-minds.md, "The surer of both")."""

CHANGES: Final = 0.5
"""Probability from which on a statement that is otherwise not worth keeping is kept, because it changes what holds:
less sure ones are mostly reports of faults (docs/benchmarks/extraction.md, "Changes and reports of faults")."""

POSSIBLE: Final = POSSIBLE_SUCCESSOR
"""Probability from which on the old statement is marked as possibly replaced: of the same writers' 163 that are
replaced or taken back 101 are ended or marked from .3 on and 89 from .4 on; of all that are, .77 and .84 are changed,
wholly or in part. From .25 on two things that share words, alone in a project, are marked ("the timeout of the
gateway" beside that of the worker), and a reader found one mark of five right."""

ORDERS: Final = 0.1
"""Probability from which on of two that a search finds the newer comes first: in cross-validation over projects 149 of
184 changed minds reach it, besides some 230 others, two a project; both answer one question then, which makes it
likelier. Of what was said in passing 53 of 65 do, besides 313 others."""

REVIEWED_AT_ONCE: Final = 50
"""Statements judged by meaning in one go, some milliseconds each: a long session's."""

WAITING_STATEMENTS: Final = 20
"""So many wait until they can be read together with what they may replace: one or two sessions' worth."""

MAX_SUCCESSORS: Final = 5
"""Later statements, the nearest in meaning, that one which came in after them is put beside."""

RELEASED_KINDS: Final = frozenset({"constraint", "decision", "preference", "procedure", "deadline"})
"""What is asked for, and may be asked for until something comes."""

RELEASE_CHARS: Final = 160
"""Characters of what was said that are kept as the reason of an end."""

TURNS_OF_ANSWER: Final = 40
"""Turns after the user's among which its answer is looked for: what was done before it are turns too."""

UNCERTAIN_LABEL: Final = "updates"


class Resolution(StrEnum):
    """What became of an older statement: it ended, is marked as possibly replaced, or only stands behind the newer."""

    ENDED = "ended"
    MARKED = "marked"
    ORDERED = "ordered"


ListStanding = Callable[[str], Sequence[Standing]]
"""Lists what stands in a project (`replacement.standing.list_standing`)."""


class ReplacementResolver:
    """Finds what new statements replace, in one store."""

    def __init__(
        self, store: Store, contradictions: ContradictionResolver, clock: Clock, scorer: PairScorer | None = None
    ) -> None:
        """Create it; `scorer` reads statements together where they are judged by meaning."""
        self._store = store
        self._scorer = scorer
        self._contradictions = contradictions
        self._clock = clock

    def detect_replacements(
        self, new: Node, finding: ExtractedFinding, progress: ConsolidationProgress
    ) -> list[tuple[Node, float]]:
        """Return the statements and turns that a new one replaces, or may, with the probability by words (B.19)."""
        living = select_earlier(list_standing(self._store, progress.scope), new)
        around = self._find_surroundings(new.session_id, new.metadata.get("turn"))
        return _choose_likely(living, _score_finding(finding, living, around))

    def changes_what_holds(self, finding: ExtractedFinding, sources: Sequence[Node], scope: str) -> bool:
        """Tell whether what some turns say likely replaces a statement of earlier ones, or takes it back."""
        said = max(sources, key=lambda node: node.seq or 0)
        turn = (said.session_id, said.seq)
        standing = list_standing(self._store, scope, with_passing=False)
        statements = [one for one in standing if read_place(one.node) != turn and not is_shared_view(one, finding.said)]
        living = [one for one in statements if one.node.event_time <= said.event_time]
        around = self._find_surroundings(*turn) if living else NOTHING_HEARD
        return any(score >= CHANGES for score in _score_finding(finding, living, around))

    def note_in_passing(self, finding: ExtractedFinding, sources: Sequence[Node]) -> None:
        """Note what no memory is made of, so that what replaces it later is told. In a transaction.

        Args:
            finding: what was said.
            sources: the turns that say so, some in other words; of an answer, what it answers too.
        """
        about = (finding.about or "").rpartition(JOINT)[2]
        answered = next((node for node in sources if about and about in node.content), None)
        saying = [one for one in sources if one.origin is Origin.USER_PROMPT and finding.content in one.content]
        for turn in saying:
            if turn is not answered or len(saying) == 1:
                self._store.passing_statements.add(PassingStatement(turn, finding.content, about), answered)

    def end_timed_statements(self, scope: str, now: int) -> None:
        """End what named its last day, and deadlines, if that day is over everywhere. Runs in a transaction.

        What was confirmed ends too, by its own words; confirmed after that day, it has no end any more.

        Args:
            scope: of which project.
            now: the time of the session that is read: what one of last year replaced must not have ended before.
        """
        kinds, scopes = [kind.value for kind in FindingKind], (scope, GLOBAL_SCOPE)
        for node in self._store.consolidations.list_timed(kinds, scopes, to_iso(now)[:10]):
            last = read_day_end(day := last_day_of(node))
            if last is not None and last <= now:
                reason = "it was due on" if "due" in node.metadata else "it was said to hold until"
                self._contradictions.expire(node, f"{reason} {day}", until=last)

    def end_released_statements(self, scope: str, turns: Sequence[Node]) -> None:
        """End the rules that hold until something comes, of which a turn of the user's tells that it has.

        Runs in a transaction. What rules may not end stays, as where a statement is replaced.

        Args:
            scope: of which project.
            turns: what was said, in order.
        """
        said = [turn for turn in turns if turn.origin is Origin.USER_PROMPT]
        # Few wait for anything: of the others no word is compared.
        rules = [node for node in list_holding(self._store, scope) if _may_be_released(node)] if said else []
        for rule in rules:
            for turn in said:
                passage = find_release(read_quote(rule), turn.content) if was_said_before(rule, turn) else None
                if passage is not None:
                    self._release(rule, turn, passage[:RELEASE_CHARS])
                    break

    def _release(self, rule: Node, turn: Node, passage: str) -> None:
        reason = f"it was said to hold until something comes, and that has: {passage}"
        self._contradictions.expire(rule, reason, until=turn.event_time)
        # Who confirms it, or would correct it, is told why it ended, and has it hold on.
        self._store.nodes.update_node(rule.id, now=self._clock(), metadata={**rule.metadata, "released": passage})

    def review_statements(self, scope: str | None = None, *, may_wait: bool = False) -> int:
        """Judge by meaning what has a vector by now; return how many old statements ended.

        A statement that comes in late, of a transcript that is imported, may itself be ended by later ones.

        Args:
            scope: only statements of sessions of this project.
            may_wait: whether statements are left that can't be read together now, but may soon, while they are few.
        """
        ended, scorer = 0, LateScorer(self._scorer) if self._scorer else None
        waiting = self._store.consolidations.list_reviews(scope, REVIEWED_AT_ONCE)
        is_short = len(waiting) <= WAITING_STATEMENTS
        for new in waiting:
            likely, successors = self._judge_by_meaning(new, scorer) if new.valid_until is None else ([], [])
            if may_wait and is_short and scorer is not None and scorer.is_late:
                break
            with self._store.transaction():
                if self._store.consolidations.finish_review(new.key):
                    self._store.edges.delete_automatic(new.key, [UNCERTAIN_LABEL, OUTDATED_LABEL, EXCEPTION_LABEL])
                    ended += sum(self._ends_by_meaning(new, old, score) for old, score in likely)
                    ended += any(self._ends_by_meaning(later, new, score) for later, score in successors)
        return ended

    def _judge_by_meaning(
        self, new: Node, scorer: PairScorer | None
    ) -> tuple[list[tuple[Node, float]], list[tuple[Node, float]]]:
        """Return what a statement replaces or may, and which later ones replace it or may; what holds is read once."""
        look = functools.cache(functools.partial(list_standing, self._store))
        with self._store.snapshot():
            return self._detect_by_meaning(new, look, scorer), self._find_successors(new, look, scorer)

    def _find_successors(self, new: Node, look: ListStanding, scorer: PairScorer | None) -> list[tuple[Node, float]]:
        """Return the later statements that replace one that came in after them, or may."""
        standing = [one for one in look(self._scope_of(new)) if not one.is_passing]
        later = [one.node for one in standing if one.node.event_time > new.event_time]
        cosines = self._store.vectors.compare_with(new.key, [node.key for node in later])
        nearest = sorted((node for node in later if node.key in cosines), key=lambda node: -cosines[node.key])
        return [
            (node, probability)
            for node in nearest[:MAX_SUCCESSORS]
            for old, probability in self._detect_by_meaning(node, look, scorer, only=new.key)
            if old.key == new.key
        ]

    def _scope_of(self, statement: Node) -> str:
        """Return the project of the session that a statement is from."""
        progress = self._store.consolidations.get_progress(statement.session_id) if statement.session_id else None
        return progress.scope if progress else statement.scope

    def _detect_by_meaning(
        self, new: Node, look: ListStanding, scorer: PairScorer | None, only: NodeKey | None = None
    ) -> list[tuple[Node, float]]:
        """Return what a statement replaces, or may; with `only`, nothing else is read together with it."""
        living = select_earlier(look(self._scope_of(new)), new)
        cosines = self._store.vectors.compare_with(new.key, list(dict.fromkeys(one.node.key for one in living)))
        # A turn is not judged anew once it has a vector, which comes after those of later statements: its words decide.
        living = [one for one in living if one.is_passing or one.node.key in cosines]
        around = self._find_surroundings(new.session_id, new.metadata.get("turn"))

        def score(olds: Sequence[Standing]) -> list[float]:
            statement, judge = read_compared(new), load_replacement_scorer()
            by_words = judge.score(statement, [one.said for one in olds], around=around)
            seen = {place: cosines[one.node.key] for place, one in enumerate(olds) if one.node.key in cosines}
            told = judge.score(statement, [olds[place].said for place in seen], list(seen.values()), around)
            by_meaning = dict(zip(seen, told, strict=True))
            return [
                _weigh_both(words, by_meaning[place]) if place in seen else words
                for place, words in enumerate(by_words)
            ]

        wanted = {at for at, one in enumerate(living) if only is None or one.node.key == only}
        texts, told = [one.node.content for one in living], join_answer(new.content, around.answered)
        scores = read_likeliest(scorer, told, texts, _score_apart(living, score), wanted)
        return _choose_likely(living, scores)

    def _find_surroundings(self, session_id: str | None, seq: object) -> Surroundings:
        """Return what the assistant said right before a turn of the user's, what it answered, and what it did."""
        progress = self._store.consolidations.get_progress(session_id) if session_id else None
        if progress is None or not isinstance(seq, int):
            return NOTHING_HEARD
        before = self._store.consolidations.list_said_before(progress.session_key, seq, 1)
        turns = self._store.consolidations.list_turns(progress.session_key, seq + 1, TURNS_OF_ANSWER)
        after = list(itertools.takewhile(lambda node: node.origin is not Origin.USER_PROMPT, turns))
        answer = next((node for node in after if node.origin is Origin.CLAUDE_RESPONSE), None)
        return Surroundings(
            _read_assistant(next(iter(before), None)),
            _read_assistant(answer),
            tuple(node.content for node in after if node.subtype == "action"),
        )

    def _ends_by_meaning(self, new: Node, old: Node, probability: float) -> bool:
        # What was read before may have ended since: of two turns of one moment each would end the other.
        now = self._store.nodes.get_by_keys([new.key, old.key])
        if not all(key in now and now[key].holds for key in (new.key, old.key)):
            return False
        return self.resolve_replacement(new, old, probability, sure_from=SURE_BY_MEANING) is Resolution.ENDED

    def resolve_replacement(self, new: Node, old: Node, probability: float, *, sure_from: float = SURE) -> Resolution:
        """End a statement in favour of a new one if that is sure, else mark it. In a transaction.

        What holds in all projects is not put in doubt by what one of them decides: that is its exception.
        """
        if is_exception(new, old):
            if probability >= POSSIBLE:
                self._mark(EXCEPTION_LABEL, old, new, probability, "what its project says otherwise")
            return Resolution.ORDERED
        if old.subtype == "episode" or probability < POSSIBLE:
            self._mark_outdated(old, new, probability)
            return Resolution.ORDERED
        # What holds for a time leaves what holds after it.
        is_for_a_time = holds_for_a_time(new) and not holds_for_a_time(old)
        is_sure = probability >= sure_from and may_replace(new, old) and not is_for_a_time
        if is_sure:
            around = self._find_surroundings(new.session_id, new.metadata.get("turn"))
            pieces = find_remainders(read_compared(new), read_quote(old), around)
            if not pieces and _leaves_most(new, old, around):
                self._mark_outdated(old, new, probability)
                return Resolution.ORDERED
            for piece in pieces:
                keep_remainder(self._store, self._clock, old, piece)
            self._contradictions.supersede(old, new, f"a later statement replaces it ({probability:.2f})")
            return Resolution.ENDED
        self._mark_uncertain(old, new, probability)
        return Resolution.MARKED

    def _mark_uncertain(self, old: Node, new: Node, probability: float) -> None:
        self._mark(UNCERTAIN_LABEL, old, new, probability, "a later statement may replace it")

    def _mark_outdated(self, old: Node, new: Node, probability: float) -> None:
        self._mark(OUTDATED_LABEL, old, new, probability, "what was said later may replace what it says")

    def _mark(self, label: str, old: Node, new: Node, probability: float, evidence: str) -> None:
        now = self._clock()
        self._store.edges.link_nodes(
            label, new.key, [old.key], now=now, confidence=probability, automatic=True, evidence=evidence
        )


def _leaves_most(new: Node, old: Node, around: Surroundings) -> bool:
    """Tell whether what replaces a statement leaves the most of it, or all: a dead end, where nothing was done."""
    if old.subtype == "dead_end" and not around.done:
        return True
    newer, older = read_compared(new), read_compared(old)
    return names_some_items(newer, older) or score_part(newer, older, around) >= PART


def _read_assistant(turn: Node | None) -> str:
    return turn.content if turn is not None and turn.origin is Origin.CLAUDE_RESPONSE else ""


def _score_finding(finding: ExtractedFinding, living: Sequence[Standing], around: Surroundings) -> list[float]:
    statement = ComparedStatement(finding.content, about=finding.about or "")

    def score(olds: Sequence[Standing]) -> list[float]:
        return load_replacement_scorer().score(statement, [one.said for one in olds], around=around)

    return _score_apart(living, score)


def _score_apart(living: Sequence[Standing], score: Callable[[Sequence[Standing]], list[float]]) -> list[float]:
    """Return the scores of statements beside one another, and of what was said in passing beside all of them.

    So what ends or is told is what it would be without them; they only lower what is too unsure for that.
    """
    together = score(living)
    alone = together
    if any(one.is_passing for one in living):
        statements = iter(score([one for one in living if not one.is_passing]))
        alone = [value if one.is_passing else next(statements) for one, value in zip(living, together, strict=True)]
    return [value if value >= POSSIBLE else min(value, other) for value, other in zip(alone, together, strict=True)]


def _weigh_both(by_words: float, by_meaning: float) -> float:
    """Return what words and meaning say together: the mean of their log-odds, or the surer if the other supports it.

    Each errs on its own: what one of them alone finds likely is marked, unless words are sure.
    """
    if by_words >= SURE:
        return max(by_words, by_meaning)
    together = join_readings(by_words, by_meaning, 0.5)
    surer = max(by_words, by_meaning)
    return max(together, surer if min(by_words, by_meaning) >= SUPPORT else min(surer, SURE_BY_MEANING - 0.01))


def _choose_likely(living: Sequence[Standing], scores: Sequence[float]) -> list[tuple[Node, float]]:
    """Return what is likely enough; a turn that says two things once."""
    likely: dict[NodeKey, tuple[Node, float]] = {}
    for old, probability in zip(living, scores, strict=True):
        if probability >= max(ORDERS, likely.get(old.node.key, (old.node, 0.0))[1]):
            likely[old.node.key] = (old.node, probability)
    return list(likely.values())


def _may_be_released(node: Node) -> bool:
    """Tell whether a memory asks for something until something else comes; a fact or a dead end asks for nothing.

    A deadline that has a day ends with that day alone.
    """
    is_asked = node.subtype in RELEASED_KINDS and "due" not in node.metadata
    return is_asked and may_end(node) and read_condition(read_quote(node)) is not None
