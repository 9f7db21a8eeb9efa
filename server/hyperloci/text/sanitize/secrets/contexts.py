"""Context rules: secrets recognised by their context, such as a name, a header or a command-line option.

Names alone would redact half of every code base (`token: str`, `password = get_password()`), and randomness alone every
commit hash. A value is a secret if both agree: a rule finds the place, and a check (`value_checks.py`) tests the value.

The module is long because it is a table: a rule is a row, and what several of them are made of stands above.
"""

from __future__ import annotations

from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.secrets.password_names import (
    AMBIGUOUS_NAMES,
    AMBIGUOUS_UNSPACED_NAMES,
    COMMON_UNSPACED_NAMES,
    SPACED_NAMES,
    UNSPACED_NAMES,
    UNSPACED_VERBS,
    VERBS,
)
from hyperloci.text.sanitize.secrets.value_checks import SecretJudgement


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
        max_distance: within so many characters.
        required_text: a lower-case literal that must be somewhere in the text, if given.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    judge: SecretJudgement
    before: str = ""
    max_distance: int = 0
    required_text: str = ""


_PASSWORD_NAMES: Final = (
    "password", "passwd", "passphrase", "passw", "pwd", "парол", "contraseña", "contrasena", "passwort",
    "kennwort", "mot de passe", "senha", "hasło", "wachtwoord", "lösenord", "heslo", "şifre", "كلمة المرور",
    "recovery code", "backup code", "access code",
)  # fmt: skip
_SHORT_NAMES: Final = (
    "pass",
    "pw",
    "psk",
    "authtok",
    "authtoken",
    "requirepass",
    "masterauth",
    "mdp",
    "clave",
    "pincode",
    "xauth",
    "securestring",
)
"""Names that are also parts of other words: they count between boundaries only."""
_TOKEN_NAMES: Final = (
    "secret", "token", "credential", "passcode", "otp_seed", "otpseed", "authtok", "salt", "psk", "instrumentationkey",
    "токен", "секрет", "密钥", "トークン",
)  # fmt: skip
_KEY_OF: Final = (
    r"(?i:api|app|application|access|account|admin|auth|client|consumer|cookie|deploy|encryption|global|hmac"
    r"|integration"
    r"|jwt|license|master|origin|private|publish|rest|secret|server|service|session|shared|sign|signing|signature"
    r"|storage|subscription|webhook|write"
    r"|account|crypt|decryption|validation|fernet|functions?|client[_-]?key[_-]?data|genie|maps|network|openai"
    r"|preshared"
    r"|project|push|sas|unseal"
    r"|adafruit|airtable|algolia|anthropic|azure|cohere|datadog|deepgram|elastic|fal|fastly|gemini|google|groq|heroku"
    r"|hubspot"
    r"|linear|mailgun|mistral|newrelic|notion|openai|pagerduty|pinecone|postmark|sendgrid|shodan|snyk|stripe|together"
    r"|twilio"
    r"|twitter|vercel|virustotal|wandb)(?:[_. -]?|[\"']?\s{0,2}(?::|=>)\s{0,2}[{\[]\s{0,4}[\"']?)\Z"
)

