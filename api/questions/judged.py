"""A hand judged for whoever asks: an auditor's record, or for anybody else what he sees of it.

What a seat is told is a judgement of its own sight and of nothing else. A card that it may not see
is put to the rules as one that nobody recorded, so no verdict, sentence or reading can depend on
it: where such a card could change who is paid, the verdict is `unknown`.
"""

from contextlib import suppress
from typing import cast

from msgspec.structs import replace

from api.judging import Judged, by_rules
from api.rules import Rules
from api.viewpoints.redaction import HIDDEN, RedactedEvents, revealed
from api.viewpoints.selection import Unfinished
from engine.game import Game
from engine.games import named
from events import types as t
from events.cards import UNKNOWN
from events.evolve import evolve, replay
from events.ledger import closes
from events.types import Event, Events, HandStarted
from store.reader import Snapshot

__all__ = ["Judged", "NoRules", "NotOver", "by_rules", "judged", "seen_record"]


class NotOver(Unfinished):
    """A hand cannot be judged before it has ended."""


class NoRules(Exception):
    """The ruleset that a hand names, or that was asked for, is not here."""


def judged(snapshot: Snapshot, redacted_hand: RedactedEvents, ruleset: str | None = None) -> Judged:
    """The verdict on what is seen of a hand, by its own rules or by those of this name."""
    stored = tuple(one.stored.event for one in redacted_hand.ones)
    if not closes(redacted_hand.stream, stored):
        raise NotOver(f"{redacted_hand.stream} is not over: it cannot be judged yet")
    start = cast(HandStarted, stored[0])
    game = _game(snapshot, start, ruleset)
    return by_rules(
        cast(Events, stored) if redacted_hand.open else seen_record(redacted_hand, game), game
    )


def seen_record(redacted_hand: RedactedEvents, game: Game) -> Events:
    """What is seen as a record: cards as they were shown later, else unknown, and bids as settled.

    What stays hidden beside them (why a bid was made, whether a swap was to be told) is filled in
    as the rules have it: it is not judged.
    """
    told = [cast(Event, one.event) for one in revealed(redacted_hand).recorded]
    shown = _shown(told)
    record: list[Event] = []
    hand = None
    for event in told:
        event = _filled(event, game, shown)
        if isinstance(event, t.BidPlaced) and hand is not None:
            event = _bid(event, 0 <= event.seat < len(hand.stacks) and not hand.stacks[event.seat])
        record.append(event)
        with suppress(LookupError, TypeError, ValueError):  # the judgement says where
            hand = replay((event,)) if hand is None else evolve(hand, event)
    return tuple(record)


def _shown(told: list[Event]) -> dict[int, list[str]]:
    """The cards of seats that showed them and had none swapped, in the order they were dealt."""
    shown = {event.seat: list(event.cards) for event in told if isinstance(event, t.Shown)}
    for event in told:
        if isinstance(event, t.CardSwapped):
            shown.pop(event.seat, None)
    return shown


def _filled(event: Event, game: Game, shown: dict[int, list[str]]) -> Event:
    match event:
        case t.HoleDealt(seat=seat, cards=cards):
            later = shown.get(seat, [])
            if HIDDEN in cards and len(later) >= len(cards):
                known, shown[seat] = later[: len(cards)], later[len(cards) :]
                return replace(event, cards=tuple(known))
            return replace(event, cards=tuple(map(_unknown, cards)))
        case t.CardSwapped(old=old, new=new):
            told = game.swap_seen == "both_told"
            return replace(event, old=_unknown(old), new=_unknown(new), told=told)
    return event


def _bid(event: t.BidPlaced, broke: bool) -> t.BidPlaced:
    """Who has nothing left can only bid nothing."""
    if event.amount is None:  # never told: this ruleset reveals no bids
        event = replace(event, amount=0)
    if event.origin == HIDDEN:
        event = replace(event, origin="forced" if broke else "chosen")
    return event


def _unknown(card: str) -> str:
    return UNKNOWN if card == HIDDEN else card


def _game(snapshot: Snapshot, start: HandStarted, ruleset: str | None) -> Game:
    if ruleset is not None:
        try:
            return named(ruleset)
        except LookupError as reason:
            raise NoRules(str(reason)) from None
    game = Rules(snapshot, None).marked(start.ruleset)
    if game is None:
        raise NoRules(f"{start.hand} is of {start.game} {start.ruleset}: {_OTHER}")
    return game


_OTHER = "no ruleset here has this fingerprint; another may be held against it"
