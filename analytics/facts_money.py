"""What each seat put in and took out; an uncalled bet is neither wagered nor won (G4)."""

from analytics.facts_acts import Row
from events.state import Hand
from events.types import PotSplit
from store.leaf import Leaf


def money(leaf: Leaf, hand: Hand, rows: dict[int, Row]) -> None:
    """Fill in the chips; `won` asks what was collected, so whoever splits has won."""
    collected = [0] * len(hand.stacks)
    for one in leaf.recorded:
        if isinstance(one.event, PotSplit):
            for seat, share in zip(one.event.seats, one.event.shares, strict=True):
                collected[seat] += share
    owner, extra = _uncalled(hand)
    for seat, row in rows.items():
        back = min(extra, collected[seat]) if seat == owner else 0
        row["stack"] = hand.start.stacks[seat]
        row["put_in"] = hand.paid[seat] + hand.dead[seat] - back
        row["collected"] = collected[seat] - back
        row["net"] = hand.stacks[seat] - hand.start.stacks[seat]
        row["won"] = collected[seat] > back


def _uncalled(hand: Hand) -> tuple[int, int]:
    """Rulesets that leave an uncalled bet in the pot pay it out as one more side pot."""
    *_, matched, most = sorted(hand.paid)
    return hand.paid.index(most), most - matched
