"""Event tables as the columns of the lock-step replay: actions, boards, blinds, chips, seats.

What changes stacks between actions is in them, and what each seat put in and took out; an uncalled
bet is neither wagered nor won (G4). Of seats they have positions, who was dealt in, how far each
came, and with which cards. Of many hands at once, those with the same seats, button and blinds are
named once.

Facts, decisions and everything else that reads what an action faced share them. So facts beside
decisions cost 4 to 5 microseconds a hand. A query over decisions would cost 17 for its windows and
16 of the flags alone, without positions and money: facts stay a replay.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analytics.replay.flags import INVOLUNTARY_ORIGINS
from analytics.replay.rules import (
    BLIND_POSITIONS,
    STEALING,
    RulesetLookup,
    hole_classes,
    position_names,
)
from engine.game import Game
from engine.policies import per_chip
from events.cards import DECK
from store.columns.numpy_columns import Column
from store.tables.hand_columns import KIND, HandColumns

_BITS = 5  # a seat, or a number of seats
_NOBODY = 31
ACTIONS = ("Folded", "Checked", "Called", "Bet", "Raised")
FOLDED, CHECKED, CALLED, BET, RAISED = range(5)
BLINDS = {"small": 0, "big": 1, "straddle": 2, "post": 3, "dead": 4}


class ActionColumns(NamedTuple):
    """Folds, checks, calls, bets and raises, hand by hand.

    `to` is what a bet or raise makes the bet. `counts`: unless forced or default. `boards` and
    `opens` are how many times the board was dealt and betting was opened before, in all hands;
    `asked`: within a round of betting.
    """

    row: Column
    hand: Column
    seat: Column
    place: Column
    kind: Column
    amount: Column
    to: Column
    full: Column
    counts: Column
    street: Column
    boards: Column
    opens: Column
    asked: Column


class StackChanges(NamedTuple):
    """Changes of stacks between actions, in no order: blinds, antes, prices, returned bets.

    `stake`: a bet of the round to come; `dead`: nobody's stake (G6). `leads`: a blind that says who
    acts first. `out`: no chips move, the seat has no more to say.
    """

    row: Column
    hand: Column
    seat: Column
    place: Column
    amount: Column
    stake: Column
    dead: Column
    leads: Column
    out: Column


class ReplayColumns(HandColumns):
    """The hands of a table of events, in its order, with the columns that a replay reads."""

    def __init__(self, rows: pa.Table) -> None:
        super().__init__(rows)
        self.number = self.starts.numbers("number", missing=-1)
        self.button = self.starts.numbers("button")
        self._count_boards()
        self.acts = self._acts()
        self.first_act = self.acts_upto.take(np.append(self.heads, self.cells.size))
        self.blinds = self._blinds()
        self.straddlers = self._straddlers()
        self.stack_changes = self._stack_changes()
        self.collected = self.summed(self.shares)
        self.deals, self.shows = self.locate("HoleDealt"), self.locate("Shown")

    @cached_property
    def counted(self) -> Column:
        """Whether a hand adds up, has two seats, and is not void."""
        found: Column = self.adds_up & ~self.voided & (self.seats > 1)
        return found

    def locate(self, kind: str, which: str = "") -> tuple[Column, Column, Column, Column]:
        """Row, hand, seat and place of each event of a kind, or of those with a true field."""
        row = self.of(kind)
        row = row[self.cells.truths(which, row)] if which else row
        hand, seat = self.hand_of.take(row), self.seat(row)
        return row, hand, seat, self.place(hand, seat)

    def card_count(self, row: Column) -> Column:
        """The number of cards of some events."""
        found = np.zeros(len(row), dtype=np.int64)
        for number in range(1, 6):
            found += self.cells.has_text(f"card{number}", row)
        more, words = self.cells.words("more_cards", row)
        return found + np.array([*(len(it.split()) for it in words.to_pylist()), 0]).take(more)

    def _count_boards(self) -> None:
        """Count the cards on the board before and after each deal and each toss.

        Streets are counted by these, so a card that is tossed is none, and a flop of two, which two
        tosses follow, is three.
        """
        row = self.board_row = self.of("BoardDealt", "Tossed")
        cards = self.card_count(row)
        dealt, tossed = (self.kind == KIND[name] for name in ("BoardDealt", "Tossed"))
        self.deals_upto = np.cumsum(dealt, dtype=np.int32)
        self.boards_upto = np.cumsum(dealt | tossed, dtype=np.int32)
        hand = self.hand_of.take(row)
        first = self.boards_upto.take(self.heads)  # none of a hand's: it has begun otherwise
        tosses = self.hand_of.take(self._steps("toss"))
        cards = np.where(self.kind.take(row) == KIND["Tossed"], 0, cards)
        flop = np.arange(len(row)) == first.take(hand)
        cards += flop & np.isin(hand, tosses)
        upto = np.append(0, np.cumsum(cards))
        before = upto[:-1] - upto.take(first.take(hand))
        self.board_hand, self.board_from, self.board_to = hand, before, before + cards
        self._cards_upto, self._first_board = upto, first

    def _steps(self, name: str) -> Column:
        """The rows at which a step of this name begins."""
        row = self.of("StepEntered")
        return row[self.cells.word_codes("street", {name: 1}, row, 0) == 1]

    def awaits(self, step: str, row: Column) -> Column:
        """Whether a `toss` or a `straddle` was asked for last before these rows."""
        steps = self.of("StepEntered", "BettingOpened")
        last = np.append(-1, steps).take(np.searchsorted(steps, row))
        found: Column = np.isin(last, self._steps(step))
        return found

    def board_size(self, row: Column, hand: Column) -> Column:
        """The number of cards on the board after some rows, one of each of these hands, as streets
        count them."""
        cards, first = self._cards_upto, self._first_board.take(hand)
        found: Column = cards.take(self.boards_upto.take(row)) - cards.take(first)
        return found

    def _acts(self) -> ActionColumns:
        cells = self.cells
        codes = np.full(128, -1, dtype=np.int8)
        codes[[KIND[name] for name in ACTIONS]] = np.arange(len(ACTIONS))
        every = codes.take(self.kind)
        self.acts_upto = np.append(0, np.cumsum(every >= 0, dtype=np.int32))
        row = np.flatnonzero(every >= 0)
        hand, seat = self.hand_of.take(row), cells.numbers("seat", row, -1)
        kind = every.take(row)
        amount = cells.numbers("amount", row) * (kind >= CALLED)
        to = np.where(kind == RAISED, cells.numbers("to", row), amount)
        boards = self.boards_upto.take(row)
        first = self._first_board.take(hand)
        lies = self.board_size(row, hand)
        street = np.array([0, 0, 0, 1, 2, 3], dtype=np.int8).take(np.minimum(lies, 5))
        self.open = self.of("BettingOpened")
        self.open_bet = cells.numbers("bet", self.open)
        self.open_size = cells.numbers("size", self.open)
        opens = np.cumsum(self.kind == KIND["BettingOpened"], dtype=np.int32).take(row)
        opened = np.append(-1, self.open).take(opens)
        dealt = np.where(boards > first, np.append(-1, self.board_row).take(boards), -1)
        steps = self.of("StepEntered")
        entered = np.append(-1, steps).take(np.searchsorted(steps, row))
        return ActionColumns(
            row,
            hand,
            seat.astype(np.int32),
            self.place(hand, seat),
            kind,
            amount,
            to,
            cells.truths("full", row) & (kind >= BET),
            cells.word_codes("origin", INVOLUNTARY_ORIGINS, row, 1) > 0,
            street,
            boards,
            opens,
            opened > np.maximum(np.maximum(dealt, entered), self.heads.take(hand)),
        )

    def _blinds(self) -> tuple[Column, Column, Column, Column, Column]:
        """Row, hand, seat, place and kind of each blind."""
        row, hand, seat, place = self.locate("BlindPosted")
        return row, hand, seat, place, self.cells.word_codes("kind", BLINDS, row)

    def _straddlers(self) -> Column:
        """The places that straddled before the flop when they might have folded (U4)."""
        row, hand, _, place, blind = self.blinds
        by_choice: Column = self.cells.word_codes("origin", {"chosen": 1, "recorded": 1}, row) == 1
        by_choice &= (blind == BLINDS["straddle"]) & (place < self.places)
        return place[by_choice & (self.board_size(row, hand) == 0)]

    def _stack_changes(self) -> StackChanges:
        cells = self.cells
        row, hand, seat, place = self.locate("AntePosted")
        antes = _changes(row, hand, seat, place, -cells.numbers("amount", row))
        row, hand, seat, place = self.locate("UncalledReturned")
        back = _changes(row, hand, seat, place, cells.numbers("amount", row))
        row, hand, seat, place = self.locate("TimedOut", "all_in")
        nothing, out = np.zeros(len(row), dtype=np.int64), np.ones(len(row), dtype=bool)
        out_of_time = _changes(row, hand, seat, place, nothing, out=out)
        row, hand, seat, place, blind = self.blinds
        dead = blind == BLINDS["dead"]
        leads = ~dead & (blind != BLINDS["post"])
        amount = -cells.numbers("amount", row)
        blinds = _changes(row, hand, seat, place, amount, stake=~dead, dead=dead, leads=leads)
        some = self.kind.take(self.moves.row) == KIND["AuctionSettled"]
        row, hand, seat, place, price, dead = (column[some] for column in self.moves)
        prices = _changes(row, hand, seat, place, -price, dead=dead)
        parts = antes, blinds, prices, back, out_of_time
        return StackChanges(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _changes(
    row: Column, hand: Column, seat: Column, place: Column, amount: Column, **those: Column
) -> StackChanges:
    """Stack changes of one kind; flags that are not given are false."""
    no = np.zeros(len(row), dtype=bool)
    truths = (those.get(name, no) for name in ("stake", "dead", "leads", "out"))
    return StackChanges(row, hand, seat, place, amount, *truths)


def hand_keys(hands: ReplayColumns, hand: Column) -> dict[str, pa.Array]:
    """The columns that identify hands in rows of projections."""
    return {
        "hand_seq": pa.array(hands.hand_seq.take(hand)),
        "match": start_values(hands, "match", hand),
        "number": pa.array(hands.number.take(hand)),
        "game": start_values(hands, "game", hand),
    }


def start_values(hands: ReplayColumns, name: str, hand: Column) -> pa.Array:
    """A text column of each hand's start."""
    which, words = hands.cells.words(name, hands.heads)
    return words_at(words, which[hand])


