"""The table `facts`: one row a player and hand, with a flag for each tendency, counts of
actions and chips; and the list of all projections that need rulesets.

A flag is null where there was no opportunity, else true or false; percentages are never stored.
An opportunity is what the hand's own ruleset offered, so the store cannot make these facts alone:
it is handed this projection. Where nobody has that ruleset, only who raised is known
to have been offered it; flags that need the menu are else null. Counts of actions leave forced and
default ones out. Voided hands have no rows.

Hands are followed in lock-step. Rulesets are asked for what is on a menu and nothing else, so hands
whose menus follow the same policies are followed together, whatever their games are called.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256

import numpy as np
import pyarrow as pa

from analytics.decisions.decision_table import decisions
from analytics.decisions.replayed_hands import ReplayedHands
from analytics.projections.auctions import AUCTIONS
from analytics.projections.flag_encoding import (
    BOOLEANS,
    KIND_OF_ACTION,
    WORD_COUNT,
    encode_patterns,
    flag_bitmaps,
    postflop_flags,
    preflop_flags,
    straddle_words,
)
from analytics.projections.played import played_rows, risk_rows
from analytics.replay.betting_rounds import (
    ActionSlice,
    HandBatch,
    Replay,
    chip_results,
    replays,
)
from analytics.replay.columns import (
    ACTIONS,
    CALLED,
    CHECKED,
    ReplayColumns,
    SeatPositions,
    games_of,
    hand_keys,
    words_at,
)
from analytics.replay.flags import (
    ACTION_COUNTS,
    DONK,
    EVENT_COLUMNS,
    FLAGS,
    FLOAT,
    NEITHER,
    POSTFLOP_FIELDS,
    PREFLOP_FIELDS,
    STREETS,
)
from analytics.replay.rules import Rulebook, RulesetLookup, RulesetText, hole_classes
from engine.game import Game
from engine.policies import per_chip
from engine.steps import Betting, Straddle
from store.columns import layout
from store.columns.numpy_columns import Column
from store.tables.projection import EventRows, Projection

SEAT_COLUMNS: dict[str, pa.DataType] = {
    "hand_seq": pa.int64(),
    "match": pa.string(),
    "number": pa.int64(),
    "game": pa.string(),
    "seat": pa.int32(),
    "player": pa.string(),
    "players": pa.int32(),
    "position": pa.string(),
}
CHIP_COLUMNS: dict[str, pa.DataType] = {
    "stack": pa.int64(),
    "big_blind": pa.int64(),
    "big_bet": pa.int64(),
    "per_chip": pa.int64(),
    "put_in": pa.int64(),
    "collected": pa.int64(),
    "net": pa.int64(),
    "won": pa.bool_(),
}
SHOWDOWN_COLUMNS: dict[str, pa.DataType] = {
    "saw_flop": pa.bool_(),
    "saw_turn": pa.bool_(),
    "saw_river": pa.bool_(),
    "showdown": pa.bool_(),
    "cards": pa.string(),
    "shown": pa.string(),
}
SCHEMA = pa.schema(
    [
        *SEAT_COLUMNS.items(),
        *CHIP_COLUMNS.items(),
        *SHOWDOWN_COLUMNS.items(),
        *((name, pa.bool_()) for name in FLAGS),
        *((name, pa.int32()) for name in ACTION_COUNTS),
        ("pattern", pa.string()),  # `projections.flag_encoding`
    ]
)
# Changes when spots or chips are read otherwise. 2: who is all-in was offered nothing, whatever a
# foreign record allows; 3: euro cents, pence and hundredths of a chip are no chips; 4: to straddle
# by choice is to enter.
_SPOT_VERSION = 4


def _version() -> int:
    """A digest of the columns and of what every flag means."""
    meant = [(it.name, sorted(it.when.items()), it.takes, it.straddled) for it in FLAGS.values()]
    columns = [(it.name, str(it.type)) for it in SCHEMA]
    described = repr((_SPOT_VERSION, columns, PREFLOP_FIELDS, POSTFLOP_FIELDS, meant))
    return int.from_bytes(sha256(described.encode()).digest()[:6])


VERSION = _version()


def stakes(game: Game) -> tuple[int | None, int | None]:
    """A game's big blind (or straddle), and in a limit game its big bet."""
    big = max(getattr(step, "big", 0) or 0 for step in game.script)
    straddles = [step.amount for step in game.script if isinstance(step, Straddle)]
    sizes = [step.size for step in game.script if isinstance(step, Betting)]
    limit = game.sizing == "fixed" and sizes
    return (big or max(straddles, default=0)) or None, max(sizes) if limit else None


