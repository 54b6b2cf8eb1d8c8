"""A projection: a table made from a segment's events, kept beside it, made again at any time.

Five need no rules: what happened, counted from rows of events alone. A hand that does not add up is
in `hands` alone, where nothing is said of it: the ledger keeps what it was given. A void hand is in
`hands` alone, too: it is in no statistic.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Column
from store.columns.codec import encoded_table
from store.columns.layout import CARDS
from store.log.streams import Leaf
from store.tables.hand_columns import ChipMoves, HandColumns

T = TypeVar("T")
MANY = 1 << 18  # rows of events: some 9,000 hands


class EventRows:
    """Rows of events, whole hands, as they are stored; what several tables need of them is made
    once.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._made: dict[Callable[[pa.Table], Any], Any] = {}

    def once(self, make: Callable[[pa.Table], T]) -> T:
        """The result of `make` on the rows, made once."""
        if make not in self._made:
            self._made[make] = make(self.table)
        found: T = self._made[make]
        return found


class Projection(NamedTuple):
    """A table derived from events: its name, its version and the function that makes it; the
    package that defines its meaning passes it to the store.

    `from_rows` makes it of rows of events, whole hands, of which it reads these columns as far as
    there are any. It is a map over hands: making it in parts and joining the parts gives the same
    table, its rows carry their `hand_seq` and stand in that order, and no hand makes it fail. A
    version that only adds what a column of events says is in `added`: of events without that
    column an older table lacks nothing. What is `private` only our own questions read. Its view
    shows these columns beside the hand: what can be counted from others of a row is not stored.
    """

    name: str
    version: int
    from_rows: Callable[[EventRows], pa.Table]
    columns: tuple[str, ...]
    rows: int = 65_536
    added: Mapping[int, str] = {}
    private: bool = False
    shown: str = "* EXCLUDE (hand_seq)"

    @property
    def view(self) -> str:
        """The columns that the view selects from the table, as SQL."""
        return f"hand_seq, match || '/' || number AS hand, {self.shown}"

    def build(self, leaves: Sequence[Leaf]) -> pa.Table:
        """The table of these leaves, whose events become columns first."""
        return self.from_rows(EventRows(encoded_table(leaves, names=self.columns)))

    def is_current(self, made: int | None, events: Callable[[], Iterable[str]]) -> bool:
        """Whether a table of the version `made` says what a new one would, where these are the
        columns that the events have."""
        if made is None or made > self.version:
            return False
        later = range(made + 1, self.version + 1)
        if not all(column in self.added for column in later):
            return False
        return not later or not {self.added[column] for column in later}.intersection(events())


class ProjectionBuilder:
    """Builds projections while row groups of events go by.

    They wait until there are many rows, for their work is by the call more than by the hand.
    """

    def __init__(self, projections: Sequence[Projection]) -> None:
        self._wanted = tuple(projections)
        self._read = {name for projection in projections for name in projection.columns}
        self._held: list[pa.Table] = []
        self._waiting = 0

    def add(self, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """The next row group; the tables that are made now."""
        if self._wanted:
            self._held.append(rows.select([it for it in rows.column_names if it in self._read]))
            self._waiting += rows.num_rows
            if self._waiting >= MANY:
                yield from self.flush()

    def flush(self) -> Iterator[tuple[str, pa.Table]]:
        """The tables of the rows that still wait; call it when all has gone by."""
        if self._held:
            held = EventRows(pa.concat_tables(self._held, promote_options="default"))
            self._held, self._waiting = [], 0
            for projection in self._wanted:
                yield projection.name, projection.from_rows(held)


def typed_table(schema: pa.Schema, /, **found: Any) -> pa.Table:
    """A table of these columns, in the types of a schema."""
    every = (found[field.name] for field in schema)
    arrays = (column if isinstance(column, pa.Array) else pa.array(column) for column in every)
    columns = [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)]
    return pa.table(columns, schema=schema)


