"""Event columns: events come back from them, digests and tables are those of single events."""

from collections.abc import Sequence
from itertools import islice

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import RULESETS
from engine.policies import Rake
from events import types as t
from events.ledger import Append, Conflict
from events.lines import digest, lines
from events.match import MatchStarted
from store.columns.codec import leaves_of as leaves_of_rows
from store.columns.codec import rows_of
from store.columns.event_columns import columns_of_appends, columns_of_leaves
from store.log.streams import Leaf
from store.proof.ledger_secrets import SaltedSecret
from store.segments.staged_batches import check_values, leaf_digests
from store.tables.projection import PLAYERS, STANDARD, EventRows
from tests.store.sealed_hands import leaves as leaves_of
from tests.store.sealed_hands import of_games
from tests.store.walked_tables import walked

AT = 1_700_000_000_000
SECRET = b"s" * 32
NAMES = [one.name for one in STANDARD]
START = t.HandStarted("m/1", "game", "ruleset", 1, ("ann", "bob"), (200, 100))


def appends(records: list[t.Events]) -> list[Append]:
    """Hands of one match, numbered from 1."""
    return [
        Append(f"m/{number}", 0, (replace(start, hand=f"m/{number}"), *rest), AT)
        for number, (start, *rest) in enumerate(records, 1)
    ]


def alike(records: list[t.Events], names: Sequence[str] = NAMES) -> None:
    """Events come back from columns as they were; digests and tables (of these names) are those of
    one event after the other."""
    given = appends(records)
    columns = columns_of_appends(given, check_values)
    leaves = columns.leaves()
    assert [(one.stream, one.events) for one in given] == [
        (leaf.stream, tuple(one.event for one in leaf.recorded)) for leaf in leaves
    ]
    same_digests(leaves)
    rows = rows_of(columns)
    assert rows.equals(rows_of(columns_of_leaves(leaves)))
    for which in (range(0, len(given), 2), range(len(given) // 2)):  # in any order of hands
        some = columns_of_appends([given[at] for at in which], check_values)
        others = columns_of_appends(
            [given[at] for at in range(len(given)) if at not in which], check_values
        )
        assert leaves == some.merged(others).leaves() == others.merged(some).leaves()
    told_rows = EventRows(rows)
    for projection in (one for one in STANDARD if one.name in names):
        assert walked(projection, leaves).to_pylist() == projection.from_rows(told_rows).to_pylist()


def same_digests(leaves: Sequence[Leaf]) -> None:
    """Those of event columns are those of the lines of one event after the other."""
    for salt in (b"", bytes(range(32))):  # both versions of the nonces
        nonces = SaltedSecret(SECRET, salt)
        records = [lines(leaf.recorded, nonces.of(leaf.stream.split("/")[0])) for leaf in leaves]
        told = [(len(record), digest(record)) for record in records]
        assert told == list(leaf_digests(columns_of_leaves(leaves), nonces))


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
    columns = columns_of_appends(appends([ended(*tapped, back)]), check_values)
    found = PLAYERS.from_rows(EventRows(rows_of(columns))).to_pylist()
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


def test_a_line_that_depends_on_another_event_is_digested_with_it() -> None:
    """Replies that failed at a bid, before it or to the end; and hands beside those."""
    failed = t.Faulted(0, "?", "malformed", "bid")
    alike([ended(failed), ended(), ended(failed, t.BidPlaced(0, 3, True)), ended(failed, failed)])
    alike([ended(t.Faulted(0, "?", "malformed", "action")), ended()])


def test_more_cards_than_columns_are_in_event_columns_too() -> None:
    cards = ("As", "Kd", "2c", "3c", "4c", "5c", "6c")
    alike([ended(t.Announced(0, cards)), ended(t.Announced(1, cards[:2])), ended()], ())


def test_records_of_matches_and_hands_of_several_times_have_their_digests() -> None:
    closed = leaves_of(of_games("auction-2024-mit", "swap-2022", count=3))
    assert any(leaf.recorded[0].event.__class__ is MatchStarted for leaf in closed)
    same_digests(closed)
    one, two = appends([ended(), ended()])
    same_digests(columns_of_appends([one, replace(two, at=AT + 1)], check_values).leaves())
    same_digests(columns_of_appends([one, replace(two, stream="n/2")], check_values).leaves())


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
        columns_of_appends(appends([ended(), ended(event)]), check_values)


def test_a_hand_that_assumes_nothing_does_not_assume_what_the_hand_before_it_does() -> None:
    """Some hands of a log are in columns, and others, read one by one, stand among them."""
    some, others = (
        columns_of_appends(
            [
                Append(f"m/{number}", 0, (replace(START, hand=f"m/{number}", assumed=it),), AT)
                for number in numbers
            ],
            check_values,
        )
        for numbers, it in (((1, 3), ("stack 200",)), ((2, 4), ()))
    )
    for merged in (some.merged(others), others.merged(some)):
        found = leaves_of_rows(rows_of(merged))
        assert merged.leaves() == found
        starts = [leaf.recorded[0].event for leaf in found]
        assert [("stack 200",), (), ("stack 200",), ()] == [
            one.assumed for one in starts if isinstance(one, t.HandStarted)
        ]
