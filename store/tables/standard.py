"""The projections that need no rules: what happened, counted from the events alone."""

from store.tables.bids import BIDS
from store.tables.hands import HANDS
from store.tables.players import PLAYERS
from store.tables.pots import POTS
from store.tables.projection import Projection
from store.tables.swaps import SWAPS

STANDARD: tuple[Projection, ...] = (HANDS, PLAYERS, BIDS, SWAPS, POTS)
