"""Hands that a reader tells in columns: those that are what their rules make of them.

The screen holds every event against the rules. What it finds fine is what `formats.follow` would
have made of the hand, and its verdict is `agree`; of all others it is not asked why.
"""

from functools import cache
from typing import Any

import numpy as np

from analytics.batch.rows import Words, read
from analytics.batch.screen import Screen
from analytics.batch.why import Why
from engine.game import Game, fingerprint
from engine.games import GAMES
from events.many import Each, Many
from events.types import HandStarted
from formats.told import Transcript
from store.lots import Lot


def vouched(
    part: Transcript, match: str, players: tuple[str, ...], at: int, *, audited: bool
) -> tuple[Lot, Any]:
    """The hands that may be taken as they are told, of players called so, and what each changed
    for both.

    That another reading of the rules could pay differently concerns only who wants a verdict.
    """
    lot = Lot(match, np.asarray(part.numbers), at, tuple(_named(it, players) for it in part.many))
    if not part.many:
        return lot, part.nets
    screen = _screen(part.game)
    why = screen.judge(read(lot.rows, screen.words)).why
    which = np.isin(why, [Why.FINE] if audited else [Why.FINE, Why.READING])
    return lot.only(which), part.nets[which]


def _named(it: Many, players: tuple[str, ...]) -> Many:
    if it.kind is not HandStarted:
        return it
    return it._replace(fields={**it.fields, "players": Each(np.zeros_like(it.hand), (players,))})


@cache
def _screen(game: Game) -> Screen:
    return Screen({fingerprint(game): game}.get, GAMES.get, Words())
