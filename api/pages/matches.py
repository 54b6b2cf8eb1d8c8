"""`/matches` and `/matches/M`: the matches, their results, and the proof of each."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from msgspec.structs import asdict

from api.http.ask import AUDIT, Ask
from api.http.routes.questions import page_of
from api.pages.addresses import Addresses
from api.pages.disputed_hands import disputed_hands
from api.pages.site import page
from api.questions.declared.matches import QUESTION, MatchRow
from api.questions.games import address
from api.questions.match import match_of
from api.questions.proof import LEAVES_MAX, root, verified
from api.questions.shapes import MatchVerified, Root
from api.questions.tree import NoSecrets, Unsigned
from api.rules import Rules
from api.viewpoints.views import Viewed
from engine.changes import partner_of

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
