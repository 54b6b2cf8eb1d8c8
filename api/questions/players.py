"""Which hands of which players a question counts, what has no sum, and their statistics; the filter
that finds a player's hands, and what tells his matches from others where one is chosen.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from msgspec.structs import replace

from analytics.replay.rules import POSITIONS
from analytics.sql.chosen import Chosen, hands_of, moneys_of, players_of, quoted, where
from analytics.statistics.answers import Answer, answers, in_units, rows_of
from analytics.statistics.catalogue import STATISTICS, Statistic
from api.problem import Problem
from api.questions.filters_tree import LENGTH_MAX, word
from api.questions.question import Param
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed


class Nonsense(ValueError):
    """A question that cannot have an answer; the sentence says why, and `choices` by parameter what
    could be asked instead."""

    def __init__(self, sentence: str, **choices: Sequence[str]) -> None:
        super().__init__(sentence)
        self.choices = choices


class NoSum(Nonsense):
    """Amounts of several moneys were to be added up."""


def nobody(name: str) -> Absent:
    """Why there is no answer about a player who was dealt nothing."""
    return Absent(f"nobody called {name} was dealt a hand: muckrake stats lists who was")


def money_of(viewed: Viewed, rows: str) -> str | None:
    """What these rows with a `unit` were played for; sums are asked for one money at a time."""
    moneys = moneys_of(viewed, rows)
    if len(moneys) > 1:
        several = " and ".join(f"{one}s" for one in moneys)
        raise NoSum(
            f"these hands are played for {several}, which have no sum: ask for one unit, "
            f"{' or '.join(moneys)}",
            unit=moneys,
        )
    return moneys[0] if moneys else None


def check(
    viewed: Viewed,
    *names: str | None,
    match: str | None = None,
    game: str | None = None,
) -> None:
    """Players, a match and a game that are not there are said before anything is counted."""
    for name in names:
        if name is not None and not is_there(viewed, "player", name):
            raise nobody(name)
    for what, value in (("match", match), ("game", game)):
        if value is not None and not is_there(viewed, what, value):
            raise Absent(f"there is no hand of {what} {value}")


def count_hands(viewed: Viewed, params: Any) -> int:
    """How many hands a question is about, by its own filters."""
    chosen = chosen_by(viewed, params)
    where_clause = where([*players_of(chosen), *hands_of(chosen)])
    (counted,) = viewed.rows(f"SELECT count(DISTINCT hand_seq) AS n FROM facts{where_clause}")
    return int(counted["n"])


def at_most(viewed: Viewed, params: Any, hands_max: int, otherwise: str) -> None:
    """Of more hands nobody waits for an answer; the sentence says how to ask otherwise."""
    hands = count_hands(viewed, params)
    if hands > hands_max:
        sentence = f"these are {hands} hands, and {otherwise}"
        raise Problem("too-large", sentence, hands=hands, hands_max=hands_max)


def is_there(viewed: Viewed, column: str, value: str, table: str = "facts") -> bool:
    """Whether a row says so."""
    if (column, table) == ("player", "facts") and viewed.query.reads:
        return bool(viewed.query.about("facts", value, ["hand_seq"]).num_rows)
    sql = f"SELECT 1 AS there FROM {table} WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(viewed.rows(sql))


Row = dict[str, Any]
Position = Literal[POSITIONS]  # type: ignore[valid-type]
Positions = Annotated[
    tuple[Position, ...], Param("Only there.", option="position", query="position")
]


class PlayerStatistics(NamedTuple):
    """Statistics of players and parts, and how many hands each had; of all others as one, too."""

    found: list[Answer]
    dealt: dict[tuple[str, str], Row]
    field: dict[str, Answer]


def chosen_of(
    viewed: Viewed,
    player: str | None,
    *,
    hands: str | None = None,
    before: str | None = None,
    **others: Any,
) -> Chosen:
    """The filters; what is not there is said before anything is counted."""
    first_last = None
    if hands:  # `1-100`, or one number
        first, _, last = hands.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 2**63):
            raise Nonsense(f"{hands} is no range of hands: 101-200 is one")
        first_last = int(first), int(last)
    place = None
    if before is not None:
        place = viewed.snapshot.hand_seq(before)
        if place is None:
            raise Absent(f"there is no hand {before}: muckrake hands lists those there are")
    vs = others.get("vs")
    check(viewed, player, vs, match=others.get("match"), game=others.get("game"))
    if player is not None and player == vs:
        raise Nonsense(f"{player} has no hands against himself")
    return Chosen(player=player, hands=first_last, before=place, **others)


def chosen_by(viewed: Viewed, params: Any, **others: Any) -> Chosen:
    """The filters among a question's parameters."""
    names = ("vs", "positions", "game", "match", "hands", "before")
    values = {name: getattr(params, name) for name in names if hasattr(params, name)}
    return chosen_of(viewed, params.player, **values, **others)


def of_street(street: str | None) -> list[Statistic]:
    """Those that look at one street only, or all there are."""
    return [one for one in STATISTICS.values() if street in (None, one.street)]