_NAME_REST: Final = r"(?:s|[а-я]{1,2})?"  # `пароля`, `passwords`
_SECRET_REST: Final = r"(?:s|[_-]?(?:access[_-]?key|key[_-]?base|key|token|value|secret)|[а-я]{1,2})?"
_NAME_END: Final = (
    r"(?:[_-]?(?:[0-9]{1,3}|prod(?:uction)?|dev|live|staging|test|old|new|current|default|primary|confirm(?:ation)?"
    r"|repeat|again|b64|base64|hex|raw"
    r"|str))?"
)
_CLOSE: Final = r"(?:\\{0,3}[\"'`])?\*{0,2}[\])]?"
_ABOUT: Final = r"(?:[ \t](?:for|to|of|on|in|from|от|для|к)[ \t][\w.@/ -]{1,40}?)?"
_TYPE: Final = r"(?:[ \t]?:[ \t]?[&*]?[a-z][\w\[\]|.]{0,24}[ \t]?(?==))?"
_QUOTE: Final = r"(?:\\{0,3}[\"'`]|[“”„«»‘’「」]|&quot;|&#3[49];|\\u0022|\*{2})"
_LINK: Final = (
    r"(?:is|are|was|by|be|been|will|now|still|just|currently|the|same|new|set|reset|changed?|changing|rotated|updated|to"
    r"|as"
    r"|generated|password|send|value|name|key|type|string|content|default|text|cdata|plaintext|identify|level"
    r"|lautet|ist|jetzt|auf|neu|es|ahora|est|maintenant|sono|è|é|är|jest|to|это|теперь|は|是|为|為|이|는)"
)
"""Words that may stand between a name and its value."""
_GAP: Final = (
    r"(?>(?:<<-?[A-Z]{2,8}(?=\n)|\{[A-Z0-9]{2,10}\}|[0-9](?=[ \t])"  # a here-document, a scheme as in `{SSHA}`, a level
    r"|[ \t]\w{1,16}=\"[\w#/:.-]{0,60}\"(?=[\s>/])"  # an attribute of the same element
    r"|!{1,2}\w{1,24}(?=[ \t])|\.{3,24}|#(?=\")|&\w{1,24}(?=[ \t])|\+(?==)"  # YAML: a type, an anchor; what is appended
    r"|:[ \t]?&?(?:'static )?[a-z][\w.]{0,16}[ \t]?(?==)|\w{1,12}\([0-9]{1,4}\)"  # a type
    r"|[)\]]{0,2}\.\w{1,20}\(|(?!ObjectId|UUID)[\w:.]{1,32}\((?=[\"'`@brfu0-9])"  # calls round the value
    r"|[;|]s:[0-9]{1,6}:(?=\")"  # a text that PHP wrote into a session
    rf"|[\s:：=＝>→?|,(\[{{&!\]]|@(?=[\"'])|</?|-{{1,2}}>|[–—-]{{1,2}}(?=[\s>])|{_QUOTE}|\b{_LINK}\b|[은는は是为為]|__?/"
    r"){1,32})"
)
_OPENED: Final = r"(?<=[\s:=>|,(\[{@brfuN#\\][\"'`])"
_QUOTED_ENDS: Final = (
    rf"{_OPENED}(?:(?<=\")(?P<quoted>[^\"\n\s=,:;)>][^\"\n]{{3,256}})(?=\")"
    r"|(?<=')(?P<quoted1>[^'\n\s=,:;)>][^'\n]{3,256})(?=')"
    r"|(?<=`)(?P<quoted2>[^`\n\s=,:;)>][^`\n]{3,256})(?=`))"
)
_LOOSE_BARE: Final = r"(?P<bare>(?>(?:[^\s\"'`“”„«»‘’「」<>()\[\]{}|&]|&(?![\w#]{1,20}[=;])){6,256}))"
_LOOSE: Final = rf"{_GAP}(?:{_QUOTED_ENDS}|{_LOOSE_BARE})"
_TOPIC: Final = (
    r"(?:[ \t](?:is|was|has|have)[ \t](?:been[ \t])?\w{3,12}(?=[ \t](?:to|for|as)\b))?(?:[ \t](?:for|to|of|on|in|at"
    r"|from|от|для|к|von|für|zu|de|del|du|di|para|pour|na|do)"
    r"(?:[ \t][\w.@/'%-]{1,24}){1,6}?(?:[ \t]\([^()\n]{1,40}\))?(?=[ \t]{0,2}(?:[:：=>→–—-]|(?:is|ist|es|est"
    r"|é|è|är|jest|это|to"
    r"|auf)\b)))?"
)
"""`password for the staging box`, where a mark or a verb follows."""
_VERB: Final = rf"(?<=[ \t])(?:{VERBS})(?=[ \t:])"
_NEAR: Final = rf"(?>(?:[ \t:=>→?|,(!]|[–—-](?=[ \t>])|{_QUOTE}|{_VERB}){{1,16}})(?:{_QUOTED_ENDS}|{_LOOSE_BARE})"
"""What may stand between a name of a further language and its value, and the value."""
_WORDS: Final = r"(?:[ \t][^\s0-9:=>→|,(){}\[\]\"'`]{1,24}){0,4}?"
"""A few words on what the password is for, in any language: only what follows them tells where they end. A word with
digits is rather the password."""
_ASCII_BARE: Final = r"(?P<bare>(?>[!#-&*-;=?-Z^_a-z|~]{6,128}))"
"""A value among letters that stand without blanks: it ends where they begin again."""
_UNSPACED: Final = r"\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff5b-\uffef"
"""Letters and marks of the writings that put no blanks between words, but not their digits."""
_UNSPACED_CHARS: Final = rf"(?:[^\s\"'`“”„«»‘’<>()\[\]{{}}|&{_UNSPACED}]|&(?![\w#]{{1,20}}[=;])){{6,256}}"
_UNSPACED_BARE: Final = rf"(?P<bare>(?>{_UNSPACED_CHARS}))"
_BEHIND_LETTERS: Final = rf"(?>[{_UNSPACED}]{{0,16}}){_UNSPACED_BARE}"
"""A value that ends where such letters begin again; some may stand before it: `パスワードは新しくXです`."""
_AMONG_LETTERS: Final = rf"(?:(?>[{_UNSPACED}]{{1,16}})|(?=(?>{_UNSPACED_CHARS})[”’{_UNSPACED}])){_UNSPACED_BARE}"
"""A value with letters right before or behind it: `パスワードはXです`."""
_JOINED: Final = rf"(?>(?:[ \t:=>→?|,(!]|{_QUOTE}|{UNSPACED_VERBS}){{1,12}})(?:{_QUOTED_ENDS}|{_ASCII_BARE})"
_OPERATOR: Final = (
    # `- name: TOKEN`, and on the next line `value: ...`
    r"[\"']?,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"|[ \t]{0,40}(?P<op>=>|:=|={1,3}|!=|::?|\|\|?|,|>|->|<-|(?<=[ \t])(?:is|was|are|это|ist|es|est)(?=[ \t]))"
    r"\*{0,2}[ \t]{0,40}"
)
_OPEN: Final = r"(?:(?:SecretStr|String|str|bytes|Some)\(|[brfu@$]{1,2}(?=[\"']))?\\{0,3}"
_QUOTED: Final = r"\"(?P<quoted>[^\"\n]{4,512})\"|'(?P<quoted1>[^'\n]{4,512})'|`(?P<quoted2>[^`\n]{4,512})`"
_BARE: Final = r"(?P<bare>[^\s\"'`,;(){}<>\[\]|&\\]{6,512})"
_BEFORE_VALUE: Final = rf"{_NAME_END}{_CLOSE}{_ABOUT}{_TYPE}(?:{_OPERATOR}){_OPEN}"
_ASSIGNED: Final = rf"{_BEFORE_VALUE}(?:{_QUOTED}|{_BARE})"

