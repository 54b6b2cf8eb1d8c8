"""Winnings split into luck, street by street, play and rake; and how they grew.

docs/results.md says what a row means. Luck is counted in hands of which the viewpoint knows every
card; nets and rake are everybody's to see. A file gets the graph, which only a player has.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType, field

from analytics.intervals import FEW
from analytics.luck.street_luck import MODEL
from analytics.projections.equity import DRAWS, SEED
from analytics.results.net_breakdown import RAKE_METHODS, By, net_by_part, rake_by_method, win_rates
from analytics.results.winnings_curve import POINTS, Winnings
from analytics.sql import HandFilters, facts_sql
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import statistic_values
from api.questions.declared.winnings import (
    Points,
    WinningsParams,
    WinningsPoint,
    winnings,
    winnings_points,
)
from api.questions.luck import Chance, StreetLuck, mirrored_matches, street_luck
from api.questions.player_measures import (
    Again,
    Unanswerable,
    check_hand_count,
    filters_of_params,
    money_of,
    part_name,
)
from api.questions.question import (
    FILTER_NAMES,
    Anybody,
    Cell,
    Filters,
    Param,
    Question,
    Sheet,
    Table,
    cell_text,
    unit_head,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

HANDS_MAX, ADJUSTED_MAX = 50_000, 2_000  # that are read, or adjusted, while somebody waits
NET_COLUMNS = ("net", "net_showdown", "net_without", "bb_100")
ODD_CHIPS = 1  # of an odd number of hands one seat has one more than the other
RATE_TITLES = {"hand": "net of a hand", "deck": "net of a deck", "price": "price of a card"}
Row = dict[str, Any]


class ResultsParams(Filters, frozen=True):
    """Parameters of `results`: whose, against whom, in which hands; in how many of them luck is
    counted.

    People who ask for parts read their nets alone, and a file gets the graph alone.
    """

    player: Anybody = None
    by: Annotated[By | None, Param("Net by parts; a window is 100 hands.", query="split")] = None
    spots: Annotated[
        int | None,
        Param(
            "In how many hands, evenly spread, luck is counted street by street.",
            most=100,
            http_default=100,
        ),
    ] = 100
    points: Points = POINTS
    adjusted: Annotated[bool, Param("With the line without run-out luck; it is slow.")] = False
    table: str | None = None
    people: bool = False


class Mean(Struct, frozen=True, kw_only=True):
    """Of `n` hands, or others, their sum and mean, its interval, and the same drawn again."""

    n: int = 0
    net: float = 0.0
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    drawn_low: float | None = None
    drawn_high: float | None = None


class Rate(Mean, frozen=True):
    """What he wins on average, by `hand` or `deck`, or pays: the `price` of a card."""

    unit: str


class PartOf(Mean, frozen=True):
    """The net of a part of his hands, which one of the members names that may be left out."""

    player: str
    street: str | UnsetType = UNSET
    position: str | UnsetType = UNSET
    window: str | UnsetType = UNSET
    pot: str | UnsetType = UNSET
    auction: str | UnsetType = UNSET
    swap: str | UnsetType = UNSET


class Seats(Struct, frozen=True):
    """His heads-up hands as dealer and as big blind, and whether they are as many."""

    dealer: Mean
    big_blind: Mean
    balanced: bool


class PlayerResults(Struct, frozen=True, kw_only=True):
    """A player's nets, averages, rake by method, seats, and luck by chance."""

    player: str
    hands: int
    net: float | None
    net_showdown: float | None
    net_without: float | None
    bb_100: float | None
    rates: list[Rate]
    rake: dict[str, float]
    seats: Seats | None
    streets: list[Chance]


