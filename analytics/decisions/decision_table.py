"""Make the table `decisions` out of events: many hands at once, column by column.

`docs/decisions.md` says each column and the words that stand in it. Columns that others imply are
computed by `SHOWN_SQL` when a question is put.
Actions are found in lock-step; bids, tosses, straddles, shows and mucks by their rows.
Rows of hands that do not add up, and of voided ones, are left out.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analytics.decisions.replayed_hands import ReplayedHands, hand_categories, hole_tenths
from analytics.replay.betting_rounds import replays
from analytics.replay.columns import BLINDS, FOLDED, games_of, hand_keys, words_at
from analytics.replay.flags import STREETS
from analytics.replay.rules import Rulebook, RulesetText, raise_bounds
from odds.rank import CATEGORIES
from store.columns import layout
from store.columns.numpy_columns import Column
from store.tables.projection import EventRows, Projection

ACTIONS = ("fold", "check", "call", "bet", "raise", "bid", "straddle", "show", "muck", "toss")
FOLD, CHECK, CALL, BET, RAISE, BID, STRADDLE, SHOW, MUCK, TOSS = range(len(ACTIONS))
FACED = ("nothing", "blind", "bet", "raise", "straddle", "auction", "showdown", "toss")
ORIGINS = ("chosen", "forced", "default", "recorded")
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "ruleset": pa.string(),
        "idx": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.string(),
        "street": pa.string(),
        "place": pa.int32(),
        "rivals": pa.int32(),
        "faced": pa.string(),
        "faced_size": pa.int64(),
        "called": pa.int64(),  # what others have put in since the last bet or raise
        "to_call": pa.int64(),
        "pot": pa.int64(),
        "stack": pa.int64(),
        "effective": pa.int64(),
        "raises": pa.int32(),
        "raiser": pa.int32(),
        "may_raise": pa.bool_(),
        "raise_min": pa.int64(),
        "raise_max": pa.int64(),
        "action": pa.string(),
        "amount": pa.int64(),
        "raised_to": pa.int64(),
        "origin": pa.string(),
        "sealed": pa.bool_(),
        "think_ms": pa.int64(),
        "hole": pa.string(),
        "board": pa.string(),
        "shown": pa.bool_(),
        "tenth": pa.int32(),
        "made": pa.string(),
    }
)
_SIZED_SQL = "action IN ('bet', 'raise') AND amount >= to_call"
_DERIVED_SQL = {
    "called": "faced_size / nullif(pot - called - faced_size, 0) AS faced_share",
    "raised_to": f"""
        raised_to,
        CASE WHEN {_SIZED_SQL} THEN amount - to_call END AS size,
        CASE WHEN {_SIZED_SQL} THEN (amount - to_call) / nullif(pot + to_call, 0) END AS share,
        CASE WHEN action NOT IN ('bid', 'show', 'muck', 'toss') THEN
            amount > 0 AND amount = stack
        END AS all_in""",
}
SHOWN_SQL = ", ".join(_DERIVED_SQL.get(name, name) for name in SCHEMA.names[1:])


class BettingSituations(NamedTuple):
    """What every action faced: the bet to match, what its seat had and had in, the most that it
    could still lose, whether it could raise and whether that is known, and to which totals
    (`ranged`, where the rules say so).
    """

    bet: Column
    stack: Column
    mine: Column
    effective: Column
    raising: Column
    offer_known: Column
    ranged: Column
    low: Column
    high: Column


def betting_situations(hands: ReplayedHands, rules: Rulebook) -> BettingSituations:
    """Replay the hands by their rulesets, as far as these are known."""
    size = len(hands.columns.acts.row)
    bet, stack, mine, effective, low, high = np.zeros((6, size), dtype=np.int64)
    raising, offer_known, ranged = np.zeros((3, size), dtype=bool)
    for replay in replays(hands.columns, *games_of(hands.columns, rules.of)):
        rounds, policies = replay.rounds, replay.policies
        for it in replay.slices():
            act = it.act
            bet[act], stack[act], mine[act] = rounds.bet[: it.live], it.chips, it.mine
            others = rounds.deepest(it, able=True) - it.mine
            effective[act] = np.maximum(np.minimum(others, it.chips), 0)
            raising[act] = it.offered
            offer_known[act] = it.offered | (policies is not None)  # who raises was offered it
            if policies is not None and it.raise_forbidden is not None:
                ranged[act] = it.asked & ~it.raise_forbidden
                low[act], high[act], _ = raise_bounds(policies, rounds.raise_state(it, policies))
    return BettingSituations(bet, stack, mine, effective, raising, offer_known, ranged, low, high)


NONE = -1  # what a number is where there is none: chips, seats and words are never less than 0
_ORIGINS = {word: code for code, word in enumerate(ORIGINS)}
_NOTHING, _BLIND, _BET, _RAISE, _STRADDLE, _AUCTION, _SHOWDOWN, _TOSS = range(len(FACED))
_FACED_BY_ACTION = {
    BID: _AUCTION,
    STRADDLE: _STRADDLE,
    SHOW: _SHOWDOWN,
    MUCK: _SHOWDOWN,
    TOSS: _TOSS,
}


class _Decisions(NamedTuple):
    """Decisions as columns; what a kind of decision does not have is `NONE`."""

    row: Column
    hand: Column
    seat: Column
    place: Column
    action: Column
    faced: Column
    stack: Column
    to_call: Column
    effective: Column
    may_raise: Column
    raise_min: Column
    raise_max: Column
    amount: Column
    raised_to: Column
    size: Column
    origin: Column
    sealed: Column


def decisions(kept: RulesetText) -> Projection:
    """The projection `decisions`; `kept` reads the texts of rulesets that a ledger keeps. 2: what
    other columns of a row imply is computed, not kept; 3: tosses have rows."""
    columns = tuple(layout.columns())
    return Projection("decisions", 3, partial(_of_rows, kept), columns, shown=SHOWN_SQL)


def _of_rows(kept: RulesetText, events: EventRows) -> pa.Table:
    return decision_rows(Rulebook(kept), events.once(ReplayedHands))


def decision_rows(rules: Rulebook, hands: ReplayedHands) -> pa.Table:
    """The decisions of hands, in the order of hands and of their records."""
    if not hands.columns.count:
        return SCHEMA.empty_table()
    kinds = _actions(hands, rules), *(of(hands) for of in (_bids, _straddles, _tosses, _shows))
    every = _Decisions(*(np.concatenate(column) for column in zip(*kinds, strict=True)))
    columns = hands.columns
    rows = np.flatnonzero(hands.counted.take(every.hand))
    rows = rows[np.argsort(every.row[rows], kind="stable")]
    it = _Decisions(*(column.take(rows) for column in every))
    on = _StreetProgress.of(hands, it)
    stack, pot = it.stack, hands.chips.pot(columns.heads.take(it.hand), it.row)
    which, words = columns.cells.words("ruleset", columns.heads)
    ruleset, compared = which.take(it.hand), [*map(rules.showdown, words.to_pylist()), None]
    held = hands.hole_cards
    change, dealt = held.last_change(it.place, it.row), held.board(it.row)
    tenth = hole_tenths(_value_or(held.cards.classes(), change, NONE), ruleset, compared)
    hole = _value_or(held.cards.masks(), change, 0)
    board = _value_or(held.boards.masks(), dealt, 0)
    best = hand_categories(hole, board, ruleset, compared)
    timed = (it.action <= RAISE) | (it.action == STRADDLE) | (it.action == TOSS)
    forced = (it.action == BID) & (stack == 0)  # nothing but 0 could be bid
    size, matched = on.last(it.size), pot + np.maximum(it.to_call, 0) + it.size
    called = pot - matched.take(on.raiser, mode="clip") if len(pot) else pot
    found = {
        **hand_keys(columns, it.hand),
        "ruleset": words_at(words, ruleset),
        "idx": pa.array((it.row - columns.heads.take(it.hand)).astype(np.int32)),
        "seat": pa.array(it.seat.astype(np.int32)),
        "player": hands.players.take(pa.array(it.place)),
        "position": hands.positions(it.place),
        "street": words_at(STREETS, on.street),
        "place": pa.array(on.place.astype(np.int32)),
        "rivals": pa.array(hands.rivals(it.hand, it.seat, it.row)),
        "faced": words_at(FACED, on.faced(it)),
        "faced_size": size,
        "called": pa.array(called, mask=size.is_null().to_numpy(zero_copy_only=False)),
        "to_call": _non_negative(it.to_call),
        "pot": pa.array(pot),
        "stack": pa.array(stack),
        "effective": _non_negative(it.effective),
        "raises": pa.array(on.raises.astype(np.int32)),
        "raiser": on.last(it.seat.astype(np.int32)),
        "may_raise": pa.array(it.may_raise == 1, mask=it.may_raise == NONE),
        "raise_min": _non_negative(it.raise_min),
        "raise_max": _non_negative(it.raise_max),
        "action": words_at(ACTIONS, it.action),
        "amount": _non_negative(it.amount),
        "raised_to": _non_negative(it.raised_to),
        "origin": words_at(ORIGINS, np.where(forced, _ORIGINS["forced"], it.origin)),
        "sealed": pa.array(it.sealed == 1, mask=it.sealed == NONE),
        "think_ms": hands.think_ms(it.hand, it.row, timed),
        "hole": words_at(held.cards.text(), change),
        "board": words_at(held.boards.text(), dealt),
        "shown": pa.array(_value_or(held.shown, change, False)),
        "tenth": pa.array(tenth, mask=(tenth == 0) | (on.street > 0)),
        "made": words_at(CATEGORIES, best),
    }
    return pa.table([found[one.name] for one in SCHEMA], schema=SCHEMA)


class _StreetProgress(NamedTuple):
    """The street of each decision, and what came before on it. A street begins with new cards."""

    street: Column
    place: Column
    raises: Column
    raiser: Column  # the last to raise, by decision; one before the street, if there was none
    begins: Column  # the first decision of the street

    @classmethod
    def of(cls, hands: ReplayedHands, it: _Decisions) -> "_StreetProgress":
        """Count over decisions in the order of the record."""
        columns, each = hands.columns, np.arange(len(it.row))
        boards: Column = columns.deals_upto.take(it.row)
        first: Column = np.ones(len(each), dtype=bool)
        first[1:] = (it.hand[1:] != it.hand[:-1]) | (boards[1:] != boards[:-1])
        begins: Column = np.maximum.accumulate(np.where(first, each, 0))
        raising = (it.action == BET) | (it.action == RAISE)
        upto = np.append(0, np.cumsum(raising))
        last: Column = np.append(NONE, np.maximum.accumulate(np.where(raising, each, NONE)))[:-1]
        lies = np.minimum(columns.board_size(it.row, it.hand), 5)
        street: Column = np.array([0, 0, 0, 1, 2, 3]).take(lies)
        return cls(street, each - begins + 1, upto[:-1] - upto.take(begins), last, begins)

    def last(self, values: Column) -> pa.Array:
        """A column's value at the last bet or raise of the street."""
        there = self.raiser >= self.begins
        found = values.take(self.raiser, mode="clip") if len(values) else values
        return pa.array(found, mask=~there | (found < 0))

    def faced(self, it: _Decisions) -> Column:
        """What each decision faced: the last bet or raise, in place of blinds or of nothing."""
        last = it.action.take(self.raiser, mode="clip") if len(it.action) else it.action
        raised = (self.raises > 0) & ((it.faced == _NOTHING) | (it.faced == _BLIND))
        return np.where(raised, np.where(last == BET, _BET, _RAISE), it.faced)


