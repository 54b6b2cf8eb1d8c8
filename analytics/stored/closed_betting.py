"""Where betting closed for good: nobody had a choice left, and cards were still to come.

From there on a hand is chance alone. What is needed to say what it was worth is gathered here;
counting it is for `stored.equity`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from engine.followed import EITHER, of_other_kinds, unknown
from engine.game import Game
from engine.policies import Rake
from engine.pots import Pot, pots
from engine.steps import (
    Antes,
    Auction,
    Betting,
    Blind,
    Blinds,
    DealBoard,
    DealHole,
    Posts,
    Showdown,
    Straddle,
    SwapHole,
)
from events.cards import DECK, UNKNOWN, Cards, is_card, known
from events.evolve import evolved, replay
from events.state import Hand
from events.types import (
    AuctionSettled,
    Bet,
    BidPlaced,
    BoardDealt,
    Called,
    CardSwapped,
    Checked,
    Folded,
    HoleDealt,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
    TimedOut,
    Tossed,
)

BOARD = 5
HOLE_MAX = 3  # two, and one that was won at auction
# By which policies pots are paid and cards come as they are counted, or nearly (odd chips); how
# hands compare is asked of `Rulebook.showdown`.
_COUNTED: dict[str, tuple[object, ...]] = {
    "unit": (str,),
    "split_unit": (int,),
    "uncalled": ("returned", "in_pot"),
    "dead_chips": ("first_pot", "stake"),
    "showdown_tie": ("split", "no_change"),
    "odd_chips": (
        *("clockwise_each", "first_left_all", "dealer", "non_dealer", "fractional"),
        *("first_seat", "random", "dropped"),
    ),
    "odd_scope": ("per_pot", "total"),
    "rake": (None, Rake),
    "rake_pots": ("outwards", "proportional"),
    "hole_order": ("pairs_from_dealer", "one_each_from_left"),
    "burn": (0, 1),
    "deck_slots": ("sequential", "fixed"),
    "third_card": ("top", "bottom"),
    "swap_order": ("after_board", "before_board"),
    "swap_runout": EITHER,
    "tapped_prize": ("covered", "whole_pot"),  # these three are asked under `expectation` alone
    "expectation": ("covered", "snapshot"),
    "next_group": ("remaining", "original"),
}
_STEPS = (
    Antes,
    Auction,
    Betting,
    Blind,
    Blinds,
    DealBoard,
    DealHole,
    Posts,
    Showdown,
    Straddle,
    SwapHole,
)
_NO_CHANCE = of_other_kinds("pay", "deal")
_PAYMENTS = (PotSplit, RakeTaken)
_ACTIONS = (Folded, Checked, Called, Bet, Raised)
_CHOICES = (*_ACTIONS, BidPlaced, Tossed)


class Closed(Struct, frozen=True):
    """The contenders' cards, the board, and what chance still owed; the pots are net of rake.

    `third` is how many more hole cards each will get, `chances` the swaps still to come,
    `put_in` what each of all seats had put in, prices of auctions included.
    """

    seats: tuple[int, ...]
    holes: tuple[Cards, ...]
    board: Cards
    dead: Cards
    third: tuple[int, ...]
    chances: tuple[tuple[int, int], ...]
    pots: tuple[Pot, ...]
    put_in: tuple[int, ...]


def closed(events: Sequence[Any], end: Hand, game: Game) -> Closed | str | None:
    """The moment; None if there is none, a word on why not if it cannot be said what it was."""
    seats = tuple(seat for seat, how in enumerate(end.standing) if how != "folded")
    if len(seats) < 2 or end.voided:
        return None
    place = _place(events)
    hand = replay(events[: place + 1])
    if not BOARD <= len(end.board) > len(hand.board):
        return None
    if (other := uncounted(game)) is not None:
        return other
    holes = tuple(_hole(hand, seat, events[place:]) for seat in seats)
    if not all(holes) or (hand.board and known(hand.board) is None):
        return "cards not known"
    third = tuple(len(end.hole[seat]) - len(hand.hole[seat]) for seat in seats)
    if not _is_dealt(hand, [hole for hole in holes if hole], third):
        return "cards not of one deck"
    swaps = swaps_to_come(game, hand)
    layers = _pots(events, place, hand, game, seats)
    if layers is None:
        return "pots not those of the rules"
    return Closed(
        seats,
        tuple(hole for hole in holes if hole),
        hand.board,
        tuple(card for card in hand.discards if known((card,))),
        third,
        swaps,
        layers,
        tuple(paid + dead for paid, dead in zip(end.paid, end.dead, strict=True)),
    )


@lru_cache(maxsize=1 << 10)  # of some files each hand has its own stakes
def uncounted(game: Game) -> str | None:
    """What makes its hands not worth what is counted here: a step, a policy; None if nothing."""
    strange = next((step for step in game.script if not isinstance(step, _STEPS)), None)
    if strange is not None:
        return type(strange).__name__
    return unknown(game, _COUNTED, _NO_CHANCE)


def _place(events: Sequence[Any]) -> int:
    """The last choice of anybody, and the settlement that it brought; else the last hole cards."""
    dealt = 0
    for at, event in enumerate(events):
        if isinstance(event, BoardDealt):
            break
        if isinstance(event, HoleDealt):
            dealt = at
    for at in range(len(events) - 1, 0, -1):
        event = events[at]
        if isinstance(event, TimedOut) or (
            isinstance(event, _CHOICES) and event.origin != "forced"
        ):
            settled = at + 1 < len(events) and isinstance(events[at + 1], AuctionSettled)
            return max(at + settled, dealt if at < dealt else 0)
    return dealt


def _hole(hand: Hand, seat: int, later: Sequence[Any]) -> Cards | None:
    """The cards then: seen, or shown later with nothing swapped in between."""
    if (cards := known(hand.hole[seat])) is not None:
        return cards
    if any(isinstance(event, CardSwapped) for event in later):
        return None
    for event in later:
        if isinstance(event, Shown) and event.seat == seat:
            return known(event.cards[: len(hand.hole[seat])])
    return None


def _is_dealt(hand: Hand, holes: Sequence[Cards], third: tuple[int, ...]) -> bool:
    """Whether these cards can be of one deck that has enough for what is to come; a forged record
    may hold any."""
    held = [card for hole in holes for card in hole]
    cards = [*held, *hand.board, *hand.discards]
    seen = [card for card in cards if card != UNKNOWN]
    due = BOARD - len(hand.board) + sum(third) + len(held)  # each card held may be swapped
    return (
        min(third) >= 0
        and max(len(hole) + more for hole, more in zip(holes, third, strict=True)) <= HOLE_MAX
        and len(set(seen)) == len(seen)
        and all(map(is_card, seen))
        and len(cards) + due <= len(DECK)
    )


def swaps_to_come(game: Game, hand: Hand) -> tuple[tuple[int, int], ...]:
    """Swaps that the script still holds; some rulesets stop them when nobody can act any more."""
    if not game.swap_runout and hand.standing.count("live") < 2:
        return ()
    later = game.script[hand.step + 1 :]
    return tuple((step.chance, step.of) for step in later if isinstance(step, SwapHole))


def _pots(
    events: Sequence[Any], place: int, hand: Hand, game: Game, seats: tuple[int, ...]
) -> tuple[Pot, ...] | None:
    """The layers as they were paid, each less its rake; None if that is not what was paid. `hand`
    is what the events up to this place add up to."""
    first = next((at for at, it in enumerate(events) if type(it) in _PAYMENTS), None)
    if first is None:
        return None
    hand = evolved(hand, events[place + 1 : first]) if first > place else replay(events[:first])
    rake = [0] * (len(hand.stacks) + 1)
    paid = 0
    for event in events[first:]:
        if isinstance(event, RakeTaken):
            rake[event.pot] += event.amount
        elif isinstance(event, PotSplit):
            paid += sum(event.shares)
    found = tuple(
        Pot(pot.amount - rake[at], pot.seats) for at, pot in enumerate(pots(game, hand, seats))
    )
    return found if sum(pot.amount for pot in found) == paid else None
