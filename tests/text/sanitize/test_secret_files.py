"""Secret files: known by their names."""

from __future__ import annotations

import pytest

from hyperloci.text.sanitize.secret_files import is_secret_file


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (".env", ""),
        (".ENV.local", ""),
        ("server.pem", ""),
        ("id_ed25519", ".ssh"),
        ("config", ".aws"),
        ("prod.tfvars", ""),
        (".env-prod", ""),
        (".dev.vars", ""),
        (".sqlite_history", ""),
        ("fish_history", "fish"),
        ("ConsoleHost_history.txt", "PSReadLine"),
        (".credentials.json", ".claude"),
        ("auth.json", ".codex"),
        ("cookies.txt", ""),
        ("terraform.tfstate.1699.backup", ""),
        ("id_rsa.bak", ".ssh"),
        (".netrc~", ""),
        ("server.pem.OLD", ""),
    ],
)
def test_a_file_that_holds_secrets_is_known_by_its_name(name: str, folder: str) -> None:
    assert is_secret_file(name, folder)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (".env.example", ""),
        (".env.example.bak", ""),
        (".dev.vars.example", ""),
        ("config", "src"),
        ("auth.json", "locales"),
        ("shadow.5", "man5"),
        ("change_history", ""),
        ("main.py", ""),
        ("main.py.bak", ""),
        ("", ""),
    ],
)
def test_other_files_hold_none(name: str, folder: str) -> None:
    assert not is_secret_file(name, folder)
