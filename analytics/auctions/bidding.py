"""Measures of how well players bid in auctions, for the whole and for its parts.

`AuctionMeasures` computes them, ranks of bids and the most frequent bids from auctions and values
of their cards; what is counted stands in SQL files.
"""

from collections.abc import Collection, Iterator
from typing import Any, Literal

from analytics.sql import (
    HandFilters,
    SqlFileSource,
    amount_sql,
    hand_terms,
    player_terms,
    quoted,
    where,
)
from analytics.statistics.catalogue import (
    BASES,
    BY_HAND,
    Bootstrap,
    CountedHands,
    Measure,
    MeasureKind,
    MeasureValue,
    counted_hands,
    mean_names,
    measure_values,
    ratio_names,
)
from events.cards import RANKS
from odds.rank import CATEGORIES

_HEADLINE: tuple[tuple[str, str, str, MeasureKind], ...] = (
    (
        "regret",
        "Regret",
        "the best outcome that any bid could have had, less his own, in chips",
        "mean",
    ),
    (
        "efficiency",
        "Bid efficiency",
        "what his bids came to less what bidding 0 would have, of the same of the best bids",
        "ratio",
    ),
)
_PLACED: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("held", "Auctions held", "auctions that he bid in, whatever his bid was", "number"),
    ("bid", "Bid", "what he bid, in chips", "mean"),
    ("bid_median", "Bid, median", "half of his bids are at or below it", "number"),
    ("bid_sd", "Bid, deviation", "standard deviation of his bids", "number"),
    ("bid_pot", "Bid / pot", "what he bid, in pots before the payment", "mean"),
    ("bid_variation", "Variation of bids", "deviation of his bids / their mean", "number"),
    ("bid_distinct", "Distinct bids", "how many different bids he made", "number"),
    ("bid_nothing", "Bids 0", "bids of 0", "share"),
    ("bid_all", "Bids all", "bids of his whole stack", "share"),
    ("bid_near_all", "Bids all but 10", "bids within 10 of his whole stack", "share"),
    ("bid_equal", "Bids the rival's", "bids that equal the rival's", "share"),
)
_OUTCOMES: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("won", "Auctions won", "bid more than the rival", "share"),
    ("lost", "Auctions lost", "bid less than the rival", "share"),
    ("tied", "Auctions tied", "bid as much as the rival: both pay, both get a card", "share"),
    ("free", "Won free", "won at a price of 0, of auctions won", "share"),
    ("paid", "Paid", "price where he won or tied, 0 where that was free", "mean"),
    ("paid_pot", "Paid / pot", "the same in pots", "mean"),
    ("surplus", "Surplus", "his bid less the price, where he won", "mean"),
    ("forced", "Forced on the rival", "the price the rival paid, where he lost", "mean"),
    ("forced_pot", "Forced / pot", "the same in pots", "mean"),
    ("net_won", "Net, auction won", "net of the hand", "mean"),
    ("net_lost", "Net, auction lost", "net of the hand", "mean"),
    ("net_tied", "Net, auction tied", "net of the hand", "mean"),
)
_WORTH: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("value", "Value of the card", "swing × pot", "mean"),
    ("gain", "Gain", "equity with the card, less with nobody having one", "mean"),
    ("swing", "Swing", "equity with the card, less with the rival having it", "mean"),
    (
        "break_even",
        "Break-even price",
        "the price at which winning and losing pay the same, where there is one",
        "mean",
    ),
    (
        "break_even_unbounded",
        "Break-even unbounded",
        "auctions in which no price is too high, of all; they have no break-even price",
        "share",
    ),
    (
        "captured",
        "Captured",
        "what winning came to less what the rival's winning for 0 would have, of auctions won",
        "mean",
    ),
    ("overpaid", "Overpaid", "auctions won above the break-even price", "share"),
    ("overpayment", "Overpayment", "price above break-even, of auctions won", "mean"),
    ("underbid", "Underbid", "auctions lost to a bid below the break-even price", "share"),
    (
        "plain_regret",
        "Plain regret",
        "lost: value above the rival's bid; won: the rival's bid above the value",
        "mean",
    ),
    (
        "capture_of_won",
        "Capture of won",
        "of auctions won, what winning came to less losing at that price, of what all could have",
        "ratio",
    ),
)