COLUMNS = (
    *("hand_seq", "pos", "match", "number", "idx", "at", "type", "game", "ruleset", "button"),
    *("players", "stacks", "played", "street", "seat", "amount", "price", "all_in", "origin"),
    *("sealed", "slot", "old", "new", "told", "pot", "seats", "shares", "payer"),
    *(f"card{place + 1}" for place in range(CARDS)),
    "more_cards",
)
_TIME = pa.timestamp("ms", tz="UTC")
_WHICH = {"hand_seq": pa.int64(), "match": pa.string(), "number": pa.int64()}
_HANDS = pa.schema(
    {
        **_WHICH,
        "events": pa.int32(),
        "first_pos": pa.int64(),
        "last_pos": pa.int64(),
        "first_at": _TIME,
        "last_at": _TIME,
        "game": pa.string(),
        "ruleset": pa.string(),
        "button": pa.int32(),
        "players": pa.string(),
        "street": pa.string(),
        "board": pa.string(),
        "pot": pa.int64(),
        "rake": pa.int64(),
        "showdown": pa.bool_(),
        "voided": pa.bool_(),
        "nets": pa.string(),
        "played": pa.string(),
    }
)
_PLAYERS = pa.schema(
    {
        **_WHICH,
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.int32(),
        "stack": pa.int64(),
        "put_in": pa.int64(),
        "collected": pa.int64(),
        "net": pa.int64(),
        "showed": pa.bool_(),
        "folded": pa.bool_(),
        "all_in": pa.bool_(),
        "hole": pa.string(),
    }
)
_BIDS = pa.schema(
    {
        **_WHICH,
        "idx": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "amount": pa.int64(),
        "won": pa.bool_(),
        "price": pa.int64(),
        "pot": pa.int64(),
        "sealed": pa.bool_(),
        "origin": pa.string(),
    }
)
_SWAPS = pa.schema(
    {
        **_WHICH,
        "idx": pa.int32(),
        "street": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "slot": pa.int32(),
        "old": pa.string(),
        "new": pa.string(),
        "changed": pa.bool_(),
        "told": pa.bool_(),
    }
)
_POTS = pa.schema(
    {
        **_WHICH,
        "pot": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "share": pa.int64(),
        "rake": pa.int64(),
    }
)


def _hands(rows: EventRows) -> pa.Table:
    """The table `hands`: a row for each leaf, and so the index by which a stream is found.

    An append of match records has no `number`. A hand's `pot` is what was paid out and raked;
    `nets` are in seat order, all zero in a void hand. `played` is when, as the hand's source says.
    """
    hands = rows.once(HandColumns)
    heads, last, every = hands.heads, hands.ends - 1, np.arange(hands.count)
    none = ~hands.adds_up
    rake, row = np.zeros(hands.count, dtype=np.int64), hands.of("RakeTaken")
    hand = hands.hand_of.take(row)
    kept = row > hands.voids.take(hand)  # of a void hand the house gave it back
    np.add.at(rake, hand[kept], hands.cells.numbers("amount", row[kept]))
    awarded = np.zeros(hands.count, dtype=np.int64)
    np.add.at(awarded, hands.shares.hand, hands.shares.amount)
    pot = np.where(hands.voided, 0, awarded + rake)
    nets = sum(map(hands.summed, (hands.shares, hands.bounties))) - hands.summed(hands.moves)
    ends = zip(hands.base.tolist(), hands.seats.tolist(), strict=True)
    showdown = np.zeros(hands.count, dtype=bool)
    showdown[hands.hand_of.take(hands.of("Shown"))] = True
    played = hands.column("played", heads)
    counted: dict[str, Any] = {
        "game": hands.column("game", heads),
        "ruleset": hands.column("ruleset", heads),
        "button": hands.column("button", heads),
        "players": hands.column("players", heads),
        "street": hands.entered(last),
        "board": hands.board().text(),
        "pot": pa.array(pot),
        "rake": pa.array(rake),
        "showdown": pa.array(showdown),
        "voided": pa.array(hands.voided),
        "nets": pa.array(
            [" ".join(map(str, nets[at : at + size].tolist())) for at, size in ends], pa.string()
        ),
        "played": pc.if_else(pc.equal(played, ""), None, played),
    }
    missing = pa.array(none)
    counted = {
        name: pc.if_else(missing, pa.scalar(None, one.type), one) for name, one in counted.items()
    }
    return typed_table(
        _HANDS,
        **_which(hands, every),
        events=hands.ends - heads,
        first_pos=hands.column("pos", heads),
        last_pos=hands.column("pos", last),
        first_at=hands.column("at", heads),
        last_at=hands.column("at", last),
        **counted,
    )


def _players(rows: EventRows) -> pa.Table:
    """The table `players`: what each put in, took out and held, a row for a player and hand.

    `put_in` is what stayed in (an uncalled bet is not), an auction's price included. Bounties, paid
    beside the pot, are in `net` alone. `position` counts seats from the button.
    """
    hands = rows.once(HandColumns)
    place = np.flatnonzero(hands.counted.take(hands.place_hand))
    hand, seat = hands.place_hand[place], hands.place_seat[place]
    button = hands.cells.numbers("button", hands.heads)[hand]
    put_in, collected = (hands.summed(chips)[place] for chips in (hands.moves, hands.shares))
    folded = hands.marked("Folded")
    return typed_table(
        _PLAYERS,
        **_which(hands, hand),
        seat=seat,
        player=hands.players(hand, seat),
        position=(seat - button) % hands.seats[hand],
        stack=hands.stacks[place],
        put_in=put_in,
        collected=collected,
        net=collected - put_in + hands.summed(hands.bounties)[place],
        showed=hands.marked("Shown")[place],
        folded=folded[place],
        all_in=(hands.tapped & ~folded)[place],
        hole=hands.hole().text().take(pa.array(place)),
    )


