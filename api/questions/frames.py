"""Frames of a hand for drawing: the table after each event that a viewpoint sees.

Frames are the fold of replay over seen events and over nothing else, so a page that draws them
needs to know no poker, and no frame can hold what its reader may not see. Beside the table stands
what a fold forgets and a reader still wants to look at: the auction that was, cards that were
swapped.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, cast

import msgspec

from analytics.luck.street_luck import hand_equity, spot, with_shown_cards
from analytics.projections.equity import PotEquities
from api.viewpoints.redaction import (
    RedactedEvent,
    RedactedEvents,
    event_line,
    masked_event,
    timestamps,
)
from engine.game import Game
from engine.hand import turn
from engine.pots import pots
from engine.seats import contenders
from engine.settle import best_cards
from engine.turn import IllegalCommand, ToAct
from events import types as t
from events import views
from events.cards import DECK, Cards
from events.evolve import evolve, replay
from events.notation import say
from events.sentences import HIDDEN, STREETS, Fragment, Sentence, sentences, street
from events.state import Hand
from odds.rank import describe, value_of_five

_CARDS = frozenset(DECK)
_BROKEN_SENTENCE = "from here on its events do not add up to a hand"


def frames(redacted_hand: RedactedEvents, view: str, game: Game | None) -> dict[str, Any]:
    """The document of a hand's frames, with slider marks; pots only with its rules."""
    start = hand_start(redacted_hand)
    drawn, broken = (
        ([], _BROKEN_SENTENCE)
        if start is None
        else _frames_of(redacted_hand, len(start.players), game)
    )
    return {
        "hand": redacted_hand.stream,
        "view": view,
        "game": start and start.game,
        "button": start and start.button,
        "big_blind": big_blind(redacted_hand),
        "players": list(start.players) if start else [],
        "stacks": list(start.stacks) if start else [],
        "marks": slider_marks(redacted_hand),
        "broken": broken,
        "frames": drawn,
    }


def hand_start(redacted_hand: RedactedEvents) -> t.HandStarted | None:
    """The event that starts the hand; None in a forged record without it."""
    first = redacted_hand.events[0].seen
    return first if isinstance(first, t.HandStarted) else None


def big_blind(redacted_hand: RedactedEvents) -> int | None:
    """The hand's big blind, if somebody owed one."""
    for event in redacted_hand.events:
        if isinstance(event.seen, t.BlindPosted) and event.seen.kind == "big":
            return event.seen.to
    return None


def slider_marks(redacted_hand: RedactedEvents) -> list[dict[str, Any]]:
    """The events where something begins: a street, an auction, a swap, a toss, the showdown, the
    end."""
    slider_marks: list[tuple[int, str, str]] = []
    board, dealt, step = 0, False, ""
    for idx, event in enumerate(redacted_hand.events):
        match event.seen:
            case t.BoardDealt(cards=cards):
                board += len(cards)
                name = street(board, step)
                slider_marks.append((idx, name[0].upper(), name))
                dealt = True
            case t.BettingOpened(street=name):
                if not dealt:
                    slider_marks.append((idx, name[:1].upper(), name))
                dealt = False
            case t.StepEntered(name="auction" | "swap" as name):
                slider_marks.append((idx, name[0].upper(), name))
            case t.StepEntered(name="toss" as name):
                slider_marks.append((idx, "TO", name))
                dealt = False
            case t.StepEntered(name="showdown"):
                slider_marks.append((idx, "SD", "showdown"))
            case t.StepEntered(name=step):
                pass
            case t.HandVoided() | t.HandEnded():
                slider_marks.append((idx, "E", "end"))
    return [{"idx": idx, "mark": mark, "name": name} for idx, mark, name in slider_marks]


def _frames_of(
    redacted_hand: RedactedEvents, seats: int, game: Game | None
) -> tuple[list[dict[str, Any]], str | None]:
    drawn: list[dict[str, Any]] = []
    state = _TableState(game, seats)
    hand: Hand | None = None
    times = timestamps([event.stored.at for event in redacted_hand.events])
    events = [cast(t.Event, masked_event(event.seen)) for event in redacted_hand.events]
    worths = odds_of(redacted_hand.stream, events, game)
    for idx, (one, event, at) in enumerate(zip(redacted_hand.events, events, times, strict=True)):
        try:
            if hand is not None:
                state.note_pots(event, hand)
            hand = replay((event,)) if hand is None else evolve(hand, event)
            state.add(one.seen, hand)
            table = state.table(hand, event)
            state.value(table, next(worths), hand)
        except (LookupError, TypeError, ValueError):
            return drawn, _BROKEN_SENTENCE
        head = {
            "idx": idx,
            "type": type(event).__name__,
            "seat": getattr(event, "seat", None),
            "at": at,
            "line": event_text(one, whole=redacted_hand.open),
        }
        drawn.append(head | table)
    return drawn, None


