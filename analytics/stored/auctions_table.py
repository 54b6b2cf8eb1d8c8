"""`auctions` out of a table of events: what was bid over which pot, as `stored.auctions` tells it.

Hands of two with one auction on a flop are told in columns; whatever is less usual is walked.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.replay.flags import STREETS
from analytics.replay.layout import BET, CHECKED, FOLDED, KIND, RAISED, Laid
from analytics.replay.money import money
from analytics.replay.seen import seen
from analytics.replay.words import chosen, head, players, word
from analytics.stored.auctions import ORIGINS, STORED, rows_of
from analytics.stored.one_by_one import leaves_in
from analytics.stored.row_head import tabled
from events.cards import DECK
from store.columns.cells import Column

OUTCOMES = ("lost", "won", "tied")
ROLES = ("dealer", "big blind")
TEXTURES = ("dry", "two-tone", "paired", "monotone")
_CARDS = {card: code for code, card in enumerate(DECK)}


def auctions_of(events: pa.Table) -> pa.Table:
    """The rows of these hands, in their order, and that of auctions and seats."""
    laid = Laid(events)
    held = np.bincount(laid.hand_of.take(laid.of("AuctionSettled")), minlength=laid.count) > 0
    held &= laid.told
    usual = _usual(laid, held)
    rest = leaves_in(events, pa.array((held & ~usual.there).take(laid.hand_of)))
    walked = tabled([row for leaf in rest for row in rows_of(leaf)], STORED)
    told = _told(laid, usual)
    if not walked.num_rows:
        return told
    both = pa.concat_tables([told, walked])
    order = np.argsort(both["hand_seq"].to_numpy(), kind="stable")
    return both.take(pa.array(order)).combine_chunks()


class Usual(NamedTuple):
    """Which hands are told in columns; of every hand, or place, the row where something stands."""

    there: Column
    settled: Column
    flop: Column
    hole: Column  # of every place
    bid: Column  # of every place


def _usual(laid: Laid, held: Column) -> Usual:
    """Two players, one auction on three cards, two bids, two cards each; no swap before."""
    settled, once = _only(laid, "AuctionSettled", np.full(laid.count, laid.cells.size))
    flop, dealt = _only(laid, "BoardDealt", settled)
    hole, given = _only(laid, "HoleDealt", settled, of_places=True)
    bid, bids = _only(laid, "BidPlaced", settled, of_places=True)
    there = held & once & dealt & (laid.seats == 2)
    there &= laid.cards(flop) == 3
    for one in (given & (laid.cards(hole) == 2), bids):
        there &= np.bincount(laid.place_hand, one, laid.count) == 2
    for kind in ("CardSwapped", "Shown", "PotSplit", "RakeTaken"):
        row = laid.of(kind)
        there[laid.hand_of[row[row < settled.take(laid.hand_of.take(row))]]] = False
    late = laid.of("BidPlaced")
    there[laid.hand_of[late[late > settled.take(laid.hand_of.take(late))]]] = False
    return Usual(there, settled, flop, hole, bid)


def _only(
    laid: Laid, kind: str, until: Column, *, of_places: bool = False
) -> tuple[Column, Column]:
    """The row of the only event of a kind before a row of each hand; whether there is just one."""
    row = laid.of(kind)
    hand = laid.hand_of.take(row)
    early = row < until.take(hand)
    row, hand = row[early], hand[early]
    size, which = laid.count, hand
    if of_places:
        size, which = laid.places, laid.place(hand, laid.cells.numbers("seat", row, -1))
    found = np.zeros(size + of_places, dtype=np.int64)
    found[which] = row
    count: Column = np.bincount(which, minlength=size + of_places)
    return found[:size], (count == 1)[:size]


def _told(laid: Laid, usual: Usual) -> pa.Table:
    """Two rows a hand, in seat order."""
    cells = laid.cells
    every = np.flatnonzero(usual.there)
    hand, seat = np.repeat(every, 2), np.tile(np.arange(2), len(every))
    place = laid.base[hand] + seat
    rival = place + 1 - 2 * seat
    settled = usual.settled[hand]
    stack = _stacks(laid, usual.settled)
    put_in = laid.stacks - stack
    bids, sealed = cells.numbers("amount", usual.bid), cells.truths("sealed", usual.bid)
    dealer = np.where(seat == laid.button[hand], 0, 1)
    was, chips, names = seen(laid), money(laid), players(laid)
    gone = ~was.stays
    outcome = _outcomes(laid, settled, seat)
    origins = _origins(laid, usual, stack)
    settled_sealed = cells.truths("sealed", settled)
    flop = usual.flop[hand]
    told = {
        **head(laid, hand),
        "ruleset": word(laid, "ruleset", hand),
        "auction": pa.array(np.zeros(len(hand), dtype=np.int32)),
        "seat": pa.array(seat.astype(np.int32)),
        "player": names.take(pa.array(place)),
        "rival": names.take(pa.array(rival)),
        "role": chosen(ROLES, dealer),
        "stack": pa.array(stack[place]),
        "pot": pa.array(put_in[place] + put_in[rival]),
        "board": _cards(laid, flop, 3),
        "texture": chosen(TEXTURES, _textures(laid, flop)),
        "bid": pa.array(bids[place]),
        "rival_bid": pa.array(bids[rival]),
        "price": pa.array(cells.numbers("price", settled)),
        "outcome": chosen(OUTCOMES, outcome),
        "origin": chosen(ORIGINS, origins[place]),
        "rival_origin": chosen(ORIGINS, origins[rival]),
        "sealed": pa.array(settled_sealed),
        "showdown": pa.array(was.showdown[place]),
        "folded": pa.array(gone[place]),
        "rival_folded": pa.array(gone[rival]),
        "flop_bet": _opened(laid, usual, place),
        "won_money": pa.array(laid.collected[place] > 0),
        "net": pa.array(chips.net[place]),
        "rival_stack": pa.array(stack[rival]),
        "dealt": _cards(laid, usual.hole[place], 2),
        "shown": _shown(laid, place),
        "plain": pa.array(
            _as_placed(laid, usual, hand, bids)
            & (sealed[place] == settled_sealed)
            & (sealed[rival] == settled_sealed)
        ),
    }
    return pa.table([told[one.name] for one in STORED], schema=STORED)


def _stacks(laid: Laid, settled: Column) -> Column:
    """What every place had left when bids were settled."""
    found: Column = laid.stacks.copy()
    moves, acts = laid.moves, laid.acts
    early = np.flatnonzero(moves.row < settled.take(moves.hand))
    np.add.at(found, moves.place[early], moves.amount[early])
    early = np.flatnonzero(acts.row < settled.take(acts.hand))
    np.subtract.at(found, acts.place[early], acts.amount[early])
    return found


def _outcomes(laid: Laid, settled: Column, seat: Column) -> Column:
    """Whether each lost, won or tied."""
    seats = laid.cells.ragged("seats", settled)
    of, _, winner = seats.flat()
    won = np.zeros(len(settled), dtype=bool)
    won[of[winner == seat.take(of)]] = True
    outcome: Column = won * np.where(seats.count > 1, 2, 1)
    return outcome


def _origins(laid: Laid, usual: Usual, stack: Column) -> Column:
    """Why each bid was made: forced where 0 was all there was."""
    codes = {word: code for code, word in enumerate(ORIGINS)}
    told = laid.cells.codes("origin", codes, usual.bid)
    origins: Column = np.where(stack[: laid.places] == 0, ORIGINS.index("forced"), told)
    return origins


def _as_placed(laid: Laid, usual: Usual, hand: Column, bids: Column) -> Column:
    """Whether the settlement told the amounts that were placed, in their order."""
    first, second = usual.bid[laid.base[hand]], usual.bid[laid.base[hand] + 1]
    later = laid.base[hand] + (first < second)
    sooner = laid.base[hand] + (first > second)
    told = laid.cells.ragged("bids", usual.settled[hand])
    same: Column = told.count == 2
    at = np.where(same, told.at, 0)
    values = np.append(told.values, [0, 0])
    return same & (values.take(at) == bids[sooner]) & (values.take(at + 1) == bids[later])


def _opened(laid: Laid, usual: Usual, place: Column) -> pa.Array:
    """Whether the first choice after the auction was a bet; null for who could not open.

    A seat's own check or bet decides it; so does any bet, raise or fold, and then he could not.
    """
    acts = laid.acts
    opens = np.append(0, np.cumsum(laid.kind == KIND["BettingOpened"], dtype=np.int32))
    settled = np.minimum(usual.settled.take(acts.hand), laid.cells.size)
    later = usual.there.take(acts.hand) & (acts.row > settled)
    soon = acts.opens - opens.take(settled) <= 1
    act = np.flatnonzero(later & soon & (acts.street == STREETS.index("flop")))
    kind, own = acts.kind[act], acts.place[act]
    rival = own + 1 - 2 * acts.seat[act]
    leads, ends = np.isin(kind, (CHECKED, BET)), np.isin(kind, (BET, RAISED, FOLDED))
    none = len(acts.row)
    first = np.full(laid.places, none, dtype=np.int64)
    np.minimum.at(first, own[leads | ends], act[leads | ends])
    np.minimum.at(first, rival[ends], act[ends])
    decisive = first[place]
    found = np.minimum(decisive, max(none - 1, 0))
    known: Column = decisive < none
    if none:
        chosen = laid.cells.codes("origin", {"chosen": 1}, acts.row, 0) == 1
        kinds = acts.kind[found]
        known &= (acts.place[found] == place) & np.isin(kinds, (CHECKED, BET)) & chosen[found]
        return pa.array(kinds == BET, mask=~known)
    return pa.nulls(len(place), pa.bool_())


def _shown(laid: Laid, place: Column) -> pa.Array:
    """The first two cards of those that a place showed first."""
    row, _, _, where = laid.shows
    found = np.full(laid.places + 1, -1, dtype=np.int64)
    found[where[::-1]] = row[::-1]
    rows = found[place]
    cards = _cards(laid, np.maximum(rows, 0), 2)
    return pc.if_else(pa.array(rows >= 0), cards, pa.scalar(None, pa.string()))


def _cards(laid: Laid, row: Column, count: int) -> pa.Array:
    """So many cards as text; nothing where one is not known."""
    columns = []
    for number in range(1, count + 1):
        which = laid.cells.codes(f"card{number}", _CARDS, row)
        columns.append(chosen(DECK, which))
    return pc.binary_join_element_wise(*columns, " ")


def _textures(laid: Laid, row: Column) -> Column:
    """What flops look like (`bids_rows.texture_of`); less than nothing where one is not known."""
    one, two, three = (laid.cells.codes(f"card{n}", _CARDS, row) for n in (1, 2, 3))
    suits, ranks = [it % 4 for it in (one, two, three)], [it // 4 for it in (one, two, three)]
    alike = [
        sum((of[a] == of[b]).astype(int) for a, b in ((0, 1), (0, 2), (1, 2)))
        for of in (suits, ranks)
    ]
    found = np.where(alike[0] > 0, 1, 0)
    found = np.where(alike[1] > 0, 2, found)
    found = np.where(alike[0] == 3, 3, found)
    return np.where((one < 0) | (two < 0) | (three < 0), -1, found)
