"""The URCS straddle is a choice (U4): who makes it has put money in voluntarily, and not raised."""

from collections.abc import Sequence
from contextlib import closing
from itertools import takewhile
from typing import Any

import pytest

from analytics.decisions.replayed_hands import ReplayedHands
from analytics.opponents.opponent_tables import OpponentScope, opponent_tables
from analytics.opponents.report_sections import By, OpponentSections
from analytics.projections.facts import fact_rows
from analytics.replay.flags import FLAGS
from engine.game import fingerprint
from engine.games import GAMES
from events.ledger import Recorded
from events.types import (
    BettingOpened,
    BlindPosted,
    BoardDealt,
    Called,
    Event,
    Folded,
    HandVoided,
    Origin,
)
from store.columns.codec import encoded_table
from store.log.streams import Leaf
from tests.analytics.auction_pages import RULES as RULEBOOK
from tests.analytics.told_hands import leaves
from tests.hands import seeded
from tests.pages import played
from tests.profiles import sized

RULES = {fingerprint(game): game for game in GAMES.values()}
ENTERED, STAYED_OUT = {"vpip": True, "pfr": False}, {"vpip": False, "pfr": False}
THREE = "urcs-1998, button 0, stacks 1000 1000 1000\n"


def chances(events: Sequence[Event], seat: int) -> dict[str, bool]:
    """The opportunities of a seat, and what became of them."""
    leaf = Leaf(0, tuple(Recorded(at, "m/1", at, 1, one) for at, one in enumerate(events)))
    rows: list[dict[str, Any]] = fact_rows(
        RULES.get, ReplayedHands(encoded_table([leaf]))
    ).to_pylist()
    (mine,) = (row for row in rows if row["seat"] == seat)
    return {name: mine[name] for name in FLAGS if mine[name] is not None}


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        (THREE + "> 1 straddles; 2 folds; 0 folds", ENTERED),
        (THREE + "> 1 straddles; 2 raises to 20; 0 folds; 1 folds", ENTERED),
        (THREE.replace("1000 1000\n", "9 1000\n") + "> 1 straddles; 2 folds; 0 folds", ENTERED),
        (THREE + "> 1 folds; 2 folds", STAYED_OUT),
        (THREE.replace("1998", "1998-standard") + "> 2 folds; 0 folds", {}),
        (THREE + "with time_out=all_in_if_paid\n> 1 is out of time; 2 folds", {}),
        (THREE + "with time_out=fold_or_check\n> 1 is out of time; 2 folds", {}),
    ],
    ids=["walk", "then folds", "taps out", "folds instead", "forced", "all-in late", "folds late"],
)
def test_a_straddle_counts_as_vpip_if_it_was_chosen(hand: str, expected: dict[str, bool]) -> None:
    """ "must make a straddle bet [...], or they can fold, or they can tap out" (U4)."""
    found = chances(played(hand).events, 1)
    assert expected == {name: took for name, took in found.items() if name in ENTERED}


def test_a_straddle_is_no_raise_and_no_limp() -> None:
    """What others face, and what he does afterwards, is what it was."""
    hand = "> 1 straddles; 2 raises to 20; 0 folds; 1 raises to 30; 2 folds"
    raised = played(THREE + hand).events
    assert {"vpip", "pfr", "pfr_able", "three_bet", "resteal"} == {
        name for name, took in chances(raised, 1).items() if took
    }
    assert chances(raised, 2)["fold_to_3bet_opener"]
    called = played(THREE + "> 1 straddles; 2 raises to 20; 0 folds; 1 calls").events
    assert "limp" not in chances(called, 1)


@pytest.mark.parametrize(
    ("origin", "counts"),
    [("chosen", True), ("recorded", True), ("default", False), ("forced", False)],
)
def test_straddling_and_folding_instead_count_or_count_not_by_the_same_rule(
    origin: Origin, counts: bool
) -> None:
    """Actions of origin forced and default count in neither k nor n."""
    straddled = _with(
        THREE + "> 1 straddles; 2 folds; 0 folds", BlindPosted(1, 10, 10, "straddle", origin)
    )
    assert (ENTERED if counts else {}) == chances(straddled, 1)
    folded = _with(THREE + "> 1 folds; 2 folds", Folded(1, None, origin))
    assert (STAYED_OUT if counts else {}) == chances(folded, 1)


def _with(hand: str, event: Event) -> list[Event]:
    """The hand with what seat 1 first did after the antes replaced."""
    events = list(played(hand).events)
    at = next(n for n, one in enumerate(events) if _answers(one) and type(one) is type(event))
    return [*events[:at], event, *events[at + 1 :]]


def _answers(event: Event) -> bool:
    return isinstance(event, BlindPosted | Folded) and event.seat == 1


def test_the_straddle_of_the_second_round_is_made_after_the_flop() -> None:
    """Seat 1 folds instead of the first, so seat 2, whose call we take away, owes the second."""
    events = played(THREE + "> 1 folds; 2 calls; 2 straddles; 0 folds").events
    straddles = [one for one in events if isinstance(one, BlindPosted) and one.kind == "straddle"]
    assert [(2, "chosen")] == [(one.seat, one.origin) for one in straddles]
    assert {} == chances([one for one in events if not isinstance(one, Called)], 2)


def test_reports_about_an_opponent_count_it_by_position_too() -> None:
    hands = leaves(
        [
            "hand urcs-1998, button 0: ann bob cat",
            "> 1 straddles; 2 folds; 0 folds",
            "hand urcs-1998, button 2: ann bob cat",
            "> 0 straddles; 1 raises to 20; 2 folds; 0 folds",
        ]
    )
    found = opponent_tables(
        [encoded_table(hands)], RULEBOOK, OpponentScope("ann"), lambda rows, total: rows
    )
    with closing(OpponentSections("bob", found)) as bob:
        for by in (None, "position"):
            told = {(it.part, it.statistic): (it.k, it.n) for it in bob.statistics(by)}
            looks = {(it["part"], it["look"]): (it["k"], it["n"]) for it in bob.look_counts(by)}
            for part, name, counted in EXPECTED[by]:
                assert counted == told[part, name] == looks[part, name]


EXPECTED: dict[By | None, list[tuple[str, str, tuple[int, int]]]] = {
    None: [("", "vpip", (2, 2)), ("", "pfr", (1, 2))],
    "position": [("BB", "vpip", (1, 1)), ("BB", "pfr", (0, 1)), ("CO", "pfr", (1, 1))],
}


def test_every_chosen_straddle_of_random_hands_counts_and_every_fold_instead() -> None:
    counted = {"straddled": 0, "folded": 0}
    for number in range(sized(60, 200, 300)):
        record = seeded(GAMES["urcs-1998"], f"straddles {number}").record
        if isinstance(record[-1], HandVoided):
            continue
        acted = False  # a round of betting has opened
        for one in takewhile(lambda one: not isinstance(one, BoardDealt), record):
            acted = acted or isinstance(one, BettingOpened)
            if isinstance(one, BlindPosted) and (one.kind, one.origin) == ("straddle", "chosen"):
                counted["straddled"] += 1
                assert chances(record, one.seat)["vpip"] is True
            elif isinstance(one, Folded) and one.origin == "chosen" and not acted:
                counted["folded"] += 1
                assert STAYED_OUT == chances(record, one.seat)
    assert min(counted.values()) > sized(7, 26, 40), counted
