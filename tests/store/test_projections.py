"""Projections: facts counted from events, the same whenever and however they are counted."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from engine.games import GAMES
from events import types as t
from events.ledger import Recorded
from events.notation import read
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.manifest import Manifest
from store.log.streams import Leaf
from store.segments import sealing as compact
from store.segments.sealed_segments import SealedSegments, write_segment
from store.tables.projection import (
    BIDS,
    HANDS,
    PLAYERS,
    POTS,
    STANDARD,
    SWAPS,
    EventRows,
    Projection,
)
from tests.store.sealed_hands import leaves, of_games

AUCTION = """
hand m/1 of auction-2024 f00d, button 1: a 400, b 400
1 posts small 1 to 1
0 posts big 2 to 2
step 1: hole
1 is dealt [Qs Kh]
0 is dealt [Kc 3h]
step 2: preflop betting, 2 to match, raise by 2, 1 to act
1 raises 3 to 4, 0 to act
0 calls 2
step 3: flop
board [Ks 8d 2d]
step 4: auction
0 bids 66
1 bids 5
auction to 0 at 5, bids 66 and 5
0 is dealt [Qh]
step 5: flop betting, 0 to match, raise by 2, 0 to act
0 bets 28, 1 to act
1 folds
0 takes back 28
pot 0: 13 to 0
hand over
"""


def leaf(text: str) -> Leaf:
    """One hand from its lines."""
    events = [read(line) for line in text.strip().splitlines()]
    return Leaf(0, tuple(Recorded(at, "m/1", at, 1_000, one) for at, one in enumerate(events)))


def rows(projection: Projection, *given: Leaf) -> list[dict[str, object]]:
    found: list[dict[str, object]] = projection.build(given).to_pylist()
    return [{k: v for k, v in row.items() if k not in ("hand_seq", "match")} for row in found]


def test_a_hand_has_one_row() -> None:
    (row,) = rows(HANDS, leaf(AUCTION))
    assert (1, 22, 0, 21) == (row["number"], row["events"], row["first_pos"], row["last_pos"])
    assert ("Ks 8d 2d", 13, 0, "4 -4") == tuple(
        row[name] for name in ("board", "pot", "rake", "nets")
    )
    assert '["a","b"]' == row["players"]
    assert (False, False, "flop") == (row["showdown"], row["voided"], row["street"])


def test_a_player_has_one_row_a_hand() -> None:
    """What stayed in, the price of the auction included; what came out; the difference."""
    winner, loser = rows(PLAYERS, leaf(AUCTION))
    assert ("a", 9, 13, 4, "Kc 3h Qh", False) == tuple(
        winner[name] for name in ("player", "put_in", "collected", "net", "hole", "folded")
    )
    assert ("b", 4, 0, -4, True, 0) == tuple(
        loser[name] for name in ("player", "put_in", "collected", "net", "folded", "position")
    )


def test_a_bid_knows_what_came_of_it() -> None:
    won, lost = rows(BIDS, leaf(AUCTION))
    assert (66, True, 5, 8) == tuple(won[name] for name in ("amount", "won", "price", "pot"))
    assert (5, False, 5, 8) == tuple(lost[name] for name in ("amount", "won", "price", "pot"))


def test_a_pot_names_who_was_paid() -> None:
    assert [{"number": 1, "pot": 0, "seat": 0, "player": "a", "share": 13, "rake": 0}] == rows(
        POTS, leaf(AUCTION)
    )


def test_a_voided_hand_is_in_no_statistic() -> None:
    void = leaf(AUCTION.replace("hand over", 'hand void, "the lights went out"'))
    assert [] == [row for one in (PLAYERS, BIDS, SWAPS, POTS) for row in rows(one, void)]
    (row,) = rows(HANDS, void)
    assert (True, 0, "0 0") == (row["voided"], row["pot"], row["nets"])


def test_every_card_at_risk_is_a_swap() -> None:
    given = leaves(of_games("swap-2022"))
    events = [one.event for it in given for one in it.recorded]
    told = rows(SWAPS, *given)
    assert sum(isinstance(one, t.CardSwapped) for one in events) == len(told) > 10
    assert {True, False} == {row["changed"] for row in told}


def test_a_record_that_does_not_add_up_breaks_no_projection() -> None:
    """The ledger keeps what it was given; a seat that is not there is for the auditor."""
    wrong = leaf(AUCTION.replace("0 calls 2", "5 calls 2"))
    assert wrong.hand is None
    assert [0, 0, 0, 0] == [len(rows(one, wrong)) for one in (PLAYERS, BIDS, SWAPS, POTS)]
    assert 1 == len(rows(HANDS, wrong))


def test_what_nobody_at_the_table_did_is_told_of_nobody() -> None:
    """Such a bid moves nothing, so the hand adds up."""
    strange = leaf(AUCTION.replace("1 bids 5\n", "1 bids 5\n7 bids 5\n"))
    assert strange.hand is not None
    assert [0, 1] == [row["seat"] for row in rows(BIDS, strange)]


@pytest.mark.parametrize("one", STANDARD, ids=lambda one: one.name)
def test_building_in_parts_gives_the_same(one: Projection) -> None:
    given = leaves(of_games("auction-2024-mit", "swap-2022", "site-pl"))
    parts = [one.build([leaf]) for leaf in given]
    assert one.build(given).equals(pa.concat_tables([one.build([]), *parts]).combine_chunks())


@pytest.mark.parametrize("game", GAMES)
def test_chips_add_up_in_every_projection(game: str) -> None:
    given = leaves(of_games(game))
    hands = {row["hand_seq"]: row for row in HANDS.build(given).to_pylist() if row["number"]}
    paid: Counter[int] = Counter()
    beside: Counter[int] = Counter()  # bounties go from player to player
    for row in PLAYERS.build(given).to_pylist():
        bounty = row["net"] - (row["collected"] - row["put_in"])
        assert not bounty or game.startswith("bounty")
        beside[row["hand_seq"]] += bounty
        paid[row["hand_seq"]] += row["put_in"]
    for row in POTS.build(given).to_pylist():
        paid[row["hand_seq"]] -= row["share"] + row["rake"]
    assert set() == {left for left in (*paid.values(), *beside.values()) if left}
    for row in hands.values():
        assert -row["rake"] == sum(map(int, row["nets"].split()))


def test_rebuilding_makes_what_is_missing_or_outdated_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    disk = RealDisk(tmp_path)
    closed = of_games("auction-2024-mit")
    sealed = tuple(write_segment(disk, closed[at : at + 7], (PLAYERS,)) for at in (0, 7))
    now = Manifest(0, "log/0", 0, closed[-1].placed[0].pos, 14, sealed)
    new = compact.rebuild(disk, now, STANDARD, at=5)
    assert new == manifest.read(disk)
    assert {one.name: one.version for one in STANDARD} == new.segments[0].projections
    assert [one.files["players"] for one in sealed] == [
        one.files["players"] for one in new.segments
    ]
    assert {} == new.retired
    assert compact.rebuild(disk, new, STANDARD, at=6) is new
    second = tuple(one._replace(version=2) if one.name == "bids" else one for one in STANDARD)
    newer = compact.rebuild(disk, new, second, at=7)
    assert 2 == newer.segments[1].projections["bids"]
    fresh = write_segment(RealDisk(tmp_path), closed[:7], second)
    assert fresh.sha256 == newer.segments[0].sha256


def test_a_projection_from_outside_is_kept_like_the_others(tmp_path: Path) -> None:
    """Facts that need rules are handed in; the store knows their name and version."""

    def build(given: EventRows) -> pa.Table:
        return given.table.select(["hand_seq"])

    (tmp_path / "segments").mkdir()
    disk = RealDisk(tmp_path)
    segment = write_segment(
        disk, of_games("site-nl"), (Projection("facts", 3, build, ("hand_seq",)),)
    )
    assert {"hands": 2, "facts": 3} == segment.projections
    assert {"events", "hands", "facts"} == set(segment.files) == set(segment.sizes)
    assert "site-nl/3" == SealedSegments(disk, (segment,)).read("site-nl/3")[0].stream
