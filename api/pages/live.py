"""`/live`: the last hands that ended, a line each; a script puts those that end now above them.

What the script puts there is made here: it names what the stream told of, and takes the rows.
"""

from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.http.ask import Access, Ask
from api.pages.addresses import Addresses
from api.pages.hand_line import taken_apart
from api.pages.players import Narrow, clean
from api.pages.site import frame, page
from api.problem import Problem
from api.questions.declared.hands import hands_by
from api.questions.filters import parsed
from api.questions.filters_tree import EVERY, word
from api.questions.one_line import lines, one_line
from api.viewpoints.feed_events import Teller
from api.viewpoints.records import ended, started
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed
from events import types as t
from store.log.leaf import split

router = APIRouter(include_in_schema=False)
LISTED = 40  # hands of the page before anything happens
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
    name = clean(match)
    snippet = frame(
        request, ask, Addresses().embedded("live", match=name), f"Hands of {name or 'all matches'}"
    )
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
        found = hands_by(viewed, chosen, None, LISTED, True).rows
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
