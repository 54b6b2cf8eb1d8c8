"""Hands that were not put to the rules one by one: those that are what their rules make of them.

The screen holds every event against the rules. What it finds fine is what `formats.follow` would
have made of the hand, and its verdict is `agree`, unless that rests on what the hand assumes; of
all others it is not asked why.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from analytics.screen.rows import Words, read
from analytics.screen.screen import Screen
from analytics.screen.why import Why
from api.importing.spool import RUN
from engine.game import Game, fingerprint
from events.ledger import Conflict
from events.many import Each, Many
from events.types import HandStarted
from formats.plain import Plain, plain
from formats.source import SourceHand, Transcript
from store.columns.gathered import gathered
from store.columns.hands import Lot
from store.segments.runs import check_values

GAMES_MAX = 1 << 12  # that the screen keeps plans of: of some files each hand has its own stakes


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
    which = _fine(lot, (part.game,), audited=audited)
    return lot.only(which), part.nets[which]


def assuming(lot: Lot) -> list[int]:
    """The numbers of hands that assume something: who tells hands in columns says it of those
    alone whose verdict rests on it."""
    found: list[int] = []
    for one in lot.many:
        if one.kind is HandStarted:
            assumed = one.fields["assumed"]
            some = [code for code, words in enumerate(assumed.values) if words]
            found += lot.numbers[one.hand[np.isin(assumed.codes, some)]].tolist()
    return sorted(found)


def plainly(
    hands: Sequence[SourceHand], match: str, at: int, *, audited: bool
) -> tuple[Lot | None, Mapping[int, Plain]]:
    """Of hands in the order of their numbers those that are plain, in columns and by number."""
    numbers = [hand.number for hand in hands]
    if numbers != sorted(set(numbers)):
        return None, {}
    made = {it.number: one for it in hands if (one := plain(it, f"{match}/{it.number}"))}
    if len(made) < RUN:
        return None, {}
    try:
        records = [one.record for one in made.values()]
        lot = gathered(match, list(made), at, records, check_values)
    except Conflict:  # whoever follows these hands will be told the same
        return None, {}
    if lot is None:
        return None, {}
    lot = lot.only(_fine(lot, {hand.game for hand in hands}, audited=audited))
    return lot, {number: made[number] for number in lot.numbers.tolist()}


def _fine(lot: Lot, games: Iterable[Game], *, audited: bool) -> Any:
    """Which hands of a lot are fine."""
    if len(_games) > GAMES_MAX:
        _games.clear()
        _screen.cache_clear()
    _games.update((fingerprint(game), game) for game in games)
    screen = _screen()
    why = screen.judge(read([lot.rows], screen.words)).why
    others = () if audited else (Why.READING,)
    return np.isin(why, [Why.FINE, Why.ASSUMED, *others])


def _named(it: Many, players: tuple[str, ...]) -> Many:
    if it.kind is not HandStarted:
        return it
    return it._replace(fields={**it.fields, "players": Each(np.zeros_like(it.hand), (players,))})


_games: dict[str, Game] = {}  # by fingerprint, those that the screen knows


@cache
def _screen() -> Screen:
    return Screen(_games.get, Words())
