"""`/matches` and `/matches/M`: the matches, their results, and the proof of each.

`/leagues`, `/leagues/L` and `/leagues/L/A/B`: who stands where, and the matches of two.

`/fairness` shows an auditor what was dealt, beside what chance alone would have dealt.
"""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from msgspec.structs import asdict

from analytics.fairness import SIGNIFICANCE
from analytics.ratings import MEAN
from analytics.sql import currencies, quoted
from api.auditing.record import RulesetLookup
from api.http.access import AUDIT, Access, Auth
from api.http.routes.questions import EncodedPathRoute
from api.http.uploads import admit_upload
from api.jobs.jobs import END_STATES, Job, Jobs, server_pid
from api.pages.addresses import Addresses, Sort, sorted_list, table_order
from api.pages.players import FilterText, form_value
from api.pages.site import HIGH, PICTURE_SIZE, WIDE, linear_scale, page
from api.questions.declared.fairness import Fairness, FairnessParams, Tested, count_hands_of
from api.questions.declared.fairness import fairness as tested_by
from api.questions.declared.leagues import LeaguesParams
from api.questions.declared.leagues import leagues as every_league
from api.questions.declared.matches import QUESTION, MatchRow, match_of
from api.questions.declared.pairing import PairingParams, pairing
from api.questions.declared.ratings import NO_LIBRARY, Pair, cross_rows
from api.questions.declared.standing import Standing, StandingParams, standing
from api.questions.games import game_address
from api.questions.json_types import MatchVerified, Root
from api.questions.judging import hands_to_judge, judge_hands, unjudged_hands, verdict_table
from api.questions.player_measures import match_titles
from api.questions.proof import LEAVES_MAX, NoSecrets, NotSigned, root_of_match, verify_leaves
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import without_progress
from engine.changes import partner_of
from engine.policies import per_chip
from engine.verdict import VERDICTS
from store.folder.disk import now_ms

HANDS_NAMED = 8  # hands that a page names


class DisputedHands(NamedTuple):
    """Hands by verdict, as far as the viewer may know one, and some that are not agreed on.

    `moveless` are those that differ without a chip going elsewhere. `left` are hands that nobody
    has judged yet; the verdicts of `withheld` hands would tell the viewer what he may not see.
    """

    counts: dict[str, int]
    unsettled: tuple[dict[str, Any], ...]
    moveless: int
    left: int
    withheld: int

    @property
    def judged(self) -> int:
        """The number of hands with a verdict."""
        return sum(self.counts.values())


def disputed_hands(
    ask: Access, viewed: LedgerView, hands: int, match: str | None = None, judge: bool = False
) -> DisputedHands | None:
    """The verdicts of so many hands, all or a match's; None for a viewer who may know none.

    What is due is judged first. To have many of them judged (`judge`) is an auditor's to ask.
    """
    if judge:
        ask.require_scope(AUDIT)
    known = judge_hands(viewed, hands_to_judge(viewed, on_demand=judge, match=match), ask.watch)
    verdicts = verdict_table(viewed, known)
    of = "" if match is None else f"WHERE match = {quoted(match)}"
    of_verdicts = f"FROM hands JOIN {verdicts} USING (hand_seq) {of}"
    still = "count(*) FILTER (WHERE moves = 0) AS moveless"
    counted = viewed.rows(
        f"SELECT verdict, count(*) AS hands, {still} {of_verdicts} GROUP BY verdict"
    )
    if not counted and not (viewed.viewer.auditor and known.left):
        return None
    found = {row["verdict"]: row["hands"] for row in counted}
    grave = f"{'AND' if of else 'WHERE'} verdict IN ('differ', 'contested')"
    order = f"ORDER BY verdict DESC, hand_seq DESC LIMIT {HANDS_NAMED}"
    columns = (
        "hand, CAST(verdict AS VARCHAR) AS verdict, players, game, pot, unit, played, last_at AS at"
    )
    rows = viewed.rows(f"SELECT {columns} {of_verdicts} {grave} {order}")
    unsettled = tuple({**row, "players": json.loads(row["players"] or "[]")} for row in rows)
    others = max(0, hands - sum(found.values()))
    if viewed.viewer.auditor:
        left, withheld = others if known.left else 0, 0
    else:  # whether hands are judged that he may know nothing of is not his to know
        left = len(unjudged_hands(viewed, match))
        withheld = max(0, others - left)
    counts: dict[str, int] = {name: found.get(name, 0) for name in VERDICTS}
    moveless = sum(row["moveless"] for row in counted)
    return DisputedHands(counts, unsettled, moveless, left, withheld)


