"""Hands in columns stand beside others: what the batch audit says of one depends on no other."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analytics.batch_audit import batches
from analytics.batch_audit.batches import BatchAuditor, BatchResult, RowGroup, row_groups
from analytics.batch_audit.event_arrays import BOOLEANS, CARDS, NUMBERS, EventArrays, WordIds
from analytics.batch_audit.payout_check import has_cyclic_straight
from analytics.batch_audit.plan import DoubtReason
from analytics.batch_audit.pots import SidePots, layered_pots, side_pots
from engine.games import named
from events.ledger import Append
from odds.batch import Showdown, worth
from store.columns.codec import encoded_table, event_table
from store.columns.layout import KINDS
from store.ledger import open_ledger
from store.reader import Reader
from store.tables.projection import STANDARD
from tests.analytics.held import MARKED, batch_result, followed, forged, leaf
from tests.hands import seeded
from tests.profiles import examples

ODD = np.array([-(1 << 30), -1, 0, 1, 2, 3, 5, 9, 20])
WORDS: dict[str, list[str | None]] = {
    "type": [*KINDS],
    "street": ["flop", "swap", "river", "nowhere", None],
    "origin": ["chosen", "default", "forced", "recorded", "hidden", None],
    "kind": ["small", "big", "straddle", "post", "dead", "odd", None],
    "more_cards": ["Ah Kd", None],
    "seats": ["0", "1 0", "0 1 2", "9", "", None],
    "shares": ["0", "1 -5", "3 4 5", "99999999999", "", None],
    "bids": ["0", "7 7", "1 2 3", "", None],
}
NAMES = ["auction-2024-mit", "probability", "acpc-nl", "pokerstars-pl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_forged_hand_touches_no_other(name: str) -> None:
    game = named(name)
    records = list(islice(followed(game, "beside"), 24))
    alone = batch_result(records)
    forgeries = islice(forged(game, records[0]), 0, 24 * 7, 7)
    mixed = batch_result(list(chain.from_iterable(zip(records, forgeries, strict=False))))
    assert len(mixed.why) == 48
    assert alone.why.tolist() == mixed.why[::2].tolist()
    fine = alone.why == DoubtReason.FINE
    assert alone.nets[fine].tolist() == mixed.nets[::2][fine].tolist()


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32))
@examples(4)
def test_whatever_stands_in_a_row_is_answered_and_matters_to_no_other(name: str, seed: int) -> None:
    events, before = _events_of(name)
    chance = np.random.default_rng(seed)
    spoilt = chance.random(len(before.why)) < 0.5
    at = np.flatnonzero(spoilt.take(events["hand_seq"].to_numpy()))
    for one in chance.choice((*NUMBERS, *BOOLEANS, *CARDS, *WORDS), size=4, replace=False).tolist():
        values = events[one].to_pylist()
        odd: list[Any] = [bool(it) for it in ODD] if one in BOOLEANS else ODD.tolist()
        odd = ["Ah", "??", "hidden", None] if one in CARDS else [*WORDS.get(one, odd)]
        for where in chance.choice(at, size=min(len(at), 10)).tolist():
            values[where] = odd[chance.integers(len(odd))]
        place = events.column_names.index(one)
        events = events.set_column(place, one, pa.array(values, events[one].type))
    found = _judged([events])
    assert before.why[~spoilt].tolist() == found.why[~spoilt].tolist()
    fine = ~spoilt & (before.why == DoubtReason.FINE)
    assert before.nets[fine].tolist() == found.nets[fine].tolist()


@cache
def _events_of(name: str) -> tuple[pa.Table, BatchResult]:
    records = islice(followed(named(name), "spoilt"), 20)
    events = event_table([leaf(number, record) for number, record in enumerate(records)])
    return events, _judged([events])


def _judged(tables: list[pa.Table]) -> BatchResult:
    words = WordIds()
    return BatchAuditor(MARKED.get, words).judge(EventArrays(tables, words))


@pytest.mark.parametrize("name", NAMES)
def test_hands_are_judged_alike_in_any_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    records = list(islice(followed(named(name), "chunks"), 12))
    together = batch_result(records)
    monkeypatch.setattr(batches, "CHUNK", 1)
    apart = batch_result(records)
    assert together.why.tolist() == apart.why.tolist()
    assert together.nets.tolist() == apart.nets.tolist()


def test_tables_are_read_together_as_one_by_one() -> None:
    names = ["auction-2024", "swap-2022", "probability", "acpc-limit"]
    records = [next(followed(named(name), "gathered")) for name in names * 2]
    leaves = [leaf(number, record) for number, record in enumerate(records)]
    tables = [
        event_table(leaves[:3]),
        event_table(leaves[3:5]),
        encoded_table(leaves[5:6]),
        encoded_table(leaves[6:]),
    ]
    found, one = _judged(tables), _judged([event_table(leaves)])
    assert one.why.tolist() == found.why.tolist()
    assert one.nets.tolist() == found.nets.tolist()


def test_records_in_doubt_are_whole_also_where_their_segment_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch audit reads few columns of a hand; the engine is given all of it."""
    games = [named(name) for name in ("auction-2024", "swap-2022", "probability", "urcs-1998")]
    records, appends = [], []
    for number, game in enumerate(games * 6):
        start, *rest = seeded(game, f"m/{number}").record
        records.append((replace(start, hand=f"m/{number}"), *rest))
        appends.append(Append(f"m/{number}", 0, records[-1], 0))
    ledger, lock = open_ledger(tmp_path, "batch", STANDARD)
    ledger.append(*appends[:20])
    ledger.seal()
    ledger.append(*appends[20:])
    snapshot = Reader(tmp_path).snapshot()
    for gone in (False, True):
        if gone:
            monkeypatch.setattr(batches, "row_groups", _without_their_files(row_groups))
        (batch,) = batches.audited_batches(snapshot, BatchAuditor(MARKED.get, WordIds()))
        assert 6 <= len(batch.records) < 24 == len(batch)
        assert all(records[place] == record for place, record in batch.records.items())
    ledger.close()
    lock.release()


