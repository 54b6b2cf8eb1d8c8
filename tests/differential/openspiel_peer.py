"""OpenSpiel's universal_poker at our table: it wraps the dealer of the ACPC, written in C.

Its amounts are totals of the whole hand, its payoffs fractional, and it enumerates every legal
chip. It knows no antes, and limit games for four seats at most, without stacks; other limit tables,
and blinds that leave nobody to act or that their poster cannot pay, abort the process. Index 0 is
the seat left of the button; of two, the big blind.
"""

import re
from fractions import Fraction
from functools import cache

import pyspiel

from engine.games import named
from engine.games.site import at_stakes
from engine.policies import Sizing
from engine.steps.sizing import veto
from events.cards import DECK
from tests.differential.lockstep import FOLD, PASS, Kind, Menu, Rules, Spot
from tests.differential.tables import Table

SCALE = 2520  # every number of winners up to nine divides it, so that all our shares are whole
_FOLD, _CALL, _LIMIT_RAISE = 0, 1, 2  # any other action is a total
_RULESETS: dict[Sizing, tuple[str, str, tuple[str, ...]]] = {
    "no_limit": ("acpc-nl", "site-nl-standard", ("reopen", "min_raise_after_short")),
    "fixed": ("acpc-limit", "site-fl-standard", ("raise_cap", "cap_lift")),
}


class OpenSpiel:
    """A state of universal_poker, driven by moves."""

    def __init__(self, sizing: Sizing, table: Table) -> None:
        self._stacks, self._limit = table.stacks, sizing == "fixed"
        game = pyspiel.load_game("universal_poker", _definition(sizing, table))
        self._state = game.new_initial_state()
        self._before = (0,) * len(table.stacks)
        for cards in table.holes:
            self._deal(cards)

    def menu(self) -> Menu | None:
        state = self._state
        if state.is_chance_node() or state.is_terminal():
            return None
        seat, legal, spent = state.current_player(), state.legal_actions(), _spent(state)
        assert _CALL in legal
        call = min(max(spent), self._stacks[seat]) - spent[seat]
        totals = [action for action in legal if action > _CALL]
        if not totals:
            return Menu(seat, _FOLD in legal, call == 0, call, None, None)
        if self._limit:
            totals = [_spent(state.child(_LIMIT_RAISE))[seat]]
        low, high = totals[0] - self._before[seat], totals[-1] - self._before[seat]
        assert len(totals) == high - low + 1
        return Menu(seat, _FOLD in legal, call == 0, call, low, high)

    def stacks(self) -> tuple[int, ...]:
        return tuple(
            had - gone for had, gone in zip(self._stacks, _spent(self._state), strict=True)
        )

    def act(self, move: int) -> None:
        state = self._state
        if move in (FOLD, PASS):
            state.apply_action(_FOLD if move == FOLD else _CALL)
        elif self._limit:
            state.apply_action(_LIMIT_RAISE)
        else:
            state.apply_action(move + self._before[state.current_player()])

    def deal(self, cards: tuple[str, ...]) -> None:
        self._before = _spent(self._state)
        self._deal(cards)

    def _deal(self, cards: tuple[str, ...]) -> None:
        for card in cards:
            assert self._state.is_chance_node()
            self._state.apply_action(DECK.index(card))

    def finals(self) -> tuple[Fraction, ...]:
        """Payoffs are floating-point numbers: the fraction that each stands for."""
        assert self._state.is_terminal(), "OpenSpiel still waits for something"
        nets = (Fraction(net).limit_denominator(SCALE) for net in self._state.returns())
        return tuple(had + net for had, net in zip(self._stacks, nets, strict=True))


def _spent(state: pyspiel.State) -> tuple[int, ...]:
    """What every seat has put in, which the state only tells in print."""
    said = str(state)
    return tuple(map(int, re.findall(r"P\d+: (\d+)", said[said.rindex("Spent:") :])))


def _definition(sizing: Sizing, table: Table) -> dict[str, str | int]:
    """The game in the ACPC's words."""
    seats, small, big = len(table.stacks), table.small, table.big
    blinds = (big, small) if seats == 2 else (small, big, *(0,) * (seats - 2))
    game: dict[str, str | int] = {
        "numPlayers": seats,
        "numRounds": 4,
        "blind": " ".join(map(str, blinds)),
        "firstPlayer": "2 1 1 1" if seats == 2 else "3 1 1 1",
        "numSuits": 4,
        "numRanks": 13,
        "numHoleCards": 2,
        "numBoardCards": "0 3 1 1",
        "stack": " ".join(map(str, table.stacks)),
    }
    if sizing == "fixed":
        sizes = f"{big} {big} {2 * big} {2 * big}"
        return game | {"betting": "limit", "raiseSize": sizes, "maxRaises": "3 4 4 4"}
    return game | {"betting": "nolimit", "bettingAbstraction": "fullgame"}


def seatable(sizing: Sizing, table: Table) -> Table:
    """The table as far as OpenSpiel can seat it."""
    if sizing == "fixed":
        seats = min(len(table.stacks), 4)
        stacks: tuple[int, ...] = (100 * table.big,) * seats
        return table._replace(ante=0, stacks=stacks, holes=table.holes[:seats])
    small, big, *others = table.stacks
    stacks = (max(small, table.big + 1), max(big, table.big + 1), *others)
    return table._replace(ante=0, stacks=stacks)


@cache
def rules(sizing: Sizing, small: int, big: int) -> Rules:
    """The rulesets by which the ACPC's own logs are audited, in chips that split evenly."""
    name, standard, habits = _RULESETS[sizing]
    high = 2 * big if sizing == "fixed" else big
    stakes = small * SCALE, big * SCALE, high * SCALE
    return Rules.of(at_stakes(named(name), *stakes), named(standard), habits)


# What no policy names.


def _asks_for_a_check(spot: Spot) -> bool:
    """A blind that only all-in seats have called is asked, and may only check (G8)."""
    theirs = spot.theirs
    if spot.ours is not None or theirs is None or not theirs.check or theirs.low is not None:
        return False
    live = [seat for seat, standing in enumerate(spot.hand.standing) if standing == "live"]
    return live == [theirs.seat] and spot.hand.forced[theirs.seat] > 0 and not spot.hand.board


def _raises_against_whoever_has_not_acted(spot: Spot) -> bool:
    """A seat yet to answer counts as somebody to raise, even if it cannot cover the bet (G7)."""
    now = spot.hand.round
    if spot.ours is None or now is None:
        return False
    others = [s for s, standing in enumerate(spot.hand.standing) if standing == "live"]
    if len(others) < 2 or veto(spot.game, spot.hand, now, spot.ours.seat) != "nobody_to_answer":
        return False
    low, high = _theirs(spot)
    return spot.theirs == spot.ours._replace(low=low, high=high)


def _theirs(spot: Spot) -> tuple[int, int]:
    """The ACPC's range: as far as the stack goes."""
    now, ours = spot.hand.round, spot.ours
    assert now is not None
    assert ours is not None
    most = now.bets[ours.seat] + spot.hand.stacks[ours.seat]
    return min(now.least, most) // SCALE, most // SCALE


KINDS = (
    Kind("a lone blind is asked to check", _asks_for_a_check),
    Kind("raised against a seat that cannot cover", _raises_against_whoever_has_not_acted),
)