def statistics(
    viewed: Viewed, chosen: Chosen, wanted: Sequence[Statistic], *, field: bool = False
) -> PlayerStatistics:
    """Every statistic asked for. `field`: of one player, beside everybody else under the same
    filters, counted as one."""
    found = list(in_units(viewed, chosen, answers(viewed.facts, chosen, wanted)))
    rows = rows_of("dealt", viewed.facts, chosen)
    dealt = {(row["player"], row["part"]): row for row in rows}
    field_answers: dict[str, Answer] = {}
    if field and chosen.player is not None:
        rest = replace(chosen, others=True, by=None)
        others = in_units(viewed, rest, answers(viewed.query, rest, wanted))
        field_answers = {one.statistic: one for one in others}
    return PlayerStatistics(found, dealt, field_answers)


class Finder(NamedTuple):
    """Filters of hands about one player. `seats`: by which name (empty: anybody), and by which
    terms about the player who sits there; `also`: terms about hands, each after its ` & `."""

    seats: tuple[tuple[str, str], ...]
    also: str = ""

    def __call__(self, *his: str, also: str = "") -> str:
        """The hands in which all these terms are so of him."""
        return self.so(*his) + self.also + also

    def so(self, *his: str) -> str:
        """The hands in which they are so of him, without `also`."""
        filters = []
        for name, which in self.seats:
            terms = [f"({term})" if " | " in term else term for term in (which, *his) if term]
            joined = " & ".join(terms)
            if not name:
                filters.append(f"player({joined})")
            elif not terms:
                filters.append(f"player={word(name)}")
            elif len(terms) == 1 and " & " not in joined:
                filters.append(f"{word(name)}:{joined}")
            else:
                filters.append(f"{word(name)}:({joined})")
        return filters[0] if len(filters) == 1 else f"({' | '.join(filters)})"

    def at(self, hands: Sequence[int]) -> str:
        """These hands of his, by `hand_seq`, each as often as it is counted; nothing, where a
        filter would be too long for them."""
        return _fitting(f'{self.so()} & hand_seq="{",".join(map(str, hands))}"')

    def among(self, ranges: str) -> str:
        """His hands of these ranges; nothing without one, or where a filter would be too long."""
        return _fitting(f"{self.so()} & hands={word(ranges)}") if ranges else ""

    def of(self, anybody: str) -> str:
        """A filter `player(TERMS) & ...`, which says it of anybody, of him."""
        his, _, rest = anybody.removeprefix("player(").partition(")")
        return self(his, also=rest)


def _fitting(text: str) -> str:
    return text if len(text) <= LENGTH_MAX else ""


def finder(
    viewed: Viewed,
    player: str,
    *,
    vs: str | None = None,
    match: str | None = None,
    game: str | None = None,
    hands: str | None = None,
    before: str | None = None,
    unit: str | None = None,
) -> Finder:
    """What finds his hands under the filters of a question about him."""
    terms = [] if vs is None else [Finder(_seats(viewed, vs)).so()]
    named = (("match=", match), ("game=", game), ("hand<", before), ("unit=", unit))
    terms += [f"{prefix}{word(value)}" for prefix, value in named if value]
    if hands:
        first, _, last = hands.partition("-")
        terms += [f"number>={int(first)}", f"number<={int(last or first)}"]
    return Finder(_seats(viewed, player), "".join(f" & {term}" for term in terms))


def _seats(viewed: Viewed, player: str) -> tuple[tuple[str, str], ...]:
    """Whom the viewer's tags call so: the words of each, and who has none of them and that name."""
    names = viewed.by_tag
    every = {tuple(it.items()) for it in viewed.tagged.values() if " ".join(it.values()) == player}
    seats = [
        (
            "",
            " & ".join(
                f"tag={word(f'{tag}:{tags[tag]}')}" if tag in tags else f"!tag={word(tag)}"
                for tag in names
            ),
        )
        for tags in map(dict, sorted(every))
    ]
    if not seats or player in viewed.untagged:
        seats.append((player, " & ".join(f"!tag={word(tag)}" for tag in names)))
    return tuple(seats)


TITLES = """
SELECT match, string_agg(DISTINCT player, ', ' ORDER BY player) AS players, min(game) AS game,
       substr(CAST(min(day) AS VARCHAR), 1, 10) AS day
FROM (
    SELECT match, game, day, last, unnest(from_json(players, '["VARCHAR"]')) AS player
    FROM (
        SELECT match, players, min(game) AS game, max(hand_seq) AS last,
               least(min(played), CAST(min(first_at) FILTER (played IS NULL) AS VARCHAR)) AS day
        FROM hands WHERE match IN (
            SELECT match FROM {whose} GROUP BY match ORDER BY max(hand_seq) DESC LIMIT 50
        )
        GROUP BY match, players
    )
)
GROUP BY match ORDER BY max(last) DESC
"""


def titles(viewed: Viewed, player: str | None = None) -> dict[str, str]:
    """The newest matches, or a player's, each with what tells it from others: who played, by which
    rules, when."""
    whose = "hands" if player is None else f"players WHERE player = {quoted(player)}"
    found = viewed.rows(TITLES.format(whose=whose))
    return {
        row["match"]: " · ".join(filter(None, (row["players"], row["game"], row["day"])))
        for row in found
    }
