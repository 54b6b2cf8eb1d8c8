"""The table of known sites' rakes: every row is sound, and every hand is held against its own."""

from collections.abc import Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.parameters import Impossible
from engine.verdict import judge
from formats import cuts, known, ohh, phh
from formats.follow import follow
from formats.pokerstars import read
from formats.rakes import Asked, Known, Row, Unlisted, looked_up, rows_of_table
from formats.rules import Rules
from formats.sites.read import SITES
from formats.told import Refused, Source, ToldHand
from tests.foreign import gamelog
from tests.formats import test_format_ohh, test_format_pacific
from tests.formats.raked_hands import raked_hand

KNOWN, UNDATED = Rules(rake="known"), Rules(rake="undated")
ROWS = rows_of_table()
CHANGED = "https://www.pokerstars.com/poker/learn/news/pokerstars-rake-changes-explained/"


# The table.


def test_every_row_says_where_it_is_from_and_for_which_days() -> None:
    for row in ROWS:
        assert row.sources, row
        assert all(source.startswith(("http://", "https://")) for source in row.sources), row
        if row.begins is None:
            assert (type(row.seen), row.ends) == (date, None), row
        else:
            assert row.seen is None, row
            assert row.begins <= (row.ends or row.begins), row
        assert 0 < row.low[0] < row.low[1], row
        assert row.high is None or row.low[0] <= row.high[0] < row.high[1], row
        least, most = row.players
        assert 2 <= least <= (most or least), row
        ((players, cap),) = row.rake.caps_by_players
        assert (players, True) == (least, cap > 0), row
        assert 0.01 <= row.rake.percent / row.rake.of <= 0.07, row
        assert row.rake.rounding in ("half_even", "incremental"), row


def test_no_hand_is_of_two_rows() -> None:
    """Pair by pair: two rows of one site and table share no stakes, players and days."""
    both = [(one, other) for one, other in combinations(ROWS, 2) if _overlap(one, other)]
    assert both == []
    first = next(row for row in ROWS if row.ends)
    last = replace(first, begins=first.ends, ends=None)
    assert _overlap(first, last), "days are counted to their end"
    assert not _overlap(first, replace(first, limit="fixed"))


def _overlap(one: Row, other: Row) -> bool:
    of = ("site", "currency", "limit", "table")
    if any(getattr(one, name) != getattr(other, name) for name in of):
        return False
    if (one.begins is None) != (other.begins is None):
        return False  # an undated row stands back where a dated one is of the hand
    ranges: list[tuple[Any, Any, Any, Any]] = [(*one.players, *other.players)]
    if one.begins:
        ranges.append((one.begins, one.ends, other.begins, other.ends))
    for at in (0, 1):
        ends = [row.high[at] if row.high else None for row in (one, other)]
        ranges.append((one.low[at], ends[0], other.low[at], ends[1]))
    return all((b2 is None or a1 <= b2) and (b1 is None or a2 <= b1) for a1, b1, a2, b2 in ranges)


STARS = Asked(
    site="PokerStars",
    currency="USD",
    limit="no",
    stakes=(5, 10),
    players=6,
    day=date(2024, 4, 2),
    flop=True,
)


def test_a_row_is_of_the_days_for_which_its_source_vouches() -> None:
    said = {}
    for day in (date(2017, 3, 22), date(2024, 4, 1), date(2024, 4, 2), date(2026, 11, 1)):
        found = looked_up(replace(STARS, day=day), "known")
        assert isinstance(found, Known)
        said[str(day)] = found.assumed.partition(",")[0]
    assert said == {
        "2017-03-22": "rake 4.5 % up to 150",
        "2024-04-01": "rake 4.5 % up to 150",
        "2024-04-02": "rake 5 % up to 100",
        "2026-11-01": "rake 5 % up to 100",
    }
    found = looked_up(STARS, "known")
    assert isinstance(found, Known)
    assert found.said == f"as PokerStars takes of no-limit $0.05/$0.10, as of 2024-04-02: {CHANGED}"