# A whole line `NAME=value`, as in .env files, shells and Dockerfiles, where a value may hold any character.
_LINE_SHOWN: Final = (
    r"(?:[+-]{1,2}|>[ \t]|[ \t]{0,8}[0-9]{1,6}(?:\t|→|:[ \t]?|[ \t]{1,4}\|[ \t])"
    r"|[\w./@~-]{1,80}[:-](?:[0-9]{1,6}[:-])?)?"
)
"""What a diff, a viewer that numbers lines, or `grep` puts before a line of a file."""
_LINE_BEFORE: Final = (
    rf"^{_LINE_SHOWN}[ \t]{{0,40}}"
    r"(?:(?:[Ee]xport|[Ss]et|ENV|ARG|env|-)[ \t]{1,4})?[\"']?[A-Z][A-Z0-9_]{0,60}\Z"
)
_NOT_PUBLIC_LINE_BEFORE: Final = _LINE_BEFORE.replace(r"\Z", r"(?<!SITE)(?<!PUBLIC)(?<!PUBLISHABLE)\Z")
_LINE_VALUE: Final = (
    rf"[A-Z0-9_]{{0,12}}[ \t]?(?P<op>=)[ \t]?(?:{_QUOTED}|(?P<bare>[^\s\"'`#]{{6,512}})[\"']?,?[ \t]{{0,8}}(?:#.*)?$)"
)

_WORD_START: Final = r"(?:^|[^A-Za-z]|[a-z](?=[A-Z]))\Z"

_OPTION_BEFORE: Final = r"(?:^|[^\w-])-?(?:-[a-z]{1,12}){0,3}\Z"
_OPTION_VALUE: Final = rf"(?P<op>[ \t=]{{1,4}})(?:{_QUOTED}|(?P<bare>[^\s\"'`|;<>]{{4,512}}))"
_TOKEN_CHARS: Final = r"[A-Za-z0-9._~+/=:%-]"

# An argument of a call, however it is written: names, literals, and calls without calls in them.
_ARGUMENT: Final = (
    r"(?>(?:[^,()\[\]\"'\n;]|\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\]){1,80})"
)
_LITERAL: Final = r"(?:\"(?P<quoted>[^\"\n]{4,128})\"|'(?P<quoted1>[^'\n]{4,128})')(?=[ \t\n]{0,8}[,)])"
_ATTRIBUTE_VALUE: Final = r"value=(?:\"(?P<quoted>[^\"<>\n]{4,512})\"|'(?P<quoted1>[^'<>\n]{4,512})')"
_PASSWORD_ATTRIBUTE: Final = (
    r"(?:key|name|type)=[\"'][\w.:/ -]{0,80}?(?:pass(?:word|wd|phrase)?|pwd|passwort|kennwort)[0-9]{0,2}[\"']"
)
_TOKEN_ATTRIBUTE: Final = (
    r"(?:key|name)=[\"'][\w.:/ -]{0,80}?(?:secret|token|api[_.-]?key|credential|psk)s?[0-9]{0,2}[\"']"
)
_BETWEEN_ATTRIBUTES: Final = r"\s[^<>]{0,80}?(?<=\s)"