class Results(Struct, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.results/1"):
    """Players; of how many hands all cards are `known`, and in how many luck was `counted`; nets
    by part, and the graph of one player."""

    viewpoint: str = field(name="as")
    vs: str | None
    unit: str | None
    known: int | None
    counted: int
    model: str
    seed: int
    draws: int
    again: Again
    players: list[PlayerResults]
    by: list[PartOf] | UnsetType = UNSET
    graph: Winnings | UnsetType = UNSET


def results(viewed: LedgerView, params: ResultsParams, watch: ShowProgress) -> Results:
    """The results that the parameters ask for."""
    player, by = params.player, params.by
    if player is None and (params.table or params.adjusted):
        raise Unanswerable("a graph is somebody's: name the player")
    chosen = filters_of_params(viewed, params)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    players, parts, lucky = [], [], StreetLuck({}, None, 0)
    if params.table is None:
        if not (params.people and by):
            lucky = street_luck(viewed, chosen, params.spots, watch)
        players = _player_results(viewed, chosen, lucky)
        parts = net_by_part(viewed, chosen, by) if by else []
    graph: Winnings | UnsetType = UNSET
    if player is not None and not params.people:
        filters = {name: getattr(params, name) for name in FILTER_NAMES}
        # Without luck only if that was asked for, since it takes its time.
        spots = None if params.adjusted else 0
        graph_params = WinningsParams(player, params.points, spots, **filters)
        graph = winnings(viewed, graph_params, watch)
    return Results(
        viewpoint=viewed.viewer.view,
        vs=params.vs,
        unit=unit,
        known=lucky.known,
        counted=lucky.counted,
        model=MODEL,
        seed=SEED,
        draws=DRAWS,
        again=Again(),
        players=players,
        by=[PartOf(**{by: row.pop("part")}, **row) for row in parts] if by else UNSET,
        graph=graph,
    )


def _player_results(
    viewed: LedgerView, chosen: HandFilters, lucky: StreetLuck
) -> list[PlayerResults]:
    """The nets of each player, and what they are made of."""
    nets: dict[str, Row] = {}
    for answer in statistic_values(viewed, chosen, [STATISTICS[name] for name in NET_COLUMNS]):
        row = nets.setdefault(answer.player, {})
        if answer.statistic == "net":
            row["hands"] = answer.n
        row[answer.statistic] = answer.value
    raked, won = rake_by_method(viewed, chosen), win_rates(viewed, chosen, mirrored_matches(viewed))
    seats: dict[str, dict[str, Mean]] = {}
    for row in net_by_part(viewed, chosen, "seat"):
        name, seat = row.pop("player"), row.pop("part")
        seats.setdefault(name, {})[seat] = Mean(**row)
    both: dict[str, Seats] = {}
    for name, means in seats.items():
        dealer, big_blind = (means.get(seat, Mean()) for seat in ("dealer", "big blind"))
        both[name] = Seats(dealer, big_blind, abs(dealer.n - big_blind.n) <= ODD_CHIPS)
    return [
        PlayerResults(
            player=name,
            rates=[Rate(**rate) for rate in won.get(name, ())],
            rake=raked.get(name, {}),
            seats=both.get(name),
            streets=lucky.chances.get(name, []),
            **row,
        )
        for name, row in nets.items()
    ]


def check_size(viewed: LedgerView, params: ResultsParams) -> None:
    """Refuse more hands than a request may ask about."""
    if params.adjusted:
        otherwise = f"{ADJUSTED_MAX} are adjusted here: ask for winnings with some runouts"
        check_hand_count(viewed, params, ADJUSTED_MAX, otherwise)
    check_hand_count(viewed, params, HANDS_MAX, f"{HANDS_MAX} are read here: name a match")


def sheets(answer: Results, params: ResultsParams) -> Iterator[Sheet | str]:
    """Nets and rake, averages, and luck by chance; or nets by parts."""
    head = unit_head(f"viewpoint: {answer.viewpoint}", answer.unit)
    amount = f"{answer.unit or 'chip'}s"
    if params.by is not None and answer.by is not UNSET:
        lines = []
        for part in answer.by:
            texts = (
                part_name(part),
                str(part.n),
                cell_text(part.net),
                cell_text(part.mean),
                _interval_text(part),
            )
            lines.append((part.player, part.n, texts))
        columns = (params.by, "hands", "net", "each", "95 %")
        yield _means_sheet(params, columns, lines, "   ".join(filter(None, (params.player, head))))
    else:
        methods = tuple(RAKE_METHODS) if any(player.rake for player in answer.players) else ()
        nets = [STATISTICS[name].title for name in NET_COLUMNS]
        titles = ("player", "hands", *nets, *(f"rake, {name}" for name in methods))
        lines_of_players = [
            [
                Cell(player.player),
                Cell(str(player.hands)),
                *(Cell(cell_text(getattr(player, name))) for name in NET_COLUMNS),
                *(Cell(cell_text(player.rake.get(name))) for name in methods),
            ]
            for player in answer.players
        ]
        yield Sheet(titles, lines_of_players, range(1, len(titles)), head)
        lines = []  # what each player wins, or pays: Student's interval, and the same drawn again
        for player in answer.players:
            for rate in player.rates:
                again = _interval_text(rate, "drawn_")
                texts = (
                    RATE_TITLES[rate.unit],
                    cell_text(rate.mean),
                    _interval_text(rate),
                    again,
                    str(rate.n),
                )
                lines.append((player.player, rate.n, texts))
        yield _means_sheet(params, ("mean", amount, "95 %", "drawn again", "n"), lines)
        if any(player.streets for player in answer.players):
            yield _luck_sheet(answer, params, ("luck of", amount, "each", "95 %", "times"))
    for player in answer.players if params.player else ():
        if player.seats and not player.seats.balanced:
            dealer, big_blind = player.seats.dealer.n, player.seats.big_blind.n
            hands = "hand" if dealer == 1 else "hands"
            dealt = f"dealer in {dealer} {hands}, big blind in {big_blind}"
            yield f"{dealt}: the seats are not balanced"


def _luck_sheet(answer: Results, params: ResultsParams, columns: Sequence[str]) -> Sheet:
    """Luck by chance, player by player."""
    lines = []
    for player in answer.players:
        for street in player.streets:
            texts = (
                street.chance,
                cell_text(street.chips),
                cell_text(street.mean),
                _interval_text(street),
                str(street.times),
            )
            lines.append((player.player, street.times, texts))
    foot = f"counted in {answer.counted} of {answer.known} hands with all cards known"
    if answer.counted < (answer.known or 0):
        foot += "; ask for all spots to count them all"
    return _means_sheet(params, columns, lines, foot=foot)


def _means_sheet(
    params: ResultsParams,
    columns: Sequence[str],
    rows: Iterable[tuple[str, int, Sequence[str]]],
    head: str = "",
    foot: str = "",
) -> Sheet:
    """A sheet of means, the player first unless one is named; those of few hands are grey."""
    lines = [
        [Cell(text, count < FEW) for text in (*([] if params.player else [who]), *texts)]
        for who, count, texts in rows
    ]
    shown = [*([] if params.player else ["player"]), *columns]
    return Sheet(shown, lines, range(len(shown) - 4, len(shown)), head, foot)


def _interval_text(one: Mean | Chance, drawn: str = "") -> str:
    """An interval as text: -2.12 to 4"""
    low, high = (getattr(one, f"{drawn}{end}") for end in ("low", "high"))
    return "" if low is None else f"{cell_text(low)} to {cell_text(high)}"


QUESTION = Question(
    name="results",
    text=__doc__,
    path="/players/{player}/results",
    operation="player_results",
    params=ResultsParams,
    answer=Results,
    ask=results,
    tables=(Table("graph", WinningsPoint, lambda answer: winnings_points(answer.graph)),),
    sheets=sheets,
    check_size=check_size,
)
