"""The five standard tables of many hands in columns are those of one hand after the other."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from engine.game import Game
from events import types as t
from store.columns.codec import encoded_table, event_table, rows_of
from store.columns.event_columns import columns_of_leaves
from store.folder.disk import RealDisk
from store.folder.manifest import read as manifest_of
from store.log.streams import Leaf
from store.reader import Reader
from store.segments.reading import files_of
from store.tables.projection import COLUMNS, STANDARD, EventRows
from tests.analytics.held import forged
from tests.analytics.test_facts_walked import imported, recorded
from tests.hands import seeded, some_rulesets
from tests.profiles import sized
from tests.store.sealed_hands import leaves, of_games
from tests.store.walked_tables import walked

FROZEN = sorted((Path(__file__).parent / "frozen").glob("v*"))
HANDS, FORGED = sized((10, 24), (24, 60))
START = t.HandStarted("m/1", "game", "ruleset", 1, ("ann", "bob"), (200, 100))


def alike(given: Sequence[Leaf]) -> dict[str, pa.Table]:
    """Every table of events as they are sealed, as Parquet gives them back, and of whole rows."""
    sealed = rows_of(columns_of_leaves(given))
    found = {}
    for rows in (sealed, sealed.cast(plain(sealed)), event_table(given)):
        events = EventRows(rows)
        for one in STANDARD:
            made, expected = one.from_rows(events), walked(one, given)
            assert made.schema == expected.schema
            for name in expected.column_names:
                assert expected[name].to_pylist() == made[name].to_pylist(), (one.name, name)
            found[one.name] = made
    return found


def plain(rows: pa.Table) -> pa.Schema:
    """Its columns with their words in full."""
    kinds = (it.value_type if pa.types.is_dictionary(it) else it for it in rows.schema.types)
    return pa.schema(list(zip(rows.column_names, kinds, strict=True)))


def hand(*events: t.Event) -> t.Events:
    """A hand of two with a pot, in which besides something unusual is recorded."""
    blinds = (t.BlindPosted(1, 1, 1, "small"), t.BlindPosted(0, 2, 2, "big"))
    holes = (t.HoleDealt(0, ("As", "Kd")), t.HoleDealt(1, ("??", "??")))
    step = t.StepEntered(1, "hole")
    return (START, *blinds, step, *holes, *events, t.PotSplit(0, (0,), (3,)), t.HandEnded())


@some_rulesets
def test_random_hands_are_told_alike(game: Game) -> None:
    """And so are the same hands broken off anywhere, as they are while they are played, or void."""
    records = [seeded(game, f"standard {n}").record for n in range(HANDS)]
    chance = Random(game.name)
    cut = [record[: chance.randrange(1, len(record) + 1)] for record in records]
    void = [(*record, t.HandVoided("the lights went out")) for record in cut]
    found = alike(recorded([*records, *cut, *void]))
    assert 3 * HANDS == found["hands"].num_rows
    assert found["players"].num_rows >= 4 * HANDS


@some_rulesets
def test_forged_hands_are_told_alike(game: Game) -> None:
    every = list(forged(game, seeded(game, "standard forgery").record))
    alike(recorded(every[:: max(1, len(every) // FORGED)]))


def test_match_records_stand_among_hands() -> None:
    found = alike(leaves(of_games("auction-2024-mit", "swap-2022", "site-pl", count=30)))
    assert 6 == found["hands"]["number"].null_count == found["hands"]["nets"].null_count
    assert min(found[name].num_rows for name in ("bids", "swaps", "pots")) > 20


UNUSUAL: dict[str, tuple[t.Event, ...]] = {
    "a seat that is not there": (t.Checked(7, None),),
    "a fold of nobody": (t.Folded(2, None),),
    "cards for nobody": (t.HoleDealt(2, ("2c",)),),
    "shown by nobody": (t.Shown(2, ("2c",)),),
    "a price for nobody": (t.AuctionSettled((0, 5), 3, (4, 3), True),),
    "a pot for nobody": (t.PotSplit(1, (2,), (1,)),),
    "a bid of nobody": (t.BidPlaced(4, 3, True), t.AuctionSettled((0,), 1, (3, 2), True)),
    "mucked by nobody": (t.Mucked(9), t.Disconnected(9), t.Announced(9, ("As",))),
    "a swap of nobody's card": (t.CardSwapped(3, 0, "2c", "3c"),),
    "nobody's card that stays": (t.CardSwapped(3, 0, "2c", "2c"),),
    "a place without a card": (t.CardSwapped(0, 2, "As", "3c"),),
    "a place without a card that stays": (t.CardSwapped(0, 3, "As", "As"),),
    "a swap before cards": (t.Shown(0, ()), t.CardSwapped(0, 0, "As", "3c")),
    "shown after a swap": (t.CardSwapped(0, 0, "As", "3c"), t.Shown(0, ("As", "Kd"))),
    "swapped after it was shown": (t.Shown(1, ("2c",)), t.CardSwapped(1, 0, "2c", "4c", told=True)),
    "dealt after it was shown": (t.Shown(1, ("2c",)), t.HoleDealt(1, ("5c",))),
    "swapped twice": (t.CardSwapped(0, 1, "Kd", "3c"), t.CardSwapped(0, 1, "3c", "4c")),
    "more cards than columns": (t.Shown(1, ("2c", "3c", "4c", "5c", "6c", "7c", "8c")),),
    "a long board": (t.BoardDealt(("2c", "3c", "4c")), t.BoardDealt(("5c", "6c", "7c"))),
    "a hidden card": (t.HoleDealt(0, ("hidden",)), t.CardSwapped(0, 0, "hidden", "hidden")),
    "all-in before chips come back": (
        t.Called(1, 99, 1, "recorded"),
        t.UncalledReturned(1, 99),
    ),
    "all-in and folded": (t.Called(1, 99, 1, "recorded"), t.Folded(1, None, "recorded")),
    "more than there is": (t.Called(1, 100, None), t.Bet(1, 0, False, None)),
    "nothing of nothing": (t.Called(1, 99, None), t.AntePosted(1, 0)),
    "all-in with what was won": (t.PotSplit(0, (1,), (50,)), t.Bet(1, 149, True, None)),
    "a price that takes all": (t.AuctionSettled((1, 0), 99, (99, 99), False),),
    "a price twice": (t.AuctionSettled((1, 1), 50, (50, 50), False),),
    "no winner": (t.BidPlaced(0, 4, False), t.AuctionSettled((), 4, (), False)),
    "out of time": (t.TimedOut(1, True, None),),
    "out of time, but not out": (t.TimedOut(1, False, None), t.TimedOut(5, False, None)),
    "out of time where nobody sits": (t.TimedOut(5, True, None),),
    "a bid never settled": (t.BidPlaced(0, 4, True, "forced"),),
    "two auctions": (
        t.BidPlaced(0, 4, True),
        t.AuctionSettled((0,), 2, (4,), True),
        t.BidPlaced(1, 5, False),
        t.AuctionSettled((0,), 1, (5,), True),
        t.BidPlaced(1, 6, False, "default"),
    ),
    "raked before and after": (
        *(t.RakeTaken(0, 1), t.RakeTaken(1, 2), t.RakeTaken(0, 3)),
        *(t.PotSplit(1, (0, 1), (2, 1)), t.RakeTaken(1, 5), t.PotSplit(0, (1, 0), (1, 1))),
    ),
    "a pot of nobody": (t.RakeTaken(0, 1), t.PotSplit(0, (), ())),
    "void": (t.RakeTaken(0, 1), t.PotSplit(0, (1,), (1,)), t.HandVoided("the lights went out")),
    "a reply that failed": (t.Faulted(0, "?", "malformed", "bid"),),
    "a claim": (t.Claimed((1, -1), 0),),
}


def test_unusual_hands_are_told_alike_and_hurt_no_neighbour() -> None:
    """All of them at once, a usual hand after each: it is told as if it had no neighbour."""
    alone = alike(recorded([hand()]))
    found = alike(recorded([one for odd in UNUSUAL.values() for one in (hand(*odd), hand())]))
    for name, rows in found.items():
        told = _by_hand(rows)
        for number, what in enumerate(UNUSUAL):
            assert _by_hand(alone[name]).get(0) == told.get(2 * number + 1), (what, name)


def _by_hand(rows: pa.Table) -> dict[int, list[dict[str, Any]]]:
    """The rows of each hand, without where it stands."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        hand_seq = row.pop("hand_seq")
        for position in ("number", "first_pos", "last_pos"):
            row.pop(position, None)
        found.setdefault(hand_seq, []).append(row)
    return found


