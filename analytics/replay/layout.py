"""Event rows laid out for facts: hands, their seats, actions, and chips that move between actions.

A seat of a hand is a place; places follow one another hand by hand. Who names a seat that is not
at his table gets the place after the last, and his hand is not told: it does not add up.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from analytics.replay.flags import ORIGINS_LEFT_OUT
from store.columns.cells import Cells, Column
from store.columns.layout import KINDS

KIND = {name: code for code, name in enumerate(KINDS)}
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


class Moves(NamedTuple):
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


class Laid:
    """The hands of a table of events, in its order; each of them is whole in it."""

    def __init__(self, rows: pa.Table) -> None:
        cells = Cells(rows)
        self.cells = cells
        seq: Column = rows["hand_seq"].to_numpy()
        self.heads = np.flatnonzero(np.append(True, seq[1:] != seq[:-1])[: cells.size])
        self.count = len(self.heads)
        self.kind = cells.codes("type", KIND).astype(np.int8)
        hands = np.arange(self.count, dtype=np.int32)
        self.hand_of: Column = np.repeat(hands, np.diff(np.append(self.heads, cells.size)))
        self.hand_seq = seq.take(self.heads)
        self.told = self.kind.take(self.heads) == KIND["HandStarted"]
        self.number = cells.numbers("number", self.heads, -1)
        self.told &= self.number >= 0  # what a match says of itself has none
        self._seats()
        self.told[self.hand_of.take(self.of("HandVoided"))] = False
        self._boards()
        self.acts = self._acts()
        self.first_act = self.acts_upto.take(np.append(self.heads, cells.size))
        self.blinds = self._blinds()
        self.straddlers = self._straddlers()
        self.moves = self._moves()
        self._shares()
        self.deals, self.shows = self.at("HoleDealt"), self.at("Shown")
        self._strange()

    def of(self, kind: str) -> Column:
        """The rows of one kind of event."""
        return np.flatnonzero(self.kind == KIND[kind])

    def place(self, hand: Column, seat: Column) -> Column:
        """The places of some hands' seats; a hand with a seat that is not there is not told."""
        there = (seat >= 0) & (seat < self.seats.take(hand))
        if not there.all():
            self.told[hand[~there]] = False
            return np.where(there, self.base.take(hand) + seat, self.places)
        return self.base.take(hand) + seat

    def at(self, kind: str, which: str = "") -> tuple[Column, Column, Column, Column]:
        """Row, hand, seat and place of each event of a kind, or of those of which this is true."""
        row = self.of(kind)
        row = row[self.cells.truths(which, row)] if which else row
        hand, seat = self.hand_of.take(row), self.cells.numbers("seat", row, -1)
        return row, hand, seat, self.place(hand, seat)

    def cards(self, row: Column) -> Column:
        """How many cards some events have."""
        found = np.zeros(len(row), dtype=np.int64)
        for number in range(1, 6):
            found += self.cells.there(f"card{number}", row)
        more, words = self.cells.words("more_cards", row)
        return found + np.array([*(len(it.split()) for it in words.to_pylist()), 0]).take(more)

    def _seats(self) -> None:
        """Who sits down with what; a hand needs two."""
        starts = np.flatnonzero(self.told)
        stacks = self.cells.ragged("stacks", self.heads[starts])
        self.seats = np.zeros(self.count, dtype=np.int64)
        self.seats[starts] = stacks.count
        self.told &= self.seats > 1
        self.base = np.cumsum(self.seats) - self.seats
        self.places = int(self.seats.sum())
        self.place_hand = np.repeat(np.arange(self.count), self.seats)
        self.place_seat = np.arange(self.places) - self.base.take(self.place_hand)
        self.stacks = np.append(stacks.flat()[2], 0)
        self.button = self.cells.numbers("button", self.heads)

    def _boards(self) -> None:
        """When the board was dealt: how many cards lay before and after, of the same hand."""
        row = self.board = self.of("BoardDealt")
        cards = self.cards(row)
        upto = np.append(0, np.cumsum(cards))
        self.boards_upto = np.cumsum(self.kind == KIND["BoardDealt"], dtype=np.int32)
        hand = self.hand_of.take(row)
        first = self.boards_upto.take(self.heads)  # none of a hand's: it has begun otherwise
        before = upto[:-1] - upto.take(first.take(hand))
        self.board_hand, self.board_from, self.board_to = hand, before, before + cards
        self._cards_upto, self._first_board = upto, first

    def lies(self, row: Column, hand: Column) -> Column:
        """How many cards lie on the board after some rows, one of each of these hands."""
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
        dealt = np.where(boards > first, np.append(-1, self.board).take(boards), -1)
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
            opened > np.maximum(dealt, self.heads.take(hand)),
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

    def _moves(self) -> Moves:
        cells = self.cells
        row, hand, seat, place = self.at("AntePosted")
        antes = _moves(row, hand, seat, place, -cells.numbers("amount", row))
        row, hand, seat, place = self.at("UncalledReturned")
        back = _moves(row, hand, seat, place, cells.numbers("amount", row))
        row, hand, seat, place = self.at("TimedOut", "all_in")
        nothing, out = np.zeros(len(row), dtype=np.int64), np.ones(len(row), dtype=bool)
        out_of_time = _moves(row, hand, seat, place, nothing, out=out)
        row, hand, seat, place, blind = self.blinds
        dead = blind == BLINDS["dead"]
        leads = ~dead & (blind != BLINDS["post"])
        amount = -cells.numbers("amount", row)
        blinds = _moves(row, hand, seat, place, amount, stake=~dead, dead=dead, leads=leads)
        self.prices = self._prices()
        parts = antes, blinds, self.prices, back, out_of_time
        return Moves(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _prices(self) -> Moves:
        """What the winners of auctions pay."""
        row = self.of("AuctionSettled")
        of, _, seat = self.cells.ragged("seats", row).flat()
        price = self.cells.numbers("price", row).take(of)
        row = row.take(of)
        hand = self.hand_of.take(row)
        dead = np.ones(len(row), dtype=bool)
        return _moves(row, hand, seat, self.place(hand, seat), -price, dead=dead)

    def _shares(self) -> None:
        """What each place was paid."""
        row = self.of("PotSplit")
        of, _, seat = self.cells.ragged("seats", row).flat()
        _, _, share = self.cells.ragged("shares", row).flat()
        place = self.place(self.hand_of.take(row.take(of)), seat)
        self.collected = np.zeros(self.places + 1, dtype=np.int64)
        np.add.at(self.collected, place, share)

    def _strange(self) -> None:
        """A card swapped out of a place in the hand where there is none."""
        row = self.of("CardSwapped")
        if len(row):
            old, new = self.cells.alike(("old", "new"), row)
            row = row[np.flatnonzero(old != new)]
            hand, seat = self.hand_of.take(row), self.cells.numbers("seat", row, -1)
            dealt, _, _, where = self.deals
            held = np.bincount(where, self.cards(dealt), self.places + 1)
            beyond = self.cells.numbers("slot", row) >= held.take(self.place(hand, seat))
            self.told[hand[np.flatnonzero(beyond)]] = False


def _moves(
    row: Column, hand: Column, seat: Column, place: Column, amount: Column, **those: Column
) -> Moves:
    """Moves of one kind, of which no more is true than what is given."""
    no = np.zeros(len(row), dtype=bool)
    truths = (those.get(name, no) for name in ("stake", "dead", "leads", "out"))
    return Moves(row, hand, seat, place, amount, *truths)


def head(laid: Laid, hand: Column) -> dict[str, pa.Array]:
    """How stored rows about these hands begin."""
    told = {"hand_seq": pa.array(laid.hand_seq.take(hand)), "match": word(laid, "match", hand)}
    return {**told, "number": pa.array(laid.number.take(hand)), "game": word(laid, "game", hand)}


def word(laid: Laid, name: str, hand: Column) -> pa.Array:
    """What the start of each hand says in a column."""
    which, words = laid.cells.words(name, laid.heads)
    return chosen(words, which[hand])


def players(laid: Laid) -> pa.Array:
    """The name of every place."""
    which, words = laid.cells.words("players", laid.heads)
    names = [msgspec.json.decode(it) for it in words.to_pylist()]
    sizes = np.array([*map(len, names), 0])
    begins = np.cumsum(sizes) - sizes
    every = pa.array([name for row in names for name in row], pa.string())
    return every.take(pa.array(begins.take(which).take(laid.place_hand) + laid.place_seat))


def chosen(words: Sequence[str] | pa.Array, which: Column) -> pa.Array:
    """These words; nothing for a number below nothing."""
    known = words if isinstance(words, pa.Array) else pa.array(words, pa.string())
    return known.take(pa.array(which, mask=which < 0))
