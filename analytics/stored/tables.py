"""The tables that are kept beside a ledger's events and need its rules, by their names.

The store makes them with every segment from then on; for older segments they are made on the way
until the ledger is compacted.
"""

from collections.abc import Callable
from functools import partial

import pyarrow as pa

from analytics.decisions.table import SHOWN
from analytics.replay.flags import COLUMNS
from analytics.stored.auctions import AUCTIONS
from analytics.stored.facts import VERSION
from analytics.stored.played import played
from analytics.stored.risks import risks
from store.columns.layout import columns
from store.tables.projection import EventRows, Projection

Text = Callable[[str], bytes | None]
NAMES = ("facts", "auctions", "played", "risks", "decisions")


def stored(kept: Text) -> tuple[Projection, ...]:
    """All projections, for a ledger that keeps the texts of rulesets which `kept` reads."""
    ours = (facts(kept), AUCTIONS, played(kept), risks(kept))
    return *(one._replace(private=True) for one in ours), decisions(kept)


def facts(kept: Text) -> Projection:
    """One row a player and hand; `kept` reads the texts of rulesets that a ledger keeps."""
    return Projection("facts", VERSION, partial(_facts, kept), COLUMNS)


def decisions(kept: Text) -> Projection:
    """The one that everybody may ask. 2: what other columns of a row tell is counted, not kept; 3:
    tosses have rows."""
    made = partial(_decisions, kept)
    return Projection("decisions", 3, made, tuple(columns()), shown=SHOWN)


# Functions of a module, so that another process can be asked; numpy comes with what they import.


def _facts(kept: Text, events: EventRows) -> pa.Table:
    from analytics.decisions.hands import Hands
    from analytics.replay.rulebook import Rulebook
    from analytics.stored.facts_table import facts_of

    return facts_of(Rulebook(kept).of, events.once(Hands))


def _decisions(kept: Text, events: EventRows) -> pa.Table:
    from analytics.decisions.hands import Hands
    from analytics.decisions.table import decisions_of
    from analytics.replay.rulebook import Rulebook

    return decisions_of(Rulebook(kept), events.once(Hands))
