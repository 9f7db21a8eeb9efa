"""A labelled corpus for the redactor, made from a fixed seed.

Secrets in the formats of their providers, set in the places where people leave them, and harmless look-alikes in the
same places. No secret in it was ever in use.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SEED = 20_240_613
BASE62 = string.ascii_letters + string.digits
URLSAFE = BASE62 + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
SEED_WORDS = (
    "able",
    "cabin",
    "dash",
    "eager",
    "fancy",
    "galaxy",
    "habit",
    "icon",
    "jacket",
    "kidney",
    "label",
    "magic",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionSample:
    """One text: `secret` must not survive in it; None where nothing may change.

    Attributes:
        kind: the type of secret, or of harmless text.
        context: where it stands.
        text: the whole.
        secret: what must go.
    """

    kind: str
    context: str
    text: str
    secret: str | None


Maker = Callable[[random.Random], str]


def random_run(alphabet: str, size: int) -> Maker:
    return lambda rng: "".join(rng.choice(alphabet) for _ in range(size))


def random_shape(*parts: str | Maker) -> Maker:
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def one_of(*parts: str) -> Maker:
    return lambda rng: rng.choice(parts)


def uuid4(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def random_jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": str(rng.randrange(10**9)), "name": "Ada", "iat": rng.randrange(10**9, 2 * 10**9)}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{random_run(URLSAFE, 43)(rng)}"


def human_password(rng: random.Random) -> str:
    word = rng.choice(
        ["summer", "Falcon", "tigger", "Blue", "orchid", "Krakow", "monsoon", "Pepper", "zephyr", "Quartz"]
    )
    return word + rng.choice(["!", "#", "@", "$", ""]) + str(rng.randrange(10, 10_000))


def made_password(rng: random.Random) -> str:
    body = random_run(BASE62 + "!#%*+?~^", rng.randrange(9, 18))(rng)
    return rng.choice(string.ascii_letters) + body + rng.choice(string.digits) + rng.choice(string.ascii_uppercase)


def url_password(rng: random.Random) -> str:
    return random_run(BASE62 + "-._~!*+", rng.randrange(8, 18))(rng) + rng.choice(string.digits)


TOKENS: dict[str, Maker] = {
    "aws-access-key": random_shape(one_of("AKIA", "ASIA"), random_run(string.ascii_uppercase + "234567", 16)),
    "gcp-api-key": random_shape("AIza", random_run(URLSAFE, 35)),
    "gcp-oauth-secret": random_shape("GOCSPX-", random_run(URLSAFE, 28)),
    "gcp-oauth-token": random_shape("ya29.a0", random_run(URLSAFE, 120)),
    "azure-storage": random_shape("AccountKey=", random_run(BASE62 + "+/", 86), "=="),
    "azure-client-secret": random_shape(random_run(BASE62, 3), "8Q~", random_run(BASE62 + "_.~-", 34)),
    "azure-sas": random_shape("sv=2023-01-03&ss=b&sig=", random_run(BASE62, 43), "%3D"),
    "digitalocean-token": random_shape("dop_v1_", random_run(HEX, 64)),
    "heroku-key": random_shape("HRKU-AA", random_run(BASE62, 58)),
    "cloudflare-origin-key": random_shape("v1.0-", random_run(HEX, 24), "-", random_run(HEX, 146)),
    "github-token": random_shape(one_of("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), random_run(BASE62, 36)),
    "github-fine-grained": random_shape("github_pat_", random_run(BASE62, 22), "_", random_run(BASE62, 59)),
    "gitlab-token": random_shape(one_of("glpat-", "glrt-", "gldt-", "glptt-"), random_run(URLSAFE, 20)),
    "bitbucket-token": random_shape("ATBB", random_run(BASE62, 32)),
    "atlassian-token": random_shape(
        "ATATT3xFfGF0", random_run(URLSAFE, 170), "=", random_run(string.hexdigits[:10] + "ABCDEF", 8)
    ),
    "npm-token": random_shape("npm_", random_run(BASE62, 36)),
    "pypi-token": random_shape("pypi-AgEIcHlwaS5vcmcC", random_run(URLSAFE, 150)),
    "rubygems-key": random_shape("rubygems_", random_run(HEX, 48)),
    "docker-token": random_shape("dckr_pat_", random_run(URLSAFE, 27)),
    "terraform-token": random_shape(random_run(BASE62, 14), ".atlasv1.", random_run(URLSAFE, 67)),
    "vault-token": random_shape("hvs.", random_run(URLSAFE, 90)),
    "databricks-token": random_shape("dapi", random_run(HEX, 32)),
    "doppler-token": random_shape("dp.pt.", random_run(BASE62, 43)),
    "pulumi-token": random_shape("pul-", random_run(HEX, 40)),
    "tailscale-key": random_shape("tskey-auth-", random_run(BASE62, 17), "-", random_run(BASE62, 32)),
    "supabase-key": random_shape("sbp_", random_run(HEX, 40)),
    "planetscale-token": random_shape("pscale_tkn_", random_run(URLSAFE, 43)),
    "openai-key": random_shape("sk-proj-", random_run(URLSAFE, 74), "T3BlbkFJ", random_run(URLSAFE, 74)),
    "openai-key-old": random_shape("sk-", random_run(BASE62, 20), "T3BlbkFJ", random_run(BASE62, 20)),
    "anthropic-key": random_shape("sk-ant-api03-", random_run(URLSAFE, 93), "AA"),
    "openrouter-key": random_shape("sk-or-v1-", random_run(HEX, 64)),
    "huggingface-token": random_shape("hf_", random_run(string.ascii_letters, 34)),
    "groq-key": random_shape("gsk_", random_run(BASE62, 52)),
    "xai-key": random_shape("xai-", random_run(BASE62, 80)),
    "perplexity-key": random_shape("pplx-", random_run(BASE62, 48)),
    "replicate-token": random_shape("r8_", random_run(BASE62, 37)),
    "nvidia-key": random_shape("nvapi-", random_run(URLSAFE, 64)),
    "langsmith-key": random_shape("lsv2_pt_", random_run(HEX, 32), "_", random_run(HEX, 10)),
    "pinecone-key": random_shape("pcsk_", random_run(BASE62, 5), "_", random_run(BASE62, 63)),
    "slack-bot-token": random_shape(
        "xoxb-", random_run(string.digits, 12), "-", random_run(string.digits, 13), "-", random_run(BASE62, 24)
    ),
    "slack-webhook": random_shape(
        "https://hooks.slack.com/services/T",
        random_run(UPPER, 10),
        "/B",
        random_run(UPPER, 10),
        "/",
        random_run(BASE62, 24),
    ),
    "discord-token": random_shape(
        one_of("MTA", "NzY", "ODk"), random_run(BASE62, 21), ".", random_run(URLSAFE, 6), ".", random_run(URLSAFE, 38)
    ),
    "discord-webhook": random_shape(
        "https://discord.com/api/webhooks/", random_run(string.digits[1:], 18), "/", random_run(URLSAFE, 68)
    ),
    "telegram-token": random_shape(random_run(string.digits[1:], 10), ":AA", random_run(URLSAFE, 33)),
    "twilio-key": random_shape("SK", random_run(HEX, 32)),
    "sendgrid-key": random_shape("SG.", random_run(URLSAFE, 22), ".", random_run(URLSAFE, 43)),
    "mailgun-key": random_shape("key-", random_run(HEX, 32)),
    "mailchimp-key": random_shape(random_run(HEX, 32), "-us", random_run("123456789", 2)),
    "brevo-key": random_shape("xkeysib-", random_run(HEX, 64), "-", random_run(BASE62, 16)),
    "hubspot-token": random_shape("pat-na1-", uuid4),
    "stripe-key": random_shape(one_of("sk_live_", "rk_live_", "sk_test_"), random_run(BASE62, 24)),
    "stripe-webhook-secret": random_shape("whsec_", random_run(BASE62, 32)),
    "square-token": random_shape("sq0atp-", random_run(URLSAFE, 22)),
    "shopify-token": random_shape(one_of("shpat_", "shpss_"), random_run(HEX, 32)),
    "plaid-token": random_shape("access-production-", uuid4),
    "notion-token": random_shape("ntn_", random_run(BASE62, 46)),
    "linear-key": random_shape("lin_api_", random_run(BASE62, 40)),
    "airtable-token": random_shape("pat", random_run(BASE62, 14), ".", random_run(HEX, 64)),
    "figma-token": random_shape("figd_", random_run(URLSAFE, 40)),
    "sentry-token": random_shape("sntryu_", random_run(HEX, 64)),
    "grafana-token": random_shape("glsa_", random_run(BASE62, 32), "_", random_run(HEX, 8)),
    "newrelic-key": random_shape("NRAK-", random_run(UPPER, 27)),
    "dynatrace-token": random_shape("dt0c01.", random_run(UPPER, 24), ".", random_run(UPPER, 64)),
    "postman-key": random_shape("PMAK-", random_run(HEX, 24), "-", random_run(HEX, 34)),
    "age-secret-key": random_shape("AGE-SECRET-KEY-1", random_run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "jwt": random_jwt,
    "unheard-of-provider": random_shape(
        random_run(string.ascii_lowercase, 4), "_", one_of("live", "pat", "v1"), "_", random_run(BASE62, 36)
    ),
}
"""Secrets that are recognised by their shape."""

NAMED: dict[str, Maker] = {
    "named-base62": random_run(BASE62, 32),
    "named-hex": random_run(HEX, 40),
    "named-base64": random_shape(random_run(BASE62 + "+/", 43), "="),
    "named-uuid": uuid4,
}
"""Secrets without a shape of their own: only what stands before them tells."""

PASSWORDS: dict[str, Maker] = {"password-human": human_password, "password-made": made_password}

TOKEN_CONTEXTS = {
    "env": "DEBUG=1\nSERVICE_CONFIG={s}\nPORT=8080\n",
    "yaml": "service:\n  region: eu-west-1\n  value: {s}\n  retries: 3\n",
    "json": '{{"region": "eu-west-1", "value": "{s}", "retries": 3}}',
    "escaped-json": '{{\\"body\\": \\"use {s}\\\\n\\"}}',
    "python": 'client = Client(\n    "{s}",\n    timeout=10,\n)\n',
    "javascript": "const api = connect('{s}', {{ retries: 3 }});",
    "shell": 'curl -sS -H "X-Thing: {s}" https://api.vendor.io/v1/items | jq .',
    "prose": "I pasted {s} into the settings page, and then the deploy worked.",
    "log": "2024-05-04T10:11:12Z INFO worker[12] using {s} for eu-west-1",
    "markdown": "- The value is `{s}` (rotates monthly)\n- The other one is unset\n",
    "multi-line": "first line\n\n{s}\n\nlast line",
    "xml": "<settings>\n  <value>{s}</value>\n</settings>",
}
NAMED_CONTEXTS = {
    "env": "DEBUG=1\nACME_API_KEY={s}\nPORT=8080\n",
    "env-quoted": 'export ACME_TOKEN="{s}"\n',
    "yaml": "acme:\n  client_secret: {s}\n  retries: 3\n",
    "json": '{{"region": "eu", "accessToken": "{s}", "retries": 3}}',
    "escaped-json": '{{\\"api_key\\": \\"{s}\\"}}',
    "toml": '[acme]\nsecret_key = "{s}"\n',
    "ini": "[acme]\napi_key = {s}\n",
    "properties": "acme.api-key={s}\nacme.retries=3\n",
    "python": 'acme = Acme(api_key="{s}", timeout=10)\n',
    "python-typed": 'AUTH_TOKEN: str = "{s}"\n',
    "python-environ": 'os.environ["ACME_SECRET"] = "{s}"\n',
    "javascript": "export default {{ apiKey: '{s}', retries: 3 }};",
    "go": 'cfg := Config{{\n\tAuthToken: "{s}",\n}}\n',
    "xml": "<acme><apiKey>{s}</apiKey></acme>",
    "header": "GET /v1/items\nX-Api-Key: {s}\nAccept: */*\n",
    "bearer": 'curl -H "Authorization: Bearer {s}" https://api.vendor.io',
    "option": "acme login --region eu --api-key {s} --verbose",
    "docker": "docker run -e ACME_TOKEN={s} acme/worker",
    "kubernetes": "env:\n  - name: ACME_TOKEN\n    value: {s}\n",
    "prose": "For the staging box my api key is {s}, please use it.",
    "url": "https://api.vendor.io/v1/items?limit=10&access_token={s}",
    "markdown": "**API key:** `{s}`\n",
}
PASSWORD_CONTEXTS = {
    "env": "DB_USER=app\nDB_PASSWORD={s}\nDB_PORT=5432\n",
    "yaml": "database:\n  user: app\n  password: {s}\n  port: 5432\n",
    "json": '{{"user": "app", "password": "{s}", "port": 5432}}',
    "escaped-json": '{{\\"password\\": \\"{s}\\"}}',
    "python": 'connect(host="db", user="app", password="{s}")\n',
    "python-dict": 'DATABASES = {{"default": {{"USER": "app", "PASSWORD": "{s}"}}}}\n',
    "javascript": "const pool = new Pool({{ user: 'app', password: '{s}' }});",
    "connection-string": "Server=db;Database=main;User Id=sa;Password={s};Encrypt=true",
    "option": "acme login --user app --password {s} --verbose",
    "mysql": "mysql -h db -uroot -p{s} main < dump.sql",
    "curl": "curl -fsS -u admin:{s} https://ci.vendor.io/job/deploy/build",
    "xml": "<server><username>app</username><password>{s}</password></server>",
    "ansible": "ansible_user: app\nansible_ssh_pass: {s}\n",
    "netrc": "machine git.vendor.io login app password {s}\n",
    "prose": "the root password is {s} on that box",
    "prose-colon": "User: app\nPassword: {s}\n",
    "russian": "Пароль от базы: {s}",
    "german": "Passwort: {s}",
}
URL_CONTEXTS = {
    "postgres": "DATABASE_URL=postgresql://app:{s}@db.internal:5432/main",
    "redis": 'redis = Redis.from_url("redis://:{s}@cache:6379/0")',
    "mongodb": "mongodb+srv://app:{s}@cluster0.ab1cd.mongodb.net/main?retryWrites=true",
    "git": "git clone https://oauth2:{s}@git.vendor.io/team/repo.git",
    "amqp": "broker: amqp://worker:{s}@mq:5672//",
}


def secret_samples(rounds: int = 3) -> Iterator[RedactionSample]:
    """Yield every type of secret in every context that fits it, `rounds` times with new values."""
    rng = random.Random(SEED)
    for _ in range(rounds):
        yield from _place_secrets(rng, TOKENS, TOKEN_CONTEXTS)
        yield from _place_secrets(rng, NAMED, NAMED_CONTEXTS)
        yield from _place_secrets(rng, PASSWORDS, PASSWORD_CONTEXTS)
        yield from _place_secrets(rng, {"url-password": url_password}, URL_CONTEXTS)
        yield from _whole_texts(rng)


def _place_secrets(rng: random.Random, makers: dict[str, Maker], contexts: dict[str, str]) -> Iterator[RedactionSample]:
    for kind, make in makers.items():
        for context, template in contexts.items():
            secret = make(rng)
            yield RedactionSample(kind=kind, context=context, text=template.format(s=secret), secret=secret)


def _whole_texts(rng: random.Random) -> Iterator[RedactionSample]:
    """Yield secrets that bring a context of their own."""
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        body = [random_run(BASE62 + "+/", 64)(rng) for _ in range(rng.randrange(4, 26))]
        begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
        yield from _key_texts(begin, body, end)
    aws = random_run(BASE62 + "+/", 40)(rng)
    key_id = TOKENS["aws-access-key"](rng)
    yield RedactionSample(
        kind="aws-secret-key", context="prose", text=f"Keys: {key_id} / {aws} (eu-west-1)", secret=aws
    )
    yield RedactionSample(kind="aws-secret-key", context="ini", text=f"aws_secret_access_key = {aws}\n", secret=aws)
    yield RedactionSample(kind="aws-secret-key", context="csv", text=f"user,id,secret\nci,{key_id},{aws}\n", secret=aws)
    basic = base64.b64encode(f"admin:{made_password(rng)}".encode()).decode()
    yield RedactionSample(kind="basic-auth", context="header", text=f"Authorization: Basic {basic}\n", secret=basic)
    yield RedactionSample(
        kind="basic-auth", context="docker", text=f'{{"auths": {{"ghcr.io": {{"auth": "{basic}"}}}}}}', secret=basic
    )
    hidden = base64.b64encode(made_password(rng).encode()).decode()
    manifest = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  dsn: {hidden}\n"
    yield RedactionSample(kind="kubernetes-secret", context="yaml", text=manifest, secret=hidden)
    session = random_run(BASE62, 32)(rng)
    yield RedactionSample(
        kind="session-cookie", context="header", text=f"Cookie: theme=dark; sessionid={session}\n", secret=session
    )
    words = " ".join(rng.choice(SEED_WORDS) for _ in range(12))
    yield RedactionSample(kind="seed-phrase", context="prose", text=f"seed phrase: {words}\n", secret=words)
    signature = random_run(HEX, 64)(rng)
    signed = f"https://b.s3.amazonaws.com/f.csv?X-Amz-Date=20240101T000000Z&X-Amz-Signature={signature}"
    yield RedactionSample(kind="signed-url", context="url", text=signed, secret=signature)


def _key_texts(begin: str, body: list[str], end: str) -> Iterator[RedactionSample]:
    lines = [begin, *body, end]
    secret = body[1]
    in_json = json.dumps({"type": "service_account", "private_key": "\n".join([*lines, ""])})
    literal = "KEY = (\n" + "".join(f'    "{line}\\n"\n' for line in lines) + ")\n"
    indented = "tls:\n  key: |\n" + "".join(f"    {line}\n" for line in lines) + "  port: 1\n"
    texts = {
        "file": "\n".join(lines),
        "json": in_json,
        "python": literal,
        "yaml": indented,
        "cut-off": "\n".join(lines[:-2]),
        "tail": "\n".join(lines[1:]),
    }
    for context, text in texts.items():
        yield RedactionSample(kind="private-key", context=context, text=text, secret=secret)


def harmless_samples(rounds: int = 3) -> Iterator[RedactionSample]:
    """Yield texts that look like secrets to a hasty eye; none of them may change."""
    rng = random.Random(SEED + 1)
    for _ in range(rounds):
        for kind, text in (*_look_alikes(rng), *_CODE, *_PLACEHOLDERS):
            yield RedactionSample(kind=kind, context="harmless", text=text, secret=None)


def _look_alikes(rng: random.Random) -> Iterator[tuple[str, str]]:
    sha1, sha256, digest = (
        random_run(HEX, 40)(rng),
        random_run(HEX, 64)(rng),
        base64.b64encode(rng.randbytes(64)).decode(),
    )
    yield "git", f"commit {sha1}\nAuthor: Ada <ada@vendor.io>\n"
    yield "git", f"Merge {sha1[:7]} into {sha1[8:15]}; see {sha1} for the key change in token handling"
    yield "git", f"git cherry-pick {sha1} && git push origin HEAD:refs/heads/fix-token-{sha1[:7]}"
    yield "git", f"  - uses: actions/checkout@{sha1} # v4.1.1"
    yield "git", f'rev = "{sha1}"\nhash = "sha256-{digest[:43]}="'
    yield "uuid", f'{{"id": "{uuid4(rng)}", "parent": "{uuid4(rng)}"}}'
    yield "uuid", f"request_id={uuid4(rng)} trace={random_run(HEX, 32)(rng)} span={random_run(HEX, 16)(rng)}"
    yield "lock", f'"integrity": "sha512-{digest}"'
    yield "lock", f'    {{file = "x-1.2.3-py3-none-any.whl", hash = "sha256:{sha256}"}},'
    yield "lock", f"cffi==1.16.0 \\\n    --hash=sha256:{sha256} \\\n"
    yield "lock", f"golang.org/x/text v0.3.8 h1:{digest[:43]}=\n"
    yield "lock", f'  resolved "https://registry.yarnpkg.com/tokenizer/-/tokenizer-1.0.0.tgz#{sha1}"'
    yield "lock", f'checksum = "{sha256}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"'
    yield "docker", f"FROM python:3.11-slim@sha256:{sha256}"
    yield "image", f'<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{digest}{digest}">'
    yield "font", f"src: url(data:font/woff2;base64,d09GMgABAAAAA{digest}) format('woff2');"
    yield (
        "html",
        f'<script src="https://cdn.vendor.io/app.js" integrity="sha384-{digest[:64]}" crossorigin="anonymous">',
    )
    yield "certificate", f"-----BEGIN CERTIFICATE-----\n{digest[:64]}\n-----END CERTIFICATE-----\n"
    yield "public-key", f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{digest[:43]} ada@laptop"
    yield "asset", f"GET /static/app.{sha1[:8]}.js 200 /assets/index-{random_run(BASE62, 8)(rng)}.css"
    yield "cache", f'cache_key = "{sha256}"\netag: W/"{sha1}"'
    yield "number", f"user {rng.randrange(10**17)} paid {rng.randrange(10**6)} with order 2024-{rng.randrange(10**8)}"
    yield "address", f"0x{random_run(HEX, 40)(rng)} sent 1 ETH in 0x{sha256}"
    yield "arn", f"arn:aws:iam::{rng.randrange(10**11, 10**12)}:role/deploy-token-rotator"
    yield (
        "object",
        f'ObjectId("{random_run(HEX, 24)(rng)}") in pod api-{random_run(HEX, 10)(rng)}-{random_run(LOWER, 5)(rng)}',
    )


_CODE = tuple(
    ("code", text)
    for text in (
        "password = get_password()",
        "password = getpass.getpass('Password: ')",
        'token = os.environ["API_TOKEN"]',
        "token: str\nsecret: Optional[str] = None\npassword: SecretStr",
        "def login(user: str, password: str, token: str | None = None) -> Session:",
        'self.api_key = api_key or os.getenv("OPENAI_API_KEY")',
        "const token = await getToken({ scope: 'read' });",
        "const apiKey = process.env.ACME_API_KEY;",
        "client_secret: ${{ secrets.CLIENT_SECRET }}",
        "password: {{ .Values.postgres.password }}",
        "secretKeyRef:\n  name: db-credentials-v2\n  key: password\n",
        "DB_PASSWORD=${DB_PASSWORD:-}\nTOKEN=$(cat /run/secrets/token)\n",
        "password_file: /run/secrets/db_password_v2",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased-v2')",
        "max_tokens: 4096\ntokens_per_minute = 90000\n",
        'token_url = "https://auth.vendor.io/oauth2/v2.0/token"',
        "if token == 'Bearer': raise AuthError('token type 2 is unsupported')",
        "password_hash = hash_password(password, rounds=12)",
        '<input type="password" name="password2" id="id_password2" autocomplete="new-password">',
        "type Token struct {\n\tKind TokenKind\n\tValue string\n}",
        "private_key = ec.generate_private_key(ec.SECP256R1())",
        "primary_key=True, foreign_key='users.id2', sort_key = \"created_at_2024\"",
        "assert response.json()['token'] == token_for(user2)",
        "this.password = this.form.controls.password1.value;",
        "$password = $request->input('password2');",
        'val secretKey = SecretKeySpec(keyBytes, "HmacSHA256")',
        "ALTER TABLE users ADD COLUMN password VARCHAR(255) NOT NULL;",
        "password = models.CharField(max_length=128)",
        "access_token = response['access_token_v2']",
        "http://localhost:8080/login?next=/profile and postgres://localhost:5432/main",
        "git@github.com:vendor/token-service.git and ssh://git@host.vendor.io:2222/x.git",
        "Use the Basic authentication scheme, or a Bearer token in the header.",
        "The password is required. The token is expired. The secret is optional.",
        "The api key is validated before the request; the secret key is rotated every 90 days.",
        "Forgot your password? The passphrase: must be at least 12 characters long.",
        "Storing the password in plain text is a mistake; hash the password with bcrypt12.",
        'bmax_vopwords = r"\\b(Shl|Shr|Sar|Mod)\\b"',
        "self, private_key: ed25519.Ed25519PrivateKey, f_priv: _FragList",
        'AttributeOID.CHALLENGE_PASSWORD: "challengePassword",',
        "OID_AUTHORITY_KEY_IDENTIFIER = ExtensionOID.AUTHORITY_KEY_IDENTIFIER",
        "re_compile_patterns_from_configuration_file_v2 hf_model_from_pretrained_checkpoint",
        "test_login_with_valid_token_returns_200_and_sets_cookie_for_user_2",
        "sk-learn is installed as scikit-learn; sk_estimators_for_classification_tasks",
        "-----BEGIN PUBLIC KEY----- is not the same as -----BEGIN PRIVATE KEY----- in the docs.",
    )
)
_PLACEHOLDERS = tuple(
    ("placeholder", text)
    for text in (
        "OPENAI_API_KEY=YOUR_API_KEY",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        'api_key = "<your-api-key-goes-here-1234>"',
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "token: ****************",
        'password = "changeme"',
        "POSTGRES_PASSWORD=postgres",
        'password: "password"',
        "postgres://user:password@localhost:5432/db",
        "https://user:pass@example.com/path",
        "https://alice:wonderland@www.example.com/",
        "postgres://{user}:{password}@{host}/db and mysql://$USER:$PASS@$HOST/db",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${ACCESS_TOKEN}",
        'curl -H "Authorization: Bearer $TOKEN" https://api.vendor.io',
        "curl -u $USER:$PASSWORD https://api.vendor.io",
        "mysql -u root -p",
        "token: abc123",
        'secret = "..."',
        "SECRET_KEY=replace-this-with-a-long-random-string-2",
        "password: [redacted:password] and [private]",
        "SLACK_TOKEN=xoxb-your-token-here-1234567890",
    )
)
