"""The pots of an audited hand: layers, dead chips, rake, exact shares and odd chips, as numbers.

The chips that the rules pay stand beside those that the record paid, by pot and seat.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from engine.audit import before_payment
from engine.game import Game
from engine.seats import contenders, in_order, is_alone
from engine.settle import Cut, Strength, best_cards, cuts, strength
from events.cards import Cards
from events.state import Hand
from events.types import Events, PotSplit, RakeTaken
from odds.rank import describe, value_of_five

Row = dict[str, Any]


def pots_as_json(game: Game, record: Events) -> list[Row] | None:
    """A hand's pots and their shares; None where a card or an event that decides is missing."""
    decided = pot_cuts(game, record)
    if decided is None:
        return None
    splits = [event for event in record if isinstance(event, PotSplit)]
    shares = {split.pot: dict(zip(split.seats, split.shares, strict=True)) for split in splits}
    rakes = {event.pot: event.amount for event in record if isinstance(event, RakeTaken)}
    beyond = max((*shares, *rakes, -1)) + 1 - len(decided)  # pots that only the record has
    each = enumerate((*decided, *[None] * beyond))
    return [_pot(game, at, one, rakes.get(at, 0), shares.get(at, {})) for at, one in each]


def pot_cuts(game: Game, record: Events) -> tuple[Cut, ...] | None:
    """The pots into which these rules cut the chips; None if the record does not tell enough."""
    try:
        hand = before_payment(record)
        return None if hand is None else cuts(game, hand)
    except (LookupError, ValueError):  # cards that are not known, or what the rules refuse
        return None


def _pot(game: Game, number: int, cut: Cut | None, raked: int, paid: dict[int, int]) -> Row:
    layer = None if cut is None else cut.layer
    weighed = () if cut is None else cut.award.seats
    shares: list[Row] = []
    for seat in sorted({*weighed, *paid}):
        share = {"seat": seat, "recorded": paid.get(seat, 0), "decided": 0, "exact": "0", "odd": 0}
        if cut is not None and seat in weighed:
            place = weighed.index(seat)
            share["decided"] = cut.award.shares[place]
            share["exact"], share["odd"] = str(cut.exact(place)), cut.odd(place, game.split_unit)
        shares.append(share)
    return {
        "pot": number,
        "low": None if layer is None else layer.low,
        "high": None if layer is None else layer.high,
        "amount": 0 if cut is None else cut.amount,
        "dead": 0 if cut is None else cut.dead,
        "folded": None if layer is None else layer.folded,
        "eligible": None if cut is None else cut.eligible,
        "rake": 0 if cut is None else cut.rake,
        "recorded_rake": raked,
        "odd_chips": game.odd_chips if any(share["odd"] for share in shares) else None,
        "shares": shares,
    }


def showdown_as_json(game: Game, record: Events) -> list[Row]:
    """The hand of each seat that came to a showdown and did not muck; none with unknown cards."""
    rows = []
    try:
        hand = before_payment(record)
        if hand is None or is_alone(hand):
            return []
        announced = dict(hand.showing.announced) if game.announce == "announced" else {}
        for seat in (seat for seat in contenders(hand) if seat not in hand.showing.mucked):
            value, cards = value_and_five(game, hand, seat)
            made = describe(value, game.straights, game.ranking)
            row = {"seat": seat, "value": value, "made": made, "five": cards}
            rows.append({**row, "announced": seat in announced})
    except (LookupError, ValueError):
        return []
    return rows


def hand_strengths(game: Game, hand: Hand) -> dict[int, Strength | None]:
    """The strength of each hand in a showdown and not mucked; None where a card is unknown."""
    if is_alone(hand):
        return {}
    try:
        stay = [s for s in in_order(hand, contenders(hand)) if s not in hand.showing.mucked]
        return {seat: strength(game, hand, seat) for seat in stay}
    except (LookupError, ValueError):  # a refused record may hold any button, seats and cards
        return {}


def value_and_five(game: Game, hand: Hand, seat: int) -> tuple[int, Cards]:
    """The value of a seat's five cards, and these cards: those announced, or the best."""
    announced = dict(hand.showing.announced) if game.announce == "announced" else {}
    cards = announced[seat] if seat in announced else best_cards(game, hand, seat)
    return value_of_five(cards, straights=game.straights, ranking=game.ranking), cards


def pots_as_lines(game: Game, record: Events, names: tuple[str, ...]) -> list[list[str]]:
    """A row for each pot; none for a single pot without dead chips, rake or unequal shares."""
    decided = pot_cuts(game, record) or ()
    if len(decided) == 1:
        (only,) = decided
        if not (only.dead or only.rake) and len(set(only.award.shares)) == 1:
            return []
    return [
        [
            f"pot {at}",
            "" if one.layer is None else f"{one.layer.low} to {one.layer.high}",
            f"{one.amount} chips",
            "; ".join(_facts_of_pot(game, one, names)),
        ]
        for at, one in enumerate(decided)
    ]


def _facts_of_pot(game: Game, cut: Cut, names: tuple[str, ...]) -> Iterator[str]:
    """Facts of a pot besides its level that are needed to pay it by hand."""
    award, layer = cut.award, cut.layer
    if cut.dead:
        yield f"{cut.dead} dead"
    if layer is not None and layer.folded:
        yield f"{layer.folded} of hands that folded"
    if cut.rake:
        yield f"{cut.rake} to the house"
    if cut.eligible is not None and len(cut.eligible) < len(names):
        yield "for " + ", ".join(names[seat] for seat in cut.eligible)
    if len(set(award.weights)) > 1:
        parts = ", ".join(
            f"{names[seat]} {Fraction(weight, sum(award.weights))}"
            for seat, weight in zip(award.seats, award.weights, strict=True)
        )
        yield f"shared as {parts}"
    for place, seat in enumerate(award.seats):
        if odd := cut.odd(place, game.split_unit):
            yield f"{odd} odd to {names[seat]} ({game.odd_chips})"
