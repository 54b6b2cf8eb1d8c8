"""The counters that the organisers of bot matches keep of each game, with all that is odd in them.

They count words in a log. So they count what nobody chose, and tell ties as nothing else here does;
`COUNTERS` says of each what it is, and which number of ours asks the same better.
"""

from typing import Any

from msgspec import Struct

from analytics.sql.chosen import Chosen, Facts, quoted, table, text_of

Row = dict[str, Any]


class Counter(Struct, frozen=True):
    """One of theirs: its title, what it counts, and how ours differs."""

    title: str
    meaning: str
    ours: str


COUNTERS: dict[str, Counter] = {
    "raises": Counter(
        "Raises",
        "lines `raises to`: all raises before the flop, later those over a bet",
        "`afq` counts chosen bets and raises after the flop, `pfr` hands with one before it",
    ),
    "bets": Counter("Bets", "lines `bets`: the first of a street after the flop", "as above"),
    "calls": Counter("Calls", "lines `calls`, forced ones too", "chosen ones in `af` and `vpip`"),
    "checks": Counter(
        "Checks",
        "lines `checks`: also those of who has no chips left, and those in place of a bad reply",
        "a look `check_flop` and so on counts chosen ones, out of chances",
    ),
    "folds": Counter(
        "Folds", "lines `folds`, those in place of a bad reply too", "`fold_flop` and so on"
    ),
    "shows": Counter("Shows", "lines `shows`: both players at every showdown", "`wtsd`"),
    "all_ins": Counter(
        "All-ins", "lines `went all in`, which no engine writes: always 0", "the filter `all-in`"
    ),
    "bid_mean": Counter(
        "Mean bid",
        "of all lines `bids`, those of who has nothing to bid too; 0 without any",
        "`bid` is the mean of chosen bids",
    ),
    "auctions_won": Counter(
        "Auctions won",
        "lines `won the auction`: a tie has one for each, so both won it",
        "`won` and `tied` are apart, and of chosen bids",
    ),
    "won_without": Counter(
        "Won without the card",
        "hands with a gain after the rival alone won the auction; ties are skipped",
        "`won_in_vain` of the rival, a split not counted as lost",
    ),
    "net_swapped": Counter(
        "Net, swapped",
        "the sum of nets of hands in which a card of his own was swapped",
        "`net_swapped` is their mean, with its interval",
    ),
    "bankroll": Counter(
        "Bankroll",
        "before hands 100, 200 up to 1000: the sum of the nets of 99, 199 up to 999 hands",
        "the graph's `net` stands after a hand",
    ),
}


def counters(facts: Facts, chosen: Chosen) -> list[Row]:
    """A row for each player of each match, in order; `bankroll` by the hand it stands before."""
    rows, bankrolls = (
        facts.rows(f"WITH chosen AS ({lines(chosen)}) SELECT * FROM (\n{text_of(file)})")
        for file in ("counters", "counters_bankroll")
    )
    found = {(row["match"], row["player"]): {**_plain(row), "bankroll": {}} for row in rows}
    for row in sorted(bankrolls, key=lambda row: int(row["number"])):
        mine = found[row["match"], row["player"]]["bankroll"]
        mine[str(row["number"])] = _number(row["bankroll"])
    return [found[key] for key in sorted(found)]


def lines(chosen: Chosen) -> str:
    """The lines of a log, as events and tables have them: whose, in which hand, how much."""
    return _LINES.format(mine=table(chosen, "NULL"), lines=", ".join(map(quoted, _ACTS)))


_ACTS = ("Raised", "Bet", "Called", "Checked", "Folded", "Shown")
_LINES = """
    SELECT f.match, f.player, f.number, log.line, log.amount
    FROM ({mine}) AS f
    INNER JOIN (
        SELECT hand_seq, seat, type AS line, 0 AS amount FROM events WHERE type IN ({lines})
        UNION ALL SELECT hand_seq, seat, 'BidPlaced', amount FROM bids
    ) AS log ON log.hand_seq = f.hand_seq AND log.seat = f.seat
    UNION ALL
    SELECT match, player, number, 'net', CAST(net AS DOUBLE) / per_chip FROM ({mine})
    UNION ALL
    SELECT f.match, f.player, f.number,
        CASE WHEN a.outcome = 'lost' THEN 'lost' ELSE 'won' END, CAST(f.net AS DOUBLE) / f.per_chip
    FROM ({mine}) AS f
    INNER JOIN auctions AS a ON a.hand_seq = f.hand_seq AND a.seat = f.seat
    UNION ALL
    SELECT f.match, f.player, f.number,
        CASE WHEN s.changed > 0 THEN 'swapped' ELSE 'not known' END,
        CAST(f.net AS DOUBLE) / f.per_chip
    FROM ({mine}) AS f
    INNER JOIN (
        SELECT hand_seq, seat, sum(CASE WHEN changed THEN 1 ELSE 0 END) AS changed,
            count(*) - count(changed) AS hidden
        FROM swaps GROUP BY hand_seq, seat
    ) AS s ON s.hand_seq = f.hand_seq AND s.seat = f.seat
    WHERE s.changed > 0 OR s.hidden > 0
"""


def _plain(row: Row) -> Row:
    return {name: _number(value) for name, value in row.items()}


def _number(value: Any) -> Any:
    """Whole numbers as such."""
    if isinstance(value, str) or value is None:
        return value
    return int(value) if float(value).is_integer() else round(float(value), 6)
