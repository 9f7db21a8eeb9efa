"""What `hyperloci share --read` says of what it took in."""

from __future__ import annotations

from hyperloci.cli.sharing.share_commands import describe_reading
from hyperloci.facts.sharing.intake_report import IntakeReport


def test_only_what_happened_is_said_in_the_number_that_it_has() -> None:
    assert describe_reading(IntakeReport()) == "nothing new"
    assert describe_reading(IntakeReport(taken=2)) == "2 memories taken in"
    told = describe_reading(IntakeReport(taken=1, ended=2, withdrawn=1, disputes=1))
    assert (
        told == "1 memory taken in, 2 memories no longer valid, 1 memory forgotten as withdrawn, 1 contradiction found"
    )
