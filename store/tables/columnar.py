"""The tables that need no rules, of a lot: counted in columns, without a state of any hand.

Each says what its namesake in `store/tables` says of the same hands, row for row; a test holds
them to it. A lot's hands are over, and none is voided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from events import types as t
from events.many import UNKNOWN_PLACE, Column, Each, Many
from store.columns.hands import WORDS, Lot, joined
from store.tables import bids, hands, players, pots, swaps

_PAID = (t.AntePosted, t.BlindPosted, t.Called, t.Bet, t.Raised)
_POTS = 100  # more than a pot's number can be


class Rows(NamedTuple):
    """All events of one kind in order: their rows in the lot, their hands, their fields."""

    row: Column
    hand: Column
    fields: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.row)


class Sums:
    """What a lot's hands add up to, by hand and by seat."""

    def __init__(self, lot: Lot) -> None:
        self.lot = lot
        self._found: dict[type[t.Event], Rows] = {}
        self.sizes = lot.sizes
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.start = self.of(t.HandStarted)
        self.players: list[tuple[str, ...]] = _words(self.start.fields["players"])
        self.stacks = _padded(self.start.fields["stacks"], 0)
        self.seats = np.array([len(who) for who in self.players])
        self.moved = self._moved()
        self.put_in = self._by_seat(self.moved)
        self.shares = self._shares()
        self.collected = self._by_seat(self.shares)
        self.nets = self.collected - self.put_in

    def of(self, kind: type[t.Event]) -> Rows:
        """Every event of a kind; without any, no fields."""
        if kind not in self._found:
            some = [it for it in self.lot.many if it.kind is kind]
            nothing = np.zeros(0, dtype=np.int64)
            row = np.concatenate([nothing, *(self.begins[it.hand] + it.index for it in some)])
            order = None if (row[1:] > row[:-1]).all() else np.argsort(row)
            hand = np.concatenate([nothing, *(it.hand for it in some)])
            fields = _Fields(some, order)
            self._found[kind] = Rows(_ordered(row, order), _ordered(hand, order), fields)
        return self._found[kind]

    def marked(self, kind: type[t.Event]) -> Column:
        """By hand and seat, of whom there is such an event."""
        found = np.zeros(self.stacks.shape, dtype=bool)
        some = self.of(kind)
        if len(some):
            found[some.hand, some.fields["seat"]] = True
        return found

    def tapped(self) -> Column:
        """By hand and seat, who had nothing left at some time."""
        moved, seats = self.moved, self.stacks.shape[1]
        group = moved.hand * seats + moved.fields["seat"]
        order = np.lexsort((moved.row, group))
        amount = moved.fields["amount"][order]
        sums = np.cumsum(amount)
        first, sizes = _groups(group[order])
        sums -= np.repeat((sums - amount)[first], sizes)
        most = np.zeros(self.stacks.size, dtype=np.int64)
        most[group[order][first]] = np.maximum.reduceat(sums, first)
        found: Column = most.reshape(self.stacks.shape) >= self.stacks
        return found

    @cached_property
    def hole(self) -> Column:
        """Each seat's cards in the end, in the order they came; what is shown was held."""
        dealt = self.of(t.HoleDealt)
        cards = dealt.fields["cards"]
        at, place = np.nonzero(cards >= 0)
        group = (dealt.hand * self.stacks.shape[1] + dealt.fields["seat"])[at]
        order = np.argsort(group, kind="stable")
        first, sizes = _groups(group[order])
        count = np.arange(len(group)) - np.repeat(first, sizes)
        found = np.full((self.stacks.size, int(count.max()) + 1), -1, dtype=np.int64)
        found[group[order], count] = cards[at, place][order]
        found = found.reshape(*self.stacks.shape, -1)
        swapped = self.of(t.CardSwapped)
        if len(swapped):  # in order, so of several the last stays
            seat, slot = swapped.fields["seat"], swapped.fields["slot"]
            found[swapped.hand, seat, slot] = _places(swapped.fields["new"])
        if (found == UNKNOWN_PLACE).any():
            shown = self.of(t.Shown)
            if len(shown):
                cards = shown.fields["cards"]
                found[shown.hand, shown.fields["seat"], : cards.shape[1]] = cards
        return found

    @cached_property
    def entered(self) -> tuple[Column, list[str]]:
        """Where a step or a round begins, and its name."""
        steps, rounds = self.of(t.StepEntered), self.of(t.BettingOpened)
        row = np.concatenate([steps.row, rounds.row])
        names = [*_words(steps.fields["name"])]
        names += _words(rounds.fields["street"]) if len(rounds) else []
        order = np.argsort(row)
        return row[order], [names[at] for at in order.tolist()]

    def _moved(self) -> Rows:
        """Chips from a seat to the middle, the price of an auction too; less than nothing: back."""
        parts = []
        for kind in (*_PAID, t.UncalledReturned):
            if len(some := self.of(kind)):
                amount = some.fields["amount"] * (-1 if kind is t.UncalledReturned else 1)
                parts.append((some.row, some.hand, some.fields["seat"], amount))
        settled = self.of(t.AuctionSettled)
        for seats in _padded(settled.fields["seats"], -1).T if len(settled) else ():
            at = np.flatnonzero(seats >= 0)
            price = settled.fields["price"][at]
            parts.append((settled.row[at], settled.hand[at], seats[at], price))
        row, hand, seat, amount = map(np.concatenate, zip(*parts, strict=True))
        return Rows(row, hand, {"seat": seat, "amount": amount})

    def _shares(self) -> Rows:
        """Who was paid how much from which pot, in order."""
        splits = self.of(t.PotSplit)
        seats, shares = (_padded(splits.fields[name], -1) for name in ("seats", "shares"))
        at, place = np.nonzero(seats >= 0)
        fields = {"seat": seats[at, place], "amount": shares[at, place]}
        return Rows(splits.row[at], splits.hand[at], {**fields, "pot": splits.fields["pot"][at]})

    def _by_seat(self, some: Rows) -> Column:
        found = np.zeros_like(self.stacks)
        np.add.at(found, (some.hand, some.fields["seat"]), some.fields["amount"])
        return found


