"""`/matches` and `/matches/M`: the matches, their results, and the proof of each.

`/fairness` shows an auditor what was dealt, beside what chance alone would have dealt. `/live` has
the last hands that ended, a line each; a script puts those that end now above them, in rows that
are made here.
"""

import json
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from msgspec.structs import asdict

from analytics.fairness.dealing import LEVEL
from analytics.sql.chosen import quoted
from api.http.ask import AUDIT, Access, Ask
from api.http.routes.questions import page_of
from api.pages.hand_line import taken_apart
from api.pages.players import Narrow, clean
from api.pages.site import Addresses, frame, page
from api.problem import Problem
from api.questions.declared.fairness import HANDS_MAX, FairnessParams, Tested
from api.questions.declared.fairness import fairness as tested_by
from api.questions.declared.hands import hands_by
from api.questions.declared.matches import QUESTION, MatchRow, match_of
from api.questions.filters import parsed
from api.questions.filters_tree import EVERY, word
from api.questions.games import address
from api.questions.one_line import lines, one_line
from api.questions.proof import LEAVES_MAX, NoSecrets, Unsigned, root, verified
from api.questions.shapes import MatchVerified, Root
from api.questions.verdicts import lent, verdicts_of
from api.rules import Rules
from api.viewpoints.feed_events import Teller
from api.viewpoints.match_records import ended, started
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed
from engine.changes import partner_of
from engine.verdict import VERDICTS
from events import types as t
from store.log.leaf import split

NAMED = 8  # hands that a page names
JUDGED_AT_ONCE = 5_000  # hands that are judged while somebody waits for a page


class DisputedHands(NamedTuple):
    """Hands by verdict, as far as the viewer may know one, and some that are not agreed on.

    `moveless` are those that differ without a chip going elsewhere. `left` are hands that
    nobody has judged yet; `going` says that somebody does so now.
    """

    counts: dict[str, int]
    unsettled: tuple[dict[str, Any], ...]
    moveless: int
    left: int
    going: bool

    @property
    def judged(self) -> int:
        """How many hands are counted."""
        return sum(self.counts.values())


def disputed_hands(
    ask: Access, viewed: Viewed, hands: int, match: str | None = None, judge: bool = False
) -> DisputedHands | None:
    """The verdicts of so many hands, all or a match's; None for who may know of none.

    A few hands are judged at once. To have more of them judged (`judge`) is an auditor's to ask.
    """
    if judge:
        ask.needs(AUDIT)
    judged = verdicts_of(viewed.snapshot).known(viewed.snapshot, JUDGED_AT_ONCE)
    if judge and judged.left:
        ask.service.judging.begin(viewed.snapshot)
    verdicts = lent(viewed, judged)
    of = "" if match is None else f"WHERE match = {quoted(match)}"
    told = f"FROM hands JOIN {verdicts} USING (hand_seq) {of}"
    still = "count(*) FILTER (WHERE moves = 0) AS moveless"
    counted = viewed.rows(f"SELECT verdict, count(*) AS hands, {still} {told} GROUP BY verdict")
    if not counted and not (viewed.viewer.auditor and judged.left):
        return None
    found = {row["verdict"]: row["hands"] for row in counted}
    grave = f"{'AND' if of else 'WHERE'} verdict IN ('differ', 'contested')"
    order = f"ORDER BY verdict DESC, hand_seq DESC LIMIT {NAMED}"
    told_of = "hand, CAST(verdict AS VARCHAR) AS verdict, players, game, pot, played, last_at AS at"
    rows = viewed.rows(f"SELECT {told_of} {told} {grave} {order}")
    unsettled = tuple({**row, "players": json.loads(row["players"] or "[]")} for row in rows)
    left = max(0, hands - sum(found.values())) if judged.left else 0
    counts: dict[str, int] = {name: found.get(name, 0) for name in VERDICTS}
    moveless = sum(row["moveless"] for row in counted)
    return DisputedHands(counts, unsettled, moveless, left, ask.service.judging.going)


