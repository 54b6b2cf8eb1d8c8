"""Decide a recorded hand again under the rules it names, and say where rules and record part.

The record is never repaired and never trusted: each recorded choice is put to the rules as a
command, and only what the rules decide is folded. A divergence is a value, not an exception.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game, fingerprint
from engine.hand import begin, step, to_act, turn
from engine.settle import Undecided, awards
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
    IllegalCommand,
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
    Claimed,
    Disconnected,
    Event,
    Events,
    Faulted,
    Folded,
    HandStarted,
    HandVoided,
    HoleDealt,
    Mucked,
    Origin,
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

_NOTES = frozenset((Faulted, Claimed))  # nothing follows from them


class Divergence(Struct, frozen=True):
    """The first event where rules and record part ways; None where one of them has no more.

    `undecided`: the rules do not refuse, they cannot tell who is paid without a card that nobody
    recorded.
    """

    at: int
    recorded: Event | None
    decided: Event | None
    refusal: str | None = None
    undecided: bool = False


class _PlacedEvents(NamedTuple):
    """The events of a record from which something follows, and where in it they stand."""

    places: Sequence[int]
    events: Events


def audit(game: Game, record: Events) -> Divergence | None:
    """The first event that this ruleset would not have made, or None if it agrees with all."""
    if not record or not isinstance(record[0], HandStarted):
        return _refused(record, 0, "a hand begins with HandStarted")
    start = record[0]
    if start.ruleset != fingerprint(game):
        return _refused(record, 0, f"the record names {start.ruleset}, not {fingerprint(game)}")
    followed = _PlacedEvents(range(len(record)), record)
    if not _NOTES.isdisjoint(map(type, record)):
        for at, event in enumerate(record):
            if isinstance(event, Faulted) and event.seat >= len(start.stacks):
                return _refused(record, at, f"there is no seat {event.seat}")
        places = [at for at, event in enumerate(record) if type(event) not in _NOTES]
        followed = _PlacedEvents(places, tuple([record[at] for at in places]))
    try:
        decided, hand = begin(
            game,
            start.hand,
            start.button,
            start.players,
            start.stacks,
            posts_of(record),
            start.dead_small,
        )
    except IllegalCommand as refusal:
        return _refused(record, 0, str(refusal))
    # no rule asks what was assumed, or when it was played
    begun = replace(hand.start, assumed=start.assumed, played=start.played)
    divergence = _follow(game, record, followed, (begun, *decided[1:]), hand)
    if divergence is not None or Claimed not in map(type, record):
        return divergence
    # What the source says of a hand that was paid by its rules, where that is something else.
    for at, event in enumerate(record):
        if isinstance(event, Claimed):
            nets, rake = nets_of(record), replay(record).rake
            if (event.nets, event.rake) != (nets, rake):
                signed = ", ".join(f"{net:+d}" if net else "0" for net in nets)
                return _refused(record, at, f"the rules pay {signed}, and the house {rake}")
    return None


def nets_of(record: Events) -> tuple[int, ...]:
    """The net chips of every seat in a whole record."""
    end = replay(record)
    return tuple(b - a for a, b in zip(end.start.stacks, end.stacks, strict=True))


def _follow(
    game: Game, record: Events, followed: _PlacedEvents, decided: Events, hand: Hand
) -> Divergence | None:
    """Put each recorded choice to the rules, and hold what they decide against the record."""
    places, events = followed
    done = 0
    while True:
        for event in decided:
            if done == len(events):
                return Divergence(len(record), None, event)
            recorded = events[done]
            if recorded != event:
                if type(recorded) is HandVoided:
                    return _last(record, followed, done)
                if not _allowed(game, record, recorded, event):
                    return Divergence(places[done], recorded, event)
            done += 1
        if done == len(events) and hand.over:
            return None
        if done == len(events):
            why = f"the record stops while the hand waits for {_waits(turn(game, hand))}"
            return _refused(record, len(record), why)
        at, recorded = places[done], events[done]
        if type(recorded) is HandVoided and not hand.over:
            return _last(record, followed, done)
        if hand.over:
            return _refused(record, at, "the hand is over: nothing more can happen in it")
        question = turn(game, hand) if to_act(hand) is None else None
        command = command_of(question, events[done:])
        if command is None:
            return _refused(record, at, f"the hand waits for {_waits(turn(game, hand))}")
        try:
            decided, hand = step(game, hand, command)
        except Undecided as reason:
            return Divergence(at, recorded, None, str(reason), undecided=True)
        except IllegalCommand as refusal:
            return _refused(record, at, str(refusal))


def _last(record: Events, followed: _PlacedEvents, done: int) -> Divergence | None:
    """A hand may be voided at any time, and nothing comes after that."""
    if done + 1 == len(followed.events):
        return None
    why = "the hand is void: nothing more can happen in it"
    return _refused(record, followed.places[done + 1], why)


def _allowed(game: Game, record: Events, recorded: Event, decided: Event) -> bool:
    """Odd chips that the dealer assigns: any floor or ceiling of the exact shares (U18)."""
    if game.odd_chips not in ("dealer", "random") or type(recorded) is not type(decided):
        return False
    if not isinstance(recorded, PotSplit) or not isinstance(decided, PotSplit):
        return False
    hand = before_payment(record)
    assert hand is not None
    exact = awards(game, hand)[1][decided.pot]
    return recorded.pot == decided.pot and exact.allows(recorded.seats, recorded.shares)


def _refused(record: Events, at: int, why: str) -> Divergence:
    return Divergence(at, record[at] if at < len(record) else None, None, why)


def _waits(question: Turn) -> str:
    """The awaited answer in words: `seat 1 (ToAct)`, `the dealer (ToDeal)`."""
    seat = getattr(question, "seat", None)
    who = "the dealer" if seat is None else f"seat {seat}"
    return f"{who} ({type(question).__name__})"


# A record taken apart: the commands that would make its events, and where its payment begins.


def posts_of(record: Events) -> tuple[Post, ...]:
    """The posts of newcomers before the first step was entered."""
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
    """A command that no turn waits for: a lost or restored connection, an all-in fold."""
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
