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
    ],
)
def test_a_file_that_holds_secrets_is_known_by_its_name(name: str, folder: str) -> None:
    assert is_secret_file(name, folder)


@pytest.mark.parametrize(("name", "folder"), [(".env.example", ""), ("config", "src"), ("main.py", ""), ("", "")])
def test_other_files_hold_none(name: str, folder: str) -> None:
    assert not is_secret_file(name, folder)
