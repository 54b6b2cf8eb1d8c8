"""What a shell may complete: rulesets, bots, matches and hands of the ledger that is meant.

A completion that fails completes nothing: nobody wants an error while he types.
"""

from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.printable import printable

if TYPE_CHECKING:
    from store.reader import Snapshot

MOST = 200  # hands that are offered at once


def games(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Rulesets that begin so."""
    from engine.games import RULESETS

    return [name for name in RULESETS if name.startswith(begun)]


def bots(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Bots by name; of a list the last one is completed."""
    from dealer.bots.built_in import BOTS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in BOTS if name.startswith(last)]


def matches(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Matches of the ledger that begin so."""
    found: list[str] = []
    with suppress(Exception):
        every = _ledger(context).matches()
        found = [name for name in every if name.startswith(begun) and name == printable(name)]
    return found


def hands(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Matches first, and once one is named, its hands."""
    match = begun.partition("/")[0]
    if match == begun:
        return [f"{name}/" for name in matches(context, parameter, begun)]
    found: list[str] = []
    with suppress(Exception):
        listed = (one.hand for one in _ledger(context).hands(match))
        found = list(islice((hand for hand in listed if hand.startswith(begun)), MOST))
    return found


def _ledger(context: click.Context) -> "Snapshot":
    """The ledger that the words typed so far mean."""
    from store.reader import Reader

    said: Any = context.params.get("folder")
    return Reader(Path(said or "ledger")).snapshot()
