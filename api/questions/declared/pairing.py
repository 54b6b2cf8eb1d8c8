"""Two players of a league: by how much one came out ahead, and every match between them.

Chips a hundred hands are of the hands that you may see; results are public.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct, field

from analytics.sql import HandFilters, facts_sql
from api.questions.declared.leagues import LeagueName, matches_of_league
from api.questions.declared.ratings import (
    Pair,
    bounds_text,
    number_text,
    pair_results,
    rows_of_matches_sql,
)
from api.questions.player_measures import money_of
from api.questions.question import Name, Param, Question, Sheet, Table, table_sheet, unit_head
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import timestamps
from api.viewpoints.viewer import ShowProgress


class PairingParams(Struct, frozen=True):
    """Parameters of `pairing`: a league and two of its players."""

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


def pairing(viewed: LedgerView, params: PairingParams, watch: ShowProgress) -> Pairing:
    """The pair's result and its matches; only the hands of their own matches are counted."""
    both = {params.player, params.other}
    league_matches = matches_of_league(viewed.snapshot, params.league)
    matches = [one for one in league_matches if both == {*one.pairing.players}]
    if not matches:
        sentence = (
            f"{params.player} and {params.other} have ended no match of the league {params.league}"
        )
        raise NotInLedger(f"{sentence}: muckrake standing {params.league} lists who has")
    rows = rows_of_matches_sql(facts_sql(HandFilters(), "NULL"), [match.match for match in matches])
    unit = money_of(viewed, rows)
    pairs = [
        one.of(params.player)
        for one in pair_results(viewed, rows)
        if both == {one.player, one.other}
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
                *timestamps([match.last]),
            )
            for match in matches
        ],
    )


def sheets(answer: Pairing, params: PairingParams) -> Iterator[Sheet]:
    """The pair's numbers, and its matches."""
    head = f"{answer.player} beside {answer.other}, {answer.league}"
    if answer.pair is not None:
        pair = answer.pair
        won, sure = number_text(pair.won_100), bounds_text(pair.low, pair.high)
        head += f"   {won} a hundred ({sure})" if sure else f"   {won} a hundred"
    yield table_sheet(
        TABLE, answer, unit_head(f"{head}   viewpoint: {answer.viewpoint}", answer.unit)
    )


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
