"""Headings: finds secrets that stand alone below a heading that names them, items of a list or values with names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.secrets.evidence import public_value_pattern
from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret

MAX_ITEMS: Final = 24
"""Lines below a heading that are looked at, and characters of each."""
MAX_ITEM: Final = 200

_HEADING_WORDS: Final = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passcode",
    "secret",
    "token",
    "credential",
    "creds",
    "api[",
    "_-]?key",
    "kennw",
    "passw",
    "contraseñ",
    "senha",
    "mots?[",
    "]de[",
    "]passe",
    "парол",
    "секрет",
    "токен",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "recovery[",
    "]code",
    "backup[",
    "]code",
]
_HEADING_ROOTS: Final = (
    "pass",
    "pwd",
    "secret",
    "token",
    "cred",
    "api",
    "kennw",
    "contra",
    "senha",
    "ry code",
    "up code",
)
_FOREIGN_ROOTS: Final = ("парол", "секрет", "токен", "密", "パス", "비밀")
_HEADING_MARKS: Final = (":", "]", "：", "|", ">", "-")

_Span = tuple[int, int]


@cache
def _heading_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"\A[^\n=]{{0,120}}(?:{'|'.join(_HEADING_WORDS)})[^\n=,]{{0,80}}?(?::[ \t]{{0,4}}[|>]?-?|："
        rf"|[ \t]\(?[\w /-]{{0,60}}\)?:|\])[ \t\r]{{0,4}}\Z",
        re.IGNORECASE,
    )


@cache
def _item_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[ \t]{0,24}(?:[-*+•][ \t]{1,4}|[0-9]{1,3}[.)][ \t]{1,4})?(?:(?P<name>[\w.@-]{1,60}"
        r"|\"[\w.@-]{1,60}\")[ \t]{0,8}[:=][ \t]{0,4})?"
        r"(?:\"(?P<a>[^\"\n]{6,160})\"|'(?P<b>[^'\n]{6,160})'|`(?P<c>[^`\n]{6,160})`"
        r"|(?P<d>[^\s\"'`]{6,160}))[ \t]{0,4}[,;]?\s{0,2}\Z"
    )


def find_secrets_under_headings(text: str, lowered: str) -> Iterator[_Span]:
    """Yield what stands alone below a heading that names secrets: items of a list, or values with names."""
    done = 0
    for start, end in sorted(_find_headings(text, lowered)):
        if start >= done and _heading_pattern().match(text[start:end]):
            for read, span in _find_items(text, end + 1, in_section=text[start:end].rstrip().endswith("]")):
                done = read
                if span:
                    yield span


def _find_headings(text: str, lowered: str) -> set[_Span]:
    """Return start and end of the lines that may be headings of secrets."""
    heads = set()
    for root in _HEADING_ROOTS if lowered.isascii() else (*_HEADING_ROOTS, *_FOREIGN_ROOTS):
        at = lowered.find(root)
        while at >= 0:
            end = text.find("\n", at)
            if end < 0:
                break
            start = text.rfind("\n", 0, at) + 1
            if end - start <= MAX_ITEM and text[start:end].rstrip()[-1:] in _HEADING_MARKS:
                heads.add((start, end))
            at = lowered.find(root, end)
    return heads


def _find_items(text: str, at: int, *, in_section: bool) -> Iterator[tuple[int, _Span | None]]:
    found = False
    for _ in range(MAX_ITEMS):
        end = text.find("\n", at, at + MAX_ITEM)
        end = min(len(text), at + MAX_ITEM) if end < 0 else end
        item = _item_pattern().match(text, at, end)
        if not item:
            if found or text[at:end].strip() or end >= len(text):
                return
        else:
            group = item.lastgroup or "d"
            value = item[group]
            kind = (
                SecretJudgement.LOOSE_RANDOM
                if item["name"] and not (in_section and group != "d")
                else SecretJudgement.LOOSE_PASSWORD
            )
            found = True
            if is_secret(kind, SecretCandidate(value=value, quoted=True)) and not public_value_pattern().match(value):
                yield end, item.span(group)
            elif not value.startswith("[redacted:"):
                return
        yield end, None
        at = end + 1
