"""A ledger's rows laid out for the screen: actions as flat columns, hands that are not for it.

What is here depends on the record alone, so it is made once, whatever rules are asked.
"""

import numpy as np

from analytics.batch.facing import BET, CALL, NO_SEAT, RAISE
from analytics.batch.marks import marks
from analytics.batch.plan import STEP_MAX, Plan, Stakes
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
        codes = np.full(128, -1, dtype=np.int8)
        codes[[CODES[name] for name in _ACTIONS]] = np.arange(len(_ACTIONS))
        codes[CODES["BettingOpened"]] = len(_ACTIONS)
        self.marks = marks(rows)
        self._cards()
        what: Column = codes.take(kind)
        some = np.flatnonzero(what >= 0)
        what = what.take(some)
        opening = what == len(_ACTIONS)
        opens, places = some.compress(opening), some.compress(~opening)
        self.first: Column = np.searchsorted(places, rows.first)
        self.actions: Column = np.diff(self.first)
        self.acts = _acts(rows, places, what.compress(~opening))
        self.foreign = places.compress(rows.cells["origin"].take(places) > 3)
        self.round_first: Column = np.searchsorted(opens, rows.first)
        self.opens = opens
        self.steps = np.clip(rows.cells["step"].take(opens), -1, STEP_MAX + 1)
        begins = np.flatnonzero(opening) - np.arange(len(opens))  # among the actions
        self.lengths: Column = np.diff(begins, append=len(places))
        self.opened: Column = np.diff(self.round_first)
        last = np.flatnonzero(self.opened)
        ends = self.round_first.take(last + 1) - 1
        self.lengths[ends] = self.first.take(last + 1) - begins.take(ends)
        self.unopened = self._unopened(begins, places)
        bids = np.flatnonzero(kind == CODES["BidPlaced"])
        self.bids: Column = np.append(rows.cells["amount"].take(bids), [0, 0])
        self.bid_first: Column = np.searchsorted(bids, rows.first[:-1])
        self.why = self._elsewhere()
        self.kinds, self.kind = _kinds(rows)

    def _unopened(self, begins: Column, places: Column) -> Column:
        """Hands with an action that follows no opening of a round, or a round without actions."""
        begins = np.append(begins, 0)
        first = begins.take(self.round_first[:-1])
        none = self.round_first[1:] == self.round_first[:-1]
        found: Column = np.where(none, self.actions > 0, first != self.first[:-1])
        ends = places.take(begins[:-1] + self.lengths - 1, mode="clip")
        empty = np.flatnonzero((self.lengths <= 0) | (ends != self.opens + self.lengths))
        found[np.searchsorted(self.round_first, empty, side="right") - 1] = True
        return found

    def _cards(self) -> None:
        """Of each event's cards: their mask, their order, and how many nobody recorded."""
        cells = self.rows.cells
        at = np.flatnonzero(cells["card1"] != NO_CARD)
        size = len(cells["card1"])
        self.bits, self.order = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.blank = np.zeros(size, dtype=np.int8)
        bits, order = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
        for place in range(5):
            cards = cells[f"card{place + 1}"]
            if (cards == NO_CARD).all():
                continue
            cards = cards.take(at)
            bits |= BIT.take(cards + 1)
            order |= (cards + 1).astype(np.int64) << 6 * place
            if (cards == UNKNOWN_CARD).any():
                self.blank[at] += cards == UNKNOWN_CARD
        self.bits[at], self.order[at] = bits, order

    def _elsewhere(self) -> Column:
        """Hands with events that the screen does not follow, or that cannot begin."""
        rows = self.rows
        kind, heads = rows.cells["kind"], rows.first[:-1]
        blind = (kind == CODES["BlindPosted"]) & (rows.cells["blind"] >= BLINDS["post"])
        why = np.zeros(rows.hands, dtype=np.uint8)
        posts = np.flatnonzero(blind)
        announced = np.zeros(rows.hands, dtype=bool)
        second = np.minimum(heads + 1, len(kind) - 1)
        announced |= kind.take(second) == CODES["StepEntered"]
        of = np.searchsorted(rows.first, posts, side="right") - 1
        why[of[~announced[of]]] = Why.EVENTS
        for name in _ELSEWHERE:
            out = np.flatnonzero(kind == CODES[name])
            why[np.searchsorted(rows.first, out, side="right") - 1] = Why.EVENTS
        for name in ("amount", "to", "bet", "size", "price"):
            if (chips := rows.cells[name]).max(initial=0) >= LARGE:
                large = np.flatnonzero(chips >= LARGE)
                why[np.searchsorted(rows.first, large, side="right") - 1] = Why.LARGE
        why[np.searchsorted(rows.first, self.foreign, side="right") - 1] = Why.START
        why[rows.cells["dead_small"].take(heads)] = Why.EVENTS
        self._seats(heads, why)
        why[self.unopened & (why == 0)] = Why.SHAPE
        why[kind.take(heads) != CODES["HandStarted"]] = Why.START
        return why

    def _seats(self, heads: Column, why: Column) -> None:
        """Everybody brings a chip and not too many, and the button is at a seat."""
        told = self.rows.ragged["stacks"]
        count = told.many(heads)
        button = self.rows.cells["button"].take(heads)
        why[(button < 0) | (button >= count)] = Why.START
        for seat in range(int(count.max(initial=0))):
            chips = told.entry(heads, seat)
            why[(count > seat) & (chips > STACK_MAX)] = Why.LARGE
            why[(count > seat) & (chips < 1)] = Why.START

    def hands(self, plan: Plan, which: Column, members: list[Stakes], stakes: Column) -> Hands:
        """These hands as columns; none has a `why`."""
        rows, seats = self.rows, plan.seats
        heads = rows.first.take(which)
        told = rows.ragged["stacks"]
        stacks = told.all(heads, seats)
        button = rows.cells["button"].take(heads)
        owed: Column = np.array([one.forced for one in members], dtype=np.int32).T
        sizes: Column = np.array([one.sizes for one in members], dtype=np.int32).T
        begins = self.bid_first.take(which)
        acts = spans(self.first.take(which), self.actions.take(which))
        opened = self.opened.take(which)
        rounds = spans(self.round_first.take(which), opened)
        return Hands(
            plan,
            button,
            stacks,
            owed.take(stakes, axis=1),
            sizes.take(stakes, axis=1),
            Acts(*(column[acts] for column in self.acts)),
            opened,
            self.opens[rounds],
            plan.numbers.take(self.steps[rounds]),
            self.lengths[rounds],
            np.stack(
                [self.bids.take(begins, mode="clip"), self.bids.take(begins + 1, mode="clip")]
            ),
        )


