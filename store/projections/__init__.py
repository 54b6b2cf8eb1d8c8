"""The projections that need no rules: what happened, counted from the events alone."""

from store.projection import Projection
from store.projections.bids import BIDS
from store.projections.hands import HANDS
from store.projections.players import PLAYERS
from store.projections.pots import POTS
from store.projections.swaps import SWAPS

STANDARD: tuple[Projection, ...] = (HANDS, PLAYERS, BIDS, SWAPS, POTS)
