"""`/find`: the box in the head, which goes to the hand, match or player that is called so.

It takes a name, MATCH/NUMBER, a filter, or an address that was copied from a page or a route.
"""

import re
from typing import Annotated
from urllib.parse import parse_qsl, unquote, urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from analytics.sql.chosen import quoted
from api.http.ask import Ask
from api.pages.addresses import Addresses
from api.pages.site import page
from api.questions.filters import WrongFilter, parsed
from api.questions.players import is_there
from api.questions.question import API
from api.viewpoints.views import Viewed
from engine.games import RULESETS

router = APIRouter(include_in_schema=False)
LISTED = 20  # matches, and players, whose name has the text in it
_HAND = re.compile(r"(?P<hand>.+/[0-9]{1,18})(?:#(?P<event>[0-9]{1,9}))?")
_PAGES = ("hands", "matches", "players", "games", "fairness", "live", "verify", "docs")
_LIKE = """
SELECT {column} AS name, count(*) AS hands FROM {table}
WHERE contains(lower({column}), lower({text})) GROUP BY ALL
ORDER BY hands DESC, name LIMIT {limit:d}
"""


@router.get("/find")
def find(request: Request, ask: Ask, q: Annotated[str, Query(max_length=2_000)] = "") -> Response:
    text = q.strip()
    to = Addresses(request.query_params.get("as"))
    if not text:
        return RedirectResponse(to.home(), 303)
    with ask.viewed() as viewed:
        at = place(viewed, to, text) or _hands(to, text)
        if at is not None:
            return RedirectResponse(at, 303)
        matches, players = (
            viewed.rows(
                _LIKE.format(column=column, table=table, text=quoted(text), limit=LISTED + 1)
            )
            for column, table in (("match", "hands"), ("player", "facts"))
        )
    found = [to.match(one["name"]) for one in matches]
    found += [to.player(one["name"]) for one in players]
    if len(found) == 1:
        return RedirectResponse(found[0], 303)
    return page(
        request,
        ask,
        "find.html",
        q=text,
        lists=[
            (title, [{**one, "at": at(one["name"])} for one in rows[:LISTED]], len(rows) > LISTED)
            for title, at, rows in (
                ("Matches", to.match, matches),
                ("Players", to.player, players),
            )
            if rows
        ],
        status=200 if found else 404,
    )


def place(viewed: Viewed, to: Addresses, text: str) -> str | None:
    """The address of the one thing that a text names: page, hand, match, player, ruleset."""
    if re.match("https?://|/", text):
        return address(text, to)
    hand = _HAND.fullmatch(text)
    if hand is not None and is_there(viewed, "match", hand["hand"].rpartition("/")[0], "hands"):
        return to.hand(hand["hand"], event=int(hand["event"]) if hand["event"] else None)
    found = [to.match(text)] if is_there(viewed, "match", text, "hands") else []
    found += [to.player(text)] if is_there(viewed, "player", text) else []
    found += [to.game(text)] if text in RULESETS else []
    return found[0] if len(found) == 1 else None


def address(text: str, to: Addresses) -> str | None:
    """A copied address as one of this server; a route's is that of the page about the same.

    It is seen as the page is that the box stands on, unless it says how.
    """
    try:
        split = urlsplit(text)
    except ValueError:  # brackets that are no address of a machine
        return None
    asked = dict(parse_qsl(split.query))
    first, *rest = [unquote(one) for one in split.path.removeprefix(API).split("/")[1:]] or [""]
    if split.path.startswith(API):
        asked.pop("format", None)
        rest = rest[: 2 if first == "hands" else 1]
    if (first, *rest) == ("",):
        return to.home()
    if first not in _PAGES:
        return None
    return to.page(first, *rest, **asked) + (f"#{split.fragment}" if split.fragment else "")


def _hands(to: Addresses, text: str) -> str | None:
    """Where the hands of a filter are."""
    try:
        parsed(text)
    except WrongFilter:
        return None
    return to.hands(text)
