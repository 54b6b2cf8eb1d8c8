"""`/live`: the last hands that ended, a line each; of one match, its table and bankrolls, too.

A script follows the stream. For each event it asks this page for rows and for a table, which
are drawn on the server, and puts them into its own. Without a script the page is that of its
moment, and a link asks for a newer one. Of each event it shows what `Redactor` leaves to its
viewer, and when: the delay holds back what this page has as it does every other.
"""

from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from analytics.sql import quoted
from api.auditing.record import RulesetLookup
from api.http.access import Access, Auth
from api.pages.addresses import Addresses
from api.pages.hand_line import parse_line
from api.pages.hands import drawn_frames
from api.pages.players import FilterText, form_value
from api.pages.site import HIGH, PICTURE_SIZE, WIDE, frame_markup, linear_scale, page
from api.problem import Problem
from api.questions.declared.hands import read_hands
from api.questions.filters_parser import parse_filter
from api.questions.filters_tree import EMPTY_FILTER
from api.questions.filters_values import quoted_name
from api.questions.frames import event_sentences, frames, hand_start, masked_events
from api.questions.one_line import hand_lines, one_line
from api.viewpoints.feed_events import FeedEncoder
from api.viewpoints.hand_selection import NotInLedger, deck_commitments, match_end, match_start
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import RedactedEvents
from dealer.deck import CHAIN_HANDS
from engine.game import Game
from engine.hand import turn
from engine.seats import contenders
from engine.turn import Over, ToAct, ToBid, ToDeal, ToDraw, ToShow, ToStraddle, ToSwap, ToToss
from events import types as t
from events.evolve import replay
from events.match import MatchEnded
from store.log.streams import split_stream

router = APIRouter(include_in_schema=False)
ROWS_LISTED = 40  # hands of the page before anything happens
ROWS_KEPT = 200  # rows that the script keeps
ROWS_AT_ONCE = 40  # rows that are asked for at once
TYPES = ("HandEnded", "HandVoided", "MatchStarted", "MatchEnded")
_STREAM_START = "start"  # where a stream begins that has sent nothing yet


@router.get("/live")
def live(
    request: Request,
    ask: Auth,
    match: FilterText = None,
    of: Annotated[tuple[str, ...], Query(max_length=ROWS_AT_ONCE)] = (),
) -> Response:
    """A match as it is played, or all of them; a script goes on with what the stream sends."""
    name = form_value(match)
    at = Addresses().embedded("live", match=name)
    snippet = frame_markup(request, ask, at, f"Hands of {name or 'all matches'}")
    return live_update(request, ask, name, of, frame=snippet)


def live_update(
    request: Request, ask: Access, name: str | None, of: Sequence[str] = (), **more: Any
) -> Response:
    """The part of the page that a stream changes: of one match, of all, or only what is asked
    with `of`. `of`: the rows of these, each `TYPE STREAM`, and the table; bankrolls, where a row
    changes them."""
    context: dict[str, Any] = {
        "match": name,
        "kept": ROWS_KEPT,
        "at_once": ROWS_AT_ONCE,
        "rows": [],
    }
    context |= {"delay_s": ask.service.settings.delay_s, "types": ",".join(TYPES), "players": ()}
    context |= {"after": _STREAM_START, "table": None, "money": None}
    try:
        if of:  # as of this very moment
            with closing(LedgerView(ask.snapshot(), ask.viewer)) as viewed:
                context["rows"] = [row for row in (_row_of_event(viewed, one) for one in of) if row]
                context |= _match_context(ask, viewed, name, bool(context["rows"]))
        else:
            with ask.viewed() as viewed:
                context |= _last_rows(viewed, name) | _match_context(ask, viewed, name, True)
    except Problem as reason:
        if reason.kind != "unavailable":
            raise
    return page(request, ask, "live.html", **context, **more)


def _match_context(
    ask: Access, viewed: LedgerView, match: str | None, grown: bool
) -> dict[str, Any]:
    """The table of a match, and its bankrolls if they have grown."""
    start = None if match is None else match_start(viewed.snapshot, match)
    if match is None or start is None:
        return {}
    goes_on = ask.service.is_played(ask.viewer, viewed.snapshot, match)
    return {
        "players": start.players,
        "unit": viewed.redactor.units.get(start.ruleset),
        "table": live_table(viewed, match, goes_on),
        "money": bankrolls(viewed, match, start.players) if grown else None,
    }


