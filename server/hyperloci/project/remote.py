"""Remote: one spelling for a repository's address, however it was cloned: `host/owner/repository`.

Scheme, user, password, port of SSH, `.git` and the case of the host say how to reach it, not what it is.
Not followed: `url.*.insteadOf` and host names made up in an SSH configuration, because both are a machine's own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP: Final = re.compile(r"(?:[^@/\\]*@)?(\[[^\]/]+\]|[^:/\\@\[\]]+):(.*)", re.DOTALL)
_HELPER: Final = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*::")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_PORT: Final = re.compile(r":(\d*)$")

_DEFAULT_PORTS: Final = {"https": "443", "http": "80", "git": "9418"}

_SSH_HOSTS: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
"""Hosts that serve SSH for another name."""

_CASELESS_HOSTS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
"""Hosts to which `Owner/Repo` and `owner/repo` are one repository."""


def normalise_remote(url: str) -> str | None:
    """Return `host/path` for the address of a remote, None for a folder on this machine.

    Credentials are never part of the answer.
    """
    text = "".join(character for character in url if character.isprintable()).strip()
    text = _HELPER.sub("", text, count=1)
    if not text or _DRIVE.match(text):
        return None
    if matched := _URL.match(text):
        scheme, authority, path = matched[1].lower().removeprefix("git+"), matched[2], matched[3]
        return None if scheme == "file" else _join_host(_normalise_host(authority, scheme), path)
    matched = _SCP.match(text)
    return _join_host(_normalise_host(matched[1], "ssh"), matched[2]) if matched else None


def resolve_local_remote(url: str, base: Path) -> Path:
    """Return the folder that a local remote means; a relative one starts at `base`, the repository's own folder."""
    text = url.strip()
    if text.lower().startswith("file://"):
        text = text[len("file://") :].removeprefix("localhost")
        # file:///C:/x on Windows.
        text = text[1:] if _DRIVE.match(text[1:]) else text
    return Path(os.path.realpath(base / os.path.expanduser(text)))


def _normalise_host(authority: str, scheme: str) -> str:
    host = authority.rpartition("@")[2].lower()
    port = _PORT.search(host)
    # SSH is served on any port beside HTTPS; another port of HTTPS may be another server.
    if port and (scheme == "ssh" or port[1] in ("", _DEFAULT_PORTS.get(scheme))):
        host = host[: port.start()]
    host = host.rstrip(".")
    return _SSH_HOSTS.get(host, host)


def _join_host(host: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if host == "dev.azure.com":
        # v3/org/project/repo over SSH, org/project/_git/repo over HTTPS.
        parts = [part for index, part in enumerate(parts) if part != "_git" and (index or part != "v3")]
    joined = "/".join(parts).removesuffix(".git").rstrip("/")
    if host in _CASELESS_HOSTS:
        joined = joined.lower()
    return f"{host}/{joined}".strip("/")