INSTEAD = [
    ({"site": "Winamax"}, "has: PokerStars, 888poker, ", "; not Winamax"),
    ({"site": ""}, "has: PokerStars, 888poker, ", "; not a site that is not named"),
    ({"currency": "EUR"}, "has of PokerStars: USD", "; not EUR"),
    ({"currency": ""}, "has of PokerStars: USD", "; not chips"),
    (
        {"stakes": (5, 11)},
        "PokerStars, USD, no-limit: $0.01/$0.02, $0.02/$0.05,",
        "not $0.05/$0.11",
    ),
    ({"table": "cap"}, "regular tables, fast tables; ", "; not cap tables"),
    (
        {"limit": "fixed", "stakes": (100, 200), "players": 2, "day": date(2014, 5, 1)},
        "PokerStars, USD, fixed-limit, $1/$2, regular tables, 2 players: 2017-03-22; ",
        "; not 2014-05-01",
    ),
    (
        {"day": date(2014, 5, 1)},
        "$0.05/$0.10, regular tables, 6 players: 2017-03-22 to 2024-04-01, 2024-04-02 and later; ",
        "; not 2014-05-01",
    ),
    ({"day": None}, "2024-04-02 and later; ", "; not a hand that names no day"),
    (
        {"site": "888poker"},
        "6 players: no day that its source names (seen 2026-11-23: --rake undated takes it); ",
        "; not 2024-04-02",
    ),
    (
        {"site": "PartyPoker", "stakes": (1500, 3000), "players": 2},
        "PartyPoker, USD, no-limit, $15/$30, regular tables: 3 players, 4 players and more; ",
        "; not 2 players",
    ),
]


@pytest.mark.parametrize(("other", "there", "asked"), INSTEAD, ids=lambda it: str(it)[:40])
def test_what_no_row_is_of_is_told_what_there_is(
    other: dict[str, Any], there: str, asked: str
) -> None:
    found = looked_up(replace(STARS, **other), "known")
    assert isinstance(found, Unlisted)
    assert found.reason.startswith("the table of rakes has")
    assert there in found.reason
    assert found.reason.endswith(asked)


def test_an_undated_row_is_used_where_no_other_is_and_only_if_asked_for() -> None:
    asked = replace(STARS, site="888 Poker", stakes=(10, 25), day=None)
    assert isinstance(looked_up(asked, "known"), Unlisted)
    found = looked_up(asked, "undated")
    assert isinstance(found, Known)
    assert found.assumed == (
        "rake 5 % up to 400, as 888poker takes of no-limit $0.10/$0.25 to $1/$2, undated, "
        "seen 2026-11-23: https://www.888poker.com/poker-software/limits-and-rake/"
    )
    silent = looked_up(replace(asked, flop=False), "undated")
    assert isinstance(silent, Unlisted)
    assert silent.reason.endswith("does not say what 888poker takes of a hand without a flop")
    assert looked_up(STARS, "undated") == looked_up(STARS, "known"), "dated ones come first"


def test_a_pot_without_a_flop_is_raked_where_a_raise_was_raised() -> None:
    asked = replace(STARS, site="GGPoker", stakes=(50, 100), flop=False)
    for reraised in (False, True):
        found = looked_up(replace(asked, reraised=reraised), "undated")
        assert isinstance(found, Known)
        assert found.rake.no_flop_no_drop is not reraised
        assert found.assumed.startswith("rake 10 of every 200 up to 500, as GGPoker takes of ")


# Hands of PokerStars.


def _hands(source: Source) -> list[ToldHand]:
    hands = list(source.hands)
    assert all(isinstance(hand, ToldHand) for hand in hands), hands
    return [hand for hand in hands if isinstance(hand, ToldHand)]


def _verdict(hand: ToldHand) -> str:
    return judge(hand.game, follow(hand, "h/1")).verdict


def _one(text: str, rules: Rules = KNOWN) -> tuple[str, str, tuple[str, ...]]:
    """The verdict of a hand, what it assumes, and what its report notes."""
    (hand,) = _hands(read(text, rules=rules))
    assert len(hand.assumed) <= 1
    return _verdict(hand), "".join(hand.assumed), hand.inferred


