"""The fold over events: what each kind of event does to a hand, counted and never judged.

`evolve` needs no rules, so a hand recorded under rules that have since been mended still replays
to what was recorded. Whether an event was allowed is for `engine.audit`. It looks one small
function up by the kind of event: a table instead of a match makes folding 1.5 times as fast, and
a test holds it complete.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec.structs import replace

from events.state import Auction, Hand, Round, opened
from events.types import (
    Announced,
    AntePosted,
    AuctionSettled,
    Bet,
    BettingOpened,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    BountyDrawn,
    BountySettled,
    Called,
    CardSwapped,
    Checked,
    Claimed,
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
    Tossed,
    UncalledReturned,
)

T = TypeVar("T")


def replay(events: Iterable[Event]) -> Hand:
    """The hand that these events add up to; the first must be its `HandStarted`."""
    stream = iter(events)
    first = next(stream, None)
    if not isinstance(first, HandStarted):
        raise ValueError(f"a hand begins with HandStarted, not {type(first).__name__}")
    return evolved(opened(first), stream)


def evolve(hand: Hand, event: Event) -> Hand:
    """The hand after one more event."""
    return _COUNTS[type(event)](hand, event)


def evolved(hand: Hand, events: Iterable[Event]) -> Hand:
    """The hand after all of these."""
    for event in events:
        hand = _COUNTS[type(event)](hand, event)
    return hand


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


def _start(hand: Hand, event: HandStarted) -> Hand:
    return opened(event)


def _enter(hand: Hand, event: StepEntered) -> Hand:
    """A step begins: what belonged to the one before is gone, but for blinds of a round to come."""
    betting = hand.round if hand.round is not None and not hand.round.opened else None
    return replace(hand, step=event.step, street=event.name, round=betting, auction=None, swaps=0)


def _ante(hand: Hand, event: AntePosted) -> Hand:
    return _force(hand, event.seat, event.amount, hand.round)


def _blind(hand: Hand, event: BlindPosted) -> Hand:
    """A blind is a bet of the round to come; a dead one is nobody's stake (G6).

    A newcomer's post does not change who acts first (M2).
    """
    seat, amount, kind = event.seat, event.amount, event.kind
    if kind == "dead":
        return _forfeit(hand, seat, amount)
    betting = round_of(hand)
    first = kind != "post"
    betting = replace(
        betting,
        bets=add(betting.bets, seat, amount),
        bet=max(betting.bet, event.to),
        poster=seat if first else betting.poster,
        straddled=kind == "straddle" if first else betting.straddled,
    )
    return _force(hand, seat, amount, betting)


def _hole(hand: Hand, event: HoleDealt) -> Hand:
    """Cards join a seat's hole cards; one won at auction is no longer due."""
    seat = event.seat
    hole = put(hand.hole, seat, hand.hole[seat] + event.cards)
    auction = hand.auction
    if auction is not None and auction.due:
        auction = replace(auction, due=tuple(s for s in auction.due if s != seat))
    return replace(hand, hole=hole, auction=auction)


def _board(hand: Hand, event: BoardDealt) -> Hand:
    """Cards join the board; no bet reaches past them."""
    return replace(hand, board=hand.board + event.cards, round=None)


def _swap(hand: Hand, event: CardSwapped) -> Hand:
    """A new card takes the place of the old, which is out of play (S2)."""
    seat, old, new = event.seat, event.old, event.new
    if new == old:
        return replace(hand, swaps=hand.swaps + 1)
    hole = put(hand.hole, seat, put(hand.hole[seat], event.slot, new))
    return replace(hand, hole=hole, discards=(*hand.discards, old), swaps=hand.swaps + 1)


def _toss(hand: Hand, event: Tossed) -> Hand:
    """The card leaves its holder's hand, which may be unknown here, and joins the board."""
    held = hand.hole[event.seat]
    hole = put(hand.hole, event.seat, held[: event.slot] + held[event.slot + 1 :])
    return replace(hand, hole=hole, board=hand.board + event.cards)


def _draw(hand: Hand, event: BountyDrawn) -> Hand:
    return replace(hand, bounties=(*hand.bounties, (event.seat, event.rank)))


