"""The actions of many hands in lock-step: every hand's n-th at once, and what it means.

Theory of operation
-------------------
Hands stand in columns, those with the most actions first, so that whoever still acts at step t is a
prefix of every column. It is the record that is followed, as `events.evolve` does, not the rules: a
claim that no rule allows is counted like any other action, and any ruleset will do. Rules are asked
one thing only, whether the menu offered a raise (`facts_menu.py`).

A step first takes in what happened since the last action: blinds, new cards, a round that opened.
Then it looks up what this action means in its spot, as an opportunity and as a deed; and then the
round (`facts_rounds.py`: chips) and the street (`facts_streets.py`: who has done what) remember it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analytics.replay.layout import BET, Laid
from analytics.replay.raises import Menu, menu, vetoed
from analytics.replay.rounds import Rounds
from analytics.replay.seating import Named
from analytics.replay.streets import Streets
from engine.game import Game
from store.columns.cells import Column


class Step(NamedTuple):
    """The n-th actions of the first so many hands, a column each; `act` is which of all actions.

    `place` is where the seat's own columns are, `bit` the seat as a mask, `mine` what lies before
    it, `asked` whether a round of betting is on.
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


class Table(NamedTuple):
    """Hands that are walked together: where each one's seats begin among all of their places."""

    which: Column  # of all hands
    first: Column  # action
    count: Column  # of actions
    seats: Column
    begin: Column
    places: Column  # of all places, each of ours


class Walk:
    """Hands of one menu while they are walked; afterwards `words`, of every one of their places."""

    def __init__(self, laid: Laid, which: Column, menu: Menu | None, named: Named) -> None:
        self.laid, self.menu = laid, menu
        self.table = _table(laid, which)
        self.rounds = Rounds(laid, self.table)
        self.streets = Streets(self.table, named)
        self.words = np.zeros(len(self.table.places), dtype=np.int64)

    def run(self) -> None:
        """Walk every hand to its last action."""
        count = self.table.count
        steps = int(count[0]) if len(count) else 0
        live = np.searchsorted(-count, -np.arange(steps), side="left").tolist()
        for t in range(steps):
            self._step(t, live[t])

    def _step(self, t: int, live: int) -> None:
        """One action of every hand that has one left."""
        acts, rounds, streets = self.laid.acts, self.rounds, self.streets
        act = self.table.first[:live] + t
        rounds.take_in(t, act)
        streets.take_in(acts.street.take(act))
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
        )
        offered = raising
        if self.menu is not None:
            offered = raising | asked & ~vetoed(self.menu, rounds.asked(it, self.menu))
        gone = rounds.gone(live, streets.aggressor[:live])
        word = streets.words(it, offered, rounds.bet[:live] > it.mine, gone)
        self.words[place] |= word * acts.counts.take(act)
        streets.remember(it)
        rounds.stake(it)


def walks(
    laid: Laid, games: Sequence[Game | None], ruleset: Column, named: Named
) -> Iterator[Walk]:
    """Hands in which anybody acts; those of one menu together. `ruleset` is which game each had."""
    menus: dict[Menu | None, list[int]] = {}
    for number, game in enumerate(games):
        menus.setdefault(menu(game), []).append(number)
    some = laid.told & (np.diff(laid.first_act) > 0)
    for policies, numbers in menus.items():
        which = np.flatnonzero(some & np.isin(ruleset, numbers))
        if len(which):
            yield Walk(laid, which, policies, named)


def _table(laid: Laid, which: Column) -> Table:
    """These hands, those with the most actions first."""
    first, upto = laid.first_act[which], laid.first_act[which + 1]
    order = np.argsort(first - upto, kind="stable")
    which = which[order]
    seats = laid.seats[which]
    begin = np.cumsum(seats) - seats
    places = np.repeat(laid.base[which] - begin, seats) + np.arange(int(seats.sum()))
    return Table(which, first[order], (upto - first)[order], seats, begin, places)