def words_at(words: Sequence[str] | pa.Array, which: Column) -> pa.Array:
    """The words with these numbers; null for a negative number."""
    known = words if isinstance(words, pa.Array) else pa.array(words, pa.string())
    return known.take(pa.array(which, mask=which < 0))


def games_of(hands: ReplayColumns, rules: RulesetLookup) -> tuple[list[Game | None], Column]:
    """The rulesets, None last, and the number of the ruleset of each hand."""
    which, words = hands.cells.words("ruleset", hands.heads)
    return [*map(rules, words.to_pylist()), None], np.where(hands.counted, which, len(words))


def units_per_chip(games: Sequence[Game | None], ruleset: Column) -> Column:
    """The units of a chip in each hand; 1 where its rules are unknown."""
    found: Column = np.array([1 if it is None else per_chip(it.unit) for it in games]).take(ruleset)
    return found


class SeatPositions(NamedTuple):
    """The position of every place, by its number in `words`; its blind, SB 1; whether it steals."""

    words: list[str]
    position: Column
    blind: Column
    steals: Column


def seat_positions(hands: ReplayColumns, dealt: Column) -> SeatPositions:
    """The positions of places; `dealt` are those dealt in."""
    seated = np.left_shift(np.int64(1), hands.place_seat) * dealt
    alike = np.bincount(hands.place_hand, seated, hands.count).astype(np.int64)
    small, straddle = _last_posters(hands, "small"), _last_posters(hands, "straddle")
    last: Column = np.where(straddle == _NOBODY, _last_posters(hands, "big"), straddle)
    for one in (hands.button, small, last, hands.seats):
        alike = alike << _BITS | one & (1 << _BITS) - 1
    each: Column = np.unique(alike, return_inverse=True)
    some, where = each
    numbers: dict[str, int] = {}
    known = []  # of each seat of hands that are alike so, the number of its name
    for one in some.tolist():
        count, *blinds, button = (one >> _BITS * at & (1 << _BITS) - 1 for at in range(4))
        last_blind, small_blind = (None if seat == _NOBODY else seat for seat in blinds)
        seats = [seat for seat in range(count) if one >> 4 * _BITS + seat & 1]
        called = position_names(count, button, seats, small_blind, last_blind)
        known += [numbers.setdefault(called.get(seat, ""), len(numbers)) for seat in range(count)]
    chairs = some & (1 << _BITS) - 1
    begins = (np.cumsum(chairs) - chairs).take(where)
    which = np.array(known, dtype=np.int64).take(begins.take(hands.place_hand) + hands.place_seat)
    blind = np.array(
        [1 + BLIND_POSITIONS.index(it) if it in BLIND_POSITIONS else 0 for it in numbers]
    )
    steals = np.array([it in STEALING for it in numbers])
    return SeatPositions(list(numbers), which, blind.take(which), steals.take(which))


