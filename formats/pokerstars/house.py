"""What the text never says about the house: its rate, its cap, the coin that it splits pots in.

The rules that would explain the recorded numbers are tried, the likeliest first. They are
conclusions from one hand, and marked so.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from engine.game import Game
from engine.policies import Rake
from engine.pots import split
from engine.rake import rakes
from events.state import opened
from events.types import HandStarted

_PERCENTS = (5, 4, 3, 2, 1, 6, 10)
_PERMILLES = (45, 35, 25, 55, 15, 475, 425)
_STEPS = (100, 20)
_LARGE_STEPS = (500, 1000, 2000)
_CAP_STEP = 5  # every cap ever published is a multiple of it


def explained(
    game: Game,
    unit: int,
    seats: int,
    flop: bool,
    pots: Sequence[int],
    taken: Sequence[int] | None,
    total: int,
) -> Game:
    """The game with a rake that takes this much of each pot, or in all, if there is one.

    If none would, the ruleset keeps its own, and its audit will say that it differs.
    """
    start = HandStarted("", "", "", 0, ("",) * seats, (1,) * seats)
    hand = replace(opened(start), board=("??",) * 3 if flop else ())
    for rule in _rules(game.rake, seats, total, flop):
        candidate = _kept_by(game, unit, rule)
        found = rakes(candidate, hand, tuple(pots))
        if sum(found) == total and (taken is None or found == tuple(taken)):
            return candidate
    return _kept_by(game, unit, game.rake)


@lru_cache(4096)
def _kept_by(game: Game, unit: int, rake: Rake | None) -> Game:
    """One game for all hands under such a house."""
    return replace(game, split_unit=unit, rake=rake)


def _rules(own: Rake | None, seats: int, taken: int, flop: bool) -> Iterator[Rake | None]:
    """The ruleset's own; other rates; then all of them with a cap at what was taken."""
    if own is None:
        return
    if not taken:
        yield from (own, None)
        return
    rates = [own]
    rates += [replace(own, percent=percent) for percent in _PERCENTS]
    rates += [replace(own, percent=part, of=1000 if part < 100 else 10000) for part in _PERMILLES]
    rates += [replace(own, rounding="incremental", increment=step) for step in _STEPS]
    rates += [replace(own, rounding="floor"), replace(own, rounding="ceil")]
    if not flop:
        rates = [replace(rate, no_flop_no_drop=False) for rate in rates]
    yield from rates
    if taken % _CAP_STEP == 0:
        yield from (replace(rate, caps_by_players=((seats, taken),)) for rate in rates)
    yield from (replace(rates[0], rounding="incremental", increment=step) for step in _LARGE_STEPS)


def coin(game: Game, shares: Sequence[Sequence[int]]) -> int:
    """The smallest coin of the splits: two shares of a pot differ by no more than one of it."""
    units = {max(pot) - min(pot) for pot in shares if len(pot) > 1}
    unit = max(units, default=0)
    if unit < 2:
        return 1
    other = replace(game, split_unit=unit)
    for pot in shares:
        paid = split(other, sum(pot), tuple(range(len(pot)))).shares
        if sorted(paid) != sorted(pot):
            return 1
    return unit