router = APIRouter(include_in_schema=False)
LISTED = 50  # matches of a page
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
    request: Request, ask: Ask, after: Annotated[str | None, Query(max_length=500)] = None
) -> Response:
    """The matches and their results, newest first."""
    with ask.viewed() as viewed:
        found, following = page_of(QUESTION, ask, viewed, LISTED, after, {"newest": True})
        rows = with_rules(viewed, found.rows)
    return page(request, ask, "matches.html", rows=rows, following=following)


def with_rules(viewed: Viewed, rows: Sequence[MatchRow]) -> list[dict[str, Any]]:
    """Each match with the address of its ruleset: two may have one name."""
    rules = Rules(viewed.snapshot, None)
    games = [rules.marked(row.ruleset or "") for row in rows]
    return [
        asdict(row) | {"rules": row.game if game is None else address(game)}
        for row, game in zip(rows, games, strict=True)
    ]


@router.get("/matches/{match}")
def match(
    request: Request, ask: Ask, match: str, verify: bool = False, judge: bool = False
) -> Response:
    """A match: its result, its disputed hands and verdicts, its rules and its proof."""
    if verify:
        ask.needs(AUDIT)
    checked: MatchVerified | str | None = (
        None  # why there was none; None if it is too long for a page
    )
    head: Root | None = None  # the checkpoint that covers the last hand, if anything was signed for
    with ask.viewed() as viewed:
        row = match_of(viewed, match)
        if row.last_seq is not None:
            with suppress(Unsigned):
                head = root(viewed, match, row.last_seq)
        if verify:
            try:
                checked = verified(viewed, match, LEAVES_MAX)
            except (NoSecrets, Unsigned) as reason:
                checked = str(reason)
        disputed = disputed_hands(ask, viewed, row.hands, match, judge)
        game = Rules(viewed.snapshot, None).marked(row.ruleset or "")
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "match.html",
        players=tuple(row.players or ()),
        trail=(("Matches", to.matches()),),
        row=row,
        game=game,
        partner=None if game is None else partner_of(game),
        rules=None if game is None else address(game),
        disclosure=DISCLOSURES.get(row.disclosure or ""),
        dealing=DEALINGS.get(row.dealing or ""),
        may_verify=ask.caller.has(AUDIT),
        verifying=verify,
        leaves_max=LEAVES_MAX,
        head=head,
        checked=checked,
        disputed=disputed,
    )


TESTED_AT_ONCE = 3_000  # hands that are tested while somebody waits for a page


@router.get("/fairness")
def fairness(
    request: Request,
    ask: Ask,
    match: Narrow = None,
    run: Annotated[bool, Query()] = False,
) -> Response:
    """What was dealt, beside what chance alone would have dealt; for an auditor's eyes."""
    name = clean(match)
    context: dict[str, Any] = {"match": name, "level": LEVEL, "hands_max": HANDS_MAX}
    context |= {"found": None, "why": None, "tested": (), "hands": 0}
    if not ask.viewer.auditor:
        return page(request, ask, "fairness.html", **context)
    ledger = ask.snapshot()
    hands = sum(1 for _ in ledger.hands(name)) if name else ledger.next_seq
    context["hands"] = hands
    if hands > (HANDS_MAX if run else TESTED_AT_ONCE):
        return page(request, ask, "fairness.html", **context)
    try:
        with ask.viewed() as viewed:
            found = tested_by(viewed, FairnessParams(name))
    except Absent as reason:
        return page(request, ask, "fairness.html", **context | {"why": str(reason)})
    tested = [(one, judgement(one)) for one in found.tests]
    return page(request, ask, "fairness.html", **context | {"found": found, "tested": tested})


def judgement(test: Tested) -> str:
    """A test's verdict as one of the shapes that pages draw."""
    if test.counted is None:
        return "unknown"
    return "agree" if test.counted >= LEVEL else "differ"