class StreetState:
    """What happened so far on the street of each hand that is replayed, as flags ask for it.

    of the street    who has acted, checked, raised, as masks over seats; how many `raises`, and if
                     anybody has called since; `claimed`: the last raise was a steal, or the
                     continuation bet; `bet_on`: there was a continuation bet
    before the flop  `opener` and `aggressor`, the first and the last to raise; who called last of
                     all; `single`: there was one raise
    after it         the `heir`, who may make the continuation bet
    """

    def __init__(self, batch: HandBatch, named: SeatPositions) -> None:
        n = len(batch.which)
        self.blind, self.steals = named.blind.take(batch.places), named.steals.take(batch.places)
        self.street = np.zeros(n, dtype=np.int8)
        self.raises, self.acted, self.checked, self.raised = np.zeros((4, n), dtype=np.int32)
        self.called_last = np.zeros(n, dtype=np.int32)
        self.opener, self.aggressor, self.heir = np.full((3, n), -1, dtype=np.int32)
        self.callers, self.claimed, self.bet_on, self.single = np.zeros((4, n), dtype=bool)

    def advance(self, street: Column) -> None:
        """Begin new streets; the right to a continuation bet passes on to who has bet."""
        rows = np.flatnonzero(street != self.street[: len(street)])
        if not len(rows):
            return
        now, before = street[rows], self.street[rows]
        goes_on = self.bet_on[rows] & (now == before + 1)
        heir = np.where(goes_on, self.heir[rows], -1)
        first = before == 0
        self.heir[rows] = np.where(first & (now == 1), self.aggressor[rows], heir)
        self.single[rows] = np.where(first, self.raises[rows] == 1, self.single[rows])
        for column in (self.raises, self.acted, self.checked, self.raised):
            column[rows] = 0
        for column in (self.callers, self.claimed, self.bet_on):
            column[rows] = False
        self.street[rows] = now

    def flag_words(self, replay: Replay) -> Column:
        """The flag words of every place, over all of its actions but forced and default ones."""
        acts = replay.hands.acts
        found = np.zeros((WORD_COUNT, len(replay.batch.places)), dtype=np.int64)
        for it in replay.slices():
            self.advance(acts.street.take(it.act))
            gone = replay.rounds.is_out(it.live, self.aggressor[: it.live])
            owed = replay.rounds.bet[: it.live] > it.mine
            counts = acts.counts.take(it.act)
            meant = self._action_words(it, it.offered, owed, gone)
            for words, word in zip(found, meant, strict=True):
                words[it.place] |= word * counts
            self._record(it)
        return found

    def _action_words(
        self, it: ActionSlice, offered: Column, owed: Column, gone: Column
    ) -> list[Column]:
        """The flag words of one action; `gone`: the last to raise before the flop acts no more."""
        found = self._preflop_words(it, offered, owed)
        later = self.street[: it.live] > 0
        if later.any():
            after = self._postflop_words(it, offered, gone)
            both = zip(found, after, strict=True)
            found = [np.where(later, then * it.asked, first) for first, then in both]
        return found

    def _preflop_words(self, it: ActionSlice, offered: Column, owed: Column) -> list[Column]:
        live, spots = it.live, preflop_flags()
        return spots.flag_words(
            kind=KIND_OF_ACTION.take(it.kind),
            asked=it.asked,
            offered=offered,
            raises=np.minimum(self.raises[:live], 3),
            callers=self.callers[:live],
            stolen=self.claimed[:live],
            stealing=self.steals.take(it.place),
            blind=self.blind.take(it.place),
            raiser=(self.raised[:live] & it.bit) != 0,
            opener=self.opener[:live] == it.seat,
            fresh=owed & ((self.acted[:live] & it.bit) == 0),
        )

    def _postflop_words(self, it: ActionSlice, offered: Column, gone: Column) -> list[Column]:
        live, spots = it.live, postflop_flags()
        return spots.flag_words(
            kind=KIND_OF_ACTION.take(it.kind),
            offered=offered,
            street=self.street[:live],
            bets=np.minimum(self.raises[:live], 3),
            continued=self.claimed[:live],
            heir=self.heir[:live] == it.seat,
            acted=(self.acted[:live] & it.bit) != 0,
            checked=(self.checked[:live] & it.bit) != 0,
            checks=self.checked[:live] != 0,
            lead=self._lead_bet(it, gone),
        )

    def _lead_bet(self, it: ActionSlice, gone: Column) -> Column:
        """Whether a bet by a preflop caller would be a donk bet, a float or neither."""
        raiser = self.aggressor[: it.live]
        could = (raiser >= 0) & ((self.called_last[: it.live] & it.bit) != 0)
        has_checked = self.checked[: it.live] >> np.maximum(raiser, 0) & 1
        behind = np.where(self.single[: it.live], FLOAT, NEITHER)
        return could * np.where(has_checked, behind, np.where(gone, NEITHER, DONK))

    def _record(self, it: ActionSlice) -> None:
        """Count an action for later ones; outside every round it counts before the flop only."""
        live, bit = it.live, it.bit
        early = self.street[:live] == 0
        counts = early | it.asked
        raising = it.raising & counts
        first = raising & (self.raises[:live] == 0)
        stealing = early & ~self.callers[:live] & self.steals.take(it.place)
        claimed = first & (stealing | (~early & (self.heir[:live] == it.seat)))
        np.copyto(self.claimed[:live], claimed, where=raising)
        self.bet_on[:live] |= claimed
        np.copyto(self.opener[:live], it.seat, where=first & early)
        np.copyto(self.aggressor[:live], it.seat, where=raising & early)
        self.raises[:live] += raising
        self.raised[:live] |= bit * raising
        self.acted[:live] |= bit * counts
        self.checked[:live] |= bit * (counts & (it.kind == CHECKED))
        calling = it.kind == CALLED
        self.callers[:live] = (self.callers[:live] | calling) & ~raising
        self.called_last[:live] &= ~(bit * early)
        self.called_last[:live] |= bit * (calling & early)