def _bids(rows: EventRows) -> pa.Table:
    """The table `bids`: every bid for a card, and what came of it.

    `price` is what the winners of that auction paid each, `pot` the pot before they paid. A bid
    whose auction was never settled has neither.
    """
    hands = rows.once(HandColumns)
    row, hand, seat = _done(hands, "BidPlaced")
    settled = np.append(hands.of("AuctionSettled"), hands.cells.size)
    at = np.searchsorted(settled, row)
    after = settled.take(at)
    unsettled = after >= hands.ends.take(hand)
    of, _, winner = hands.cells.ragged("seats", settled[:-1]).flat()
    step = hands.places + 1
    price = np.append(hands.cells.numbers("price", settled[:-1]), 0)
    put_in = hands.sum_before(hands.moves.row, hands.moves.amount, hand, after)
    return typed_table(
        _BIDS,
        **_which(hands, hand),
        idx=hands.column("idx", row),
        seat=seat,
        player=hands.players(hand, seat),
        amount=hands.column("amount", row),
        won=np.isin(at * step + seat, of * step + winner) & ~unsettled,
        price=pa.array(price.take(at), mask=unsettled),
        pot=pa.array(put_in, mask=unsettled),
        sealed=hands.column("sealed", row),
        origin=hands.column("origin", row, "chosen"),
    )


def _swaps(rows: EventRows) -> pa.Table:
    """The table `swaps`: every card at risk, changed or not, and its street."""
    hands = rows.once(HandColumns)
    row, hand, seat = _done(hands, "CardSwapped")
    old, new = (hands.column(name, row) for name in ("old", "new"))
    return typed_table(
        _SWAPS,
        **_which(hands, hand),
        idx=hands.column("idx", row),
        street=hands.entered(row),
        seat=seat,
        player=hands.players(hand, seat),
        slot=hands.column("slot", row),
        old=old,
        new=new,
        changed=pc.not_equal(old, new) if len(row) else pa.array([], pa.bool_()),
        told=hands.column("told", row, False),
    )


def _pots(rows: EventRows) -> pa.Table:
    """The table `pots`: each payment from a pot; a pot's rake stands with its first award."""
    hands = rows.once(HandColumns)
    every = hands.shares
    kept = np.flatnonzero(hands.counted.take(every.hand) & (every.place < hands.places))
    paid = ChipMoves(*(column[kept] for column in every))
    # The rake of each pot, beside who is next paid from it
    rake, taken = np.zeros(len(paid.row), dtype=np.int64), hands.of("RakeTaken")
    keys = [
        (hand * _POTS_MOST + hands.cells.numbers("pot", row)) * (hands.cells.size + 1) + row
        for hand, row in ((paid.hand, paid.row), (hands.hand_of.take(taken), taken))
    ]
    order = np.argsort(keys[0], kind="stable")
    at = np.searchsorted(keys[0][order], keys[1])
    there = at < len(order)
    next_paid = order[at[there]]
    same = keys[0][next_paid] // (hands.cells.size + 1) == keys[1][there] // (hands.cells.size + 1)
    amount = hands.cells.numbers("amount", taken)[there]
    np.add.at(rake, next_paid[same], amount[same])
    return typed_table(
        _POTS,
        **_which(hands, paid.hand),
        pot=hands.cells.numbers("pot", paid.row),
        seat=paid.seat,
        player=hands.players(paid.hand, paid.seat),
        share=paid.amount,
        rake=rake,
    )


_POTS_MOST = 100  # more than a pot's number can be


def _done(hands: HandColumns, kind: str) -> tuple[Column, Column, Column]:
    """Row, hand and seat of each event of a kind in counted hands; events of a seat that does not
    exist are left out."""
    row = hands.of(kind)
    hand, seat = hands.hand_of.take(row), hands.seat(row)
    kept = hands.counted.take(hand) & (seat < hands.seats.take(hand)) & (seat >= 0)
    return row[kept], hand[kept], seat[kept]


def _which(hands: HandColumns, hand: Column) -> dict[str, Any]:
    """The columns that say of which hand each row is."""
    heads = hands.heads.take(hand)
    return {name: hands.column(name, heads) for name in _WHICH}


HANDS = Projection("hands", 2, _hands, COLUMNS, rows=8_192, added={2: "played"})
PLAYERS = Projection("players", 1, _players, COLUMNS)
BIDS = Projection("bids", 1, _bids, COLUMNS)
SWAPS = Projection("swaps", 1, _swaps, COLUMNS)
POTS = Projection("pots", 1, _pots, COLUMNS)
STANDARD: tuple[Projection, ...] = (HANDS, PLAYERS, BIDS, SWAPS, POTS)
