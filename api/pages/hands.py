"""`/hands`: the list of a filter's hands, and a hand's pages: replay and events.

`/hands/M/N` replays one: every frame is drawn here, and a script only turns the pages. Without a
script a frame is shown by its address (`#12`), as every deep link has it. `/hands/M/N/events` has
its record event by event, as it is seen, and what each one changed. `hand_context` is what all
pages of a hand have in common: whose it is, where it stands, what is beside it.
"""

from contextlib import suppress
from itertools import groupby, pairwise
from typing import Annotated, Any, Literal, NamedTuple, get_args

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from api.auditing.record import RulesetLookup
from api.http.access import Auth
from api.http.routes.questions import read_page
from api.pages.addresses import Addresses
from api.pages.hand_line import with_parsed_line
from api.pages.home import address_of_text
from api.pages.site import page
from api.problem import Problem
from api.questions.declared.fairness import count_hands_of
from api.questions.declared.hands import QUESTION, read_hands
from api.questions.filters_hands import FACETS, ORDERS, Order, facets, named_player, times_counted
from api.questions.filters_parser import WrongFilter, parse_filter
from api.questions.filters_sql import needs_verdicts
from api.questions.filters_tree import FIELDS, FLAGS, filter_text
from api.questions.filters_values import LENGTH_MAX
from api.questions.frames import event_sentences, frames, hand_start
from api.questions.games import game_address
from api.questions.hand import UnknownRuleset, judge_visible
from api.questions.proof import NoSecrets, NotSigned, proof
from api.questions.verdicts import verdicts_of
from api.viewpoints.hand_selection import Unfinished, match_start
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import SEED_WARNING, RedactedEvents
from events import types as t
from events.sentences import Sentence, name_at
from events.types import HandEnded, HandVoided
from events.views import FIELDS as HIDDEN_FIELDS
from store.log.streams import split_stream
from store.proof.tree import Refuted

router = APIRouter(include_in_schema=False)
ListOrder = Literal["newest", "oldest", "pot", "won", "lost", "price"]


def amount_order(order: ListOrder) -> Order | None:
    """The amount that hands are sorted by, None if by when they ended."""
    return None if order == "newest" or order == "oldest" else order


class ListFilter(NamedTuple):
    """The filter that found a hand, and its list's order, for links to the next and previous."""

    q: str
    order: ListOrder

    @property
    def order_in_address(self) -> str | None:
        """The order as addresses have it: None where it is the usual one."""
        return None if self.order == "newest" or not self.q else self.order


def _list_filter(
    q: Annotated[str, Query(max_length=LENGTH_MAX)] = "", order: ListOrder = "newest"
) -> ListFilter:
    return ListFilter(q.strip(), order)


FoundIn = Annotated[ListFilter, Depends(_list_filter)]
HANDS_LISTED = 50  # hands of a page
UNFINISHED_FILTER_HEADERS = {"HX-Retarget": "#said", "HX-Reselect": "#said", "HX-Push-Url": "false"}
EXAMPLES = (
    "pot>100 & showdown",
    "contested",
    "player(auction-won & price>100 & showdown & collected=0)",
    "board=As?? & street=river",
    "hole=AA | hole=KK",
)


