"""A ledger's rows laid out for the screen: rounds and actions as columns, hands not for it.

What is here depends on the record alone, so it is made once, whatever rules are asked.
"""

import numpy as np

from analytics.replay.layout import BLINDS, KIND
from analytics.screen.facing import BET, CALL, NO_SEAT, RAISE
from analytics.screen.marks import marks
from analytics.screen.plan import STEP_MAX, Plan, Stakes
from analytics.screen.rows import NO_CARD, UNKNOWN_CARD, Rows, Words
from analytics.screen.table import Acts, Hands, Opens
from analytics.screen.why import Why
from store.columns.cells import BAD, LARGE, Column

STACK_MAX = LARGE >> 5  # a table of 23 still counts in 32 bits
BIT = np.array([0, *(1 << place for place in range(54))], dtype=np.int64)  # by card, and none
_ACTIONS = ("Folded", "Checked", "Called", "Bet", "Raised")
_ELSEWHERE = ("TimedOut", "Disconnected", "Reconnected", "HandVoided", "Announced", "Claimed")


class Laid:
    """Rows made ready once: rounds, actions, cards, and hands that are not for the screen."""

    def __init__(self, rows: Rows, words: Words) -> None:
        self.rows, self.words = rows, words
        kind = rows.cells["kind"]
        self.marks = marks(rows)
        self._cards()
        self.unopened = self._rounds(kind)
        bids = np.flatnonzero(kind == KIND["BidPlaced"])
        self.bids: Column = np.append(rows.cells["amount"].take(bids), [0, 0])
        self.bid_first: Column = np.searchsorted(bids, rows.first[:-1])
        self.why = self._elsewhere()
        self.kinds, self.kind = _kinds(rows)

    def _rounds(self, kind: Column) -> Column:
        """Rounds, those with more actions first, and actions: first ones, second ones, and so on.

        Answered are hands with a round without actions, or an action that follows no opening.
        """
        rows = self.rows
        acting = (kind - KIND["Folded"]).view(np.uint8) <= RAISE
        acting[rows.first[:-1]] = False
        others = np.flatnonzero(~acting)
        opening = np.flatnonzero(kind.take(others) == KIND["BettingOpened"])
        opens = others.take(opening)
        lengths = np.append(others, len(kind)).take(opening + 1) - opens - 1
        begins = np.searchsorted(opens, rows.first)
        self.opened: Column = np.diff(begins)
        longest = int(lengths.max(initial=0))
        small = np.uint16 if longest < 1 << 16 else np.int64
        order = (longest - lengths).astype(small).argsort(kind="stable")  # sorts small ones fast
        first = (opens - opening).take(order)  # among the actions, as the record has them
        told = (
            opens,
            *(it.take(opens) for it in (self.marks, rows.cells["bet"], rows.cells["size"])),
        )
        self.opens = Opens(*(column.take(order) for column in told))
        self.lengths = lengths.take(order)
        self.of = np.arange(rows.hands).repeat(self.opened).take(order)  # the hand of a round
        steps = rows.cells["step"].take(opens).take(order)
        self.steps = np.clip(steps, -1, STEP_MAX + 1)
        shorter = np.add.accumulate(np.bincount(lengths, minlength=1))
        self.counts: list[int] = (len(lengths) - shorter[:-1]).tolist()
        nth = [first[:count] + place for place, count in enumerate(self.counts)]
        turns = np.concatenate([first[:0], *nth])
        places = np.flatnonzero(acting)
        acts = _acts(rows, places, kind.take(places) - np.int8(KIND["Folded"]))
        self.acts = Acts(*(column.take(turns) for column in acts))
        self.foreign = places.compress(rows.cells["origin"].take(places) > 3)
        lost = acting[1:] & ~acting[:-1] & (kind[:-1] != KIND["BettingOpened"])
        found = np.zeros(rows.hands, dtype=bool)
        found[self.of.compress(self.lengths == 0)] = True
        found[np.searchsorted(rows.first, np.flatnonzero(lost) + 1, side="right") - 1] = True
        return found

    def _cards(self) -> None:
        """Of each event's cards: their mask, their order, and how many nobody recorded."""
        cells = self.rows.cells
        at = np.flatnonzero(cells["card1"] != NO_CARD)
        size = len(cells["card1"])
        self.bits, self.order = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int32)
        self.blank = np.zeros(size, dtype=np.int8)
        bits, order = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int32)
        for place in range(5):
            cards = cells[f"card{place + 1}"]
            if (cards == NO_CARD).all():
                continue
            cards = cards.take(at)
            bits |= BIT.take(cards + 1)
            order |= (cards + 1).astype(np.int32) << 6 * place
            if (cards == UNKNOWN_CARD).any():
                self.blank[at] += cards == UNKNOWN_CARD
        self.bits[at], self.order[at] = bits, order

    def _elsewhere(self) -> Column:
        """Hands with events that the screen does not follow, or that cannot begin."""
        rows = self.rows
        kind, heads = rows.cells["kind"], rows.first[:-1]
        blind = (kind == KIND["BlindPosted"]) & (rows.cells["blind"] >= BLINDS["post"])
        why = np.zeros(rows.hands, dtype=np.uint8)
        posts = np.flatnonzero(blind)
        announced = np.zeros(rows.hands, dtype=bool)
        second = np.minimum(heads + 1, len(kind) - 1)
        announced |= kind.take(second) == KIND["StepEntered"]
        of = np.searchsorted(rows.first, posts, side="right") - 1
        why[of[~announced[of]]] = Why.EVENTS
        for name in _ELSEWHERE:
            out = np.flatnonzero(kind == KIND[name])
            why[np.searchsorted(rows.first, out, side="right") - 1] = Why.EVENTS
        for name in ("amount", "to", "bet", "size", "price"):
            if (chips := rows.cells[name]).max(initial=0) >= LARGE:
                large = np.flatnonzero(chips >= LARGE)
                why[np.searchsorted(rows.first, large, side="right") - 1] = Why.LARGE
        why[np.searchsorted(rows.first, self.foreign, side="right") - 1] = Why.START
        why[rows.start["dead_small"]] = Why.EVENTS
        self._seats(why)
        why[self.unopened & (why == 0)] = Why.SHAPE
        why[kind.take(heads) != KIND["HandStarted"]] = Why.START
        return why

    def _seats(self, why: Column) -> None:
        """Everybody brings a chip and not too many, and the button is at a seat."""
        hands, told = np.arange(self.rows.hands), self.rows.stacks
        count = told.many(hands)
        self.button = button = self.rows.start["button"]
        why[(button < 0) | (button >= count)] = Why.START
        seats = np.arange(count.max(initial=0))[:, None]
        brought = told.entry(hands, seats)  # of fewer seats, anything
        self.brought: Column = np.clip(brought, BAD, LARGE).astype(np.int32)
        for seat, chips in enumerate(self.brought):
            why[(count > seat) & (chips > STACK_MAX)] = Why.LARGE
            why[(count > seat) & (chips < 1)] = Why.START

    def hands(self, plan: Plan, which: Column, members: list[Stakes], stakes: Column) -> Hands:
        """These hands as columns; none has a `why`."""
        owed: Column = np.array([one.forced for one in members], dtype=np.int32).T
        sizes: Column = np.array([one.sizes for one in members], dtype=np.int32).T.ravel()
        begins = self.bid_first.take(which)
        of, rounds, acts, counts = self._rounds_of(which)
        numbers = plan.numbers.take(self.steps[rounds])
        return Hands(
            plan,
            self.button.take(which),
            self.brought[: plan.seats].take(which, axis=1),
            owed.take(stakes, axis=1),
            Acts(*(column[acts] for column in self.acts)),
            counts,
            self.opened.take(which),
            Opens(*(column[rounds] for column in self.opens)),
            of,
            numbers,
            sizes.take(np.minimum(numbers, plan.rounds - 1) * len(members) + stakes.take(of)),
            self.lengths[rounds],
            np.stack(
                [self.bids.take(begins, mode="clip"), self.bids.take(begins + 1, mode="clip")]
            ),
        )

    def _rounds_of(
        self, which: Column
    ) -> tuple[Column, "Column | slice", "Column | slice", list[int]]:
        """By round of these hands: the place of its hand. Where they are, their actions, how many
        rounds have a first action, a second, and so on."""
        if len(which) == self.rows.hands:
            return self.of, slice(None), slice(None), self.counts
        place = np.full(self.rows.hands, -1)
        place[which] = np.arange(len(which))
        of: Column = place.take(self.of)
        rounds = np.flatnonzero(of >= 0)
        counts = [count for count in np.searchsorted(rounds, self.counts).tolist() if count]
        begins = np.cumsum([0, *self.counts])
        nth = [rounds[:count] + begin for count, begin in zip(counts, begins, strict=False)]
        return of.take(rounds), rounds, np.concatenate([rounds[:0], *nth]), counts


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
    mark, name = rows.ruleset, rows.game
    seats = rows.stacks.many(np.arange(rows.hands))
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