LIVE_MAX = 40  # hands of the page before anything happens
KEPT = 200  # rows that the script keeps
AT_ONCE = 40  # rows that are asked for at once
TYPES = ("HandEnded", "HandVoided", "MatchStarted", "MatchEnded")
_FROM_THE_FIRST = "start"  # where a stream begins that has told nothing yet


@router.get("/live")
def live(
    request: Request,
    ask: Ask,
    match: Narrow = None,
    of: Annotated[tuple[str, ...], Query(max_length=AT_ONCE)] = (),
) -> Response:
    """The last hands that ended; a script puts those that end now above them."""
    name = clean(match)
    at = Addresses().embedded("live", match=name)
    snippet = frame(request, ask, at, f"Hands of {name or 'all matches'}")
    return followed(request, ask, name, of, frame=snippet)


def followed(
    request: Request, ask: Access, name: str | None, of: Sequence[str] = (), **more: Any
) -> Response:
    """The page that a stream goes on with: of one match, of all, or only the rows `of` these."""
    context: dict[str, Any] = {"match": name, "kept": KEPT, "at_once": AT_ONCE}
    context |= {"delay_s": ask.service.settings.delay_s, "types": ",".join(TYPES), "players": ()}
    try:
        context |= _told(ask, of) if of else _last(ask, name)
    except Problem as reason:
        if reason.kind != "unavailable":
            raise
        context |= {"rows": [], "after": _FROM_THE_FIRST}
    return page(request, ask, "live.html", **context, **more)


def _last(ask: Access, match: str | None) -> dict[str, Any]:
    """The last hands, newest first, and the place in the stream from which on there are more."""
    chosen = EVERY if match is None else parsed(f"match={word(match)}")
    with ask.viewed() as viewed:
        found = hands_by(viewed, chosen, None, LIVE_MAX, True).rows
        told = lines(viewed, [row.hand for row in found])
        rows = [
            _hand(row.hand, line, bool(row.void), row.at)
            for row, line in zip(found, told, strict=True)
            if line is not None
        ]
        after = _place(viewed, found[0].hand) if found else _FROM_THE_FIRST
        table = None if match is None else started(viewed.snapshot, match)
    return {"rows": rows, "after": after, "players": table.players if table else ()}


def _told(ask: Access, of: Sequence[str]) -> dict[str, Any]:
    """Rows of what the stream told of, each `TYPE STREAM`, as of this very moment."""
    with closing(Viewed(ask.snapshot(), ask.viewer)) as viewed:
        rows = [row for row in (_row(viewed, one) for one in of) if row is not None]
    return {"rows": rows, "after": ""}


def _row(viewed: Viewed, one: str) -> dict[str, Any] | None:
    kind, _, stream = one.partition(" ")
    if kind in ("HandEnded", "HandVoided"):
        try:
            redacted_hand = viewed.redacted_hand(stream)
        except Absent:
            return None
        last = redacted_hand.ones[-1]
        void = isinstance(last.seen, t.HandVoided)
        return _hand(stream, one_line(redacted_hand), void, last.stored.at)
    found = (started if kind == "MatchStarted" else ended)(viewed.snapshot, stream)
    return None if found is None else {"key": one, "match": stream, "told": found, "hand": None}


def _hand(hand: str, line: str, void: bool, at: int | str) -> dict[str, Any]:
    """A hand that is over, on one line."""
    pot = line.rpartition(" | ")[2].partition(": ")[0]
    return {
        "key": f"{'HandVoided' if void else 'HandEnded'} {hand}",
        "hand": hand,
        "match": split(hand)[0],
        "line": taken_apart(line),
        "pot": int(pot) if pot.isdecimal() else None,
        "at": at,
    }


def _place(viewed: Viewed, hand: str) -> str:
    """The place after the last event of a hand, as its viewer was told it."""
    events = viewed.snapshot.read(hand)
    told = list(Teller(viewed.viewer).tell(events, viewed.snapshot))
    return told[-1].place.decode() if told else _FROM_THE_FIRST