router = APIRouter(include_in_schema=False)
league_router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
MATCHES_LISTED = 50  # matches of a page
DISCLOSURES = {
    "sealed": "What was hidden stays hidden: only its holder sees a card, unless he shows it.",
    "open-after-match": "When the match has ended, everybody may see every card and bid of it.",
    "open": "Everybody may see every card and bid.",
}
DEALINGS = {
    "committed": "The dealer committed to every deck before the players added nonces of their own.",
    "seeded": "Decks are shuffled from a seed, for simulations: nobody was bound by it, and hidden"
    " cards are only as hidden as the seed.",
    "recorded": "Somebody else dealt, and these are the cards he wrote down.",
}


@router.get("/matches")
def matches(
    request: Request,
    ask: Auth,
    after: Annotated[str | None, Query(max_length=500)] = None,
    sort: Sort = None,
) -> Response:
    """The matches and their results, newest first unless another order is asked for."""
    by = table_order(request, ("match", "players", "game", "hands", "last", "disclosure", "result"))
    with ask.viewed() as viewed:
        found, following = sorted_list(
            QUESTION, ask, viewed, MATCHES_LISTED, after, {"newest": True}, by
        )
        rows = match_cards(ask, viewed, found)
    return page(request, ask, "matches.html", rows=rows, following=following, order=by)


def match_cards(ask: Access, viewed: LedgerView, rows: Sequence[MatchRow]) -> list[dict[str, Any]]:
    """Each match with the address of its ruleset, as two may have one name; and if it goes on."""
    rules = RulesetLookup(viewed.snapshot, None)
    games = [rules.by_fingerprint(row.ruleset or "") for row in rows]
    return [
        asdict(row)
        | {
            "rules": row.game if game is None else game_address(game),
            "goes_on": ask.service.is_played(ask.viewer, viewed.snapshot, row.match),
        }
        for row, game in zip(rows, games, strict=True)
    ]


@router.get("/matches/{match}")
def match(
    request: Request, ask: Auth, match: str, verify: bool = False, judge: bool = False
) -> Response:
    """A match: its result, its disputed hands and verdicts, its rules and its proof."""
    if verify:
        ask.require_scope(AUDIT)
    checked: MatchVerified | str | None = (
        None  # why there was none; None if it is too long for a page
    )
    head: Root | None = None  # the checkpoint that covers the last hand, if anything was signed for
    with ask.viewed() as viewed:
        row = match_of(viewed, match)
        if row.last_seq is not None:
            with suppress(NotSigned):
                head = root_of_match(viewed, match, row.last_seq)
        if verify:
            try:
                checked = verify_leaves(viewed, match, LEAVES_MAX)
            except (NoSecrets, NotSigned) as reason:
                checked = str(reason)
        disputed = disputed_hands(ask, viewed, row.hands, match, judge)
        goes_on = ask.service.is_played(ask.viewer, viewed.snapshot, match)
        game = RulesetLookup(viewed.snapshot, None).by_fingerprint(row.ruleset or "")
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "match.html",
        players=tuple(row.players or ()),
        trail=(("Matches", to.matches()),),
        row=row,
        parts=per_chip(row.unit or "chip"),
        goes_on=goes_on,
        game=game,
        partner=None if game is None else partner_of(game),
        rules=None if game is None else game_address(game),
        disclosure=DISCLOSURES.get(row.disclosure or ""),
        dealing=DEALINGS.get(row.dealing or ""),
        may_verify=ask.caller.has_scope(AUDIT),
        verifying=verify,
        leaves_max=LEAVES_MAX,
        head=head,
        checked=checked,
        disputed=disputed,
    )


TESTED_MAX = 3_000  # hands that are tested while somebody waits for a page


