"""Secrets known by their context: a name, a header, a command-line option.

Names alone would redact half of every code base (`token: str`, `password = get_password()`), and randomness alone every
commit hash. A value is a secret where both agree: a rule finds the place, its judge (`secret_judges.py`) looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hyperloci.ingest.secret_judges import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRule:
    """A secret known by what stands before it.

    Attributes:
        kind: what stands in the placeholder.
        anchors: lower-case literals that the pattern begins with; it is tried only where the lowered text holds one.
        pattern: matched at an anchor, without regard to case, `^` and `$` at lines. Its group `bare` or one of those
            named `quoted...` holds the value, `op` what stands between the name and the value.
        judge: decides on the value.
        before: must match the end of the line before the anchor, if given,
        reach: within so many characters.
        only_with: a lower-case literal that must be somewhere in the text, if given.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    judge: Judge
    before: str = ""
    reach: int = 0
    only_with: str = ""


_PASSWORD_NAMES: Final = (
    "password", "passwd", "passphrase", "passw", "pwd", "парол", "contraseña", "contrasena", "passwort",
    "kennwort", "mot de passe", "senha", "密码", "密碼", "口令", "パスワード", "비밀번호",
)  # fmt: skip
_TOKEN_NAMES: Final = (
    "secret", "token", "credential", "passcode", "otp_seed", "otpseed", "токен", "секрет", "密钥", "トークン",
)  # fmt: skip
_KEY_OF: Final = (
    r"(?i:api|app|application|access|account|admin|auth|client|consumer|cookie|deploy|encryption|global|hmac|integration"
    r"|jwt|license|master|origin|private|publish|rest|secret|server|service|session|shared|sign|signing|signature"
    r"|storage|subscription|webhook|write"
    r"|adafruit|airtable|algolia|anthropic|azure|cohere|datadog|deepgram|elastic|fal|fastly|gemini|google|groq|heroku|hubspot"
    r"|linear|mailgun|mistral|newrelic|notion|openai|pagerduty|pinecone|postmark|sendgrid|shodan|snyk|stripe|together|twilio"
    r"|twitter|vercel|virustotal|wandb)[_. -]?\Z"
)

_NAME_REST: Final = r"(?:s|[а-я]{1,2})?"  # `пароля`, `passwords`
_SECRET_REST: Final = r"(?:s|[_-]?(?:access[_-]?key|key[_-]?base|key|token|value|secret)|[а-я]{1,2})?"
_NAME_END: Final = (
    r"(?:[_-]?(?:[0-9]{1,3}|prod(?:uction)?|dev|live|staging|test|old|new|current|default|primary|b64|base64|hex|raw"
    r"|str))?"
)
_CLOSE: Final = r"(?:\\{0,3}[\"'`])?\*{0,2}[\])]?"
_ABOUT: Final = r"(?:[ \t](?:for|to|of|on|in|from|от|для|к)[ \t][\w.@/ -]{1,40}?)?"
_TYPE: Final = r"(?:[ \t]?:[ \t]?[&*]?[a-z][\w\[\]|.]{0,24}[ \t]?(?==))?"
_OPERATOR: Final = (
    # `- name: TOKEN`, and on the next line `value: ...`
    r"[\"']?,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"|[ \t]{0,8}(?P<op>=>|:=|={1,3}|!=|::?|\|\|?|,|>|->|<-|(?<=[ \t])(?:is|was|are|это|ist|es|est)(?=[ \t]))"
    r"\*{0,2}[ \t]{0,8}"
)
_OPEN: Final = r"(?:(?:SecretStr|String|str|bytes|Some)\(|[brfu@$]{1,2}(?=[\"']))?\\{0,3}"
_QUOTED: Final = r"\"(?P<quoted>[^\"\n]{4,512})\"|'(?P<quoted1>[^'\n]{4,512})'|`(?P<quoted2>[^`\n]{4,512})`"
_BARE: Final = r"(?P<bare>[^\s\"'`,;(){}<>\[\]|&\\]{6,512})"
_ASSIGNED: Final = rf"{_NAME_END}{_CLOSE}{_ABOUT}{_TYPE}(?:{_OPERATOR}){_OPEN}(?:{_QUOTED}|{_BARE})"