FactColumns = dict[str, pa.Array]


def fact_rows(rules: RulesetLookup, hands: ReplayedHands) -> pa.Table:
    """The rows of `facts` for these hands, in order of hands and seats."""
    replayed, was, at = hands.columns, hands.progress, hands.seat_positions
    if not replayed.count:
        return SCHEMA.empty_table()
    games, ruleset = games_of(replayed, rules)
    words = np.zeros((WORD_COUNT, replayed.places), dtype=np.int64)
    for replay in replays(replayed, games, ruleset):
        words[:, replay.batch.places] = StreetState(replay.batch, at).flag_words(replay)
    for word, bits in zip(words, straddle_words(), strict=True):
        word[replayed.straddlers] |= bits
    chips = chip_results(replayed)
    keep = np.flatnonzero(replayed.counted.take(replayed.place_hand) & was.dealt)
    hand = replayed.place_hand[keep]
    mine = [word[keep] for word in words]
    truths = [it[keep] for it in (*was.saw, was.showdown, chips.won)]
    counts = _action_counts(replayed, keep)
    kinds, _ = hole_classes()
    values: FactColumns = {
        **hand_keys(replayed, hand),
        "seat": pa.array(replayed.place_seat[keep].astype(np.int32)),
        "player": hands.players.take(pa.array(keep)),
        "players": pa.array(np.bincount(hand, minlength=replayed.count).astype(np.int32)[hand]),
        "position": words_at(at.words, at.position[keep]),
        "stack": pa.array(replayed.stacks[keep]),
        **_stake_columns(replayed, games, ruleset, hand),
        "put_in": pa.array(chips.put_in[keep]),
        "collected": pa.array(chips.collected[keep]),
        "net": pa.array(chips.net[keep]),
        "cards": words_at(kinds, was.cards[keep]),
        "shown": words_at(kinds, was.shown[keep]),
        **dict(zip(BOOLEANS, map(pa.array, truths), strict=True)),
        **{  # a flag is null where there was no opportunity
            name: pa.Array.from_buffers(pa.bool_(), len(keep), list(map(pa.py_buffer, bits)))
            for name, bits in flag_bitmaps(mine).items()
        },
        **dict(zip(ACTION_COUNTS, map(pa.array, counts), strict=True)),
        "pattern": encode_patterns(mine, truths, counts),
    }
    return pa.table([values[column.name] for column in SCHEMA], schema=SCHEMA)


