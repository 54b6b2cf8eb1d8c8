"""The standing of a league: its players, the best first, and each beside each.

Five answers: players by points a match, then by chips, with their ratings; pairs, in chips a
hundred hands, of the hands that you may see; circles of three; every match; and how ratings grew.
docs/leagues.md says what a row means.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

from msgspec import Meta, Struct, field

from analytics.ratings import player_ratings
from api.playing.league import standings as ranked
from api.questions.declared.leagues import LeagueName, matches_of_league
from api.questions.declared.ratings import (
    CROSS_TABLE_MAX,
    NO_LIBRARY,
    PLAYERS_MAX,
    Circle,
    High,
    Low,
    Pair,
    Rating,
    RatingHigh,
    RatingLow,
    Ratings,
    RatingsParams,
    WonPerHundred,
    bounds_text,
    cross_table,
    number_text,
    rate_players,
)
from api.questions.player_measures import Unanswerable
from api.questions.question import Cell, Question, Sheet, Table, unit_head
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

RATING_FIELDS, CHIP_FIELDS = ("rating", "rating_low", "rating_high"), ("won_100", "low", "high")
PLACES_MAX = 40  # at which ratings are given over time
HISTORY_POINTS_MAX = 800  # of them, players times places: a second of work


class StandingParams(Struct, frozen=True):
    """Parameters of `standing`: the league."""

    league: LeagueName


class Placed(Struct, frozen=True):
    """A player's matches, his rating, and what he won in the hands that may be seen."""

    player: str
    points: Annotated[float, Meta(description="a match: one that is won is 1, a drawn one a half")]
    matches: int
    won: int
    drawn: int
    lost: int
    chips: Annotated[int, Meta(description="won in all of them")]
    rating: Rating
    rating_low: RatingLow
    rating_high: RatingHigh
    won_100: WonPerHundred
    low: Low
    high: High


class Fixture(Struct, frozen=True):
    """A match of the league, and what the first of the two won in it."""

    match: str
    round: int
    player: str
    other: str
    chips: int


class RatedThen(Struct, frozen=True):
    """A player's rating after so many matches had ended, by those and no later one."""

    matches: int
    match: Annotated[str, Meta(description="the last of them")]
    player: str
    rating: float
    rating_low: Annotated[float, Meta(title="from", description="its interval")]
    rating_high: Annotated[float, Meta(title="to", description="the other end")]


class Standing(Struct, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.standing/1"):
    """Players, the best first; pairs, each once; circles of three; matches, round by round;
    ratings over them."""

    viewpoint: str = field(name="as")
    league: str
    unit: str | None
    players: list[Placed]
    pairs: list[Pair]
    circles: list[Circle]
    matches: list[Fixture]
    history: list[RatedThen]


def standing(viewed: LedgerView, params: StandingParams, watch: ShowProgress) -> Standing:
    """The standing of a league: results are public; pairs are given as far as the viewpoint sees
    the hands."""
    matches = matches_of_league(viewed.snapshot, params.league)
    names = {player for match in matches for player in match.pairing.players}
    if len(names) > PLAYERS_MAX:
        sentence = (
            f"{params.league} has {len(names)} players, and {PLAYERS_MAX} are placed together"
        )
        raise Unanswerable(sentence)
    seen: Ratings | None = None
    with suppress(NotInLedger):
        seen = rate_players(viewed, RatingsParams(league=params.league), watch)
    of_hands = {player.player: player for player in seen.players} if seen else {}
    # Ratings over the matches in their order, at places that are evenly apart, the last of them
    # after all; none without the library.
    history = []
    places = min(len(matches), PLACES_MAX, HISTORY_POINTS_MAX // len(names))
    for many in (len(matches) * place // places for place in range(1, places + 1)):
        after = player_ratings((*match.pairing.players, *match.points) for match in matches[:many])
        for name, rating in after.items():
            ends = (round(it, 1) for it in rating)
            history.append(RatedThen(many, matches[many - 1].match, name, *ends))
    ratings = {it.player: it for it in history if it.matches == len(matches)}
    players = []
    for row in ranked(names, {match.pairing: match.nets for match in matches}):
        then, seen_of = ratings.get(row.bot), of_hands.get(row.bot)
        of_rating = {name: getattr(then, name, None) for name in RATING_FIELDS}
        won = {name: getattr(seen_of, name, None) for name in CHIP_FIELDS}
        players.append(
            Placed(
                player=row.bot,
                points=row.points,
                matches=row.matches,
                won=row.won,
                drawn=row.drawn,
                lost=row.lost,
                chips=row.chips,
                **of_rating,
                **won,
            )
        )
    return Standing(
        viewpoint=viewed.viewer.view,
        league=params.league,
        unit=seen.unit if seen else None,
        players=players,
        pairs=seen.pairs if seen else [],
        circles=seen.circles if seen else [],
        matches=[
            Fixture(
                *(match.match, match.pairing.round, *match.pairing.players),
                match.nets[match.pairing.players[0]],
            )
            for match in matches
        ],
        history=history,
    )


def sheets(answer: Standing, params: StandingParams) -> Iterator[Sheet | str]:
    """Players, each beside each if they are few, and a sentence on every circle."""
    columns = ("player", "points", "won", "drawn", "lost", "chips", "rating", "95 %", "a hundred")
    lines = [
        tuple(
            map(
                Cell,
                (
                    *(f"{at} {player.player}", f"{player.points:.3f}"),
                    *map(str, (player.won, player.drawn, player.lost)),
                    *(f"{player.chips:+,}", number_text(player.rating)),
                    *(
                        bounds_text(player.rating_low, player.rating_high),
                        number_text(player.won_100),
                    ),
                ),
            )
        )
        for at, player in enumerate(answer.players, 1)
    ]
    head = unit_head(f"{answer.league}   viewpoint: {answer.viewpoint}", answer.unit)
    foot = NO_LIBRARY if answer.players[0].rating is None else ""
    yield Sheet(columns, lines, range(1, len(columns)), head, foot)
    names = [player.player for player in answer.players]
    if answer.pairs and len(names) <= CROSS_TABLE_MAX:
        yield cross_table(names, answer.pairs)
    for circle in answer.circles:
        yield circle.sentence
    if not answer.pairs:
        yield f"{answer.viewpoint} sees no hand of this league: pairs are not told"


QUESTION = Question(
    name="standing",
    text=__doc__,
    path="/leagues/{league}",
    operation="standing",
    params=StandingParams,
    answer=Standing,
    ask=standing,
    tables=(
        Table("players", Placed),
        Table("pairs", Pair),
        Table("circles", Circle),
        Table("matches", Fixture),
        Table("history", RatedThen),
    ),
    sheets=sheets,
    page="/leagues/{league}",
)
