"""Undisturbed hands of a gamelog in columns: their totals, and which contradict themselves.

Seats are columns of two, lines of all hands stand one after another. What is checked here is what
`formats.mit.hand` checks of a single hand; who may do what is a question for rules, not asked here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from formats.mit import lines as say
from formats.mit.lines import NUMBER_MAX, Column, LineColumns

ROUNDS = 4  # of betting: before the flop, and on each street
_SHIFT = 32  # above a total, which has fewer bits


class LinePlaces(NamedTuple):
    """The places of the lines of each kind: one a hand at most, or none (-1)."""

    flop: Column
    turn: Column
    river: Column
    bid: Column  # the first of two
    won: Column  # the first of up to two
    shows: Column  # the first of two
    award: Column  # the second of two


class HandTotals:
    """The chips and cards of hands, line by line and altogether."""

    def __init__(self, log: LineColumns, begins: Column, numbers: Column) -> None:
        """`begins` is where each hand's first line is, and the end of the last."""
        self.log, self.begins, self.numbers = log, begins, numbers
        self.button: Column = 1 - numbers % 2
        self.hands = len(numbers)
        self.line = np.arange(len(log.letter))
        self.hand = np.repeat(np.arange(self.hands), np.diff(begins))
        self.dealer = self.button[self.hand]
        self.before = np.append(np.int8(0), log.letter[:-1])
        self.after = np.append(log.letter[1:], np.int8(0))
        self.is_act = self.of(say.FOLD, say.CHECK, say.CALL, say.BET, say.RAISE)
        again = self.of(say.FLOP) & np.isin(self.before, [ord(say.BID), ord(say.WON)])
        self.is_street = self.of(say.FLOP, say.TURN, say.RIVER) & ~again
        self.flop_again = np.flatnonzero(again)
        streets = np.cumsum(self.is_street)
        self.round: Column = streets - streets[begins[:-1]][self.hand]
        self.at = self._places()
        self._bets()
        self._bids()
        self._cards()
        self.nets = np.zeros((self.hands, 2), dtype=np.int64)
        second = self.at.award
        self.nets[np.arange(self.hands), 1 - self.button] = log.second[second]
        self.nets[np.arange(self.hands), self.button] = log.second[second - 1]
        self.sound = self._sound()

    def of(self, *letters: str) -> Column:
        """Which lines are of these kinds."""
        has_letter = np.zeros(128, dtype=bool)
        has_letter[[ord(letter) for letter in letters]] = True
        lines: Column = has_letter.take(self.log.letter)
        return lines

    def marks(self, which: Column) -> Iterator[str]:
        """The signs of a dialect in these hands."""
        twice = np.zeros(self.hands, dtype=bool)
        twice[self.hand[self.flop_again]] = True
        at = self.at
        yield from (
            name
            for name, hands in (
                ("Flop", at.flop >= 0),
                ("Turn", at.turn >= 0),
                ("River", at.river >= 0),
                ("bids", self.auction),
                ("flop twice", twice),
                ("flop once", self.auction & ~twice),
                ("won", at.won >= 0),
                ("hands", self._any(say.HAND)),
                ("swapped", self._any(say.AWARD, self.log.first == 1)),
                ("note", self._any(say.BIDS_NOTED) | self._any(say.NO_BIDS_NOTED)),
            )
            if (hands & which).any()
        )

    def _any(self, letter: str, also: "Column | bool" = True) -> Column:
        """Hands that have such a line."""
        hands = np.zeros(self.hands, dtype=bool)
        hands[self.hand[self.of(letter) & also]] = True
        return hands

    def _places(self) -> LinePlaces:
        def first(letter: str, before: str = "") -> Column:
            lines = self.of(letter)
            lines &= self.before == ord(before) if before else self.before != ord(letter)
            places = np.full(self.hands, -1)
            rows = np.flatnonzero(lines)
            places[self.hand[rows]] = rows
            return places

        flop = np.full(self.hands, -1)
        rows = np.flatnonzero(self.of(say.FLOP) & self.is_street)
        flop[self.hand[rows]] = rows
        return LinePlaces(
            flop,
            first(say.TURN),
            first(say.RIVER),
            first(say.BID),
            first(say.WON),
            first(say.SHOWS),
            first(say.AWARD, say.AWARD),
        )

    # Chips.

    def _bets(self) -> None:
        """A seat's total of a round is what it last named, or, if it called, the largest named."""
        log = self.log
        place = self.hand * ROUNDS + self.round
        names = self.of(say.POST, say.BET, say.RAISE)
        self.largest = self.highest(np.where(names, log.first, 0))
        self.total: Column = np.where(self.of(say.CALL), self.largest, log.first)
        sets = names | self.of(say.CALL)
        ends = np.zeros((self.hands * ROUNDS, 2), dtype=np.int64)
        self.had = np.zeros((2, len(log.letter)), dtype=np.int64)  # before each line, by seat
        for seat in (0, 1):
            lines = np.flatnonzero(sets & (log.seat == seat))
            ends[place[lines], seat] = self.total[lines]  # of several the last
            latest = np.full(len(log.letter), -1)
            latest[lines] = lines
            latest = np.append(-1, np.maximum.accumulate(latest)[:-1])
            same = (latest >= 0) & (place[latest] == place)
            self.had[seat] = np.where(same, self.total[latest], 0)
        self.ends = ends.reshape(self.hands, ROUNDS, 2)
        self.stakes = np.zeros((self.hands, ROUNDS + 1, 2), dtype=np.int64)  # before each round
        np.cumsum(self.ends, axis=1, out=self.stakes[:, 1:])

    def highest(self, values: Column) -> Column:
        """The largest of these values so far, in each line's round of betting."""
        place = self.hand * ROUNDS + self.round  # goes up from line to line
        largest: Column = np.maximum.accumulate(place << _SHIFT | values) & (1 << _SHIFT) - 1
        return largest

    def _bids(self) -> None:
        """The higher bidder pays the lower bid, two of one size both do; it joins the totals."""
        log, bid = self.log, self.at.bid
        self.auction = bid >= 0
        rows = np.where(self.auction, bid, 0)
        self.bids = np.stack([log.first[rows], log.first[rows + 1]], axis=1)
        self.bidder = np.stack([log.seat[rows], log.seat[rows + 1]], axis=1)
        self.price: Column = self.bids.min(1) * self.auction
        self.wins = np.zeros((self.hands, 2), dtype=bool)  # by seat
        best = (self.bids == self.bids.max(1)[:, None]) & self.auction[:, None]
        for place in (0, 1):
            self.wins[np.arange(self.hands), self.bidder[:, place]] |= best[:, place]
        self.dead = self.price[:, None] * self.wins
        self.put: Column = self.stakes[:, ROUNDS] + self.dead

    def reaches(self, stack: int) -> Column:
        """Hands in which a total, or what a bidder has put in and bids, comes up to a stack."""
        reaches: Column = self.put.max(1) >= stack
        hands = np.flatnonzero(self.auction)
        for place in (0, 1):
            rows = self.at.bid[hands] + place
            meant = self.stake(rows, self.log.seat[rows]) + self.log.first[rows]
            reaches[hands] |= meant >= stack
        return reaches

    def stake(self, rows: Column, seat: Column) -> Column:
        """All that a seat had put in when these lines were written."""
        hand = self.hand[rows]
        bid = self.auction[hand] & (rows > self.at.bid[hand] + 1)
        stakes: Column = self.stakes[hand, self.round[rows], seat] + self.had[seat, rows]
        return stakes + self.dead[hand, seat] * bid

    # Cards.

    def _cards(self) -> None:
        """Two cards a seat: as dealt, after the flop's swaps, after the turn's."""
        cards = self.log.cards
        start = self.begins[:-1]
        rows = np.arange(self.hands)
        self.dealt = np.zeros((self.hands, 2, 2), dtype=np.int8)
        self.dealt[rows, self.button] = cards[start + 3, :2]
        self.dealt[rows, 1 - self.button] = cards[start + 4, :2]
        self.swaps = []
        held = self.dealt
        for place in (self.at.flop, self.at.turn):
            here = np.flatnonzero((place >= 0) & (self.after[place] == ord(say.HAND)))
            now = held.copy()
            now[here, self.button[here]] = cards[place[here] + 1, :2]
            now[here, 1 - self.button[here]] = cards[place[here] + 2, :2]
            self.swaps.append((here, held, now))
            held = now
        self.held = held
        self.swapped: Column = (self.swaps[0][2] != self.dealt).any(2)
        self.swapped |= (held != self.swaps[0][2]).any(2)
        self._third()

    def _third(self) -> None:
        """The card won at auction, by seat: as the log names it, or as it is shown; -1 if never."""
        self.third = np.full((self.hands, 2), -1, dtype=np.int8)
        won = np.flatnonzero(self.of(say.WON))
        self.third[self.hand[won], self.log.seat[won]] = self.log.cards[won, 0]
        self.named = self.third >= 0
        shows = np.flatnonzero(self.of(say.SHOWS))
        hand, seat = self.hand[shows], self.log.seat[shows]
        unnamed = self.wins[hand, seat] & ~self.named[hand].any(1)
        rows = shows[unnamed]
        self.third[hand[unnamed], seat[unnamed]] = self.log.cards[rows, 2]

    # What must fit.

    def _sound(self) -> Column:
        """Hands whose lines name the right seats, and tell the same twice where they tell twice."""
        log, start, dealer = self.log, self.begins[:-1], self.dealer
        wrong = self.of(say.POST) & (log.first != np.where(self.before == ord(say.ROUND), 1, 2))
        ordered = self.of(say.POST, say.DEALT, say.HAND, say.SHOWS, say.AWARD)
        second = ordered & (self.before == log.letter)
        wrong |= ordered & (log.seat != np.where(second, 1 - dealer, dealer))
        wrong |= self.of(say.FLOP, say.TURN, say.RIVER) & (log.seat != dealer)
        wrong[self.flop_again] |= self._changes(self.flop_again, self.at.flop, 5)
        turns, rivers = (place[place >= 0] for place in (self.at.turn, self.at.river))
        wrong[turns] |= self._changes(turns, self.at.flop, 3)
        wrong[rivers] |= self._changes(rivers, self.at.turn, 4)
        rows = np.flatnonzero(self.of(say.FLOP, say.TURN, say.RIVER))
        for seat, bet in ((dealer[rows], log.first[rows]), (1 - dealer[rows], log.second[rows])):
            wrong[rows] |= self.stake(rows, seat) != bet
        self._shown(wrong)
        self._summed_up(wrong)
        wrong |= (
            (log.first >= NUMBER_MAX)
            | (abs(log.second) >= NUMBER_MAX)
            | (abs(log.third) >= NUMBER_MAX)
        )
        sound = np.add.reduceat(wrong, start) == 0
        sound &= ~self.auction | (self.bidder[:, 0] != self.bidder[:, 1])
        sound &= self.nets.sum(1) == 0
        return sound

    def _changes(self, rows: Column, before: Column, count: int) -> Column:
        """Streets that do not begin with the cards of the one before."""
        cards = self.log.cards
        changed: Column = (cards[rows, :count] != cards[before[self.hand[rows]], :count]).any(1)
        return changed

    def _shown(self, wrong: Column) -> None:
        """Shown is what was held; a card won at auction may be named here first."""
        rows = np.flatnonzero(self.of(say.SHOWS))
        hand, seat, cards = self.hand[rows], self.log.seat[rows], self.log.cards[rows]
        wrong[rows] |= (cards[:, :2] != self.held[hand, seat]).any(1)
        wrong[rows] |= cards[:, 2] != self.third[hand, seat]
        wrong[rows] |= self.wins[hand, seat] & (cards[:, 2] < 0)

    def _summed_up(self, wrong: Column) -> None:
        """Check the bids that are repeated after the awards, and swaps reported with them."""
        log = self.log
        rows = np.flatnonzero(self.of(say.BIDS_NOTED))
        hand = self.hand[rows]
        first = self.bidder[hand, 0] == self.dealer[rows]
        dealers = np.where(first, self.bids[hand, 0], self.bids[hand, 1])
        others = np.where(first, self.bids[hand, 1], self.bids[hand, 0])
        wrong[rows] |= (log.first[rows] != dealers) | (log.second[rows] != others)
        wrong[rows] |= ~self.auction[hand]
        rows = np.flatnonzero(self.of(say.NO_BIDS_NOTED))
        wrong[rows] |= self.auction[self.hand[rows]]
        rows = np.flatnonzero(self.of(say.AWARD))
        reported = log.first[rows] == 1
        wrong[rows] |= reported & ~self.swapped[self.hand[rows], log.seat[rows]]

    def unreported(self) -> Column:
        """Hands with a swap that no award reports."""
        rows = np.flatnonzero(self.of(say.AWARD) & (self.log.first == 0))
        hands = np.zeros(self.hands, dtype=bool)
        unreported = self.swapped[self.hand[rows], self.log.seat[rows]]
        hands[self.hand[rows[unreported]]] = True
        return hands
