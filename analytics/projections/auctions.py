"""The table `auctions`: one row a bidder and auction, with his bid, the pot and the outcome.

It is made of event rows and nothing else: from events as a viewer sees them come rows of what he
knows. What was not seen, or never recorded, is null. The cards of a bidder are in two columns, as
they were dealt and as they were shown, for they are not known to the same people. `plain` says that
each bid was revealed by its settlement as it had been placed.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.decision_table import ORIGINS
from analytics.replay.columns import words_at
from events.cards import DECK, RANKS
from events.ledger import Column
from store.columns.codec import HEAD, RULESET
from store.columns.layout import columns
from store.columns.numpy_columns import CardRows
from store.tables.hand_columns import KIND, HandColumns, run_starts
from store.tables.projection import EventRows, Projection, typed_table

SCHEMA = pa.schema(
    {
        **{name: kind for name, kind in HEAD.items() if name != "hand"},
        **RULESET,
        "auction": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "rival": pa.string(),
        "role": pa.string(),
        "stack": pa.int64(),
        "pot": pa.int64(),
        "board": pa.string(),
        "texture": pa.string(),
        "bid": pa.int64(),
        "rival_bid": pa.int64(),
        "price": pa.int64(),
        "outcome": pa.string(),
        "origin": pa.string(),
        "rival_origin": pa.string(),
        "sealed": pa.bool_(),
        "showdown": pa.bool_(),
        "folded": pa.bool_(),
        "rival_folded": pa.bool_(),
        "flop_bet": pa.bool_(),
        "won_money": pa.bool_(),
        "net": pa.int64(),
        "rival_stack": pa.int64(),
        "dealt": pa.string(),
        "shown": pa.string(),
        "plain": pa.bool_(),
    }
)
OUTCOMES = ("lost", "won", "tied")
ROLES = ("dealer", "big blind", "other")
TEXTURES = ("dry", "two-tone", "paired", "monotone")
_PLACES = {card: place for place, card in enumerate(DECK)}


def _build_auctions(events: EventRows) -> pa.Table:
    """Build the table: first auctions of all hands, then second ones, and so on; then sort it."""
    hands = events.once(HandColumns)
    settled = hands.of("AuctionSettled")
    settled = settled[hands.counted.take(hands.hand_of.take(settled))]
    nth = np.arange(len(settled)) - run_starts(hands.hand_of.take(settled))
    parts = [SCHEMA.empty_table()]
    since = hands.heads
    for number in range(int(nth.max(initial=-1)) + 1):
        row = settled[nth == number]
        until = np.full(hands.count, -1)
        until[hands.hand_of.take(row)] = row
        parts.append(_bid_rows(hands, number, SettledBids.between(hands, since, until)))
        since = np.where(until < 0, since, until)
    every = pa.concat_tables(parts)
    keys = [(name, "ascending") for name in ("hand_seq", "auction", "seat")]
    return every.take(pc.sort_indices(every, keys)).combine_chunks()


# 2: a bet on the turn is none on the flop
AUCTIONS = Projection("auctions", 2, _build_auctions, tuple(columns()))


class SettledBids(NamedTuple):
    """The bids that one auction of each hand settled, by place; a bidder's last, if he has several.

    `amount` is less than nothing where it is hidden, `rival` the only other bid, or less than
    nothing; `until` is the row of the settlement of each hand.
    """

    row: Column
    place: Column
    hand: Column
    amount: Column
    first: Column
    rival: Column
    until: Column

    @classmethod
    def between(cls, hands: HandColumns, since: Column, until: Column) -> "SettledBids":
        """The bids between two event rows of each hand."""
        row = hands.of("BidPlaced")
        hand = hands.hand_of.take(row)
        place = hands.place(hand, hands.seat(row))
        kept = (row > since.take(hand)) & (row < until.take(hand)) & (place < hands.places)
        row, place = row[kept], place[kept]
        places, at = np.unique(place, return_inverse=True)
        first, last = np.zeros((2, len(places)), dtype=np.int64)
        last[at] = row
        first[at[::-1]] = row[::-1]
        hand = hands.place_hand[places]
        size: Column = np.bincount(hand, minlength=hands.count)[hand]
        begin = run_starts(hand)
        rival = np.where(size == 2, 2 * begin + 1 - np.arange(len(hand)), -1)
        amount = pc.fill_null(hands.column("amount", last).cast(pa.int64()), -1).to_numpy()
        return cls(last, places, hand, amount, first, rival, until)

    def highest_rival_bids(self) -> pa.Array:
        """The highest bid of each bidder's rivals; null where there is none, or all are hidden."""
        order = np.lexsort((self.amount, self.hand))
        size = np.bincount(self.hand)[self.hand] if len(order) else order
        last = run_starts(self.hand) + size - 1
        most, second = order[last], order[np.maximum(last - 1, 0)]
        best = self.amount[np.where(most == np.arange(len(order)), second, most)]
        return pa.array(best, mask=(size == 1) | (best < 0))


