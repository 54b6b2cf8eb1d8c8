"""The tables that are kept beside a ledger's events and need its rules, by their names.

The store makes them with every segment from then on; for older segments they are made on the way
until the ledger is compacted.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from analytics.stored.auctions import AUCTIONS
from analytics.stored.facts import facts
from store.columns.layout import columns
from store.log.leaf import Leaf
from store.tables.projection import FromRows, Projection

Text = Callable[[str], bytes | None]
NAMES = ("facts", "auctions", "played", "risks")


def stored(kept: Text) -> tuple[Projection, ...]:
    """All of them, for a ledger that keeps the texts of rulesets which `kept` reads."""
    every = tuple(columns())
    auctions = AUCTIONS._replace(from_rows=FromRows(every, _auctions_of))
    played_rows = FromRows(every, partial(_played_of, kept))
    # 2: in chips also where units are euro cents, pence or hundredths of a chip
    played = Projection("played", 2, partial(_played, kept), from_rows=played_rows)
    risky_rows = FromRows(every, partial(_risks_of, kept))
    risks = Projection("risks", 2, partial(_risks, kept), from_rows=risky_rows)
    return facts(kept), auctions, played, risks


# Functions of a module, so that another process can be asked; numpy comes with them, and few
# questions need it.


def _auctions_of(events: pa.Table) -> pa.Table:
    from analytics.stored.auctions_table import auctions_of

    return auctions_of(events)


def _played(kept: Text, leaves: Sequence[Leaf]) -> pa.Table:
    from analytics.stored.played import build

    return build(kept, leaves)


def _played_of(kept: Text, events: pa.Table) -> pa.Table:
    from analytics.replay.rulebook import Rulebook
    from analytics.stored.played_table import played_of

    return played_of(Rulebook(kept), events)


def _risks(kept: Text, leaves: Iterable[Leaf]) -> pa.Table:
    from analytics.stored.risks import build

    return build(kept, leaves)


def _risks_of(kept: Text, events: pa.Table) -> pa.Table:
    """Only hands in which a card was at risk are looked at."""
    from analytics.stored.one_by_one import leaves_in

    swaps = pc.filter(events["hand_seq"], pc.equal(events["type"], "CardSwapped"))
    return _risks(kept, leaves_in(events, pc.is_in(events["hand_seq"], swaps.unique())))
