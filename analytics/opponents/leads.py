"""What of an opponent stands out: his shares beside those of everybody else in the same hands.

Ranked by size and certainty at once: the end of the difference's interval that is nearest to
nothing, times how often the chance comes. What might as well be chance is not told at all. All of
them were searched for, so one in twenty of those that were compared stands out by chance alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analytics.confidence.difference import Share, newcombe
from analytics.opponents.measures import ALL_LOOKS, Look
from analytics.opponents.report import Opponent


class Lead(NamedTuple):
    """One tendency: his share, the field's, their difference, and the hands to look at.

    `weight` is by how many actions in a hundred hands he differs at least. `hands` are the newest
    in which he did it, or did not, whichever he does more than others.
    """

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
    hands: tuple[str, ...]


class Leads(NamedTuple):
    """The tendencies, the heaviest first, and how many looks were compared for them."""

    found: tuple[Lead, ...]
    compared: int


def leads(opponent: Opponent) -> Leads:
    """Every look that has enough chances on both sides, and a difference that is no chance."""
    mine, field = _counted(opponent)
    hands = sum(row["hands"] for row in opponent.dealt())
    named = opponent.hands()
    found = []
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
            found.append(Lead(name, *sides, low, high, weight, tuple(at)))
    return Leads(tuple(sorted(found, key=lambda one: (-one.weight, one.look))), compared)


def titled(lead: Lead) -> Look:
    """What the look of a tendency says."""
    return ALL_LOOKS[lead.look]


Counted = dict[str, tuple[int, int]]


def _counted(opponent: Opponent) -> tuple[Counted, Counted]:
    """Chances of his and of all others, by look."""
    mine: Counted = {}
    field: Counted = {}
    rows: Sequence[Mapping[str, Any]] = opponent.shares(field=True)
    for row in rows:
        into = mine if row["player"] == opponent.player else field
        k, n = into.get(row["look"], (0, 0))
        into[row["look"]] = (k + int(row["k"]), n + int(row["n"]))
    return mine, field
