"""Streets of many hands in lock-step: what an action is measured by, and what it means.

of the street    who has acted, checked, raised, as masks over seats; how many `raises`, and if
                 anybody has called since; `claimed`: the last raise was a steal, or the
                 continuation bet; `bet_on`: there was a continuation bet
before the flop  `opener` and `aggressor`, the first and the last to raise; who called last of
                 all; `single`: there was one raise
after it         the `heir`, who may make the continuation bet
"""

from typing import TYPE_CHECKING

import numpy as np

from analytics.replay.columns import CALLED, CHECKED
from analytics.replay.flags import DONK, FLOAT, NEITHER
from analytics.replay.seating import Named
from analytics.replay.spots import KIND, postflop, preflop
from store.columns.cells import Column

if TYPE_CHECKING:
    from analytics.replay.actions import Step, Table


class Streets:
    """The streets of hands that are walked together."""

    def __init__(self, table: "Table", named: Named) -> None:
        n = len(table.which)
        self.blind, self.steals = named.blind.take(table.places), named.steals.take(table.places)
        self.street = np.zeros(n, dtype=np.int8)
        self.raises, self.acted, self.checked, self.raised = np.zeros((4, n), dtype=np.int32)
        self.called_last = np.zeros(n, dtype=np.int32)
        self.opener, self.aggressor, self.heir = np.full((3, n), -1, dtype=np.int32)
        self.callers, self.claimed, self.bet_on, self.single = np.zeros((4, n), dtype=bool)

    def take_in(self, street: Column) -> None:
        """The right to a continuation bet passes on by betting, and from street to street."""
        rows = np.flatnonzero(street != self.street[: len(street)])
        if not len(rows):
            return
        now, before = street[rows], self.street[rows]
        goes_on = self.bet_on[rows] & (now == before + 1)
        heir = np.where(goes_on, self.heir[rows], -1)
        first = before == 0
        self.heir[rows] = np.where(first & (now == 1), self.aggressor[rows], heir)
        self.single[rows] = np.where(first, self.raises[rows] == 1, self.single[rows])
        for column in (self.raises, self.acted, self.checked, self.raised):
            column[rows] = 0
        for column in (self.callers, self.claimed, self.bet_on):
            column[rows] = False
        self.street[rows] = now

    def words(self, it: "Step", offered: Column, owed: Column, gone: Column) -> list[Column]:
        """What the actions mean; `gone`: who raised last before the flop has no more to say."""
        found = self._before(it, offered, owed)
        later = self.street[: it.live] > 0
        if later.any():
            after = self._after(it, offered, gone)
            both = zip(found, after, strict=True)
            found = [np.where(later, then * it.asked, first) for first, then in both]
        return found

    def _before(self, it: "Step", offered: Column, owed: Column) -> list[Column]:
        live, spots = it.live, preflop()
        return spots.meaning(
            kind=KIND.take(it.kind),
            asked=it.asked,
            offered=offered,
            raises=np.minimum(self.raises[:live], 3),
            callers=self.callers[:live],
            stolen=self.claimed[:live],
            stealing=self.steals.take(it.place),
            blind=self.blind.take(it.place),
            raiser=(self.raised[:live] & it.bit) != 0,
            opener=self.opener[:live] == it.seat,
            fresh=owed & ((self.acted[:live] & it.bit) == 0),
        )

    def _after(self, it: "Step", offered: Column, gone: Column) -> list[Column]:
        live, spots = it.live, postflop()
        return spots.meaning(
            kind=KIND.take(it.kind),
            offered=offered,
            street=self.street[:live],
            bets=np.minimum(self.raises[:live], 3),
            continued=self.claimed[:live],
            heir=self.heir[:live] == it.seat,
            acted=(self.acted[:live] & it.bit) != 0,
            checked=(self.checked[:live] & it.bit) != 0,
            checks=self.checked[:live] != 0,
            lead=self._lead(it, gone),
        )

    def _lead(self, it: "Step", gone: Column) -> Column:
        """Whether a bet of who called before the flop would be a donk bet, or a float."""
        raiser = self.aggressor[: it.live]
        could = (raiser >= 0) & ((self.called_last[: it.live] & it.bit) != 0)
        has_checked = self.checked[: it.live] >> np.maximum(raiser, 0) & 1
        behind = np.where(self.single[: it.live], FLOAT, NEITHER)
        return could * np.where(has_checked, behind, np.where(gone, NEITHER, DONK))

    def remember(self, it: "Step") -> None:
        """For later actions; what is outside every round counts before the flop only."""
        live, bit = it.live, it.bit
        early = self.street[:live] == 0
        counts = early | it.asked
        raising = it.raising & counts
        first = raising & (self.raises[:live] == 0)
        stealing = early & ~self.callers[:live] & self.steals.take(it.place)
        claimed = first & (stealing | (~early & (self.heir[:live] == it.seat)))
        np.copyto(self.claimed[:live], claimed, where=raising)
        self.bet_on[:live] |= claimed
        np.copyto(self.opener[:live], it.seat, where=first & early)
        np.copyto(self.aggressor[:live], it.seat, where=raising & early)
        self.raises[:live] += raising
        self.raised[:live] |= bit * raising
        self.acted[:live] |= bit * counts
        self.checked[:live] |= bit * (counts & (it.kind == CHECKED))
        calling = it.kind == CALLED
        self.callers[:live] = (self.callers[:live] | calling) & ~raising
        self.called_last[:live] &= ~(bit * early)
        self.called_last[:live] |= bit * (calling & early)
