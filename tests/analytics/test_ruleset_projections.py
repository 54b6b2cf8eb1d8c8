"""Tables that stand beside events are the same out of columns as out of leaves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from analytics.projections.auctions import SCHEMA
from analytics.projections.facts import PROJECTION_NAMES, ruleset_projections
from analytics.replay.rules import RulesetText
from engine.game import Game, fingerprint, to_json
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.imported import AUCTION_2024_A0
from events import types as t
from store.columns.codec import arrow_table, encoded_table
from store.log.streams import Leaf
from store.tables.projection import ProjectionBuilder
from tests.analytics import walked_auctions, walked_played, walked_risks
from tests.analytics.held import forged
from tests.analytics.test_facts_walked import imported, recorded
from tests.hands import RULESETS, seeded, some_rulesets
from tests.profiles import sized
from tests.store.sealed_hands import leaves as sealed
from tests.store.sealed_hands import of_games

TEXTS = {fingerprint(game): to_json(game) for game in RULESETS.values()}
HANDS, FORGED = sized((6, 10), (14, 24), (24, 40))  # of each ruleset


def _bid(*amounts: Any) -> Iterator[t.BidPlaced]:
    """A sealed bid of each seat; hidden ones have no amount."""
    return (t.BidPlaced(seat, amount, True) for seat, amount in enumerate(amounts))


def alike(given: list[Leaf], kept: RulesetText = TEXTS.get) -> dict[str, pa.Table]:
    """Every table out of columns; column by column what walking finds, of those that have a walk
    here."""
    builder = ProjectionBuilder(ruleset_projections(kept))
    found = dict((*builder.add(encoded_table(given)), *builder.flush()))
    walked = {
        "auctions": arrow_table(
            [row for leaf in given for row in walked_auctions.rows_of(leaf)], SCHEMA
        ),
        "played": walked_played.build(kept, given),
        "risks": walked_risks.build(kept, given),
    }
    for table, expected in walked.items():
        assert expected.schema == found[table].schema
        for name in expected.column_names:
            assert expected[name].to_pylist() == found[table][name].to_pylist(), (table, name)
    return found


@some_rulesets
def test_random_hands_are_told_alike(game: Game) -> None:
    found = alike(recorded(seeded(game, f"stored {n}").record for n in range(HANDS)))
    assert {*PROJECTION_NAMES} == {*found}
    assert found["played"].num_rows >= found["facts"].num_rows > HANDS / 2


@some_rulesets
def test_forged_hands_are_told_alike(game: Game) -> None:
    every = list(forged(game, seeded(game, "stored forgery").record))
    alike(recorded(every[:: max(1, len(every) // FORGED)]))


def test_the_tables_of_several_games_have_all_there_is_to_tell() -> None:
    found = alike(sealed(of_games("auction-2024-mit", "swap-2022", "site-pl", count=40)))
    assert found["auctions"].num_rows > 40
    assert found["risks"].num_rows > 40
    assert any(found["played"]["may_close"].to_pylist())


@pytest.mark.parametrize(("game", "opened"), [(AUCTION_2024_MIT, True), (AUCTION_2024_A0, False)])
def test_who_bets_the_turn_has_not_bet_the_flop(game: Game, opened: bool) -> None:
    """In the oldest engine of 2024 the turn follows an auction: nobody can open the flop."""
    found = alike(recorded(seeded(game, f"flop {n}").record for n in range(40)))["auctions"]
    assert found.num_rows > HANDS / 2
    assert opened == (found["flop_bet"].null_count < found.num_rows)


THREE = t.HandStarted("m/1", "auction-2024", "f00d", 1, ("ann", "bob", "cy"), (200, 100, 60))
FLOP = t.BoardDealt(("As", "Kd", "2c"))
WON = t.AuctionSettled((1,), 1, (1, 2), True)
AUCTIONS: dict[str, tuple[t.Event, ...]] = {
    "of three": (FLOP, *_bid(3, 5, 4), t.AuctionSettled((1,), 4, (3, 5, 4), True)),
    "of three of two": (FLOP, *_bid(3, 5), t.AuctionSettled((1,), 3, (3, 5), True)),
    "of three alone": (FLOP, *_bid(3), t.AuctionSettled((0,), 0, (3,), True)),
    "tied": (FLOP, *_bid(5, 3, 5), t.AuctionSettled((0, 2), 5, (5, 3, 5), True)),
    "without a winner": (FLOP, *_bid(1, 2), t.AuctionSettled((), 2, (), True)),
    "without a bid": (FLOP, t.AuctionSettled((0,), 2, (2,), True)),
    "never settled": (FLOP, *_bid(1, 2)),
    "of somebody else": (
        *_bid(1),
        t.BidPlaced(7, 9, True),
        t.AuctionSettled((0,), 1, (1, 9), True),
    ),
    "bid twice": (*_bid(4, 2), *_bid(1, 3), t.AuctionSettled((1,), 1, (1, 3), True)),
    "in another order": (*_bid(4, 2), t.AuctionSettled((0,), 2, (2, 4), True)),
    "openly": (t.BidPlaced(1, 2, False), t.AuctionSettled((1,), 2, (2,), True)),
    "hidden": (*_bid(None, 2, None), t.AuctionSettled((1,), 2, (2,), True)),
    "all hidden": (*_bid(None, None), t.AuctionSettled((1,), 2, (2,), True)),
    "on a pair": (
        t.BoardDealt(("As", "Ad", "2c")),
        *_bid(1, 2),
        WON,
    ),
    "of one suit": (
        t.BoardDealt(("As", "9s", "2s")),
        *_bid(1, 2),
        WON,
    ),
    "on four cards": (
        FLOP,
        t.BoardDealt(("7c",)),
        *_bid(1, 2),
        WON,
    ),
    "on an unknown card": (
        t.BoardDealt(("As", "??", "2c")),
        *_bid(1),
        t.AuctionSettled((0,), 1, (), True),
    ),
    "without a stack": (t.Called(2, 60, None), *_bid(1, 2, 0), WON),
    "twice": (
        FLOP,
        *_bid(3, 5),
        t.AuctionSettled((1,), 3, (3, 5), True),
        t.HoleDealt(1, ("8h",)),
        t.PotSplit(0, (2,), (9,)),
        t.RakeTaken(0, 1),
        t.BoardDealt(("7c",)),
        *_bid(0, 1, 2),
        t.AuctionSettled((2,), 1, (0, 1, 2), False),
        t.HoleDealt(2, ("9h",)),
        t.Shown(1, ("As", "Kd", "8h")),
        t.Shown(2, ("2c", "3c", "9h")),
    ),
    "after a swap": (
        t.CardSwapped(0, 1, "Kh", "5d"),
        *_bid(3, 5),
        t.AuctionSettled((1,), 3, (3, 5), True),
        t.CardSwapped(0, 0, "Qh", "6d"),
        t.Shown(0, ("6d", "5d", "7d")),
    ),
    "after a fold": (
        t.Folded(2, None),
        *_bid(1, 2),
        WON,
        t.Folded(0, None),
    ),
}
LATER: dict[str, tuple[t.Event, ...]] = {
    "bet": (t.Bet(0, 4, True, None),),
    "checked": (t.Checked(0, None), t.Bet(1, 4, True, None)),
    "bet by nobody's choice": (t.Bet(0, 4, True, None, "default"), t.Bet(1, 5, True, None)),
    "raised": (t.Raised(1, 4, 4, True, None), t.Checked(0, None)),
    "folded": (t.Checked(1, None), t.Folded(1, None), t.Checked(0, None)),
    "called": (t.Called(0, 4, None), t.Checked(0, None)),
    "nothing": (),
}


@pytest.mark.parametrize("what", AUCTIONS)
def test_an_unusual_auction_is_told_alike(what: str) -> None:
    holes = (
        t.HoleDealt(0, ("Qh", "Kh")),
        t.HoleDealt(1, ("??", "??")),
        t.HoleDealt(2, ("3c", "3d")),
    )
    opened = [t.BettingOpened(3, street, 0, 2, 0) for street in ("flop", "flop", "turn")]
    hands: list[t.Events] = []
    for rounds in (opened[:1], opened[:2], opened[2:], []):
        for later in LATER.values():
            events = (
                THREE,
                t.BlindPosted(0, 5, 5, "big"),
                *holes,
                *AUCTIONS[what],
                *rounds,
                *later,
            )
            hands.append((*events, t.PotSplit(0, (1,), (5,)), t.HandEnded()))
    found = alike(recorded(hands))["auctions"]
    assert (what in ("without a bid", "never settled")) == (not found.num_rows)


@pytest.mark.parametrize(
    "corpus",
    [
        "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt",
        "pokerstars/hhsmithy",
        pytest.param("mit/2022", marks=pytest.mark.slow),
        pytest.param("mit/2024", marks=pytest.mark.slow),
        pytest.param("pokerstars/fpdb", marks=pytest.mark.slow),
    ],
)
def test_real_hands_are_told_alike(corpus: str, tmp_path: Path) -> None:
    snapshot, some = imported(corpus, tmp_path)
    alike(some, snapshot.ruleset)
