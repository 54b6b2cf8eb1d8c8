"""What a command can divide its answer by is what the analysis behind it divides by."""

from importlib import import_module

import pytest

from tests.sessions import Captured, printed


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("bids", "auctions.bidding"),
        ("opponent", "opponents.report"),
        ("results", "results.players"),
        ("stats", "sql.chosen"),
        ("swaps", "swaps.luck"),
    ],
)
def test_a_command_divides_by_what_its_analysis_does(
    command: str, module: str, capsys: Captured
) -> None:
    """The command line keeps a copy: `--help` must not wait for numpy."""
    said, meant = (
        import_module(f"{room}.{name}").BYS
        for room, name in (("api.cli", command), ("analytics", module))
    )
    assert meant == said
    shown = printed(capsys, command, "--help")
    assert [] == [one for one in meant if one not in shown]
