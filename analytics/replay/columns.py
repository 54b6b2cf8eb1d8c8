"""Hands in the columns that the lock-step replay takes: actions, boards, blinds, chips, and seats.

What changes stacks between actions is in them, and what each seat put in and took out; an uncalled
bet is neither wagered nor won (G4). Of seats they have positions, who was dealt in, how far each
came, and with which cards. Of many hands at once, those with the same seats, button and blinds are
named once.

Facts, decisions and everything else that asks what an action faced share them. So facts beside
decisions cost 4 to 5 microseconds a hand. A query over decisions would cost 17 for its windows and
16 of the flags alone, without positions and money: facts stay a replay.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analytics.replay.flags import ORIGINS_LEFT_OUT
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
from store.columns.cells import Column
from store.tables.hand_columns import KIND, Hands

_BITS = 5  # a seat, or a number of seats
_NOBODY = 31
ACTIONS = ("Folded", "Checked", "Called", "Bet", "Raised")
FOLDED, CHECKED, CALLED, BET, RAISED = range(5)
BLINDS = {"small": 0, "big": 1, "straddle": 2, "post": 3, "dead": 4}


class Acts(NamedTuple):
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
    """What happens to stacks between actions, in no order: blinds, antes, prices, what goes back.

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


class ReplayColumns(Hands):
    """The hands of a table of events, in its order, with what a replay asks of them."""

    def __init__(self, rows: pa.Table) -> None:
        super().__init__(rows)
        self.number = self.starts.numbers("number", missing=-1)
        self.button = self.starts.numbers("button")
        self._boards()
        self.acts = self._acts()
        self.first_act = self.acts_upto.take(np.append(self.heads, self.cells.size))
        self.blinds = self._blinds()
        self.straddlers = self._straddlers()
        self.stack_changes = self._stack_changes()
        self.collected = self.summed(self.shares)
        self.deals, self.shows = self.at("HoleDealt"), self.at("Shown")

    @cached_property
    def counted(self) -> Column:
        """Of every hand, whether it adds up, has two seats, and is not void."""
        found: Column = self.adds_up & ~self.voided & (self.seats > 1)
        return found

    def at(self, kind: str, which: str = "") -> tuple[Column, Column, Column, Column]:
        """Row, hand, seat and place of each event of a kind, or of those of which this is true."""
        row = self.of(kind)
        row = row[self.cells.truths(which, row)] if which else row
        hand, seat = self.hand_of.take(row), self.seat(row)
        return row, hand, seat, self.place(hand, seat)

    def card_count(self, row: Column) -> Column:
        """How many cards some events have."""
        found = np.zeros(len(row), dtype=np.int64)
        for number in range(1, 6):
            found += self.cells.there(f"card{number}", row)
        more, words = self.cells.words("more_cards", row)
        return found + np.array([*(len(it.split()) for it in words.to_pylist()), 0]).take(more)

    def _boards(self) -> None:
        """When the board was dealt or a card tossed: how many cards lay before and after.

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
        tosses = self.hand_of.take(self._toss_steps)
        cards = np.where(self.kind.take(row) == KIND["Tossed"], 0, cards)
        flop = np.arange(len(row)) == first.take(hand)
        cards += flop & np.isin(hand, tosses)
        upto = np.append(0, np.cumsum(cards))
        before = upto[:-1] - upto.take(first.take(hand))
        self.board_hand, self.board_from, self.board_to = hand, before, before + cards
        self._cards_upto, self._first_board = upto, first

    @cached_property
    def _toss_steps(self) -> Column:
        """Where cards begin to be tossed."""
        row = self.of("StepEntered")
        return row[self.cells.codes("street", {"toss": 1}, row, 0) == 1]

    def tossing(self, row: Column) -> Column:
        """Whether a card was asked for when these rows came."""
        steps = self.of("StepEntered", "BettingOpened")
        last = np.append(-1, steps).take(np.searchsorted(steps, row))
        found: Column = np.isin(last, self._toss_steps)
        return found

    def lies(self, row: Column, hand: Column) -> Column:
        """How many cards lie on the board after some rows, one of each of these hands, as streets
        count them."""
        cards, first = self._cards_upto, self._first_board.take(hand)
        found: Column = cards.take(self.boards_upto.take(row)) - cards.take(first)
        return found

    def _acts(self) -> Acts:
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
        lies = self.lies(row, hand)
        street = np.array([0, 0, 0, 1, 2, 3], dtype=np.int8).take(np.minimum(lies, 5))
        self.open = self.of("BettingOpened")
        self.open_bet = cells.numbers("bet", self.open)
        self.open_size = cells.numbers("size", self.open)
        opens = np.cumsum(self.kind == KIND["BettingOpened"], dtype=np.int32).take(row)
        opened = np.append(-1, self.open).take(opens)
        dealt = np.where(boards > first, np.append(-1, self.board_row).take(boards), -1)
        steps = self.of("StepEntered")
        entered = np.append(-1, steps).take(np.searchsorted(steps, row))
        return Acts(
            row,
            hand,
            seat.astype(np.int32),
            self.place(hand, seat),
            kind,
            amount,
            to,
            cells.truths("full", row) & (kind >= BET),
            cells.codes("origin", ORIGINS_LEFT_OUT, row, 1) > 0,
            street,
            boards,
            opens,
            opened > np.maximum(np.maximum(dealt, entered), self.heads.take(hand)),
        )

    def _blinds(self) -> tuple[Column, Column, Column, Column, Column]:
        """Row, hand, seat, place and kind of each blind."""
        row, hand, seat, place = self.at("BlindPosted")
        return row, hand, seat, place, self.cells.codes("kind", BLINDS, row)

    def _straddlers(self) -> Column:
        """The places that straddled before the flop when they might have folded (U4)."""
        row, hand, _, place, blind = self.blinds
        chosen: Column = self.cells.codes("origin", {"chosen": 1, "recorded": 1}, row) == 1
        chosen &= (blind == BLINDS["straddle"]) & (place < self.places)
        return place[chosen & (self.lies(row, hand) == 0)]

    def _stack_changes(self) -> StackChanges:
        cells = self.cells
        row, hand, seat, place = self.at("AntePosted")
        antes = _changes(row, hand, seat, place, -cells.numbers("amount", row))
        row, hand, seat, place = self.at("UncalledReturned")
        back = _changes(row, hand, seat, place, cells.numbers("amount", row))
        row, hand, seat, place = self.at("TimedOut", "all_in")
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
    """Moves of one kind, of which no more is true than what is given."""
    no = np.zeros(len(row), dtype=bool)
    truths = (those.get(name, no) for name in ("stake", "dead", "leads", "out"))
    return StackChanges(row, hand, seat, place, amount, *truths)


def head(hands: ReplayColumns, hand: Column) -> dict[str, pa.Array]:
    """How stored rows about these hands begin."""
    made = {"hand_seq": pa.array(hands.hand_seq.take(hand)), "match": word(hands, "match", hand)}
    return {
        **made,
        "number": pa.array(hands.number.take(hand)),
        "game": word(hands, "game", hand),
    }


def word(hands: ReplayColumns, name: str, hand: Column) -> pa.Array:
    """What the start of each hand says in a column."""
    which, words = hands.cells.words(name, hands.heads)
    return chosen(words, which[hand])


def chosen(words: Sequence[str] | pa.Array, which: Column) -> pa.Array:
    """These words; nothing for a number below nothing."""
    known = words if isinstance(words, pa.Array) else pa.array(words, pa.string())
    return known.take(pa.array(which, mask=which < 0))


def games_of(hands: ReplayColumns, rules: RulesetLookup) -> tuple[list[Game | None], Column]:
    """The rulesets, and which of them each hand was played by; the last is nobody's."""
    which, words = hands.cells.words("ruleset", hands.heads)
    return [*map(rules, words.to_pylist()), None], np.where(hands.counted, which, len(words))