_STEP_EVENTS = ("StepEntered", "BettingOpened", "HandEnded")  # what nobody does


class LiveTable(NamedTuple):
    """A match at its newest moment: whether it `goes_on`, how it ended, and the last hand begun.

    `why` no hand is shown; `to_act` are the seats that the hand waits for, `todo` for what.
    """

    goes_on: bool
    end: MatchEnded | None
    hands: int | None  # that were dealt in all, or for which decks are committed to
    why: str = ""
    hand: str = ""
    start: t.HandStarted | None = None
    frame: dict[str, Any] | None = None
    broken: str | None = None
    to_act: tuple[int, ...] = ()
    todo: str = ""

    @property
    def number(self) -> int | None:
        """The number of the hand in its match."""
        return split_stream(self.hand)[1]


def live_table(viewed: LedgerView, match: str, goes_on: bool) -> LiveTable:
    """The table of a match as its viewer may see it now."""
    snapshot, end = viewed.snapshot, match_end(viewed.snapshot, match)
    decks = sum(one.hands for one in deck_commitments(snapshot, match))
    start = match_start(snapshot, match)
    many = decks * (start.deals if start else 1) if 0 < decks < CHAIN_HANDS else None
    shown = LiveTable(goes_on, end, many)
    hand = snapshot.begun_last(match) or next(
        (
            row.hand
            for row in read_hands(
                viewed, parse_filter(f"match={quoted_name(match)}"), None, 1, True
            ).rows
        ),
        None,
    )
    if hand is None:
        return shown._replace(why="no hand has begun yet" if goes_on else "no hand was dealt")
    try:
        redacted_hand = viewed.redacted_hand(hand)
    except NotInLedger as reason:
        return shown._replace(why=str(reason))
    first = redacted_hand.events[0].seen
    if not isinstance(first, t.HandStarted):
        return shown._replace(why=f"{hand} does not begin as a hand does")
    game = RulesetLookup(snapshot, None).by_fingerprint(first.ruleset)
    document = frames(redacted_hand, viewed.viewer.view, game)
    if not document["frames"]:
        return shown._replace(why=f"{hand} does not add up to a hand")
    words = event_sentences(redacted_hand)
    done = max(one["idx"] for one in document["frames"] if one["type"] not in _STEP_EVENTS)
    last = drawn_frames(document, words)[-1] | {"words": words[done]}
    to_act, todo = seats_to_act(redacted_hand, game)
    return shown._replace(
        hand=hand, start=first, frame=last, broken=document["broken"], to_act=to_act, todo=todo
    )


def seats_to_act(redacted_hand: RedactedEvents, game: Game | None) -> tuple[tuple[int, ...], str]:
    """The seats that a hand waits for and what they are to do, by its visible events.

    No seat where the dealer is next, nothing where the hand is over or its rules are not known.

    All who may bid are asked at once, and their bids are written together.
    """
    if game is None:
        return (), ""
    try:
        hand = replay(masked_events(redacted_hand))
        question = Over() if hand.voided else turn(game, hand)
    except (LookupError, StopIteration, TypeError, ValueError):  # it does not add up
        return (), ""
    match question:
        case ToAct(seat=seat):
            return (seat,), "to act"
        case ToStraddle(seat=seat):
            return (seat,), "to straddle"
        case ToToss(seat=seat):
            return (seat,), "to toss a card"
        case ToShow(seat=seat, may_muck=may_muck):
            return (seat,), "to show or muck" if may_muck else "to show"
        case ToBid():
            placed = {seat for seat, _ in hand.auction.bids} if hand.auction else set()
            return tuple(seat for seat in contenders(hand) if seat not in placed), "to bid"
        case ToDeal() | ToSwap() | ToDraw():
            return (), "the dealer is at it"
        case Over():
            return (), ""