def _last_posters(hands: ReplayColumns, kind: str) -> Column:
    """The seat that posted the last blind of a kind, by hand."""
    _, hand, seat, _, blind = hands.blinds
    these = np.flatnonzero(blind == BLINDS[kind])
    found = np.full(hands.count, _NOBODY, dtype=np.int64)
    found[hand[these]] = seat[these]
    return found


class SeatProgress(NamedTuple):
    """How far every place came: dealt in, streets seen, showdown; and its hole-card classes.

    A class is a number of `hole_classes`, or -1. `fold` goes on to the place after the last, as
    places of `ReplayColumns` do.
    """

    dealt: Column
    saw: tuple[Column, ...]
    fold: Column  # its row; past all rows, if there is none
    stays: Column  # to the end
    showdown: Column
    cards: Column
    shown: Column


def seat_progress(hands: ReplayColumns) -> SeatProgress:
    """Compute streets seen, all-in or not, showdown reached, and classes of hole cards."""
    places, acts = hands.places, hands.acts
    fold = np.full(places + 1, hands.cells.size, dtype=np.int64)
    folds = np.flatnonzero(acts.kind == FOLDED)[::-1]
    fold[acts.place[folds]] = acts.row[folds]
    saw = []
    for size in (3, 4, 5):
        came = np.full(hands.count, hands.cells.size, dtype=np.int64)
        there = np.flatnonzero((hands.board_from < size) & (size <= hands.board_to))
        came[hands.board_hand[there]] = hands.board_row[there]
        saw.append(came.take(hands.place_hand) < fold[:places])
    stays = fold[:places] == hands.cells.size
    left: Column = np.bincount(hands.place_hand, stays, hands.count)
    showdown = stays & (left > 1).take(hands.place_hand)
    dealt, cards = _hole_classes(hands, hands.deals, first=True)
    turned, shown = _hole_classes(hands, hands.shows, first=False)
    held = dealt | turned
    none = np.bincount(hands.place_hand, held, hands.count) == 0
    dealt = held | none.take(hands.place_hand)
    return SeatProgress(dealt, tuple(saw), fold, stays, showdown, cards, shown)


def _hole_classes(
    hands: ReplayColumns, events: tuple[Column, ...], *, first: bool
) -> tuple[Column, Column]:
    """The places that got or showed cards, and the class of the first or last two; three that are
    dealt at once have none."""
    row, _, _, place = events
    codes = {card: number for number, card in enumerate(DECK)}
    names = ("card1", "card2")
    one, other = (hands.cells.word_codes(name, codes, row, len(DECK)) for name in names)
    kinds = hole_classes()[1].take(one * (len(DECK) + 1) + other)
    if first:
        kinds = np.where(hands.cells.has_text("card3", row), -1, kinds)
        place, kinds = place[::-1], kinds[::-1]
    there = np.zeros(hands.places + 1, dtype=bool)
    there[place] = True
    found = np.full(hands.places + 1, -1, dtype=np.int32)
    found[place] = kinds
    return there[: hands.places], found[: hands.places]