FITS: Sequence[tuple[dict[str, Any], int, int]] = [
    ({}, 1000, 50),
    ({}, 1010, 50),  # 50.5 cents: half to even
    ({}, 1030, 52),  # 51.5
    ({}, 4000, 100),
    ({"day": "2024/04/01 12:00:00 ET"}, 1000, 45),
    ({"day": "2024/04/01 12:00:00 ET"}, 4000, 50),
    ({"day": "2024/04/01 12:00:00 ET", "players": 3}, 4005, 100),
    ({"day": "2024/04/01 12:00:00 ET", "players": 6}, 4005, 150),
    ({"kind": "Zoom ", "day": "2024/04/03 12:00:00 ET"}, 1000, 45),
    ({"stakes": "$0.02/$0.05 USD", "day": "2019/01/02 12:00:00 ET"}, 1000, 42),  # 41.5
    ({"stakes": "$0.50/$1.00 USD", "day": "2020/06/01 12:00:00 ET", "players": 5}, 6050, 250),
    ({"flop": False}, 20, 0),
]


@pytest.mark.parametrize(("how", "pot", "rake"), FITS, ids=str)
def test_a_hand_is_held_against_the_row_of_its_day_stakes_and_players(
    how: dict[str, Any], pot: int, rake: int
) -> None:
    """To the cent, either way; and one that pays what the row does not take differs as well."""
    verdict, assumed, noted = _one(raked_hand(pot, rake, **how))
    assert verdict == ("assuming" if rake else "agree")
    assert assumed.startswith("rake ")
    assert ", as PokerStars takes of no-limit $" in assumed
    assert noted == ()
    for wrong in {rake + 1, max(0, rake - 1), 0} - {rake}:
        verdict, held, _ = _one(raked_hand(pot, wrong, **how))
        assert (verdict, held) == ("differ", assumed), wrong


UNKNOWN = [
    ({"day": "2014/04/02 12:00:00 ET"}, "; not 2014-04-02", "$0.05/$0.10"),
    ({"stakes": "$0.04/$0.09 USD"}, "; not $0.04/$0.09", "$0.04/$0.09"),
    ({"kind": "Zoom ", "day": "2025/01/01 12:00:00 ET"}, "; not 2025-01-01", "$0.05/$0.10"),
    ({"day": ""}, "; not a hand that names no day", "$0.05/$0.10"),
]