def odds_of(
    name: str, events: Sequence[t.Event], game: Game | None
) -> Iterator[PotEquities | None]:
    """After each event, how often each seat that is in would win if chance alone were left.

    Cards that were shown later are known from the start, as everybody who has the page can see
    them. A step that begins has changed nothing, and swaps of one street count when all are made.
    """
    shown = with_shown_cards(events)
    hand: Hand | None = None
    found: PotEquities | None = None
    before: Any = None
    for event, later in zip_longest(shown, shown[1:]):
        hand = replay((event,)) if hand is None else evolve(hand, event)
        still = isinstance(event, t.StepEntered) or isinstance(later, t.CardSwapped)
        if game is None or isinstance(event, _PAYMENTS) or hand.over or hand.voided:
            found = before = None
        elif not still and (now := spot(game, hand)) != before:
            found, before = hand_equity(game, hand, name), now
        yield found


def event_text(one: RedactedEvent, *, whole: bool) -> str:
    """The event's line, with a word in place of hidden values; to an auditor, the record's own."""
    return say(one.stored.event) if whole else event_line(one.seen)


def masked_events(redacted_hand: RedactedEvents) -> list[t.Event]:
    """The events of a hand, with a word in place of hidden values; an auditor's are the record."""
    whole = redacted_hand.open
    ones = redacted_hand.events
    return [cast(t.Event, one.stored.event if whole else masked_event(one.seen)) for one in ones]


def event_sentences(redacted_hand: RedactedEvents) -> list[Sentence]:
    """Each visible event of a hand in a sentence."""
    words_by_event = sentences(masked_events(redacted_hand))
    for at, event in enumerate(redacted_hand.events):
        match event.seen:
            case views.CardSwappedSeen(old=views.Hidden(), changed=bool(changed)):
                words_by_event[at] += (Fragment(f", {'another' if changed else 'the same'} card"),)
    return words_by_event


class _TableState:
    """The state of the table that the hand itself does not hold, and the table as JSON."""

    def __init__(self, game: Game | None, seats: int) -> None:
        self._game = game
        self._auction: dict[str, Any] | None = None
        self._awards: list[dict[str, Any]] = []
        self._layers: list[dict[str, Any]] | None = None
        self._dealt: list[list[int]] = [[] for _ in range(seats)]
        self._swaps: list[list[dict[str, Any]]] = [[] for _ in range(seats)]
        self._paid = False
        self._gathered = False  # the bets of the round, into the middle
        self._made: dict[tuple[Cards, Cards], str | None] = {}

    def note_pots(self, event: t.Event, before: Hand) -> None:
        """Keep the pots as they are paid, once the first of them is."""
        if isinstance(event, t.PotSplit | t.RakeTaken) and not self._paid and self._game:
            self._layers = _side_pots(self._game, before, (0,) * len(before.stacks))
            self._paid = True

    def add(self, seen: views.Seen, hand: Hand) -> None:
        """Add an event, and the hand after it."""
        match seen:
            case views.HoleDealtSeen(seat=seat, cards=cards):
                self._dealt[seat].append(len(cards))
            case views.CardSwappedSeen():
                document = msgspec.to_builtins(seen)
                swap = {name: document[name] for name in ("slot", "old", "new", "changed")}
                street = STREETS.get(len(hand.board), "board") if hand.board else "preflop"
                self._swaps[seen.seat].append({**swap, "street": street})
            case views.BidPlacedSeen(seat=seat, amount=amount):
                self._bid(seat, msgspec.to_builtins(amount), hand)
            case t.AuctionSettled():
                self._settle(seen)
            case t.PotSplit(pot=pot, seats=seats, shares=shares):
                award = {"pot": pot, "seats": list(seats), "shares": list(shares)}
                self._awards = [*self._awards, award]

    def table(self, hand: Hand, event: t.Event) -> dict[str, Any]:
        """Everything that lies on the table after this event."""
        betting = hand.round
        if isinstance(event, _STREET_STARTS):
            self._gathered = False
        elif betting is not None:
            # Bets go to the middle with what follows the last answer of their round.
            closed = betting.opened and betting.next is None
            if isinstance(event, _POT_EVENTS) or (closed and not isinstance(event, _ACTIONS)):
                self._gathered = True
        lying = betting is not None and not self._gathered
        bets = betting.bets if betting is not None and lying else (0,) * len(hand.stacks)
        return {
            "street": hand.street,
            "board": list(hand.board),
            "pot": hand.pot,
            "middle": hand.pot - sum(bets),
            "rake": hand.rake,
            "pots": self._pots(hand, bets),
            "awards": self._awards,
            "next": None if betting is None else betting.next,
            "facing": self._facing(hand),
            "over": hand.over,
            "void": hand.voided,
            "auction": self._auction,
            "seats": [self._seat(hand, seat, bets[seat]) for seat in range(len(hand.stacks))],
        }

    def value(self, table: dict[str, Any], worth: PotEquities | None, hand: Hand) -> None:
        """Add to each seat what its cards are worth against the others'."""
        seats = [] if worth is None else contenders(hand)
        for seat, row in enumerate(table["seats"]):
            row["odds"] = None
            if worth is not None and seat in seats:
                place = seats.index(seat)
                row["odds"] = {
                    "share": round(worth.share[place], 6),
                    "alone": round(worth.alone[place], 6),
                    "error": round(worth.error, 6),
                }

    def _bid(self, seat: int, amount: Any, hand: Hand) -> None:
        """Add a bid; one after a settlement begins another auction."""
        known = self._auction
        bids = [] if known is None or known["settled"] else known["bids"]
        self._auction = {
            "bids": [*bids, {"seat": seat, "amount": amount}],
            "sealed": hand.auction.sealed if hand.auction else True,
            "settled": False,
            "winners": [],
            "price": None,
        }

    def _settle(self, event: t.AuctionSettled) -> None:
        """Settle the auction; its bids stand in the order in which they were placed."""
        known = self._auction["bids"] if self._auction else []
        seats = [bid["seat"] for bid in known]
        placed = zip(seats, event.bids, strict=False)
        self._auction = {
            "bids": [{"seat": seat, "amount": amount} for seat, amount in placed],
            "sealed": event.sealed,
            "settled": True,
            "winners": list(event.seats),
            "price": event.price,
        }

    def _pots(self, hand: Hand, bets: tuple[int, ...]) -> list[dict[str, Any]] | None:
        """The pots in the middle; once they are being paid, as they were."""
        if self._game is None or hand.voided or (hand.pot == 0 and not self._paid):
            self._layers = [] if self._game else None
        elif not self._paid:
            self._layers = _side_pots(self._game, hand, bets)
        return self._layers

    def _facing(self, hand: Hand) -> dict[str, Any] | None:
        """What the next seat has to call, and what is then in the pots that it can win."""
        if self._game is None or hand.round is None or hand.round.next is None:
            return None
        try:
            question = turn(self._game, hand)
            if not isinstance(question, ToAct) or not question.call:
                return None
            seat, called = question.seat, evolve(hand, t.Called(question.seat, question.call, None))
            found = pots(self._game, called, contenders(called))
        except (IllegalCommand, LookupError, StopIteration, TypeError, ValueError):
            return None  # a record that does not add up
        of = sum(pot.amount for pot in found if seat in pot.seats)
        return {"seat": seat, "call": question.call, "of": of}

    def _seat(self, hand: Hand, seat: int, bet: int) -> dict[str, Any]:
        closed = hand.over or hand.voided
        return {
            "stack": hand.stacks[seat],
            "bet": bet,
            "cards": [card_json(one) for one in hand.hole[seat]],
            "dealt": list(self._dealt[seat]),
            "swaps": list(self._swaps[seat]),
            "standing": hand.standing[seat],
            "away": seat in hand.absent,
            "shown": seat in hand.showing.shown,
            "mucked": seat in hand.showing.mucked,
            "made": self._worth(hand, seat),
            "net": hand.stacks[seat] - hand.start.stacks[seat] if closed else None,
        }

    def _worth(self, hand: Hand, seat: int) -> str | None:
        """The best five in words, as far as all cards of the seat are seen."""
        if self._game is None or hand.standing[seat] == "folded":
            return None
        held = hand.hole[seat], hand.board
        if held not in self._made:
            self._made[held] = _made_hand(self._game, hand, seat)
        return self._made[held]