# A whole line `NAME=value`, as in .env files, shells and Dockerfiles, where a value may hold any character.
_LINE_BEFORE: Final = r"^[ \t]{0,16}(?:(?:[Ee]xport|[Ss]et|ENV|ARG|env|-)[ \t]{1,4})?[A-Z][A-Z0-9_]{0,60}\Z"
_LINE_VALUE: Final = (
    rf"[A-Z0-9_]{{0,12}}[ \t]?(?P<op>=)[ \t]?(?:{_QUOTED}|(?P<bare>[^\s\"'`#]{{6,512}})[ \t]{{0,8}}(?:#.*)?$)"
)

_OPTION_BEFORE: Final = r"(?:^|[^\w-])-?(?:-[a-z]{1,12}){0,3}\Z"
_OPTION_VALUE: Final = rf"(?P<op>[ \t=]{{1,4}})(?:{_QUOTED}|(?P<bare>[^\s\"'`|;<>]{{4,512}}))"
_COMMAND: Final = r"\b(?:[^\n\\]|\\[\s\S]){0,300}?[ \t]"
_TOKEN_CHARS: Final = r"[A-Za-z0-9._~+/=:%-]"

VALUES: Final = (
    ValueRule(
        kind="bearer-token",
        anchors=("bearer ",),
        pattern=rf"bearer[ \t]{{1,4}}(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=Judge.RANDOM,
    ),
    ValueRule(
        kind="basic-auth",
        anchors=("basic ",),
        pattern=r"basic[ \t]{1,4}(?P<bare>[A-Za-z0-9+/]{8,512}={0,2})",
        judge=Judge.BASIC,
    ),
    ValueRule(
        kind="basic-auth",
        anchors=('"auth', "_auth"),
        pattern=r"[\"_]auth\\{0,3}\"?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}\"?(?P<bare>[A-Za-z0-9+/]{8,512}={0,2})",
        judge=Judge.BASIC,
    ),
    ValueRule(
        kind="authorization",
        anchors=("authorization", "x-api-key", "x-auth"),
        pattern=r"(?:authorization|x-api-key|x-auth[a-z-]{0,20})\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
        rf"(?:(?:token|apikey|api-key|ssws|key|digest)[ \t=]{{1,4}})?(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=Judge.RANDOM,
    ),
    ValueRule(
        kind="url-password",
        anchors=("://",),
        pattern=r"://(?P<user>[^\s/:@\"'<>?#]{0,128}+):(?P<bare>[^\s/\"'<>]{1,256})@(?=[\w\[{$%.-])",
        judge=Judge.URL_PASSWORD,
    ),
    ValueRule(
        kind="url-token",
        anchors=("key=", "sig=", "signature=", "code=", "x-amz-", "x-goog-"),
        pattern=r"(?<=[?&;])(?:key|sig|signature|code|x-(?:amz|goog)-(?:signature|credential|security-token))"
        rf"=(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=Judge.RANDOM,
    ),
    ValueRule(
        kind="session-cookie",
        anchors=("session", "sid=", "connect.sid=", "phpsessid=", "jsessionid=", "remember_token=", "auth_token="),
        pattern=r"(?:session(?:_?id)?|sid|connect\.sid|phpsessid|jsessionid|remember_token|auth_token)="
        rf"(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=Judge.RANDOM,
        only_with="cookie",
    ),
    ValueRule(
        kind="aws-secret-key",
        anchors=("akia", "asia"),
        pattern=r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s\S]{0,160}?"
        r"(?<![a-z0-9/+=_-])(?P<bare>[a-z0-9/+]{40})(?![a-z0-9/+=_-])",
        judge=Judge.RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=_PASSWORD_NAMES,
        pattern=rf"(?:{'|'.join(_PASSWORD_NAMES)}){_NAME_REST}{_ASSIGNED}",
        judge=Judge.PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("_pass", "-pass"),
        pattern=rf"[_-]pass{_ASSIGNED}",
        judge=Judge.PASSWORD,
    ),
    ValueRule(
        kind="secret",
        anchors=_TOKEN_NAMES,
        pattern=rf"(?:{'|'.join(_TOKEN_NAMES)}){_SECRET_REST}{_ASSIGNED}",
        judge=Judge.RANDOM,
    ),
    ValueRule(kind="secret", anchors=("key",), pattern=f"key{_ASSIGNED}", judge=Judge.RANDOM, before=_KEY_OF, reach=16),
    ValueRule(
        kind="secret",
        anchors=("_auth", "_pat", "-pat"),
        pattern=f"[_-](?:auth|pat){_ASSIGNED}",
        judge=Judge.RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=("pass", "pwd"),
        pattern=f"(?:PASS|PWD){_LINE_VALUE}",
        judge=Judge.LINE_PASSWORD,
        before=_LINE_BEFORE,
        reach=100,
    ),
    ValueRule(
        kind="secret",
        anchors=("_key", "_token", "_secret", "_cred", "_auth", "_pat", "_salt", "_dsn"),
        pattern=f"_(?:KEY|TOKEN|SECRET|CRED|AUTH|PAT|SALT|DSN){_LINE_VALUE}",
        judge=Judge.RANDOM,
        before=_LINE_BEFORE,
        reach=100,
    ),
    ValueRule(
        kind="password",
        anchors=("-pass", "-pwd"),
        pattern=rf"-(?:pass(?:word|wd|phrase)?|pwd){_OPTION_VALUE}",
        judge=Judge.OPTION_PASSWORD,
        before=_OPTION_BEFORE,
        reach=48,
    ),
    ValueRule(
        kind="password",
        anchors=("-storepass", "-keypass", "-passin", "-passout"),
        pattern=r"-(?:storepass|keypass|passin|passout)(?P<op>[ \t]{1,4})(?:pass:)?(?P<bare>[^\s\"'`|;<>]{4,512})",
        judge=Judge.OPTION_PASSWORD,
    ),
    ValueRule(
        kind="secret",
        anchors=("-token", "-secret", "-key", "-api-key", "-apikey", "-pat"),
        pattern=rf"-(?:token|secret|(?:api-?)?key|pat){_OPTION_VALUE}",
        judge=Judge.RANDOM,
        before=_OPTION_BEFORE,
        reach=48,
    ),
    ValueRule(
        kind="password",
        anchors=("curl ", "wget "),
        pattern=rf"(?:curl|wget){_COMMAND}(?:-u|--user|-a|--auth)[ \t=]?[\"']?[^\s:\"'$]{{1,64}}:"
        r"(?P<bare>[^\s\"'/]{4,256})",
        judge=Judge.OPTION_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("mysql", "mariadb", "sshpass ", "docker login ", "redis-cli "),
        pattern=rf"(?:(?:mysql\w{{0,8}}|mariadb\w{{0,8}}|sshpass){_COMMAND}-p|docker login{_COMMAND}-p[ \t]"
        rf"|redis-cli{_COMMAND}-a[ \t])[ \t]?[\"']?(?P<bare>[^\s\"']{{4,256}})",
        judge=Judge.OPTION_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("machine",),
        pattern=r"machine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?P<bare>\S{1,256})",
        judge=Judge.ANY,
    ),
    ValueRule(
        kind="password",
        anchors=(":5432:", ":*:"),
        pattern=r":(?:5432|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<bare>\S{4,256})$",
        judge=Judge.ANY,
        before=r"^[\w.*-]{1,200}\Z",
        reach=201,
    ),
    ValueRule(
        kind="kubernetes-secret",
        anchors=(": ",),
        pattern=r":[ \t]{1,4}\"?(?P<bare>[A-Za-z0-9+/]{8,4096}={0,2})\"?[ \t]*$",
        judge=Judge.BASE64,
        before=r"^(?:  |\t){1,4}[\w.-]{1,100}\Z",
        reach=120,
        only_with="kind: secret",
    ),
    ValueRule(
        kind="seed-phrase",
        anchors=("seed", "mnemonic", "recovery"),
        pattern=r"(?:seed|mnemonic|recovery)[ _-]?(?:phrase|words?|seed)?[\"']?[ \t]{0,4}(?:is|=|:)[ \t]{0,4}[\"'`]?"
        r"(?P<bare>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\b",
        judge=Judge.ANY,
    ),
)
"""Secrets by context. Order is rank, after every row of `TOKENS`."""