@router.get("/hands")
def hands(
    request: Request,
    ask: Auth,
    q: Annotated[str, Query(max_length=LENGTH_MAX)] = "",
    after: Annotated[str | None, Query(max_length=500)] = None,
    order: ListOrder = "newest",
    counts: Literal["now", "later"] | None = None,
) -> Response:
    """The hands that a filter finds, each on one line; the filter stands in the address."""
    context: dict[str, Any] = {
        "q": q.strip(),
        "order": order,
        "kept": None if order == "newest" else order,
        "title_of": ORDERS,
        "of_player": None,
        "orders": [(name, ORDERS[name]) for name in get_args(ListOrder)],
        "further": after is not None,
        "fields": FIELDS,
        "flags": FLAGS,
        "examples": EXAMPLES,
    }
    try:
        one = parse_filter(q)
    except WrongFilter as wrong:
        typing = request.headers.get("hx-request") is not None
        with ask.viewed() as viewed:
            at = address_of_text(viewed, Addresses(request.query_params.get("as")), q.strip())
        if at is not None and not typing:
            return RedirectResponse(at, 303)
        status = 200 if typing else 400
        context |= {"wrong": wrong, "place": at, "typing": typing}
        answer = page(request, ask, "hands.html", status=status, **context)
        if typing:  # half a word wipes nothing: the hands stay, and so does the address
            answer.headers.update(UNFINISHED_FILTER_HEADERS)
        return answer
    context["of_player"] = named_player(one)
    with ask.viewed() as viewed:
        few = count_hands_of(viewed, None) < ask.service.settings.limits.heavy_spread
        counting = after is None and (counts == "now" or (few and counts is None))
        by = amount_order(order)
        params = {"filter": filter_text(one), "newest": order == "newest", "order": by}
        found, following = read_page(QUESTION, ask, viewed, HANDS_LISTED, after, params)
        judged = verdicts_of(viewed.snapshot).known(viewed.snapshot)
        context |= {
            "rows": list(map(with_parsed_line, found.rows)),
            "following": following,
            "counted": facets(viewed, one, judged) if counting else None,
            "times": times_counted(viewed, one, judged) if counting else None,
            "left": 0 if needs_verdicts(one) else judged.left,
            "waiting": found.unjudged,
        }
    return page(request, ask, "hands.html", wrong=None, place=None, facets=FACETS, **context)


@router.get("/hands/{match}/{number}")
def replayer(request: Request, ask: Auth, match: str, number: str, within: FoundIn) -> Response:
    """The replay of a hand: every frame is drawn here, and a script only turns the pages."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = hand_context(request, viewed, redacted_hand, "replay", within)
        game = RulesetLookup(viewed.snapshot, None).by_fingerprint(context["start"].ruleset)
    document = frames(redacted_hand, ask.viewer.view, game)
    return page(
        request,
        ask,
        "replayer.html",
        **context,
        drawn=drawn_frames(document, event_sentences(redacted_hand)),
        bands=odds_bands(document["frames"]),
        marks=document["marks"],
        big_blind=document["big_blind"],
        broken=document["broken"],
    )


ACTS = ("Folded", "Checked", "Called", "Bet", "Raised", "BidPlaced", "Tossed", "Mucked", "TimedOut")


def drawn_frames(document: dict[str, Any], sentences: list[Sentence]) -> list[dict[str, Any]]:
    """Frames as the template draws them: cards in rows as they came, and each seat's last action
    on this street."""
    begins = {mark["idx"] for mark in document["marks"]}
    tosses = any(mark["name"] == "toss" for mark in document["marks"])
    came = (0, 2, 4, 5, None) if tosses else (0, 3, 4, None)  # a flop of two and what was tossed
    did: dict[int, Sentence] = {}
    found = []
    for frame, words in zip(document["frames"], sentences, strict=False):
        if frame["idx"] in begins:
            did = {}
        if frame["type"] in ACTS:
            did = {**did, frame["seat"]: words[1:]}
        board = frame["board"]
        found.append(
            {
                **frame,
                "words": words,
                "board": [row for one, end in pairwise(came) if (row := board[one:end])],
                "won": {seat for award in frame["awards"] for seat in award["seats"]},
                "seats": [
                    {**seat, "rows": card_rows(seat), "did": did.get(place)}
                    for place, seat in enumerate(frame["seats"])
                ],
            }
        )
    return found


class OddsBand(NamedTuple):
    """A seat's part of the pot from one event to another: `low` to `high`, those below it first."""

    seat: int
    first: int
    last: int
    low: float
    high: float


