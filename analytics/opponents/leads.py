"""Leads (habits of an opponent that pay a rival), and differences from everybody else's play.

A lead is a habit that is held against what breaks even: it has a worth in chips, an answer and the
hands it was found in, and what is sure to be worth most comes first. A difference says only that he
plays otherwise than the others, ranked by size and certainty at once: the end of its interval that
is nearest to nothing, times how often the chance comes. What might as well be chance is neither.
"""

from fractions import Fraction
from math import sqrt

from msgspec import Struct

from analytics.intervals import FEW, Share, newcombe, student, wilson
from analytics.opponents.report_measures import ALL_LOOKS, one_rival_look
from analytics.opponents.report_sections import OpponentSections, Row
from analytics.replay.flags import STREETS


class Lead(Struct, frozen=True):
    """A habit that pays a rival: how often it is done, how often it could be, and the answer.

    `worth` is what the answer would have made of these hands, in chips a hundred hands, between
    `low` and `high`. `breaks_even` is the share above which it pays; null of bids, which are held
    against the pot one by one. `hands` are the newest in which he did it, `filter` finds them.
    """

    title: str
    look: str
    value: float
    k: int
    n: int
    breaks_even: float | None
    worth: float
    low: float
    high: float
    do: str
    filter: str
    hands: list[str]


class Leads(Struct, frozen=True):
    """Leads, the surest worth first, and how many hands were left out because somebody had won the
    match before."""

    left_out: int
    found: list[Lead]


class Difference(Struct, frozen=True):
    """A look's share, the field's share, their difference, and the hands to look at.

    `weight` is by how many actions in a hundred hands he differs at least. `hands` are the newest
    in which he did it, or did not, whichever he does more than others.
    """

    title: str
    look: str
    value: float
    k: int
    n: int
    field_value: float
    field_k: int
    field_n: int
    difference: float
    low: float
    high: float
    weight: float
    hands: list[str]


class Differences(Struct, frozen=True):
    """Differences, the heaviest first, and how many looks were compared for them: one in twenty
    stands out by chance alone."""

    compared: int
    found: list[Difference]


def differences(sections: OpponentSections) -> Differences:
    """The looks with enough chances on both sides, and a difference that is no chance."""
    mine: LookCounts = {}  # by look, his chances; and those of all others
    field: LookCounts = {}
    for row in sections.undecided_look_counts():
        into = mine if row["player"] == sections.player else field
        k, n = into.get(row["look"], (0, 0))
        into[row["look"]] = (k + int(row["k"]), n + int(row["n"]))
    hands = sections.undecided_count()
    named = sections.newest_hands()
    rows = []
    compared = 0
    for name, look in ALL_LOOKS.items():
        (k, n), (other_k, other_n) = mine.get(name, (0, 0)), field.get(name, (0, 0))
        if not look.ranked or min(n, other_n) < look.few:
            continue
        compared += 1
        low, high = newcombe(Share(k, n), Share(other_k, other_n))
        least = max(low, -high)
        if least > 0:
            at = named.get((name, int(low > 0)), [])
            weight = 100 * least * n / hands
            sides = (k / n, k, n, other_k / other_n, other_k, other_n, k / n - other_k / other_n)
            rows.append(Difference(look.title, name, *sides, low, high, weight, at))
    return Differences(compared, sorted(rows, key=lambda row: (-row.weight, row.look)))


LookCounts = dict[str, tuple[int, int]]


class _LookSums:
    """Sums of a look: how often he did it and could, what an answer would have made and risked.
    Chips are summed as fractions of whole units, so no sum depends on the order of hands."""

    def __init__(self) -> None:
        self.k = self.n = 0
        self.worth = self.squares = self.risk = self.prize = Fraction(0)

    def add(self, row: Row) -> None:
        """Add the sums of hands of one unit, worth in quarters of it."""
        chip = int(row["per_chip"])
        self.k += int(row["k"])
        self.n += int(row["n"])
        self.worth += Fraction(int(row["quarters"]), 4 * chip)
        self.squares += Fraction(int(row["squares"]), (4 * chip) ** 2)
        self.risk += Fraction(int(row["risk"] or 0), chip)
        self.prize += Fraction(int(row["prize"] or 0), chip)


def leads(sections: OpponentSections) -> Leads:
    """The leads against an opponent, the surest worth first.

    None of fewer than 30 chances; none whose worth might as well be nothing, hand by hand; none
    where Wilson's interval of the share reaches down to what breaks even.
    """
    hands = sections.undecided_count()
    sums: dict[str, _LookSums] = {}
    for row in sections.counterplay_sums():
        sums.setdefault(row["look"], _LookSums()).add(row)
    found = []
    for look, it in sums.items():
        mean = it.worth / hands
        spread = (it.squares - it.worth * mean) / max(hands - 1, 1)
        ends, share = student(float(mean), sqrt(spread), hands), wilson(it.k, it.n)
        even = float(it.risk / (it.risk + it.prize)) if it.risk else None
        if it.n < FEW or ends is None or share is None:
            continue
        if ends[0] <= 0 or share[0] <= (even or 0.0):
            continue
        title, do, finds = ANSWERS[look]
        worth, low, high = (100 * one for one in (float(mean), *ends))
        numbers = (it.k / it.n, it.k, it.n, even, worth, low, high)
        found.append(Lead(title, look, *numbers, do, finds, sections.counterplay_hands(look)))
    ranked = sorted(found, key=lambda one: (-one.low, one.look))
    return Leads(len(sections.decided_hands()), ranked)


# By look: its title, what to do about it, and the filter that finds its hands, of any player.
ANSWERS: dict[str, tuple[str, str, str]] = {
    f"fold_{at}": (
        f"Folds too much, {at}",
        f"Bet or raise with any cards, {at}: his folds alone pay for it.",
        f"player(did={one_rival_look(f'fold_{at}')})",
    )
    for at in STREETS
} | {
    "bid_above_pot": (
        "Bids above the pot",
        "Bid just below what he usually bids: he pays more for his card than it is worth.",
        "player(did=bid_above_pot)",
    ),
    "bluff_river": (
        "Bluffs too much, river",
        "Call his river bets with any hand that beats a bluff.",
        "player(showdown) & street=river",
    ),
}
