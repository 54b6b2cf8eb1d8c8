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
from engine.recorded import before_payment, command_of, posts_of
from engine.settle import Undecided, awards
from engine.turn import IllegalCommand, Turn
from events.evolve import replay
from events.state import Hand
from events.types import Claimed, Event, Events, Faulted, HandStarted, HandVoided, PotSplit

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
    return _claim(record) if divergence is None and Claimed in map(type, record) else divergence


def _claim(record: Events) -> Divergence | None:
    """What the source says of a hand that was paid by its rules, where that is something else."""
    for at, event in enumerate(record):
        if isinstance(event, Claimed):
            nets, rake = nets_of(record), replay(record).rake
            if (event.nets, event.rake) != (nets, rake):
                signed = ", ".join(f"{net:+d}" if net else "0" for net in nets)
                return _refused(record, at, f"the rules pay {signed}, and the house {rake}")
    return None


def nets_of(record: Events) -> tuple[int, ...]:
    """What every seat of a whole record won or lost."""
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
    """What is asked, in words: `seat 1 (ToAct)`, `the dealer (ToDeal)`."""
    seat = getattr(question, "seat", None)
    who = "the dealer" if seat is None else f"seat {seat}"
    return f"{who} ({type(question).__name__})"