def _stake_columns(
    replayed: ReplayColumns, games: Sequence[Game | None], ruleset: Column, hand: Column
) -> dict[str, pa.Array]:
    """The columns of stakes and units; under unknown rules the big blind is the highest posted."""
    none = (None, None, None)
    each = zip(
        *(none if it is None else (*stakes(it), per_chip(it.unit)) for it in games), strict=True
    )
    found = {}
    for name, values in zip(("big_blind", "big_bet", "per_chip"), each, strict=True):
        known: Column = np.array([it or 0 for it in values], dtype=np.int64).take(ruleset)
        is_known: Column = np.array([it is not None for it in values]).take(ruleset)
        if name == "big_blind":
            row, of, *_ = replayed.blinds
            highest = np.zeros(replayed.count, dtype=np.int64)
            np.maximum.at(highest, of, replayed.cells.numbers("to", row))
            unknown = np.array([it is None for it in games]).take(ruleset)
            known = np.where(unknown, highest, known)
            is_known = np.where(unknown, np.bincount(of, minlength=replayed.count) > 0, is_known)
        found[name] = pa.array(known[hand], mask=~is_known[hand])
    return found


def _action_counts(replayed: ReplayColumns, keep: Column) -> Column:
    """How often each seat chose each action on each street."""
    acts, wide = replayed.acts, replayed.places + 1
    kinds = {"Folded": "folds", "Checked": "checks", "Called": "calls", "Bet": "bets"}
    columns = []
    for street in STREETS:
        for name in ACTIONS:
            kind = kinds.get(name, "raises")
            if street == "preflop" and kind == "bets":  # to bet before the flop is to raise
                kind = "raises"
            columns.append(ACTION_COUNTS.index(f"{street}_{kind}"))
    column = np.array(columns).take(acts.street * np.int64(len(ACTIONS)) + acts.kind)
    cell = (column * wide + acts.place)[acts.counts]
    found = np.bincount(cell, minlength=len(ACTION_COUNTS) * wide).astype(np.int32)
    return found.reshape(len(ACTION_COUNTS), wide).take(keep, axis=1)


PROJECTION_NAMES = ("facts", "auctions", "played", "risks", "decisions")


def ruleset_projections(ruleset_text: RulesetText) -> tuple[Projection, ...]:
    """The projections that need the rulesets of hands, whose texts `ruleset_text` reads.

    The store makes them with every segment from then on; for older segments they are made on the
    way until the ledger is compacted.
    """
    ours = (
        facts_projection(ruleset_text),
        AUCTIONS,
        played_projection(ruleset_text),
        risks_projection(ruleset_text),
    )
    return *(one._replace(private=True) for one in ours), decisions(ruleset_text)


def facts_projection(ruleset_text: RulesetText) -> Projection:
    """The projection `facts`; `ruleset_text` reads the rulesets that a ledger keeps."""
    return Projection("facts", VERSION, partial(_build_facts, ruleset_text), EVENT_COLUMNS)


def _build_facts(ruleset_text: RulesetText, events: EventRows) -> pa.Table:
    return fact_rows(Rulebook(ruleset_text).of, events.once(ReplayedHands))


def played_projection(ruleset_text: RulesetText) -> Projection:
    """The projection `played`: results and run-outs, one row a player and hand."""
    # 2: in chips also where units are euro cents, pence or hundredths of a chip; 3: a board may go
    # on after five cards
    return Projection("played", 3, partial(played_rows, ruleset_text), tuple(layout.columns()))


def risks_projection(ruleset_text: RulesetText) -> Projection:
    """The projection `risks`: one row a card at risk of a swap."""
    return Projection("risks", 2, partial(risk_rows, ruleset_text), tuple(layout.columns()))
