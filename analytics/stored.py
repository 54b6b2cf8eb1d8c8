"""The tables that are kept beside a ledger's events and need its rules, by their names.

The store makes them with every segment from then on; for older segments they are made on the way
until the ledger is compacted.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from analytics.bids_rows import AUCTIONS
from analytics.facts import facts
from store.leaf import Leaf
from store.projection import Projection

Text = Callable[[str], bytes | None]
NAMES = ("facts", "auctions", "played", "risks")


def stored(kept: Text) -> tuple[Projection, ...]:
    """All of them, for a ledger that keeps the texts of rulesets which `kept` reads."""
    played = Projection("played", 1, partial(_played, kept))
    return facts(kept), AUCTIONS, played, Projection("risks", 1, partial(_risks, kept))


def _played(kept: Text, leaves: Sequence[Leaf]) -> pa.Table:
    from analytics.luck_rows import build  # numpy comes with it, and few questions need it

    return build(kept, leaves)


def _risks(kept: Text, leaves: Sequence[Leaf]) -> pa.Table:
    from analytics.swaps_rows import build

    return build(kept, leaves)