VALUES: Final = (
    ValueRule(
        kind="bearer-token",
        anchors=("bearer ",),
        pattern=rf"bearer[ \t]{{1,4}}(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="basic-auth",
        anchors=("basic ",),
        pattern=r"basic[ \t]{1,4}(?P<bare>[A-Za-z0-9+/]{8,512}={0,2})",
        judge=SecretJudgement.BASIC,
    ),
    ValueRule(
        kind="basic-auth",
        anchors=('"auth', "_auth"),
        pattern=r"[\"_]auth\\{0,3}\"?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}\"?(?P<bare>[A-Za-z0-9+/]{8,512}={0,2})",
        judge=SecretJudgement.BASIC,
    ),
    ValueRule(
        kind="authorization",
        anchors=("authorization", "x-api-key", "x-auth"),
        pattern=r"(?:authorization|x-api-key|x-auth[a-z-]{0,20})\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
        rf"(?:(?:token|apikey|api-key|ssws|key|digest)[ \t=]{{1,4}})?(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="url-password",
        anchors=("://",),
        pattern=r"://(?P<user>[^\s/:@\"'<>?#]{0,128}+):(?P<bare>[^\s/\"'<>]{1,256})@(?=[\w\[{$%.-])",
        judge=SecretJudgement.URL_PASSWORD,
    ),
    ValueRule(
        kind="url-password",  # With a slash: only where no path is usual.
        anchors=("postgres://", "postgresql://", "mysql://", "mariadb://", "mongodb://", "redis://", "amqp://"),
        pattern=r"[a-z]{5,10}://[^\s/:@\"'<>?#]{0,128}+:(?P<bare>(?![0-9]{1,5}/)[^\s\"'<>@]{1,256})@(?=[\w\[{$%.-])",
        judge=SecretJudgement.URL_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("--from-literal",),
        pattern=r"--from-literal(?:=|[ \t]{1,4})[\"']?[\w.-]{1,80}=(?P<bare>[^\s\"'`]{4,512})",
        judge=SecretJudgement.PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("kv put ", "kv patch "),
        pattern=r"kv (?:put|patch)(?:[ \t]+-[\w=-]{1,40}){0,4}[ \t]+[\w./-]{1,120}"
        r"(?:[ \t\\\n]+[\w.-]{1,60}=[^\s\"'`]{1,3}){0,8}"
        r"[ \t\\\n]+[\w.-]{1,60}=[\"']?(?P<bare>[^\s\"'`@][^\s\"'`]{3,511})",
        judge=SecretJudgement.PASSWORD,
    ),
    ValueRule(
        kind="url-token",
        anchors=("key=", "sig=", "signature=", "code=", "x-amz-", "x-goog-"),
        pattern=r"(?<=[?&;, ])(?:key|sig|signature|code|x-(?:amz|goog)-(?:signature|credential|security-token))"
        rf"=(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="session-cookie",
        anchors=("session", "sid=", "connect.sid=", "phpsessid=", "jsessionid=", "remember_token=", "auth_token="),
        pattern=r"(?:session(?:_?id)?|sid|connect\.sid|phpsessid|jsessionid|remember_token|auth_token)="
        rf"(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=SecretJudgement.RANDOM,
        required_text="cookie",
    ),
    ValueRule(
        kind="aws-secret-key",
        anchors=("akia", "asia"),
        pattern=r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s\S]{0,160}?"
        r"(?<![a-z0-9/+=_-])(?P<bare>[a-z0-9/+]{40})(?![a-z0-9/+=_-])",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=_PASSWORD_NAMES,
        pattern=rf"(?:{'|'.join(_PASSWORD_NAMES)}){_NAME_REST}{_ASSIGNED}",
        judge=SecretJudgement.PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("_pass", "-pass"),
        pattern=rf"[_-]pass{_ASSIGNED}",
        judge=SecretJudgement.PASSWORD,
    ),
    ValueRule(
        kind="secret",
        anchors=_TOKEN_NAMES,
        pattern=rf"(?<!checksum/)(?<![0-9]:)(?:{'|'.join(_TOKEN_NAMES)}){_SECRET_REST}{_ASSIGNED}",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="secret",
        anchors=("key",),
        pattern=f"key{_ASSIGNED}",
        judge=SecretJudgement.RANDOM,
        before=_KEY_OF,
        max_distance=24,
    ),
    ValueRule(
        kind="secret",
        anchors=("_auth",),
        pattern=f"_auth{_ASSIGNED}",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=("pass", "pwd"),
        pattern=f"(?:PASS|PWD){_LINE_VALUE}",
        judge=SecretJudgement.LINE_PASSWORD,
        before=_LINE_BEFORE,
        max_distance=200,
    ),
    ValueRule(
        kind="secret",
        anchors=("_key", "_token", "_secret", "_cred", "_auth", "_salt", "_dsn", "_session"),
        pattern=f"_(?:KEY|TOKEN|SECRET|CRED|AUTH|SALT|DSN|SESSION){_LINE_VALUE}",
        judge=SecretJudgement.RANDOM,
        before=_NOT_PUBLIC_LINE_BEFORE,
        max_distance=200,
    ),
    ValueRule(
        kind="password",
        anchors=("-pass", "-pwd"),
        pattern=rf"-(?:pass(?:word|wd|phrase)?|pwd){_OPTION_VALUE}",
        judge=SecretJudgement.OPTION_PASSWORD,
        before=_OPTION_BEFORE,
        max_distance=48,
    ),
    ValueRule(
        kind="password",
        anchors=("-storepass", "-keypass", "-passin", "-passout"),
        pattern=r"-(?:storepass|keypass|passin|passout)(?P<op>[ \t]{1,4})(?:pass:)?(?P<bare>[^\s\"'`|;<>]{4,512})",
        judge=SecretJudgement.OPTION_PASSWORD,
    ),
    ValueRule(
        kind="secret",
        anchors=("-token", "-secret", "-key", "-api-key", "-apikey", "-pat"),
        pattern=rf"-(?:token|secret|(?:api-?)?key|pat){_OPTION_VALUE}",
        judge=SecretJudgement.RANDOM,
        before=_OPTION_BEFORE,
        max_distance=48,
    ),
    ValueRule(
        kind="password",
        anchors=("machine",),
        pattern=r"machine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?P<bare>\S{1,256})",
        judge=SecretJudgement.ANY,
    ),
    ValueRule(
        kind="password",
        anchors=(":*:", ":5432:"),
        pattern=r":(?:[0-9]{4,5}|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<bare>\S{4,256})$",
        judge=SecretJudgement.ARGUMENT,
        before=r"^[\w.*-]{1,200}\Z",
        max_distance=201,
    ),
    ValueRule(
        kind="kubernetes-secret",
        anchors=(": ",),
        pattern=r":[ \t]{1,4}\"?(?P<bare>[A-Za-z0-9+/]{8,4096}={0,2})\"?[ \t]*$",
        judge=SecretJudgement.BASE64,
        before=r"^(?:  |\t){1,4}[\w.-]{1,100}\Z",
        max_distance=120,
        required_text="kind: secret",
    ),
    ValueRule(
        kind="seed-phrase",
        anchors=("seed", "mnemonic", "recovery"),
        pattern=r"(?:seed|mnemonic|recovery)[ _-]?(?:phrase|words?|seed)?[\"']?[ \t]{0,4}(?:is|=|:)[ \t]{0,4}[\"'`]?"
        r"(?P<bare>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\b",
        judge=SecretJudgement.ANY,
    ),
    ValueRule(
        kind="password",
        anchors=_PASSWORD_NAMES,
        pattern=rf"(?:{'|'.join(_PASSWORD_NAMES)}){_NAME_REST}(?:а|e|y|у|ом)?{_NAME_END}(?![A-Za-z]){_TOPIC}{_LOOSE}",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=tuple(SPACED_NAMES),
        pattern=rf"(?:{'|'.join(SPACED_NAMES.values())})(?:{_WORDS}(?=[ \t]{{0,2}}(?:[:=>→]|{_VERB})))?{_NEAR}",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=tuple(AMBIGUOUS_NAMES),
        pattern=rf"(?:{'|'.join(AMBIGUOUS_NAMES.values())})(?:{_WORDS}(?=[ \t]{_VERB}))?{_NEAR}",
        judge=SecretJudgement.MADE_PASSWORD,
        before=_WORD_START,
        max_distance=2,
    ),
    ValueRule(
        kind="password",
        anchors=tuple(UNSPACED_NAMES),
        pattern=rf"(?:{'|'.join(UNSPACED_NAMES.values())}){_NAME_REST}{_BEFORE_VALUE}(?:{_QUOTED}|{_UNSPACED_BARE})",
        judge=SecretJudgement.PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=COMMON_UNSPACED_NAMES,
        pattern=rf"(?:{'|'.join(COMMON_UNSPACED_NAMES)}){_NAME_REST}{_NAME_END}(?![A-Za-z]){_TOPIC}{_GAP}"
        rf"(?:{_QUOTED_ENDS}|{_BEHIND_LETTERS})",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=COMMON_UNSPACED_NAMES,
        pattern=rf"(?:{'|'.join(COMMON_UNSPACED_NAMES)}){_NAME_REST}{_NAME_END}{_TOPIC}{_GAP}{_AMONG_LETTERS}",
        judge=SecretJudgement.ENCLOSED_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=tuple(UNSPACED_NAMES),
        pattern=rf"(?:{'|'.join(UNSPACED_NAMES.values())}){_JOINED}",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=tuple(AMBIGUOUS_UNSPACED_NAMES),
        pattern=rf"(?:{'|'.join(AMBIGUOUS_UNSPACED_NAMES.values())}){_JOINED}",
        judge=SecretJudgement.MADE_PASSWORD,
    ),
    ValueRule(
        kind="passcode",
        anchors=("暗証番号",),
        pattern=r"暗証番号(?:は|[ \t]{0,2}:[ \t]{0,2})(?P<bare>[0-9]{4,8})(?![0-9A-Za-z.:])",
        judge=SecretJudgement.ANY,
    ),
    ValueRule(
        kind="password",
        anchors=_SHORT_NAMES,
        pattern=rf"(?:{'|'.join(_SHORT_NAMES)}){_NAME_END}(?![A-Za-z]){_TOPIC}{_LOOSE}",
        judge=SecretJudgement.LOOSE_PASSWORD,
        before=_WORD_START,
        max_distance=2,
    ),
    ValueRule(
        kind="secret",
        anchors=_TOKEN_NAMES,
        pattern=rf"(?<!checksum/)(?<![0-9]:)(?:{'|'.join(_TOKEN_NAMES)}){_SECRET_REST}{_NAME_END}(?![A-Za-z]){_TOPIC}{_LOOSE}",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(
        kind="secret",
        anchors=("key",),
        pattern=rf"key(?:[_-]data)?{_NAME_END}(?![A-Za-z]){_TOPIC}{_LOOSE}",
        judge=SecretJudgement.LOOSE_RANDOM,
        before=rf"{_KEY_OF}|\b(?i:the|this|my|your|our|with)[ \t]\Z",
        max_distance=24,
    ),
    ValueRule(
        kind="secret",
        anchors=("api-schlüssel", "clé api", "clave api", "ключ"),
        pattern=rf"(?:api-schlüssel|cl(?:é|ave) api|ключ(?:[ -]api)?){_TOPIC}{_LOOSE}",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(
        kind="secret",
        anchors=("x-", "api-key", "csrf"),
        pattern=r"(?:x-(?:[a-z]{1,16}-){0,4}(?:key|token|secret|auth|signature)|api-key|csrf[-_]token)"
        rf"{_GAP}(?P<bare>{_TOKEN_CHARS}{{16,2048}})",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=("identified ",),
        pattern=r"identified[ \t]{1,4}(?:with[ \t]{1,4}[\w'\"]{1,60}[ \t]{1,4})?(?:by|as|using)[ \t]{1,4}"
        r"(?:password[ \t]{1,4})?"
        r"(?:\"(?P<quoted>[^\"\n]{4,512})\"|'(?P<quoted1>[^'\n]{4,512})'|(?P<bare>(?=[^\s;'\"]{0,64}[0-9])[^\s;'\"`]{4,256}))",
        judge=SecretJudgement.ARGUMENT,
    ),
    ValueRule(
        kind="password",
        anchors=("password", 'replace "', "crypt(", "convertto-securestring"),
        pattern=r"(?:convertto-securestring[ \t](?:-string[ \t])?|password from "
        r"|password(?:[ \t]{1,4}(?:=[ \t]{0,4})?|=|[ \t]{0,4}(?:=[ \t]{0,4})?\()N?|crypt\("
        r"(?:[^\n'\"]{1,80},[ \t]{0,4})?)"
        r"(?:'(?P<quoted>[^'\n]{4,256})'|\"(?P<quoted1>[^\"\n]{4,256})\")",
        judge=SecretJudgement.ARGUMENT,
    ),
    ValueRule(
        kind="json-web-key",
        anchors=('"d"', '"k"', '"p"', '"q"', '"dp"', '"dq"', '"qi"'),
        pattern=r"\"(?:d|k|p|q|dp|dq|qi)\"\s{0,4}:\s{0,4}\"(?P<quoted>[A-Za-z0-9_-]{16,2048})\"",
        judge=SecretJudgement.RANDOM,
        required_text='"kty"',
    ),
    ValueRule(
        kind="password",
        anchors=('"value"',),
        pattern=r"\"value\"\s{0,4}:\s{0,4}\"(?P<quoted>[^\"\n]{6,512})\"\s{0,4},\s{0,40}\"(?:name"
        r"|key)\"\s{0,4}:\s{0,4}\""
        r"[\w.-]{0,60}?(?:pass|pwd|secret|token|api[_-]?key)",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("auth", "login", "connect", "pdo", "credential", "userpwd"),
        pattern=r"(?:\w{0,24}(?:auth|login|connect|connection|credentials?|userpwd)"
        r"|pdo)[\"']?[ \t]{0,2}[=:,]?[ \t]{0,2}[(\[ ]"
        r"[^\n;]{0,160}?[\"'][^\"'\n]{1,64}[\"'],[ \t]{0,4}(?:Some\()?[\"'](?P<quoted>[^\"'\n]{6,128})[\"']",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("login(", "basicauth(", "basic_auth(", "basicauthentication(", "credentials(", "networkcredential("),
        pattern=rf"\w{{4,20}}\([ \t\n]{{0,20}}{_ARGUMENT},[ \t\n]{{0,20}}{_LITERAL}",
        judge=SecretJudgement.LITERAL,
    ),
    ValueRule(
        kind="password",
        anchors=("auth=(", "auth = (", "auth: ("),
        pattern=rf"auth[:= ]{{1,3}}\({_ARGUMENT},[ \t]{{0,4}}{_LITERAL}",
        judge=SecretJudgement.LITERAL,
    ),
    ValueRule(
        kind="password",
        anchors=(".auth(", ".authenticate("),
        pattern=rf"\.auth(?:enticate)?\((?:{_ARGUMENT},[ \t]{{0,4}})?{_LITERAL}",
        judge=SecretJudgement.LITERAL,
    ),
    ValueRule(
        kind="password",
        anchors=("connect(", "connection(", "mysqli(", "pdo(", "plainauth("),
        pattern=rf"\w{{3,10}}\([ \t\n]{{0,20}}{_ARGUMENT},[ \t\n]{{0,20}}+(?![0-9]|[\w.>-]{{0,40}}port\b){_ARGUMENT},"
        rf"[ \t\n]{{0,20}}{_LITERAL}",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("key=", "name=", "type="),
        pattern=f"{_PASSWORD_ATTRIBUTE}{_BETWEEN_ATTRIBUTES}{_ATTRIBUTE_VALUE}",
        judge=SecretJudgement.LITERAL,
        required_text="value=",
    ),
    ValueRule(
        kind="password",
        anchors=("value=",),
        pattern=f"{_ATTRIBUTE_VALUE}{_BETWEEN_ATTRIBUTES}{_PASSWORD_ATTRIBUTE}",
        judge=SecretJudgement.LITERAL,
    ),
    ValueRule(
        kind="secret",
        anchors=("value=",),
        pattern=f"{_ATTRIBUTE_VALUE}{_BETWEEN_ATTRIBUTES}{_TOKEN_ATTRIBUTE}",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=(
            "creds",
            "credentials",
            "login",
            "access",
            "account",
            "zugangsdaten",
            "identifiants",
            "credenciales",
            "логин",
            "доступ",
            "user",
            "root/",
            "admin/",
            "root:",
            "authident",
            "userpwd",
            "basic_auth",
            "basic-auth",
            "basicauth",
        ),
        pattern=r"(?<!/)(?:creds|credentials|logins?|access|accounts?|zugangsdaten|identifiants|credenciales|логин|доступ"
        r"|user(?:pwd)?"
        r"|authident|basic[_-]?auth)?[ \t]{0,4}[:=,(-]{0,2}[ \t\"']{0,4}"
        r"(?:user[ \t])?[\w.@+-]{2,48}[ \t]{0,2}[/:][ \t]{0,2}"
        r"(?P<bare>[^\s\"'`<>()|,]{6,128})",
        judge=SecretJudgement.PAIR,
    ),
    ValueRule(
        kind="password",
        anchors=("pass=", "pass =", "pwd=", "pw=", "auth=", "pass:"),
        pattern=rf"(?:pass|pwd|pw|auth)[ \t]?[=:][ \t]?(?:{_QUOTED}|{_LOOSE_BARE})",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="passcode",
        anchors=("pin", "passcode", "otp"),
        pattern=r"(?:pin(?:code)?|passcode|otp)(?:[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?|[ \t](?:is|ist|es|est|это)[ \t])"
        r"(?P<bare>[0-9]{4,8})(?![\w.:])",
        judge=SecretJudgement.ANY,
        before=_WORD_START,
        max_distance=2,
    ),
    ValueRule(
        kind="secret",
        anchors=("jwt.", "hmac", "fernet("),
        pattern=r"(?:jwt\.(?:encode|sign|verify|decode)|(?:create_?)?hmac(?:\.new)?|fernet)\((?:[\"']\w{3,12}[\"'],[ ]"
        r"|[^\n\"'`]{0,60})[bru]?"
        rf"(?:{_QUOTED})",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=("@",),
        pattern=r"@[\w-]{1,40}(?:\.[\w-]{1,40}){0,3}\.[a-z]{2,10}:(?P<bare>[^\s\"'`<>()|/]{6,128})",
        judge=SecretJudgement.PAIR,
    ),
    ValueRule(
        kind="kubernetes-secret",
        anchors=(": ",),
        pattern=r":[ \t]{1,4}[\"']?(?P<bare>[^\s\"']{6,256})[\"']?[ \t]*$",
        judge=SecretJudgement.LOOSE_PASSWORD,
        before=r"^(?:  |\t){1,4}[\w.-]{1,100}\Z",
        max_distance=120,
        required_text="kind: secret",
    ),
    ValueRule(
        kind="url-token",
        anchors=("://",),
        pattern=r"://(?P<bare>[A-Za-z0-9_-]{16,256})(?=:[^\s@/]{1,256}@)",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="url-token",
        anchors=("://",),
        pattern=r"://(?P<bare>[A-Za-z0-9_+/=-]{16,256})@(?=[\w\[{$%.-])",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="url-token",
        anchors=(
            "infura.io/",
            "alchemy.com/",
            "hooks.",
            "/reset",
            "/verif",
            "/confirm",
            "/invit",
            "/magic",
            "/activat",
            "/unsubscribe",
            "webhooks/",
            "/bot",
        ),
        pattern=r"(?:infura\.io|alchemy\.com|hooks\.\w+\.\w+|/(?:password[/-])?(?:reset|verif\w{0,8}|confirm\w{0,8}"
        r"|invit\w{0,6}|magic"
        r"|activat\w{0,4})[\w-]{0,24}|webhooks)(?:/[\w-]{1,24}){0,3}?/(?P<bare>[A-Za-z0-9_-]{12,512})",
        judge=SecretJudgement.PATH_TOKEN,
        required_text="://",
    ),
    ValueRule(  # what signs its bearer in: a form's field, in a request, a page or a log
        kind="saml-response",
        anchors=("samlresponse", "saml_response"),
        pattern=r"saml_?response[\"']?(?:\s{0,4}[:=]\s{0,4}|[ \t][^<>\n]{0,80}?\bvalue=)[\"']?"
        r"(?P<bare>[A-Za-z0-9+/%_-]{64,}+={0,2})",
        judge=SecretJudgement.ANY,
    ),
    ValueRule(
        kind="url-token",
        anchors=("auth=", "jsessionid=", "phpsessid=", "sessionid=", "sid=", "ticket=", "otp=", "jwt="),
        pattern=r"(?<=[?&;\"' ])(?:auth|(?:j|php)?sess(?:ion)?_?id|sid|ticket|otp|jwt)="
        r"(?P<bare>[A-Za-z0-9._~%-]{16,2048})",
        judge=SecretJudgement.RANDOM,
    ),
    ValueRule(
        kind="url-password",
        anchors=("thin:", "sqlplus "),
        pattern=r"(?:thin:|sqlplus (?:-\w )?)[\w.$-]{1,40}/(?P<bare>[^\s/@\"']{4,128})@",
        judge=SecretJudgement.ARGUMENT,
    ),
    ValueRule(
        kind="password",
        anchors=(
            "creds",
            "credentials",
            "login",
            "access",
            "zugang",
            "identifiants",
            "credenciales",
            "credenciais",
            "credenziali",
            "логин",
            "доступ",
            "user/pass",
            "username/password",
            "账号",
            "アカウント",
        ),
        pattern=r"(?:creds|credentials|logins?|access|zugang(?:sdaten)?|identifiants|credenciales|credenciais|credenziali|логин"
        r"|доступ|user(?:name)?/pass(?:word)?|账号|アカウント)[^\n=(){};]{0,24}?[:：,(-]{1,2}[ \t\"']{0,4}"
        r"(?:user[ \t])?[\w.@+-]{2,48}[ \t]{0,2}[/:][ \t]{0,2}(?P<bare>[^\s\"'`<>()|,]{8,128})",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=("user ",),
        pattern=r"user[ \t][\w.-]{1,40}[ \t](?:on|off)[ \t](?:[+~&@%]\S{1,40}[ \t]){0,4}>(?P<bare>\S{6,256})",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=(" * ",),
        pattern=r" \* \"?(?P<bare>[^\s\"]{8,128})\"?[ \t]{1,4}(?:\*|[0-9.]{7,15})[ \t]*$",
        judge=SecretJudgement.LOOSE_PASSWORD,
    ),
    ValueRule(
        kind="password",
        anchors=('replace "', "to '"),
        pattern=r"(?:replace|to)[ \t](?:\"(?P<quoted>[^\"\n]{4,256})\"|'(?P<quoted1>[^'\n]{4,256})')",
        judge=SecretJudgement.ARGUMENT,
        before=r"(?i:identified by \"[^\"\n]{0,256}\"|password from '[^'\n]{0,256}')[ \t]\Z",
        max_distance=280,
    ),
    ValueRule(  # as Azure's command line shows the keys of an account and a vault's secret
        kind="secret",
        anchors=('"keyname"', ".vault.azure.net/secrets/"),
        pattern=r"\"keyname\"[^{}]{1,400}?\"value\"\s{0,4}:\s{0,4}\"(?P<quoted>[A-Za-z0-9+/]{16,128}==)\""
        r"|\.vault\.azure\.net/secrets/[^{}]{1,400}?\"value\"\s{0,4}:\s{0,4}\"(?P<quoted1>[^\"\n]{6,512})\"",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(  # a line of cookies.txt, as curl, wget and browsers' extensions write it
        kind="session-cookie",
        anchors=("\ttrue\t", "\tfalse\t"),
        pattern=r"\t(?:true|false)\t/[^\t\n]{0,200}\t(?:true|false)\t[0-9.]{1,20}\t[^\t\n]{1,200}\t"
        r"(?P<bare>[^\s]{16,4096})[ \t]*$",
        judge=SecretJudgement.LOOSE_RANDOM,
    ),
    ValueRule(
        kind="password",
        anchors=("wifi.begin", "wifimulti.addap", ".softap"),
        pattern=r"(?:wifi\.begin|wifimulti\.addap|\.softap)\([^\n,]{1,80},[ \t]{0,4}\"(?P<quoted>[^\"\n]{6,128})\"",
        judge=SecretJudgement.ARGUMENT,
    ),
)
"""Secrets by context. Order is rank, after every row of `TOKENS`."""
