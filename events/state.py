"""What a stream of events adds up to: the hand, its round of betting, and the fold over events.

`evolve` counts and never judges: it needs no rules, so a hand recorded under rules that have
since been mended still replays to what was recorded. Whether an event was allowed is for
`engine.audit`. All chips of a hand are in `stacks`, `pot` or `rake`, and the sum stays.
"""

from collections.abc import Iterable
from typing import Literal, TypeVar, assert_never

from msgspec import Struct
from msgspec.structs import replace

from events.types import (
    Announced,
    AntePosted,
    AuctionSettled,
    Bet,
    BettingOpened,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    Called,
    Cards,
    CardSwapped,
    Checked,
    Disconnected,
    Event,
    Faulted,
    Folded,
    HandEnded,
    HandStarted,
    HandVoided,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    RakeTaken,
    Reconnected,
    Shown,
    StepEntered,
    TimedOut,
    UncalledReturned,
)

Standing = Literal["live", "all_in", "folded"]
T = TypeVar("T")


class Round(Struct, frozen=True, gc=False):
    """One round of betting; it dies when the next step begins.

    `matched` is the bet that each seat last answered (-1: not yet asked), so a live seat owes
    an answer while `matched < bet`. `level` is the last bet that counted as a full one, `size`
    the largest full bet or raise so far, `raisers` who made them, `poster` the last blind.
    Blinds start a round before it is opened.
    """

    bets: tuple[int, ...]
    matched: tuple[int, ...]
    opened: bool = False
    bet: int = 0
    size: int = 0
    level: int = 0
    raisers: tuple[int, ...] = ()
    next: int | None = None
    poster: int | None = None
    straddled: bool = False
    folds: int = 0


class Auction(Struct, frozen=True, gc=False):
    """Bids for a card, in order of bidding; `due` are the winners who wait for theirs."""

    bids: tuple[tuple[int, int], ...] = ()
    sealed: bool = True
    settled: bool = False
    due: tuple[int, ...] = ()


class Showing(Struct, frozen=True, gc=False):
    """Who has shown, who has mucked, and what was announced."""

    shown: tuple[int, ...] = ()
    mucked: tuple[int, ...] = ()
    announced: tuple[tuple[int, Cards], ...] = ()


class Hand(Struct, frozen=True, gc=False):
    """A hand after some of its events: everything that a rule or a page may ask.

    `forced` is the part of `paid` that was ante or blind, `tapped` the size of the pot when a
    seat went all-in, `opener` and `aggressor` the first and the last to bet or raise in
    the latest round.
    """

    start: HandStarted
    stacks: tuple[int, ...]
    paid: tuple[int, ...]
    dead: tuple[int, ...]
    forced: tuple[int, ...]
    tapped: tuple[int, ...]
    standing: tuple[Standing, ...]
    hole: tuple[Cards, ...]
    board: Cards = ()
    discards: Cards = ()
    pot: int = 0
    rake: int = 0
    step: int = 0
    street: str = ""
    round: Round | None = None
    opener: int | None = None
    aggressor: int | None = None
    auction: Auction | None = None
    swaps: int = 0
    showing: Showing = Showing()
    absent: tuple[int, ...] = ()
    over: bool = False
    voided: bool = False


def replay(events: Iterable[Event]) -> Hand:
    """The hand that these events add up to; the first must be its `HandStarted`."""
    stream = iter(events)
    first = next(stream, None)
    if not isinstance(first, HandStarted):
        raise ValueError(f"a hand begins with HandStarted, not {type(first).__name__}")
    hand = opened(first)
    for event in stream:
        hand = evolve(hand, event)
    return hand


def opened(event: HandStarted) -> Hand:
    """A hand to which nothing but its start has happened."""
    none = (0,) * len(event.stacks)
    live: Standing = "live"
    return Hand(
        start=event,
        stacks=event.stacks,
        paid=none,
        dead=none,
        forced=none,
        tapped=none,
        standing=(live,) * len(event.stacks),
        hole=((),) * len(event.stacks),
    )


