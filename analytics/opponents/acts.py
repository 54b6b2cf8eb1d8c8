"""`acts`: one row for each thing that a player did, what he faced, and what he held.

Made from a table of events and nothing else: whoever is given the events as he sees them gets
rows of what he knows. Chips are whole chips, whatever unit a ruleset counts in. Bids are acts of a
street of their own; blinds and antes, which nobody chooses, are none. Many hands are told at once,
column by column: a report looks at every act of thousands of hands.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.opponents.hands import Hands
from analytics.opponents.offers import offers
from analytics.opponents.strength import tenth
from analytics.replay.flags import ORIGINS_LEFT_OUT, STREETS
from analytics.replay.layout import BET, CHECKED, Acts
from analytics.replay.words import word
from analytics.stored.row_head import HEAD, RULESET
from analytics.stored.rulebook import Rulebook
from store.columns.cells import Column

SCHEMA = pa.schema(
    {
        **HEAD,
        **RULESET,
        "place": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.string(),
        "street": pa.string(),
        "kind": pa.string(),
        "meant": pa.bool_(),
        "owed": pa.bool_(),
        "offered": pa.bool_(),
        "after_check": pa.bool_(),
        "chips": pa.float64(),
        "stack": pa.float64(),
        "pot": pa.float64(),
        "made_pct": pa.float64(),
        "faced_pct": pa.float64(),
        "tenth": pa.int32(),
        "hole": pa.string(),
        "board": pa.string(),
        "rival_cards": pa.int32(),
        "equity": pa.float64(),
        "showdown": pa.bool_(),
        "think_ms": pa.int64(),
    }
)
KINDS = ("fold", "check", "call", "bet", "raise", "bid")
BID = KINDS.index("bid")
AUCTION = len(STREETS)
MISSING = np.nan


class Done(NamedTuple):
    """What only actions, or only bids, have; a column each, missing numbers are nan."""

    row: Column
    hand: Column
    seat: Column
    place: Column
    kind: Column
    street: Column
    meant: Column
    owed: Column
    offered: Column
    told: Column
    after_check: Column
    chips: Column
    made: Column
    faced: Column


def acts_of(hands: Hands, rules: Rulebook, me: str | None = None) -> pa.Table:
    """The rows of these hands in order; with `me` only his checks count as ours (`after_check`).

    Not meant: what was forced or a default, and a fold instead of a straddle, outside every round.
    """
    both = _actions(hands, me), _bids(hands)
    every = Done(*(np.concatenate(column) for column in zip(*both, strict=True)))
    mine = np.flatnonzero(hands.laid.told.take(every.hand))
    order = mine[np.argsort(every.row[mine], kind="stable")]
    it = Done(*(column[order] for column in every))
    unit = hands.unit.take(it.hand)
    hole = hands.held.hole(it.place, it.row)
    return pa.table(
        {
            **hands.head(it.hand),
            "ruleset": word(hands.laid, "ruleset", it.hand),
            "place": pa.array((it.row - hands.laid.heads.take(it.hand)).astype(np.int32)),
            "seat": pa.array(it.seat.astype(np.int32)),
            "player": hands.players.take(pa.array(it.place)),
            "position": hands.positions(it.place),
            "street": _words((*STREETS, "auction"), it.street),
            "kind": _words(KINDS, it.kind),
            "meant": pa.array(it.meant & ((it.kind != BID) | (hands.stack(it.place, it.row) > 0))),
            "owed": pa.array(it.owed),
            "offered": pa.array(it.offered, mask=~it.told),
            "after_check": pa.array(it.after_check, mask=it.kind == BID),
            "chips": _numbers(it.chips / unit),
            "stack": pa.array(hands.stack(it.place, it.row) / unit),
            "pot": pa.array(hands.pot(it.hand, it.row) / unit),
            "made_pct": _numbers(it.made),
            "faced_pct": _numbers(it.faced),
            "tenth": _tenths(hole, word(hands.laid, "ruleset", it.hand), it.street == 0, rules),
            "hole": hole,
            "board": hands.held.board(it.row),
            "rival_cards": _rival_cards(hands, it),
            "equity": pa.nulls(len(order), pa.float64()),
            "showdown": pa.array(hands.seen.showdown.take(it.place)),
            "think_ms": pc.if_else(pa.array(it.kind == BID), None, hands.thought(it.hand, it.row)),
        },
        schema=SCHEMA,
    )


def _actions(hands: Hands, me: str | None) -> Done:
    """Folds, checks, calls, bets and raises."""
    laid, acts = hands.laid, hands.laid.acts
    faced = offers(laid, hands.games, hands.ruleset, hands.at)
    raising = (acts.kind >= BET) & acts.asked
    top = acts.amount - faced.call
    pot = hands.pot(acts.hand, acts.row) + faced.call
    made = np.where(raising & (pot != 0), 100 * top / np.where(pot, pot, 1), MISSING)
    owed = (faced.call > 0) | ~acts.asked
    offered = faced.raising & acts.asked
    begins = _streets(acts)
    return Done(
        acts.row,
        acts.hand,
        acts.seat,
        acts.place,
        acts.kind,
        acts.street,
        acts.counts & acts.asked,
        owed,
        offered,
        faced.told | ~acts.asked,
        _after_check(hands, begins, me) & ~owed & offered & faced.told & (acts.street > 0),
        np.where(raising, top, MISSING),
        made,
        np.where(owed, _faced(made, begins), MISSING),
    )


def _bids(hands: Hands) -> Done:
    """Bids; hidden origins are taken for choices, and `acts_of` leaves out what could only be 0."""
    cells = hands.laid.cells
    row, hand, seat, place = hands.laid.at("BidPlaced")
    size = len(row)
    no, missing = np.zeros(size, dtype=bool), np.full(size, MISSING)
    there = hands.filled("amount", row)  # a bid that is hidden for good has no size
    meant = cells.codes("origin", ORIGINS_LEFT_OUT, row, 1) > 0
    chips = np.where(there, cells.numbers("amount", row), MISSING)
    kind, street = np.full(size, BID), np.full(size, AUCTION)
    return Done(
        row, hand, seat, place, kind, street, meant, no, no, no, no, chips, missing, missing
    )


def _streets(acts: Acts) -> Column:
    """Where the actions of the street began that each is of: with other cards on the board."""
    other = (acts.hand[1:] != acts.hand[:-1]) | (acts.boards[1:] != acts.boards[:-1])
    begins = np.where(np.append(True, other)[: len(acts.row)], np.arange(len(acts.row)), 0)
    return np.maximum.accumulate(begins) if len(begins) else begins


def _after_check(hands: Hands, begins: Column, me: str | None) -> Column:
    """His first action of a street on which we have checked."""
    acts = hands.laid.acts
    checks = acts.kind == CHECKED
    if me is not None:
        ours = pc.equal(hands.players, me).to_numpy(zero_copy_only=False)
        checks &= np.append(ours, False).take(acts.place)
    upto = np.append(0, np.cumsum(checks))
    checked = upto[:-1] > upto.take(begins)
    first = np.zeros(len(acts.row), dtype=bool)
    first[np.unique(begins * (hands.laid.places + 1) + acts.place, return_index=True)[1]] = True
    return first & checked


def _faced(made: Column, begins: Column) -> Column:
    """The last bet or raise of the street before each action, beside the pot with it in."""
    at = np.where(np.isnan(made), -1, np.arange(len(made)))
    last = np.append(-1, np.maximum.accumulate(at) if len(at) else at)[: len(made)]
    bet = np.where(last >= begins, made.take(np.maximum(last, 0)) if len(made) else made, MISSING)
    return 100 * bet / (100 + bet)


def _rival_cards(hands: Hands, it: Done) -> pa.Array:
    """How many cards the last rival has; nothing while there are several."""
    laid = hands.laid
    seats, base = laid.seats.take(it.hand), laid.base.take(it.hand)
    count, rival = np.zeros(len(it.row), dtype=np.int64), np.zeros(len(it.row), dtype=np.int64)
    for seat in range(int(seats.max(initial=0))):
        place = np.minimum(base + seat, laid.places)
        there = (seat < seats) & (seat != it.seat) & (hands.seen.fold.take(place) > it.row)
        count += there
        rival = np.where(there, place, rival)
    cards = hands.held.size(rival, it.row).astype(np.int32)
    return pa.array(cards, mask=count != 1)


def _tenths(hole: pa.Array, ruleset: pa.Array, wanted: Column, rules: Rulebook) -> pa.Array:
    """Before the flop: the strength of two cards, by the rules of the hand."""
    cards, by = hole.dictionary_encode(), ruleset.dictionary_encode()
    known = np.zeros((len(by.dictionary) + 1, len(cards.dictionary) + 1), dtype=np.int32)
    for at, mark in enumerate(by.dictionary.to_pylist()):
        how = rules.showdown(mark)
        for to, text in enumerate(cards.dictionary.to_pylist()):
            known[at, to] = 0 if how is None else tenth(tuple(text.split()), how) or 0
    which = cards.indices.fill_null(len(cards.dictionary)).to_numpy()
    found = known[by.indices.fill_null(len(by.dictionary)).to_numpy(), which]
    return pa.array(found, mask=(found == 0) | ~wanted)


def _words(words: tuple[str, ...], which: Column) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(which))


def _numbers(values: Column) -> pa.Array:
    """Numbers, and nothing where one is missing."""
    return pa.array(values, mask=np.isnan(values))