def tables(lot: Lot, names: Iterable[str]) -> dict[str, pa.Table]:
    """Of the tables of these names, those that can be counted here."""
    sums = Sums(lot)
    return {name: _TABLES[name](sums) for name in names if name in _TABLES}


def _hands(sums: Sums) -> pa.Table:
    lot, start = sums.lot, sums.start
    row, names = sums.entered
    ends = sums.begins + sums.sizes
    last = np.searchsorted(row, ends) - 1
    boards = [""] * len(ends)
    rake = _rake(sums)
    nets = zip(sums.nets.tolist(), sums.seats.tolist(), strict=True)
    board = sums.of(t.BoardDealt)
    told = joined(board.fields["cards"], WORDS, " ") if len(board) else []
    for hand, cards in zip(board.hand.tolist(), told, strict=True):
        boards[hand] = f"{boards[hand]} {cards}" if boards[hand] else cards
    known = {who: msgspec.json.encode(who).decode() for who in set(sums.players)}
    at = np.full(len(ends), lot.at)
    return _table(
        hands.SCHEMA,
        hand_seq=np.arange(len(ends)),
        match=[lot.match] * len(ends),
        number=lot.numbers,
        events=sums.sizes,
        first_pos=sums.begins,
        last_pos=ends - 1,
        first_at=at,
        last_at=at,
        game=_words(start.fields["game"]),
        ruleset=_words(start.fields["ruleset"]),
        button=start.fields["button"],
        players=[known[who] for who in sums.players],
        street=[names[place] for place in last.tolist()],
        board=boards,
        pot=sums.collected.sum(1) + rake,
        rake=rake,
        showdown=sums.marked(t.Shown).any(1),
        voided=np.zeros(len(ends), dtype=bool),
        nets=[" ".join(map(str, won[:seats])) for won, seats in nets],
        played=[told or None for told in _words(start.fields["played"])],
    )


def _rake(sums: Sums) -> Column:
    """What the house took of each hand."""
    found, taken = np.zeros_like(sums.sizes), sums.of(t.RakeTaken)
    if len(taken):
        np.add.at(found, taken.hand, taken.fields["amount"])
    return found


def _players(sums: Sums) -> pa.Table:
    hand, seat = np.nonzero(np.arange(sums.stacks.shape[1]) < sums.seats[:, None])
    folded = sums.marked(t.Folded)
    return _table(
        players.SCHEMA,
        hand_seq=hand,
        match=[sums.lot.match] * len(hand),
        number=sums.lot.numbers[hand],
        seat=seat,
        player=[player for who in sums.players for player in who],
        position=(seat - sums.start.fields["button"][hand]) % sums.seats[hand],
        stack=sums.stacks[hand, seat],
        put_in=sums.put_in[hand, seat],
        collected=sums.collected[hand, seat],
        net=sums.nets[hand, seat],
        showed=sums.marked(t.Shown)[hand, seat],
        folded=folded[hand, seat],
        all_in=(sums.tapped() & ~folded)[hand, seat],
        hole=joined(sums.hole[hand, seat], WORDS, " "),
    )


def _bids(sums: Sums) -> pa.Table:
    bid, settled = sums.of(t.BidPlaced), sums.of(t.AuctionSettled)
    if not len(bid):
        return bids.SCHEMA.empty_table()
    at = np.searchsorted(settled.hand, bid.hand)
    moved = sums.moved
    row = np.append(settled.row, 0)[np.searchsorted(settled.hand, moved.hand)]
    amount = moved.fields["amount"] * (moved.row < row)
    pot = np.bincount(moved.hand, amount, len(sums.sizes)).astype(np.int64)
    seat = bid.fields["seat"]
    return _table(
        bids.SCHEMA,
        **_placed(sums, bid),
        seat=seat,
        player=_named(sums, bid.hand, seat),
        amount=bid.fields["amount"],
        won=(_padded(settled.fields["seats"], -1)[at] == seat[:, None]).any(1),
        price=settled.fields["price"][at],
        pot=pot[bid.hand],
        sealed=bid.fields["sealed"],
        origin=_words(bid.fields["origin"]),
    )


