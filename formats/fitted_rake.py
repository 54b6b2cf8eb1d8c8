"""Fit the rate and the cap of a site's rake to the hands of a file, which never name them.

Rate and caps are fitted over all hands of a file at the same stakes, and then held against every
one of them. Where a file has too few hands for that, a usual rate may explain a hand by itself;
else the rake is nothing but what is missing in this hand. If the table of known sites is asked for,
nothing is fitted: each hand is held against its row, or is of none. Each is an assumption of the
record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from engine.games import IMPORTED
from engine.policies import Rake
from engine.settle import rakes, taken_of
from events.state import opened
from events.types import HandStarted
from formats.rakes import ListedRake, RakeFrom, UnlistedRake, rake_in_words
from formats.source import ImportRules

_PERCENTS = (5, 4, 3, 2, 1, 6, 10)
_PERMILLES = (45, 35, 25, 55, 15, 475, 425)
_STEPS = (100, 20, 500, 1000, 2000)
_SURE_SHARE = 0.9  # of the hands: what is not explained then differs
MONEY_SIGNS = "$€£"
_USUAL = Rake(percent=5)


class RakeSample(NamedTuple):
    """The pot and the rake of one hand, a sample of its house."""

    seats: int
    flop: bool
    pot: int
    rake: int


class HouseRake(Struct, frozen=True):
    """The rake that explains most hands of a file at some stakes, caps by the number of players;
    `sure` if it explains so many that the others differ."""

    rake: Rake
    caps: dict[int, int]
    sure: bool = False

    def at(self, seats: int) -> Rake:
        """The rake of a table with so many dealt in."""
        known = [cap for least, cap in sorted(self.rake.caps_by_players) if seats >= least]
        cap = self.caps.get(seats, known[-1] if known else None)
        return replace(self.rake, caps_by_players=() if cap is None else ((seats, cap),))


class HouseRakes(Struct, frozen=True):
    """The rakes of a file: by stakes, if set or fitted; by hand, if of the table of known sites."""

    by_stakes: Mapping[str, HouseRake]
    source: RakeFrom = "fitted"


def fitted_rakes(
    hands_seen: Iterable[tuple[str, RakeSample]], rules: ImportRules, site: str
) -> HouseRakes:
    """The house of each stakes: as it was set for this site, or as it explains most of the hands
    there; those of the table, if that was asked for."""
    if rules.settings:
        rake = rules.of(IMPORTED[f"{site}-nl"]).rake
        if rake is not None:
            return HouseRakes({stakes: HouseRake(rake, {}, sure=True) for stakes, _ in hands_seen})
    seen: dict[str, set[RakeSample]] = {}
    for stakes, hand in hands_seen:
        seen.setdefault(stakes, set()).add(hand)
    if rules.rake != "fitted":
        return HouseRakes({}, rules.rake)
    houses: dict[str, HouseRake] = {}
    for stakes, hands in seen.items():
        # Nobody takes a rake at a table for chips where two pots that could be raked were not.
        house = _best_rake(hands)
        for_chips = not any(sign in stakes for sign in MONEY_SIGNS)
        unraked = {hand.pot for hand in hands if _rake_due(_USUAL, hand)}
        if for_chips and len(unraked) >= 2 and not any(hand.rake for hand in hands):
            house = _NO_RAKE
        if house is not None:
            houses[stakes] = house
    return HouseRakes(houses)


_NO_RAKE = HouseRake(Rake(percent=0), {}, sure=True)


def _best_rake(seen: set[RakeSample]) -> HouseRake | None:
    """The rule that explains most of these hands, and more than half; the likeliest of several.

    It needs two different pots that it rakes without a cap, or one and a cap that two reach. If it
    explains nine of ten, it is the house's, and what it does not explain is not.
    """
    informing = {hand for hand in seen if hand.rake or hand.flop}
    if len({hand.pot for hand in informing if hand.rake}) < 2:
        return None
    best, most = None, len(informing) / 2
    for rate in _usual_rates(no_flop=any(hand.rake for hand in seen if not hand.flop)):
        house = HouseRake(rate, _caps(rate, informing))
        right = [hand for hand in informing if hand.rake == _rake_due(house.at(hand.seats), hand)]
        free = {hand.pot for hand in right if hand.rake and hand.rake != house.caps.get(hand.seats)}
        if len(right) > most and len(free) + bool(house.caps) >= 2:
            sure = len(right) >= _SURE_SHARE * len(informing)
            best, most = HouseRake(rate, house.caps, sure), len(right)
    return best


def _caps(rate: Rake, seen: set[RakeSample]) -> dict[int, int]:
    """The cap by number of players that explains most of these hands; no cap is taken that two
    hands do not stop at, with however many players."""
    below = [hand for hand in seen if 0 < hand.rake < _rake_due(rate, hand)]
    often = Counter(hand.rake for hand in below)
    caps: dict[int, int] = {}
    for seats in {hand.seats for hand in below}:
        alike = [hand for hand in seen if hand.seats == seats]
        right = sum(hand.rake == _rake_due(rate, hand) for hand in alike)
        for cap in sorted({hand.rake for hand in below if hand.seats == seats}, reverse=True):
            count = sum(hand.rake == min(_rake_due(rate, hand), cap) for hand in alike)
            if often[cap] > 1 and count > right:
                caps[seats], right = cap, count
    return caps


def _rake_due(rate: Rake, hand: RakeSample) -> int:
    """The rake that this rule takes of a hand."""
    if rate.no_flop_no_drop and not hand.flop:
        return 0
    cap = rate.caps_by_players[0][1] if rate.caps_by_players else None
    return taken_of(rate, hand.pot, cap)


def _usual_rates(*, no_flop: bool = False) -> Iterator[Rake]:
    """Usual rates, the likeliest first; of hands without a flop, too, if such were raked."""
    own = Rake(percent=5, no_flop_no_drop=not no_flop)
    percents = [replace(own, percent=percent) for percent in _PERCENTS]
    permilles = [
        replace(own, percent=part, of=1000 if part < 100 else 10000) for part in _PERMILLES
    ]
    yield from (*percents, *permilles)
    yield from (replace(own, rounding="incremental", increment=step) for step in _STEPS)
    yield from (replace(rate, rounding="floor") for rate in (*percents, *permilles))
    yield from (replace(rate, rounding="ceil") for rate in (*percents, *permilles))


def capped_rates(cap: int, *, no_flop: bool) -> Iterator[Rake]:
    """Rates that stop at this cap, the usual ones first; the last takes it whole of the first pots.

    What they take of several pots together is one cap for the hand (R5), and no part of each.
    """
    for rate in (*_usual_rates(no_flop=no_flop), Rake(percent=100, no_flop_no_drop=not no_flop)):
        yield replace(rate, caps_by_players=((2, cap),))


# One hand.


class HandRake(Struct, frozen=True):
    """The pots of a hand, and the rake of each, or in all if the text does not tell."""

    pots: tuple[int, ...]
    taken: tuple[int, ...] | None
    total: int
    seats: int
    flop: bool

    def fits(self, game: Game) -> bool:
        """Whether these rules take just that."""
        start = HandStarted("", "", "", 0, ("",) * self.seats, (1,) * self.seats)
        hand = replace(opened(start), board=("??",) * 3 if self.flop else ())
        taken = rakes(game, hand, self.pots)
        return sum(taken) == self.total and self.taken in (None, taken)


def game_with_rake(
    game: Game,
    till: HandRake,
    house: HouseRake | ListedRake | UnlistedRake | None,
    *,
    chips: bool = False,
) -> tuple[Game, tuple[str, ...]]:
    """The game with the rake of its house, and what of it is assumed; `chips` if it is played for
    chips, of which a house may take a rake or not."""
    if isinstance(house, HouseRake) and not house.rake.percent:
        return _with_rake(game, None), ()
    if game.rake is None and not isinstance(house, HouseRake | ListedRake):
        free = not chips or till.fits(_with_rake(game, _USUAL))
        return game, () if free else (f"unraked pot of {sum(till.pots)}",)
    if isinstance(house, ListedRake):
        return _with_rake(game, house.rake), (house.assumed,)
    if isinstance(house, HouseRake):
        rake = house.at(till.seats)
        if house.sure or till.fits(_with_rake(game, rake)):
            return _with_rake(game, rake), (f"rake {rake_in_words(rake)}",)
    why = f": {house.reason}" if isinstance(house, UnlistedRake) else ""
    if not till.total:
        if till.fits(game) and not isinstance(house, HouseRake):
            return game, ()
        return _with_rake(game, None), (f"unraked pot of {sum(till.pots)}{why}",)
    for rate in _usual_rates(no_flop=not till.flop) if house is None else ():
        if rate.rounding in ("half_even", "incremental") and till.fits(_with_rake(game, rate)):
            return _with_rake(game, rate), (f"rake {rake_in_words(rate)}",)
    rake = Rake(percent=till.total, of=sum(till.pots), no_flop_no_drop=False)
    if till.taken is not None and not till.fits(_with_rake(game, rake)):
        stopped = capped_rates(till.total, no_flop=not till.flop)
        rake = next((one for one in stopped if till.fits(_with_rake(game, one))), rake)
    return _with_rake(game, rake), (f"shortfall {till.total} of {sum(till.pots)}{why}",)


@lru_cache(4096)
def _with_rake(game: Game, rake: Rake | None) -> Game:
    """The game under a rake, one object for all hands of the house."""
    return replace(game, rake=rake)
