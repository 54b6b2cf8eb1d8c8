"""How well players bid for a third card, and whether bids depend on each other.

docs/auctions.md says what a row means. The worth of a third card takes time to count, so
it is counted in some auctions, evenly spread over the record, and kept for later questions.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
from msgspec import UNSET, Struct, UnsetType, field

from analytics.auctions import third_card_worth
from analytics.auctions.bidding import MEASURES, PAIRS_SQL, TWO_BIDDERS_SQL, By, ledger_auctions_sql
from analytics.auctions.bidding import AuctionMeasures as Auctions
from analytics.auctions.sniffing import DRAWN_N, DRAWS, FLAG_N, FLAG_P, SEED, Pair, pair_tests
from analytics.auctions.third_card_worth import ThirdCardCache
from analytics.replay.rules import Rulebook
from analytics.sql import HandFilters, JoinedViews
from analytics.statistics.catalogue import MeasureValue, with_unit
from api.questions.player_measures import (
    Again,
    Drawn,
    MeasureRow,
    OfPlayer,
    drawn_measure,
    filters_of_params,
    has_row,
    measure_rows_of,
    measure_sheets,
    money_of,
    part_name,
    player_sheet,
)
from api.questions.question import (
    FILTER_NAMES,
    Anybody,
    Filters,
    Param,
    Question,
    Sheet,
    Table,
    unit_head,
)
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress, without_progress
from odds.batch import Showdown
from store.columns.codec import Row
from store.folder.disk import cache_folder

MODEL = "swing/1"
OVERVIEW = (
    *("held", "regret_known", "efficiency_known", "won", "tied", "bid_median", "bid_pot", "paid"),
    *("net_won", "value_own", "overpaid_own", "underbid_own"),
)


class BidsParams(Filters, frozen=True):
    """Parameters of `bids`: the player, hands, split, and in how many auctions the card is valued.

    Of everybody, people get no means that are drawn again.
    """

    player: Anybody = None
    by: Annotated[
        By | None,
        Param(
            "Split; strength is the bidder's equity, hole the class of his two cards,"
            " made what they and the board were.",
            query="split",
        ),
    ] = None
    spots: Annotated[
        int | None,
        Param(
            "In how many auctions, evenly spread, the card's value is counted.",
            most=100,
            http_default=20,
        ),
    ] = 200
    people: bool = False


class Tenth(Struct, frozen=True):
    """The bid that so many tenths of his bids do not exceed, in `unit` and in pots."""

    tenth: int
    bid: float | None
    pots: float | None


class Common(Struct, frozen=True):
    """A frequent bid."""

    bid: float
    times: int


class Bidder(OfPlayer, frozen=True, kw_only=True):
    """Measures of a bidder by name. One of the members that may be left out names the part."""

    ranks: list[Tenth]
    common: list[Common]
    seat: str | UnsetType = UNSET
    pot: str | UnsetType = UNSET
    board: str | UnsetType = UNSET
    strength: str | UnsetType = UNSET
    hole: str | UnsetType = UNSET
    made: str | UnsetType = UNSET
    rival: str | UnsetType = UNSET
    match: str | UnsetType = UNSET
    game: str | UnsetType = UNSET


class Bids(Struct, frozen=True, tag_field="schema", tag="muckrake.bids/1"):
    """Bidders, pairs of them, and of how many auctions the card was valued; `counted` are those of
    which nobody had asked before."""

    viewpoint: str = field(name="as")
    unit: str | None
    seed: int
    model: str
    again: Again
    players: list[Bidder]
    pairs: list[Pair]
    auctions: int
    valued: int
    counted: int | UnsetType = UNSET


class Bidding(NamedTuple):
    """Auctions, every measure of them, and pairs of bidders; `counts`: how many were valued; the
    unit of bids."""

    auctions: Auctions
    found: list[MeasureValue]
    bidder_pairs: list[Pair]
    counts: dict[str, int]
    unit: str | None


def bidding_of(
    viewed: LedgerView,
    params: BidsParams,
    watch: ShowProgress = without_progress,
    *,
    with_bootstrap: bool = False,
) -> Bidding:
    """Measures of the auctions of a question, as long as the views are there; `NotInLedger`
    without any."""
    player = params.player
    if player is not None and not has_row(viewed, "player", player, "auctions"):
        raise NotInLedger(f"nobody called {player} has bid: muckrake bids lists who has")
    auctions_of = ledger_auctions_sql(filters_of_params(viewed, params), viewed.units)
    unit = money_of(viewed, auctions_of)
    select = {"auctions": auctions_of}
    rows = JoinedViews(viewed.query, select, {})
    bidder_pairs = rows.table(PAIRS_SQL)
    if not bidder_pairs.num_rows and not rows.table("SELECT 1 FROM auctions LIMIT 1").num_rows:
        raise NotInLedger("no auction was held in these hands")
    # The values of so many auctions, evenly spread; what was counted is kept.
    every, spots = rows.table(f"SELECT * FROM ({TWO_BIDDERS_SQL})"), params.spots
    size = every.num_rows
    if spots is not None and spots < size:
        every = every.take(pa.array([at * size // spots for at in range(spots)], pa.int64()))
    in_units = ledger_auctions_sql(HandFilters(), ())  # of which bids are whole numbers
    those = viewed.query.ask(
        f"SELECT a.* FROM ({in_units}) AS a JOIN those USING (hand_seq, auction)"
        " ORDER BY a.hand_seq, a.auction, a.seat",
        also={"those": every},
    )
    held, rules = third_card_worth.two_bidder_auctions(those.to_pylist()), _ThirdCardRules(viewed)
    worths = list(
        third_card_worth.worth_rows(watch(held, "counting third cards", len(held)), rules.of)
    )
    counts = {"auctions": size, "valued": len(held), "counted": rules.counted}
    values = {"worths": third_card_worth.worth_table(worths)}
    auctions = Auctions(JoinedViews(viewed.query, select, values), params.vs)
    measures = auctions.measures(player, params.by, with_bootstrap=with_bootstrap)
    found = list(with_unit(measures, MEASURES, unit))
    return Bidding(auctions, found, list(pair_tests(bidder_pairs)), counts, unit)


def bids(viewed: LedgerView, params: BidsParams, watch: ShowProgress) -> Bids:
    """Bidders in order, then pairs; every number of chance with its seed."""
    with_bootstrap, by = params.player is not None or not params.people, params.by
    answer = bidding_of(viewed, params, watch, with_bootstrap=with_bootstrap)
    parts: dict[tuple[str, str], dict[str, Drawn]] = {}
    for one in answer.found:
        parts.setdefault((one.player, one.part), {})[one.statistic] = drawn_measure(one)
    ranks = answer.auctions.ranks(params.player, by)
    common = answer.auctions.common(params.player, by)
    players = [
        Bidder(
            player=player,
            measures=measures,
            ranks=[
                Tenth(*it) for it in _column_values(ranks, player, part, "tenth", "bid", "pots")
            ],
            common=[Common(*it) for it in _column_values(common, player, part, "bid", "times")],
            **({by: part} if by else {}),
        )
        for (player, part), measures in parts.items()
    ]
    view = viewed.viewer.view
    return Bids(
        view, answer.unit, SEED, MODEL, Again(), players, answer.bidder_pairs, **answer.counts
    )


def _column_values(rows: Sequence[Row], player: str, part: str, *names: str) -> list[list[Any]]:
    """These columns of a player's and part's rows."""
    mine = (row for row in rows if (row["player"], row["part"]) == (player, part))
    return [[row[name] for name in names] for row in mine]


class _ThirdCardRules:
    """Third cards by the rules that a row names; None of unusual rules."""

    def __init__(self, viewed: LedgerView) -> None:
        self._book = Rulebook(viewed.snapshot.ruleset)
        self._begun: dict[Showdown, int] = {}

    def of(self, row: Row) -> third_card_worth.PricingRules | None:
        return third_card_worth.pricing_rules(row["ruleset"], self._book, self._third)

    def _third(self, how: Showdown) -> ThirdCardCache:
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
def _third_cards(folder: Path, rules: Showdown) -> ThirdCardCache:
    """The third cards of a folder, read once by a process."""
    return ThirdCardCache(folder, rules)


def sheets(answer: Bids, params: BidsParams) -> Iterator[Sheet | str]:
    """All players with a few measures each, or one with every measure; then pairs."""
    head = unit_head(f"viewpoint: {answer.viewpoint}", answer.unit)
    foot = f"values of {answer.valued} of {answer.auctions} auctions with known cards, {MODEL}"
    if answer.valued < answer.auctions:
        foot += "; --spots all counts all"
    if params.player is None:
        yield player_sheet(
            measure_rows_of(answer), MEASURES, OVERVIEW, params.by, head=head, foot=foot
        )
    else:
        heads = {}
        for bidder in answer.players:
            tenths = " ".join(str(row.bid) for row in bidder.ranks)
            often = ", ".join(f"{row.bid} ({row.times}x)" for row in bidder.common)
            bids = f"tenths {tenths}   most common {often}" if tenths else ""
            heads[part_name(bidder)] = (bidder.player, part_name(bidder), bids, head)
        yield from measure_sheets(measure_rows_of(answer), MEASURES, heads, foot)
    # Dealer against first bidder: do their bids depend on each other?
    for pair in answer.pairs:
        sign = "no sign of bid sniffing"
        if pair.n < FLAG_N:
            sign = f"too few to tell, {FLAG_N} are needed"
        elif pair.flagged:
            sign = (
                "HIS BIDS GO WITH THEIRS" if pair.leaked else "ALARM: sealed, yet they go together"
            )
        tells = "   ".join(
            f"{name} {count} ({mean:.1f})" for name, (count, mean, _) in pair.tells.items()
        )
        text = "none" if pair.correlation is None else f"{pair.correlation:.2f}"
        if pair.low is not None and pair.high is not None:
            text += f" [{pair.low:.2f}, {pair.high:.2f}]"
        who = f"{pair.dealer} as dealer vs {pair.rival}: {pair.n} auctions"
        how = f"{pair.sealed} sealed, {pair.leaked} leaked"
        yield "   ".join((f"{who}, {how}", f"correlation {text}", tells, sign))
    if answer.pairs:
        many = f"of {DRAWN_N} auctions and fewer up to {DRAWS} matchings are drawn, seed {SEED}"
        yield f"in brackets what chance would give; flagged below p {FLAG_P:g}; {many}"


QUESTION = Question(
    name="bids",
    text=__doc__,
    path="/players/{player}/bids",
    operation="player_bids",
    params=BidsParams,
    answer=Bids,
    ask=bids,
    tables=(Table("measures", MeasureRow, measure_rows_of),),
    sheets=sheets,
    page="/players/{player}/bids",
    page_parameters=FILTER_NAMES,
    caller_dependent=("counted",),
    facts=False,
)
