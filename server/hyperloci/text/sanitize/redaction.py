"""Redaction: replaces secrets in a text by visible placeholders such as `[redacted:github-token]`.

One pass finds private keys, tokens by their format (`secrets/formats.py`), values by their context
(`secrets/contexts.py`) and long random words with a prefix, which is what the tokens of new providers look like. Most
texts hold no secret: literal keywords decide which patterns run and where, and a pattern is compiled when it first
runs, which keeps hooks fast.

What a finder replaces must not be found again by the next: their order is the design.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.literals import LiteralSet, find_literal
from hyperloci.text.sanitize.secrets.commands import find_command_secrets
from hyperloci.text.sanitize.secrets.contexts import VALUES, ValueRule
from hyperloci.text.sanitize.secrets.decoded_views import alternative_readings, find_encoded_secrets, joined_literals
from hyperloci.text.sanitize.secrets.evidence import find_named_secrets, is_public
from hyperloci.text.sanitize.secrets.formats import TOKENS, TokenRule
from hyperloci.text.sanitize.secrets.headings import find_secrets_under_headings
from hyperloci.text.sanitize.secrets.here_documents import find_written_secrets
from hyperloci.text.sanitize.secrets.named_behind import (
    find_passwords_named_after,
    find_stated_values,
    find_tcp_passwords,
    is_password,
)
from hyperloci.text.sanitize.secrets.payment_numbers import find_payment_numbers
from hyperloci.text.sanitize.secrets.private_keys import find_private_keys
from hyperloci.text.sanitize.secrets.stated_words import find_stated_words
from hyperloci.text.sanitize.secrets.table_columns import find_insert_secrets, find_table_secrets
from hyperloci.text.sanitize.secrets.telling_lines import (
    find_header_secrets,
    find_line_start,
    find_prose_passwords,
)
from hyperloci.text.sanitize.secrets.value_checks import (
    SecretCandidate,
    is_real_token,
    is_secret,
    is_unknown_token,
)

MAX_PASSES: Final = 4
"""A redaction can lay bare another secret beside it. Two passes do nearly always; a hostile text must not cost more."""

_CONTEXT: Final = 48
"""Characters behind a value that its judge may look at: enough for a closing tag or a host name."""

MIN_TOKEN: Final = 16
"""Characters of the shortest token."""
_RUN: Final = re.compile(r"[A-Za-z0-9_.~:$%@+/=-]{16,}")
"""In code such runs are a tenth of the text, so keywords are sought among them."""
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9_-]{16,}")
"""The same for tokens without marks: a twenty-fifth of the text."""

_WORD: Final = re.compile(r"[A-Za-z0-9_-]+")
_CAPITAL_OR_DIGIT: Final = re.compile(r"[A-Z0-9]")
_WINDOW: Final = 600
"""Characters round a change that are read anew in another reading of the text."""

PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z-]+\]")
"""What stands for a secret names a kind, and no value beside it: a row of a table would lose a cell a pass."""

_LEFT: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_RIGHT: Final = r"(?![A-Za-z0-9])"


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was redacted: its kind and how many characters it had. Never the secret itself."""

    kind: str
    length: int


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without its secrets, and what was found, pass by pass in the order of the text."""

    text: str
    redactions: tuple[Redaction, ...] = ()


_Span = tuple[int, int, int, str]
"""Start, end, rank and kind. Sorts by place; the lowest rank names what overlaps."""


def redact_secrets(text: str) -> RedactedText:
    """Return `text` with every secret replaced by `[redacted:<kind>]`; idempotent, and all else stays as it was."""
    findings: list[Redaction] = []
    for _ in range(MAX_PASSES):
        spans = _merge_overlaps(sorted(_drop_placeholder_overlaps(text, _find_spans_in_views(text))))
        if not spans:
            break
        findings.extend(Redaction(kind, end - start) for start, end, _, kind in spans)
        text = _replace_spans(text, spans)
    return RedactedText(text, tuple(findings))


def _replace_spans(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    last = 0
    for start, end, _, kind in spans:
        pieces += (text[last:start], f"[redacted:{kind}]")
        last = end
    pieces.append(text[last:])
    return "".join(pieces)


def _merge_overlaps(spans: list[_Span]) -> list[_Span]:
    """Join the sorted spans that overlap; the best rank names the whole."""
    joined: list[_Span] = []
    for span in spans:
        if joined and span[0] < joined[-1][1]:
            other = joined.pop()
            rank, kind = min(other[2:], span[2:])
            span = (other[0], max(other[1], span[1]), rank, kind)
        joined.append(span)
    return joined


def _drop_placeholder_overlaps(text: str, candidates: Iterator[_Span]) -> set[_Span]:
    """Return the spans without those that reach into a placeholder: what stands there is ours."""
    found = set(candidates)
    if not found or "[redacted:" not in text:
        return found
    ours = [match.span() for match in PLACEHOLDER.finditer(text)]
    starts = [start for start, _ in ours]
    return {span for span in found if not _overlaps_placeholder(span, ours, starts)}


def _overlaps_placeholder(span: _Span, placeholders: list[tuple[int, int]], starts: list[int]) -> bool:
    before = bisect_left(starts, span[1]) - 1
    return before >= 0 and placeholders[before][1] > span[0]


def _find_spans_in_views(text: str) -> Iterator[_Span]:
    yield from _find_spans(text)
    for view in alternative_readings(text):
        for first, last in view.changed_windows(_WINDOW):
            for start, end, rank, kind in _find_spans(view.text[first:last]):
                yield view.original_position(first + start), view.original_position(first + end - 1) + 1, rank, kind
    for view in joined_literals(text):
        for first, last in view.changed_windows(_WINDOW):
            joined = view.text[first:last]
            for start, end, rank, kind in _find_tokens(joined, *_long_runs(joined)):
                yield view.original_position(first + start), view.original_position(first + end - 1) + 1, rank, kind


def _read_as_ascii(text: str) -> str:
    """Return a text with the blanks and marks of other writings as ASCII has them; places stay the same."""
    if not text.isascii():
        for written, read in (("\u00a0", " "), ("\u202f", " "), ("\u3000", " "), ("：", ":"), ("＝", "=")):
            text = text.replace(written, read)
    return text


def _find_spans(text: str) -> Iterator[_Span]:
    text = _read_as_ascii(text)
    for start, end in find_private_keys(text):
        yield start, end, -1, "private-key"
    for start, end, kind in find_payment_numbers(text):
        yield start, end, -1, kind
    lowered = text.replace("\u0130", "i").lower()  # the one letter that grows in lower case: places must stay the same
    yield from _find_values(text, lowered)
    words, runs = _long_runs(text)
    yield from _find_tokens(text, words, runs)
    yield from _find_unknown_tokens(text, words)
    # Such a token stands within one run, and one run in a thousand holds one.
    if "_" in runs and "=" in runs and _unknown_base64_pattern().search(runs):
        for match in _unknown_base64_pattern().finditer(text):
            if is_unknown_token(match.group().replace("+", "A").replace("/", "b").rstrip("=")):
                yield *match.span(), len(TOKENS) + len(VALUES), "token"
    last = len(TOKENS) + len(VALUES)
    for start, end in chain(find_named_secrets(text, runs), find_secrets_under_headings(text, lowered)):
        yield start, end, last, "token"
    for start, end in find_encoded_secrets(text, words, _contains_secret, is_password):
        yield start, end, last + 1, "encoded-secret"
    yield from _find_distant_secrets(text, lowered, last + 2)


def _long_runs(text: str) -> tuple[str, str]:
    """Return the words and the runs of a text in which tokens may stand, a line each."""
    long = "\n".join([word for word in text.split() if len(word) >= MIN_TOKEN])
    runs = "\n".join(run for run in _RUN.findall(long) if _CAPITAL_OR_DIGIT.search(run))
    words = "\n".join(word for word in _LONG_WORD.findall(runs) if _CAPITAL_OR_DIGIT.search(word))
    return words, runs


def _find_distant_secrets(text: str, lowered: str, rank: int) -> Iterator[_Span]:
    """Yield what is known by a place further away than right behind a name."""
    passwords = not lowered.isascii() or any(root in lowered for root in ("pass", "pw", "contrasen", "kennwort"))
    tokens = "token" in lowered or "secret" in lowered or "api" in lowered
    found = [find_command_secrets(text, lowered), find_written_secrets(text)]
    if passwords or tokens:
        found += [find_table_secrets(text, lowered), find_insert_secrets(text, lowered)]
    if passwords:
        found += [find_passwords_named_after(text, lowered), find_prose_passwords(text, lowered)]
        found.append(find_stated_words(lowered))
    if passwords or tokens:
        found.append(find_stated_values(text, lowered))
    if "@tcp(" in lowered:
        found.append(find_tcp_passwords(text))
    for start, end in chain(*found):
        yield start, end, rank, "password"
    for start, end in find_header_secrets(text, lowered):
        yield start, end, rank, "session-cookie"


def _contains_secret(decoded: str) -> bool:
    """Tell whether a decoded text has a secret in it; what is encoded twice is not looked at."""
    return any(True for _ in _find_values(decoded, decoded.lower())) or any(
        True for _ in _find_tokens(decoded, decoded, decoded)
    )


def _find_tokens(text: str, words: str, runs: str) -> Iterator[_Span]:
    in_words, in_runs = _token_keywords()
    found = [
        (rank, keyword) for keyword, rank in in_words if keyword in words and _matches_within_words(words, TOKENS[rank])
    ]
    found += [(rank, keyword) for keyword, rank in in_runs if keyword in runs]
    for rank, keyword in found:
        for start, end in _token_spans(text, TOKENS[rank], keyword):
            yield start, end, rank, TOKENS[rank].kind


def _matches_within_words(words: str, rule: TokenRule) -> bool:
    return rule.anchored or _token_pattern(rule).search(words) is not None


def _token_spans(text: str, rule: TokenRule, keyword: str) -> Iterator[tuple[int, int]]:
    pattern = _token_pattern(rule)
    if rule.anchored:
        matches: Iterator[re.Match[str]] = (
            match for at in find_literal(text, keyword) if (match := pattern.match(text, at))
        )
    else:
        matches = pattern.finditer(text)
    return (match.span() for match in matches if is_real_token(match.group()))


def _find_values(text: str, lowered: str) -> Iterator[_Span]:
    literals, ranks = _value_anchors()
    anchors: dict[int, list[str]] = {}
    for anchor in literals.find_in(lowered):
        for rank in ranks[anchor]:
            if VALUES[rank].required_text in lowered:
                anchors.setdefault(rank, []).append(anchor)
    ours = set()
    if "[redacted:" in lowered:
        ours = {at for match in PLACEHOLDER.finditer(lowered) for at in range(*match.span())}
    for rank, found in anchors.items():
        places = sorted({at for anchor in found for at in find_literal(lowered, anchor)} - ours)
        for start, end in _value_spans(text, VALUES[rank], places):
            yield start, end, len(TOKENS) + rank, VALUES[rank].kind


def _value_spans(text: str, rule: ValueRule, places: list[int]) -> Iterator[tuple[int, int]]:
    pattern, before = _value_patterns(rule)
    judged = 0
    for at in places:
        # Names inside a bare value that was judged already would have it judged again, and again.
        if at < judged:
            continue
        # What stands behind a name rules most of them out, in less time than what stands before it.
        match = pattern.match(text, at)
        if not match or (before and not before.search(text, find_line_start(text, at, rule.max_distance), at)):
            continue
        group = match.lastgroup or "bare"
        value = match[group].rstrip("\\" if group != "bare" else ".,;:\\")
        start = match.start(group)
        end = start + len(value)
        accepted = is_secret(rule.judge, _make_candidate(text, match, value))
        if accepted or group == "bare":
            judged = end
        if accepted:
            yield start, end


def _make_candidate(text: str, match: re.Match[str], value: str) -> SecretCandidate:
    group = match.lastgroup or "bare"
    end = match.start(group) + len(value)
    return SecretCandidate(
        value=value,
        quoted=group != "bare",
        operator=(match.groupdict().get("op") or "").strip(),
        after=text[end : end + _CONTEXT],
    )


_UNKNOWN: Final = re.compile(r"^(?:[A-Za-z][A-Za-z0-9]{1,9}[_-]){1,3}[A-Za-z0-9]{24,128}$", re.MULTILINE)


@cache
def _unknown_base64_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]{1,9}[_-]){1,3}(?=[A-Za-z0-9]{0,64}[+/])[A-Za-z0-9+/]{32,256}={0,2}"
        r"(?![A-Za-z0-9])"
    )


def _find_unknown_tokens(text: str, words: str) -> Iterator[_Span]:
    unknown = {word for word in _UNKNOWN.findall(words) if is_unknown_token(word)}
    if unknown:
        for match in _LONG_WORD.finditer(text):
            if match.group() in unknown and not is_public(text, match.start()):
                start, end = match.span()
                if text[start - 1 : start] == "\\":  # the word begins with the n of a `\n` in a string literal
                    start += 1
                yield start, end, len(TOKENS) + len(VALUES), "token"


@cache
def _token_keywords() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return keyword and rank of every token rule: those that lie inside one long word, and those that do not."""
    pairs = [(keyword, rank) for rank, rule in enumerate(TOKENS) for keyword in rule.keywords]
    in_words = [each for each in pairs if _is_within_words(each[0], TOKENS[each[1]])]
    return in_words, [each for each in pairs if each not in in_words]


def _is_within_words(keyword: str, rule: TokenRule) -> bool:
    """Tell whether keyword and token are letters, digits, `_` and `-` only: base64's `+` and `/` end a word early."""
    return _WORD.fullmatch(keyword) is not None and not _OTHER_THAN_WORDS.search(rule.pattern)


_OTHER_THAN_WORDS: Final = re.compile(r"\[[^\[\]]{0,40}?[+/.=%~][^\[\]]{0,40}\]")


@cache
def _value_anchors() -> tuple[LiteralSet, dict[str, list[int]]]:
    """Return the anchors of all value rules, and the ranks of the rules that each is one of."""
    ranks: dict[str, list[int]] = {}
    for rank, rule in enumerate(VALUES):
        for anchor in rule.anchors:
            ranks.setdefault(anchor, []).append(rank)
    return LiteralSet(ranks), ranks


@cache
def _token_pattern(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(f"{_LEFT}{rule.pattern}{_RIGHT}")


@cache
def _value_patterns(rule: ValueRule) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    flags = re.IGNORECASE | re.MULTILINE
    return re.compile(rule.pattern, flags), re.compile(rule.before, re.MULTILINE) if rule.before else None
