"""What a command can divide its answer by is what the analysis behind it divides by."""

from importlib import import_module
from typing import get_args

import pytest

from tests.sessions import Captured, printed


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("bids", "auctions.bidding"),
        ("opponent", "opponents.report_sections"),
        ("results", "results.net_breakdown"),
        ("stats", "sql"),
        ("swaps", "luck.luck_queries"),
    ],
)
def test_a_command_divides_by_what_its_analysis_does(
    command: str, module: str, capsys: Captured
) -> None:
    meant = get_args(import_module(f"analytics.{module}").By)
    shown = printed(capsys, command, "--help")
    assert [] == [one for one in meant if one not in shown]