def evolve(hand: Hand, event: Event) -> Hand:
    """The hand after one more event."""
    match event:
        case Called(seat=seat, amount=amount):
            return _stake(hand, seat, amount, _round(hand), event.next)
        case Folded(seat=seat):
            standing = put(hand.standing, seat, "folded")
            now = _round(hand)
            now = replace(now, folds=now.folds + 1, next=event.next)
            return replace(hand, standing=standing, round=now)
        case Checked(seat=seat):
            now = _round(hand)
            matched = put(now.matched, seat, now.bet)
            return replace(hand, round=replace(now, matched=matched, next=event.next))
        case Raised(seat=seat, amount=amount):
            return _raise(hand, seat, amount, event.to, event.full, event.next)
        case Bet(seat=seat, amount=amount):
            return _raise(hand, seat, amount, amount, event.full, event.next)
        case HoleDealt(seat=seat, cards=cards):
            return _hold(hand, seat, cards)
        case StepEntered(step=step, name=name):
            return _enter(hand, step, name)
        case BettingOpened():
            return _open(hand, event)
        case BoardDealt(cards=cards):
            return replace(hand, board=hand.board + cards, round=None)
        case BlindPosted():
            return _post(hand, event)
        case PotSplit(seats=seats, shares=shares):
            return _award(hand, seats, shares)
        case HandEnded():
            return replace(hand, over=True, round=None, auction=None)
        case UncalledReturned(seat=seat, amount=amount):
            paid = add(hand.paid, seat, -amount)
            stacks = add(hand.stacks, seat, amount)
            return replace(hand, stacks=stacks, paid=paid, pot=hand.pot - amount)
        case Shown(seat=seat, cards=cards):
            showing = replace(hand.showing, shown=(*hand.showing.shown, seat))
            return replace(hand, showing=showing, hole=put(hand.hole, seat, cards))
        case BidPlaced():
            return _bid(hand, event)
        case AuctionSettled(seats=seats, price=price):
            return _settle(hand, seats, price)
        case CardSwapped(seat=seat, slot=slot, old=old, new=new):
            return _swap(hand, seat, slot, old, new)
        case HandStarted():
            return opened(event)
        case AntePosted(seat=seat, amount=amount):
            return _force(hand, seat, amount)
        case RakeTaken(amount=amount):
            return replace(hand, pot=hand.pot - amount, rake=hand.rake + amount)
        case Mucked(seat=seat):
            showing = replace(hand.showing, mucked=(*hand.showing.mucked, seat))
            return replace(hand, showing=showing)
        case Announced(seat=seat, cards=cards):
            said = (*hand.showing.announced, (seat, cards))
            return replace(hand, showing=replace(hand.showing, announced=said))
        case TimedOut(seat=seat, all_in=True):
            now = replace(_round(hand), next=event.next)
            return replace(_tap_out(hand, seat), round=now)
        case TimedOut() | Faulted():
            return hand
        case Disconnected(seat=seat):
            return replace(hand, absent=(*hand.absent, seat))
        case Reconnected(seat=seat):
            return replace(hand, absent=tuple(s for s in hand.absent if s != seat))
        case HandVoided():
            return _void(hand)
        case _:
            assert_never(event)


