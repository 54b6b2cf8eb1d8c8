"""`/`, search, and the pages of games, of bundles to verify, and of questions without their own.

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
from api.http.access import Auth
from api.http.routes.questions import (
    FIXED_PARAMETERS,
    EncodedPathRoute,
    formats_of,
    query_parameters,
    read_page,
    with_signature,
)
from api.pages.addresses import Addresses, Sort
from api.pages.hand_line import with_parsed_line
from api.pages.matches import disputed_hands, match_cards
from api.pages.players import players_to_compare
from api.pages.site import page
from api.problem import Problem
from api.questions import games as rulesets
from api.questions.declared import all_questions, hands
from api.questions.declared.matches import (
    MatchesParams,
    all_match_totals,
    match_rows,
    match_totals,
    matches,
)
from api.questions.filters_parser import WrongFilter, parse_filter
from api.questions.filters_values import LENGTH_MAX
from api.questions.player_measures import has_row
from api.questions.question import API, Question, Sheet, make_params
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import without_progress
from engine.catalogue import CATALOGUE, KINDS, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled
from store.reader import NoLedger

router = APIRouter(include_in_schema=False)
MATCHES_LISTED = 10
HANDS_LISTED = 8


@router.get("/")
def home(request: Request, ask: Auth, judge: bool = False) -> Response:
    """What this is, search, what is played, disputed and newest; or first steps."""
    try:
        with ask.viewed() as viewed:
            found = matches(
                viewed, MatchesParams(newest=True, limit=MATCHES_LISTED), without_progress
            )
            rows = match_cards(ask, viewed, found.rows)
            played = all_match_totals(viewed)
            totals = {"hands": sum(played["hands"].to_pylist()), "matches": len(played)}
            disputed = disputed_hands(ask, viewed, totals["hands"], judge=judge)
            newest, _ = read_page(hands.QUESTION, ask, viewed, HANDS_LISTED, None, {"newest": True})
            known = {row["match"] for row in rows}
            others = {row.match for row in newest.rows} - known
            later = match_rows(
                viewed, {name: match_totals(viewed, name) for name in sorted(others)}
            )
            running = [row for row in (*match_cards(ask, viewed, later), *rows) if row["goes_on"]]
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
        newest=list(map(with_parsed_line, newest.rows)),
        totals=totals,
        disputed=disputed,
    )


FOUND_MAX = 20  # matches, and players, whose name has the text in it
_HAND = re.compile(r"(?P<hand>.+/[0-9]{1,18})(?:#(?P<event>[0-9]{1,9}))?")
_PAGE_NAMES = ("hands", "matches", "players", "games", "fairness", "live", "verify", "docs")
_SEARCH_SQL = """
SELECT {column} AS name, count(*) AS hands FROM {table}
WHERE contains(lower({column}), lower({text})) GROUP BY ALL
ORDER BY hands DESC, name LIMIT {limit:d}
"""


@router.get("/find")
def find(
    request: Request, ask: Auth, q: Annotated[str, Query(max_length=LENGTH_MAX)] = ""
) -> Response:
    """The search box: it leads to the hand, match or player of this name, or lists similar
    names."""
    text = q.strip()
    to = Addresses(request.query_params.get("as"))
    if not text:
        return RedirectResponse(to.home(), 303)
    with ask.viewed() as viewed:
        at = address_of_text(viewed, to, text)
        if at is None:
            with suppress(WrongFilter):
                parse_filter(text)
                at = to.hands(text)
        if at is not None:
            return RedirectResponse(at, 303)
        matches, players = (
            viewed.rows(
                _SEARCH_SQL.format(
                    column=column, table=table, text=quoted(text), limit=FOUND_MAX + 1
                )
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
            for title, at, rows in (("Matches", to.match, matches), ("Players", to.player, players))
            if rows
        ],
        status=200 if addresses else 404,
    )


def address_of_text(viewed: LedgerView, to: Addresses, text: str) -> str | None:
    """The address of the one thing that a text names: page, hand, match, player, ruleset."""
    if re.match("https?://|/", text):
        return page_of_address(text, to)
    hand = _HAND.fullmatch(text)
    if hand is not None and has_row(viewed, "match", hand["hand"].rpartition("/")[0], "hands"):
        return to.hand(hand["hand"], event=int(hand["event"]) if hand["event"] else None)
    places = [to.match(text)] if has_row(viewed, "match", text, "hands") else []
    places += [to.player(text)] if has_row(viewed, "player", text) else []
    places += [to.game(text)] if text in RULESETS else []
    return places[0] if len(places) == 1 else None


def page_of_address(text: str, to: Addresses) -> str | None:
    """The page of a copied address, on this server; of a route, the page about the same."""
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
    if first not in _PAGE_NAMES:
        return None
    return to.page(first, *rest, **query) + (f"#{split.fragment}" if split.fragment else "")


VERIFY_POLICY = (
    "default-src 'none'; connect-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


@router.get("/verify")
def verify(request: Request, ask: Auth) -> Response:
    """A bundle judged in the browser: what is dropped there is never sent, and could not be."""
    answer = page(request, ask, "verify.html")
    answer.headers["Content-Security-Policy"] = VERIFY_POLICY
    return answer


def page_routes(questions: list[Question]) -> APIRouter:
    """A page for each question that has none; a list's is made by hand."""
    router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
    for question in questions:
        if question.page is None and question.pages is None:
            router.add_api_route(question.path, page_endpoint(question))
    return router


