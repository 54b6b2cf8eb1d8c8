"""The screen itself: hands of a ledger grouped by their plan, replayed, and told fine or doubtful.

`fine` is a promise: the engine's audit agrees with the hand, and no reading pays otherwise. Any
doubt, and whatever the screen does not follow, is for the engine to judge.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analytics.batch.cards import Cards
from analytics.batch.laid import Laid
from analytics.batch.payment import Payment, Verdicts
from analytics.batch.plan import Plan, Stakes, planned
from analytics.batch.record import Record
from analytics.batch.replay import Replay
from analytics.batch.rows import BAD, Column, Rows, Words
from analytics.batch.table import Hands
from analytics.batch.why import Why
from engine.game import Game

Find = Callable[[str], Game | None]
CHUNK = 1 << 15  # hands played at once: their columns stay in the processor's cache


class Screened(NamedTuple):
    """What became of each hand of some rows: why it is doubtful, and what each seat won."""

    why: Column
    names: list[str | None]  # of rulesets that hands were held against
    ruleset: Column  # by hand: which of the names
    nets: Column  # by hand and seat; only where it is fine


class Screen:
    """Rulesets as plans, remembered from one group of rows to the next."""

    def __init__(self, find: Find, partner: Find, words: Words, other: Game | None = None) -> None:
        self._find, self._partner, self._other = find, partner, other
        self.words = words
        self._plans: dict[tuple[int, int, int], tuple[Plan, Stakes] | Why] = {}
        self._games: dict[int, Game | None] = {}

    def judge(self, rows: Rows) -> Screened:
        """Every hand of these rows."""
        return self.judge_laid(Laid(rows, self.words))

    def judge_laid(self, laid: Laid) -> Screened:
        """Every hand of rows that are laid out already."""
        rows = laid.rows
        count = rows.hands
        why = np.zeros(count, dtype=np.uint8)
        heads = rows.first[:-1]
        seats = rows.ragged["stacks"].count.take(heads)
        nets = np.zeros((count, int(seats.max(initial=0))), dtype=np.int64)
        kinds, where = _kinds(
            rows.cells["ruleset"].take(heads), rows.cells["game"].take(heads), seats
        )
        stakes: dict[Plan, list[tuple[int, Stakes]]] = {}
        for number, (mark, name, size) in enumerate(kinds):
            found = self._planned(mark, name, size)
            if isinstance(found, Why):
                why[where == number] = found
            else:
                stakes.setdefault(found[0], []).append((number, found[1]))
        for plan, members in stakes.items():
            self._group(laid, plan, members, where, why, nets)
        np.copyto(why, np.uint8(Why.START), where=rows.strange)
        names = [game.name if (game := self._games.get(mark)) else None for mark, _, _ in kinds]
        return Screened(why, names, where, nets)

    def _planned(self, mark: int, name: int, size: int) -> tuple[Plan, Stakes] | Why:
        key = mark, name, size
        if key not in self._plans:
            self._plans[key] = self._plan(*key)
        return self._plans[key]

    def _plan(self, mark: int, name: int, size: int) -> tuple[Plan, Stakes] | Why:
        """The plan of a ruleset, named by its fingerprint, at a table of this size."""
        if mark == BAD or name == BAD or size < 2:
            return Why.START
        game = self._other or self._find(self.words.word(mark))
        self._games[mark] = game
        if game is None:
            return Why.RULES
        if self._other is None and game.name != self.words.word(name):
            return Why.START
        found = planned(game, size, self._partner(game.partner or ""))
        return Why.RULES if isinstance(found, str) else found

    def _group(
        self,
        laid: Laid,
        plan: Plan,
        members: list[tuple[int, Stakes]],
        where: Column,
        why: Column,
        nets: Column,
    ) -> None:
        """Hands of one plan, a chunk at a time, those with most actions first."""
        which = np.flatnonzero(np.isin(where, [number for number, _ in members]))
        why[which] = np.where(laid.why[which] > 0, laid.why[which], why[which])
        which = which[why[which] == 0]
        lookup = np.zeros(int(where.max(initial=0)) + 1, dtype=np.int64)
        lookup[[number for number, _ in members]] = np.arange(len(members))
        for start in range(0, len(which), CHUNK):
            some = which[start : start + CHUNK]
            some = some[np.argsort(laid.fewest[some], kind="stable")]
            stakes = lookup[where[some]]
            hands = laid.hands(plan, some, [one for _, one in members], stakes)
            verdicts = screened(laid, some, hands)
            why[some] = verdicts.record.why
            nets[some, : plan.seats] = verdicts.nets.T


def screened(laid: Laid, which: Column, hands: Hands) -> Verdicts:
    """Some hands of one plan, replayed and held against their records."""
    played = Replay(hands)
    played.run()
    payment = Payment(played)
    record = Record(laid, which, played, payment.count, payment.rakes)
    record.check()
    cards = Cards(record)
    verdicts = Verdicts(record, cards, payment)
    verdicts.check()
    return verdicts


def _kinds(mark: Column, name: Column, seats: Column) -> tuple[list[tuple[int, int, int]], Column]:
    """The different rulesets and tables, and which of them each hand is of."""
    if not len(mark):
        return [], seats
    new = np.ones(len(mark), dtype=bool)
    new[1:] = (mark[1:] != mark[:-1]) | (name[1:] != name[:-1]) | (seats[1:] != seats[:-1])
    runs = np.flatnonzero(new)
    known: dict[tuple[int, int, int], int] = {}
    of = [
        known.setdefault(kind, len(known))
        for kind in zip(mark[runs].tolist(), name[runs].tolist(), seats[runs].tolist(), strict=True)
    ]
    return list(known), np.repeat(of, np.diff(np.append(runs, len(mark))))
