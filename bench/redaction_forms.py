"""Where people leave secrets: a text a form, written down before any rule was made for it; and where they don't.

A form is one line of `redaction_forms.txt`: its name, and a text in which `«generator»` stands for a secret and
`‹generator›` for something random that is none (a user, a host, a commit). `redaction_lookalikes.txt` has texts without
any secret. A third of the forms, chosen by the hash of the name, is held
out: whoever mends the rules must not read what was missed there (`is_held_out`).

A third part, `redaction_unseen*.txt`, was written when the rules of 0.1 stood, without reading them or the first forms.
Half of it is closed in the same way (`is_closed`). So is half of a fourth, `redaction_tongues*.txt`: what people write
in forty languages, numbers of cards and accounts, and passwords with a word in them that placeholders have.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from bench.redaction_corpus import (
    BASE62,
    HEX,
    LOWER,
    SEED_WORDS,
    URLSAFE,
    Maker,
    RedactionSample,
    human_password,
    made_password,
    one_of,
    random_jwt,
    random_run,
    random_shape,
    url_password,
    uuid4,
)

SEED: Final = 20_261_122
VALUES_A_FORM: Final = 5
BASE64: Final = BASE62 + "+/"
HELD_OUT_SHARE: Final = 3
"""One form in so many is held out."""
CLOSED_SHARE: Final = 2
"""One form in so many of the later parts is closed."""


class Part(StrEnum):
    """A set of forms and look-alikes that were written together."""

    FIRST = "forms"
    UNSEEN = "third part"
    TONGUES = "tongues"


def is_held_out(kind: str) -> bool:
    """Tell whether a form or a look-alike is kept from whoever mends the rules."""
    return hashlib.sha256(kind.encode()).digest()[0] % HELD_OUT_SHARE == 0


def is_closed(kind: str) -> bool:
    """Tell whether a form or a look-alike of the later parts is kept from whoever mends the rules."""
    return hashlib.sha256(f"unseen {kind}".encode()).digest()[0] % CLOSED_SHARE == 0


def _wrapped_forms(*parts: str | Maker) -> Maker:
    inner = random_shape(*parts)
    return lambda rng: base64.b64encode(inner(rng).encode()).decode()


def _strong_password(rng: random.Random) -> str:
    body = random_run(BASE62 + "@#$%&*-_=+.,:;/?!", rng.randrange(10, 20))(rng)
    return rng.choice(string.ascii_letters) + body + rng.choice(string.ascii_uppercase) + rng.choice(string.digits)


def _diceware_phrase(rng: random.Random) -> str:
    words = ("copper", "Window", "lantern", "Orbit", "maple", "Thunder", "velvet", "pickle", "Harbor", "cactus")
    return "-".join(rng.choice(words) for _ in range(3)) + str(rng.randrange(10, 100))


def _escaped_pem(rng: random.Random) -> str:
    body = "\\n".join(random_run(BASE64, 64)(rng) for _ in range(6))
    return body


_ISSUERS: Final = ("4539", "4916", "5241", "5512", "2223", "6011", "3528", "6212", "2202")
_ACCOUNTS: Final = {"DE": 18, "GB": 18, "FR": 23, "ES": 20, "NL": 14, "TR": 22, "PL": 24, "IT": 23, "CH": 17}
"""Characters behind the check digits, by country."""


def _check_digit(digits: str) -> str:
    """Return the digit that makes a card's number right (Luhn)."""
    doubled = [2 * int(digit) - 9 * (int(digit) > 4) for digit in digits[::-2]]
    return str(-(sum(doubled) + sum(map(int, digits[-2::-2]))) % 10)


def _card_number(rng: random.Random, *, issuer: str = "", size: int = 16) -> str:
    start = issuer or rng.choice(_ISSUERS)
    body = start + random_run(string.digits, size - 1 - len(start))(rng)
    return body + _check_digit(body)


def _grouped(number: str, joint: str = " ") -> str:
    return joint.join(number[at : at + 4] for at in range(0, len(number), 4))


def _account_number(rng: random.Random) -> str:
    country = rng.choice(list(_ACCOUNTS))
    bank = random_run(string.ascii_uppercase, 4)(rng) if country in ("GB", "NL") else "X" if country == "IT" else ""
    rest = bank + random_run(string.digits, _ACCOUNTS[country] - len(bank))(rng)
    check = 98 - int("".join(str(int(each, 36)) for each in f"{rest}{country}00")) % 97
    return f"{country}{check:02}{rest}"


