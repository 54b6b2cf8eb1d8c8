"""What the nets of a match count: one unit beside them, and no sum over several moneys."""

from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from api.questions.declared.matches import MatchesParams, matches
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer, without_progress
from engine.game import Game, fingerprint, to_json
from engine.games import RULESETS
from events import types as t
from events.ledger import Append
from events.match import MatchStarted
from events.types import Events
from store.ledger import open_ledger
from store.reader import Reader
from tests.exports import start_of
from tests.hands import seeded

PLAIN = RULESETS["auction-2024"]


def hand_of(game: Game, number: int) -> Events:
    """The same choices and chips, counted in this ruleset's unit."""
    start, *rest = seeded(PLAIN, "units of a match").record
    assert isinstance(start, t.HandStarted)
    hand = f"m/{number}"
    return replace(start, hand=hand, ruleset=fingerprint(game)), *rest


def matched(folder: Path, *units: str) -> dict[str, object]:
    """The row of a match whose hands count in these units; the nets of one hand are 'won'."""
    ledger, lock = open_ledger(folder, "units", ())
    games = [PLAIN if unit == "chip" else replace(PLAIN, unit=unit) for unit in units]
    start = start_of(hand_of(PLAIN, 1))
    announced = MatchStarted(
        "m", PLAIN.name, fingerprint(PLAIN), start.players, "recorded", "open", sealed_bids=True
    )
    ledger.append(Append("m", 0, (announced,), 1))
    for number, game in enumerate(games, 1):
        ledger.keep_ruleset(fingerprint(game), to_json(game))
        ledger.append(Append(f"m/{number}", 0, hand_of(game, number), 1))
    ledger.close()
    lock.release()
    viewed = LedgerView(Reader(folder).snapshot(), Viewer("auditor"))
    (row,) = matches(viewed, MatchesParams(), without_progress).rows
    return asdict(row)


@pytest.mark.parametrize(
    ("units", "unit", "times"),
    [
        (("chip", "chip"), "chip", 2),
        (("half chip",), "half chip", 1),
        (("chip", "half chip"), "half chip", 3),
        (("half chip", "1/3 chip"), "1/6 chip", 5),
        (("cent", "dollar"), "cent", 101),
    ],
)
def test_hands_of_one_money_are_added_up_in_a_unit_that_fits_all(
    units: tuple[str, ...], unit: str, times: int, tmp_path: Path
) -> None:
    """A hand in chips counts two half chips for each: nothing is rounded."""
    alone = matched(tmp_path / "alone", units[0])
    nets = alone["nets"]
    assert isinstance(nets, list)
    assert any(nets)
    row = matched(tmp_path / "both", *units)
    assert (unit, [times * net for net in nets]) == (row["unit"], row["nets"])


def test_chips_and_cents_have_no_sum(tmp_path: Path) -> None:
    row = matched(tmp_path / "ledger", "chip", "cent")
    assert (None, None, None) == (row["unit"], row["nets"], row["leader"])
