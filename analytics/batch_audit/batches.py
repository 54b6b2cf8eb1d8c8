"""Audit a ledger in batches: group hands by plan, replay them, find each fine or doubtful.

`fine` is a promise: the engine's audit agrees with the hand, and no reading pays otherwise. Any
doubt, and whatever the batch audit does not follow, is for the engine to judge.

A whole ledger is read by its event columns, some thousand hands at a time, in order. Memory does
not grow with the ledger: a few row groups are in hand at once. Of hands that are fine only numbers
are kept; the others come as records, for the engine to explain.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.batch_audit.betting_check import BettingCheck
from analytics.batch_audit.betting_state import PlanHands, row_ranges
from analytics.batch_audit.event_arrays import READ_COLUMNS, EventArrays, WordIds
from analytics.batch_audit.payout_check import PayoutCheck, ReadingCheck
from analytics.batch_audit.plan import DoubtReason, RulesetPlan, Stakes, plan_ruleset
from analytics.batch_audit.pots import HandPots
from analytics.batch_audit.record_check import DealtCards, RecordCheck
from analytics.batch_audit.showdown import Contenders
from analytics.replay.rules import RulesetLookup
from engine.changes import partner_of
from engine.game import Game
from events.ledger import Record, is_match
from events.types import Events
from store.columns.codec import event_table, records_by_leaf
from store.columns.layout import ENVELOPE, columns
from store.columns.numpy_columns import BAD, Column
from store.folder.frames import Damaged
from store.log.streams import Leaf
from store.reader import Snapshot
from store.segments.reading import files_of

CHUNK = 1 << 14  # hands played at once, more or less: their columns stay in the cache


class BatchResult(NamedTuple):
    """The result of each hand of some rows: why it is doubtful, and what each seat won."""

    why: Column
    names: list[str | None]  # of the rulesets that hands were checked against
    ruleset: Column  # by hand: which of the names
    nets: Column  # by hand and seat; only where it is fine


class BatchAuditor:
    """Audits hands in columns; keeps the plans of rulesets from one group of rows to the next."""

    def __init__(self, find: RulesetLookup, words: WordIds, other: Game | None = None) -> None:
        self._find, self._other = find, other
        self.words = words
        self._plans: dict[tuple[int, int, int], tuple[RulesetPlan, Stakes] | DoubtReason] = {}
        self._games: dict[int, Game | None] = {}

    def judge(self, columns: EventArrays) -> BatchResult:
        """Audit every hand of these columns."""
        kinds, where = columns.kinds, columns.which_kind
        verdicts = np.zeros(len(kinds), dtype=np.uint8)
        stakes: dict[RulesetPlan, list[tuple[int, Stakes]]] = {}
        for number, (mark, name, size) in enumerate(kinds):
            found = self._planned(mark, name, size)
            if isinstance(found, DoubtReason):
                verdicts[number] = found
            else:
                stakes.setdefault(found[0], []).append((number, found[1]))
        why = verdicts.take(where)
        why += columns.why * (why == 0)
        widest = max((size for _, _, size in kinds), default=0)
        nets = np.zeros((widest, columns.count), dtype=np.int64).T  # what a seat won together
        for plan, members in stakes.items():
            self._group(columns, plan, members, why, nets)
        why[columns.strange] = DoubtReason.START
        why[(why == DoubtReason.FINE) & columns.assumes] = DoubtReason.ASSUMED
        names = [game.name if (game := self._games.get(mark)) else None for mark, _, _ in kinds]
        return BatchResult(why, names, where, nets)

    def _planned(self, mark: int, name: int, size: int) -> tuple[RulesetPlan, Stakes] | DoubtReason:
        key = mark, name, size
        if key not in self._plans:
            self._plans[key] = self._plan(*key)
        return self._plans[key]

    def _plan(self, mark: int, name: int, size: int) -> tuple[RulesetPlan, Stakes] | DoubtReason:
        """The plan of a ruleset, named by its fingerprint, at a table of this size."""
        if mark == BAD or name == BAD or size < 2:
            return DoubtReason.START
        game = self._other or self._find(self.words.word(mark))
        self._games[mark] = game
        if game is None:
            return DoubtReason.RULES
        if self._other is None and game.name != self.words.word(name):
            return DoubtReason.START
        found = plan_ruleset(game, size, partner_of(game))
        return DoubtReason.RULES if isinstance(found, str) else found

    def _group(
        self,
        columns: EventArrays,
        plan: RulesetPlan,
        members: list[tuple[int, Stakes]],
        why: Column,
        nets: Column,
    ) -> None:
        """Audit hands of one plan, a chunk at a time."""
        stakes = np.full(len(columns.kinds), -1)  # by kind: which of the members
        stakes[[number for number, _ in members]] = np.arange(len(members))
        which = np.flatnonzero((stakes.take(columns.which_kind) >= 0) & (why == 0))
        for some in np.array_split(which, max(1, round(len(which) / CHUNK))):
            of = stakes.take(columns.which_kind.take(some))
            hands = columns.plan_hands(plan, some, [one for _, one in members], of)
            at = row_ranges(some, np.ones_like(some))
            why[at], nets[at, : plan.seats] = check_hands(columns, some, hands)


def check_hands(columns: EventArrays, which: Column, hands: PlanHands) -> tuple[Column, Column]:
    """Replay some hands of one plan and check their records; return reasons, and nets by seat."""
    played = BettingCheck(hands)
    played.run()
    pots = HandPots(played)
    record = RecordCheck(columns, which, played, pots.count, pots.raked_pot_count)
    record.check()
    cards = DealtCards(record)
    payouts = PayoutCheck(record, Contenders(cards, pots.at_showdown, pots.paid), pots)
    payouts.check()
    if len(pots.at_showdown):
        ReadingCheck(payouts).check()
    return record.why, payouts.nets.T


BATCH_HANDS = 1 << 14  # audited at once: some ten row groups
OTHERS = ("hand_seq", *(it for it in columns() if it not in {*ENVELOPE, *READ_COLUMNS}))
Nets = tuple[int, ...]
HandFilter = Callable[[int, int], bool]  # whether any hand from one to another is wanted


class AuditedBatch(NamedTuple):
    """Some hands in the order they closed, their results, and the records of those in doubt."""

    columns: EventArrays
    result: BatchResult
    records: dict[int, Events]  # by place among these hands

    def __len__(self) -> int:
        return self.columns.count

    def hand(self, place: int) -> str:
        """The stream of a hand."""
        match = self.columns.words.word(int(self.columns.match[place]))
        return f"{match}/{self.columns.number[place]}"

    def why(self, place: int) -> DoubtReason:
        """The reason to doubt a hand."""
        return DoubtReason(int(self.result.why[place]))

    def ruleset(self, place: int) -> str | None:
        """The name of the ruleset that a hand was checked against."""
        return self.result.names[int(self.result.ruleset[place])]

    def nets(self, place: int) -> Nets:
        """Chips that each seat won or lost in a hand that is fine."""
        count = int(self.columns.seats[place])
        return tuple(self.result.nets[place, :count].tolist())

    def fine(self) -> dict[tuple[str, str], int]:
        """Count the fine hands of each match and ruleset; the first to come is first."""
        known = np.array([name is not None for name in self.result.names])
        at = np.flatnonzero(known[self.result.ruleset]) if len(known) else np.zeros(0, int)
        match, ruleset = self.columns.match[at], self.result.ruleset[at]
        both = match.astype(np.int64) << 32 | ruleset
        _, first, where = np.unique(both, return_index=True, return_inverse=True)
        counts = np.bincount(where, weights=self.result.why[at] == 0, minlength=len(first))
        found: dict[tuple[str, str], int] = {}
        for one in np.argsort(first).tolist():
            place = int(at[first[one]])
            name = self.columns.words.word(int(self.columns.match[place]))
            key = name, cast(str, self.ruleset(place))
            found[key] = found.get(key, 0) + int(counts[one])
        return found


class RowGroup(NamedTuple):
    """Successive hands: the columns that the batch audit reads, and how to read the others."""

    rows: pa.Table
    others: Callable[[], pa.Table]

    def hands(self) -> tuple[int, int]:
        """The numbers of the first and the last hand."""
        hands = self.rows["hand_seq"]
        return hands[0].as_py(), hands[-1].as_py()


def every_hand(first: int, last: int) -> bool:
    """Whether any hand is wanted: always."""
    return True


def audited_batches(
    snapshot: Snapshot,
    auditor: BatchAuditor,
    asked: HandFilter = every_hand,
    between: tuple[int, int] | None = None,
) -> Iterator[AuditedBatch]:
    """Audit every hand that closed, in that order, but for segments in which none is wanted; with
    `between` two places, only those from the first up to the second."""
    parts: list[RowGroup] = []
    waiting = 0
    for part in row_groups(snapshot, asked, between):
        parts.append(part)
        first, last = part.hands()
        waiting += last - first + 1
        if waiting >= BATCH_HANDS:
            yield _batch(snapshot, parts, auditor)
            parts, waiting = [], 0
    if parts:
        yield _batch(snapshot, parts, auditor)


def _batch(snapshot: Snapshot, parts: Sequence[RowGroup], auditor: BatchAuditor) -> AuditedBatch:
    """Audit some row groups, and read the records of hands in doubt."""
    columns = EventArrays([part.rows for part in parts], auditor.words)
    result = auditor.judge(columns)
    doubtful = np.flatnonzero(result.why != DoubtReason.FINE)
    places = dict(zip(columns.hand_seq[doubtful].tolist(), doubtful.tolist(), strict=True))
    records: dict[int, Events] = {}
    for part in parts:
        first, last = part.hands()
        if wanted := [it for it in places if first <= it <= last]:
            found = _records(snapshot, part, wanted)
            records |= {places[it]: cast(Events, record) for it, record in found.items()}
    return AuditedBatch(columns, result, records)


def _records(
    snapshot: Snapshot, part: RowGroup, hand_seqs: Sequence[int]
) -> dict[int, tuple[Record, ...]]:
    """The records of some hands of a row group."""
    try:
        others = part.others()
    except (FileNotFoundError, Damaged):  # compacted meanwhile: they lie elsewhere now
        every = takewhile(
            lambda it: it.hand_seq <= hand_seqs[-1], snapshot.leaves(hand_seqs[0] - 1)
        )
        found = {leaf.hand_seq: tuple(it.event for it in leaf.recorded) for leaf in every}
        return {it: found[it] for it in hand_seqs}
    hands = pa.array(hand_seqs, pa.int64())
    rows, others = (
        one.filter(pc.is_in(one["hand_seq"], value_set=hands)) for one in (part.rows, others)
    )
    for name in others.column_names:
        if name not in rows.column_names:
            rows = rows.append_column(name, others[name])
    return records_by_leaf(rows)


def row_groups(
    snapshot: Snapshot, asked: HandFilter = every_hand, between: tuple[int, int] | None = None
) -> Iterator[RowGroup]:
    """Read all hands that closed, a row group at a time; segments may be compacted meanwhile."""
    first, end = between or (0, snapshot.next_seq)
    live, after = snapshot.live, first - 1
    while True:
        number = live.number
        segments, closed = live.parts()
        files = files_of(live.disk)
        try:
            for segment in segments:
                known = segment.last_seq <= after or segment.first_seq >= end
                if known or not asked(segment.first_seq, segment.last_seq):
                    continue
                bounds = files.open(segment, "events").bounds["hand_seq"]
                for group, (low, high) in enumerate(bounds):
                    if low is not None and (high <= after or low >= end):
                        continue
                    rows = files.events(segment, group, READ_COLUMNS)
                    last = rows["hand_seq"][-1].as_py()
                    if last > after:
                        seq = rows["hand_seq"]
                        if seq[0].as_py() <= after or last >= end:
                            rows = rows.filter(pc.and_(pc.greater(seq, after), pc.less(seq, end)))
                        if rows.num_rows:
                            yield RowGroup(rows, partial(files.events, segment, group, OTHERS))
                        after = last
        except (FileNotFoundError, Damaged) as missing:
            live.retired(number, missing)
            continue
        hot = [
            Leaf(entry.hand_seq, entry.recorded())
            for entry in closed
            if after < entry.hand_seq < end
            and not is_match(entry.stream)
            and asked(entry.hand_seq, entry.hand_seq)
        ]
        for start in range(0, len(hot), BATCH_HANDS):
            rows = event_table(hot[start : start + BATCH_HANDS])
            yield RowGroup(rows, partial(pa.Table.slice, rows))
        return