_ACTIONS = t.BettingOpened | t.Folded | t.Checked | t.Called | t.Bet | t.Raised | t.TimedOut
_STREET_STARTS = t.BettingOpened | t.AntePosted | t.BlindPosted
_PAYMENTS = t.PotSplit | t.RakeTaken | t.BountySettled
_POT_EVENTS = t.UncalledReturned | _PAYMENTS


def card_json(word: str) -> Any:
    """A card as it stands in JSON: hidden is not unknown."""
    return msgspec.to_builtins(views.HIDDEN) if word == HIDDEN else word


def _side_pots(game: Game, hand: Hand, bets: tuple[int, ...]) -> list[dict[str, Any]]:
    """The pots by what each seat put in before this round."""
    paid = tuple(put - bet for put, bet in zip(hand.paid, bets, strict=True))
    before = msgspec.structs.replace(hand, paid=paid, pot=hand.pot - sum(bets))
    claimants = contenders(hand)
    if all(hand.standing[seat] == "live" for seat in claimants):  # nobody is in for less
        return [{"amount": before.pot, "seats": list(claimants)}] if before.pot else []
    try:
        found = pots(game, before, claimants)
    except IllegalCommand:
        return []
    return [{"amount": pot.amount, "seats": list(pot.seats)} for pot in found]


def _made_hand(game: Game, hand: Hand, seat: int) -> str | None:
    cards = (*hand.hole[seat], *hand.board)
    if len(cards) < 5 or not hand.hole[seat] or not _CARDS.issuperset(cards):
        return None
    if len(set(cards)) < len(cards):
        return None
    try:
        best = best_cards(game, hand, seat)
    except (LookupError, ValueError):  # too few cards for a rule that wants two of the hand
        return None
    value = value_of_five(best, straights=game.straights, ranking=game.ranking)
    return describe(value, game.straights, game.ranking)
