"""How far each seat came, and which two cards it was dealt or has shown."""

from analytics.facts_acts import STREETS, Row, Story
from events.cards import RANKS
from events.state import Hand
from events.types import Cards, HoleDealt, Shown
from store.leaf import Leaf


def seen(leaf: Leaf, hand: Hand, told: Story, rows: dict[int, Row]) -> None:
    """Streets seen, all-in or not, showdown reached, and the class of hole cards."""
    left = sum(standing != "folded" for standing in hand.standing)
    for seat, row in rows.items():
        for street in (1, 2, 3):
            row[f"saw_{STREETS[street]}"] = seat in told.saw.get(street, ())
        row["showdown"] = left > 1 and hand.standing[seat] != "folded"
    for one in leaf.recorded:
        match one.event:
            case HoleDealt(seat=seat, cards=cards) if seat in rows and "cards" not in rows[seat]:
                rows[seat]["cards"] = class_of(cards)
            case Shown(seat=seat, cards=cards) if seat in rows:
                rows[seat]["shown"] = class_of(cards)


def class_of(cards: Cards) -> str | None:
    """AKs, AKo or AA out of the first two cards; nothing where one is unknown."""
    if len(cards) < 2 or any(card[0] not in RANKS for card in cards[:2]):
        return None
    high, low = sorted(cards[:2], key=lambda card: -RANKS.index(card[0]))
    if high[0] == low[0]:
        return high[0] + low[0]
    return high[0] + low[0] + ("s" if high[1] == low[1] else "o")
