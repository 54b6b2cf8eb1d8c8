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


class Fragment(NamedTuple):
    """A piece of a sentence: words, and after them perhaps a player's name, chips, or cards."""

    words: str = ""
    player: str | None = None
    chips: int | None = None
    cards: tuple[Card, ...] = ()


Sentence = tuple[Fragment, ...]


class _Hand:
    """The state of a hand that the sentence of a later event needs."""

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

    def player(self, seat: int) -> Fragment:
        return Fragment(player=name_at(self.players, seat))

    def named(self, seats: Sequence[int], between: str = " and ") -> Iterator[Fragment]:
        for place, seat in enumerate(seats):
            yield Fragment(between if place else "", player=name_at(self.players, seat))

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
    fragments = [Fragment(words[0])]
    for seat, rest in zip(words[1::2], words[2::2], strict=True):
        fragments += [Fragment(player=name_at(players, int(seat))), Fragment(rest)]
    return tuple(part for part in fragments if any(part))


def text(sentence: Sentence) -> str:
    """A sentence as plain text."""
    return "".join(
        part.words
        + (part.player or "")
        + ("" if part.chips is None else str(part.chips))
        + " ".join(part.cards)
        for part in sentence
    )


def _parts(event: t.Event, hand: _Hand) -> Iterator[Fragment]:
    seat = getattr(event, "seat", None)
    if seat is not None:
        yield hand.player(seat)
    yield from _SAYS[type(event)](event, hand)
    origin = getattr(event, "origin", "chosen")
    if isinstance(event, _PAYING):
        left = hand.stacks.get(event.seat, 0) - event.amount
        hand.stacks[event.seat] = left
        if event.amount and left == 0:
            yield Fragment(", all-in")
    if origin not in ("chosen", "forced"):
        yield Fragment(f" ({origin})")


_PAYING = t.AntePosted | t.BlindPosted | t.Called | t.Bet | t.Raised


def _does(words: str, chips: str | None = None) -> Callable[[Any, _Hand], Iterator[Fragment]]:
    """A sentence of what a player does, with the chips of one field."""

    def say(event: Any, hand: _Hand) -> Iterator[Fragment]:
        yield Fragment(f" {words}")
        if chips is not None:
            yield Fragment(" ", chips=getattr(event, chips))

    return say


def _cards(words: str) -> Callable[[Any, _Hand], Iterator[Fragment]]:
    """A sentence of what happens to a player's cards."""
    return lambda event, hand: iter((Fragment(f" {words} ", cards=event.cards),))


def _starts(event: t.HandStarted, hand: _Hand) -> Iterator[Fragment]:
    for seat, stack in enumerate(event.stacks):
        yield Fragment(", " if seat else "", player=event.players[seat])
        yield Fragment(" has ", chips=stack)
    yield Fragment("; the button is ", player=name_at(event.players, event.button))
    if event.dead_small:
        yield Fragment(", no small blind")


def _board(event: t.BoardDealt, hand: _Hand) -> Iterator[Fragment]:
    hand.board += len(event.cards)
    yield Fragment(f"{street(hand.board, hand.step)} ", cards=event.cards)


def street(board: int, step: str) -> str:
    """The name of the street: by the step that dealt its cards, or by their number."""
    return step if step in STREETS.values() else STREETS.get(board, "board")


def _enters(event: t.StepEntered, hand: _Hand) -> Iterator[Fragment]:
    hand.step = event.name
    yield Fragment(_STEPS.get(event.name, event.name))


def _opens(event: t.BettingOpened, hand: _Hand) -> Iterator[Fragment]:
    yield Fragment(f"{event.street} betting")
    if event.bet:
        yield Fragment(", ", chips=event.bet)
        yield Fragment(" to match")


def _posts(event: t.BlindPosted, hand: _Hand) -> Iterator[Fragment]:
    chips = event.to if event.kind == "straddle" else event.amount
    yield Fragment(f" {_FORCED[event.kind]} ", chips=chips)


def _bets(event: t.Bet | t.Raised, hand: _Hand) -> Iterator[Fragment]:
    chips = event.to if isinstance(event, t.Raised) else event.amount
    yield Fragment(" raises to " if isinstance(event, t.Raised) else " bets ", chips=chips)
    if not event.full:
        yield Fragment(", less than a full raise")