@pytest.mark.parametrize(("how", "why", "stakes"), UNKNOWN, ids=lambda it: str(it))
def test_a_hand_that_no_row_is_of_is_unknown_and_never_fitted(
    how: dict[str, Any], why: str, stakes: str
) -> None:
    """Even at a usual rate, and in a file of many such hands, which would fit one another."""
    many = "".join(raked_hand(pot, pot // 20, **how) for pot in (400, 520, 1000, 2000))
    noted = (f"no known rake of PokerStars, USD, no-limit, {stakes}",)
    for hand in _hands(read(many, rules=KNOWN)):
        (assumed,) = hand.assumed
        assert assumed.startswith("shortfall ")
        assert assumed.endswith(why)
        assert (_verdict(hand), hand.inferred) == ("unknown", noted)
    assert {_verdict(hand) for hand in _hands(read(many))} == {"assuming"}
    verdict, assumed, told = _one(raked_hand(1000, 0, **how))
    assert (verdict, told) == ("assuming", noted)
    assert assumed.startswith("unraked pot of 1000: the table of rakes has of PokerStars, USD,")
    if how.get("stakes") is None:
        assert _one(raked_hand(20, 0, flop=False, **how)) == ("agree", "", ())


def test_hands_for_chips_and_tournaments_have_no_row() -> None:
    chips = raked_hand(10000, 500, stakes="5/10").replace("$", "")
    verdict, assumed, noted = _one(chips)
    assert verdict == "unknown"
    assert assumed.endswith("the table of rakes has of PokerStars: USD; not chips")
    assert noted == ("no known rake of PokerStars, chips, no-limit, 5/10",)
    paid = raked_hand(10000, 0, stakes="5/10").replace("$", "")
    title = "Tournament #7, $1+$0.10 USD Hold'em No Limit - Level I (5/10)"
    assert _one(paid.replace("Hold'em No Limit (5/10)", title)) == ("agree", "", ())


def test_a_part_of_a_file_is_held_against_the_table_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "HANDS", 2)
    path = tmp_path / "hands.txt"
    path.write_text("".join(raked_hand(pot, pot // 20) for pot in range(400, 1400, 100)))
    stars = known.FORMATS["pokerstars"]
    parts = cuts.parts(path, "pokerstars", KNOWN)
    assert len(parts) == 5
    whole = [hand.assumed for hand in _hands(known.read(path, stars, KNOWN))]
    split = [
        hand.assumed for part in parts for hand in _hands(known.read(path, stars, KNOWN, part))
    ]
    assert split == whole
    assert all(CHANGED in assumed for (assumed,) in whole)


# Other formats.


def test_open_hand_history_is_held_against_the_site_that_it_names() -> None:
    (hand,) = _hands(ohh.read(test_format_ohh.CASH, rules=KNOWN))
    assert "".join(hand.assumed).endswith("; not Made Up")
    assert _verdict(hand) == "unknown"
    stars = test_format_ohh.CASH.replace("Made Up", "PokerStars")
    (hand,) = _hands(ohh.read(stars, rules=KNOWN))
    assert "".join(hand.assumed).startswith("rake 5 % up to 100, as PokerStars takes of no-limit")
    assert _verdict(hand) == "differ", "three players, a cap of a dollar, 1.98 taken"
    capped = stars.replace('"rake": 1.98', '"rake": 1.0').replace("37.52", "38.50")
    (hand,) = _hands(ohh.read(capped, rules=KNOWN))
    assert _verdict(hand) == "assuming"
    jackpot = stars.replace('"rake": 1.98, "jackpot": 0', '"rake": 1.00, "jackpot": 0.98')
    (hand,) = _hands(ohh.read(jackpot, rules=KNOWN))
    assert _verdict(hand) == "unknown"
    assert "fees beside the rake" in "".join(hand.assumed)
    assert hand.inferred[-1].startswith("no known rake: fees beside the rake")


def test_888poker_is_held_against_its_undated_page() -> None:
    pacific = next(site for site in SITES if site.name == "pacific")
    (hand,) = _hands(pacific.read(test_format_pacific.CASH, KNOWN))
    assert _verdict(hand) == "unknown"
    (hand,) = _hands(pacific.read(test_format_pacific.CASH, UNDATED))
    assert "".join(hand.assumed).startswith("rake 5 % up to 400, as 888poker takes of no-limit")
    assert _verdict(hand) == "assuming"
    elsewhere = test_format_pacific.CASH.replace("888poker Hand", "WSOP.com Hand")
    (hand,) = _hands(pacific.read(elsewhere, UNDATED))
    assert "".join(hand.assumed).endswith("; not WSOP.com")


PHH = """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [0.50, 1.00]
min_bet = 1.00
starting_stacks = [100.00, 100.00]
actions = ["d dh p1 AhKd", "d dh p2 ????", "p2 cbr 3.05", "p1 cc", "d db 2c7dJh",
  "p1 cc", "p2 cbr 5", "p1 f"]
finishing_stacks = [96.95, 102.75]
venue = "PokerStars"
currency = "USD"
year = 2019
month = 3
day = 2
"""


def test_phh_is_held_against_the_venue_that_it_names() -> None:
    """A pot of 6.10, and 5 % of it; 30.5 cents are 30."""
    (hand,) = _hands(phh.read(PHH, rakes="known"))
    (assumed,) = hand.assumed
    assert assumed.startswith("rake 5 % up to 100, as PokerStars takes of no-limit $0.50/$1, as of")
    assert (_verdict(hand), hand.rake) == ("assuming", 30)
    (hand,) = _hands(phh.read(PHH.replace("102.75", "102.74"), rakes="known"))
    assert _verdict(hand) == "differ"
    for other, why in ((PHH.replace("PokerStars", "Rook"), "not Rook"), (PHH[:-9], "names no day")):
        (hand,) = _hands(phh.read(other, rakes="known"))
        assert "".join(hand.assumed).endswith(why)
        assert _verdict(hand) == "unknown"
    (hand,) = _hands(phh.read(PHH))
    assert hand.assumed == ("shortfall 30 is the house's",)


def test_formats_that_name_no_site_and_other_rules_beside_it_are_refused(tmp_path: Path) -> None:
    path = gamelog(tmp_path / "gamelog.txt")
    with pytest.raises(
        Refused, match="MIT gamelog: no hand of it names its site; leave out --rake known"
    ):
        known.read(path, known.format_of(path), KNOWN)
    with pytest.raises(Impossible, match="known rakes are those of each hand's site"):
        Rules(settings=(("rake_percent", "5"),), rake="known")
