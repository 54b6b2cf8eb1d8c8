"""How well players bid, and whether their bids depend on each other, as far as the viewer sees.

What a third card was worth takes its time, so it is counted in some auctions, evenly spread over
the record, and kept for the next who asks.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from analytics.auctions import worth as bids_worth
from analytics.auctions.bidding import BESIDE, OF_TWO, Bids, By, kept
from analytics.auctions.measures import MEASURES
from analytics.auctions.sniffing import SEED, Pair, pairs
from analytics.auctions.values_kept import ThirdCards
from analytics.replay.rulebook import Rulebook
from analytics.sql.tables import Beside
from analytics.statistics.measured import Measured, in_unit
from analytics.stored.cache_folder import cache_folder
from analytics.stored.row_head import Row
from api.questions.players import is_there, money_of
from api.questions.stats import AGAIN, numbers
from api.viewpoints.views import Viewed
from api.viewpoints.wanted import Absent
from api.viewpoints.watching import Watch, unwatched
from odds.batch import Showdown

MODEL = "swing/1"


class Asked(NamedTuple):
    """Of whom, of which hands, split by what, in how many auctions the card is valued; and whether
    the intervals of means are wanted with auctions drawn again, too."""

    player: str | None = None
    match: str | None = None
    game: str | None = None
    by: By | None = None
    spots: int | None = 200
    again: bool = False


class Bidding(NamedTuple):
    """Auctions, every measure of them, and pairs of bidders; `told` of how many were valued;
    what bids count."""

    auctions: Bids
    found: list[Measured]
    beside: list[Pair]
    told: dict[str, int]
    by: By | None
    unit: str | None


def bidding(viewed: Viewed, asked: Asked, watch: Watch = unwatched) -> Bidding:
    """The answer, as long as the views are there. Nothing to count is said to be absent."""
    _check(viewed, asked)
    auctions_of = kept(asked.player, asked.match, asked.game, viewed.units)
    unit = money_of(viewed, auctions_of)
    select = {"auctions": auctions_of}
    rows = Beside(viewed.query, select, {})
    beside = rows.table(BESIDE)
    if not beside.num_rows and not rows.table("SELECT 1 FROM auctions LIMIT 1").num_rows:
        raise Absent("no auction was held in these hands")
    worths, told = _worths(viewed, rows, asked.spots, watch)
    auctions = Bids(Beside(viewed.query, select, {"worths": worths}))
    measures = auctions.measures(asked.player, asked.by, again=asked.again)
    found = list(in_unit(measures, MEASURES, unit))
    return Bidding(auctions, found, list(pairs(beside)), told, asked.by, unit)


def document(told: Bidding, view: str) -> dict[str, Any]:
    """Players in order, then pairs; every number of chance with its seed."""
    players: dict[tuple[str, str], dict[str, Any]] = {}
    by = told.by
    ranks = _by_part(told.auctions.ranks(None, by), "tenth bid pots")
    common = _by_part(told.auctions.common(None, by), "bid times")
    for one in told.found:
        key = (one.player, one.part)
        if key not in players:
            players[key] = {
                "player": one.player,
                **({by: one.part} if by else {}),
                "measures": {},
                "ranks": ranks.get(key, []),
                "common": common.get(key, []),
            }
        players[key]["measures"][one.statistic] = numbers(one)
    about = {"as": view, "unit": told.unit, "seed": SEED, "model": MODEL, "again": AGAIN}
    beside = msgspec.to_builtins(told.beside)
    return {**about, "players": list(players.values()), "pairs": beside, **told.told}


def _by_part(rows: Sequence[Row], names: str) -> dict[tuple[str, str], list[Row]]:
    """These columns of each player's and part's rows."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        one = {name: row[name] for name in names.split()}
        found.setdefault((row["player"], row["part"]), []).append(one)
    return found


def _check(viewed: Viewed, asked: Asked) -> None:
    if asked.match is not None and not is_there(viewed, "match", asked.match, "hands"):
        raise Absent(f"there is no match {asked.match}: muckrake matches lists those there are")
    player = asked.player
    if player is not None and not is_there(viewed, "player", player, "auctions"):
        raise Absent(f"nobody called {player} has bid: muckrake bids lists who has")


def _worths(
    viewed: Viewed, rows: Beside, spots: int | None, watch: Watch
) -> tuple[pa.Table, dict[str, int]]:
    """The values of so many auctions, and how many there are; what was counted is kept."""
    every = rows.table(f"SELECT * FROM ({OF_TWO})")
    size = every.num_rows
    if spots is not None and spots < size:
        every = every.take(pa.array([at * size // spots for at in range(spots)], pa.int64()))
    auctions = kept(None, None, None, ())  # in units, of which bids are whole numbers
    those = viewed.query.ask(
        f"SELECT a.* FROM ({auctions}) AS a JOIN those USING (hand_seq, auction)"
        " ORDER BY a.hand_seq, a.auction, a.seat",
        also={"those": every},
    )
    found = bids_worth.auctions(those.to_pylist())
    rules = _Rules(viewed)
    valued = list(bids_worth.worths(watch(found, "counting third cards", len(found)), rules.of))
    told = {"auctions": size, "valued": len(found), "counted": rules.counted}
    return bids_worth.table(valued), told


class _Rules:
    """What is known of third cards under the rules that a row names; nothing of odd ones."""

    def __init__(self, viewed: Viewed) -> None:
        self._book = Rulebook(viewed.snapshot.ruleset)
        self._begun: dict[Showdown, int] = {}

    def of(self, row: Row) -> bids_worth.Rules | None:
        return bids_worth.rules_of(row["ruleset"], self._book, self._third)

    def _third(self, how: Showdown) -> ThirdCards:
        third = _third_cards(cache_folder(), how)
        self._begun.setdefault(how, third.counted)
        return third

    @property
    def counted(self) -> int:
        """How many were new."""
        return sum(
            _third_cards(cache_folder(), how).counted - was for how, was in self._begun.items()
        )


@lru_cache(maxsize=8)
def _third_cards(folder: Path, rules: Showdown) -> ThirdCards:
    """Those of a folder, read once by a process."""
    return ThirdCards(folder, rules)
