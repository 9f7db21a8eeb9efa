"""Tokens of an OpenID Connect issuer: a real one on this machine, with keys and metadata of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from hyperloci.errors import BadRequestError
from hyperloci.http.issued_tokens import READ, WRITE
from hyperloci.http.outside_issuer import RETRY_SECONDS, UNKNOWN_KEY_SECONDS, IssuerVerifier, OutsideIssuer
from tests.http.conftest import HttpHouse

pytestmark = pytest.mark.anyio

AUDIENCE = "https://mem.example.org/mcp"


class Issuer:
    """An issuer: its key, its metadata, and the tokens it signs."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.kid = "k1"
        self.claims_to_be = address
        self.is_out = False
        self.asked: list[str] = []

    def answer(self, path: str) -> dict[str, Any]:
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.claims_to_be, "jwks_uri": f"{self.address}/keys"}
        public = json.loads(ECAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "ES256"}]}

    def rotate(self) -> None:
        self.key, self.kid = ec.generate_private_key(ec.SECP256R1()), f"{self.kid}+"

    def sign(self, key: Any = None, algorithm: str = "ES256", kid: str | None = None, **changed: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": AUDIENCE,
            "sub": "u-17",
            "iat": now,
            "exp": now + 600,
            "scope": f"{READ} {WRITE}",
            "email": "ada@example.org",
            "email_verified": True,
            **changed,
        }
        said = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(said, self.key if key is None else key, algorithm, headers={"kid": kid or self.kid})


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(found.answer(self.path)).encode()
            self.send_response(503 if found.is_out else 200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


def trust(issuer: Issuer) -> IssuerVerifier:
    return IssuerVerifier(OutsideIssuer(issuer.address, AUDIENCE))


@contextmanager
def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Iterator[None]:
    now = time.monotonic() + seconds
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now)
        yield


async def test_a_token_that_it_signed_speaks_for_the_verified_address(issuer: Issuer) -> None:
    holder = await trust(issuer).verify_token(issuer.sign())
    assert holder is not None
    assert (holder.subject, holder.scopes) == ("ada@example.org", [READ, WRITE])


@pytest.mark.parametrize(
    ("claims", "granted"),
    [
        ({"scope": None, "scp": ["openid", READ, WRITE]}, [READ, WRITE]),
        ({"scope": None, "scp": f"openid {READ}"}, [READ]),
        ({"scope": [READ]}, [READ]),
        ({"scope": None, "scp": [f"{READ}s", 5, None, {"a": WRITE}]}, []),
        ({"scope": None}, []),
    ],
    ids=str,
)
async def test_what_is_granted_may_be_told_as_a_text_or_as_a_list(
    issuer: Issuer, claims: dict[str, Any], granted: list[str]
) -> None:
    holder = await trust(issuer).verify_token(issuer.sign(**claims))
    assert holder is not None
    assert holder.scopes == granted


async def test_an_address_that_nobody_verified_names_nobody(issuer: Issuer) -> None:
    holder = await trust(issuer).verify_token(issuer.sign(email_verified=False))
    assert holder is not None
    assert holder.subject == "u-17"


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": 1},
        {"exp": None},
        {"aud": "https://elsewhere.example.org"},
        {"aud": None},
        {"iss": "https://evil.example.org"},
        {"sub": None},
        {"nbf": 4_000_000_000},
    ],
    ids=str,
)
async def test_a_token_for_another_time_place_or_nobody_is_refused(issuer: Issuer, changed: dict[str, Any]) -> None:
    assert await trust(issuer).verify_token(issuer.sign(**changed)) is None


async def test_a_token_signed_with_another_key_or_with_none_is_refused(issuer: Issuer) -> None:
    verifier = trust(issuer)
    assert await verifier.verify_token(issuer.sign(ec.generate_private_key(ec.SECP256R1()))) is None
    assert await verifier.verify_token(issuer.sign("x" * 64, "HS256")) is None
    bare = jwt.encode({"sub": "u", "iss": issuer.address, "aud": AUDIENCE}, "", "none")
    assert await verifier.verify_token(bare) is None
    for text in ("", "x", "a.b.c", "." * 10_000):
        assert await verifier.verify_token(text) is None


