"""Ratings of players and pairs, the best first, and how sure they are.

Four answers: ratings, made of matches won and lost (they need the extra `ratings`); pairs, and each
beside the field, in chips a hundred hands, mirrored decks counted once; and circles of three.
docs/leagues.md says what a row means.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from analytics.intervals import Interval, rounded, student
from analytics.ratings import beat_cycles, player_ratings
from analytics.sql import facts_sql, file_sql, quoted
from api.questions.declared.leagues import matches_of_league
from api.questions.luck import mirror_size_sql
from api.questions.player_measures import Unanswerable, money_of, player_filters
from api.questions.question import (
    Before,
    ByTag,
    Cell,
    GameName,
    HandNumberRange,
    Match,
    Param,
    Question,
    Sheet,
    Table,
    Unit,
    unit_head,
)
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

Row = dict[str, Any]
PLAYERS_MAX = 200  # their pairs are 19,900, and circles are sought among all
CROSS_TABLE_MAX = 8  # players whose cross table fits on a terminal
NO_LIBRARY = "no ratings here: install muckrake-poker[ratings], which brings the library that rates"
Rating = Annotated[
    float | None, Meta(description="400 points more are ten wins to one loss; 1500 is the mean")
]
RatingLow = Annotated[float | None, Meta(title="from", description="its interval")]
RatingHigh = Annotated[float | None, Meta(title="to", description="the other end")]
WonPerHundred = Annotated[
    float | None, Meta(title="a hundred", description="chips won a hundred hands")
]
Low = Annotated[float | None, Meta(description="its interval: 95 of 100 hold the true number")]
High = Annotated[float | None, Meta(description="the other end")]


class RatingsParams(Struct, frozen=True, kw_only=True):
    """Parameters of `ratings`: which matches count."""

    league: Annotated[
        str | None, Param("Only matches of this league: `muckrake leagues` lists them.", "LEAGUE")
    ] = None
    match: Match = None
    game: GameName = None
    unit: Unit = None
    by_tag: ByTag = None
    hands: HandNumberRange = None
    before: Before = None


class Rated(Struct, frozen=True):
    """A player, his rating, and what he won against everybody whom he met."""

    player: str
    rating: Rating
    rating_low: RatingLow
    rating_high: RatingHigh
    won: Annotated[int, Meta(description="matches, against each whom he met in them")]
    drawn: int
    lost: int
    hands: int
    won_100: WonPerHundred
    low: Low
    high: High


class Pair(Struct, frozen=True):
    """Two who met, and by how much the first came out ahead."""

    player: str
    other: str
    matches: int
    won: int
    drawn: int
    deals: Annotated[int, Meta(description="hands and mirrored decks in which both sat")]
    hands: Annotated[int, Meta(description="the hands of those")]
    won_100: Annotated[
        float | None,
        Meta(title="a hundred", description="half of how far he came out ahead a hundred hands"),
    ]
    low: Low
    high: High
    more: Annotated[
        int | None, Meta(description="about so many more deals would settle it; 0: it is settled")
    ]

    @property
    def points(self) -> float:
        """The first player's points: a match won is one, a drawn one a half."""
        return self.won + self.drawn / 2

    def of(self, player: str) -> "Pair":
        """The pair as one of the two sees it."""
        if player == self.player:
            return self
        won, low, high = (None if it is None else -it for it in (self.won_100, self.high, self.low))
        lost = self.matches - self.won - self.drawn
        return replace(
            self, player=self.other, other=self.player, won=lost, won_100=won, low=low, high=high
        )


class Circle(Struct, frozen=True):
    """Three of whom each surely beats the next."""

    first: str
    second: Annotated[str, Meta(description="whom the first beats")]
    third: Annotated[str, Meta(description="whom the second beats, and who beats the first")]

    @property
    def sentence(self) -> str:
        """The circle in words."""
        one, two, three = self.first, self.second, self.third
        return f"a circle: {one} beats {two}, he {three}, and he {one}"