def _open(hand: Hand, event: BettingOpened) -> Hand:
    """A round begins, on top of the blinds that were posted for it, if any."""
    betting, bet = round_of(hand), event.bet
    return replace(
        hand,
        step=event.step,
        street=event.street,
        round=replace(
            betting,
            opened=True,
            bet=bet,
            level=bet,
            size=event.size,
            least=bet + event.size,
            next=event.next,
        ),
        opener=None,
        aggressor=None,
        auction=None,
    )


def _fold(hand: Hand, event: Folded) -> Hand:
    betting = round_of(hand)
    betting = replace(betting, folds=betting.folds + 1, next=event.next)
    return replace(hand, standing=put(hand.standing, event.seat, "folded"), round=betting)


def _check(hand: Hand, event: Checked) -> Hand:
    betting = round_of(hand)
    matched = put(betting.matched, event.seat, betting.bet)
    return replace(hand, round=replace(betting, matched=matched, next=event.next))


def _call(hand: Hand, event: Called) -> Hand:
    return _stake(hand, event.seat, event.amount, round_of(hand), event.next)


def _raise_to(hand: Hand, event: Bet | Raised) -> Hand:
    """The bet to match goes up; a full one is what the next raise is measured by."""
    betting, seat = round_of(hand), event.seat
    to = event.to if isinstance(event, Raised) else event.amount
    least = max(betting.least, 2 * to - betting.bet)
    if event.full:
        size = max(betting.size, to - betting.bet)
        raisers = (*betting.raisers, seat)
        betting = replace(betting, bet=to, size=size, level=to, least=least, raisers=raisers)
    else:
        betting = replace(betting, bet=to, least=least)
    opener = seat if hand.opener is None else hand.opener
    hand = _stake(hand, seat, event.amount, betting, event.next)
    return replace(hand, aggressor=seat, opener=opener)


def _bid(hand: Hand, event: BidPlaced) -> Hand:
    """One more bid; a single open one makes it an auction with open bids."""
    auction = hand.auction or Auction()
    bids = (*auction.bids, (event.seat, event.amount))
    sealed = auction.sealed and event.sealed
    return replace(hand, auction=replace(auction, bids=bids, sealed=sealed))


def _settle(hand: Hand, event: AuctionSettled) -> Hand:
    """The winners pay, and wait for their card."""
    for seat in event.seats:
        hand = _forfeit(hand, seat, event.price)
    auction = hand.auction or Auction()
    return replace(hand, auction=replace(auction, settled=True, due=event.seats))


def _take_back(hand: Hand, event: UncalledReturned) -> Hand:
    seat, amount = event.seat, event.amount
    return replace(
        hand,
        stacks=add(hand.stacks, seat, amount),
        paid=add(hand.paid, seat, -amount),
        pot=hand.pot - amount,
    )


def _announce(hand: Hand, event: Announced) -> Hand:
    announced = (*hand.showing.announced, (event.seat, event.cards))
    return replace(hand, showing=replace(hand.showing, announced=announced))


def _show(hand: Hand, event: Shown) -> Hand:
    """Shown cards are the seat's cards, also where nobody had recorded them."""
    showing = replace(hand.showing, shown=(*hand.showing.shown, event.seat))
    return replace(hand, showing=showing, hole=put(hand.hole, event.seat, event.cards))


def _muck(hand: Hand, event: Mucked) -> Hand:
    return replace(hand, showing=replace(hand.showing, mucked=(*hand.showing.mucked, event.seat)))


def _rake(hand: Hand, event: RakeTaken) -> Hand:
    return replace(hand, pot=hand.pot - event.amount, rake=hand.rake + event.amount)


def _split(hand: Hand, event: PotSplit) -> Hand:
    """A pot goes to stacks."""
    stacks = list(hand.stacks)
    for seat, share in zip(event.seats, event.shares, strict=True):
        stacks[seat] += share
    return replace(hand, stacks=tuple(stacks), pot=hand.pot - sum(event.shares))


def _settle_bounty(hand: Hand, event: BountySettled) -> Hand:
    """From one stack to the other, whatever is in it."""
    stacks = add(add(hand.stacks, event.seat, event.amount), event.payer, -event.amount)
    payers = (*hand.payers, event.payer) if event.amount else hand.payers
    return replace(hand, stacks=stacks, payers=payers)


