"""`/leagues`, `/leagues/L` and `/leagues/L/A/B`: who stands where, and the matches of two."""

from collections import Counter
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from analytics.comparing.players import MEAN
from analytics.sql.chosen import moneys
from api.http.ask import Ask
from api.http.routes.questions import Named
from api.pages.addresses import Addresses, Sort
from api.pages.live import HIGH, WIDE
from api.pages.site import SIZE, page, scale
from api.questions.declared.leagues import LeaguesParams, leagues
from api.questions.declared.pairing import PairingParams, pairing
from api.questions.declared.ratings import WITHOUT, Pair, crossed
from api.questions.declared.standing import Standing, StandingParams, standing
from api.viewpoints.viewer import without_progress

router = APIRouter(include_in_schema=False, route_class=Named)


class PairCell(NamedTuple):
    """A cell of the cross table: how often two met, what the one in the row won of the other, and
    how sure that is, if the viewpoint sees the hands."""

    other: str
    matches: int
    chips: int
    pair: Pair | None


LINES = 6  # players whose ratings are drawn: each line can be told from the others


class RatingLines(NamedTuple):
    """Ratings over the matches of a league, as lines of a picture."""

    first: int  # after so many matches
    last: int
    ticks: tuple[tuple[int, float], ...]  # a rating, and how far below the top it stands
    lines: tuple[tuple[str, str], ...]  # a player, the points of his line


@router.get("/leagues")
def listed(request: Request, ask: Ask, sort: Sort = None) -> Response:
    """The leagues of the ledger."""
    with ask.viewed() as viewed:
        answer = leagues(viewed, LeaguesParams(), without_progress)
        units = moneys(viewed.units)
    return page(request, ask, "leagues.html", rows=answer.leagues, units=units)


@router.get("/leagues/{league}")
def one(request: Request, ask: Ask, league: str, sort: Sort = None) -> Response:
    """A league: who stands where, and each beside each."""
    with ask.viewed() as viewed:
        answer = standing(viewed, StandingParams(league), without_progress)
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "league.html",
        trail=(("Leagues", to.page("leagues")),),
        answer=answer,
        rounds=max(match.round for match in answer.matches),
        cross=cross_of(answer),
        grown=grown_of(answer),
        without=WITHOUT if answer.players[0].rating is None else None,
    )


def grown_of(answer: Standing) -> RatingLines | None:
    """The lines of the best, as they stand now; None where one place is no line."""
    lasts = sorted({it.matches for it in answer.history})
    if len(lasts) < 2:
        return None
    best = [player.player for player in answer.players[:LINES]]
    every = [it for it in answer.history if it.player in best]
    up = scale(it.rating - MEAN for it in every)
    along = WIDE / (lasts[-1] - lasts[0])

    def below(rating: float) -> float:
        return round(HIGH * (1 - up.at(rating - MEAN) / SIZE), 1)

    lines = {
        player: " ".join(
            f"{(it.matches - lasts[0]) * along:.1f},{below(it.rating)}"
            for it in every
            if it.player == player
        )
        for player in best
    }
    ticks = tuple((MEAN + round(one), below(MEAN + one)) for one in up.ticks)
    return RatingLines(lasts[0], lasts[-1], ticks, tuple(lines.items()))


def cross_of(answer: Standing) -> list[tuple[str, list[PairCell | None]]]:
    """Each player, and every other beside him; None where two have not met."""
    met, chips = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for match in answer.matches:
        for one, other, won in (
            (match.player, match.other, match.chips),
            (match.other, match.player, -match.chips),
        ):
            met[one, other] += 1
            chips[one, other] += won
    names = [player.player for player in answer.players]
    return [
        (
            one,
            [
                PairCell(other, met[one, other], chips[one, other], pair)
                if met[one, other]
                else None
                for other, pair in zip(names, pairs, strict=True)
            ],
        )
        for one, pairs in crossed(names, answer.pairs)
    ]


@router.get("/leagues/{league}/{player}/{other}")
def two(
    request: Request, ask: Ask, league: str, player: str, other: str, sort: Sort = None
) -> Response:
    """Two of its players: every match between them, and where its hands are."""
    with ask.viewed() as viewed:
        answer = pairing(viewed, PairingParams(league, player, other), without_progress)
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "pairing.html",
        players=(player, other),
        trail=(("Leagues", to.page("leagues")), (league, to.page("leagues", league))),
        answer=answer,
        won=sum(match.chips for match in answer.matches),
    )