async def test_metadata_of_somebody_else_is_not_believed(issuer: Issuer) -> None:
    issuer.claims_to_be = "https://evil.example.org"
    assert await trust(issuer).verify_token(issuer.sign()) is None


async def test_its_keys_are_asked_for_once(issuer: Issuer) -> None:
    verifier = trust(issuer)
    for _ in range(5):
        assert await verifier.verify_token(issuer.sign()) is not None
    assert issuer.asked.count("/keys") == 1


async def test_a_key_that_it_changed_is_asked_for(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = trust(issuer)
    assert await verifier.verify_token(issuer.sign()) is not None
    issuer.rotate()
    with later(monkeypatch, UNKNOWN_KEY_SECONDS):
        assert await verifier.verify_token(issuer.sign()) is not None
    assert issuer.asked.count("/keys") == 2


async def test_keys_that_strangers_make_up_are_not_asked_for_each_time(issuer: Issuer) -> None:
    verifier = trust(issuer)
    for number in range(20):
        assert await verifier.verify_token(issuer.sign(kid=f"made up {number}")) is None
    assert await verifier.verify_token(issuer.sign()) is not None
    assert issuer.asked.count("/keys") == 1


async def test_for_tokens_of_somebody_else_it_is_asked_nothing(issuer: Issuer) -> None:
    assert await trust(issuer).verify_token(issuer.sign(iss="https://evil.example.org")) is None
    assert issuer.asked == []


async def test_an_issuer_that_fails_is_not_asked_again_at_once(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    verifier, issuer.is_out = trust(issuer), True
    for _ in range(5):
        assert await verifier.verify_token(issuer.sign()) is None
    assert len(issuer.asked) == 1
    issuer.is_out = False
    with later(monkeypatch, RETRY_SECONDS):
        assert await verifier.verify_token(issuer.sign()) is not None


async def test_while_it_fails_who_shows_a_known_key_is_let_in(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = trust(issuer)
    assert await verifier.verify_token(issuer.sign()) is not None
    issuer.is_out = True
    with later(monkeypatch, UNKNOWN_KEY_SECONDS):
        for number in range(5):
            assert await verifier.verify_token(issuer.sign(kid=f"made up {number}")) is None
        assert await verifier.verify_token(issuer.sign()) is not None
    assert issuer.asked.count("/keys") == 2


async def test_an_issuer_that_does_not_answer_lets_nobody_in() -> None:
    gone = IssuerVerifier(OutsideIssuer("http://127.0.0.1:9", AUDIENCE))
    key = ec.generate_private_key(ec.SECP256R1())
    assert await gone.verify_token(jwt.encode({"sub": "u"}, key, "ES256", headers={"kid": "k1"})) is None


@pytest.mark.parametrize("address", ["http://issuer.example.org", "ftp://x", "", "file:///etc/passwd"])
def test_an_issuer_whose_answers_anybody_could_give_is_refused(address: str) -> None:
    with pytest.raises(BadRequestError, match="https"):
        OutsideIssuer(address, AUDIENCE)


async def test_both_kinds_of_token_open_the_same_memory_and_scopes_bind(house: HttpHouse, issuer: Issuer) -> None:
    _, own = house.give_token("laptop")
    async with house.serving(issuer=OutsideIssuer(issuer.address, AUDIENCE)):
        async with house.session(own) as session:
            await session.call_tool("remember_fact", {"fact": "The pager rotates on Mondays."})
        async with house.session(issuer.sign(scope=READ)) as session:
            found = await session.call_tool("search_memory", {"query": "pager"})
            refused = await session.call_tool("remember_fact", {"fact": "The pager rotates on Fridays."})
        async with house.knock(issuer.sign(scope="profile")) as client:
            assert (await client.post("/mcp", json={})).status_code == 403
        async with house.knock() as client:
            metadata = (await client.get("/.well-known/oauth-protected-resource/mcp")).json()
    assert "Mondays" in str(found.content)
    assert refused.is_error
    assert metadata["authorization_servers"] == [issuer.address]
    assert {call.person for call in house.list_calls()} == {"laptop", "ada@example.org"}
    assert [call.token_id for call in house.list_calls()].count(None) == 2