def put(row: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    """The row with one seat's entry replaced."""
    changed = list(row)
    changed[seat] = value
    return tuple(changed)


def add(row: tuple[int, ...], seat: int, amount: int) -> tuple[int, ...]:
    """The row with an amount added to one seat's entry."""
    changed = list(row)
    changed[seat] += amount
    return tuple(changed)


def _pay(hand: Hand, seat: int, amount: int) -> Hand:
    """Chips go from a stack to the pot as that seat's stake; who has none left is all-in."""
    left = hand.stacks[seat] - amount
    pot = hand.pot + amount
    paid = add(hand.paid, seat, amount)
    hand = replace(hand, stacks=put(hand.stacks, seat, left), paid=paid, pot=pot)
    return hand if left else _tap_out(hand, seat)


def _tap_out(hand: Hand, seat: int) -> Hand:
    """Nothing is left, or no time: the seat stays in for what it has put in."""
    if hand.standing[seat] != "live":
        return hand
    standing = put(hand.standing, seat, "all_in")
    return replace(hand, standing=standing, tapped=put(hand.tapped, seat, hand.pot))


def _force(hand: Hand, seat: int, amount: int) -> Hand:
    """An ante or a blind: a stake that nobody chose."""
    return replace(_pay(hand, seat, amount), forced=add(hand.forced, seat, amount))


def _stake(hand: Hand, seat: int, amount: int, now: Round, asked: int | None) -> Hand:
    """A bet, a call or a raise: the seat has answered whatever the bet now is."""
    left = hand.stacks[seat] - amount
    hand = replace(
        hand,
        stacks=put(hand.stacks, seat, left),
        paid=add(hand.paid, seat, amount),
        pot=hand.pot + amount,
        round=replace(
            now,
            bets=add(now.bets, seat, amount),
            matched=put(now.matched, seat, now.bet),
            next=asked,
        ),
    )
    return hand if left else _tap_out(hand, seat)


def _raise(hand: Hand, seat: int, amount: int, to: int, full: bool, asked: int | None) -> Hand:
    """The bet to match goes up; a full one is what the next raise is measured by."""
    now = _round(hand)
    if full:
        size = max(now.size, to - now.bet)
        now = replace(now, bet=to, size=size, level=to, raisers=(*now.raisers, seat))
    else:
        now = replace(now, bet=to)
    opener = seat if hand.opener is None else hand.opener
    return replace(_stake(hand, seat, amount, now, asked), aggressor=seat, opener=opener)


def _enter(hand: Hand, step: int, name: str) -> Hand:
    """A step begins: what belonged to the one before is gone, but for blinds of a round to come."""
    now = hand.round if hand.round is not None and not hand.round.opened else None
    return replace(hand, step=step, street=name, round=now, auction=None, swaps=0)


def _open(hand: Hand, event: BettingOpened) -> Hand:
    """A round begins, on top of the blinds that were posted for it, if any."""
    now = hand.round or _fresh(hand)
    bet = event.bet
    now = replace(now, opened=True, bet=bet, level=bet, size=event.size, next=event.next)
    return replace(
        hand,
        step=event.step,
        street=event.street,
        round=now,
        opener=None,
        aggressor=None,
        auction=None,
    )


def _post(hand: Hand, event: BlindPosted) -> Hand:
    """A blind is a bet of the round to come; a dead one is nobody's stake (G6)."""
    seat, amount = event.seat, event.amount
    if event.kind == "dead":
        return _forfeit(hand, seat, amount)
    paid = _force(hand, seat, amount)
    now = hand.round or _fresh(hand)
    now = replace(now, bets=add(now.bets, seat, amount), bet=max(now.bet, event.to))
    if event.kind != "post":  # a newcomer's post does not change who acts first (M2)
        now = replace(now, poster=seat, straddled=event.kind == "straddle")
    return replace(paid, round=now)


def _forfeit(hand: Hand, seat: int, amount: int) -> Hand:
    """Chips go from a stack to the pot as nobody's stake."""
    left = hand.stacks[seat] - amount
    dead = add(hand.dead, seat, amount)
    pot = hand.pot + amount
    hand = replace(hand, stacks=put(hand.stacks, seat, left), dead=dead, pot=pot)
    return hand if left else _tap_out(hand, seat)


def _bid(hand: Hand, event: BidPlaced) -> Hand:
    """One more bid; a single open one makes it an auction with open bids."""
    now = _auction(hand)
    bids = (*now.bids, (event.seat, event.amount))
    return replace(hand, auction=replace(now, bids=bids, sealed=now.sealed and event.sealed))


def _settle(hand: Hand, seats: tuple[int, ...], price: int) -> Hand:
    """The winners pay, and wait for their card."""
    for seat in seats:
        hand = _forfeit(hand, seat, price)
    return replace(hand, auction=replace(_auction(hand), settled=True, due=seats))


def _hold(hand: Hand, seat: int, cards: Cards) -> Hand:
    """Cards join a seat's hole cards; one won at auction is no longer due."""
    hole = put(hand.hole, seat, hand.hole[seat] + cards)
    auction = hand.auction
    if auction is not None and auction.due:
        auction = replace(auction, due=tuple(s for s in auction.due if s != seat))
    return replace(hand, hole=hole, auction=auction)


def _swap(hand: Hand, seat: int, slot: int, old: str, new: str) -> Hand:
    """A new card takes the place of the old, which is out of play (S2)."""
    if new == old:
        return replace(hand, swaps=hand.swaps + 1)
    hole = put(hand.hole, seat, put(hand.hole[seat], slot, new))
    return replace(hand, hole=hole, discards=(*hand.discards, old), swaps=hand.swaps + 1)


def _award(hand: Hand, seats: tuple[int, ...], shares: tuple[int, ...]) -> Hand:
    """A pot goes to stacks."""
    stacks = list(hand.stacks)
    for seat, share in zip(seats, shares, strict=True):
        stacks[seat] += share
    return replace(hand, stacks=tuple(stacks), pot=hand.pot - sum(shares))


def _void(hand: Hand) -> Hand:
    """Everything goes back: the stacks are those of the start."""
    none = (0,) * len(hand.stacks)
    return replace(
        hand, stacks=hand.start.stacks, paid=none, dead=none, pot=0, rake=0, round=None, voided=True
    )


def _fresh(hand: Hand) -> Round:
    """A round in which nobody has bet or answered."""
    seats = len(hand.stacks)
    return Round(bets=(0,) * seats, matched=(-1,) * seats)


def _round(hand: Hand) -> Round:
    """The round of betting in progress; counting a bet outside one starts a round."""
    return hand.round or _fresh(hand)


def _auction(hand: Hand) -> Auction:
    """The auction in progress."""
    return hand.auction or Auction()
