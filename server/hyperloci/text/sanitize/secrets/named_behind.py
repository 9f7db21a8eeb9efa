"""Secrets named behind: finds those that stand before what says that they are one.

`hunter2 is the password for prod`, `with hunter2! as the password`, `user:hunter2@tcp(host)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.literals import LiteralSet
from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret


@cache
def _password_label_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[\"'`”»*]{0,2}[ \t]{1,4}(?:as|for|when[ \t](?:asked|prompted)[ \t]for|als|como|comme)[ \t]{1,4}"
        r"(?:(?:the|my|your|its|our|his|her|a|das|la|el|le)[ \t]{1,4})?(?:[\w-]{1,16}[ \t]){0,2}(?:password|passphrase"
        r"|passwort|contraseña)"
    )


@cache
def _at_tcp_pattern() -> re.Pattern[str]:
    return re.compile(r"@tcp\(")


@cache
def _last_word_pattern() -> re.Pattern[str]:
    return re.compile(r"[^\s\"'`“„«<>()]{6,128}\Z")


def find_passwords_named_after(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield passwords that stand before what says that they are one: `with hunter2! as the password`."""
    if "passw" in lowered or "passphrase" in lowered or "contraseña" in lowered:
        for match in _password_label_pattern().finditer(lowered):
            word = _last_word_pattern().search(text, max(0, match.start() - 128), match.start())
            if word and is_password(word.group()):
                yield word.span()


_PASSWORD_NAMES: Final = ("password", "passphrase", "passwort", "kennwort", "contraseña", "mot de passe")
_KINDS_OF_KEY: Final = ("api", "access", "secret", "signing", "encryption", "master", "deploy")


@cache
def _statement_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[\"'`”»*]{0,2}[ \t]{1,4}(?:is|was|ist|war|es|est)[ \t]{1,4}(?:still[ \t]|now[ \t])?"
        r"(?:the|my|your|our|its|his|her|their|das|der|unser|mein|la|el|le|notre|mon|nuestra|mi)[ \t]{1,4}"
        r"(?:[\w-]{1,16}[ \t]){0,2}"
        rf"(?:(?P<password>{'|'.join(_PASSWORD_NAMES)})"
        rf"|(?:(?:{'|'.join(_KINDS_OF_KEY)})[ -]key|(?:api[ -])?token|client secret))"
        r"(?=[ \t]*(?:[.,;:!?)\"'\n]|\Z)"
        r"|[ \t](?:for|of|to|on|in|at|and|but|from|since|until|now|we|you|i|für|von|zum|zur|para|de|del|pour|du)\b)"
    )


@cache
def _stated_names() -> LiteralSet:
    """Return the names that a statement ends with: few texts hold one, and to look for a statement takes longer."""
    keys = (f"{kind}{joint}key" for kind in _KINDS_OF_KEY for joint in " -")
    return LiteralSet((*_PASSWORD_NAMES, "token", "client secret", *keys))


@cache
def _counted_name_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?:arg|column|field|line|option|page|param|row|step|group|match|question|answer)s?_?[0-9]", re.I
    )


def find_stated_values(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield what a sentence says to be a secret: `hunter2 is the password for prod`."""
    for match in _statement_pattern().finditer(lowered) if _stated_names().occur_in(lowered) else ():
        word = _last_word_pattern().search(text, max(0, match.start() - 128), match.start())
        if word and not _counted_name_pattern().match(word.group()):
            judge = SecretJudgement.PASSWORD if match["password"] else SecretJudgement.LOOSE_RANDOM
            if is_secret(judge, SecretCandidate(value=word.group())):
                yield word.span()


def find_tcp_passwords(text: str) -> Iterator[tuple[int, int]]:
    """Yield the password of `user:password@tcp(host)`, which has no `//` before it."""
    for match in _at_tcp_pattern().finditer(text):
        word = _last_word_pattern().search(text, max(0, match.start() - 128), match.start())
        if word and ":" in word.group():
            yield word.start() + word.group().index(":") + 1, word.end()


def is_password(value: str) -> bool:
    """Tell whether a word is a password where something else says that it may be one."""
    return is_secret(SecretJudgement.LOOSE_PASSWORD, SecretCandidate(value=value, quoted=True))
