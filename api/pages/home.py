"""`/`: what this is, search, what is played, disputed and newest; or first steps.

`/find` is the box in the head: it takes a name, MATCH/NUMBER, a filter, or an address that was
copied from a page or a route, and goes to the hand, match or player that is called so. `/verify`
judges a bundle in the browser that it is dropped on, by a script that asks nobody. `/games` are the
rulesets. A question that has no page made by hand gets one here: what it asks, and its tables as a
terminal has them.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from inspect import Parameter
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from analytics.sql import quoted
from api.http.ask import Ask
from api.http.routes.questions import FIXED, Named, formats, page_of, query_parameters, signed
from api.pages.addresses import Addresses, Sort
from api.pages.hand_line import listed
from api.pages.matches import disputed_hands, drawn
from api.pages.players import others_of
from api.pages.site import page
from api.problem import Problem
from api.questions import games as rulesets
from api.questions.declared import every, hands
from api.questions.declared.matches import MatchesParams, every_played, matches, played_of, rows_of
from api.questions.filters import WrongFilter, parsed
from api.questions.filters_values import LENGTH_MAX
from api.questions.players import is_there
from api.questions.question import API, Question, Sheet, params_of
from api.viewpoints.viewer import without_progress
from api.viewpoints.views import Viewed
from engine.catalogue import CATALOGUE, KINDS, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled
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


def routes(questions: list[Question]) -> APIRouter:
    """A page for each that has none; a list's is made by hand."""
    router = APIRouter(include_in_schema=False, route_class=Named)
    for question in questions:
        if question.page is None and question.pages is None:
            router.add_api_route(question.path, endpoint(question))
    return router


def endpoint(question: Question) -> Callable[..., Response]:
    """The page of a question, which takes what its route takes."""

    def shown(request: Request, ask: Ask, sort: Sort = None, **values: Any) -> Response:
        """A question that has no page made by hand: what it asks, and its tables as a terminal has
        them."""
        if missing := [name for name in needed if values[name] is None]:
            with ask.viewed(by_tag=values.get("by_tag")) as viewed:
                choices = {missing[0]: others_of(viewed, values["player"])}
            sentence = f"{question.name} takes one more player, `{missing[0]}`"
            raise Problem("invalid", sentence, choices=choices)
        params = params_of(question, values, people=True)
        with ask.viewed(values.get("unit"), values.get("by_tag")) as viewed:
            if question.bound is not None:
                question.bound(viewed, params)
            sheets = list(question.sheets_of(question.ask(viewed, params, ask.watch), params))
        to, player = Addresses(request.query_params.get("as")), values.get("player")
        by_tag = values.get("by_tag")
        trail = [("Players", to.players(by_tag))] if player else []
        return page(
            request,
            ask,
            "question.html",
            question=question,
            by_tag=by_tag,
            sheets=[sheet for sheet in sheets if isinstance(sheet, Sheet)],
            notes=[sheet for sheet in sheets if not isinstance(sheet, Sheet)],
            trail=[*trail, (player, to.player(player, by_tag=by_tag))] if player else trail,
            players=(player,) if player and not by_tag else (),
            formats=[(kind, at(request, kind)) for kind in formats(question)],
        )

    every = query_parameters(question, question.path, people=True)
    needed = [
        one.name
        for one in every
        if one.default is Parameter.empty and f"{{{one.name}}}" not in question.path
    ]
    every = [  # without a value of one that is needed, the page offers all values
        one.replace(annotation=one.annotation | None, default=None) if one.name in needed else one
        for one in every
    ]
    sort = Parameter("sort", Parameter.KEYWORD_ONLY, annotation=Sort, default=None)
    return signed(shown, [*FIXED, *every, sort])


def at(request: Request, kind: str) -> str:
    """The same in a format."""
    url = request.url.remove_query_params("sort").include_query_params(format=kind)
    return f"{API}{url.path}?{url.query}"


questions = routes(every())


class PolicyAnswer(NamedTuple):
    """A question that documents leave open, what this ruleset says to it, and what its partner."""

    policy: str
    question: str
    value: str
    meaning: str
    entries: tuple[str, ...]
    partner: str | None


@questions.get("/games")
def games(request: Request, ask: Ask, sort: Sort = None) -> Response:
    """The rulesets."""
    every = RULESETS.values()
    groups = (
        ("To play by", "in matches dealt here", [it for it in every if is_dealt(it)]),
        ("Of imported hands", "as others wrote them", [it for it in every if not is_dealt(it)]),
    )
    return page(request, ask, "games.html", groups=groups, fingerprint=fingerprint)


@questions.get("/games/{game}")
def game(request: Request, ask: Ask, game: str) -> Response:
    """A ruleset, and every question that it answers."""
    with ask.viewed() as viewed:
        ruleset = rulesets.seen_game(viewed, game)
    partner = partner_of(ruleset)
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "game.html",
        trail=(("Rulesets", to.games()),),
        game=ruleset,
        mark=fingerprint(ruleset),
        dealt=is_dealt(ruleset),
        partner=partner,
        parameters=parameters(ruleset).values(),
        script=[repr(step) for step in ruleset.script],
        kinds=[(kind, words, answers(ruleset, partner, kind)) for kind, words in KINDS.items()],
        plain=msgspec.json.format(msgspec.json.encode(ruleset, order="sorted"), indent=2).decode(),
    )


def answers(game: Game, partner: Game | None, kind: str) -> list[PolicyAnswer]:
    """What a ruleset says to all questions of one class."""
    found_answers = []
    for name, policy in CATALOGUE.items():
        if policy.kind != kind:
            continue
        value = getattr(game, name)
        other = value if partner is None else getattr(partner, name)
        differs = None if other == value else meaning(name, other) or spelled(other)
        found_answers.append(
            PolicyAnswer(
                name,
                policy.question,
                spelled(value),
                meaning(name, value),
                policy.entries,
                differs,
            )
        )
    return found_answers