def _bid_rows(hands: HandColumns, number: int, bids: SettledBids) -> pa.Table:
    """The rows of `auctions` for these bids."""
    hand, place, rival = bids.hand, bids.place, bids.rival
    head, settled = hands.heads.take(hand), bids.until.take(hand)
    seat, seats = hands.place_seat[place], hands.seats[hand]
    was, now = (
        [hands.summed(it, until)[place] for it in (hands.shares, hands.moves)]
        for until in (bids.until, None)
    )
    stack = hands.stacks[place] + was[0] - was[1]
    folded = hands.marked("Folded")
    left = np.bincount(hands.place_hand, ~folded, hands.count)[hand]
    other = np.where(seats == 2, 2 * hands.base[hand] + 1 - place, place)
    board = hands.board(bids.until)
    deck = _deck_places(board)[hand]
    player = hands.players(hand, seat)
    origin = hands.column("origin", bids.row, "chosen").cast(pa.string())
    origin = pc.if_else(pc.is_in(origin, pa.array(ORIGINS)), origin, pa.scalar(None, pa.string()))
    origin = pc.if_else(pa.array(stack == 0), "forced", origin)
    role = np.where(seat == hands.cells.numbers("button", head), 0, np.where(seats == 2, 1, 2))
    winners = hands.cells.ragged("seats", settled)
    of, _, winner = winners.flat()
    won = np.zeros(len(seat), dtype=bool)
    won[of[winner == seat.take(of)]] = True
    dealt, shown = _hole_cards(hands, bids)
    found: dict[str, Any] = {
        **{name: hands.column(name, head) for name in SCHEMA.names[:5]},
        "auction": np.full(len(hand), number),
        "seat": seat,
        "player": player,
        "rival": _take_or_null(player, rival),
        "role": words_at(ROLES, role),
        "stack": stack,
        "pot": hands.middle(hand, settled),
        "board": _text_if_known(board.text().take(pa.array(hand)), deck),
        "texture": words_at(TEXTURES, _textures(deck)),
        "bid": pa.array(bids.amount, mask=bids.amount < 0),
        "rival_bid": bids.highest_rival_bids(),
        "price": hands.cells.numbers("price", settled),
        "outcome": words_at(OUTCOMES, np.where(won, np.where(winners.count > 1, 2, 1), 0)),
        "origin": origin,
        "rival_origin": _take_or_null(origin, rival),
        "sealed": hands.column("sealed", settled),
        "showdown": (left > 1) & ~folded[place],
        "folded": folded[place],
        "rival_folded": pa.array(folded[other], mask=seats != 2),
        "flop_bet": _flop_bets(hands, bids, settled),
        "won_money": now[0] > was[0],
        "net": now[0] - now[1],
        "rival_stack": _take_or_null(pa.array(stack), rival),
        "dealt": dealt,
        "shown": shown,
        "plain": _plain(hands, bids, settled),
    }
    return typed_table(SCHEMA, **found)


def _take_or_null(values: pa.Array, which: Column) -> pa.Array:
    """The values at these row numbers; null for a negative one."""
    return values.take(pa.array(which, mask=which < 0))


