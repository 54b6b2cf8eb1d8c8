"""Whether a hand was dealt from the deck that was committed to: every card beside the deck's."""

from collections.abc import Iterable
from functools import partial
from typing import Literal

from msgspec import Struct

from dealer.deck import Deck, of_key, place_of
from engine.game import Game, fingerprint
from engine.hand import decide, turn
from engine.turn import IllegalCommand, ToDeal, ToDraw, ToSwap
from events.cards import UNKNOWN, Cards
from events.deck import committed, deck_number, opened_key, unfit
from events.evolve import evolve, replay
from events.match import DeckOpened, Match, MatchStarted
from events.types import BoardDealt, BountyDrawn, CardSwapped, Event, Events, HandStarted, HoleDealt

_DEALS = HoleDealt | BoardDealt | CardSwapped | BountyDrawn


class DealCheck(Struct, frozen=True):
    """What the recomputed deck says of a hand: a sentence, and the event where they part."""

    verdict: Literal["agree", "differ", "unopened"]
    sentence: str
    at: int | None = None


def check_deal(game: Game, records: Iterable[Match], hand: Events) -> DealCheck:
    """Compare a hand with its deck; its match's records hold commitment, nonces and opening."""
    records = tuple(records)
    start, began = hand[0], next(record for record in records if isinstance(record, MatchStarted))
    assert isinstance(start, HandStarted)
    if start.ruleset != fingerprint(game):
        return DealCheck("differ", f"{start.hand} names {start.ruleset}, not {fingerprint(game)}")
    number = int(start.hand.rpartition("/")[2])
    commitments = committed(records)
    commitment = next((made for made in commitments if made.covers(number)), None)
    if commitment is None:
        return DealCheck("unopened", f"nobody committed to the deck of {start.hand}")
    openings = (
        record for record in records if isinstance(record, DeckOpened) and record.number >= number
    )
    opened = next((opening for opening in openings if commitment.covers(opening.number)), None)
    if opened is None:
        return DealCheck("unopened", f"the deck of {start.hand} is not opened")
    if wrong := unfit(commitment, opened):
        return DealCheck("differ", wrong)
    key = partial(opened_key, opened, commitment.nonces, began.match)
    place = place_of(key, number, began.deals, commitment.first)
    return compare(game, hand, of_key(key(deck_number(number, began.deals)), place))


def compare(game: Game, record: Events, deck: Deck) -> DealCheck:
    """Compare every card of the record with this deck, as the rules deal it."""
    state, checked = replay(record[:1]), 1
    for at, event in enumerate(record[1:], start=1):
        if isinstance(event, _DEALS) and at >= checked:
            try:
                match turn(game, state):
                    case ToDeal() as question:
                        dealt = decide(game, state, deck.deal(question))
                    case ToSwap() as at_risk:
                        dealt = decide(game, state, deck.swap(at_risk))
                    case ToDraw() as drawn:
                        dealt = decide(game, state, deck.draw(drawn))
                    case _:
                        raise IllegalCommand("cards are dealt where the rules deal none")
            except IllegalCommand as refusal:
                return DealCheck("differ", f"event {at}: {refusal}", at)
            for place, expected in enumerate(dealt, start=at):
                recorded = record[place] if place < len(record) else None
                if other := _difference(recorded, expected):
                    return DealCheck("differ", f"event {place}: {other}", place)
            checked = at + len(dealt)
        state = evolve(state, event)
    return DealCheck("agree", f"{state.start.hand} was dealt from the committed deck")


def _difference(recorded: Event | None, expected: Event) -> str | None:
    """The first card that is another than the deck's, in a sentence; None if all are the same."""
    if recorded is None or _whose(recorded) != _whose(expected):
        return f"{_whose(expected)} is owed {' '.join(_cards(expected))} and gets nothing"
    pairs = zip(_cards(recorded), _cards(expected), strict=False)
    for card, owed in pairs:
        if card != owed and card != UNKNOWN:
            return f"{_whose(expected)} has {card} where the deck deals {owed}"
    if len(_cards(recorded)) != len(_cards(expected)):
        has, owed_count = len(_cards(recorded)), len(_cards(expected))
        return f"{_whose(expected)} has {has} cards where the deck deals {owed_count}"
    return None


def _whose(event: Event) -> str:
    match event:
        case HoleDealt(seat=seat):
            return f"seat {seat}"
        case BoardDealt():
            return "the board"
        case CardSwapped(seat=seat, slot=slot):
            return f"seat {seat}, slot {slot},"
        case BountyDrawn(seat=seat):
            return f"seat {seat}, for its bounty,"
        case _:
            return type(event).__name__


def _cards(event: Event) -> Cards:
    match event:
        case HoleDealt(cards=cards) | BoardDealt(cards=cards):
            return cards
        case CardSwapped(new=new):
            return (new,)
        case BountyDrawn(rank=rank):
            return (rank,)
        case _:
            return ()