def _without_their_files(
    found: Callable[..., Iterator[RowGroup]],
) -> Callable[..., Iterator[RowGroup]]:
    """As where a segment was compacted between the batch audit and the engine."""

    def gone() -> pa.Table:
        raise FileNotFoundError("compacted")

    return lambda *asked: (part._replace(others=gone) for part in found(*asked))


@given(seed=st.integers(0, 2**32))
def test_only_a_straight_around_the_corner_tells_two_straight_rules_apart(seed: int) -> None:
    chance = np.random.default_rng(seed)
    cards = np.argsort(chance.random((2_000, 52)), axis=1)[:, :7]
    hands = (np.int64(1) << cards).sum(axis=1)
    straight = hands[~has_cyclic_straight(hands)]
    standard, cyclic = worth(straight, 7), worth(straight, 7, Showdown(straights="cyclic"))
    order = np.argsort(standard, kind="stable")
    first, second = np.diff(standard[order].astype(int)), np.diff(cyclic[order].astype(int))
    assert (np.sign(first) == np.sign(second)).all()


chips = st.integers(0, 30)


@given(
    some=st.lists(
        st.tuples(st.lists(chips, min_size=4, max_size=4), st.integers(0, 15), chips), min_size=1
    )
)
def test_one_pot_is_all_its_layers(some: list[tuple[list[int], int, int]]) -> None:
    """Where every claimant has put in the same, all of it is one pot."""
    paid = np.array([one for one, _, _ in some], dtype=np.int32).T
    stays = np.array([seats | 3 for _, seats, _ in some], dtype=np.int32)
    dead = np.array([one for _, _, one in some], dtype=np.int32)
    together = side_pots(paid, dead, stays)
    for n in range(len(some)):
        alone = layered_pots(paid[:, [n]], dead[[n]], stays[[n]])
        assert _worth_something(alone, 0) == _worth_something(together, n)


def _worth_something(found: list[SidePots], hand: int) -> list[tuple[int, ...]]:
    return [tuple(int(column[hand]) for column in pot) for pot in found if pot.amount[hand]]
