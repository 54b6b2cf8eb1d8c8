"""The tables that are kept beside a ledger's events and need its rules, by their names.

The store makes them with every segment from then on; for older segments they are made on the way
until the ledger is compacted.
"""

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from analytics.stored.auctions import AUCTIONS
from analytics.stored.facts import facts
from store.columns.layout import columns
from store.tables.projection import EventRows, Projection

Text = Callable[[str], bytes | None]
NAMES = ("facts", "auctions", "played", "risks", "decisions")


def stored(kept: Text) -> tuple[Projection, ...]:
    """All of them, for a ledger that keeps the texts of rulesets which `kept` reads."""
    every = tuple(columns())
    # 2: in chips also where units are euro cents, pence or hundredths of a chip
    played = Projection("played", 2, partial(_played, kept), every)
    risks = Projection("risks", 2, partial(_risks, kept), every)
    ours = (facts(kept), AUCTIONS, played, risks)
    return *(one._replace(private=True) for one in ours), decisions(kept)


def decisions(kept: Text) -> Projection:
    """The one that everybody may ask."""
    return Projection("decisions", 1, partial(_decisions, kept), tuple(columns()))


# Functions of a module, so that another process can be asked; numpy comes with them, and few
# questions need it.


def _played(kept: Text, events: EventRows) -> pa.Table:
    from analytics.replay.rulebook import Rulebook
    from analytics.stored.played_table import played_of

    return played_of(Rulebook(kept), events.table)


def _risks(kept: Text, events: EventRows) -> pa.Table:
    """Only hands in which a card was at risk are looked at."""
    from analytics.stored.one_by_one import leaves_in
    from analytics.stored.risks import build

    rows = events.table
    swaps = pc.filter(rows["hand_seq"], pc.equal(rows["type"], "CardSwapped"))
    return build(kept, leaves_in(rows, pc.is_in(rows["hand_seq"], swaps.unique())))


def _decisions(kept: Text, events: EventRows) -> pa.Table:
    from analytics.decisions.table import decisions_of
    from analytics.replay.rulebook import Rulebook

    return decisions_of(Rulebook(kept), events.table)
