"""The table of known sites' rakes: every row is sound, and a hand is of one at most."""

from datetime import date
from itertools import combinations
from typing import Any

import pytest
from msgspec.structs import replace

from formats.rakes import ListedRake, RakeKey, RakeRow, UnlistedRake, look_up_rake, rake_rows

ROWS = rake_rows()
CHANGED = "https://www.pokerstars.com/poker/learn/news/pokerstars-rake-changes-explained/"


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


def _overlap(one: RakeRow, other: RakeRow) -> bool:
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


STARS = RakeKey(
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
        found = look_up_rake(replace(STARS, day=day), "known")
        assert isinstance(found, ListedRake)
        said[str(day)] = found.assumed.partition(",")[0]
    assert said == {
        "2017-03-22": "rake 4.5 % up to 150",
        "2024-04-01": "rake 4.5 % up to 150",
        "2024-04-02": "rake 5 % up to 100",
        "2026-11-01": "rake 5 % up to 100",
    }
    found = look_up_rake(STARS, "known")
    assert isinstance(found, ListedRake)
    assert found.source == (
        f"as PokerStars takes of no-limit $0.05/$0.10, as of 2024-04-02: {CHANGED}"
    )


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
    found = look_up_rake(replace(STARS, **other), "known")
    assert isinstance(found, UnlistedRake)
    assert found.reason.startswith("the table of rakes has")
    assert there in found.reason
    assert found.reason.endswith(asked)


def test_percentages_and_caps_are_by_players_and_change_with_the_day() -> None:
    """Fixed limit at PokerStars: what changed on 1 June 2012 is the cap of three and more."""
    asked = replace(STARS, limit="fixed", stakes=(100, 200))
    said = {}
    for day in (date(2012, 5, 31), date(2012, 6, 1)):
        for players in (3, 5):
            found = look_up_rake(replace(asked, day=day, players=players), "known")
            assert isinstance(found, ListedRake)
            said[f"{day}, {players}"] = found.assumed.partition(",")[0]
    assert said == {
        "2012-05-31, 3": "rake 3 % up to 80",
        "2012-05-31, 5": "rake 4 % up to 100",
        "2012-06-01, 3": "rake 3 % up to 70",
        "2012-06-01, 5": "rake 4 % up to 80",
    }


def test_an_undated_row_is_used_where_no_other_is_and_only_if_asked_for() -> None:
    asked = replace(STARS, site="888 Poker", stakes=(10, 25), day=None)
    assert isinstance(look_up_rake(asked, "known"), UnlistedRake)
    found = look_up_rake(asked, "undated")
    assert isinstance(found, ListedRake)
    assert found.assumed == (
        "rake 5 % up to 400, as 888poker takes of no-limit $0.10/$0.25 to $1/$2, undated, "
        "seen 2026-11-23: https://www.888poker.com/poker-software/limits-and-rake/"
    )
    silent = look_up_rake(replace(asked, flop=False), "undated")
    assert isinstance(silent, UnlistedRake)
    assert silent.reason.endswith("does not say what 888poker takes of a hand without a flop")
    assert look_up_rake(STARS, "undated") == look_up_rake(STARS, "known"), "dated ones come first"


def test_a_pot_without_a_flop_is_raked_where_a_raise_was_raised() -> None:
    asked = replace(STARS, site="GGPoker", stakes=(50, 100), flop=False)
    for reraised in (False, True):
        found = look_up_rake(replace(asked, reraised=reraised), "undated")
        assert isinstance(found, ListedRake)
        assert found.rake.no_flop_no_drop is not reraised
        assert found.assumed.startswith("rake 10 of every 200 up to 500, as GGPoker takes of ")
