"""Every measure of bidding by its name: what it says, and which SQL file counts it.

A share is `k` of `n` with a Wilson interval, a mean has Student's, a ratio of sums one with its
auctions drawn again, a number has none.
"""

from collections.abc import Iterator

from analytics.statistics.measure import BASES, Kind, Measure

_HEADLINE: tuple[tuple[str, str, str, Kind], ...] = (
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
_PLACED: tuple[tuple[str, str, str, Kind], ...] = (
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
_OUTCOMES: tuple[tuple[str, str, str, Kind], ...] = (
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
_WORTH: tuple[tuple[str, str, str, Kind], ...] = (
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
    yield from _after()
    for basis in BASES:
        for name, title, meaning, kind in _WORTH:
            told = f"{title} ({basis})"
            yield Measure(f"{name}_{basis}", told, meaning, "bids_worth", kind, basis)
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
        "value to the winners / value to whoever it was worth more to",
        "bids_allocation",
        "ratio",
    )


def _after() -> Iterator[Measure]:
    """What follows an auction, a line for each way it can end."""
    for end in ("won", "lost", "tied"):
        for name, title, meaning in (
            ("showdown", "Showdowns won", "money won, of showdowns"),
            ("fold", "Folds later", "folded after the auction"),
            ("rival_fold", "Rival folds later", "the rival folded after the auction"),
            ("flop_bet", "Bets the flop", "bet, where he could open; a claim needs 10"),
        ):
            told = f"{title}, auction {end}"
            yield Measure(f"{name}_{end}", told, f"{meaning}; auction {end}", "bids_after", "share")
    yield Measure(
        "won_in_vain",
        "Won in vain",
        "auction won and no money won, of auctions won",
        "bids_after",
        "share",
    )


_AMOUNTS = {
    *("regret", "bid", "bid_median", "bid_sd", "paid", "surplus", "forced"),
    *("net_won", "net_lost", "net_tied"),
    *("value", "break_even", "captured", "overpayment", "plain_regret"),
}
MEASURES: dict[str, Measure] = {
    one.name: one._replace(amount=one.counted in _AMOUNTS) for one in _measures()
}
