"""Outside issuer: tokens of an OpenID Connect provider (OIDC Core 1.0; RFC 9068), checked against its public keys."""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from anyio import Lock
from anyio.to_thread import run_sync
from mcp.server.auth.provider import AccessToken

from hyperloci.errors import ConfigurationError
from hyperloci.http.issued_tokens import READ, WRITE
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
"""Signatures with a public key only: with a shared secret whoever can check a token could make one."""

LEEWAY_SECONDS: Final = 30
FETCH_SECONDS: Final = 10
KEYS_SECONDS: Final = 300
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
            ConfigurationError: it is not https, nor on this machine.
        """
        _require_safe_address("issuer", self.issuer)


def _require_safe_address(name: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ConfigurationError(f"{name}={address!r} must begin with https:// (http:// only on this machine).")


class IssuerVerifier:
    """Verifies an issuer's tokens: signature, issuer, audience, times."""

    def __init__(self, issuer: OutsideIssuer) -> None:
        self._issuer = issuer
        self._keys: jwt.PyJWKClient | None = None
        self._fetching = Lock()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who a token speaks for and what it allows, or None for one that admits nobody."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
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

    def _read_claims(self, token: str) -> Mapping[str, Any]:
        if self._keys is None:
            self._keys = jwt.PyJWKClient(self._find_keys(), lifespan=KEYS_SECONDS, timeout=FETCH_SECONDS)
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
        with urllib.request.urlopen(address, timeout=FETCH_SECONDS) as answer:
            metadata = json.loads(answer.read(MAX_METADATA_BYTES))
        keys = metadata.get("jwks_uri") if isinstance(metadata, dict) else None
        if not isinstance(keys, str) or metadata.get("issuer") != self._issuer.issuer:
            raise ValueError(f"{address} is not the metadata of {self._issuer.issuer}")
        _require_safe_address("jwks_uri", keys)
        return keys

    def _describe_holder(self, claims: Mapping[str, Any]) -> AccessToken | None:
        granted = str(claims.get("scope", claims.get("scp", ""))).split()
        scopes = [READ, WRITE] if WRITE in granted else [READ] if READ in granted else []
        return AccessToken(
            token="",  # nosec: nothing needs it further, and what is not there can't be logged
            client_id=str(claims.get("azp") or claims.get("client_id") or claims["sub"]),
            subject=_name_person(claims),
            scopes=scopes,
            expires_at=int(claims["exp"]),
            claims={"iss": self._issuer.issuer},
        )


def _name_person(claims: Mapping[str, Any]) -> str:
    """Return how a person is named: by a verified address where there is one, for a name can be anybody's."""
    return str(claims["email"] if claims.get("email") and claims.get("email_verified") is True else claims["sub"])