def _hole_cards(hands: HandColumns, bids: SettledBids) -> tuple[pa.Array, pa.Array]:
    """The cards of each bidder, as dealt before and as shown first: a third card comes last."""
    held = hands.hole(bids.until)
    dealt = held.codes[bids.place]
    row = hands.of("Shown")[::-1]
    first = np.full(hands.places + 1, -1)
    first[hands.place(hands.hand_of.take(row), hands.seat(row))] = row
    place = np.flatnonzero(first[: hands.places] >= 0)
    of, nth, word, words = hands.cards(first[place])
    shown = np.full((hands.places, int(nth.max(initial=-1)) + 1), -1)
    early = nth < (held.codes >= 0).sum(1)[place[of]]
    shown[place[of][early], nth[early]] = word[early]
    cards = CardRows(dealt, held.words), CardRows(shown[bids.place], [*words])
    return _text_if_known(cards[0].text(), _deck_places(cards[0])), _text_if_known(
        cards[1].text(), _deck_places(cards[1])
    )


def _deck_places(cards: CardRows) -> Column:
    """The place of each card in the deck: -1 is none, -2 one that is not known."""
    return np.array([*(_PLACES.get(word, -2) for word in cards.words), -1]).take(cards.codes)


def _text_if_known(text: pa.Array, deck: Column) -> pa.Array:
    """The text of cards that are all known; else null."""
    there = (deck != -2).all(1) & (deck >= 0).any(1)
    return pc.if_else(pa.array(there), text, pa.scalar(None, pa.string()))


def _textures(deck: Column) -> Column:
    """The texture of each board as a place in `TEXTURES`; negative where a card is not known."""
    size = (deck >= 0).sum(1)
    suits, ranks = (
        _BIT_COUNTS.take(np.bitwise_or.reduce(np.where(deck >= 0, 1 << part, 0), axis=1))
        for part in (deck % 4, deck // 4)
    )
    textures = np.where(suits < size, 1, 0)
    textures = np.where(ranks < size, 2, textures)
    textures = np.where(suits == 1, 3, textures)
    return np.where((deck == -2).any(1) | (size == 0), -1, textures)


_BIT_COUNTS = np.array([number.bit_count() for number in range(1 << len(RANKS))])


def _plain(hands: HandColumns, bids: SettledBids, settled: Column) -> Column:
    """Whether the settlement revealed the amounts that were placed, in their order, as secretly."""
    order = np.lexsort((bids.first, bids.hand))
    place = np.arange(len(order)) - run_starts(bids.hand)
    revealed = hands.cells.ragged("bids", settled)
    size = np.bincount(bids.hand)[bids.hand] if len(order) else order
    alike = (revealed.count == size) & (place < revealed.count)
    values = np.append(revealed.values, 0)
    alike &= values.take(np.where(alike, revealed.at + place, 0)) == bids.amount[order]
    secret = [hands.cells.truths("sealed", row) for row in (bids.row, settled)]
    wrong = np.zeros(hands.count, dtype=bool)
    wrong[bids.hand[~alike | (secret[0] != secret[1])]] = True
    return ~wrong[bids.hand]


def _flop_bets(hands: HandColumns, bids: SettledBids, settled: Column) -> pa.Array:
    """Whether the first choice after the auction was a bet; null for who could not open the flop.

    A seat's own check or bet decides it; so does any bet, raise or fold, and then he could not. In
    the oldest engine of 2024 nobody could: its auctions were followed by the turn.
    """
    never, ends = hands.cells.size, hands.ends.take(bids.hand)
    after = partial(hands.after, row=settled, ends=ends)
    opened = hands.of("BettingOpened")
    flop = hands.cells.word_codes("street", {"flop": 1}, opened, 0) == 1
    stops = after(opened, count=1), after(opened[~flop]), after(hands.of("Raised", "Folded"))
    row = hands.of("Bet", "Checked")
    row = row[row > bids.until.take(hands.hand_of.take(row))]
    first = np.full(hands.places + 1, never)
    np.minimum.at(first, hands.place(hands.hand_of.take(row), hands.seat(row)), row)
    lead = first[bids.place]
    can = (lead < np.minimum.reduce(stops)) & (lead <= after(hands.of("Bet")))
    lead = np.where(can, lead, 0)
    can &= hands.cells.word_codes("origin", {"chosen": 1}, lead, 0) == 1
    return pa.array(hands.kind.take(lead) == KIND["Bet"], mask=~can)