POINTS_MAX = 240  # of a line
_BANKROLLS_SQL = """
WITH won AS (
    SELECT dense_rank() OVER (ORDER BY hand_seq) AS k, player, net FROM players
    WHERE match = {match}
), grown AS (
    SELECT k, player, sum(net) OVER (PARTITION BY player ORDER BY k) AS bankroll,
           max(k) OVER () AS hands, max(k) OVER (PARTITION BY player) AS last
    FROM won
)
SELECT k, player, CAST(bankroll AS BIGINT) AS bankroll, hands FROM grown
WHERE k % greatest(1, hands // {points}) = 0 OR k = last ORDER BY player, k
"""


class Bankrolls(NamedTuple):
    """Each player's net so far, and how it grew, as lines of a picture."""

    hands: int
    ticks: tuple[tuple[int, float], ...]  # an amount, and how far below the top it stands
    lines: tuple[tuple[str, int, str], ...]  # a player, his bankroll, the points of his line


def bankrolls(viewed: LedgerView, match: str, players: Sequence[str]) -> Bankrolls | None:
    """The bankrolls of all who played a hand of it that is over; None before the first."""
    rows = viewed.rows(_BANKROLLS_SQL.format(match=quoted(match), points=POINTS_MAX))
    if not rows:
        return None
    hands, up = rows[0]["hands"], linear_scale(row["bankroll"] for row in rows)

    def below(amount: float) -> float:
        return round(HIGH * (1 - up.at(amount) / PICTURE_SIZE), 1)

    lines = []
    for name in dict.fromkeys((*players, *(row["player"] for row in rows))):
        own = [row for row in rows if row["player"] == name]
        if not own:
            continue
        places = [(0, 0), *((row["k"], row["bankroll"]) for row in own)]
        drawn = [f"{WIDE * k / hands:.1f},{below(won)}" for k, won in places]
        lines.append((name, own[-1]["bankroll"], " ".join(drawn)))
    ticks = tuple((int(one), below(one)) for one in up.ticks if one == int(one))  # whole chips
    return Bankrolls(hands, ticks, tuple(lines))


def _last_rows(viewed: LedgerView, match: str | None) -> dict[str, Any]:
    """The last hands, newest first, and the place in the stream from which on there are more."""
    chosen = EMPTY_FILTER if match is None else parse_filter(f"match={quoted_name(match)}")
    hands = read_hands(viewed, chosen, None, ROWS_LISTED, True).rows
    texts = hand_lines(viewed, [row.hand for row in hands])
    rows = [
        _hand_row(row.hand, line, bool(row.void), row.at, row.unit)
        for row, line in zip(hands, texts, strict=True)
        if line is not None
    ]
    after = _STREAM_START
    if hands:  # the last event of the newest hand that its viewer sees
        events = viewed.snapshot.read(hands[0].hand)
        events_seen = list(FeedEncoder(viewed.viewer).encode(events, viewed.snapshot))
        after = events_seen[-1].place.decode() if events_seen else after
    return {"rows": rows, "after": after}


def _row_of_event(viewed: LedgerView, one: str) -> dict[str, Any] | None:
    """The row of an event of the stream, if such events have rows."""
    kind, _, stream = one.partition(" ")
    if kind in ("HandEnded", "HandVoided"):
        with suppress(NotInLedger):
            redacted_hand = viewed.redacted_hand(stream)
            last = redacted_hand.events[-1]
            void = isinstance(last.seen, t.HandVoided)
            start = hand_start(redacted_hand)
            unit = None if start is None else viewed.redactor.units.get(start.ruleset)
            return _hand_row(stream, one_line(redacted_hand), void, last.stored.at, unit)
    if kind in ("MatchStarted", "MatchEnded"):
        event = (match_start if kind == "MatchStarted" else match_end)(viewed.snapshot, stream)
        return (
            None if event is None else {"key": one, "match": stream, "event": event, "hand": None}
        )
    return None


def _hand_row(hand: str, line: str, void: bool, at: int | str, unit: str | None) -> dict[str, Any]:
    """A hand that is over, on one line."""
    pieces = parse_line(line, unit)
    return {
        "key": f"{'HandVoided' if void else 'HandEnded'} {hand}",
        "hand": hand,
        "match": split_stream(hand)[0],
        "line": pieces,
        "pot": pieces.paid,
        "unit": unit,
        "at": at,
    }