def _actions(hands: ReplayedHands, rules: Rulebook) -> _Decisions:
    """Folds, checks, calls, bets and raises; a fold outside every round is one of a straddle that
    was asked for (U4), of a seat that tossed no card (H2), or of nothing."""
    columns, acts = hands.columns, hands.columns.acts
    it = betting_situations(hands, rules)
    stack = it.stack
    to_call = np.clip(it.bet - it.mine, 0, np.maximum(stack, 0))
    raising = acts.kind >= BET
    outside = np.where(columns.awaits("straddle", acts.row), _STRADDLE, NONE)
    outside = np.where(columns.awaits("toss", acts.row), _TOSS, outside)
    outside = np.where(acts.kind == FOLDED, outside, NONE)
    ranged = it.ranged & acts.asked
    return _Decisions(
        acts.row,
        acts.hand,
        acts.seat,
        acts.place,
        acts.kind,
        np.where(acts.asked, np.where(it.bet > 0, _BLIND, _NOTHING), outside),
        stack,
        np.where(acts.asked, to_call, NONE),
        it.effective,
        np.where(acts.asked & it.offer_known, it.raising, NONE),
        np.where(ranged, it.low, NONE),
        np.where(ranged, it.high, NONE),
        acts.amount,
        np.where(raising, acts.to, NONE),
        np.where(raising & acts.asked, acts.amount - to_call, NONE),
        columns.cells.word_codes("origin", _ORIGINS, acts.row),
        np.full(len(acts.row), NONE),
    )


