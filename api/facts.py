"""Which tables stand beside a ledger's events: the store's own, and those that need rules."""

from functools import partial
from pathlib import Path

from analytics.stored.tables import stored
from store.folder.disk import RealDisk
from store.segments.rulesets import kept
from store.tables.projection import Projection
from store.tables.standard import STANDARD

# Rulesets of hands on their way in, by fingerprint: facts are made of such hands before the ledger
# keeps their texts.
INCOMING: dict[str, bytes] = {}


def projections(folder: Path) -> tuple[Projection, ...]:
    """For whoever writes this ledger; a ruleset's text is read when a hand names it."""
    return *STANDARD, *stored(partial(_text, folder))


def _text(folder: Path, mark: str) -> bytes | None:
    return INCOMING.get(mark) or kept(RealDisk(folder), mark)
