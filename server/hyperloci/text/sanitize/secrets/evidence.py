"""Evidence: finds random values near any weak sign of a secret, such as a name in any syntax or a service.

The rules of `contexts.py` begin at a name and read on. This begins at the value: a long random word is rare in any
text, so it is cheap to look at what stands before it. What is public by its nature (hashes, commits, public
keys, identifiers) looks as random, and is left where its name or its form says so. The words are data.

It is one file, though long: most of it is the tables of words, which only the patterns beside them read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.secrets.randomness import class_change_rate, looks_random
from hyperloci.text.sanitize.secrets.value_checks import SecretCandidate, SecretJudgement, is_secret

REACH: Final = 80
"""Characters before a value in which its name must stand."""
MIN_DIGITS: Final = 3
"""Digits of a random word of twenty characters: a class of a library has one."""
MIN_PROSE_VALUE: Final = 20
"""Characters of the shortest value that a sentence makes a secret, with capitals, small letters and digits."""
MIN_KEY: Final = 32
"""Characters of a value that nothing but `key` names: keys of elements and rows are shorter."""
MIN_VALUE_CHOPPINESS: Final = 0.2
"""Hex keys have 0.47, base62 0.42, `min12-upper1-digit1` 0.16."""
MIN_FEW_DIGITS_CHOPPINESS: Final = 0.28
"""What a value with a digit or two must reach: classes have such names."""
_SERVICES: Final = [
    "adafruit",
    "adobe",
    "airtable",
    "algolia",
    "alibaba",
    "anthropic",
    "artifactory",
    "asana",
    "atlassian",
    "auth0",
    "aws",
    "azure",
    "beamer",
    "bitbucket",
    "bittrex",
    "brevo",
    "bugsnag",
    "buildkite",
    "circleci",
    "clickhouse",
    "clickup",
    "cloudflare",
    "cloudinary",
    "codecov",
    "co_api_key",
    "cohere",
    "coinbase",
    "confluence",
    "confluent",
    "contentful",
    "contribsys",
    "databricks",
    "datadog",
    "deepgram",
    "digitalocean",
    "discord",
    "doppler",
    "drone",
    "dropbox",
    "dynatrace",
    "elastic",
    "etsy",
    "facebook",
    "fastly",
    "figma",
    "finicity",
    "finnhub",
    "firebase",
    "flickr",
    "freshbooks",
    "freshdesk",
    "gcp",
    "gemini",
    "github",
    "gitlab",
    "gitter",
    "gocardless",
    "grafana",
    "groq",
    "harness",
    "heroku",
    "hubspot",
    "intercom",
    "jfrog",
    "jira",
    "kraken",
    "kucoin",
    "launchdarkly",
    "linear",
    "linked[_-]?in",
    "lob",
    "looker",
    "mailchimp",
    "mailgun",
    "mailjet",
    "mapbox",
    "mattermost",
    "maxmind",
    "meraki",
    "message[_-]?bird",
    "mistral",
    "mixpanel",
    "netlify",
    "new[_-]?relic",
    "new-york-times",
    "nytimes",
    "octopus",
    "okta",
    "openai",
    "openweather",
    "pagerduty",
    "paypal",
    "plaid",
    "planetscale",
    "postmark",
    "xray",
    "private[_-]?ai",
    "pusher",
    "rapidapi",
    "rollbar",
    "segment",
    "sendbird",
    "sendgrid",
    "sentry",
    "shopify",
    "sidekiq",
    "slack",
    "snyk",
    "sonar\\w{0,4}",
    "sourcegraph",
    "spotify",
    "square",
    "squarespace",
    "stripe",
    "sumo",
    "supabase",
    "tele?[_-]?gra?m?",
    "travis",
    "trello",
    "twilio",
    "twitch",
    "twitter",
    "typeform",
    "vercel",
    "yandex",
    "zapier",
    "zendesk",
    "zoom",
]
_NAMES: Final = [
    "token",
    "secret",
    "credential",
    "creds",
    "passw",
    "passphrase",
    "api[_.-]?key",
    "access[_.-]?key",
    "auth(?!or)",
    "bearer",
    "licen[sc]e[_.-]?key",
    "signing[_.-]?key",
    "private[_.-]?key",
    "webhook",
    "session",
    "csrf",
    "xsrf",
    "cookie",
]
"""Parts of a name that make a random value a secret, whatever else stands in the name."""
_ENDS: Final = ("key", "access", "auth", "pass", "pwd", "psk", "dsn", "salt", "sig")
"""The same, where the name ends with it."""
_STATED: Final = [
    "api[",
    "-]?key",
    "token",
    "secret",
    "credential",
    "bearer",
    "passphrase",
    "password",
    "unseal[",
    "]key",
    "root[",
    "]token",
    "access[",
    "]key",
    "key",
    "chave",
    "segredo",
    "clé",
    "jeton",
    "clave",
    "llave",
    "secreto",
    "chiave",
    "segreto",
    "schlüssel",
    "geheimnis",
    "sleutel",
    "klucz",
    "nyckel",
    "avain",
    "anahtar",
    "ключ",
    "токен",
    "секрет",
    "пароль",
]
"""What a sentence calls a secret."""
_STATED_UNSPACED: Final = (
    "密钥",
    "密鑰",
    "金鑰",
    "令牌",
    "秘密鍵",
    "鍵",
    "キー",
    "トークン",
    "シークレット",
    "토큰",
    "비밀키",
    "키",
)
_PUBLIC: Final = (
    r"(?:public|publishable|pub(?![a-z])|site|cache|sort|primary|foreign|partition|idempotency|host|routing|object|shard"
    r"|row|group|dedup|lookup|known|finger|thumb|key_?id|[_\s.-]id|\bid|Id|ID|uuid|guid|hash|sha[0-9]*|md5|checksum"
    r"|digest|integrity|commit|revision|rev|version|etag|url|uri|path|file|name|type|count|expir\w{0,8}|created|updated"
    r"|resolved|snapshot|address|ref|branch|tag|trace|span|request|correlation|account|tenant|project|h1|anchor|deploy(?:ment)?|delivery|instance|message|template|issue|release|build|index|order|event|customer|invoice|user|page|file|kid|checksum/secret|secure|mint|contract|wallet|encrypted\w{0,8})"
)
"""What a name says of a value that everyone may see."""


@cache
def _public_pattern() -> re.Pattern[str]:
    return re.compile(rf"{_PUBLIC}s?[\"'`\])]{{0,3}}[\s:=>,|?([{{\"'`#]{{0,8}}\Z")


@cache
def _public_name_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?i:public|publishable|site|cache|sort|primary|foreign|partition|idempotency|host|routing|object|shard|known"
        r"|ssh|finger|verif\w{0,8}|peer|node|device|identity|ed25519|x25519|gpg|pgp|trust(?:ed)?|package|recipient|owner"
        r"|component|item|element|map|dict|redis|s3|document|record|message|event|job|task|query|translation|field|attr"
        r"|issue|bundle|artifact|build)[\w ._-]{0,12}\Z"
    )


@cache
def public_value_pattern() -> re.Pattern[str]:
    """Return the pattern of random values that are public by their form: hashes, public keys, names of resources."""
    return re.compile(
        r"(?:sha[0-9]{1,3}|md5)[-:_]|AAAA[BCE][0-9][NV]|pk[_.](?:live|test|eyJ)|MII[A-Z]|[\w./-]{1,120}\.[a-z]{2,4}\Z"
        r"|(?:Qm|bafy|0x)|Ag[A-D][A-Za-z0-9+/]{100}|(?:i|ami|sg|vpc|subnet|vol|snap|eni|rtb|igw|acl)-[0-9a-f]{8,17}\Z|[\w.]{0,60}?[A-Z][a-z]{4,}[A-Z][a-z]{4,}|[0-9-]{1,40}\Z|[0-9]{4}-[0-9]{2}-[0-9]{2}|FLWPUBK|[\w.+/-]{0,80}/(?:[a-z]{3,20})/"
    )


@cache
def _is_file_pattern() -> re.Pattern[str]:
    return re.compile(
        r"\.(?:[jt]sx?|py|go|rs|[ch]|cc|cpp|t?gz|zip|json|ya?ml|md|toml|rb|java|php|css|html?|whl|jar|lock|txt|xml|sh|sum"
        r"|bin|so|deb|rpm|exe|img|iso|key|pem|crt)\W{0,3}\Z|encrypt"
    )


@cache
def _forge_pattern() -> re.Pattern[str]:
    return re.compile(r"git(?:hub|lab)|bitbucket", re.IGNORECASE)


@cache
def _strong_pattern() -> re.Pattern[str]:
    return re.compile(r"token|secret|key|cred", re.IGNORECASE)


@cache
def _session_pattern() -> re.Pattern[str]:
    return re.compile(r"session|cookie|webhook|git(?:hub|lab)|auth", re.IGNORECASE)


_SEPARATOR: Final = (
    r"[\s\"'`\])]{0,6}(?:,\s{0,20}[\"']?value[\"']?\s{0,2})?(?:\)(?=[ \t])|=>|->|:="
    r"|\|\||:{1,3}=?|\?=|=|>|,|\bis\b)[\s\"'`=(\[{“«:]{0,6}(?:[brfu@&]{1,2}[\"'])?\Z"
)


@cache
def _named_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?:{'|'.join((*_SERVICES, *_NAMES))})(?P<rest>[ \t\w.-]{{0,20}})"
        rf"|(?P<end>{'|'.join(_ENDS)})s?(?:_?[0-9]{{1,2}})?){_SEPARATOR}",
        re.IGNORECASE,
    )


@cache
def _stated_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?:\b(?:{'|'.join(_STATED)})(?:s|es|en|e|а|ом|ы)?\b|{'|'.join(_STATED_UNSPACED)})"
        r"[^\n=;(){}<>/]{0,28}?[\s:：=是은는は\"'`“«&]{1,5}\Z",
        re.IGNORECASE,
    )


@cache
def _stated_public_pattern() -> re.Pattern[str]:
    return re.compile(
        r"public|publishable|finger|site[ _-]?key|hash|checksum|digest|verif|ssh|gpg|pgp|peer|cache|commit"
        r"|address|\bid\b",
        re.IGNORECASE,
    )


_VALUE: Final = re.compile(r"(?<![A-Za-z0-9+/_.~%-])[A-Za-z0-9+_.~%-][A-Za-z0-9+/_.~%-]{15,}+={0,2}")
_DIGIT: Final = re.compile(r"[^0-9]*[0-9]")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}\Z")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_Span = tuple[int, int]


def find_named_secrets(text: str, runs: str) -> Iterator[_Span]:
    """Yield the random words of `text` before which something names a secret; `runs` holds the long words of it."""
    numbered = "\n".join(run for run in runs.split("\n") if _DIGIT.match(run))
    values = {value.rstrip(".") for value in _VALUE.findall(numbered) if _DIGIT.match(value) and _is_random(value)}
    if not values:
        return
    for match in _VALUE.finditer(text):
        value = match.group().rstrip(".")
        if value in values and _is_named(text, match.start(), value):
            yield match.start(), match.start() + len(value)


def is_public(text: str, at: int) -> bool:
    """Tell whether the random word at `at` is part of an address, or of a name that says that everyone may see it."""
    first = max(0, at - REACH)
    return _public_pattern().search(text, first, at) is not None or (
        "://" in text[max(0, at - MAX_ADDRESS) : at]
        and _address_pattern().search(text, max(0, at - MAX_ADDRESS), at) is not None
    )


MAX_ADDRESS: Final = 200
"""Characters of an address before a word of it."""


@cache
def _address_pattern() -> re.Pattern[str]:
    return re.compile(
        r"https?://[^\s\"'<>()]{1,160}(?<!token)(?<!secret)(?<!auth)(?<!key)(?<!sig)(?<!pass)(?<!code)[/=]\Z",
        re.IGNORECASE,
    )


def _is_random(value: str) -> bool:
    enough = MIN_VALUE_CHOPPINESS if sum(map(str.isdigit, value)) >= MIN_DIGITS else MIN_FEW_DIGITS_CHOPPINESS
    return looks_random(value) and class_change_rate(value) >= enough and not public_value_pattern().match(value)


def _is_named(text: str, at: int, value: str) -> bool:
    first = max(0, at - REACH)
    if text[at - 1 : at] in ("#", "@", "/") or "ENC[" in text[first:at] or _public_pattern().search(text, first, at):
        return False
    named = _named_pattern().search(text, first, at)
    if named and is_secret(
        SecretJudgement.RANDOM, SecretCandidate(value=value, after=text[at + len(value) : at + len(value) + 1])
    ):
        if _COMMIT.match(value) and (_forge_pattern().match(named.group()) or "SPEC CHECKSUMS" in text):
            return False
        if (
            _UUID.match(value)
            and not _strong_pattern().search(named.group())
            and _session_pattern().search(named.group())
        ):
            return False
        return _is_file_pattern().search(named["rest"] or "") is None and not (
            named["end"] and _is_weak(text, named.start("end"), named["end"], value)
        )
    if text.startswith("-----", max(0, text.rfind("-", first, at) - 4)):
        return False  # what follows the first line of a certificate or a public key
    said = _stated_pattern().search(text, first, at) if _mixes_character_classes(value) else None
    return said is not None and not _stated_public_pattern().search(text, max(0, said.start() - 24), at)


def _is_weak(text: str, at: int, end: str, value: str) -> bool:
    """Tell whether a name that only ends like one of a secret says nothing of this value."""
    before = text[max(0, at - 24) : at]
    if _UUID.match(value) or _public_name_pattern().search(before):
        return True
    alone = not before[-1:].isalpha() and before[-1:] not in ("_", "-")
    return alone and end.lower() == "key" and not (len(value) >= MIN_KEY and _mixes_character_classes(value))


def _mixes_character_classes(value: str) -> bool:
    return (
        len(value) >= MIN_PROSE_VALUE
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and class_change_rate(value) >= 0.2
    )
