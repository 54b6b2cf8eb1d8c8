"""Each event of a hand in a sentence for people: players by name, chips and cards as such.

`lynx raises to 20`, `ursa wins 104 from the pot`: for pages and reports. The notation, which has
seats and reads back, is in `notation.py`. What a viewpoint may not see is `hidden` in the event.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from events import types as t
from events.cards import Card

HIDDEN = "hidden"
STREETS = {3: "flop", 4: "turn", 5: "river"}  # by the cards on the board, if none is tossed
_FORCED = {
    "small": "posts the small blind of",
    "big": "posts the big blind of",
    "straddle": "straddles to",
    "post": "posts",
    "dead": "posts dead",
}
_STEPS = {"hole": "hole cards", "posts": "blinds"}


class Part(NamedTuple):
    """A piece of a sentence: words, and after them perhaps a player's name, chips, or cards."""

    words: str = ""
    player: str | None = None
    chips: int | None = None
    cards: tuple[Card, ...] = ()


Sentence = tuple[Part, ...]


class _Hand:
    """What earlier events of the hand say of a later one."""

    def __init__(self, record: Sequence[t.Event]) -> None:
        start = record[0] if record and isinstance(record[0], t.HandStarted) else None
        self.players = start.players if start else ()
        self.stacks = dict(enumerate(start.stacks)) if start else {}
        self.board = 0
        self.step = ""
        self.bidders: list[int] = []
        self.side_pots = any(
            isinstance(event, t.PotSplit | t.RakeTaken) and event.pot for event in record
        )

    def player(self, seat: int) -> Part:
        return Part(player=name_at(self.players, seat))

    def named(self, seats: Sequence[int], between: str = " and ") -> Iterator[Part]:
        for place, seat in enumerate(seats):
            yield Part(between if place else "", player=name_at(self.players, seat))

    def pot(self, number: int) -> str:
        if number:
            return f"side pot {number}"
        return "the main pot" if self.side_pots else "the pot"


def name_at(players: Sequence[str], seat: int) -> str:
    """The player's name; a wrong record may name a seat that does not exist."""
    return players[seat] if 0 <= seat < len(players) else f"seat {seat}"


def sentences(record: Sequence[t.Event]) -> list[Sentence]:
    """A sentence for each event of a hand, whatever a forged record may hold."""
    hand = _Hand(record)
    return [tuple(part for part in _parts(event, hand) if any(part)) for event in record]


def of_event(record: Sequence[t.Event], at: int, event: t.Event) -> Sentence:
    """The sentence of an event that would stand at this place of a record."""
    return sentences((*record[:at], event, *record[at + 1 :]))[at]


def with_names(sentence: str, players: Sequence[str]) -> Sentence:
    """A sentence of the rules, which speaks of `seat 2`, with the player's name in its place."""
    words = re.split(r"\bseat (\d+)\b", sentence)
    found = [Part(words[0])]
    for seat, rest in zip(words[1::2], words[2::2], strict=True):
        found += [Part(player=name_at(players, int(seat))), Part(rest)]
    return tuple(part for part in found if any(part))


def text(sentence: Sentence) -> str:
    """A sentence as plain text."""
    return "".join(
        part.words
        + (part.player or "")
        + ("" if part.chips is None else str(part.chips))
        + " ".join(part.cards)
        for part in sentence
    )


def _parts(event: t.Event, hand: _Hand) -> Iterator[Part]:
    seat = getattr(event, "seat", None)
    if seat is not None:
        yield hand.player(seat)
    yield from _SAYS[type(event)](event, hand)
    origin = getattr(event, "origin", "chosen")
    if isinstance(event, _PAYING):
        left = hand.stacks.get(event.seat, 0) - event.amount
        hand.stacks[event.seat] = left
        if event.amount and left == 0:
            yield Part(", all-in")
    if origin not in ("chosen", "forced"):
        yield Part(f" ({origin})")


_PAYING = t.AntePosted | t.BlindPosted | t.Called | t.Bet | t.Raised


def _does(words: str, chips: str | None = None) -> Callable[[Any, _Hand], Iterator[Part]]:
    """What a player does, and the field with its chips."""

    def say(event: Any, hand: _Hand) -> Iterator[Part]:
        yield Part(f" {words}")
        if chips is not None:
            yield Part(" ", chips=getattr(event, chips))

    return say


def _cards(words: str) -> Callable[[Any, _Hand], Iterator[Part]]:
    """What happens to a player's cards."""
    return lambda event, hand: iter((Part(f" {words} ", cards=event.cards),))


def _starts(event: t.HandStarted, hand: _Hand) -> Iterator[Part]:
    for seat, stack in enumerate(event.stacks):
        yield Part(", " if seat else "", player=event.players[seat])
        yield Part(" has ", chips=stack)
    yield Part("; the button is ", player=name_at(event.players, event.button))
    if event.dead_small:
        yield Part(", no small blind")


def _board(event: t.BoardDealt, hand: _Hand) -> Iterator[Part]:
    hand.board += len(event.cards)
    yield Part(f"{street(hand.board, hand.step)} ", cards=event.cards)


def street(board: int, step: str) -> str:
    """What the cards that have come are called: by the step that dealt them, or by their number."""
    return step if step in STREETS.values() else STREETS.get(board, "board")


def _enters(event: t.StepEntered, hand: _Hand) -> Iterator[Part]:
    hand.step = event.name
    yield Part(_STEPS.get(event.name, event.name))


def _opens(event: t.BettingOpened, hand: _Hand) -> Iterator[Part]:
    yield Part(f"{event.street} betting")
    if event.bet:
        yield Part(", ", chips=event.bet)
        yield Part(" to match")


