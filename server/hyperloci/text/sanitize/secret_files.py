"""Secret files: which files hold secrets, by their names: they are never read, nor is what was changed in them kept."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from fnmatch import translate
from typing import Final

_PATTERNS: Final = (
    ".env",
    ".env[._-]*",
    "*.env",
    ".envrc*",
    ".dev.vars*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "*.asc.key",
    "*.ovpn",
    "*.bcfks",
    "*.pkcs12",
    "*.kdb",
    "*.psafe3",
    "*.agilekeychain",
    "*.rdp",
    "*.mobileprovision",
    ".vault-token",
    ".vault_pass*",
    "vault_pass.txt",
    "vault-password*",
    ".*_history",
    "fish_history",
    "consolehost_history.txt",
    "mongosh_repl_history",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".gem-credentials",
    "git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".terraformrc",
    "credentials.tfrc.json",
    "terraform.rc",
    ".mylogin.cnf",
    ".msmtprc",
    ".fetchmailrc",
    ".offlineimaprc",
    ".boto",
    "rclone.conf",
    "filezilla.xml",
    "sitemanager.xml",
    "wp-config.php",
    "master.key",
    "shadow",
    ".s3cfg",
    "credentials",
    "credentials.json",
    ".credentials.json",
    "cookies.txt",
    "local.settings.json",
    "serviceaccountkey*.json",
    "*-firebase-adminsdk-*.json",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "*.tfvars.json",
    "kubeconfig",
    "*.kubeconfig",
)

_SECRET_PLACES: Final = frozenset(
    (
        (".docker", "config.json"),
        (".kube", "config"),
        (".aws", "config"),
        (".azure", "accesstokens.json"),
        (".azure", "msal_token_cache.json"),
        (".gem", "credentials"),
        (".cargo", "credentials.toml"),
        (".m2", "settings.xml"),
        (".m2", "settings-security.xml"),
        ("gh", "hosts.yml"),
        ("gcloud", "application_default_credentials.json"),
        (".composer", "auth.json"),
        (".codex", "auth.json"),
        (".config", "hub"),
    )
)
"""Folder and file names that only together show that a file holds secrets."""

_TEMPLATES: Final = re.compile(r"\.(?:env|envrc|dev\.vars)[._-](?:example|sample|template|dist)$")
"""Files that show which secrets there are, without any."""

_COPY: Final = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|sw[op]))\Z")
"""What editors, tools and people put behind the name of a file that they keep a copy of."""


@functools.cache
def _name_matcher() -> Callable[[str], re.Match[str] | None]:
    return re.compile("|".join(translate(pattern) for pattern in _PATTERNS)).match


def is_secret_file(name: str, folder: str = "") -> bool:
    """Tell whether a file of this name holds secrets; `folder` is the name of the one it lies in."""
    lowered = _COPY.sub("", name.lower())
    if (folder, lowered) in _SECRET_PLACES:
        return True
    return _TEMPLATES.search(lowered) is None and _name_matcher()(lowered) is not None