def _bids(event: t.BidPlaced, hand: _Hand) -> Iterator[Fragment]:
    hand.bidders.append(event.seat)
    if str(event.amount) == HIDDEN:
        yield Fragment(" places a sealed bid")
    else:
        yield Fragment(" bids ", chips=event.amount)


def _settles(event: t.AuctionSettled, hand: _Hand) -> Iterator[Fragment]:
    yield from hand.named(event.seats)
    if not event.seats:
        yield Fragment("nobody wins the auction")
    else:
        alone = len(event.seats) == 1
        yield Fragment(" wins the auction and pays " if alone else " win the auction and each pay ")
        yield Fragment(chips=event.price)
        for seat in event.seats:
            hand.stacks[seat] = hand.stacks.get(seat, 0) - event.price
    for place, bid in enumerate(event.bids):
        yield Fragment(", " if place else " (")
        if len(hand.bidders) == len(event.bids):
            yield hand.player(hand.bidders[place])
            yield Fragment(" ")
        yield Fragment("bid ", chips=bid)
    if event.bids:
        yield Fragment(")" if event.sealed else "), open bids")
    hand.bidders = []


def _swaps(event: t.CardSwapped, hand: _Hand) -> Iterator[Fragment]:
    """A card at risk; where both are hidden, nothing is said of what came."""
    yield Fragment(" risks ", cards=(event.old,))
    if event.new == HIDDEN:
        return
    if event.new == event.old:
        yield Fragment(" and keeps it")
    else:
        yield Fragment(" and gets ", cards=(event.new,))


def _takes_back(event: t.UncalledReturned, hand: _Hand) -> Iterator[Fragment]:
    hand.stacks[event.seat] = hand.stacks.get(event.seat, 0) + event.amount
    yield Fragment(" takes back ", chips=event.amount)


def _wins(event: t.PotSplit, hand: _Hand) -> Iterator[Fragment]:
    for place, (seat, share) in enumerate(zip(event.seats, event.shares, strict=True)):
        yield Fragment(", " if place else "", player=name_at(hand.players, seat))
        yield Fragment(" wins ", chips=share)
    yield Fragment(f" from {hand.pot(event.pot)}")


def _rakes(event: t.RakeTaken, hand: _Hand) -> Iterator[Fragment]:
    yield Fragment("the house takes ", chips=event.amount)
    yield Fragment(f" from {hand.pot(event.pot)}")


def _bounty(event: t.BountyDrawn, hand: _Hand) -> Iterator[Fragment]:
    hidden = str(event.rank) == HIDDEN
    yield Fragment(" has a bounty" if hidden else f" has the bounty {event.rank}")


def _settles_bounty(event: t.BountySettled, hand: _Hand) -> Iterator[Fragment]:
    yield Fragment(" hits the bounty" if event.hit else " misses the bounty")
    if event.amount:
        yield Fragment(" and gets ", chips=event.amount)
        yield Fragment(" from ", player=name_at(hand.players, event.payer))
        hand.stacks[event.seat] = hand.stacks.get(event.seat, 0) + event.amount
        hand.stacks[event.payer] = hand.stacks.get(event.payer, 0) - event.amount


def _claims(event: t.Claimed, hand: _Hand) -> Iterator[Fragment]:
    yield Fragment("the source claims that ")
    for seat, net in enumerate(event.nets):
        yield Fragment(", " if seat else "", player=name_at(hand.players, seat))
        yield Fragment(" loses " if net < 0 else " wins ", chips=abs(net))
    yield Fragment(", and the house ", chips=event.rake)


def _replies(event: t.Faulted, hand: _Hand) -> Iterator[Fragment]:
    raw = HIDDEN if event.raw == HIDDEN else json.dumps(event.raw)
    yield Fragment(f" replies {raw}, {event.kind} as {event.where}")


_SAYS: dict[type, Callable[[Any, _Hand], Iterator[Fragment]]] = {
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
    t.HandVoided: lambda event, hand: iter((Fragment(f"hand void, {event.reason}"),)),
    t.HandEnded: lambda event, hand: iter((Fragment("hand over"),)),
    t.TimedOut: lambda event, hand: iter(
        (Fragment(" is out of time" + " and all-in" * event.all_in),)
    ),
    t.Disconnected: _does("disconnects"),
    t.Reconnected: _does("reconnects"),
    t.Faulted: _replies,
}