def page_endpoint(question: Question) -> Callable[..., Response]:
    """The page of a question, which takes what its route takes."""

    def shown(request: Request, ask: Auth, sort: Sort = None, **values: Any) -> Response:
        """A question that has no page made by hand: what it asks, and its tables as a terminal has
        them."""
        if missing := [name for name in needed if values[name] is None]:
            with ask.viewed(by_tag=values.get("by_tag")) as viewed:
                choices = {missing[0]: players_to_compare(viewed, values["player"])}
            sentence = f"{question.name} takes one more player, `{missing[0]}`"
            raise Problem("invalid", sentence, choices=choices)
        params = make_params(question, values, people=True)
        with ask.viewed(values.get("unit"), values.get("by_tag")) as viewed:
            if question.check_size is not None:
                question.check_size(viewed, params)
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
            formats=[(kind, address_in_format(request, kind)) for kind in formats_of(question)],
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
    return with_signature(shown, [*FIXED_PARAMETERS, *every, sort])


def address_in_format(request: Request, kind: str) -> str:
    """The address of the same answer in another format."""
    url = request.url.remove_query_params("sort").include_query_params(format=kind)
    return f"{API}{url.path}?{url.query}"


question_router = page_routes(all_questions())


class PolicyAnswer(NamedTuple):
    """A question that documents leave open, this ruleset's answer to it, and its partner's."""

    policy: str
    question: str
    value: str
    meaning: str
    entries: tuple[str, ...]
    partner: str | None


@question_router.get("/games")
def games(request: Request, ask: Auth, sort: Sort = None) -> Response:
    """The rulesets."""
    every = RULESETS.values()
    groups = (
        ("To play by", "in matches dealt here", [it for it in every if is_dealt(it)]),
        ("Of imported hands", "as others wrote them", [it for it in every if not is_dealt(it)]),
    )
    return page(request, ask, "games.html", groups=groups, fingerprint=fingerprint)


@question_router.get("/games/{game}")
def game(request: Request, ask: Auth, game: str) -> Response:
    """A ruleset, and every question that it answers."""
    with ask.viewed() as viewed:
        ruleset = rulesets.visible_game(viewed, game)
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
        kinds=[
            (kind, words, policy_answers(ruleset, partner, kind)) for kind, words in KINDS.items()
        ],
        plain=msgspec.json.format(msgspec.json.encode(ruleset, order="sorted"), indent=2).decode(),
    )


def policy_answers(game: Game, partner: Game | None, kind: str) -> list[PolicyAnswer]:
    """A ruleset's answers to all questions of one class."""
    found_answers = []
    for name, policy in CATALOGUE.items():
        if policy.kind != kind:
            continue
        value = getattr(game, name)
        other = value if partner is None else getattr(partner, name)
        differs = None if other == value else meaning(name, other) or spelled(other)
        found_answers.append(
            PolicyAnswer(
                name, policy.question, spelled(value), meaning(name, value), policy.entries, differs
            )
        )
    return found_answers
