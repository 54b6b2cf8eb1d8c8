"""The measures of an opponent report by name: looks (shares of chances taken), and numbers.

A look is `k` of `n` chances; its rows come from `opponent_looks.sql`, or are those that the
questions of statistics count. A number has a file of its own, as in `auctions.bidding`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from analytics.intervals import FEW
from analytics.replay.flags import POSTFLOP_STREETS, STREETS
from analytics.statistics.catalogue import STATISTICS, Measure, MeasureKind


class Look(NamedTuple):
    """A kind of chance and what is done with it. `few`: with fewer chances nothing is claimed.

    `ranked` is false for what another look says already, the other way round.
    """

    name: str
    title: str
    done: str
    chance: str
    file: str = "opponent_looks"
    few: int = FEW
    ranked: bool = True
    kind: MeasureKind = "share"


def _looks() -> Iterator[Look]:
    """Looks at each street's choices, bet sizes, bets after our check, strength and bids."""
    free, owed = "nothing to call", "a bet to answer"
    for at in STREETS:
        yield Look(f"check_{at}", f"Check, {at}", "checked", f"{free}; {at}", ranked=False)
    for at in POSTFLOP_STREETS:
        yield Look(f"bet_{at}", f"Bet, {at}", "bet", f"{free}, a bet on the menu; {at}")
    for at in STREETS:
        chance = "a raise on the menu" if at == "preflop" else f"{owed}, a raise on the menu"
        yield Look(f"raise_{at}", f"Raise, {at}", "raised", f"{chance}; {at}")
    for at in STREETS:
        yield Look(f"call_{at}", f"Call, {at}", "called", f"{owed}; {at}")
    for at in STREETS:
        yield Look(f"fold_{at}", f"Fold to a bet, {at}", "folded", f"{owed}; {at}")
    small, large = "a bet of up to 0.8 pot to answer", "a bet above 0.8 pot to answer"
    yield Look("fold_to_small", "Fold to small bets", "folded", f"{small}; after the flop")
    yield Look("fold_to_large", "Fold to large bets", "folded", f"{large}; after the flop")
    yield Look("bet_large", "Bets above 0.8 pot", "above 0.8 pot", "bet or raised after the flop")
    checked = "we checked, nobody bet, his first choice of the street, a bet on the menu"
    yield Look("after_check", "Bets after our check", "bet", checked, few=8)
    for at in POSTFLOP_STREETS:
        title = f"Bets after our check, {at}"
        yield Look(f"after_check_{at}", title, "bet", f"as `after_check`; {at}", few=8)
    shown = "with one rival left, in a hand that was shown down, his cards known"
    yield Look(
        "bluff", "Bluffs shown down", "equity below 0.35", f"bet or raised after the flop {shown}"
    )
    yield Look(
        "slow_play",
        "Slow plays shown down",
        "equity above 0.75",
        f"checked after the flop {shown}, a bet on the menu",
    )
    bid = "bid by choice, size known"
    yield Look("bid_nothing", "Bids 0", "bid 0", bid)
    yield Look("bid_above_pot", "Bids above the pot", "bid more than the pot", bid)
    yield Look("bid_near_all", "Bids all but 10", "bid within 10 of his whole stack", bid)


def one_rival_look(look: str) -> str:
    """The name of a look at folds against one rival left: those folds have a price."""
    return f"{look}_to_one"


_COVERED_BY_OTHERS = ("vpip_all", "pfr_able", "check_raise", "bet_when_checked_to", "afq")


LOOKS: dict[str, Look] = {look.name: look for look in _looks()}
# The statistics that are shares of hands, so that their hands can be named.
STATISTIC_LOOKS: dict[str, Look] = {
    one.name: Look(one.name, one.title, one.done, one.opportunity, one.file)
    for one in STATISTICS.values()
    if one.kind == "share" and one.name not in _COVERED_BY_OTHERS and not one.name.startswith("afq")
}
ALL_LOOKS = {**LOOKS, **STATISTIC_LOOKS}

_NUMBERS: tuple[tuple[str, str, str, str, MeasureKind], ...] = (
    (
        "made_pct",
        "Bet made, % of pot",
        "bet / pot before it; a raise on top of the call / pot after that call; after the flop",
        "numbers",
        "mean",
    ),
    (
        "faced_pct",
        "Bet faced, % of pot",
        "bet to answer / pot with it in; after the flop",
        "numbers",
        "mean",
    ),
    ("bid_min", "Bid, least", "his smallest bid, in chips", "bids", "number"),
    ("bid", "Bid", "what he bid, in chips", "bids", "mean"),
    ("bid_max", "Bid, most", "his largest bid, in chips", "bids", "number"),
    ("bid_pot_min", "Bid / pot, least", "his smallest bid in pots", "bids", "number"),
    ("bid_pot", "Bid / pot", "what he bid, in pots before the payment", "bids", "mean"),
    ("bid_pot_max", "Bid / pot, most", "his largest bid in pots", "bids", "number"),
    ("excessive", "Excessive bidder", "1: he never bid less than all but 10", "bids", "number"),
    ("after_won", "Hands after his match was won", "of hands; see below", "locked", "share"),
    ("after_lost", "Hands after his match was lost", "of hands; see below", "locked", "share"),
    (
        "fault",
        "Hands with a fault",
        "hands with a reply that could not be used",
        "faulted",
        "share",
    ),
    (
        "fault_cost",
        "Cost of faults",
        "his mean net times the hands with a fault, less their net",
        "faulted",
        "number",
    ),
    ("net_fault", "Net, hands with a fault", "net of such a hand", "faulted", "mean"),
    (
        "think_ms",
        "Time a choice, ms",
        "from the event before an action to it; a bid has no time of its own",
        "numbers",
        "mean",
    ),
    ("think_max", "Longest choice, ms", "the longest of these", "numbers", "number"),
    ("think_sum", "Time in all, ms", "all of these together", "numbers", "number"),
    (
        "think_strong",
        "Time with strong cards, ms",
        "before the flop, cards of the three strongest tenths, known to who asks",
        "numbers",
        "mean",
    ),
    (
        "think_weak",
        "Time with weak cards, ms",
        "the same, cards of the three weakest tenths",
        "numbers",
        "mean",
    ),
    (
        "think_leak",
        "Longer with strong cards, ms",
        "the first of these less the second; its interval has Welch's error",
        "numbers",
        "mean",
    ),
)
_AMOUNTS = {"bid_min", "bid", "bid_max", "fault_cost", "net_fault"}
NUMBERS: dict[str, Measure] = {
    name: Measure(name, title, meaning, f"opponent_{file}", kind, amount=name in _AMOUNTS)
    for name, title, meaning, file, kind in _NUMBERS
}
TENTHS = {10: "strongest tenth", 1: "weakest tenth"} | {at: f"{at}. tenth" for at in range(2, 10)}
