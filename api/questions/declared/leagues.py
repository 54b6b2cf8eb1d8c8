"""The leagues of a ledger, in the order of their names: how much was played of each, and when.

A match that ended is a league's if it is called LEAGUE.ROUND.A.B, and A and B played it.
"""

from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from api.playing.league import Pairing, pairing_of
from api.questions.question import Param, Question, Table
from api.viewpoints.hand_selection import NotInLedger, match_end, match_records, match_start
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import timestamps
from api.viewpoints.viewer import ShowProgress
from store.reader import Snapshot

LeagueName = Annotated[str, Param("A league's name.", argument=True)]


class LeaguesParams(Struct, frozen=True):
    """Parameters of `leagues`: none, all leagues are listed."""


class League(Struct, frozen=True):
    """A league, and how much of it has been played."""

    league: str
    players: int
    rounds: Annotated[int, Meta(description="the last one of which a match has ended")]
    matches: Annotated[int, Meta(description="those that have ended")]
    first: Annotated[str, Meta(description="when its first match was announced")]
    last: Annotated[str, Meta(description="when its last match ended")]


class Leagues(Struct, frozen=True, tag_field="schema", tag="muckrake.leagues/1"):
    """Every league of which a match has ended."""

    viewpoint: str = field(name="as")
    leagues: list[League]


class LeagueMatch(NamedTuple):
    """A match of a league: what each of the two won, from when to when, and where its end is."""

    pairing: Pairing
    match: str
    nets: dict[str, int]
    first: int
    last: int
    pos: int

    @property
    def points(self) -> tuple[float, float]:
        """The points of the first and of the other: a match that is won is 1, a drawn one a
        half."""
        one, other = (self.nets[player] for player in self.pairing.players)
        first = 0.5 if one == other else float(one > other)
        return first, 1 - first


def league_matches(snapshot: Snapshot) -> dict[str, list[LeagueMatch]]:
    """The matches of each league, round by round, in the order in which they ended.

    They are told by their own records, which everybody may see, also of hands that stay sealed.
    """
    leagues: dict[str, list[LeagueMatch]] = {}
    for match in snapshot.matches():
        if (named := pairing_of(match)) is None:
            continue
        (league, pairing), start, end = (
            named,
            match_start(snapshot, match),
            match_end(snapshot, match),
        )
        if start is None or end is None or {*start.players} != {*pairing.players}:
            continue
        own, nets = match_records(snapshot, match), dict(zip(start.players, end.nets, strict=True))
        league_match = LeagueMatch(pairing, match, nets, own[0].at, own[-1].at, own[-1].pos)
        leagues.setdefault(league, []).append(league_match)
    return {
        league: sorted(
            leagues[league], key=lambda league_match: (league_match.pairing.round, league_match.pos)
        )
        for league in sorted(leagues)
    }


def matches_of_league(snapshot: Snapshot, league: str) -> list[LeagueMatch]:
    """The matches of one league; `NotInLedger` if none of it has been played."""
    found = league_matches(snapshot).get(league)
    if found is None:
        raise NotInLedger(
            f"no match of a league {league} has ended: muckrake leagues lists those here"
        )
    return found


def leagues(viewed: LedgerView, params: LeaguesParams, watch: ShowProgress) -> Leagues:
    """Every league, without reading a hand."""
    rows = []
    for name, matches in league_matches(viewed.snapshot).items():
        first, last = timestamps(
            [min(match.first for match in matches), max(match.last for match in matches)]
        )
        players = {player for match in matches for player in match.pairing.players}
        row = League(name, len(players), matches[-1].pairing.round, len(matches), first, last)
        rows.append(row)
    return Leagues(viewed.viewer.view, rows)


QUESTION = Question(
    name="leagues",
    text=__doc__,
    path="/leagues",
    operation="leagues",
    params=LeaguesParams,
    answer=Leagues,
    ask=leagues,
    tables=(Table("leagues", League),),
    page="/leagues",
    facts=False,
)
