"""Value checks: whether a value looks like a secret in a place that may hold one. Pure functions of short strings.

Longer than most: one check for each kind of place, a few lines each, which share their patterns.
"""

from __future__ import annotations

import binascii
import re
from enum import StrEnum
from functools import cache
from typing import Final

from hyperloci.system.late_patterns import compile_late
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.secrets.placeholders import drop_example_words, has_placeholder_form, is_placeholder
from hyperloci.text.sanitize.secrets.randomness import (
    MIN_CLASS_CHANGE_RATE,
    MIN_ENTROPY,
    MIN_PATH_CLASS_CHANGE_RATE,
    character_entropy,
    class_change_rate,
    count_character_classes,
    is_technical,
    looks_generated,
    looks_random,
    technical_pattern,
)

PASSWORD_LENGTH: Final = 6
"""Shortest password that is worth hiding; below stand `abc`, `1234` and the like."""
OPTION_PASSWORD_LENGTH: Final = 4
"""Shortest password on a command line, where nothing but a password can stand."""
MIN_UNKNOWN_ENTROPY: Final = 3.8
MIN_UNKNOWN_CLASS_CHANGE_RATE: Final = 0.2
"""What a word without a known prefix or name must reach: 24 random base62 characters have 4.3 bits and 0.42."""


class SecretJudgement(StrEnum):
    """How to tell a secret from an innocent value in the same place."""

    PASSWORD = "password"
    LINE_PASSWORD = "line-password"
    OPTION_PASSWORD = "option-password"
    URL_PASSWORD = "url-password"
    RANDOM = "random"
    BASIC = "basic"
    BASE64 = "base64"
    ARGUMENT = "argument"
    LOOSE_PASSWORD = "loose-password"
    LOOSE_RANDOM = "loose-random"
    MADE_PASSWORD = "made-password"
    ENCLOSED_PASSWORD = "enclosed-password"
    PAIR = "pair"
    PATH_TOKEN = "path-token"
    LITERAL = "literal"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCandidate:
    """A value in a place where a secret may stand.

    Attributes:
        value: the text of it.
        quoted: it stood between quotation marks.
        operator: what stood between name and value, without blanks; empty where the rule has none.
        after: the text behind it, a few characters.
    """

    value: str
    quoted: bool = False
    operator: str = ""
    after: str = ""


_PATH: Final = compile_late(r"(?:\.{1,2}|~)?/")
_WELL_KNOWN: Final = frozenset(
    (
        *("pass", "pwd", "password", "passwd", "password1", "pass1234", "secret", "admin", "root", "user", "username"),
        *("test", "testing", "guest", "postgres", "mysql", "redis", "mongo", "rabbitmq", "minio"),
        *(
            "string",
            "varchar",
            "required",
            "optional",
            "undefined",
            "nullable",
            "boolean",
            "integer",
            "number",
            "hidden",
        ),
        *(
            "masked",
            "encrypted",
            "plaintext",
            "sha1",
            "sha256",
            "sha512",
            "md5",
            "bcrypt",
            "argon2",
            "argon2id",
            "pbkdf2",
        ),
        *("base64", "oauth2"),
    )
)
_WORD_AND_YEAR: Final = compile_late(r"[A-Za-z]{6,24}[0-9]{2}\Z")
"""`karamell77`, as people choose passwords; names of formats have shorter words or smaller numbers."""
_WORD_AND_DIGITS: Final = compile_late(r"[A-Za-z]{5,24}[0-9]{1,2}\Z")
_PROTOCOL: Final = compile_late(r"(?:HTTPS?|D?TLS|SSL|SSH|SIP|RTSP|MQTT|AMQP|SMB|SNMP)/[0-9]{1,2}\.[0-9]{1,2}\Z")
"""`HTTP/1.1`."""
_PRODUCT_NUMBER: Final = compile_late(r"[A-Z]{2,5}-[A-Z]{0,3}[0-9]{1,6}[a-z]?\Z")
"""`SKU-AB12x`."""
_DOTTED: Final = compile_late(r"[A-Za-z_$][\w$]*+(?>(?:(?:\.|->|::)[A-Za-z_$][\w$]*+)*)\Z")
_CONSTANT: Final = compile_late(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*\Z")


@cache
def _name_like_pattern() -> re.Pattern[str]:
    return re.compile(
        r"pass|pwd|secret|token|user|login|hash|field|param|input|env|config|key|cred|auth|value|text", re.I
    )


_BARE_NEEDS_QUOTES: Final = frozenset({"==", "===", "!=", "->", "<-", ",", "||", "::"})


@cache
def _hash_prefix_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|_)(?:sha|md|blake|crc|hash|rev|commit|git|etag|cmpl|chatcmpl|msg|run|thread|asst|file|call|resp|req|batch|evt|cus|price|prod|sub|pi|pm|ch|acct|in|dpl|cs|seti|toolu|pk|pk_live|pk_test)[0-9]*$",
        re.IGNORECASE,
    )


