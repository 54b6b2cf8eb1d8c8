"""A real match of two bots: the report, and what some lines of Python read in its log."""

import re
from collections import Counter
from pathlib import Path

import pytest

from api.main import main
from api.questions.opponent_report import OpponentParams, opponent_sections
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from store.reader import Reader

SHARED = Path(__file__).parents[2].parent / "shared/data"
LOG = SHARED / "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt"
HANDS = 1000
STREETS = {3: "flop", 4: "turn", 5: "river"}


class Read:
    """What the lines of the log say of player A."""

    def __init__(self, text: str) -> None:
        self.leads: list[int] = []
        self.deals: list[bool] = []
        self.last_played = 0
        self.bids: list[int] = []
        self.bets: Counter[str] = Counter()
        for number, hand in enumerate(re.split(r"^Round #\d+, ", text, flags=re.MULTILINE)[1:], 1):
            first, *lines = hand.split("Final, ")[0].splitlines()
            self.leads.append(int(re.findall(r"A \((-?\d+)\)", first)[0]))
            self.deals.append(first.startswith("A"))
            self._hand(number, lines)

    def _hand(self, number: int, lines: list[str]) -> None:
        street = ""
        for line in lines:
            if cards := re.match(r"(?:Flop|Turn|River) \[([^]]*)\]", line):
                street = STREETS[len(cards[1].split())]
            if re.match(r"A (calls|bets|raises|bids [1-9])", line):
                self.last_played = number
            if bid := re.match(r"A bids (\d+)", line):
                self.bids.append(int(bid[1]))
            if line.startswith("A bets"):
                self.bets[street] += 1

    def locked(self) -> int | None:
        """The first hand from which on A always led by more than the blinds to come."""
        found = None
        for at in range(HANDS):
            dealt = sum(self.deals[at:])
            cost = dealt + 2 * (HANDS - at - dealt)
            if self.leads[at] <= cost:
                found = None
            elif found is None:
                found = at + 1
        return found


def test_a_report_says_what_the_log_says(tmp_path: Path) -> None:
    if not LOG.exists():
        pytest.skip(f"{LOG} is absent: there is no real match to report")
    assert main(["import", str(LOG), "--ledger", str(tmp_path)]) == 0
    viewed = LedgerView(Reader(tmp_path).snapshot(), Viewer("auditor"))
    asked = opponent_sections(viewed, OpponentParams("A", vs="B", spots=0))
    read = Read(LOG.read_text("ascii"))
    (lock,) = asked.locks()
    assert read.locked() == lock["number"]
    assert read.last_played + 1 == lock["folds_from"]
    assert read.leads[lock["number"] - 1] == lock["lead"]
    numbers = {one.statistic: one.value for one in asked.numbers()}
    assert (min(read.bids), max(read.bids)) == (numbers["bid_min"], numbers["bid_max"])
    looks = {one.statistic: one for one in asked.look_values()}
    assert dict(read.bets) == {
        at: looks[f"bet_{at}"].k for at in STREETS.values() if looks[f"bet_{at}"].k
    }
    asked.close()
    viewed.close()