class Ratings(Struct, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.ratings/1"):
    """Players, the best first; pairs, each once; and circles of three."""

    viewpoint: str = field(name="as")
    unit: str | None
    league: str | None
    players: list[Rated]
    pairs: list[Pair]
    circles: list[Circle]


def rate_players(viewed: LedgerView, params: RatingsParams, watch: ShowProgress) -> Ratings:
    """The ratings of all who met somebody in these hands."""
    chosen = player_filters(
        viewed, None, hands=params.hands, before=params.before, match=params.match, game=params.game
    )
    rows = facts_sql(chosen, "NULL")
    if params.league is not None:
        rows = rows_of_matches_sql(
            rows, [one.match for one in matches_of_league(viewed.snapshot, params.league)]
        )
    unit = money_of(viewed, rows)
    (counted,) = viewed.rows(f"SELECT count(DISTINCT player) AS players FROM ({rows}) AS c")
    if counted["players"] > PLAYERS_MAX:
        raise Unanswerable(
            f"these are {counted['players']:,} players, and {PLAYERS_MAX} are rated together: "
            "name a league or a match"
        )
    pairs = pair_results(viewed, rows)
    if not pairs:
        where = "" if params.league is None else f" in a hand of the league {params.league}"
        raise NotInLedger(f"no two players met{where}: muckrake matches lists what was played")
    field = {
        row["player"]: row
        for row in _rows_of_file(viewed, _rows_with_deals_sql(viewed, rows), "ratings_won")
    }
    players = _rated_players(pairs, field)
    beats: dict[str, set[str]] = {player.player: set() for player in players}
    for pair in pairs:
        if pair.low is not None and pair.low > 0:
            beats[pair.player].add(pair.other)
        if pair.high is not None and pair.high < 0:
            beats[pair.other].add(pair.player)
    return Ratings(
        viewpoint=viewed.viewer.view,
        unit=unit,
        league=params.league,
        players=players,
        pairs=pairs,
        circles=[Circle(*circle) for circle in beat_cycles(beats)],
    )


def rows_of_matches_sql(rows: str, matches: Sequence[str]) -> str:
    """The SELECT of the rows that are of one of these matches."""
    return f"SELECT * FROM ({rows}) AS f WHERE match IN ({', '.join(map(quoted, matches))})"


def pair_results(viewed: LedgerView, rows: str) -> list[Pair]:
    """The result of every two who met in these rows of facts."""
    met = (
        "SELECT c.match, c.number, c.deals, c.per_chip, c.player, o.player AS part,"
        f" (c.net - o.net) / 2.0 AS net FROM ({_rows_with_deals_sql(viewed, rows)}) AS c"
        " JOIN facts AS o ON o.hand_seq = c.hand_seq AND o.player > c.player"
    )
    won = {(row["player"], row["part"]): row for row in _rows_of_file(viewed, met, "ratings_won")}
    pairs = []
    for row in _rows_of_file(viewed, met, "ratings_matches"):
        nets = won.get((row["player"], row["part"]), {})
        mean, low, high = _per_hundred(nets)
        deals, more = nets.get("deals", 0), None
        if mean and low is not None and high is not None:
            # The interval narrows as the root of the deals.
            more = max(0, ceil(deals * (((high - low) / 2 / mean) ** 2 - 1)))
        who = row["player"], row["part"], row["matches"], int(row["won"]), int(row["drawn"])
        pairs.append(Pair(*who, deals, nets.get("hands", 0), mean, low, high, more))
    return pairs


def _rows_with_deals_sql(viewed: LedgerView, rows: str) -> str:
    return f"SELECT c.*, {mirror_size_sql(viewed, 'c.match')} AS deals FROM ({rows}) AS c"


def _rows_of_file(viewed: LedgerView, chosen: str, file: str) -> list[Row]:
    return viewed.rows(file_sql(file, chosen))


def _rated_players(pairs: Sequence[Pair], field: Mapping[str, Row]) -> list[Rated]:
    """The players who met somebody, the best first: by rating, by chips."""
    won, drawn, lost = Counter[str](), Counter[str](), Counter[str]()
    for side in (side for pair in pairs for side in (pair, pair.of(pair.other))):
        won[side.player] += side.won
        drawn[side.player] += side.drawn
        lost[side.player] += side.matches - side.won - side.drawn
    ratings = player_ratings(
        (pair.player, pair.other, pair.points, pair.of(pair.other).points) for pair in pairs
    )
    players = []
    for name in sorted(won):
        rating, nets = ratings.get(name), field.get(name, {})
        points, low, high = (None,) * 3 if rating is None else (round(end, 1) for end in rating)
        met = won[name], drawn[name], lost[name]
        hands = nets.get("hands", 0)
        players.append(Rated(name, points, low, high, *met, hands, *_per_hundred(nets)))
    return sorted(
        players, key=lambda side: (-(side.rating or 0), -(side.won_100 or 0), side.player)
    )


def _per_hundred(nets: Row) -> tuple[float | None, float | None, float | None]:
    """Chips a hundred hands, out of those of a deal, and their interval."""
    if not nets:
        return None, None, None
    deals, hands = nets["deals"], nets["hands"]
    ends: Interval | tuple[None, None] = (None, None)
    if nets["sd"] is not None:
        ends = student(nets["mean"], nets["sd"], deals) or ends
    low, high = (None if end is None else rounded(100 * end * deals / hands) for end in ends)
    return rounded(100 * nets["won"] / hands), low, high


def sheets(answer: Ratings, params: RatingsParams) -> Iterator[Sheet | str]:
    """Players, a cross table if they are few, pairs, and a sentence on every circle."""
    columns: tuple[str, ...] = (
        *("player", "rating", "95 %", "won", "drawn", "lost"),
        *("hands", "a hundred", "95 %"),
    )
    lines: list[tuple[Cell, ...]] = [
        (
            _player_cell(at, player.player),
            *map(
                Cell,
                (
                    number_text(player.rating),
                    bounds_text(player.rating_low, player.rating_high),
                    *map(str, (player.won, player.drawn, player.lost, player.hands)),
                    *(number_text(player.won_100), bounds_text(player.low, player.high)),
                ),
            ),
        )
        for at, player in enumerate(answer.players, 1)
    ]
    head = unit_head(f"viewpoint: {answer.viewpoint}", answer.unit)
    yield Sheet(
        columns, lines, range(1, 9), head, NO_LIBRARY if answer.players[0].rating is None else ""
    )
    if 2 < len(answer.players) <= CROSS_TABLE_MAX:
        yield cross_table([player.player for player in answer.players], answer.pairs)
    columns = ("player", "other", "matches", "won", "deals", "a hundred", "95 %", "more deals")
    texts = (
        (
            *(pair.player, pair.other, str(pair.matches), f"{pair.points:g}"),
            *(str(pair.deals), number_text(pair.won_100), bounds_text(pair.low, pair.high)),
            *(("" if pair.more is None else f"{pair.more:,}" if pair.more else "settled"),),
        )
        for pair in answer.pairs
    )
    yield Sheet(columns, [tuple(map(Cell, line)) for line in texts], range(2, 8), "each pair")
    for circle in answer.circles:
        yield circle.sentence


def cross_rows(
    players: Sequence[str], pairs: Sequence[Pair]
) -> list[tuple[str, list[Pair | None]]]:
    """Each player and his side of every pair, in this order; None where two never met."""
    known = {(it.player, it.other): it for pair in pairs for it in (pair, pair.of(pair.other))}
    return [(player, [known.get((player, other)) for other in players]) for player in players]


def cross_table(players: Sequence[str], pairs: Sequence[Pair]) -> Sheet:
    """A cross table: chips a hundred of the player in the row, grey where it is not settled."""
    lines = [
        [
            _player_cell(at, name),
            *(
                Cell(number_text(it.won_100 if it else None), it is not None and it.more != 0)
                for it in row
            ),
        ]
        for at, (name, row) in enumerate(cross_rows(players, pairs), 1)
    ]
    columns = ["player", *map(str, range(1, len(lines) + 1))]
    foot = "chips a hundred hands of the one in the row; grey: not settled yet"
    return Sheet(columns, lines, range(1, len(columns)), "each beside each", foot)


def _player_cell(at: int, name: str) -> Cell:
    """A player's name after his place, from 1."""
    return Cell(f"{at} {name}", player=name)


def number_text(number: float | None) -> str:
    return "" if number is None else f"{round(number, 1) + 0.0:,.1f}"  # nothing has no sign


def bounds_text(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:,.1f} to {high:,.1f}"


QUESTION = Question(
    name="ratings",
    text=__doc__,
    path="/ratings",
    operation="ratings",
    params=RatingsParams,
    answer=Ratings,
    ask=rate_players,
    tables=(Table("players", Rated), Table("pairs", Pair), Table("circles", Circle)),
    sheets=sheets,
)