@cache
def _example_host_pattern() -> re.Pattern[str]:
    return re.compile(r"@(?:[\w-]{1,30}\.){0,2}(?:example|test|invalid)\b", re.IGNORECASE)


@cache
def _key_prefix_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:^|_)(?:pat|key|tok|token|secret|sk|rk|api|apikey|live|auth)(?:_|$)|key$|tok$", re.IGNORECASE)


_SEPARATED: Final = compile_late(r"[a-z0-9]+(?:[-_.][a-z0-9]+)+\Z", re.IGNORECASE)


@cache
def _diceware_pattern() -> re.Pattern[str]:
    return re.compile(r"\A[A-Za-z]{3,12}(?:[-_. ][A-Za-z]{3,12}){2,7}[-_. ]?[0-9]{2,4}\Z")


"""`copper-lantern-maple42`: words, but joined by someone who wanted a password."""


@cache
def _type_name_pattern() -> re.Pattern[str]:
    return re.compile(r"\A[A-Za-z_][\w.:]*(?:Key|Token|Secret|Password|Type|Name|Config|Provider|Error|Request)s?\Z")


MIN_PATH_TOKEN: Final = 12
"""Shortest segment of a path that may be a secret, where the address says that one stands there."""


def is_secret(kind: SecretJudgement, candidate: SecretCandidate) -> bool:
    """Tell whether the candidate is a secret, by the rule's kind of judgement."""
    value = candidate.value
    if is_placeholder(value) or (_PATH.match(value) and class_change_rate(value) < MIN_PATH_CLASS_CHANGE_RATE):
        return False
    return _JUDGES[kind](candidate)


def is_real_token(value: str) -> bool:
    """Tell whether a text in the format of a token could be a real one: it repeats little and is no example."""
    if has_placeholder_form(value.lstrip("$")):
        return False
    rest = drop_example_words(value)
    return character_entropy(rest) >= MIN_ENTROPY and (rest == value or looks_random(rest))


def is_unknown_token(word: str) -> bool:
    """Tell whether `prefix_body` has a body that only a generator makes: base62, or hex after a prefix like `key`."""
    prefix, _, body = word.replace("-", "_").rpartition("_")
    if (
        _hash_prefix_pattern().search(prefix)
        or not is_real_token(word)
        or not any(character.isdigit() for character in body)
    ):
        return False
    if any(character.isupper() for character in body) and any(character.islower() for character in body):
        return (
            character_entropy(body) >= MIN_UNKNOWN_ENTROPY and class_change_rate(body) >= MIN_UNKNOWN_CLASS_CHANGE_RATE
        )
    return (
        bool(_key_prefix_pattern().search(prefix))
        and not prefix.istitle()
        and prefix in (prefix.lower(), prefix.upper())
        and class_change_rate(body) >= MIN_CLASS_CHANGE_RATE
    )


def is_generated_password(value: str) -> bool:
    """Tell a password that a generator made from words with a number behind them."""
    return (
        count_character_classes(value) >= 3
        and class_change_rate(value) >= MIN_PATH_CLASS_CHANGE_RATE
        and not is_placeholder(value)
    )