def _measures() -> Iterator[Measure]:
    for name, title, meaning, kind in _HEADLINE:
        yield Measure(f"{name}_known", f"{title} (known)", meaning, "bids_worth", kind, "known")
    for name, title, meaning, kind in _PLACED:
        yield Measure(name, title, meaning, "bids_placed", kind)
    for name, title, meaning, kind in _OUTCOMES:
        yield Measure(name, title, meaning, "bids_outcomes", kind)
    # What follows an auction, a line for each way it can end.
    for end in ("won", "lost", "tied"):
        for name, title, meaning in (
            ("showdown", "Showdowns won", "money won, of showdowns"),
            ("fold", "Folds later", "folded after the auction"),
            ("rival_fold", "Rival folds later", "the rival folded after the auction"),
            ("flop_bet", "Bets the flop", "bet, where he could open; a claim needs 10"),
        ):
            full = f"{title}, auction {end}"
            yield Measure(f"{name}_{end}", full, f"{meaning}; auction {end}", "bids_after", "share")
    yield Measure(
        "won_in_vain",
        "Won in vain",
        "auction won and no money won, of auctions won",
        "bids_after",
        "share",
    )
    for basis in BASES:
        for name, title, meaning, kind in _WORTH:
            called = f"{title} ({basis})"
            yield Measure(f"{name}_{basis}", called, meaning, "bids_worth", kind, basis)
    yield Measure(
        "allocated",
        "Went where worth more",
        "auctions won by who had the larger swing of his own, of those where they differ",
        "bids_allocation",
        "share",
    )
    yield Measure(
        "allocation",
        "Allocation efficiency",
        "value to the winners / value to the player to whom it was worth more",
        "bids_allocation",
        "ratio",
    )


_AMOUNTS = {
    *("regret", "bid", "bid_median", "bid_sd", "paid", "surplus", "forced"),
    *("net_won", "net_lost", "net_tied"),
    *("value", "break_even", "captured", "overpayment", "plain_regret"),
}
MEASURES: dict[str, Measure] = {
    one.name: one._replace(amount=one.prefix in _AMOUNTS) for one in _measures()
}
By = Literal["seat", "pot", "board", "strength", "hole", "made", "rival", "match", "game"]
FILES = tuple(dict.fromkeys(one.file for one in MEASURES.values()))
_FILES_OF_VALUES = ("bids_worth", "bids_allocation")  # which count auctions whose card was valued
NOT_KNOWN = "not known"
POTS = ("up to 4", "5 to 20", "21 to 100", "over 100")


def pot_size_sql(pot: str) -> str:
    """The SQL of a pot's size class: one of `POTS`."""
    small, middling, large, huge = map(quoted, POTS)
    return (
        f"CASE WHEN {pot} <= 4 THEN {small} WHEN {pot} <= 20 THEN {middling} "
        f"WHEN {pot} <= 100 THEN {large} ELSE {huge} END"
    )


def hole_class_sql(hole: str) -> str:
    """The SQL of the class of two cards like `Ah Kd`: `AKo`; of any others it is not known."""
    high, low = (f"substr({hole}, {place}, 1)" for place in (1, 4))
    order = f"strpos('{RANKS}', {high}) >= strpos('{RANKS}', {low})"
    suits = f"CASE WHEN substr({hole}, 2, 1) = substr({hole}, 5, 1) THEN 's' ELSE 'o' END"
    return (
        f"CASE WHEN coalesce(length({hole}), 0) <> 5 OR contains({hole}, '?') "
        f"THEN {quoted(NOT_KNOWN)} WHEN {high} = {low} THEN {high} || {low} "
        f"WHEN {order} THEN {high} || {low} || {suits} ELSE {low} || {high} || {suits} END"
    )


_PARTS: dict[By | Literal["hand"], str] = {
    BY_HAND: "CAST(a.hand_seq AS VARCHAR)",
    "seat": "a.role",
    "pot": pot_size_sql("a.pot"),
    "board": "coalesce(a.texture, 'not known')",
    "strength": (
        "coalesce(CAST(CAST(floor(10 * w.neither) AS INTEGER) * 10 AS VARCHAR) || ' % and more', "
        "'not known')"
    ),
    "hole": hole_class_sql("a.hole"),
    "made": f"coalesce(d.made, {quoted(NOT_KNOWN)})",
    "rival": "coalesce(a.rival, 'several')",
    "match": "a.match",
    "game": "a.game",
}


