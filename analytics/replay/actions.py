"""The actions of many hands in lock-step: every hand's n-th at once, and what it faced.

Theory of operation
-------------------
Hands stand in columns, those with the most actions first, so that whoever still acts at step t is a
prefix of every column. It is the record that is followed, as `events.evolve` does, not the rules: a
claim that no rule allows is counted like any other action, and any ruleset will do. Rules are asked
two things only, whether the menu offered a raise and how large a one (`raises.py`).

A step first takes in what happened since the last action: blinds, new cards, a round that opened.
Then whoever walks looks at it: facts at what it means (`streets.py`), decisions at what it faced.
And then the round (`rounds.py`) counts the chips that it moved.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analytics.replay.layout import BET, Laid
from analytics.replay.raises import Asked, Menu, menu, vetoed
from analytics.replay.rounds import Rounds
from engine.game import Game
from store.columns.cells import Column


class Step(NamedTuple):
    """The n-th actions of the first so many hands, a column each; `act` is which of all actions.

    `place` is where the seat's own columns are, `bit` the seat as a mask, `mine` what lies before
    it, `asked` whether a round of betting is on, `offered` whether a raise was on the menu: who
    raised is taken to have been offered it. `facing` is the round for the rules, where somebody
    has them, and `vetoed` whether they forbid to raise.
    """

    live: int
    act: Column
    seat: Column
    bit: Column
    place: Column
    kind: Column
    raising: Column
    asked: Column
    chips: Column
    mine: Column
    offered: Column
    facing: Asked | None
    vetoed: Column | None


class Table(NamedTuple):
    """Hands that are walked together: where each one's seats begin among all of their places."""

    which: Column  # of all hands
    first: Column  # action
    count: Column  # of actions
    seats: Column
    begin: Column
    places: Column  # of all places, each of ours


class Walk:
    """Hands of one menu, which are walked action by action."""

    def __init__(self, laid: Laid, which: Column, menu: Menu | None) -> None:
        self.laid, self.menu = laid, menu
        self.table = _table(laid, which)
        self.rounds = Rounds(laid, self.table)

    def steps(self) -> Iterator[Step]:
        """Every action of every hand, to the last; `rounds` stand as each was asked."""
        count = self.table.count
        steps = int(count[0]) if len(count) else 0
        live = np.searchsorted(-count, -np.arange(steps), side="left").tolist()
        for t in range(steps):
            it = self._step(t, live[t])
            yield it
            self.rounds.stake(it)

    def _step(self, t: int, live: int) -> Step:
        """One action of every hand that has one left."""
        acts, rounds = self.laid.acts, self.rounds
        act = self.table.first[:live] + t
        rounds.take_in(t, act)
        seat, kind = acts.seat.take(act), acts.kind.take(act)
        place = self.table.begin[:live] + seat
        chips = rounds.stacks.take(place)
        raising, asked = kind >= BET, rounds.opened[:live]
        it = Step(
            live,
            act,
            seat,
            np.left_shift(1, seat, dtype=np.int32),
            place,
            kind,
            raising,
            asked,
            chips,
            rounds.base.take(place) - chips,
            raising,
            None,
            None,
        )
        if self.menu is None:
            return it
        facing = rounds.asked(it, self.menu)
        veto = vetoed(self.menu, facing)
        return it._replace(offered=raising | asked & ~veto, facing=facing, vetoed=veto)


def walks(laid: Laid, games: Sequence[Game | None], ruleset: Column) -> Iterator[Walk]:
    """Hands in which anybody acts; those of one menu together. `ruleset` is which game each had."""
    menus: dict[Menu | None, list[int]] = {}
    for number, game in enumerate(games):
        menus.setdefault(menu(game), []).append(number)
    some = laid.told & (np.diff(laid.first_act) > 0)
    for policies, numbers in menus.items():
        which = np.flatnonzero(some & np.isin(ruleset, numbers))
        if len(which):
            yield Walk(laid, which, policies)


def _table(laid: Laid, which: Column) -> Table:
    """These hands, those with the most actions first."""
    first, upto = laid.first_act[which], laid.first_act[which + 1]
    order = np.argsort(first - upto, kind="stable")
    which = which[order]
    seats = laid.seats[which]
    begin = np.cumsum(seats) - seats
    places = np.repeat(laid.base[which] - begin, seats) + np.arange(int(seats.sum()))
    return Table(which, first[order], (upto - first)[order], seats, begin, places)