def _swaps(sums: Sums) -> pa.Table:
    swap = sums.of(t.CardSwapped)
    if not len(swap):
        return swaps.SCHEMA.empty_table()
    row, names = sums.entered
    within: Column = np.searchsorted(row, swap.row) - 1
    old, new = swap.fields["old"], swap.fields["new"]
    return _table(
        swaps.SCHEMA,
        **_placed(sums, swap),
        street=[names[at] for at in within.tolist()],
        seat=swap.fields["seat"],
        player=_named(sums, swap.hand, swap.fields["seat"]),
        slot=swap.fields["slot"],
        old=_words(old),
        new=_words(new),
        changed=_places(old) != _places(new),
        told=swap.fields["told"],
    )


def _pots(sums: Sums) -> pa.Table:
    paid = sums.shares
    placed = _placed(sums, paid)
    del placed["idx"]
    return _table(
        pots.SCHEMA,
        **placed,
        pot=paid.fields["pot"],
        seat=paid.fields["seat"],
        player=_named(sums, paid.hand, paid.fields["seat"]),
        share=paid.fields["amount"],
        rake=_rake_with(sums, paid),
    )


def _rake_with(sums: Sums, paid: Rows) -> Column:
    """The rake of each pot beside whom it is paid to first."""
    found, taken = np.zeros(len(paid), dtype=np.int64), sums.of(t.RakeTaken)
    if len(taken):
        of, which = (it.hand * _POTS + it.fields["pot"] for it in (paid, taken))
        pots_paid, first = np.unique(of, return_index=True)
        at = np.minimum(np.searchsorted(pots_paid, which), len(first) - 1)
        fits = pots_paid[at] == which
        np.add.at(found, first[at[fits]], taken.fields["amount"][fits])
    return found


_TABLES: dict[str, Callable[[Sums], pa.Table]] = {
    "hands": _hands,
    "players": _players,
    "bids": _bids,
    "swaps": _swaps,
    "pots": _pots,
}


def _table(schema: pa.Schema, /, **found: Any) -> pa.Table:
    return pa.table(
        [
            pa.array(found[one.name]).cast(one.type)
            if isinstance(found[one.name], np.ndarray)
            else pa.array(found[one.name], one.type)
            for one in schema
        ],
        schema=schema,
    )


def _placed(sums: Sums, some: Rows) -> dict[str, Any]:
    """In which hand events are, and where in it."""
    return {
        "hand_seq": some.hand,
        "match": [sums.lot.match] * len(some),
        "number": sums.lot.numbers[some.hand],
        "idx": some.row - sums.begins[some.hand],
    }


def _named(sums: Sums, hand: Column, seat: Column) -> list[str]:
    return [sums.players[at][who] for at, who in zip(hand.tolist(), seat.tolist(), strict=True)]


def _words(field: Each) -> list[Any]:
    return list(map(field.values.__getitem__, field.codes.tolist()))


def _places(cards: Each) -> Column:
    """Single cards as places in the deck."""
    return np.array([WORDS.index(card) for card in cards.values])[cards.codes]


def _padded(rows: Column | Each, filler: int) -> Column:
    """Rows of numbers, to the end of each as many fillers as the longest needs."""
    if not isinstance(rows, Each):
        return rows
    most = max(map(len, rows.values))
    values = [(*row, *(filler,) * (most - len(row))) for row in rows.values]
    return np.array(values, dtype=np.int64).reshape(len(values), most)[rows.codes]


def _groups(group: Column) -> tuple[Column, Column]:
    """Where each run of equal numbers begins, and how long it is."""
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    return first, np.diff(np.append(first, len(group)))


class _Fields(dict[str, Any]):
    """The fields of all parts of a kind, in order; each is joined when it is asked for."""

    def __init__(self, parts: Sequence[Many], order: Column | None) -> None:
        super().__init__()
        self._parts, self._order = parts, order

    def __missing__(self, name: str) -> Any:
        found = self[name] = _joined([it.fields[name] for it in self._parts], self._order)
        return found


def _joined(parts: list[Any], order: Column | None) -> Any:
    """One field of several parts of a kind, in order."""
    if isinstance(parts[0], Each):
        values: dict[Any, int] = {}
        codes = [
            np.array([values.setdefault(one, len(values)) for one in it.values])[it.codes]
            for it in parts
        ]
        return Each(_ordered(np.concatenate(codes), order), list(values))
    if len({it.shape[1:] for it in parts}) > 1:
        width = max(it.shape[1] for it in parts)
        parts = [np.pad(it, ((0, 0), (0, width - it.shape[1])), constant_values=-1) for it in parts]
    return _ordered(np.concatenate(parts), order)


def _ordered(values: Column, order: Column | None) -> Column:
    return values if order is None else values[order]