def units_of(games: Sequence[Game | None], ruleset: Column) -> Column:
    """How many of each hand's units make a chip; of unknown rules one."""
    found: Column = np.array([1 if it is None else per_chip(it.unit) for it in games]).take(ruleset)
    return found


class Named(NamedTuple):
    """Of every place: its name, as a number of `words`; which blind, SB one; if it steals."""

    words: list[str]
    position: Column
    blind: Column
    steals: Column


def named(hands: ReplayColumns, dealt: Column) -> Named:
    """The names of places; `dealt` tells which were dealt in."""
    seated = np.left_shift(np.int64(1), hands.place_seat) * dealt
    alike = np.bincount(hands.place_hand, seated, hands.count).astype(np.int64)
    small, straddle = _posted(hands, "small"), _posted(hands, "straddle")
    last: Column = np.where(straddle == _NOBODY, _posted(hands, "big"), straddle)
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
    return Named(list(numbers), which, blind.take(which), steals.take(which))


def _posted(hands: ReplayColumns, kind: str) -> Column:
    """Who posted the last blind of this kind."""
    _, hand, seat, _, blind = hands.blinds
    these = np.flatnonzero(blind == BLINDS[kind])
    found = np.full(hands.count, _NOBODY, dtype=np.int64)
    found[hand[these]] = seat[these]
    return found


class Seen(NamedTuple):
    """Of every place: whether it was dealt in, the streets it saw, its classes of cards.

    A class is a number of `hole_classes`, or -1. `fold` goes on to the place after the last, as
    places of `ReplayColumns` do.
    """

    dealt: Column
    saw: tuple[Column, ...]
    fold: Column  # the row of it; past all rows, if it did not
    stays: Column  # to the end
    showdown: Column
    cards: Column
    shown: Column


def seen(hands: ReplayColumns) -> Seen:
    """Streets seen, all-in or not, showdown reached, and the class of hole cards."""
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
    dealt, cards = _cards(hands, hands.deals, first=True)
    turned, shown = _cards(hands, hands.shows, first=False)
    held = dealt | turned
    none = np.bincount(hands.place_hand, held, hands.count) == 0
    dealt = held | none.take(hands.place_hand)
    return Seen(dealt, tuple(saw), fold, stays, showdown, cards, shown)


def _cards(
    hands: ReplayColumns, events: tuple[Column, ...], *, first: bool
) -> tuple[Column, Column]:
    """Who got or showed cards, and the class of the first or last of them; three that are dealt at
    once are of none."""
    row, _, _, place = events
    codes = {card: number for number, card in enumerate(DECK)}
    one, other = (hands.cells.codes(name, codes, row, len(DECK)) for name in ("card1", "card2"))
    kinds = hole_classes()[1].take(one * (len(DECK) + 1) + other)
    if first:
        kinds = np.where(hands.cells.there("card3", row), -1, kinds)
        place, kinds = place[::-1], kinds[::-1]
    there = np.zeros(hands.places + 1, dtype=bool)
    there[place] = True
    found = np.full(hands.places + 1, -1, dtype=np.int32)
    found[place] = kinds
    return there[: hands.places], found[: hands.places]
