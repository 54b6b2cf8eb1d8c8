"""A ledger's rows laid out for the screen: actions as flat columns, hands that are not for it.

What is here depends on the record alone, so it is made once, whatever rules are asked.
"""

import numpy as np

from analytics.batch.marks import marks
from analytics.batch.plan import Plan, Stakes
from analytics.batch.replay import BET, CALL, RAISE, coded
from analytics.batch.rows import (
    BLINDS,
    CODES,
    LARGE,
    NO_CARD,
    UNKNOWN_CARD,
    Column,
    Rows,
    Words,
)
from analytics.batch.table import Acts, Hands
from analytics.batch.why import Why

STACK_MAX = LARGE >> 5  # a table of 23 still counts in 32 bits
BIT = np.array([0, *(1 << place for place in range(54))], dtype=np.int64)  # by card, and none
_ACTIONS = ("Folded", "Checked", "Called", "Bet", "Raised")
_ELSEWHERE = ("TimedOut", "Disconnected", "Reconnected", "HandVoided", "Announced")


class Laid:
    """Rows made ready once: actions as one column each, and hands that are not for the screen."""

    def __init__(self, rows: Rows, words: Words) -> None:
        self.rows, self.words = rows, words
        kind = rows.cells["kind"]
        codes = np.full(128, -1, dtype=np.int32)
        codes[[CODES[name] for name in _ACTIONS]] = np.arange(len(_ACTIONS))
        acts = codes.take(kind)
        self.marks = marks(rows)
        self._cards()
        self.acts_upto = np.append(0, np.cumsum(acts >= 0, dtype=np.int32))
        places = np.flatnonzero(acts >= 0)
        self.first: Column = np.searchsorted(places, rows.first)
        self.actions: Column = np.diff(self.first)
        self.fewest = -np.minimum(self.actions, 1 << 14).astype(np.int16)  # sorted by radix
        cells = {name: rows.cells[name].take(places) for name in ("seat", "next", "amount", "to")}
        what = acts.take(places)
        code = coded(
            what,
            cells["seat"],
            cells["next"],
            rows.cells["full"].take(places) & (what >= BET),
            rows.cells["origin"].take(places).astype(np.int32) & 3,
        )
        chips = np.where(what == RAISE, cells["to"], np.where(what >= CALL, cells["amount"], 0))
        self.acts = Acts(code | chips.astype(np.int64) << 16, cells["amount"])
        self.foreign = np.zeros(len(kind), dtype=bool)
        self.foreign[places] = rows.cells["origin"].take(places) > 3
        bids = np.flatnonzero(kind == CODES["BidPlaced"])
        self.bids: Column = np.append(rows.cells["amount"].take(bids), [0, 0])
        self.bid_first: Column = np.searchsorted(bids, rows.first[:-1])
        self.why = self._elsewhere()

    def _cards(self) -> None:
        """Of each event's cards: their mask, their order, and how many nobody recorded."""
        cells = self.rows.cells
        at = np.flatnonzero(cells["card1"] != NO_CARD)
        size = len(cells["card1"])
        self.bits, self.order = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.blank = np.zeros(size, dtype=np.int8)
        bits, order = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
        for place in range(5):
            cards = cells[f"card{place + 1}"].take(at)
            bits |= BIT.take(cards + 1)
            order |= (cards + 1).astype(np.int64) << 6 * place
            self.blank[at] += cards == UNKNOWN_CARD
        self.bits[at], self.order[at] = bits, order

    def _elsewhere(self) -> Column:
        """Hands with events that the screen does not follow, or that cannot begin."""
        rows = self.rows
        kind, heads = rows.cells["kind"], rows.first[:-1]
        out = np.isin(kind, [CODES[name] for name in _ELSEWHERE])
        blind = (kind == CODES["BlindPosted"]) & (rows.cells["blind"] >= BLINDS["post"])
        why = np.zeros(rows.hands, dtype=np.uint8)
        posts = np.flatnonzero(blind)
        announced = np.zeros(rows.hands, dtype=bool)
        second = np.minimum(heads + 1, len(kind) - 1)
        announced |= kind.take(second) == CODES["StepEntered"]
        of = np.searchsorted(rows.first, posts, side="right") - 1
        why[of[~announced[of]]] = Why.EVENTS
        why[np.searchsorted(rows.first, np.flatnonzero(out), side="right") - 1] = Why.EVENTS
        large = np.flatnonzero(_too_large(rows))
        why[np.searchsorted(rows.first, large, side="right") - 1] = Why.LARGE
        strange = np.flatnonzero(self.foreign)
        why[np.searchsorted(rows.first, strange, side="right") - 1] = Why.START
        why[rows.cells["dead_small"].take(heads)] = Why.EVENTS
        self._seats(heads, why)
        why[kind.take(heads) != CODES["HandStarted"]] = Why.START
        return why

    def _seats(self, heads: Column, why: Column) -> None:
        """Everybody brings a chip and not too many, and the button is at a seat."""
        told = self.rows.ragged["stacks"]
        count = told.count.take(heads)
        button = self.rows.cells["button"].take(heads)
        why[(button < 0) | (button >= count)] = Why.START
        for seat in range(int(count.max(initial=0))):
            chips = told.entry(heads, seat)
            why[(count > seat) & (chips > STACK_MAX)] = Why.LARGE
            why[(count > seat) & (chips < 1)] = Why.START

    def hands(self, plan: Plan, which: Column, members: list[Stakes], stakes: Column) -> Hands:
        """These hands as columns; what cannot be a start is noted in `why`."""
        rows, seats = self.rows, plan.seats
        heads = rows.first[which]
        told = rows.ragged["stacks"]
        stacks: Column = np.stack([told.entry(heads, seat) for seat in range(seats)])
        button = rows.cells["button"].take(heads)
        owed: Column = np.array([one.forced for one in members], dtype=np.int32).T
        sizes: Column = np.array([one.sizes for one in members], dtype=np.int32).T
        begins = self.bid_first[which]
        return Hands(
            plan,
            np.clip(button, 0, seats - 1).astype(np.int32),
            np.ascontiguousarray(stacks.clip(0, STACK_MAX).astype(np.int32)),
            owed[:, stakes],
            sizes[:, stakes],
            self.acts,
            self.first[which],
            self.actions[which],
            np.stack(
                [self.bids.take(begins, mode="clip"), self.bids.take(begins + 1, mode="clip")]
            ),
        )


def _too_large(rows: Rows) -> Column:
    """Events with more chips than the columns hold."""
    found = np.zeros(len(rows.cells["kind"]), dtype=bool)
    for name in ("amount", "to", "bet", "size", "price"):
        found |= rows.cells[name] >= LARGE
    return found
