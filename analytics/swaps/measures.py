"""Every measure of luck by its name: what it says, and which SQL file counts it."""

from collections.abc import Iterator

from analytics.statistics.measure import Kind, Measure

_RESULTS: tuple[tuple[str, str, str, Kind], ...] = (
    ("hands", "Hands", "hands dealt in", "number"),
    ("net", "Net", "chips won or lost", "number"),
    ("net_ev", "Net without luck", "net, run-outs after the last choice at their worth", "number"),
    ("luck", "Run-out luck", "`net` less `net_ev`", "number"),
    ("luck_error", "Error of the luck", "one standard error where run-outs were drawn", "number"),
    ("adjusted", "Hands adjusted", "betting closed with cards to come, all cards known", "share"),
    ("net_hand", "Net a hand", "mean of net", "mean"),
    ("net_ev_hand", "Net a hand without luck", "mean of `net_ev`", "mean"),
    ("blue", "Net at showdown", "the blue line", "number"),
    ("red", "Net without showdown", "the red line", "number"),
    ("cost", "Paid in auctions", "prices paid", "number"),
    ("net_swapped", "Net a hand, swapped", "hands in which a card of his changed", "mean"),
    ("net_kept", "Net a hand, kept", "hands in which none did", "mean"),
)
_PAIRS: tuple[tuple[str, str, str, Kind], ...] = (
    ("mirrored", "Net a hand, mirrored", "mean over decks of the mean net of their hands", "mean"),
    (
        "mirrored_variance",
        "Variance left",
        "of decks, beside that of as many unpaired hands",
        "number",
    ),
)
_LUCK: tuple[tuple[str, str, str, Kind], ...] = (
    ("swap", "Cards swapped", "changed, of his cards at risk", "share"),
    ("swap_change", "Equity change", "equity after his swap less before", "mean"),
    ("swap_luck", "Chips a swap", "equity change × pot", "mean"),
    ("swap_luck_sum", "Swap luck", "the sum of that over the swaps counted", "number"),
)


def _measures() -> Iterator[Measure]:
    for file, rows in (("results", _RESULTS), ("pairs", _PAIRS), ("luck", _LUCK)):
        for name, title, meaning, kind in rows:
            yield Measure(name, title, meaning, f"swaps_{file}", kind)
    for whose, told in (
        ("", "his own card"),
        ("rival_", "a card of the rival, whom he cannot see"),
    ):
        for what in ("swapped", "kept"):
            for act, said in (("bet", "bets or raises"), ("check", "checks"), ("fold", "folds")):
                title = f"{said.capitalize()}, {'rival ' if whose else ''}{what}"
                meaning = f"next choice on the street after {told} was {what}"
                yield Measure(f"{act}_{whose}{what}", title, meaning, "swaps_behaviour", "share")


_AMOUNTS = {
    *("net", "net_ev", "luck", "luck_error", "net_hand", "net_ev_hand", "blue", "red", "cost"),
    *("net_swapped", "net_kept", "mirrored", "swap_luck", "swap_luck_sum"),
}
MEASURES: dict[str, Measure] = {
    one.name: one._replace(amount=one.name in _AMOUNTS) for one in _measures()
}
