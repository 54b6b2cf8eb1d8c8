"""Why a bot was folded: what was asked, what it replied, and what may have gone wrong."""

from collections.abc import Sequence
from typing import Any

import pytest

from analytics.opponents.faults import (
    CAUSES,
    fault_rows,
    fault_table,
    menu_text,
    printable_reply,
    suggested_cause,
)
from analytics.sql import ArrowTables
from api.viewpoints.redaction import Redactor, with_settled_bids
from api.viewpoints.viewer import Viewer
from engine.turn import ToAct, ToBid, Turn
from events.ledger import Append
from events.types import BidPlaced, Event, Faulted, FaultKind, FaultPlace, Folded
from store.ledger import open_ledger
from store.log.streams import Leaf
from store.reader import Reader
from tests.analytics.auction_pages import RULES, leaf, recorded

OWING = ToAct(0, True, False, 4, 8, 400)
FREE = ToAct(0, False, True, 0, 2, 400)
SHUT = ToAct(0, True, False, 4)
BIDS, BROKE = ToBid(0, 90), ToBid(0, 0)
PAGE = """auction-2024, button 0, stacks 400 400
deal 0: Ah Kh, 1: 8s 8d 9c, board: Qh 7s 2d 3c 4c
> 0 calls; 1 checks; 1 bids 5; 0 bids 0 (default)
> 1 bets 4; 0 folds (default)"""


def _fault(raw: str, kind: FaultKind, where: FaultPlace = "action") -> Faulted:
    return Faulted(0, raw, kind, where)


def _faulty() -> Leaf:
    """The page with a fault right before each default."""
    events: list[Event] = []
    for one in leaf(1, PAGE).recorded:
        event: Any = one.event
        if isinstance(event, BidPlaced | Folded) and event.origin == "default":
            bid = isinstance(event, BidPlaced)
            events.append(
                _fault("A12.0", "malformed", "bid") if bid else _fault("R9999", "illegal")
            )
        events.append(event)
    return recorded(1, events)


@pytest.mark.parametrize(
    ("menu", "fault", "cause"),
    [
        (OWING, _fault("R85.0", "malformed"), "float amount"),
        (BIDS, _fault("A12.5", "malformed", "bid"), "float amount"),
        (OWING, _fault("R", "malformed"), "no amount"),
        (OWING, _fault("r85", "malformed"), "lower case"),
        (OWING, _fault("", "malformed"), "empty line"),
        (OWING, _fault("A4", "malformed"), "reply shifted by one"),
        (BIDS, _fault("K", "malformed", "bid"), "reply shifted by one"),
        (None, _fault("C", "illegal", "acknowledgement"), "reply shifted by one"),
        (BROKE, _fault("A3", "illegal", "bid"), "bid while stack is 0"),
        (BIDS, _fault("A91", "illegal", "bid"), "bid above the stack"),
        (OWING, _fault("R401", "illegal"), "raise above what can be called"),
        (OWING, _fault("R7", "illegal"), "raise below the least"),
        (SHUT, _fault("R50", "illegal"), "raise where none was possible"),
        (OWING, _fault("K", "illegal"), "check with a bet to call"),
        (FREE, _fault("C", "illegal"), "call or fold with nothing to call"),
        (OWING, _fault("", "late"), "too slow"),
        (OWING, _fault("", "disconnected"), "gone"),
        (OWING, _fault("hello", "malformed"), "not known"),
    ],
)
def test_a_reply_suggests_its_cause(menu: Turn | None, fault: Faulted, cause: str) -> None:
    assert cause == suggested_cause(menu, fault)
    assert cause in CAUSES


def test_what_was_asked_is_told_in_words() -> None:
    fault = _fault("x", "malformed")
    assert "fold, call 4, raise to 8..400" == menu_text(OWING, fault)
    assert "check, raise to 2..400" == menu_text(FREE, fault)
    assert "bid 0..90" == menu_text(BIDS, fault)
    assert "end of hand" == menu_text(None, _fault("x", "malformed", "acknowledgement"))


def test_a_row_tells_the_whole_of_a_fault() -> None:
    bid, action = fault_rows(_faulty(), RULES)
    assert ("auction", "bid 0..398", "A12.0", "malformed") == _seen(bid)
    assert ("bids 0", "float amount", 2, -2) == _came_of(bid)
    assert ("flop", "fold, call 4, raise to 8..398", "R9999", "illegal") == _seen(action)
    assert ("folds", "raise above what can be called", 2, -2) == _came_of(action)


def _seen(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("step", "asked", "reply", "kind"))


def _came_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("played", "suggested", "put_in", "net"))


def test_a_reply_is_told_escaped_and_not_for_ever() -> None:
    assert "R5\\x1b[31m\\x0a" == printable_reply("R5\x1b[31m\n")
    assert 200 >= len(printable_reply("é" * 500).encode())
    assert printable_reply("x" * 500).endswith("...")


def test_a_hand_without_a_fault_has_no_row() -> None:
    assert [] == list(fault_rows(leaf(1, PAGE), RULES))


def test_faults_are_counted_by_kind_step_and_cause() -> None:
    rows = [{**row, "hand": hand, "hand_seq": at} for at, hand in ((1, "m/1"), (2, "m/2"))
            for row in fault_rows(_faulty(), RULES)]  # fmt: skip
    found = ArrowTables({"faults": fault_table(rows)}).ask(
        "opponent_faults", "SELECT *, '' AS part FROM faults"
    )
    told = sorted((row["step"], row["suggested"], row["faults"], row["since"]) for row in found)
    assert [
        ("auction", "float amount", 2, "m/1"),
        ("flop", "raise above what can be called", 2, "m/1"),
    ] == told


def test_the_others_see_neither_the_text_nor_that_a_bid_failed(tmp_path: Any) -> None:
    """`that a sealed bid failed would tell that it counts as 0`."""
    events = tuple(one.event for one in _faulty().recorded)
    ledger, lock = open_ledger(tmp_path, "a test")
    ledger.append(Append("page/1", 0, events, 1))
    ledger.close()
    lock.release()
    snapshot = Reader(tmp_path).snapshot()
    (whole,) = list(snapshot.leaves())

    def rows(view: str) -> Sequence[dict[str, Any]]:
        return list(
            fault_rows(with_settled_bids(Redactor(snapshot, Viewer(view)).redact(whole)), RULES)
        )

    for view in ("public", "seat:p1"):
        (row,) = rows(view)
        assert ("flop", None, None) == (row["step"], row["reply"], row["suggested"])
        assert "fold, call 4, raise to 8..398" == row["asked"]
    assert ["A12.0", "R9999"] == [row["reply"] for row in rows("seat:p0")]
