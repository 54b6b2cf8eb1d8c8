"""Luck street by street: the chips that each card won or lost each player, and what play did.

Before and after every chance event a hand is worth equity × pot, less what was put in; the change
is luck, and the changes in between are play. From nothing to the net, they add up. Equity counts
what chance still owes at that moment: board cards, third cards that were won, swaps to come; nobody
has won an auction that is not settled. It needs hands of which every dealt card is known.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from analytics.projections.equity import (
    PotEquities,
    RunOut,
    expected_nets,
    pot_equities,
    swaps_to_come,
    unsupported_rule,
)
from analytics.replay.rules import Rulebook, exact_comparison
from engine.game import Game
from engine.policies import per_chip
from engine.pots import Pot, pots
from engine.seats import contenders
from events.cards import Cards, is_card, known
from events.evolve import evolve, replay
from events.state import Hand
from events.types import (
    BoardDealt,
    CardSwapped,
    HandStarted,
    HoleDealt,
    Shown,
    StepEntered,
    Tossed,
    UncalledReturned,
)
from odds.batch import Showdown
from store.columns.codec import HEAD, WHO, Row, arrow_table, hand_head
from store.log.streams import Leaf

MODEL = "street-luck/1"
CHANCES = {
    "hole": "the first cards of everybody",
    "flop": "the cards of the flop",
    "third": "the third cards of an auction",
    "swap": "all swaps of a street together",
    "turn": "the card of the turn",
    "river": "the card of the river",
    "play": "everything else: blinds, bets, calls, folds, prices of auctions, rake and odd chips",
}
SCHEMA = pa.schema(
    {**HEAD, **WHO, "chance": pa.string(), "chips": pa.float64(), "error": pa.float64()}
)
_STREET_OF_BOARD = {3: "flop", 4: "turn", 5: "river"}
_DEALT = (HoleDealt, BoardDealt, CardSwapped)


def is_countable(leaf: Leaf, rules: Rulebook) -> bool:
    """Whether every card of the hand is known, and equity can be computed by its ruleset."""
    start = leaf.recorded[0].event
    if not isinstance(start, HandStarted):
        return False
    game, how = rules.of(start.ruleset), rules.showdown(start.ruleset)
    if game is None or how is None or how.hole_min:
        return False
    if rules.answer(start.ruleset, unsupported_rule) is not None:
        return False
    events = with_shown_cards([one.event for one in leaf.recorded])
    groups: list[Cards] = [
        (event.old, event.new) if isinstance(event, CardSwapped) else event.cards
        for event in events
        if isinstance(event, _DEALT)
    ]
    if not groups or not all(known(cards) for cards in groups):
        return False
    end = leaf.hand  # added up last: of most hands somebody's cards stay hidden
    return end is not None and not end.voided


def luck_rows(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """A row of luck for each seat and chance event in order, then of play; in whole chips. None of
    a record that no deck can have dealt."""
    end = leaf.hand
    assert end is not None
    game, how = rules.of(end.start.ruleset), rules.showdown(end.start.ruleset)
    assert game is not None
    assert how is not None
    unit = per_chip(game.unit)
    events = with_shown_cards([one.event for one in leaf.recorded])
    seats = range(len(end.stacks))
    play, now = [0.0] * len(end.stacks), (0.0,) * len(end.stacks)
    changes: list[tuple[str, list[float], float]] = []  # each chance with what it changed
    try:
        for chance, before, after in _chance_events(events):
            was, doubt = _net_worth(before, game, how, leaf.stream)
            then, error = _net_worth(after, game, how, leaf.stream)
            changes.append((chance, [then[seat] - was[seat] for seat in seats], doubt + error))
            play = [play[seat] + was[seat] - now[seat] for seat in seats]
            now = then
        for seat in seats:  # and at the end what was changed in between
            play[seat] += end.stacks[seat] - end.start.stacks[seat] - now[seat]
    except (LookupError, ValueError):
        return
    for name, chips, error in (*changes, ("play", play, 0.0)):
        for seat, player in enumerate(end.start.players):
            yield {
                **hand_head(leaf, end.start),
                "seat": seat,
                "player": player,
                "chance": name,
                "chips": chips[seat] / unit,
                "error": error / unit,
            }


def luck_table(rows: Sequence[Row]) -> pa.Table:
    """Rows of luck as an Arrow table."""
    return arrow_table(rows, SCHEMA)


def with_shown_cards(events: Sequence[Any]) -> list[Any]:
    """Replace hidden hole cards in events by those that were shown later.

    A hand that may have been another in between was not the one that was shown.
    """
    shown = {event.seat: event.cards for event in events if isinstance(event, Shown)}
    risked = {event.seat for event in events if isinstance(event, CardSwapped | Tossed)}
    spots = []
    for event in events:
        cards = shown.get(event.seat) if isinstance(event, HoleDealt) else None
        if cards and known(event.cards) is None and event.seat not in risked:
            size = len(event.cards)
            shown[event.seat] = cards[size:]
            event = replace(event, cards=cards[:size])
        spots.append(event)
    return spots


def _chance_events(events: Sequence[Any]) -> Iterator[tuple[str, Hand, Hand]]:
    """Each chance event with the hand before and after it; cards dealt in one go are one event.

    A step that announces itself has not happened yet: the hand before it still owes it.
    """
    hand = before = replay(events[:1])
    at = 1
    while at < len(events):
        kind = type(events[at])
        if type(events[at - 1]) is not StepEntered:
            before = hand
        while at < len(events) and type(events[at]) is kind:
            hand = evolve(hand, events[at])
            at += 1
            if kind not in _DEALT or kind is BoardDealt:
                break
        if kind is HoleDealt:
            yield "third" if any(before.hole) else "hole", before, hand
        elif kind is BoardDealt:
            yield _STREET_OF_BOARD.get(len(hand.board), "river"), before, hand
        elif kind is CardSwapped:
            yield "swap", before, hand


def hand_equity(game: Game, hand: Hand, name: str) -> PotEquities | None:
    """The equity of each seat that has not folded, if all that is left were chance; None where a
    card of theirs is not known, or where the ruleset's equity cannot be computed.
    """
    how = exact_comparison(game)
    now = spot(game, hand)
    if how is None or unsupported_rule(game) is not None or len(now.seats) < 2:
        return None
    if how.hole_min and (any(now.third) or now.chances):
        return None
    if not all(map(known, now.holes)) or (hand.board and known(hand.board) is None):
        return None
    try:
        return pot_equities(now, now.seats, how, name)
    except (LookupError, ValueError):  # a record that no deck can have dealt
        return None


def _net_worth(hand: Hand, game: Game, how: Showdown, name: str) -> tuple[tuple[float, ...], float]:
    """What each seat can expect if no more is bet, less what it has put in; the standard error."""
    # What one seat has put in above all others is as good as in its stack
    *_, second, most = sorted(hand.paid)
    owner = hand.paid.index(most)
    hand = evolve(hand, UncalledReturned(owner, most - second)) if most > second else hand
    seats = contenders(hand)
    layers = pots(game, hand, seats)
    put_in = tuple(paid + dead for paid, dead in zip(hand.paid, hand.dead, strict=True))
    if not any(hand.hole):
        even = [-float(paid) for paid in put_in]
        for pot in layers:
            for seat in pot.seats:
                even[seat] += pot.amount / len(pot.seats)
        return tuple(even), 0.0
    worth = expected_nets(spot(game, hand, layers, put_in), game, how, name)
    return worth.nets, worth.error


def spot(
    game: Game, hand: Hand, layers: tuple[Pot, ...] = (), put_in: tuple[int, ...] = ()
) -> RunOut:
    """The cards of the seats still in, and the cards that are still to come."""
    seats = contenders(hand)
    due = hand.auction.due if hand.auction is not None else ()
    folded = (hand.hole[seat] for seat in range(len(hand.hole)) if seat not in seats)
    gone = (*hand.discards, *(card for cards in folded for card in cards))
    return RunOut(
        seats,
        tuple(hand.hole[seat] for seat in seats),
        hand.board,
        tuple(card for card in gone if is_card(card)),
        tuple(int(seat in due) for seat in seats),
        swaps_to_come(game, hand),
        layers,
        put_in,
    )
