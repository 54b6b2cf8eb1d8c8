"""What a viewpoint is told of results: nets and their parts, rake, luck by streets, a graph.

Luck is counted from hands as they are seen, of which every card is known to the viewer; nets and
rake are everybody's to see.
"""

from typing import Any, NamedTuple

from analytics.luck.streets import MODEL, can_be_told
from analytics.replay.rulebook import Rulebook
from analytics.results.players import By, Spread, Streets, nets_by, rakes, rates
from analytics.results.winnings import POINTS, Winnings
from analytics.sql.chosen import Chosen, table
from analytics.statistics.answers import answers
from analytics.statistics.catalogue import STATISTICS
from analytics.stored.equity import DRAWS, SEED
from api.questions.luck import mirrored
from api.questions.players import money_of
from api.questions.stats import AGAIN, chosen_of
from api.questions.winnings import winnings
from api.viewpoints.progress import ShowProgress, without_progress
from api.viewpoints.views import Viewed
from api.viewpoints.visible_hands import leaves
from store.log.leaf import Leaf

SPOTS = 100
NETS = ("net", "net_showdown", "net_without", "bb_100")
SEATS = ("dealer", "big_blind")
ODD = 1  # of an odd number of hands one seat has one more than the other
Row = dict[str, Any]
ENDS = ("mean", "low", "high", "drawn_low", "drawn_high")
NEVER: Row = {"n": 0, "net": 0.0, **dict.fromkeys(ENDS)}


class About(NamedTuple):
    """Whose results, against whom, in which hands; in how many of them luck is counted.

    `points` and `adjusted` are about the graph, which only a player has.
    """

    player: str | None = None
    vs: str | None = None
    match: str | None = None
    game: str | None = None
    spots: int | None = SPOTS
    points: int = POINTS
    adjusted: bool = False
    by: By | None = None


class Results(NamedTuple):
    """By player nets, what he wins on average, rake and heads-up seats; luck by player and chance,
    of how many hands; the player's graph; nets by player and part; what all of it counts."""

    about: About
    nets: dict[str, Row]
    rates: dict[str, list[Row]]
    rakes: dict[str, dict[str, float]]
    seats: dict[str, Row]
    streets: list[Row]
    known: int | None
    counted: int
    graph: Winnings | None
    by: list[Row]
    unit: str | None


def results(viewed: Viewed, about: About, watch: ShowProgress = without_progress) -> Results:
    """Everything there is to say."""
    chosen = _chosen(viewed, about)
    drawn = graph(viewed, about, watch) if about.player is not None else None
    nets, raked, seated = _nets(viewed, chosen), rakes(viewed, chosen), seats(viewed, about)
    won = rates(viewed, chosen, mirrored(viewed))
    luck = streets(viewed, about, watch)
    told = parts(viewed, about), unit_of(viewed, about)
    return Results(about, nets, won, raked, seated, *luck, drawn, *told)


def parts(viewed: Viewed, about: About) -> list[Row]:
    """Nets by player and part, if parts were asked for."""
    return nets_by(viewed, _chosen(viewed, about), about.by) if about.by else []


def seats(viewed: Viewed, about: About) -> dict[str, Row]:
    """By player his heads-up hands as dealer and as big blind, and whether they are as many."""
    found: dict[str, Row] = {}
    for row in nets_by(viewed, _chosen(viewed, about), "seat"):
        each = found.setdefault(row["player"], dict.fromkeys(SEATS, NEVER))
        each[row["part"].replace(" ", "_")] = _numbers(row)
    for each in found.values():
        dealer, big_blind = (each[seat]["n"] for seat in SEATS)
        each["balanced"] = abs(dealer - big_blind) <= ODD
    return found


def graph(viewed: Viewed, about: About, watch: ShowProgress = without_progress) -> Winnings:
    """The lines of one player; without luck only if that was asked for, since it takes its time."""
    runouts = None if about.adjusted else 0
    return winnings(viewed, _chosen(viewed, about), about.points, runouts, watch)


def document(told: Results, view: str) -> Row:
    """The whole as plain values."""
    players = [
        {
            **row,
            "rates": told.rates.get(name, []),
            "rake": told.rakes.get(name, {}),
            "seats": told.seats.get(name),
            "streets": [_bare(one) for one in told.streets if one["player"] == name],
        }
        for name, row in told.nets.items()
    ]
    about: Row = {"as": view, "vs": told.about.vs, "unit": told.unit}
    about |= {"known": told.known, "counted": told.counted}
    model: Row = {"model": MODEL, "seed": SEED, "draws": DRAWS}
    model["again"] = AGAIN
    lines = {} if told.graph is None else {"graph": plain(told.graph)}
    divided: Row = {}
    if told.about.by is not None:
        divided["by"] = [
            {"player": one["player"], told.about.by: one["part"], **_numbers(one)}
            for one in told.by
        ]
    return {**about, **model, "players": players, **divided, **lines}


def plain(lines: Winnings) -> Row:
    """A graph as plain values."""
    points = [one._asdict() for one in lines.points]
    return {**lines._asdict(), "points": points, "paired": [one._asdict() for one in lines.paired]}


def unit_of(viewed: Viewed, about: About) -> str | None:
    """What all these hands are played for."""
    return money_of(viewed, table(_filters(viewed, about), "NULL"))


def _chosen(viewed: Viewed, about: About) -> Chosen:
    """The hands that are asked about, all of them played for one money."""
    unit_of(viewed, about)
    return _filters(viewed, about)


def _filters(viewed: Viewed, about: About) -> Chosen:
    return chosen_of(viewed, about.player, vs=about.vs, match=about.match, game=about.game)


def _nets(viewed: Viewed, chosen: Chosen) -> dict[str, Row]:
    """Hands and nets of each player."""
    told: dict[str, Row] = {}
    for one in answers(viewed, chosen, [STATISTICS[name] for name in NETS]):
        row = told.setdefault(one.player, {"player": one.player})
        if one.statistic == "net":
            row["hands"] = one.n
        row[one.statistic] = one.value
    return told


def streets(
    viewed: Viewed, about: About, watch: ShowProgress = without_progress
) -> tuple[list[Row], int | None, int]:
    """Luck of so many hands, of those whose cards are all known; how many those are."""
    if about.spots == 0:  # then nobody looks
        return [], None, 0
    rules = Rulebook(viewed.snapshot.ruleset)
    every: Spread[Leaf] = Spread(about.spots)
    wanted = {about.player, about.vs} - {None}
    for leaf in leaves(viewed, about.match, about.game, watch):
        here = leaf.hand is not None and wanted <= set(leaf.hand.start.players)
        if here and can_be_told(leaf, rules):
            every.add(leaf)
    those = every.chosen()
    asked = Streets(watch(those, "counting luck", len(those)), rules)
    try:
        return asked.told(about.player), every.seen, len(those)
    finally:
        asked.close()


def _numbers(row: Row) -> Row:
    return {name: row[name] for name in NEVER}


def _bare(row: Row) -> Row:
    return {key: row[key] for key in row if key != "player"}