def odds_bands(frames: list[dict[str, Any]]) -> list[OddsBand]:
    """The odds of all seats through the hand, one above the other; no band where none are known."""
    bands: list[OddsBand] = []
    shares_of = [
        [seat["odds"] and seat["odds"]["share"] for seat in frame["seats"]] for frame in frames
    ]
    for shares, group in groupby(enumerate(shares_of), key=lambda one: one[1]):
        places = [idx for idx, _ in group]
        low = 0.0
        for seat, share in enumerate(shares):
            if share:
                bands.append(OddsBand(seat, places[0], places[-1], low, low + share))
                low += share
    return bands


def card_rows(seat: dict[str, Any]) -> list[list[Any]]:
    """A seat's cards, those of each deal together; a swapped one with what it was."""
    changed = {one["slot"]: one for one in seat["swaps"] if one["changed"] is True}
    cards = [
        {"now": card, "was": changed[slot]["old"] if slot in changed else None}
        for slot, card in enumerate(seat["cards"])
    ]
    deal = [number for number, count in enumerate(seat["dealt"]) for _ in range(count)]
    paired = zip(deal, cards, strict=False)
    return [[card for _, card in row] for _, row in groupby(paired, key=lambda one: one[0])]


def hand_context(
    request: Request,
    viewed: LedgerView,
    redacted_hand: RedactedEvents,
    tab: str,
    within: ListFilter,
) -> dict[str, Any]:
    """The context of `hand.html`; `within` is the list in which the hand was found, and
    `players` are the seats that an auditor may look from."""
    start = hand_start(redacted_hand)
    if start is None:
        raise Problem("conflict", f"{redacted_hand.stream} does not begin as a hand does")
    match, number = split_stream(redacted_hand.stream)
    assert number is not None
    q = within.q
    to = Addresses(request.query_params.get("as"))
    announced = match_start(viewed.snapshot, match)
    game = RulesetLookup(viewed.snapshot, None).by_fingerprint(start.ruleset)
    verdict = None
    if tab != "audit":
        with suppress(Unfinished, UnknownRuleset):
            verdict = judge_visible(viewed.snapshot, redacted_hand).report.verdict
    return {
        "tab": tab,
        "verdict": verdict,
        "hand": redacted_hand.stream,
        "match": match,
        "number": number,
        "start": start,
        "rules": start.game if game is None else game_address(game),
        "players": start.players,
        "stacks": start.stacks[:1] if len(set(start.stacks)) == 1 else start.stacks,
        "unit": viewed.redactor.units.get(start.ruleset),
        "at": redacted_hand.events[-1].stored.at,
        "over": any(
            isinstance(event.seen, t.HandEnded | t.HandVoided) for event in redacted_hand.events
        ),
        "open": redacted_hand.open,
        "of_a_seed": SEED_WARNING if announced and announced.dealing == "seeded" else None,
        "q": q,
        "kept": within.order_in_address,
        "earlier": neighbour_hand(viewed, match, number, within, -1),
        "later": neighbour_hand(viewed, match, number, within, 1),
        "trail": (
            *(
                (("Hands of this filter", to.hands(q, order=within.order_in_address)),)
                if q
                else (("Matches", to.matches()),)
            ),
            (match, to.match(match)),
        ),
    }


def neighbour_hand(
    viewed: LedgerView, match: str, number: int, within: ListFilter, step: Literal[-1, 1]
) -> str | None:
    """The hand before or after this one, if that is over: of its match, or of those that a
    filter finds.

    Those of a filter stand in the order in which they ended, in any match, or by what they came to.
    """
    here = viewed.snapshot.hand_seq(f"{match}/{number}")
    if within.q and here is not None:
        one = parse_filter(within.q)
        known = verdicts_of(viewed.snapshot).known(viewed.snapshot) if needs_verdicts(one) else None
        found = read_hands(
            viewed, one, here, 1, newest_first=step < 0, judged=known, by=amount_order(within.order)
        ).rows
        return found[0].hand if found else None
    hand = f"{match}/{number + step}"
    return None if number + step < 0 or viewed.snapshot.hand_seq(hand) is None else hand