@pytest.mark.parametrize("what", sized([*UNUSUAL][::8], [*UNUSUAL]))
def test_an_unusual_hand_alone_is_told_alike(what: str) -> None:
    alike(recorded([hand(*UNUSUAL[what])]))


def test_no_row_of_events_makes_no_row() -> None:
    for one in STANDARD:
        assert 0 == one.build([]).num_rows
        assert one.build([]).schema == one.build(recorded([hand()])).schema


def test_they_read_the_columns_that_they_name_and_no_other() -> None:
    given = leaves(of_games("auction-2024-mit", "swap-2022", count=6))
    rows = encoded_table(given)
    for one in STANDARD:
        assert COLUMNS == one.columns
        few = one.from_rows(EventRows(rows.select(COLUMNS)))
        assert one.from_rows(EventRows(rows)).equals(few)


@pytest.mark.parametrize("kept", FROZEN, ids=lambda path: path.name)
def test_a_frozen_ledger_is_told_alike_and_as_it_was_told_then(kept: Path, tmp_path: Path) -> None:
    """The tables in its files were made by the program of its time."""
    shutil.copytree(kept / "ledger", tmp_path / "ledger")
    disk = RealDisk(tmp_path / "ledger")
    given = list(Reader(tmp_path / "ledger").snapshot().leaves())
    alike(given)
    found = manifest_of(disk)
    assert found is not None
    for segment in found.segments:
        inside = [it for it in given if segment.first_seq <= it.hand_seq <= segment.last_seq]
        for one in STANDARD:
            file = files_of(disk).open(segment, one.name)
            groups = [files_of(disk).rows(segment, one.name, at) for at in range(file.groups)]
            then, now = pa.concat_tables(groups), one.build(inside)
            assert then.to_pylist() == now.select(then.column_names).to_pylist()


@pytest.mark.parametrize(
    "corpus",
    [
        "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt",
        "phh/wsop-2023-43-5",
        "pokerstars/hhsmithy",
        pytest.param("mit/made/2024", marks=pytest.mark.slow),
        pytest.param("mit/2022", marks=pytest.mark.slow),
        pytest.param("acpc/3p.nolimit.h1000.r0.log", marks=pytest.mark.slow),
        pytest.param("pokerstars/fpdb", marks=pytest.mark.slow),
    ],
)
def test_real_hands_are_told_alike(corpus: str, tmp_path: Path) -> None:
    _, some = imported(corpus, tmp_path)
    alike(some)