_GENERATORS: Final[dict[str, Maker]] = {
    "pw": made_password,
    "hp": human_password,
    "strong": _strong_password,
    "dice": _diceware_phrase,
    "urlpw": url_password,
    "alnum": random_shape(one_of("k", "x", "q"), random_run(LOWER, 11), random_run(string.digits, 2)),
    "short": random_shape(random_run(string.ascii_letters, 4), random_run(string.digits, 3), one_of("!", "?", "#")),
    "b62": random_run(BASE62, 32),
    "b62_20": random_run(BASE62, 20),
    "b62_40": random_run(BASE62, 40),
    "b62_64": random_run(BASE62, 64),
    "url": random_run(URLSAFE, 43),
    "hex32": random_run(HEX, 32),
    "hex40": random_run(HEX, 40),
    "hex64": random_run(HEX, 64),
    "b64": random_shape(
        random_run(BASE64, 42), one_of("A", "E", "I", "M", "Q", "U", "Y", "c", "g", "k", "o", "s", "w"), "="
    ),
    "b64_16": random_shape(random_run(BASE64, 21), one_of("A", "Q", "g", "w"), "=="),
    "b64_64": random_shape(random_run(BASE64, 85), one_of("A", "Q", "g", "w"), "=="),
    "b64_long": random_run(BASE64, 240),
    "b64u_long": random_run(URLSAFE, 240),
    "uuid": uuid4,
    "jwt": random_jwt,
    "ghp": random_shape("ghp_", random_run(BASE62, 36)),
    "glpat": random_shape("glpat-", random_run(URLSAFE, 20)),
    "aws": random_run(BASE64, 40),
    "akia": random_shape("AKIA", random_run(string.ascii_uppercase + "234567", 16)),
    "pem": _escaped_pem,
    "pemline": random_run(BASE64, 64),
    "half": random_run(BASE62, 24),
    "bcrypt": random_shape("$2y$10$", random_run(BASE62 + "./", 53)),
    "apr1": random_shape("$apr1$", random_run(BASE62 + "./", 8), "$", random_run(BASE62 + "./", 22)),
    "sha512crypt": random_shape("$6$", random_run(BASE62 + "./", 16), "$", random_run(BASE62 + "./", 86)),
    "basic": _wrapped_forms(one_of("admin", "deploy", "svc-ci"), ":", made_password),
    "b64pw": _wrapped_forms(made_password),
    "b64env": _wrapped_forms("DB_PASSWORD=", made_password, "\n"),
    "b64dsn": _wrapped_forms("postgres://app:", url_password, "@db.internal:5432/main"),
    "b64ghp": _wrapped_forms("ghp_", random_run(BASE62, 36)),
    "b64json": _wrapped_forms('{"user":"app","password":"', made_password, '"}'),
    "otp": random_run(string.ascii_uppercase + "234567", 32),
    "pin": random_run(string.digits, 6),
    "user": one_of("app", "deploy", "ada", "svc_ci", "root", "reporting"),
    "host": one_of("db.internal", "10.2.0.14", "mq.corp.lan", "git.vendor.io", "cache-01"),
    "sha": random_run(HEX, 40),
    "sha8": random_run(HEX, 8),
    "sha12": random_run(HEX, 12),
    "ab": random_run(HEX, 2),
    "hex6": random_run(HEX, 6),
    "hex8": random_run(HEX, 8),
    "hex10": random_run(HEX, 10),
    "hex12": random_run(HEX, 12),
    "hex16": random_run(HEX, 16),
    "hex20": random_run(HEX, 20),
    "hex24": random_run(HEX, 24),
    "hex60": random_run(HEX, 60),
    "HEX24": random_run(HEX.upper(), 24),
    "HEX40": random_run(HEX.upper(), 40),
    "UUID": lambda rng: uuid4(rng).upper(),
    "ULID": random_run("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 22),
    "UP9": random_run(string.ascii_uppercase + string.digits, 9),
    "alnum23": random_run(LOWER, 23),
    "nix32": random_run("0123456789abcdfghijklmnpqrsvwxyz", 32),
    "nano5": random_run(URLSAFE, 5),
    "nano6": random_run(BASE62, 6),
    "nano8": random_run(URLSAFE, 8),
    "nano11": random_run(URLSAFE, 11),
    "nanoid": random_run(URLSAFE, 21),
    "url43": random_run(URLSAFE, 43),
    "b64_48": random_run(BASE64, 64),
    "b64nopad": random_run(BASE64, 43),
    "colonhex": lambda rng: ":".join(random_run(HEX.upper(), 2)(rng) for _ in range(20)),
    "digits8": random_run(string.digits, 8),
    "digits10": random_run(string.digits, 10),
    "bech": random_run("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 38),
    "b58": random_run("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 44),
    "mnem": one_of("magic", "panda", "quiz"),
    "b64url": lambda rng: random_run(BASE64, 43)(rng).replace("+", "%2B").replace("/", "%2F") + "%3D",
    "tilde": random_shape(random_run(BASE62, 3), "8Q~", random_run(URLSAFE + ".~", 33), random_run(BASE62, 1)),
    "colontok": random_shape(random_run(BASE62, 12), ":", random_run(URLSAFE, 30)),
    "dottok": random_shape(random_run(BASE62, 10), ".", random_run(URLSAFE, 20), ".", random_run(BASE62, 12)),
    "plustok": random_shape(random_run(BASE62, 9), "+", random_run(BASE62, 8), "/", random_run(BASE62, 12), "="),
    "django": random_run(LOWER + "!@#$%^&*(-_=+)", 50),
    "wpsalt": random_run(BASE62 + "!@#$%^&*()-_[]{}<>~+=,.;:/?|", 64),
    "seed12": lambda rng: " ".join(rng.choice(SEED_WORDS) for _ in range(12)),
    "digits": random_run(string.digits, 6),
    "card4": lambda rng: _grouped(_card_number(rng)),
    "carddash": lambda rng: _grouped(_card_number(rng), "-"),
    "cardplain": _card_number,
    "amex": lambda rng: re.sub(r"(.{4})(.{6})", r"\1 \2 ", _card_number(rng, issuer=rng.choice(["34", "37"]), size=15)),
    "luhn16": _card_number,
    "iban": _account_number,
    "iban4": lambda rng: _grouped(_account_number(rng)),
    "changeme": random_shape("changeme", random_run(string.digits, 4), one_of("Acme", "Prod", "Db", "K8s")),
    "exampleinside": random_shape("Example!", random_run(string.digits, 4), "#", one_of("Prod", "Live", "Ops")),
    "foobarinside": random_shape("FooBar!", random_run("456789", 2)),
    "abcdinside": random_shape("abcdefgh-prod-", random_run("56789", 4)),
    "digitsinside": random_shape(random_run(BASE62, 40), "1234567890", random_run(BASE62, 43), "AA"),
    "BECH58": random_run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
}
_ALPHABETS: Final = {
    "b62": BASE62,
    "b64u": URLSAFE,
    "hex": HEX,
    "HEX": HEX.upper(),
    "UP": string.ascii_uppercase + string.digits,
    "alpha": string.ascii_letters,
    "digits": string.digits,
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
_SIZED: Final = re.compile(r"(b62|b64u|hex|HEX|UP|alpha|digits|b58)_?u?(\d+)")
_FILES: Final = {
    Part.FIRST: ("redaction_forms.txt", "redaction_lookalikes.txt"),
    Part.UNSEEN: ("redaction_unseen.txt", "redaction_unseen_lookalikes.txt"),
    Part.TONGUES: ("redaction_tongues.txt", "redaction_tongues_lookalikes.txt"),
}
"""The forms and the look-alikes of each part."""
_PLACE: Final = re.compile(r"«(\w+)»|‹(\w+)›")


def secret_forms(values: int = VALUES_A_FORM, *, part: Part = Part.FIRST) -> Iterator[RedactionSample]:
    """Yield every secret of every form, with `values` sets of random values each; a sample per secret of a text."""
    for name, template in read_forms(Path(__file__).with_name(_FILES[part][0])):
        rng = random.Random(f"{SEED} {name}")
        for _ in range(values):
            text, secrets = _fill_template(rng, template)
            for secret in secrets:
                yield RedactionSample(kind=name, context="form", text=text, secret=secret)


def look_alikes(values: int = VALUES_A_FORM, *, part: Part = Part.FIRST) -> Iterator[RedactionSample]:
    """Yield texts that hold no secret: a text without random parts once, every other one `values` times."""
    for name, template in read_forms(Path(__file__).with_name(_FILES[part][1])):
        rng = random.Random(f"{SEED} {name}")
        for _ in range(values if "‹" in template else 1):
            yield RedactionSample(kind=name, context="harmless", text=_fill_template(rng, template)[0], secret=None)


def read_forms(path: Path) -> list[tuple[str, str]]:
    """Return name and text of every line; raise ValueError where a name is given twice."""
    rows = [row.partition("|") for row in path.read_text(encoding="utf-8").splitlines() if row]
    forms = [(name, template.replace("␤", "\n").replace("\\|", "|")) for name, _, template in rows]
    if len(forms) != len(dict(forms)):
        raise ValueError(f"a name is given twice in {path.name}; give each form a name of its own")
    return forms


def _value_maker(generator: str) -> Maker:
    """Return what makes the values of a generator: one of the table, or an alphabet and a length (`hex48`)."""
    if generator in _GENERATORS:
        return _GENERATORS[generator]
    sized = _SIZED.fullmatch(generator)
    if sized is None:
        raise ValueError(f"no generator is called {generator!r}; add it to the table")
    return random_run(_ALPHABETS[sized[1]], int(sized[2]))


def _fill_template(rng: random.Random, template: str) -> tuple[str, list[str]]:
    """Return the text with random values in its places, and those of them that are secrets."""
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        value = _value_maker(match[1] or match[2])(rng)
        if match[1]:
            secrets.append(value)
        return value

    return _PLACE.sub(fill, template), secrets