_COUNTS = ("street", "pot", "rake")
_SEAT_FIELDS = ("stack", "bet", "standing", "cards")


@router.get("/hands/{match}/{number}/events")
def events(request: Request, ask: Auth, match: str, number: str, within: FoundIn) -> Response:
    """The events of a record, as they are seen, and what each one changed."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = hand_context(request, viewed, redacted_hand, "events", within)
        commitments = field_commitments(viewed, redacted_hand)
        game = RulesetLookup(viewed.snapshot, None).by_fingerprint(context["start"].ruleset)
    document = frames(redacted_hand, ask.viewer.view, game)
    begins = {mark["idx"]: mark["name"] for mark in document["marks"]}
    drawn, words = document["frames"], event_sentences(redacted_hand)
    parts: list[tuple[str, list[dict[str, Any]]]] = [("start", [])]
    for idx, event in enumerate(redacted_hand.events[: len(drawn)]):
        seat = getattr(event.seen, "seat", None)
        is_own = type(event.seen).__name__.endswith("Seen")  # and shown to this viewer
        secret = not event.hidden and is_own
        row = {
            "idx": idx,
            "at": drawn[idx]["at"],
            "words": words[idx],
            "kind": drawn[idx]["type"],
            "hidden": event.hidden,
            "holder": name_at(document["players"], seat) if secret and seat is not None else None,
            "json": msgspec.json.format(msgspec.json.encode(event.seen), indent=2).decode(),
            "committed": commitments[idx],
            "changes": changes(drawn[idx - 1] if idx else None, drawn[idx], document["players"]),
        }
        if idx in begins:
            parts.append((begins[idx], []))
        parts[-1][1].append(row)
    return page(request, ask, "events.html", **context, parts=parts, broken=document["broken"])


def changes(
    before: dict[str, Any] | None, after: dict[str, Any], players: list[str]
) -> list[tuple[str, Any, Any]]:
    """The differences of two frames: a name, the value before, the value after."""
    if before is None:
        return []
    found = [(name, before[name], after[name]) for name in _COUNTS if before[name] != after[name]]
    if before["board"] != after["board"]:
        found.append(("board", before["board"], after["board"]))
    for player, was, now in zip(players, before["seats"], after["seats"], strict=True):
        found += [
            (f"{player}: {name.replace('cards', 'hand')}", was[name], now[name])
            for name in _SEAT_FIELDS
            if was[name] != now[name]
        ]
    return found


class FieldCommitment(NamedTuple):
    """A hidden field, its commitment, and the nonce if the viewer may open it."""

    field: str
    commitment: str
    nonce: str | None


def field_commitments(
    viewed: LedgerView, redacted_hand: RedactedEvents
) -> list[tuple[FieldCommitment, ...]]:
    """The commitments of each visible event; none where nothing was signed for yet."""
    try:
        document = proof(viewed, redacted_hand)
    except (NoSecrets, Refuted, Unfinished, NotSigned):
        return [() for _ in redacted_hand.events]
    nonces = {(one["line"], one["field"]): one["nonce"] for one in document["openings"]}
    lines = iter(
        tuple(
            FieldCommitment(field, value["commitment"], nonces.get((number, field)))
            for field, value in msgspec.json.decode(line).items()
            if isinstance(value, dict) and "commitment" in value
        )
        for number, line in enumerate(document["lines"])
    )
    found: list[tuple[FieldCommitment, ...]] = []
    over = False
    for one in redacted_hand.events:
        over = over or isinstance(one.seen, HandEnded | HandVoided)
        event = one.stored.event  # a reply that a bid failed with is in the line of the bid
        waits = HIDDEN_FIELDS[type(event)].is_withheld(event) and not over
        found.append(() if waits else next(lines, ()))
    return found
