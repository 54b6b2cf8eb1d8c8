"""What a viewpoint is told of results: nets, rake, luck street by street, a player's graph.

Luck is counted from hands as they are seen, of which every card is known to the viewer; nets and
rake are everybody's to see.
"""

from typing import Any, NamedTuple

from analytics.ask import answers
from analytics.luck_equity import DRAWS, SEED
from analytics.luck_rules import Rulebook
from analytics.luck_streets import MODEL, can_be_told
from analytics.results import Spread, Streets, rakes
from analytics.statistics import STATISTICS
from analytics.statistics_chosen import Chosen
from analytics.winnings import POINTS, Winnings
from api.asking.leaves import leaves
from api.asking.stats import chosen_of
from api.asking.viewed import Viewed
from api.asking.watching import Watch, unwatched
from api.asking.winnings import winnings
from store.leaf import Leaf

SPOTS = 100
NETS = ("net", "net_showdown", "net_without", "bb_100")
Row = dict[str, Any]


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


class Results(NamedTuple):
    """By player nets and rake; luck by player and chance, of how many hands; the player's graph."""

    about: About
    nets: dict[str, Row]
    rakes: dict[str, dict[str, float]]
    streets: list[Row]
    known: int | None
    counted: int
    graph: Winnings | None


def results(viewed: Viewed, about: About, watch: Watch = unwatched) -> Results:
    """Everything there is to say."""
    chosen = _chosen(viewed, about)
    drawn = graph(viewed, about, watch) if about.player is not None else None
    return Results(
        about, _nets(viewed, chosen), rakes(viewed, chosen), *streets(viewed, about, watch), drawn
    )


def graph(viewed: Viewed, about: About, watch: Watch = unwatched) -> Winnings:
    """The lines of one player; without luck only if that was asked for, since it takes its time."""
    runouts = None if about.adjusted else 0
    return winnings(viewed, _chosen(viewed, about), about.points, runouts, watch)


def document(told: Results, view: str) -> Row:
    """The whole as plain values."""
    players = [
        {
            **row,
            "rake": told.rakes.get(name, {}),
            "streets": [_bare(one) for one in told.streets if one["player"] == name],
        }
        for name, row in told.nets.items()
    ]
    about = {"as": view, "vs": told.about.vs, "known": told.known, "counted": told.counted}
    model = {"model": MODEL, "seed": SEED, "draws": DRAWS}
    lines = {} if told.graph is None else {"graph": plain(told.graph)}
    return {**about, **model, "players": players, **lines}


def plain(lines: Winnings) -> Row:
    """A graph as plain values."""
    points = [one._asdict() for one in lines.points]
    return {**lines._asdict(), "points": points, "paired": [one._asdict() for one in lines.paired]}


def _chosen(viewed: Viewed, about: About) -> Chosen:
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
    viewed: Viewed, about: About, watch: Watch = unwatched
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


def _bare(row: Row) -> Row:
    return {key: row[key] for key in row if key != "player"}