def _bids(hands: ReplayedHands) -> _Decisions:
    """Bids; one that is hidden has no amount and no origin. Nobody's bid is no choice."""
    columns = hands.columns
    every = hands.columns.locate("BidPlaced")
    row, hand, seat, place = (column[every[3] < columns.places] for column in every)
    there = hands.has_value("amount", row)
    return _outside_betting(
        hands,
        (row, hand, seat, place),
        BID,
        effective=hands.effective(hand, seat, row),
        amount=np.where(there, columns.cells.numbers("amount", row), NONE),
        origin=columns.cells.word_codes("origin", _ORIGINS, row),
        sealed=columns.cells.truths("sealed", row).astype(np.int64),
    )


def _straddles(hands: ReplayedHands) -> _Decisions:
    """Straddles that a seat might have refused (U4)."""
    columns = hands.columns
    row, hand, seat, place, blind = columns.blinds
    origin = columns.cells.word_codes("origin", _ORIGINS, row)
    some = np.flatnonzero((blind == BLINDS["straddle"]) & (origin != _ORIGINS["forced"]))
    row, hand, seat, place = (column[some] for column in (row, hand, seat, place))
    return _outside_betting(
        hands,
        (row, hand, seat, place),
        STRADDLE,
        effective=hands.effective(hand, seat, row),
        amount=columns.cells.numbers("amount", row),
        raised_to=columns.cells.numbers("to", row),
        origin=origin[some],
    )