def _is_random(candidate: SecretCandidate) -> bool:
    if not candidate.quoted and (candidate.operator in _BARE_NEEDS_QUOTES or candidate.after[:1] in ("(", "[", "{")):
        return False
    if not candidate.quoted and _CONSTANT.match(candidate.value):
        return False
    if _type_name_pattern().match(candidate.value) or any(character.isspace() for character in candidate.value):
        return False
    return looks_random(candidate.value) or looks_generated(candidate.value)


def _is_password(candidate: SecretCandidate) -> bool:
    value = candidate.value
    if len(value) < PASSWORD_LENGTH or _is_plain_word(value):
        return False
    if value.isalpha():
        return candidate.quoted and looks_random(value)
    if candidate.quoted:
        return count_character_classes(value) >= 2
    if candidate.operator in _BARE_NEEDS_QUOTES or candidate.after[:1] in ("(", "[", "{"):
        return False
    if candidate.operator == ">" and not candidate.after.startswith("</"):
        return False
    if count_character_classes(value) >= 3:
        return True
    if _name_like_pattern().search(value) or candidate.after[:1] in (",", ")"):
        return False
    return count_character_classes(value) >= 2 and (
        candidate.operator != "=" or candidate.after[:1] in ("", "\n", ";", "&")
    )


def _is_line_password(candidate: SecretCandidate) -> bool:
    value = candidate.value
    return (
        len(value) >= PASSWORD_LENGTH
        and not _is_plain_word(value)
        and count_character_classes(value) >= 2
        and candidate.after[:1] != "("
        and not technical_pattern().match(value)
    )


def _is_option_password(candidate: SecretCandidate) -> bool:
    return (
        len(candidate.value) >= OPTION_PASSWORD_LENGTH
        and not _is_plain_word(candidate.value)
        and count_character_classes(candidate.value) >= 2
    )


def _is_url_password(candidate: SecretCandidate) -> bool:
    value = candidate.value
    return (
        len(value) >= OPTION_PASSWORD_LENGTH
        and value.lower() not in _WELL_KNOWN
        and (is_generated_password(value) or looks_random(value) or not _example_host_pattern().match(candidate.after))
    )


def _is_plain_word(value: str) -> bool:
    """Tell whether a would-be password is none: blanks inside, a well-known word, a dotted name, words with marks."""
    if any(character.isspace() for character in value) or value.lower().rstrip(".,;:!") in _WELL_KNOWN:
        return True
    if _PROTOCOL.match(value) or _names_format(value):
        return True
    if (
        _DOTTED.match(value)
        and class_change_rate(value) < MIN_CLASS_CHANGE_RATE
        and ("." in value or "->" in value or "::" in value)
    ):
        return True
    if _diceware_pattern().match(value) and not _name_like_pattern().search(value):
        return False
    return bool(_SEPARATED.match(value)) and class_change_rate(value) < MIN_CLASS_CHANGE_RATE


def _names_format(value: str) -> bool:
    """Tell words joined by marks of which one is well known, whatever digits that has: `Argon2id-hash`."""
    words = value.replace("_", "-").split("-")
    others = [word for word in words if word.lower() not in _WELL_KNOWN]
    return len(others) < len(words) and all(word.isalpha() and word[1:].islower() for word in others)


def _is_basic_auth(candidate: SecretCandidate) -> bool:
    decoded = _decode_base64(candidate.value)
    return decoded is not None and b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def _is_base64(candidate: SecretCandidate) -> bool:
    return _decode_base64(candidate.value) is not None


def _decode_base64(value: str) -> bytes | None:
    try:
        return binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True)
    except binascii.Error:
        return None


def _is_argument_password(candidate: SecretCandidate) -> bool:
    """Judge what stands where a command or a statement takes a password: anything but names, paths and numbers."""
    value = candidate.value
    if (
        len(value) < OPTION_PASSWORD_LENGTH
        or value.lower() in _WELL_KNOWN
        or value[0] in "-:@?"
        or not any(map(str.isalpha, value))
    ):
        return False
    if count_character_classes(value) >= 2:
        return not (_DOTTED.match(value) and "." in value) or class_change_rate(value) >= MIN_CLASS_CHANGE_RATE
    return len(value) >= PASSWORD_LENGTH and value.isalpha() and not _name_like_pattern().search(value)