def _time_out(hand: Hand, event: TimedOut) -> Hand:
    """Out of time and all-in: chips may be left, but the seat acts no more."""
    if not event.all_in:
        return hand
    return replace(_tap_out(hand, event.seat), round=replace(round_of(hand), next=event.next))


def _disconnect(hand: Hand, event: Disconnected) -> Hand:
    return replace(hand, absent=(*hand.absent, event.seat))


def _reconnect(hand: Hand, event: Reconnected) -> Hand:
    return replace(hand, absent=tuple(seat for seat in hand.absent if seat != event.seat))


def _note(hand: Hand, event: Faulted | Claimed) -> Hand:
    """Only a note: nothing moves by it."""
    return hand


def _void(hand: Hand, event: HandVoided) -> Hand:
    """Everything goes back: the stacks are those of the start."""
    none = (0,) * len(hand.stacks)
    return replace(
        hand, stacks=hand.start.stacks, paid=none, dead=none, pot=0, rake=0, round=None, voided=True
    )


def _end(hand: Hand, event: HandEnded) -> Hand:
    return replace(hand, over=True, round=None, auction=None)


def _tap_out(hand: Hand, seat: int) -> Hand:
    """Nothing is left, or no time: the seat stays in for what it has put in."""
    if hand.standing[seat] != "live":
        return hand
    standing = put(hand.standing, seat, "all_in")
    return replace(hand, standing=standing, tapped=put(hand.tapped, seat, hand.paid))


def _force(hand: Hand, seat: int, amount: int, betting: Round | None) -> Hand:
    """An ante or a blind: a stake that nobody chose; who has nothing left is all-in."""
    left = hand.stacks[seat] - amount
    hand = replace(
        hand,
        stacks=put(hand.stacks, seat, left),
        paid=add(hand.paid, seat, amount),
        forced=add(hand.forced, seat, amount),
        pot=hand.pot + amount,
        round=betting,
    )
    return hand if left else _tap_out(hand, seat)


def _stake(hand: Hand, seat: int, amount: int, betting: Round, next_seat: int | None) -> Hand:
    """A bet, a call or a raise: the seat has answered whatever the bet now is."""
    left = hand.stacks[seat] - amount
    hand = replace(
        hand,
        stacks=put(hand.stacks, seat, left),
        paid=add(hand.paid, seat, amount),
        pot=hand.pot + amount,
        round=replace(
            betting,
            bets=add(betting.bets, seat, amount),
            matched=put(betting.matched, seat, betting.bet),
            next=next_seat,
        ),
    )
    return hand if left else _tap_out(hand, seat)


def _forfeit(hand: Hand, seat: int, amount: int) -> Hand:
    """Chips go from a stack to the pot as nobody's stake."""
    left = hand.stacks[seat] - amount
    dead = add(hand.dead, seat, amount)
    pot = hand.pot + amount
    hand = replace(hand, stacks=put(hand.stacks, seat, left), dead=dead, pot=pot)
    return hand if left else _tap_out(hand, seat)


def round_of(hand: Hand) -> Round:
    """The round in progress; counting a bet or a blind outside one starts a round."""
    if hand.round is not None:
        return hand.round
    seats = len(hand.stacks)
    return Round(bets=(0,) * seats, matched=(-1,) * seats)


_COUNTS: dict[type[Event], Callable[[Hand, Any], Hand]] = {
    HandStarted: _start,
    StepEntered: _enter,
    AntePosted: _ante,
    BlindPosted: _blind,
    HoleDealt: _hole,
    BoardDealt: _board,
    CardSwapped: _swap,
    BountyDrawn: _draw,
    BettingOpened: _open,
    Folded: _fold,
    Checked: _check,
    Called: _call,
    Bet: _raise_to,
    Raised: _raise_to,
    BidPlaced: _bid,
    AuctionSettled: _settle,
    Tossed: _toss,
    UncalledReturned: _take_back,
    Announced: _announce,
    Shown: _show,
    Mucked: _muck,
    RakeTaken: _rake,
    PotSplit: _split,
    BountySettled: _settle_bounty,
    TimedOut: _time_out,
    Disconnected: _disconnect,
    Reconnected: _reconnect,
    Faulted: _note,
    Claimed: _note,
    HandVoided: _void,
    HandEnded: _end,
}