@router.get("/fairness")
def fairness(
    request: Request, ask: Auth, match: FilterText = None, run: bool = False, sort: Sort = None
) -> Response:
    """The cards dealt, compared with what chance alone would have dealt; for auditors.

    Many hands are tested by a job, which an auditor begins with `run`; what it finds is kept.
    """
    name = form_value(match)
    context: dict[str, Any] = {"match": name, "level": SIGNIFICANCE, "why": None, "found": None}
    context |= {"tested": (), "hands": 0, "progress": None}
    if not ask.viewer.auditor:
        return page(request, ask, "fairness.html", **context)
    with ask.viewed() as viewed:
        context["titles"] = match_titles(viewed)
        context["hands"] = count_hands_of(viewed, name)
    found: Fairness | None = None
    if context["hands"] <= TESTED_MAX:
        try:
            with ask.viewed() as viewed:
                found = tested_by(viewed, FairnessParams(name))
        except NotInLedger as reason:
            context["why"] = str(reason)
    else:
        jobs = Jobs(ask.service.settings.folder)
        job = jobs.last("fairness", name)
        progress = None if job is None else jobs.progress(job)
        if run and (progress is None or progress.state in END_STATES):
            room, _ = admit_upload(jobs, ask.owner, ask.service.settings.limits)
            begun = Job(room.name, "fairness", ask.owner, server_pid(), now_ms(), name, {})
            jobs.begin(room, begun, None, "")
            to = Addresses(request.query_params.get("as"))
            return RedirectResponse(to.fairness(match=name), 303)
        if progress is not None and progress.state == "done":
            with suppress(msgspec.ValidationError):  # another version found it
                found = msgspec.convert(progress.result, Fairness)
        context["progress"] = progress
    tested = [] if found is None else [(test, verdict_shape(test)) for test in found.tests]
    return page(request, ask, "fairness.html", **context | {"found": found, "tested": tested})


def verdict_shape(test: Tested) -> str:
    """A test's verdict as one of the shapes that pages draw."""
    if test.p_adjusted is None:
        return "unknown"
    return "agree" if test.p_adjusted >= SIGNIFICANCE else "differ"


class PairCell(NamedTuple):
    """A cell of the cross table: how often two met, what the one in the row won of the other,
    and how sure that is, if the viewpoint sees the hands."""

    other: str
    matches: int
    chips: int
    pair: Pair | None


LINES_MAX = 6  # players whose ratings are drawn: each line can be told from the others


class RatingLines(NamedTuple):
    """Ratings over the matches of a league, as lines of a picture."""

    first: int  # after so many matches
    last: int
    ticks: tuple[tuple[int, float], ...]  # a rating, and how far below the top it stands
    lines: tuple[tuple[str, str], ...]  # a player, the points of his line


@league_router.get("/leagues")
def league_list(request: Request, ask: Auth, sort: Sort = None) -> Response:
    """The leagues of the ledger."""
    with ask.viewed() as viewed:
        answer = every_league(viewed, LeaguesParams(), without_progress)
        units = currencies(viewed.units)
    return page(request, ask, "leagues.html", rows=answer.leagues, units=units)


@league_router.get("/leagues/{league}")
def league(request: Request, ask: Auth, league: str, sort: Sort = None) -> Response:
    """A league: its standing, and its cross table."""
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
        cross=league_cross_table(answer),
        grown=rating_lines(answer),
        without=NO_LIBRARY if answer.players[0].rating is None else None,
    )


def rating_lines(answer: Standing) -> RatingLines | None:
    """The rating lines of the best players; None where one point is no line."""
    lasts = sorted({it.matches for it in answer.history})
    if len(lasts) < 2:
        return None
    best = [player.player for player in answer.players[:LINES_MAX]]
    every = [it for it in answer.history if it.player in best]
    up = linear_scale(it.rating - MEAN for it in every)
    along = WIDE / (lasts[-1] - lasts[0])

    def below(rating: float) -> float:
        return round(HIGH * (1 - up.at(rating - MEAN) / PICTURE_SIZE), 1)

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


def league_cross_table(answer: Standing) -> list[tuple[str, list[PairCell | None]]]:
    """Each player, and every other as a cell; None where two have not met."""
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
        for one, pairs in cross_rows(names, answer.pairs)
    ]


@league_router.get("/leagues/{league}/{player}/{other}")
def league_pair(
    request: Request, ask: Auth, league: str, player: str, other: str, sort: Sort = None
) -> Response:
    """Two players of a league: every match between them, and where its hands are."""
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
