"""What a viewpoint is told of two players, or of two versions of one, beside each other.

Mirrored decks are everybody's to know. Two matches of one seed have one order of cards; to whom the
seed is hidden, they are two matches of different cards.
"""

from collections import Counter
from typing import Any, NamedTuple

from analytics.comparing.deals import Deck
from analytics.comparing.players import COMPARED, METHODS, Compared, compared
from analytics.confidence.intervals import DRAWS, SEED
from analytics.sql.amounts import moneys_of
from analytics.sql.chosen import Chosen, table
from analytics.statistics.answers import rows_of
from analytics.statistics.catalogue import STATISTICS
from api.questions.players import Nonsense
from api.questions.stats import chosen_of
from api.viewpoints.views import Viewed
from api.viewpoints.wanted import Absent
from api.viewpoints.watching import Watch, unwatched

Row = dict[str, Any]


class About(NamedTuple):
    """Who, beside whom; against whom, if not anybody; each in the hands of one match, if named."""

    one: str
    other: str
    vs: str | None = None
    matches: tuple[str | None, str | None] = (None, None)
    game: str | None = None
    street: str | None = None


class Beside(NamedTuple):
    """Every statistic of both, and in how many hands each was dealt in; what they were played for:
    amounts of several moneys are not compared."""

    found: list[Compared]
    hands: tuple[int, int]
    moneys: list[str]

    @property
    def unit(self) -> str | None:
        """What amounts count, if it is one for both."""
        return self.moneys[0] if len(self.moneys) == 1 else None


def beside(viewed: Viewed, about: About, watch: Watch = unwatched) -> Beside:
    """The answer; a side without hands is said to be absent."""
    if about.one == about.other and len(set(about.matches)) == 1:
        raise Nonsense(f"{about.one} is himself: name a match of each, --match M --match N")
    first, second = (
        chosen_of(viewed, player, vs=about.vs, match=match, game=about.game)
        for player, match in zip((about.one, about.other), about.matches, strict=True)
    )
    hands = _hands(viewed, first), _hands(viewed, second)
    both = " UNION ALL ".join(f"SELECT unit FROM ({table(one, 'NULL')})" for one in (first, second))
    moneys = moneys_of(viewed, both)
    wanted = [
        one
        for one in COMPARED
        if about.street in (None, one.street) and not (one.amount and len(moneys) > 1)
    ]
    files = tuple(dict.fromkeys(one.file for one in wanted))
    asked = watch(files, "comparing", len(files))
    found = compared(viewed, (first, second), decks(viewed), wanted, asked)
    told = Beside(found, hands, moneys)
    return told._replace(found=[_in_unit(one, told.unit) for one in found])


def _in_unit(one: Compared, unit: str | None) -> Compared:
    return one._replace(unit=unit) if STATISTICS[one.statistic].amount else one


def decks(viewed: Viewed) -> dict[str, Deck]:
    """Matches that deal a deck more than once, alone or beside others of the same cards."""
    rows = viewed.rows(
        "SELECT match, ruleset, dealing, seed, deals FROM events"
        " WHERE number IS NULL AND type = 'MatchStarted' ORDER BY hand_seq, match"
    )
    keys = {row["match"]: _cards(row) for row in rows}
    alike = Counter(keys.values())
    groups = {key: group for group, key in enumerate(alike)}
    deals = {row["match"]: row["deals"] for row in rows}
    return {
        match: Deck(groups[key], deals[match])
        for match, key in keys.items()
        if deals[match] > 1 or alike[key] > 1
    }


def document(told: Beside, about: About, view: str) -> Row:
    """As plain values: both sides, then each statistic by its name."""
    sides = [
        {"player": player, "match": match, "hands": hands}
        for player, match, hands in zip(
            (about.one, about.other), about.matches, told.hands, strict=True
        )
    ]
    made = {"vs": about.vs, "game": about.game, "seed": SEED, "draws": DRAWS, "methods": METHODS}
    tested = sum(one.p is not None for one in told.found)
    rows = {row.pop("statistic"): row for row in rows_told(told)}
    return {
        "as": view,
        "unit": told.unit,
        "sides": sides,
        **made,
        "compared": tested,
        "statistics": rows,
    }


def rows_told(told: Beside) -> list[Row]:
    """A row a statistic."""
    return [one._asdict() for one in told.found]


def _cards(row: Row) -> tuple[Any, ...]:
    """What decides the cards of a match, as far as it is known; else only itself."""
    if row["dealing"] != "seeded" or row["seed"] == "hidden":
        return (row["match"],)
    return row["seed"] or row["match"], row["ruleset"], row["deals"]


def _hands(viewed: Viewed, chosen: Chosen) -> int:
    """In how many hands the player was dealt in; none is no side."""
    dealt = sum(int(row["hands"]) for row in rows_of("dealt", viewed, chosen))
    if not dealt:
        where = f" in {chosen.match}" if chosen.match else ""
        raise Absent(f"{chosen.player} was dealt no such hand{where}: muckrake stats lists who was")
    return dealt