def _posts(event: t.BlindPosted, hand: _Hand) -> Iterator[Part]:
    chips = event.to if event.kind == "straddle" else event.amount
    yield Part(f" {_FORCED[event.kind]} ", chips=chips)


def _bets(event: t.Bet | t.Raised, hand: _Hand) -> Iterator[Part]:
    chips = event.to if isinstance(event, t.Raised) else event.amount
    yield Part(" raises to " if isinstance(event, t.Raised) else " bets ", chips=chips)
    if not event.full:
        yield Part(", less than a full raise")


def _bids(event: t.BidPlaced, hand: _Hand) -> Iterator[Part]:
    hand.bidders.append(event.seat)
    if str(event.amount) == HIDDEN:
        yield Part(" places a sealed bid")
    else:
        yield Part(" bids ", chips=event.amount)


def _settles(event: t.AuctionSettled, hand: _Hand) -> Iterator[Part]:
    yield from hand.named(event.seats)
    if not event.seats:
        yield Part("nobody wins the auction")
    else:
        one = len(event.seats) == 1
        yield Part(" wins the auction and pays " if one else " win the auction and each pay ")
        yield Part(chips=event.price)
        for seat in event.seats:
            hand.stacks[seat] = hand.stacks.get(seat, 0) - event.price
    for place, bid in enumerate(event.bids):
        yield Part(", " if place else " (")
        if len(hand.bidders) == len(event.bids):
            yield hand.player(hand.bidders[place])
            yield Part(" ")
        yield Part("bid ", chips=bid)
    if event.bids:
        yield Part(")" if event.sealed else "), open bids")
    hand.bidders = []


def _swaps(event: t.CardSwapped, hand: _Hand) -> Iterator[Part]:
    """A card at risk; where both are hidden, nothing is said of what came."""
    yield Part(" risks ", cards=(event.old,))
    if event.new == HIDDEN:
        return
    if event.new == event.old:
        yield Part(" and keeps it")
    else:
        yield Part(" and gets ", cards=(event.new,))


def _takes_back(event: t.UncalledReturned, hand: _Hand) -> Iterator[Part]:
    hand.stacks[event.seat] = hand.stacks.get(event.seat, 0) + event.amount
    yield Part(" takes back ", chips=event.amount)


def _wins(event: t.PotSplit, hand: _Hand) -> Iterator[Part]:
    for place, (seat, share) in enumerate(zip(event.seats, event.shares, strict=True)):
        yield Part(", " if place else "", player=name_at(hand.players, seat))
        yield Part(" wins ", chips=share)
    yield Part(f" from {hand.pot(event.pot)}")


def _rakes(event: t.RakeTaken, hand: _Hand) -> Iterator[Part]:
    yield Part("the house takes ", chips=event.amount)
    yield Part(f" from {hand.pot(event.pot)}")


def _bounty(event: t.BountyDrawn, hand: _Hand) -> Iterator[Part]:
    hidden = str(event.rank) == HIDDEN
    yield Part(" has a bounty" if hidden else f" has the bounty {event.rank}")


def _settles_bounty(event: t.BountySettled, hand: _Hand) -> Iterator[Part]:
    yield Part(" hits the bounty" if event.hit else " misses the bounty")
    if event.amount:
        yield Part(" and gets ", chips=event.amount)
        yield Part(" from ", player=name_at(hand.players, event.payer))
        hand.stacks[event.seat] = hand.stacks.get(event.seat, 0) + event.amount
        hand.stacks[event.payer] = hand.stacks.get(event.payer, 0) - event.amount


def _claims(event: t.Claimed, hand: _Hand) -> Iterator[Part]:
    yield Part("the source claims that ")
    for seat, net in enumerate(event.nets):
        yield Part(", " if seat else "", player=name_at(hand.players, seat))
        yield Part(" loses " if net < 0 else " wins ", chips=abs(net))
    yield Part(", and the house ", chips=event.rake)


def _replies(event: t.Faulted, hand: _Hand) -> Iterator[Part]:
    raw = HIDDEN if event.raw == HIDDEN else json.dumps(event.raw)
    yield Part(f" replies {raw}, {event.kind} as {event.where}")


_SAYS: dict[type, Callable[[Any, _Hand], Iterator[Part]]] = {
    t.HandStarted: _starts,
    t.StepEntered: _enters,
    t.AntePosted: _does("antes", "amount"),
    t.BlindPosted: _posts,
    t.HoleDealt: _cards("is dealt"),
    t.BoardDealt: _board,
    t.CardSwapped: _swaps,
    t.BountyDrawn: _bounty,
    t.BettingOpened: _opens,
    t.Folded: _does("folds"),
    t.Checked: _does("checks"),
    t.Called: _does("calls", "amount"),
    t.Bet: _bets,
    t.Raised: _bets,
    t.BidPlaced: _bids,
    t.AuctionSettled: _settles,
    t.Tossed: _cards("tosses"),
    t.UncalledReturned: _takes_back,
    t.Announced: _cards("announces"),
    t.Shown: _cards("shows"),
    t.Mucked: _does("mucks"),
    t.RakeTaken: _rakes,
    t.PotSplit: _wins,
    t.BountySettled: _settles_bounty,
    t.Claimed: _claims,
    t.HandVoided: lambda event, hand: iter((Part(f"hand void, {event.reason}"),)),
    t.HandEnded: lambda event, hand: iter((Part("hand over"),)),
    t.TimedOut: lambda event, hand: iter((Part(" is out of time" + " and all-in" * event.all_in),)),
    t.Disconnected: _does("disconnects"),
    t.Reconnected: _does("reconnects"),
    t.Faulted: _replies,
}
