"""The screen itself: hands of a ledger grouped by their plan, replayed, and told fine or doubtful.

`fine` is a promise: the engine's audit agrees with the hand, and no reading pays otherwise. Any
doubt, and whatever the screen does not follow, is for the engine to judge.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analytics.screen.award import Award
from analytics.screen.cards import Cards
from analytics.screen.contenders import Contenders
from analytics.screen.laid import Laid, spans
from analytics.screen.payment import Payment
from analytics.screen.plan import Plan, Stakes, planned
from analytics.screen.readings import Readings
from analytics.screen.record import Record
from analytics.screen.replay import Replay
from analytics.screen.rows import BAD, Column, Rows, Words
from analytics.screen.table import Hands
from analytics.screen.why import Why
from engine.changes import partner_of
from engine.game import Game

Find = Callable[[str], Game | None]
CHUNK = 1 << 14  # hands played at once, more or less: their columns stay in the cache


class Screened(NamedTuple):
    """What became of each hand of some rows: why it is doubtful, and what each seat won."""

    why: Column
    names: list[str | None]  # of rulesets that hands were held against
    ruleset: Column  # by hand: which of the names
    nets: Column  # by hand and seat; only where it is fine


class Screen:
    """Rulesets as plans, remembered from one group of rows to the next."""

    def __init__(self, find: Find, words: Words, other: Game | None = None) -> None:
        self._find, self._other = find, other
        self.words = words
        self._plans: dict[tuple[int, int, int], tuple[Plan, Stakes] | Why] = {}
        self._games: dict[int, Game | None] = {}

    def judge(self, rows: Rows) -> Screened:
        """Every hand of these rows."""
        return self.judge_laid(Laid(rows, self.words))

    def judge_laid(self, laid: Laid) -> Screened:
        """Every hand of rows that are laid out already."""
        kinds, where = laid.kinds, laid.kind
        said = np.zeros(len(kinds), dtype=np.uint8)
        stakes: dict[Plan, list[tuple[int, Stakes]]] = {}
        for number, (mark, name, size) in enumerate(kinds):
            found = self._planned(mark, name, size)
            if isinstance(found, Why):
                said[number] = found
            else:
                stakes.setdefault(found[0], []).append((number, found[1]))
        why = said.take(where)
        why += laid.why * (why == 0)
        widest = max((size for _, _, size in kinds), default=0)
        nets = np.zeros((widest, laid.rows.hands), dtype=np.int64).T  # what a seat won together
        for plan, members in stakes.items():
            self._group(laid, plan, members, why, nets)
        why[laid.rows.strange] = Why.START
        why[(why == Why.FINE) & laid.rows.cells["assumed"].take(laid.rows.first[:-1])] = Why.ASSUMED
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
        found = planned(game, size, partner_of(game))
        return Why.RULES if isinstance(found, str) else found

    def _group(
        self, laid: Laid, plan: Plan, members: list[tuple[int, Stakes]], why: Column, nets: Column
    ) -> None:
        """Hands of one plan, a chunk at a time."""
        stakes = np.full(len(laid.kinds), -1)  # by kind: which of the members
        stakes[[number for number, _ in members]] = np.arange(len(members))
        which = np.flatnonzero((stakes.take(laid.kind) >= 0) & (why == 0))
        for some in np.array_split(which, max(1, round(len(which) / CHUNK))):
            of = stakes.take(laid.kind.take(some))
            hands = laid.hands(plan, some, [one for _, one in members], of)
            at = spans(some, np.ones_like(some))
            why[at], nets[at, : plan.seats] = screened(laid, some, hands)


def screened(laid: Laid, which: Column, hands: Hands) -> tuple[Column, Column]:
    """Some hands of one plan, replayed and held against their records: why, and nets by seat."""
    played = Replay(hands)
    played.run()
    payment = Payment(played)
    record = Record(laid, which, played, payment.count, payment.rakes)
    record.check()
    cards = Cards(record)
    award = Award(record, Contenders(cards, payment.down, payment.paid), payment)
    award.check()
    if len(payment.down):
        Readings(award).check()
    return record.why, award.nets.T
