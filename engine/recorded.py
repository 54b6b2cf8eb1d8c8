"""A record taken apart: the commands that would make its events, and where its payment begins."""

from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Deal,
    Disconnect,
    Draw,
    Fold,
    Muck,
    Post,
    Raise,
    Reconnect,
    Show,
    Straddle,
    Swap,
    TimeOut,
    ToDeal,
    ToDraw,
    Toss,
    ToSwap,
    Turn,
    Will,
)
from events.evolve import evolve, replay
from events.state import Hand
from events.types import (
    Announced,
    Bet,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    BountyDrawn,
    Called,
    CardSwapped,
    Checked,
    Disconnected,
    Events,
    Folded,
    HandStarted,
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
from events.values import Origin


def posts_of(record: Events) -> tuple[Post, ...]:
    """What newcomers put in before the first step was entered."""
    posts = []
    for event in record:
        if isinstance(event, StepEntered):
            break
        if isinstance(event, BlindPosted) and event.kind in ("post", "dead"):
            amount = event.to if event.kind == "dead" else None
            posts.append(Post(event.seat, event.kind, amount))
    return tuple(posts)


def command_of(question: Turn | None, rest: Events) -> Command | None:
    """The answer that the next recorded events tell of; None if they answer nothing. What a seat
    that is to act may do needs not be asked: its answer is taken as it is recorded.
    """
    if isinstance(question, ToDeal):
        return _deal(question, rest) or _unasked(rest)
    if isinstance(question, ToSwap):
        swaps = [event for event in rest[: len(question.at_risk)] if isinstance(event, CardSwapped)]
        cards = tuple(swap.new if swap.new != swap.old else None for swap in swaps)
        return _unasked(rest) or (Swap(cards) if swaps else None)
    if isinstance(question, ToDraw):
        drawn = [event for event in rest[: len(question.seats)] if isinstance(event, BountyDrawn)]
        ranks = tuple(event.rank for event in drawn)
        return _unasked(rest) or (Draw(ranks) if drawn else None)
    match rest[0]:
        case Folded(seat=seat, origin=origin):
            return Fold(seat, _will(origin))
        case Checked(seat=seat, origin=origin):
            return Check(seat, _will(origin))
        case Called(seat=seat, origin=origin):
            return Call(seat, _will(origin))
        case Bet(seat=seat, amount=to, origin=origin) | Raised(seat=seat, to=to, origin=origin):
            return Raise(seat, to, _will(origin))
        case BidPlaced(seat=seat, amount=amount, sealed=sealed, origin=origin):
            return Bid(seat, amount, sealed, _will(origin))
        case BlindPosted(seat=seat, kind="straddle", origin=origin):
            return Straddle(seat, _will(origin))
        case Announced(seat=seat, cards=cards):
            return Announce(seat, cards)
        case Shown(seat=seat, cards=cards):
            return Show(seat, cards)
        case Mucked(seat=seat):
            return Muck(seat)
        case TimedOut(seat=seat):
            return TimeOut(seat)
        case Tossed(seat=seat, slot=slot, cards=(card, *_), origin=origin):
            return Toss(seat, slot, card, _will(origin))
    return _unasked(rest)


def before_payment(record: Events, *, uncalled: bool = True) -> Hand | None:
    """The hand as it stood before the first chip left the middle; None if none ever did.

    Without `uncalled`, as if no bet that nobody matched had ever gone back (U17).
    """
    start = record[0]
    assert isinstance(start, HandStarted)
    hand = replay((start,))
    for event in record[1:]:
        if isinstance(event, PotSplit | RakeTaken):
            return hand
        if uncalled or not isinstance(event, UncalledReturned):
            hand = evolve(hand, event)
    return None


def _unasked(rest: Events) -> Command | None:
    """What nobody waits for: a connection that goes or comes back, the fold of who is all-in."""
    match rest[0]:
        case Folded(seat=seat, origin=origin):
            return Fold(seat, _will(origin))
        case Disconnected(seat=seat):
            return Disconnect(seat)
        case Reconnected(seat=seat):
            return Reconnect(seat)
    return None


def _deal(question: ToDeal, rest: Events) -> Command | None:
    """The cards of the next deal in the order of the deck, gathered from seats or board."""
    if not question.to:
        return Deal(rest[0].cards) if isinstance(rest[0], BoardDealt) else None
    held: dict[int, list[str]] = {}
    for event in rest[: len(set(question.to))]:
        if not isinstance(event, HoleDealt):
            return None
        held.setdefault(event.seat, []).extend(event.cards)
    order = [held[seat].pop(0) if held.get(seat) else None for seat in question.to]
    cards = tuple(card for card in order if card is not None)
    return Deal(cards) if len(cards) == question.count else None


def _will(origin: Origin) -> Will:
    return "default" if origin == "default" else "chosen"
