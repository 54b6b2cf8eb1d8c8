"""Hands gathered into columns: rows, digests and tables are those of the same events."""

from collections.abc import Sequence
from itertools import islice

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import RULESETS
from engine.policies import Rake
from events import types as t
from events.commitments import nonces_of
from events.ledger import Conflict, Recorded
from store.columns.codec import encoded, full
from store.columns.gathered import gathered
from store.columns.hands import Lot
from store.columns.layout import by_kind, columns, filled
from store.log.leaf import Leaf
from store.proof.nonces import Salted
from store.segments.mixed_runs import digests
from store.segments.runs import check_values, digested
from store.tables.projection import EventRows
from store.tables.standard import PLAYERS, STANDARD
from tests.store.walked_tables import walked

AT = 1_700_000_000_000
SECRET = b"s" * 32
NAMES = [one.name for one in STANDARD]
START = t.HandStarted("m/1", "game", "ruleset", 1, ("ann", "bob"), (200, 100))


def lot_of(records: list[t.Events]) -> Lot | None:
    numbers = list(range(1, len(records) + 1))
    return gathered("m", numbers, AT, records, check_values)


def alike(records: list[t.Events], names: Sequence[str] = NAMES) -> None:
    """What a ledger has of these hands is the same both ways, with the tables of these names."""
    records = [
        (replace(start, hand=f"m/{number}"), *rest)
        for number, (start, *rest) in enumerate(records, 1)
    ]
    lot = lot_of(records)
    assert lot is not None
    leaves, pos = [], 0
    for number, record in enumerate(records):
        told = (
            Recorded(pos + index, f"m/{number + 1}", index, AT, event)
            for index, event in enumerate(record)
        )
        leaves.append(Leaf(number, tuple(told)))
        pos += len(record)
    kinds = by_kind(event for record in records for event in record)
    rows = encoded(leaves).select(filled(kinds))
    for laid in (lot.rows, full(lot.sparse)):
        found = laid.select([it for it in columns() if it in laid.column_names])
        assert rows.schema == found.schema
        assert rows.to_pylist() == found.to_pylist()
    for salt in (b"", bytes(range(32))):  # both versions of the nonces
        made = [(one.lines, one.sha256) for one in digested(Salted(SECRET, salt), leaves)]
        assert made == digests(lot, nonces_of(SECRET, "m", salt))
    told_rows = EventRows(lot.rows)
    for projection in (one for one in STANDARD if one.name in names):
        told_table = projection.from_rows(told_rows)
        assert walked(projection, leaves).to_pylist() == told_table.to_pylist()


@pytest.mark.parametrize(
    "name",
    ["site-nl", "site-fl-standard", "pokerstars-nl", "probability", "auction-2024", "swap-2022"],
)
def test_hands_of_a_game_come_to_the_same(name: str) -> None:
    """Of several sizes of table at once, and with a rake."""
    game = RULESETS[name]
    if game.seats_max > 2:
        game = replace(game, rake=Rake(percent=5))
    sizes = (2,) if game.seats_max == 2 else (2, 3, 6, 9)
    alike([one for seats in sizes for one in islice(play(game, "m", 20, name, seats), 20)])


def ended(*events: t.Event) -> t.Events:
    """A hand of two with a pot, in which besides something unusual is recorded."""
    blinds = (
        t.BlindPosted(1, 1, 1, "small"),
        t.BlindPosted(0, 2, 2, "big"),
        t.StepEntered(1, "hole"),
    )
    holes = (t.HoleDealt(0, ("As", "Kd")), t.HoleDealt(1, ("??", "??")))
    return (START, *blinds, *holes, *events, t.PotSplit(0, (0,), (3,)), t.HandEnded())


def test_who_folds_after_he_is_all_in_has_folded() -> None:
    """A source may tell that; the rules would not let him."""
    opened = t.BettingOpened(2, "preflop", 2, 2, 1)
    tapped = (opened, t.Called(1, 99, 1, "recorded"), t.Folded(1, None, "recorded"))
    back = t.UncalledReturned(1, 99)
    alike([ended(*tapped, back), ended(opened, t.Folded(1, None))])
    lot = lot_of([ended(*tapped, back)])
    assert lot is not None
    found = PLAYERS.from_rows(EventRows(lot.rows)).to_pylist()
    assert [(False, False), (True, False)] == [(it["folded"], it["all_in"]) for it in found]


def test_shown_cards_are_those_of_a_seat_that_nobody_had_seen() -> None:
    alike([ended(t.Shown(1, ("2c", "2d"))), ended(t.Mucked(1)), ended(t.Shown(0, ("As", "Kd")))])


def test_a_rake_stands_with_who_is_paid_first_from_its_pot() -> None:
    raked = (t.RakeTaken(1, 1), t.RakeTaken(0, 1), t.RakeTaken(0, 1))
    again = (t.PotSplit(1, (0, 1), (2, 1)), t.PotSplit(0, (1, 0), (1, 1)))
    alike([ended(*raked), ended(*raked, *again), ended()])


def test_large_numbers_are_told_apart() -> None:
    """More of them than one number could tell apart by all their fields."""
    large = [step << 43 for step in range(1000)]
    raised = [t.Raised(0, *pair, True, 1) for pair in zip(large, reversed(large), strict=True)]
    alike([ended(event) for event in raised], ())


def test_what_columns_cannot_tell_is_left_to_events() -> None:
    """A line that depends on another event, more cards than there are columns."""
    assert None is lot_of([ended(t.Faulted(0, "?", "malformed", "bid"))])
    assert None is lot_of([ended(t.Announced(0, ("As", "Kd", "2c", "3c", "4c", "5c")))])


@pytest.mark.parametrize(
    "event",
    [
        t.HoleDealt(0, ("Xx",)),
        t.HoleDealt(0, (7,)),  # type: ignore[arg-type]
        t.HoleDealt(0, ("",)),
        t.HoleDealt(0, (None,)),  # type: ignore[arg-type]
        t.Called(0, 2**60, None),
        t.Called(0, 2**70, None),
        t.Called(0, True, None),
        t.Called(0, 1, None, "whim"),  # type: ignore[arg-type]
    ],
)
def test_what_no_event_can_hold_is_refused(event: t.Event) -> None:
    with pytest.raises(Conflict, match="cannot be written"):
        lot_of([ended(), ended(event)])
