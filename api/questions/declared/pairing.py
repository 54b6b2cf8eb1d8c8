"""Two players of a league: by how much one came out ahead, and every match between them.

Chips a hundred hands are of the hands that you may see; results are public.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct, field

from analytics.sql import HandFilters, facts_sql
from api.questions.declared.leagues import LeagueName, of_league
from api.questions.declared.ratings import Pair, between, number, pairs_of, within
from api.questions.players import money_of
from api.questions.question import Name, Param, Question, Sheet, Table, headed, sheet
from api.viewpoints.redaction import moments
from api.viewpoints.selection import Absent
from api.viewpoints.viewer import ShowProgress
from api.viewpoints.views import Viewed


class PairingParams(Struct, frozen=True):
    """Of which league, and which two."""

    league: LeagueName
    player: Name
    other: Annotated[str, Param("Whom he met.", argument=True)]


class Met(Struct, frozen=True):
    """A match between the two."""

    match: str
    round: int
    chips: Annotated[int, Meta(description="what the first of them won in it")]
    hands: Annotated[int, Meta(description="those of it that may be seen")]
    last: Annotated[str, Meta(description="when it ended")]


class Pairing(Struct, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.pairing/1"):
    """One beside the other; `pair` is null if no hand of theirs may be seen."""

    viewpoint: str = field(name="as")
    league: str
    player: str
    other: str
    unit: str | None
    pair: Pair | None
    matches: list[Met]


def pairing(viewed: Viewed, params: PairingParams, watch: ShowProgress) -> Pairing:
    """Only the hands of their own matches are counted."""
    both = {params.player, params.other}
    league_matches = of_league(viewed.snapshot, params.league)
    matches = [one for one in league_matches if both == {*one.pairing.players}]
    if not matches:
        sentence = (
            f"{params.player} and {params.other} have ended no match of the league {params.league}"
        )
        raise Absent(f"{sentence}: muckrake standing {params.league} lists who has")
    rows = within(facts_sql(HandFilters(), "NULL"), [match.match for match in matches])
    unit = money_of(viewed, rows)
    pairs = [
        one.of(params.player) for one in pairs_of(viewed, rows) if both == {one.player, one.other}
    ]
    sql = f"SELECT match, count(DISTINCT hand_seq) AS hands FROM ({rows}) AS r GROUP BY match"
    hands = {row["match"]: row["hands"] for row in viewed.rows(sql)}
    return Pairing(
        viewpoint=viewed.viewer.view,
        league=params.league,
        player=params.player,
        other=params.other,
        unit=unit,
        pair=pairs[0] if pairs else None,
        matches=[
            Met(
                *(
                    match.match,
                    match.pairing.round,
                    match.nets[params.player],
                    hands.get(match.match, 0),
                ),
                *moments([match.last]),
            )
            for match in matches
        ],
    )


def sheets(answer: Pairing, params: PairingParams) -> Iterator[Sheet]:
    """How sure it is, and the matches."""
    head = f"{answer.player} beside {answer.other}, {answer.league}"
    if answer.pair is not None:
        pair = answer.pair
        won, sure = number(pair.won_100), between(pair.low, pair.high)
        head += f"   {won} a hundred ({sure})" if sure else f"   {won} a hundred"
    yield sheet(TABLE, answer, headed(f"{head}   viewpoint: {answer.viewpoint}", answer.unit))


TABLE = Table("matches", Met)
QUESTION = Question(
    name="pairing",
    text=__doc__,
    path="/leagues/{league}/{player}/{other}",
    operation="pairing",
    params=PairingParams,
    answer=Pairing,
    ask=pairing,
    tables=(TABLE,),
    sheets=sheets,
    page="/leagues/{league}/{player}/{other}",
)
