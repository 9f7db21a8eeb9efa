"""Outside issuer: tokens of an OpenID Connect provider (OIDC Core 1.0; RFC 9068), checked against its public keys."""

from __future__ import annotations

import json
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from anyio import Lock
from anyio.to_thread import run_sync
from mcp.server.auth.provider import AccessToken

from hyperloci.errors import BadRequestError, ConfigurationError
from hyperloci.http.issued_tokens import READ, WRITE
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
"""Signatures with a public key only: with a shared secret whoever can check a token could make one."""

LEEWAY_SECONDS: Final = 30
FETCH_SECONDS: Final = 10
KEYS_SECONDS: Final = 300
UNKNOWN_KEY_SECONDS: Final = 30
"""A token with an unknown key has the issuer's keys asked for anew, at most so often: anybody can make one up."""
RETRY_SECONDS: Final = 10
"""So long an issuer that didn't answer is not asked again: who asks holds up all others."""
MAX_METADATA_BYTES: Final = 1_000_000
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class OutsideIssuer:
    """Who issues tokens, and what they must say to be meant for this server.

    Attributes:
        issuer: the issuer's address, exactly as its tokens have it.
        audience: what the tokens' `aud` must name.
    """

    issuer: str
    audience: str

    def __post_init__(self) -> None:
        """Refuse an address that anybody on the way could answer for.

        Raises:
            BadRequestError: it is not https, nor on this machine.
        """
        if not _is_safe_address(self.issuer):
            raise BadRequestError(f"issuer={self.issuer!r} {_SAFE}")


_SAFE: Final = "must begin with https:// (http:// only on this machine)."


def _is_safe_address(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


class _Patience:
    """Keeps an issuer that didn't answer from being asked again at once."""

    def __init__(self) -> None:
        self._failed_at: float | None = None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask the issuer something.

        Raises:
            PyJWKClientConnectionError: it did not answer a moment ago.
        """
        if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_SECONDS:
            raise jwt.PyJWKClientConnectionError("it did not answer a moment ago")
        try:
            yield
        except (jwt.PyJWTError, OSError, ValueError):
            self._failed_at = time.monotonic()
            raise
        self._failed_at = None


class _IssuerKeys(jwt.PyJWKClient):
    """The keys that an issuer publishes."""

    def __init__(self, address: str, patience: _Patience) -> None:
        super().__init__(address, lifespan=KEYS_SECONDS, timeout=FETCH_SECONDS, cooldown_duration=UNKNOWN_KEY_SECONDS)
        self._patience = patience

    def fetch_data(self) -> Any:
        with self._patience.asking():
            return super().fetch_data()


class IssuerVerifier:
    """Verifies an issuer's tokens: signature, issuer, audience, times."""

    def __init__(self, issuer: OutsideIssuer) -> None:
        self._issuer = issuer
        self._keys: _IssuerKeys | None = None
        self._patience = _Patience()
        self._fetching = Lock()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who a token speaks for and what it allows, or None for one that admits nobody."""
        try:
            if not self._concerns_issuer(token):
                return None
            # One at a time: a crowd with an unknown key would otherwise ask the issuer as often.
            async with self._fetching:
                claims = await run_sync(self._read_claims, token)
        except jwt.PyJWKClientConnectionError as error:
            _log.warning("cannot read the keys of %s: %.200r", self._issuer.issuer, str(error))
            return None
        except (jwt.PyJWTError, OSError, ValueError) as error:
            # As a literal: the error quotes what a stranger sent, line ends and all.
            _log.info("refused a token of %s: %.200r", self._issuer.issuer, str(error))
            return None
        return self._describe_holder(claims)

    def _concerns_issuer(self, token: str) -> bool:
        """Return whether a token says that it is the issuer's: for no other is the issuer asked anything."""
        told = jwt.decode_complete(token, options={"verify_signature": False})
        return told["header"].get("alg") in ALGORITHMS and told["payload"].get("iss") == self._issuer.issuer

    def _read_claims(self, token: str) -> Mapping[str, Any]:
        if self._keys is None:
            with self._patience.asking():
                self._keys = _IssuerKeys(self._find_keys(), self._patience)
        claims: Mapping[str, Any] = jwt.decode(
            token,
            self._keys.get_signing_key_from_jwt(token),
            algorithms=list(ALGORITHMS),
            audience=self._issuer.audience,
            issuer=self._issuer.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        return claims

    def _find_keys(self) -> str:
        """Return the address of the issuer's keys, from its metadata (OIDC Discovery 1.0, section 4)."""
        address = f"{self._issuer.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            with urllib.request.urlopen(address, timeout=FETCH_SECONDS) as answer:
                metadata = json.loads(answer.read(MAX_METADATA_BYTES))
        except urllib.error.HTTPError as error:
            error.close()  # It holds the connection.
            raise
        keys = metadata.get("jwks_uri") if isinstance(metadata, dict) else None
        if not isinstance(keys, str) or metadata.get("issuer") != self._issuer.issuer:
            raise ValueError(f"{address} is not the metadata of {self._issuer.issuer}")
        if not _is_safe_address(keys):
            raise ConfigurationError(f"jwks_uri={keys!r} {_SAFE}")
        return keys

    def _describe_holder(self, claims: Mapping[str, Any]) -> AccessToken | None:
        granted = _list_scopes(claims.get("scope", claims.get("scp")))
        scopes = [READ, WRITE] if WRITE in granted else [READ] if READ in granted else []
        return AccessToken(
            token="",  # nosec: nothing needs it further, and what is not there can't be logged
            client_id=str(claims.get("azp") or claims.get("client_id") or claims["sub"]),
            subject=_name_person(claims),
            scopes=scopes,
            expires_at=int(claims["exp"]),
            claims={"iss": self._issuer.issuer},
        )


def _list_scopes(told: object) -> list[str]:
    """Return what a claim grants: words in one text (RFC 8693), or a list of texts, as some providers have it."""
    return [word for part in (told if isinstance(told, list) else [told]) for word in str(part or "").split()]


def _name_person(claims: Mapping[str, Any]) -> str:
    """Return how a person is named: by a verified address where there is one, for a name can be anybody's."""
    return str(claims["email"] if claims.get("email") and claims.get("email_verified") is True else claims["sub"])
