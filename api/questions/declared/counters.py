"""The organisers' own counters of bot matches, to compare with their figures.

The oddities of each are in docs/statistics.md.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct, defstruct, field

from analytics.sql import FactSource, HandFilters, facts_sql, file_sql, quoted
from api.questions.player_measures import filters_of_params, money_of
from api.questions.question import (
    HIDDEN,
    Anybody,
    ByTag,
    GameName,
    Match,
    Question,
    Sheet,
    Table,
    Unit,
    table_sheet,
    unit_head,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

BANKROLL = "bankroll"
MEAN_COUNTERS = ("bid_mean", "net_swapped")  # in chips, where there are any; all others are counts
HUNDREDS = range(100, 1_100, 100)
Row = dict[str, Any]


class Counter(Struct, frozen=True):
    """A counter of theirs: its title, what it counts, and how our number differs."""

    title: str
    meaning: str
    ours: str


# They count words in a log: also acts that nobody chose, and ties as nothing else here does.
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


class CountersParams(Struct, frozen=True):
    """Parameters of `counters`: whose games."""

    player: Anybody = None
    match: Match = None
    game: GameName = None
    unit: Unit = None
    by_tag: ByTag = None


def _counter_fields(*bankroll: Any) -> list[Any]:
    """A match and a player, every counter, and whatever tells his bankroll."""
    plain = [
        (
            name,
            Annotated[
                float | None if name in MEAN_COUNTERS else int,
                Meta(title=it.title, description=it.meaning),
            ],
        )
        for name, it in COUNTERS.items()
        if name != BANKROLL
    ]
    unit = Annotated[str | None, Meta(description="what amounts count", extra=HIDDEN)]
    return [("match", str), ("player", str), *plain, *bankroll, ("unit", unit)]


GAME_FIELD: Any = defstruct(
    "MatchCounted", _counter_fields((BANKROLL, dict[str, float])), frozen=True
)
LINE_STRUCT = defstruct(
    "CountersLine",
    _counter_fields(
        *(
            (f"{BANKROLL}_{at}", Annotated[float | None, Meta(title=f"before {at}")])
            for at in HUNDREDS
        )
    ),
    frozen=True,
)
if TYPE_CHECKING:
    Game = Struct
else:
    Game = GAME_FIELD


class Counters(Struct, frozen=True, tag_field="schema", tag="muckrake.counters/1"):
    """What each counter means, and a row a match and player."""

    viewpoint: str = field(name="as")
    unit: str | None
    counters: dict[str, Counter]
    matches: list[Game]


def counters(viewed: LedgerView, params: CountersParams, watch: ShowProgress) -> Counters:
    """The counters of all players, or of one."""
    chosen = filters_of_params(viewed, params)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    rows = [GAME_FIELD(**row, unit=unit) for row in counter_rows(viewed, chosen)]
    return Counters(viewed.viewer.view, unit, COUNTERS, rows)


def counter_rows(facts: FactSource, chosen: HandFilters) -> list[Row]:
    """Count each player's counters in each match; `bankroll` is keyed by the hand that follows."""
    rows, bankrolls = (
        facts.rows(file_sql(file, log_lines_sql(chosen)))
        for file in ("counters", "counters_bankroll")
    )
    found = {
        (row["match"], row["player"]): {name: _number(it) for name, it in row.items()}
        | {"bankroll": {}}
        for row in rows
    }
    for row in sorted(bankrolls, key=lambda row: int(row["number"])):
        mine = found[row["match"], row["player"]]["bankroll"]
        mine[str(row["number"])] = _number(row["bankroll"])
    return [found[key] for key in sorted(found)]


def log_lines_sql(chosen: HandFilters) -> str:
    """SQL that makes lines of a match log from events and tables: player, hand, line, amount."""
    return _LOG_LINES_SQL.format(
        mine=facts_sql(chosen, "NULL"), lines=", ".join(map(quoted, _LOGGED_ACTS))
    )


_LOGGED_ACTS = ("Raised", "Bet", "Called", "Checked", "Folded", "Shown")
_LOG_LINES_SQL = """
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


def _number(value: Any) -> Any:
    """A number as an int if it is whole."""
    if isinstance(value, str) or value is None:
        return value
    return int(value) if float(value).is_integer() else round(float(value), 6)


def counter_lines(answer: Counters) -> Sequence[Struct]:
    """A line for each match and player, with a column for each hundred hands."""
    found = []
    for row in answer.matches:
        plain = msgspec.structs.asdict(row)
        bankroll = plain.pop(BANKROLL)
        found.append(
            LINE_STRUCT(**plain, **{f"{BANKROLL}_{at}": bankroll.get(str(at)) for at in HUNDREDS})
        )
    return found


def sheets(answer: Counters, params: CountersParams) -> Iterator[Sheet]:
    """All counters, and a sentence on what they are not."""
    foot = "every action counts, forced ones too: statistics and bids count only what was chosen"
    yield table_sheet(TABLE, answer, unit_head(f"viewpoint: {answer.viewpoint}", answer.unit), foot)


TABLE = Table("counters", LINE_STRUCT, counter_lines)
QUESTION = Question(
    name="counters",
    text=__doc__,
    path="/players/{player}/counters",
    operation="player_counters",
    params=CountersParams,
    answer=Counters,
    ask=counters,
    tables=(TABLE,),
    sheets=sheets,
)