def _tosses(hands: ReplayedHands) -> _Decisions:
    """Cards that seats laid on the board (H1)."""
    columns = hands.columns
    row, hand, seat, place = columns.locate("Tossed")
    return _outside_betting(
        hands,
        (row, hand, seat, place),
        TOSS,
        effective=hands.effective(hand, seat, row),
        origin=columns.cells.word_codes("origin", _ORIGINS, row),
    )


def _shows(hands: ReplayedHands) -> _Decisions:
    """Hands that were turned up or thrown away; whether a seat had to is not recorded."""
    both = ((hands.columns.shows, SHOW), (hands.columns.locate("Mucked"), MUCK))
    parts = [_outside_betting(hands, where, action) for where, action in both]
    return _Decisions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _outside_betting(
    hands: ReplayedHands, where: tuple[Column, Column, Column, Column], action: int, **known: Column
) -> _Decisions:
    """Decisions outside rounds of betting; columns that are not given are `NONE`."""
    none = np.full(len(where[0]), NONE, dtype=np.int64)
    row, _, _, place = where
    known |= {"action": none * 0 + action, "faced": none * 0 + _FACED_BY_ACTION[action]}
    known["stack"] = hands.stack(place, row)
    return _Decisions(*where, *(known.get(name, none) for name in _Decisions._fields[4:]))


def _value_or(values: Column, which: Column, none: int) -> Column:
    """The values with these numbers; `none` for a negative number."""
    return np.append(values, values.dtype.type(none)).take(which)


def _non_negative(values: Column) -> pa.Array:
    """Numbers; null for a negative one."""
    return pa.array(values, mask=values < 0)
