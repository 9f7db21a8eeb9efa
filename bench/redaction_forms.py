"""Where people leave secrets: a text a form, written down before any rule was made for it; and where they don't.

A form is one line of `redaction_forms.txt`: its name, and a text in which `«generator»` stands for a secret and
`‹generator›` for something random that is none (a user, a host, a commit). `redaction_lookalikes.txt` has texts without
any secret. A third of the forms, chosen by the hash of the name, is held
out: whoever mends the rules must not read what was missed there (`is_held_out`).

A third part, `redaction_unseen*.txt`, was written when the rules of 0.1 stood, without reading them or the first forms.
Half of it is closed in the same way (`is_closed`).
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.redaction_corpus import (
    BASE62,
    HEX,
    LOWER,
    SEED_WORDS,
    URLSAFE,
    Maker,
    Sample,
    human_password,
    jwt,
    made_password,
    one_of,
    run,
    shape,
    url_password,
    uuid4,
)

SEED: Final = 20_261_122
VALUES_A_FORM: Final = 5
BASE64: Final = BASE62 + "+/"
HELD_OUT_SHARE: Final = 3
"""One form in so many is held out."""
CLOSED_SHARE: Final = 2
"""One form in so many of the third part is closed."""


def is_held_out(kind: str) -> bool:
    """Tell whether a form or a look-alike is kept from whoever mends the rules."""
    return hashlib.sha256(kind.encode()).digest()[0] % HELD_OUT_SHARE == 0


def is_closed(kind: str) -> bool:
    """Tell whether a form or a look-alike of the third part is kept from whoever mends the rules."""
    return hashlib.sha256(f"unseen {kind}".encode()).digest()[0] % CLOSED_SHARE == 0


def _wrapped(*parts: str | Maker) -> Maker:
    inner = shape(*parts)
    return lambda rng: base64.b64encode(inner(rng).encode()).decode()


def _strong(rng: random.Random) -> str:
    body = run(BASE62 + "@#$%&*-_=+.,:;/?!", rng.randrange(10, 20))(rng)
    return rng.choice(string.ascii_letters) + body + rng.choice(string.ascii_uppercase) + rng.choice(string.digits)


def _diceware(rng: random.Random) -> str:
    words = ("copper", "Window", "lantern", "Orbit", "maple", "Thunder", "velvet", "pickle", "Harbor", "cactus")
    return "-".join(rng.choice(words) for _ in range(3)) + str(rng.randrange(10, 100))


def _escaped_pem(rng: random.Random) -> str:
    body = "\\n".join(run(BASE64, 64)(rng) for _ in range(6))
    return body


_GENERATORS: Final[dict[str, Maker]] = {
    "pw": made_password,
    "hp": human_password,
    "strong": _strong,
    "dice": _diceware,
    "urlpw": url_password,
    "alnum": shape(one_of("k", "x", "q"), run(LOWER, 11), run(string.digits, 2)),
    "short": shape(run(string.ascii_letters, 4), run(string.digits, 3), one_of("!", "?", "#")),
    "b62": run(BASE62, 32),
    "b62_20": run(BASE62, 20),
    "b62_40": run(BASE62, 40),
    "b62_64": run(BASE62, 64),
    "url": run(URLSAFE, 43),
    "hex32": run(HEX, 32),
    "hex40": run(HEX, 40),
    "hex64": run(HEX, 64),
    "b64": shape(run(BASE64, 42), one_of("A", "E", "I", "M", "Q", "U", "Y", "c", "g", "k", "o", "s", "w"), "="),
    "b64_16": shape(run(BASE64, 21), one_of("A", "Q", "g", "w"), "=="),
    "b64_64": shape(run(BASE64, 85), one_of("A", "Q", "g", "w"), "=="),
    "b64_long": run(BASE64, 240),
    "b64u_long": run(URLSAFE, 240),
    "uuid": uuid4,
    "jwt": jwt,
    "ghp": shape("ghp_", run(BASE62, 36)),
    "glpat": shape("glpat-", run(URLSAFE, 20)),
    "aws": run(BASE64, 40),
    "akia": shape("AKIA", run(string.ascii_uppercase + "234567", 16)),
    "pem": _escaped_pem,
    "pemline": run(BASE64, 64),
    "half": run(BASE62, 24),
    "bcrypt": shape("$2y$10$", run(BASE62 + "./", 53)),
    "apr1": shape("$apr1$", run(BASE62 + "./", 8), "$", run(BASE62 + "./", 22)),
    "sha512crypt": shape("$6$", run(BASE62 + "./", 16), "$", run(BASE62 + "./", 86)),
    "basic": _wrapped(one_of("admin", "deploy", "svc-ci"), ":", made_password),
    "b64pw": _wrapped(made_password),
    "b64env": _wrapped("DB_PASSWORD=", made_password, "\n"),
    "b64dsn": _wrapped("postgres://app:", url_password, "@db.internal:5432/main"),
    "b64ghp": _wrapped("ghp_", run(BASE62, 36)),
    "b64json": _wrapped('{"user":"app","password":"', made_password, '"}'),
    "otp": run(string.ascii_uppercase + "234567", 32),
    "pin": run(string.digits, 6),
    "user": one_of("app", "deploy", "ada", "svc_ci", "root", "reporting"),
    "host": one_of("db.internal", "10.2.0.14", "mq.corp.lan", "git.vendor.io", "cache-01"),
    "sha": run(HEX, 40),
    "sha8": run(HEX, 8),
    "sha12": run(HEX, 12),
    "ab": run(HEX, 2),
    "hex6": run(HEX, 6),
    "hex8": run(HEX, 8),
    "hex10": run(HEX, 10),
    "hex12": run(HEX, 12),
    "hex16": run(HEX, 16),
    "hex20": run(HEX, 20),
    "hex24": run(HEX, 24),
    "hex60": run(HEX, 60),
    "HEX24": run(HEX.upper(), 24),
    "HEX40": run(HEX.upper(), 40),
    "UUID": lambda rng: uuid4(rng).upper(),
    "ULID": run("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 22),
    "UP9": run(string.ascii_uppercase + string.digits, 9),
    "alnum23": run(LOWER, 23),
    "nix32": run("0123456789abcdfghijklmnpqrsvwxyz", 32),
    "nano5": run(URLSAFE, 5),
    "nano6": run(BASE62, 6),
    "nano8": run(URLSAFE, 8),
    "nano11": run(URLSAFE, 11),
    "nanoid": run(URLSAFE, 21),
    "url43": run(URLSAFE, 43),
    "b64_48": run(BASE64, 64),
    "b64nopad": run(BASE64, 43),
    "colonhex": lambda rng: ":".join(run(HEX.upper(), 2)(rng) for _ in range(20)),
    "digits8": run(string.digits, 8),
    "digits10": run(string.digits, 10),
    "bech": run("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 38),
    "b58": run("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 44),
    "mnem": one_of("magic", "panda", "quiz"),
    "b64url": lambda rng: run(BASE64, 43)(rng).replace("+", "%2B").replace("/", "%2F") + "%3D",
    "tilde": shape(run(BASE62, 3), "8Q~", run(URLSAFE + ".~", 33), run(BASE62, 1)),
    "colontok": shape(run(BASE62, 12), ":", run(URLSAFE, 30)),
    "dottok": shape(run(BASE62, 10), ".", run(URLSAFE, 20), ".", run(BASE62, 12)),
    "plustok": shape(run(BASE62, 9), "+", run(BASE62, 8), "/", run(BASE62, 12), "="),
    "django": run(LOWER + "!@#$%^&*(-_=+)", 50),
    "wpsalt": run(BASE62 + "!@#$%^&*()-_[]{}<>~+=,.;:/?|", 64),
    "seed12": lambda rng: " ".join(rng.choice(SEED_WORDS) for _ in range(12)),
    "BECH58": run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
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
_FORMS: Final = Path(__file__).with_name("redaction_forms.txt")
_LOOK_ALIKES: Final = Path(__file__).with_name("redaction_lookalikes.txt")
_UNSEEN_FORMS: Final = Path(__file__).with_name("redaction_unseen.txt")
_UNSEEN_LOOK_ALIKES: Final = Path(__file__).with_name("redaction_unseen_lookalikes.txt")
_PLACE: Final = re.compile(r"«(\w+)»|‹(\w+)›")


def secret_forms(values: int = VALUES_A_FORM, *, unseen: bool = False) -> Iterator[Sample]:
    """Yield every secret of every form, with `values` sets of random values each; a sample per secret of a text."""
    for name, template in read_forms(_UNSEEN_FORMS if unseen else _FORMS):
        rng = random.Random(f"{SEED} {name}")
        for _ in range(values):
            text, secrets = _filled(rng, template)
            for secret in secrets:
                yield Sample(kind=name, context="form", text=text, secret=secret)


def look_alikes(values: int = VALUES_A_FORM, *, unseen: bool = False) -> Iterator[Sample]:
    """Yield texts that hold no secret: a text without random parts once, every other one `values` times."""
    for name, template in read_forms(_UNSEEN_LOOK_ALIKES if unseen else _LOOK_ALIKES):
        rng = random.Random(f"{SEED} {name}")
        for _ in range(values if "‹" in template else 1):
            yield Sample(kind=name, context="harmless", text=_filled(rng, template)[0], secret=None)


def read_forms(path: Path) -> list[tuple[str, str]]:
    """Return name and text of every line; raise ValueError where a name is given twice."""
    rows = [row.partition("|") for row in path.read_text(encoding="utf-8").splitlines() if row]
    forms = [(name, template.replace("␤", "\n").replace("\\|", "|")) for name, _, template in rows]
    if len(forms) != len(dict(forms)):
        raise ValueError(f"a name is given twice in {path.name}; give each form a name of its own")
    return forms


def _maker(generator: str) -> Maker:
    """Return what makes the values of a generator: one of the table, or an alphabet and a length (`hex48`)."""
    if generator in _GENERATORS:
        return _GENERATORS[generator]
    sized = _SIZED.fullmatch(generator)
    if sized is None:
        raise ValueError(f"no generator is called {generator!r}; add it to the table")
    return run(_ALPHABETS[sized[1]], int(sized[2]))


def _filled(rng: random.Random, template: str) -> tuple[str, list[str]]:
    """Return the text with random values in its places, and those of them that are secrets."""
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        value = _maker(match[1] or match[2])(rng)
        if match[1]:
            secrets.append(value)
        return value

    return _PLACE.sub(fill, template), secrets
