"""The address that an invitation holds, and the password in it, are shown once and kept for the user alone."""

from __future__ import annotations

import logging
import os
import stat
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from hyperloci.errors import HyperlociError
from hyperloci.store.team.postgres import MEMBER_ROLE, connect, hide_password
from hyperloci.store.team.shared_values import MemberRole
from hyperloci.team import enrolment
from hyperloci.team.membership import find_membership_file, load_membership, save_membership
from tests.team.machines import Machine, Team

PASSWORD = "pa55-of-the-members"


@pytest.fixture
def ada(database_url: str, tmp_path: Path) -> Machine:
    """Who made a team as its database's owner."""
    machine = Machine.make(tmp_path / "ada", Team.make(database_url, "Unused"))
    enrolment.create_team(machine.memory.settings, database_url, "Engineers", "ada", password=PASSWORD)
    return machine


def test_an_invitation_holds_the_members_password_and_nothing_of_the_owners() -> None:
    owners = "postgresql://owner:own-secret@db.example.com/memory?sslmode=verify-full&sslkey=/home/ada/key&passfile=/p"
    made = enrolment._make_invitation_url(owners, PASSWORD)
    assert conninfo.conninfo_to_dict(made) == {
        "user": MEMBER_ROLE,
        "password": PASSWORD,
        "host": "db.example.com",
        "dbname": "memory",
        "sslmode": "verify-full",
    }


def test_the_file_that_keeps_it_is_the_users_alone_even_where_one_lay_open(ada: Machine) -> None:
    settings = ada.memory.settings
    file = find_membership_file(settings)
    file.chmod(0o644)
    save_membership(settings, load_membership(settings))
    assert PASSWORD in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_folders_that_are_made_for_it_are_the_users_alone(ada: Machine, tmp_path: Path) -> None:
    above = tmp_path / "fresh"
    usual = os.umask(0o022)
    try:
        save_membership(replace(ada.memory.settings, state_dir=above / "state"), load_membership(ada.memory.settings))
    finally:
        os.umask(usual)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (above, above / "state")] == [0o700, 0o700]


def test_neither_password_nor_token_is_shown_with_the_membership_or_told_of_the_team(ada: Machine) -> None:
    settings = ada.memory.settings
    url, token = enrolment.invite_member(settings, "bob", MemberRole.MEMBER)
    assert PASSWORD in url
    told = [repr(load_membership(settings)), repr(enrolment.describe_team(ada.memory.store, settings))]
    for secret in (PASSWORD, token, load_membership(settings).token):
        assert not [text for text in told if secret in text]


def test_what_goes_wrong_with_the_address_is_told_and_logged_without_the_password(
    ada: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    settings = ada.memory.settings
    known = load_membership(settings)
    addresses = (
        f"postgresql://{MEMBER_ROLE}:{PASSWORD}@localhost:1/memory",
        f"postgresql://{MEMBER_ROLE}:{PASSWORD}@localhost:1/memory?no_such=1",
        f"postgresql:/{MEMBER_ROLE}:{PASSWORD}@localhost/memory",
        f"host=/nonexistent password='{PASSWORD} and more' unknown=1",
        f"host=/nonexistent password='{PASSWORD}",
    )
    told = []
    with caplog.at_level(logging.DEBUG):
        for url in addresses:
            with pytest.raises(HyperlociError) as error:
                connect(url, timeout=1)
            told.append(str(error.value))
            save_membership(settings, replace(known, url=url))
            told.append(repr(ada.memory.search("deploys", scope="team").hints))
            with pytest.raises(HyperlociError) as error:
                enrolment.sync_by_hand(ada.memory.store, settings)
            told.append(str(error.value))
    assert len(told) == 3 * len(addresses)
    assert PASSWORD not in " ".join(told) + caplog.text
    assert "and more" not in " ".join(told) + caplog.text


def test_the_database_is_never_sent_the_password_in_a_statement(database_url: str, ada: Machine) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", (MEMBER_ROLE,)).fetchone()
    assert row is not None and row[0].startswith("SCRAM-SHA-256$") and PASSWORD not in row[0]


def test_no_row_of_the_machines_own_database_has_it(ada: Machine) -> None:
    dump = "\n".join(ada.memory.store.connection.iterdump())
    assert PASSWORD not in dump and load_membership(ada.memory.settings).token not in dump


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:s3cret@db/memory",
        "postgresql://ada:s3/cr@s3cret@db/memory?sslmode=require",
        "postgresql://db/memory?user=ada&password=s3cret&sslmode=require",
        "host=db password=s3cret user=ada",
        r"host=db password='s3 s3cret \' s3cret' user=ada",
        "missing = after postgresql:/ada:s3cret@db",
    ],
)
def test_a_password_is_hidden_however_an_address_is_written(address: str) -> None:
    assert "s3" not in hide_password(address)
    assert "db" in hide_password(address)