def spans(first: Column, count: Column) -> "slice | Column":
    """Where so many rows from each first one stand; one slice, if they follow one another."""
    if not len(first):
        return slice(0, 0)
    if (first[1:] == first[:-1] + count[:-1]).all():
        return slice(int(first[0]), int(first[-1] + count[-1]))
    before = np.cumsum(count) - count
    found: Column = np.arange(int(count.sum())) + np.repeat(first - before, count)
    return found


def _acts(rows: Rows, places: Column, what: Column) -> Acts:
    """Actions as the replay wants them."""
    cells = {name: rows.cells[name].take(places) for name in ("seat", "next", "amount", "to")}
    seat, asked = cells["seat"], cells["next"]
    seat[(seat < 0) | (seat > 22)] = NO_SEAT
    asked[(asked < -1) | (asked > 22)] = NO_SEAT
    moves = what >= CALL
    return Acts(
        what,
        seat.astype(np.int8),
        asked.astype(np.int8),
        rows.cells["full"].take(places) & (what >= BET),
        (rows.cells["origin"].take(places) & 3).astype(np.int8),
        cells["amount"] * moves,
        np.where(what == RAISE, cells["to"], cells["amount"]) * (what >= BET),
    )


def _kinds(rows: Rows) -> tuple[list[tuple[int, int, int]], Column]:
    """The different rulesets and tables, and which of them each hand is of."""
    heads = rows.first[:-1]
    mark, name = (rows.cells[one].take(heads) for one in ("ruleset", "game"))
    seats = rows.ragged["stacks"].many(heads)
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