def _is_loose_password(candidate: SecretCandidate) -> bool:
    """Judge a word somewhere behind a name: it must look made, as nothing else tells that it is no other word."""
    value = candidate.value
    if len(value) < PASSWORD_LENGTH or _is_plain_word(value) or is_technical(value):
        return False
    if not any(character.isdigit() for character in value) or not any(character.isalpha() for character in value):
        return False
    if not candidate.quoted and candidate.after[:1] in ("(", "[", "{"):
        return False
    digits = sum(character.isdigit() for character in value)
    return (
        count_character_classes(value) >= 3
        or class_change_rate(value) >= MIN_CLASS_CHANGE_RATE
        or (count_character_classes(value) == 2 and digits >= 2)
    )


def _is_loose_random(candidate: SecretCandidate) -> bool:
    value = candidate.value
    if not any(character.isdigit() for character in value) or is_technical(value):
        return False
    return (class_change_rate(value) >= MIN_CLASS_CHANGE_RATE or looks_generated(value)) and _is_random(candidate)


def _is_made_password(candidate: SecretCandidate) -> bool:
    """Judge a word behind a name that means other things as well, such as the code of a product."""
    if looks_generated(candidate.value):
        return _is_loose_password(candidate)
    return _is_pair_password(candidate) and _PRODUCT_NUMBER.match(candidate.value) is None


def _is_enclosed_password(candidate: SecretCandidate) -> bool:
    """Judge the ASCII among letters of another writing behind a name: not `bcrypt12`, a format with a number."""
    value = candidate.value
    return (
        _is_password(candidate)
        and value.rstrip("0123456789").lower() not in _WELL_KNOWN
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and (_WORD_AND_DIGITS.match(value) is not None or not is_technical(value))
    )


def _is_pair_password(candidate: SecretCandidate) -> bool:
    """Judge what stands behind `user/` or `user:`: most such words are paths, hosts and times."""
    return (
        _is_loose_password(candidate) and count_character_classes(candidate.value) >= 3 and "/" not in candidate.value
    )


def _is_path_token(candidate: SecretCandidate) -> bool:
    return looks_random(candidate.value) or (
        len(candidate.value) >= MIN_PATH_TOKEN and class_change_rate(candidate.value) >= MIN_PATH_CLASS_CHANGE_RATE
    )


def _is_literal_password(candidate: SecretCandidate) -> bool:
    """Judge a literal where nothing but a password stands: calls also take names of fields, addresses and providers."""
    value = candidate.value
    return (
        _is_password(candidate)
        and (_WORD_AND_YEAR.match(value) is not None or not is_technical(value))
        and any(map(str.isalpha, value))
        and (count_character_classes(value) >= 3 or not _name_like_pattern().search(value))
    )


def _accept_any(candidate: SecretCandidate) -> bool:
    return bool(candidate.value)


_JUDGES: Final = {
    SecretJudgement.PASSWORD: _is_password,
    SecretJudgement.LINE_PASSWORD: _is_line_password,
    SecretJudgement.OPTION_PASSWORD: _is_option_password,
    SecretJudgement.URL_PASSWORD: _is_url_password,
    SecretJudgement.RANDOM: _is_random,
    SecretJudgement.BASIC: _is_basic_auth,
    SecretJudgement.BASE64: _is_base64,
    SecretJudgement.ARGUMENT: _is_argument_password,
    SecretJudgement.LOOSE_PASSWORD: _is_loose_password,
    SecretJudgement.LOOSE_RANDOM: _is_loose_random,
    SecretJudgement.MADE_PASSWORD: _is_made_password,
    SecretJudgement.ENCLOSED_PASSWORD: _is_enclosed_password,
    SecretJudgement.PAIR: _is_pair_password,
    SecretJudgement.PATH_TOKEN: _is_path_token,
    SecretJudgement.LITERAL: _is_literal_password,
    SecretJudgement.ANY: _accept_any,
}