class AuctionMeasures:
    """Measures of bids, from auctions as a viewpoint sees them and counted values of cards."""

    def __init__(self, tables: SqlFileSource, vs: str | None = None) -> None:
        """`vs`: only auctions against this rival; he is no bidder of his own."""
        self._tables = tables
        self._vs = vs

    def close(self) -> None:
        """Release the tables."""
        self._tables.close()

    def measures(
        self, player: str | None = None, by: By | None = None, *, with_bootstrap: bool = False
    ) -> Iterator[MeasureValue]:
        """Every measure of a player or of all, in their order, parts one after the other; with
        `with_bootstrap`, every mean has a bootstrap interval, too."""
        drawn = Bootstrap()
        every = MEASURES.values()
        wanted = ratio_names(every) | (mean_names(every) if with_bootstrap else set())
        for file in FILES:
            drawn.load(self._tables, file, auctions_sql(player, by, self._vs), wanted)
        answers = {file: self._ask(file, player, by) for file in FILES}
        return measure_values(MEASURES, answers, drawn)

    def valued_hands(self, player: str) -> dict[str, CountedHands]:
        """The hands in each measure of valued cards."""
        answers = {file: self._ask(file, player, BY_HAND) for file in _FILES_OF_VALUES}
        return counted_hands((it for it in MEASURES.values() if it.file in answers), answers)

    def ranks(self, player: str | None, by: By | None = None) -> list[dict[str, Any]]:
        """The bids at each tenth, in chips and in pots."""
        return sorted(
            self._ask("bids_tenths", player, by), key=lambda it: (it["part"], it["tenth"])
        )

    def common(self, player: str | None, by: By | None = None) -> list[dict[str, Any]]:
        """The most frequent bids."""
        return sorted(
            self._ask("bids_common", player, by), key=lambda it: (it["part"], it["place"])
        )

    def by_made_hand(self, player: str) -> list[dict[str, Any]]:
        """His bids by made hand, the weakest first, with example hands."""
        rows = {row["part"]: row for row in self._ask("bids_by_hand", player, "made")}
        return [rows[name] for name in (*CATEGORIES, NOT_KNOWN) if name in rows]

    def by_hole_class(self, player: str) -> dict[str, dict[str, Any]]:
        """His bids by class of hole cards, where these are known."""
        rows = {row["part"]: row for row in self._ask("bids_by_hand", player, "hole")}
        rows.pop(NOT_KNOWN, None)
        return rows

    def points(self, player: str) -> list[dict[str, Any]]:
        """His auctions as points of a scatter plot: bid, rival's bid, worth of the card."""
        return self._ask("bids_points", player, None)

    def _ask(
        self, file: str, player: str | None, by: By | Literal["hand"] | None
    ) -> list[dict[str, Any]]:
        return self._tables.ask(file, auctions_sql(player, by, self._vs))


_MONEY_COLUMNS = ("stack", "pot", "bid", "rival_bid", "price", "net")


def ledger_auctions_sql(filters: HandFilters, units: Collection[str]) -> str:
    """The SELECT of a ledger's auctions, cards dealt or shown as `hole`, amounts in the currencies
    of these units.

    A filtered player leaves those in which he bid, and what others bid against him alone.
    """
    money = ", ".join(f"{amount_sql(name, units)} AS {name}" for name in _MONEY_COLUMNS)
    terms = hand_terms(filters)
    if filters.player is not None:
        player = quoted(filters.player)
        terms.append(f"(player = {player} OR rival = {player})")
    return f"SELECT * REPLACE ({money}), coalesce(dealt, shown) AS hole FROM auctions{where(terms)}"


# Auctions of two on a flop, of which at least one hand is known: those that a card has a worth in.
TWO_BIDDERS_SQL = """
    SELECT hand_seq, auction FROM auctions GROUP BY hand_seq, auction
    HAVING count(*) = 2 AND max(length(board)) = 8 AND max(length(hole)) = 5
    ORDER BY hand_seq, auction
"""
# What `sniffing.pair_tests` reads.
PAIRS_SQL = """
    SELECT player, rival, role, match, pot, texture, bid, rival_bid, origin, rival_origin, sealed
    FROM auctions WHERE rival IS NOT NULL AND role <> 'other' ORDER BY hand_seq, auction, seat
"""


def auctions_sql(player: str | None, by: By | Literal["hand"] | None, vs: str | None = None) -> str:
    """The SELECT of filtered auctions that SQL files read, each with its part."""
    part = _PARTS[by] if by else "''"
    source = "auctions AS a"
    if by == "strength":
        source += (
            " LEFT JOIN worths AS w ON a.hand_seq = w.hand_seq AND a.auction = w.auction "
            "AND a.seat = w.seat AND w.basis = 'own'"
        )
    if by == "made":  # the same cards on the same board make the same hand at every bid
        source += (
            " LEFT JOIN (SELECT hand_seq, seat, board, max(made) AS made FROM decisions"
            " WHERE action = 'bid' GROUP BY ALL) AS d"
            " ON a.hand_seq = d.hand_seq AND a.seat = d.seat AND a.board = d.board"
        )
    bidders = where(player_terms(HandFilters(player=player, vs=vs), "a."))
    return f"SELECT a.*, {part} AS part FROM {source}{bidders}"
