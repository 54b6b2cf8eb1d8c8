"""`/`: what this is, search, what is played, disputed and newest; or first steps.

`/find` is the box in the head: it takes a name, MATCH/NUMBER, a filter, or an address that was
copied from a page or a route, and goes to the hand, match or player that is called so. `/verify`
judges a bundle in the browser that it is dropped on, by a script that asks nobody.
"""

import re
from contextlib import suppress
from typing import Annotated
from urllib.parse import parse_qsl, unquote, urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from analytics.sql.chosen import quoted
from api.http.ask import Ask
from api.http.routes.questions import page_of
from api.pages.addresses import Addresses
from api.pages.hand_line import listed
from api.pages.matches import disputed_hands, drawn
from api.pages.site import page
from api.problem import Problem
from api.questions.declared import hands
from api.questions.declared.matches import MatchesParams, every_played, matches, played_of, rows_of
from api.questions.filters import WrongFilter, parsed
from api.questions.filters_tree import LENGTH_MAX
from api.questions.players import is_there
from api.questions.question import API
from api.viewpoints.viewer import without_progress
from api.viewpoints.views import Viewed
from engine.games import RULESETS
from store.reader import NoLedger

router = APIRouter(include_in_schema=False)
LISTED = 10
HANDS = 8


@router.get("/")
def home(request: Request, ask: Ask, judge: bool = False) -> Response:
    """What this is, search, what is played, disputed and newest; or first steps."""
    try:
        with ask.viewed() as viewed:
            found = matches(viewed, MatchesParams(newest=True, limit=LISTED), without_progress)
            rows = drawn(ask, viewed, found.rows)
            played = every_played(viewed)
            totals = {"hands": sum(played["hands"].to_pylist()), "matches": len(played)}
            disputed = disputed_hands(ask, viewed, totals["hands"], judge=judge)
            newest, _ = page_of(hands.QUESTION, ask, viewed, HANDS, None, {"newest": True})
            known = {row["match"] for row in rows}
            others = {row.match for row in newest.rows} - known
            later = rows_of(viewed, {name: played_of(viewed, name) for name in sorted(others)})
            running = [row for row in (*drawn(ask, viewed, later), *rows) if row["goes_on"]]
    except (NoLedger, Problem) as none:
        if isinstance(none, Problem) and none.kind != "unavailable":
            raise
        return page(request, ask, "first_steps.html")
    if not rows:
        return page(request, ask, "first_steps.html")
    return page(
        request,
        ask,
        "home.html",
        rows=rows,
        running=running,
        newest=list(map(listed, newest.rows)),
        totals=totals,
        disputed=disputed,
    )


FOUND_MAX = 20  # matches, and players, whose name has the text in it
_HAND = re.compile(r"(?P<hand>.+/[0-9]{1,18})(?:#(?P<event>[0-9]{1,9}))?")
_PAGES = ("hands", "matches", "players", "games", "fairness", "live", "verify", "docs")
_LIKE = """
SELECT {column} AS name, count(*) AS hands FROM {table}
WHERE contains(lower({column}), lower({text})) GROUP BY ALL
ORDER BY hands DESC, name LIMIT {limit:d}
"""


@router.get("/find")
def find(
    request: Request, ask: Ask, q: Annotated[str, Query(max_length=LENGTH_MAX)] = ""
) -> Response:
    """The box in the head goes to the hand, match or player that is called so."""
    text = q.strip()
    to = Addresses(request.query_params.get("as"))
    if not text:
        return RedirectResponse(to.home(), 303)
    with ask.viewed() as viewed:
        at = place(viewed, to, text)
        if at is None:
            with suppress(WrongFilter):
                parsed(text)
                at = to.hands(text)
        if at is not None:
            return RedirectResponse(at, 303)
        matches, players = (
            viewed.rows(
                _LIKE.format(column=column, table=table, text=quoted(text), limit=FOUND_MAX + 1)
            )
            for column, table in (("match", "hands"), ("player", "facts"))
        )
    addresses = [to.match(match["name"]) for match in matches]
    addresses += [to.player(player["name"]) for player in players]
    if len(addresses) == 1:
        return RedirectResponse(addresses[0], 303)
    return page(
        request,
        ask,
        "find.html",
        q=text,
        lists=[
            (
                title,
                [{**row, "at": at(row["name"])} for row in rows[:FOUND_MAX]],
                len(rows) > FOUND_MAX,
            )
            for title, at, rows in (
                ("Matches", to.match, matches),
                ("Players", to.player, players),
            )
            if rows
        ],
        status=200 if addresses else 404,
    )


def place(viewed: Viewed, to: Addresses, text: str) -> str | None:
    """The address of the one thing that a text names: page, hand, match, player, ruleset."""
    if re.match("https?://|/", text):
        return address(text, to)
    hand = _HAND.fullmatch(text)
    if hand is not None and is_there(viewed, "match", hand["hand"].rpartition("/")[0], "hands"):
        return to.hand(hand["hand"], event=int(hand["event"]) if hand["event"] else None)
    places = [to.match(text)] if is_there(viewed, "match", text, "hands") else []
    places += [to.player(text)] if is_there(viewed, "player", text) else []
    places += [to.game(text)] if text in RULESETS else []
    return places[0] if len(places) == 1 else None


def address(text: str, to: Addresses) -> str | None:
    """A copied address as one of this server; a route's is that of the page about the same.

    It is seen as the page is that the box stands on, unless it says how.
    """
    try:
        split = urlsplit(text)
    except ValueError:  # brackets that are no address of a machine
        return None
    query = dict(parse_qsl(split.query))
    first, *rest = [unquote(one) for one in split.path.removeprefix(API).split("/")[1:]] or [""]
    if split.path.startswith(API):
        query.pop("format", None)
        rest = rest[: 2 if first == "hands" else 1]
    if (first, *rest) == ("",):
        return to.home()
    if first not in _PAGES:
        return None
    return to.page(first, *rest, **query) + (f"#{split.fragment}" if split.fragment else "")


POLICY = (
    "default-src 'none'; connect-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


@router.get("/verify")
def verify(request: Request, ask: Ask) -> Response:
    """A bundle judged in the browser: what is dropped there is never sent, and could not be."""
    answer = page(request, ask, "verify.html")
    answer.headers["Content-Security-Policy"] = POLICY
    return answer
